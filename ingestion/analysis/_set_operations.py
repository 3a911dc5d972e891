"""Set operations: the columns of the branches put together by position, or by name."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.analysis._columns import (
    ColumnSources,
    ColumnValue,
    Entry,
    QueryColumns,
    UnexpandedStar,
    spellings,
    star_column,
    union_of,
    values_of,
)
from ingestion.analysis.form import MatchedNames, SetOperation


def combine_branches(sources: ColumnSources, branches: list[QueryColumns], operation: SetOperation) -> list[Entry]:
    """The columns by position, under the first branch's names; of EXCEPT the first branch's alone.

    `SELECT a FROM s UNION SELECT b FROM t`, two branches, has one column, a, from s.a and t.b.
    """
    first = branches[0].entries
    if operation.first_only or len(branches) == 1:
        return list(first)
    if any(branch.stars for branch in branches):
        return _around_stars(sources, branches)
    width = max(len(branch.entries) for branch in branches)
    lists = [[entry for entry in branch.entries if isinstance(entry, tuple)] for branch in branches]
    return [_opposite([entries[number] for entries in lists if number < len(entries)]) for number in range(width)]


def _around_stars(sources: ColumnSources, branches: list[QueryColumns]) -> list[Entry]:
    """Columns before the first run of unknown columns and after the last stand opposite each other for sure."""
    lists = [branch.entries for branch in branches]
    head = min(_columns_before_run(entries) for entries in lists)
    tail = min(
        min(_columns_before_run(entries[::-1]) for entries in lists), *(len(entries) - head for entries in lists)
    )
    combined = [_opposite([entries[number] for entries in lists]) for number in range(head)]
    middles = [entries[head : len(entries) - tail] for entries in lists]
    combined += _middle(sources, middles)
    combined += [_opposite([entries[len(entries) - number] for entries in lists]) for number in range(tail, 0, -1)]
    return combined


def _columns_before_run(entries: list[Entry]) -> int:
    """How many columns stand before the first unknown run."""
    for number, entry in enumerate(entries):
        if isinstance(entry, UnexpandedStar):
            return number
    return len(entries)


def _opposite(entries: Sequence[Entry]) -> Entry:
    values = [entry[1] for entry in entries if isinstance(entry, tuple)]
    name = next(entry[0] for entry in entries if isinstance(entry, tuple))
    return name, union_of(values)


def _middle(sources: ColumnSources, middles: list[list[Entry]]) -> list[Entry]:
    """What stands between the sure columns of both ends, where some branch has a run of unknown columns.

    `SELECT * FROM s UNION ALL SELECT * FROM t`: the runs stand opposite each other, so that a column of s goes together
    with one of t. In `SELECT * FROM s UNION ALL SELECT x, t.* FROM t` nothing says what stands opposite what.
    """
    first = middles[0]
    if all(len(middle) == len(first) for middle in middles) and all(
        isinstance(a, UnexpandedStar) == isinstance(b, UnexpandedStar)
        for middle in middles
        for a, b in zip(first, middle, strict=True)
    ):
        found: list[Entry] = []
        for number, entry in enumerate(first):
            if isinstance(entry, UnexpandedStar):
                others = tuple(middle[number] for middle in middles[1:])
                beside = tuple(other for other in others if isinstance(other, UnexpandedStar))
                found.append(entry.beside(beside))
            else:
                found.append(_opposite([middle[number] for middle in middles]))
        return found
    return _misaligned_entries(sources, middles)


def _misaligned_entries(sources: ColumnSources, middles: list[list[Entry]]) -> list[Entry]:
    """Branches whose unknown columns do not stand opposite each other: any of the others' may be behind each."""
    first = middles[0]
    misaligned: list[UnexpandedStar | ColumnValue] = []
    for middle in middles[1:]:
        candidates = values_of(middle, sources)
        if not candidates:
            continue
        misaligned.append(sources.one_of(candidates, "?"))
    found: list[Entry] = []
    for entry in first:
        if isinstance(entry, UnexpandedStar):
            found.append(entry.beside(misaligned))
        else:
            name = entry[0]
            branches = [entry[1]]
            for middle, fallback in zip(middles[1:], misaligned, strict=False):
                stars = [item for item in middle if isinstance(item, UnexpandedStar)]
                if len(middle) == 1 and stars:
                    called = star_column(sources, stars[0], name) if name else ColumnValue(())  # SELECT a + 1 UNION …
                    branches.append(sources.one_of([called, stars[0].whole(sources)], name))
                elif isinstance(fallback, ColumnValue):
                    branches.append(fallback)
            found.append((name, union_of(branches)))
    return found


def _brought_before(name: str, branch: QueryColumns, names: dict[str, None]) -> bool:
    """Whether an earlier branch has the column already, in another case."""
    if name in names:
        return True
    (called,) = spellings(names, (name,))
    return called in names and called not in branch.names()


def _may_have(branch: QueryColumns, name: str) -> bool:
    return branch.find(name) is not None or bool(branch.guesses(name))


def combine_by_name(branches: list[QueryColumns], match: MatchedNames, *, first_only: bool) -> list[Entry]:
    """The columns by name: those of the first branch, then what later ones add, as far as `match` keeps them.

    `SELECT a FROM s UNION BY NAME SELECT b, a FROM t`, two branches, has a, from s.a and t.a, and b, from t.b. With
    LEFT or INNER it has a alone. The values of EXCEPT are those of the first branch.
    """
    names: dict[str, None] = {}
    stars: list[Entry] = []
    for branch in branches[:1] if match.kept == "LEFT" else branches:
        names.update(dict.fromkeys(name for name in branch.names() if not _brought_before(name, branch, names)))
        stars += branch.stars
    if match.listed:
        names, stars = dict.fromkeys(match.listed), []
    elif match.kept == "INNER":
        names = {name: None for name in names if all(_may_have(branch, name) for branch in branches)}
        if not all(branch.stars for branch in branches):  # then all that is common has a name
            stars = []
    found: list[Entry] = []
    for name in names:
        values = []
        for branch in branches[:1] if first_only else branches:
            value = branch.find(name)
            if value is None:
                guesses = branch.guesses(name)
                value = guesses[0] if len(guesses) == 1 else None
            if value is not None:
                values.append(value)
        found.append((name, union_of(values) if values else ColumnValue(())))  # NULL, where EXCEPT's first lacks it
    known = frozenset(names)
    return found + [star.without(known) if isinstance(star, UnexpandedStar) else star for star in stars]
