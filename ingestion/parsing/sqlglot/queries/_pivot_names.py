"""How BigQuery names the columns of a PIVOT whose values have no alias: names that need no quotes.

Found by ZetaSQL, its analyzer: PIVOT(SUM(a) FOR b IN (1, -2, TRUE, DATE '2024-05-01')) has the columns `_1`, `minus_2`,
`true` and `_2024_05_01`, where sqlglot has `1`, `2`, a nameless one and `2024-05-01`.
"""

from __future__ import annotations

import re

from sqlglot import exp

_DATE = re.compile(r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})")
_NUMBER = re.compile(r"(?P<sign>-?)0*(?P<whole>[0-9]*)(?:\.(?P<rest>[0-9]*?)0*)?")


def named_by_values(pivot: exp.Expr) -> list[exp.Expr]:
    """A name for each value and aggregate; sqlglot's where the value's is not known here, as that of a struct."""
    titles: list[exp.Expr] = pivot.args.get("columns") or []
    aggregates = pivot.args.get("expressions") or []
    fields = pivot.args.get("fields") or []
    values = [value for field in fields for value in field.expressions]
    if len(fields) != 1 or len(titles) != len(values) * len(aggregates):
        return titles
    prefixes = [f"{one.alias}_" if type(one) is exp.Alias else "" for one in aggregates]
    names = [_column_name(prefix, value) for value in values for prefix in prefixes]
    return [
        title if name is None else exp.to_identifier(name, quoted=True)
        for title, name in zip(titles, names, strict=True)
    ]


def _column_name(prefix: str, value: exp.Expr) -> str | None:
    """The column of one value; None where sqlglot names it right, or nobody can."""
    negative = type(value) is exp.Neg
    literal = value.this if negative else value
    if type(literal) is exp.Boolean:
        return prefix + ("true" if literal.this else "false")
    if type(literal) is exp.Literal and not literal.is_string:
        return _of_number(prefix, f"{'-' if negative else ''}{literal.this}")
    if type(literal) is exp.Literal and not literal.this:
        return f"{prefix}_empty_string_value" if prefix else "empty_string_value"
    if type(literal) is not exp.Cast or type(literal.this) is not exp.Literal:
        return None
    if literal.is_type("date"):
        date = _DATE.fullmatch(literal.this.name)
        return prefix + ("" if prefix else "_") + _of_date(date) if date is not None else None
    return _of_number(prefix, literal.this.name) if literal.is_type("decimal", "bigdecimal") else None


def _of_date(date: re.Match[str]) -> str:
    return f"{date['year']}_{date['month']:0>2}_{date['day']:0>2}"


def _of_number(prefix: str, text: str) -> str | None:
    number = _NUMBER.fullmatch(text)
    if number is None:
        return None
    digits = (number["whole"] or "0") + (f"_point_{number['rest']}" if number["rest"] else "")
    sign = "minus_" if number["sign"] and digits != "0" else ""
    return prefix + ("" if prefix or sign else "_") + sign + digits
