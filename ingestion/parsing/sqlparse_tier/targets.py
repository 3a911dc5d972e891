"""What a token stream writes: the target of INSERT, CREATE ... AS, UPDATE, MERGE and SELECT INTO."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.dialects import Dialect, fold_column
from ingestion.errors import Unparsable
from ingestion.model import StatementKind, Target, WriteMode
from ingestion.parsing.sqlparse_tier.names import relation_at, table_name
from ingestion.parsing.sqlparse_tier.stream import TokenKind, TokenStream
from ingestion.parsing.sqlparse_tier.words import (
    CREATE_MODIFIERS,
    INSERT_ELSEWHERE,
    INSERT_MODIFIERS,
    NO_COLUMN_DEFINITION,
    NO_TARGET,
    QUERY_STARTS,
    TEMPORARY,
)


@dataclass(frozen=True, slots=True)
class TargetAt:
    """A target; `span` are the positions of its clause, the query begins behind them; `fixed` as in Write."""

    kind: StatementKind
    target: Target | None
    span: range
    fixed: tuple[str, ...] = ()


def find_target(stream: TokenStream, dialect: Dialect) -> TargetAt:
    """The one target of the statement, None for a bare SELECT.

    Raises Unparsable for a statement that has several, or none of the shapes that carry lineage.
    """
    top = _top_level(stream)
    verbs = [position for position in top if stream.word(position) in _VERBS and _is_verb(stream, position)]
    if len(verbs) > 1:
        raise Unparsable("the text writes more than one target")
    if verbs:
        return _VERBS[stream.word(verbs[0])](stream, verbs[0], dialect)
    if stream.word(0) not in (*QUERY_STARTS, "("):
        raise Unparsable("the text has no shape that carries lineage")
    return _select_into(stream, top, dialect)


def _top_level(stream: TokenStream) -> list[int]:
    found, position = [], 0
    while position < len(stream):
        found.append(position)
        position = stream.after(position)
    return found


def _is_verb(stream: TokenStream, position: int) -> bool:
    """Not DO UPDATE, FOR UPDATE, ON DELETE, WHEN MATCHED THEN UPDATE, nor a name."""
    before = stream.word(position - 1)
    if before in ("DO", "FOR", "ON", "THEN", "KEY"):
        return False
    if stream.word(position) == "REPLACE":
        return position == 0
    return before not in (".", "AS", ",", "OR")


def _insert(stream: TokenStream, position: int, dialect: Dialect) -> TargetAt:
    start, mode = position, WriteMode.APPEND
    position += 1
    while stream.word(position) in INSERT_MODIFIERS:
        mode = WriteMode.OVERWRITE if stream.word(position) == "OVERWRITE" else mode
        position += 1
    named = relation_at(stream, position, dialect)
    if named is None or stream.word(position) in INSERT_ELSEWHERE | NO_TARGET:
        raise Unparsable("INSERT goes to something else than one table")
    position = named.end
    fixed: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    if stream.word(position) == "PARTITION" and stream.word(position + 1) == "(":
        fixed = _fixed_columns(stream, position + 1, dialect)
        position = stream.after(position + 1)
    if stream.word(position) == "(" and stream.word(position + 1) not in (*QUERY_STARTS, "("):
        columns = _columns(stream, position, dialect)
        position = stream.after(position)
    by_name = (stream.word(position), stream.word(position + 1)) == ("BY", "NAME")
    target = Target(table_name(named.parts, dialect), mode, columns, by_name)
    return TargetAt(StatementKind.INSERT, target, range(start, position), fixed)


def _create(stream: TokenStream, position: int, dialect: Dialect) -> TargetAt:
    start, words = position, set()
    position += 1
    while stream.word(position) in CREATE_MODIFIERS:
        words.add(stream.word(position))
        position += 1
    view = stream.word(position) == "VIEW"
    if not view and stream.word(position) != "TABLE":
        raise Unparsable("CREATE makes neither a table nor a view")
    position += 1
    if stream.word(position) == "IF":
        position += 3
    named = relation_at(stream, position, dialect)
    if named is None:
        raise Unparsable("CREATE names nothing")
    query = _as_query(stream, named.end)
    columns = _columns(stream, named.end, dialect) if stream.word(named.end) == "(" else None
    name = table_name(named.parts, dialect)
    temporary = bool(words & TEMPORARY) or name.table.startswith("#")
    target = Target(name, WriteMode.CREATE, columns, temporary=temporary, view=view)
    kind = StatementKind.CREATE_VIEW if view else StatementKind.CREATE_TABLE_AS
    return TargetAt(kind, target, range(start, query))


def _as_query(stream: TokenStream, position: int) -> int:
    while position < len(stream):
        if stream.word(position) == "AS" and stream.word(position + 1) in (*QUERY_STARTS, "("):
            return position + 1
        if stream.word(position) == "SELECT":  # MySQL and Spark need no AS
            return position
        position = stream.after(position)
    raise Unparsable("CREATE has no query")


def _changed_table(stream: TokenStream, position: int, dialect: Dialect) -> TargetAt:
    """UPDATE [ONLY] t …, MERGE [INTO] t …."""
    start, verb = position, stream.word(position)
    position += 1 + (stream.word(position + 1) in ("ONLY", "INTO"))
    named = relation_at(stream, position, dialect)
    if named is None or stream.word(position) in NO_TARGET:
        raise Unparsable(f"{verb} names no table")
    target = Target(table_name(named.parts, dialect), WriteMode.UPDATE)
    kind = StatementKind.UPDATE if verb == "UPDATE" else StatementKind.MERGE
    return TargetAt(kind, target, range(start, named.end))


def _refuse(stream: TokenStream, position: int, dialect: Dialect) -> TargetAt:
    raise Unparsable("the text has no shape that carries lineage")


_VERBS = {
    "INSERT": _insert,
    "REPLACE": _insert,
    "UPSERT": _insert,
    "CREATE": _create,
    "UPDATE": _changed_table,
    "MERGE": _changed_table,
    "DELETE": _refuse,
}


def _select_into(stream: TokenStream, top: list[int], dialect: Dialect) -> TargetAt:
    into = next((position for position in top if stream.word(position) == "INTO"), None)
    if into is not None and stream.word(into + 1) in ("OUTFILE", "DUMPFILE"):
        raise Unparsable("SELECT fills a file")
    if into is None or not dialect.select_into_creates:
        return TargetAt(StatementKind.SELECT, None, range(0))
    position, temporary = into + 1, False
    while stream.word(position) in (*TEMPORARY, "UNLOGGED", "TABLE"):
        temporary |= stream.word(position) in TEMPORARY
        position += 1
    named = relation_at(stream, position, dialect)
    if named is None:
        raise Unparsable("SELECT INTO names no table")
    name = table_name(named.parts, dialect)
    target = Target(name, WriteMode.CREATE, temporary=temporary or name.table.startswith("#"))
    return TargetAt(StatementKind.CREATE_TABLE_AS, target, range(into, named.end))


def items_between(stream: TokenStream, span: range) -> list[range]:
    """The positions of each item between the commas of a list."""
    items, start, position = [], span.start, span.start
    while position < span.stop:
        if stream.word(position) == ",":
            items.append(range(start, position))
            start = position + 1
        position = stream.after(position)
    return [*items, range(start, span.stop)]


def _items(stream: TokenStream, opens: int) -> list[range]:
    return items_between(stream, range(opens + 1, stream.partner[opens]))


def _columns(stream: TokenStream, opens: int, dialect: Dialect) -> tuple[str, ...] | None:
    """The columns of a list, with or without types; None when an item is something else."""
    names = []
    for item in _items(stream, opens):
        token = stream.tokens[item.start] if item else None
        if token is None or token.kind not in (TokenKind.WORD, TokenKind.QUOTED) or token.word in NO_COLUMN_DEFINITION:
            return None
        names.append(fold_column(token.text, dialect, quoted=token.kind is TokenKind.QUOTED))
    return tuple(names)


def _fixed_columns(stream: TokenStream, opens: int, dialect: Dialect) -> tuple[str, ...]:
    return tuple(
        fold_column(stream.tokens[item.start].text, dialect, quoted=stream.tokens[item.start].kind is TokenKind.QUOTED)
        for item in _items(stream, opens)
        if len(item) > 1 and stream.word(item.start + 1) == "="
    )
