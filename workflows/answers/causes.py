"""Why something is wrong, as rows: the suspects with what speaks against each, then the timeline."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.causes.ranking import Suspect
from connectors.catalog.causes.report import CauseReport, moment_text, node_name
from workflows.answers.paging.pages import Answer, Row, fact
from workflows.answers.paging.writing import Name, short_text, visible_text


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
