"""What a routine's body comes to: statements in order, calls of other routines, and what could not be followed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingestion.dialects import Dialect, fold
from ingestion.lexical_patterns import DOLLAR
from ingestion.lexing import NAME, PUNCTUATION, STRING, WORD, Token, tokens

_PREFIXES = frozenset({"n", "e", "r", "q", "nq"})
DYNAMIC = "dynamic_sql"
"""Why a step has no statement: the text that it runs is put together as it runs."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a body does: runs a statement (`text`), calls a routine (`calls`), or what `problem` says.

    In `text` the routine's variables are parameters (`:name`), or the query that they were filled from.
    """

    text: str = ""
    calls: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A text and its tokens, which are looked at by their index."""

    text: str
    tokens: tuple[Token, ...]
    dialect: Dialect

    @classmethod
    def of(cls, text: str, dialect: Dialect) -> Code:
        """The tokens of a text."""
        return cls(text, tuple(tokens(text, dialect)), dialect)

    def word(self, index: int) -> str:
        """The token in lower case when it is a bare word, the character itself when it is punctuation, else ""."""
        if not 0 <= index < len(self.tokens):
            return ""
        token = self.tokens[index]
        if token.kind == WORD:
            return token.text.lower()
        return token.text if token.kind == PUNCTUATION else ""

    def words(self, first: int, count: int) -> tuple[str, ...]:
        """So many words from an index on."""
        return tuple(self.word(index) for index in range(first, first + count))

    def name(self, index: int) -> str:
        """A bare or quoted name as its dialect folds it; "" where there is none."""
        token = self.tokens[index] if 0 <= index < len(self.tokens) else None
        if token is None or token.kind not in (WORD, NAME):
            return ""
        return name_of(token, self.dialect)

    def dotted(self, index: int) -> tuple[tuple[str, ...], int]:
        """The parts of the dotted name at an index, and the index after it."""
        parts: list[str] = []
        while name := self.name(index):
            parts.append(name)
            if self.word(index + 1) != ".":
                return tuple(parts), index + 1
            index += 2
        return tuple(parts), index

    def end_of(self, index: int) -> int:
        """Where the token at an index ends in the text."""
        return self.tokens[index].start + len(self.tokens[index].text)

    def start_of(self, index: int) -> int:
        """Where the token at an index starts in the text; the text's end beyond the last one."""
        return self.tokens[index].start if index < len(self.tokens) else len(self.text)

    def between(self, first: int, last: int) -> str:
        """The text from one token up to another, which is not part of it."""
        if first >= last:
            return ""
        return self.text[self.tokens[first].start : self.end_of(last - 1)]

    def closing(self, index: int) -> int:
        """The index of the parenthesis that closes the one at an index; beyond the end when nothing does."""
        depth = 0
        for place in range(index, len(self.tokens)):
            word = self.word(place)
            depth += (word == "(") - (word == ")")
            if not depth:
                return place
        return len(self.tokens)

    def find(self, first: int, wanted: frozenset[str], last: int | None = None) -> int:
        """The next of these words outside parentheses, CASE ... END counting as such; `last` if none comes before it.

        `last` is the end of the text if left out.
        """
        end = len(self.tokens) if last is None else last
        place = first
        cases = 0
        while place < end:
            word = self.word(place)
            if word == "(":
                place = self.closing(place)
            elif word == "case":
                cases += 1
            elif word == "end" and cases:
                cases -= 1
            elif word in wanted and not cases:
                return place
            place += 1
        return end

    def items(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The stretches between the commas of a list."""
        begin = place = first
        while place < last:
            if self.word(place) == "(":
                place = self.closing(place)
            elif self.word(place) == ",":
                yield begin, place
                begin = place + 1
            place += 1
        if begin < last:
            yield begin, min(place, last)


def name_of(token: Token, dialect: Dialect) -> str:
    """What a bare or quoted name folds to."""
    if token.kind == WORD:
        return fold(token.text, False, dialect)
    opening = token.text[0]
    closing = "]" if opening == "[" else opening
    return fold(token.text[1:-1].replace(closing * 2, closing), True, dialect)


def constant(code: Code, first: int, last: int) -> str | None:
    """The text that string literals from `first` to `last` make, joined by || or +; None where it is not constant."""
    pieces: list[str] = []
    for place in range(first, last):
        token = code.tokens[place]
        if token.kind in (STRING, DOLLAR):
            freely = code.dialect.q_quotes and code.word(place - 1) in ("q", "nq")
            pieces.append(token.text[2:-2] if freely else unquoted(token.text, code.dialect))
        elif token.kind == WORD and token.text.lower() in _PREFIXES and place + 1 < last:
            continue
        elif token.text not in ("|", "+", "(", ")"):
            return None
    return "".join(pieces) if pieces else None


def unquoted(text: str, dialect: Dialect) -> str:
    """A string literal's content."""
    if text.startswith("$"):
        tag = text[: text.index("$", 1) + 1]
        return text[len(tag) : -len(tag)]
    if dialect.triple_quotes and text[:3] in ('"""', "'''"):
        return text[3:-3]
    content = text[1:-1].replace(text[0] * 2, text[0])
    return content.replace(f"\\{text[0]}", text[0]).replace("\\\\", "\\") if dialect.backslash_escapes else content


def without_repetition(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps that say the same twice in a row (both branches of an IF) once."""
    kept: list[Step] = []
    for step in steps:
        if not kept or kept[-1] != step:
            kept.append(step)
    return tuple(kept)
