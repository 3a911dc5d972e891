"""dbt's JSON artifacts, read piece by piece: manifest, catalog, run results, sources.

In pieces because a large project's manifest has a hundred megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit, urlunsplit

import ijson

from connectors.dbt.nodes import DbtColumn, DbtExposure, DbtMeasure, DbtMetric, DbtNode, DbtTest, Manifest, ResourceKind
from ingestion.arguments import nearest_file
from ingestion.errors import ConfigError
from ingestion.model.lineage import Column

_BLOCK_BYTES = 1 << 16
_SCHEMA = re.compile(r"/dbt/([a-z-]+)/v(\d+)")

_Entries = Mapping[str, Mapping[str, Any]]

OLDEST_VERSION, NEWEST_VERSION = 4, 12
"""The versions that are known: dbt 1.0 to 1.10. A newer one is read as far as it is understood."""

_WITH_ROWS = {kind.value: kind for kind in ResourceKind}
_SETTINGS = frozenset(
    {"strategy", "updated_at", "unique_key", "snapshot_meta_column_names", "hard_deletes", "incremental_strategy"}
)
"""Of a node's config what says which columns a snapshot or an incremental model has."""


class UnreadableArtifact(ConfigError):
    """A file that is none of dbt's artifacts, or is broken; the message says where."""

    code = "dbt_artifact"


@dataclass(frozen=True, slots=True)
class ArtifactMetadata:
    """What an artifact says of itself: which one it is (`kind`), of which version, by which dbt."""

    kind: str
    version: int
    adapter: str = ""
    project: str = ""
    dbt_version: str = ""
    generated_at: str = ""


@dataclass(frozen=True, slots=True)
class Artifact:
    """One of dbt's JSON files, whose `metadata` was read and found to be of the `kind` that is wanted."""

    file: Path
    metadata: ArtifactMetadata

    @classmethod
    def of(cls, file: Path, kind: str) -> Artifact:
        """Raises UnreadableArtifact where it cannot be read, is not JSON, or is something else than dbt's `kind`."""
        with _open(file) as stream, _locating_failures(file):  # no further than to its end: a file may have 100 MB
            found = mapping_of(next(ijson.items(stream, "metadata", use_float=True, buf_size=_BLOCK_BYTES), {}))
        schema = found.get("dbt_schema_version")
        match = _SCHEMA.search(schema) if isinstance(schema, str) else None
        if match is None:
            raise UnreadableArtifact(f"{file}: not a {kind}.json of dbt's: it has no metadata.dbt_schema_version")
        if match[1] != kind:
            raise UnreadableArtifact(f"{file}: dbt's {match[1]}.json, and a {kind}.json is wanted")
        names = ("adapter_type", "project_name", "dbt_version", "generated_at")
        return cls(file, ArtifactMetadata(kind, int(match[2]), *(text_of(found.get(name)) for name in names)))

    def entries(self, section: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The entries of a mapping at the top of the file, one at a time. Raises UnreadableArtifact."""
        with _open(self.file) as stream, _locating_failures(self.file):
            for name, value in ijson.kvitems(stream, section, use_float=True, buf_size=_BLOCK_BYTES):
                if not isinstance(value, dict):
                    raise UnreadableArtifact(f"{self.file}: {section}.{name} is no mapping: is this file complete?")
                yield name, value

    def has_mapping(self, section: str) -> bool:
        """Whether there is a mapping at the top of the file. Raises UnreadableArtifact."""
        with _open(self.file) as stream, _locating_failures(self.file):
            events = ijson.parse(stream, buf_size=_BLOCK_BYTES)
            return any(event == "start_map" for prefix, event, _value in events if prefix == section)

    def items(self, section: str) -> Iterator[dict[str, Any]]:
        """The items of a list at the top of the file, one at a time. Raises UnreadableArtifact."""
        with _open(self.file) as stream, _locating_failures(self.file):
            for value in ijson.items(stream, f"{section}.item", use_float=True, buf_size=_BLOCK_BYTES):
                if isinstance(value, dict):
                    yield value


def text_of(value: object) -> str:
    """A text of an artifact, "" for anything else."""
    return value if isinstance(value, str) else ""


def _texts_of(value: object) -> tuple[str, ...]:
    """The texts of a list of an artifact, or the one text that stands for a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def mapping_of(value: object) -> dict[str, Any]:
    """A mapping of an artifact, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def url_without_secrets(url: str) -> str:
    """An address without a user's name, a password, or what is asked there."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _open(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except FileNotFoundError:
        raise UnreadableArtifact(f"{file}: no such file{nearest_file(file)}") from None
    except OSError as error:
        raise UnreadableArtifact(f"{file} cannot be read ({error.strerror})") from None


@contextmanager
def _locating_failures(file: Path) -> Iterator[None]:
    """Names the line and the byte where a file stops being JSON; the parser's own message quotes the file."""
    try:
        yield
    except (ijson.JSONError, UnicodeDecodeError, RecursionError):
        location = _location(file)
    else:
        return
    raise UnreadableArtifact(f"{file}{location}")


def _location(file: Path) -> str:
    """Where a file stops being JSON, and how: `:12: not valid JSON (byte 345)`."""
    whole = 0  # blocks that are in order
    events: list[object] = ijson.sendable_list()
    parser = ijson.basic_parse_coro(events)
    content = bytearray()
    with file.open("rb") as stream:
        lines = 1
        for block in iter(partial(stream.read, _BLOCK_BYTES), b""):
            content = bytearray(block)
            try:
                parser.send(block)
            except (ijson.JSONError, UnicodeDecodeError, StopIteration, RecursionError):
                break
            events.clear()
            whole += 1
            lines += block.count(b"\n")
        else:
            end = file.stat().st_size
            return f":{lines}: ends in the middle (after byte {end}): was it cut, or is dbt still writing it?"
        stream.seek(0)
        parser = ijson.basic_parse_coro(events)
        for _ in range(whole):
            parser.send(stream.read(_BLOCK_BYTES))
            events.clear()
    byte = 0
    with suppress(ijson.JSONError, UnicodeDecodeError, StopIteration, RecursionError):
        while byte < len(content):
            parser.send(bytes(content[byte : byte + 1]))
            byte += 1
    lines += content.count(b"\n", 0, byte)
    return f":{lines}: not valid JSON (byte {whole * _BLOCK_BYTES + byte + 1})"


# The metrics of a manifest, with what its semantic models say of them.


def _read_metrics(artifact: Artifact) -> tuple[DbtMetric, ...]:
    """The metrics of a manifest in its order. Raises UnreadableArtifact."""
    metrics = dict(artifact.entries("metrics"))
    if not metrics:
        return ()
    models = dict(artifact.entries("semantic_models"))
    return tuple(_metric(unique_id, metrics, models) for unique_id in metrics)


def _metric(unique_id: str, metrics: _Entries, models: _Entries) -> DbtMetric:
    entry = metrics[unique_id]
    below = _below(unique_id, metrics, models)
    semantic = [models[one] for one in below if one in models]
    wanted = {name for one in below if one in metrics for name in _measure_names(metrics[one])}
    measures = [_measure(entry) for model in semantic for entry in mappings_of(model.get("measures"))]
    dimensions = [
        (text_of(entry.get("name")), text_of(entry.get("type")) == "time")
        for model in semantic
        for entry in mappings_of(model.get("dimensions"))
    ]
    return DbtMetric(
        unique_id=unique_id,
        name=text_of(entry.get("name")),
        type=text_of(entry.get("type")),
        depends_on=tuple(one for one in below if one not in models and one not in metrics),
        label=text_of(entry.get("label")),
        description=text_of(entry.get("description")),
        tags=_texts_of(entry.get("tags")) or _texts_of(mapping_of(entry.get("config")).get("tags")),
        owner=next(iter(_texts_of(mapping_of(entry.get("meta")).get("owner"))), ""),
        measures=tuple(one for one in measures if one.name in wanted),
        dimensions=tuple(dict.fromkeys(dimensions)),
    )


def _below(unique_id: str, metrics: _Entries, models: _Entries) -> list[str]:
    """All that a metric depends on, itself first."""
    found = [unique_id]
    for one in found:
        entry = metrics.get(one) or models.get(one) or {}
        reads = _texts_of(mapping_of(entry.get("depends_on")).get("nodes"))
        found += [other for other in reads if other not in found]
    return found


def _measure_names(entry: Mapping[str, Any]) -> Iterator[str]:
    parameters = mapping_of(entry.get("type_params"))
    for one in (parameters.get("measure"), *(parameters.get("input_measures") or ())):
        yield text_of(mapping_of(one).get("name"))


def _measure(entry: Mapping[str, Any]) -> DbtMeasure:
    name = text_of(entry.get("name"))
    expression = text_of(entry.get("expr")) or name
    return DbtMeasure(name, text_of(entry.get("agg")), expression, text_of(entry.get("description")))


def mappings_of(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


# manifest.json: the nodes of a project, as dbt parsed and perhaps compiled it.


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
    if not nodes and not tests and not artifact.has_mapping("nodes"):
        raise UnreadableArtifact(f"{file}: nodes is no mapping: is this file complete?")
    for unique_id, entry in artifact.entries("sources"):
        nodes[unique_id] = _node(unique_id, entry, ResourceKind.SOURCE)
    return Manifest(
        version=metadata.version,
        adapter=metadata.adapter,
        project=metadata.project or _only_package(nodes),
        dbt_version=metadata.dbt_version,
        generated_at=_seconds_of(metadata.generated_at),
        nodes=nodes,
        tests=tuple(tests),
        exposures=tuple(_exposure(unique_id, entry) for unique_id, entry in artifact.entries("exposures")),
        metrics=_read_metrics(artifact),
        newer=metadata.version > NEWEST_VERSION,
    )


def _seconds_of(moment: str) -> float | None:
    """An artifact's moment as seconds since the epoch, None where it is none."""
    try:
        return datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return None


def _node(unique_id: str, entry: Mapping[str, Any], kind: ResourceKind) -> DbtNode:
    config = mapping_of(entry.get("config"))
    database, schema = (text_of(entry.get(name)) for name in ("database", "schema"))
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
        relation_key=(database, schema, identifier),
        path=text_of(entry.get("original_file_path")),
        materialized=materialized,
        language=text_of(entry.get("language")) or "sql",
        compiled=text_of(compiled) or None,
        raw="" if compiled else text_of(entry.get("raw_code", entry.get("raw_sql"))),
        depends_on=_texts_of(mapping_of(entry.get("depends_on")).get("nodes")),
        description=text_of(entry.get("description")),
        tags=_texts_of(entry.get("tags")),
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
            tags=_texts_of(described.get("tags")) or _texts_of(mapping_of(described.get("config")).get("tags")),
        )


def _owner(entry: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Who owns a model: OpenMetadata's place in meta first, then dbt's own in its group."""
    for meta in (mapping_of(config.get("meta")), mapping_of(entry.get("meta"))):
        platform = mapping_of(meta.get("openmetadata"))
        for owner in (platform.get("owner"), meta.get("owner")):
            owners = _texts_of(owner)
            if owners:
                return owners[0]
    return ""


def _test(unique_id: str, entry: Mapping[str, Any]) -> DbtTest:
    depends_on = _texts_of(mapping_of(entry.get("depends_on")).get("nodes"))
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
        depends_on=_texts_of(mapping_of(entry.get("depends_on")).get("nodes")),
        owner=text_of(owner.get("name")) or next(iter(_texts_of(owner.get("email"))), ""),
        url=url_without_secrets(text_of(entry.get("url"))),
        description=text_of(entry.get("description")),
        label=text_of(entry.get("label")),
        tags=_texts_of(entry.get("tags")) or _texts_of(mapping_of(entry.get("config")).get("tags")),
    )


def _only_package(nodes: Mapping[str, DbtNode]) -> str:
    """Before version 11 the metadata does not name the project."""
    packages = {node.package for node in nodes.values()}
    return packages.pop() if len(packages) == 1 else ""


# catalog.json: the columns that the warehouse has, as `dbt docs generate` asked it.


def read_columns(file: Path) -> dict[str, tuple[Column, ...]]:
    """All columns of each node and source in their order, by unique_id. Raises UnreadableArtifact."""
    artifact = Artifact.of(file, "catalog")
    found: dict[str, tuple[Column, ...]] = {}
    for unique_id, entry in chain(artifact.entries("nodes"), artifact.entries("sources")):
        columns = [mapping_of(column) for column in mapping_of(entry.get("columns")).values()]
        columns.sort(key=lambda column: index if isinstance(index := column.get("index"), int | float) else 0)
        found[unique_id] = tuple(Column(text_of(one.get("name")), text_of(one.get("type"))) for one in columns)
    return found


# run_results.json and sources.json: what became of each node in dbt's last run, and how fresh its sources were.


@dataclass(frozen=True, slots=True)
class NodeResult:
    """`status` is dbt's own word: success, error, skipped; of tests pass, fail, warn; of sources pass, warn, error.

    `at` is when it ended (seconds since the epoch); `failures` counts the rows that failed a test; `newest` is when the
    newest row of a source was loaded; `rows` is how many the warehouse says were written, None where it does not.
    """

    unique_id: str
    status: str
    at: float | None = None
    failures: int = 0
    newest: float | None = None
    rows: int | None = None


def read_run_results(file: Path) -> dict[str, NodeResult]:
    """The results of a run by unique_id. Raises UnreadableArtifact."""
    artifact = Artifact.of(file, "run-results")
    generated = _seconds_of(artifact.metadata.generated_at)
    found: dict[str, NodeResult] = {}
    for entry in artifact.items("results"):
        ended = [mapping_of(step).get("completed_at") for step in entry.get("timing") or ()]
        at = max(filter(None, (_seconds_of(text_of(moment)) for moment in ended)), default=generated)
        failures = entry.get("failures")
        unique_id = text_of(entry.get("unique_id"))
        count = failures if isinstance(failures, int) else 0
        affected = mapping_of(entry.get("adapter_response")).get("rows_affected")
        rows = affected if isinstance(affected, int) and affected >= 0 else None
        found[unique_id] = NodeResult(unique_id, text_of(entry.get("status")), at, count, rows=rows)
    return found


def read_source_freshness(file: Path) -> dict[str, NodeResult]:
    """How fresh each source was, by unique_id. Raises UnreadableArtifact."""
    artifact = Artifact.of(file, "sources")
    generated = _seconds_of(artifact.metadata.generated_at)
    found: dict[str, NodeResult] = {}
    for entry in artifact.items("results"):
        unique_id = text_of(entry.get("unique_id"))
        at = _seconds_of(text_of(entry.get("snapshotted_at"))) or generated
        newest = _seconds_of(text_of(entry.get("max_loaded_at")))
        found[unique_id] = NodeResult(unique_id, text_of(entry.get("status")), at, newest=newest)
    return found
