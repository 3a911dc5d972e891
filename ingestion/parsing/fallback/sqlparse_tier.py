"""The last tier: lineage from sqlparse's tokens, where no tree can be had.

Tables are those behind FROM, JOIN, INTO, UPDATE and USING; columns are followed only through a plain list of columns
over tables: of `INSERT INTO t SELECT s.a, f(s.b) AS x FROM s`, s.a flows and x is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import sqlparse.lexer
import sqlparse.tokens as sql

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
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.functions import GENERATORS
from ingestion.dialects.keywords import (
    AFTER_RELATION,
    CONDITIONS,
    ENDS_FROM,
    METADATA_QUERIES,
    NO_COLUMN,
    QUERY_STARTS,
    SET_OPERATIONS,
    TABLE_HINTS,
    reserved_words,
    row_words,
)
from ingestion.dialects.lexing import NAME, NUMBER, PLACEHOLDER, PUNCTUATION, STRING, WORD, Token
from ingestion.errors import Unparsable
from ingestion.model.lineage import Problem, StatementKind, TableName
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.fallback._changed_queries import refuse_changed_query
from ingestion.parsing.sqlglot.repairs.by_dialect import as_understood
from ingestion.parsing.targets import TargetAt, find_target
from ingestion.parsing.token_names import (
    CommonTableAt,
    alias_at,
    column_parts,
    common_table_at,
    common_tables,
    name_at,
    qualifier,
    relation_at,
    table_name,
)
from ingestion.statements.cleaning import plainly_spelled

_WORD = re.compile(r"\S+")
_tokenize: Callable[[str], Iterable[tuple[sql._TokenType, str]]] = sqlparse.lexer.tokenize

_BRACKETED_TABLE = re.compile(r"\[(?:[\w-]+:)?[\w-]+\.[\w.-]+\]")
_CURRENT = keywords("date path schema server time timestamp timezone user")
_NEW_COLUMNS = keywords("array match_recognize measures pivot system_time unpivot")
"""Clauses behind FROM that give its rows other columns, or its tables other names."""
_BEFORE_RELATION = frozenset({"only", "lateral"})
_NO_RELATION = keywords("as cross inner join natural on")
"""No table has such a name without quotes: where one stands, the relation before it is missing."""
_JOIN_SIDES = keywords("full left right")
_BEFORE_BY = frozenset({"group", "order", "distribute", "sort"})

_HAS_QUERY = frozenset(
    {
        StatementKind.SELECT,
        StatementKind.INSERT,
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
    }
)


def _read_tokens(text: str, dialect: Dialect) -> Code:
    """The tokens of one statement as sqlparse has them, ungrouped: its grouping refuses beyond 10,000 tokens.

    Raises Unparsable when sqlparse, which knows one dialect only, may have seen other strings and comments than the
    text has: nothing that follows from such tokens would be sure.
    """
    tokens: list[Token] = []
    end = 0
    for kind, value in _tokenize(text):
        start, end = end, end + len(value)
        if kind in sql.Whitespace:
            continue
        if kind in sql.Comment:
            if value.startswith("#") and not dialect.hash_comments:
                raise Unparsable("what sqlparse takes for a comment is none in this dialect")
            continue
        tokens.extend(_tokens_of(kind, value, start, dialect))
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if depth < 0:
            raise Unparsable("a parenthesis closes nothing")
        if token.text == ";":
            raise Unparsable("the text holds several statements")
    if depth:
        raise Unparsable("a parenthesis stays open")
    return Code(text, tuple(tokens), dialect)


def _tokens_of(kind: sql._TokenType, value: str, start: int, dialect: Dialect) -> Iterator[Token]:
    if kind in sql.Error:
        raise Unparsable("the text has characters that sqlparse does not know")
    if kind in sql.String or kind is sql.Literal:
        yield Token(_kind_of_string(value, dialect), value, start)
    elif kind in sql.Number:
        yield Token(NUMBER, value, start)
    elif kind in sql.Name.Placeholder or value.startswith("@"):
        yield Token(PLACEHOLDER, value, start)
    elif value[0] in "`[" and len(value) > 1:
        yield Token(NAME if _is_quoted_name(value, dialect) else PLACEHOLDER, value, start)
    elif kind in sql.Keyword or kind in sql.Name:  # one token of several words: LEFT OUTER JOIN
        yield from (Token(WORD, word.group(), start + word.start()) for word in _WORD.finditer(value))
    else:
        yield Token(PUNCTUATION, value, start)


def _is_quoted_name(value: str, dialect: Dialect) -> bool:
    """Whether brackets are around a name, as in BigQuery's legacy SQL `[project:dataset.t]`: `[a, b]` is a list."""
    return value[0] in dialect.name_quotes or _BRACKETED_TABLE.fullmatch(value) is not None


def _kind_of_string(value: str, dialect: Dialect) -> str:
    if value[0] in "'\"" and "\\" in value and not dialect.backslash_escapes:
        raise Unparsable("sqlparse takes a backslash for an escape, which it is not in this dialect")
    return NAME if value[0] == '"' and not dialect.double_quotes_are_strings else STRING


# The relations that a token code reads: what stands behind FROM, JOIN and USING, wherever a query may stand.


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


def _find_sources(code: Code, skip: range, *, merge: bool = False) -> _SourceScan:
    """The relations read outside the positions of `skip`, which hold the target."""
    scan = _Scan(code, common_tables(code))
    position = 0
    while position < len(code):
        position = skip.stop if position in skip else scan.step(position, merge=merge)
    _refuse_loose_items(scan, skip)
    unread = _unread(scan.common, scan.uses)
    tables = tuple(table for table in scan.found if not any(_within(table.position, item) for item in unread))
    return _SourceScan(tables, frozenset(scan.derived))


def _refuse_loose_items(scan: _Scan, skip: range) -> None:
    """Raises Unparsable where what is read is an item that no WITH is known to have: `WITH a AS (…) b AS (…)`."""
    names = {table.name.table for table in scan.found if len(table.name.parts) == 1} - scan.common.keys()
    outside = (position for position in range(len(scan.code)) if position not in skip)
    shaped = (common_table_at(scan.code, position) for position in outside) if names else ()
    if any(item is not None and item.name in names for item in shaped):
        raise Unparsable("what has the shape of a WITH item stands in no WITH")


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

    def __init__(self, code: Code, common: list[CommonTableAt]) -> None:
        self.code = code
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
        word = self.code.word(position)
        level = self.levels[-1]
        if word == "(":
            self._open(position, level)
        elif word == ")":
            self._close(position)
        elif level.query and level.expecting:
            return self._relation(position, level)
        elif word == "," and level.in_from:
            level.expecting = True
        elif level.query and self.code.word(position - 1) != ".":
            self._keyword(position, level, merge=merge)
        return position + 1

    def _open(self, position: int, level: _Level) -> None:
        """A parenthesis: of a query, of a join in brackets, or of anything else, in which no FROM counts."""
        following = self.code.word(position + 1)
        shown = level.expecting and following in METADATA_QUERIES and self.code.dialect.described_relations
        shown = shown and self.code.word(position + 2) not in (")", ".", ",")
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
            alias, _ = alias_at(self.code, position + 1)
            self.levels[-1].known.add(alias)

    def _keyword(self, position: int, level: _Level, *, merge: bool) -> None:
        """FROM, JOIN and USING await a relation; WHERE, GROUP and their kin end the FROM."""
        word = self.code.word(position)
        if word == "from":
            before = (self.code.word(position - 2), self.code.word(position - 1))
            if before not in (("is", "distinct"), ("not", "distinct")):
                level.in_from = level.expecting = True
        elif word in ("join", "apply", "straight_join"):
            level.in_from = level.expecting = True
        elif word == "using" and merge and len(self.levels) == 1 and not self.joined:
            level.expecting = self.joined = True  # DuckDB has a second one, for the columns that it joins by
        elif word in ENDS_FROM or (word == "lateral" and self.code.word(position + 1) == "view"):
            if level.in_from and word in _BEFORE_BY and self._lacks_by(position + 1):
                raise Unparsable(f"{word.upper()} without BY")
            level.in_from = False
            if word == "lateral":
                self.derived.add(len(self.levels) - 1)
            if word == "select":
                level.known = set()

    def _relation(self, position: int, level: _Level) -> int:
        """The relation that FROM or JOIN awaits: a table, a WITH item, an alias' field, or none that has a name."""
        word = self.code.word(position)
        if word in _BEFORE_RELATION or (word == "table" and self.code.word(position + 1) == "("):
            return position + 1
        if word == "from":
            raise Unparsable("FROM stands twice")
        if word in _NO_RELATION or (word in _JOIN_SIDES and self.code.word(position + 1) in ("join", "outer")):
            raise Unparsable("FROM names nothing")
        level.expecting = False
        named = relation_at(self.code, position)
        if word in ENDS_FROM or named is None or self._is_call(named.end):
            self.derived.add(len(self.levels) - 1)  # a table function, a file, a variable: no table to name
            return position + 1 if named is None else named.end
        name = table_name(named.parts, self.code.dialect)
        alias, end = alias_at(self.code, named.end)
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
        word, following = self.code.word(position), self.code.word(position + 1)
        return word == "by" or (following == "by" and word not in AFTER_RELATION)

    def _lacks_by(self, position: int) -> bool:
        is_word = self.code.is_word(position)
        return is_word and self.code.word(position) not in ("by", "siblings")

    def _is_common(self, name: TableName, position: int) -> bool:
        if len(name.parts) != 1:
            return False
        return any(item.recursive or not _within(position, item) for item in self.common.get(name.table, ()))

    def _is_call(self, position: int) -> bool:
        """Whether the name before this position is a function's; T-SQL has table hints there too."""
        return self.code.word(position) == "(" and self.code.word(position + 1) not in TABLE_HINTS


# The output columns of a token code's query, where its list is plain and stands over tables alone.


@dataclass(frozen=True, slots=True)
class _FollowedColumns:
    """Outputs in order, over the tables that stand `depth` parentheses deep; none when they were not followed."""

    projections: tuple[Projection | Star, ...] = ()
    depth: int = -1
    problems: tuple[Problem, ...] = (COLUMNS_NOT_FOLLOWED,)


def _find_columns(code: Code, writes: TargetAt, sources: _SourceScan) -> _FollowedColumns:
    """The outputs of the statement's one SELECT; a Problem names each that is more than a column.

    `sources` is what the statement reads. Of `INSERT INTO t SELECT s.a, f(s.b) AS x FROM s`, the outputs are s.a and
    an unknown x, and the Problem names x.
    """
    if writes.kind not in _HAS_QUERY:
        return _FollowedColumns()
    inside, depth = _query(code, writes)
    if depth in sources.derived:
        return _FollowedColumns()
    span = _list(code, inside)
    if span is None or _has_other_columns(code, inside):
        return _FollowedColumns()
    merged = _merges_columns(code, inside)
    projections: list[Projection | Star] = []
    problems: list[Problem] = []
    for number, item in enumerate((range(*found) for found in code.items(span.start, span.stop)), start=1):
        projection = _star(code, item) or _plain(code, item)
        if projection is None and any(code.word(position) == "*" for position in item[:3]):
            return _FollowedColumns()  # a star with exceptions, or a product: how many columns it gives is not sure
        if projection is None and code.dialect.row_generators and code.word(item.start).upper() in GENERATORS:
            return _FollowedColumns()  # several columns, and how many is not sure
        if merged and isinstance(projection, Star) and not projection.qualifier:
            return _FollowedColumns()  # which columns are one, and in which order they come, is not read here
        if projection is None:
            name = _alias(code, item)
            projection = opaque_column(name)
            problems.append(Problem(ProblemKind.UNSUPPORTED, name or f"column {number}"))
        projections.append(projection)
    return _FollowedColumns(tuple(projections), depth, tuple(problems))


def _query(code: Code, writes: TargetAt) -> tuple[range, int]:
    """The positions of the statement's query, out of the parentheses around all of it, and how many those are."""
    into = writes.kind is StatementKind.CREATE_TABLE_AS and code.word(writes.span.start) == "into"
    start, stop, depth = (0 if into else writes.span.stop), len(code), 0
    while code.word(start) == "(" and code.closing(start) == stop - 1:
        start, stop, depth = start + 1, stop - 1, depth + 1
    return range(start, stop), depth


def _has_other_columns(code: Code, query: range) -> bool:
    """Whether clauses give a query's rows other columns than its tables have: PIVOT, MATCH_RECOGNIZE, pipes.

    Or a WITH gives names to values, as ClickHouse's does: `WITH toDate(at) AS d SELECT d FROM t`.
    """
    if code.word(query.start) == "with" and not common_tables(code):
        return True
    found = code.find(query.start, _NEW_COLUMNS, query.stop)
    while found < query.stop and code.word(found - 1) in (".", "as", ",", "select"):
        found = code.find(found + 1, _NEW_COLUMNS, query.stop)
    piped = any(code.words(position, 2) == ("|", ">") for position in query)
    return found < query.stop or piped


def _merges_columns(code: Code, query: range) -> bool:
    """Whether a join of the query is NATURAL or has USING, so that two columns of its tables are one."""
    found = code.find(query.start, frozenset({"natural", "using"}), query.stop)
    return found < query.stop


def _list(code: Code, query: range) -> range | None:
    """The positions of the select list; None unless there is exactly one SELECT, and it has a FROM."""
    selects: list[int] = []
    ends: list[int] = []
    position = query.start
    while position < query.stop:
        word = code.word(position)
        if word in SET_OPERATIONS:
            return None
        if word in ("select", "sel"):
            selects.append(position)
        elif word in ("from", "into") and selects:
            ends.append(position)
        position = code.after(position)
    if len(selects) != 1 or not ends:
        return None
    start = selects[0] + 1
    while code.word(start) in ("distinct", "all"):
        start += 1
    return None if code.word(start) in ("top", "on", "as") else range(start, ends[0])


def _star(code: Code, item: range) -> Star | None:
    """`*` and `t.*`; `t.* EXCEPT (a)` is none, as how many columns it gives is not sure."""
    if not item or code.word(item[-1]) != "*":
        return None
    if len(item) == 1:
        return Star()
    if code.word(item[-2]) != ".":
        return None
    named = name_at(code, item.start, stop=item[-2])
    return None if named is None else Star(qualifier(named.parts, code.dialect))


def _plain(code: Code, item: range) -> Projection | None:
    """`a`, `t.a`, `t.a AS x`, `t.a x`: a column that flows as it is."""
    named = name_at(code, item.start, stop=item.stop)
    if named is None or (len(named.parts) == 1 and _is_value(code, item)):
        return None
    parts = column_parts(named.parts, code.dialect)
    rest = range(named.end, item.stop)
    if not rest:
        return plain_column(parts, parts[-1])
    alias = _alias(code, item)
    expected = 2 if code.word(rest.start) == "as" else 1
    return plain_column(parts, alias) if alias and len(rest) == expected else None


def _is_value(code: Code, item: range) -> bool:
    """Whether a bare word is none of a table's columns: `rownum`, `ctid`, Db2's `CURRENT TIMESTAMP`."""
    word = code.word(item.start)
    special = word == "current" and code.word(item.start + 1) in _CURRENT and len(item) > 1
    name = code.column(item.start)
    dialect = code.dialect.name
    return word in NO_COLUMN or special or name in reserved_words(dialect, hierarchical=True) | row_words(dialect)


def _alias(code: Code, item: range) -> str:
    """The name that AS gives, or a name right behind a column or a parenthesis."""
    if len(item) < 2:
        return ""
    named = name_at(code, item.start)
    behind_value = code.word(item[-2]) in ("as", ")") or (named is not None and named.end == item[-1])
    if not code.name(item[-1]) or not behind_value or code.word(item[-1]) in ("end", *NO_COLUMN):
        return ""
    return code.column(item[-1])


def parse(text: str, dialect: str) -> RelationalStatement:
    """The lineage of one statement, as far as its tokens show it; a Problem marks columns that were not followed.

    Raises Unparsable when the text has no source, no shape that carries lineage, or tokens that may be misread.
    """
    known_dialect = dialect_of(dialect)
    text = as_understood(plainly_spelled(text, known_dialect), known_dialect)
    code = _read_tokens(text, known_dialect)
    if any(_changes_rows(code, position) for position in range(len(code))):
        raise Unparsable("the text reads the rows that a statement inside it changes")
    writes = find_target(code)
    sources = _find_sources(code, writes.span, merge=writes.kind is StatementKind.MERGE)
    refuse_changed_query(code, writes.kind, writes.target)
    if writes.kind is StatementKind.UPDATE:
        writes, sources = _update(code, writes, sources)
    if not sources.tables:
        raise Unparsable("no table is read")
    columns = _find_columns(code, writes, sources)
    return RelationalStatement(
        writes.kind,
        known_dialect.name,
        (_write(writes, sources, columns),),
        aliases=tuple((table.alias, str(table.name)) for table in sources.tables if table.alias),
        problems=(*columns.problems, *_unread_conditions(code)),
    )


def _unread_conditions(code: Code) -> tuple[Problem, ...]:
    """What chooses, groups or sorts the rows is not read in this tier."""
    found = any(code.word(position) in CONDITIONS for position in range(len(code)))
    return (Problem(ProblemKind.UNSUPPORTED, "conditions"),) if found else ()


def _changes_rows(code: Code, position: int) -> bool:
    """Whether `(DELETE FROM …` or the like stands at `position`, and no function or name of that spelling."""
    inside = code.word(position) == "(" and code.word(position + 1) in ("delete", "insert", "merge", "update")
    through_query = code.stands(position + 1, "update", "(", "select")
    return inside and (through_query or code.word(position + 2) not in ("(", ")", ",", "."))


def _write(writes: TargetAt, sources: _SourceScan, columns: _FollowedColumns) -> WriteForm:
    """The flow over the tables of the query whose columns are followed; other tables are read beside them."""
    near = [table for table in sources.tables if table.depth == columns.depth]
    far = [table.name for table in sources.tables if table.depth != columns.depth]
    relations = [RelationSource(table.name, table.alias) for table in near]
    return WriteForm(writes.target, tables_only_select(columns.projections, relations, far), writes.fixed)


def _update(code: Code, writes: TargetAt, sources: _SourceScan) -> tuple[TargetAt, _SourceScan]:
    """The table that UPDATE means, which may be called by an alias of its FROM, or named by SET's first column."""
    target = writes.target
    assert target is not None
    alias, end = alias_at(code, writes.span.stop)
    first = _SourceAt(target.name, alias, 0, writes.span.start)
    called = target.name.dotted
    position = _set_position(code, end)
    assigned = name_at(code, position + 1) if position else None
    if assigned is not None and len(assigned.parts) > 1:
        called = ".".join(qualifier(assigned.parts[:-1], code.dialect))
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


def _set_position(code: Code, position: int) -> int | None:
    while position < len(code):
        if code.word(position) == "set":
            return position
        position = code.after(position)
    return None
