"""The last stage of a run: what the next one need not do again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ingestion.isolation import Failure
from workflows.reading.reader import Statements, files_done
from workflows.report.counts import RunCounts
from workflows.runs.dead_letters import DeadLetterWriter, read_again
from workflows.state.workflow_state import RunCheckpoint, WorkflowState
from workflows.templates.parsing import ParsedTemplate


@dataclass(frozen=True, slots=True)
class LineageResult:
    """What came of the statements: counts, warnings, and what became of their templates (by fingerprint).

    `dead` has the reasons, `failures` those of the templates that had been parsed; of the `succeeded` no statement is
    dead.
    """

    counts: RunCounts = field(default_factory=RunCounts)
    warnings: tuple[str, ...] = ()
    templates: Mapping[str, ParsedTemplate] = field(default_factory=dict)
    dead: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, Failure] = field(default_factory=dict)
    succeeded: frozenset[str] = frozenset()


def checkpoint_of(statements: Statements, lineage: LineageResult, memory: WorkflowState, run_id: str) -> RunCheckpoint:
    """What to commit of a run that read `statements`, beside what `memory` has of earlier ones.

    Its letters are made as they are filed, while Spark still has the statements.
    """
    counts = lineage.counts
    checkpoint = RunCheckpoint(
        succeeded=lineage.succeeded,
        to_retry=counts.edges.rejected + counts.unresolved + counts.ambiguous,
        files_there=[file.path for file in statements.listing.there],
        files_read=files_done(statements) if statements.listing.to_read else {},
    )
    if not statements.counts.statements:
        return checkpoint
    frame, last = statements.frame, statements.survey.last
    letters = DeadLetterWriter(run_id, lineage.templates, memory.parsing, lineage.failures)
    any_dead = lineage.dead or statements.counts.dead
    return replace(
        checkpoint,
        segments=statements.segments(),
        newest=last[0] if last is not None else None,
        source_id=last[1] if last is not None else "",
        letters=letters.letters(frame, lineage.dead) if any_dead else (),
        read_again=read_again(frame, {letter.place[0] for letter in memory.letters}),
    )
