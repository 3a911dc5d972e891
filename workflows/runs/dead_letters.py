"""Statements that were given up on, kept where a person can look at them: masked, with the reason and their place."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ingestion.errors import ConfigError, Templated
from ingestion.isolation import Failure
from ingestion.lexing.templates import template_in_code, template_in_quotes
from workflows.state.dead_letters import DeadLetter
from workflows.state.templates import ParserSettings
from workflows.templates.parsing import ParsedTemplate

_COLUMNS = ("source_id", "position", "step", "fingerprint", "dead", "dialect", "time", "digest")


@dataclass(frozen=True, slots=True)
class DeadLetterWriter:
    """Writes the letters of one run; what cannot be masked has no text in it.

    `failures`: what went wrong with templates (by fingerprint) that were parsed.
    """

    run_id: str
    templates: Mapping[str, ParsedTemplate]
    settings: ParserSettings
    failures: Mapping[str, Failure] = field(default_factory=dict)

    def letters(self, statements: DataFrame, dead: Mapping[str, str]) -> Iterator[DeadLetter]:
        """A letter for every dead statement; `dead` has the reasons by fingerprint."""
        gone = statements.where(F.col("dead").isNotNull() | F.col("fingerprint").isin(list(dead)))
        for row in gone.select(*_COLUMNS).orderBy("file", "line", "position", "step").toLocalIterator():
            yield DeadLetter(
                place=(row["source_id"], row["position"], row["step"]),
                reason=row["dead"] or dead[row["fingerprint"]],
                run_id=self.run_id,
                digest=row["digest"],
                fingerprint=row["fingerprint"],
                details={**self._details(row["fingerprint"]), "dialect": row["dialect"], "time": row["time"] or None},
            )

    def _details(self, fingerprint: str | None) -> dict[str, object]:
        template = self.templates.get(fingerprint or "")
        failure = self.failures.get(fingerprint or "")
        limits = self.settings.limits
        error = failure.place if failure is not None else _template_of(template)
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


def read_again(statements: DataFrame, source_ids: Collection[str]) -> frozenset[str]:
    """Those of the places at which this run has read a record."""
    if not source_ids:
        return frozenset()
    found = statements.where(F.col("source_id").isin(sorted(source_ids))).select("source_id").distinct()
    return frozenset(row["source_id"] for row in found.toLocalIterator())


def check_dead_letters(file: Path) -> None:
    """Raises ConfigError where dead letters could not be written to the file: better now than after the work."""
    with _writable(file, "a"):
        pass


def write_dead_letters(file: Path, letters: Iterable[DeadLetter]) -> None:
    """Writes a JSON line for every open letter, in place of what an earlier run left.

    Raises ConfigError where the file cannot be written.
    """
    with _writable(file, "w") as out:
        for letter in letters:
            source_id, position, _step = letter.place
            line = {"source_id": source_id, "statement": position + 1, "reason": letter.reason, **letter.details}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


@contextmanager
def _writable(file: Path, mode: str) -> Iterator[IO[str]]:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open(mode, encoding="utf-8") as out:
            yield out
    except OSError as error:
        raise ConfigError(f"dead letters cannot be written to {file}: set headwater.deadLetters") from error
