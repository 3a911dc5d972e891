"""What a run has given up on beside its statements."""

from __future__ import annotations

from collections.abc import Iterable

from ingestion.isolation import Failure


def loss_warnings(what: str, failures: Iterable[Failure]) -> tuple[str, ...]:
    """A warning of how many were given up on, and the first reason of it; none where none were."""
    places = [failure.place for failure in failures]
    return (f"{len(places)} {what} ({places[0]})",) if places else ()
