"""Who says each edge of a catalog, and who tells its target column otherwise; and what a reader leaves out by that.

A target that one witness alone speaks of is told from the others by a look at the kinds of its producers: only where
two of them do, all that is said of it is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any

from sqlalchemy import Connection, Select, select

from connectors.catalog.store.lineage.reads import (
    ContributionView,
    Moment,
    StoredEdge,
    VerdictKey,
    contributions_around,
    edges_of,
)
from connectors.catalog.store.lineage.recency import with_unseen
from connectors.catalog.store.rows import IDS, bind_ids, thousands_of
from connectors.catalog.store.schema import intervals
from ingestion.model.contributions import OBSERVED
from ingestion.model.lineage import Json
from ingestion.model.witnesses import (
    ALWAYS,
    MOST_HOPS,
    Column,
    TargetWords,
    Verdict,
    Witness,
    WitnessFilter,
    Word,
    witness_of,
)
from ingestion.walk import DIRECT, Budget, ColumnNode, EdgeIndex, Hop, Walk

_BUDGET = Budget(nodes=500)
"""Columns that are looked at for a way between two: where there are more, none of them is told to contradict."""


def with_verdicts(
    connection: Connection,
    found: Mapping[tuple[str, str], Sequence[ContributionView]],
    moment: Moment,
    *,
    whole: bool = False,
) -> dict[tuple[str, str], list[ContributionView]]:
    """What was `found` at a moment, with the verdicts on its edges; without those that the moment's filter refuses.

    `whole`: nothing else is said of the targets, which need not be asked for again.
    """
    if whole:
        contested = _contested_ids({(view.to_id, view.kind, view.source) for views in found.values() for view in views})
    else:
        contested = contested_targets(connection, {target for _, target in found}, moment)
    words = words_into(connection, contested, moment)
    linked = Links(connection, moment)
    judged: dict[tuple[str, str], list[ContributionView]] = {}
    for edge, views in found.items():
        own = words.get(edge[1])
        kept = views if own is None else [view._replace(verdicts=_Verdicts(view, own, linked)) for view in views]
        if moment.witnesses is not None:
            kept = [one for view in kept if (one := _admitted_part(view, moment.witnesses)) is not None]
        if kept:
            judged[edge] = list(kept)
    return judged


def contested_targets(connection: Connection, targets: Iterable[str] | None, moment: Moment) -> list[str]:
    """Of some `targets` (None: of all entities) those that two witnesses or more speak of."""
    if targets is None:
        rows = [connection.execute(_speaking(moment)).all()]
    else:
        some = _speaking_of(moment)
        rows = [connection.execute(some, bind_ids(ids)).all() for ids in thousands_of(sorted(set(targets)))]
    return _contested_ids((row[0], row[1], row[2]) for several in rows for row in several)


def _contested_ids(speaking: Iterable[tuple[str, str, str]]) -> list[str]:
    """The targets of which producers of several witnesses speak, by their kinds and sources."""
    found: dict[str, set[Witness]] = defaultdict(set)
    for target, kind, source in speaking:
        found[target].add(witness_of(kind, source))
    return sorted(target for target, witnesses in found.items() if len(witnesses) > 1)


def _speaking(moment: Moment) -> Select[Any]:
    return select(intervals.c.to_id, intervals.c.kind, intervals.c.source).where(moment.holds()).distinct()


@lru_cache(maxsize=64)
def _speaking_of(moment: Moment) -> Select[Any]:
    return _speaking(moment).where(intervals.c.to_id.in_(IDS))


def words_into(connection: Connection, targets: Iterable[str], moment: Moment) -> dict[str, TargetWords]:
    """All that is said at a moment of what each of the `targets` is made of."""
    around = contributions_around(connection, targets, upstream=True, moment=moment, with_statements=False)
    found: dict[str, list[Word]] = defaultdict(list)
    for (_, target), views in with_unseen(connection, around, moment).items():
        found[target] += (_word_of(edge) for view in views for edge in edges_of(view))
    return {target: TargetWords(words) for target, words in found.items()}


def _word_of(edge: StoredEdge) -> Word:
    """An edge as a word of its witness."""
    view = edge.view
    return Word(
        witness_of(view.kind, view.source),
        edge.source[0],
        edge.source[1],
        edge.target[1],
        edge.type == DIRECT,
        edge.certain,
        (view.start, view.last_seen) if view.kind in OBSERVED else ALWAYS,
        (view.content.get("confidence") or 1.0) >= 1.0,
        edge.unseen is None,
    )


class _Verdicts(Mapping[VerdictKey, Verdict]):
    """The verdicts on the edges of a contribution, each made out when it is asked for: a walk goes by most of them."""

    def __init__(self, view: ContributionView, words: TargetWords, linked: Links) -> None:
        self._view = view
        self._words = words
        self._linked = linked

    @cached_property
    def _edges(self) -> dict[VerdictKey, StoredEdge]:
        return {edge.verdict_key: edge for edge in edges_of(self._view)}

    def __getitem__(self, key: VerdictKey) -> Verdict:
        return self._words.verdict(_word_of(self._edges[key]), self._linked)

    def __iter__(self) -> Iterator[VerdictKey]:
        return iter(self._edges)

    def __len__(self) -> int:
        return len(self._edges)


def _admitted_part(view: ContributionView, wanted: WitnessFilter) -> ContributionView | None:
    """What of a word the filter lets through; None where that is nothing."""
    alone = Verdict((witness_of(view.kind, view.source),))
    admitted = {edge.verdict_key for edge in edges_of(view) if wanted.admits(edge.verdict or alone)}
    columns = view.content.get("columns") or ()
    if not columns:
        return view if admitted else None
    kept = list(_admitted_columns(columns, admitted))
    return view._replace(content={**view.content, "columns": kept}) if kept else None


def _admitted_columns(columns: Iterable[Json], admitted: set[VerdictKey]) -> Iterator[Json]:
    for column in columns:
        end, type_ = column.get("to"), column.get("type") or DIRECT
        paths = [path for path in column["from"] if (path, end, type_) in admitted]
        if paths:
            yield column if len(paths) == len(column["from"]) else {**column, "from": paths}


class Links:
    """Whether columns are stations of one way: by values, through whatever tables, whoever says so."""

    def __init__(self, connection: Connection, moment: Moment) -> None:
        self._index = EdgeIndex(partial(_giving_edges, connection, moment), upstream=True)

    def __call__(self, some: Iterable[Column], column: Column) -> bool:
        """Whether `column` is upstream of one of `some`, or one of them of it; also where that is not known."""
        others = tuple(some)
        return self._leads((column,), others) or self._leads(others, (column,))

    def _leads(self, starts: Iterable[ColumnNode], ends: Iterable[ColumnNode]) -> bool:
        wanted = set(ends)
        walk = Walk(starts, self._hops, _BUDGET)
        return any(wanted.intersection(walk.frontier) for _ in walk.levels(MOST_HOPS)) or walk.truncated

    def _hops(self, nodes: Sequence[ColumnNode]) -> Iterator[Hop[ColumnNode, StoredEdge]]:
        return (hop for hop in self._index.hops(nodes) if hop.strength == DIRECT and hop.end[1] is not None)


def _giving_edges(connection: Connection, moment: Moment, tables: list[str]) -> Iterator[StoredEdge]:
    found = contributions_around(connection, tables, upstream=True, moment=moment, with_statements=False)
    return (edge for views in found.values() for view in views for edge in edges_of(view))
