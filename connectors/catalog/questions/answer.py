"""What every question is asked with and gives: the moment, the values that were found, what is missing from them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from ingestion.model.moments import LAST_DATE
from ingestion.model.witnesses import WitnessFilter

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class When:
    """`as_of` in milliseconds since the epoch, None for now; `days` of observations, 0 for any age, None for 30.

    `witnesses`: whose edges count, None for everybody's.
    """

    as_of: int | None = None
    days: int | None = None
    witnesses: WitnessFilter | None = None


@dataclass(frozen=True, slots=True)
class Answer(Generic[Content]):
    """`content` is what was found; `cut` tells, a sentence each, what is missing and what to ask instead.

    An answer without a word in `cut` is all that there is: every rendering of one tells those words.
    """

    content: Content
    cut: tuple[str, ...] = ()


def moment_text(at: int) -> str:
    """A time in milliseconds, in UTC to the second; beyond what a calendar writes the number itself."""
    if not 0 <= at <= LAST_DATE:
        return f"{at} ms"
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds")
