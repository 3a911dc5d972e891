"""What is told to a batch of what was registered for all of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from ingestion.model.isolation import Isolation
from ingestion.model.namespaces import RelationKey
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
