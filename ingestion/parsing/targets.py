"""What a statement writes, told from its tokens without a tree: targets of INSERT, CREATE … AS, UPDATE, MERGE, COPY.

Two ask: the last tier, which follows the query behind the target, and what is told of statements that failed, of which
nothing but the names of the tables counts that they were to fill.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import (
    BEFORE_TARGET,
    CREATE_MODIFIERS,
    NO_COLUMN_DEFINITION,
    NO_TARGET,
    QUERY_STARTS,
    RELATIONS,
    TEMPORARY,
)
from ingestion.errors import Unparsable
from ingestion.model.lineage import CreateMode, NameKind, StatementKind, TableName, Target, WriteMode
from ingestion.model.namespaces import may_be_temporary
from ingestion.parsing.token_names import relation_at, relation_name, table_name

_AFTER_NAMES = frozenset("@.:{$%?*-#")
"""Follow a name that the statement's end, or what binds it, makes another: t$suffix, t:x, t{{ x }}."""
_STARTS = keywords("insert ins replace upsert merge update upd delete del select sel values table from")
_INTO, _INSERT, _AS, _TO, _NO, _PERCENT = (keywords(word) for word in ("into", "insert", "as", "to", "no", "percent"))


@dataclass(frozen=True, slots=True)
class TargetAt:
    """A target; `span` are the positions of its clause, the query begins behind them; `fixed` as in Write."""

    kind: StatementKind
    target: Target | None
    span: range
    fixed: tuple[str, ...] = ()


def find_target(code: Code) -> TargetAt:
    """The one target of the statement, None for a bare SELECT.

    Raises Unparsable for a statement that has several, or none of the shapes that carry lineage.
    """
    top = _top_level(code)
    verbs = [position for position in top if code.word(position) in (*_VERBS, "delete") and _is_verb(code, position)]
    if len(verbs) > 1:
        raise Unparsable("the text writes more than one target")
    if verbs and code.word(verbs[0]) in _VERBS:
        return _VERBS[code.word(verbs[0])](code, verbs[0])
    if verbs or code.word(0) not in (*QUERY_STARTS, "("):
        raise Unparsable("the text has no shape that carries lineage")
    return _select_into(code, top)


def _top_level(code: Code) -> list[int]:
    found, position = [], 0
    while position < len(code):
        found.append(position)
        position = code.after(position)
    return found


def _is_verb(code: Code, position: int) -> bool:
    """Not DO UPDATE, FOR UPDATE, ON DELETE, WHEN MATCHED THEN UPDATE, nor a name."""
    before = code.word(position - 1)
    if before in ("do", "for", "on", "then", "key"):
        return False
    if code.word(position) == "replace":
        return position == 0
    return before not in (".", "as", ",", "or")


def _insert(code: Code, position: int) -> TargetAt:
    start, mode = position, WriteMode.APPEND
    position += 1
    while code.word(position) in BEFORE_TARGET:
        mode = WriteMode.OVERWRITE if code.word(position) == "overwrite" else mode
        position += 1
    named = relation_at(code, position)
    if named is None or code.word(position) in NO_TARGET:
        raise Unparsable("INSERT goes to something else than one table")
    position = named.end
    fixed: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    if code.word(position) == "partition" and code.word(position + 1) == "(":
        fixed = _fixed_columns(code, position + 1)
        position = code.after(position + 1)
    if code.word(position) == "(" and code.word(position + 1) not in (*QUERY_STARTS, "("):
        columns = _columns(code, position)
        if _has_options(code, position):
            raise Unparsable("INSERT goes to something else than one table")
        position = code.after(position)
    by_name = (code.word(position), code.word(position + 1)) == ("by", "name")
    target = Target(table_name(named.parts, code.dialect), mode, columns, by_name)
    return TargetAt(StatementKind.INSERT, target, range(start, position), fixed)


def _create(code: Code, position: int) -> TargetAt:
    start, words = position, set()
    position += 1
    while code.word(position) in CREATE_MODIFIERS:
        words.add(code.word(position))
        position += 1
    view = code.word(position) == "view"
    if not view and code.word(position) != "table":
        raise Unparsable("CREATE makes neither a table nor a view")
    position += 1
    mode = CreateMode.REPLACE if "replace" in words else CreateMode.NEW
    if code.word(position) == "if":
        position, mode = position + 3, CreateMode.IF_ABSENT
    named = relation_at(code, position)
    if named is None:
        raise Unparsable("CREATE names nothing")
    query = _as_query(code, named.end)
    columns = _columns(code, named.end) if code.word(named.end) == "(" else None
    name = table_name(named.parts, code.dialect)
    temporary = bool(words & TEMPORARY) or name.table.startswith("#")
    target = Target(name, WriteMode.CREATE, columns, temporary=temporary, view=view, create_mode=mode)
    kind = StatementKind.CREATE_VIEW if view else StatementKind.CREATE_TABLE_AS
    return TargetAt(kind, target, range(start, query))


def _as_query(code: Code, position: int) -> int:
    while position < len(code):
        if code.word(position) == "as" and code.word(position + 1) in (*QUERY_STARTS, "("):
            return position + 1
        if code.word(position) == "select":  # MySQL and Spark need no AS
            return position
        position = code.after(position)
    raise Unparsable("CREATE has no query")


def _changed_table(code: Code, position: int) -> TargetAt:
    """UPDATE [ONLY] t …, MERGE [INTO] t …."""
    start, verb = position, code.word(position)
    position += 1 + (code.word(position + 1) in ("only", "into"))
    named = relation_at(code, position)
    if named is None or code.word(position) in NO_TARGET:
        raise Unparsable(f"{verb.upper()} names no table")
    target = Target(table_name(named.parts, code.dialect), WriteMode.UPDATE)
    kind = StatementKind.UPDATE if verb == "update" else StatementKind.MERGE
    return TargetAt(kind, target, range(start, named.end))


_VERBS = {
    "insert": _insert,
    "replace": _insert,
    "upsert": _insert,
    "create": _create,
    "update": _changed_table,
    "merge": _changed_table,
}


def _select_into(code: Code, top: list[int]) -> TargetAt:
    into = next((position for position in top if code.word(position) == "into"), None)
    if into is not None and code.word(into + 1) in ("outfile", "dumpfile"):
        raise Unparsable("SELECT fills a file")
    if into is None or not code.dialect.select_into_creates:
        return TargetAt(StatementKind.SELECT, None, range(0))
    position, temporary = into + 1, False
    while code.word(position) in (*TEMPORARY, "unlogged", "table"):
        temporary |= code.word(position) in TEMPORARY
        position += 1
    named = relation_at(code, position)
    if named is None:
        raise Unparsable("SELECT INTO names no table")
    name = table_name(named.parts, code.dialect)
    target = Target(name, WriteMode.CREATE, temporary=temporary or name.table.startswith("#"))
    return TargetAt(StatementKind.CREATE_TABLE_AS, target, range(into, named.end))


def _columns(code: Code, opens: int) -> tuple[str, ...] | None:
    """The columns of a list, with or without types; None when an item is something else, or there is none."""
    names = []
    for first, last in code.items(opens + 1, code.closing(opens)):
        if first == last or not code.name(first) or code.word(first) in NO_COLUMN_DEFINITION:
            return None
        names.append(code.column(first))
    return tuple(names) or None


def _has_options(code: Code, opens: int) -> bool:
    """Whether what stands in brackets are no columns but a function's arguments: k => 'v'."""
    return any(code.word(position) in ("=", "=>") for position in range(opens, code.closing(opens)))


def _fixed_columns(code: Code, opens: int) -> tuple[str, ...]:
    items = code.items(opens + 1, code.closing(opens))
    return tuple(code.column(first) for first, last in items if last > first + 1 and code.word(first + 1) == "=")


# The tables that a statement was to fill, of statements that never came to their end: such texts are many, and often
# wrong, so that nothing of them is read but the words around the name. Where it is not plain which table is meant,
# none is.


def written_tables(text: str, dialect: Dialect) -> tuple[TableName, ...]:
    """The tables that one statement fills, as it names them; none that the session alone can see.

    `INSERT INTO mart.sales SELECT …` -> mart.sales. What changes or ends rows that are there fills nothing.
    """
    code = Code.of(text, dialect)
    begin = code.find(1, _STARTS) if code.word(0) == "with" else 0
    read = _FILLING.get(code.word(begin))
    names = [] if read is None else list(read(code, begin))
    common = frozenset(code.name(index) for index in range(1, begin) if code.word(index + 1) in ("as", "("))
    if any(name is None or (len(name.parts) == 1 and name.table in common) for name in names):
        return ()
    return tuple(dict.fromkeys(name for name in names if name is not None and not _is_private(name)))


def _is_private(name: TableName) -> bool:
    """Whether only the session sees a table of that name, by the name alone."""
    return name.table.startswith("#") or (len(name.parts) > 1 and may_be_temporary(name))


def _target_name(code: Code, at: int) -> tuple[TableName | None, int]:
    """The name at an index, None where none is, and the index behind it."""
    if code.word(at) in NO_TARGET or code.word(at).startswith("@"):  # T-SQL's tables of one batch
        return None, at
    name, end = relation_name(code, at)
    return (name if name is not None and name.kind is NameKind.TABLE and all(name.parts) else None), end


def _whole_name(code: Code, at: int) -> TableName | None:
    """The name at an index, None where what is behind it makes it another."""
    name, end = _target_name(code, at)
    return None if code.word(end)[:1] in _AFTER_NAMES and code.word(end) else name


def _behind_modifiers(code: Code, at: int) -> int:
    """The index of a name, behind the words that may stand before it, and TOP (10) PERCENT."""
    at = _behind(code, at, BEFORE_TARGET)
    return _behind(code, code.after(at + 1), BEFORE_TARGET | _PERCENT) if code.stands(at, "top", "(") else at


def _behind(code: Code, at: int, words: frozenset[str]) -> int:
    while code.word(at) in words:
        at += 1
    return at


def _filled_by_insert(code: Code, at: int) -> Iterator[TableName | None]:
    if code.word(at + 1) in ("all", "first"):
        last = code.find(at, keywords("select sel with"))
        into = code.find(at, _INTO, last)
        while into < last:
            yield _whole_name(code, into + 1)
            into = code.find(into + 1, _INTO, last)
        return
    yield _whole_name(code, _behind_modifiers(code, at + 1))


def _filled_by_replace(code: Code, at: int) -> Iterator[TableName | None]:
    return iter(()) if code.word(at + 1) in RELATIONS else _filled_by_insert(code, at)


def _filled_from(code: Code, at: int) -> Iterator[TableName | None]:
    """Hive's FROM s INSERT INTO a SELECT … INSERT INTO b SELECT …."""
    insert = code.find(at, _INSERT)
    while insert < len(code):
        yield _whole_name(code, _behind_modifiers(code, insert + 1))
        insert = code.find(insert + 1, _INSERT)


def _filled_by_create(code: Code, at: int) -> Iterator[TableName | None]:
    made = code.find(at, RELATIONS, at + 8)
    words = {code.word(index) for index in range(at + 1, made)}
    stored = code.word(made) == "table" or "materialized" in words
    if not stored or not words <= CREATE_MODIFIERS - TEMPORARY:
        return
    index = _behind_modifiers(code, made + 1)
    if not _is_made_empty(code, code.word(made), _target_name(code, index)[1]):
        yield _whole_name(code, index)


def _is_made_empty(code: Code, made: str, end: int) -> bool:
    """Whether no rows come with it: it is LIKE another, WITH NO DATA, or a view that fills another table.

    `end`: where its name ends.
    """
    query = code.find(end, _AS)
    if made == "view" and code.find(end, _TO, query) < query:
        return True
    if query == len(code):
        return "like" in code.words(end, 2)
    return code.word(code.find(query, _NO) + 1) == "data"


def _filled_by_copy(code: Code, at: int) -> Iterator[TableName | None]:
    """COPY t FROM, COPY INTO t FROM; what goes to a stage or a file has no name."""
    name, end = _target_name(code, _behind_modifiers(code, at + 1))
    if name is not None and code.word(code.after(end) if code.word(end) == "(" else end) == "from":
        yield name


def _filled_by_load(code: Code, at: int) -> Iterator[TableName | None]:
    """LOAD DATA … INTO TABLE t, and BigQuery's LOAD DATA OVERWRITE t."""
    into = code.find(at, keywords("into overwrite"))
    index = _behind_modifiers(code, into)
    if into < len(code) and code.word(index) not in TEMPORARY:
        yield _whole_name(code, index)


def _filled_in_bulk(code: Code, at: int) -> Iterator[TableName | None]:
    if code.word(at + 1) == "insert":
        yield _whole_name(code, at + 2)


def _filled_by_select(code: Code, at: int) -> Iterator[TableName | None]:
    into = code.find(at, _INTO)
    if into == len(code) or not code.dialect.select_into_creates:
        return
    index = into + 1
    while code.word(index) in ("unlogged", "table"):
        index += 1
    if code.word(index) not in TEMPORARY:
        yield _whole_name(code, index)


_FILLING: Mapping[str, Callable[[Code, int], Iterator[TableName | None]]] = {
    **dict.fromkeys(("insert", "ins", "upsert", "merge"), _filled_by_insert),
    **dict.fromkeys(("select", "sel"), _filled_by_select),
    **dict.fromkeys(("load", "import"), _filled_by_load),
    "replace": _filled_by_replace,
    "from": _filled_from,
    "create": _filled_by_create,
    "copy": _filled_by_copy,
    "bulk": _filled_in_bulk,
}
