"""Why something is wrong, as far as it is known: the suspects in their order, the timeline, what nothing tells; and
how people read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from connectors.catalog.answer.pages import Answer, Row, fact
from connectors.catalog.answer.writing import Name, code, short_text, visible_text
from connectors.catalog.questions.why._facts import Symptom, UpstreamFacts
from connectors.catalog.questions.why._ranking import Suspect
from ingestion.model.lineage import Json
from ingestion.walk import ColumnNode

# Why something is wrong, as far as it is known: the suspects in their order, the timeline, and what nothing tells.

_SHOWN = 5
_LAST_DATE = 253_402_300_799_999  # the end of the year 9999


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
    left = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {left} more" if left > 0 else "")


def node_name(node: ColumnNode) -> str:
    """The full name of a table or of a column."""
    return node[0] if node[1] is None else f"{node[0]}.{node[1]}"


def moment_text(at: int) -> str:
    """A time in milliseconds, in UTC to the second; beyond what a calendar writes the number itself."""
    if not 0 <= at <= _LAST_DATE:
        return f"{at} ms"
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")


# The report as people read it: in a terminal, and in a ticket.

_MOST_EVIDENCE = 5
_LONGEST = 300


def as_text(report: CauseReport) -> Iterator[str]:
    """The report line by line."""
    window = report.symptom.window
    yield f"{node_name(report.symptom.node)} at {moment_text(report.symptom.at)}"
    for test in report.symptom.failing:
        yield f"  test {test.name} of {node_name(test.node)} fails"
    if not report.symptom.failing:
        yield "  no test of it fails then: what happened upstream is ranked all the same"
    yield f"  went wrong after {moment_text(window.start)} and by {moment_text(window.end)}"
    for number, suspect in enumerate(report.accused, 1):
        yield f"{number}. {suspect.table}  {suspect.score:.2f}  {suspect.way.strength.lower()}"
        yield f"   path: {' -> '.join(map(node_name, suspect.way.nodes))}"
        for evidence in suspect.evidence[:_MOST_EVIDENCE]:
            yield f"   {moment_text(evidence.at)}  {_short(evidence.text)}"
        if suspect.cleared_by:
            yield f"   less likely: {name_list(suspect.cleared_by)} passed"
    if report.others:
        yield f"nothing known against {name_list(tuple(one.table for one in report.others))}"
    if report.timeline:
        yield "timeline:"
    for entry in report.timeline:
        yield f"  {moment_text(entry.at)}  {entry.table}  {_short(entry.text)}"
    yield from (f"not known: {one}" for one in report.unknown)
    yield report.verdict


def as_markdown(report: CauseReport) -> str:
    """The report for a ticket: a heading, a table of suspects, the timeline."""
    window = report.symptom.window
    lines = [f"### Why {code(node_name(report.symptom.node))}: {report.verdict}", ""]
    lines += [f"Went wrong after {moment_text(window.start)} and by {moment_text(window.end)}.", ""]
    lines += [f"- test {code(test.name)} of {code(node_name(test.node))} fails" for test in report.symptom.failing]
    if report.accused:
        lines += ["", "| | suspect | evidence | path |", "|---|---|---|---|"]
    for number, one in enumerate(report.accused, 1):
        evidence = "<br>".join(f"{moment_text(e.at)} {code(_short(e.text))}" for e in one.evidence[:_MOST_EVIDENCE])
        path = " → ".join(code(node_name(node)) for node in one.way.nodes)
        lines.append(f"| {number} | {code(one.table)} | {evidence} | {path} |")
    if report.timeline:
        lines += ["", "**Timeline**", ""]
        lines += [f"- {moment_text(one.at)} {code(one.table)} {code(_short(one.text))}" for one in report.timeline]
    if report.unknown:
        lines += ["", "**Not known**", "", *(f"- {code(one)}" for one in report.unknown)]
    return "\n".join([*lines, ""])


def _short(text: str) -> str:
    shown = visible_text(text)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}… ({len(shown)} characters)"


# Why something is wrong, as rows: the suspects with what speaks against each, then the timeline.


def causes_answer(report: CauseReport) -> Answer:
    """The verdict and what fails; each suspect, the likeliest first; what is not known; what happened, oldest first."""
    window = report.symptom.window
    went_wrong = f"went wrong after {moment_text(window.start)} and by {moment_text(window.end)}"
    facts = [fact(Name(node_name(report.symptom.node)), f": {report.verdict}"), fact(went_wrong)]
    facts += [fact(f"fails: {visible_text(one.name)} of ", Name(node_name(one.node))) for one in report.symptom.failing]
    rows = [row for number, one in enumerate(report.accused, 1) for row in _suspect_rows(number, one)]
    rows += [Row(("not ruled out ", Name(one.table)), ("not ruled out", Name(one.table))) for one in report.others]
    rows += [Row((f"not known: {short_text(one)}",), ("not known", short_text(one))) for one in report.unknown]
    for entry in report.timeline:
        cells = ("event", moment_text(entry.at), Name(entry.table), short_text(entry.text))
        rows.append(Row((f"{cells[1]} ", cells[2], f" {cells[3]}"), cells))
    return Answer("rows", tuple(facts), tuple(rows))


def _suspect_rows(number: int, one: Suspect) -> Iterator[Row]:
    path = " -> ".join(node_name(node) for node in one.way.nodes)
    tie = one.way.strength.lower()
    yield Row(
        (f"{number}. ", Name(one.table), f" [{tie}] {visible_text(path)}"),
        ("suspect", number, Name(one.table), tie, path),
    )
    for finding in one.evidence:
        cells = ("evidence", number, moment_text(finding.at), short_text(finding.text))
        yield Row((f"  {cells[2]} {cells[3]}",), cells)
    for name in one.cleared_by:
        yield Row((f"  less likely: {visible_text(name)} passed",), ("passed", number, name))
