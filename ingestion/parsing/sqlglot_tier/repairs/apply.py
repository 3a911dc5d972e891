"""Texts that sqlglot refuses, written as it takes them: the lineage stays the same."""

from __future__ import annotations

import re
from itertools import takewhile

from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from ingestion.dialects.definition import keywords
from ingestion.parsing.sqlglot_tier.repairs.by_dialect import (
    CURRENT,
    REPAIRS,
    TABLE_ARGUMENT,
    compound_assignments,
    defined_objects,
    recursive_view,
    rows_of_cursors,
)
from ingestion.parsing.sqlglot_tier.repairs.edits import Edit, at_depth_zero, matching

_QUERY_STARTS = keywords("SELECT SEL WITH FROM VALUES TABLE (")
_PHYSICAL_TAIL = keywords("SEGMENTED UNSEGMENTED KSAFE PARTITIONED CLUSTERED ENCODED DISTRIBUTED DISTRIBUTE ORGANIZE")
_NO_OBJECT_KIND = keywords("FLEX FLEXTABLE LIVE")
_DEFINERS = keywords("ALGORITHM DEFINER SQL")
_HEAD = 20
_PRIORITY = re.compile(r"\A(?:update|replace)\s++(?:low_priority|delayed|ignore)\b", re.IGNORECASE)
_SPARK = re.compile(
    r"\bwith\s+schema\s+evolution\b|\bflow\s+auto\s+cdc\b|\bview\b.{0,400}?\boptions\s*\(|\btemp(?:orary)?\s+view\s+\S+\s+using\b",
    re.IGNORECASE | re.DOTALL,
)
_GRAPH_TABLE = re.compile(r"\bas\s++(?:node|edge)\s*+;?\s*+\Z", re.IGNORECASE)
_MISREAD = {
    "fabric": _GRAPH_TABLE,
    "tsql": _GRAPH_TABLE,
    "bigquery": TABLE_ARGUMENT,
    "clickhouse": re.compile(r"\bdictionary\s*\(|\A\s*create\s[^(]{0,200}?\bdictionary\b", re.IGNORECASE),
    "databricks": _SPARK,
    "duckdb": re.compile(r"\(\s*(?:show|desc|describe|summarize)\b|\bmerge\s+into\b", re.IGNORECASE),
    "mariadb": _PRIORITY,
    "mysql": _PRIORITY,
    "redshift": re.compile(r"\btable\s+properties\b", re.IGNORECASE),
    "spark": _SPARK,
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
    everywhere = (compound_assignments, rows_of_cursors, defined_objects, recursive_view)
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
