"""Entities that are put together are as those that are put one by one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.store.database import loads, open_database
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.schema import entities, entity_labels, query_uses
from ingestion.model.lineage import Json


def table(**fields: object) -> Json:
    return {"name": "t", "databaseSchema": "shop.main.public", "columns": [{"name": "a", "dataType": "INT"}], **fields}


def tagged(*tags: str) -> Json:
    return table(tags=[{"tagFQN": tag} for tag in tags])


def query(*used: str) -> Json:
    return {"query": "SELECT 1", "service": "shop", "queryUsedIn": [{"id": one, "type": "table"} for one in used]}


SHOP: list[tuple[str, Json]] = [
    ("databaseService", {"name": "shop", "serviceType": "Postgres"}),
    ("database", {"name": "main", "service": "shop"}),
    ("databaseSchema", {"name": "public", "database": "shop.main"}),
]
GIVEN = {
    "parents and what lies below them": [*SHOP, ("table", table())],
    "a table twice, with another tag": [*SHOP, ("table", tagged("PII.None")), ("table", tagged("PII.Sensitive"))],
    "a query twice, that reads another table": [*SHOP, ("query", query("x")), ("query", query("y"))],
    "a parent that is given by its id": [*SHOP, ("table", table()), ("query", query("x")), ("table", table(name="u"))],
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_the_order_in_which_rows_are_written_changes_nothing(given: list[tuple[str, Json]], tmp_path: Path) -> None:
    assert contents(tmp_path / "one.db", given, calls=1) == contents(tmp_path / "each.db", given, calls=len(given))


def test_what_is_stored_is_changed_twice_in_one_call(tmp_path: Path) -> None:
    before = [*SHOP, ("table", table()), ("query", query("w"))]
    changes = [("table", tagged("A.B")), ("query", query("x")), ("table", tagged("C.D")), ("query", query("y"))]
    stored = contents(tmp_path / "stored.db", [*before, *changes], calls=len(before), together=len(changes))
    assert [row[1] for row in stored["labels"]] == ["C.D"]
    assert [row[0] for row in stored["uses"]] == ["y"]


def contents(
    file: Path, given: list[tuple[str, Json]], calls: int, together: int = 0
) -> dict[str, list[tuple[object, ...]]]:
    """What a store holds after these requests: the first in so many calls, the last of them together in one."""
    database = open_database(file)
    alone = given[: len(given) - together]
    size = len(alone) // calls
    pieces = [alone[start : start + size] for start in range(0, len(alone), size)]
    for piece in [*pieces, given[len(alone) :]]:
        with database.write() as connection:
            registration = Registration(connection, together=len(piece) > 1)
            for kind, request in piece:
                registration.put(BY_TYPE[kind], request)
            registration.finish()
    with database.read() as connection:
        columns = [column for column in entities.c if column.name not in ("updated_at", "document")]
        found = {
            "entities": select(*columns).order_by(entities.c.id),
            "labels": select(entity_labels).order_by(entity_labels.c.value),
            "uses": select(query_uses),
        }
        rows = {name: [tuple(row) for row in connection.execute(wanted)] for name, wanted in found.items()}
    database.close()
    return rows


def test_an_address_that_a_run_tells_changes_nothing_else_of_a_connection(tmp_path: Path) -> None:
    known = {"hostPort": "old:1", "username": "u", "password": "canary"}
    with closing(open_database(tmp_path / "catalog.db")) as database, database.write() as connection:
        for replace, config in ((True, known), (False, {"hostPort": "h:1"})):
            registration = Registration(connection, replace=replace)
            request = {"name": "shop", "serviceType": "Postgres", "connection": {"config": config}}
            registration.put(BY_TYPE["databaseService"], request)
            registration.finish()
        row = connection.execute(select(entities).where(entities.c.fqn == "shop")).one()
    told = loads(row.document)["connection"]["config"]
    assert told == {"type": "Postgres", "hostPort": "h:1", "username": "u", "password": "*********"}
