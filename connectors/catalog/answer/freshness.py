"""How fresh tables are, as people, programs and language models read it."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import Name, bold, table_cell, visible_text
from connectors.catalog.questions.freshness import TIMELINESS_WORDS, Freshness, FreshnessReport, Timeliness
from ingestion.model.moments import minute_text

_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000


def freshness_rows(found: FreshnessReport) -> AnswerRows:
    """The counts, then each table, what is late first."""
    return AnswerRows("tables", (fact(_total(found)),), tuple(map(_row, found.tables)))


def _duration_text(millis: int) -> str:
    """A length of time in its largest unit."""
    for unit, word in ((_DAY, "d"), (_HOUR, "h")):
        if millis >= unit:
            return f"{millis / unit:.3g} {word}"
    return f"{max(1, round(millis / _MINUTE))} min"


def _total(found: FreshnessReport) -> str:
    return ", ".join(f"{found.counts[state.value]} {word}" for state, word in TIMELINESS_WORDS.items())


def _row(one: Freshness) -> Row:
    parts = Name(one.name), f" {_state_text(one)}"
    return Row(parts, (one.state.value, Name(one.name), _moment(one.last), ", ".join(one.jobs), _period(one)))


def _state_text(one: Freshness) -> str:
    if one.last is None:
        return TIMELINESS_WORDS[one.state]
    by = f" by {', '.join(map(visible_text, one.jobs))}" if one.jobs else ""
    every = f", every {_period(one)}" if one.period else ""
    due = f"; due {_moment(one.due)}, the log ends {_moment(one.until)}" if one.state is Timeliness.LATE else ""
    return f"{TIMELINESS_WORDS[one.state]}: last written {_moment(one.last)}{by}{every}{due}"


def _period(one: Freshness) -> str:
    return _duration_text(one.period) if one.period else ""


def _moment(at: int | None) -> str:
    return "" if at is None else minute_text(at)


def _lines(found: FreshnessReport) -> Iterator[str]:
    yield _total(found)
    yield from (f"{bold(one.name)} {_state_text(one)}" for one in found.tables)


def _table(found: FreshnessReport) -> Iterator[tuple[str | int, ...]]:
    yield "table", "state", "last_written", "jobs", "every", "due", "log_ends"
    for one in found.tables:
        times = _period(one), _moment(one.due), _moment(one.until)
        yield one.name, one.state.value, _moment(one.last), ", ".join(one.jobs), *times


def _markdown(found: FreshnessReport) -> str:
    rows = "".join(f"| {table_cell(one.name)} | {table_cell(_state_text(one))} |\n" for one in found.tables)
    return f"{_total(found)}\n\n| table | |\n|---|---|\n{rows}"


FRESHNESS = Renderings(
    _lines, FreshnessReport.to_json, freshness_rows, markdown=_markdown, table=_table, states_truncation=True
)
