"""Where the witnesses of a catalog agree on what columns are made of, and where not: counts, and each disagreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.questions.answer import Answer, When
from connectors.catalog.questions.file import asked_window, named_node, open_catalog
from connectors.catalog.store.entities.entities import any_rows_of
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.lineage.verdicts import Links, contested_targets, words_into
from connectors.catalog.store.lineage.window import Window
from connectors.catalog.store.rows import thousands_of
from ingestion.model.lineage import Json
from ingestion.model.witnesses import Column, TargetWords, Verdict, Witness, Word
from ingestion.walk import ColumnNode

MOST_DISAGREEMENTS = 1_000


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A column edge that one witness says, and that another does not: `instead` are the columns that those have.

    `table` is the target's, by its full name.
    """

    target: str
    source: str
    verdict: Verdict
    instead: Mapping[Witness, tuple[str, ...]] = field(default_factory=dict)
    table: str = ""

    def to_json(self) -> Json:
        """The same as JSON."""
        named = {str(witness): list(names) for witness, names in self.instead.items()}
        ends = {"to": self.target, "from": self.source, "table": self.table}
        return {**ends, **self.verdict.to_json(), "instead": named}


@dataclass(frozen=True, slots=True)
class WitnessCounts:
    """Of the column edges that a witness says: how many another one confirms, how many one tells otherwise of, and how
    many it alone says, whatever others tell of them.
    """

    edges: int = 0
    confirmed: int = 0
    disputed: int = 0
    alone: int = 0


@dataclass(frozen=True, slots=True)
class WitnessReport:
    """Of the `tables` that more than one witness speaks of: their column edges, who says them, and where they differ.

    `of_all` counts each edge once.
    """

    tables: int
    of_all: WitnessCounts
    of_each: Mapping[Witness, WitnessCounts]
    disagreements: tuple[Disagreement, ...]

    def to_json(self) -> Json:
        """The same as JSON."""
        of_each = {str(witness): _counts_json(counts) for witness, counts in self.of_each.items()}
        disagreements = [one.to_json() for one in self.disagreements]
        counts = _counts_json(self.of_all)
        return {"tables": self.tables, "counts": counts, "witnesses": of_each, "disagreements": disagreements}


def _counts_json(counts: WitnessCounts) -> Json:
    return {
        "columnEdges": counts.edges,
        "confirmed": counts.confirmed,
        "disputed": counts.disputed,
        "alone": counts.alone,
    }


def witnesses_in_file(
    file: Path, name: str | None, when: When, limit: int = MOST_DISAGREEMENTS
) -> Answer[WitnessReport]:
    """The report on a catalog's file, or on a table or column in it. Raises ConfigError for an unknown name."""
    with open_catalog(file) as connection:
        row = named_node(connection, name) if name is not None else None
        start = (row[0].id, row[1]) if row is not None else None
        return witnesses(connection, start, asked_window(connection, when), limit)


def witnesses(
    connection: Connection, node: ColumnNode | None, span: Window, limit: int = MOST_DISAGREEMENTS
) -> Answer[WitnessReport]:
    """The same of an open catalog (None: of all of it), at most `limit` disagreements."""
    moment = span.moment
    targets = contested_targets(connection, None if node is None else [node[0]], moment)
    counted: Counter[tuple[Witness | None, str]] = Counter()
    found: list[_Judged] = []
    for one in _judged_pairs(connection, targets, moment):
        if node is not None and node[1] not in (None, one.word.to):
            continue
        if moment.witnesses is not None and not moment.witnesses.admits(one.verdict):
            continue
        counted.update((witness, kind) for kind in one.kinds() for witness in (None, *one.verdict.seen_by))
        if one.verdict.not_by and len(found) <= limit:
            found.append(one)
    seen = [witness for witness in Witness if counted[witness, _EDGES]]
    report = WitnessReport(
        len(targets),
        _counts_of(counted, None),
        {witness: _counts_of(counted, witness) for witness in seen},
        tuple(_disagreements(connection, found[:limit])),
    )
    more = (f"only the first {limit} disagreements are listed: ask of one table, or for more",)
    return Answer(report, more if len(found) > limit else ())


_EDGES, _CONFIRMED, _DISPUTED, _ALONE = "edges", "confirmed", "disputed", "alone"


def _counts_of(counted: Counter[tuple[Witness | None, str]], whose: Witness | None) -> WitnessCounts:
    return WitnessCounts(*(counted[whose, kind] for kind in (_EDGES, _CONFIRMED, _DISPUTED, _ALONE)))


@dataclass(frozen=True, slots=True)
class _Judged:
    """A column edge into a target by ids, its verdict, and what those name instead who tell otherwise."""

    target: str
    word: Word
    verdict: Verdict
    instead: Mapping[Witness, tuple[Column, ...]]

    def kinds(self) -> Iterator[str]:
        """What it is counted as."""
        yield _EDGES
        yield _CONFIRMED if len(self.verdict.seen_by) > 1 else _ALONE
        if self.verdict.not_by:
            yield _DISPUTED


def _judged_pairs(connection: Connection, targets: list[str], moment: Moment) -> Iterator[_Judged]:
    linked = Links(connection, moment)
    for some in thousands_of(targets):
        for target, words in words_into(connection, some, moment).items():
            yield from (_judged_pair(target, word, words, linked) for word in words.pairs())


def _judged_pair(target: str, word: Word, words: TargetWords, linked: Links) -> _Judged:
    verdict = words.verdict(word, linked)
    return _Judged(target, word, verdict, {one: words.named_by(one, word.to) for one in verdict.not_by})


def _disagreements(connection: Connection, found: list[_Judged]) -> Iterator[Disagreement]:
    others = {table for one in found for columns in one.instead.values() for table, _ in columns}
    rows = any_rows_of(connection, others | {end for one in found for end in (one.target, one.word.table)})

    def name(table: str, path: str | None) -> str:
        return f"{rows[table].fqn}.{path}"

    for one in found:
        instead = {witness: tuple(name(*column) for column in columns) for witness, columns in one.instead.items()}
        ends = name(one.target, one.word.to), name(*one.word.column)
        yield Disagreement(*ends, one.verdict, instead, rows[one.target].fqn)
