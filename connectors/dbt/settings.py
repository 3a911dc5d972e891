"""The source type dbt, by OpenMetadata's own keys: where a project's artifacts are, and what is taken from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, field_validator, model_validator

from connectors.dbt.artifact_locations import ArtifactLocation, BucketArtifacts, BucketKind, HttpArtifacts
from connectors.fields import (
    NO_EFFECT,
    Bool,
    ExistingFile,
    FieldContext,
    FilePath,
    MisfitCollector,
    Model,
    OrEmpty,
    PathAlone,
    Secret,
    Text,
    existing_file,
    http_url,
    input_location,
)
from connectors.source_settings import LineageConfig
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.errors import ConfigError

_NOT_READ = frozenset({"azure", "cloud"})
"""Where else OpenMetadata reads artifacts from."""
_BUCKETS = {"s3": BucketKind.S3, "gcs": BucketKind.GCS}
_TYPES = {kind.lower(): kind for kind in CONNECTION_TYPES}
_OTHER_TYPES = {"sqlserver": "Mssql", "fabric": "MicrosoftFabric", "synapse": "Synapse", "glue": "DeltaLake"}
_LOCAL = "local"


class GcpConfig(Model):
    """Who asks Google: a service account whose key is in a file, or what the environment has."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_values(cls, given: Any) -> Any:
        """A key among the settings would have to be written to a file to be used."""
        if isinstance(given, dict) and "privateKey" in given:
            raise ValueError("keys are read from a file alone: put the service account's JSON there, and name its path")
        return given

    type: Literal["gcp_credential_path", "gcp_adc"] = Field(
        default="gcp_credential_path", description="gcp_adc: the environment's own credentials."
    )
    path: ExistingFile | None = Field(default=None, description="The JSON file of a service account.")


def _endpoint(written: str) -> str:
    return http_url(written, "https://minio.example:9000")


def _artifact_url(written: str, info: ValidationInfo) -> str:
    url = http_url(written, "https://ci.example/manifest.json")
    # A signed address has its signature in the query.
    FieldContext.of(info).secrets.extend(query for query in [urlsplit(url).query] if query)
    return url


class DbtSecurityConfig(Model):
    """`dbtSecurityConfig`: left out, the credentials are those of the environment."""

    aws_access_key_id: Text | None = Field(default=None, description="S3: the id of an access key.")
    aws_secret_access_key: Secret | None = Field(default=None, description="S3: the access key itself.")
    aws_session_token: Secret | None = Field(default=None, description="S3: the token of a temporary key.")
    aws_region: Text | None = Field(default=None, description="S3: the region of the bucket.")
    end_point_url: Annotated[Text, AfterValidator(_endpoint)] | None = Field(
        default=None, alias="endPointURL", description="S3: the address of a store other than Amazon's."
    )
    assume_role_arn: Text | None = Field(default=None, description="S3: the role to take on.")
    assume_role_session_name: Text | None = Field(default=None, description="S3: the name of that session.")
    gcp_config: Annotated[GcpConfig, PathAlone] | None = Field(
        default=None, description="Google Cloud Storage: who asks."
    )

    @property
    def s3_options(self) -> dict[str, str]:
        """What is given, as pyarrow's S3FileSystem calls it, secrets in clear."""
        parts = urlsplit(self.end_point_url or "")
        options = {
            "access_key": self.aws_access_key_id,
            "secret_key": _clear(self.aws_secret_access_key),
            "session_token": _clear(self.aws_session_token),
            "region": self.aws_region,
            "role_arn": self.assume_role_arn,
            "session_name": self.assume_role_session_name,
            "endpoint_override": parts.netloc,
            "scheme": parts.scheme,
        }
        return {name: value for name, value in options.items() if value}


def _clear(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None


class DbtPrefixConfig(Model):
    """`dbtPrefixConfig`: the folder of a bucket."""

    dbt_bucket_name: Text | None = Field(default=None, description="The bucket.")
    dbt_object_prefix: str = Field(
        default="", description="The folder with the artifacts; where it has no manifest.json, the only one below."
    )


ArtifactUrl = Annotated[Text, AfterValidator(_artifact_url)]


class DbtConfigSource(Model):
    """`dbtConfigSource`: where dbt's artifacts are."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_other_locations(cls, given: Any) -> Any:
        """One line for all keys of a place that is not read."""
        location = given.get("dbtConfigType") if isinstance(given, dict) else None
        if location in _NOT_READ:
            raise ValueError(
                f"dbtConfigType {location} is not read: download the artifacts before the run, and name the files"
            )
        return given

    dbt_config_type: Literal["local", "http", "s3", "gcs"] = Field(
        default="local", description="Files of this machine, addresses, or a bucket."
    )
    dbt_manifest_file_path: FilePath | None = Field(
        default=None, description="manifest.json, or the folder of the project, which is read by its files if need be."
    )
    dbt_catalog_file_path: FilePath | None = Field(
        default=None, description="catalog.json; the one beside the manifest if left out."
    )
    dbt_run_results_file_path: FilePath | None = Field(
        default=None, description="run_results.json: what became of tests and models in dbt's last run."
    )
    dbt_sources_file_path: FilePath | None = Field(
        default=None, description="sources.json, which says how fresh the sources are."
    )
    dbt_manifest_http_path: ArtifactUrl | None = Field(
        default=None, repr=False, description="http: the address of manifest.json."
    )
    dbt_catalog_http_path: ArtifactUrl | None = Field(
        default=None, repr=False, description="http: that of catalog.json."
    )
    dbt_run_results_http_path: ArtifactUrl | None = Field(
        default=None, repr=False, description="http: that of run_results.json."
    )
    dbt_sources_http_path: ArtifactUrl | None = Field(
        default=None, repr=False, description="http: that of sources.json."
    )
    dbt_http_headers: dict[str, Secret] = Field(
        default_factory=dict, description="http: headers to ask with; they go to the host of the address alone."
    )
    dbt_security_config: Annotated[DbtSecurityConfig, OrEmpty] = Field(
        default_factory=DbtSecurityConfig, description="s3, gcs: with which credentials.", repr=False
    )
    dbt_prefix_config: Annotated[DbtPrefixConfig, OrEmpty] = Field(
        default_factory=DbtPrefixConfig, description="s3, gcs: where in which bucket."
    )

    @field_validator("dbt_manifest_file_path")
    @classmethod
    def _find_manifest(cls, given: Path | None, info: ValidationInfo) -> Path | None:
        return Path(input_location(str(given), info)) if given is not None and _is_local(info) else given

    @field_validator("dbt_catalog_file_path", "dbt_run_results_file_path", "dbt_sources_file_path")
    @classmethod
    def _find_file(cls, given: Path | None, info: ValidationInfo) -> Path | None:
        return existing_file(given, info) if given is not None and _is_local(info) else given

    @model_validator(mode="after")
    def _has_a_location(self, info: ValidationInfo) -> Self:
        kind, security, misfits = self.dbt_config_type, self.dbt_security_config, MisfitCollector()
        if kind == _LOCAL and self.dbt_manifest_file_path is None:
            misfits.add("needed by the source type dbt, and not given", "dbtManifestFilePath")
        if kind == "http" and self.dbt_manifest_http_path is None:
            misfits.add("needed by dbtConfigType http, and not given", "dbtManifestHttpPath")
        if kind in _BUCKETS and self.dbt_prefix_config.dbt_bucket_name is None:
            misfits.add(f"needed by dbtConfigType {kind}, and not given", "dbtPrefixConfig", "dbtBucketName")
        if kind == "s3" and (security.aws_access_key_id is None) != (security.aws_secret_access_key is None):
            misfits.add("awsAccessKeyId and awsSecretAccessKey belong together", "dbtSecurityConfig")
        misfits.check()
        FieldContext.of(info).secrets.extend(self._headers.values())
        return self

    @property
    def project(self) -> Path:
        """The manifest.json or the project's folder, where it is on this machine's disk."""
        return self.dbt_manifest_file_path or Path()

    @property
    def elsewhere(self) -> ArtifactLocation | None:
        """Where the artifacts are to be copied from; None where they are on this machine's disk."""
        if self.dbt_config_type == _LOCAL:
            return None
        if self.dbt_config_type not in _BUCKETS:
            urls = {
                "manifest": self.dbt_manifest_http_path,
                "catalog": self.dbt_catalog_http_path,
                "run_results": self.dbt_run_results_http_path,
                "sources": self.dbt_sources_http_path,
            }
            return HttpArtifacts({name: url for name, url in urls.items() if url is not None}, self._headers)
        kind, folder, security = _BUCKETS[self.dbt_config_type], self.dbt_prefix_config, self.dbt_security_config
        account = security.gcp_config.path if kind is BucketKind.GCS and security.gcp_config is not None else None
        return BucketArtifacts(
            kind,
            folder.dbt_bucket_name or "",
            folder.dbt_object_prefix,
            security.s3_options if kind is BucketKind.S3 else {},
            str(account.absolute()) if account is not None else None,
        )

    def copied_to(self, files: Mapping[str, Path]) -> Self:
        """The same artifacts on this machine's disk: `files` by their names."""
        paths = {f"dbt_{name}_file_path": file for name, file in files.items()}
        return self.model_copy(update={"dbt_config_type": _LOCAL, **paths})

    @property
    def _headers(self) -> dict[str, str]:
        return {name: value.get_secret_value() for name, value in self.dbt_http_headers.items()}


def _is_local(info: ValidationInfo) -> bool:
    return info.data.get("dbt_config_type") == _LOCAL


class DbtLineageConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type dbt."""

    type: Literal["DBT", "DatabaseLineage"] = Field(default="DBT", description="The kind of workflow.")  # type: ignore[assignment]
    dbt_config_source: Annotated[DbtConfigSource, OrEmpty] = Field(
        default_factory=DbtConfigSource, description="Where dbt's artifacts are."
    )
    dbt_update_descriptions: Bool = Field(
        default=False, description="Whether dbt's descriptions take the place of those that the catalog has."
    )
    dbt_update_owners: Bool = Field(
        default=False, description="Whether dbt's owners take the place of those that the catalog has."
    )
    include_tags: Bool = Field(default=True, description="Whether dbt's tags are put on tables and columns.")
    dbt_classification_name: Text = Field(default="dbtTags", description="The classification of these tags.")
    search_across_databases: Bool = Field(default=False, description="Not used.", json_schema_extra=NO_EFFECT)

    @property
    def classification(self) -> str | None:
        """That of dbt's tags; None where they are not wanted."""
        return self.dbt_classification_name if self.include_tags else None

    def implied_connection(self) -> str | None:
        """That of the project's adapter, where it tells it and is on this machine's disk."""
        artifacts = self.dbt_config_source
        return _adapter_type(artifacts.project) if artifacts.elsewhere is None else None


def _adapter_type(project: Path) -> str | None:
    from connectors.dbt.projects import adapter_of  # with the parsers, which no other configuration needs

    try:
        adapter = adapter_of(project)
    except ConfigError:
        return None  # told when it is read
    return _OTHER_TYPES.get(adapter) or _TYPES.get(adapter)


SETTINGS = DbtLineageConfig
