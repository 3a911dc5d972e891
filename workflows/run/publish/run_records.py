"""What a run tells the catalog of itself: that it began, how it ended, what is dead still, what has no source.

Headwater's own catalog keeps all of it, for its page and whoever asks there. A real platform has a call for how the run
of an ingestion pipeline ended, and shows that beside the service: it is told where the configuration names the pipeline
(`ingestionPipelineFQN`), as the platform's own client does.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from connectors.catalog.contract.run_models import MOST_DEAD, MOST_WRITES, pipeline_state
from connectors.openmetadata.client import (
    WORKFLOW_RUNS,
    file_open_statements,
    file_workflow_run,
    latest_workflow_run,
)
from connectors.openmetadata.pipelines import file_pipeline_status
from ingestion.dialects import dialect_of
from ingestion.errors import LineageError, TargetDown, Unparsable
from ingestion.model.digests import digest
from ingestion.model.lineage import Json
from ingestion.model.namespaces import Mention, NamespaceDefaults
from ingestion.model.outcomes import Outcome, RunOutcome
from ingestion.parsing.targets import written_tables
from ingestion.resolution import Resolved, Resolver
from workflows.config import RunConfig
from workflows.counts import RunSummary, report
from workflows.run.resolve.entities import RelationEntities
from workflows.run.resolve.lineage import NOT_RESOLVED, SourceLineage
from workflows.runtime.logs import Redactor
from workflows.runtime.options import RunOptions
from workflows.state.dead_letters import DeadLetter
from workflows.state.runs import RecordedRun, message_of_error, outcome_of, outcome_of_error
from workflows.target import RunTarget

_MOST_NAMES = 20
_LONGEST = 4_000
_LONGEST_STATEMENT = 1_000_000
"""Characters: what is beyond any parser's limit is beyond what the catalog takes, and the other letters with it."""
_HAVE_A_SOURCE = frozenset({Outcome.UNCHANGED, Outcome.SUPERSEDED})
"""Of what ends so a source is known: an earlier run has told it, or another statement does."""
SourcelessWrites = Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]]
"""By the id and type of a table: why statements that fill it tell no source, and the names that nobody knows."""


# Tables of which a statement of the log tells no source.


def sourceless_writes(lineage: SourceLineage, entities: RelationEntities) -> SourcelessWrites:
    """Those of a shard."""
    source = lineage.source
    found: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for flow, of_flow in zip(source.flows, lineage.flows, strict=True):
        target, reason = entities.resolved.get(flow.target), of_flow.skipped
        if target is None or reason is None or reason in _HAVE_A_SOURCE:
            continue
        names = [
            str(source.log.relations[number].key)
            for number in sorted(flow.content.sources)
            if entities.status(number) in NOT_RESOLVED
        ]
        reasons = found.setdefault((target.id, target.type), {})
        reasons[reason] = tuple(dict.fromkeys((*reasons.get(reason, ()), *names)))[:_MOST_NAMES]
    return found


def add_writes(known: dict[tuple[str, str], dict[str, tuple[str, ...]]], others: SourcelessWrites) -> None:
    """Takes in those of another shard."""
    for key, reasons in others.items():
        of_table = known.setdefault(key, {})
        for reason, names in reasons.items():
            of_table[reason] = tuple(dict.fromkeys((*of_table.get(reason, ()), *names)))[:_MOST_NAMES]


# What a run tells.


def keeps_runs(target: RunTarget) -> bool:
    """Whether the catalog keeps the runs of workflows, and may be written to."""
    return target.writes and WORKFLOW_RUNS in target.platform.capabilities


@dataclass(frozen=True, slots=True)
class OpenStatements:
    """The statements of a workflow that are dead still, and the tables of which none tells a source.

    `whole`: what was told of other tables before holds no more.
    """

    dead: Sequence[DeadLetter]
    sourceless: SourcelessWrites
    whole: bool


@dataclass(frozen=True, slots=True)
class RunRecords:
    """Tells the catalog of one run. A catalog that does not take it costs the run nothing but a warning."""

    config: RunConfig
    options: RunOptions
    target: RunTarget
    started: float
    warnings: tuple[str, ...] = ()

    @contextmanager
    def around(self) -> Iterator[RunRecords]:
        """Tells that the run has begun, and where it does not come to its end, how it failed."""
        kind = {"kind": self.options.extent.kind.value}
        run = RecordedRun(self.options.run_id, self.config.workflow, self.started, None, RunOutcome.RUNNING, "", kind)
        shared = self._warnings_of_a_shared_name()
        self._file(run)
        try:
            yield replace(self, warnings=shared)
        except (Exception, KeyboardInterrupt) as error:
            if not isinstance(error, TargetDown):  # nobody is there to be told
                outcome, message = outcome_of_error(error), message_of_error(error)
                self._file(replace(run, ended=time.time(), outcome=outcome, message=message))
            raise

    def file_end(self, summary: RunSummary) -> tuple[str, ...]:
        """How the run ended; what to warn of."""
        outcome = outcome_of(summary.counts.success_percent, self.config.workflow_config.demanded_percent)
        times = self.started, summary.ended
        filed = self._file(RecordedRun(summary.run_id, self.config.workflow, *times, outcome, "", report(summary)))
        return (*self.warnings, *filed)

    def _warnings_of_a_shared_name(self) -> tuple[str, ...]:
        """That another configuration ran under the same name before, where nobody chose that.

        One that was edited is in its place still, and one that was moved reads the same.
        """
        own = _identity(self.config)
        if own is None or self.options.dry_run or not keeps_runs(self.target):
            return ()
        try:
            before = latest_workflow_run(self.target.platform.http, self.config.workflow)
        except LineageError:  # the first call that matters tells it
            return ()
        other = None if before is None else before.get("configuration")
        if before is None or other is None or any(other[key] == own[key] for key in own):
            return ()
        return (
            f"the run of {self.config.workflow} before this one was of another configuration ({before['replay']}): "
            "what was read, the runs and what is dead of the two are kept as one; give each a name of its own in "
            "headwater.state.workflow, or this one that name, if it was moved and changed",
        )

    def open_statements(self, given: OpenStatements, names: tuple[Resolver, NamespaceDefaults]) -> tuple[str, ...]:
        """All that is dead still, and the tables that have no source; what to warn of."""
        body = {
            "workflow": self.config.workflow,
            "dead": self._without_secrets(list(_dead_bodies(given.dead[-MOST_DEAD:], names))),
            "dead_total": len(given.dead),
            "writes": list(islice(_write_bodies(given.sourceless), MOST_WRITES)),
            "whole": given.whole,
        }
        return self._try_to(lambda: file_open_statements(self.target.platform.http, body))

    def _file(self, run: RecordedRun) -> tuple[str, ...]:
        """Headwater's own catalog is told all; another platform what its call for a pipeline's status takes."""
        http, pipeline = self.target.platform.http, self.config.ingestion_pipeline_fqn
        if self.options.dry_run or not self.target.writes:
            return ()
        if keeps_runs(self.target):
            return self._try_to(lambda: file_workflow_run(http, self._without_secrets(self._record(run))))
        if pipeline is None or run.ended is None:
            return ()
        return self._try_to(lambda: file_pipeline_status(http, pipeline, _status_of(run)))

    def _try_to(self, send: Callable[[], None]) -> tuple[str, ...]:
        try:
            send()
        except LineageError as error:
            return (f"the catalog did not take what the run told of itself: {error}",)
        return ()

    def _without_secrets(self, value: Any) -> Any:
        return _redact(value, Redactor(self.config.secrets))

    def _record(self, run: RecordedRun) -> Json:
        ended = {} if run.ended is None else {"ended": round(run.ended * 1000)}
        return {
            "workflow": run.workflow,
            "run": run.run_id,
            "service": self.config.source.service_name,
            "started": round(run.started * 1000),
            **ended,
            "outcome": run.outcome.value,
            "message": run.message[:_LONGEST],
            "report": dict(run.report),
            "replay": self.config.replay_command,
            "configuration": _identity(self.config),
        }


def _identity(config: RunConfig) -> dict[str, str] | None:
    """What tells a configuration from others: its place, and what it reads; None where it names its workflow."""
    if config.chosen_workflow is not None:
        return None
    redact = Redactor(config.secrets)
    location = f"{socket.gethostname()}:{Path(config.origin).absolute()}"
    return {
        "location": digest(location),
        "source": digest(redact(config.source.model_dump_json()), config.query_log_location or ""),
    }


def _redact(value: Any, redact: Redactor) -> Any:
    """The same without secrets, wherever they stand."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(key): _redact(one, redact) for key, one in value.items()}
    return [_redact(one, redact) for one in value] if isinstance(value, list) else value


def _status_of(run: RecordedRun) -> Json:
    counts = run.report.get("counts", {})
    dead = counts.get("dead", {})
    step = {
        "name": "Lineage",
        "records": counts.get("published", 0),
        "filtered": sum(counts.get("skipped", {}).values()),
        "errors": sum(dead.values()),
        "warnings": len(run.report.get("warnings", ())),
        "failures": [{"name": reason, "error": f"{count} statements"} for reason, count in [*dead.items()][:10]],
    }
    state = pipeline_state(run.outcome)
    started, ended = (round(at * 1000) for at in (run.started, run.ended or run.started))
    times = {"startDate": started, "timestamp": started, "endDate": ended}
    return {
        "runId": run.run_id,
        "pipelineState": state,
        **times,
        "status": [step] if counts else [],
    }


def _dead_bodies(dead: Sequence[DeadLetter], names: tuple[Resolver, NamespaceDefaults]) -> Iterator[Json]:
    """What was given up on, each with the tables that it was surely to fill."""
    resolver, defaults = names
    mentions = [list(_targets(letter, defaults)) for letter in dead]
    every = list(dict.fromkeys(mention for some in mentions for mention in some))
    found = zip(every, resolver.without_columns().resolve_all(every), strict=True)
    tables = {mention: one.entity.id for mention, one in found if isinstance(one, Resolved)}
    for letter, some in zip(dead, mentions, strict=True):
        at = letter.details.get("time")
        yield {
            "location": letter.location_text[:_LONGEST],
            "run": letter.run_id,
            "reason": letter.reason[:_LONGEST],
            "masked": str(letter.details.get("masked") or "")[:_LONGEST_STATEMENT],
            "dialect": str(letter.details.get("dialect") or ""),
            "error": str(letter.details.get("error") or "")[:_LONGEST],
            "fingerprint": letter.fingerprint or "",
            "writes": list(dict.fromkeys(tables[one] for one in some if one in tables)),
            **({"at": round(float(at) * 1000)} if at else {}),
        }


def _targets(letter: DeadLetter, defaults: NamespaceDefaults) -> Iterator[Mention]:
    """The tables that a dead statement names as what it fills: of a bare name the log has to say where it stands."""
    masked, dialect = letter.details.get("masked"), letter.details.get("dialect")
    if not masked or not dialect:
        return
    database, schema = (str(letter.details.get(key) or "") for key in ("database", "schema"))
    namespace = defaults.namespace(database, (schema,) if schema else ())
    try:
        names = written_tables(str(masked), dialect_of(str(dialect)))
    except Unparsable:
        return
    yield from ((name, namespace) for name in names)


def _write_bodies(writes: SourcelessWrites) -> Iterator[Json]:
    for (entity, kind), reasons in writes.items():
        for reason, names in reasons.items():
            yield {
                "entity": {"id": entity, "type": kind},
                "reason": reason,
                "names": [name[:_LONGEST] for name in names],
            }
