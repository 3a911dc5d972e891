"""A statement taken apart: which view it reads, what it measures, and by what it groups, filters and cuts time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ingestion.dialects import Dialect
from ingestion.dialects.keywords import DATE_PARTS
from ingestion.metrics._normalizer import Comparison, Normalizer, best_normalizers, keyed_digest
from ingestion.metrics._rendering import QueryRendering, query_rendering
from ingestion.metrics.collection import free_name
from ingestion.metrics.inlining import (
    WHOLE_QUERY,
    Block,
    KnownColumns,
    Leaf,
    QueryInliner,
    QueryRows,
    Refusal,
    Temporary,
    columns_in,
    has_aggregate,
    is_aggregate,
    leaf_number,
    numbers_in,
)
from ingestion.metrics.model import Dimension, EntityExpression, Measure, QueryMetrics, View, ViewField, masked_text
from ingestion.parsing.sqlglot.expressions.names import Names

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T].*)?")
_TIME_TYPE = re.compile(r"\s*(?:date|time|smalldatetime)", re.IGNORECASE)
_TIME_CUTS = (exp.DateTrunc, exp.TimestampTrunc, exp.DatetimeTrunc)
_CASTS = (exp.Cast, exp.TryCast)
_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In)
_NOW = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime)

NO_MEASURE = "no aggregate"
TIME = "time"
_NAME = re.compile(r"[^a-z0-9]+")
_FORMULA = "0"
"""The number of no relation: columns of it name the parts of a formula."""
_WRITES = (exp.Create, exp.Insert)
_PAIR = 2


# Which expressions are times, and how coarse they are.


def _grain_of(node: exp.Expr) -> str:
    """What a time is cut to: DATE_TRUNC('month', d) -> "month"; "" where it is no such cut."""
    if isinstance(node, _TIME_CUTS):
        unit = node.args.get("unit")
        return str(unit.name).lower() if isinstance(unit, exp.Expr) and unit.name.lower() in DATE_PARTS else ""
    if isinstance(node, exp.TsOrDsToDate | exp.Date) or (isinstance(node, _CASTS) and node.is_type("date")):
        return "day"
    return ""


def _is_time(node: exp.Expr, leaves: Mapping[int, Leaf]) -> bool:
    """Whether a key is a time by its cut, or by the type that its column is known to have."""
    if _grain_of(node):
        return True
    if type(node) is not exp.Column:
        return False
    known = leaves[leaf_number(node)].known
    return known is not None and bool(_TIME_TYPE.match(known.get(node.name, "")))


def _is_compared_with_time(column: exp.Expr, conditions: Iterable[exp.Expr]) -> bool:
    """Whether a condition compares the column itself with a date."""
    for condition in conditions:
        if isinstance(condition, _COMPARISONS):
            sides = [condition.this, *condition.expressions, condition.args.get("expression")]
            if column in sides and any(_is_date(side) for side in sides if isinstance(side, exp.Expr)):
                return True
    return False


def _is_date(node: exp.Expr) -> bool:
    found = list(node.walk())
    if any(type(one) is exp.Column for one in found):
        return False
    return any(
        isinstance(one, _NOW) or (type(one) is exp.Literal and one.is_string and _DATE.fullmatch(one.name))
        for one in found
    )


@dataclass(frozen=True, slots=True)
class Context:
    """What a statement is taken apart with: `comparison` says which texts are the same, `temporary` tables are inlined.

    `full_names` are the full names of tables by those that stand in the text.
    """

    dialect: Dialect
    comparison: Comparison
    known: KnownColumns
    temporary: Sequence[Temporary]
    full_names: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)


def query_of(tree: exp.Expr) -> exp.Expr | None:
    """The query of a statement: it itself, or what it puts into a table or view; None where it has none."""
    if isinstance(tree, _WRITES):
        query = tree.args.get("expression")
        with_ = tree.args.get("with_")
        if isinstance(query, exp.Query) and with_ is not None:
            raise Refusal("WITH before the statement that writes")
        return query if isinstance(query, exp.Query) else None
    return tree if isinstance(tree, exp.Query) else None


def query_metrics(query: exp.Expr, context: Context) -> QueryMetrics:
    """The query taken apart. Raises Refusal, with the reason, where that cannot be done with certainty."""
    inliner = inliner_of(context)
    rows = inliner.inline(query, context.temporary)
    return _InlinedQuery(rows, inliner.leaves, context).metrics()


def inliner_of(context: Context) -> QueryInliner:
    """What inlines the queries of a statement."""
    return QueryInliner(Names(context.dialect), context.known, context.full_names)


class _InlinedQuery:
    """An inlined query and its writers: one renders, the others compare."""

    def __init__(self, rows: QueryRows, leaves: Mapping[int, Leaf], context: Context) -> None:
        self._rows = rows
        self._leaves = leaves
        self._context = context
        self._rendering: QueryRendering = query_rendering(rows, leaves, context.dialect)
        self._writers: tuple[Normalizer, ...] = best_normalizers(rows, leaves, context.comparison)

    def metrics(self) -> QueryMetrics:
        measured = {
            name: value
            for name, value in self._rows.columns.items()
            if isinstance(value, exp.Expr) and self._is_measure(value)
        }
        reasons = tuple(value.reason for value in self._rows.columns.values() if isinstance(value, Refusal))
        if not measured and (reasons or not any(any(columns_in(key)) for key in self._rows.keys or ())):
            raise Refusal(reasons[0] if reasons else NO_MEASURE)
        measures = tuple(self._measure(name, value) for name, value in measured.items())
        return QueryMetrics(
            self._view(measured.values()),
            measures,
            tuple(self._dimensions()),
            tuple(self._filters()),
            reasons,
            self._context.comparison.any_literal,
            tuple(dict.fromkeys(self._joins(self._rows.block))),
        )

    def _joins(self, block: Block) -> Iterator[tuple[ViewField, ViewField]]:
        """The pairs of columns of base tables that conditions of joins have be equal."""
        conditions = [*block.conditions, *(part for _, on in block.attached for part in on)]
        for part in conditions:
            if type(part) is exp.EQ and type(part.this) is exp.Column and type(part.expression) is exp.Column:
                one, other = (list(self._fields(side)) for side in (part.this, part.expression))
                if len(numbers_in(part)) == len((*one, *other)) == len({*one, *other}) == _PAIR:
                    yield one[0], other[0]
        for inner, _ in block.attached:
            yield from self._joins(inner)

    def _is_measure(self, value: exp.Expr) -> bool:
        """Whether an output has an aggregate, its own or one of a query that it is read from."""
        return has_aggregate(value, self._context.dialect) or self._has_total(value)

    def _has_total(self, value: exp.Expr) -> bool:
        return any(self._is_total(column) for column in columns_in(value))

    def _is_total(self, column: exp.Expr) -> bool:
        rows = self._leaves[leaf_number(column)].rows
        value = rows.columns.get(column.name) if rows is not None else None
        return isinstance(value, exp.Expr) and has_aggregate(value, self._context.dialect)

    def _expression(self, value: exp.Expr) -> EntityExpression:
        text = min(writer.expression(value) for writer in self._writers)
        key = keyed_digest(self._context.comparison.key, text)
        return EntityExpression(self._rendering.text(value), key, tuple(self._fields(value)), self._is_measure(value))

    def _fields(self, value: exp.Expr) -> Iterator[ViewField]:
        """The columns of base tables in an expression, those behind inner queries too, each once."""
        yield from dict.fromkeys(self._all_fields(value))

    def _all_fields(self, value: exp.Expr) -> Iterator[ViewField]:
        for column in columns_in(value):
            leaf = self._leaves[leaf_number(column)]
            if leaf.table is not None:
                yield ViewField(str(leaf.table), column.name)
            elif leaf.rows is not None:
                wanted = (
                    [leaf.rows.columns.get(column.name)] if column.name != WHOLE_QUERY else leaf.rows.columns.values()
                )
                for inner in wanted:
                    if isinstance(inner, exp.Expr):
                        yield from self._all_fields(inner)

    def _measure(self, name: str, value: exp.Expr) -> Measure:
        return replace(self._own_measure(name, value), over_groups=self._has_total(value))

    def _own_measure(self, name: str, value: exp.Expr) -> Measure:
        expression = self._expression(value)
        given = name if not name.startswith("#") else _name_of(expression.text)
        if not is_aggregate(value, self._context.dialect):
            parts, formula = self._parts(value)
            return Measure(given, expression, composite=True, parts=parts, formula=formula)
        inner: object = value.args.get("this")
        function = value.sql_names()[0] if isinstance(value, exp.Func) else ""
        if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1:
            inner, function = inner.expressions[0], f"{function}_distinct"
        if isinstance(inner, exp.Distinct) or not isinstance(inner, exp.Expr):
            return Measure(given, expression)
        if isinstance(value, exp.Anonymous) or not _is_plain(value):
            return Measure(given, expression)
        return Measure(given, expression, function.lower(), self._rendering.text(inner))

    def _parts(self, value: exp.Expr) -> tuple[tuple[Measure, ...], str]:
        """The aggregates of an expression, and what it makes of them by their names; none where other columns count."""
        formula = value.copy()
        parts: dict[str, Measure] = {}
        taken: set[str] = set()
        for node in list(formula.find_all(exp.AggFunc)):
            part = self._measure("#", node)
            if part.expression.key not in parts:
                parts[part.expression.key] = replace(part, name=free_name(part.name, taken))
            part = parts[part.expression.key]
            node.replace(exp.Column(this=exp.Identifier(this=part.name), table=exp.Identifier(this=_FORMULA)))
        if any(column.args["table"].name != _FORMULA for column in columns_in(formula)) or not parts:
            return (), ""
        return tuple(parts.values()), self._rendering.text(formula)

    def _view(self, measured: Iterable[exp.Expr]) -> View:
        block = self._rows.block
        text = self._writers[0].block(block, with_filters=False)
        tables = tuple(dict.fromkeys(self._tables(self._rows)))
        found = {number for value in measured for number in numbers_in(value)} or {
            leaf.number for leaf in block.leaves()
        }
        first = self._leaves[min(found)] if found else None
        name = "" if first is None else first.alias or (first.table.table if first.table is not None else "query")
        sql = masked_text(f"SELECT * FROM {self._rendering.relations(block)}") if block.members else ""
        return View(name, keyed_digest(self._context.comparison.key, text), sql, tables)

    def _tables(self, rows: QueryRows) -> Iterator[str]:
        for leaf in rows.block.leaves():
            if leaf.table is not None:
                yield str(leaf.table)
            elif leaf.rows is not None:
                yield from self._tables(leaf.rows)

    def _filter_parts(self) -> Iterator[exp.Expr]:
        yield from (part for part in self._rows.block.conditions if len(numbers_in(part)) <= 1)
        yield from self._rows.having

    def _filters(self) -> Iterator[EntityExpression]:
        found = {expression.key: expression for expression in map(self._expression, self._filter_parts())}
        yield from sorted(found.values(), key=lambda one: one.text)

    def _dimensions(self) -> Iterator[Dimension]:
        """Grouping keys, then the columns that filters use; the only time is called so."""
        found: dict[str, Dimension] = {}
        keys = self._rows.keys
        if keys is None:  # rows of groups that were joined: what is no measure tells them apart
            keys = [
                value
                for value in self._rows.columns.values()
                if isinstance(value, exp.Expr) and not self._is_measure(value) and any(columns_in(value))
            ]
        for key in keys:
            if any(columns_in(key)):
                one = self._dimension(key)
                found.setdefault(one.expression.key, replace(one, groups=True))
        for part in self._filter_parts():
            if has_aggregate(part, self._context.dialect):
                continue
            for column in columns_in(part):
                if column.name == WHOLE_QUERY or self._is_total(column):
                    continue
                one = self._dimension(column)
                known = found.get(one.expression.key, one)
                found[one.expression.key] = replace(known, filters=True)
        times = [one for one in found.values() if one.time]
        fields = {one.expression.fields for one in times}
        for one in found.values():
            yield replace(one, name=TIME) if one.time and len(fields) == 1 and not one.grain else one

    def _dimension(self, key: exp.Expr) -> Dimension:
        expression = self._expression(key)
        names = [name for name, value in self._rows.columns.items() if value == key and not name.startswith("#")]
        grain = _grain_of(key)
        time = _is_time(key, self._leaves) or any(
            _is_compared_with_time(column, self._rows.block.conditions) for column in columns_in(key)
        )
        name = names[0] if names else key.name or _name_of(expression.text)
        return Dimension(name, expression, time=time and (type(key) is exp.Column or bool(grain)), grain=grain)


def _name_of(text: str) -> str:
    """A name for what has none: that of its text in plain characters."""
    return _NAME.sub("_", text.lower()).strip("_")


def _is_plain(aggregate: exp.Expr) -> bool:
    """Whether nothing but its argument says what an aggregate gives: no order, no second argument."""
    return all(name in ("this", "big_int") for name, value in aggregate.args.items() if value)
