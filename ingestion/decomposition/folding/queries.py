"""Queries folded into rows over base tables: aliases, WITH items and queries in FROM vanish where that is certain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from ingestion.decomposition.folding.expressions import conjuncts, has_aggregate, has_window, rewrite_expression
from ingestion.decomposition.folding.grouping import (
    Rewrite,
    group_by_all,
    grouping_keys,
    has_levels,
    only_groups,
    pass_groups_on,
)
from ingestion.decomposition.folding.joins import Joined, join_blocks, refuse_parts
from ingestion.decomposition.folding.rows import Block, Leaf, QueryRows, Refusal, Value
from ingestion.decomposition.folding.scopes import AMBIGUOUS, NamedRelation, NameScope
from ingestion.model import NameKind, TableName
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.parsing.sqlglot_tier.queries.table_functions import is_function

_MOST_OCCURRENCES = 200
_READ = ("with_", "expressions", "from_", "joins", "where", "group", "having", "order", "distinct", "hint", "locks")
_AT_THE_END = (*_READ, "limit", "offset")
_TABLE_PARTS = ("this", "db", "catalog", "alias", "joins", "hints", "only")


class Temporary(NamedTuple):
    """A temporary table from when it was made on: its query, why that does not tell its rows, or None: it is gone."""

    name: str
    definition: Value | None


KnownColumns = Callable[[TableName], Mapping[str, str] | None]


@dataclass(frozen=True, slots=True)
class _Item:
    """A WITH item or a temporary table, and the names that are known where it is defined."""

    query: Value
    columns: tuple[str, ...]
    before: Items


Items = Mapping[str, _Item]


@dataclass(slots=True)
class Folding:
    """Folds the queries of one statement; `known` gives the columns of a base table, None where they are not known.

    `places` are the full names of base tables by those that stand in the text.
    """

    names: Names
    known: KnownColumns
    places: Mapping[tuple[str, ...], tuple[str, ...]]
    _numbers: int = field(init=False, default=0)
    leaves: dict[int, Leaf] = field(init=False, default_factory=dict)

    def fold(self, query: exp.Expr, temporary: Sequence[Temporary]) -> QueryRows:
        """The rows of a statement's query, `temporary` tables in the order of the script folded too. Raises Refusal."""
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
            refuse_parts(node, ("this", "alias", "with_"))
            items = self._with(node, items)
            node = node.this
        if isinstance(node, exp.SetOperation):
            raise Refusal("a set operation")
        if type(node) is not exp.Select:
            raise Refusal("a query that is no SELECT")
        refuse_parts(node, _AT_THE_END if at_the_end else _READ)
        return self._select(node, self._with(node, items), around, at_the_end=at_the_end)

    def _with(self, node: exp.Expr, items: Items) -> Items:
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
        scope = NameScope(self.names, around=around, at_the_end=at_the_end)

        def rewrite(part: exp.Expr) -> exp.Expr:
            return rewrite_expression(part, scope, lambda query, inner: self._fold_nested(query, items, inner))

        block = self._from(node, items, scope, rewrite)
        where = node.args.get("where")
        groups = only_groups(block)
        conditions = [rewrite(part) for part in conjuncts(where.this)] if where is not None else []
        columns, open_ = self._outputs(node, scope, rewrite)
        rows = QueryRows(block, columns, open_)
        rows.keys = grouping_keys(node, rows, scope, rewrite)
        totals = any(isinstance(one, exp.Expr) and has_aggregate(one) for one in columns.values())
        having = node.args.get("having")
        if rows.keys is None and (totals or having is not None):
            rows.keys = []
        if rows.keys is None and groups is not None and node.args.get("distinct") is None:
            return pass_groups_on(rows, groups, conditions)
        block.conditions += conditions
        if having is not None:
            scope.outputs = columns
            rows.having = [rewrite(part) for part in conjuncts(having.this)]
        if has_levels(node) and not at_the_end:
            raise Refusal("several levels of groups inside the query")
        if node.args.get("distinct") is not None:
            refuse_parts(node.args["distinct"], ())
            if not (at_the_end and rows.keys is not None):
                group_by_all(rows)
        return rows

    def _fold_nested(self, node: exp.Expr, items: Items, scope: NameScope) -> Leaf:
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
            block = join_blocks(join, block, self._relation(join.this, items), scope, rewrite)
        return block

    def _relation(self, node: exp.Expr, items: Items) -> Joined:
        alias = node.args.get("alias")
        name = self.names.relation(alias.this) if alias is not None and alias.this is not None else ""
        columns = tuple(self.names.column(one) for one in (alias.args.get("columns") if alias else None) or ())
        if type(node) is exp.Subquery and isinstance(node.this, exp.Query):
            return self._of_rows(self._query(node, items, None), (name,) if name else (), columns)
        if type(node) is not exp.Table or is_function(node):
            raise Refusal("a table function")
        refuse_parts(node, _TABLE_PARTS)
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
        place = self.places.get(table.parts)
        table = table if place is None else TableName(place)
        leaf = self._leaf(table, "")
        known: dict[str, Value] = {column: leaf.column(column) for column in leaf.known or ()}
        return Joined(NamedRelation((name,) if name else table.parts, known, () if known else (leaf,)), Block([leaf]))

    def _of_rows(self, rows: QueryRows, name: tuple[str, ...], columns: tuple[str, ...]) -> Joined:
        rows = _rename_columns(rows, columns)
        if rows.keys is None:
            return Joined(NamedRelation(name, rows.columns, rows.open), rows.block)
        leaf = self._leaf(None, name[-1] if name else "", rows)
        made: dict[str, Value] = {
            column: value if isinstance(value, Refusal) else leaf.column(column)
            for column, value in rows.columns.items()
        }
        return Joined(NamedRelation(name, made), Block([leaf]))

    def _outputs(
        self, node: exp.Expr, scope: NameScope, rewrite: Callable[[exp.Expr], exp.Expr]
    ) -> tuple[dict[str, Value], tuple[Leaf, ...]]:
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
            if isinstance(value, exp.Expr) and has_window(value):
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
        inner = star if type(star) is exp.Star else star.this
        refuse_parts(inner, ())
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
