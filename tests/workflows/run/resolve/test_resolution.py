"""What is told to a batch of what was registered for all of them; and under which names tables are registered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ingestion.binding.binder import BoundLog
from ingestion.binding.relations import Relation
from ingestion.model.entities import TableEntity
from ingestion.model.isolation import Isolation
from ingestion.model.lineage import Column
from ingestion.model.namespaces import RelationKey
from ingestion.model.outcomes import Outcome
from workflows.run.resolve.entities import RelationEntities
from workflows.run.resolve.resolution import RegisteredNames, Registrar, RelationFacts


def test_a_batch_is_told_of_the_refused_places_that_it_names_and_of_no_other() -> None:
    """What goes to a batch does not grow with the log."""
    facts = [
        RelationFacts(place, key, cast(Any, None), wanted=True, identity=(key, None))
        for place, key in ((place, RelationKey(("", "", place))) for place in "tu")
    ]
    registered = RegisteredNames(3, frozenset({"u", "v", "w"}), sent=True)
    assert registered.within(facts) == RegisteredNames(3, frozenset({"u"}), sent=True)


def test_the_service_of_the_source_is_registered_with_its_address() -> None:
    key, shape = RelationKey(("db", "public", "t")), SimpleNamespace(columns={}, complete=True, definition=None)
    facts = [RelationFacts("shop.db.public.t", key, cast(Any, shape), wanted=True, identity=(key, None))]
    for address, expected in (({"hostPort": "h:1"}, {"config": {"hostPort": "h:1"}}), ({}, None)):
        registrar = Registrar("shop", "Postgres", "db", "public", address=address)
        (service,) = registrar.requests_of(facts, Isolation())["services"]
        assert service.get("connection") == expected


@pytest.mark.parametrize(
    ("service_type", "others", "location"),
    [
        ("BigQuery", (), "wh.DB.S.ORDERS"),  # where these are two tables
        ("Snowflake", (), "wh.db.s.Orders"),
        ("Snowflake", (("db", "s", "Orders"),), "wh.DB.S.ORDERS"),  # the log has both
    ],
)
def test_a_table_that_is_there_in_another_case_gets_the_columns_of_the_log(
    service_type: str, others: tuple[tuple[str, ...], ...], location: str
) -> None:
    """CREATE TABLE db.s.orders (id int, total int), where an agent told of db.s.Orders before, and of its id alone."""
    keys = [RelationKey(parts) for parts in (("DB", "S", "ORDERS"), *others)]
    relations = tuple(Relation(number, key, key, key.mention, creator=0) for number, key in enumerate(keys))
    log = BoundLog(relations, (), {0: (Column("ID"), Column("TOTAL"))})
    source = SimpleNamespace(log=log, flows=(), filled_elsewhere=(), view_definitions=dict)
    entity = TableEntity("1", "wh.db.s.Orders", "wh", "db", "s", "Orders", (Column("id"),))
    entities = RelationEntities({0: entity}, {0: Outcome.RESOLVED})
    registrar = Registrar("wh", service_type, "db", "s")
    (facts,) = registrar.facts(cast(Any, source), entities)
    assert (facts.location, facts.wanted) == (location, True)
