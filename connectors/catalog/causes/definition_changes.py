"""Changes of the statements that write a table: other expressions, filters or sources than before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from connectors.catalog.causes.facts import Incident, IncidentKind, TimeRange
from connectors.catalog.store.evidence.writes import WrittenVersion

_EVERY_ROW = ""
_Made = dict[str, frozenset[tuple[str, ...]]]
_SHOWN = 3


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
    for column in changed[:_SHOWN]:
        old, new = (_texts(one.made.get(column, frozenset())) for one in (before, after))
        parts.append(f"{column or 'rows'}: {old or 'nothing'} -> {new or 'nothing'}")
    sources = [f"now reads {name}" for name in sorted(after.sources - before.sources)]
    sources += [f"no longer reads {name}" for name in sorted(before.sources - after.sources)]
    left = f"and {len(changed) - _SHOWN} more columns" if len(changed) > _SHOWN else ""
    columns = () if _EVERY_ROW in changed or before.sources != after.sources else tuple(changed)
    return columns, "; ".join(filter(None, (*parts, left, *sources)))


def _texts(made: Iterable[tuple[str, ...]]) -> str:
    """What a column is made of: expressions, else the names of the sources with the way in which they take part."""
    found = set()
    for _table, source, strength, subtype, expression in made:
        plain = source if strength == "DIRECT" else f"{subtype.lower().replace('_', ' ')} {source}"
        found.add(expression if expression and strength == "DIRECT" else plain)
    return ", ".join(sorted(found))
