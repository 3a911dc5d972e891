"""The report as people read it: in a terminal, and in a ticket."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.causes.report import CauseReport, moment_text, name_list, node_name
from workflows.answers.paging.writing import visible_text
from workflows.changes.markdown import code

_SHOWN = 5
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
        for evidence in suspect.evidence[:_SHOWN]:
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
        evidence = "<br>".join(f"{moment_text(e.at)} {code(_short(e.text))}" for e in one.evidence[:_SHOWN])
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
