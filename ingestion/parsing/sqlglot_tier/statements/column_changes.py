"""What ALTER TABLE does to a table's columns, read off the tokens as `definitions` reads CREATE TABLE."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.lexing.altered_types import altered_types
from ingestion.model import Column, StatementKind, TableChange
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.parsing.sqlglot_tier.repairs.edits import matching, words
from ingestion.parsing.sqlglot_tier.statements.definitions import (
    TokenSpan,
    column_defined,
    columns_defined,
    defined_type,
    is_constraint,
    list_items,
    name_at,
)
from ingestion.relational.form import RelationalStatement

_KINDS_OF_RELATION = keywords(
    "MATERIALIZED FOREIGN EXTERNAL DYNAMIC ICEBERG HYBRID EVENT STREAMING SECURE SNAPSHOT INTERACTIVE LIVE IGNORE"
)
_NO_COLUMN = keywords("PARTITION SYSTEM PERIOD DEFAULT VERSIONING SUBPARTITION STATISTICS ROWDEPENDENCIES")
_NO_OBJECT_KIND = keywords(
    "ALTER MODIFY SET RESET ENABLE DISABLE WITH NOCHECK CHECK REBUILD COMMENT CLUSTER ATTACH DETACH VALIDATE "
    "FORCE ORDER ENGINE CONVERT DISCARD IMPORT ANALYZE REPAIR OPTIMIZE OWNER REPLICA INHERIT NO MOVE SHRINK "
    "LOGGING NOLOGGING PARALLEL NOPARALLEL COMPRESS NOCOMPRESS CACHE NOCACHE READ ALLOCATE DEALLOCATE TRUNCATE SPLIT "
    "MERGE COALESCE REORGANIZE ACTIVATE DEACTIVATE RECLUSTER SUSPEND RESUME UNSET APPROVE TABLESPACE DATA LOCK "
    "ALGORITHM AUTO_INCREMENT ROW_FORMAT DEFAULT CHARACTER COLLATE"
)
_LEAVING = keywords("COMMENT DROP SET TYPE FIRST AFTER")


def altered_place(tokens: list[Token]) -> int | None:
    """The place behind ALTER [MATERIALIZED, FOREIGN, …] TABLE or VIEW; None where something else is altered."""
    if not words(tokens, 0, "ALTER"):
        return None
    place = next((n for n in range(1, len(tokens)) if tokens[n].text.upper() not in _KINDS_OF_RELATION), 1)
    return place + 1 if words(tokens, place, "TABLE") or words(tokens, place, "VIEW") else None


def altered_table(tokens: list[Token], names: Names) -> TableChange | None:
    """The columns that an ALTER TABLE adds, drops and renames; None where it does what is not known here."""
    place = altered_place(tokens)
    if place is None:
        return None
    for word in ("IF", "EXISTS", "ONLY"):
        place += words(tokens, place, word)
    end, name = name_at(tokens, place, names)
    end += 3 if words(tokens, end, "ON", "CLUSTER") else 0
    if name is None or end >= len(tokens):
        return None
    stop = len(tokens) - 1 if tokens[-1].token_type is TokenType.SEMICOLON else len(tokens)
    change = _Changes(tokens, names)
    if not all(change.take(item) for item in list_items(tokens, TokenSpan(end, stop))):
        return None
    return TableChange(
        StatementKind.ALTER_TABLE,
        name,
        tuple(change.added),
        dropped_columns=tuple(change.dropped),
        renamed_columns=tuple(change.renamed),
        optional_columns=tuple(change.optional),
    )


def with_types(statement: RelationalStatement, text: str, rules: Dialect) -> RelationalStatement:
    """The statement with the types that an ALTER TABLE gives to columns, which no grammar reads in every spelling.

    They are told as a definition tells types, so that what is written again as it was is seen to be the same.
    """
    altered = altered_types(text, rules) if statement.kind is StatementKind.ALTER_TABLE else None
    if altered is None:
        return statement
    columns = tuple(Column(one.name, defined_type(one.type, rules) or one.type) for one in altered[1])
    changes = (replace(change, retyped_columns=columns) for change in statement.changes)
    return replace(statement, changes=tuple(changes))


@dataclass(slots=True)
class _Changes:
    """The columns changed by the items of an ALTER TABLE so far; `verb` goes on from one item to the next."""

    tokens: list[Token]
    names: Names
    verb: str = ""
    of_columns: bool = False
    added: list[Column] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)

    def take(self, item: TokenSpan) -> bool:
        """Takes one item; False where it is not known what it does."""
        place = item.first
        if place >= item.end:
            return False
        word = self._word(place)
        if word in _VERBS and self._word(place + 1) != ".":
            self.verb, self.of_columns = word, not self.names.dialect.drop_needs_column or word != "DROP"
            place += 1
        elif word in _NO_OBJECT_KIND:
            self.verb = "" if word == "SET" and self._word(place + 1) == "SCHEMA" else word
        if self.verb in _NO_OBJECT_KIND:
            return True
        if self._word(place) in ("COLUMN", "COLUMNS"):
            self.of_columns = True
            place += 1
        first = place
        while self._word(place) in ("IF", "NOT", "EXISTS"):
            place += 1
        moved = len(self.dropped), len(self.renamed)
        known = place < item.end and self.verb in _VERBS and _VERBS[self.verb](self, TokenSpan(place, item.end))
        if place > first:
            self.optional += [*self.dropped[moved[0] :], *(old for old, _new in self.renamed[moved[1] :])]
        return known

    def _word(self, place: int) -> str:
        if place >= len(self.tokens) or self.tokens[place].token_type is TokenType.IDENTIFIER:
            return ""
        return self.tokens[place].text.upper()

    def _is_no_column(self, item: TokenSpan) -> bool:
        return is_constraint(self.tokens, item, self.names.dialect) or self._word(item.first) in _NO_COLUMN

    def add(self, item: TokenSpan) -> bool:
        """ADD a type, ADD (a type, b type), ADD CONSTRAINT …."""
        if self._word(item.first) == "(":
            inner = TokenSpan(item.first + 1, matching(self.tokens, item.first))
            self.added += columns_defined(self.tokens, inner, self.names)
        elif not self._is_no_column(item):
            column = column_defined(self.tokens, item, self.names)
            self.added += () if column is None else (column,)
        return True

    def drop(self, item: TokenSpan) -> bool:
        """DROP [COLUMN] a, DROP (a, b), DROP CONSTRAINT …."""
        if self._word(item.first) == "(":
            inner = TokenSpan(item.first + 1, matching(self.tokens, item.first))
            self.dropped += (self._name(each.first) for each in list_items(self.tokens, inner))
        elif self._is_no_column(item) or self._word(item.first) in ("INDEX", "KEY"):
            self.of_columns = False
        elif self.of_columns:
            self.dropped.append(self._name(item.first))
        return True

    def rename(self, item: TokenSpan) -> bool:
        """RENAME [COLUMN] a TO b; a new name of the table itself is no column's."""
        if self._word(item.first + 1) != "TO" or item.end < item.first + 3 or not self.of_columns:
            return False
        self.renamed.append((self._name(item.first), self._name(item.first + 2)))
        return True

    def change(self, item: TokenSpan) -> bool:
        """MySQL: CHANGE [COLUMN] a b type; Spark's CHANGE COLUMN a COMMENT, DROP, TYPE, … leaves the name."""
        if item.end < item.first + 3:
            return False
        if self.tokens[item.first + 1].text.upper() in _LEAVING and self.names.dialect.change_keeps_names:
            return True
        old, new = self._name(item.first), self._name(item.first + 1)
        self.renamed += ((old, new),) if old != new else ()
        return True

    def _name(self, place: int) -> str:
        token = self.tokens[place]
        return self.names.column(exp.Identifier(this=token.text, quoted=token.token_type is TokenType.IDENTIFIER))


_VERBS = {"ADD": _Changes.add, "DROP": _Changes.drop, "RENAME": _Changes.rename, "CHANGE": _Changes.change}
