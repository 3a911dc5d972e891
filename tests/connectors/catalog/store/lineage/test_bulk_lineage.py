"""What is told of many tables at once is filed by as many statements as what is told of a few."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, func, select

from connectors.catalog.contract import bulk_models
from connectors.catalog.contract.errors import ApiError
from connectors.catalog.store.database import Database, dumps, loads, open_database
from connectors.catalog.store.entities import lookup
from connectors.catalog.store.entities.entities import entity_id, find_id
from connectors.catalog.store.lineage import bulk_lineage, name_changes
from connectors.catalog.store.schema import entity_versions, name_events, versions
from tests.support.counted_statements import counted_statements

FEW, MANY = 3, 60


def tables(count: int) -> Any:
    common = {"databaseSchema": "s.d.p", "tableType": "View", "columns": []}
    request = {
        "services": [{"name": "s", "serviceType": "Postgres"}],
        "databases": [{"name": "d", "service": "s"}],
        "schemas": [{"name": "p", "database": "s.d"}],
        "tables": [{"name": f"t{n}", **common} for n in range(count)],
    }
    return bulk_models.Register.model_validate(request)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = open_database(tmp_path / "c.db")
    with database.write() as connection:
        lookup.register(connection, tables(FEW + MANY))
    yield database
    database.close()


def end(number: int) -> dict[str, str]:
    return {"id": entity_id("table", f"s.d.p.t{number}"), "type": "table"}


def views(name: str, numbers: range) -> Any:
    """Each view reads the one before, and all is told of it."""
    said = {"producer": {"kind": "view", "key": name}, "source": "ViewLineage", "lastSeen": 5}
    edges = [{"fromEntity": end(n - 1), "toEntity": end(n), "contribution": said} for n in numbers]
    replace = [{"toEntity": end(n), "source": "ViewLineage", "processed": True} for n in numbers]
    return bulk_models.Lineage.model_validate({"batchId": name, "edges": edges, "replace": replace})


def drops(numbers: range) -> Any:
    events = [{"kind": "drop", "entity": end(n), "at": 9} for n in numbers]
    return bulk_models.DdlEvents.model_validate({"events": events}).events


def test_many_views_take_the_statements_of_a_few(database: Database) -> None:
    def cost(connection: Connection, name: str, numbers: range) -> int:
        with counted_statements(connection) as statements:
            bulk_lineage.apply(connection, views(name, numbers))
        return len(statements)

    with database.write() as connection:
        assert cost(connection, "few", range(1, FEW)) == cost(connection, "many", range(FEW, MANY))
        rows = [find_id(connection, end(n)["id"]) for n in range(1, MANY)]
        assert [(row.processed, row.version) for row in rows if row is not None] == [(True, 0.2)] * (MANY - 1)
        kept = select(func.count()).select_from(entity_versions)
        assert connection.scalar(kept) == MANY - 1
        bulk_lineage.apply(connection, views("again", range(1, FEW)))
        assert connection.scalar(kept) == MANY - 1


def test_many_events_take_two_statements_and_each_is_filed_once(database: Database) -> None:
    with database.write() as connection:
        with counted_statements(connection) as statements:
            told = name_changes.apply(connection, [*drops(range(MANY)), *drops(range(FEW))])
        assert told == {"filed": MANY + FEW, "new": MANY}
        filed = connection.scalar(select(func.count()).select_from(name_events))
        assert filed == MANY
        assert sum(statement.lower().startswith("insert into name_events") for statement in statements) == 1
        assert sum("from entities" in " ".join(s.lower().split()) and "document" in s for s in statements) == 1


def test_many_tables_are_looked_up_as_a_few_are(database: Database) -> None:
    def reads(connection: Connection, count: int) -> int:
        with counted_statements(connection) as statements:
            registered = lookup.register(connection, tables(count))["tables"]
        assert [one["created"] for one in registered] == [n >= FEW + MANY for n in range(count)]
        return sum(statement.startswith("SELECT entities.") for statement in statements)

    with database.write() as connection:
        assert reads(connection, FEW) == reads(connection, MANY) > 0
        reads(connection, FEW + MANY + 1)


def test_an_event_of_what_is_not_there_refuses_all(database: Database) -> None:
    unknown = bulk_models.DdlEvent.model_validate({"kind": "drop", "entity": end(FEW + MANY), "at": 9})
    with database.write() as connection:
        with pytest.raises(ApiError):
            name_changes.apply(connection, [*drops(range(FEW)), unknown])
        assert connection.scalar(select(func.count()).select_from(name_events)) == 0


def test_what_a_column_edge_leaves_out_is_plain(database: Database) -> None:
    columns = [{"name": "a", "dataType": "INT"}]
    wide = tables(0).model_dump(by_alias=True) | {
        "tables": [{"name": f"w{n}", "databaseSchema": "s.d.p", "columns": columns} for n in range(2)]
    }
    ends = {
        name: {"id": entity_id("table", f"s.d.p.w{n}"), "type": "table"}
        for n, name in enumerate(("fromEntity", "toEntity"))
    }

    def told(batch: str, column: Any) -> Any:
        said = {
            "producer": {"kind": "query", "key": "q"},
            "source": "QueryLineage",
            "lastSeen": 5,
            "records": ["0badcafe"],
        }
        edge = {**ends, "contribution": {**said, "columns": [{"from": ["s.d.p.w0.a"], **column}]}}
        return bulk_lineage.apply(connection, bulk_models.Lineage.model_validate({"batchId": batch, "edges": [edge]}))

    spelled = {"certain": True, "expression": None, "masking": False, "subtype": None, "type": "DIRECT"}
    with database.write() as connection:
        lookup.register(connection, bulk_models.Register.model_validate(wide))
        assert told("plain", {"to": "s.d.p.w1.a"})["new"] == 1
        assert told("spelled out", {**spelled, "to": "s.d.p.w1.a"})["unchanged"] == 1
        assert told("uncertain", {"to": "s.d.p.w1.a", "certain": False})["merged"] == 1
        assert told("of every column", {})["merged"] == 1
        assert told("spelled out, of every column", {**spelled, "to": None})["unchanged"] == 1


def test_columns_are_stored_by_their_own_names_in_order_and_those_that_are_not_there_left_out(
    database: Database,
) -> None:
    names = ["a", "a b", "a\\b", "é", "B"]
    columns = [{"name": name, "dataType": "INT"} for name in names]
    wide = tables(0).model_dump(by_alias=True) | {
        "tables": [{"name": f"w{n}", "databaseSchema": "s.d.p", "columns": columns} for n in range(2)]
    }
    told = [
        {"from": ["s.d.p.w0.b", "s.d.p.w0.a b", "s.d.p.w0.gone", "s.d.p.w0.a", "s.d.p.w0.B"], "to": "s.d.p.w1.é"},
        {"from": ["s.d.p.w0.a\\b"], "to": "s.d.p.w1.a"},
        {"from": ["s.d.p.w0.é"], "to": "s.d.p.w1.a\\b", "expression": 'f("é")', "subtype": "TRANSFORMATION"},
        {"from": ["s.d.p.w0.gone"], "to": "s.d.p.w1.a"},
        {"from": ["s.d.p.w0.a"], "to": "s.d.p.w1.gone"},
        {"from": ["s.d.p.w0.gone", "s.d.p.w0.lost"]},
        {"from": ["s.d.p.w0.a"], "type": "INDIRECT", "subtype": "FILTER", "masking": True, "certain": False},
    ]
    ends = (("fromEntity", 0), ("toEntity", 1))
    edge: Any = {name: {"id": entity_id("table", f"s.d.p.w{n}"), "type": "table"} for name, n in ends}
    edge["contribution"] = {
        "producer": {"kind": "query", "key": "q"},
        "source": "QueryLineage",
        "lastSeen": 5,
        "columns": told,
    }
    with database.write() as connection:
        lookup.register(connection, bulk_models.Register.model_validate(wide))
        bulk_lineage.apply(connection, bulk_models.Lineage.model_validate({"batchId": "b", "edges": [edge]}))
        ((document, number),) = connection.execute(select(versions.c.content, versions.c.column_edges)).all()
    assert document == dumps(loads(document))
    found = {(tuple(one["from"]), one["to"]): one for one in loads(document)["columns"]}
    assert found.keys() >= {(("B", "a", "a b"), "é"), (("a",), None)}
    assert len(found) == 4
    assert number == 6
    assert found[("é",), "a\\b"]["expression"] == 'f("é")'
    assert found[("a",), None] == {
        "certain": False, "from": ["a"], "masking": True, "subtype": "FILTER", "to": None, "type": "INDIRECT",
    }  # fmt: skip
