"""The YAML files beside models: what they say of sources, versions, configs, columns and exposures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from connectors.dbt.project.packages import Package
from connectors.dbt.project.yaml_files import mappings, read_mapping, texts
from connectors.dbt.rendering.scope import TemplateSource
from connectors.dbt.target.json_stream import mapping_of, url_without_secrets
from connectors.dbt.target.nodes import DbtColumn, DbtExposure


@dataclass(frozen=True, slots=True)
class NodeProperties:
    """What a YAML file says of a model, seed or snapshot, or of one version of a model (`file` names its file)."""

    name: str
    version: str = ""
    latest: bool = True
    file: str = ""
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    description: str = ""
    owner: str = ""
    columns: tuple[DbtColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class PackageProperties:
    """Of a package: properties by (kind, file's stem); snapshots that are YAML alone, by name, with what they read."""

    nodes: Mapping[tuple[str, str], NodeProperties]
    sources: tuple[TemplateSource, ...]
    exposures: tuple[DbtExposure, ...]
    snapshots: Mapping[str, str]


def read_properties(package: Package) -> PackageProperties:
    """What all YAML files of a package say. Raises ConfigError for what is no YAML."""
    nodes: dict[tuple[str, str], NodeProperties] = {}
    sources: list[TemplateSource] = []
    exposures: list[DbtExposure] = []
    snapshots: dict[str, str] = {}
    for folder in ("model", "seed", "snapshot"):
        for file in package.files(folder, (".yml", ".yaml")):
            content = read_mapping(file)
            for kind in ("model", "seed", "snapshot"):
                for one in mappings(content.get(f"{kind}s")):
                    nodes.update({(kind, found.file): found for found in _versions(one)})
            for one in mappings(content.get("snapshots")):
                if isinstance(one.get("relation"), str):
                    snapshots[str(one.get("name"))] = f"select * from {{{{ {one['relation']} }}}}"
            sources += [found for one in mappings(content.get("sources")) for found in _tables(one, package.name)]
            exposures += [_exposure(one, package.name) for one in mappings(content.get("exposures"))]
    return PackageProperties(nodes, tuple(sources), tuple(exposures), snapshots)


def _versions(entry: Mapping[str, Any]) -> Iterator[NodeProperties]:
    name = str(entry.get("name"))
    config = {**mapping_of(entry.get("config"))}
    meta = {**mapping_of(entry.get("meta")), **mapping_of(config.get("meta"))}
    described = NodeProperties(
        name,
        file=name,
        config=config,
        description=str(entry.get("description") or ""),
        owner=next(iter(texts(meta.get("owner"))), ""),
        columns=tuple(_column(column) for column in mappings(entry.get("columns"))),
    )
    versions = [one for one in mappings(entry.get("versions")) if "v" in one]
    if not versions:
        yield described
        return
    latest = str(entry.get("latest_version") or max((one["v"] for one in versions), key=_number))
    for one in versions:
        version = str(one["v"])
        file = str(one.get("defined_in") or f"{name}_v{version}")
        alias = {"alias": one["alias"]} if "alias" in one else {}
        whole = {**config, **alias, **mapping_of(one.get("config"))}
        yield replace(described, version=version, latest=version == latest, file=file, config=whole)


def _number(version: object) -> tuple[float, str]:
    text = str(version)
    return (float(text) if text.replace(".", "", 1).isdigit() else -1.0, text)


def _column(entry: Mapping[str, Any]) -> DbtColumn:
    tags = texts(entry.get("tags")) or texts(mapping_of(entry.get("config")).get("tags"))
    return DbtColumn(
        str(entry.get("name")), str(entry.get("description") or ""), str(entry.get("data_type") or ""), tags
    )


def _tables(entry: Mapping[str, Any], package: str) -> Iterator[TemplateSource]:
    source = str(entry.get("name"))
    database, schema = str(entry.get("database") or ""), str(entry.get("schema") or source)
    for table in mappings(entry.get("tables")):
        name = str(table.get("name"))
        place = database, schema, str(table.get("identifier") or name)
        yield TemplateSource(f"source.{package}.{source}.{name}", package, source, name, place)


def _exposure(entry: Mapping[str, Any], package: str) -> DbtExposure:
    name, owner = str(entry.get("name")), mapping_of(entry.get("owner"))
    return DbtExposure(
        unique_id=f"exposure.{package}.{name}",
        name=name,
        type=str(entry.get("type") or ""),
        depends_on=texts(entry.get("depends_on")),
        owner=str(owner.get("name") or owner.get("email") or ""),
        url=url_without_secrets(str(entry.get("url") or "")),
        description=str(entry.get("description") or ""),
        label=str(entry.get("label") or ""),
        tags=texts(entry.get("tags")) or texts(mapping_of(entry.get("config")).get("tags")),
    )
