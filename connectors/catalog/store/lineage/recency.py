"""What stands apart: who says something of an edge was not seen any more since a newer statement came.

Nobody need know who ran either. A statement that filled a column was seen last on the 5th, another one that fills it
came on the 6th: what only the first one says has not been seen since. It stands, and says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Select, func, select

from connectors.catalog.store.lineage.reads import ContributionView, Moment, contributions_around
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import intervals
from ingestion.model.contributions import OBSERVED
from ingestion.model.moments import Unseen

_HALF_A_DAY = 43_200_000
"""Milliseconds: of two statements that one night runs the first is not seen again before the next one."""
_Edges = Mapping[tuple[str, str], Sequence[ContributionView]]
_Producer = tuple[str, str, str]


def with_unseen(
    connection: Connection, found: _Edges, moment: Moment, *, whole: bool = False
) -> dict[tuple[str, str], list[ContributionView]]:
    """What was `found` at a moment, each word with what of it was not seen since a newer statement came.

    `whole`: nothing else is said of the targets, which need not be asked for again.
    """
    newest = _newest_found(found) if whole else _newest_starts(connection, {target for _, target in found}, moment)
    targets = {
        view.to_id
        for views in found.values()
        for view in views
        if view.kind in OBSERVED and newest.get(view.to_id, 0) > view.last_seen
    }
    fillings = _fillings(connection, targets, moment)
    return {
        edge: [_with_unseen_columns(view, fillings[edge[1]]) if edge[1] in fillings else view for view in views]
        for edge, views in found.items()
    }


def _newest_found(found: _Edges) -> dict[str, int]:
    """When the newest of what is seen to fill each target came, of all that is said of it."""
    newest: dict[str, int] = {}
    for (_, target), views in found.items():
        starts = [view.start for view in views if view.kind in OBSERVED]
        newest[target] = max((newest.get(target, 0), *starts))
    return newest


def _newest_starts(connection: Connection, targets: Iterable[str], moment: Moment) -> dict[str, int]:
    """When the newest of what is seen to fill each of some entities came."""
    found: dict[str, int] = {}
    for some in thousands_of(sorted(targets)):
        found.update((row[0], row[1]) for row in connection.execute(_newest(moment), bind_ids(some)).all())
    return found


@lru_cache(maxsize=64)
def _newest(moment: Moment) -> Select[Any]:
    newest = select(intervals.c.to_id, func.max(intervals.c.start)).group_by(intervals.c.to_id)
    return newest.where(intervals.c.to_id.in_(IDS), intervals.c.kind.in_(OBSERVED), moment.holds())


@dataclass(frozen=True, slots=True)
class _Filling:
    """What is seen to fill one entity: the columns that each producer gives, and every word in its time."""

    given: dict[_Producer, set[str]] = field(default_factory=lambda: defaultdict(set))
    spans: list[tuple[int, int, _Producer]] = field(default_factory=list)

    def newer_than(self, view: ContributionView) -> Iterator[tuple[int, set[str]]]:
        """When each word came that did after this was seen last, and was seen later; with the columns that it gives.

        What the same statement says of another source is as old: it has a later time where that source got its name
        later, as does `CREATE TABLE t AS SELECT a.x, b.y FROM a, b` of b when `ALTER TABLE b RENAME TO c` is run.
        """
        last, own = view.last_seen, _producer(view)
        for start, seen, producer in self.spans:
            if producer != own and start > last and seen >= last + _HALF_A_DAY:
                yield start, self.given[producer]


def _fillings(connection: Connection, targets: Iterable[str], moment: Moment) -> dict[str, _Filling]:
    found: dict[str, _Filling] = defaultdict(_Filling)
    around = contributions_around(connection, targets, upstream=True, moment=moment, with_statements=False)
    for views in around.values():
        for view in views:
            if view.kind in OBSERVED:
                filling = found[view.to_id]
                columns = (column["to"] for column in view.content.get("columns") or () if column.get("to") is not None)
                filling.given[_producer(view)].update(columns)
                if view.from_id != view.to_id:  # what changes rows that are there brings none in place of others
                    filling.spans.append((view.start, view.last_seen, _producer(view)))
    return found


def _with_unseen_columns(view: ContributionView, filling: _Filling) -> ContributionView:
    newer = list(filling.newer_than(view)) if view.kind in OBSERVED else ()
    if not newer:
        return view
    given = filling.given[_producer(view)]
    came: dict[str | None, list[int]] = {
        # what decides over all columns, or joins tables alone, is as old as all that comes with it
        None: [start for start, columns in newer if given <= columns],
        **{name: [start for start, columns in newer if name in columns] for name in given},
    }
    return view._replace(unseen={to: Unseen(view.last_seen, min(starts)) for to, starts in came.items() if starts})


def _producer(view: ContributionView) -> _Producer:
    return view.kind, view.key, view.source
