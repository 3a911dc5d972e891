"""The tests of tables and columns with all of their results up to a moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.entities.tests import results, tested_column
from connectors.catalog.store.schema import entities
from ingestion.model import Json
from ingestion.names import fqn


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
    for chunk in chunks_of(sorted(set(tables))):
        where = (entities.c.parent_id.in_(chunk), entities.c.type == "testCase", entities.c.deleted.is_(False))
        rows += connection.execute(select(entities).where(*where).order_by(entities.c.fqn)).all()
    known = results(connection, [row.id for row in rows], until)
    found = []
    for row in rows:
        document = loads(row.document)
        column = tested_column(document["entityLink"])
        path = fqn.quote(column) if column else ""
        definition = str(document["testDefinition"]["name"])
        found.append(QualityTest(row.parent_id, path, document["name"], definition, tuple(known.get(row.id, ()))))
    return found
