"""Which expressions are times, and how coarse they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sqlglot import exp

from ingestion.decomposition.folding.rows import Leaf, leaf_number
from ingestion.parsing.sqlparse_tier.words import DATE_PARTS

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T].*)?")
_TIME_TYPE = re.compile(r"\s*(?:date|time|smalldatetime)", re.IGNORECASE)
_TIME_CUTS = (exp.DateTrunc, exp.TimestampTrunc, exp.DatetimeTrunc)
_CASTS = (exp.Cast, exp.TryCast)
_COMPARISONS = (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In)
_NOW = (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentDatetime)


def grain_of(node: exp.Expr) -> str:
    """What a time is cut to: DATE_TRUNC('month', d) -> "month"; "" where it is no such cut."""
    if isinstance(node, _TIME_CUTS):
        unit = node.args.get("unit")
        return str(unit.name).lower() if isinstance(unit, exp.Expr) and unit.name.upper() in DATE_PARTS else ""
    if isinstance(node, exp.TsOrDsToDate | exp.Date) or (isinstance(node, _CASTS) and node.is_type("date")):
        return "day"
    return ""


def is_time(node: exp.Expr, leaves: Mapping[int, Leaf]) -> bool:
    """Whether a key is a time by its cut, or by the type that its column is known to have."""
    if grain_of(node):
        return True
    if type(node) is not exp.Column:
        return False
    known = leaves[leaf_number(node)].known
    return known is not None and bool(_TIME_TYPE.match(known.get(node.name, "")))


def is_compared_with_time(column: exp.Expr, conditions: Iterable[exp.Expr]) -> bool:
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
