"""What sqlglot does not know of Spark, Databricks, Athena, Redshift, DuckDB and ClickHouse, written so that it does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sqlglot import parse_one
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects import dialect_of
from ingestion.dialects.definition import keywords
from ingestion.parsing.sqlglot.expressions.names import Names, path_of, table_elsewhere
from ingestion.parsing.sqlglot.repairs.edits import Edit, at_depth_zero, matching, span, words

# What sqlglot does not know of Spark, Databricks, Athena, Redshift, DuckDB and ClickHouse, written so that it does.

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


# Databricks' pipelines: APPLY CHANGES, AUTO CDC and CREATE FLOW, as the INSERT that they come to.

_CLAUSES = keywords("WHERE APPLY SEQUENCE COLUMNS STORED TRACK IGNORE ;")


def pipeline_flow(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """CREATE FLOW f AS INSERT INTO [ONCE] t …, without the flow's name."""
    if not words(tokens, 0, "CREATE", "FLOW"):
        return
    start = next((n for n in range(2, len(tokens)) if words(tokens, n, "AS", "INSERT", "INTO")), None)
    if start is not None:
        yield span(tokens, 0, start)
        if words(tokens, start + 3, "ONCE"):
            yield span(tokens, start + 3, start + 3)


def applied_changes(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """APPLY CHANGES INTO t FROM s KEYS (…) …: the rows of s by the names of its columns, the newest of each key.

    The keys decide which row is written, not what is in it.
    """
    first = next((n for n in at_depth_zero(tokens, 0) if _applies(tokens, n)), None)
    if first is None:
        return
    source = next((n for n in range(first, len(tokens)) if words(tokens, n, "FROM")), None)
    keys = next((n for n in range(source or 0, len(tokens)) if words(tokens, n, "KEYS", "(")), None)
    target = _target(text, tokens, first, source)
    if source is None or keys is None or not target:
        return
    rows = _between(text, tokens, source + 1, keys)
    columns, conditions, order = _clauses(text, tokens, keys + 1)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    by = f" ORDER BY {order}" if order else ""
    last = len(tokens) - 1
    yield span(tokens, 0, last, f"INSERT INTO {target} BY NAME SELECT {columns} FROM {rows}{where}{by}")


def _applies(tokens: list[Token], number: int) -> bool:
    return words(tokens, number, "APPLY", "CHANGES") or words(tokens, number, "AUTO", "CDC")


def _target(text: str, tokens: list[Token], first: int, source: int | None) -> str:
    """What stands behind INTO, or the table that the statement makes."""
    if words(tokens, first + 2, "INTO"):
        return _between(text, tokens, first + 3, source or len(tokens))
    start = next((n + 1 for n in range(first) if words(tokens, n, "TABLE")), None)
    if start is None or not words(tokens, first - 1, "FLOW"):
        return ""
    start += 3 if words(tokens, start, "IF", "NOT", "EXISTS") else 0
    end = start + 1
    while words(tokens, end, "."):
        end += 2
    return _between(text, tokens, start, end)


def _clauses(text: str, tokens: list[Token], start: int) -> tuple[str, list[str], str]:
    """The select list, the conditions under which rows are written, and what orders them."""
    columns, conditions, order = "*", [], ""
    places = [n for n in at_depth_zero(tokens, start) if tokens[n].text.upper() in _CLAUSES]
    for place, end in zip(places, [*places[1:], len(tokens)], strict=True):
        if words(tokens, place, "WHERE"):
            conditions.append(f"({_between(text, tokens, place + 1, end)})")
        elif words(tokens, place, "APPLY", "AS") and words(tokens, place + 3, "WHEN"):
            conditions.append(f"NOT ({_between(text, tokens, place + 4, end)})")
        elif words(tokens, place, "SEQUENCE", "BY"):
            order = _between(text, tokens, place + 2, end)
        elif words(tokens, place, "COLUMNS"):
            listed = tokens[place + 1].token_type is TokenType.L_PAREN
            columns = _between(text, tokens, place + 1 + listed, end - listed)
    return columns, conditions, order


def _between(text: str, tokens: list[Token], start: int, end: int) -> str:
    return text[tokens[start].start : tokens[end - 1].end + 1] if start < end <= len(tokens) else ""


# ClickHouse's dictionaries: what CREATE DICTIONARY loads, and dictionary('d') as a relation.

_TEXTS = (TokenType.STRING, TokenType.HEREDOC_STRING)


def dictionary(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """FROM dictionary('db.d') reads the dictionary of that name."""
    for number in range(1, len(tokens) - 3):
        if words(tokens, number, "DICTIONARY", "(") and tokens[number - 1].text.upper() in ("FROM", "JOIN", ","):
            closing = matching(tokens, number + 1)
            name = text[tokens[number + 2].start : tokens[closing - 1].end + 1]
            if tokens[number + 2].token_type is TokenType.STRING:
                name = _quote(tokens[number + 2].text)
            yield span(tokens, number, closing, name)


def _quote(name: str) -> str:
    return ".".join(f"`{part}`" for part in name.replace("`", "").split("."))


def loaded_dictionary(text: str, tokens: list[Token]) -> Iterator[Edit]:
    """CREATE DICTIONARY d (…) SOURCE(CLICKHOUSE(TABLE 's' …)) as the table that it loads from there.

    Of a dictionary from elsewhere only the name is left: what its source is called there is no name here.
    """
    place = next((n for n in range(1, min(len(tokens), 5)) if words(tokens, n, "DICTIONARY")), None)
    opening = next((n for n in range(place or 0, len(tokens)) if tokens[n].token_type is TokenType.L_PAREN), None)
    if place is None or opening is None or not words(tokens, 0, "CREATE"):
        return
    source = next((n for n in at_depth_zero(tokens, opening) if words(tokens, n, "SOURCE", "(")), None)
    if source is None:
        return
    columns = [text[tokens[n].start : tokens[n].end + 1] for n in _first_of_items(tokens, opening)]
    rows = _rows(tokens, source + 2, ", ".join(columns))
    if rows:
        end = next((n for n in range(place, opening) if words(tokens, n, "ON", "CLUSTER")), opening)
        yield span(tokens, place, place, "TABLE")
        yield span(tokens, end, len(tokens) - 1, f" AS {rows}")
    else:
        yield span(tokens, opening, len(tokens) - 1)


def _first_of_items(tokens: list[Token], opening: int) -> list[int]:
    closing = matching(tokens, opening)
    inside = set(at_depth_zero(tokens[:closing], opening + 1))
    return [n for n in range(opening + 1, closing) if n in inside and tokens[n - 1].text in ("(", ",")]


def _rows(tokens: list[Token], source: int, columns: str) -> str:
    """The query of a source; "" where it is in another system."""
    settings = {
        tokens[n].text.upper(): tokens[n + 1].text
        for n in range(source + 2, matching(tokens, source + 1) - 1)
        if tokens[n + 1].token_type in (TokenType.STRING, TokenType.HEREDOC_STRING)
        or tokens[n].text.upper() in ("TABLE", "DB")
    }
    kind = tokens[source].text.upper()
    if kind == "CLICKHOUSE" and "TABLE" in settings:
        database = f"{settings['DB']}." if settings.get("DB") else ""
        return f"SELECT {columns} FROM {_quote(database + settings['TABLE'])}"
    if kind == "CLICKHOUSE" and "QUERY" in settings:
        return f"SELECT {columns} FROM ({settings['QUERY'].rstrip('; ')})"
    if kind in ("FILE", "HTTP"):
        place = (settings.get("PATH") or settings.get("URL") or "").replace("'", "")
        return f"SELECT {columns} FROM url('{place}')" if place else ""
    return ""
