"""What happened to a table: definitions that changed, loads that failed, are late or missing, and sizes out of the
usual.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from connectors.catalog.questions.why.facts import Incident, IncidentKind, TimeRange
from connectors.catalog.store.evidence.loads import LoadRhythm, StoredLoad, WrittenVersion
from ingestion.model.moments import minute_text
from ingestion.walk import DIRECT

_EVERY_ROW = ""
_Made = dict[str, frozenset[tuple[str, ...]]]
_COLUMNS_SHOWN = 3

_SAME_RHYTHM = 0.5
_ALIKE = 0.1
"""By how much of itself the period of loads of one round may differ."""

_LEAST_LOADS = 3
"""Loads from which a usual size can be told."""
_FEWER, _MORE = 0.7, 1.5
"""Of the smallest and of the largest load before it."""
_Load = tuple[StoredLoad, int]
"""One that is complete, and its rows."""


# Changes of the statements that write a table: other expressions, filters or sources than before.


@dataclass(frozen=True, slots=True)
class _Statement:
    """What one statement, or one state of a definition, makes each column of; "" is every row."""

    first: int
    last: int
    made: _Made
    sources: frozenset[str]


def definition_changes(table: str, writes: Iterable[WrittenVersion], within: TimeRange) -> list[Incident]:
    """What changed in how `table` is written; the writes have names for the ids of their ends.

    What was written first is no change, nor is a statement that says the same as one before it.
    """
    by_producer: dict[tuple[str, str], list[WrittenVersion]] = defaultdict(list)
    for one in writes:
        by_producer[(one.kind, "") if one.observed else (one.kind, one.key)].append(one)
    return [
        incident
        for (_, key), versions in sorted(by_producer.items())
        for incident in _changes(table, list(_states(versions) if key else _statements(versions)), within)
    ]


def _statements(versions: list[WrittenVersion]) -> Iterator[_Statement]:
    """The statements of a log: each has a key of its own."""
    by_key: dict[str, list[WrittenVersion]] = defaultdict(list)
    for one in versions:
        by_key[one.key].append(one)
    for _, parts in sorted(by_key.items()):
        yield from _states(parts)


def _states(versions: list[WrittenVersion]) -> Iterator[_Statement]:
    """What a producer told at each time: of each source the version that it told last."""
    starts = sorted({_first(one) for one in versions})
    for start in starts:
        current: dict[str, WrittenVersion] = {}
        for one in sorted(versions, key=_first):
            if _first(one) <= start and (one.observed is False or _last(one) >= start):
                current[one.from_id] = one
        parts = list(current.values())
        if parts:
            last = max(_last(one) for one in parts)
            yield _Statement(start, last, _made_by(parts), frozenset(one.from_id for one in parts))


def _first(one: WrittenVersion) -> int:
    return min(span.first for span in one.spans)


def _last(one: WrittenVersion) -> int:
    return max(span.last for span in one.spans)


def _made_by(parts: Iterable[WrittenVersion]) -> _Made:
    made: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for one in parts:
        for column in one.columns:
            how = tuple(str(column.get(key) or "") for key in ("type", "subtype", "expression"))
            for source in column["from"]:
                made[column.get("to") or _EVERY_ROW].add((one.from_id, source, *how))
    return {column: frozenset(how) for column, how in made.items()}


def _changes(table: str, statements: list[_Statement], within: TimeRange) -> Iterator[Incident]:
    statements.sort(key=lambda one: (one.first, sorted(one.sources)))
    for number, one in enumerate(statements):
        before = [other for other in statements[:number] if other.first < one.first]
        if not before or not within.holds(one.first):
            continue
        nearest = max(before, key=lambda other: (_likeness(other, one), other.last))
        if any(other.made == one.made and other.sources == one.sources for other in before):
            continue
        replaced = nearest.last <= one.first
        kind = IncidentKind.DEFINITION if replaced else IncidentKind.NEW_WRITER
        columns, detail = _difference(nearest, one)
        yield Incident(one.first, table, kind, columns, detail)


def _likeness(one: _Statement, other: _Statement) -> float:
    left, right = ({(c, how) for c, hows in s.made.items() for how in hows} for s in (one, other))
    shared = len(left & right) + len(one.made.keys() & other.made.keys()) + len(one.sources & other.sources)
    return shared / (len(left | right) + len(one.made.keys() | other.made.keys()) + len(one.sources | other.sources))


def _difference(before: _Statement, after: _Statement) -> tuple[tuple[str, ...], str]:
    """The columns that are made in another way (none: every row is concerned), and how."""
    changed = sorted(
        key for key in before.made.keys() | after.made.keys() if before.made.get(key) != after.made.get(key)
    )
    parts = []
    for column in changed[:_COLUMNS_SHOWN]:
        old, new = (_texts(one.made.get(column, frozenset())) for one in (before, after))
        parts.append(f"{column or 'rows'}: {old or 'nothing'} -> {new or 'nothing'}")
    sources = [f"now reads {name}" for name in sorted(after.sources - before.sources)]
    sources += [f"no longer reads {name}" for name in sorted(before.sources - after.sources)]
    left = f"and {len(changed) - _COLUMNS_SHOWN} more columns" if len(changed) > _COLUMNS_SHOWN else ""
    columns = () if _EVERY_ROW in changed or before.sources != after.sources else tuple(changed)
    return columns, "; ".join(filter(None, (*parts, left, *sources)))


def _texts(made: Iterable[tuple[str, ...]]) -> str:
    """What a column is made of: expressions, else the names of the sources with the way in which they take part."""
    found = set()
    for _table, source, strength, subtype, expression in made:
        plain = source if strength == DIRECT else f"{subtype.lower().replace('_', ' ')} {source}"
        found.add(expression if expression and strength == DIRECT else plain)
    return ", ".join(sorted(found))


# Loads that failed, and whether they came after that.


def failed_loads(
    table: str, loads: Sequence[StoredLoad], writes: Iterable[WrittenVersion], window: TimeRange
) -> Iterator[Incident]:
    """The failures of one table's `loads`, and whether what loads it ran after them, by the end of the `window`.

    Attempts that failed one after the other are one, those before and those in the window.
    """
    failures: dict[tuple[str, tuple[int, IncidentKind] | None, bool], list[StoredLoad]] = defaultdict(list)
    runs = _Runs(loads, writes)
    for one in loads:
        if one.failed:
            failures[one.producer, runs.after(one, window.end), one.at > window.start].append(one)
    for (_producer, came, _within), attempts in failures.items():
        first = attempts[0]
        about = [part for part in (first.job, f"error {first.error}" if first.error else "") if part]
        if len(attempts) > 1:
            about.append(f"{len(attempts)} attempts")
        kind = IncidentKind.LOAD_FAILED if came is None else came[1]
        yield Incident(first.at, table, kind, (), ", ".join(about))


class _Runs:
    """When what loads a table is known to have run."""

    def __init__(self, loads: Iterable[StoredLoad], writes: Iterable[WrittenVersion]) -> None:
        self._moments: dict[str, set[int]] = defaultdict(set)
        for version in writes:
            if version.observed:
                self._moments[version.key].update(end for span in version.spans for end in (span.first, span.last))
        self._alone = len(self._moments) == 1
        for one in loads:
            if not one.failed:
                self._moments[one.producer].add(one.at)

    def after(self, failed: StoredLoad, until: int) -> tuple[int, IncidentKind] | None:
        """When a load that failed came after that, by `until`, and how; None where it is not known to have come.

        By the same statement, whose values may be others, or by the only one that writes the table; else by one that
        nobody ran before: a statement that is mended is another one, but so is one that has nothing to do with it.
        """
        others = [moments for producer, moments in self._moments.items() if producer != failed.producer and moments]
        only = [moments for moments in others if self._alone]
        new = [moments for moments in others if min(moments) > failed.at]
        for kind, candidates in (
            (IncidentKind.LOAD_REPEATED, [self._moments[failed.producer], *only]),
            (IncidentKind.LOAD_REPLACED, new),
        ):
            came = min((at for moments in candidates for at in moments if failed.at < at <= until), default=None)
            if came is not None:
                return came, kind
        return None


# Loads that did not come, or came after what reads them: told from when statements were seen to run.


def missing_loads(rhythms: Mapping[str, LoadRhythm], seen_until: int, within: TimeRange) -> list[Incident]:
    """The loads that were due `within` a time and have not come by `seen_until`, the last moment the log tells of.

    One is missing when nothing came for longer than is usual, and before that where a table that comes after it in each
    round (of the same period) has come in this one.
    """
    found = []
    for table, rhythm in sorted(rhythms.items()):
        overdue = seen_until - rhythm.last > rhythm.patience
        if within.holds(rhythm.due) and (overdue or any(_came_after(rhythm, other) for other in rhythms.values())):
            detail = f"the last was at {minute_text(rhythm.last)}, one is due every {_duration(rhythm.period)}"
            found.append(Incident(rhythm.due, table, IncidentKind.LOAD_MISSING, (), detail))
    return found


def _came_after(rhythm: LoadRhythm, other: LoadRhythm) -> bool:
    """Whether the other load follows this one in each round, and has done so without it."""
    period = rhythm.period
    if abs(period - other.period) > _ALIKE * period:
        return False
    behind = other.first - rhythm.first
    return 0 < behind < _SAME_RHYTHM * period and other.last - rhythm.last > period + behind / 2


def late_loads(
    rhythms: Mapping[str, LoadRhythm], readers: Mapping[str, Iterable[str]], within: TimeRange
) -> list[Incident]:
    """Loads that came only after a table that reads them (`readers`, by source) was made, in the same rhythm."""
    found = []
    for source, rhythm in sorted(rhythms.items()):
        period = rhythm.period
        if not within.holds(rhythm.last):
            continue
        for reader in sorted(readers.get(source, ())):
            other = rhythms.get(reader)
            if other is None or other.period * _SAME_RHYTHM > period:
                continue
            behind = rhythm.last - other.last
            if 0 < behind < _SAME_RHYTHM * period and rhythm.first <= other.first:
                detail = f"{_duration(behind)} after {reader} was made"
                found.append(Incident(rhythm.last, source, IncidentKind.LOAD_LATE, (), detail))
                break
    return found


def _duration(millis: float) -> str:
    minutes = round(millis / 60_000)
    hours = round(minutes / 60, 1)
    days = round(hours / 24, 1)
    number, unit = (minutes, "minute") if minutes < 60 else (hours, "hour") if hours < 48 else (days, "day")
    return f"{number:g} {unit}{'' if number == 1 else 's'}"


# Loads of other sizes than those before them, and commits of who never committed before.


def unusual_sizes(table: str, loads: Iterable[StoredLoad]) -> Iterator[Incident]:
    """The loads of one table, which are given oldest first, that have other numbers of rows than those before them."""
    for series in _series(loads):
        low, high = _range(series[:_LEAST_LOADS])
        for load, rows in series[_LEAST_LOADS:]:
            usual = f"{rows} rows, before it {low} to {high}"
            detail = f"{usual} ({load.commit})" if load.commit else usual
            if rows < low * _FEWER:
                yield Incident(load.at, table, IncidentKind.FEWER_ROWS, (), detail)
            elif rows > high * _MORE:
                yield Incident(load.at, table, IncidentKind.MORE_ROWS, (), detail)
            low, high = min(low, rows), max(high, rows)


def has_usual_size(loads: Iterable[StoredLoad], within: TimeRange) -> bool:
    """Whether the last loads of one table came `within` a time, and with as many rows as those before them."""
    found = []
    for series in _series(one for one in loads if one.at <= within.end):
        *before, (load, rows) = series
        if len(before) >= _LEAST_LOADS and within.holds(load.at):
            low, high = _range(before)
            found.append(low * _FEWER <= rows <= high * _MORE)
    return bool(found) and all(found)


def new_commits(table: str, loads: Iterable[StoredLoad]) -> Iterator[Incident]:
    """The first commit of each operation by each who, where the table had seen as many of others as tell what is usual.

    A DELETE by hand between the nightly MERGEs is one: no log of statements needs to know of it. The loads are given
    oldest first.
    """
    seen: set[str] = set()
    number = 0
    for load in loads:
        if not load.commit:
            continue
        if load.job not in seen and number >= _LEAST_LOADS:
            yield Incident(load.at, table, IncidentKind.NEW_WRITER, (), load.commit)
        seen.add(load.job)
        number += 1


def last_commit(loads: Iterable[StoredLoad]) -> StoredLoad | None:
    """The last commit of one table, whose loads are given oldest first."""
    return next((load for load in reversed(list(loads)) if load.commit), None)


def by_table(loads: Iterable[StoredLoad]) -> dict[str, list[StoredLoad]]:
    """Loads by the id of the table that they write."""
    found: dict[str, list[StoredLoad]] = defaultdict(list)
    for one in loads:
        found[one.entity_id].append(one)
    return found


def _series(loads: Iterable[StoredLoad]) -> list[list[_Load]]:
    """The loads with a number of rows that are compared with each other: those of a statement, those of all jobs."""
    found: dict[str, list[_Load]] = defaultdict(list)
    for one in loads:
        if one.rows is not None and not one.failed:
            found[one.producer if one.is_statement else ""].append((one, one.rows))
    return list(found.values())


def _range(loads: Sequence[_Load]) -> tuple[int, int]:
    sizes = [rows for _load, rows in loads]
    return min(sizes), max(sizes)
