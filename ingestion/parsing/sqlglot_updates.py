"""UPDATE and DELETE of sqlglot's tree, in the shapes that dialects give them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.model import TableName, Target, WriteMode
from ingestion.parsing.relational import CommonTable, Projection, Relation, Select, Slot, Write
from ingestion.parsing.roles import FILTER
from ingestion.parsing.sqlglot_assignments import assignments
from ingestion.parsing.sqlglot_clauses import conditions
from ingestion.parsing.sqlglot_queries import QueryTranslator
from ingestion.parsing.sqlglot_relations import translate_relations


def update_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[Write]:
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
        _assigned(node.expressions), list(assignments(queries, node.expressions)), strict=False
    ):
        owner = _owner(queries, assigned, relations, target)
        by_owner.setdefault(owner, []).append(projection)
    for owner, projections in (by_owner or {target: []}).items():
        own = tuple(replace(relation, written=relation.source == owner) for relation in relations)
        name, renamed = _behind(owner, common_tables)
        names = tuple(renamed.get(projection.name, projection.name) for projection in projections)
        yield Write(
            Target(name, WriteMode.UPDATE, names, False, name.table.startswith("#")),
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


def _assigned(nodes: list[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, exp.EQ | exp.PropertyEQ):
            right = node.expression
            if type(node.this) is exp.Tuple:
                yield from node.this.expressions
            elif not (type(right) is exp.Column and not right.args.get("table") and right.name.lower() == "default"):
                yield node.this


def _place_target(relations: list[Relation], others: list[Relation]) -> tuple[list[Relation], TableName]:
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


def _inner_table(relation: Relation) -> TableName:
    source = relation.source
    if isinstance(source, Select) and source.relations:
        return _inner_table(source.relations[0])
    return source if isinstance(source, TableName) else TableName(("",), "")


def _owner(queries: QueryTranslator, node: exp.Expr, relations: list[Relation], target: TableName) -> TableName:
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


def delete_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[Write]:
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
        yield Write(
            Target(name, WriteMode.DELETE, temporary=name.table.startswith("#")),
            Select((), own, clauses, common_tables),
            deletes=True,
        )


def _named_target(name: TableName, relations: list[Relation]) -> TableName:
    for relation in relations:
        if isinstance(relation.source, TableName) and name.parts == (relation.alias,):
            return relation.source
    return name
