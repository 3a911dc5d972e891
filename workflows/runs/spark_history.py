"""What a run over a Spark history says of what it could make nothing of."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import functions as F

from connectors.base import UNSUPPORTED
from connectors.spark_history import NOT_A_LOG
from workflows.reading.reader import Statements
from workflows.report.counts import Tally, most_frequent

_SHOWN = 5


def history_warnings(statements: Statements, dead: Tally) -> Iterator[str]:
    """The files that are no event logs, and the writes that were not understood, by kind."""
    strays = statements.counts.skipped.get(NOT_A_LOG, 0)
    if strays:
        found = statements.frame.where(F.col("skipped") == NOT_A_LOG).select("file").orderBy("file").limit(_SHOWN)
        names = ", ".join(row["file"] for row in found.collect())
        others = f", and {strays - _SHOWN:,} more" if strays > _SHOWN else ""
        files = _count_of(strays, "file")
        yield f"{files} beside the event logs {'is' if strays == 1 else 'are'} none: {names}{others}"
    kinds = {reason.removeprefix(UNSUPPORTED): n for reason, n in dead.items() if reason.startswith(UNSUPPORTED)}
    if kinds:
        listed = ", ".join(f"{kind} {count:,}" for kind, count in most_frequent(kinds, len(kinds)))
        yield f"{_count_of(sum(kinds.values()), 'write')} not understood: {listed}"


def _count_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
