"""Texts that sqlglot refuses, written as it takes them: what it does not know of each dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from sqlglot.dialects.clickhouse import ClickHouse

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.definition import keywords
from ingestion.dialects.functions import Effect, known_effect
from ingestion.dialects.inline_rows import row_format
from ingestion.dialects.keywords import BEFORE_RESULT, BEFORE_VALUE, QUERIES
from ingestion.parsing.sqlglot.repairs._changed_rows import included_columns, rows_of_changes
from ingestion.parsing.sqlglot.repairs._clauses import CLAUSE_REPAIRS, combined_values, recursion_clauses, unknown_types
from ingestion.parsing.sqlglot.repairs._clickhouse_clauses import (
    limited_again,
    limits_of_groups,
    named_in_clauses,
    quoted_columns,
    without_more_rows,
)
from ingestion.parsing.sqlglot.repairs._documents import document_functions, is_misread_document, nested_rows
from ingestion.parsing.sqlglot.repairs._lakehouse import (
    applied_changes,
    cloned_table,
    copied_by,
    directory_format,
    discarded_rows,
    existing_partition,
    expectations,
    exported_files,
    foreign_table,
    inserted_function,
    live_table,
    loaded_file,
    merged_by_columns,
    merged_without_duplicates,
    pipeline_flow,
    pipeline_tables,
    pivot_statement,
    redefined_query,
    replaced_table,
    schema_evolution,
    shown_relation,
    source_table,
    table_properties,
    tables_and_descriptors,
    unloaded_query,
    view_over_files,
    written_files,
)
from ingestion.parsing.sqlglot.repairs._pipes import PIPE_REPAIRS, PIPING
from ingestion.parsing.sqlglot.repairs._row_patterns import (
    is_misread_pattern,
    pattern_rows,
    patterns_in_windows,
    rows_of_one_relation,
)
from ingestion.parsing.sqlglot.repairs._semantic_views import semantic_view
from ingestion.parsing.sqlglot.repairs._servers import (
    SERVER_REPAIRS,
    copied_table,
    end_of_name,
    file_formats,
    linear_clusters,
    replicas,
    snapshots,
    streams,
    table_kinds,
)
from ingestion.parsing.sqlglot.repairs._teradata import TERADATA_REPAIRS
from ingestion.parsing.sqlglot.repairs._vertica import calls_and_limits, exported_rows, loaded_rows
from ingestion.parsing.sqlglot.repairs.clickhouse_tables import (
    dictionary,
    forwarding_table,
    loaded_dictionary,
    table_over_function,
)
from ingestion.parsing.sqlglot.repairs.edits import ANY_FUNCTION, Repair

# list[1], interval[1] and DuckDB's date[1]: a list or a type would stand where an element of a column does.
_INDEXED_NAMES = ("interval", "list")
_INDEXED_TYPES = keywords(
    """bigint bignum binary bit bitstring blob bool boolean bpchar bytea char date datetime dec decimal double enum
    float float4 float8 geometry guid hugeint inet int int1 int128 int2 int4 int8 integer json jsonb long number numeric
    object oid range real row short signed smallint str string struct text time timestamp timestamptz timetz tinyint
    ubigint uhugeint uint128 uint16 uint32 uint64 uint8 uinteger usmallint utinyint uuid varbinary varchar variant
    vector"""
)
_BEFORE_INDEXED = (BEFORE_VALUE | BEFORE_RESULT | {"["}) - {"in"}  # a IN (list)[1:3] is no list for sqlglot
_LONGEST_INDEXED = 40  # with blanks before the bracket
_INDEXED = {
    "duckdb": (*_INDEXED_NAMES, *_INDEXED_TYPES),
    # ARRAY[a] is an array in the others, and in these what comes from them
    **dict.fromkeys(("clickhouse", "databricks", "hive", "redshift", "snowflake", "spark"), (*_INDEXED_NAMES, "array")),
    **dict.fromkeys(("materialize", "risingwave"), ("interval",)),  # LIST[a] is a list
}
_COLLECTIONS = keywords("map multiset")
_NO_SLICED_VALUE = BEFORE_VALUE | BEFORE_RESULT | {"array"}
# a[:b] would be a value given by a driver, and b no column.
_NO_LOWER_BOUND = re.compile(r"\[(?:\s|/\*.*?\*/|--[^\n]*+\n)*+:(?!:)", re.DOTALL)
_COMPOUND = frozenset("+-*/%&|^")
_STAYING = keywords("external raw standard")
_MADE = _STAYING | keywords("scratch temp")
_BEFORE_ONLY = keywords("from join update into using ,")
_BEFORE_DATABASES = _BEFORE_ONLY | keywords("table view exists synonym for")
_OF_ONE = keywords("containers only")
_IMPALA_HINTS = keywords("shuffle noshuffle broadcast clustered noclustered")
_KNOWN_MODELS = keywords("predict translate generate_embedding generate_text generate_table forecast")
# a <% b: b would be the name of a comparison of a.
_WITH_SIMILARITY = frozenset({"greenplum", "postgres"})
_BIGQUERY_NEEDS = re.compile(
    r"[(,>]\s*+table\s++[\w`]|=>\s*+(?:\w++|\([^()]*+\))\s*+->|\bat\s++time\s++zone\b|_casefold\b", re.IGNORECASE
)
# INSERT INTO (SELECT a FROM t) …: the target would have no name; UPDATE (SELECT a AS x FROM t) …: x would be t's own.
_CHANGED_QUERY = re.compile(r"\A\s*+(?:(?:insert|merge)\s++into|update)\s*+\(", re.IGNORECASE)
# INSERT INTO t INCLUDE (x INT) …: INCLUDE would be an alias of t, or its columns be those that are included.
_INCLUDED = re.compile(r"\A.{0,2000}?\binclude\s*+\(\s*+[\w\"]++\s++\w", re.IGNORECASE | re.DOTALL)
# FROM ONLY (t), FROM CONTAINERS(t): a function that gives rows.
_ONLY = re.compile(r"(?:\b(?:from|join|update|into|using)|,)\s*+(?:only|containers)\s*+\(", re.IGNORECASE)
# FROM d@server:own.t: d would be the table.
_OTHER_DATABASE = re.compile(r"[\w`]:(?=[\w`])")
# Db2 writes its special registers in two words.
CURRENT = re.compile(r"\bcurrent\s+(?:date|time|timestamp|timezone|user|schema|server|path)\b", re.IGNORECASE)

_PHYSICAL_TAIL = keywords("segmented unsegmented ksafe partitioned clustered encoded distributed distribute organize")
_NO_OBJECT_KIND = keywords("column flex flextable row summary")
_CHARACTERS = keywords("bit sbcs mixed")
_MARKS = keywords(": ?")
_BEFORE_NUMBER = BEFORE_VALUE | BEFORE_RESULT | keywords("first next top escape interval date timestamp")
"""Besides TOP :1, FETCH FIRST :1 ROWS, ESCAPE :1, DATE :1: words that are columns elsewhere."""
_DURATIONS = keywords("year years month months day days hour hours minute minutes second seconds")
_NO_CALLS = keywords("cast in as from join with exists values insert into table view using on and or not over")
_DEFINERS = keywords("algorithm definer sql")
_HEAD = 20
_CHANGING = keywords("insert ins update upd delete del merge replace")
_VERBS = _CHANGING | keywords("select sel from values table")
_MOST_PASSES = 4
_CASTS = keywords("cast safe_cast")
_RAW_BYTES = keywords("br rb")
"""Of edits within what another edit moves, as those of a query in a query are."""
# UPDATE LOW_PRIORITY t SET …, DELETE QUICK FROM t: sqlglot takes LOW_PRIORITY or QUICK for the table.
# SELECT DEFAULT(a): DEFAULT would be a column whose alias is a. VALUE(a) would be a function of the row that is there.
# SELECT SQL_NO_CACHE DISTINCT a: DISTINCT would be an alias, and a lost; ALL would be a column whose alias is a.
# AS (VALUES (1)): VALUES would be a function.
_PRIORITY = re.compile(
    r"\A\s*+(?:(?:update|replace)\s++(?:low_priority|delayed|ignore)|delete\s++(?:low_priority|quick|ignore))\b"
    r"|\b(?:default|value)\s*+\(\s*+[\w`]++\s*+\)"
    r"|\bselect\s++(?:(?:high_priority|straight_join|sql_\w++)\s++)++(?:distinct(?:row)?|all)\b|\(\s*+values\s*+\(",
    re.IGNORECASE,
)
# MAP a, b USING 'script': MAP would be an alias, and b a table. USING 'script' AS k, v: v would be a column.
_SCRIPTS = re.compile(r"\busing\s*+['\"]", re.IGNORECASE)
# FROM LIVE.t: LIVE would be a schema, where it is the pipeline that makes t.
_SPARK_NEEDS = re.compile(
    r"\bwith\s+schema\s+evolution\b|\bflow\s+auto\s+cdc\b|\blive\s*+\.|\bview\b.{0,400}?\boptions\s*\(|\btemp(?:orary)?\s+view\s+\S+\s+using\b|"
    rf"\bcopy\s++into\s.{{0,400}}?\bby\s++(?:position|name)\b|{_SCRIPTS.pattern}",
    re.IGNORECASE | re.DOTALL,
)
# CREATE TABLE t (…) AS NODE: sqlglot takes NODE for a table that t is made of. DELETE TOP (1) FROM t: TOP for a table.
# NEXT VALUE FOR s: the sequence would be a column. OPENDATASOURCE(…).d.s.t: the function would be a server.
# CONTAINSTABLE(d.t, a, 'x') would be a function of columns. d.type::[Null] would be a conversion of the column d.type.
_TRANSACT_NEEDS = re.compile(
    r"\bas\s++(?:node|edge)\s*+;?\s*+\Z|\b(?:delete|update)\s++top\b|\bnext\s++value\s++for\b"
    r"|\b(?:opendatasource|containstable|freetexttable|semantic\w+table)\s*+\(|::\s*+[\w\[\"]++(?!\s*+\()",
    re.IGNORECASE | re.DOTALL,
)
# CREATE SINK s FROM v WITH (…): sqlglot reads it, and makes nothing of it.
_SINKS = re.compile(r"\A\s*+(?:create|drop)\s++sink\b", re.IGNORECASE)
# TABLE(f(input => TABLE(t))) would call a function TABLE of a column t.
_DESCRIBED = re.compile(r"[(,>]\s*+(?:table|descriptor)\s*+\(", re.IGNORECASE)
# SELECT X'00 7b': X would be a column whose alias is what stands for the bytes.
_SPACED_BYTES = re.compile(r"\bx'[0-9a-f]*+\s", re.IGNORECASE)
_TRINO_NEEDS = re.compile(f"{_DESCRIBED.pattern}|{_SPACED_BYTES.pattern}", re.IGNORECASE)
_INTO_FILES = re.compile(r"\A\s*+insert\s++(?:into|overwrite)\s++(?:files|extern|blackhole)\s*+\(", re.IGNORECASE)
_FROM_SOURCE = re.compile(r"\A\s*+create\s++table\b.{0,2000}?\bfrom\s++source\b", re.IGNORECASE | re.DOTALL)
_MISREAD = {
    "fabric": _TRANSACT_NEEDS,
    "tsql": _TRANSACT_NEEDS,
    "bigquery": _BIGQUERY_NEEDS,
    # FROM dictionary('d') would read a table `dictionary` whose column is d.
    # ALTER TABLE t UPDATE and DELETE would change the table's columns, and not its rows.
    # A table with ENGINE = Distributed(c, db, t) would have rows of its own.
    # FROM INFILE 'path' would read a table `infile`.
    # CREATE TABLE d AS f(…) would be a copy of a table f.
    # approx_top_k(5)(a) would be a function with an alias that has a column, and read nothing.
    # LIMIT 1, 2 BY a would have no a, and map.1 be a number.
    "clickhouse": re.compile(
        r"\blimit\s++\d++\s*+(?:,|offset\b)\s*+\d++\s++by\b|\b(?:array|date|datetime|json|map|nested|object|time|tuple|variant)\s*+\.\s*+\d|\)\s?\(|\bfrom\s++infile\b|\bdictionary\s*\(|\bengine\s*+=?\s*+(?:distributed|buffer)\s*+\(|\A\s*create\s[^(]{0,200}?\bdictionary\b|\A\s*create\s[^;]{0,400}?\bas\s++\w++\s*+\(|\A\s*alter\s+table\s.{0,400}?\b(?:update|delete)\b",
        re.IGNORECASE | re.DOTALL,
    ),
    "databricks": _SPARK_NEEDS,
    # MAP['k', a] would be an element of a column MAP, EXPR$0 a column EXPR by another name.
    "flink": re.compile(r"\b(?:map|multiset)\s*+\[|\bexpr\$\d", re.IGNORECASE),
    # FROM (SHOW TABLES) would read a table `show` by the alias `tables`.
    "duckdb": re.compile(
        rf"\(\s*(?:show|desc|describe|summarize|pivot|unpivot)\b|\bmerge\s+into\b|{_NO_LOWER_BOUND.pattern}",
        re.IGNORECASE,
    ),
    **dict.fromkeys(("greenplum", "postgres"), _NO_LOWER_BOUND),
    # A conversion would be a call of a function, NORMALIZE and CURRENT names.
    # RANGE_N(d BETWEEN … EACH INTERVAL '1' MONTH, NO RANGE): NO would be a column whose alias is RANGE.
    # BEGIN(p) would be a column whose alias has a column.
    "teradata": re.compile(
        r"[\w)'\"]\s*+\(\s*+(?:(?:byteint|(?:small|big)?int|integer|dec(?:imal)?|numeric|number|float|real|double|(?:var)?char"
        r"|character|clob|date|time|timestamp|interval|period|(?:var)?byte|blob)\b|(?:named|title|format|not\s+c\w+)\b)"
        r"|\b(?:range_n|case_n|begin|end)\s*+\(|\(\s*+location\s*+=|\bselect\s++normalize\b|\b(?:valid|transaction)time\b",
        re.IGNORECASE,
    ),
    # FROM t MODEL …, FROM t NESTED a …: MODEL and NESTED would be aliases, COSINE of VECTOR_DISTANCE a column.
    # NEXT VALUE FOR s, which others have: the sequence would be a column.
    # INSERT INTO t v (v.a) SELECT …: the list would be no list of columns. UPDATE THE (SELECT …): THE would be a table.
    "oracle": re.compile(
        r"-[ \t]*+\r?\n|\bnext\s++value\s++for\b|\binmemory\s++external\b|\b(?:to_)?vector(?:_distance)?\s*+\("
        r"|\bmodel\b.{0,2000}?\bmeasures\s*+\(|\bnested\s++(?!table\b)[\w\"]"
        r"|\b(?:value|ref)\s*+\(\s*+[\w\"]++\s*+\)"
        r"|\A\s*+insert\b(?s:.{0,2000}?)\binto\s++[^\s(]++\s++(?!values\b)[\w$#\"]++(?:\s++for)?\s*+\("
        rf"|\bthe\s*+\(\s*+select\b|{_CHANGED_QUERY.pattern}|{_ONLY.pattern}",
        re.IGNORECASE | re.DOTALL,
    ),
    "informix": re.compile(f"{_ONLY.pattern}|{_OTHER_DATABASE.pattern}", re.IGNORECASE),
    # FROM UNIQUEJOIN PRESERVE s a (k): UNIQUEJOIN would be a table.
    "hive": re.compile(rf"\bfrom\s++uniquejoin\b|{_SCRIPTS.pattern}", re.IGNORECASE),
    "materialize": re.compile(f"{_SINKS.pattern}|{_FROM_SOURCE.pattern}", re.IGNORECASE | re.DOTALL),
    "risingwave": _SINKS,
    "mariadb": _PRIORITY,
    "mysql": _PRIORITY,
    # TABLE PROPERTIES (…) would be the query `TABLE properties(…)`, and t be filled from a function.
    "redshift": re.compile(r"\btable\s+properties\b", re.IGNORECASE),
    "spark": _SPARK_NEEDS,
    "athena": _TRINO_NEEDS,
    "presto": _SPACED_BYTES,
    "trino": _TRINO_NEEDS,
    # INSERT INTO FILES(…), INTO EXTERN(…) and INTO BLACKHOLE() would fill tables of these names.
    "doris": _INTO_FILES,
    # FROM a LT JOIN b: LT would be an alias of a.
    "questdb": re.compile(
        r"\A\s*+insert\s++(?:batch|atomic)\b|\b(?:lt|splice)\s++join\b|\bsample\s++by\b|\blatest\s++on\b"
        r"|\A\s*+create\b.{0,2000}?\bas\s*+\(",
        re.IGNORECASE | re.DOTALL,
    ),
    "starrocks": _INTO_FILES,
    "druid": _INTO_FILES,
    # COPY t FROM LOCAL 'path' would read a table `local`, EXPORT TO PARQUET (…) write a file `parquet`.
    "vertica": re.compile(r"\A\s*+(?:copy|export)\b", re.IGNORECASE),
}

_PRIORITY_WORDS = ("default", "delayed", "ignore", "priority", "quick", "sql_", "straight_join", "value")
_WORDS = {
    "bigquery": ("table", "->", "zone", "casefold"),
    "databricks": ("cdc", "copy", "evolution", "live", "using", "view"),
    "mariadb": _PRIORITY_WORDS,
    "mysql": _PRIORITY_WORDS,
    "spark": ("cdc", "copy", "evolution", "live", "using", "view"),
}
"""One of these is in all that is misread, and is looked for first: it is found in a fiftieth of the time."""


def _spaced_bytes(code: Code) -> Iterator[Edit]:
    """Trino: X'00 7b'  is  X'007b'."""
    for number in range(1, len(code)):
        joined = code.end_of(number - 1) == code.start_of(number)
        if code.is_string(number) and joined and code.word(number - 1) == "x":
            yield code.start_of(number), code.end_of(number), "".join(code.tokens[number].text.split())


def _compound_assignments(code: Code) -> Iterator[Edit]:
    """SET a.b += c  is  SET a.b = a.b + c."""
    if not any(code.word(number) == "update" for number in range(len(code))):
        return
    for number in range(2, len(code) - 1):
        operator = code.word(number)
        joined = code.word(number + 1) == "=" and code.end_of(number) == code.start_of(number + 1)
        if not joined or operator not in _COMPOUND or code.word(number - 1) in _COMPOUND:
            continue
        column = code.between(code.start_of_name(number - 1), number)
        yield code.start_of(number), code.end_of(number + 1), f"= {column} {operator}"


def _rows_of_cursors(code: Code) -> Iterator[Edit]:
    """WHERE CURRENT OF c: some row, by no column."""
    for number in range(len(code) - 3):
        if code.stands(number, "where", "current", "of"):
            yield code.edit(number, number + 3)


def _declared_table(code: Code) -> Iterator[Edit]:
    """DECLARE GLOBAL TEMPORARY TABLE t … ON COMMIT PRESERVE ROWS NOT LOGGED: a session's table, however it is kept.

    Only whether it is filled is told behind the query that it is made of: DEFINITION ONLY, WITH NO DATA.
    """
    if code.word(0) != "declare" or not code.stands(2, "temporary", "table"):
        return
    body = end_of_name(code, 4) + 1
    last = end_of_name(code, body + 1) if code.word(body) == "like" else code.closing(body + (code.word(body) == "as"))
    empty = any(code.stands(n, "definition", "only") or code.stands(n, "no", "data") for n in code.outside(last + 1))
    made = f"CREATE TEMPORARY TABLE {code.between(4, last + 1)}"
    yield 0, len(code.text), f"{made} WITH NO DATA" if empty else made


def _numbered_values(code: Code) -> Iterator[Edit]:
    """a = :1, VALUES (?1, ?2): values that are given by their numbers, as drivers send them.

    Behind a value the colon is of a slice or of a field, `a[1:2]`, `{'a':1}`.
    """
    for number in range(1, len(code) - 1):
        begins = code.word(number) in _MARKS and code.word(number - 1) in _BEFORE_NUMBER
        if begins and code.is_number(number + 1) and code.end_of(number) == code.start_of(number + 1):
            yield code.edit(number, number + 1, "?")


def _indexed_columns(code: Code) -> Iterator[Edit]:
    """SELECT list[1], date[1]: columns that are called as what stands before a bracket in other places."""
    names = _INDEXED.get(code.dialect.name, _INDEXED_NAMES)
    openings: list[str] = []
    for number in range(len(code) - 2):
        word = code.word(number)
        if word == "(":
            openings.append(code.word(number - 1) if number else "")
        elif word == ")" and openings:
            openings.pop()
        elif code.word(number + 1) == "[" and word in names and code.word(number + 2) != "]":
            before = code.word(number - 1) if number else ""
            of_type = before in ("(", ",") and openings[-1:] == ["map"]  # MAP(INTEGER[3], TEXT)
            of_items = word == "array" and _has_comma(code, number + 1)
            if before in _BEFORE_INDEXED and not of_type and not of_items:
                yield code.edit(number, number, f"({code.between(number, number + 1)})")


def _collections(code: Code) -> Iterator[Edit]:
    """MAP['k', a], MULTISET[a]: calls that give a map or a multiset of what is in the brackets."""
    brackets: list[bool] = []
    for number in range(1, len(code)):
        word = code.word(number)
        if word == "[":
            of_call = code.word(number - 1) in _COLLECTIONS and code.word(number - 2) != "."
            brackets.append(of_call and not code.is_quoted(number - 1))
            if brackets[-1]:
                yield code.edit(number, number, "(")
        elif word == "]" and brackets and brackets.pop():
            yield code.edit(number, number, ")")


def _generated_names(code: Code) -> Iterator[Edit]:
    """EXPR$0: what the first column is called that has no other name."""
    for number in range(len(code)):
        if code.word(number).startswith("expr$") and not code.is_quoted(number):
            yield code.edit(number, number, f"`{code.between(number, number + 1)}`")


def _types_of_rows(code: Code) -> Iterator[Edit]:
    """CAST(a AS ROW(x INT, y ROW<z STRING>)): a struct, which has others in it."""
    for number in range(len(code) - 2):
        if code.stands(number, "as", "row") and code.word(number + 2) in ("(", "<"):
            until = code.end_around(number)
            rows = [n for n in range(number + 1, until - 1) if code.word(n) == "row" and code.word(n + 1) in ("(", "<")]
            closings = [(code.closing(n + 1), ">") for n in rows if code.word(n + 1) == "("]
            for at, written in sorted([*((n, "STRUCT") for n in rows), *((n + 1, "<") for n in rows), *closings]):
                yield code.edit(at, at, written)


def _has_comma(code: Code, opening: int) -> bool:
    """Whether there is a comma between a bracket and the one that closes it, and in no other brackets there."""
    depth = 0
    for number in range(opening, len(code)):
        word = code.word(number)
        depth += (word in ("(", "[")) - (word in (")", "]"))
        if depth <= 0 or (word == "," and depth == 1):
            return word == ","
    return False


def _lower_bounds(code: Code) -> Iterator[Edit]:
    """a[:b] is a[1:b]. In ARRAY[:b], and where no value is before the bracket, b is what a driver gives later."""
    for number in range(2, len(code) - 1):
        if not code.stands(number - 1, "[", ":"):
            continue
        before = code.word(number - 2)
        of_name = code.is_name(number - 2) and before not in _NO_SLICED_VALUE
        if of_name or before in (")", "]"):
            yield code.start_of(number), code.start_of(number), "1"


def _defined_objects(code: Code) -> Iterator[Edit]:
    """Snowflake: DEFINE TABLE in a project is CREATE OR ALTER TABLE."""
    if code.stands(0, "define"):
        yield code.edit(0, 0, "CREATE")


def _next_values(code: Code) -> Iterator[Edit]:
    """NEXT VALUE FOR s: a number of a sequence's, and no value of any row."""
    for number in range(len(code) - 3):
        if code.word(number) in ("next", "previous", "prevval", "nextval") and code.stands(number + 1, "value", "for"):
            last = end_of_name(code, number + 3)
            yield code.edit(number, code.closing(last + 2) if code.stands(last + 1, "over", "(") else last, "NULL")


def _recursive_view(code: Code) -> Iterator[Edit]:
    """CREATE RECURSIVE VIEW v (a) AS query: a view of WITH RECURSIVE v (a) AS (query) SELECT * FROM v."""
    word = next((n for n in range(1, min(len(code), 6)) if code.stands(n, "recursive", "view")), None)
    if word is None or code.word(0) != "create":
        return
    start = next((n for n in code.outside(word) if code.stands(n, "as")), None)
    if start is None:
        return
    opening = next((n for n in range(word, start) if code.word(n) == "("), start)
    columns = code.text[code.start_of(opening) : code.start_of(start)]
    name = code.between(opening - 1, opening)
    yield code.edit(word, word)
    yield code.end_of(start), code.end_of(start), f" WITH RECURSIVE {name} {columns} AS ("
    yield code.end_of(len(code) - 1), code.end_of(len(code) - 1), f") SELECT * FROM {name}"


def _sized_vectors(code: Code) -> Iterator[Edit]:
    """VECTOR(4, FLOAT32), VECTOR(*, *): sqlglot has the numbers' type first, as Snowflake does in VECTOR(FLOAT, 4)."""
    for number in range(len(code) - 4):
        sized = code.word(number + 2) == "*" or code.is_number(number + 2)
        if code.stands(number, "vector", "(") and sized and code.word(number + 3) == ",":
            yield code.edit(number + 1, code.closing(number + 1))


def _inner_aliases(code: Code) -> Iterator[Edit]:
    """ClickHouse: f(a AS x, y) is f((a AS x), y)."""
    for opening in range(1, len(code)):
        if code.word(opening) != "(" or not code.is_name(opening - 1) or code.word(opening - 1) in _NO_CALLS:
            continue
        for first, last in code.items(opening + 1, code.closing(opening)):
            if code.word(last - 2) == "as" and code.is_name(last - 1) and code.word(first) not in QUERIES:
                yield code.start_of(first), code.start_of(first), "("
                yield code.end_of(last - 1), code.end_of(last - 1), ")"


def _applied_functions(code: Code) -> Iterator[Edit]:
    """ClickHouse: APPLY f and APPLY (x -> f(x)) as APPLY(f); COLUMNS(a, b) APPLY f as f(a), f(b)."""
    for number in range(len(code) - 1):
        if code.word(number) == "apply":
            yield from _applied_function(code, number)
        elif code.stands(number, "columns", "(") and code.is_name(number + 2):
            end = code.closing(number + 1)
            names = [code.between(first, last) for first, last in code.items(number + 2, end)]
            if code.word(end + 1) == "apply":
                call = code.between(end + 2, code.closing(end + 2) + 1).strip("()")
                yield code.edit(number, code.closing(end + 2), ", ".join(f"{call}({name})" for name in names))
            else:
                yield code.edit(number, end, ", ".join(names))


def _applied_function(code: Code, number: int) -> Iterator[Edit]:
    before = code.opening(number - 1)
    if code.word(before - 1) == "columns" and code.is_name(before + 1):
        return  # COLUMNS(a, b) APPLY f
    with_parameters = number + 2 if code.is_name(number + 2) and code.word(number + 3) == "(" else number + 1
    if code.word(with_parameters + 1) == "(":  # APPLY(quantile(0.9)), APPLY quantile(0.9)
        last = code.closing(number + 1) if with_parameters == number + 2 else code.closing(number + 2)
        yield code.edit(number + 1, last, f"({ANY_FUNCTION})")
    elif code.is_name(number + 1):
        yield code.edit(number + 1, number + 1, f"({code.between(number + 1, number + 2)})")
    elif code.stands(number + 2, code.word(number + 2), "-", ">"):
        end = code.closing(number + 1)
        variable = code.word(number + 2)
        plain = end == number + 9 and code.stands(number + 6, "(", variable, ")")
        yield code.edit(number + 1, end, f"({code.between(number + 5, number + 6) if plain else ANY_FUNCTION})")


def _sqlite(code: Code) -> Iterator[Edit]:
    """SQLite: without what is done with rows that break a rule: UPDATE OR IGNORE t …."""
    for number in range(len(code) - 3):
        if code.stands(number, "update", "or"):
            yield code.edit(number + 1, number + 2)


def _questdb(code: Code) -> Iterator[Edit]:
    """QuestDB: without how rows are committed, whose words would be the table: INSERT BATCH 100 INTO t ….

    Without how a table of a query is stored as well, and which rows meet in time: `(…) TIMESTAMP(ts)`, `SAMPLE BY 1h`,
    `LATEST ON ts PARTITION BY k`, `LT JOIN`.
    """
    if code.stands(0, "create"):
        opening = next((n + 1 for n in code.outside(1) if code.stands(n, "as")), len(code))
        if code.word(opening) == "(" and code.closing(opening) + 1 < len(code):
            yield code.edit(code.closing(opening) + 1, len(code) - 1)
    for number in range(1, len(code) - 2):
        if code.stands(number, "sample", "by") or code.stands(number, "latest", "on"):
            yield code.edit(number, _end_of_samples(code, number) - 1)
        elif code.word(number) in ("lt", "splice") and code.stands(number + 1, "join"):
            yield code.edit(number, number)
    if code.stands(0, "insert") and code.word(1) in ("batch", "atomic"):
        into = next((n for n in code.outside(2) if code.word(n) == "into"), None)
        if into is not None:
            yield code.edit(1, into - 1)


_BEHIND_SAMPLES = keywords("where order limit union intersect except group ;")


def _end_of_samples(code: Code, number: int) -> int:
    return next((n for n in code.outside(number + 2) if code.word(n) in _BEHIND_SAMPLES), code.end_around(number))


def _only_rows(code: Code) -> Iterator[Edit]:
    """FROM ONLY (t), UPDATE ONLY (t): without the rows of the tables beneath t; Oracle: FROM CONTAINERS(t)."""
    for number in range(1, len(code) - 3):
        if code.word(number) in _OF_ONE and code.word(number - 1) in _BEFORE_ONLY and code.word(number + 1) == "(":
            last = code.closing(number + 1)
            if code.dotted_name(number + 2)[1] == last:
                yield code.edit(number, last, f" {code.between(number + 2, last)} ")


def _overriding(code: Code) -> Iterator[Edit]:
    """PostgreSQL: without the words that let a generated column be written: INSERT INTO t OVERRIDING SYSTEM VALUE …."""
    for number in range(2, len(code) - 2):
        if code.word(number) == "overriding":
            yield code.edit(number, number + 2)


def _array_with_offset(code: Code) -> Iterator[Edit]:
    """BigQuery: FROM t, t.items AS i WITH OFFSET …: the array without its UNNEST."""
    for number in range(3, len(code) - 1):
        if not code.stands(number, "with", "offset"):
            continue
        last = number - 1
        if code.word(last - 1) == "as":
            last -= 2
        elif code.word(last - 1) not in (".", ",") and code.word(last - 1) != "join":
            last -= 1
        first = code.start_of_name(last)
        if first < last:
            yield code.start_of(first), code.start_of(first), "UNNEST("
            yield code.end_of(last), code.end_of(last), ")"


def _db2(code: Code) -> Iterator[Edit]:
    """a CONCAT b is a || b; ELSE IGNORE does nothing; where CREATE TABLE a LIKE b is kept is not said.

    NOT NULL WITH DEFAULT 1, NOT NULL WITH DEFAULT: a column's DEFAULT, which is that of its type where none is named.
    CHAR(3) FOR BIT DATA: a type, whatever its characters are.
    """
    copied = end_of_name(code, 2) + 1 if code.stands(0, "create", "table") else len(code)
    if code.word(copied) == "like" and end_of_name(code, copied + 1) + 1 < len(code):
        yield code.edit(end_of_name(code, copied + 1) + 1, len(code) - 1)
    for number in range(1, len(code)):
        word = code.word(number)
        if word == "with" and code.stands(number + 1, "default"):
            yield code.edit(number, number + (code.word(number + 2) in (",", ")")))
        elif word == "for" and code.word(number + 1) in _CHARACTERS and code.word(number + 2) == "data":
            yield code.edit(number, number + 2)
        elif "@" in word and code.is_word(number):  # sqlglot would take the name for what is before the sign
            yield code.edit(number, number, f'"{code.name(number)}"')
        elif word == "current" and CURRENT.match(code.text, code.start_of(number)):
            yield code.edit(number, number + 1, f"CURRENT_{code.without_quotes(number + 1)} ")
        elif word == "concat" and not code.stands(number + 1, "("):
            yield code.edit(number, number, "||")
        elif (word == "else" and code.stands(number, "else", "ignore")) or (
            word == "with" and number == len(code) - 2 and code.word(len(code) - 1) in ("ur", "cs", "rs", "rr")
        ):
            yield code.edit(number, number + 1)
        elif word in _DURATIONS and _is_counted(code, number - 1):
            yield code.edit(number, number)  # CURRENT TIMESTAMP - 90 DAYS
        elif code.stands(number, "data", "initially", "deferred"):
            yield code.edit(number, len(code) - 1)
        elif word == "definition" and code.stands(number, "definition", "only"):
            yield code.edit(number, number + 1, "WITH NO DATA")


def _is_counted(code: Code, last: int) -> bool:
    """Whether what ends at a token says how many units of time are added or taken away: `a + b DAYS`."""
    if code.is_number(last) or code.word(last) == ")":
        return True
    return code.is_name(last) and code.word(code.start_of_name(last) - 1) in ("+", "-")


def _druid(code: Code) -> Iterator[Edit]:
    """REPLACE INTO t OVERWRITE … SELECT … PARTITIONED BY …: an INSERT of the query."""
    if code.stands(0, "replace", "into"):
        yield code.edit(0, 0, "INSERT")
        over = next((n for n in range(len(code)) if code.word(n) == "overwrite"), None)
        query = next((n for n in range(len(code)) if code.word(n) in ("select", "with")), None)
        if over is not None and query is not None and over < query:
            yield code.edit(over, query - 1)
    tail = next((n for n in code.outside(1) if code.word(n) == "partitioned"), None)
    if tail is not None:
        yield code.edit(tail, len(code) - 1)


def _parametric_aggregate(code: Code) -> Iterator[Edit]:
    """ClickHouse: approx_top_k(5)(a), of an aggregate that sqlglot does not know: it is read without its parameters."""
    known = ClickHouse.Parser.AGG_FUNC_MAPPING
    for number in range(len(code) - 2):
        if code.word(number + 1) != "(" or not code.is_word(number) or code.name(number) in known:
            continue
        closing = code.closing(number + 1)
        effect = known_effect(code.word(number).upper(), code.dialect.name)
        if code.word(closing + 1) == "(" and effect in (Effect.AGGREGATE, Effect.COUNT):
            yield code.edit(number + 1, closing, "")


def _impala(code: Code) -> Iterator[Edit]:
    """Impala: an UPSERT as an INSERT by key, and without hints in square brackets."""
    if code.stands(0, "upsert"):
        yield code.edit(0, 0, "INSERT")
    for number in range(len(code) - 2):
        if code.word(number) == "straight_join" and code.word(number - 1) in ("select", "distinct"):
            yield code.edit(number, number)
        elif code.word(number) == "[" and code.word(number + 1) in _IMPALA_HINTS:
            yield code.edit(number, number + 2)


def _informix(code: Code) -> Iterator[Edit]:
    """Informix: without how many rows there are, SELECT SKIP n FIRST n …; INTO TEMP t before FROM, not at the end.

    INTO EXTERNAL t USING (…) makes a table over files, INTO STANDARD t and INTO RAW t one that stays.
    """
    for number in range(len(code) - 2):
        word = code.word(number)
        if word in ("first", "skip", "limit") and code.is_number(number + 1):
            yield code.edit(number, number + 1)
    into = next((n for n in code.outside(1) if code.word(n) == "into" and code.word(n + 1) in _MADE), None)
    from_ = next((n for n in code.outside(1) if code.word(n) == "from"), None)
    if into is None or from_ is None or into < from_:
        return
    if code.is_name(into + 2) or code.is_string(into + 2):  # "t", which DELIMIDENT makes one
        yield code.edit(into, len(code) - 1)
        kept = "" if code.word(into + 1) in _STAYING else "TEMP "
        name = code.between(into + 2, end_of_name(code, into + 2) + 1)
        yield code.start_of(from_), code.start_of(from_), f"INTO {kept}{name} "


def _other_databases(code: Code) -> Iterator[Edit]:
    """Informix: d:own.t and d:t are d.own.t and d..t; those of d@server:t begin with "d@server", as another's d would.

    A colon that no name touches is that of a host variable.
    """
    for number in range(1, len(code) - 2):
        colon = number + 3 if code.word(number + 1) == "@" else number + 1
        if code.word(number - 1) not in _BEFORE_DATABASES or code.word(colon) != ":" or not code.is_name(number):
            continue
        touching = code.end_of(colon - 1) == code.start_of(colon) and code.end_of(colon) == code.start_of(colon + 1)
        if touching and code.is_name(colon + 1):
            owner = "" if code.word(colon + 2) == "." else "."
            yield code.edit(number, colon, f'"{"".join(code.name(n) or "@" for n in range(number, colon))}".{owner}')


def _part_changed(code: Code) -> Iterator[Edit]:
    """DELETE FROM t PARTITION p1 WHERE …, IN PARTITION 1, FOR PORTION OF …: in which part of a table rows change."""
    if code.word(0) in ("delete", "update"):
        yield from _without_part(code, 1)


def _without_part(code: Code, first: int) -> Iterator[Edit]:
    """Leaves out what stands between the name of a part and WHERE or SET."""
    end = next((n for n in code.outside(first) if code.word(n) in ("where", "set")), first)
    for number in range(first, end):
        if code.word(number) in ("partition", "partitions") or code.stands(number, "for", "portion", "of"):
            yield code.edit(number - (code.word(number - 1) == "in"), end - 1)
            return


def _mutation(code: Code) -> Iterator[Edit]:
    """ClickHouse: rows changed by an ALTER, as the UPDATE or DELETE that it is: ALTER TABLE t UPDATE a = b WHERE …."""
    if not code.stands(0, "alter", "table"):
        return
    last = end_of_name(code, 2)
    verb = last + 4 if code.stands(last + 1, "on", "cluster") else last + 1
    if code.word(verb) not in ("update", "delete"):
        return
    updates = code.word(verb) == "update"
    yield code.edit(0, 1, "UPDATE" if updates else "DELETE FROM")
    yield code.edit(last + 1, verb, "SET" if updates else " ")
    settings = next((n for n in code.outside(verb + 1) if code.stands(n, "settings") and code.word(n + 2) == "="), None)
    if settings is not None:
        yield code.edit(settings, len(code) - 1)
    yield from _without_part(code, verb + 1)


def _formatted_rows(code: Code) -> Iterator[Edit]:
    """ClickHouse: INSERT INTO t (a) SETTINGS s = 1 FORMAT CSV: rows that a client sends, as those of VALUES are.

    Behind the query of an INSERT the format says how input() reads them.
    """
    found = row_format(code.tokens) if code.stands(0, "insert", "into") else None
    words = [n for n in code.outside(3) if code.word(n - 1) != "."]
    if found is None or found.behind_query or any(code.stands(n, "from", "infile") for n in words):
        return
    before = next(n for n in words if code.start_of(n + 1) == found.token.start)
    settings = (n for n in words if n < before and code.word(n) == "settings" and code.word(n + 2) == "=")
    yield code.edit(next(settings, before), len(code) - 1, "DEFAULT VALUES")


def _with_label(code: Code) -> Iterator[Edit]:
    """Doris, StarRocks: without the name of the load: INSERT INTO t WITH LABEL l SELECT …."""
    for number in range(len(code) - 2):
        if code.stands(number, "with", "label"):
            yield code.edit(number, number + 2)


def _sink(code: Code) -> Iterator[Edit]:
    """RisingWave, Materialize: CREATE SINK s FROM v, CREATE SINK s AS query: a table s, which other systems read.

    `CREATE SINK s INTO t (a) AS query` fills t, by position.
    """
    if code.stands(0, "drop", "sink"):
        yield code.edit(1, 1, "TABLE")
    if not code.stands(0, "create", "sink"):
        return
    first = 5 if code.stands(2, "if", "not", "exists") else 2
    last = end_of_name(code, first)
    target = f"CREATE TABLE {code.between(first, last + 1)} AS"
    for number in code.outside(last + 1):
        word = code.word(number)
        if word == "into":
            from_ = next((n for n in code.outside(number) if code.word(n) in ("from", "as")), len(code))
            target = f"INSERT INTO {code.between(number + 1, from_)}"
        elif word == "from":
            read = code.between(number + 1, end_of_name(code, number + 1) + 1)
            yield 0, len(code.text), f"{target} SELECT * FROM {read}"
            return
        elif word == "as":
            ends = (n for n in code.outside(number + 1) if code.stands(n, "with", "(") or code.word(n) == "format")
            query = code.between(number + 1, next(ends, len(code) - (code.word(len(code) - 1) == ";")))
            yield 0, len(code.text), f"{target} {query}"
            return


def _tables_and_models(code: Code) -> Iterator[Edit]:
    """BigQuery: FUNCTION(TABLE t, MODEL m, …) takes a query as well, and a model is no column."""
    for number in range(1, len(code) - 2):
        word = code.word(number)
        if word not in ("table", "model") or code.word(number - 1) not in ("(", ",", ">"):
            continue
        last = end_of_name(code, number + 1)
        if last + 1 == len(code) or code.word(last + 1) not in (")", ","):
            continue
        named = code.between(number + 1, last + 1)
        if word == "table":
            yield code.edit(number, last, f"(SELECT * FROM {named})")
        elif code.word(number - 2) not in _KNOWN_MODELS:
            yield code.edit(number, last, "NULL")


def _named_values(code: Code) -> Iterator[Edit]:
    """BigQuery: WITH(x AS a, y AS x + 1, y * 2) is a query of one row, each of whose names the next may use."""
    for number in range(len(code) - 5):
        last = code.closing(number + 1)
        if not code.stands(number, "with", "(") or code.word(number + 3) != "as" or last == len(code):
            continue
        *named, (begin, until) = code.items(number + 2, last)
        rows = ""
        for first, end in named:
            others = f"*, {code.between(first + 2, end)}" if rows else code.between(first + 2, end)
            rows = f" FROM (SELECT {others} AS {code.between(first, first + 1)}{rows})"
        yield code.edit(number, last, f"(SELECT {code.between(begin, until)}{rows})")


def _raw_bytes(code: Code) -> Iterator[Edit]:
    """BigQuery: rb'…' and br'…', which end where b'…' does."""
    for number in range(len(code) - 1):
        marked = code.word(number) in _RAW_BYTES and code.is_string(number + 1)
        if marked and code.end_of(number) == code.start_of(number + 1):
            yield code.edit(number, number, "b")


def _named_lambdas(code: Code) -> Iterator[Edit]:
    """BigQuery: ARRAY_ZIP(a, b, transformation => (x, y) -> x + y): the function without the argument's name."""
    for number in range(1, len(code) - 4):
        if code.stands(number + 1, "=", ">") and code.is_name(number):
            behind = code.after(number + 3)
            if code.stands(behind, "-", ">") and code.end_of(behind) == code.start_of(behind + 1):
                yield code.edit(number, number + 2)


def _normal_forms(code: Code) -> Iterator[Edit]:
    """BigQuery: NORMALIZE_AND_CASEFOLD(a, NFKC), whose form is a word that sqlglot takes for a column."""
    for number in range(len(code) - 3):
        last = code.closing(number + 1)
        if code.stands(number, "normalize_and_casefold", "(") and code.word(last - 2) == "," and code.is_word(last - 1):
            yield code.edit(last - 1, last - 1, f"'{code.word(last - 1)}'")


def _sampled_shares(code: Code) -> Iterator[Edit]:
    """BigQuery: TABLESAMPLE SYSTEM (2 * 5 PERCENT), whose share no column tells."""
    for number in range(len(code) - 3):
        last = code.closing(number + 2)
        if code.word(number) == "tablesample" and code.word(number + 2) == "(" and number + 5 < last < len(code):
            yield code.edit(number + 3, last - 2, "1")


def _formatted_by_values(code: Code) -> Iterator[Edit]:
    """BigQuery: CAST(a AS STRING FORMAT f AT TIME ZONE z), whose format and zone are values like the first."""
    for number in range(len(code)):
        if code.word(number) not in _CASTS or code.word(number + 1) != "(":
            continue
        last = code.closing(number + 1)
        words = {code.word(n): n for n in code.outside(number + 2, last)}
        kind, form, zone = words.get("as", last), words.get("format", last), words.get("zone", last)
        given = [(form + 1, zone - 2 if zone < last else last), (zone + 1, last)]
        if kind < form < last < len(code) and any(until > first + 1 or code.is_name(first) for first, until in given):
            values = ", ".join(code.between(*span) for span in (*given, (number + 2, kind)) if span[0] < span[1])
            yield code.edit(number + 2, last - 1, f"FORMAT({values}) {code.between(kind, form)}")


_SPARK: tuple[Repair, ...] = (
    applied_changes,
    pipeline_flow,
    schema_evolution,
    directory_format,
    view_over_files,
    live_table,
    pipeline_tables,
    expectations,
    cloned_table,
    copied_by,
    replaced_table,
    existing_partition,
)

_REPAIRS: dict[str, tuple[Repair, ...]] = {
    **SERVER_REPAIRS,
    "athena": (unloaded_query, tables_and_descriptors, _spaced_bytes),
    "bigquery": (
        _array_with_offset,
        _tables_and_models,
        _named_values,
        _raw_bytes,
        _named_lambdas,
        _normal_forms,
        _sampled_shares,
        _formatted_by_values,
        snapshots,
        copied_table,
        replicas,
    ),
    "databricks": _SPARK,
    "db2": (*SERVER_REPAIRS["db2"], _db2, _part_changed, _only_rows, rows_of_changes, included_columns),
    "doris": (written_files, _with_label, _part_changed),
    "druid": (exported_files, _druid),
    "clickhouse": (
        _inner_aliases,
        named_in_clauses,
        limits_of_groups,
        without_more_rows,
        limited_again,
        quoted_columns,
        _applied_functions,
        dictionary,
        loaded_dictionary,
        forwarding_table,
        table_over_function,
        inserted_function,
        loaded_file,
        live_table,
        redefined_query,
        _mutation,
        _formatted_rows,
        _part_changed,
        _parametric_aggregate,
    ),
    "duckdb": (pivot_statement, shown_relation, merged_by_columns, _lower_bounds),
    "flink": (_collections, _generated_names, _types_of_rows),
    "impala": (_impala,),
    "informix": (_informix, _other_databases, _only_rows),
    "materialize": (_sink, source_table),
    "questdb": (_questdb,),
    "risingwave": (_sink,),
    "greenplum": (_overriding, foreign_table, unknown_types, _only_rows, _lower_bounds),
    "oracle": (*SERVER_REPAIRS["oracle"], _only_rows, nested_rows),
    "postgres": (_overriding, foreign_table, unknown_types, _only_rows, _lower_bounds),
    "hive": (existing_partition, table_kinds, unknown_types),
    "redshift": (table_properties, merged_without_duplicates, unknown_types),
    "snowflake": (streams, table_kinds, linear_clusters, file_formats, semantic_view),
    "spark": _SPARK,
    "sqlite": (_sqlite,),
    "starrocks": (written_files, discarded_rows, _with_label, _part_changed),
    "teradata": TERADATA_REPAIRS,
    "presto": (_spaced_bytes,),
    "trino": (tables_and_descriptors, _spaced_bytes),
    "vertica": (loaded_rows, exported_rows, calls_and_limits),
}


_EVERYWHERE: tuple[Repair, ...] = (
    _declared_table,
    _numbered_values,
    _next_values,
    pattern_rows,
    rows_of_one_relation,
    patterns_in_windows,
    _compound_assignments,
    _rows_of_cursors,
    _defined_objects,
    _recursive_view,
    _sized_vectors,
    document_functions,
    recursion_clauses,
    combined_values,
)


# A text with all the repairs of its dialect, and which texts need them although sqlglot refuses nothing.


def repairs_of(dialect: str) -> tuple[Repair, ...]:
    """All that is repaired in the texts of a dialect."""
    pipes = PIPE_REPAIRS if dialect in PIPING else ()
    indexed = () if "[" in dialect_of(dialect).name_quotes else (_indexed_columns,)
    return (*_REPAIRS.get(dialect, ()), *CLAUSE_REPAIRS.get(dialect, ()), *pipes, *indexed, *_EVERYWHERE)


def repair_text(text: str, dialect: Dialect) -> str | None:
    """The text without what sqlglot does not know of the dialect; None where there is nothing to mend."""
    changing = _changing(text, dialect)
    mended = _repair_whole(changing, dialect) if changing else None
    if mended is None:
        return _repair_whole(text, dialect)
    items, code = text[: -len(changing)], Code.of(mended, dialect)
    whole = f"{items}, {mended[code.end_of(0) :]}" if code.word(0) == "with" else f"{items}{mended}"
    return _repair_whole(whole, dialect) or whole


def _changing(text: str, dialect: Dialect) -> str:
    """What stands behind a WITH and changes rows; "" where nothing does.

    Most of what is mended of such a statement is looked for at its start; what a block's variables were filled from
    stands in items before it, too.
    """
    if Code.of(text, dialect, 1).word(0) != "with":
        return ""
    code = Code.of(text, dialect)
    verbs = (
        n for n in code.outside(1) if code.word(n) in _VERBS and code.word(n - 1) not in ("with", "recursive", ",")
    )
    verb = next(verbs, len(code))
    return text[code.start_of(verb) :] if code.word(verb) in _CHANGING else ""


def _repair_whole(text: str, dialect: Dialect) -> str | None:
    repairs = repairs_of(dialect.name)
    code = Code.of(text, dialect)
    mended = _without_create_options(code)
    for _ in range(_MOST_PASSES):
        if mended is not None:
            code = Code.of(mended, dialect)
        edits = sorted(edit for repair in repairs for edit in repair(code))
        apart = list(_edits_apart(edits))
        mended = with_edits(code.text, apart) if edits else mended
        if len(apart) == len(edits):
            break
    return mended


def needs_repair(text: str, dialect: Dialect) -> bool:
    """Whether sqlglot would take the text, and take it wrong."""
    if _is_misread(text, dialect.name):
        return True
    changing = _changing(text, dialect)
    return bool(changing) and _is_misread(changing, dialect.name)


def _is_misread(text: str, dialect: str) -> bool:
    lowered = text.lower()
    if is_misread_document(lowered) or is_misread_pattern(lowered):
        return True
    if "[" in text and _has_indexed_name(lowered, dialect):
        return True
    if dialect == "db2":
        if "@" in text or _CHANGED_QUERY.match(text) is not None:
            return True
        return any(pattern.search(text) is not None for pattern in (_INCLUDED, CURRENT, _ONLY))
    if dialect in PIPING and "|>" in text:
        return True
    if dialect in _WITH_SIMILARITY and "<%" in text:
        return True
    misread = _MISREAD.get(dialect)
    if misread is not None:
        return any(word in lowered for word in _WORDS.get(dialect, ("",))) and misread.search(text) is not None
    return dialect == "impala" and ("[" in text or "straight_join" in lowered)


def _has_indexed_name(text: str, dialect: str) -> bool:
    """Whether what stands before a bracket is called as a list's or a type's name: looked for from each bracket on."""
    names = _INDEXED.get(dialect, _INDEXED_NAMES)
    return any(part[-_LONGEST_INDEXED:].rstrip().endswith(names) for part in text.split("[")[:-1])


def as_understood(text: str, dialect: Dialect) -> str:
    """The text as the tiers behind sqlglot's may read it, which would take it as wrong as sqlglot does."""
    return repair_text(text, dialect) or text if needs_repair(text, dialect) else text


def _without_create_options(code: Code) -> str | None:
    """CREATE TABLE or VIEW name (columns) AS query, without the options between that sqlglot does not know.

    None where it is no such statement.
    """
    head = takewhile(lambda n: code.word(n) not in ("as", "("), range(min(len(code), _HEAD)))
    index = next((n for n in head if code.word(n) in ("table", "view", "vds")), None)
    if index is None or code.word(0) != "create" or code.word(index + 1) == "function":
        return None
    end = index + 4 if code.stands(index + 1, "if", "not", "exists") else index + 1
    while end + 2 < len(code) and code.word(end + 1) == ".":
        end += 2
    if code.word(end + 1) == "(":
        end = code.closing(end + 1)
    starts = (n for n in code.outside(end + 1) if code.word(n) == "as")
    start = next((n for n in starts if code.word(n + 1) in (*QUERIES, "(")), None)
    if start is None:
        return None
    view = code.word(index) != "table"
    tail = next((n for n in code.outside(start + 1) if _ends_query(code, n, view=view)), len(code))
    kind = "VIEW" if code.word(index) == "vds" else code.word(index).upper()
    words = (token.text for token in code.tokens[:index] if token.text.lower() not in _NO_OBJECT_KIND)
    before = " ".join(takewhile(lambda word: word.lower() not in _DEFINERS, words))
    named = code.between(index + 1, end + 1) + _filled_table(code, end + 1, start)
    return f"{before} {kind} {named} {code.between(start, tail)}"


_BEFORE_STORAGE = keywords("engine order partition primary sample ttl settings populate")


def _filled_table(code: Code, first: int, last: int) -> str:
    """The TO t of ClickHouse's CREATE MATERIALIZED VIEW v ON CLUSTER c TO t AS query, "" of others."""
    if code.dialect.name != "clickhouse":
        return ""
    head = takewhile(lambda n: code.word(n) not in _BEFORE_STORAGE, code.outside(first, last))
    number = next((n for n in head if code.word(n) == "to"), None)  # later ones are of a TTL: TO DISK 'cold'
    return "" if number is None else f" {code.between(number, end_of_name(code, number + 1) + 1)}"


def _ends_query(code: Code, number: int, *, view: bool) -> bool:
    word, following = code.words(number, 2)
    if word == "with" and following in ("data", "no"):  # a view is filled later all the same
        return following == "data" or (view and code.word(number + 2) == "data")
    if word == "with":
        return following in ("check", "cascaded", "local", "read")
    by_column = word in ("distribute", "partitioned") and following == "by"  # a clause of Hive's queries
    return word in _PHYSICAL_TAIL and not by_column


def _edits_apart(edits: Sequence[Edit]) -> Iterator[Edit]:
    """Of edits in order those that no earlier one covers: what another one moves is edited where it is then."""
    end = 0
    for edit in edits:
        if edit[0] >= end:
            yield edit
            end = edit[1]
