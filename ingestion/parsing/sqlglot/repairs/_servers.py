"""What sqlglot does not know of T-SQL, MySQL, Oracle, Teradata and others, written so that it does."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects.definition import keywords
from ingestion.parsing.sqlglot.repairs.edits import Edit, Repair, at_depth_zero, matching, span, words

# What sqlglot does not know of T-SQL, MySQL, Oracle and Teradata, and how it is written so that it does.

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


# Objects that sqlglot does not know of a dialect, written as those that it does: the lineage is the same.

_TABLE_KINDS = keywords("HYBRID DYNAMIC ICEBERG EXTERNAL EVENT INTERACTIVE")
_STREAMED = keywords("EXTERNAL DYNAMIC EVENT ICEBERG INTERACTIVE HYBRID")
_CHANGES = "SELECT *, NULL AS METADATA$ACTION, NULL AS METADATA$ISUPDATE, NULL AS METADATA$ROW_ID FROM"


def end_of_name(tokens: list[Token], first: int) -> int:
    """The position of the last token of the dotted name that begins at `first`."""
    last = first
    while last + 2 < len(tokens) and tokens[last + 1].text in (".", "-"):
        last += 2
    return last


def streams(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: CREATE STREAM s ON TABLE t is a view of t's rows, with three columns that say how they changed."""
    place = next((n for n, token in enumerate(tokens[:5]) if token.text.upper() == "STREAM"), None)
    if place is None or not words(tokens, 0, "CREATE"):
        return
    first = place + (4 if words(tokens, place + 1, "IF", "NOT", "EXISTS") else 1)
    last = end_of_name(tokens, first)
    for number in at_depth_zero(tokens, last + 1):
        word = tokens[number].text.upper()
        if word not in ("ON", "CLONE") or number + 1 >= len(tokens):
            continue
        of = number + 1
        stage = words(tokens, of, "STAGE")
        if word == "ON":
            of += 1 + (tokens[of].text.upper() in _STREAMED)
        source = text[tokens[of].start : tokens[end_of_name(tokens, of)].end + 1]
        if words(tokens, of - 1, "DIRECTORY", "("):  # the list of a stage's files
            source = text[tokens[of].end + 1 : tokens[matching(tokens, of)].start]
        what = f"SELECT * FROM {source}" if word == "CLONE" else f"{_CHANGES} {'@' if stage else ''}{source}"
        before = " ".join(token.text for token in tokens[:place])
        name = text[tokens[first].start : tokens[last].end + 1]
        yield 0, tokens[-1].end + 1, f"{before} VIEW {name} AS {what}"
        return


def table_kinds(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: CREATE HYBRID TABLE, ALTER DYNAMIC TABLE: tables as far as lineage cares."""
    if not words(tokens, 0, "CREATE") and not words(tokens, 0, "ALTER"):
        return
    for number in range(1, min(len(tokens) - 1, 5)):
        if tokens[number].text.upper() in _TABLE_KINDS and words(tokens, number + 1, "TABLE"):
            yield span(tokens, number, number)
            return


def linear_clusters(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: CLUSTER BY LINEAR (…)."""
    for number in range(len(tokens) - 3):
        if words(tokens, number, "CLUSTER", "BY", "LINEAR", "("):
            yield span(tokens, number + 2, number + 2)


def file_formats(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Snowflake: COPY … FILE_FORMAT = schema.name, without the brackets that sqlglot wants."""
    if not words(tokens, 0, "COPY"):
        return
    for number in range(len(tokens) - 2):
        if words(tokens, number, "FILE_FORMAT", "=") and tokens[number + 2].text != "(":
            yield span(tokens, number, end_of_name(tokens, number + 2))


def snapshots(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """BigQuery: CREATE SNAPSHOT TABLE s CLONE t FOR SYSTEM_TIME AS OF … OPTIONS (…), as a clone."""
    place = next((n for n, token in enumerate(tokens[:4]) if token.text.upper() == "SNAPSHOT"), None)
    if place is None or not words(tokens, 0, "CREATE") or not words(tokens, place + 1, "TABLE"):
        return
    yield span(tokens, place, place)
    clone = next((n for n in at_depth_zero(tokens, place) if tokens[n].text.upper() == "CLONE"), None)
    if clone is not None and clone + 1 < len(tokens):
        last = end_of_name(tokens, clone + 1)
        if last + 1 < len(tokens):
            yield span(tokens, last + 1, len(tokens) - 1)


def replicas(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """BigQuery: CREATE MATERIALIZED VIEW v AS REPLICA OF t."""
    if not words(tokens, 0, "CREATE"):
        return
    for number in at_depth_zero(tokens, 1):
        if words(tokens, number, "REPLICA", "OF") and number + 2 < len(tokens):
            yield span(tokens, number, number + 1, "SELECT * FROM")
            return


# Casts to types of PostgreSQL's that sqlglot does not know: they are written as casts to text.

_NAMES = (TokenType.VAR, TokenType.OBJECT_IDENTIFIER, TokenType.SCHEMA)


def unknown_types(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """`a::aclitem[]`, `a::pg_catalog.oid`, CAST(a AS aclitem)."""
    for number, token in enumerate(tokens):
        if token.token_type is TokenType.DCOLON:
            yield from _edit(tokens, number + 1)
        elif words(tokens, number, "CAST", "("):
            closing = matching(tokens, number + 1)
            begin = next((place for place in range(closing - 1, number, -1) if words(tokens, place, "AS")), None)
            if begin is not None:
                yield from _edit(tokens, begin + 1)


def _edit(tokens: list[Token], first: int) -> Iterator[Edit]:
    last = first
    while last < len(tokens) and tokens[last].token_type in _NAMES:
        if not words(tokens, last + 1, "."):
            yield span(tokens, first, last, "text")
            return
        last += 2
