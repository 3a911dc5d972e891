"""Ephemeral models: dbt puts each as a WITH item in front of the query that reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from connectors.dbt.target.nodes import EPHEMERAL_PREFIX
from ingestion.lexing import tokens


@dataclass(frozen=True, slots=True)
class EphemeralModel:
    """Its name, its query (None: it could not be had), and the ids of the ephemeral models that it reads itself."""

    name: str
    text: str | None = field(repr=False)
    reads: tuple[str, ...] = ()


def with_ephemeral(query: str, reads: Iterable[str], models: Mapping[str, EphemeralModel], dialect: str) -> str | None:
    """A query with the ephemeral models that it reads, each after those it reads itself; None where one is lost."""
    needed: dict[str, None] = {}
    for unique_id in reads:
        _collect(unique_id, models, needed, ())
    if any(unique_id not in models or models[unique_id].text is None for unique_id in needed):
        return None
    items = [f"{EPHEMERAL_PREFIX}{models[one].name} AS ({_on_one_line(models[one].text or '')})" for one in needed]
    if not items:
        return query
    start, recursive = _behind_with(query, dialect)
    listed = ", ".join(items)
    if start is None:
        return f"WITH {listed} {query}"
    return f"{query[:start]} {listed}, {query[start:]}" if recursive is not None else query


def _collect(
    unique_id: str, models: Mapping[str, EphemeralModel], needed: dict[str, None], above: tuple[str, ...]
) -> None:
    if unique_id in needed or unique_id in above:
        return
    for other in models[unique_id].reads if unique_id in models else ():
        _collect(other, models, needed, (*above, unique_id))
    needed[unique_id] = None


def _on_one_line(text: str) -> str:
    return f"\n{text.strip().rstrip(';')}\n"


def _behind_with(query: str, dialect: str) -> tuple[int | None, bool | None]:
    """Where the first item of a query's own WITH may go, None where it has none."""
    found: int | None = None
    for token in tokens(query, dialect):
        word = token.text.lower()
        if found is None and word == "with":
            found = token.start + len(token.text)
        elif found is not None and word == "recursive":
            return token.start + len(token.text), True
        else:
            break
    return found, None if found is None else False
