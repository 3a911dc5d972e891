"""The query in a statement that begins with another word, and gives that query's rows to who runs it.

`DECLARE c CURSOR FOR SELECT a FROM t`, `COPY (SELECT a FROM t) TO STDOUT`, `COPY t (a) TO PROGRAM 'gzip'`,
`PREPARE p AS SELECT a FROM t`, `SET x = (SELECT max(a) FROM t)`: they are skipped for what they are, and read t.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERIES
from ingestion.model.outcomes import Outcome

HOLD_QUERIES = frozenset(
    {Outcome.CURSOR, Outcome.COPY_STDIO, Outcome.PREPARE, Outcome.VARIABLE, Outcome.SESSION_SETTING}
)
"""Why statements are skipped that may hold one."""
_NAME_CURSORS = keywords("declare set")
_ROWS = keywords("select sel from values table")
_AFTER_QUERY = keywords("read fetch update share no key")
"""Behind the FOR that ends a cursor's query: FOR READ ONLY, FOR UPDATE OF a; T-SQL's FOR XML is part of the query."""


def inner_query(text: str, dialect: Dialect | str) -> str | None:
    """The query that a statement holds; None where it holds none, or one whose text is not in it."""
    lowered = text.lower()
    if not any(word in lowered for word in _ROWS) and not lowered.lstrip().startswith("copy"):
        return None
    code = Code.of(text, dialect if isinstance(dialect, Dialect) else dialect_of(dialect))
    verb = code.word(0)
    if verb == "copy":
        return _copied_query(code)
    if verb == "prepare":
        return _prepared_query(code)
    cursor = code.find(1, frozenset({"cursor"})) if verb in _NAME_CURSORS else len(code)
    return _of_cursor(code, cursor) if cursor < len(code) else _of_value(code)


def _copied_query(code: Code) -> str | None:
    """PostgreSQL and its kin: COPY (query) TO …, COPY t (a, b) TO …; a COPY FROM reads no table."""
    first = 1 + code.stands(1, "binary")
    if code.word(first) == "(":
        return _query(code, first + 1, code.closing(first))
    parts, end = code.dotted_name(first)
    behind = code.after(end) if code.word(end) == "(" else end
    if not parts or code.word(behind) != "to":
        return None
    columns = code.between(end + 1, behind - 1) if behind > end else "*"
    return f"SELECT {columns} FROM {code.between(first, end)}"


def prepared_text(text: str, dialect: Dialect | str) -> str | None:
    """What PREPARE p (int) AS …, or FROM 'INSERT …', prepares; "" where a variable holds it, None of other forms.

    Trino has no quotes there: PREPARE p FROM INSERT INTO …. PREPARE TRANSACTION prepares no text.
    """
    return _prepared_text(Code.of(text, dialect if isinstance(dialect, Dialect) else dialect_of(dialect)))


def _prepared_text(code: Code) -> str | None:
    first = code.find(1, frozenset({"as", "from"})) + 1
    last = len(code)
    while last > first and code.word(last - 1) == ";":
        last -= 1
    if code.word(0) != "prepare" or first >= last:
        return None
    if code.is_string(first):
        whole = all(code.is_string(index) for index in range(first, last))
        return "".join(code.without_quotes(index) for index in range(first, last)) if whole else ""
    return "" if last == first + 1 or code.word(first) in ("@", ":") else code.between(first, last)


def _prepared_query(code: Code) -> str | None:
    prepared = _prepared_text(code)
    return _query(Code.of(prepared, code.dialect), 0, None) if prepared else None


def _of_cursor(code: Code, cursor: int) -> str | None:
    """DECLARE c CURSOR WITH HOLD FOR query FOR READ ONLY, SET @c = CURSOR FOR query.

    Of a cursor in another database nothing is known here.
    """
    first = code.find(cursor + 1, frozenset({"for", "is"})) + 1
    if "database" in code.words(1, first - 1):
        return None
    last = next((n for n in code.outside(first) if code.word(n) == "for" and code.word(n + 1) in _AFTER_QUERY), None)
    return _query(code, first, last)


def _of_value(code: Code) -> str | None:
    """Where a variable is given what queries give, these queries as one."""
    found = tuple(_queries_in_parentheses(code))
    return found[0] if len(found) == 1 else f"SELECT {', '.join(f'({one})' for one in found)}" if found else None


def _queries_in_parentheses(code: Code) -> Iterator[str]:
    index = 0
    while index < len(code):
        opens = code.word(index) == "(" and code.word(index + 1) != "("
        query = _query(code, index + 1, code.closing(index)) if opens else None
        if query is not None:
            yield query
            index = code.closing(index)
        index += 1


def _query(code: Code, first: int, last: int | None) -> str | None:
    """The query from one token up to another, None where what stands there is none."""
    start, end = first, len(code) if last is None else min(last, len(code))
    while code.word(start) == "(":
        start += 1
    while end > first and code.word(end - 1) == ";":
        end -= 1
    return code.between(first, end) if code.word(start) in QUERIES and start < end else None
