"""The runs of workflows, as people, programs and language models read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from connectors.catalog.answer.pages import AnswerRows, Row, fact
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.answer.writing import bold, short_text, visible_text
from connectors.catalog.questions.runs import RunChange, RunDetails, RunList
from connectors.catalog.store.evidence.workflow_runs import DeadStatementRow, StoredRun
from ingestion.model.moments import minute_text
from ingestion.model.outcomes import meaning_of

_ID = 12
"""Characters of a run's id that tell it from others."""


def run_list_rows(found: RunList) -> AnswerRows:
    """Each run in a row, the newest first."""
    ended = sum(one.ended is not None for one in found.runs)
    facts = (fact(f"{len(found.runs)} runs, {ended} of them ended; times in UTC"),)
    return AnswerRows("runs", facts, tuple(map(_run_row, found.runs)))


def run_rows(found: RunDetails) -> AnswerRows:
    """What a run came to and what changed, then each statement that it gave up on and that is dead still."""
    return AnswerRows("dead statements", tuple(fact(line) for line in _facts(found)), tuple(map(_dead_row, found.dead)))


def _run_row(run: StoredRun) -> Row:
    counts = run.counts
    sums = tuple(_sum(counts, name) for name in ("skipped", "dead"))
    numbers = counts.get("statements", 0), counts.get("published", 0), *sums
    line = _run_text(run)
    return Row(
        (line,), (run.run[:_ID], run.workflow, run.kind, minute_text(run.started), _seconds(run), run.outcome, *numbers)
    )


def _run_text(run: StoredRun) -> str:
    took = _seconds(run)
    kind = "" if run.kind == "run" else f" ({visible_text(run.kind)})"
    parts = [f"{run.run[:_ID]} {minute_text(run.started)} {visible_text(run.workflow)}{kind}: {run.outcome}"]
    parts += [f"in {took}"] if took else []
    parts += [_counts_text(run.counts)] if run.counts else []
    parts += [short_text(run.message)] if run.message else []
    return ", ".join(parts)


def _counts_text(counts: Mapping[str, Mapping[str, int]]) -> str:
    numbers = ", ".join(f"{counts.get(name, 0)} {word}" for name, word in _COUNTED)
    return f"{numbers}, skipped {_tally_text(counts, 'skipped')}, dead {_tally_text(counts, 'dead')}"


_COUNTED = (
    ("records_read", "records"),
    ("statements", "statements"),
    ("published", "published"),
    ("edges_new", "new edges"),
)


def _tally_text(counts: Mapping[str, Mapping[str, int]], name: str) -> str:
    tally = counts.get(name) or {}
    reasons = ", ".join(f"{visible_text(reason)} {count}" for reason, count in tally.items())
    return f"{sum(tally.values())}{f' ({reasons})' if reasons else ''}"


def _sum(counts: Mapping[str, Mapping[str, int]], name: str) -> int:
    return sum((counts.get(name) or {}).values())


def _seconds(run: StoredRun) -> str:
    return "" if run.ended is None else f"{(run.ended - run.started) / 1000:.1f} s"


def _facts(found: RunDetails) -> Iterator[str]:
    run = found.run
    yield _run_text(run)
    for reason, count in (run.counts.get("dead") or {}).items():
        yield f"{count} dead, {visible_text(reason)}: {meaning_of(reason)}"
    for warning in run.report.get("warnings") or ():
        yield f"warning: {visible_text(warning)}"
    if found.before is not None:
        since = f"{found.before.run[:_ID]} of {minute_text(found.before.started)}"
        changes = "; ".join(map(_change_text, found.changes))
        yield f"since {since}: {changes or 'nothing is counted otherwise'}"
    if found.given_up:
        later = found.given_up - len(found.dead)
        yield f"{len(found.dead)} of its {found.given_up} dead statements are dead still" + (
            f"; {later} were read later, or stand again in a later run" if later > 0 else ""
        )
    if found.dead_before:
        yield f"{found.dead_before} statements of other runs of {visible_text(run.workflow)} are dead still"
    if run.replay and (found.dead or found.dead_before):
        yield f"read them again by: {visible_text(run.replay)}"


def _change_text(one: RunChange) -> str:
    name = one.what.replace("_", " ") + (f" {visible_text(one.of)}" if one.of else "")
    return f"{name} {one.before} -> {one.now}"


def _dead_row(one: DeadStatementRow) -> Row:
    text = _dead_text(one)
    return Row((text,), (one.location, one.reason, one.masked, one.error))


def _dead_text(one: DeadStatementRow) -> str:
    error = f" ({visible_text(one.error)})" if one.error else ""
    statement = short_text(one.masked) if one.masked else "its text could not be masked, and was not kept"
    return f"{visible_text(one.location)}: {visible_text(one.reason)}{error}: {statement}"


def _list_lines(found: RunList) -> Iterator[str]:
    yield from map(_run_text, found.runs)


def _lines(found: RunDetails) -> Iterator[str]:
    first, *others = _facts(found)
    yield bold(first)
    yield from others
    yield from (f"  {_dead_text(one)}" for one in found.dead)


RUN_LIST = Renderings(_list_lines, RunList.to_json, run_list_rows, states_truncation=True)
RUN = Renderings(_lines, RunDetails.to_json, run_rows, states_truncation=True)
