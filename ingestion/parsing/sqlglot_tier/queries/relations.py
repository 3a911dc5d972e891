"""FROM items of sqlglot's tree: tables, derived tables, joins, laterals, table functions, pivots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.dialects.definition import keywords
from ingestion.model import NameKind, TableName
from ingestion.parsing.sqlglot_tier.expressions.context import QueryContext
from ingestion.parsing.sqlglot_tier.names.identifiers import named_by_text
from ingestion.parsing.sqlglot_tier.queries.clauses import conditions
from ingestion.parsing.sqlglot_tier.queries.pivots import translate_pivots
from ingestion.parsing.sqlglot_tier.queries.table_functions import is_function, translate_function
from ingestion.relational.form import (
    Clause,
    Expression,
    Projection,
    Query,
    RelationSource,
    Select,
    Slot,
    Star,
    TableFunction,
)
from ingestion.relational.roles import ATOM, IDENTITY, JOIN, TRANSFORMATION

_APPLIES_MODEL = (exp.Predict, exp.MLTranslate, exp.GenerateEmbedding, exp.GenerateText, exp.GenerateTable)
_PASS_ON = keywords(
    "APPENDS CHANGES DETECT_ANOMALIES RECONSTRUCTION_LOSS TRANSFORM GENERATE_BOOL GENERATE_DOUBLE GENERATE_INT"
)
"""BigQuery's functions that add columns to the rows that they are given."""


def translate_relations(queries: QueryContext, nodes: list[exp.Expr]) -> tuple[RelationSource, ...]:
    """The relations of FROM, JOIN and LATERAL VIEW items, in order; bracketed joins are laid flat."""
    return tuple(relation for node in nodes for relation in _item(queries, node))


def _item(queries: QueryContext, node: exp.Expr) -> Iterator[RelationSource]:
    if type(node) is exp.Join:
        yield from _join(queries, node)
        return
    if type(node) is exp.TableAlias:  # what `|> AS name` has called the rows so far
        node = exp.Table(this=node.this)
    while type(node) in (exp.Final, exp.Stream) or (type(node) is exp.Paren and not node.args.get("alias")):
        node = node.this
    node = named_by_text(_bare(node), queries.names.dialect.sqlglot)
    if type(node) in (exp.Subquery, exp.Paren) and _is_bracketed_join(node):
        yield from _bracketed_relations(queries, node)
    else:
        yield _relation(queries, node)
    for join in node.args.get("joins") or ():
        yield from _join(queries, join)
    for lateral in node.args.get("laterals") or ():
        yield from _item(queries, lateral)


def _bare(node: exp.Expr) -> exp.Expr:
    """The innermost of nested brackets that say nothing: ((x)) is x."""
    while (
        type(node) is exp.Subquery
        and type(node.this) is exp.Subquery
        and not any(value for key, value in node.args.items() if key != "this")
    ):
        node = node.this
    return node


def _is_bracketed_join(node: exp.Expr) -> bool:
    inner = node.this
    return isinstance(inner, exp.Table | exp.Lateral | exp.Unnest) or (
        type(inner) is exp.Subquery and bool(inner.args.get("joins") or _is_bracketed_join(inner))
    )


def _bracketed_relations(queries: QueryContext, node: exp.Expr) -> Iterator[RelationSource]:
    """`(a JOIN b)`: its relations are visible outside, unless an alias hides them."""
    relations = tuple(_item(queries, node.this))
    alias, columns = _alias_of(queries, node)
    pivots = translate_pivots(queries, node)
    if not alias and not pivots:
        yield from relations
    elif len(relations) == 1 and not relations[0].pivots:
        yield replace(relations[0], alias=alias or relations[0].alias, columns=columns, pivots=pivots)
    else:
        yield RelationSource(Select((Star(),), relations), alias, columns, pivots=pivots)


def _join(queries: QueryContext, node: exp.Expr) -> Iterator[RelationSource]:
    args = node.args
    this = args["this"]
    if args.get("kind") == "ARRAY":  # ClickHouse: ARRAY JOIN arr AS x
        yield _array_join(queries, this)
        return
    using = tuple(
        queries.names.column_parts(c)[-1] if type(c) is exp.Column else queries.names.column(c)
        for c in args.get("using") or ()
    )
    method = args.get("method")
    how = " ".join(str(word).upper() for word in (args.get("side"), args.get("kind")) if word)
    natural = method is not None and str(method).upper() == "NATURAL"
    on: tuple[Clause, ...] = tuple(conditions(queries, args.get("on"), JOIN)) if args.get("on") is not None else ()
    match = args.get("match_condition")
    if match is not None:
        on += tuple(conditions(queries, match, JOIN))
    if type(this) is exp.Table and len(this.args) <= 4 and not is_function(this) and not this.args.get("pivots"):
        alias, columns = _alias_of(queries, this)
        yield RelationSource(_relation_name(queries, this, alias), alias, columns, how, on, using, natural)
        return
    relations = list(_item(queries, this))
    # The condition stands with the last relation of a bracketed join: by then all of its names are in scope.
    relations[0] = replace(relations[0], join=how or relations[0].join, natural=natural)
    relations[-1] = replace(relations[-1], on=relations[-1].on + on, using=using)
    yield from relations


def _array_join(queries: QueryContext, node: exp.Expr) -> RelationSource:
    name = queries.names.column(node.args["alias"]) if type(node) is exp.Alias else ""
    array = node.this if type(node) is exp.Alias else node
    name = name or (queries.names.column_parts(array)[-1] if type(array) is exp.Column else "")
    return RelationSource(
        TableFunction((queries.expression(array),), name, ((name, None),)), "", (), "CROSS", lateral=True
    )


def _alias_of(queries: QueryContext, node: exp.Expr) -> tuple[str, tuple[str, ...]]:
    """The alias of a FROM item and its column list."""
    alias = node.args.get("alias")
    if alias is None:
        return "", ()
    if type(alias) is exp.Identifier:
        return queries.names.relation(alias), ()
    name = queries.names.relation(alias.this) if type(alias.this) is exp.Identifier else ""
    columns = tuple(
        queries.names.column(column.this if type(column) is exp.ColumnDef else column)
        for column in alias.args.get("columns") or ()
        if isinstance(column, exp.ColumnDef | exp.Identifier)
    )
    return name, columns


def _relation(queries: QueryContext, node: exp.Expr) -> RelationSource:
    kind = type(node)
    alias, columns = _alias_of(queries, node)
    if kind is exp.Table and isinstance(node.this, exp.Values | exp.SemanticView):
        given = node.this
        query = queries.values(given) if type(given) is exp.Values else _semantic(queries, given)
        return RelationSource(query, alias, columns, pivots=translate_pivots(queries, node))
    if kind is exp.Table and not is_function(node):
        return _table(queries, node, alias, columns)
    pivots = translate_pivots(queries, node)
    if kind is exp.AtIndex or (kind is exp.Pivot and not node.args.get("expressions") and node.args.get("unpivot")):
        return _navigated_object(queries, node)
    if kind is exp.Pivot:
        inner = _relation(queries, node.this)
        return replace(inner, pivots=inner.pivots + pivots)
    passed_on = _passed_on(node)
    if passed_on is not None:
        star = Star(wrapped=type(node.this) is exp.GapFill)
        return RelationSource(Select((star,), (_relation(queries, passed_on),)), alias, columns, pivots=pivots)
    if kind is exp.Subquery or isinstance(node, exp.Query | exp.Values):
        source: TableName | Query | TableFunction
        source = queries.query(node.this if kind is exp.Subquery and not _own(node) else _without_alias(node))
        return RelationSource(source, alias, columns, pivots=pivots)
    if kind is exp.Lateral and type(node.this) is exp.Subquery:
        return RelationSource(
            queries.query(node.this), alias, columns, lateral=True, join="CROSS" if node.args.get("cross_apply") else ""
        )
    return translate_function(queries, node, alias, columns, pivots)


def _semantic(queries: QueryContext, node: exp.Expr) -> Select:
    """Snowflake: SEMANTIC_VIEW(view METRICS … DIMENSIONS … WHERE …) gives what it names of the view."""
    given = [item for key in ("metrics", "facts", "dimensions") for item in node.args.get(key) or ()]
    given.sort(key=lambda item: item.find(exp.Identifier).meta.get("start", 0) if item.find(exp.Identifier) else 0)
    view = queries.names.table(node.this)
    projections = tuple(_of_view(queries, item) for item in given)
    return Select(projections, (RelationSource(view),))


def _of_view(queries: QueryContext, node: exp.Expr) -> Projection | Star:
    inner = node.this if type(node) is exp.Alias else node
    name = queries.names.column_parts(inner)[-1] if type(inner) is exp.Column else ""
    if name == "*":
        return Star()
    label = queries.names.column(node.args["alias"]) if type(node) is exp.Alias else name
    if not name:
        return Projection(label, queries.expression(inner))
    return Projection(label, Expression((0,), (Slot((name,), IDENTITY),), ATOM, 0))


def _passed_on(node: exp.Expr) -> exp.Expr | None:
    """The rows that BigQuery's ML.PREDICT, GAP_FILL and their kin pass on; what they add, only they know."""
    function = node.this if type(node) is exp.Table else None
    if isinstance(function, _APPLIES_MODEL):
        given = function.args.get("expression")
    elif isinstance(function, exp.GapFill):
        given = function.this
    elif isinstance(function, exp.Anonymous) and str(function.this).upper() in _PASS_ON:
        given = next((item for item in function.expressions if isinstance(item, exp.Query)), None)
    else:
        given = None
    return given if isinstance(given, exp.Query | exp.Table) else None


def _navigated_object(queries: QueryContext, node: exp.Expr) -> RelationSource:
    """Redshift's `array AS element AT index` and `UNPIVOT object AS value AT attribute`: a row for each part of it."""
    label, item = ("unpivot", node.this) if type(node) is exp.Pivot else ("unnest", node)
    at = [item.expression] if type(item) is exp.AtIndex else []
    item = item.this if at else item
    value, alias = item.this, item.args.get("alias")
    if type(item) is exp.Table:
        value = exp.column(*(item.args[part] for part in ("this", "db", "catalog") if item.args.get(part)))
        alias = alias.this if alias is not None else None
    columns = tuple((queries.names.column(name), None) for name in (alias, *at) if name is not None)
    return RelationSource(TableFunction((queries.expression(value, TRANSFORMATION),), label, columns), "", lateral=True)


def _own(node: exp.Expr) -> bool:
    return bool(node.args.get("order") or node.args.get("with_"))


def _without_alias(node: exp.Expr) -> exp.Expr:
    if type(node) is not exp.Subquery:
        return node
    bare = exp.Subquery(this=node.this)
    for key in ("with_", "order"):
        if node.args.get(key):
            bare.args[key] = node.args[key]
    return bare


def _table(queries: QueryContext, node: exp.Expr, alias: str, columns: tuple[str, ...]) -> RelationSource:
    pivots = translate_pivots(queries, node) if node.args.get("pivots") else ()
    return RelationSource(_relation_name(queries, node, alias), alias, columns, pivots=pivots)


def _relation_name(queries: QueryContext, node: exp.Expr, alias: str) -> TableName:
    name = queries.names.table(node)
    if alias and name.kind is NameKind.TABLE:
        queries.aliases.append((alias, str(name)))
    return name
