"""Why something is wrong, as far as it is known: the suspects in their order, the timeline, and what nothing tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from connectors.catalog.questions.answer import moment_text
from connectors.catalog.questions.why.facts import Symptom, UpstreamFacts
from connectors.catalog.questions.why.ranking import Suspect
from ingestion.model.lineage import Json
from ingestion.walk import ColumnNode, node_name

_MOST_NAMES = 5


@dataclass(frozen=True, slots=True, order=True)
class TimelineEntry:
    """What happened at a time (milliseconds) to a table."""

    at: int
    table: str
    text: str


@dataclass(frozen=True, slots=True)
class CauseReport:
    """The answer. `unknown` are sentences of what is not known, `references` lead to the tables upstream by name."""

    symptom: Symptom
    suspects: tuple[Suspect, ...]
    timeline: tuple[TimelineEntry, ...]
    unknown: tuple[str, ...]
    references: Mapping[str, Json] = field(default_factory=dict)

    @property
    def accused(self) -> tuple[Suspect, ...]:
        """The suspects that something speaks against, the table's own failing tests apart."""
        return tuple(one for one in self.suspects if self._has_cause(one))

    @property
    def others(self) -> tuple[Suspect, ...]:
        """Those upstream that are only not ruled out."""
        asked = self.symptom.node[0]
        return tuple(one for one in self.suspects if one.table != asked and not self._has_cause(one))

    @property
    def known(self) -> bool:
        """Whether there is a suspect, or it is known that nothing changed."""
        return bool(self.accused) or not self.unknown

    @property
    def verdict(self) -> str:
        """What there is to say in one line."""
        if self.accused:
            first = self.accused[0]
            more = f", then {len(self.accused) - 1} more" if len(self.accused) > 1 else ""
            return f"likeliest: {first.table}{more}"
        if self.unknown:
            things = "one thing is" if len(self.unknown) == 1 else f"{len(self.unknown)} things are"
            return f"not known: no change is seen, but {things} not known"
        return "nothing is known to have changed"

    def _has_cause(self, one: Suspect) -> bool:
        asked = one.table == self.symptom.node[0]
        return any(not (asked and evidence.from_test) for evidence in one.evidence)

    def to_json(self) -> Json:
        """The same as JSON; times in ISO 8601."""
        window = self.symptom.window
        return {
            "version": 1,
            "name": node_name(self.symptom.node),
            **self._node_json(self.symptom.node),
            "at": moment_text(self.symptom.at),
            "window": {"after": moment_text(window.start), "until": moment_text(window.end)},
            "failing": [f"{test.name} of {node_name(test.node)}" for test in self.symptom.failing],
            "known": self.known,
            "verdict": self.verdict,
            "suspects": [self._suspect_json(number, one) for number, one in enumerate(self.accused, 1)],
            "notRuledOut": [one.table for one in self.others],
            "timeline": [{"at": moment_text(one.at), "table": one.table, "what": one.text} for one in self.timeline],
            "unknown": list(self.unknown),
        }

    def _suspect_json(self, rank: int, one: Suspect) -> Json:
        return {
            "rank": rank,
            "table": one.table,
            "score": one.score,
            "tie": one.way.strength,
            "path": [node_name(node) for node in one.way.nodes],
            "nodes": [self._node_json(node) for node in one.way.nodes],
            "ties": list(one.way.ties),
            "evidence": [
                {"at": moment_text(e.at), "what": e.text, "weight": e.weight, "columns": list(e.columns)}
                for e in one.evidence
            ],
            "clearedBy": list(one.cleared_by),
        }

    def _node_json(self, node: ColumnNode) -> Json:
        """A table with a reference to it, and the path of a column in it; null for its rows as a whole."""
        return {"entity": self.references.get(node[0]), "column": node[1]}


def timeline(symptom: Symptom, facts: UpstreamFacts, tables: frozenset[str]) -> Iterator[TimelineEntry]:
    """What happened to `tables`, oldest first: incidents, last passes, first failures."""
    entries = {TimelineEntry(one.at, one.table, one.text) for one in facts.incidents if one.table in tables}
    for test in facts.tests:
        first = test.first_failure
        if first is None or test.node[0] not in tables:
            continue
        name = f"test {test.name}{f' of {test.node[1]}' if test.node[1] else ''}"
        entries.add(TimelineEntry(first.at, test.node[0], f"{name} fails"))
        if test.last_pass is not None:
            entries.add(TimelineEntry(test.last_pass, test.node[0], f"{name} passes for the last time"))
    yield from sorted(one for one in entries if one.at <= symptom.at)


def name_list(names: tuple[str, ...]) -> str:
    """Names in a sentence, of many the first."""
    left = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {left} more" if left > 0 else "")
