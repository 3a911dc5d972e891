"""The one cursor over the tokens of a text, for all who read SQL without a tree.

Whose lexer found the tokens makes no difference: our own, which knows each dialect's strings and comments, or that of a
parser whose word is taken. Of `INSERT INTO "T" (a) SELECT 'x'` the words are
`insert into "" ( a ) select ""`: what stands in quotes is no keyword, whatever it is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TypeAlias

from ingestion.dialects import Dialect, fold, fold_column
from ingestion.dialects.lexing import DOLLAR, NAME, NUMBER, PUNCTUATION, STRING, WORD, Token, tokens

Edit: TypeAlias = tuple[int, int, str]
"""What a stretch of the text, from its start to before its end, is replaced by."""


DEEPEST_DEFINITION = 12
"""Columns that are made of columns, where a view's definition names them: of one made of itself there is no end."""
LONGEST_EXPANSION = 200_000
"""Characters that are written where names stand for what they are defined as: of ten that name each other, billions."""

_STAGE = "@"
"""Begins the name of a stage, which is one token without quotes: @stage/path."""


@dataclass(frozen=True)
class Code:
    """A text and its tokens, which are looked at by their index; beyond either end there are none."""

    text: str
    tokens: tuple[Token, ...]
    dialect: Dialect

    @classmethod
    def of(cls, text: str, dialect: Dialect, most: int | None = None) -> Code:
        """The tokens of a text; no more than so `most`, where the first ones tell all."""
        return cls(text, tuple(islice(tokens(text, dialect), most)), dialect)

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        """The words of all tokens: found once, as those who look for clauses ask for each of them many times."""
        return tuple(
            token.text.lower() if token.kind == WORD else token.text if token.kind == PUNCTUATION else ""
            for token in self.tokens
        )

    def word(self, index: int) -> str:
        """The token in lower case when it is a bare word, the character itself when it is punctuation, else ""."""
        return self._words[index] if 0 <= index < len(self.tokens) else ""

    def words(self, first: int, count: int) -> tuple[str, ...]:
        """So many words from an index on."""
        return tuple(self.word(index) for index in range(first, first + count))

    def stands(self, index: int, word: str, *others: str) -> bool:
        """Whether these words stand at an index, one behind the other."""
        return self.word(index) == word and (not others or self.words(index + 1, len(others)) == others)

    def name(self, index: int) -> str:
        """A bare or quoted name as its dialect folds it; "" where there is none."""
        token = self.tokens[index] if 0 <= index < len(self.tokens) else None
        if token is None or token.kind not in (WORD, NAME):
            return ""
        return fold(self.without_quotes(index), self.dialect, quoted=self.is_quoted(index))

    def column(self, index: int) -> str:
        """The name of a column, which folds by rules of its own."""
        return fold_column(self.without_quotes(index), self.dialect, quoted=self.is_quoted(index))

    def is_word(self, index: int) -> bool:
        """Whether a bare word stands at an index: a keyword or a name, which its place decides."""
        return 0 <= index < len(self.tokens) and self.tokens[index].kind == WORD

    def is_name(self, index: int) -> bool:
        """Whether what stands at an index may be a name: in quotes, or a word that begins with no digit."""
        return self.is_quoted(index) or (self.is_word(index) and not self.tokens[index].text[0].isdigit())

    def is_quoted(self, index: int) -> bool:
        """Whether a quoted name stands at an index."""
        token = self.tokens[index] if 0 <= index < len(self.tokens) else None
        return token is not None and token.kind == NAME and token.text[0] != _STAGE

    def is_string(self, index: int) -> bool:
        """Whether a string stands at an index."""
        return 0 <= index < len(self.tokens) and self.tokens[index].kind in (STRING, DOLLAR)

    def is_number(self, index: int) -> bool:
        """Whether a number stands at an index."""
        return 0 <= index < len(self.tokens) and self.tokens[index].kind == NUMBER

    def without_quotes(self, index: int) -> str:
        """The name at an index as it is written, or the content of the string there."""
        token = self.tokens[index]
        if token.kind == NAME and token.text[0] != _STAGE:
            opening = token.text[0]
            closing = "]" if opening == "[" else opening
            return token.text[1:-1].replace(closing * 2, closing)
        return string_content(token.text, self.dialect) if token.kind in (STRING, DOLLAR) else token.text

    def dotted_name(self, index: int) -> tuple[tuple[str, ...], int]:
        """The parts of the dotted name at an index, and the index after it."""
        parts: list[str] = []
        while name := self.name(index):
            parts.append(name)
            if self.word(index + 1) != ".":
                return tuple(parts), index + 1
            index += 2
        return tuple(parts), index

    def start_of_name(self, last: int) -> int:
        """The position of the first token of the dotted name that ends at `last`."""
        first = last
        while first >= 2 and self.word(first - 1) == ".":
            first -= 2
        return first

    def end_of(self, index: int) -> int:
        """Where the token at an index ends in the text."""
        return self.tokens[index].start + len(self.tokens[index].text) if index < len(self.tokens) else len(self.text)

    def start_of(self, index: int) -> int:
        """Where the token at an index starts in the text; the text's end beyond the last one."""
        return self.tokens[index].start if index < len(self.tokens) else len(self.text)

    def between(self, first: int, last: int) -> str:
        """The text from one token up to another, which is not part of it."""
        if first >= last:
            return ""
        return self.text[self.tokens[first].start : self.end_of(last - 1)]

    @cached_property
    def _partners(self) -> dict[int, int]:
        """Where each opening parenthesis is closed: found once, as a search from each would be quadratic in nesting."""
        partners: dict[int, int] = {}
        # Kept by hand: recursion would end at a thousand parentheses, and generated SQL has more.
        opened: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.kind != PUNCTUATION:
                continue
            if token.text == "(":
                opened.append(index)
            elif token.text == ")" and opened:
                partners[opened.pop()] = index
        return partners

    def closing(self, index: int) -> int:
        """The index of the parenthesis that closes the one at an index; beyond the end when nothing does."""
        return self._partners.get(index, len(self.tokens)) if self.word(index) == "(" else index

    @cached_property
    def _openings(self) -> dict[int, int]:
        return {closing: opening for opening, closing in self._partners.items()}

    def opening(self, index: int) -> int:
        """The index of the parenthesis that the one at an index closes; 0 when it closes none."""
        return self._openings.get(index, 0)

    def after(self, index: int) -> int:
        """The index behind a token, or behind the parentheses that it opens."""
        return self.closing(index) + 1

    def outside(self, first: int, last: int | None = None) -> Iterator[int]:
        """The indices from `first` on that no parentheses are around but those that `first` stands in."""
        end = len(self.tokens) if last is None else last
        index = first
        while index < end and self.word(index) != ")":
            yield index
            closing = self.closing(index)
            if index < closing < end:
                yield closing
            index = closing + 1

    def end_around(self, index: int) -> int:
        """Where the parentheses that a token stands in are closed; the text's end where it stands in none."""
        return max(self.outside(index)) + 1

    def find(self, first: int, wanted: frozenset[str], last: int | None = None) -> int:
        """The next of these words outside parentheses, CASE ... END counting as such; `last` if none comes before it.

        `last` is the end of the text if left out.
        """
        end = len(self.tokens) if last is None else last
        index = first
        cases = 0
        while index < end:
            word = self.word(index)
            if word == "(":
                index = self.closing(index)
            elif word == "case":
                cases += 1
            elif word == "end" and cases:
                cases -= 1
            elif word in wanted and not cases:
                return index
            index += 1
        return end

    def items(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The stretches between the commas of a list; those of an array or a document, `[a, b]`, are within one."""
        begin = index = first
        inside = 0
        while index < last:
            word = self.word(index)
            if word == "(":
                index = self.closing(index)
            elif word in ("[", "{"):
                inside += 1
            elif word in ("]", "}"):
                inside -= 1
            elif word == "," and inside <= 0:
                yield begin, index
                begin = index + 1
            index += 1
        if begin < last:
            yield begin, min(index, last)

    def edit(self, first: int, last: int, replacement: str = " ") -> Edit:
        """The edit that puts `replacement` where the tokens from first to last are."""
        return self.start_of(first), self.end_of(last), replacement


def with_edits(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made, which stand in order and apart from each other."""
    parts: list[str] = []
    done = 0
    for start, end, replacement in edits:
        parts += text[done:start], replacement
        done = end
    return "".join(parts) + text[done:]


def string_content(text: str, dialect: Dialect) -> str:
    """A string literal's content."""
    if text.startswith("$"):
        tag = text[: text.index("$", 1) + 1]
        return text[len(tag) : -len(tag)]
    if dialect.triple_quotes and text[:3] in ('"""', "'''"):
        return text[3:-3]
    content = text[1:-1].replace(text[0] * 2, text[0])
    return content.replace(f"\\{text[0]}", text[0]).replace("\\\\", "\\") if dialect.backslash_escapes else content
