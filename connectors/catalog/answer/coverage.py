"""How much is covered, and what is not, as people, programs and language models read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, bold, short_text, table_cell, visible_text
from connectors.catalog.questions.coverage import CoverageAt, CoverageReport, OpenTable
from connectors.catalog.store.lineage.known_sources import CoverageLevel
from ingestion.model.moments import minute_text
from ingestion.model.outcomes import words_of


def coverage_rows(found: CoverageReport) -> AnswerRows:
    """The counts and the reasons, then each table whose source is not known by columns, what most is made of first."""
    facts = tuple(fact(line) for line in _facts(found))
    return AnswerRows("tables to work off", facts, tuple(map(_row, found.open)))


def _percent(part: int, of: int) -> str:
    """A share in whole per cent, all of it only where nothing is missing."""
    return "0 %" if not of else f"{part * 100 // of} %"


def _facts(found: CoverageReport) -> Iterator[str]:
    counts = found.counts
    total = counts["tables"]
    levels = ", ".join(
        f"{counts[level]} {word} ({_percent(counts[level], total)})"
        for level, word in (
            (CoverageLevel.COLUMNS, "by columns"),
            (CoverageLevel.TABLE, "by table"),
            (CoverageLevel.NONE, "not at all"),
        )
    )
    yield f"source known of {total} tables: {levels}"
    if found.no_source:
        yield f"{found.no_source} of those are filled, and from no table: of them there is no source to be known"
    for reason, count in found.reasons.items():
        yield f"{count} {reason}: {words_of(reason)}"


def _row(one: OpenTable) -> Row:
    parts: list[str] = [Name(one.name), f" [{one.level.value}] {one.reason}"]
    parts += [f" [{note}]" for note in _notes(one)]
    cells = one.level.value, Name(one.name), one.reason, one.used_by, one.setting, ", ".join(one.names)
    return Row(tuple(parts), cells)


def _notes(one: OpenTable) -> Iterator[str]:
    if one.used_by:
        yield "1 is made of it" if one.used_by == 1 else f"{one.used_by} are made of it"
    if one.names:
        yield f"unknown: {', '.join(map(visible_text, one.names))}"
    for dead in one.dead:
        error = f" ({visible_text(dead.error)})" if dead.error else ""
        yield f"{visible_text(dead.location)}: {visible_text(dead.reason)}{error}: {short_text(dead.masked)}"
    if one.setting:
        yield f"set {visible_text(one.setting)}"


def _lines(found: CoverageReport) -> Iterator[str]:
    yield from _facts(found)
    for one in found.open:
        known = " (by table)" if one.level is CoverageLevel.TABLE else ""
        yield f"{bold(one.name)}{known}: {one.reason}, {words_of(one.reason)}"
        yield from (f"   {note}" for note in _notes(one))
    yield from map(_trend_text, found.trend)


def _trend_text(one: CoverageAt) -> str:
    total = one.counts.get("tables", 0)
    columns, table = (one.counts.get(level.value, 0) for level in (CoverageLevel.COLUMNS, CoverageLevel.TABLE))
    return f"{minute_text(one.at)} {one.run[:12]} of {total}: {columns} by columns, {table} by table"


def _table(found: CoverageReport) -> Iterator[tuple[str | int, ...]]:
    yield "table", "known", "reason", "used_by", "unknown_names", "dead_at", "statement", "setting"
    for one in found.open:
        dead = one.dead[0] if one.dead else None
        texts = (dead.location, dead.masked) if dead is not None else ("", "")
        yield one.name, one.level.value, one.reason, one.used_by, ", ".join(one.names), *texts, one.setting
    for line in _facts(found):
        yield (line,)


def _markdown(found: CoverageReport) -> str:
    facts = "".join(f"- {visible_text(line)}\n" for line in _facts(found))
    rows = "".join(
        f"| {table_cell(one.name)} | {one.level.value} | {one.reason} | {table_cell('; '.join(_notes(one)))} |\n"
        for one in found.open
    )
    return f"{facts}\n| table | known | why not more | what there is to do |\n|---|---|---|---|\n{rows}"


COVERAGE = Renderings(
    _lines, CoverageReport.to_json, coverage_rows, markdown=_markdown, table=_table, states_truncation=True
)
