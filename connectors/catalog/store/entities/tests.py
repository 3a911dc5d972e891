"""Tests of tables and columns: what they lie under, and their results, which are events that nothing rewrites."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.database import dumps, loads
from connectors.catalog.store.entities.attributes import Change, record
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import attributes, entities
from ingestion.model import fqn
from ingestion.model.lineage import Json

_RESULT = "testCaseResult"
_FAILED = ("Failed", "Aborted")
_LINK = "<#E::table::"
_COLUMN = "::columns::"


def tested_table(link: str) -> str:
    """The table that an entity link names. Raises ApiError (400) for a link to anything else."""
    return _parts(link)[0]


def _tested_column(link: str) -> str:
    """The column that an entity link names, "" where that is a table. Raises ApiError (400) for any other link."""
    return _parts(link)[1]


def _parts(link: str) -> tuple[str, str]:
    table, _, column = link.removeprefix(_LINK).removesuffix(">").partition(_COLUMN)
    if not (link.startswith(_LINK) and link.endswith(">") and table):
        raise bad_request("entityLink is not <#E::table::NAME> or <#E::table::NAME::columns::COLUMN>")
    return table, column


def suite_document(table: str) -> Json:
    """The names of the suite of the tests of the table with this fully qualified name."""
    name = f"{table}.testSuite"
    return {"name": name, "fullyQualifiedName": name}


def test_document(request: Json, table: EntityRow, definition: Json, suite: Json) -> Json:
    """What an answer has of a test beside what its request says; `definition` and `suite` are references."""
    column = _tested_column(request["entityLink"])
    path = fqn.join(table.fqn, column) if column else table.fqn
    return {
        "name": request["name"],
        "fullyQualifiedName": fqn.join(path, request["name"]),
        "entityFQN": path,
        "testDefinition": definition,
        "testSuite": suite,
    }


def file_result(connection: Connection, test: EntityRow, result: Json) -> None:
    """Files what became of a test; the same again changes nothing."""
    value = dumps(result)
    at = result["timestamp"]
    known = select(attributes.c.seq).where(
        attributes.c.entity_id == test.id, attributes.c.name == _RESULT, attributes.c.at == at
    )
    if connection.execute(known.where(attributes.c.value == value)).first() is None:
        record(connection, [Change(test.id, "", _RESULT, value, at)])


def results(connection: Connection, identifiers: list[str], until: int | None = None) -> dict[str, list[Json]]:
    """The results of tests by the test's id, the newest last, up to the moment `until` (milliseconds; None: all)."""
    found: dict[str, list[Json]] = defaultdict(list)
    for some in thousands_of(identifiers):
        where = [attributes.c.entity_id.in_(some), attributes.c.name == _RESULT]
        if until is not None:
            where.append(attributes.c.at <= until)
        for row in connection.execute(select(attributes).where(*where).order_by(attributes.c.at, attributes.c.seq)):
            found[row.entity_id].append(loads(row.value))
    return found


def tests_of(connection: Connection, tables: list[str], until: int | None = None) -> dict[str, list[Json]]:
    """The tests of tables (by id), each with its last result, in the order of their names."""
    rows: list[Row[Any]] = []
    for some in thousands_of(tables):
        where = (entities.c.parent_id.in_(IDS), entities.c.type == "testCase", entities.c.deleted.is_(False))
        rows += connection.execute(select(entities).where(*where).order_by(entities.c.fqn), bind_ids(some)).all()
    last = results(connection, [row.id for row in rows], until)
    found: dict[str, list[Json]] = defaultdict(list)
    for row in rows:
        document = loads(row.document)
        test: Json = {"name": document["name"]}
        column = _tested_column(document["entityLink"])
        if column:
            test["column"] = fqn.quote(column)
        if last.get(row.id):
            newest = last[row.id][-1]
            test |= {"status": newest["testCaseStatus"], "at": newest["timestamp"]}
            test |= {key: newest[key] for key in ("result", "failedRows") if newest.get(key) is not None}
        found[row.parent_id].append(test)
    return found


# The tests that fail.


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test of a table (by id) whose last `result` is a failure, and when that was (milliseconds)."""

    table_id: str
    name: str
    at: int
    result: Json


def failing_tests(connection: Connection) -> list[FailingTest]:
    """All of them, in no order."""
    last = func.max(attributes.c.at).label("at")
    # the value is that of the row with the greatest time: SQLite, "Bare columns in an aggregate query"
    newest = select(attributes.c.entity_id, attributes.c.value, last).where(attributes.c.name == _RESULT)
    each = newest.group_by(attributes.c.entity_id).subquery()
    test = select(entities.c.parent_id, entities.c.document, each.c.value, each.c.at)
    there = test.join(each, each.c.entity_id == entities.c.id).where(entities.c.deleted.is_(False))
    failed = ((row, loads(row.value)) for row in connection.execute(there))
    return [
        FailingTest(row.parent_id, str(loads(row.document)["name"]), row.at, result)
        for row, result in failed
        if result["testCaseStatus"] in _FAILED
    ]


# The tests of tables and columns with all of their results up to a moment.


@dataclass(frozen=True, slots=True)
class QualityTest:
    """A test of the column at `path` ("": of the table), of the kind `definition`; `results` are oldest first."""

    table_id: str
    path: str
    name: str
    definition: str
    results: tuple[Json, ...]


def quality_tests(connection: Connection, tables: Iterable[str], until: int) -> list[QualityTest]:
    """The tests of tables (by id) in the order of their names, with their results up to `until` (milliseconds)."""
    rows: list[EntityRow] = []
    for some in thousands_of(sorted(set(tables))):
        where = (entities.c.parent_id.in_(some), entities.c.type == "testCase", entities.c.deleted.is_(False))
        rows += connection.execute(select(entities).where(*where).order_by(entities.c.fqn)).all()
    known = results(connection, [row.id for row in rows], until)
    found = []
    for row in rows:
        document = loads(row.document)
        column = _tested_column(document["entityLink"])
        path = fqn.quote(column) if column else ""
        definition = str(document["testDefinition"]["name"])
        found.append(QualityTest(row.parent_id, path, document["name"], definition, tuple(known.get(row.id, ()))))
    return found
