"""One cursor over the code of a text, for all who read tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.dialects import Dialect, fold
from ingestion.dialects.lexing import NAME, PUNCTUATION, WORD, Token, tokens


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
        return _name_of(token, self.dialect)

    def dotted_name(self, index: int) -> tuple[tuple[str, ...], int]:
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


def _name_of(token: Token, dialect: Dialect) -> str:
    """What a bare or quoted name folds to."""
    if token.kind == WORD:
        return fold(token.text, dialect, quoted=False)
    opening = token.text[0]
    closing = "]" if opening == "[" else opening
    return fold(token.text[1:-1].replace(closing * 2, closing), dialect, quoted=True)
