"""Statements that were given up on: what they did to the tables that they name is not known."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from connectors.catalog.causes.facts import TimeRange
from ingestion.errors import ConfigError
from ingestion.names.fqn import split_fqn

_WORDS = re.compile(r"\w+")


def unread_statements(file: Path, tables: Iterable[str], within: TimeRange) -> Iterator[str]:
    """A sentence for each table (full name) that dead letters of that time name, with their reasons.

    A letter without a time counts as well. Raises ConfigError for a file that is none of dead letters.
    """
    letters = [letter for letter in _letters(file) if not letter[0] or within.holds(letter[0])]
    for table in sorted(tables):
        name = split_fqn(table)[-1].casefold()
        reasons = Counter(reason for _, reason, words in letters if name in words)
        if reasons:
            of_what = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            yield f"statements that name {table} could not be read ({of_what}): what they did is not told"


def _letters(file: Path) -> Iterator[tuple[int, str, frozenset[str]]]:
    """Of each letter its time (milliseconds, 0 where it has none), its reason, and the words of its masked text."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        for line in lines:
            letter = json.loads(line)
            words = frozenset(_WORDS.findall(str(letter.get("masked") or "").casefold()))
            yield round(float(letter.get("time") or 0) * 1000), str(letter["reason"]), words
    except OSError as error:
        raise ConfigError(f"--dead-letters {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f"--dead-letters {file} is no file of dead letters, as a run writes it") from None
