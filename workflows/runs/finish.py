"""The end of a run: its counts checked, shown and written down, its exit code decided."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ingestion.errors import LineageError, ThresholdBreached
from workflows.report.counts import RunSummary, report, write_report
from workflows.report.summary import print_summary
from workflows.runtime.logs import LogFormat

logger = logging.getLogger(__name__)
_WIDTH_OF_FILES = 160


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
