"""What sqlglot says of a text that it cannot read: its own words and the place, and of the text keywords alone."""

from __future__ import annotations

import re

from sqlglot.errors import ParseError
from sqlglot.tokens import Tokenizer

from ingestion.errors import Unparsable

_EXPECTATION = re.compile(r"(Expect(?:ed|ing) [A-Za-z_() ,]{1,60}?)(?: but got .*)?", re.DOTALL)
_MISSING = re.compile(r"Required keyword: '(\w+)' missing for <class '(?:\w+\.)*(\w+)'>")
_KEYWORDS = frozenset(word for keyword in Tokenizer.KEYWORDS for word in keyword.split())
_SIGN = re.compile(r"[^\w\s'\"`]{1,3}")


def explanation(error: Unparsable, text: str) -> Unparsable:
    """The refusal with what the parser expected and where in `text`, as far as it tells; without a word of the text.

    A place is given only where it is one of `text` itself, and not of a rewritten or nested part of it.
    """
    cause = error.__cause__
    found = cause.errors[0] if isinstance(cause, ParseError) and cause.errors else None
    if found is None:
        return Unparsable(str(error), str(error))
    before, word = str(found["start_context"] or ""), str(found["highlight"] or "")
    words = f"{_words_of(str(found['description']))}{_word_at(word)}"
    return Unparsable(str(error), words, *_place(text, (int(found["line"]), int(found["col"])), before + word, word))


def _words_of(description: str) -> str:
    expectation = _EXPECTATION.fullmatch(description)
    if expectation is not None:
        return expectation[1][0].lower() + expectation[1][1:]
    missing = _MISSING.fullmatch(description)
    if missing is not None:
        return f"{missing[1].replace('_', ' ')} missing for {missing[2]}"
    return "unexpected token"


def _word_at(highlight: str) -> str:
    """A keyword or a sign as it stands there; a name may be a literal whose quotes were read wrongly, and stays."""
    word = highlight.upper()
    if word in _KEYWORDS or _SIGN.fullmatch(word):
        return f" at {word}"
    return ""


def _place(text: str, end: tuple[int, int], context: str, word: str) -> tuple[int, int]:
    """The line and column where `word` begins, which ends at `end`; zeros where `context` does not end there."""
    line, column = end
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    if not word or not 0 < line <= len(starts):
        return 0, 0
    if not text[: starts[line - 1] + column].endswith(context):
        return 0, 0
    return line, column - len(word) + 1
