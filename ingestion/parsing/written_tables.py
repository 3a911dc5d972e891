"""The tables that a statement is to fill, from its words alone: of statements that never came to their end.

Nothing is parsed: such texts are many, and often wrong. Where it is not plain which table is meant, none is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.model.lineage import TableName
from ingestion.model.namespaces import may_be_temporary

_BEFORE_NAMES = keywords(
    "into overwrite table ignore or replace low_priority high_priority delayed quick only if not exists concurrently"
    " rollback abort fail"
)
_NO_NAME = keywords(
    "all as directory first from function identifier local on openquery openrowset opendatasource select sel set table"
    " top using values where with default"
)
_AFTER_NAMES = frozenset("@.:{$%?*-#")
_STAGE = "@"
_STARTS = keywords("insert ins replace upsert merge update upd delete del select sel values table from")
_MADE = keywords("table view")
_TEMPORARY = keywords("temp temporary volatile")
_BEFORE_MADE = keywords(
    "or replace alter refresh transient permanent multiset set global local unlogged external materialized dynamic"
    " hybrid iceberg snapshot live streaming secure column row columnar rowstore hadoop immutable blockchain sharded"
    " duplicated reference dimension fact"
)
_INTO, _INSERT, _AS, _TO, _NO = (keywords(word) for word in ("into", "insert", "as", "to", "no"))
_PERCENT = keywords("percent")


def written_tables(text: str, dialect: Dialect) -> tuple[TableName, ...]:
    """The tables that one statement fills, as it names them; none that the session alone can see.

    `INSERT INTO mart.sales SELECT …` -> mart.sales. What changes or ends rows that are there fills nothing.
    """
    code = Code.of(text, dialect)
    begin = code.find(1, _STARTS) if code.word(0) == "with" else 0
    read = _READERS.get(code.word(begin))
    names = [] if read is None else list(read(code, begin))
    common = _common_tables(code, begin)
    if any(name is None or (len(name.parts) == 1 and name.table in common) for name in names):
        return ()
    return tuple(dict.fromkeys(name for name in names if name is not None and not _is_private(name)))


def _name(code: Code, at: int) -> TableName | None:
    """The name at an index, None where there is none or the statement's end tells what it is."""
    name, end = _name_and_end(code, at)
    return None if code.word(end)[:1] in _AFTER_NAMES and code.word(end) else name


def _name_and_end(code: Code, at: int) -> tuple[TableName | None, int]:
    if code.word(at) in _NO_NAME or (at < len(code.tokens) and code.tokens[at].text.startswith(_STAGE)):
        return None, at
    parts: list[str] = []
    while name := code.name(at):
        dashed = [name]
        while code.dialect.dashed_names and code.word(at + 1) == "-" and code.name(at + 2):
            at += 2
            dashed.append(code.name(at))
        name = "-".join(dashed)
        parts += name.split(".") if code.dialect.dotted_quotes else [name]
        at += 1
        if code.word(at) != "." or not code.name(at + 1):
            break
        at += 1
    named = bool(parts) and all(parts) and "/" not in parts[-1]
    return (TableName(tuple(parts)) if named else None), at


def _place_of_name(code: Code, at: int) -> int:
    """The index of a name, behind the words that may stand before it, and TOP (10) PERCENT."""
    at = _behind(code, at, _BEFORE_NAMES)
    if code.words(at, 2) != ("top", "("):
        return at
    return _behind(code, code.closing(at + 1) + 1, _BEFORE_NAMES | _PERCENT)


def _behind(code: Code, at: int, words: frozenset[str]) -> int:
    while code.word(at) in words:
        at += 1
    return at


def _insert(code: Code, at: int) -> Iterator[TableName | None]:
    if code.word(at + 1) in ("all", "first"):
        last = code.find(at, keywords("select sel with"))
        into = code.find(at, _INTO, last)
        while into < last:
            yield _name(code, into + 1)
            into = code.find(into + 1, _INTO, last)
        return
    yield _name(code, _place_of_name(code, at + 1))


def _replace(code: Code, at: int) -> Iterator[TableName | None]:
    return iter(()) if code.word(at + 1) in _MADE else _insert(code, at)


def _from(code: Code, at: int) -> Iterator[TableName | None]:
    """Hive's FROM s INSERT INTO a SELECT … INSERT INTO b SELECT …."""
    insert = code.find(at, _INSERT)
    while insert < len(code.tokens):
        yield _name(code, _place_of_name(code, insert + 1))
        insert = code.find(insert + 1, _INSERT)


def _merge(code: Code, at: int) -> Iterator[TableName | None]:
    yield _name(code, _place_of_name(code, at + 1))


def _create(code: Code, at: int) -> Iterator[TableName | None]:
    made = code.find(at, _MADE, at + 8)
    words = {code.word(place) for place in range(at + 1, made)}
    stored = code.word(made) == "table" or "materialized" in words
    if not stored or not words <= _BEFORE_MADE:
        return
    place = _place_of_name(code, made + 1)
    if not _is_made_empty(code, code.word(made), _name_and_end(code, place)[1]):
        yield _name(code, place)


def _is_made_empty(code: Code, made: str, end: int) -> bool:
    """Whether no rows come with it: it is LIKE another, WITH NO DATA, or a view that fills another table.

    `end`: where its name ends.
    """
    query = code.find(end, _AS)
    if made == "view" and code.find(end, _TO, query) < query:
        return True
    if query == len(code.tokens):
        return "like" in code.words(end, 2)
    return code.word(code.find(query, _NO) + 1) == "data"


def _copy(code: Code, at: int) -> Iterator[TableName | None]:
    """COPY t FROM, COPY INTO t FROM; what goes to a stage or a file has no name."""
    place = _place_of_name(code, at + 1)
    name, end = _name_and_end(code, place)
    end = code.closing(end) + 1 if code.word(end) == "(" else end
    if name is not None and code.word(end) == "from":
        yield name


def _load(code: Code, at: int) -> Iterator[TableName | None]:
    """LOAD DATA … INTO TABLE t, and BigQuery's LOAD DATA OVERWRITE t."""
    into = code.find(at, keywords("into overwrite"))
    place = _place_of_name(code, into)
    if into < len(code.tokens) and not _TEMPORARY & {code.word(place)}:
        yield _name(code, place)


def _bulk(code: Code, at: int) -> Iterator[TableName | None]:
    if code.word(at + 1) == "insert":
        yield _name(code, at + 2)


def _select(code: Code, at: int) -> Iterator[TableName | None]:
    into = code.find(at, _INTO)
    if into == len(code.tokens) or not code.dialect.select_into_creates:
        return
    place = into + 1
    while code.word(place) in ("unlogged", "table"):
        place += 1
    if code.word(place) not in _TEMPORARY:
        yield _name(code, place)


_READERS: Mapping[str, Callable[[Code, int], Iterator[TableName | None]]] = {
    **dict.fromkeys(("insert", "ins", "upsert"), _insert),
    **dict.fromkeys(("select", "sel"), _select),
    **dict.fromkeys(("load", "import"), _load),
    "replace": _replace,
    "merge": _merge,
    "from": _from,
    "create": _create,
    "copy": _copy,
    "bulk": _bulk,
}


def _common_tables(code: Code, begin: int) -> frozenset[str]:
    """The names of the statement's own WITH items, which stand before its verb."""
    return frozenset(code.name(place) for place in range(1, begin) if code.word(place + 1) in ("as", "("))


def _is_private(name: TableName) -> bool:
    """Whether only the session sees a table of that name, by the name alone."""
    return name.table.startswith("#") or (len(name.parts) > 1 and may_be_temporary(name))
