"""What is told to a batch of what was registered for all of them."""

from __future__ import annotations

from typing import Any, cast

from ingestion.model.namespaces import RelationKey
from workflows.run.resolve.resolution import RegisteredNames, RelationFacts


def test_a_batch_is_told_of_the_refused_places_that_it_names_and_of_no_other() -> None:
    """What goes to a batch does not grow with the log."""
    facts = [
        RelationFacts(place, key, cast(Any, None), wanted=True, identity=(key, None))
        for place, key in ((place, RelationKey(("", "", place))) for place in "tu")
    ]
    registered = RegisteredNames(3, frozenset({"u", "v", "w"}), sent=True)
    assert registered.within(facts) == RegisteredNames(3, frozenset({"u"}), sent=True)
