"""What the YAML says of a dbt project: files that must be there, and the kind of database that they tell."""

from __future__ import annotations

from pathlib import Path

from connectors.dbt.opening import adapter_of
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.errors import ConfigError
from workflows.config.checks import Checks
from workflows.config.models.dbt import DbtLineageConfig
from workflows.config.models.openmetadata import LineageConfig
from workflows.config.values import DbtArtifacts

_FILES = ("source", "sourceConfig", "config", "dbtConfigSource")
_TYPES = {kind.lower(): kind for kind in CONNECTION_TYPES}
_OTHER_TYPES = {"sqlserver": "Mssql", "fabric": "MicrosoftFabric", "synapse": "Synapse", "glue": "DeltaLake"}


def dbt_artifacts(lineage: LineageConfig, checks: Checks) -> DbtArtifacts | None:
    """The project of the source type dbt, None for any other source."""
    if not isinstance(lineage, DbtLineageConfig):
        return None
    files = lineage.dbt_config_source
    manifest = (*_FILES, "dbtManifestFilePath")
    if files.dbt_manifest_file_path is None:
        checks.fail(manifest, "needed by the source type dbt, and not given")
    found = checks.input(files.dbt_manifest_file_path, manifest)
    return DbtArtifacts(
        project=Path(found or ""),
        catalog=checks.file(files.dbt_catalog_file_path, (*_FILES, "dbtCatalogFilePath")),
        run_results=checks.file(files.dbt_run_results_file_path, (*_FILES, "dbtRunResultsFilePath")),
        sources=checks.file(files.dbt_sources_file_path, (*_FILES, "dbtSourcesFilePath")),
        overwrite_owners=lineage.dbt_update_owners,
        overwrite_descriptions=lineage.dbt_update_descriptions,
        classification=lineage.dbt_classification_name if lineage.include_tags else None,
    )


def adapter_type(dbt: DbtArtifacts) -> str | None:
    """The connection type of the project's adapter, None where it does not tell it."""
    try:
        adapter = adapter_of(dbt.project)
    except ConfigError:
        return None  # told when it is read
    return _OTHER_TYPES.get(adapter) or _TYPES.get(adapter)
