"""MERGE and the multi-table INSERTs of sqlglot's tree: one write for each branch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from ingestion.model import TableName, Target, WriteMode
from ingestion.parsing.sqlglot_tier.queries.clauses import conditions
from ingestion.parsing.sqlglot_tier.queries.projections import translate_projections
from ingestion.parsing.sqlglot_tier.queries.relations import translate_relations
from ingestion.parsing.sqlglot_tier.queries.translator import QueryTranslator
from ingestion.parsing.sqlglot_tier.statements.updates import assignments, column_name
from ingestion.parsing.sqlglot_tier.statements.writes import insert_writes, target_of
from ingestion.relational.form import Clause, CommonTable, Projection, RelationSource, Select, Star, WriteForm
from ingestion.relational.roles import FILTER, JOIN


@dataclass(frozen=True, slots=True)
class _Branch:
    """What a WHEN branch sees: the target and the source, joined as they are there, and its own condition."""

    queries: QueryTranslator
    name: TableName
    relations: tuple[RelationSource, ...]
    clauses: tuple[Clause, ...]
    common_tables: tuple[CommonTable, ...]

    def select(self, projections: tuple[Projection | Star, ...], action: exp.Expr | None = None) -> Select:
        """The columns that the branch writes; Oracle's branches have a WHERE of their own."""
        where = action.args.get("where") if action is not None else None
        own = tuple(conditions(self.queries, where.this, FILTER)) if where is not None else ()
        return Select(projections, self.relations, self.clauses + own, self.common_tables)


def merge_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """Each WHEN branch of a MERGE."""
    args = node.args
    own = replace(translate_relations(queries, [node.this])[0], written=True)
    name = queries.names.table(node.this)
    others = translate_relations(queries, [args["using"]])
    on = tuple(conditions(queries, args.get("on"), JOIN))
    common_tables = queries.common_tables(node)
    for when in args["whens"].expressions:
        clauses = tuple(conditions(queries, when.args.get("condition"), FILTER))
        branch = _Branch(queries, name, _joined_relations(own, others, on, when), clauses, common_tables)
        action = when.args["then"]
        if isinstance(action, exp.Insert):
            yield _insert_branch(branch, action)
        elif isinstance(action, exp.Update):
            yield _update_branch(branch, action)
        elif action.name.lower() == "delete":
            yield WriteForm(Target(name, WriteMode.DELETE), branch.select(()), deletes=True)


def _joined_relations(
    own: RelationSource, others: tuple[RelationSource, ...], on: tuple[Clause, ...], when: exp.Expr
) -> tuple[RelationSource, ...]:
    """Target and source as a branch sees them: rows without a match have the columns of their own side alone."""
    if when.args.get("matched"):
        last = replace(others[-1], on=others[-1].on + on)
        return (own, *others[:-1], last)
    if when.args.get("source"):
        unseen = [replace(other, join="ANTI") for other in others]
        return (own, *unseen[:-1], replace(unseen[-1], on=unseen[-1].on + on))
    return (*others, replace(own, join="ANTI", on=on))


def _insert_branch(branch: _Branch, action: exp.Expr) -> WriteForm:
    target = Target(branch.name, WriteMode.APPEND)
    this, values = action.args.get("this"), action.args.get("expression")
    columns = (
        tuple(column_name(branch.queries, item) for item in this.expressions) if isinstance(this, exp.Tuple) else None
    )
    if not isinstance(values, exp.Expr):  # INSERT *, and by position INSERT ROW: the target itself is not in the star
        by_name = type(this) is exp.Star and not _takes_places(branch.queries)
        stars = tuple(translate_projections(branch.queries, [this])) if isinstance(this, exp.Star) else (Star(),)
        return WriteForm(replace(target, columns=columns, by_name=by_name), branch.select(stars, action))
    cells = values.expressions if isinstance(values, exp.Tuple) else [values]
    projections = tuple(translate_projections(branch.queries, cells))
    return WriteForm(replace(target, columns=columns), branch.select(projections, action))


def _update_branch(branch: _Branch, action: exp.Expr) -> WriteForm:
    target = Target(branch.name, WriteMode.UPDATE)
    stars: list[exp.Expr] = [item for item in action.expressions if type(item) is exp.Star]
    if stars:  # UPDATE SET *
        columns = tuple(translate_projections(branch.queries, stars[:1]))
        by_name = not _takes_places(branch.queries)
        return WriteForm(replace(target, by_name=by_name), branch.select(columns, action))
    projections = tuple(assignments(branch.queries, action.expressions))
    names = tuple(projection.name for projection in projections)
    return WriteForm(replace(target, columns=names), branch.select(projections, action))


def _takes_places(queries: QueryTranslator) -> bool:
    """Whether a star in a branch gives the target its columns by their places, as DuckDB does."""
    return queries.names.dialect.merge_star_by_place


def multitable_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """INSERT ALL and FIRST (Oracle, Snowflake), and Hive's FROM … INSERT … INSERT …."""
    base = translate_relations(queries, [node.args["source"]])
    common_tables = queries.common_tables(node)
    for item in node.expressions:
        insert = item.this if type(item) is exp.ConditionalInsert else item
        expression = insert.args.get("expression")
        if type(expression) is exp.Select and expression.args.get("from_") is None:
            yield from _hive_branch(queries, insert, base, common_tables)
            continue
        condition = item.args.get("expression") if insert is not item else None
        clauses = tuple(conditions(queries, condition, FILTER))
        target, fixed = target_of(queries, insert.this, WriteMode.APPEND)
        projections: tuple[Projection | Star, ...] = (Star(),)
        if type(expression) is exp.Values:
            row = expression.expressions[0]
            cells = row.expressions if type(row) is exp.Tuple else [row]
            projections = tuple(translate_projections(queries, cells))
        yield WriteForm(target, Select(projections, base, clauses, common_tables), fixed)


def _hive_branch(
    queries: QueryTranslator, insert: exp.Expr, base: tuple[RelationSource, ...], common_tables: tuple[CommonTable, ...]
) -> Iterator[WriteForm]:
    for write in insert_writes(queries, insert):
        query = write.query
        if isinstance(query, Select):
            query = replace(query, relations=base + query.relations, common_tables=common_tables + query.common_tables)
        yield replace(write, query=query)
