"""What wrote into tables, and when: each producer's word, what became of single loads, and their rhythm."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, Select, func, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract.errors import not_found
from connectors.catalog.store.database import loads
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.rows import thousands_of
from connectors.catalog.store.schema import (
    contribution_jobs,
    contributions,
    dated_contributions,
    load_outcomes,
    sightings,
    statement_loads,
    versions,
)
from ingestion.model.contributions import OBSERVED
from ingestion.model.lineage import Json
from ingestion.model.table_commits import COMMITTED, commit_text

if TYPE_CHECKING:
    from connectors.catalog.contract.bulk_models import StatementLoad

_DAY = 86_400_000
_LEAST_ROUNDS = 3
"""Rounds from which a rhythm can be told."""
_OVERDUE = 1.5
"""Periods without a run after which one is missing."""
_LONGER = 1.25
"""By how much a silence must be longer than those that are usual, such as weekends."""
_USUAL = 0.125
"""Of all silences: one that so many are as long as is usual."""
_SAME_ROUND = 0.5
"""Of the usual gap: runs that lie closer together are one round."""
_OTHER_TIME = 0.75
"""Of the whole history: before a gap so long it was another rhythm, or none."""
_PER_DAY = (2, 3, 4, 6, 8, 12, 24, 48, 96)
"""Rounds a day of which schedules are made."""
_LEFT_OUT, _RUN_AGAIN = 0.9, 1.1
"""How few and how many runs, beside its rounds, a schedule may have."""
_OUT_OF_STEP = 0.125
"""By how much of its period the last run of a schedule may be early or late."""


# What wrote into tables: each version of each producer's word, with the spans of time in which it was seen.


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
    for some in thousands_of(sorted(set(entities))):
        where = (contributions.c.to_id.in_(some), sightings.c.first_seen <= until, contributions.c.kind != "manual")
        for row in connection.execute(wanted.where(*where)):
            columns = tuple(loads(row.content).get("columns") or ())
            found[row.id] = WrittenVersion(row.from_id, row.to_id, row.kind, row.key, columns, ())
            spans[row.id].append(_span(row.first_seen, row.last_seen, row.runs, until))
    ordered = sorted(
        found.items(), key=lambda item: (item[1].to_id, item[1].kind, item[1].key, item[1].from_id, item[0])
    )
    return [replace(one, spans=tuple(sorted(spans[number], key=_by_time))) for number, one in ordered]


@dataclass(frozen=True, slots=True)
class SeenWrites:
    """When statements were seen to fill an entity, and what ran the latest of them, as far as is known."""

    spans: tuple[Span, ...]
    last: int
    jobs: tuple[str, ...]


def seen_writes(connection: Connection, until: int, among: Collection[str] | None = None) -> dict[str, SeenWrites]:
    """Those of every entity (or `among` some) by `until` (milliseconds), by its id; what it reads is not looked at."""
    seen = contributions.join(versions, versions.c.contribution_id == contributions.c.id)
    seen = seen.join(sightings, sightings.c.version_id == versions.c.id)
    times = (sightings.c.first_seen, sightings.c.last_seen, sightings.c.count.label("runs"))
    chosen = [] if among is None else [contributions.c.to_id.in_(sorted(among))]
    where = (sightings.c.first_seen <= until, contributions.c.kind.in_(OBSERVED), *chosen)
    spans: dict[str, set[Span]] = defaultdict(set)
    latest: dict[str, tuple[int, int]] = {}
    wanted = select(contributions.c.to_id, contributions.c.id, *times).select_from(seen).where(*where)
    for row in connection.execute(wanted):
        span = _span(row.first_seen, row.last_seen, row.runs, until)
        spans[row.to_id].add(span)
        latest[row.to_id] = max(latest.get(row.to_id, (0, 0)), (span.last, row.id))
    jobs: dict[int, list[str]] = defaultdict(list)
    for some in thousands_of(sorted({contribution for _, contribution in latest.values()})):
        of_some = select(contribution_jobs).where(contribution_jobs.c.contribution_id.in_(some))
        for one in connection.execute(of_some.order_by(contribution_jobs.c.job)):
            jobs[one.contribution_id].append(one.job)
    return {
        entity: SeenWrites(tuple(sorted(spans[entity], key=_by_time)), last, tuple(jobs[contribution]))
        for entity, (last, contribution) in latest.items()
    }


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


def first_commit(connection: Connection) -> int | None:
    """When the first commit was made that tables' own logs tell of (milliseconds); None: there is none.

    Asked where a catalog begins: a log of a table is older than the first run that reads it.
    """
    commits = statement_loads.c.statement.startswith(COMMITTED, autoescape=True)
    found: int | None = connection.scalar(select(func.min(statement_loads.c.at)).where(commits))
    return found


# What became of the loads of tables: failures, and how many rows were written.


@dataclass(frozen=True, slots=True)
class StoredLoad:
    """A load of a table at a time (milliseconds); `rows` None: not told. `job` is the name of what ran it.

    `producer` is by what key it speaks of lineage: a job's name, or a statement's fingerprint (`is_statement`). `error`
    is the code of why it failed, "" where that is not known; `run` tells it from others of that moment.
    """

    entity_id: str
    at: int
    failed: bool
    rows: int | None
    job: str
    producer: str
    is_statement: bool = False
    error: str = ""
    run: str = ""

    @property
    def commit(self) -> str:
        """The commit that it is, as people know it; "" of what is no commit of a table's own log."""
        return commit_text(self.producer, self.run, self.job) if self.is_statement else ""


def load_history(connection: Connection, entities: Iterable[str], until: int) -> list[StoredLoad]:
    """The loads of entities that are known one by one, up to `until` (milliseconds), oldest first."""
    found: list[StoredLoad] = []
    for some in thousands_of(sorted(set(entities))):
        runs = select(load_outcomes).where(load_outcomes.c.entity_id.in_(some), load_outcomes.c.at <= until)
        found += map(_of_job, connection.execute(runs))
        logged = select(statement_loads).where(statement_loads.c.entity_id.in_(some), statement_loads.c.at <= until)
        found += map(_of_statement, connection.execute(logged))
    return sorted(found, key=lambda one: (one.at, one.entity_id, one.producer, one.failed))


def failed_last_loads(connection: Connection) -> list[StoredLoad]:
    """The last loads of entities, of those that failed; in no order."""
    found: dict[str, StoredLoad] = {}
    for table, read in ((load_outcomes, _of_job), (statement_loads, _of_statement)):
        # the other columns are those of the row with the greatest time: SQLite, "Bare columns in an aggregate query"
        others = (one for one in table.c if one is not table.c.at)
        last: Select[Any] = select(*others, func.max(table.c.at).label("at")).group_by(table.c.entity_id)
        for one in map(read, connection.execute(last)):
            if one.entity_id not in found or found[one.entity_id].at < one.at:
                found[one.entity_id] = one
    return [one for one in found.values() if one.failed]


def _of_job(row: Row[Any]) -> StoredLoad:
    return StoredLoad(row.entity_id, row.at, row.status == "failed", row.rows, row.job, row.job)


def _of_statement(row: Row[Any]) -> StoredLoad:
    what = row.entity_id, row.at, row.status == "failed", row.rows, row.job, row.statement
    return StoredLoad(*what, is_statement=True, error=row.error, run=row.run)


# When a table is loaded, round by round: told from when statements were seen to run.


@dataclass(frozen=True, slots=True)
class LoadRhythm:
    """The rounds in which a table is written, in milliseconds: first, last run, how far apart two are.

    `patience` is how long nothing may come before a round is missing.
    """

    first: int
    last: int
    period: float
    patience: float

    @property
    def due(self) -> int:
        """When the next round is to come."""
        return round(self.last + self.period)


def load_rhythm(writes: Iterable[WrittenVersion]) -> LoadRhythm | None:
    """The rhythm of what writes one table; None where there is none."""
    return rhythm_of({span for one in writes if one.observed for span in one.spans})


def rhythm_of(spans: Iterable[Span]) -> LoadRhythm | None:
    """The rhythm of what was seen in these spans; None where there is none.

    It has to have held for two periods and for a day: a table that is filled again in a loop has none.
    """
    times = _since_the_longest_gap(sorted({time for span in spans for time in _times(span)}))
    rounds = _rounds(times)
    if len(rounds) < _LEAST_ROUNDS or times[-1] - times[0] < _DAY:
        return None
    gaps = sorted(other - one for one, other in pairwise(rounds))
    usual = gaps[min(len(gaps) - 1, int((1 - _USUAL) * len(gaps)))]
    period = median(gaps)
    return LoadRhythm(rounds[0], times[-1], period, max(_OVERDUE * period, _LONGER * usual))


def _since_the_longest_gap(times: list[int]) -> list[int]:
    """The times after a gap beside which all that came before is of another time."""
    while len(times) >= _LEAST_ROUNDS:
        gap, end = max((other - one, number) for number, (one, other) in enumerate(pairwise(times), 1))
        if gap <= _OTHER_TIME * (times[-1] - times[0]):
            break
        times = times[end:]
    return times


def _rounds(times: list[int]) -> list[int]:
    """The first run of each round. The usual gap is the shortest of the long ones that fill half of the time."""
    gaps = sorted((other - one for one, other in pairwise(times)), reverse=True)
    passed, usual = 0, 0
    for gap in gaps:
        usual, passed = gap, passed + gap
        if 2 * passed >= sum(gaps):
            break
    later = [other for one, other in pairwise(times) if other - one > _SAME_ROUND * usual]
    return [*times[:1], *later]


def _times(span: Span) -> list[int]:
    """When the rounds of a span came: at equal distances where its runs fit a schedule, else at its two ends."""
    length = span.last - span.first
    rounds = _scheduled_rounds(span.count, length) if span.count > 2 else 2
    return [span.first + round(length * number / (rounds - 1)) for number in range(rounds)]


def _scheduled_rounds(runs: int, length: int) -> int:
    """How many rounds of a schedule `runs` over a time are; 2 where they fit none.

    As many in each of the rounds of whole days are a loop, unless the last run is at another time of the day than the
    first and fits a schedule of several times a day. What comes several times a day is never told too often.
    """
    whole = max(1, round(length / (runs - 1) / _DAY)) * _DAY
    besides = abs(length - round(length / whole) * whole)
    for number in _PER_DAY:
        if runs == _rounds_between(length, _DAY / number) and 2 * besides > _DAY / number:
            return runs
    rounds = _rounds_between(length, whole)
    if rounds and (runs % rounds == 0 or _LEFT_OUT * rounds <= runs <= _RUN_AGAIN * rounds):
        return rounds
    for number in _PER_DAY:
        rounds = _rounds_between(length, _DAY / number)
        if _LEFT_OUT * rounds <= runs <= rounds:
            return rounds
    return 2


def _rounds_between(length: int, period: float) -> int:
    """How many rounds of a period there are from the first to the last; 0 where these do not keep to it."""
    number = round(length / period)
    kept = abs(length - number * period) <= _OUT_OF_STEP * period
    return number + 1 if kept and number + 1 >= _LEAST_ROUNDS else 0


# What became of single loads, as query logs tell: which failed, and how many rows others wrote.


def file_statement_loads(connection: Connection, loads: Sequence[StatementLoad]) -> Json:
    """Files the loads, each once; a number of rows is kept where one is told. Raises ApiError (404)."""
    rows = any_rows_of(connection, {load.entity.id.lower() for load in loads})
    for load in loads:
        row = rows.get(load.entity.id.lower())
        if row is None or row.purged or row.type != load.entity.type:
            raise not_found(load.entity.type, load.entity.id)
    before = _count(connection)
    if loads:
        new = upsert(statement_loads)
        known = func.coalesce(new.excluded.rows, statement_loads.c.rows)
        key = list(statement_loads.primary_key)
        connection.execute(new.on_conflict_do_update(index_elements=key, set_={"rows": known}), list(map(_row, loads)))
    return {"filed": len(loads), "new": _count(connection) - before}


def _row(load: StatementLoad) -> Json:
    return {"entity_id": load.entity.id.lower(), **load.model_dump(exclude={"entity"})}


def _count(connection: Connection) -> int:
    return connection.scalar(select(func.count()).select_from(statement_loads)) or 0
