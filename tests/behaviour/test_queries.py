"""Query entities: masked, one for each text, with who ran it, how long it takes and what it touches."""

from __future__ import annotations

import json
from collections.abc import Callable

from connectors.openmetadata.attachments import file_queries
from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Record

Opened = Callable[..., Shop]
TABLES = {"public.src": ("a", "b"), "public.tgt": ("a", "b")}


def stored(made: Shop) -> list[dict[str, object]]:
    service = made.warehouse.service
    found = made.catalog.listing("queries")
    return [one for one in found if one["service"]["fullyQualifiedName"] == service]


def test_runs_that_differ_in_literals_are_one_query_and_no_literal_is_stored(shop: Opened) -> None:
    made = shop(TABLES)
    outcome = made.run(*(f"insert into tgt (a) select a from src where b = 'secret-{n}'" for n in range(5)))
    assert file_queries(made.platform, made.warehouse.service, outcome.queries) == 1
    (query,) = stored(made)
    assert query["query"] == "insert into tgt (a) select a from src where b = ?"
    assert "secret" not in json.dumps(query)


def test_it_tells_who_ran_it_how_long_it_takes_and_what_it_touches(shop: Opened) -> None:
    made = shop(TABLES)
    outcome = made.run("insert into tgt (a) select a from src", "insert into tgt (a) select a from src")
    file_queries(made.platform, made.warehouse.service, outcome.queries)
    (query,) = stored(made)
    assert query["usedBy"] == ["ann"]
    assert query["duration"] == 0.5
    assert query["processedLineage"] is True
    used = query["queryUsedIn"]
    assert isinstance(used, list)
    ends = {end.id for request in outcome.requests for end in (request.from_entity, request.to_entity)}
    assert {one["id"] for one in used} == ends


def test_filing_it_again_writes_nothing_and_loses_nothing(shop: Opened) -> None:
    made = shop(TABLES)
    outcome = made.run("insert into tgt (a) select a from src")
    file_queries(made.platform, made.warehouse.service, outcome.queries)
    before = stored(made)
    assert file_queries(made.platform, made.warehouse.service, outcome.queries) == 0
    assert stored(made) == before


def test_a_query_without_an_edge_is_not_filed(shop: Opened) -> None:
    made = shop(TABLES)
    outcome = made.run("insert into tgt (a) select a from nowhere", Record("select a from src"))
    assert outcome.queries == ()


def test_a_definition_is_no_query(shop: Opened) -> None:
    made = shop({**TABLES, "public.v": ("a",)})
    assert made.run("create view v as select a from src").queries == ()
