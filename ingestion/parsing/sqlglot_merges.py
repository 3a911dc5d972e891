"""MERGE and the multi-table INSERTs of sqlglot's tree: one write for each branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.model import Target, WriteMode
from ingestion.parsing.relational import Clause, Projection, Relation, Select, Star, Write
from ingestion.parsing.roles import FILTER, JOIN
from ingestion.parsing.sqlglot_assignments import assignments, column_name
from ingestion.parsing.sqlglot_queries import QueryTranslator
from ingestion.parsing.sqlglot_relations import translate_relations
from ingestion.parsing.sqlglot_writes import insert_writes, target_of


def merge_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[Write]:
    """Each WHEN branch of a MERGE."""
    args = node.args
    own = replace(translate_relations(queries, [node.this])[0], written=True)
    name = queries.names.table(node.this)
    incoming = translate_relations(queries, [args["using"]])
    on = tuple(queries.conditions(args.get("on"), JOIN))
    common_tables = queries.common_tables(node)
    for when in args["whens"].expressions:
        conditions = on + tuple(queries.conditions(when.args.get("condition"), FILTER))
        action = when.args["then"]
        relations = (own, *incoming)
        if isinstance(action, exp.Insert):
            yield _insert_branch(queries, action, Target(name, WriteMode.APPEND), relations, conditions, common_tables)
        elif isinstance(action, exp.Update):
            yield _update_branch(queries, action, Target(name, WriteMode.UPDATE), relations, conditions, common_tables)
        elif action.name.lower() == "delete":
            yield Write(Target(name, WriteMode.DELETE), Select((), relations, conditions, common_tables), deletes=True)


def _insert_branch(
    queries: QueryTranslator,
    action: exp.Expr,
    target: Target,
    relations: tuple[Relation, ...],
    conditions: tuple[Clause, ...],
    common_tables: tuple[object, ...],
) -> Write:
    this, values = action.args.get("this"), action.args.get("expression")
    where = action.args.get("where")
    if where is not None:
        conditions += tuple(queries.conditions(where.this, FILTER))
    if values is None:  # INSERT *, and BigQuery's INSERT ROW
        star = Select((Star(),), relations, conditions, common_tables)  # type: ignore[arg-type]
        return Write(replace(target, by_name=True), star)
    columns = tuple(column_name(queries, item) for item in this.expressions) if isinstance(this, exp.Tuple) else None
    cells = values.expressions if isinstance(values, exp.Tuple) else [values]
    projections = tuple(
        Projection(columns[number] if columns and number < len(columns) else "", queries.expression(cell))
        for number, cell in enumerate(cells)
    )
    return Write(replace(target, columns=columns), Select(projections, relations, conditions, common_tables))  # type: ignore[arg-type]


def _update_branch(
    queries: QueryTranslator,
    action: exp.Expr,
    target: Target,
    relations: tuple[Relation, ...],
    conditions: tuple[Clause, ...],
    common_tables: tuple[object, ...],
) -> Write:
    where = action.args.get("where")
    if where is not None:
        conditions += tuple(queries.conditions(where.this, FILTER))
    if any(type(item) is exp.Star for item in action.expressions):  # UPDATE SET *
        star = Select((Star(),), relations, conditions, common_tables)  # type: ignore[arg-type]
        return Write(replace(target, by_name=True), star)
    projections = tuple(assignments(queries, action.expressions))
    return Write(
        replace(target, columns=tuple(projection.name for projection in projections)),
        Select(projections, relations, conditions, common_tables),  # type: ignore[arg-type]
    )


def multitable_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[Write]:
    """INSERT ALL and FIRST (Oracle, Snowflake), and Hive's FROM … INSERT … INSERT …."""
    source = node.args["source"]
    base = translate_relations(queries, [source])
    common_tables = queries.common_tables(node)
    for branch in node.expressions:
        insert = branch.this if type(branch) is exp.ConditionalInsert else branch
        conditions = tuple(queries.conditions(branch.args.get("expression") if branch is not insert else None, FILTER))
        expression = insert.args.get("expression")
        if type(expression) is exp.Select and expression.args.get("from_") is None:  # Hive
            for write in insert_writes(queries, insert):
                query = write.query
                if isinstance(query, Select):
                    query = replace(query, relations=base + query.relations)
                yield replace(write, query=query)
            continue
        target, fixed = target_of(queries, insert.this, WriteMode.APPEND)
        if type(expression) is exp.Values:
            row = expression.expressions[0]
            cells = row.expressions if type(row) is exp.Tuple else [row]
            projections: tuple[Projection | Star, ...] = tuple(queries.projections(cells))
        else:
            projections = (Star(),)
        yield Write(target, Select(projections, base, conditions, common_tables), fixed)
