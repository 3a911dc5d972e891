"""Table functions of sqlglot's tree: UNNEST, EXPLODE, LATERAL VIEW, FLATTEN, file readers, users' functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.dialects.functions import TABLE_FUNCTIONS
from ingestion.model import NameKind, TableName
from ingestion.names.storage_paths import location
from ingestion.parsing.sqlglot_tier.expressions.context import QueryContext
from ingestion.parsing.sqlglot_tier.expressions.types import type_name
from ingestion.parsing.sqlglot_tier.names.function_tables import (
    function_elsewhere,
    query_of_view,
    table_elsewhere,
)
from ingestion.parsing.sqlglot_tier.names.identifiers import refuse_bound_function
from ingestion.parsing.sqlglot_tier.names.paths import function_as_written, function_name, is_reader, path_of
from ingestion.parsing.sqlglot_tier.queries.generators import generated_columns, generated_expressions
from ingestion.parsing.sqlglot_tier.queries.remote import is_remote, remote_relation
from ingestion.relational.form import Expression, Pivot, QuerySlot, RelationSource, TableFunction, TypeRule, Values
from ingestion.relational.roles import ATOM, TRANSFORMATION

_WIDE = (exp.VectorSearch, exp.AIForecast, exp.MLForecast)


def is_function(node: exp.Expr) -> bool:
    """Whether a table node holds a function rather than a name."""
    this = node.args.get("this")
    return this is None or (isinstance(this, exp.Func) and not isinstance(this, exp.Identifier))


def translate_function(
    queries: QueryContext, node: exp.Expr, alias: str, columns: tuple[str, ...], pivots: tuple[Pivot, ...]
) -> RelationSource:
    """The relation that a function makes, `FROM UNNEST(t.items) AS alias(columns)`; of a file's reader its path."""
    function = _function_in(node)
    refuse_bound_function(node, function, queries.names.dialect)
    if type(function) is exp.Anonymous and str(function.this).upper() in ("TABLE", "LATERAL") and function.expressions:
        function = function.expressions[0]
    if type(function) in (exp.Column, exp.Parameter) or (type(function) is exp.Identifier):
        return _array_relation(queries, function, alias, columns)
    made = generated_columns(function, queries.names.dialect)
    if made is not None:
        cells = Values((generated_expressions(queries, made),), made.names)
        return RelationSource(cells, alias, columns, lateral=True, pivots=pivots)
    elsewhere = _elsewhere(queries, function)
    if elsewhere is not None:
        return replace(elsewhere, alias=alias, columns=columns, pivots=pivots)
    if is_remote(function, queries.names.dialect):
        return replace(remote_relation(queries, function, alias, columns), pivots=pivots)
    name = function_name(function)
    path = path_of(function)
    if path is not None:
        return RelationSource(location(path), alias, columns, pivots=pivots)
    arguments: tuple[Expression, ...] = ()
    known = None
    if is_reader(function) or (isinstance(function, exp.Anonymous | exp.Dot) and name not in TABLE_FUNCTIONS):
        written = function.sql().partition("(")[0] if type(function) is exp.Dot else function_as_written(function)
        schemas = [str(node.args[part].name) for part in ("catalog", "db") if node.args.get(part) is not None]
        written = ".".join((*schemas, written))
        known = TableName((written.lower(),), written, NameKind.FUNCTION)
    if not is_reader(function):
        arguments = tuple(_argument(queries, argument, name) for argument in _arguments(node, function))
    own = _own_columns(queries, function)
    if name == "RANGE" and queries.names.dialect.range_column:
        own = ((queries.names.dialect.range_column, "BIGINT"),)
    several = type(function) is exp.Unnest or bool(node.args.get("rows_from"))
    aligned = len(columns) if several and len(arguments) > 1 else 0
    offset = node.args.get("offset") or function.args.get("offset")
    if isinstance(offset, exp.Identifier):
        columns = (*columns, queries.names.column(offset))
    source = TableFunction(arguments, name.lower(), own, known, aligned, known is not None or type(function) in _WIDE)
    return RelationSource(source, alias, columns, "", lateral=True, pivots=pivots)


def _function_in(node: exp.Expr) -> exp.Expr:
    """What stands in the place of a relation, without what is around it."""
    while type(node) in (exp.Table, exp.Lateral, exp.TableFromRows, exp.Paren):
        inner = node.args.get("this")
        if inner is None:
            break
        node = inner
    return node


def _elsewhere(queries: QueryContext, function: exp.Expr) -> RelationSource | None:
    """The relation behind ClickHouse's cluster(…), remote(…) and view(…)."""
    inner = function_elsewhere(function, queries.names)
    if inner is not None:
        function = inner
    query = query_of_view(function, queries.names)
    if query is not None:
        return RelationSource(queries.query(query))
    if inner is not None:
        return translate_function(queries, inner, "", (), ())
    named = table_elsewhere(function, queries.names)
    return None if named is None else RelationSource(named)


def _argument(queries: QueryContext, node: exp.Expr, function: str) -> Expression:
    """An argument; a query is one of rows, whose columns are its fields, but where a value is taken apart."""
    if not isinstance(node, exp.Query) or function in TABLE_FUNCTIONS:
        return queries.expression(node, TRANSFORMATION)
    return Expression((0,), (QuerySlot(queries.query(node), TRANSFORMATION, struct=True),), ATOM)


def _array_relation(queries: QueryContext, function: exp.Expr, alias: str, columns: tuple[str, ...]) -> RelationSource:
    return RelationSource(TableFunction((queries.expression(function, TRANSFORMATION),)), alias, columns, lateral=True)


def _arguments(node: exp.Expr, function: exp.Expr) -> list[exp.Expr]:
    if type(node) is exp.Table and node.args.get("rows_from"):
        return [table.this for table in node.args["rows_from"]]
    if type(function) is exp.Unnest:
        return list(function.expressions)
    if type(function) is exp.Dot:
        return [function]
    if type(function) is exp.XMLTable:
        return list(function.args.get("passing") or [])
    found: list[exp.Expr] = []
    for value in function.args.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, exp.Kwarg):
                found.append(item.expression)
            elif isinstance(item, exp.Expr) and not isinstance(
                item, exp.ColumnDef | exp.OpenJSONColumnDef | exp.JSONSchema
            ):
                found.append(item)
    return found


def _own_columns(queries: QueryContext, function: exp.Expr) -> tuple[tuple[str, TypeRule], ...]:
    definitions = function.args.get("columns") or function.args.get("expressions") or []
    schema = function.args.get("schema")
    if isinstance(schema, exp.Expr):
        definitions = schema.args.get("expressions") or []
    return tuple(_declared_columns(queries, definitions)) if isinstance(definitions, list) else ()


def _declared_columns(queries: QueryContext, definitions: list[exp.Expr]) -> Iterator[tuple[str, TypeRule]]:
    for item in definitions:
        if not isinstance(item, exp.ColumnDef | exp.OpenJSONColumnDef | exp.JSONColumnDef):
            continue
        nested = item.args.get("nested_schema")
        if nested is not None:
            yield from _declared_columns(queries, nested.expressions)
            continue
        this = item.this
        name = queries.names.column(this) if type(this) is exp.Identifier else str(item.name)
        kind = item.args.get("kind")
        yield name, type_name(kind) if type(kind) is exp.DataType else None
