"""What wrote into tables: each version of each producer's word, with the spans of time in which it was seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sqlalchemy import Connection, func, select

from connectors.catalog.store.activity import OBSERVED
from connectors.catalog.store.chunking import chunks_of
from connectors.catalog.store.database import loads
from connectors.catalog.store.schema import contributions, dated_contributions, sightings, versions
from ingestion.model import Json


@dataclass(frozen=True, slots=True)
class Span:
    """`count` runs between two moments (milliseconds), told at once: of two the times are known, of more not."""

    first: int
    last: int
    count: int


@dataclass(frozen=True, slots=True)
class WrittenVersion:
    """One version of what a producer (`kind`, `key`) says of the edge between two entities, and when it was seen.

    `observed`: it speaks of single runs; else of a definition, which holds until it is taken back.
    """

    from_id: str
    to_id: str
    kind: str
    key: str
    columns: tuple[Json, ...]
    spans: tuple[Span, ...]

    @property
    def observed(self) -> bool:
        return self.kind in OBSERVED


def writes_into(connection: Connection, entities: Iterable[str], until: int) -> list[WrittenVersion]:
    """What was seen to write into entities by `until` (milliseconds), in an order that does not change."""
    found: dict[int, WrittenVersion] = {}
    spans: dict[int, list[Span]] = defaultdict(list)
    subject = (contributions.c[name] for name in ("from_id", "to_id", "kind", "key"))
    times = (sightings.c.first_seen, sightings.c.last_seen, sightings.c.count.label("runs"))
    joined = contributions.join(versions, versions.c.contribution_id == contributions.c.id)
    seen = joined.join(sightings, sightings.c.version_id == versions.c.id)
    wanted = select(versions.c.id, versions.c.content, *subject, *times).select_from(seen)
    for chunk in chunks_of(sorted(set(entities))):
        where = (contributions.c.to_id.in_(chunk), sightings.c.first_seen <= until, contributions.c.kind != "manual")
        for row in connection.execute(wanted.where(*where)):
            columns = tuple(loads(row.content).get("columns") or ())
            found[row.id] = WrittenVersion(row.from_id, row.to_id, row.kind, row.key, columns, ())
            spans[row.id].append(_span(row.first_seen, row.last_seen, row.runs, until))
    ordered = sorted(
        found.items(), key=lambda item: (item[1].to_id, item[1].kind, item[1].key, item[1].from_id, item[0])
    )
    return [replace(one, spans=tuple(sorted(spans[number], key=_by_time))) for number, one in ordered]


def _span(first: int, last: int, runs: int, until: int) -> Span:
    """As much of a span as was known by `until`: of runs in it that came later the times are not told."""
    return Span(first, last, runs) if last <= until else Span(first, first, 1)


def _by_time(span: Span) -> tuple[int, int]:
    return span.first, span.last


def observed_range(connection: Connection, until: int) -> tuple[int, int] | None:
    """When anything was first and last seen to run by `until` (milliseconds); None: nothing was."""
    seen = dated_contributions.join(sightings, sightings.c.version_id == versions.c.id)
    ends = select(func.min(sightings.c.first_seen), func.max(func.min(sightings.c.last_seen, until)))
    where = (sightings.c.first_seen <= until, contributions.c.kind.in_(OBSERVED))
    first, last = connection.execute(ends.select_from(seen).where(*where)).one()
    return None if first is None else (first, last)
