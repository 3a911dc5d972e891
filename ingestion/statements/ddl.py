"""CREATE, ALTER, DROP and RENAME: which of them define, change or end a name that lineage cares for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.lexing import WORD, Token
from ingestion.model import StatementKind as Kind
from ingestion.statements import session_changes
from ingestion.statements.skip_reasons import Classification, Examined, SkipReason, parse_as, skip_for
from ingestion.statements.spellings import redefined_view

_QUERY = re.compile(r"\b(?:select|sel)\b|\bas\b[\s(]*+(?:table|values|from|with|execute)\b")
_COPIES = keywords("like clone shallow deep copy")
_IF_NOT_EXISTS = keywords("if not exists")
_ROUTINES = keywords("procedure proc function macro trigger package aggregate event task rule")
_ACCESS = keywords("user role login group grant policy profile")
_OTHER_OBJECTS = keywords(
    "schema database catalog sequence type domain extension stage stream synonym model server statistics"
    " dictionary warehouse integration secret share tablespace publication subscription language cast operator"
    " collation conversion format source library connection credential certificate key partition fulltext"
    " resource reservation capacity assignment tag network alert application service snapshot_policy"
)
_RENAMES = re.compile(
    r"\brename\s+(?:(?:to|as)\b(?!\s+partition\b)|(?!column\b)\S++\s*+\Z)|\bset\s+schema\b|\btransfer\b"
)
_SWAPS = re.compile(r"\b(?:swap\s+with|exchange\s+partition|switch|replace\s+with\s+table)\b")
_COLUMNS = re.compile(
    r"\b(?:add|drop|modify|change|alter|replace|rename)\s+(?!to\s+partition|table|view|materialized|external|dynamic|iceberg|event"
    r"|hybrid|interactive|constraint|index|primary|unique|foreign|check|partition|key|fulltext|spatial|row|search"
    r"|policy|tag|statistics|projection|distkey|sortkey|encode|diststyle)",
)
_POLICIES = re.compile(r"\b(?:modify|alter)\s+(?:column\s+)?\S++\s+(?:un)?set\s+(?:masking|projection)\s+policy\b")
_MOVES_PARTITIONS = re.compile(
    r"\b(?:replace|attach)\s+part(?:ition)?\s[^;]{0,300}\bfrom\b|\bmove\s+part[^;]{0,300}\bto\s+table\b"
)
_NEW_BODY = re.compile(r"\bmodify\s+as\b")
_APPENDS = re.compile(r"\bappend\s+from\b")

_OTHER = skip_for(SkipReason.DDL_OTHER)
_ROUTINE = skip_for(SkipReason.ROUTINE_DEFINITION, Kind.CREATE_ROUTINE)
_STREAM = parse_as(Kind.CREATE_VIEW)
_DICTIONARY = parse_as(Kind.CREATE_TABLE_AS)
_BY_OBJECT: Mapping[str, Classification] = {
    **dict.fromkeys(_OTHER_OBJECTS, _OTHER),
    **dict.fromkeys(_ACCESS, skip_for(SkipReason.GRANT)),
    **dict.fromkeys(_ROUTINES, _ROUTINE),
    "index": skip_for(SkipReason.INDEX),
    "flow": parse_as(Kind.INSERT),
    "pipe": parse_as(Kind.COPY),
    "view": parse_as(Kind.CREATE_VIEW),
}


def create(statement: Examined) -> Classification:
    """CREATE: by the kind of object."""
    words = islice(statement.tokens(), 1, 30)
    for token in words:
        word = token.text.lower() if token.kind == WORD else ""
        if word == "table":
            return _create_table(statement, words)
        plain = _of_dialect(statement.dialect, word) or _BY_OBJECT.get(word)
        if plain is not None:
            return plain
    return _OTHER


def _of_dialect(dialect: Dialect, word: str) -> Classification | None:
    if word == "stream" and dialect.table_streams:
        return _STREAM
    return _DICTIONARY if word == "dictionary" and dialect.dictionaries else None


def _create_table(statement: Examined, after: Iterator[Token]) -> Classification:
    """CREATE TABLE, given the tokens after TABLE: what follows its name tells a copy, a query tells CREATE TABLE AS."""
    before, words = "", 0
    for token in after:
        word = token.text.lower() if token.kind == WORD else token.text
        if word == "function" and not words:
            return _ROUTINE
        ends_name = words and before != "." and word != "."
        if ends_name and (word in _COPIES or (before == "(" and word == "like")):
            return parse_as(Kind.CREATE_TABLE_LIKE)
        if ends_name and word != "(":
            break
        words += word not in _IF_NOT_EXISTS
        before = word
    return parse_as(Kind.CREATE_TABLE_AS if statement.has(_QUERY) else Kind.CREATE_TABLE)


def alter(statement: Examined) -> Classification:
    """ALTER: renames, swaps and column changes of tables and views; a session's schema; a routine's new body."""
    words = [token.text.lower() for token in statement.head(6)]
    if words[1:2] == ["session"]:
        change = session_changes.set_(statement.head(12)[3:], statement.dialect) if words[2:3] == ["set"] else None
        return _session(change)
    if words[1:2] == ["application"] or (words[1:2] == ["task"] and not statement.has(_NEW_BODY)):
        return _OTHER
    if set(words[1:4]) & _ROUTINES:
        return _ROUTINE
    if redefined_view(statement.text, statement.dialect) is not None:
        return parse_as(Kind.CREATE_VIEW)
    relation = next(
        (token for token in islice(statement.tokens(), 1, 4) if token.text.lower() in ("table", "view")), None
    )
    if words[1:2] in (["materialized"], ["streaming"]) and "schedule" in (t.text.lower() for t in statement.head(12)):
        return _OTHER
    if relation is not None:
        return _alter_table(replace(statement, start=relation.start))
    if words[1:2] == ["schema"] and "transfer" in words:
        return parse_as(Kind.RENAME)
    return skip_for(SkipReason.GRANT if set(words[1:3]) & _ACCESS else SkipReason.DDL_OTHER)


def _alter_table(statement: Examined) -> Classification:
    if statement.has(_SWAPS):
        return parse_as(Kind.SWAP)
    if statement.has(_APPENDS) or (statement.dialect.alter_moves_partitions and statement.has(_MOVES_PARTITIONS)):
        return parse_as(Kind.INSERT)
    if statement.has(_RENAMES):
        return parse_as(Kind.RENAME)
    return parse_as(Kind.ALTER_TABLE) if statement.has(_COLUMNS) and not statement.has(_POLICIES) else _OTHER


def _session(change: session_changes.SessionChange | None) -> Classification:
    if change is None:
        return skip_for(SkipReason.SESSION_SETTING)
    return Classification(Kind.USE, SkipReason.SESSION_STATE, change)


def drop(statement: Examined) -> Classification:
    """DROP: of tables and views."""
    words = [token.text.lower() for token in statement.head(5)][1:]
    if {"table", "view"} & set(words[:3]) and not {"function", "macro"} & set(words[:2]):
        return parse_as(Kind.DROP)
    if "index" in words[:3]:
        return skip_for(SkipReason.INDEX)
    return skip_for(SkipReason.GRANT) if set(words[:2]) & _ACCESS else _OTHER


def exchange(statement: Examined) -> Classification:
    """ClickHouse's EXCHANGE TABLES."""
    words = [token.text.lower() for token in statement.head(2)]
    return parse_as(Kind.SWAP) if words[1:] == ["tables"] else _OTHER


def rename(statement: Examined) -> Classification:
    """RENAME as a verb of its own: of tables unless it says otherwise."""
    words = [token.text.lower() for token in statement.head(2)]
    return _OTHER if words[1:] and words[1] in _OTHER_OBJECTS | _ACCESS else parse_as(Kind.RENAME)
