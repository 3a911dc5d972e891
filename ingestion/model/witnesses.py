"""Who says an edge, and who tells of the same column otherwise: the verdict on an edge.

Of `INSERT INTO daily (total) SELECT sum(amount) FROM orders` the log has orders.amount -> daily.total. The engine
confirms that where it recorded the same pair. Where it recorded that daily.total is made of orders.price, and says
nothing of amount, it is told as one who does not say so. Who does not speak of daily.total at all is silent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from ingestion.errors import ConfigError
from ingestion.model.contributions import ProducerKind
from ingestion.model.lineage import Json
from ingestion.model.requests import EdgeSource

ALWAYS = (-math.inf, math.inf)
"""The time of a word that is declared: it holds until it is taken back."""
_TOLERANCE = 86_400_000.0
"""Milliseconds by which two observations may miss each other: a load of the night stands in one export at its start,
in another at its end."""

MOST_HOPS = 10
"""Of a way between two stations: no engine looks through more views, and each dispute is looked into."""
Column = tuple[str, str]
"""A table, by name or id, and the path of a column in it."""
Linked = Callable[[Iterable[Column], Column], bool]
"""Whether a column comes from one of some others or is what one of them comes from, by whatever tables."""


class Witness(StrEnum):
    """Who tells of lineage; all who tell it in one way are one witness."""

    LOG = "log"
    ENGINE = "engine"
    OPENLINEAGE = "openlineage"
    DBT = "dbt"
    FILE = "file"
    PERSON = "person"
    TOOL = "tool"


_BY_KIND: Mapping[str, Witness] = {
    ProducerKind.QUERY: Witness.LOG,
    ProducerKind.VIEW: Witness.LOG,
    ProducerKind.DBT: Witness.DBT,
    ProducerKind.PROCEDURE: Witness.LOG,
    ProducerKind.EXTERNAL_TABLE: Witness.LOG,
    ProducerKind.PLAN: Witness.LOG,
    ProducerKind.ENGINE: Witness.ENGINE,
    ProducerKind.MANUAL: Witness.PERSON,
    "openlineage": Witness.OPENLINEAGE,
}
_BY_SOURCE: Mapping[str, Witness] = {
    EdgeSource.MANUAL: Witness.PERSON,
    EdgeSource.DBT: Witness.DBT,
    EdgeSource.OPEN_LINEAGE: Witness.OPENLINEAGE,
}
_TELL_WHOLE_COLUMNS = (Witness.LOG, Witness.ENGINE, Witness.OPENLINEAGE, Witness.DBT)
"""Those who tell of a column all that it is made of. A person, a file and another tool add an edge to what is known."""


_IN_SOME_JOBS = frozenset({Witness.OPENLINEAGE})
"""Those who tell of the jobs alone that they are in: another that fills the column too they do not know of."""


def witness_of(kind: str, source: str) -> Witness:
    """Whose word it is, by its producer's kind and the edge's source; what is neither known is another tool's."""
    if kind == ProducerKind.EDGE_LIST:
        return Witness.FILE
    return _BY_SOURCE.get(source) or _BY_KIND.get(kind, Witness.TOOL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who says an edge, and who tells what its target column is made of without it; all others are silent."""

    seen_by: tuple[Witness, ...] = ()
    not_by: tuple[Witness, ...] = ()

    def __str__(self) -> str:
        against = f"; not by: {', '.join(self.not_by)}" if self.not_by else ""
        return f"seen by: {', '.join(self.seen_by)}{against}"

    def to_json(self) -> Json:
        """The same as JSON."""
        return {"seenBy": list(self.seen_by), "notBy": list(self.not_by)}

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Verdict:
        """The verdict that `to_json` wrote."""
        return cls(tuple(map(Witness, json["seenBy"])), tuple(map(Witness, json["notBy"])))


class Word(NamedTuple):
    """What one producer says of one source, table or column, in a target.

    `path` None: of columns nothing is known, or nothing is said. `to` None: the whole target. `span`: from when to when
    it was seen (milliseconds since the epoch). `whole`: nothing was left out of what this producer says of the target.
    `current` False: it was not seen any more since a newer one came.
    """

    witness: Witness
    table: str
    path: str | None
    to: str | None
    direct: bool = True
    certain: bool = True
    span: tuple[float, float] = ALWAYS
    whole: bool = True
    current: bool = True

    @property
    def column(self) -> Column:
        """The source; "" for the path of a whole table."""
        return self.table, self.path or ""

    @property
    def gives(self) -> bool:
        """Whether it names a column that values of a column of the target come from."""
        return self.direct and self.path is not None and self.to is not None


_SPAN = Word._fields.index("span")


class TargetWords:
    """All that is said of what one target is made of: the verdict on each of the edges into it."""

    def __init__(self, words: Iterable[Word]) -> None:
        self._of: dict[Witness, _WitnessWords] = {}
        self._verdicts: dict[tuple[str, str | None, str | None, bool], Verdict] = {}
        for word in _without_repetitions(words):
            self._of.setdefault(word.witness, _WitnessWords()).add(word)

    @property
    def witnesses(self) -> frozenset[Witness]:
        """Who speaks of the target at all."""
        return frozenset(self._of)

    def verdict(self, edge: Word, linked: Linked) -> Verdict:
        """The verdict on the edge that a word is of."""
        key = edge.table, edge.path, edge.to, edge.direct
        if key not in self._verdicts:
            same = {witness: found for witness, own in self._of.items() if (found := own.same_as(edge))}
            against = self._contradicting(edge, same, linked) if edge.gives else ()
            self._verdicts[key] = Verdict(_in_order(same), _in_order(against))
        return self._verdicts[key]

    def pairs(self) -> Iterator[Word]:
        """Each column that a column of the target is certainly made of, once, as a word of one of those who say so."""
        found = {(word.to or "", word.column): word for own in self._of.values() for word in own.sure_words()}
        return (found[key] for key in sorted(found))

    def named_by(self, witness: Witness, to: str | None) -> tuple[Column, ...]:
        """The columns that a witness says a column is made of."""
        own = self._of.get(witness)
        return tuple(sorted({word.column for word in own.sure_words() if word.to == to})) if own is not None else ()

    def _contradicting(self, edge: Word, same: Mapping[Witness, list[Word]], linked: Linked) -> Iterator[Witness]:
        spans = [word.span for words in same.values() for word in words if word.current]
        if not spans:
            return
        span = min(first for first, _ in spans), max(last for _, last in spans)
        for witness in _TELL_WHOLE_COLUMNS:
            if witness in self._of and witness not in same:
                others = self._of[witness].all_sources(edge, span)
                if witness in _IN_SOME_JOBS and self._also_say(same, edge.to, others):
                    continue
                if others and not _has_part(others, edge.column) and not linked(others, edge.column):
                    yield witness

    def _also_say(self, witnesses: Iterable[Witness], to: str | None, sources: Iterable[Column]) -> bool:
        """Whether all these sources of a column are said by one of these witnesses too."""
        found = {word.column for one in witnesses for word in self._of[one].into.get(to, ()) if word.gives}
        return found.issuperset(sources)


class _WitnessWords:
    """What one witness says of one target."""

    def __init__(self) -> None:
        self.into: dict[str | None, list[Word]] = {}
        self._by_table: dict[str, list[Word]] = {}
        self._incomplete: list[Word] = []
        self._parts: dict[tuple[str, str | None, str | None], list[Word]] = {}

    def add(self, word: Word) -> None:
        self.into.setdefault(word.to, []).append(word)
        self._parts.setdefault((word.table, word.path, word.to), []).append(word)
        self._by_table.setdefault(word.table, []).append(word)
        if not word.whole:
            self._incomplete.append(word)

    def same_as(self, edge: Word) -> list[Word]:
        """The words that say the edge: of tables alone all that are of its source."""
        if edge.path is None:
            return self._by_table.get(edge.table, [])
        found = self._parts.get((edge.table, edge.path, edge.to), ())
        return [word for word in found if word.direct == edge.direct]

    def sure_words(self) -> Iterator[Word]:
        """What it certainly says of columns, as far as it stands."""
        return (word for words in self.into.values() for word in words if word.gives and word.certain and word.current)

    def all_sources(self, edge: Word, span: tuple[float, float]) -> list[Column]:
        """What the target column of an edge is made of, as this witness had it at that time.

        Nothing where that is not all: where it knows the edge's tables alone, or is not sure of a column, or says that
        the source decides over the column.
        """
        unknown = self._parts.get((edge.table, None, None), ())
        deciding = (word for to in (edge.to, None) for word in self._parts.get((edge.table, edge.path, to), ()))
        giving = [word for word in self.into.get(edge.to, ()) if word.gives and _meets(word.span, span)]
        unsure = (word for word in giving if not word.certain)
        if any(_meets(word.span, span) for word in (*self._incomplete, *unknown, *deciding, *unsure)):
            return []
        return [word.column for word in giving if word.current]


def _has_part(some: Iterable[Column], column: Column) -> bool:
    """Whether one of some columns is a field of another or has it: for address.city somebody may have address."""
    table, path = column
    nested = ((path, one) if len(path) > len(one) else (one, path) for other, one in some if other == table)
    return any(inner.startswith(f"{outer}.") for inner, outer in nested)


def _without_repetitions(words: Iterable[Word]) -> Iterator[Word]:
    """Each word once, with the time from when it was first seen until it was seen last."""
    found: dict[tuple[object, ...], Word] = {}
    for word in words:
        key = word[:_SPAN] + word[_SPAN + 1 :]
        known = found.setdefault(key, word)
        if known.span != word.span:
            first, last = zip(known.span, word.span, strict=True)
            found[key] = known._replace(span=(min(first), max(last)))
    return iter(found.values())


def _meets(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] <= other[1] + _TOLERANCE and other[0] <= one[1] + _TOLERANCE


def _in_order(witnesses: Iterable[Witness]) -> tuple[Witness, ...]:
    found = set(witnesses)
    return tuple(witness for witness in Witness if witness in found)


# What a reader asks for of edges: `engine`, `!log`, `disputed`, all of which must hold.


DISPUTED = "disputed"
_NOT = "!"


@dataclass(frozen=True, slots=True)
class WitnessFilter:
    """Which edges count: those that all of `seen_by` say and none of `unseen_by`; only `disputed` ones, if set."""

    seen_by: frozenset[Witness] = frozenset()
    unseen_by: frozenset[Witness] = frozenset()
    disputed: bool = False

    @classmethod
    def of(cls, asked: Iterable[str]) -> WitnessFilter | None:
        """What was asked for; None where nothing was. Raises ConfigError for a word that is no witness."""
        words = [word.strip().lower() for word in asked]
        if not words:
            return None
        named = [word for word in words if word != DISPUTED]
        unknown = [word for word in named if word.removeprefix(_NOT) not in set(Witness)]
        if unknown:
            known = ", ".join(Witness)
            raise ConfigError(
                f"{unknown[0].removeprefix(_NOT)}: no witness; give one of {known}, one with ! before it, or {DISPUTED}"
            )
        return cls(
            frozenset(Witness(word) for word in named if not word.startswith(_NOT)),
            frozenset(Witness(word[len(_NOT) :]) for word in named if word.startswith(_NOT)),
            DISPUTED in words,
        )

    def admits(self, verdict: Verdict) -> bool:
        """Whether an edge of this verdict counts."""
        seen = set(verdict.seen_by)
        return self.seen_by <= seen and not self.unseen_by & seen and (not self.disputed or bool(verdict.not_by))
