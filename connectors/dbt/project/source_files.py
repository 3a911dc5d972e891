"""The nodes of a project without artifacts: its files, each with the configs that hold for it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connectors.dbt.project.packages import Package, installed_packages, target_of, text_of
from connectors.dbt.project.properties import NodeProperties, PackageProperties, read_properties
from connectors.dbt.project.references import with_unique_ids
from connectors.dbt.rendering.scope import TemplateNode, TemplateScope, TemplateSource
from connectors.dbt.target.json_stream import mapping_of
from connectors.dbt.target.nodes import DbtExposure

_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+(\w+)\s*-?%\}([\s\S]*?)\{%-?\s*endsnapshot\s*-?%\}")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A node's file: its template, and for a seed the columns of its header."""

    node: TemplateNode
    path: str  # below the project's root
    text: str = field(default="", repr=False)
    language: str = "sql"
    columns: tuple[str, ...] = ()
    properties: NodeProperties = field(default_factory=lambda: NodeProperties(""))


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Everything that a project's own files tell: what its templates see, and the files of its nodes by unique_id."""

    scope: TemplateScope
    files: Mapping[str, SourceFile]
    exposures: tuple[DbtExposure, ...] = ()
    missing_packages: bool = False


def read_source_files(project: Package, dialect: str | None, language: str) -> SourceFiles:
    """The files of a project and of its installed packages; `language` is the dialect of its SQL.

    Raises ConfigError for YAML that is none.
    """
    packages = [project, *installed_packages(project)]
    files: dict[str, SourceFile] = {}
    sources: list[TemplateSource] = []
    exposures: list[DbtExposure] = []
    for package in packages:
        properties = read_properties(package)
        sources += properties.sources
        exposures += properties.exposures
        for found in _files(package, project, properties):
            files.setdefault(found.node.unique_id, found)
    declares = any((project.root / name).is_file() for name in ("packages.yml", "dependencies.yml"))
    scope = TemplateScope(
        project=project.name,
        dialect=language,
        target=target_of(project, dialect),
        variables=project.variables,
        package_variables={package.name: package.variables for package in packages},
        dispatch=project.dispatch,
        macros=tuple(macro for package in packages for macro in package.macros()),
        nodes=tuple(found.node for found in files.values()),
        sources=tuple(sources),
    )
    used = with_unique_ids(exposures, scope.nodes, scope.sources)
    return SourceFiles(scope, files, used, missing_packages=declares and len(packages) == 1)


def _files(package: Package, project: Package, properties: PackageProperties) -> Iterator[SourceFile]:
    for file in package.files("model", (".sql", ".py")):
        node_properties = properties.nodes.get(("model", file.stem), NodeProperties(file.stem))
        node = _node(package, project, file, "model", node_properties)
        language = "python" if file.suffix == ".py" else "sql"
        yield SourceFile(node, _below(file, project), text_of(file), language, properties=node_properties)
    for file in package.files("snapshot", (".sql",)):
        for match in _SNAPSHOT.finditer(text_of(file)):
            node_properties = properties.nodes.get(("snapshot", match[1]), NodeProperties(match[1]))
            above = "\n" * match.string.count("\n", 0, match.start(2))
            node = _node(package, project, file, "snapshot", node_properties)
            yield SourceFile(node, _below(file, project), above + match[2], properties=node_properties)
    for name, text in properties.snapshots.items():
        node_properties = properties.nodes["snapshot", name]
        place = package.root / package.folders["snapshot"][0] / f"{name}.yml"
        node = _node(package, project, place, "snapshot", node_properties)
        yield SourceFile(node, _below(place, project), text, properties=node_properties)
    for file in package.files("seed", (".csv",)):
        node_properties = properties.nodes.get(("seed", file.stem), NodeProperties(file.stem))
        node = _node(package, project, file, "seed", node_properties)
        delimiter = str(node_properties.config.get("delimiter") or ",")
        yield SourceFile(node, _below(file, project), columns=_header(file, delimiter), properties=node_properties)


def _node(package: Package, project: Package, file: Path, kind: str, node_properties: NodeProperties) -> TemplateNode:
    folder = next(
        (package.root / name for name in package.folders[kind] if file.is_relative_to(package.root / name)),
        package.root,
    )
    path = (*file.relative_to(folder).parent.parts, node_properties.file or file.stem)
    layers: list[Mapping[str, Any]] = []
    for owner in (package, project) if package is not project else (project,):
        tree = owner.configs.get(kind, {})
        layers += [_own_config(tree), *_along(mapping_of(tree.get(package.name)), path)]
    version = f".v{node_properties.version}" if node_properties.version else ""
    return TemplateNode(
        unique_id=f"{kind}.{package.name}.{node_properties.name}{version}",
        kind=kind,
        name=node_properties.name,
        package=package.name,
        version=node_properties.version,
        latest=node_properties.latest,
        layers=(*layers, node_properties.config),
        path=file.relative_to(package.root).as_posix() if file.is_relative_to(package.root) else file.as_posix(),
    )


def _along(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The configs of the folders on the way to a node, from the top down."""
    yield _own_config(tree)
    for name in path:
        tree = mapping_of(tree.get(name))
        yield _own_config(tree)


def _own_config(tree: Mapping[str, Any]) -> dict[str, Any]:
    """What a folder's mapping sets for the nodes in it; its other keys are folders and nodes."""
    config = {key: value for key, value in tree.items() if key.startswith("+") or not isinstance(value, dict)}
    return {key.removeprefix("+"): value for key, value in config.items()}


def _header(file: Path, delimiter: str) -> tuple[str, ...]:
    lines = text_of(file).splitlines()[:1]
    return tuple(next(iter(csv.reader(lines, delimiter=delimiter[:1] or ",")), ()))


def _below(file: Path, project: Package) -> str:
    return file.relative_to(project.root).as_posix() if file.is_relative_to(project.root) else str(file)
