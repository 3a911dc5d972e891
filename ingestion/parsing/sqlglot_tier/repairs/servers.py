"""What sqlglot does not know of T-SQL, MySQL, Oracle and Teradata, and how it is written so that it does."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects.definition import keywords
from ingestion.parsing.sqlglot_tier.repairs.edits import Edit, Repair, at_depth_zero, matching, span, words

_PHRASES = keywords("TITLE FORMAT CASESPECIFIC CS UPPERCASE COMPRESS")
_HINTS = keywords("TABLOCK TABLOCKX HOLDLOCK ROWLOCK PAGLOCK UPDLOCK XLOCK NOLOCK READPAST SERIALIZABLE KEEPIDENTITY")
_BEFORE_RELATIONS = keywords("FROM JOIN APPLY ,")
_PRIORITIZED = keywords("UPDATE DELETE INSERT REPLACE")
_PRIORITIES = keywords("LOW_PRIORITY HIGH_PRIORITY DELAYED QUICK IGNORE")


def _teradata_phrases(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """a (TITLE 'x') is a; a (NAMED b) is a AS b."""
    for number in range(1, len(tokens) - 2):
        if tokens[number].token_type is not TokenType.L_PAREN:
            continue
        word = tokens[number + 1].text.upper()
        end = matching(tokens, number)
        if word == "NAMED":
            yield span(tokens, number, end, f" AS {tokens[number + 2].text}")
        elif word in _PHRASES:
            yield span(tokens, number, end)


def _teradata_update(text: str, tokens: list[Token]) -> Iterator[Edit]:
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


def _table_hints(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """T-SQL: INSERT INTO t WITH (TABLOCK) …."""
    if not tokens or tokens[0].text.upper() not in ("INSERT", "WITH"):
        return
    for number in range(2, len(tokens) - 2):
        if words(tokens, number, "WITH", "(") and tokens[number + 2].text.upper() in _HINTS:
            yield span(tokens, number, matching(tokens, number + 1))


def _xml_namespaces(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """T-SQL: WITH XMLNAMESPACES (…), c AS (…) …: what short names in XML stand for."""
    for number in range(len(tokens) - 2):
        if words(tokens, number, "WITH", "XMLNAMESPACES", "("):
            last = matching(tokens, number + 2)
            others = words(tokens, last + 1, ",")
            yield span(tokens, number + others, last + others)


def _system_functions(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """T-SQL: FROM ::fn_x(…), as functions of the system were once called."""
    for number in range(1, len(tokens) - 1):
        if tokens[number].token_type is TokenType.DCOLON and tokens[number - 1].text.upper() in _BEFORE_RELATIONS:
            yield span(tokens, number, number)


def _top_rows(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """T-SQL: UPDATE, DELETE, MERGE and INSERT TOP (n) [PERCENT] …."""
    for number in range(len(tokens) - 4):
        if tokens[number].text.upper() not in ("UPDATE", "DELETE", "MERGE", "INSERT"):
            continue
        if words(tokens, number + 1, "TOP", "("):
            last = matching(tokens, number + 2)
            percent = last + 1 < len(tokens) and tokens[last + 1].text.upper() == "PERCENT"
            yield span(tokens, number + 1, last + 1 if percent else last)


def _log_errors(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Oracle: LOG ERRORS INTO … REJECT LIMIT … ends a statement."""
    for number in range(2, len(tokens) - 1):
        if words(tokens, number, "LOG", "ERRORS"):
            yield span(tokens, number, len(tokens) - 1)
            return


def _oracle_merge(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """WHEN MATCHED THEN UPDATE … DELETE WHERE …: the rows that go are left out."""
    if not tokens or tokens[0].text.upper() not in ("MERGE", "WITH"):
        return
    for number in range(3, len(tokens) - 1):
        if not words(tokens, number, "DELETE", "WHERE"):
            continue
        later = (n for n in range(number, len(tokens)) if tokens[n].text.upper() in ("WHEN", ";"))
        yield span(tokens, number, next(later, len(tokens)) - 1)


def _translated_charset(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Oracle: TRANSLATE(x USING NCHAR_CS)."""
    for number in range(len(tokens) - 4):
        if words(tokens, number, "TRANSLATE", "("):
            last = matching(tokens, number + 1)
            for charset, function in (("NCHAR_CS", "TO_NCHAR"), ("CHAR_CS", "TO_CHAR")):
                if words(tokens, last - 2, "USING", charset):
                    yield span(tokens, number, number, function)
                    yield span(tokens, last - 2, last - 1)


def _bulk_rows(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """T-SQL: OPENROWSET(BULK 'path', …) WITH (columns) reads a file: a function of the path."""
    for number in range(len(tokens) - 3):
        if words(tokens, number, "OPENROWSET", "(", "BULK"):
            yield span(tokens, number, number + 2, "BULK_ROWS(")
            last = matching(tokens, number + 1)
            if words(tokens, last + 1, "WITH", "("):
                yield span(tokens, last + 1, matching(tokens, last + 2))


def _connection(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """T-SQL: OPENROWSET('provider', 'place'; 'user'; 'password', query): arguments like any other."""
    for number in range(len(tokens) - 3):
        if words(tokens, number, "OPENROWSET", "("):
            inner = range(number + 2, matching(tokens, number + 1))
            yield from (span(tokens, n, n, ",") for n in inner if tokens[n].token_type is TokenType.SEMICOLON)


def _mysql(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """UPDATE LOW_PRIORITY t …, DELETE t.* FROM …, DELETE FROM t FOR PORTION OF p FROM a TO b …."""
    if not tokens or tokens[0].text.upper() not in _PRIORITIZED:
        return
    first = 1
    while first < len(tokens) and tokens[first].text.upper() in _PRIORITIES:
        yield span(tokens, first, first)
        first += 1
    if tokens[0].text.upper() == "DELETE":
        ends = (n for n in range(first, len(tokens)) if tokens[n].text.upper() in ("JOIN", "USING", "WHERE"))
        for number in range(first, next(ends, len(tokens)) - 1):
            if tokens[number].text == "." and tokens[number + 1].text == "*":
                yield span(tokens, number, number + 1)
    for number in range(first, len(tokens) - 7):
        if words(tokens, number, "FOR", "PORTION", "OF") and words(tokens, number + 6, "TO"):
            yield span(tokens, number, number + 7)


def _transact(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """DELETE FROM t FROM t AS a JOIN …; … OPTION (…); WHERE CURRENT OF a cursor."""
    if not tokens or tokens[0].text.upper() not in ("DELETE", "UPDATE", "INSERT", "MERGE", "WITH"):
        return
    froms = [n for n in at_depth_zero(tokens, 1) if tokens[n].text.upper() == "FROM"]
    if words(tokens, 0, "DELETE") and len(froms) > 1:
        yield span(tokens, froms[0], froms[0])
    for number in at_depth_zero(tokens, 1):
        if words(tokens, number, "OPTION", "("):
            yield span(tokens, number, matching(tokens, number + 1))
        elif words(tokens, number, "WHERE", "CURRENT", "OF"):
            yield span(tokens, number, min(number + 3, len(tokens) - 1))


def _returned_into(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Oracle: RETURNING … INTO variables ends a statement; the rows change all the same."""
    for number in at_depth_zero(tokens, 1):
        if tokens[number].text.upper() in ("RETURNING", "RETURN") and tokens[0].text.upper() != "CREATE":
            yield span(tokens, number, len(tokens) - 1)
            return


def _statistics(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Teradata: CREATE TABLE … WITH [NO] DATA AND [NO] STATS."""
    for number in range(len(tokens) - 1, 0, -1):
        if tokens[number].text.upper() in ("STATS", "STATISTICS"):
            first = number - 1 - (tokens[number - 1].text.upper() == "NO")
            if tokens[first].text.upper() == "AND":
                yield span(tokens, first, number)


def _graph_table(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """T-SQL: CREATE TABLE t (…) AS NODE: what a graph takes it for."""
    if not words(tokens, 0, "CREATE", "TABLE"):
        return
    last = len(tokens) - 1 - (tokens[-1].token_type is TokenType.SEMICOLON)
    if words(tokens, last - 1, "AS", "NODE") or words(tokens, last - 1, "AS", "EDGE"):
        yield span(tokens, last - 1, last)


_TRANSACT = (
    _xml_namespaces,
    _system_functions,
    _table_hints,
    _top_rows,
    _bulk_rows,
    _connection,
    _transact,
    _graph_table,
)
SERVER_REPAIRS: dict[str, tuple[Repair, ...]] = {
    "fabric": _TRANSACT,
    "mariadb": (_mysql,),
    "mysql": (_mysql,),
    "oracle": (_oracle_merge, _log_errors, _returned_into, _translated_charset),
    "teradata": (_teradata_phrases, _teradata_update, _statistics),
    "tsql": _TRANSACT,
}
