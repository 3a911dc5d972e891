"""What a classification says, and the view of a statement that it is told from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from ingestion.dialects import Dialect
from ingestion.lexing import COMMENT, HINT, Token, lexicon_of, tokens
from ingestion.model import StatementKind as Kind
from ingestion.statements.session_changes import SessionChange

# Words that a comment parts are not beside each other in the text.
_OPEN_COMMENTS = ("/*", "--", "//", "#")


class SkipReason(StrEnum):
    """Why a statement has no lineage of its own."""

    ANONYMOUS_BLOCK = "anonymous_block"
    CALL = "call"
    COMMENT = "comment"
    COPY_STDIO = "copy_stdio"  # rows from or to the client
    CURSOR = "cursor"
    DDL_OTHER = "ddl_other"
    DELETE = "delete"  # without another table
    DYNAMIC_SQL = "dynamic_sql"
    EMPTY = "empty"
    EXPLAIN = "explain"
    FILE_TRANSFER = "file_transfer"
    GRANT = "grant"
    INDEX = "index"
    INSERT_VALUES = "insert_values"
    LOCK = "lock"
    MAINTENANCE = "maintenance"
    PREPARE = "prepare"
    ROUTINE_DEFINITION = "routine_definition"
    SELECT = "select"
    SESSION_SETTING = "session_setting"
    SESSION_STATE = "session_state"
    SHOW = "show"
    TRANSACTION = "transaction"
    TRUNCATE = "truncate"
    VARIABLE = "variable"


BLOCKS = frozenset({SkipReason.ANONYMOUS_BLOCK, SkipReason.DYNAMIC_SQL})
"""Statements that hold statements, which are read one by one."""


@dataclass(frozen=True, slots=True)
class Classification:
    """What a statement is, why it is skipped (None: it is to be parsed), and what it changes for its session."""

    kind: Kind
    skip_reason: SkipReason | None = None
    session: SessionChange | None = None


@dataclass(frozen=True, slots=True)
class Examined:
    """A statement under examination, also in lower case; its dialect; and where its verb starts."""

    text: str
    lowered: str
    dialect: Dialect
    start: int

    def tokens(self) -> Iterator[Token]:
        """The tokens, from the verb on."""
        return tokens(self.text, self.dialect, self.start)

    def head(self, count: int) -> tuple[Token, ...]:
        """The first tokens, the verb among them."""
        return tuple(islice(self.tokens(), count))

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether `pattern`, in lower case, occurs outside strings, names and comments."""
        if not pattern.search(self.lowered, self.start) and not any(sign in self.lowered for sign in _OPEN_COMMENTS):
            return False
        quoted = lexicon_of(self.dialect).quoted
        return pattern.search(quoted.sub(_blank, self.text[self.start :]).lower()) is not None


def _blank(match: re.Match[str]) -> str:
    return " " if match.lastgroup in (COMMENT, HINT) else "?"


def parse_as(kind: Kind) -> Classification:
    """To be parsed as `kind`."""
    return Classification(kind)


def skip_for(reason: SkipReason, kind: Kind = Kind.OTHER) -> Classification:
    """Not to be parsed, for `reason`."""
    return Classification(kind, reason)
