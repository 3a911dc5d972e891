"""Which of the ways into a project a path is: a manifest, a project's folder, or what dbt compiled."""

from __future__ import annotations

from pathlib import Path

from connectors.dbt.compiled_project import is_compiled_folder, project_from_compiled
from connectors.dbt.manifest_project import project_from_manifest
from connectors.dbt.model_statements import DbtProject
from connectors.dbt.project.packages import PROJECT_FILE, read_package, target_of
from connectors.dbt.source_project import project_from_files
from connectors.dbt.target.json_stream import Artifact
from ingestion.parsing.sandbox.sandbox import Limits

_MANIFEST = "manifest.json"


def is_project(path: Path) -> bool:
    """Whether a path is one of a dbt project's."""
    if path.is_dir():
        return (path / PROJECT_FILE).is_file() or (path / _MANIFEST).is_file() or is_compiled_folder(path)
    return path.suffix == ".json"


def open_project(path: Path, dialect: str | None, limits: Limits, catalog: Path | None = None) -> DbtProject:
    """The project at a path: its manifest where it has one, else its files, else what was compiled of it.

    `dialect` None: as its adapter has it; `catalog`: a catalog.json, the one beside the manifest if None. Raises
    ConfigError and UnreadableArtifact.
    """
    if not path.is_dir():
        return project_from_manifest(path, dialect, limits, catalog)
    if (path / PROJECT_FILE).is_file():
        manifest = path / read_package(path).target_path / _MANIFEST
        if manifest.is_file():
            return project_from_manifest(manifest, dialect, limits, catalog)
        return project_from_files(path, dialect, limits)
    if (path / _MANIFEST).is_file():
        return project_from_manifest(path / _MANIFEST, dialect, limits, catalog)
    return project_from_compiled(path, dialect)


def adapter_of(path: Path) -> str:
    """The adapter of the project at a path, "" where nothing there tells it. Raises ConfigError."""
    if path.is_dir() and (path / PROJECT_FILE).is_file():
        package = read_package(path)
        manifest = path / package.target_path / _MANIFEST
        if not manifest.is_file():
            return target_of(package, None)["type"].lower()
    else:
        manifest = path / _MANIFEST if path.is_dir() else path
    return Artifact.of(manifest, "manifest").metadata.adapter.lower()
