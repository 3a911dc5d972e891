"""What became of a run: its counts, which add up, and its report.

The unit of account is the statement (a record without one counts once). Each ends published (its edge acknowledged, or
stored already), skipped (nothing to publish, with the reason) or dead (given up on, with the reason).

Counts are values: every stage gives a RunCounts of what it did, and their sum is the run's.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path
from typing import Any

from connectors.sink import EdgeCounts
from ingestion.errors import ConfigError, ThresholdBreached, Unaccounted
from ingestion.model.isolation import Failure
from ingestion.model.moments import iso_time
from ingestion.model.outcomes import WriteOutcome, meaning_of

REPORT_VERSION = 1
NAMES_SHOWN = 5
"""Of those that a warning or a line of the summary is about."""
Tally = Mapping[str, int]
AGREE, ONLY_ENGINE, ONLY_LOG, SILENT = "agree", "only_engine", "only_log", "silent"
"""Who says so: the engine itself and what was read off the log, or one of them; or the engine does not speak of it."""
_EDGE_ENDS = (WriteOutcome.NEW, WriteOutcome.MERGED, WriteOutcome.UNCHANGED, WriteOutcome.REPLACED)


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Counts of a stage or of a whole run; `a + b` adds them up, name by name.

    `unresolved_names` and `ambiguous_names` say how often each name was met; `resolved`, `unresolved` and `ambiguous`
    count distinct names. Of the `edges`, unchanged ones were stored already and needed no call.
    """

    records_read: int = 0
    exporters: Tally = field(default_factory=dict)  # what a log was read as -> files or tables
    records_read_before: int = 0  # by an earlier run; none of the other counts has them
    malformed_records: int = 0  # rows that are not as the format wants; each counts as a statement too
    statements: int = 0
    published: int = 0
    skipped: Tally = field(default_factory=dict)  # reason -> statements
    dead: Tally = field(default_factory=dict)  # reason -> statements
    templates: int = 0
    templates_known: int = 0  # of them, those that an earlier run had parsed
    parsed_by_tier: Tally = field(default_factory=dict)  # parser -> templates
    timed_out: int = 0  # templates for which a parser overran its time, whatever the next one made of them
    resolved: int = 0
    unresolved: int = 0
    ambiguous: int = 0
    unresolved_names: Tally = field(default_factory=dict)
    ambiguous_names: Tally = field(default_factory=dict)
    edges: EdgeCounts = field(default_factory=EdgeCounts)
    tables_registered: int = 0
    engine_edges: Tally = field(default_factory=dict)  # by who says so -> edges, where an engine recorded some
    engine_columns: Tally = field(default_factory=dict)  # likewise -> column edges

    def __add__(self, other: RunCounts) -> RunCounts:
        return RunCounts(**{f.name: _plus(getattr(self, f.name), getattr(other, f.name)) for f in fields(RunCounts)})

    @property
    def skipped_total(self) -> int:
        return sum(self.skipped.values())

    @property
    def dead_total(self) -> int:
        return sum(self.dead.values())

    @property
    def success_percent(self) -> float:
        """1 − dead / in, in per cent; an empty run succeeded."""
        return 100.0 * (1 - self.dead_total / self.statements) if self.statements else 100.0

    def check_conservation(self) -> None:
        """Raises Unaccounted unless every statement is published, skipped or dead, and none of them twice."""
        negative = [f.name for f in fields(self) if _smallest(getattr(self, f.name)) < 0]
        accounted = self.published + self.skipped_total + self.dead_total
        if accounted != self.statements or negative:
            raise Unaccounted(
                f"the counts do not add up: {self.statements} statements in, {self.published} published + "
                f"{self.skipped_total} skipped + {self.dead_total} dead = {accounted}; please report this"
            )

    def check_threshold(self, percent: int) -> None:
        """Raises ThresholdBreached where fewer than `percent` per cent of the statements succeeded."""
        if self.success_percent < percent:
            reasons = ", ".join(f"{reason} {count}" for reason, count in most_frequent(self.dead, 3))
            raise ThresholdBreached(
                f"{self.success_percent:.1f} % of {self.statements} statements succeeded and {percent} % must "
                f"({reasons}); see the dead letters"
            )


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where to look at a result: what it is, and the URL, file or command."""

    label: str
    location: str


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run that came to its end. Times are seconds since the epoch; `seconds_by_stage` is in the stages' order.

    `kind`: `run`, `backfill` or `replay`. `read_until`: the time of the newest record that it or a run before it read.
    """

    run_id: str
    workflow: str
    started: float
    ended: float
    counts: RunCounts
    seconds_by_stage: Mapping[str, float] = field(default_factory=dict)
    where_to_look: tuple[Pointer, ...] = ()
    warnings: tuple[str, ...] = ()
    dry_run: bool = False
    kind: str = "run"
    read_until: float | None = None


def most_frequent(tally: Tally, at_most: int) -> list[tuple[str, int]]:
    """The names with the highest counts, highest first, then by name."""
    return sorted(tally.items(), key=lambda entry: (-entry[1], entry[0]))[:at_most]


def report(summary: RunSummary, exit_code: int = 0) -> dict[str, Any]:
    """The summary as JSON, whose keys stay as they are within a `version`.

    `version`, `run_id`, `workflow`, `kind` (`run`, `backfill` or `replay`), `read_until` (ISO: the time of the newest
    record that it or a run before it read; null where records have no time), `dry_run`, `exit_code`, `started` and
    `ended` (ISO, UTC), `seconds`, `seconds_by_stage`, `success_percent`, `where_to_look` ({label: location}),
    `warnings`, and `counts`: every field of RunCounts under its own name, each tally with its most frequent name first,
    and of the edges `edges_new`, `edges_merged`, `edges_unchanged`, `edges_replaced`, `edges_removed` and
    `column_edges`; `reasons`: what each reason in them means, and what to do about it.
    """
    return {
        "version": REPORT_VERSION,
        "run_id": summary.run_id,
        "workflow": summary.workflow,
        "kind": summary.kind,
        "read_until": None if summary.read_until is None else iso_time(summary.read_until),
        "dry_run": summary.dry_run,
        "exit_code": exit_code,
        "started": iso_time(summary.started),
        "ended": iso_time(summary.ended),
        "seconds": round(summary.ended - summary.started, 3),
        "seconds_by_stage": {stage: round(seconds, 3) for stage, seconds in summary.seconds_by_stage.items()},
        "success_percent": round(summary.counts.success_percent, 3),
        "counts": _counts_to_json(summary.counts),
        "reasons": {reason: meaning_of(reason) for reason in (*summary.counts.skipped, *summary.counts.dead)},
        "where_to_look": {pointer.label: pointer.location for pointer in summary.where_to_look},
        "warnings": list(summary.warnings),
    }


def write_report(path: Path, content: Mapping[str, Any]) -> None:
    """Writes the report whole or not at all. Raises ConfigError where the file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(content, stream, indent=2, ensure_ascii=False)
                stream.write("\n")
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(f"the report {path} cannot be written ({error.strerror}); choose another --report") from error


def _plus(one: Any, other: Any) -> Any:
    return dict(Counter(one) + Counter(other)) if isinstance(one, Mapping) else one + other


def _smallest(count: Any) -> int:
    if isinstance(count, EdgeCounts):
        return int(min(astuple(count)))
    return min(count.values(), default=0) if isinstance(count, Mapping) else int(count)


def _counts_to_json(counts: RunCounts) -> dict[str, Any]:
    edges = counts.edges
    return {
        **{f.name: _as_json(getattr(counts, f.name)) for f in fields(RunCounts) if f.name != "edges"},
        **{f"edges_{name}": getattr(edges, name) for name in _EDGE_ENDS},
        "edges_removed": edges.removed,
        "column_edges": edges.column_edges,
    }


def _as_json(count: Any) -> Any:
    return dict(most_frequent(count, len(count))) if isinstance(count, Mapping) else count


def total(parts: Iterable[RunCounts]) -> RunCounts:
    """The sum of the parts."""
    return sum(parts, start=RunCounts())


def loss_warnings(what: str, failures: Iterable[Failure]) -> tuple[str, ...]:
    """A warning of how many were given up on, and the first reason of it; none where none were."""
    locations = [failure.location for failure in failures]
    return (f"{len(locations)} {what} ({locations[0]})",) if locations else ()


@dataclass(frozen=True, slots=True)
class EventReport:
    """How many events were `sent`, why others could not be; which the receiver `refused`, by their runs; and of which
    producers edges of columns were left out, with how many. `unnamed`: the services whose namespace nothing tells;
    `without_database`: tables that are in no event, since names at their address have a database.
    """

    sent: int = 0
    failures: tuple[Failure, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    unnamed: frozenset[str] = frozenset()
    without_database: frozenset[str] = frozenset()

    def __add__(self, other: EventReport) -> EventReport:
        return EventReport(
            self.sent + other.sent,
            self.failures + other.failures,
            {**self.refused, **other.refused},
            {**self.left_out, **other.left_out},
            self.unnamed | other.unnamed,
            self.without_database | other.without_database,
        )

    def warnings(self) -> tuple[str, ...]:
        """What to tell a person of it."""
        found = list(loss_warnings("events could not be made or sent", self.failures))
        if self.refused:
            named = some_of(sorted(self.refused.values()))
            found.append(f"{len(self.refused)} OpenLineage events were refused, the others were sent: {named}")
        if self.left_out:
            named = some_of([f"{name} ({count})" for name, count in sorted(self.left_out.items())])
            total = sum(self.left_out.values())
            found.append(f"{total} edges of columns are more than the OpenLineage receiver takes in an event: {named}")
        if self.unnamed:
            found.append(
                f"OpenLineage's events call tables by their service where nothing tells its namespace: "
                f"{some_of(sorted(self.unnamed))}; name it in headwater.openLineage.namespaces"
            )
        if self.without_database:
            found.append(
                f"{len(self.without_database)} tables are in no OpenLineage event, since nothing tells their database: "
                f"{some_of(sorted(self.without_database))}; set headwater.defaults.database"
            )
        return tuple(found)


def some_of(names: Sequence[str]) -> str:
    """The first of several names, and how many more there are."""
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more
