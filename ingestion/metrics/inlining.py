"""Inner queries put into the query around them: join trees with conditions, and what each output is made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from ingestion.dialects import Dialect
from ingestion.dialects.functions import Effect, effect_of
from ingestion.model.lineage import NameKind, TableName
from ingestion.parsing.sqlglot.expressions.names import Names
from ingestion.parsing.sqlglot.queries.table_functions import is_function

MATCHED = "$MATCHED"
"""A function around a value that an outer join makes NULL where nothing matched, though no column in it says so."""

WHOLE_QUERY = "*"
"""The name of the column that stands for a query inside an expression."""

AMBIGUOUS = "a column without its relation, where several may have it"
_CORRELATED = "a correlated subquery"
UNKNOWN = "a column of no relation here"

_REFUSED: dict[type[exp.Expr], str] = {
    exp.Lambda: "a lambda function",
    exp.Unnest: "a table function",
    exp.Explode: "a table function",
    exp.PropertyEQ: "an assignment",
    exp.DML: "a write inside the query",
}

Rewrite = Callable[[exp.Expr], exp.Expr]
_CONDITION_ON_TOTAL = "a condition on a total over everything"

_READ_OF_JOIN = ("this", "side", "kind", "on", "using", "hint", "directed", "global_")
"""The parts of a node that are read here, as in the tables below: one that has others is refused."""
_JOIN_KINDS = frozenset({"", "INNER", "CROSS", "OUTER"})

_MOST_OCCURRENCES = 200
"""Tables in a query: a WITH item is inlined wherever it is read, so a chain of self-joins doubles them each time."""
_READ_OF_SELECT = (
    "with_",
    "expressions",
    "from_",
    "joins",
    "where",
    "group",
    "having",
    "order",
    "distinct",
    "hint",
    "locks",
)
_AT_THE_END = (*_READ_OF_SELECT, "limit", "offset")
_TABLE_PARTS = ("this", "db", "catalog", "alias", "joins", "hints", "only")

KnownColumns = Callable[[TableName], Mapping[str, str] | None]


# What the rows of a query are made of while it is taken apart: relations joined, conditions, columns over them.


class Refusal(Exception):
    """The query cannot be taken apart with certainty: why, in words that name no literal."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(eq=False, slots=True)
class Leaf:
    """One occurrence of a relation: a base table, or a query whose rows are not those of its tables (`rows`).

    `alias` is what a WITH item over it alone, or a query in FROM, is called; `known` are the types of a table's columns
    by name, where they are known.
    """

    number: int
    table: TableName | None
    alias: str
    rows: QueryRows | None = None
    known: Mapping[str, str] | None = None

    def column(self, name: str) -> exp.Column:
        """The node that stands for a column of this occurrence."""
        return exp.Column(
            this=exp.Identifier(this=name, quoted=False),
            table=exp.Identifier(this=str(self.number), quoted=False),
        )


@dataclass(eq=False, slots=True)
class FullJoin:
    """Two blocks of which every row stays, matched or not."""

    left: Block
    right: Block
    conditions: list[exp.Expr]


@dataclass(eq=False, slots=True)
class Block:
    """Relations of which every combination is a row, those that are matched where they can be, then the conditions.

    `(A JOIN C ON …) LEFT JOIN B ON q WHERE w` has A and C for `members`, B with q as `attached`, and the rest for
    `conditions`: inner joins and conditions have no order, and no left join has one but by what its condition uses.
    """

    members: list[Leaf | FullJoin] = field(default_factory=list)
    attached: list[tuple[Block, list[exp.Expr]]] = field(default_factory=list)
    conditions: list[exp.Expr] = field(default_factory=list)

    def leaves(self) -> Iterator[Leaf]:
        """Every occurrence in it, those behind outer joins among them."""
        for member in self.members:
            if isinstance(member, Leaf):
                yield member
            else:
                yield from member.left.leaves()
                yield from member.right.leaves()
        for block, _ in self.attached:
            yield from block.leaves()


Value: TypeAlias = "exp.Expr | Refusal"
"""What a column is made of, or why that is not known: it matters only where the column is used."""


@dataclass(eq=False, slots=True)
class QueryRows:
    """The rows of a query: `columns` in order; `open` are relations of which all columns are meant and none is known.

    `keys` are what it groups by, None where it does not, and `having` the conditions on groups.
    """

    block: Block
    columns: dict[str, Value]
    open: tuple[Leaf, ...] = ()
    keys: list[exp.Expr] | None = None
    having: list[exp.Expr] = field(default_factory=list)


def leaf_number(column: exp.Expr) -> int:
    """The number of the occurrence that a column of a rewritten expression belongs to."""
    return int(column.args["table"].name)


def columns_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """The columns in a rewritten expression, in order."""
    return (found for found in node.walk(bfs=False) if type(found) is exp.Column)


def numbers_in(node: exp.Expr) -> set[int]:
    """The numbers of the occurrences in FROM that an expression uses; a query inside it is none of them."""
    return {leaf_number(column) for column in columns_in(node) if column.name != WHOLE_QUERY}


# Which column a name means: of which occurrence of a relation, or of what a query in FROM makes of it.


@dataclass(eq=False, slots=True)
class NamedRelation:
    """What FROM calls `name`: its columns, and (`open`) the tables that it may have more columns of."""

    name: tuple[str, ...]
    columns: dict[str, Value]
    open: tuple[Leaf, ...] = ()

    def is_called(self, qualifier: tuple[str, ...]) -> bool:
        return self.name[-len(qualifier) :] == qualifier

    def column(self, name: str) -> Value | None:
        """The column of that name, None where the relation has none."""
        if name in self.columns or not self.open:
            return self.columns.get(name)
        return self.open[0].column(name) if len(self.open) == 1 else Refusal(AMBIGUOUS)

    def make_optional(self) -> None:
        """Have the values be NULL where an outer join matches nothing."""
        for name, value in self.columns.items():
            if isinstance(value, exp.Expr) and type(value) is not exp.Column:
                constant = next(columns_in(value), None) is None
                self.columns[name] = (
                    Refusal("a constant behind an outer join")  # 1 where a row matches and NULL where none does
                    if constant
                    else exp.Anonymous(this=MATCHED, expressions=[value])
                )


@dataclass(eq=False, slots=True)
class NameScope:
    """The relations of a FROM clause, the columns that USING made one, the outputs, and the query around.

    `at_the_end`: nobody reads the outputs by their names.
    """

    names: Names
    relations: list[NamedRelation] = field(default_factory=list)
    merged: dict[str, Value] = field(default_factory=dict)
    outputs: dict[str, Value] = field(default_factory=dict)
    around: NameScope | None = None
    at_the_end: bool = False

    def column(self, parts: tuple[str, ...]) -> exp.Expr:
        """What a column's name means. Raises Refusal where that is not certain."""
        found = self._find(parts)
        if found is None:
            around = self.around
            while around is not None:
                if around.may_have(parts):
                    raise Refusal(_CORRELATED)
                around = around.around
            raise Refusal(UNKNOWN)
        if isinstance(found, Refusal):
            raise found
        return found.copy()

    def _find(self, parts: tuple[str, ...]) -> Value | None:
        """What a name means here: a column of a relation, one that USING merged, an output, one of unknown columns.

        In `SELECT a FROM t, u` with neither schema known a may be of either, so it is refused: a metric over the wrong
        table would be a wrong metric, where an ambiguous edge is only an uncertain one.
        """
        name, qualifier = parts[-1], parts[:-1]
        if qualifier:
            called = [relation for relation in self.relations if relation.is_called(qualifier)]
            return called[0].column(name) if len(called) == 1 else None
        if name in self.merged:
            return self.merged[name]
        certain = [relation for relation in self.relations if name in relation.columns]
        if certain:
            return certain[0].columns[name] if len(certain) == 1 else Refusal(AMBIGUOUS)
        if name in self.outputs:
            return self._output(name)
        possible = [relation for relation in self.relations if relation.open]
        if len(possible) != 1:
            return Refusal(AMBIGUOUS) if possible else None
        if self.around is not None and self.around.may_have(parts):
            return Refusal(AMBIGUOUS)
        return possible[0].column(name)

    def _output(self, name: str) -> Value:
        """An output by its name, unless a table whose columns are not known has a column of that name too."""
        value = self.outputs[name]
        if isinstance(value, exp.Expr) and type(value) is not exp.Column:
            numbers = {leaf.number for relation in self.relations for leaf in relation.open}
            if any(column.name == name and leaf_number(column) in numbers for column in columns_in(value)):
                return Refusal(AMBIGUOUS)
        return value

    def may_have(self, parts: tuple[str, ...]) -> bool:
        """Whether the name may mean something here, or in a query around."""
        if parts[:-1]:
            here = any(relation.is_called(parts[:-1]) for relation in self.relations)
        else:
            here = any(relation.open or parts[-1] in relation.columns for relation in self.relations)
        return here or (self.around is not None and self.around.may_have(parts))


# Expressions over the columns of base tables: names resolved, nested queries put in the place of one value.

Nested = Callable[[exp.Expr, NameScope], Leaf]
"""What stands for a query inside an expression."""


def _rewrite_expression(node: exp.Expr, scope: NameScope, nested: Nested) -> exp.Expr:
    """The expression of a `node` over base columns, without comments.

    Raises Refusal where a part of it is not certain.
    """

    def rewrite(found: object) -> object:
        if isinstance(found, list):
            return [rewrite(item) for item in found]
        if not isinstance(found, exp.Expr):
            return found
        kind = type(found)
        if kind is exp.Column:
            return _column(found, scope)
        if isinstance(found, exp.Query):
            return nested(found, scope).column(WHOLE_QUERY)
        if kind is exp.Paren:
            return rewrite(found.args["this"])
        if isinstance(found, exp.Placeholder | exp.Parameter) and not found.name.strip("?0123456789"):
            raise Refusal("a value that is given when it runs")
        refused = next((reason for one, reason in _REFUSED.items() if isinstance(found, one)), None)
        if refused is not None:
            raise Refusal(refused)
        made = kind()
        for key, value in found.args.items():
            if value is not None:
                made.set(key, rewrite(value))
        return made

    made = rewrite(node)
    assert isinstance(made, exp.Expr)
    return made


def _column(node: exp.Expr, scope: NameScope) -> exp.Expr:
    names = scope.names
    if names.quotes_are_text and node.args["this"].args.get("quoted"):
        return exp.Literal.string(node.name)
    parts = names.column_parts(node)
    if parts[-1] == "*":
        raise Refusal("a whole row as a value")
    if names.is_niladic(node, parts):
        return exp.Var(this=".".join(parts).upper())
    return scope.column(parts)


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that AND joins; a BETWEEN is two of them."""
    stack = [node]
    while stack:
        part = stack.pop()
        while type(part) is exp.Paren:
            part = part.args["this"]
        if type(part) is exp.And:
            stack += [part.args["expression"], part.args["this"]]
        elif type(part) is exp.Between and not part.args.get("symmetric"):
            value, low, high = (part.args[key] for key in ("this", "low", "high"))
            yield exp.LTE(this=low.copy(), expression=value.copy())
            yield exp.LTE(this=value.copy(), expression=high.copy())
        elif not _is_always_true(part):
            yield part


def _is_always_true(node: exp.Expr) -> bool:
    """`TRUE`, and what generators of SQL write for it: `1 = 1`."""
    if type(node) is exp.Boolean:
        return bool(node.this)
    return type(node) is exp.EQ and type(node.this) is exp.Literal and node.this == node.expression


def is_aggregate(node: exp.Expr, dialect: Dialect) -> bool:
    """Whether a node makes one value of many rows."""
    if isinstance(node, exp.AggFunc):
        return True
    if type(node) is not exp.Anonymous:
        return False
    effect = effect_of(str(node.this).upper(), dialect.name, len(node.expressions))
    return effect in (Effect.AGGREGATE, Effect.COUNT)


def has_aggregate(node: exp.Expr, dialect: Dialect) -> bool:
    """Whether an aggregate is in the expression that is not the function of a window."""
    return any(is_aggregate(found, dialect) and type(found.parent) is not exp.Window for found in node.walk())


def _has_window(node: exp.Expr) -> bool:
    """Whether a function over a window is in the expression."""
    return node.find(exp.Window) is not None


# What a SELECT groups by, and SELECTs that only pass on, rename or choose what another has grouped.


def _grouping_keys(node: exp.Expr, rows: QueryRows, scope: NameScope, rewrite: Rewrite) -> list[exp.Expr] | None:
    """The keys of the GROUP BY of a SELECT (`node`) over base columns, None without one.

    Raises Refusal where one is not certain.
    """
    columns = rows.columns
    group = node.args.get("group")
    if group is None:
        return None
    if group.args.get("all") and not group.expressions:
        if rows.open:
            raise Refusal("GROUP BY ALL beside a star")
        return [value for value in map(_certain, columns.values()) if not has_aggregate(value, scope.names.dialect)]
    outputs = list(columns.values())
    scope.outputs = columns
    keys: list[exp.Expr] = []
    for key in _flat(group):
        if type(key) is exp.Literal:
            if key.is_string or not key.name.isdigit() or not 0 < int(key.name) <= len(outputs):
                raise Refusal("a constant as a GROUP BY key")
            if rows.open:
                raise Refusal("the place of a column beside a star")
            keys.append(_certain(outputs[int(key.name) - 1]).copy())
        else:
            keys.append(rewrite(key))
    return keys


def _flat(group: exp.Expr) -> Iterator[exp.Expr]:
    """The keys of GROUP BY, those of ROLLUP, CUBE and GROUPING SETS among them."""
    waiting = [*group.expressions]
    for part in ("grouping_sets", "cube", "rollup"):
        waiting += group.args.get(part) or ()
    while waiting:
        key = waiting.pop(0)
        if isinstance(key, exp.Tuple | exp.GroupingSets | exp.Cube | exp.Rollup):
            waiting[:0] = key.expressions
        elif isinstance(key, exp.Paren):
            waiting.insert(0, key.this)
        elif isinstance(key, exp.Expr):
            yield key


def _has_levels(node: exp.Expr) -> bool:
    """Whether it groups at several levels at once (ROLLUP), so that rows of one hold rows of another."""
    group = node.args.get("group")
    return group is not None and any(
        isinstance(found, exp.GroupingSets | exp.Cube | exp.Rollup) for found in group.walk()
    )


def _only_groups(block: Block) -> Leaf | None:
    """The one occurrence that a FROM clause has, where its rows are groups."""
    if len(block.members) != 1 or block.attached or not isinstance(block.members[0], Leaf):
        return None
    return block.members[0] if block.members[0].rows is not None else None


def _pass_groups_on(rows: QueryRows, groups: Leaf, conditions: list[exp.Expr], dialect: Dialect) -> QueryRows:
    """A SELECT over groups alone as one that groups itself: its conditions choose keys, or groups."""
    inner = groups.rows
    assert inner is not None
    assert inner.keys is not None
    columns = {name: _inline(value, groups, inner) for name, value in rows.columns.items()}
    for condition in [*conditions, *rows.block.conditions]:
        made = _certain(_inline(condition, groups, inner))
        if has_aggregate(made, dialect) or not inner.keys:
            inner.having.append(made)
        else:
            inner.block.conditions.append(made)
    return QueryRows(inner.block, columns, (), inner.keys, inner.having)


def _inline(value: Value, groups: Leaf, inner: QueryRows) -> Value:
    """An expression over groups as one over what they are made of; a query inside it stays."""
    if isinstance(value, Refusal):
        return value
    of_groups = [column for column in columns_in(value) if leaf_number(column) == groups.number]
    if of_groups == [value]:
        return inner.columns.get(of_groups[0].name, Refusal(_CONDITION_ON_TOTAL))
    for column in of_groups:
        made = inner.columns.get(column.name)
        if made is None or isinstance(made, Refusal):
            return made or Refusal(_CONDITION_ON_TOTAL)
        column.replace(made.copy())
    return value


def _group_by_all(rows: QueryRows) -> None:
    """SELECT DISTINCT: rows are groups by all of the columns."""
    if rows.keys is not None:
        raise Refusal("DISTINCT over groups inside the query")
    if rows.open:
        raise Refusal("DISTINCT over columns that are not known")
    rows.keys = [_certain(value) for value in rows.columns.values()]


def _certain(value: Value) -> exp.Expr:
    if isinstance(value, Refusal):
        raise value
    return value


# Joins as blocks: inner joins without an order, outer joins by what is kept and what is matched to it.


class _Joined(NamedTuple):
    """What a join brings: how it is called, and its rows."""

    relation: NamedRelation
    block: Block


def _refuse_parts(node: exp.Expr, read: Collection[str]) -> None:
    """Raises Refusal where a node has a part that is not among those that are understood."""
    for key, value in node.args.items():
        if value and key not in read:
            raise Refusal(f"{key.strip('_').replace('_', ' ')} in a {type(node).__name__.lower()}")


def _join_blocks(join: exp.Expr, block: Block, other: _Joined, scope: NameScope, rewrite: Rewrite) -> Block:
    """The block with what a join brings; `scope` gets its names. Raises Refusal for a join that is not understood."""
    _refuse_parts(join, _READ_OF_JOIN)
    side, kind = str(join.args.get("side") or "").upper(), str(join.args.get("kind") or "").upper()
    if kind not in _JOIN_KINDS:
        raise Refusal(f"a {kind.lower()} join")
    on = _shared_columns(join, other.relation, scope, side)
    scope.relations.append(other.relation)
    if join.args.get("on") is not None:
        on += [rewrite(part) for part in _conjuncts(join.args["on"])]
    if side == "FULL":
        for relation in scope.relations:
            relation.make_optional()
        return Block([FullJoin(block, other.block, on)])
    if side == "LEFT":
        other.relation.make_optional()
        block.attached.append(_attach(other.block, on))
        return block
    if side == "RIGHT":
        for relation in scope.relations[:-1]:
            relation.make_optional()
        return Block([*other.block.members], [*other.block.attached, _attach(block, on)], other.block.conditions)
    if side:
        raise Refusal(f"a {side.lower()} join")
    block.members += other.block.members
    block.attached += other.block.attached
    block.conditions += [*other.block.conditions, *on]
    return block


def _attach(block: Block, on: list[exp.Expr]) -> tuple[Block, list[exp.Expr]]:
    """A block to match; what its condition asks of the block alone is one of the block's own conditions."""
    own = {leaf.number for leaf in block.leaves()}
    alone = [part for part in on if numbers_in(part) and numbers_in(part) <= own]
    block.conditions += alone
    return block, [part for part in on if part not in alone]


def _shared_columns(join: exp.Expr, relation: NamedRelation, scope: NameScope, side: str) -> list[exp.Expr]:
    """The conditions that USING stands for; `scope` gets the columns that are one from now on."""
    found: list[exp.Expr] = []
    for identifier in join.args.get("using") or ():
        name = scope.names.column(identifier)
        left, right = scope.column((name,)), relation.column(name)
        if right is None or isinstance(right, Refusal):
            raise right or Refusal(AMBIGUOUS)
        found.append(exp.EQ(this=left, expression=right.copy()))
        merged: Value = right if side == "RIGHT" else left
        if side == "FULL":
            merged = exp.Coalesce(this=left.copy(), expressions=[right.copy()])
        scope.merged[name] = merged
    return found


# Queries inlined into rows over base tables: aliases, WITH items and queries in FROM vanish where that is certain.
# This is over sqlglot's own trees, and not over the relational form that lineage is read from: that has no literal, and
# of conditions only what they use, while two metrics are one only where their conditions are, literals and all.


class Temporary(NamedTuple):
    """A temporary table from when it was made on: its query, why that does not tell its rows, or None: it is gone."""

    name: str
    definition: Value | None


@dataclass(frozen=True, slots=True)
class _Item:
    """A WITH item or a temporary table, and the names that are known where it is defined."""

    query: Value
    columns: tuple[str, ...]
    before: Items


Items = Mapping[str, _Item]


@dataclass(slots=True)
class QueryInliner:
    """Inlines the queries of one statement; `known` gives the columns of a base table, None where they are not known.

    `full_names` are the full names of base tables by those that stand in the text.
    """

    names: Names
    known: KnownColumns
    full_names: Mapping[tuple[str, ...], tuple[str, ...]]
    _numbers: int = field(init=False, default=0)
    leaves: dict[int, Leaf] = field(init=False, default_factory=dict)

    def inline(self, query: exp.Expr, temporary: Sequence[Temporary]) -> QueryRows:
        """The rows of a statement's query, `temporary` tables in the order of the script among them. Raises Refusal."""
        items: dict[str, _Item] = {}
        for name, definition in temporary:
            before = dict(items)
            items.pop(name, None)
            if definition is not None:
                items[name] = _Item(definition, (), before)
        return self._query(query, items, None, at_the_end=True)

    def _leaf(self, table: TableName | None, alias: str, rows: QueryRows | None = None) -> Leaf:
        self._numbers += 1
        if self._numbers > _MOST_OCCURRENCES:
            raise Refusal("more tables than are taken apart")
        known = self.known(table) if table is not None else None
        self.leaves[self._numbers] = Leaf(self._numbers, table, alias, rows, known)
        return self.leaves[self._numbers]

    def _query(self, node: exp.Expr, items: Items, around: NameScope | None, *, at_the_end: bool = False) -> QueryRows:
        while type(node) in (exp.Subquery, exp.Paren):
            _refuse_parts(node, ("this", "alias", "with_"))
            items = self._with(node, items)
            node = node.this
        if isinstance(node, exp.SetOperation):
            raise Refusal("a set operation")
        if type(node) is not exp.Select:
            raise Refusal("a query that is no SELECT")
        _refuse_parts(node, _AT_THE_END if at_the_end else _READ_OF_SELECT)
        return self._select(node, self._with(node, items), around, at_the_end=at_the_end)

    def _with(self, node: exp.Expr, items: Items) -> Items:
        """The names that are known below WITH: each item sees those before it, as b does a in `WITH a …, b …`."""
        with_ = node.args.get("with_")
        if with_ is None:
            return items
        if with_.args.get("recursive"):
            raise Refusal("a recursive query")
        for item in with_.expressions:
            if not isinstance(item.this, exp.Query):
                raise Refusal("a write inside the query" if isinstance(item.this, exp.DML) else "a scalar WITH item")
            alias = item.args["alias"]
            columns = tuple(self.names.column(column) for column in alias.args.get("columns") or ())
            items = {**items, self.names.relation(alias.this): _Item(item.this, columns, items)}
        return items

    def _select(self, node: exp.Expr, items: Items, around: NameScope | None, *, at_the_end: bool) -> QueryRows:
        """The rows of a SELECT over base tables.

        `SELECT x FROM (SELECT a AS x FROM t WHERE b > 1) q WHERE x > 2` is one block over t with both conditions, and
        x is t.a. A SELECT over groups is one with them only where it passes them on.
        """
        scope = NameScope(self.names, around=around, at_the_end=at_the_end)

        def rewrite(part: exp.Expr) -> exp.Expr:
            return _rewrite_expression(part, scope, lambda query, inner: self._inline_nested(query, items, inner))

        block = self._from(node, items, scope, rewrite)
        where = node.args.get("where")
        groups = _only_groups(block)
        conditions = [rewrite(part) for part in _conjuncts(where.this)] if where is not None else []
        columns, open_ = self._outputs(node, scope, rewrite)
        rows = QueryRows(block, columns, open_)
        rows.keys = _grouping_keys(node, rows, scope, rewrite)
        dialect = self.names.dialect
        totals = any(isinstance(one, exp.Expr) and has_aggregate(one, dialect) for one in columns.values())
        having = node.args.get("having")
        if rows.keys is None and (totals or having is not None):
            rows.keys = []
        if rows.keys is None and groups is not None and node.args.get("distinct") is None:
            return _pass_groups_on(rows, groups, conditions, dialect)
        block.conditions += conditions
        if having is not None:
            scope.outputs = columns
            rows.having = [rewrite(part) for part in _conjuncts(having.this)]
        if _has_levels(node) and not at_the_end:
            raise Refusal("several levels of groups inside the query")
        if node.args.get("distinct") is not None:
            _refuse_parts(node.args["distinct"], ())
            if not (at_the_end and rows.keys is not None):
                _group_by_all(rows)
        return rows

    def _inline_nested(self, node: exp.Expr, items: Items, scope: NameScope) -> Leaf:
        return self._leaf(None, "", self._query(node, items, scope))

    def _from(self, node: exp.Expr, items: Items, scope: NameScope, rewrite: Rewrite) -> Block:
        from_ = node.args.get("from_")
        if from_ is None:
            return Block()
        relation, block = self._relation(from_.this, items)
        scope.relations.append(relation)
        for join in [*(from_.this.args.get("joins") or ()), *(node.args.get("joins") or ())]:
            if join.this.args.get("joins"):
                raise Refusal("a join in brackets")
            block = _join_blocks(join, block, self._relation(join.this, items), scope, rewrite)
        return block

    def _relation(self, node: exp.Expr, items: Items) -> _Joined:
        """One item of FROM: a table is a leaf; WITH items, temporary tables and queries in brackets are their rows."""
        alias = node.args.get("alias")
        name = self.names.relation(alias.this) if alias is not None and alias.this is not None else ""
        columns = tuple(self.names.column(one) for one in (alias.args.get("columns") if alias else None) or ())
        if type(node) is exp.Subquery and isinstance(node.this, exp.Query):
            return self._of_rows(self._query(node, items, None), (name,) if name else (), columns)
        if type(node) is not exp.Table or is_function(node):
            raise Refusal("a table function")
        _refuse_parts(node, _TABLE_PARTS)
        table = self.names.table(node)
        item = items.get(table.parts[0]) if len(table.parts) == 1 else None
        if item is not None:
            if isinstance(item.query, Refusal):
                raise item.query
            rows = self._query(item.query, item.before, None)
            _call(rows, table.parts[0])
            return self._of_rows(_rename_columns(rows, item.columns), (name or table.parts[0],), columns)
        if table.kind is not NameKind.TABLE:
            raise Refusal("a file or a function as a table")
        if columns:
            raise Refusal("a column list of a table's alias")
        full = self.full_names.get(table.parts)
        table = table if full is None else TableName(full)
        leaf = self._leaf(table, "")
        known: dict[str, Value] = {column: leaf.column(column) for column in leaf.known or ()}
        return _Joined(NamedRelation((name,) if name else table.parts, known, () if known else (leaf,)), Block([leaf]))

    def _of_rows(self, rows: QueryRows, name: tuple[str, ...], columns: tuple[str, ...]) -> _Joined:
        """Rows under a name in FROM: groups stay one leaf, since a join of groups is none of what they are made of.

        In `FROM t JOIN (SELECT k, SUM(a) AS s FROM u GROUP BY k) q` the rows of u cannot be joined with t before they
        are summed up; without its GROUP BY the query would vanish in the block around it.
        """
        rows = _rename_columns(rows, columns)
        if rows.keys is None:
            return _Joined(NamedRelation(name, rows.columns, rows.open), rows.block)
        leaf = self._leaf(None, name[-1] if name else "", rows)
        made: dict[str, Value] = {
            column: value if isinstance(value, Refusal) else leaf.column(column)
            for column, value in rows.columns.items()
        }
        return _Joined(NamedRelation(name, made), Block([leaf]))

    def _outputs(self, node: exp.Expr, scope: NameScope, rewrite: Rewrite) -> tuple[dict[str, Value], tuple[Leaf, ...]]:
        """The columns of a select list. One that is not certain is refused where it is used, and nowhere else."""
        columns: dict[str, Value] = {}
        open_: tuple[Leaf, ...] = ()
        for number, item in enumerate(node.expressions):
            inner = item.this if type(item) is exp.Alias else item
            if type(inner) is exp.Star or (type(inner) is exp.Column and type(inner.this) is exp.Star):
                open_ += self._star(inner, scope, columns)
                continue
            try:
                value: Value = rewrite(inner)
            except Refusal as refusal:
                value = refusal
            if isinstance(value, exp.Expr) and _has_window(value):
                value = Refusal("a window function")
            if type(item) is exp.Alias:
                name = self.names.column(item.args["alias"])
            elif type(inner) is exp.Column:
                name = self.names.column_parts(inner)[-1]
            else:
                name = f"#{number}"
            if name in columns and scope.at_the_end:
                name = f"{name}_{number}"
            columns[name] = Refusal(AMBIGUOUS) if name in columns else value
            if self.names.dialect.lateral_aliases:
                scope.outputs[name] = columns[name]
        return columns, open_

    def _star(self, star: exp.Expr, scope: NameScope, columns: dict[str, Value]) -> tuple[Leaf, ...]:
        """The columns that `*` and `t.*` add; what USING merged comes first, and once."""
        inner = star if type(star) is exp.Star else star.this
        _refuse_parts(inner, ())
        qualifier = self.names.column_parts(star)[:-1] if type(star) is exp.Column else ()
        open_: tuple[Leaf, ...] = ()
        columns.update({} if qualifier else scope.merged)
        for relation in scope.relations:
            if qualifier and not relation.is_called(qualifier):
                continue
            open_ += relation.open
            for name, value in relation.columns.items():
                if qualifier or name not in scope.merged:
                    columns[name] = Refusal(AMBIGUOUS) if name in columns else value
        return open_


def _call(rows: QueryRows, name: str) -> None:
    """Has a table that a WITH item alone reads be called as the item is."""
    members = rows.block.members
    if rows.keys is None and len(members) == 1 and isinstance(members[0], Leaf):
        members[0].alias = name


def _rename_columns(rows: QueryRows, columns: tuple[str, ...]) -> QueryRows:
    """The rows under the names of a column list."""
    if not columns:
        return rows
    if rows.open or len(columns) > len(rows.columns):
        raise Refusal("a column list over columns that are not known")
    names = [*columns, *list(rows.columns)[len(columns) :]]
    renamed = dict(zip(names, rows.columns.values(), strict=True))
    return QueryRows(rows.block, renamed, rows.open, rows.keys, rows.having)
