"""Texts that sqlglot refuses, written as it takes them: the lineage stays the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.lexing import keywords

_Edit = tuple[int, int, str]
_Repair = Callable[[str, list[Token]], Iterator[_Edit]]

_PHRASES = keywords("TITLE FORMAT CASESPECIFIC CS UPPERCASE COMPRESS")
_QUERY_STARTS = keywords("SELECT SEL WITH FROM VALUES TABLE (")
_PHYSICAL_TAIL = keywords("SEGMENTED UNSEGMENTED KSAFE PARTITIONED CLUSTERED ENCODED DISTRIBUTED DISTRIBUTE ORGANIZE")
_HINTS = keywords("TABLOCK TABLOCKX HOLDLOCK ROWLOCK PAGLOCK UPDLOCK XLOCK NOLOCK READPAST SERIALIZABLE KEEPIDENTITY")
_CURRENT = re.compile(r"\bcurrent\s+(?:date|time|timestamp|timezone|user|schema|server|path)\b", re.IGNORECASE)
_IMPALA_HINTS = keywords("SHUFFLE NOSHUFFLE BROADCAST CLUSTERED NOCLUSTERED")


def repaired(text: str, dialect: str, grammar: SqlglotDialect) -> str | None:
    """The text without what sqlglot does not know of the dialect; None where there is nothing to mend."""
    try:
        tokens = list(grammar.tokenize(text))
        plain = without_create_options(text, tokens)
        if plain is not None:
            text, tokens = plain, list(grammar.tokenize(plain))
    except SqlglotError:
        return None
    edits = [edit for repair in (*_REPAIRS.get(dialect, ()), _compound_assignments) for edit in repair(text, tokens)]
    return _applied(text, edits) if edits else plain


def needs_repair(text: str, dialect: str) -> bool:
    """Whether sqlglot would take the text, and take it wrong."""
    if dialect == "db2":
        return _CURRENT.search(text) is not None
    return dialect == "impala" and ("[" in text or "straight_join" in text.lower())


def without_create_options(text: str, tokens: list[Token]) -> str | None:
    """CREATE TABLE or VIEW name (columns) AS query, without the options between that sqlglot does not know.

    `tokens` are those of the text; None where it is no such statement.
    """
    place = next((n for n, token in enumerate(tokens[:8]) if token.text.upper() in ("TABLE", "VIEW", "VDS")), None)
    if place is None or tokens[0].text.upper() != "CREATE":
        return None
    words = [token.text.upper() for token in tokens]
    name = place + 4 if words[place + 1 : place + 4] == ["IF", "NOT", "EXISTS"] else place + 1
    end = name
    while end + 2 < len(tokens) and words[end + 1] == ".":
        end += 2
    if end + 1 < len(tokens) and words[end + 1] == "(":
        end = _matching(tokens, end + 1)
    starts = (n for n in _at_depth_zero(tokens, end + 1) if words[n] == "AS" and n + 1 < len(tokens))
    start = next((n for n in starts if words[n + 1] in _QUERY_STARTS), None)
    if start is None:
        return None
    tail = next((n for n in _at_depth_zero(tokens, start + 1) if words[n] in _PHYSICAL_TAIL), len(tokens))
    finish = tokens[tail - 1].end + 1
    kind = "VIEW" if words[place] == "VDS" else words[place]
    before = " ".join(word for word in words[:place] if word not in ("FLEX", "FLEXTABLE"))
    return f"{before} {kind} {text[tokens[place + 1].start : tokens[end].end + 1]} {text[tokens[start].start : finish]}"


def _applied(text: str, edits: list[_Edit]) -> str:
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _at_depth_zero(tokens: list[Token], start: int) -> Iterator[int]:
    depth = 0
    for number in range(start, len(tokens)):
        kind = tokens[number].token_type
        if kind is TokenType.R_PAREN:
            depth -= 1
        if depth == 0:
            yield number
        if kind is TokenType.L_PAREN:
            depth += 1


def _matching(tokens: list[Token], opening: int) -> int:
    depth = 0
    for number in range(opening, len(tokens)):
        if tokens[number].token_type is TokenType.L_PAREN:
            depth += 1
        elif tokens[number].token_type is TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return number
    return len(tokens) - 1


def _words(tokens: list[Token], number: int, *words: str) -> bool:
    return [token.text.upper() for token in tokens[number : number + len(words)]] == list(words)


def _span(tokens: list[Token], first: int, last: int, replacement: str = " ") -> _Edit:
    return tokens[first].start, tokens[last].end + 1, replacement


def _compound_assignments(text: str, tokens: list[Token]) -> Iterator[_Edit]:
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


def _teradata_phrases(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """a (TITLE 'x') is a; a (NAMED b) is a AS b."""
    for number in range(1, len(tokens) - 2):
        if tokens[number].token_type is not TokenType.L_PAREN:
            continue
        word = tokens[number + 1].text.upper()
        end = _matching(tokens, number)
        if word == "NAMED":
            yield _span(tokens, number, end, f" AS {tokens[number + 2].text}")
        elif word in _PHRASES:
            yield _span(tokens, number, end)


def _teradata_update(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """UPDATE t FROM s SET …: without an alias, s would take SET for one."""
    for number in range(3, len(tokens)):
        if tokens[number].text.upper() != "SET":
            continue
        first = number - 1
        while first >= 2 and tokens[first - 1].text == ".":
            first -= 2
        if tokens[first - 1].text.upper() in ("FROM", ","):
            yield tokens[number].start, tokens[number].start, f"AS {tokens[number - 1].text} "
        return


def _table_hints(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """T-SQL: INSERT INTO t WITH (TABLOCK) …."""
    if not tokens or tokens[0].text.upper() not in ("INSERT", "WITH"):
        return
    for number in range(2, len(tokens) - 2):
        if _words(tokens, number, "WITH", "(") and tokens[number + 2].text.upper() in _HINTS:
            yield _span(tokens, number, _matching(tokens, number + 1))


def _overriding(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """INSERT INTO t OVERRIDING SYSTEM VALUE …."""
    for number in range(2, len(tokens) - 2):
        if tokens[number].text.upper() == "OVERRIDING":
            yield _span(tokens, number, number + 2)


def _log_errors(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """Oracle: LOG ERRORS INTO … REJECT LIMIT … ends a statement."""
    for number in range(2, len(tokens) - 1):
        if _words(tokens, number, "LOG", "ERRORS"):
            yield _span(tokens, number, len(tokens) - 1)
            return


def _oracle_merge(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """WHEN MATCHED THEN UPDATE … DELETE WHERE …: the rows that go are left out."""
    if not tokens or tokens[0].text.upper() not in ("MERGE", "WITH"):
        return
    for number in range(3, len(tokens) - 1):
        if not _words(tokens, number, "DELETE", "WHERE"):
            continue
        later = (n for n in range(number, len(tokens)) if tokens[n].text.upper() in ("WHEN", ";"))
        yield _span(tokens, number, next(later, len(tokens)) - 1)


def _db2(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """a CONCAT b is a || b; DECLARE GLOBAL TEMPORARY TABLE makes one; ELSE IGNORE does nothing."""
    if _words(tokens, 0, "DECLARE", "GLOBAL", "TEMPORARY", "TABLE"):
        yield _span(tokens, 0, 3, "CREATE TEMPORARY TABLE")
    for number in range(1, len(tokens)):
        word = tokens[number].text.upper()
        if word == "CURRENT" and _CURRENT.match(text, tokens[number].start):
            yield _span(tokens, number, number + 1, f"CURRENT_{tokens[number + 1].text} ")
        elif word == "CONCAT" and not _words(tokens, number + 1, "("):
            yield _span(tokens, number, number, "||")
        elif (word == "ELSE" and _words(tokens, number, "ELSE", "IGNORE")) or (
            word == "WITH" and number == len(tokens) - 2 and tokens[-1].text.upper() in ("UR", "CS", "RS", "RR")
        ):
            yield _span(tokens, number, number + 1)
        elif word == "DEFINITION" and _words(tokens, number, "DEFINITION", "ONLY"):
            yield _span(tokens, number, number + 1, "WITH NO DATA")


def _druid(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """REPLACE INTO t OVERWRITE … SELECT … PARTITIONED BY …: an INSERT of the query."""
    if _words(tokens, 0, "REPLACE", "INTO"):
        yield _span(tokens, 0, 0, "INSERT")
        over = next((n for n in range(len(tokens)) if tokens[n].text.upper() == "OVERWRITE"), None)
        query = next((n for n in range(len(tokens)) if tokens[n].text.upper() in ("SELECT", "WITH")), None)
        if over is not None and query is not None and over < query:
            yield _span(tokens, over, query - 1)
    tail = next((n for n in _at_depth_zero(tokens, 1) if tokens[n].text.upper().startswith("PARTITIONED")), None)
    if tail is not None:
        yield _span(tokens, tail, len(tokens) - 1)


def _impala(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """UPSERT is an INSERT by key; hints may stand in square brackets."""
    if _words(tokens, 0, "UPSERT"):
        yield _span(tokens, 0, 0, "INSERT")
    for number in range(len(tokens) - 2):
        if tokens[number].text.upper() == "STRAIGHT_JOIN" and tokens[number - 1].text.upper() in ("SELECT", "DISTINCT"):
            yield _span(tokens, number, number)
        elif tokens[number].text == "[" and tokens[number + 1].text.upper() in _IMPALA_HINTS:
            yield _span(tokens, number, number + 2)


def _informix(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """SELECT SKIP n FIRST n …; SELECT … INTO TEMP t at the end."""
    for number in range(len(tokens) - 2):
        word = tokens[number].text.upper()
        if word in ("FIRST", "SKIP", "LIMIT") and tokens[number + 1].token_type is TokenType.NUMBER:
            yield _span(tokens, number, number + 1)
    into = next((n for n in _at_depth_zero(tokens, 1) if _words(tokens, n, "INTO", "TEMP")), None)
    from_ = next((n for n in _at_depth_zero(tokens, 1) if tokens[n].text.upper() == "FROM"), None)
    if into is not None and from_ is not None and from_ < into:
        yield _span(tokens, into, min(into + 5, len(tokens) - 1))
        yield tokens[from_].start, tokens[from_].start, f"INTO TEMP {tokens[into + 2].text} "


def _vertica(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """LIMIT n OVER (…) keeps some rows of each group."""
    for number in range(len(tokens) - 3):
        if tokens[number].text.upper() == "LIMIT" and _words(tokens, number + 2, "OVER", "("):
            yield _span(tokens, number, _matching(tokens, number + 3))


def _with_label(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """INSERT INTO t WITH LABEL l SELECT …."""
    for number in range(len(tokens) - 2):
        if _words(tokens, number, "WITH", "LABEL"):
            yield _span(tokens, number, number + 2)


def _directory_format(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """Spark: INSERT OVERWRITE DIRECTORY 'path' USING format OPTIONS (...) SELECT, without the format."""
    for number in range(2, min(6, len(tokens) - 2)):
        if _words(tokens, number - 2, "DIRECTORY") and _words(tokens, number, "USING"):
            last = number + 1
            if _words(tokens, last + 1, "OPTIONS", "("):
                last = _matching(tokens, last + 2)
            yield _span(tokens, number, last)


def _unloaded_query(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """Athena: UNLOAD (SELECT ...) TO 'path' WITH (...), with the query as a text and without the options."""
    if not _words(tokens, 0, "UNLOAD", "(") or tokens[2].token_type is TokenType.STRING:
        return
    closing = _matching(tokens, 1)
    query = text[tokens[2].start : tokens[closing - 1].end + 1].replace("'", "''")
    yield tokens[2].start, tokens[closing - 1].end + 1, f"'{query}'"
    for number in range(closing, len(tokens)):
        if _words(tokens, number, "WITH", "("):
            yield _span(tokens, number, _matching(tokens, number + 1))


_REPAIRS: dict[str, tuple[_Repair, ...]] = {
    "athena": (_unloaded_query,),
    "databricks": (_directory_format,),
    "db2": (_db2,),
    "doris": (_with_label,),
    "druid": (_druid,),
    "impala": (_impala,),
    "informix": (_informix,),
    "greenplum": (_overriding,),
    "oracle": (_oracle_merge, _log_errors),
    "postgres": (_overriding,),
    "spark": (_directory_format,),
    "starrocks": (_with_label,),
    "fabric": (_table_hints,),
    "tsql": (_table_hints,),
    "teradata": (_teradata_phrases, _teradata_update),
    "vertica": (_vertica,),
}
