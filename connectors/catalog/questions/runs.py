"""The runs of workflows as they told of themselves: what each came to, what changed since the one before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.questions.answer import Answer
from connectors.catalog.questions.file import open_catalog
from connectors.catalog.store.evidence.workflow_runs import (
    DeadStatementRow,
    StoredRun,
    dead_of,
    run_before,
    stored_run,
    stored_runs,
)
from ingestion.errors import ConfigError
from ingestion.model.lineage import Json
from ingestion.model.outcomes import StatementEnd, meaning_of, run_outcome, words_of

SHOWN = 30
LATEST = "latest"
"""Asks for the newest run in place of an id."""
_MOST_STATEMENTS = 200
_NUMBERS = ("records_read", "statements", "published", "edges_new", "edges_removed", "column_edges", "templates")
_ENDS = ("skipped", "dead")
_END_WORDS = {end.value: end.words for end in StatementEnd}
_COUNTED = {
    "records_read": "records",
    "published": f"statements that {StatementEnd.PUBLISHED.words}",
    "edges_new": "new edges",
    "edges_removed": "edges taken back",
    "column_edges": "column edges",
    "templates": "statements that differ in more than their literals",
    "coverage": "tables whose source is known",
}
_LEVELS = {"tables": "all there are", "columns": "by columns", "table": "by table", "none": "not at all"}
_TALLIES = (*_ENDS, "unresolved_names", "ambiguous_names")


@dataclass(frozen=True, slots=True)
class RunChange:
    """A count of a run, and what it was in the one before; `of` is the reason or the name that is counted."""

    what: str
    of: str
    before: int
    now: int

    def to_json(self) -> Json:
        """The same as JSON."""
        return {"what": self.what, "of": self.of, "text": self.words, "before": self.before, "now": self.now}

    @property
    def words(self) -> str:
        """What is counted, in words."""
        if self.what in _ENDS:
            return f"{_END_WORDS[self.what]}: {words_of(self.of)}"
        counted = _COUNTED.get(self.what, self.what.replace("_", " "))
        return f"{counted}: {_LEVELS.get(self.of, self.of)}" if self.of else counted


@dataclass(frozen=True, slots=True)
class RunList:
    """The latest runs, the newest first."""

    runs: tuple[StoredRun, ...]

    def to_json(self) -> Json:
        """The same as JSON."""
        return {"runs": [run_json(one) for one in self.runs], "ends": _END_WORDS}


@dataclass(frozen=True, slots=True)
class RunDetails:
    """A run, the one `before` it that came to its end, what changed since, and what it gave up on that is dead still.

    A replay is no run before another: it reads a few records. `dead_before` counts the statements of other runs of the
    workflow that are dead still.
    """

    run: StoredRun
    before: StoredRun | None
    changes: tuple[RunChange, ...]
    dead: tuple[DeadStatementRow, ...]
    dead_before: int = 0

    @property
    def given_up(self) -> int:
        """How many statements ended dead in the run, whatever became of them since."""
        return sum(_tally(self.run, "dead").values())

    def to_json(self) -> Json:
        """The same as JSON."""
        return {
            **run_json(self.run),
            "before": None if self.before is None else self.before.run,
            "changes": [one.to_json() for one in self.changes],
            "reasons": {
                reason: meaning_of(reason) for kind in ("skipped", "dead") for reason in _tally(self.run, kind)
            },
            "reasonTexts": {reason: words_of(reason) for kind in _ENDS for reason in _tally(self.run, kind)},
            "ends": _END_WORDS,
            "deadStatements": [_dead_json(one) for one in self.dead],
            "deadBefore": self.dead_before,
        }


def run_json(run: StoredRun) -> Json:
    """A run as JSON; times in milliseconds."""
    return {
        "run": run.run,
        "workflow": run.workflow,
        "kind": run.kind,
        "readUntil": run.read_until,
        "service": run.service,
        "started": run.started,
        "ended": run.ended,
        "outcome": run.outcome,
        "outcomeText": run_outcome(run.outcome).sentence.removesuffix("."),
        "message": run.message,
        "counts": {**{name: run.counts.get(name, 0) for name in _NUMBERS}, **_tallies(run)} if run.counts else {},
        "secondsByStage": run.report.get("seconds_by_stage") or {},
        "warnings": run.report.get("warnings") or [],
        "coverage": run.coverage,
        "replay": run.replay,
        "configuration": run.configuration,
    }


def _tallies(run: StoredRun) -> Json:
    return {name: _tally(run, name) for name in _TALLIES}


def _tally(run: StoredRun, name: str) -> Mapping[str, int]:
    found: Mapping[str, int] = run.counts.get(name) or {}
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _dead_json(one: DeadStatementRow) -> Json:
    return {
        "location": one.location,
        "reason": one.reason,
        "reasonText": words_of(one.reason),
        "statement": one.masked,
        "error": one.error,
        "dialect": one.dialect,
        "at": one.at,
        "run": one.run,
        "workflow": one.workflow,
    }


# The questions.


def runs_in_file(file: Path, limit: int = SHOWN) -> Answer[RunList]:
    """The latest runs into a catalog's file. Raises ConfigError where there is none."""
    with open_catalog(file) as connection:
        return latest_runs(connection, limit=limit)


def run_in_file(file: Path, run: str) -> Answer[RunDetails]:
    """One run into a catalog's file, by (the beginning of) its id. Raises ConfigError where it is not just one."""
    with open_catalog(file) as connection:
        return run_details(connection, run)


def latest_runs(connection: Connection, workflow: str | None = None, limit: int = SHOWN) -> Answer[RunList]:
    """The latest runs of a workflow (None: of all)."""
    found = stored_runs(connection, workflow, limit + 1)
    cut = (f"only the latest {limit} runs are listed: ask for more",) if len(found) > limit else ()
    return Answer(RunList(tuple(found[:limit])), cut)


def run_details(connection: Connection, run: str) -> Answer[RunDetails]:
    """One run, by (the beginning of) its id, or LATEST. Raises ConfigError where it is not just one."""
    found = next(iter(stored_runs(connection, limit=1)), None) if run == LATEST else stored_run(connection, run)
    if found is None and run == LATEST:
        raise ConfigError("no run has told this catalog of itself yet")
    if found is None:
        raise ConfigError(f"{run} is not the (beginning of the) id of just one run; `ingest runs` lists them")
    before = run_before(connection, found)
    every = dead_of(connection, found.workflow)
    own = [one for one in every if one.run == found.run]
    details = RunDetails(
        found, before, changes_since(before, found), tuple(own[:_MOST_STATEMENTS]), len(every) - len(own)
    )
    cut = (f"only the first {_MOST_STATEMENTS} dead statements are listed: the dead letters have all",)
    return Answer(details, cut if len(own) > _MOST_STATEMENTS else ())


def changes_since(before: StoredRun | None, now: StoredRun) -> tuple[RunChange, ...]:
    """What is counted otherwise than in the run before; nothing where one of the two did not come to its end."""
    if before is None or not before.counts or not now.counts:
        return ()
    return tuple(one for one in _changes(before, now) if one.before != one.now)


def _changes(before: StoredRun, now: StoredRun) -> Iterator[RunChange]:
    for name in _NUMBERS:
        yield RunChange(name, "", before.counts.get(name, 0), now.counts.get(name, 0))
    for name in _TALLIES:
        old, new = _tally(before, name), _tally(now, name)
        for of in dict.fromkeys((*new, *old)):
            yield RunChange(name, of, old.get(of, 0), new.get(of, 0))
    old_cover, new_cover = before.coverage or {}, now.coverage or {}
    for level in new_cover if old_cover else ():
        yield RunChange("coverage", level, old_cover.get(level, 0), new_cover[level])
