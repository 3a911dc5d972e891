"""Which semicolons stand inside a block (BEGIN...END, a routine's body, a script's IF or LOOP) and end nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.dialects.definition import Dialect, DollarQuotes, Separator, keywords
from ingestion.lexing import NAME, tokens

_TRANSACTION = keywords(
    "; tran transaction work name deferred immediate exclusive concurrent isolation read not distributed dialog"
) | {""}
_ROUTINE = keywords("procedure proc function trigger package event task")
_BEFORE_ROUTINE = keywords("; is as declare member static constructor")
_NOT_ROUTINE = keywords(
    "table view index schema database user role login sequence synonym stage stream pipe warehouse policy"
)
_CONTROL = keywords("if while loop for repeat")
# After these a word is a column's name even where it is spelled BEGIN or END.
_BEFORE_COLUMN = keywords(", . = < ( select and or by on where not")


def statement_ends(text: str, dialect: Dialect, start: int, end: int) -> Iterator[int]:
    """The positions, between `start` and `end`, of the semicolons that end a statement."""
    blocks = _Blocks(dialect)
    before, word, position = "", "", start
    for token in tokens(text, dialect, start, end):
        after = token.text.lower() if token.kind != NAME else '"'
        if word and blocks.see(before, word, after):
            yield position
            before = ""
        elif word:
            before = word
        word, position = after, token.start
    if word and blocks.see(before, word, ""):
        yield position


@dataclass(slots=True)
class _Blocks:
    """What is open at a point of a script; `see` is told each token with its neighbours."""

    dialect: Dialect
    open: list[str] = field(default_factory=list)
    parentheses: int = 0
    creating: bool = False
    routine: bool = False
    body_awaited: bool = False  # an IS or AS will open a routine's declarations
    label: str = ""  # what stands before the colon of `name: BEGIN`
    whole_batch: bool = False  # T-SQL: a routine reaches to the end of its batch

    @property
    def _transact(self) -> bool:
        return self.dialect.separator is Separator.GO

    def see(self, before: str, word: str, after: str) -> bool:
        """Takes one token; True when it is a semicolon that ends the statement."""
        if word == ";" and self._transact and after[:1] == "'":
            return False
        if word == ";":
            self.body_awaited = False
            if self.open or self.whole_batch:
                return False
            self._reset()
            return True
        if word in "()":
            self.parentheses += 1 if word == "(" else -1
        elif not before:
            self.label = word if after == ":" else ""
            self._first(word, after)
        elif before == ":" and self.label:
            self.label = ""
            self._first(word, after)
        elif before != "." and after != ".":
            self._next(before, word, after)
        return False

    def _reset(self) -> None:
        self.parentheses = 0
        self.creating = self.routine = self.body_awaited = False

    def _first(self, word: str, after: str) -> None:
        if word in ("create", "alter"):
            self.creating = True
        elif word == "begin":
            if self.dialect.dollar_quotes is not DollarQuotes.TAGGED and after not in _TRANSACTION:
                self.open.append("begin")
        elif (word == "declare" and self.dialect.declare_opens_block) or (
            word in _CONTROL and self.dialect.control_opens_block
        ):
            self.open.append(word)

    def _next(self, before: str, word: str, after: str) -> None:
        if self.creating and word in _NOT_ROUTINE:
            self.creating = False
        elif (word in _ROUTINE or (before, word) == ("type", "body")) and (
            self.creating or self._in_declarations(before) or before == "with"
        ):
            self.creating, self.routine = False, True
            self.body_awaited = self.dialect.declarations_after_is and word != "trigger"
            self.whole_batch = self._transact
        elif self.body_awaited and word in ("is", "as") and not self.parentheses:
            self.body_awaited = False
            if after not in ("language", "external", "mle"):
                self.open.append("declare")
        elif not self.open:
            opening = ("begin", "declare", "compound") if self.routine else ("begin",) if self._transact else ()
            if word in opening and before not in _BEFORE_COLUMN and after not in _TRANSACTION:
                self.open.append(word)
        elif word == "case" or before not in _BEFORE_COLUMN:
            self._inside(before, word, after)

    def _in_declarations(self, before: str) -> bool:
        return bool(self.open) and self.open[-1] == "declare" and before in _BEFORE_ROUTINE

    def _inside(self, before: str, word: str, after: str) -> None:
        top = self.open[-1]
        if word == "begin":
            if top == "declare":
                self.open[-1] = "begin"
            elif after not in _TRANSACTION:
                self.open.append("begin")
        elif word == "case" and before != "end":
            self.open.append("case")
        elif word == "end":
            if after not in _CONTROL or after == top:
                self.open.pop()
        elif word == self.open[0] and word in _CONTROL and before in (";", "then", "else", "do", "loop", "begin"):
            self.open.append(word)
