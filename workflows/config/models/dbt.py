"""The source type dbt: OpenMetadata's own keys, and the whole file with them; and every source's keys together."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from connectors.fields import NO_EFFECT, Bool, Model, OrEmpty, Secret, Text
from workflows.config.models.openmetadata import (
    LineageConfig,
    QuerySource,
    SourceConfig,
    SparkHistoryLineageConfig,
)

_NOT_READ = frozenset({"azure", "cloud"})
"""The other places that OpenMetadata reads artifacts from."""


def _path_as_config(given: Any) -> Any:
    return {"path": given} if isinstance(given, str) else given


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
    path: Text | None = Field(default=None, description="The JSON file of a service account.")


class DbtSecurityConfig(Model):
    """`dbtSecurityConfig`: left out, the credentials are those of the environment."""

    aws_access_key_id: Text | None = Field(default=None, description="S3: the id of an access key.")
    aws_secret_access_key: Secret | None = Field(default=None, description="S3: the access key itself.")
    aws_session_token: Secret | None = Field(default=None, description="S3: the token of a temporary key.")
    aws_region: Text | None = Field(default=None, description="S3: the region of the bucket.")
    end_point_url: Text | None = Field(
        default=None, alias="endPointURL", description="S3: the address of a store other than Amazon's."
    )
    assume_role_arn: Text | None = Field(default=None, description="S3: the role to take on.")
    assume_role_session_name: Text | None = Field(default=None, description="S3: the name of that session.")
    gcp_config: Annotated[GcpConfig, BeforeValidator(_path_as_config)] | None = Field(
        default=None, description="Google Cloud Storage: who asks."
    )


class DbtPrefixConfig(Model):
    """`dbtPrefixConfig`: the folder of a bucket."""

    dbt_bucket_name: Text | None = Field(default=None, description="The bucket.")
    dbt_object_prefix: str = Field(
        default="", description="The folder with the artifacts; where it has no manifest.json, the only one below."
    )


class DbtConfigSource(Model):
    """`dbtConfigSource`: where dbt's artifacts are."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_other_places(cls, given: Any) -> Any:
        """One line for all keys of a place that is not read."""
        place = given.get("dbtConfigType") if isinstance(given, dict) else None
        if place in _NOT_READ:
            raise ValueError(
                f"dbtConfigType {place} is not read: download the artifacts before the run, and name the files"
            )
        return given

    dbt_config_type: Literal["local", "http", "s3", "gcs"] = Field(
        default="local", description="Files of this machine, addresses, or a bucket."
    )
    dbt_manifest_file_path: Text | None = Field(
        default=None, description="manifest.json, or the folder of the project, which is read by its files if need be."
    )
    dbt_catalog_file_path: Text | None = Field(
        default=None, description="catalog.json; the one beside the manifest if left out."
    )
    dbt_run_results_file_path: Text | None = Field(
        default=None, description="run_results.json: what became of tests and models in dbt's last run."
    )
    dbt_sources_file_path: Text | None = Field(
        default=None, description="sources.json, which says how fresh the sources are."
    )
    dbt_manifest_http_path: Text | None = Field(default=None, description="http: the address of manifest.json.")
    dbt_catalog_http_path: Text | None = Field(default=None, description="http: that of catalog.json.")
    dbt_run_results_http_path: Text | None = Field(default=None, description="http: that of run_results.json.")
    dbt_sources_http_path: Text | None = Field(default=None, description="http: that of sources.json.")
    dbt_http_headers: dict[str, Secret] = Field(
        default_factory=dict, description="http: headers to ask with; they go to the host of the address alone."
    )
    dbt_security_config: Annotated[DbtSecurityConfig, OrEmpty] = Field(
        default_factory=DbtSecurityConfig, description="s3, gcs: with which credentials."
    )
    dbt_prefix_config: Annotated[DbtPrefixConfig, OrEmpty] = Field(
        default_factory=DbtPrefixConfig, description="s3, gcs: where in which bucket."
    )


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


class DbtSourceConfig(SourceConfig):
    config: Annotated[DbtLineageConfig, OrEmpty] = Field(
        default_factory=DbtLineageConfig, description="What to read, and how."
    )


class DbtSource(QuerySource):
    source_config: Annotated[DbtSourceConfig, OrEmpty] = Field(
        default_factory=DbtSourceConfig, description="The workflow's settings."
    )


class AnyLineageConfig(SparkHistoryLineageConfig, DbtLineageConfig):
    """The keys of all sources, for what knows no source yet."""

    type: Literal["DatabaseLineage", "DBT"] = Field(default="DatabaseLineage", description="The kind of workflow.")


class AnySourceConfig(SourceConfig):
    config: Annotated[AnyLineageConfig, OrEmpty] = Field(
        default_factory=AnyLineageConfig, description="What to read, and how."
    )


class AnySource(QuerySource):
    source_config: Annotated[AnySourceConfig, OrEmpty] = Field(
        default_factory=AnySourceConfig, description="The workflow's settings."
    )
