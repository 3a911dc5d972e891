"""Where a column comes from: the chain of expressions back to base columns, over what is told of each column.

A script tells it by the document of `lineage_graph`, which is that of the catalog's graph call too, and a catalog by
what it stores, so that both explain alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ingestion.model.fqn import split_fqn
from ingestion.model.lineage import Json
from ingestion.model.moments import Unseen, latest_unseen
from ingestion.model.witnesses import Verdict
from ingestion.walk import Hop, Walk, meeting_numbers, tie_of

_EXPLANATION_VERSION = 1


class ExplainedContribution(NamedTuple):
    """What one producer says of an edge, as an explanation tells it; `text` as of `ExplainedStatement`."""

    kind: str
    key: str
    text: str
    parser: str
    jobs: tuple[str, ...]
    last_seen: int | None

    @property
    def statement(self) -> tuple[str, str, str]:
        """What gives columns together."""
        return self.kind, self.key, self.text


class HopKey(NamedTuple):
    """What makes one hop of all that say the same; the fields are those of `ExplainedHop`."""

    source: str
    type: str
    subtype: str
    masking: bool
    expression: str
    certain: bool
    within: bool


class ColumnPart(NamedTuple):
    """The part of a source column in another one, or (unless `of_column`) in all columns of its table, as one says it.

    `unseen` and `verdict` are those of `ExplainedHop`.
    """

    hop: HopKey
    of_column: bool
    unseen: Unseen | None
    verdict: Verdict | None
    contribution: ExplainedContribution


@dataclass(frozen=True, slots=True)
class ExplainedStatement:
    """What is behind a hop: masked text ("" for what someone entered by hand), who said it, and with which parser.

    `jobs` are the names of what ran it, `last_seen` is when it was seen to run (milliseconds since the epoch).
    """

    text: str
    producer: str
    parser: str = ""
    jobs: tuple[str, ...] = ()
    last_seen: int | None = None


@dataclass(frozen=True, slots=True)
class ExplainedHop:
    """One source column's part in a column; `statements` are numbers (from 1) of the explanation's statements.

    `expression` is masked and over the source's table, "" where the value is taken as it is. `within`: the source is a
    column of the same table. `unseen`: none of the statements was seen any more since a newer one came. `verdict`: who
    says so and who tells otherwise, None where one witness alone speaks of the table.
    """

    source: str
    type: str
    subtype: str
    masking: bool
    expression: str
    certain: bool
    statements: tuple[int, ...]
    within: bool = False
    unseen: Unseen | None = None
    verdict: Verdict | None = None

    @property
    def direct(self) -> bool:
        return self.type == "DIRECT"

    def leads_from(self, column: str) -> bool:
        """Whether it tells where the `column` comes from.

        `UPDATE t SET x = x + 1 WHERE k > 0` does not: t.x was there before, and which of its rows k chose says nothing
        of that.
        """
        return not self.within or (self.direct and self.source != column)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A column and everything upstream of it: `hops` has each column on the way, nearest first, with its sources.

    A base column has no sources but itself and what decides in its own table. `statements` are those behind the hops,
    in the order met; `tables` the names of the tables of the columns. What is only a part of one (see `within`) knows
    the `whole`.
    """

    column: str
    hops: Mapping[str, tuple[ExplainedHop, ...]]
    statements: tuple[ExplainedStatement, ...]
    tables: Mapping[str, str] = field(default_factory=dict)
    whole: Explanation | None = None

    def within(self, depth: int, *, direct: bool) -> Explanation:
        """The part of it that is at most so many hops away (0: any), with `direct` only where values arrive.

        Its base columns are those of the whole: where it all begins.
        """
        if not depth and not direct:
            return self
        kept: dict[str, tuple[ExplainedHop, ...]] = {}

        def into(names: Sequence[str]) -> Iterator[Hop[str, ExplainedHop]]:
            for name in names:
                kept[name] = tuple(hop for hop in self.hops[name] if hop.direct or not direct)
                yield from _walk(name, kept[name])

        met = Walk((self.column,), into).finish(depth or None).arrivals
        used = sorted({number for hops in kept.values() for hop in hops for number in hop.statements})
        numbers = {old: new for new, old in enumerate(used, 1)}
        hops = {
            name: tuple(
                replace(hop, statements=tuple(numbers[one] for one in hop.statements)) for hop in kept.get(name, ())
            )
            for name in met
        }
        return replace(self, hops=hops, statements=tuple(self.statements[old - 1] for old in used), whole=self)

    @property
    def left_out(self) -> int:
        """How many hops of the whole are not in this part of it."""
        whole = self.whole or self
        return sum(map(len, whole.hops.values())) - sum(map(len, self.hops.values()))

    def base_columns(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns where it all begins: those whose values arrive, and those that only have a say."""
        if self.whole is not None:
            return self.whole.base_columns()
        arriving = self._reaching(lambda hop: hop.direct and hop.unseen is None)
        seen = self._reaching(lambda hop: hop.unseen is None)
        base = [name for name in self._base() if name in seen]
        return tuple(n for n in base if n in arriving), tuple(n for n in base if n not in arriving)

    def unseen_columns(self) -> tuple[str, ...]:
        """Those that stand apart: what brings them in was not seen any more since a newer statement came."""
        if self.whole is not None:
            return self.whole.unseen_columns()
        seen = self._reaching(lambda hop: hop.unseen is None)
        return tuple(name for name in self._base() if name not in seen)

    def _base(self) -> list[str]:
        begins = (name for name, sources in self.hops.items() if not any(hop.leads_from(name) for hop in sources))
        return [name for name in begins if name != self.column]

    def _reaching(self, follows: Callable[[ExplainedHop], bool]) -> Collection[str]:
        """What reaches the column over some of the hops, itself among it."""

        def hops(names: Sequence[str]) -> Iterator[Hop[str, ExplainedHop]]:
            return (hop for name in names for hop in _walk(name, self.hops.get(name, ())) if follows(hop.edge))

        return Walk((self.column,), hops).finish().arrivals

    def to_json(self) -> Json:
        """The same as JSON: `version`, `column`, `base_columns`, `chain` (nearest first), `statements`."""
        direct, indirect = self.base_columns()
        base = {"direct": list(direct), "indirect": list(indirect)}
        unseen = self.unseen_columns()
        return {
            "version": _EXPLANATION_VERSION,
            "column": self.column,
            "base_columns": base | ({"not_seen": list(unseen)} if unseen else {}),
            "chain": [
                {
                    "column": column,
                    "direct": [_hop_json(hop) for hop in sources if hop.direct],
                    "indirect": [_hop_json(hop) for hop in sources if not hop.direct],
                }
                for column, sources in self.hops.items()
                if sources
            ],
            "statements": [
                {
                    "number": number,
                    "sql": one.text,
                    "producer": one.producer,
                    "parser": one.parser,
                    "jobs": list(one.jobs),
                }
                | ({"last_seen": one.last_seen} if one.last_seen is not None else {})
                for number, one in enumerate(self.statements, 1)
            ],
        } | ({"left_out": self.left_out} if self.left_out else {})


def column_names(document: Mapping[str, Any]) -> tuple[str, ...]:
    """The full names of all columns of a document."""
    return tuple(column["fullyQualifiedName"] for card in document["nodes"] for column in card["columns"])


def columns_called(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The columns whose full name is `name` or ends in it: in the same case, else in any."""
    names = column_names(document)
    for fold in (str, str.casefold):
        wanted = [fold(part) for part in _parts(name)]
        found = tuple(one for one in names if [fold(part) for part in _parts(one)][-len(wanted) :] == wanted)
        if found:
            return found
    return ()


def explain(document: Mapping[str, Any], column: str) -> Explanation:
    """The explanation of a column that the document has, by its full name."""
    tables = {
        one["fullyQualifiedName"]: card["fullyQualifiedName"] for card in document["nodes"] for one in card["columns"]
    }
    return explanation_of(column, _DocumentParts(document).into, tables)


def explanation_of(
    column: str, parts_in: Callable[[str], Sequence[ColumnPart]], tables: Mapping[str, str]
) -> Explanation:
    """The explanation of a column, where it is known of each column which parts others have in it.

    `tables` are the names of the tables of the columns that are known, by the columns' full names.
    """
    reader = _HopReader(parts_in)
    sources: dict[str, tuple[ExplainedHop, ...]] = {}

    def into(names: Sequence[str]) -> Iterator[Hop[str, ExplainedHop]]:
        for name in names:
            sources[name] = reader.of(name)
            yield from _walk(name, sources[name])

    Walk((column,), into).finish()
    return Explanation(column, sources, reader.explained_statements(), tables)


def _walk(column: str, sources: Iterable[ExplainedHop]) -> Iterator[Hop[str, ExplainedHop]]:
    return (Hop(column, one.source, tie_of(one.type, certain=one.certain), one) for one in sources)


class _HopReader:
    """The hops into columns; numbers statements in the order in which they are asked for."""

    def __init__(self, parts_in: Callable[[str], Sequence[ColumnPart]]) -> None:
        self._parts_in = parts_in
        self._statements: dict[tuple[str, str, str], int] = {}
        self._jobs: dict[int, set[str]] = {}
        self._last_seen: dict[int, int] = {}

    def of(self, column: str) -> tuple[ExplainedHop, ...]:
        """The hops into a column: direct ones first, each once with all the statements that make it."""
        found: dict[HopKey, list[tuple[int, Unseen | None]]] = {}
        verdicts: dict[tuple[str, str], Verdict | None] = {}
        for one in self._giving(column):
            found.setdefault(one.hop, []).append((self._number(one.contribution), one.unseen))
            verdicts.setdefault((one.hop.source, one.hop.type), one.verdict)
        hops = [
            ExplainedHop(
                *key[:-1],
                tuple(dict.fromkeys(number for number, _ in numbered)),
                within=key.within,
                unseen=latest_unseen(unseen for _, unseen in numbered),
                verdict=verdicts[key.source, key.type],
            )
            for key, numbered in found.items()
        ]
        return tuple(sorted(hops, key=lambda hop: (hop.unseen is not None, not hop.direct)))

    def _giving(self, column: str) -> Iterable[ColumnPart]:
        """The parts in the column itself, and of those in all columns what goes with them."""
        parts = self._parts_in(column)
        given = {one.contribution.statement for one in parts if one.of_column}
        # What filters a statement's rows has a say in the columns that the statement gives, and in no others.
        return (one for one in parts if one.of_column or not given or one.contribution.statement in given)

    def _number(self, contribution: ExplainedContribution) -> int:
        statement = contribution.text, contribution.kind.lower(), contribution.parser
        number = self._statements.setdefault(statement, len(self._statements) + 1)
        self._jobs.setdefault(number, set()).update(contribution.jobs)
        if (seen := contribution.last_seen) is not None:
            self._last_seen[number] = max(seen, self._last_seen.get(number, seen))
        return number

    def explained_statements(self) -> tuple[ExplainedStatement, ...]:
        """The statements that were numbered, in that order, each with the jobs that ran it for any of the hops."""
        return tuple(
            ExplainedStatement(*one, tuple(sorted(self._jobs[at])), self._last_seen.get(at))
            for one, at in self._statements.items()
        )


class _DocumentParts:
    """The parts that columns have in others, as a document tells them."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._tables = {
            column["fullyQualifiedName"]: card["id"] for card in document["nodes"] for column in card["columns"]
        }
        self._parts: dict[str, list[ColumnPart]] = defaultdict(list)
        self._numbers: dict[str, dict[str | None, list[int]]] = defaultdict(lambda: defaultdict(list))
        verdicts = {
            (one["from"], one["to"], one["type"]): Verdict.from_json(one)
            for edge in document["edges"]
            for one in edge.get("verdicts") or ()
        }
        for edge in document["edges"]:
            parts, numbers = self._parts[edge["to"]], self._numbers[edge["to"]]
            for target, part in _parts_of(edge, verdicts):
                numbers[target].append(len(parts))
                parts.append(part)

    def into(self, column: str) -> list[ColumnPart]:
        """Those in a column, and in all columns of its table."""
        table = self._tables.get(column)
        if table not in self._parts:
            return []
        return [self._parts[table][number] for number in meeting_numbers(self._numbers[table], column)]


def _parts_of(
    edge: Mapping[str, Any], verdicts: Mapping[tuple[str, str | None, str], Verdict]
) -> Iterator[tuple[str | None, ColumnPart]]:
    """The parts that an edge of a document tells of, each with its target."""
    for contribution in edge["contributions"]:
        producer = contribution["producer"]
        explained = ExplainedContribution(
            str(producer["kind"]),
            str(producer["key"]),
            contribution.get("sqlQuery") or "",
            contribution.get("parser") or "",
            tuple(contribution.get("jobs") or ()),
            contribution.get("lastSeen"),
        )
        for one in contribution["columns"]:
            for source in one["from"]:
                yield (
                    one["to"],
                    ColumnPart(
                        HopKey(
                            source,
                            one["type"],
                            one["subtype"] or "",
                            one["masking"],
                            one["expression"] or "",
                            one["certain"],
                            within=edge["from"] == edge["to"],
                        ),
                        of_column=one["to"] is not None,
                        unseen=Unseen(**one["notSeen"]) if one.get("notSeen") else None,
                        verdict=verdicts.get((source, one["to"], one["type"])),
                        contribution=explained,
                    ),
                )


def _hop_json(hop: ExplainedHop) -> Json:
    written: Json = {
        "source": hop.source,
        "subtype": hop.subtype,
        "masking": hop.masking,
        "expression": hop.expression,
        "certain": hop.certain,
        "statements": list(hop.statements),
    }
    if hop.unseen is not None:
        written["not_seen"] = hop.unseen.to_json()
    if hop.verdict is not None:
        written |= {"seen_by": list(hop.verdict.seen_by), "not_by": list(hop.verdict.not_by)}
    return written


def _parts(name: str) -> list[str]:
    try:
        return list(split_fqn(name))
    except ValueError:
        return name.split(".")
