"""What a classification says, and the view of a statement that it is told from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from ingestion.dialects import Dialect
from ingestion.errors import Unparsable
from ingestion.lexing import Token, blank, tokens
from ingestion.model import StatementKind as Kind
from ingestion.statements.session import SessionChange


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


@dataclass(frozen=True, slots=True)
class Classification:
    """What a statement is, why it is skipped (None: it is to be parsed), and what it changes for its session."""

    kind: Kind
    skip_reason: SkipReason | None = None
    session: SessionChange | None = None


@dataclass(frozen=True, slots=True)
class Examined:
    """A statement under examination: its dialect, and where its verb starts."""

    text: str
    dialect: Dialect
    start: int

    def head(self, count: int) -> tuple[Token, ...]:
        """The first tokens, the verb among them."""
        return tuple(islice(tokens(self.text, self.dialect, self.start), count))

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether `pattern` occurs outside strings, names and comments."""
        if pattern.search(self.text, self.start) is None:
            return False
        try:
            return pattern.search(blank(self.text, self.dialect)) is not None
        except Unparsable:
            return True


def parsed(kind: Kind) -> Classification:
    """To be parsed as `kind`."""
    return Classification(kind)


def skipped(reason: SkipReason, kind: Kind = Kind.OTHER) -> Classification:
    """Not to be parsed, for `reason`."""
    return Classification(kind, reason)
