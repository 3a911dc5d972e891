"""The name that a system gives an output column that has none."""

from __future__ import annotations

from sqlglot import exp

from ingestion.dialects import POSTGRES, fold_column
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.relational.form import AnySlot, Expression, FieldSlot, Slot


def output_name(names: Names, node: exp.Expr, expression: Expression, number: int) -> str:
    """The name of output `number` (from 0): PostgreSQL names it by its function, Trino by number, most by its text."""
    while type(node) is exp.Paren:
        node = node.this
    if type(node) is exp.Dot or (type(node) is exp.JSONExtract and node.args.get("variant_extract")):
        return _field_name(names, node) or fold_column(plain_text(expression), names.dialect, quoted=False)
    if type(node) is exp.Column:
        return names.column_parts(node)[-1]
    dialect = names.dialect
    if dialect.named_by_function:
        return _by_function(names, node)
    if dialect.numbered_output:
        return dialect.numbered_output.format(number)
    return fold_column(plain_text(expression), names.dialect, quoted=False)


def plain_text(expression: Expression) -> str:
    """The expression's text over the names as written, cut at 200 characters."""
    slots = expression.slots
    return "".join(part if isinstance(part, str) else _slot_text(slots[part]) for part in expression.parts)[:200]


def _slot_text(slot: AnySlot) -> str:
    if isinstance(slot, Slot):
        return ".".join(slot.parts)
    if isinstance(slot, FieldSlot):
        return ".".join((plain_text(slot.value), *(slot.path if slot.shown else ())))
    return "(subquery)"


def _field_name(names: Names, node: exp.Expr) -> str:
    last = node.expression
    if type(last) is exp.JSONPath:
        keys = [part for part in last.expressions if type(part) is exp.JSONPathKey]
        return fold_column(str(keys[-1].this), names.dialect, quoted=False) if keys else ""
    return names.column(last) if type(last) is exp.Identifier else str(last.name)


def _by_function(names: Names, node: exp.Expr) -> str:
    inner = node
    while isinstance(inner, exp.Cast | exp.Window | exp.WithinGroup | exp.Filter | exp.Paren | exp.Bracket):
        inner = inner.this
    if type(inner) is exp.Column:
        return names.column_parts(inner)[-1]
    if type(inner) is exp.Dot:
        return _field_name(names, inner) or "?column?"
    if isinstance(inner, exp.Anonymous | exp.AnonymousAggFunc):
        return str(inner.this).lower() if isinstance(inner.this, str) else "?column?"
    if type(inner) is exp.Case:
        default = inner.args.get("default")
        named = _by_function(names, default) if default is not None and not isinstance(default, exp.Cast) else "case"
        return "case" if named == "?column?" else named
    if isinstance(inner, exp.Subquery | exp.Select):
        return _subquery_name(names, inner)
    if type(inner) is exp.GroupConcat:
        return names.dialect.list_aggregate
    if isinstance(inner, exp.Func) and not isinstance(inner, exp.Binary | exp.Connector):
        return _postgres_name(inner)
    if isinstance(node, exp.Cast):
        written = str(node.args["to"].sql(POSTGRES.sqlglot)).lower().partition("(")[0]
        return _POSTGRES_TYPES.get(written, written)
    return "?column?"


def _subquery_name(names: Names, node: exp.Expr) -> str:
    query = node
    while type(query) is exp.Subquery:
        query = query.this
    first = query.selects[0] if isinstance(query, exp.Query) and query.selects else None
    if first is None:
        return "?column?"
    if type(first) is exp.Alias:
        return names.column(first.args["alias"])
    return names.column_parts(first)[-1] if type(first) is exp.Column else _by_function(names, first)


_POSTGRES_NAMES: dict[type[exp.Expr], str] = {
    exp.JSONArrayAgg: "json_agg",
    exp.JSONObjectAgg: "json_object_agg",
    exp.Substring: "substring",
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "now",
    exp.StrToTime: "to_timestamp",
    exp.TimeToStr: "to_char",
    exp.Pow: "power",
    exp.Extract: "extract",
    exp.Trim: "btrim",
    exp.Exists: "exists",
    exp.Array: "array",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.DateTrunc: "date_trunc",
    exp.TimestampTrunc: "date_trunc",
    exp.Explode: "unnest",
    exp.ExplodingGenerateSeries: "generate_series",
    exp.StrPosition: "strpos",
    exp.Ceil: "ceil",
    exp.Stddev: "stddev",
    exp.Variance: "variance",
    exp.VariancePop: "var_pop",
}


_POSTGRES_TYPES = {
    "smallint": "int2",
    "int": "int4",
    "bigint": "int8",
    "boolean": "bool",
    "real": "float4",
    "double precision": "float8",
    "decimal": "numeric",
    "char": "bpchar",
}
"""What the catalog calls types, whose names unnamed casts take."""


def _postgres_name(node: exp.Func) -> str:
    own = str(node.sql_name()).replace("J_S_O_N_B", "JSONB").replace("J_S_O_N", "JSON").lower()
    return _POSTGRES_NAMES.get(type(node)) or own
