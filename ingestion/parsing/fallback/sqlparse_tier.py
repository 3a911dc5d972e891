"""The last tier: tables, and columns where the tokens leave no doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ingestion.analysis.form import (
    COLUMNS_NOT_FOLLOWED,
    Projection,
    RelationalStatement,
    RelationSource,
    Star,
    WriteForm,
    opaque_column,
    plain_column,
    tables_only_select,
)
from ingestion.dialects import Dialect, dialect_of, fold_column
from ingestion.dialects.functions import GENERATORS
from ingestion.dialects.keywords import (
    AFTER_RELATION,
    CONDITIONS,
    CREATE_MODIFIERS,
    ENDS_FROM,
    INSERT_ELSEWHERE,
    INSERT_MODIFIERS,
    METADATA_QUERIES,
    NO_COLUMN,
    NO_COLUMN_DEFINITION,
    NO_TARGET,
    QUERY_STARTS,
    SET_OPERATIONS,
    TABLE_HINTS,
    TEMPORARY,
)
from ingestion.errors import Unparsable
from ingestion.model.lineage import Problem, StatementKind, TableName, Target, WriteMode
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.fallback._sqlparse_tokens import (
    CommonTableAt,
    TokenKind,
    TokenStream,
    alias_at,
    column_parts,
    common_tables,
    name_at,
    qualifier,
    read_tokens,
    relation_at,
    table_name,
)
from ingestion.statements.cleaning import plainly_spelled

# What a token stream writes: the target of INSERT, CREATE ... AS, UPDATE, MERGE and SELECT INTO.


@dataclass(frozen=True, slots=True)
class _TargetAt:
    """A target; `span` are the positions of its clause, the query begins behind them; `fixed` as in Write."""

    kind: StatementKind
    target: Target | None
    span: range
    fixed: tuple[str, ...] = ()


def _find_target(stream: TokenStream, dialect: Dialect) -> _TargetAt:
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


def _insert(stream: TokenStream, position: int, dialect: Dialect) -> _TargetAt:
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
    return _TargetAt(StatementKind.INSERT, target, range(start, position), fixed)


def _create(stream: TokenStream, position: int, dialect: Dialect) -> _TargetAt:
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
    return _TargetAt(kind, target, range(start, query))


def _as_query(stream: TokenStream, position: int) -> int:
    while position < len(stream):
        if stream.word(position) == "AS" and stream.word(position + 1) in (*QUERY_STARTS, "("):
            return position + 1
        if stream.word(position) == "SELECT":  # MySQL and Spark need no AS
            return position
        position = stream.after(position)
    raise Unparsable("CREATE has no query")


def _changed_table(stream: TokenStream, position: int, dialect: Dialect) -> _TargetAt:
    """UPDATE [ONLY] t …, MERGE [INTO] t …."""
    start, verb = position, stream.word(position)
    position += 1 + (stream.word(position + 1) in ("ONLY", "INTO"))
    named = relation_at(stream, position, dialect)
    if named is None or stream.word(position) in NO_TARGET:
        raise Unparsable(f"{verb} names no table")
    target = Target(table_name(named.parts, dialect), WriteMode.UPDATE)
    kind = StatementKind.UPDATE if verb == "UPDATE" else StatementKind.MERGE
    return _TargetAt(kind, target, range(start, named.end))


def _refuse(stream: TokenStream, position: int, dialect: Dialect) -> _TargetAt:
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


def _select_into(stream: TokenStream, top: list[int], dialect: Dialect) -> _TargetAt:
    into = next((position for position in top if stream.word(position) == "INTO"), None)
    if into is not None and stream.word(into + 1) in ("OUTFILE", "DUMPFILE"):
        raise Unparsable("SELECT fills a file")
    if into is None or not dialect.select_into_creates:
        return _TargetAt(StatementKind.SELECT, None, range(0))
    position, temporary = into + 1, False
    while stream.word(position) in (*TEMPORARY, "UNLOGGED", "TABLE"):
        temporary |= stream.word(position) in TEMPORARY
        position += 1
    named = relation_at(stream, position, dialect)
    if named is None:
        raise Unparsable("SELECT INTO names no table")
    name = table_name(named.parts, dialect)
    target = Target(name, WriteMode.CREATE, temporary=temporary or name.table.startswith("#"))
    return _TargetAt(StatementKind.CREATE_TABLE_AS, target, range(into, named.end))


def _items_between(stream: TokenStream, span: range) -> list[range]:
    """The positions of each item between the commas of a list."""
    items, start, position = [], span.start, span.start
    while position < span.stop:
        if stream.word(position) == ",":
            items.append(range(start, position))
            start = position + 1
        position = stream.after(position)
    return [*items, range(start, span.stop)]


def _items(stream: TokenStream, opens: int) -> list[range]:
    return _items_between(stream, range(opens + 1, stream.partner[opens]))


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


# The relations that a token stream reads: what stands behind FROM, JOIN and USING, wherever a query may stand.

_BEFORE_RELATION = frozenset({"ONLY", "LATERAL"})
_BEFORE_BY = frozenset({"GROUP", "ORDER", "DISTRIBUTE", "SORT"})


class _SourceAt(NamedTuple):
    """A relation that is read: `depth` counts the parentheses around it, `position` is where its name begins."""

    name: TableName
    alias: str
    depth: int
    position: int


@dataclass(slots=True)
class _Level:
    """One pair of parentheses: whether a query may stand in it, is in its FROM, and waits for a relation."""

    query: bool
    in_from: bool = False
    expecting: bool = False
    known: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _SourceScan:
    """What a statement reads; `derived` are the depths at which something else than a table stands in FROM."""

    tables: tuple[_SourceAt, ...]
    derived: frozenset[int]


def _find_sources(stream: TokenStream, dialect: Dialect, skip: range, *, merge: bool = False) -> _SourceScan:
    """The relations read outside the positions of `skip`, which hold the target."""
    scan = _Scan(stream, dialect, common_tables(stream, dialect))
    position = 0
    while position < len(stream):
        position = skip.stop if position in skip else scan.step(position, merge=merge)
    unread = _unread(scan.common, scan.uses)
    tables = tuple(table for table in scan.found if not any(_within(table.position, item) for item in unread))
    return _SourceScan(tables, frozenset(scan.derived))


def _within(position: int, item: CommonTableAt) -> bool:
    return item.opens < position < item.closes


def _unread(common: Mapping[str, list[CommonTableAt]], uses: list[tuple[str, int]]) -> list[CommonTableAt]:
    """The common tables that nothing reads but others of their kind."""
    unread = [item for items in common.values() for item in items]
    while True:
        read = {name for name, position in uses if not any(_within(position, item) for item in unread)}
        left = [item for item in unread if item.name not in read]
        if len(left) == len(unread):
            return unread
        unread = left


class _Scan:
    """One pass over the tokens, with a level for each open parenthesis."""

    def __init__(self, stream: TokenStream, dialect: Dialect, common: list[CommonTableAt]) -> None:
        self.stream = stream
        self.dialect = dialect
        self.common: dict[str, list[CommonTableAt]] = {}
        for item in common:
            self.common.setdefault(item.name, []).append(item)
        self.levels = [_Level(query=True)]
        self.found: list[_SourceAt] = []
        self.derived: set[int] = set()
        self.uses: list[tuple[str, int]] = []
        self.joined = False

    def step(self, position: int, *, merge: bool) -> int:
        """Takes the token at a position; returns where to go on."""
        word = self.stream.word(position)
        level = self.levels[-1]
        if word == "(":
            self._open(position, level)
        elif word == ")":
            self._close(position)
        elif level.query and level.expecting:
            return self._relation(position, level)
        elif word == "," and level.in_from:
            level.expecting = True
        elif level.query and self.stream.word(position - 1) != ".":
            self._keyword(position, level, merge=merge)
        return position + 1

    def _open(self, position: int, level: _Level) -> None:
        following = self.stream.word(position + 1)
        shown = level.expecting and following in METADATA_QUERIES and self.dialect.described_relations
        shown = shown and self.stream.word(position + 2) not in (")", ".", ",")
        nested_join = level.expecting and following not in QUERY_STARTS and not shown
        self.levels.append(
            _Level(query=nested_join or following in QUERY_STARTS, in_from=nested_join, expecting=nested_join)
        )
        if level.expecting:
            self.derived.add(len(self.levels) - 2)
            level.expecting = False

    def _close(self, position: int) -> None:
        self.levels.pop()
        if self.levels[-1].in_from:
            alias, _ = alias_at(self.stream, position + 1, self.dialect)
            self.levels[-1].known.add(alias)

    def _keyword(self, position: int, level: _Level, *, merge: bool) -> None:
        word = self.stream.word(position)
        if word == "FROM":
            before = (self.stream.word(position - 2), self.stream.word(position - 1))
            if before not in (("IS", "DISTINCT"), ("NOT", "DISTINCT")):
                level.in_from = level.expecting = True
        elif word in ("JOIN", "APPLY", "STRAIGHT_JOIN"):
            level.in_from = level.expecting = True
        elif word == "USING" and merge and len(self.levels) == 1 and not self.joined:
            level.expecting = self.joined = True  # DuckDB has a second one, for the columns that it joins by
        elif word in ENDS_FROM or (word == "LATERAL" and self.stream.word(position + 1) == "VIEW"):
            if level.in_from and word in _BEFORE_BY and self._lacks_by(position + 1):
                raise Unparsable(f"{word} without BY")
            level.in_from = False
            if word == "LATERAL":
                self.derived.add(len(self.levels) - 1)
            if word == "SELECT":
                level.known = set()

    def _relation(self, position: int, level: _Level) -> int:
        word = self.stream.word(position)
        if word in _BEFORE_RELATION or (word == "TABLE" and self.stream.word(position + 1) == "("):
            return position + 1
        level.expecting = False
        named = relation_at(self.stream, position, self.dialect)
        if word in ENDS_FROM or named is None or self._is_call(named.end):
            self.derived.add(len(self.levels) - 1)  # a table function, a file, a variable: no table to name
            return position + 1 if named is None else named.end
        name = table_name(named.parts, self.dialect)
        alias, end = alias_at(self.stream, named.end, self.dialect)
        if alias and self._is_misspelt(end):
            raise Unparsable("BY behind what is no clause")
        field_of_another = len(name.parts) > 1 and name.parts[0] in level.known
        if self._is_common(name, position):
            self.uses.append((name.table, position))
            self.derived.add(len(self.levels) - 1)
        elif field_of_another:
            self.derived.add(len(self.levels) - 1)
        else:
            self.found.append(_SourceAt(name, alias, len(self.levels) - 1, position))
        level.known.add(alias or name.table)
        return end

    def _is_misspelt(self, position: int) -> bool:
        """Whether the alias before a position, or the word at it, is a GROUP or ORDER gone wrong."""
        word, following = self.stream.word(position), self.stream.word(position + 1)
        return word == "BY" or (following == "BY" and word not in AFTER_RELATION)

    def _lacks_by(self, position: int) -> bool:
        is_word = position < len(self.stream) and self.stream.tokens[position].kind is TokenKind.WORD
        return is_word and self.stream.word(position) not in ("BY", "SIBLINGS")

    def _is_common(self, name: TableName, position: int) -> bool:
        if len(name.parts) != 1:
            return False
        return any(item.recursive or not _within(position, item) for item in self.common.get(name.table, ()))

    def _is_call(self, position: int) -> bool:
        """Whether the name before this position is a function's; T-SQL has table hints there too."""
        return self.stream.word(position) == "(" and self.stream.word(position + 1) not in TABLE_HINTS


# The output columns of a token stream's query, where its list is plain and stands over tables alone.

_HAS_QUERY = frozenset(
    {
        StatementKind.SELECT,
        StatementKind.INSERT,
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
    }
)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Outputs in order, over the tables that stand `depth` parentheses deep; none when they were not followed."""

    projections: tuple[Projection | Star, ...] = ()
    depth: int = -1
    problems: tuple[Problem, ...] = (COLUMNS_NOT_FOLLOWED,)


def _find_columns(stream: TokenStream, dialect: Dialect, writes: _TargetAt, sources: _SourceScan) -> _Columns:
    """The outputs of the statement's one SELECT; a Problem names each that is more than a column.

    `sources` is what the statement reads. Of `INSERT INTO t SELECT s.a, f(s.b) AS x FROM s`, the outputs are s.a and
    an unknown x, and the Problem names x.
    """
    if writes.kind not in _HAS_QUERY:
        return _Columns()
    inside, depth = _query(stream, writes)
    if depth in sources.derived:
        return _Columns()
    span = _list(stream, inside)
    if span is None:
        return _Columns()
    projections: list[Projection | Star] = []
    problems: list[Problem] = []
    for number, item in enumerate(_items_between(stream, span), start=1):
        projection = _star(stream, item, dialect) or _plain(stream, item, dialect)
        if projection is None and any(stream.word(position) == "*" for position in item[:3]):
            return _Columns()  # a star with exceptions, or a product: how many columns it gives is not sure
        if projection is None and dialect.row_generators and stream.word(item.start) in GENERATORS:
            return _Columns()  # several columns, and how many is not sure
        if projection is None:
            name = _alias(stream, item, dialect)
            projection = opaque_column(name)
            problems.append(Problem(ProblemKind.UNSUPPORTED, name or f"column {number}"))
        projections.append(projection)
    return _Columns(tuple(projections), depth, tuple(problems))


def _query(stream: TokenStream, writes: _TargetAt) -> tuple[range, int]:
    """The positions of the statement's query, out of the parentheses around all of it, and how many those are."""
    into = writes.kind is StatementKind.CREATE_TABLE_AS and stream.word(writes.span.start) == "INTO"
    start, stop, depth = (0 if into else writes.span.stop), len(stream), 0
    while stream.word(start) == "(" and stream.partner[start] == stop - 1:
        start, stop, depth = start + 1, stop - 1, depth + 1
    return range(start, stop), depth


def _list(stream: TokenStream, query: range) -> range | None:
    """The positions of the select list; None unless there is exactly one SELECT, and it has a FROM."""
    selects: list[int] = []
    ends: list[int] = []
    position = query.start
    while position < query.stop:
        word = stream.word(position)
        if word in SET_OPERATIONS:
            return None
        if word in ("SELECT", "SEL"):
            selects.append(position)
        elif word in ("FROM", "INTO") and selects:
            ends.append(position)
        position = stream.after(position)
    if len(selects) != 1 or not ends:
        return None
    start = selects[0] + 1
    while stream.word(start) in ("DISTINCT", "ALL"):
        start += 1
    return None if stream.word(start) in ("TOP", "ON", "AS") else range(start, ends[0])


def _star(stream: TokenStream, item: range, dialect: Dialect) -> Star | None:
    if not item or stream.word(item[-1]) != "*":
        return None
    if len(item) == 1:
        return Star()
    if stream.word(item[-2]) != ".":
        return None
    named = name_at(stream, item.start, dialect, stop=item[-2])
    return None if named is None else Star(qualifier(named.parts, dialect))


def _plain(stream: TokenStream, item: range, dialect: Dialect) -> Projection | None:
    named = name_at(stream, item.start, dialect, stop=item.stop)
    if named is None or (len(named.parts) == 1 and named.parts[0].word in NO_COLUMN):
        return None
    parts = column_parts(named.parts, dialect)
    rest = range(named.end, item.stop)
    if not rest:
        return plain_column(parts, parts[-1])
    alias = _alias(stream, item, dialect)
    expected = 2 if stream.word(rest.start) == "AS" else 1
    return plain_column(parts, alias) if alias and len(rest) == expected else None


def _alias(stream: TokenStream, item: range, dialect: Dialect) -> str:
    """The name that AS gives, or a name right behind a column or a parenthesis."""
    if len(item) < 2:
        return ""
    token = stream.tokens[item[-1]]
    named = name_at(stream, item.start, dialect)
    behind_value = stream.word(item[-2]) in ("AS", ")") or (named is not None and named.end == item[-1])
    if token.kind not in (TokenKind.WORD, TokenKind.QUOTED) or not behind_value or token.word in ("END", *NO_COLUMN):
        return ""
    return fold_column(token.text, dialect, quoted=token.kind is TokenKind.QUOTED)


# The last tier: lineage from sqlparse's ungrouped tokens, where no tree can be had.
#
# sqlparse's grouping refuses beyond 10,000 tokens; its tokens do not. Tables are those behind FROM, JOIN, INTO,
# UPDATE and USING; columns are followed only through a plain list of columns over tables.


def parse(text: str, dialect: str) -> RelationalStatement:
    """The lineage of one statement, as far as its tokens show it; a Problem marks columns that were not followed.

    Raises Unparsable when the text has no source, no shape that carries lineage, or tokens that may be misread.
    """
    known_dialect = dialect_of(dialect)
    stream = read_tokens(plainly_spelled(text, known_dialect), known_dialect)
    if any(_changes_rows(stream, position) for position in range(len(stream))):
        raise Unparsable("the text reads the rows that a statement inside it changes")
    writes = _find_target(stream, known_dialect)
    sources = _find_sources(stream, known_dialect, writes.span, merge=writes.kind is StatementKind.MERGE)
    if writes.kind is StatementKind.UPDATE:
        writes, sources = _update(stream, known_dialect, writes, sources)
    if not sources.tables:
        raise Unparsable("no table is read")
    columns = _find_columns(stream, known_dialect, writes, sources)
    return RelationalStatement(
        writes.kind,
        known_dialect.name,
        (_write(writes, sources, columns),),
        aliases=tuple((table.alias, str(table.name)) for table in sources.tables if table.alias),
        problems=(*columns.problems, *_unread_conditions(stream)),
    )


def _unread_conditions(stream: TokenStream) -> tuple[Problem, ...]:
    """What chooses, groups or sorts the rows is not read in this tier."""
    found = any(stream.word(position) in CONDITIONS for position in range(len(stream)))
    return (Problem(ProblemKind.UNSUPPORTED, "conditions"),) if found else ()


def _changes_rows(stream: TokenStream, position: int) -> bool:
    """Whether `(DELETE FROM …` or the like stands at `position`, and no function or name of that spelling."""
    inside = stream.word(position) == "(" and stream.word(position + 1) in ("DELETE", "INSERT", "MERGE", "UPDATE")
    return inside and stream.word(position + 2) not in ("(", ")", ",", ".")


def _write(writes: _TargetAt, sources: _SourceScan, columns: _Columns) -> WriteForm:
    """The flow over the tables of the query whose columns are followed; other tables are read beside them."""
    near = [table for table in sources.tables if table.depth == columns.depth]
    far = [table.name for table in sources.tables if table.depth != columns.depth]
    relations = [RelationSource(table.name, table.alias) for table in near]
    return WriteForm(writes.target, tables_only_select(columns.projections, relations, far), writes.fixed)


def _update(
    stream: TokenStream, dialect: Dialect, writes: _TargetAt, sources: _SourceScan
) -> tuple[_TargetAt, _SourceScan]:
    """The table that UPDATE means, which may be called by an alias of its FROM, or named by SET's first column."""
    target = writes.target
    assert target is not None
    alias, end = alias_at(stream, writes.span.stop, dialect)
    first = _SourceAt(target.name, alias, 0, writes.span.start)
    called = target.name.dotted
    position = _set_position(stream, end)
    assigned = name_at(stream, position + 1, dialect) if position else None
    if assigned is not None and len(assigned.parts) > 1:
        called = ".".join(qualifier(assigned.parts[:-1], dialect))
    if called in (alias, target.name.dotted, target.name.table) and called not in _aliases(sources):
        return writes, sources
    meant = next((table for table in sources.tables if called in (table.alias, table.name.dotted)), None)
    if meant is None:
        return writes, sources
    others = tuple(table for table in sources.tables if table is not meant)
    if first.name.dotted not in _aliases(sources):  # UPDATE a JOIN b SET b.x = a.y: what comes first is read
        others = (first, *others)
    return replace(writes, target=replace(target, name=meant.name)), replace(sources, tables=others)


def _aliases(sources: _SourceScan) -> set[str]:
    return {table.alias for table in sources.tables if table.alias}


def _set_position(stream: TokenStream, position: int) -> int | None:
    while position < len(stream):
        if stream.word(position) == "SET":
            return position
        position = stream.after(position)
    return None
