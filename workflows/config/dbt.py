"""What the YAML says of a dbt project: where its artifacts are, and the kind of database that they tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from connectors.dbt.artifact_locations import BucketArtifacts, BucketKind, HttpArtifacts
from ingestion.dialects import dialect_of
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.errors import ConfigError
from workflows.config.checks import Checks
from workflows.config.models.dbt import DbtConfigSource, DbtLineageConfig, DbtSecurityConfig
from workflows.config.models.openmetadata import LineageConfig
from workflows.config.values import DbtArtifacts, SourceConnection

_PLACE = ("source", "sourceConfig", "config", "dbtConfigSource")
_TYPES = {kind.lower(): kind for kind in CONNECTION_TYPES}
_OTHER_TYPES = {"sqlserver": "Mssql", "fabric": "MicrosoftFabric", "synapse": "Synapse", "glue": "DeltaLake"}
_BUCKETS = {"s3": BucketKind.S3, "gcs": BucketKind.GCS}


def dbt_artifacts(lineage: LineageConfig, checks: Checks) -> DbtArtifacts | None:
    """The project of the source type dbt, None for any other source."""
    if not isinstance(lineage, DbtLineageConfig):
        return None
    given = lineage.dbt_config_source
    artifacts = DbtArtifacts(
        overwrite_owners=lineage.dbt_update_owners,
        overwrite_descriptions=lineage.dbt_update_descriptions,
        classification=lineage.dbt_classification_name if lineage.include_tags else None,
    )
    if given.dbt_config_type == "http":
        return replace(artifacts, elsewhere=_addresses(given, checks))
    if given.dbt_config_type in _BUCKETS:
        return replace(artifacts, elsewhere=_bucket(given, checks))
    manifest = (*_PLACE, "dbtManifestFilePath")
    if given.dbt_manifest_file_path is None:
        checks.fail(manifest, "needed by the source type dbt, and not given")
    found = checks.input(given.dbt_manifest_file_path, manifest)
    return replace(
        artifacts,
        project=Path(found or ""),
        catalog=checks.file(given.dbt_catalog_file_path, (*_PLACE, "dbtCatalogFilePath")),
        run_results=checks.file(given.dbt_run_results_file_path, (*_PLACE, "dbtRunResultsFilePath")),
        sources=checks.file(given.dbt_sources_file_path, (*_PLACE, "dbtSourcesFilePath")),
    )


def _addresses(given: DbtConfigSource, checks: Checks) -> HttpArtifacts:
    named = {
        "manifest": (given.dbt_manifest_http_path, "dbtManifestHttpPath"),
        "catalog": (given.dbt_catalog_http_path, "dbtCatalogHttpPath"),
        "run_results": (given.dbt_run_results_http_path, "dbtRunResultsHttpPath"),
        "sources": (given.dbt_sources_http_path, "dbtSourcesHttpPath"),
    }
    if given.dbt_manifest_http_path is None:
        checks.fail((*_PLACE, "dbtManifestHttpPath"), "needed by dbtConfigType http, and not given")
    urls: dict[str, str] = {}
    for name, (url, key) in named.items():
        if url is not None:
            urls[name] = checks.http_url(url, (*_PLACE, key), "https://ci.example/manifest.json") or ""
            checks.secrets += [query] if (query := urlsplit(url).query) else []
    headers = {name: value.get_secret_value() for name, value in given.dbt_http_headers.items()}
    checks.secrets += headers.values()
    return HttpArtifacts(urls, headers)


def _bucket(given: DbtConfigSource, checks: Checks) -> BucketArtifacts:
    folder, security = given.dbt_prefix_config, given.dbt_security_config
    kind = _BUCKETS[given.dbt_config_type]
    if folder.dbt_bucket_name is None:
        needed = f"needed by dbtConfigType {given.dbt_config_type}, and not given"
        checks.fail((*_PLACE, "dbtPrefixConfig", "dbtBucketName"), needed)
    credentials = None
    if kind is BucketKind.GCS and security.gcp_config is not None and security.gcp_config.path is not None:
        found = checks.file(security.gcp_config.path, (*_PLACE, "dbtSecurityConfig", "gcpConfig"))
        credentials = str(found.absolute()) if found is not None else None
    options = _s3_options(security, checks) if kind is BucketKind.S3 else {}
    return BucketArtifacts(kind, folder.dbt_bucket_name or "", folder.dbt_object_prefix, options, credentials)


def _s3_options(security: DbtSecurityConfig, checks: Checks) -> dict[str, str]:
    """What is given, as pyarrow's S3FileSystem calls it."""
    secret, token = security.aws_secret_access_key, security.aws_session_token
    options = {
        "access_key": security.aws_access_key_id,
        "secret_key": secret.get_secret_value() if secret is not None else None,
        "session_token": token.get_secret_value() if token is not None else None,
        "region": security.aws_region,
        "role_arn": security.assume_role_arn,
        "session_name": security.assume_role_session_name,
    }
    where = (*_PLACE, "dbtSecurityConfig")
    if (security.aws_access_key_id is None) != (secret is None):
        checks.fail(where, "awsAccessKeyId and awsSecretAccessKey belong together")
    if security.end_point_url is not None:
        address = checks.http_url(security.end_point_url, (*where, "endPointURL"), "https://minio.example:9000")
        parts = urlsplit(address or "")
        options |= {"endpoint_override": parts.netloc, "scheme": parts.scheme}
    return {name: value for name, value in options.items() if value}


def adapter_connection(dbt: DbtArtifacts) -> SourceConnection | None:
    """The connection that the project's adapter implies, None where it does not tell it, or is not here yet."""
    kind = _adapter_type(dbt) if dbt.elsewhere is None else None
    return SourceConnection(kind, dialect_of(kind).name) if kind is not None else None


def _adapter_type(dbt: DbtArtifacts) -> str | None:
    from connectors.dbt.projects import adapter_of  # with the parsers, which no other configuration needs

    try:
        adapter = adapter_of(dbt.project)
    except ConfigError:
        return None  # told when it is read
    return _OTHER_TYPES.get(adapter) or _TYPES.get(adapter)
