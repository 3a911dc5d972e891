"""Runs that end well and are not: what their counts give away."""

from __future__ import annotations

from workflows.config import RunConfig, SourceKind
from workflows.reading.statement_rows import NOT_SQL
from workflows.reading.statistics import OUTSIDE_WINDOW
from workflows.report.counts import RunCounts, most_frequent
from workflows.state.runs import RecordedRun

_NAMES_SHOWN = 5
_LOOK = "look at what `ingest validate --connect` shows, and name columns under headwater.queryLogColumns"
_NO_LINEAGE = "no_lineage"
_MANY = 10
"""Statements that lineage came of in the last run, from which on none at all is strange."""
_NO_LOG = (
    "there is no log of statements: only definitions were read; set queryLogFilePath, or, in a PostgreSQL, install"
    " pg_stat_statements"
)


def warnings_of(config: RunConfig, counts: RunCounts, before: RecordedRun | None) -> tuple[str, ...]:
    """What a person should look into; `before` is the last run of the workflow that came to its end, None if none."""
    warnings = [*_nothing_read(config, counts), *_left_out(config, counts), *_nothing_published(counts, before)]
    if counts.unresolved:
        named = ", ".join(f"{name} {count}" for name, count in most_frequent(counts.unresolved_names, _NAMES_SHOWN))
        warnings.append(f"{counts.unresolved} names are not in the catalog, most often {named}")
    return tuple(warnings)


def _nothing_read(config: RunConfig, counts: RunCounts) -> list[str]:
    if counts.records_read_before:
        return []
    if not counts.records_read and config.query_log.is_given:
        return ["the log is empty: nothing was read; check queryLogFilePath"]
    if not counts.records_read and config.source.kind is SourceKind.DATABASE:
        return [_NO_LOG]
    if (lost := counts.dead.get(NOT_SQL, 0)) * 10 > counts.statements:
        return [f"{lost} of {counts.statements} texts are no SQL: is it the right column? {_LOOK}"]
    if not counts.templates:
        return ["no statement of the log bears lineage; the skipped ones are listed by reason"]
    writes = counts.statements - counts.skipped_total + counts.skipped.get(_NO_LINEAGE, 0)
    if not counts.published and writes:
        given_up = f" ({counts.dead_total} of them dead)" if counts.dead_total else ""
        return [f"no lineage came of any statement that may write, of which there are {writes}{given_up}: {_LOOK}"]
    return []


def _left_out(config: RunConfig, counts: RunCounts) -> list[str]:
    """What the window has left out, without which a short window looks like a log without lineage."""
    outside = counts.skipped.get(OUTSIDE_WINDOW, 0)
    if not outside:
        return []
    days = config.query_log.days
    window = f"the {days} days up to the newest record" if days is not None else "what came since the last run"
    return [
        f"{outside} of {counts.statements} statements are outside the window ({window}): set queryLogDuration, "
        "or read a stretch again with --since and --until"
    ]


def replay_warnings(templates: int) -> tuple[str, ...]:
    """A warning of dead templates whose masked texts stood in for their records; none where none did."""
    if not templates:
        return ()
    return (f"the log has the records of {templates} dead templates no more: their masked text was replayed",)


def ahead_of_time(statements: int) -> tuple[str, ...]:
    """A warning of statements whose time is in the future; none where there are none."""
    if not statements:
        return ()
    return (f"{statements} statements have a time in the future: they count as without one; look at the log's clock",)


def _nothing_published(counts: RunCounts, before: RecordedRun | None) -> list[str]:
    if before is None or counts.published or not counts.statements:
        return []
    published = before.report.get("counts", {}).get("published", 0)
    if published < _MANY:
        return []
    return [f"no statement of {counts.statements} has lineage, and {published} of the last run had: look at the log"]
