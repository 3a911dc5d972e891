"""Texts whose end the source has cut: the last statement in them says nothing, unless it is plain what it was."""

from __future__ import annotations

from collections.abc import Sequence

from connectors.base import CUT
from ingestion.lexing import tokens
from ingestion.statements import SkipReason
from ingestion.statements.skip_reasons import BLOCKS

_TAKEN_APART = BLOCKS | {SkipReason.ROUTINE_DEFINITION}
"""Skipped as a whole, and read by their parts."""


def without_lost_end(read: Sequence[dict[str, object]], text: str, dialect: str) -> list[dict[str, object]]:
    """The rows that were `read` of a cut text, those of its last statement dead where its end may have told more."""
    last = max(_position(own) for own in read)
    return [_without_end(own, text, dialect) if _position(own) == last else own for own in read]


def _position(own: dict[str, object]) -> int:
    position = own.get("position", 0)
    return position if isinstance(position, int) else 0


def _without_end(own: dict[str, object], text: str, dialect: str) -> dict[str, object]:
    place: dict[str, object] = {name: own[name] for name in ("position", "step") if name in own}
    reason = own.get("skipped")
    if (reason == SkipReason.SELECT or own.get("dead")) and _only_reads(text, dialect):
        return {**place, "skipped": SkipReason.SELECT}
    if reason is None or reason == SkipReason.SELECT or reason in _TAKEN_APART:
        return {**place, "dead": CUT}
    return own


def _only_reads(text: str, dialect: str) -> bool:
    """Whether the last statement is a query that can write nothing any more: an INTO stands before its FROM."""
    depth, first, words = 0, "", set[str]()
    for token in tokens(text, dialect):
        word = token.text.lower()
        depth += (word == "(") - (word == ")")
        if depth:
            continue
        if word == ";":
            first, words = "", set()
        else:
            first = first or word
            words.add(word)
    return first in ("select", "sel", "with") and "from" in words and "into" not in words
