"""The tables and schemas that a statement shows, checks or repairs: nothing depends on it, and its names are names.

`DESCRIBE shop.orders`, `SHOW COLUMNS FROM orders FROM shop`, `DBCC CHECKTABLE ('shop.orders')`,
`SYSTEM STOP MERGES shop.orders`, `CONVERT TO DELTA shop.orders`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERIES
from ingestion.model.outcomes import Outcome
from ingestion.scripts.clause_columns import DottedName
from ingestion.statements import classify
from ingestion.statements.classification import DDL_OBJECTS
from ingestion.statements.inner_queries import inner_query

_STATEMENTS = keywords(
    "select sel with values insert ins update upd delete del merge replace create alter drop upsert call copy load"
)
"""What EXPLAIN may be of."""
_TABLE_WORDS = keywords("table view extended formatted detail history materialized external foreign only stats")
_NO_TABLES = (DDL_OBJECTS - _TABLE_WORDS) | keywords(
    "query result input output account transaction prepared indexes columns statement schemas databases"
    " volume connection recipient credential location all tables status functions search variables errors"
)
"""What DESCRIBE, HELP and SHOW may be of instead: DESCRIBE FUNCTION abs, SHOW TABLE STATUS."""
_BEHIND_FROM = keywords("columns fields index indexes indices keys partitions tblproperties stats")
"""SHOW COLUMNS FROM t, SHOW PARTITIONS t: of a table, with or without a word between."""
_FROM = keywords("from in for on")
_TABLE_INFO = keywords("table_info table_xinfo index_list foreign_key_list foreign_key_check storage_info")
_CHECKED_FIRST = keywords("checktable checkident dbreindex show_statistics checkconstraints")
_CHECKED_SECOND = keywords("cleantable indexdefrag updateusage")
"""T-SQL's DBCC CLEANTABLE (shop, 'orders'): the table stands behind its database."""
_CHECKED_DATABASES = keywords("checkdb checkalloc checkcatalog shrinkdatabase") | _CHECKED_SECOND
_OF_SYSTEM = keywords("merges fetches moves sends queues replica distributed view reduce_blocking_parts")
"""ClickHouse: SYSTEM STOP MERGES t, SYSTEM SYNC REPLICA t, SYSTEM FLUSH DISTRIBUTED t."""
_HOLDING = frozenset({Outcome.CURSOR, Outcome.VARIABLE, Outcome.SESSION_SETTING})
_SHOWING = frozenset({Outcome.EXPLAIN, Outcome.SHOW, Outcome.SELECT, Outcome.INDEX, Outcome.DDL_OTHER})
_PATH = ("/", "\\")


def _explained_statement(code: Code) -> int:
    """Where the statement begins whose plan EXPLAIN shows, or DESCRIBE its columns; the end where it is of a table."""
    verb = code.word(0)
    if verb == "explain" or code.words(0, 2) == ("describe", "query"):
        return next((at for at in code.outside(1) if at == _opened_query(code, at)), len(code))
    if verb in ("describe", "desc", "summarize"):
        first = 2 if code.word(1) in ("output", "formatted") else 1
        return first if code.word(first) in _STATEMENTS | {"from"} or code.word(first) == "(" else len(code)
    return len(code)


def held_statement(text: str, dialect: Dialect) -> str:
    """The statement that `text` explains, or the query of its cursor or of its value, "" where it holds none.

    What is in it has no lineage, for it is not run here; the names in it are names.
    """
    reason = classify(text, dialect).skip_reason if text else None
    if reason in _HOLDING:
        return inner_query(text, dialect) or ""
    if reason not in _SHOWING:
        return ""
    code = Code.of(text, dialect)
    if code.word(0) == "assert":  # BigQuery: ASSERT EXISTS (SELECT a FROM t) AS 'what it says otherwise'
        return f"SELECT {code.between(1, code.find(1, keywords('as')))}"
    first = _defining_query(code) if code.word(0) == "create" else _explained_statement(code)
    while code.word(first) == "(" and code.closing(first) >= len(code) - 1:
        first += 1
    return code.between(first, len(code))


def _defining_query(code: Code) -> int:
    """Where the query begins that a model or a join index is made of: CREATE MODEL m AS SELECT a FROM t."""
    return next((at + 1 for at in code.outside(1) if code.word(at) == "as" and code.word(at + 1) in QUERIES), len(code))


def _opened_query(code: Code, index: int) -> int:
    """The index itself where a statement begins there, or parentheses with a query within; else -1."""
    if code.word(index) in _STATEMENTS or code.word(index) == "table" or (index == 1 and code.word(1) == "from"):
        return index
    inner = index
    while code.word(inner) == "(":
        inner += 1
    return index if inner > index and code.word(inner) in ("select", "with", "values") else -1


def inspected_tables(code: Code) -> Iterator[DottedName]:
    """The names of the tables that a statement shows, checks or repairs."""
    find = _FINDERS.get(code.word(0))
    for name in find(code) if find is not None else ():
        if name and not any(sign in name[-1] for sign in _PATH):  # delta.`/a/b` is a path
            yield name


def inspected_column(code: Code) -> tuple[DottedName, str] | None:
    """Of `DESCRIBE shop.orders total` the table and the column, None of other statements."""
    if code.word(0) not in ("describe", "desc", "explain") or _explained_statement(code) < len(code):
        return None
    index = _behind_words(code, 1)
    table, after = code.dotted_name(index)
    single = after == len(code) - 1 and code.is_name(after) and code.word(after) not in ("partition", "verbose")
    return (table, code.column(after)) if table and single and code.word(index) not in _NO_TABLES else None


def inspected_database(code: Code) -> DottedName:
    """The database of `DBCC CHECKDB (shop)`, or that of `SHOW TABLES FROM shop`; () where it is the current one."""
    if code.word(0) == "dbcc" and code.word(1) in _CHECKED_DATABASES and code.word(2) == "(":
        return _argument(code, 3)
    if code.word(0) == "show" and "tables" in code.words(1, 4):
        index = code.find(1, _FROM) + 1
        index += code.word(index) in ("schema", "database")
        return code.dotted_name(index)[0] if code.word(index) not in DDL_OBJECTS | {"account"} else ()
    return ()


def _behind_words(code: Code, index: int) -> int:
    while code.word(index) in _TABLE_WORDS:
        index += 1
    return index


def _table_of_describe(code: Code) -> Iterator[DottedName]:
    if _explained_statement(code) == len(code):
        index = _behind_words(code, 1)
        if not (code.is_word(index) and code.word(index) in _NO_TABLES | {"for"} and code.word(index + 1) != "."):
            yield code.dotted_name(index)[0]


def _tables_of_show(code: Code) -> Iterator[DottedName]:
    index = next((at for at in range(1, 5) if code.word(at) in _BEHIND_FROM | {"create", "table", "view"}), len(code))
    if code.word(index) in _BEHIND_FROM:
        behind = next((at for at in range(index + 1, index + 3) if code.word(at) in _FROM), None)
        plain = code.word(index) in ("partitions", "tblproperties")
        index = behind + 1 if behind is not None else index + 1 if plain else len(code)
    elif code.word(index) == "create":
        index = index + 1 if code.word(index + 1) in _TABLE_WORDS else len(code)
    index = _behind_words(code, index)
    if code.is_word(index) and code.word(index) in _NO_TABLES:
        return
    name, after = code.dotted_name(index)
    if code.word(after) in ("from", "in") and len(name) == 1:  # SHOW COLUMNS FROM t FROM s
        name = (*code.dotted_name(after + 1)[0], *name)
    yield name


def _of_pragma(code: Code) -> Iterator[DottedName]:
    if code.word(1) in _TABLE_INFO and code.word(2) == "(":
        yield _argument(code, 3)


def _argument(code: Code, index: int) -> DottedName:
    """The name that an argument is, as a text too: 'shop.orders'."""
    if code.is_string(index):
        return Code.of(code.without_quotes(index), code.dialect).dotted_name(0)[0]
    quoted = code.is_quoted(index) and "." in code.without_quotes(index)
    return Code.of(code.without_quotes(index), code.dialect).dotted_name(0)[0] if quoted else code.dotted_name(index)[0]


def _tables_of_dbcc(code: Code) -> Iterator[DottedName]:
    """T-SQL's DBCC, whose names are texts."""
    if code.word(2) != "(":
        return
    arguments = [first for first, _last in code.items(3, code.closing(2))]
    if code.word(1) in _CHECKED_FIRST:
        yield from (_argument(code, first) for first in arguments[:1])
    elif code.word(1) in _CHECKED_SECOND:
        yield from (_argument(code, first) for first in arguments[1:2])


def _behind_delta(code: Code) -> Iterator[DottedName]:
    if code.word(1) == "to":
        yield code.dotted_name(3)[0]


def _behind_for_table(code: Code) -> Iterator[DottedName]:
    """GENERATE symlink_format_manifest FOR TABLE t, SET INTEGRITY FOR s, t IMMEDIATE CHECKED."""
    index = code.find(1, keywords("for")) + 1
    if code.word(0) == "set" and code.word(1) != "integrity":
        return
    for first, _last in code.items(_behind_words(code, index), len(code)):
        yield code.dotted_name(first)[0]


def _table_of_locking(code: Code) -> Iterator[DottedName]:
    """Teradata: LOCKING TABLE t FOR ACCESS SELECT …; LOCKING ROW FOR ACCESS names none."""
    index = _behind_words(code, 1)
    if code.word(index) not in ("row", "database"):
        yield code.dotted_name(index)[0]


def _of_system(code: Code) -> Iterator[DottedName]:
    index = next((at for at in range(1, 6) if code.word(at) in _OF_SYSTEM), len(code))
    if code.words(index + 1, 2) != ("on", "cluster"):
        yield code.dotted_name(index + 1)[0]


def _of_indexes(code: Code) -> Iterator[DottedName]:
    """MySQL: CACHE INDEX s, t IN c, LOAD INDEX INTO CACHE s, t."""
    first = {("cache", "index"): 2, ("load", "index"): 4}.get((code.word(0), code.word(1)))
    for begin, _end in code.items(first, len(code)) if first is not None else ():
        yield code.dotted_name(begin)[0]


def _of_policy(code: Code) -> Iterator[DottedName]:
    """Redshift: ATTACH RLS POLICY p ON t TO PUBLIC, DETACH MASKING POLICY p ON t (a) FROM PUBLIC."""
    if "policy" in code.words(1, 3):
        index = code.find(1, keywords("on")) + 1
        yield code.dotted_name(index + (code.word(index) == "table"))[0]


_FINDERS: Mapping[str, Callable[[Code], Iterator[DottedName]]] = {
    **dict.fromkeys(("describe", "desc", "explain", "help", "summarize"), _table_of_describe),
    **dict.fromkeys(("generate", "set"), _behind_for_table),
    **dict.fromkeys(("cache", "load"), _of_indexes),
    **dict.fromkeys(("attach", "detach"), _of_policy),
    "convert": _behind_delta,
    "dbcc": _tables_of_dbcc,
    "locking": _table_of_locking,
    "pragma": _of_pragma,
    "show": _tables_of_show,
    "system": _of_system,
}
