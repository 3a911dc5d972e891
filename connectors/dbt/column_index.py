"""What dbt 2 has found out of columns itself: `target/compiled_state/cll/v1_<number>.parquet`, a row an edge.

Each invocation adds a file with all edges of the nodes that it compiled, stamped with its time: of a node the newest
file counts. What is read here is the word of another beside ours, and no lineage of a model by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from connectors.dbt.nodes import DbtNode
from ingestion.analysis.symbolic import dumps
from ingestion.dialects import Dialect, dialect_of, fold_column
from ingestion.model.lineage import (
    ColumnRef,
    Flow,
    Output,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.statements.routines.definition import Definition, DefinitionKind

_FOLDER = Path("compiled_state", "cll")
_FILE = re.compile(r"v(\d+)_(\d+)\.parquet\Z")
_VERSION = 1
_COLUMNS = ("to_node_unique_id", "to_column_name", "from_node_unique_id", "from_column_name", "lineage_kind")
_STAMP = "ingested_at"
_LARGEST = 256 * 1024 * 1024
_VALUES: Mapping[str, Subtype] = {
    **dict.fromkeys(("copy", "direct", "passthrough", "rename"), Subtype.IDENTITY),
    **dict.fromkeys(("mod", "transform", "transformation"), Subtype.TRANSFORMATION),
}
"""The kinds of edges in which a value flows; what only has a say in rows (`scan`, `join_key`) is compared with none."""
_NANOSECONDS = 1e-9
_MOST_EPHEMERAL = 50

_Source = tuple[str, str]
"""A node, by its id, and a column of it."""


@dataclass(frozen=True, slots=True)
class ColumnIndex:
    """By node, then by its columns, what the values of each are made of, and when that was found out.

    `notes` are for a person: what could not be read.
    """

    columns: Mapping[str, Mapping[str, Mapping[_Source, Subtype]]] = field(default_factory=dict)
    stamps: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_column_index(target: Path) -> ColumnIndex:
    """The index below a project's target folder; an empty one where dbt has left none."""
    notes: list[str] = []
    newest: dict[str, tuple[int, int]] = {}
    rows: dict[str, list[tuple[str, str, str, str]]] = {}
    for number, file in _files(target / _FOLDER, notes):
        edges_of: dict[str, list[tuple[str, str, str, str]]] = {}
        stamps: dict[str, int] = {}
        for row in _rows(file, notes):
            edges_of.setdefault(row[0], []).append(row[1:5])
            stamps[row[0]] = max(row[5], stamps.get(row[0], row[5]))
        for node, edges in edges_of.items():
            stamp = stamps[node], number
            if stamp >= newest.get(node, stamp):
                newest[node], rows[node] = stamp, edges
    columns: dict[str, dict[str, dict[_Source, Subtype]]] = {}
    for node, edges in rows.items():
        for to, source, column, kind in edges:
            if to and kind in _VALUES:
                columns.setdefault(node, {}).setdefault(to, {})[source, column] = _VALUES[kind]
    return ColumnIndex(columns, {node: stamp * _NANOSECONDS for node, (stamp, _) in newest.items()}, tuple(notes))


def _files(folder: Path, notes: list[str]) -> Iterator[tuple[int, Path]]:
    """The files of the version that is known, each with its number, in their order."""
    found = [(match, file) for file in sorted(folder.glob("*.parquet")) if (match := _FILE.match(file.name))]
    unknown = sorted({int(match[1]) for match, _ in found if int(match[1]) != _VERSION})
    if unknown:
        versions = ", ".join(map(str, unknown))
        notes.append(
            f"dbt's own column lineage in {folder} is of version {versions}, which is not known here: not read"
        )
    known = [(int(match[2]), file) for match, file in found if int(match[1]) == _VERSION]
    return iter(sorted(known))


def _rows(file: Path, notes: list[str]) -> list[tuple[str, str, str, str, str, int]]:
    """The rows of a file; none, and a note, where it is none of dbt's."""
    import pyarrow as pa  # slow to load, and few projects have such a file
    import pyarrow.parquet as pq

    try:
        if file.is_symlink() or file.stat().st_size > _LARGEST:
            raise OSError("a link, or too large")
        table = pq.read_table(file, columns=[*_COLUMNS, _STAMP])
        values = [table.column(name).to_pylist() for name in (*_COLUMNS, _STAMP)]
    except (OSError, KeyError, ValueError, pa.ArrowException):
        notes.append(f"dbt's own column lineage in {file} cannot be read: it is no Parquet file of dbt's")
        return []
    rows = [
        (str(to), str(name or ""), str(source), str(column), str(kind).lower(), stamp)
        for to, name, source, column, kind, stamp in zip(*values, strict=True)
        if isinstance(stamp, int)
    ]
    if left := table.num_rows - len(rows):
        notes.append(f"dbt's own column lineage in {file}: {left} rows have no time of dbt's: not read")
    return rows


def recorded_definitions(index: ColumnIndex, nodes: Mapping[str, DbtNode], dialect: str) -> Iterator[Definition]:
    """What the index says of each node that has rows in the warehouse, as what an engine has recorded of it."""
    rules = dialect_of(dialect)
    for unique_id, columns in sorted(index.columns.items()):
        node = nodes.get(unique_id)
        if node is None or not node.relation or node.ephemeral:
            continue
        outputs = tuple(
            Output(
                _fold_column(name, rules),
                tuple(
                    Reference((ColumnRef(_table(nodes[source]), _fold_column(column, rules)),), Transformation(subtype))
                    for (source, column), subtype in found
                ),
            )
            for name, made in sorted(columns.items())
            if (found := sorted(_stored_sources(made, index, nodes)))
        )
        if outputs:
            tables = dict.fromkeys(one.sources[0].table for output in outputs for one in output.references)
            flow = Flow(Target(_table(node), WriteMode.APPEND), outputs, (), tuple(tables))
            lineage = dumps(StatementLineage(StatementKind.INSERT, (flow,)))
            yield Definition(
                DefinitionKind.VIEW,
                node.relation_key,
                at=index.stamps[unique_id],
                lineage=lineage,
                recorded_by=f"column lineage of {unique_id}",
            )


def _stored_sources(
    made: Mapping[_Source, Subtype], index: ColumnIndex, nodes: Mapping[str, DbtNode]
) -> set[tuple[_Source, Subtype]]:
    """The columns of relations behind those of ephemeral models, which have no rows of their own."""
    found: set[tuple[_Source, Subtype]] = set()
    waiting, seen = list(made.items()), set[_Source]()
    while waiting and len(seen) < _MOST_EPHEMERAL:
        (source, column), subtype = waiting.pop()
        node = nodes.get(source)
        if node is None or (source, column) in seen:
            continue
        if not node.ephemeral:
            found |= {((source, column), subtype)} if node.relation else set()
            continue
        seen.add((source, column))
        behind = index.columns.get(source, {}).get(column, {})
        waiting += [(key, how if subtype is Subtype.IDENTITY else subtype) for key, how in behind.items()]
    return found


def _fold_column(column: str, dialect: Dialect) -> str:
    """A column as the warehouse stores it: dbt writes it as a query does, where it has quotes in mixed case."""
    return fold_column(column, dialect, quoted=column not in (column.lower(), column.upper()))


def _table(node: DbtNode) -> TableName:
    return TableName(tuple(filter(None, node.relation_key)))
