"""The end of a run: its counts checked, shown and written down, its exit code decided."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ingestion.errors import LineageError, ThresholdBreached
from ingestion.model.outcomes import code_of, meaning_of
from workflows.counts import (
    AGREE,
    NAMES_SHOWN,
    ONLY_ENGINE,
    ONLY_LOG,
    SILENT,
    RunSummary,
    Tally,
    most_frequent,
    report,
    write_report,
)
from workflows.runtime.logs import LogFormat

logger = logging.getLogger(__name__)

_REASONS_EXPLAINED = 3
_WIDTH_OF_FILES = 160


def print_summary(summary: RunSummary, console: Console) -> None:
    """Prints the counts, the names that need a look, the seconds by stage and where to go from here."""
    title = "Dry run: nothing was sent" if summary.dry_run else "Lineage run"
    table = Table(title=title, title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for label, count, detail in _rows(summary):
        table.add_row(label, count, Text(detail))
    console.print(table)
    for code, meaning in _meanings(summary.counts.dead):
        console.print(Text(f"dead, {code}: {meaning}", style="dim"))
    for warning in summary.warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))
    for pointer in summary.where_to_look:
        console.print(Text.assemble((f"{pointer.label}: ", "bold"), pointer.location), soft_wrap=True)


def _meanings(dead: Tally) -> list[tuple[str, str]]:
    """What the most frequent reasons mean; what follows a code, as in `ill_formed:unbalanced …`, is in the table."""
    codes = dict.fromkeys(code_of(reason) for reason, _count in most_frequent(dead, len(dead)))
    return [(code, meaning) for code in codes if (meaning := meaning_of(code))][:_REASONS_EXPLAINED]


def _rows(summary: RunSummary) -> Iterator[tuple[str, str, str]]:
    counts = summary.counts
    malformed = f"{counts.malformed_records:,} malformed" if counts.malformed_records else ""
    read_as = f"as {', '.join(counts.exporters)}" if counts.exporters else ""
    yield "records read", f"{counts.records_read:,}", ", ".join(filter(None, (malformed, read_as)))
    if counts.records_read_before:
        yield "  read before", f"{counts.records_read_before:,}", ""
    yield "statements", f"{counts.statements:,}", ""
    yield "  published", f"{counts.published:,}", ""
    yield "  skipped", f"{counts.skipped_total:,}", _list_text(counts.skipped)
    yield "  dead", f"{counts.dead_total:,}", _list_text(counts.dead)
    yield "success", f"{counts.success_percent:.1f} %", ""
    known = {"known": counts.templates_known} if counts.templates_known else {}
    yield "templates", f"{counts.templates:,}", _list_text({**counts.parsed_by_tier, **known})
    yield "timed out", f"{counts.timed_out:,}", ""
    yield "names resolved", f"{counts.resolved:,}", ""
    yield "  unresolved", f"{counts.unresolved:,}", _list_text(counts.unresolved_names, NAMES_SHOWN)
    yield "  ambiguous", f"{counts.ambiguous:,}", _list_text(counts.ambiguous_names, NAMES_SHOWN)
    if counts.tables_registered:
        yield "tables registered", f"{counts.tables_registered:,}", ""
    yield "edges new", f"{counts.edges.new:,}", ""
    yield "  merged", f"{counts.edges.merged:,}", ""
    yield "  unchanged", f"{counts.edges.unchanged:,}", ""
    yield "  replaced", f"{counts.edges.replaced:,}", ""
    if counts.edges.removed:
        yield "  removed", f"{counts.edges.removed:,}", ""
    yield "column edges", f"{counts.edges.column_edges:,}", ""
    for label, tally, words in (
        ("engine edges", counts.engine_edges, _edge_agreement),
        ("engine columns", counts.engine_columns, _column_agreement),
    ):
        if tally:
            yield label, f"{tally.get(AGREE, 0) + tally.get(ONLY_ENGINE, 0):,}", words(tally)
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in summary.seconds_by_stage.items())
    yield "seconds", f"{summary.ended - summary.started:.1f}", stages


def _column_agreement(tally: Tally) -> str:
    agree, otherwise, silent = (tally.get(kind, 0) for kind in (AGREE, ONLY_LOG, SILENT))
    return (
        f"of {agree + otherwise + silent:,} of ours it confirms {agree:,}, has others in place of {otherwise:,}, does "
        f"not speak of {silent:,}; {tally.get(ONLY_ENGINE, 0):,} only the engine's"
    )


def _edge_agreement(tally: Tally) -> str:
    words = {AGREE: "agree", ONLY_ENGINE: "only the engine's", ONLY_LOG: "only ours"}
    return ", ".join(f"{tally.get(kind, 0):,} {word}" for kind, word in words.items())


def _list_text(tally: Tally, at_most: int | None = None) -> str:
    at_most = len(tally) if at_most is None else at_most
    shown = ", ".join(f"{name} {count:,}" for name, count in most_frequent(tally, at_most))
    others = len(tally) - at_most
    return f"{shown}, and {others:,} more" if others > 0 else shown


# What a run has to reach, and how it ends.


@dataclass(frozen=True, slots=True)
class SuccessCriteria:
    """What a run has to reach: per cent of statements (None demands nothing), and whether doubts count as failures."""

    success_percent: int | None = 90
    strict: bool = False


def finish(summary: RunSummary, demands: SuccessCriteria, report_file: Path | None, log_format: LogFormat) -> None:
    """Shows the summary and writes the report.

    Raises Unaccounted where the counts do not add up and ThresholdBreached where too little succeeded; the report is
    written before.
    """
    failure = _failure(summary, demands)
    content = report(summary, failure.exit_code if failure else 0)
    if report_file is not None:
        write_report(report_file, content)
    if log_format is LogFormat.JSON:
        logger.info("run finished", extra={"report": content})
    else:
        print_summary(summary, _console(summary))
    if failure is not None:
        raise failure


def _console(summary: RunSummary) -> Console:
    """Standard output, which the requests of a dry run have for themselves; wide lines where nobody is watching."""
    console = Console(stderr=summary.dry_run)
    return console if console.is_terminal else Console(stderr=summary.dry_run, width=_WIDTH_OF_FILES)


def _failure(summary: RunSummary, demands: SuccessCriteria) -> LineageError | None:
    try:
        summary.counts.check_conservation()
        if demands.success_percent is not None:
            summary.counts.check_threshold(demands.success_percent)
        if demands.strict:
            _check_doubts(summary)
    except LineageError as error:
        return error
    return None


def _check_doubts(summary: RunSummary) -> None:
    counts = summary.counts
    doubts = {
        "dead": counts.dead_total,
        "unresolved": counts.unresolved,
        "ambiguous": counts.ambiguous,
        "warnings": len(summary.warnings),
    }
    found = ", ".join(f"{count} {name}" for name, count in doubts.items() if count)
    if found:
        raise ThresholdBreached(f"--strict: {found}; the summary names them")
