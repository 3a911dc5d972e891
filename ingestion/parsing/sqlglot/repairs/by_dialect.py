"""Texts that sqlglot refuses, written as it takes them: what it does not know of each dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects.definition import keywords
from ingestion.parsing.sqlglot.repairs import _lakehouse as lakehouse
from ingestion.parsing.sqlglot.repairs._lakehouse import applied_changes, dictionary, loaded_dictionary, pipeline_flow
from ingestion.parsing.sqlglot.repairs._servers import (
    SERVER_REPAIRS,
    end_of_name,
    file_formats,
    linear_clusters,
    replicas,
    snapshots,
    streams,
    table_kinds,
    unknown_types,
)
from ingestion.parsing.sqlglot.repairs.edits import Edit, Repair, at_depth_zero, matching, span, words

# What sqlglot does not know of a dialect, and how it is written so that it does.

_IMPALA_HINTS = keywords("SHUFFLE NOSHUFFLE BROADCAST CLUSTERED NOCLUSTERED")
_KNOWN_MODELS = keywords("PREDICT TRANSLATE GENERATE_EMBEDDING GENERATE_TEXT GENERATE_TABLE FORECAST")
TABLE_ARGUMENT = re.compile(r"[(,>]\s*+table\s++[\w`]", re.IGNORECASE)
# Db2 writes its special registers in two words.
CURRENT = re.compile(r"\bcurrent\s+(?:date|time|timestamp|timezone|user|schema|server|path)\b", re.IGNORECASE)


def _compound_assignments(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """SET a.b += c  is  SET a.b = a.b + c."""
    if not any(token.token_type is TokenType.UPDATE for token in tokens):
        return
    for number in range(2, len(tokens) - 1):
        operator, equals = tokens[number], tokens[number + 1]
        if equals.token_type is not TokenType.EQ or operator.end + 1 != equals.start:
            continue
        if operator.text not in ("+", "-", "*", "/", "%", "&", "|", "^"):
            continue
        first = number - 1
        while first >= 2 and tokens[first - 1].text == ".":
            first -= 2
        column = text[tokens[first].start : tokens[number - 1].end + 1]
        yield operator.start, equals.end + 1, f"= {column} {operator.text}"


def _rows_of_cursors(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """WHERE CURRENT OF c: some row, by no column."""
    for number in range(len(tokens) - 3):
        if words(tokens, number, "WHERE", "CURRENT", "OF"):
            yield span(tokens, number, number + 3)


def _defined_objects(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: DEFINE TABLE in a project is CREATE OR ALTER TABLE."""
    if words(tokens, 0, "DEFINE"):
        yield span(tokens, 0, 0, "CREATE")


def _recursive_view(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """CREATE RECURSIVE VIEW v (a) AS query: a view of WITH RECURSIVE v (a) AS (query) SELECT * FROM v."""
    word = next((n for n in range(1, min(len(tokens), 6)) if words(tokens, n, "RECURSIVE", "VIEW")), None)
    if word is None or tokens[0].text.upper() != "CREATE":
        return
    start = next((n for n in at_depth_zero(tokens, word) if words(tokens, n, "AS")), None)
    if start is None:
        return
    opening = next((n for n in range(word, start) if tokens[n].token_type is TokenType.L_PAREN), start)
    columns = text[tokens[opening].start : tokens[start].start]
    name = text[tokens[opening - 1].start : tokens[opening - 1].end + 1]
    yield span(tokens, word, word)
    yield tokens[start].end + 1, tokens[start].end + 1, f" WITH RECURSIVE {name} {columns} AS ("
    yield tokens[-1].end + 1, tokens[-1].end + 1, f") SELECT * FROM {name}"


def _sqlite(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """UPDATE OR IGNORE t …."""
    for number in range(len(tokens) - 3):
        if words(tokens, number, "UPDATE", "OR"):
            yield span(tokens, number + 1, number + 2)


def _overriding(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """INSERT INTO t OVERRIDING SYSTEM VALUE …."""
    for number in range(2, len(tokens) - 2):
        if tokens[number].text.upper() == "OVERRIDING":
            yield span(tokens, number, number + 2)


def _array_with_offset(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """BigQuery: FROM t, t.items AS i WITH OFFSET …: the array without its UNNEST."""
    for number in range(3, len(tokens) - 1):
        if not words(tokens, number, "WITH", "OFFSET"):
            continue
        last = number - 1
        if tokens[last - 1].text.upper() == "AS":
            last -= 2
        elif tokens[last - 1].text not in (".", ",") and tokens[last - 1].text.upper() != "JOIN":
            last -= 1
        first = last
        while first >= 2 and tokens[first - 1].text == ".":
            first -= 2
        if first < last:
            yield tokens[first].start, tokens[first].start, "UNNEST("
            yield tokens[last].end + 1, tokens[last].end + 1, ")"


def _db2(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """a CONCAT b is a || b; DECLARE GLOBAL TEMPORARY TABLE makes one; ELSE IGNORE does nothing."""
    if words(tokens, 0, "DECLARE", "GLOBAL", "TEMPORARY", "TABLE"):
        yield span(tokens, 0, 3, "CREATE TEMPORARY TABLE")
    for number in range(1, len(tokens)):
        word = tokens[number].text.upper()
        if word == "CURRENT" and CURRENT.match(text, tokens[number].start):
            yield span(tokens, number, number + 1, f"CURRENT_{tokens[number + 1].text} ")
        elif word == "CONCAT" and not words(tokens, number + 1, "("):
            yield span(tokens, number, number, "||")
        elif (word == "ELSE" and words(tokens, number, "ELSE", "IGNORE")) or (
            word == "WITH" and number == len(tokens) - 2 and tokens[-1].text.upper() in ("UR", "CS", "RS", "RR")
        ):
            yield span(tokens, number, number + 1)
        elif word == "DEFINITION" and words(tokens, number, "DEFINITION", "ONLY"):
            yield span(tokens, number, number + 1, "WITH NO DATA")


def _druid(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """REPLACE INTO t OVERWRITE … SELECT … PARTITIONED BY …: an INSERT of the query."""
    if words(tokens, 0, "REPLACE", "INTO"):
        yield span(tokens, 0, 0, "INSERT")
        over = next((n for n in range(len(tokens)) if tokens[n].text.upper() == "OVERWRITE"), None)
        query = next((n for n in range(len(tokens)) if tokens[n].text.upper() in ("SELECT", "WITH")), None)
        if over is not None and query is not None and over < query:
            yield span(tokens, over, query - 1)
    tail = next((n for n in at_depth_zero(tokens, 1) if tokens[n].text.upper().startswith("PARTITIONED")), None)
    if tail is not None:
        yield span(tokens, tail, len(tokens) - 1)


def _impala(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """UPSERT is an INSERT by key; hints may stand in square brackets."""
    if words(tokens, 0, "UPSERT"):
        yield span(tokens, 0, 0, "INSERT")
    for number in range(len(tokens) - 2):
        if tokens[number].text.upper() == "STRAIGHT_JOIN" and tokens[number - 1].text.upper() in ("SELECT", "DISTINCT"):
            yield span(tokens, number, number)
        elif tokens[number].text == "[" and tokens[number + 1].text.upper() in _IMPALA_HINTS:
            yield span(tokens, number, number + 2)


def _informix(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """SELECT SKIP n FIRST n …; SELECT … INTO TEMP t at the end."""
    for number in range(len(tokens) - 2):
        word = tokens[number].text.upper()
        if word in ("FIRST", "SKIP", "LIMIT") and tokens[number + 1].token_type is TokenType.NUMBER:
            yield span(tokens, number, number + 1)
    into = next((n for n in at_depth_zero(tokens, 1) if words(tokens, n, "INTO", "TEMP")), None)
    from_ = next((n for n in at_depth_zero(tokens, 1) if tokens[n].text.upper() == "FROM"), None)
    if into is not None and from_ is not None and from_ < into:
        yield span(tokens, into, min(into + 5, len(tokens) - 1))
        yield tokens[from_].start, tokens[from_].start, f"INTO TEMP {tokens[into + 2].text} "


def _vertica(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """LIMIT n OVER (…) keeps some rows of each group."""
    for number in range(len(tokens) - 3):
        if tokens[number].text.upper() == "LIMIT" and words(tokens, number + 2, "OVER", "("):
            yield span(tokens, number, matching(tokens, number + 3))


def _with_label(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """INSERT INTO t WITH LABEL l SELECT …."""
    for number in range(len(tokens) - 2):
        if words(tokens, number, "WITH", "LABEL"):
            yield span(tokens, number, number + 2)


def _table_arguments(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """BigQuery: FUNCTION(TABLE t, MODEL m, …) takes a query as well, and a model is no column."""
    for number in range(1, len(tokens) - 2):
        word = tokens[number].text.upper()
        if word not in ("TABLE", "MODEL") or tokens[number - 1].text not in ("(", ",", "=>", ">"):
            continue
        last = end_of_name(tokens, number + 1)
        if last + 1 == len(tokens) or tokens[last + 1].text not in (")", ","):
            continue
        named = text[tokens[number + 1].start : tokens[last].end + 1]
        if word == "TABLE":
            yield span(tokens, number, last, f"(SELECT * FROM {named})")
        elif tokens[number - 2].text.upper() not in _KNOWN_MODELS:
            yield span(tokens, number, last, "NULL")


_SPARK: tuple[Repair, ...] = (
    applied_changes,
    pipeline_flow,
    lakehouse.schema_evolution,
    lakehouse.directory_format,
    lakehouse.view_over_files,
    lakehouse.live_table,
    lakehouse.expectations,
    lakehouse.cloned_table,
    lakehouse.replaced_table,
    lakehouse.existing_partition,
)

REPAIRS: dict[str, tuple[Repair, ...]] = {
    **SERVER_REPAIRS,
    "athena": (lakehouse.unloaded_query,),
    "bigquery": (_array_with_offset, _table_arguments, snapshots, replicas),
    "databricks": _SPARK,
    "db2": (_db2,),
    "doris": (_with_label,),
    "druid": (_druid,),
    "clickhouse": (dictionary, loaded_dictionary, lakehouse.inserted_function, lakehouse.changed_query),
    "duckdb": (lakehouse.pivot_statement, lakehouse.shown_relation, lakehouse.merged_by_columns),
    "impala": (_impala,),
    "informix": (_informix,),
    "greenplum": (_overriding, lakehouse.foreign_table, unknown_types),
    "postgres": (_overriding, lakehouse.foreign_table, unknown_types),
    "hive": (lakehouse.existing_partition,),
    "redshift": (lakehouse.table_properties, lakehouse.merged_without_duplicates, unknown_types),
    "snowflake": (streams, table_kinds, linear_clusters, file_formats),
    "spark": _SPARK,
    "sqlite": (_sqlite,),
    "starrocks": (_with_label,),
    "vertica": (_vertica,),
}


# Texts that sqlglot refuses, written as it takes them: the lineage stays the same.

_QUERY_STARTS = keywords("SELECT SEL WITH FROM VALUES TABLE (")
_PHYSICAL_TAIL = keywords("SEGMENTED UNSEGMENTED KSAFE PARTITIONED CLUSTERED ENCODED DISTRIBUTED DISTRIBUTE ORGANIZE")
_NO_OBJECT_KIND = keywords("FLEX FLEXTABLE LIVE")
_DEFINERS = keywords("ALGORITHM DEFINER SQL")
_HEAD = 20
_PRIORITY = re.compile(r"\A(?:update|replace)\s++(?:low_priority|delayed|ignore)\b", re.IGNORECASE)
_SPARK_NEEDS = re.compile(
    r"\bwith\s+schema\s+evolution\b|\bflow\s+auto\s+cdc\b|\bview\b.{0,400}?\boptions\s*\(|\btemp(?:orary)?\s+view\s+\S+\s+using\b",
    re.IGNORECASE | re.DOTALL,
)
_GRAPH_TABLE = re.compile(r"\bas\s++(?:node|edge)\s*+;?\s*+\Z", re.IGNORECASE)
_MISREAD = {
    "fabric": _GRAPH_TABLE,
    "tsql": _GRAPH_TABLE,
    "bigquery": TABLE_ARGUMENT,
    "clickhouse": re.compile(r"\bdictionary\s*\(|\A\s*create\s[^(]{0,200}?\bdictionary\b", re.IGNORECASE),
    "databricks": _SPARK_NEEDS,
    "duckdb": re.compile(r"\(\s*(?:show|desc|describe|summarize)\b|\bmerge\s+into\b", re.IGNORECASE),
    "mariadb": _PRIORITY,
    "mysql": _PRIORITY,
    "redshift": re.compile(r"\btable\s+properties\b", re.IGNORECASE),
    "spark": _SPARK_NEEDS,
}


def repair_text(text: str, dialect: str, grammar: SqlglotDialect) -> str | None:
    """The text without what sqlglot does not know of the dialect; None where there is nothing to mend."""
    try:
        tokens = list(grammar.tokenize(text))
        plain = _without_create_options(text, tokens)
        if plain is not None:
            text, tokens = plain, list(grammar.tokenize(plain))
    except SqlglotError:
        return None
    everywhere = (_compound_assignments, _rows_of_cursors, _defined_objects, _recursive_view)
    edits = [edit for repair in (*REPAIRS.get(dialect, ()), *everywhere) for edit in repair(text, tokens)]
    return _apply_edits(text, edits) if edits else plain


def needs_repair(text: str, dialect: str) -> bool:
    """Whether sqlglot would take the text, and take it wrong."""
    if dialect == "db2":
        return CURRENT.search(text) is not None
    sign = _MISREAD.get(dialect)
    if sign is not None:
        return sign.search(text) is not None
    return dialect == "impala" and ("[" in text or "straight_join" in text.lower())


def _without_create_options(text: str, tokens: list[Token]) -> str | None:
    """CREATE TABLE or VIEW name (columns) AS query, without the options between that sqlglot does not know.

    `tokens` are those of the text; None where it is no such statement.
    """
    head = takewhile(lambda n: tokens[n].text.upper() not in ("AS", "("), range(min(len(tokens), _HEAD)))
    place = next((n for n in head if tokens[n].text.upper() in ("TABLE", "VIEW", "VDS")), None)
    if place is None or tokens[0].text.upper() != "CREATE":
        return None
    words = [token.text.upper() for token in tokens]
    name = place + 4 if words[place + 1 : place + 4] == ["IF", "NOT", "EXISTS"] else place + 1
    end = name
    while end + 2 < len(tokens) and words[end + 1] == ".":
        end += 2
    if end + 1 < len(tokens) and words[end + 1] == "(":
        end = matching(tokens, end + 1)
    starts = (n for n in at_depth_zero(tokens, end + 1) if words[n] == "AS" and n + 1 < len(tokens))
    start = next((n for n in starts if words[n + 1] in _QUERY_STARTS), None)
    if start is None:
        return None
    tail = next((n for n in at_depth_zero(tokens, start + 1) if _ends_query(words, n)), len(tokens))
    finish = tokens[tail - 1].end + 1
    kind = "VIEW" if words[place] == "VDS" else words[place]
    before = " ".join(
        takewhile(lambda word: word not in _DEFINERS, (w for w in words[:place] if w not in _NO_OBJECT_KIND))
    )
    return f"{before} {kind} {text[tokens[place + 1].start : tokens[end].end + 1]} {text[tokens[start].start : finish]}"


def _ends_query(words: list[str], number: int) -> bool:
    if words[number] == "WITH":
        return words[number + 1 : number + 2] in (["CHECK"], ["CASCADED"], ["LOCAL"], ["READ"])
    return words[number] in _PHYSICAL_TAIL


def _apply_edits(text: str, edits: list[Edit]) -> str:
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text
