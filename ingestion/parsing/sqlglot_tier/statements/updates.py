"""UPDATE and DELETE of sqlglot's tree, in the shapes that dialects give them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.model import TableName, Target, WriteMode
from ingestion.parsing.sqlglot_tier.queries.clauses import conditions
from ingestion.parsing.sqlglot_tier.queries.relations import translate_relations
from ingestion.parsing.sqlglot_tier.queries.translator import QueryTranslator
from ingestion.relational.form import (
    CommonTable,
    Expression,
    Projection,
    Query,
    QuerySlot,
    RelationSource,
    Select,
    Slot,
    Star,
    WriteForm,
)
from ingestion.relational.roles import ATOM, FILTER, IDENTITY


def column_name(queries: QueryTranslator, node: exp.Expr) -> str:
    """The folded name of a column in a column list or on the left of an assignment."""
    if type(node) is exp.Column:
        return queries.names.column_parts(node)[-1]
    inner = node.this if type(node) is exp.ColumnDef else node
    if type(inner) is exp.Identifier:
        return queries.names.column(inner)
    return queries.names.column_parts(inner)[-1] if type(inner) is exp.Column else str(inner.name)


def assignments(queries: QueryTranslator, nodes: list[exp.Expr]) -> Iterator[Projection]:
    """The assignments of UPDATE SET, one projection for each column."""
    for node in nodes:
        if not isinstance(node, exp.EQ | exp.PropertyEQ):
            continue
        left, right = node.this, node.expression
        if type(left) in (exp.Tuple, exp.Paren):
            yield from _multiple(queries, left, right)
        elif type(right) is exp.Column and not right.args.get("table") and right.name.lower() == "default":
            continue
        else:
            yield Projection(column_name(queries, left), queries.expression(right))


def _multiple(queries: QueryTranslator, left: exp.Expr, right: exp.Expr) -> Iterator[Projection]:
    """(a, b) = (SELECT c, d …), and (a, b) = [ROW] (c, d)."""
    items = left.expressions if type(left) is exp.Tuple else [left.this]
    names = [column_name(queries, item) for item in items]
    while type(right) is exp.Paren:
        right = right.this
    if type(right) is exp.Tuple or (type(right) is exp.Anonymous and str(right.this).upper() == "ROW"):
        for name, value in zip(names, right.expressions, strict=False):
            yield Projection(name, queries.expression(value))
        return
    if not isinstance(right, exp.Query):
        yield from (Projection(name, queries.expression(right)) for name in names[: len(names) == 1])
        return
    query = queries.query(right)
    for number, name in enumerate(names):
        yield Projection(name, Expression((0,), (QuerySlot(_nth(query, number), IDENTITY),), ATOM, 0))


def _nth(query: Query, number: int) -> Query:
    """The query with its nth column only."""
    if not isinstance(query, Select) or number >= len(query.projections):
        return query
    if any(isinstance(item, Star) for item in query.projections):
        return query
    return replace(query, projections=(query.projections[number],))


def update_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """UPDATE in the shapes of PostgreSQL (FROM), MySQL (joins before SET), T-SQL (an alias of FROM) and Oracle."""
    args = node.args
    relations = list(translate_relations(queries, [node.this]))
    from_ = args.get("from_")
    others = translate_relations(queries, [from_.this, *(from_.args.get("joins") or [])]) if from_ is not None else ()
    relations, target = _place_target(relations, list(others))
    clauses = tuple(conditions(queries, args["where"].this if args.get("where") is not None else None, FILTER))
    common_tables = queries.common_tables(node)
    by_owner: dict[TableName, list[Projection]] = {}
    for assigned, projection in zip(
        _assignments(node.expressions), list(assignments(queries, node.expressions)), strict=False
    ):
        owner = _owner(queries, assigned, relations, target)
        by_owner.setdefault(owner, []).append(projection)
    for owner, projections in (by_owner or {target: []}).items():
        own = tuple(replace(relation, written=relation.source == owner) for relation in relations)
        name, renamed = _behind(owner, common_tables)
        names = tuple(renamed.get(projection.name, projection.name) for projection in projections)
        yield WriteForm(
            Target(name, WriteMode.UPDATE, names, by_name=False, temporary=name.table.startswith("#")),
            Select(tuple(projections), own, clauses, common_tables),
        )


def _behind(name: TableName, common_tables: tuple[CommonTable, ...]) -> tuple[TableName, dict[str, str]]:
    """T-SQL changes a table through a WITH item: the table, and its own names of the item's columns."""
    for common in reversed(common_tables):
        query = common.query
        if name.parts == (common.name,) and isinstance(query, Select) and query.relations:
            table = query.relations[0].source
            renamed = {
                item.name: item.expression.slots[0].parts[-1]
                for item in query.projections
                if isinstance(item, Projection)
                and len(item.expression.parts) == 1
                and item.expression.slots
                and isinstance(item.expression.slots[0], Slot)
            }
            if isinstance(table, TableName):
                return table, renamed
    return name, {}


def _assignments(nodes: list[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, exp.EQ | exp.PropertyEQ):
            right = node.expression
            if type(node.this) is exp.Tuple:
                yield from node.this.expressions
            elif not (type(right) is exp.Column and not right.args.get("table") and right.name.lower() == "default"):
                yield node.this


def _place_target(
    relations: list[RelationSource], others: list[RelationSource]
) -> tuple[list[RelationSource], TableName]:
    """All relations of an UPDATE or DELETE with its target marked; `UPDATE a … FROM t AS a` means t."""
    first = relations[0]
    if isinstance(first.source, TableName) and len(first.source.parts) == 1 and not first.alias:
        for number, other in enumerate(others):
            named = other.alias or (other.source.table if isinstance(other.source, TableName) else "")
            if named == first.source.table and isinstance(other.source, TableName):
                others[number] = replace(other, written=True)
                return others + relations[1:], other.source
    target = first.source if isinstance(first.source, TableName) else _inner_table(first)
    relations[0] = replace(first, written=True)
    return relations + others, target


def _inner_table(relation: RelationSource) -> TableName:
    source = relation.source
    if isinstance(source, Select) and source.relations:
        return _inner_table(source.relations[0])
    return source if isinstance(source, TableName) else TableName(("",), "")


def _owner(queries: QueryTranslator, node: exp.Expr, relations: list[RelationSource], target: TableName) -> TableName:
    """The table that an assigned column belongs to: MySQL updates several at once."""
    qualifier = queries.names.column_parts(node)[:-1] if type(node) is exp.Column else ()
    if len(qualifier) == 1:
        for relation in relations:
            if relation.alias == qualifier[0] and isinstance(relation.source, TableName):
                return relation.source
    if qualifier:
        for relation in relations:
            source = relation.source
            if isinstance(source, TableName) and not relation.alias and source.parts[-len(qualifier) :] == qualifier:
                return source
    return target


def delete_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """DELETE: what it reads has a say in what is left, and nothing flows."""
    args = node.args
    own_tables = [node.this] if args.get("this") else args["tables"]  # without FROM: DELETE t WHERE …
    relations = list(translate_relations(queries, own_tables))
    using = args.get("using") or []
    others = list(translate_relations(queries, using if isinstance(using, list) else [using]))
    clauses = tuple(conditions(queries, args["where"].this if args.get("where") is not None else None, FILTER))
    common_tables = queries.common_tables(node)
    named = [queries.names.table(table) for table in args.get("tables") or () if args.get("this")]
    if not named:
        relations, target = _place_target(relations, others)
        others = []
        targets = [target]
    else:
        targets = [_named_target(name, relations + others) for name in named]
    for target in dict.fromkeys(targets):
        own = tuple(replace(relation, written=relation.source == target) for relation in relations + others)
        name, _ = _behind(target, common_tables)
        yield WriteForm(
            Target(name, WriteMode.DELETE, temporary=name.table.startswith("#")),
            Select((), own, clauses, common_tables),
            deletes=True,
        )


def _named_target(name: TableName, relations: list[RelationSource]) -> TableName:
    for relation in relations:
        if isinstance(relation.source, TableName) and name.parts == (relation.alias,):
            return relation.source
    return name
