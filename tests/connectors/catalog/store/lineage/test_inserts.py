"""A statement's text is stored, sent and compared once, of however many edges it tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import func, select

from connectors.catalog.contract import bulk_models
from connectors.catalog.store.database import open_database
from connectors.catalog.store.entities import lookup
from connectors.catalog.store.entities.entities import entity_id
from connectors.catalog.store.lineage import bulk_lineage, reads
from connectors.catalog.store.schema import statement_texts, versions

TEXT = "INSERT INTO t0 SELECT a FROM " + ", ".join(f"t{n}" for n in range(1, 40))
SOURCES = range(1, 40)


def registered() -> Any:
    common = {"databaseSchema": "s.d.p", "columns": [{"name": "a", "dataType": "INT"}]}
    return bulk_models.Register.model_validate(
        {
            "services": [{"name": "s", "serviceType": "Postgres"}],
            "databases": [{"name": "d", "service": "s"}],
            "schemas": [{"name": "p", "database": "s.d"}],
            "tables": [{"name": f"t{n}", **common} for n in range(40)],
        }
    )


def end(number: int) -> dict[str, str]:
    return {"id": entity_id("table", f"s.d.p.t{number}"), "type": "table"}


def lineage(name: str, query: dict[str, Any], texts: tuple[str, ...] = ()) -> bulk_models.Lineage:
    said = {"producer": {"kind": "query", "key": name}, "source": "QueryLineage", "lastSeen": 5, **query}
    edges = [{"fromEntity": end(n), "toEntity": end(0), "contribution": said} for n in SOURCES]
    return bulk_models.Lineage.model_validate({"batchId": name, "sqlQueries": list(texts), "edges": edges})


def test_a_text_is_stored_once_and_read_with_each_of_its_edges(tmp_path: Path) -> None:
    database = open_database(tmp_path / "c.db")
    with database.write() as connection:
        lookup.register(connection, registered())
        bulk_lineage.apply(connection, lineage("by place", {"sqlQueryIndex": 1}, ("another", TEXT)))
        bulk_lineage.apply(connection, lineage("each", {"sqlQuery": TEXT}))
    with database.read() as connection:
        assert connection.scalars(select(statement_texts.c.text)).all() == [TEXT]
        assert connection.scalar(select(func.max(func.length(versions.c.content)))) < len(TEXT)
        found = reads.contributions_around(connection, [end(0)["id"]], upstream=True)
    assert len(found) == len(SOURCES)
    assert {one.content["sql"] for views in found.values() for one in views} == {TEXT}
    assert not any("text" in one.content for views in found.values() for one in views)
    database.close()


@pytest.mark.parametrize("query", [{"sqlQueryIndex": 1}, {"sqlQueryIndex": 0, "sqlQuery": "b"}])
def test_a_text_that_is_not_there_or_given_twice_is_refused(query: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"text|sqlQuery"):
        lineage("wrong", query, ("a",))


def test_what_is_sent_and_compared_grows_with_the_edges_and_not_with_edges_times_text() -> None:
    assert len(json.dumps(lineage("x", {"sqlQueryIndex": 0}, (TEXT,)).model_dump(mode="json"))) < 40 * 1_000 + len(TEXT)
