"""Where T-SQL's statements begin: its semicolons are optional, and most logs have none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.lexing import WORD, tokens

_VERBS = keywords(
    "select insert update delete merge truncate create alter drop declare set exec execute print use if while begin"
    " commit rollback return grant revoke deny raiserror throw waitfor open close deallocate bulk"
)
_VERB_ON_LINE = re.compile(rf"\n[^\S\n]*+({'|'.join(sorted(_VERBS))})\b", re.IGNORECASE)
_INSERT_OF_QUERY = re.compile(
    r"\s*+insert\b(?:(?!\b(?:select|values|exec(?:ute)?|default)\b)[\s\S])*?\n[^\S\n]*+select\b", re.IGNORECASE
)
# After these a verb goes on with the statement that it stands in.
_GOES_ON_AFTER = keywords(
    ", ( = . then for on of after as union all except intersect else when and or not with grant revoke deny instead"
)
_BODIES = keywords("if while")
_ROUTINES = keywords("procedure proc function trigger")


def unseparated_starts(text: str, dialect: Dialect, start: int, end: int) -> Iterator[int]:
    """The positions of the verbs that begin a statement at the start of a line, after the first; none in a routine."""
    on_lines = _VERB_ON_LINE.findall(text, start, end)
    if not on_lines or (len(on_lines) == 1 and _INSERT_OF_QUERY.match(text, start, end)):
        return
    reading = _SeparatorReading()
    after = start
    for token in tokens(text, dialect, start, end):
        word = token.text.lower() if token.kind in (WORD, "punctuation") else '"'
        if reading.verb in ("create", "alter") and word in _ROUTINES:
            return
        begins_line = "\n" in text[after : token.start]
        if reading.begins(word, begins_line=begins_line):
            yield token.start
        after = token.start + len(token.text)


@dataclass(slots=True)
class _SeparatorReading:
    """How far a batch is read: the statement's verb, what it still waits for, and what is open."""

    verb: str = ""
    before: str = ""
    query_due: bool = False  # INSERT INTO t ... and WITH x AS (...) wait for their SELECT
    body_due: bool = False  # IF and WHILE wait for a statement
    parentheses: int = 0
    blocks: int = 0

    def begins(self, word: str, *, begins_line: bool) -> bool:
        """Takes one token; True when it begins another statement."""
        before, self.before = self.before, word
        if word in "()":
            self.parentheses += 1 if word == "(" else -1
        elif self.parentheses or before == ".":
            return False
        elif word in ("case", "begin", "end", "tran", "transaction"):
            return self._block(word, before, begins_line=begins_line)
        elif self.blocks:
            return False
        elif word == "else":
            self.body_due = True
        elif word == "with" and before in ("", "as"):
            self.verb = self.verb or word
            self.query_due = True
        elif word == "values":
            self.query_due = False
        elif word in _VERBS:
            return self._verb(word, before, begins_line=begins_line)
        return False

    def _block(self, word: str, before: str, *, begins_line: bool) -> bool:
        if word == "end":
            self.blocks = max(self.blocks - 1, 0)
            return False
        if word in ("tran", "transaction"):
            self.blocks -= before == "begin"
            return False
        begins = word == "begin" and not self.blocks and self._verb(word, before, begins_line=begins_line)
        self.blocks += 1
        return begins

    def _verb(self, word: str, before: str, *, begins_line: bool) -> bool:
        if self.verb and (self._goes_on(word) or before in _GOES_ON_AFTER):
            return False
        begins = bool(self.verb) and begins_line
        if begins or not self.verb:
            self.verb = word
            self.query_due = word == "insert"
            self.body_due = word in _BODIES
        return begins

    def _goes_on(self, word: str) -> bool:
        """Whether the statement so far waits for this verb; what it waited for is then there."""
        if self.body_due:
            self.body_due = word in _BODIES
            self.verb, self.query_due = word, word == "insert"
            return True
        if self.query_due and word in ("select", "exec", "execute"):
            self.query_due = False
            return True
        if self.verb == "with" and word in ("insert", "update", "delete", "merge"):
            self.verb, self.query_due = word, word == "insert"
            return True
        return (
            (word == "set" and self.verb in ("update", "merge", "alter"))
            or (word in ("alter", "drop") and self.verb == "alter")
            or (word == "if" and self.verb in ("drop", "create", "alter"))
            or (word == "select" and self.verb == "declare")
        )
