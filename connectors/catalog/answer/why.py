"""Why something is wrong, as people, tickets and language models read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, code, short_text, visible_text
from connectors.catalog.questions.answer import moment_text
from connectors.catalog.questions.why.ranking import Suspect
from connectors.catalog.questions.why.report import CauseReport, name_list
from ingestion.walk import node_name

_MOST_EVIDENCE = 5


def why_rows(report: CauseReport) -> AnswerRows:
    """The verdict and what fails; each suspect, the likeliest first; what is not known; what happened, oldest first."""
    window = report.symptom.window
    facts = [
        fact(Name(node_name(report.symptom.node)), f": {report.verdict}"),
        fact(f"went wrong after {moment_text(window.start)} and by {moment_text(window.end)}"),
    ]
    facts += [fact(f"fails: {visible_text(one.name)} of ", Name(node_name(one.node))) for one in report.symptom.failing]
    rows = [row for number, one in enumerate(report.accused, 1) for row in _suspect_rows(number, one)]
    rows += [Row(("not ruled out ", Name(one.table)), ("not ruled out", Name(one.table))) for one in report.others]
    rows += [Row((f"not known: {short_text(one)}",), ("not known", short_text(one))) for one in report.unknown]
    for entry in report.timeline:
        cells = ("event", moment_text(entry.at), Name(entry.table), short_text(entry.text))
        rows.append(Row((f"{cells[1]} ", cells[2], f" {cells[3]}"), cells))
    return AnswerRows("rows", tuple(facts), tuple(rows))


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


def _lines(report: CauseReport) -> Iterator[str]:
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
            yield f"   {moment_text(evidence.at)}  {short_text(evidence.text)}"
        if suspect.cleared_by:
            yield f"   less likely: {name_list(suspect.cleared_by)} passed"
    if report.others:
        yield f"nothing known against {name_list(tuple(one.table for one in report.others))}"
    if report.timeline:
        yield "timeline:"
    for entry in report.timeline:
        yield f"  {moment_text(entry.at)}  {entry.table}  {short_text(entry.text)}"
    yield from (f"not known: {one}" for one in report.unknown)
    yield report.verdict


def _markdown(report: CauseReport) -> str:
    """For a ticket: a heading, a table of suspects, the timeline."""
    window = report.symptom.window
    lines = [f"### Why {code(node_name(report.symptom.node))}: {report.verdict}", ""]
    lines += [f"Went wrong after {moment_text(window.start)} and by {moment_text(window.end)}.", ""]
    lines += [f"- test {code(test.name)} of {code(node_name(test.node))} fails" for test in report.symptom.failing]
    if report.accused:
        lines += ["", "| | suspect | evidence | path |", "|---|---|---|---|"]
    for number, one in enumerate(report.accused, 1):
        evidence = "<br>".join(f"{moment_text(e.at)} {code(short_text(e.text))}" for e in one.evidence[:_MOST_EVIDENCE])
        path = " → ".join(code(node_name(node)) for node in one.way.nodes)
        lines.append(f"| {number} | {code(one.table)} | {evidence} | {path} |")
    if report.timeline:
        lines += ["", "**Timeline**", ""]
        lines += [f"- {moment_text(one.at)} {code(one.table)} {code(short_text(one.text))}" for one in report.timeline]
    if report.unknown:
        lines += ["", "**Not known**", "", *(f"- {code(one)}" for one in report.unknown)]
    return "\n".join([*lines, ""])


WHY = Renderings(_lines, CauseReport.to_json, why_rows, _markdown)
