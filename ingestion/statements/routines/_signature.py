"""The head of CREATE PROCEDURE, FUNCTION, TASK, ALERT or EVENT: its name, parameters, language, and its body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import Separator, keywords
from ingestion.dialects.lexing import DOLLAR, NAME, STRING, WORD
from ingestion.statements.routines.steps import constant

PROCEDURES = keywords("procedure proc")
SCHEDULED = keywords("task event alert")
_BEFORE_ACTION = keywords("do then action")
_WITH_ROUTINES = keywords("trigger package")
MACRO = "macro"
_KINDS = PROCEDURES | SCHEDULED | {"function", MACRO}
_MODES = keywords("in out inout variadic")
_QUERIES = keywords("select with insert update delete merge replace call truncate set return if")
_STARTS_BODY = keywords("begin declare")
_RETURNING = frozenset({Separator.NONE, Separator.CELL, Separator.AT})
_NOT_BODY_AFTER_AS = keywords("caller owner self user restricted")
_LANGUAGES = keywords("sql plpgsql tsql plsql")
_TABLE_QUERIES = keywords("select with from values table (")
_QUOTE_PREFIXES = keywords("n r b rb br q")
_CONSTRAINTS = keywords("primary unique check constraint index foreign")
_FILLED_BY_SERVER = keywords("timestamp rowversion")
_OUTGOING = keywords("out inout")
_BEFORE_BODY = _QUOTE_PREFIXES | {"as", "is"}
_ELSEWHERE = "external"
"""The language of a body that is in a library of the server's."""


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before a body. `parameters` are names; `path` is the search path that the routine brings along,
    `columns` are those that RETURNS TABLE names, or the parameters that rows go out by. `given` are the parameters that
    a call gives, by their positions, "" for one without a name; none where one of them takes several arguments. `rows`
    is the variable whose rows T-SQL's function gives, () its `columns` where an INSERT without a list skips some.
    `row_type` is that of RETURNS SETOF, whose columns the rows have by their positions. `tables` are the parameters
    that are tables, with their columns, () where a call decides them; `given` has "" for them.
    """

    kind: str
    name: tuple[str, ...]
    body: str
    language: str = ""
    parameters: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    returns_table: bool = False
    returns_trigger: bool = False
    columns: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    rows: str = ""
    row_type: tuple[str, ...] = ()
    tables: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def readable(self) -> bool:
        """Whether the body is SQL."""
        return is_sql(self.language)


def is_sql(language: str) -> bool:
    """Whether a body in a language, "" where none is said, is read as SQL."""
    return not language or language in _LANGUAGES


@dataclass(frozen=True, slots=True)
class _ParameterLists:
    """The parameters of a routine: all that have a name, and what Header has of them."""

    named: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    outgoing: tuple[str, ...] = ()
    tables: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(slots=True)
class _Found:
    language: str = ""
    path: list[str] = field(default_factory=list)
    returns_table: bool = False
    returns_trigger: bool = False
    columns: tuple[str, ...] = ()
    rows: str = ""
    row_type: tuple[str, ...] = ()


def read_header(text: str, dialect: Dialect) -> Header | None:
    """The head of a routine's definition; None where the text defines no routine that runs statements."""
    code = Code.of(text, dialect)
    kind_at = object_at(code)
    if kind_at is None or code.word(kind_at) not in _KINDS:
        return None
    kind = "procedure" if code.word(kind_at) in PROCEDURES else code.word(kind_at)
    name_at = kind_at + (4 if code.words(kind_at + 1, 3) == ("if", "not", "exists") else 1)
    name, index = code.dotted_name(name_at)
    if not name:
        return None
    lists = _ParameterLists()
    index += 2 * (code.word(index) == ";")  # T-SQL's ;1
    if code.word(index) == "(" and kind not in SCHEDULED:
        lists = _parameter_lists(code, index + 1, code.closing(index))
        index = code.closing(index) + 1
    found = _Found(returns_table=code.word(kind_at - 1) == "table")  # BigQuery's TABLE FUNCTION
    bare = kind == MACRO and dialect.expression_macros and index < len(code)
    body = code.text[code.start_of(index) :] if bare else _body(code, index, found, scheduled=kind in SCHEDULED)
    if body is None:
        return None
    if kind == MACRO:
        body = _within_parentheses(Code.of(body, dialect))
    elif kind == "function" and not lists.named and (as_lambda := _lambda(Code.of(body, dialect))) is not None:
        body, given = as_lambda
        lists = _ParameterLists(given, given)
    return Header(
        kind,
        name,
        body,
        found.language,
        lists.named,
        tuple(found.path),
        found.returns_table,
        found.returns_trigger,
        found.columns or (lists.outgoing if found.row_type else ()),
        lists.given,
        found.rows,
        found.row_type,
        lists.tables,
    )


def _within_parentheses(code: Code) -> str:
    """Teradata's `AS (INSERT …; UPDATE …;)` without the parentheses, which others put around a query."""
    closing = code.closing(0)
    last = next((index for index in range(closing + 1, len(code.tokens)) if code.word(index) != ";"), None)
    return code.text[code.end_of(0) : code.start_of(closing)] if code.word(0) == "(" and last is None else code.text


def _lambda(code: Code) -> tuple[str, tuple[str, ...]] | None:
    """ClickHouse's `(a, b) -> a + 1` as its body and parameters; None of another body."""
    arrow = code.closing(0) + 1 if code.word(0) == "(" else 1
    if code.words(arrow, 2) != ("-", ">") or arrow + 2 >= len(code.tokens):
        return None
    names = code.items(1, arrow - 1) if arrow > 1 else ((0, 1),)
    return code.text[code.start_of(arrow + 2) :], tuple(code.name(begin) for begin, _end in names)


def object_at(code: Code) -> int | None:
    """The token that says what kind of routine a statement defines; None where it defines none."""
    if code.word(0) not in ("create", "alter", "replace"):
        return None
    objects = _KINDS | _WITH_ROUTINES
    return next((index for index in range(1, min(12, len(code.tokens))) if code.word(index) in objects), None)


def _parameter_lists(code: Code, first: int, last: int) -> _ParameterLists:
    within = code, first, last
    outgoing, tables = tuple(_outgoing(*within)), tuple(_table_parameters(*within))
    return _ParameterLists(tuple(_parameters(*within)), _given_parameters(*within), outgoing, tables)


def _parameter_items(code: Code, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The parameters of a list: `s STRUCT<a INT64, b STRING>` is one, whose type's bracket stands at its word."""
    begin, depth = first, 0
    for start, end in code.items(first, last):
        for index in range(start, end):
            opens = code.word(index) == "<" and code.end_of(index - 1) == code.start_of(index)
            depth += 1 if opens else -(depth > 0 and code.word(index) == ">")
        if depth == 0:
            yield begin, end
            begin = end + 1


def _table_parameters(code: Code, first: int, last: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """BigQuery's `t TABLE<a INT64>` and `t ANY TABLE`, Snowflake's `t TABLE(a INT)`."""
    for begin, end in _parameter_items(code, first, last):
        if _is_table(code, begin):
            columns = (code.column(start) for start, _end in _parameter_items(code, begin + 3, end - 1))
            yield code.name(begin), tuple(columns) if code.word(begin + 1) == "table" else ()


def _is_table(code: Code, begin: int) -> bool:
    return code.words(begin + 1, 2) in (("table", "<"), ("table", "("), ("any", "table"))


def _parameters(code: Code, first: int, last: int) -> Iterator[str]:
    for begin, end in _parameter_items(code, first, last):
        if _is_table(code, begin):
            continue
        index = begin
        while index < end and code.word(index) in _MODES:
            index += 1
        # A type alone (PostgreSQL) is no name.
        if (end - index > 1 or code.dialect.untyped_parameters) and code.tokens[index].kind in (WORD, NAME):
            yield code.name(index)


def _given_parameters(code: Code, first: int, last: int) -> tuple[str, ...]:
    items = [pair for pair in _parameter_items(code, first, last) if code.word(pair[0]) != "out"]
    if any(code.word(begin) == "variadic" for begin, _ in items):
        return ()
    return tuple(next(_parameters(code, *pair), "") for pair in items)


def _outgoing(code: Code, first: int, last: int) -> Iterator[str]:
    """The parameters by which what a function gives goes out: `OUT a int`, `INOUT b int`."""
    for begin, end in _parameter_items(code, first, last):
        if not _OUTGOING.isdisjoint(code.words(begin, 2)):
            yield from _parameters(code, begin, end)


def _body(code: Code, index: int, found: _Found, *, scheduled: bool) -> str | None:
    """The text of the body, found after the clauses between."""
    body: str | None = None
    while index < len(code.tokens):
        word, token = code.word(index), code.tokens[index]
        if word == "(":
            index = code.closing(index)
        elif word == "language":
            found.language = (code.name(index + 1) or constant(code, index + 1, index + 2) or "").lower()
            index += 1
        elif word == "returns" and code.word(index + 1) in ("table", "setof"):
            found.returns_table = True
            if code.word(index + 2) == "(":
                found.columns = tuple(_parameters(code, index + 3, code.closing(index + 2)))
            found.row_type = code.dotted_name(index + 2)[0] if code.word(index + 1) == "setof" else ()
        elif word == "returns" and code.words(index + 2, 2) == ("table", "(") and code.word(index + 1)[:1] == "@":
            found.returns_table, found.rows = True, code.word(index + 1)
            found.columns = _filled_columns(code, index + 3)
            index += 3
        elif word == "returns" and code.word(index + 1) == "trigger":
            found.returns_trigger = True
        elif word == "set" and code.word(index + 1) == "search_path":
            index = _read_path(code, index + 2, found) - 1
        elif word == "as" and code.word(index - 1) == "execute":
            index += 1
        elif code.words(index, 2) == ("as", "table") and code.word(index + 2) in _TABLE_QUERIES:
            found.returns_table = True  # DuckDB's macro that gives rows
            return code.text[code.start_of(index + 2) :]
        elif code.words(index, 2) == ("external", "name"):
            found.language = found.language or _ELSEWHERE
        elif body is None and token.kind in (DOLLAR, STRING) and _stands_before_body(code, index - 1):
            body = constant(code, index, index + 1)
        elif body is None and (start := _inline_start(code, index, scheduled=scheduled)) is not None:
            return code.text[code.start_of(start) :]
        index += 1
    return "" if body is None and not is_sql(found.language) else body


def _filled_columns(code: Code, opening: int) -> tuple[str, ...]:
    """The columns between parentheses, as an INSERT without a list fills them; none where it does not fill them all."""
    listed = [pair for pair in code.items(opening + 1, code.closing(opening)) if code.word(pair[0]) not in _CONSTRAINTS]
    for begin, end in listed:
        words = code.words(begin + 1, end - begin - 1)
        if words[:1] == ("as",) or "identity" in words or code.name(begin + 1).lower() in _FILLED_BY_SERVER:
            return ()
    return tuple(code.name(begin) for begin, _end in listed)


def _stands_before_body(code: Code, index: int) -> bool:
    """Whether a body in quotes may follow: AS 'text', AS r"text", Oracle's MLE LANGUAGE JAVASCRIPT 'text'."""
    return code.word(index) in _BEFORE_BODY or code.words(index - 2, 2) == ("mle", "language")


def _inline_start(code: Code, index: int, *, scheduled: bool) -> int | None:
    """Where a body begins that is not in quotes."""
    word = code.word(index)
    following = index + 1
    if word in ("as", "is"):
        if following >= len(code.tokens) or code.word(following) in _NOT_BODY_AFTER_AS:
            return None
        quoted = code.is_string(following + (code.word(following) in _QUOTE_PREFIXES))
        return None if quoted or code.word(following) in ("language", "external", "mle") else following
    if word in _STARTS_BODY:
        return index
    if scheduled:
        return following if word in _BEFORE_ACTION else None
    # MySQL's routines of one statement; what comes between name and body has none of these verbs first.
    if code.dialect.separator is Separator.DELIMITER and word in _QUERIES and code.word(index - 1) not in ("sql", "on"):
        return index
    return index if word == "return" and code.dialect.separator in _RETURNING else None


def _read_path(code: Code, index: int, found: _Found) -> int:
    """PostgreSQL's SET search_path TO a, b; the index after it."""
    if code.word(index) in ("to", "="):
        index += 1
    while index < len(code.tokens):
        name = code.name(index)
        if not name and code.tokens[index].kind == STRING:
            name = code.without_quotes(index)
        if not name:
            break
        found.path.append(name)
        index += 1
        if code.word(index) != ",":
            break
        index += 1
    return index
