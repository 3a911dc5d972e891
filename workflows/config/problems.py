"""What is wrong with a configuration: the file, the line, the field, and what to write instead.

No value of the configuration is ever part of a problem: a value may be a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from ingestion.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Problem:
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

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        first, others = self.problems[0], len(self.problems) - 1
        return f"{first} (and {others} more: `ingest validate` lists all)" if others else str(first)


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that `name` was probably meant to be; how words are joined and cased does not count."""
    plain = {_plain(candidate): candidate for candidate in known}
    close = get_close_matches(_plain(name), plain, n=1, cutoff=likeness)
    return plain[close[0]] if close else None


def nearest_file(wanted: Path) -> str:
    """`; did you mean f?` for a file of a similar name in the same directory, or nothing."""
    try:
        names = [entry.name for entry in wanted.parent.iterdir()]
    except OSError:
        return ""
    near = nearest(wanted.name, names, likeness=0.75)  # suffixes alone make names alike
    return f"; did you mean {wanted.with_name(near)}?" if near else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean x?`, or nothing where no known name is near."""
    near = nearest(name, known)
    return f"; did you mean {near}?" if near else ""


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
