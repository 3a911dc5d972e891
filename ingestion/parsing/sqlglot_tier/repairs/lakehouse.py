"""What sqlglot does not know of Spark, Databricks, Athena, Redshift, DuckDB and ClickHouse, written so that it does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sqlglot import parse_one
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects import dialect_of
from ingestion.parsing.sqlglot_tier.names.function_tables import table_elsewhere
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.parsing.sqlglot_tier.names.paths import path_of
from ingestion.parsing.sqlglot_tier.repairs.edits import Edit, at_depth_zero, matching, span, words

_SHOWN = {
    "DESCRIBE": ("column_name", "column_type", "null", "key", "default", "extra"),
    "SHOW": ("name",),
    "SHOW ALL TABLES": ("database", "schema", "name", "column_names", "column_types", "temporary"),
    "SHOW DATABASES": ("database_name",),
}
_SUMMED = (
    ("min", "MIN(*)"),
    ("max", "MAX(*)"),
    ("approx_unique", "''"),
    ("avg", "AVG(*)"),
    ("std", "STDDEV(*)"),
    ("q25", "QUANTILE_CONT(*)"),
    ("q50", "QUANTILE_CONT(*)"),
    ("q75", "QUANTILE_CONT(*)"),
    ("count", "''"),
    ("null_percentage", "''"),
)


def schema_evolution(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """MERGE WITH SCHEMA EVOLUTION INTO t …."""
    for number in range(1, min(len(tokens) - 2, 4)):
        if words(tokens, number, "WITH", "SCHEMA", "EVOLUTION"):
            yield span(tokens, number, number + 2)


def directory_format(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Spark: INSERT OVERWRITE DIRECTORY ['path'] USING format OPTIONS (…) SELECT, with the path alone."""
    for number in at_depth_zero(tokens, 1):
        using = next((n for n in (number + 1, number + 2) if words(tokens, n, "USING")), None)
        if not words(tokens, number, "DIRECTORY") or using is None:
            continue
        last = using + 1
        while words(tokens, last + 1, "."):
            last += 2
        path = ""
        if words(tokens, last + 1, "OPTIONS", "("):
            path = _path_option(tokens, last + 2)
            last = matching(tokens, last + 2)
        yield span(tokens, using, last, f" '{path}' " if path and using == number + 1 else " ")
        return


def _path_option(tokens: list[Token], opening: int) -> str:
    """The path among the options in brackets, "" without one."""
    for number in range(opening + 1, matching(tokens, opening)):
        if tokens[number].text.lower() == "path" and tokens[number - 1].text in ("(", ","):
            value = tokens[number + 1 + words(tokens, number + 1, "=")]
            return value.text.replace("'", "") if value.token_type is TokenType.STRING else ""
    return ""


def view_over_files(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Spark: CREATE TEMPORARY VIEW v USING format OPTIONS (path '…') as a query of the path.

    Without a path the view alone is left: what is read stands in options that only the format knows.
    """
    view = next((n for n in range(1, min(len(tokens), 8)) if words(tokens, n, "VIEW")), None)
    if view is None or tokens[0].text.upper() != "CREATE":
        return
    using = next((n for n in at_depth_zero(tokens, view) if words(tokens, n, "USING")), None)
    if using is None or any(words(tokens, n, "AS") for n in at_depth_zero(tokens[:using], view)):
        return
    last = using + 1
    while words(tokens, last + 1, "."):
        last += 2
    path = _path_option(tokens, last + 2) if words(tokens, last + 1, "OPTIONS", "(") else ""
    if not path or "`" in path:
        yield span(tokens, using, len(tokens) - 1, "")
        return
    columns = "*"
    if tokens[using - 1].token_type is TokenType.R_PAREN:
        opening = next(n for n in at_depth_zero(tokens, view) if tokens[n].token_type is TokenType.L_PAREN)
        starts = (n for n in range(opening + 1, using) if tokens[n - 1].text in ("(", ","))
        listed = [n for n in starts if n in set(at_depth_zero(tokens[:using], opening + 1))]
        columns = ", ".join(text[tokens[n].start : tokens[n].end + 1] for n in listed)
    yield span(tokens, using, len(tokens) - 1, f"AS SELECT {columns} FROM csv.`{path}`")


def cloned_table(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Databricks: CREATE TABLE t DEEP CLONE s VERSION AS OF 3 LOCATION '…': the names alone."""
    if tokens[0].text.upper() not in ("CREATE", "REPLACE"):
        return
    clone = next((n for n in at_depth_zero(tokens, 2) if words(tokens, n, "CLONE")), None)
    if clone is None or any(words(tokens, n, "AS") for n in at_depth_zero(tokens[:clone], 2)):
        return
    if words(tokens, clone - 1, "DEEP"):
        yield span(tokens, clone - 1, clone - 1)
    end = clone + 1
    while words(tokens, end + 1, "."):
        end += 2
    if end + 1 < len(tokens):
        yield span(tokens, end + 1, len(tokens) - 1)


def replaced_table(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Spark: REPLACE TABLE t …, which another table stood at before."""
    if words(tokens, 0, "REPLACE", "TABLE"):
        yield span(tokens, 0, 0, "CREATE OR REPLACE")


def expectations(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Databricks: CREATE STREAMING TABLE t (a INT, CONSTRAINT c EXPECT (…) ON VIOLATION …) AS …."""
    for opening in range(len(tokens)):
        if tokens[opening].text.upper() == "AS":
            return
        if tokens[opening].token_type is TokenType.L_PAREN:
            break
    else:
        return
    closing = matching(tokens, opening)
    commas = (n for n in at_depth_zero(tokens[:closing], opening + 1) if tokens[n].text == ",")
    borders = [opening, *commas, closing]
    items = [
        (start, end)
        for start, end in pairwise(borders)
        if words(tokens, start + 1, "CONSTRAINT") and "EXPECT" in [token.text.upper() for token in tokens[start:end]]
    ]
    if len(items) == len(borders) - 1:
        yield span(tokens, opening, closing)
        return
    for start, end in items:
        yield span(tokens, start + 1, end) if start == opening else span(tokens, start, end - 1)


def pivot_statement(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """DuckDB: CREATE TABLE t AS PIVOT …, INSERT INTO t UNPIVOT …: the statement as a query of its own."""
    if not tokens or tokens[0].text.upper() not in ("CREATE", "INSERT"):
        return
    for number in at_depth_zero(tokens, 1):
        word = tokens[number].text.upper()
        if word in ("SELECT", "FROM", "WITH", "VALUES"):
            return
        if word in ("PIVOT", "UNPIVOT"):
            last = tokens[-1] if tokens[-1].text != ";" else tokens[-2]
            yield tokens[number].start, tokens[number].start, "FROM ("
            yield last.end + 1, last.end + 1, ")"
            return


def unloaded_query(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Athena: UNLOAD (SELECT ...) TO 'path' WITH (...), with the query as a text and without the options."""
    if not words(tokens, 0, "UNLOAD", "(") or tokens[2].token_type is TokenType.STRING:
        return
    closing = matching(tokens, 1)
    query = text[tokens[2].start : tokens[closing - 1].end + 1].replace("'", "''")
    yield tokens[2].start, tokens[closing - 1].end + 1, f"'{query}'"
    for number in range(closing, len(tokens)):
        if words(tokens, number, "WITH", "("):
            yield span(tokens, number, matching(tokens, number + 1))


def shown_relation(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """DuckDB: (DESCRIBE t), (SHOW …) and (SUMMARIZE t) as a relation: what is told of a table, or of its values."""
    for number in range(len(tokens) - 2):
        before = tokens[number - 1].text.upper() if number else ""
        if tokens[number].token_type is not TokenType.L_PAREN or before not in ("FROM", "JOIN", ",", "AS"):
            continue
        word = tokens[number + 1].text.upper()
        closing = matching(tokens, number)
        if word in ("DESCRIBE", "DESC", "SHOW"):
            yield span(tokens, number + 1, closing - 1, _constants(tokens, number + 1))
        elif word == "SUMMARIZE":
            values = ", ".join(f'{value} AS "{name}"' for name, value in _SUMMED)
            yield span(tokens, number + 1, number + 1, f"SELECT '' AS column_name, '' AS column_type, {values} FROM")
            if tokens[number + 2].token_type in (TokenType.SELECT, TokenType.WITH):
                yield tokens[number + 2].start, tokens[number + 2].start, "("
                yield tokens[closing].start, tokens[closing].start, ")"


def _constants(tokens: list[Token], number: int) -> str:
    """A query that gives the columns of what is shown, and reads nothing."""
    shown = " ".join(token.text.upper() for token in tokens[number : number + 3])
    about = next((key for key in ("SHOW ALL TABLES", "SHOW DATABASES") if shown.startswith(key)), "DESCRIBE")
    if shown.startswith("SHOW TABLES"):
        about = "SHOW"
    return "SELECT " + ", ".join(f"'' AS \"{name}\"" for name in _SHOWN[about])


def table_properties(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Redshift: CREATE EXTERNAL TABLE … TABLE PROPERTIES (…), which sqlglot takes for the query TABLE f(…)."""
    for number in range(3, len(tokens) - 2):
        if words(tokens, number, "TABLE", "PROPERTIES", "("):
            yield span(tokens, number, matching(tokens, number + 2))


def inserted_function(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """ClickHouse: INSERT INTO FUNCTION f(…) (columns) …, with the table or file that the function names."""
    number = 3 if words(tokens, 0, "INSERT", "INTO", "TABLE", "FUNCTION") else 2
    if not words(tokens, 0, "INSERT", "INTO") or not words(tokens, number, "FUNCTION"):
        return
    closing = matching(tokens, number + 2)
    if not words(tokens, closing + 1, "(") or words(tokens, closing + 2, "SELECT"):
        return
    function = parse_one(text[tokens[number + 1].start : tokens[closing].end + 1], dialect="clickhouse")
    table = table_elsewhere(function, Names(dialect_of("clickhouse")))
    path = path_of(function)
    if table is not None:
        yield span(tokens, number, closing, ".".join(f"`{part}`" for part in table.parts))
    elif path is not None and "`" not in path:
        yield span(tokens, number, closing, f"`{path}`")


def existing_partition(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Hive: INSERT OVERWRITE TABLE t PARTITION (…) IF NOT EXISTS SELECT …."""
    for number in range(3, len(tokens) - 2):
        if words(tokens, number, "IF", "NOT", "EXISTS") and tokens[number - 1].token_type is TokenType.R_PAREN:
            yield span(tokens, number, number + 2)
            return


def merged_without_duplicates(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Redshift: MERGE INTO t USING s ON … REMOVE DUPLICATES writes all of s, column by column."""
    if words(tokens, 0, "MERGE"):
        for number in at_depth_zero(tokens, 1):
            if words(tokens, number, "REMOVE", "DUPLICATES"):
                yield span(tokens, number, number + 1, "WHEN NOT MATCHED THEN INSERT ROW")


def changed_query(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """ClickHouse: ALTER TABLE v [ON CLUSTER c] MODIFY QUERY SELECT … defines a materialized view anew."""
    modify = next((n for n in at_depth_zero(tokens, 2) if words(tokens, n, "MODIFY", "QUERY")), None)
    if modify is not None and words(tokens, 0, "ALTER", "TABLE"):
        cluster = next((n for n in range(2, modify) if words(tokens, n, "ON", "CLUSTER")), modify)
        yield span(tokens, 0, 1, "CREATE MATERIALIZED VIEW")
        yield span(tokens, cluster, modify + 1, "AS")


def live_table(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """Databricks: CREATE [OR REFRESH] [STREAMING] LIVE TABLE t, without the first word for it."""
    for number in range(1, min(len(tokens) - 1, 6)):
        if words(tokens, 0, "CREATE") and words(tokens, number, "LIVE") and words(tokens, number + 1, "TABLE"):
            yield span(tokens, number, number)


def foreign_table(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """PostgreSQL: CREATE FOREIGN TABLE t … SERVER s OPTIONS (…), as a table of its own."""
    if words(tokens, 0, "CREATE", "FOREIGN", "TABLE"):
        yield span(tokens, 1, 1)
        server = next((n for n in at_depth_zero(tokens, 3) if words(tokens, n, "SERVER")), None)
        if server is not None:
            yield span(tokens, server, len(tokens) - 1)


def merged_by_columns(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """DuckDB: MERGE INTO t USING s USING (k) WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT."""
    if not any(words(tokens, n, "MERGE", "INTO") for n in at_depth_zero(tokens, 0)):
        return
    usings = [n for n in at_depth_zero(tokens, 1) if words(tokens, n, "USING")]
    if len(usings) == 2 and words(tokens, usings[1] + 1, "("):
        closing = matching(tokens, usings[1] + 1)
        sides = [text[tokens[n - 1].start : tokens[n - 1].end + 1] for n in usings]
        names = [text[t.start : t.end + 1] for t in tokens[usings[1] + 2 : closing] if t.text != ","]
        if sides[1] != ")":
            conditions = " AND ".join(f"{sides[0]}.{name} = {sides[1]}.{name}" for name in names)
            yield span(tokens, usings[1], closing, f"ON {conditions}")
    for number in range(1, len(tokens)):
        if words(tokens, number - 1, "THEN") and tokens[number].text.upper() in ("UPDATE", "INSERT"):
            last = number + 2 if words(tokens, number + 1, "BY", "POSITION") else number
            if last + 1 == len(tokens) or tokens[last + 1].text.upper() in ("WHEN", ";", "RETURNING"):
                yield span(tokens, number, last, "UPDATE SET *" if words(tokens, number, "UPDATE") else "INSERT *")
