"""What the next run need not do again, and the statements that were given up on."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from connectors.private_files import private_file
from ingestion.dialects.unfilled_templates import template_in_code, template_in_quotes
from ingestion.errors import ConfigError, Templated
from ingestion.model.isolation import Failure
from ingestion.model.outcomes import meaning_of
from ingestion.parsing.templates import ParsedTemplate
from workflows.counts import RunCounts
from workflows.run.read.reader import Statements, files_done
from workflows.state.dead_letters import DeadLetter
from workflows.state.templates import ParserSettings
from workflows.state.workflow_state import RunCheckpoint, WorkflowState

_COLUMNS = ("source_id", "position", "step", "fingerprint", "dead", "dialect", "time", "digest", "database", "schema")


# Statements that were given up on, kept where a person can look at them: masked, with the reason and their location.


@dataclass(frozen=True, slots=True)
class _DeadLetterWriter:
    """Writes the letters of one run; what cannot be masked has no text in it.

    `failures`: what went wrong with templates (by fingerprint) that were parsed.
    """

    run_id: str
    templates: Mapping[str, ParsedTemplate]
    settings: ParserSettings
    failures: Mapping[str, Failure] = field(default_factory=dict)

    def dead_letters(self, statements: DataFrame, dead: Mapping[str, str]) -> Iterator[DeadLetter]:
        """A letter for every dead statement; `dead` has the reasons by fingerprint."""
        gone = statements.where(F.col("dead").isNotNull() | F.col("fingerprint").isin(list(dead)))
        for row in gone.select(*_COLUMNS).orderBy("file", "line", "position", "step").toLocalIterator():
            yield DeadLetter(
                location=(row["source_id"], row["position"], row["step"]),
                reason=row["dead"] or dead[row["fingerprint"]],
                run_id=self.run_id,
                digest=row["digest"],
                fingerprint=row["fingerprint"],
                details={
                    **self._details(row["fingerprint"]),
                    "dialect": row["dialect"],
                    "time": row["time"] or None,
                    **{name: row[name] for name in ("database", "schema") if row[name]},
                },
            )

    def _details(self, fingerprint: str | None) -> dict[str, object]:
        template = self.templates.get(fingerprint or "")
        failure = self.failures.get(fingerprint or "")
        limits = self.settings.limits
        error = failure.location if failure is not None else _template_of(template)
        return {
            **({"error": error} if error else {}),
            "masked": template.masked if template is not None else "",
            "tier": template.tier if template is not None else "",
            "limits": {"seconds": limits.seconds, "memory_mb": limits.memory_mb, "bytes": limits.max_bytes},
            "version": self.settings.version,
        }


def _template_of(parsed: ParsedTemplate | None) -> str:
    """Which template was left in a statement, and in which line of its masked text."""
    if parsed is None or parsed.dead != Templated.code:
        return ""
    masked, dialect = parsed.masked, parsed.dialect
    left = template_in_code(masked, dialect) or template_in_quotes(masked, dialect)
    return f"line {left.line}: {left.expression}" if left is not None else ""


def check_dead_letters(file: Path) -> None:
    """Raises ConfigError where dead letters could not be written to the file: better now than after the work."""
    with _writable(file, "a"):
        pass


def write_dead_letters(file: Path, dead_letters: Iterable[DeadLetter]) -> None:
    """Writes a JSON line for every open letter, in place of what an earlier run left.

    Raises ConfigError where the file cannot be written.
    """
    with _writable(file, "w") as out:
        for dead_letter in dead_letters:
            source_id, position, _step = dead_letter.location
            ending = {"reason": dead_letter.reason, "meaning": meaning_of(dead_letter.reason)}
            line = {"source_id": source_id, "statement": position + 1, **ending, **dead_letter.details}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


@contextmanager
def _writable(file: Path, mode: str) -> Iterator[IO[str]]:
    try:
        with private_file(file).open(mode, encoding="utf-8") as out:
            yield out
    except OSError as error:
        raise ConfigError(f"dead letters cannot be written to {file}: set headwater.deadLetters") from error


# What the next run need not do again.


@dataclass(frozen=True, slots=True)
class LineageResult:
    """What came of the statements: counts, warnings, and what became of their templates (by fingerprint).

    `dead` has the reasons, `failures` those of the templates that had been parsed; of the `succeeded` no statement is
    dead. `sourceless`: by the id and type of a table, why statements that fill it tell no source, each with the names
    that nobody knows.
    """

    counts: RunCounts = field(default_factory=RunCounts)
    warnings: tuple[str, ...] = ()
    templates: Mapping[str, ParsedTemplate] = field(default_factory=dict)
    dead: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, Failure] = field(default_factory=dict)
    succeeded: frozenset[str] = frozenset()
    sourceless: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


def checkpoint_of(statements: Statements, lineage: LineageResult, state: WorkflowState, run_id: str) -> RunCheckpoint:
    """What to commit of a run that read `statements`, beside what `state` has of earlier ones.

    Its letters are made as they are filed, while Spark still has the statements.
    """
    counts, files = lineage.counts, statements.files
    done = files_done(statements) if files.to_read else {}
    read_in_part = {file.path for file in files.to_read} - done.keys()
    checkpoint = RunCheckpoint(
        succeeded=lineage.succeeded,
        to_retry=counts.edges.rejected + counts.unresolved + counts.ambiguous,
        files_known=[file.path for file in files.there if file.path not in read_in_part],
        files_read=done,
    )
    if not statements.counts.statements:
        return checkpoint
    frame, last = statements.frame, statements.statistics.last
    writer = _DeadLetterWriter(run_id, lineage.templates, state.parsing, lineage.failures)
    any_dead = lineage.dead or statements.counts.dead
    return replace(
        checkpoint,
        segments=statements.segments(),
        newest=last[0] if last is not None else None,
        source_id=last[1] if last is not None else "",
        dead_letters=writer.dead_letters(frame, lineage.dead) if any_dead else (),
        read_again=_read_again(frame, {dead_letter.location[0] for dead_letter in state.dead_letters}),
    )


def _read_again(statements: DataFrame, source_ids: Collection[str]) -> frozenset[str]:
    """Those of these records that this run has read."""
    if not source_ids:
        return frozenset()
    found = statements.where(F.col("source_id").isin(sorted(source_ids))).select("source_id").distinct()
    return frozenset(row["source_id"] for row in found.toLocalIterator())
