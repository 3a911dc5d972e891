"""Statements that may move data: which of them have a source."""

from __future__ import annotations

import re

from ingestion.dialects.definition import DollarQuotes, keywords
from ingestion.lexing import Token
from ingestion.model import StatementKind as Kind
from ingestion.statements import session_changes
from ingestion.statements.skip_reasons import Classification, Examined, SkipReason, parse_as, skip_for

_INTO = re.compile(r"\binto\b")
_WRITES = re.compile(r"\b(?:insert|ins|update|upd|delete|del|merge|into|upsert|replace)\b")
_ROW_WORDS = ("value", "set", "format", "default")
_ROWS = re.compile(r"\b(?:values?|set|format|default)\b")
_READS = re.compile(r"\b(?:select|sel|from|exec|execute|call|pivot|unpivot)\b|\btable\s*\(|\boutput\b[\s\S]*?\binto\b")
_OTHER_TABLE = re.compile(
    r"\b(?:using|join|select|sel)\b|\bfrom\b[\s\S]*?\bfrom\b|\boutput\b[\s\S]*?\binto\b"  # T-SQL keeps the rows
)
_CLIENT_ROWS = re.compile(r"\b(?:from\s+stdin|to\s+stdout|(?:from|to)\s+program)\b")
_LOADS = keywords("data table xml into from")
_VERBS: dict[str, Kind] = {
    "insert": Kind.INSERT,
    "ins": Kind.INSERT,
    "upsert": Kind.INSERT,
    "replace": Kind.INSERT,
    "update": Kind.UPDATE,
    "upd": Kind.UPDATE,
    "merge": Kind.MERGE,
    "delete": Kind.DELETE,
    "del": Kind.DELETE,
}
_QUERIES = keywords("select sel values table from")

SELECT = skip_for(SkipReason.SELECT, Kind.SELECT)


def select(statement: Examined) -> Classification:
    """SELECT: alone, INTO a new table or a file, or setting the search path."""
    if statement.dialect.dollar_quotes is DollarQuotes.TAGGED and "set_config" in statement.lowered:
        change = session_changes.set_config(statement.head(40), statement.dialect)
        if change is not None:
            return Classification(Kind.USE, SkipReason.SESSION_STATE, change)
    if "into" not in statement.lowered or not statement.has(_INTO):
        return SELECT
    depth = 0
    words = statement.head(100_000)
    for place, token in enumerate(words):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text.lower() == "into":
            return _into(words[place + 1 : place + 2], statement)
    return SELECT


def _into(following: tuple[Token, ...], statement: Examined) -> Classification:
    target = following[0].text.lower() if following else ""
    if target in ("outfile", "dumpfile"):
        return parse_as(Kind.COPY)
    variable = target[:1] in (":", "@") or not statement.dialect.select_into_creates
    return SELECT if variable else parse_as(Kind.CREATE_TABLE_AS)


def with_(statement: Examined) -> Classification:
    """WITH: what its main verb makes it, or a writing common table expression where the main verb only reads."""
    if not statement.has(_WRITES):
        return SELECT
    depth, before = 0, ""
    inner: Classification | None = None
    for token in statement.head(100_000):
        word = token.text.lower()
        if depth == 0 and before and word in _VERBS:
            return parse_as(_VERBS[word])
        if depth == 0 and before != "as" and word in _QUERIES:
            main = select(statement) if word in ("select", "sel") else SELECT
            return inner or main
        if depth == 1 and before == "(" and word in _VERBS and inner is None:
            inner = parse_as(_VERBS[word])
        depth += (word == "(") - (word == ")")
        before = word
    return inner or SELECT


def insert(statement: Examined) -> Classification:
    """INSERT: with no query in it, only rows of values."""
    rows = any(word in statement.lowered for word in _ROW_WORDS) and statement.has(_ROWS)
    rows_only = rows and not statement.has(_READS)
    return skip_for(SkipReason.INSERT_VALUES, Kind.INSERT) if rows_only else parse_as(Kind.INSERT)


def from_(statement: Examined) -> Classification:
    """Hive's FROM ... INSERT, or a query that begins with its FROM."""
    return parse_as(Kind.INSERT) if statement.has(_WRITES) else SELECT


def delete(statement: Examined) -> Classification:
    """DELETE: only with another table in it can lineage come of it."""
    return parse_as(Kind.DELETE) if statement.has(_OTHER_TABLE) else skip_for(SkipReason.DELETE, Kind.DELETE)


def copy(statement: Examined) -> Classification:
    """COPY between a table and storage; rows that a client or a program sends or receives leave no name behind."""
    return skip_for(SkipReason.COPY_STDIO, Kind.COPY) if statement.has(_CLIENT_ROWS) else parse_as(Kind.COPY)


def export(statement: Examined) -> Classification:
    """EXPORT of rows to storage; BigQuery's EXPORT TABLE METADATA moves none."""
    words = [token.text.lower() for token in statement.head(3)]
    return skip_for(SkipReason.MAINTENANCE) if words[1:] == ["table", "metadata"] else parse_as(Kind.COPY)


def load(statement: Examined) -> Classification:
    """LOAD DATA and its kin; DuckDB's and PostgreSQL's LOAD is for libraries."""
    words = [token.text.lower() for token in statement.head(2)]
    return parse_as(Kind.COPY) if words[1:] and words[1] in _LOADS else skip_for(SkipReason.MAINTENANCE)
