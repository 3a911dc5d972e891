"""What sqlglot does not know of Spark, Databricks, Athena, Trino, Redshift, DuckDB and ClickHouse, written so that it
does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sqlglot import parse_one

from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERIES
from ingestion.errors import FinalRefusal
from ingestion.parsing.sqlglot.expressions.names import Names, path_of, table_elsewhere
from ingestion.parsing.sqlglot.repairs.edits import BY_POSITION, REFUSALS

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

_BEFORE_ARGUMENTS = keywords("( , >")
_BEHIND_ARGUMENTS = keywords(", )")
_MADE_LIVE = keywords("table view")
_REFRESHED = keywords("streaming materialized")
_BEFORE_RELATION = keywords("from join into table view using stream")
_LIVE_IS_NO_ALIAS_BEFORE = keywords(". table view")
_CLAUSE_WORDS = keywords("from select where group order by having limit union values set keys columns sequence")
_QUERY_BEGINS = keywords("select with from (")
_OF_PIPELINE = 2
"""Parts of LIVE.t."""
_WAYS = keywords("name position")
_CLAUSES = keywords("where apply sequence columns stored track ignore ;")


def schema_evolution(code: Code) -> Iterator[Edit]:
    """Spark: without that a MERGE may add columns: MERGE WITH SCHEMA EVOLUTION INTO t …."""
    for number in range(1, min(len(code) - 2, 4)):
        if code.stands(number, "with", "schema", "evolution"):
            yield code.edit(number, number + 2)


def directory_format(code: Code) -> Iterator[Edit]:
    """Spark: INSERT OVERWRITE DIRECTORY ['path'] USING format OPTIONS (…) SELECT, with the path alone."""
    for number in code.outside(1):
        using = next((n for n in (number + 1, number + 2) if code.stands(n, "using")), None)
        if not code.stands(number, "directory") or using is None:
            continue
        last = using + 1
        while code.stands(last + 1, "."):
            last += 2
        path = ""
        if code.stands(last + 1, "options", "("):
            path = _path_option(code, last + 2)
            last = code.closing(last + 2)
        yield code.edit(using, last, f" '{path}' " if path and using == number + 1 else " ")
        return


def _path_option(code: Code, opening: int) -> str:
    """The path among the options in brackets, "" without one."""
    for number in range(opening + 1, code.closing(opening)):
        if code.without_quotes(number).lower() == "path" and code.word(number - 1) in ("(", ","):
            value = number + 1 + code.stands(number + 1, "=")
            return code.without_quotes(value).replace("'", "") if code.is_string(value) else ""
    return ""


def view_over_files(code: Code) -> Iterator[Edit]:
    """Spark: CREATE TEMPORARY VIEW v USING format OPTIONS (path '…') as a query of the path.

    Without a path the view alone is left: what is read stands in options that only the format knows.
    """
    view = next((n for n in range(1, min(len(code), 8)) if code.stands(n, "view")), None)
    if view is None or code.word(0) != "create":
        return
    using = next((n for n in code.outside(view) if code.stands(n, "using")), None)
    if using is None or any(code.stands(n, "as") for n in code.outside(view, using)):
        return
    last = using + 1
    while code.stands(last + 1, "."):
        last += 2
    path = _path_option(code, last + 2) if code.stands(last + 1, "options", "(") else ""
    if not path or "`" in path:
        yield code.edit(using, len(code) - 1, "")
        return
    columns = "*"
    if code.word(using - 1) == ")":
        opening = next(n for n in code.outside(view) if code.word(n) == "(")
        starts = (n for n in range(opening + 1, using) if code.word(n - 1) in ("(", ","))
        listed = [n for n in starts if n in set(code.outside(opening + 1, using))]
        columns = ", ".join(code.between(n, n + 1) for n in listed)
    yield code.edit(using, len(code) - 1, f"AS SELECT {columns} FROM csv.`{path}`")


def cloned_table(code: Code) -> Iterator[Edit]:
    """Databricks: CREATE TABLE t DEEP CLONE s VERSION AS OF 3 LOCATION '…': the names alone."""
    if code.word(0) not in ("create", "replace"):
        return
    clone = next((n for n in code.outside(2) if code.stands(n, "clone")), None)
    if clone is None or any(code.stands(n, "as") for n in code.outside(2, clone)):
        return
    if code.stands(clone - 1, "deep"):
        yield code.edit(clone - 1, clone - 1)
    end = clone + 1
    while code.stands(end + 1, "."):
        end += 2
    if end + 1 < len(code):
        yield code.edit(end + 1, len(code) - 1)


def replaced_table(code: Code) -> Iterator[Edit]:
    """Spark: REPLACE TABLE t …, which another table stood at before."""
    if code.stands(0, "replace", "table"):
        yield code.edit(0, 0, "CREATE OR REPLACE")


def expectations(code: Code) -> Iterator[Edit]:
    """Databricks: without what rows are expected to meet: CREATE STREAMING TABLE t (CONSTRAINT c EXPECT (…) …) AS …."""
    for opening in range(len(code)):
        if code.word(opening) == "as":
            return
        if code.word(opening) == "(":
            break
    else:
        return
    closing = code.closing(opening)
    commas = (n for n in code.outside(opening + 1, closing) if code.word(n) == ",")
    borders = [opening, *commas, closing]
    items = [
        (start, end)
        for start, end in pairwise(borders)
        if code.stands(start + 1, "constraint") and any(code.word(n) == "expect" for n in range(start, end))
    ]
    if len(items) == len(borders) - 1:
        yield code.edit(opening, closing)
        return
    for start, end in items:
        yield code.edit(start + 1, end) if start == opening else code.edit(start, end - 1)


def pivot_statement(code: Code) -> Iterator[Edit]:
    """DuckDB: CREATE TABLE t AS PIVOT …, INSERT INTO t UNPIVOT …, PIVOT … ORDER BY a: as a query of its own."""
    if code.word(0) not in ("create", "insert", "pivot", "unpivot"):
        return
    for number in code.outside(0):
        word = code.word(number)
        if word in ("select", "from", "with", "values"):
            return
        if word in ("pivot", "unpivot"):
            ends = (n for n in code.outside(number) if code.stands(n, "order", "by") or code.word(n) in ("limit", ";"))
            last = next(ends, len(code)) - 1
            if number or last < len(code) - 1:
                yield code.start_of(number), code.start_of(number), "FROM ("
                yield code.end_of(last), code.end_of(last), ")"
            return


def unloaded_query(code: Code) -> Iterator[Edit]:
    """Athena: UNLOAD (SELECT ...) TO 'path' WITH (...), with the query as a text and without the options."""
    if not code.stands(0, "unload", "(") or code.is_string(2):
        return
    closing = code.closing(1)
    query = code.between(2, closing).replace("'", "''")
    yield code.start_of(2), code.end_of(closing - 1), f"'{query}'"
    for number in range(closing, len(code)):
        if code.stands(number, "with", "("):
            yield code.edit(number, code.closing(number + 1))


_BEFORE_SHOWN = keywords("from join , as all union except intersect")


def shown_relation(code: Code) -> Iterator[Edit]:
    """DuckDB: (DESCRIBE t), (SHOW …) and (SUMMARIZE t) as a relation: what is told of a table, or of its values."""
    for number in range(len(code) - 2):
        before = code.word(number - 1) if number else ""
        if code.word(number) != "(" or before not in _BEFORE_SHOWN:
            continue
        word = code.word(number + 1)
        closing = code.closing(number)
        if word in ("describe", "desc", "show"):
            yield code.edit(number + 1, closing - 1, _constants(code, number + 1))
        elif word == "summarize":
            values = ", ".join(f'{value} AS "{name}"' for name, value in _SUMMED)
            last = number + 1 + code.stands(number + 2, "table")
            yield code.edit(number + 1, last, f"SELECT '' AS column_name, '' AS column_type, {values} FROM")
            if code.word(number + 2) in ("select", "with"):
                yield code.start_of(number + 2), code.start_of(number + 2), "("
                yield code.start_of(closing), code.start_of(closing), ")"


def _constants(code: Code, number: int) -> str:
    """A query that gives the columns of what is shown, and reads nothing."""
    shown = " ".join(code.words(number, 3)).upper()
    about = next((key for key in ("SHOW ALL TABLES", "SHOW DATABASES") if shown.startswith(key)), "DESCRIBE")
    if shown.startswith("SHOW TABLES"):
        about = "SHOW"
    return "SELECT " + ", ".join(f"'' AS \"{name}\"" for name in _SHOWN[about])


def table_properties(code: Code) -> Iterator[Edit]:
    """Redshift: CREATE EXTERNAL TABLE … TABLE PROPERTIES (…), which sqlglot takes for the query TABLE f(…)."""
    for number in range(3, len(code) - 2):
        if code.stands(number, "table", "properties", "("):
            yield code.edit(number, code.closing(number + 2))


def inserted_function(code: Code) -> Iterator[Edit]:
    """ClickHouse: INSERT INTO FUNCTION f(…) (columns) …, with the table or file that the function names.

    Of a function of which nothing is known the list goes: what the columns are called elsewhere is no name here.
    """
    number = 3 if code.stands(0, "insert", "into", "table", "function") else 2
    if not code.stands(0, "insert", "into") or not code.stands(number, "function"):
        return
    closing = code.closing(number + 2)
    if not code.stands(closing + 1, "(") or code.stands(closing + 2, "select"):
        return
    try:
        function = parse_one(code.between(number + 1, closing + 1), dialect="clickhouse")
    except REFUSALS:
        return
    table = table_elsewhere(function, Names(dialect_of("clickhouse")))
    path = path_of(function)
    if table is not None:
        yield code.edit(number, closing, ".".join(f"`{part}`" for part in table.parts))
    elif path is not None and "`" not in path:
        yield code.edit(number, closing, f"`{path}`")
    elif path is None:
        yield code.edit(closing + 1, code.closing(closing + 1))


def written_files(code: Code) -> Iterator[Edit]:
    """StarRocks, Doris: INSERT INTO FILES('path' = 's3://b/d', …) SELECT …: the path, where FILES would be a table."""
    if not code.stands(0, "insert") or not code.stands(2, "files", "("):
        return
    options = [(first, last) for first, last in code.items(4, code.closing(3)) if code.word(first + 1) == "="]
    if options:
        named = {code.without_quotes(first).lower(): code.without_quotes(last - 1) for first, last in options}
        yield _as_path(code, 2, code.closing(3), named.get("path", ""))


def discarded_rows(code: Code) -> Iterator[Edit]:
    """StarRocks: INSERT INTO BLACKHOLE() SELECT …: the query, whose rows go nowhere."""
    if code.stands(0, "insert") and code.stands(2, "blackhole", "(", ")"):
        yield code.edit(0, 4)


def exported_files(code: Code) -> Iterator[Edit]:
    """Druid: INSERT INTO EXTERN(S3(bucket => 'b', prefix => 'p')) AS CSV SELECT …: the path, for its function."""
    if not code.stands(0, "insert", "into", "extern", "(") or code.word(5) != "(":
        return
    closing = code.closing(3)
    given = {code.word(n): code.without_quotes(n + 3) for n in range(5, closing - 3) if code.stands(n + 1, "=", ">")}
    scheme = {"s3": "s3", "google": "gs"}.get(code.word(4), "")
    path = f"{scheme}://{given.get('bucket', '')}/{given.get('prefix', '')}" if scheme else given.get("exportpath", "")
    last = closing + 2 if code.word(closing + 1) == "as" else closing
    yield _as_path(code, 2, last, path)


def _as_path(code: Code, first: int, last: int, path: str) -> Edit:
    """The path as the name of a file: `csv."d/f"`, as it is one of none without a format before it."""
    quote = code.dialect.name_quotes[0]
    if quote in path or not ("/" in path or "." in path):
        raise FinalRefusal("the statement writes files, and no path is known of them")
    return code.edit(first, last, f"csv.{quote}{path}{quote} ")


def source_table(code: Code) -> Iterator[Edit]:
    """Materialize: CREATE TABLE t FROM SOURCE x (REFERENCE r): a table of which another system has the rows.

    SOURCE would be a table, and REFERENCE a column. x stands for the other system, as a foreign server does. In a
    query, CREATE TABLE t AS SELECT a FROM source s, it is a table's name.
    """
    if not code.stands(0, "create", "table"):
        return
    behind = code.dotted_name(5 if code.stands(2, "if", "not", "exists") else 2)[1]
    number = code.after(behind) if code.word(behind) == "(" else behind
    if code.stands(number, "from", "source") and code.is_name(number + 2):
        yield code.edit(number, len(code) - 1)


def loaded_file(code: Code) -> Iterator[Edit]:
    """ClickHouse: INSERT INTO t (a) FROM INFILE 'path' COMPRESSION 'gzip' FORMAT CSV as a query of file('path')."""
    if not code.stands(0, "insert", "into"):
        return
    number = next((n for n in code.outside(2) if code.stands(n, "from", "infile")), None)
    if number is not None and code.is_string(number + 2):
        yield code.edit(number, len(code) - 1, f"SELECT * FROM file({code.between(number + 2, number + 3)})")


def existing_partition(code: Code) -> Iterator[Edit]:
    """Hive: without that a filled partition stays: INSERT OVERWRITE TABLE t PARTITION (…) IF NOT EXISTS SELECT …."""
    for number in range(3, len(code) - 2):
        if code.stands(number, "if", "not", "exists") and code.word(number - 1) == ")":
            yield code.edit(number, number + 2)
            return


def merged_without_duplicates(code: Code) -> Iterator[Edit]:
    """Redshift: MERGE INTO t USING s ON … REMOVE DUPLICATES writes all of s, column by column."""
    if code.stands(0, "merge"):
        for number in code.outside(1):
            if code.stands(number, "remove", "duplicates"):
                yield code.edit(number, number + 1, "WHEN NOT MATCHED THEN INSERT ROW")


def redefined_query(code: Code) -> Iterator[Edit]:
    """ClickHouse: ALTER TABLE v [ON CLUSTER c] MODIFY QUERY SELECT … defines a materialized view anew."""
    modify = next((n for n in code.outside(2) if code.stands(n, "modify", "query")), None)
    if modify is not None and code.stands(0, "alter", "table"):
        cluster = next((n for n in range(2, modify) if code.stands(n, "on", "cluster")), modify)
        yield code.edit(0, 1, "CREATE MATERIALIZED VIEW")
        yield code.edit(cluster, modify + 1, "AS")


def live_table(code: Code) -> Iterator[Edit]:
    """Databricks: CREATE [OR REFRESH] [PRIVATE] [STREAMING] LIVE TABLE t, without the words that pipelines know.

    ClickHouse: CREATE LIVE VIEW v.
    """
    for number in range(1, min(len(code) - 1, 6)):
        if code.stands(0, "create") and (
            (code.word(number) == "live" and code.word(number + 1) in _MADE_LIVE)
            or (code.word(number) == "private" and code.word(number + 1) in _REFRESHED)
        ):
            yield code.edit(number, number)


def pipeline_tables(code: Code) -> Iterator[Edit]:
    """Databricks: LIVE.t in what only a pipeline runs: the table t of the same pipeline, which makes it as t.

    In other statements `live` is a schema.
    """
    if _is_of_pipeline(code):
        yield from _live_names(code)


def _live_names(code: Code) -> Iterator[Edit]:
    """None where anything else in the statement is called `live`: an alias has columns, and a column may have fields.

    `SELECT live.b FROM STREAM(s) AS live`, `max(live.b)` and `EXTRACT(DAY FROM live.b)` read no table.
    """
    for number in range(1, len(code)):
        is_live = code.is_name(number) and code.without_quotes(number).lower() == "live"
        if is_live and code.word(number + 1) not in _LIVE_IS_NO_ALIAS_BEFORE and code.word(number - 1) != ".":
            return
    for number in range(1, len(code) - 1):
        named = code.stands(number, "live", ".") and len(code.dotted_name(number)[0]) == _OF_PIPELINE
        if named and _is_relation(code, number):
            yield code.edit(number, number + 1, "")


def _is_relation(code: Code, number: int) -> bool:
    """Whether a name stands where a clause takes a relation, within STREAM(…), or further on in a FROM's list."""
    before = code.word(number - 1)
    if before == "(":
        return code.word(number - 2).startswith("stream") or code.word(number - 2) in ("from", "join")
    start = number - 1
    while start > 0 and code.word(start) != "(":
        start = code.opening(start) - 1 if code.word(start) == ")" else start - 1
    in_query = code.word(max(start, 0)) != "(" or code.word(start + 1) in _QUERY_BEGINS
    if before in _BEFORE_RELATION:
        return in_query and code.word(number - 2) != "distinct"
    last = number - 1
    while before == "," and last > start and code.word(last) not in _CLAUSE_WORDS:
        last = code.opening(last) - 1 if code.word(last) == ")" else last - 1
    return before == "," and in_query and code.word(last) == "from"


def _is_of_pipeline(code: Code) -> bool:
    """A materialized view may be made by a warehouse too, in a schema that it names."""
    if code.stands(0, "create", "flow"):
        return True
    kinds = [number for number in range(1, min(len(code) - 1, 6)) if code.word(number) in ("table", "view")]
    if code.word(0) != "create" or not kinds:
        return False
    words = code.words(1, kinds[0] - 1)
    if "live" in words or "streaming" in words or "refresh" in words:
        return True
    return "materialized" in words and "replace" not in words and code.word(kinds[0] + 2) != "."


def foreign_table(code: Code) -> Iterator[Edit]:
    """PostgreSQL: CREATE FOREIGN TABLE t … SERVER s OPTIONS (…), as a table of its own."""
    if code.stands(0, "create", "foreign", "table"):
        yield code.edit(1, 1)
        server = next((n for n in code.outside(3) if code.stands(n, "server")), None)
        if server is not None:
            yield code.edit(server, len(code) - 1)


def merged_by_columns(code: Code) -> Iterator[Edit]:
    """DuckDB: MERGE INTO t USING s USING (k) WHEN MATCHED THEN UPDATE [BY NAME] WHEN NOT MATCHED THEN INSERT [BY NAME].

    COLUMNS(*) stands for all columns by their names.
    """
    if not any(code.stands(n, "merge", "into") for n in code.outside(0)):
        return
    usings = [n for n in code.outside(1) if code.stands(n, "using")]
    if len(usings) == 2 and code.stands(usings[1] + 1, "("):
        closing = code.closing(usings[1] + 1)
        sides = [code.between(n - 1, n) for n in usings]
        names = [code.between(n, n + 1) for n in range(usings[1] + 2, closing) if code.word(n) != ","]
        if sides[1] != ")":
            conditions = " AND ".join(f"{sides[0]}.{name} = {sides[1]}.{name}" for name in names)
            yield code.edit(usings[1], closing, f"ON {conditions}")
    for number in range(1, len(code)):
        if code.stands(number - 1, "then") and code.word(number) in ("update", "insert"):
            chosen = code.word(number + 1) == "by" and code.word(number + 2) in ("position", "name")
            last = number + 2 if chosen else number
            last += code.word(last + 1) == "*"
            if last + 1 == len(code) or code.word(last + 1) in ("when", ";", "returning"):
                star = "COLUMNS(*)" if code.stands(number + 1, "by", "name") else "*"
                yield code.edit(number, last, f"{'UPDATE SET' if code.stands(number, 'update') else 'INSERT'} {star}")


def copied_by(code: Code) -> Iterator[Edit]:
    """Databricks: COPY INTO t BY POSITION FROM …: which columns meet, as an option behind the others."""
    if not code.stands(0, "copy", "into"):
        return
    source = next((n for n in code.outside(2) if code.word(n) == "from"), len(code))
    number = next((n for n in range(2, source) if code.word(n) == "by" and code.word(n + 1) in _WAYS), None)
    if number is not None:
        yield code.edit(number, number + 1)
        if code.word(number + 1) == "position":
            end = len(code) - 1 - (code.word(len(code) - 1) == ";")
            yield code.end_of(end), code.end_of(end), f" {BY_POSITION}"


# Databricks' pipelines: APPLY CHANGES, AUTO CDC and CREATE FLOW, as the INSERT that they come to.


def pipeline_flow(code: Code) -> Iterator[Edit]:
    """The INSERT that a flow runs, without the flow's name: CREATE FLOW f AS INSERT INTO [ONCE] t …."""
    if not code.stands(0, "create", "flow"):
        return
    start = next((n for n in range(2, len(code)) if code.stands(n, "as", "insert", "into")), None)
    if start is not None:
        yield code.edit(0, start)
        if code.stands(start + 3, "once"):
            yield code.edit(start + 3, start + 3)


def applied_changes(code: Code) -> Iterator[Edit]:
    """APPLY CHANGES INTO t FROM s KEYS (…) …: the rows of s by the names of its columns, the newest of each key.

    The keys decide which row is written, not what is in it.
    """
    first = next((n for n in code.outside(0) if _applies(code, n)), None)
    insert = None if first is None else _applying_insert(code, first)
    if insert is not None:
        named = Code.of(insert, code.dialect)
        yield code.edit(0, len(code) - 1, with_edits(insert, list(_live_names(named))))


def _applying_insert(code: Code, first: int) -> str | None:
    source = next((n for n in range(first, len(code)) if code.stands(n, "from")), None)
    keys = next((n for n in range(source or 0, len(code)) if code.stands(n, "keys", "(")), None)
    target = _target(code, first, source)
    if source is None or keys is None or not target:
        return None
    rows = _between(code, source + 1, keys)
    columns, conditions, order = _clauses(code, keys + 1)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    by = f" ORDER BY {order}" if order else ""
    return f"INSERT INTO {target} BY NAME SELECT {columns} FROM {rows}{where}{by}"


def _applies(code: Code, number: int) -> bool:
    return code.stands(number, "apply", "changes") or code.stands(number, "auto", "cdc")


def _target(code: Code, first: int, source: int | None) -> str:
    """What stands behind INTO, or the table that the statement makes."""
    if code.stands(first + 2, "into"):
        return _between(code, first + 3, source or len(code))
    start = next((n + 1 for n in range(first) if code.stands(n, "table")), None)
    if start is None or not code.stands(first - 1, "flow"):
        return ""
    start += 3 if code.stands(start, "if", "not", "exists") else 0
    end = start + 1
    while code.stands(end, "."):
        end += 2
    return _between(code, start, end)


def _clauses(code: Code, start: int) -> tuple[str, list[str], str]:
    """The select list, the conditions under which rows are written, and what orders them."""
    columns, conditions, order = "*", [], ""
    indices = [n for n in code.outside(start) if code.word(n) in _CLAUSES]
    for index, end in zip(indices, [*indices[1:], len(code)], strict=True):
        if code.stands(index, "where"):
            conditions.append(f"({_between(code, index + 1, end)})")
        elif code.stands(index, "apply", "as") and code.stands(index + 3, "when"):
            conditions.append(f"NOT ({_between(code, index + 4, end)})")
        elif code.stands(index, "sequence", "by"):
            order = _between(code, index + 2, end)
        elif code.stands(index, "columns"):
            listed = code.word(index + 1) == "("
            columns = _between(code, index + 1 + listed, end - listed)
    return columns, conditions, order


def _between(code: Code, start: int, end: int) -> str:
    return code.between(start, end) if start < end <= len(code) else ""


# Trino's functions over tables.


def tables_and_descriptors(code: Code) -> Iterator[Edit]:
    """TABLE(f(input => TABLE(t) PARTITION BY a, columns => DESCRIPTOR(b))) takes a query as well, and b is no column.

    Of EXCLUDE_COLUMNS it is known what it gives; its whole name is system.builtin.exclude_columns.
    """
    for number in range(1, len(code) - 2):
        if code.stands(number, "table", "("):
            _, behind = code.dotted_name(number + 2)
            if code.stands(behind - 1, "exclude_columns", "("):
                yield from _excluded_columns(code, number, behind)
        if code.word(number - 1) not in _BEFORE_ARGUMENTS or code.word(number + 1) != "(":
            continue
        closing = code.closing(number + 1)
        if code.word(number) == "descriptor":
            yield code.edit(number, closing, "NULL")
        elif code.word(number) == "table" and code.word(code.dotted_name(number + 2)[1]) != "(":
            until = code.find(closing + 1, _BEHIND_ARGUMENTS)
            yield code.edit(number, until - 1, f"(SELECT * FROM {_argument_rows(code, number)})")


def _excluded_columns(code: Code, number: int, opening: int) -> Iterator[Edit]:
    closing = code.closing(number + 1)
    rows = next((n for n in range(opening, closing) if code.stands(n, "table", "(")), None)
    listed = next((n for n in range(opening, closing) if code.stands(n, "descriptor", "(")), None)
    if rows is not None and listed is not None:
        names = code.between(listed + 2, code.closing(listed + 1))
        yield code.edit(number, closing, f"(SELECT * EXCEPT ({names}) FROM {_argument_rows(code, rows)})")


def _argument_rows(code: Code, number: int) -> str:
    given = code.between(number + 2, code.closing(number + 1))
    return f"({given}) AS given_rows" if code.word(number + 2) in QUERIES else given
