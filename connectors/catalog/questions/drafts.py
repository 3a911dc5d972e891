"""Tables of a catalog as drafts of contracts: columns, types, keys, what they are made of, and the tests on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.graph import CatalogGraph
from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.file import asked_window, named_node, open_catalog
from connectors.catalog.questions.tables import LocalTables
from connectors.catalog.store.database import loads, now_millis
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.entities.tests import quality_tests
from connectors.odcs.writing import Draft, DraftColumn
from ingestion.errors import ConfigError
from ingestion.model import fqn
from ingestion.model.lineage import Json
from ingestion.walk import DIRECT, node_name

_NOT_NULL = frozenset({"NOT_NULL", "PRIMARY_KEY"})
_METRICS = {"columnValuesToBeNotNull": "nullValues", "columnValuesToBeUnique": "duplicateValues"}
_MOST_TABLES = 1_000


def drafts_of_file(file: Path, names: Sequence[str], when: When) -> Answer[tuple[Draft, ...]]:
    """A draft for each table that is named, else for every table of the catalog.

    Raises ConfigError for a name that is no table, or not just one.
    """
    with open_catalog(file) as connection:
        rows = [_table_row(connection, name) for name in names] or _every_table(connection, when)
        graph = CatalogGraph(connection, asked_window(connection, when).moment)
        drafts = tuple(_draft(connection, row, graph) for row in rows[:_MOST_TABLES])
        more = f"only the first {_MOST_TABLES} tables are written: name the others with --table"
        return Answer(drafts, (more,) if len(rows) > _MOST_TABLES else ())


def _table_row(connection: Connection, name: str) -> EntityRow:
    row, path = named_node(connection, name)
    if path is not None or row.type != "table":
        raise ConfigError(f"{name}: a contract is of a table")
    return row


def _every_table(connection: Connection, when: When) -> list[EntityRow]:
    known = LocalTables(connection, asked_window(connection, when).moment).all()
    rows = any_rows_of(connection, {one.id for one in known})
    return [rows[one.id] for one in known]


def _draft(connection: Connection, row: EntityRow, graph: CatalogGraph) -> Draft:
    document = loads(row.document)
    owners = tuple(str(one.get("name") or one.get("displayName") or one["id"]) for one in document.get("owners") or ())
    parts = tuple(fqn.decode_name(part) for part in fqn.split(row.fqn)[1:])
    sources, checks = _sources(connection, row, graph), _checks(connection, row)
    keys = _keys(document)
    columns = tuple(_column(one, keys, sources, checks) for one in document.get("columns") or ())
    kind = "view" if "view" in str(document.get("tableType") or "").lower() else "table"
    return Draft(row.fqn, parts, kind, columns, str(document.get("description") or ""), owners, _tags(document))


def _column(
    column: Json, keys: Sequence[str], sources: dict[str, tuple[str, ...]], checks: dict[str, tuple[str, ...]]
) -> DraftColumn:
    name = str(column["name"])
    path = fqn.quote(name)
    constraint = str(column.get("constraint") or "")
    position = keys.index(name) + 1 if name in keys else int(constraint == "PRIMARY_KEY")
    written = str(column.get("dataTypeDisplay") or column.get("dataType") or "")
    return DraftColumn(
        fqn.decode_name(name),
        "" if written == "UNKNOWN" else written,
        str(column.get("description") or ""),
        constraint in _NOT_NULL or position > 0,
        position,
        constraint == "UNIQUE",
        _tags(column),
        sources.get(path, ()),
        checks.get(path, ()),
    )


def _keys(document: Json) -> list[str]:
    constraints = document.get("tableConstraints") or ()
    several = (one.get("columns") or () for one in constraints if one.get("constraintType") == "PRIMARY_KEY")
    return [str(name) for name in next(iter(several), ())]


def _sources(connection: Connection, row: EntityRow, graph: CatalogGraph) -> dict[str, tuple[str, ...]]:
    """The columns whose values each column has, by its path."""
    found: dict[str, dict[tuple[str, str | None], None]] = {}
    for edge in graph.upstream.edges([row.id]):
        if edge.target[1] is not None and edge.type == DIRECT and edge.certain and edge.unseen is None:
            found.setdefault(edge.target[1], {})[edge.source] = None
    rows = any_rows_of(connection, {source[0] for of in found.values() for source in of})
    return {path: tuple(sorted(node_name((rows[one].fqn, at)) for one, at in of)) for path, of in found.items()}


def _checks(connection: Connection, row: EntityRow) -> dict[str, tuple[str, ...]]:
    """The rules of the standard that tests on columns are, by the column's path."""
    found: dict[str, tuple[str, ...]] = {}
    for test in quality_tests(connection, [row.id], now_millis()):
        metric = _METRICS.get(test.definition)
        if metric is not None and test.path:
            found[test.path] = (*found.get(test.path, ()), metric)
    return found


def _tags(stored: Json) -> tuple[str, ...]:
    return tuple(sorted({str(label["tagFQN"]) for label in stored.get("tags") or ()}))
