"""What every question gives: the values that were found, and what is missing from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Content = TypeVar("Content")


@dataclass(frozen=True, slots=True)
class Answer(Generic[Content]):
    """`content` is what was found; `cut` tells, a sentence each, what is missing and what to ask instead.

    An answer without a word in `cut` is all that there is: every rendering of one tells those words.
    """

    content: Content
    cut: tuple[str, ...] = ()
