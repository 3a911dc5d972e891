"""What a workflow's run tells a catalog of itself."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from connectors.catalog.contract.bulk_models import End
from connectors.catalog.contract.models import Count, Id, Many, Millis, Model, Name, Text, Word
from ingestion.model.outcomes import RunOutcome

MOST_DEAD, MOST_WRITES = 2_000, 20_000
"""Statements that were given up on, and tables without a source, that a run tells of at most."""
RunId = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern="^[0-9A-Za-z-]+$")]
Line = Annotated[str, StringConstraints(max_length=4_000)]


class DeadStatement(Model):
    """A statement that was given up on in a `run`, and is still; `masked` is its text without literals.

    `location`: the file and line of its record, and which of its statements it is. `writes`: the tables that it was to
    fill, by their ids.
    """

    location: Line
    run: RunId
    reason: Line
    masked: Text = ""
    dialect: Word = ""
    at: Millis | None = None
    error: Line = ""
    fingerprint: Word = ""
    writes: Annotated[Many[Id], Field(max_length=100)] = []


class WriteWithoutSource(Model):
    """A table that a statement fills of which no source could be told, why not, and the names that nobody knows."""

    entity: End
    reason: Word
    names: Annotated[Many[Line], Field(max_length=100)] = []


class OpenStatements(Model):
    """The statements of a workflow that are dead still, `dead_total` in all; and what its newest run could not tell.

    With `whole` what was told of other tables before is gone.
    """

    workflow: Name
    dead: Annotated[Many[DeadStatement], Field(max_length=MOST_DEAD)]
    dead_total: Count
    writes: Annotated[Many[WriteWithoutSource], Field(max_length=MOST_WRITES)] = []
    whole: bool = False


_PIPELINE_STATES = {
    RunOutcome.RUNNING: "running",
    RunOutcome.DONE: "success",
    RunOutcome.BELOW_THRESHOLD: "partialSuccess",
}
"""OpenMetadata's words for how a run ended; all others failed."""


def pipeline_state(outcome: RunOutcome) -> str:
    """OpenMetadata's word for the outcome of a run."""
    return _PIPELINE_STATES.get(outcome, "failed")


class Configuration(Model):
    """What tells the configuration of a run from others, as digests: the `location` of its file, and what it reads."""

    location: Word
    source: Word


class WorkflowRun(Model):
    """A run that has begun, or ended: `report` has its counts, by the keys that `ingest run --report` writes.

    `replay` is the command that reads its dead statements again. `configuration` is left out where the workflow's name
    was chosen: by whom else it is used is then nobody's mistake.
    """

    workflow: Name
    run: RunId
    service: Word = ""
    started: Millis
    ended: Millis | None = None
    outcome: RunOutcome
    message: Line = ""
    report: dict[str, Any] = {}
    replay: Line = ""
    configuration: Configuration | None = None


class Replay(Model):
    """Which dead statement of a workflow to read again; without a `location` all of them."""

    workflow: Name
    location: Annotated[Line, StringConstraints(min_length=1)] | None = None
