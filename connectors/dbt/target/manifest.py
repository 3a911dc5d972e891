"""manifest.json: the nodes of a project, as dbt parsed and perhaps compiled it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from connectors.dbt.target.json_stream import (
    Artifact,
    UnreadableArtifact,
    mapping_of,
    text_of,
    texts_of,
    url_without_secrets,
)
from connectors.dbt.target.nodes import DbtColumn, DbtExposure, DbtNode, DbtTest, Manifest, ResourceKind
from connectors.dbt.target.semantics import read_metrics

OLDEST_VERSION, NEWEST_VERSION = 4, 12
"""The versions that are known: dbt 1.0 to 1.10. A newer one is read as far as it is understood."""

_WITH_ROWS = {kind.value: kind for kind in ResourceKind}
_SETTINGS = frozenset(
    {"strategy", "updated_at", "unique_key", "snapshot_meta_column_names", "hard_deletes", "incremental_strategy"}
)
"""Of a node's config what says which columns a snapshot or an incremental model has."""


def read_manifest(file: Path) -> Manifest:
    """The manifest in a file, read once a section, one node at a time.

    Raises UnreadableArtifact, naming file, line and byte, for what is no manifest, is broken, or is too old.
    """
    artifact = Artifact.of(file, "manifest")
    metadata = artifact.metadata
    if metadata.version < OLDEST_VERSION:
        raise UnreadableArtifact(
            f"{file}: a manifest of version {metadata.version}, and {OLDEST_VERSION} is the oldest that is read: "
            "make it again with dbt 1.0 or newer"
        )
    nodes: dict[str, DbtNode] = {}
    tests: list[DbtTest] = []
    for unique_id, entry in artifact.entries("nodes"):
        kind = text_of(entry.get("resource_type"))
        if kind in _WITH_ROWS:
            nodes[unique_id] = _node(unique_id, entry, _WITH_ROWS[kind])
        elif kind == "test":
            tests.append(_test(unique_id, entry))
    for unique_id, entry in artifact.entries("sources"):
        nodes[unique_id] = _node(unique_id, entry, ResourceKind.SOURCE)
    return Manifest(
        version=metadata.version,
        adapter=metadata.adapter,
        project=metadata.project or _only_package(nodes),
        dbt_version=metadata.dbt_version,
        generated_at=seconds_of(metadata.generated_at),
        nodes=nodes,
        tests=tuple(tests),
        exposures=tuple(_exposure(unique_id, entry) for unique_id, entry in artifact.entries("exposures")),
        metrics=read_metrics(artifact),
        newer=metadata.version > NEWEST_VERSION,
    )


def seconds_of(moment: str) -> float | None:
    """An artifact's moment as seconds since the epoch, None where it is none."""
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return None


def _node(unique_id: str, entry: Mapping[str, Any], kind: ResourceKind) -> DbtNode:
    config = mapping_of(entry.get("config"))
    place = tuple(text_of(entry.get(name)) for name in ("database", "schema"))
    identifier = text_of(entry.get("identifier")) or text_of(entry.get("alias")) or text_of(entry.get("name"))
    materialized = text_of(config.get("materialized"))
    # Until 1.3 it was called compiled_sql and raw_sql.
    compiled = entry.get("compiled_code", entry.get("compiled_sql"))
    return DbtNode(
        unique_id=unique_id,
        kind=kind,
        name=text_of(entry.get("name")),
        package=text_of(entry.get("package_name")),
        relation="" if materialized == "ephemeral" else text_of(entry.get("relation_name")),
        place=(place[0], place[1], identifier),
        path=text_of(entry.get("original_file_path")),
        materialized=materialized,
        language=text_of(entry.get("language")) or "sql",
        compiled=text_of(compiled) or None,
        raw="" if compiled else text_of(entry.get("raw_code", entry.get("raw_sql"))),
        depends_on=texts_of(mapping_of(entry.get("depends_on")).get("nodes")),
        description=text_of(entry.get("description")),
        tags=texts_of(entry.get("tags")),
        owner=_owner(entry, config),
        columns=tuple(_columns(entry)),
        config={name: value for name, value in config.items() if name in _SETTINGS and value},
    )


def _columns(entry: Mapping[str, Any]) -> Iterator[DbtColumn]:
    for name, column in mapping_of(entry.get("columns")).items():
        described = mapping_of(column)
        yield DbtColumn(
            name=text_of(described.get("name")) or name,
            description=text_of(described.get("description")),
            type=text_of(described.get("data_type")),
            tags=texts_of(described.get("tags")) or texts_of(mapping_of(described.get("config")).get("tags")),
        )


def _owner(entry: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Who owns a model: OpenMetadata's place in meta first, then dbt's own in its group."""
    for meta in (mapping_of(config.get("meta")), mapping_of(entry.get("meta"))):
        platform = mapping_of(meta.get("openmetadata"))
        for owner in (platform.get("owner"), meta.get("owner")):
            owners = texts_of(owner)
            if owners:
                return owners[0]
    return ""


def _test(unique_id: str, entry: Mapping[str, Any]) -> DbtTest:
    depends_on = texts_of(mapping_of(entry.get("depends_on")).get("nodes"))
    # Before version 7 nothing says which node a test is attached to: the last one that it needs is its own.
    attached = text_of(entry.get("attached_node")) or (depends_on[-1] if len(depends_on) == 1 else "")
    generic = mapping_of(entry.get("test_metadata"))
    kind = "_".join(filter(None, (text_of(generic.get("namespace")), text_of(generic.get("name")))))
    return DbtTest(unique_id, text_of(entry.get("name")), attached, text_of(entry.get("column_name")), kind)


def _exposure(unique_id: str, entry: Mapping[str, Any]) -> DbtExposure:
    owner = mapping_of(entry.get("owner"))
    return DbtExposure(
        unique_id=unique_id,
        name=text_of(entry.get("name")),
        type=text_of(entry.get("type")),
        depends_on=texts_of(mapping_of(entry.get("depends_on")).get("nodes")),
        owner=text_of(owner.get("name")) or next(iter(texts_of(owner.get("email"))), ""),
        url=url_without_secrets(text_of(entry.get("url"))),
        description=text_of(entry.get("description")),
        label=text_of(entry.get("label")),
        tags=texts_of(entry.get("tags")) or texts_of(mapping_of(entry.get("config")).get("tags")),
    )


def _only_package(nodes: Mapping[str, DbtNode]) -> str:
    """Before version 11 the metadata does not name the project."""
    packages = {node.package for node in nodes.values()}
    return packages.pop() if len(packages) == 1 else ""
