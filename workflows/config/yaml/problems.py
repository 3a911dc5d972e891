"""What is wrong with a configuration: the file, the line, the field, and what to write instead.

No value of the configuration is ever part of a problem: a value may be a secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One thing to correct; `line` is 1-based, None where the whole file is meant."""

    origin: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        place = self.origin if self.line is None else f"{self.origin}:{self.line}"
        return ": ".join(part for part in (place, self.field, self.message) if part)


class InvalidConfig(ConfigError):
    """The configuration cannot be used; as text it is its first problem on one line, `problems` has all."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        first, others = self.problems[0], len(self.problems) - 1
        return f"{first} (and {others} more: `ingest validate` lists all)" if others else str(first)
