"""The fields of a view as SQL over its table: `${TABLE}`, `${field}` and Liquid of a known meaning are filled in.

A field that refers to other views is SQL in an explore alone, which joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from connectors.dashboards.queries import column_text, is_expression
from connectors.lookml._project import Block
from ingestion.dialects import Dialect
from ingestion.statements.routines.definition import quote_name

REFERENCE = re.compile(r"\$\{\s*([\w.]+)(?:::\w+)?\s*\}")
LIQUID = re.compile(r"\{\{|\{%")
_CONDITION = re.compile(r"\{%-?\s*condition\s+[\w.]+\s*-?%\}(.*?)\{%-?\s*endcondition\s*-?%\}", re.DOTALL)
_DATE = re.compile(r"\{%-?\s*date_(?:start|end)\s+[\w.]+\s*-?%\}")
_TABLE = "TABLE"
_MOST_REFERENCES = 40
_LONGEST = 100_000
_TIMEFRAMES = ("raw", "time", "date", "week", "month", "quarter", "year", "hour", "minute", "day_of_week", "month_name")
_INTERVALS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_AGGREGATES: Mapping[str, str] = {
    "average": "AVG",
    "average_distinct": "AVG",
    "count_distinct": "COUNT_DISTINCT",
    "list": "MAX",
    "max": "MAX",
    "median": "MEDIAN",
    "median_distinct": "MEDIAN",
    "min": "MIN",
    "percentile": "MEDIAN",
    "percentile_distinct": "MEDIAN",
    "sum": "SUM",
    "sum_distinct": "SUM",
}
_RUNNING = frozenset({"percent_of_total", "percent_of_previous", "running_total"})


def fill_known_liquid(sql: str) -> str:
    """A text without the Liquid that always means one thing: a condition over a column, a date."""
    return _DATE.sub("NULL", _CONDITION.sub(lambda match: f"({match[1].strip()}) IS NOT NULL", sql))


class UnresolvedField(Exception):
    """A field whose SQL cannot be told."""


@dataclass(frozen=True)
class ViewFields:
    """The fields of one view, whose table goes by `alias`."""

    view: Block
    alias: str
    dialect: Dialect
    _known: dict[str, str] = field(init=False, default_factory=dict)

    @cached_property
    def names(self) -> Mapping[str, tuple[str, Block]]:
        """By the name of each column: the kind of field that it is of, and the field."""
        found: dict[str, tuple[str, Block]] = {}
        for one in self.view.get("dimensions") or ():
            found[str(one["name"])] = ("dimension", one)
        for one in self.view.get("dimension_groups") or ():
            for name in _names_of_group(one):
                found[name] = ("group", one)
        for one in self.view.get("measures") or ():
            found[str(one["name"])] = ("measure", one)
        return found

    def sql(self, name: str) -> str:
        """What a column is made of. Raises UnresolvedField where that is not told by this view alone."""
        if name not in self._known:
            self._known[name] = self._sql(name, ())
        return self._known[name]

    def _sql(self, name: str, above: tuple[str, ...]) -> str:
        if name not in self.names or name in above or len(above) > _MOST_REFERENCES:
            raise UnresolvedField
        kind, one = self.names[name]
        deeper = (*above, name)
        if kind == "measure":
            text = self._measure(one, deeper)
        elif kind == "group" and one.get("type") == "duration":
            text = f"{self._fill(_text(one, 'sql_start'), deeper)} - {self._fill(_text(one, 'sql_end'), deeper)}"
        else:
            text = self._dimension(one, deeper)
        if len(text) > _LONGEST or not is_expression(text, self.dialect):
            raise UnresolvedField
        return text

    def _dimension(self, one: Block, above: tuple[str, ...]) -> str:
        if isinstance(one.get("sql"), str):
            return self._fill(one["sql"], above)
        case = one.get("case")
        if isinstance(case, dict):
            conditions = [self._fill(_text(when, "sql"), above) for when in case.get("whens") or ()]
            whens = " ".join(f"WHEN {condition} THEN ''" for condition in conditions)
            return f"CASE {whens} END"
        if one.get("sql_latitude"):
            return " || ".join(f"({self._fill(_text(one, key), above)})" for key in ("sql_latitude", "sql_longitude"))
        return f"{self.alias}.{column_text(str(one['name']), self.dialect)}"

    def _measure(self, one: Block, above: tuple[str, ...]) -> str:
        kind = str(one.get("type") or "string")
        given = one.get("sql")
        condition = " AND ".join(f"NOT {self._filled_field(name, above)} IS NULL" for name in _filtered_fields(one))
        if kind == "count":
            return f"COUNT(CASE WHEN {condition} THEN 1 END)" if condition else "COUNT(*)"
        if not isinstance(given, str):
            raise UnresolvedField
        filled = self._fill(given, above)
        if kind not in _AGGREGATES:
            return f"SUM({filled}) OVER ()" if kind in _RUNNING else filled
        value = f"CASE WHEN {condition} THEN {filled} END" if condition else filled
        function = _AGGREGATES[kind]
        return f"COUNT(DISTINCT {value})" if function == "COUNT_DISTINCT" else f"{function}({value})"

    def _filled_field(self, name: str, above: tuple[str, ...]) -> str:
        view, _, own = name.rpartition(".")
        if view not in ("", self.alias):
            raise UnresolvedField
        return f"({self._sql(own, above)})"

    def _fill(self, sql: str, above: tuple[str, ...]) -> str:
        text = fill_known_liquid(sql)
        if LIQUID.search(text):
            raise UnresolvedField

        def meaning(match: re.Match[str]) -> str:
            if match[1] == _TABLE:
                return self.alias
            return self._filled_field(match[1], above)

        return REFERENCE.sub(meaning, text)


def _text(block: Any, key: str) -> str:
    found = block.get(key) if isinstance(block, dict) else None
    if not isinstance(found, str):
        raise UnresolvedField
    return found


def _names_of_group(one: Block) -> Iterator[str]:
    name = str(one["name"])
    if one.get("type") == "duration":
        for interval in one.get("intervals") or _INTERVALS:
            yield f"{interval}s_{name}"
    else:
        for timeframe in one.get("timeframes") or _TIMEFRAMES:
            yield f"{name}_{timeframe}"


def _filtered_fields(measure: Block) -> Iterator[str]:
    """The fields of the filters of a measure, in both ways that they are written."""
    for group in measure.get("filters__all") or ():
        for entry in group if isinstance(group, list) else (group,):
            if isinstance(entry, dict):
                yield from (str(entry["field"]),) if "field" in entry else (str(name) for name in entry)
    for entry in measure.get("filters") or ():
        if isinstance(entry, dict):
            yield from (str(entry["field"]),) if "field" in entry else (str(name) for name in entry)


def field_text(alias: str, name: str, dialect: Dialect) -> str:
    """A field of a view that is joined under an alias."""
    return f"{quote_name(alias, dialect)}.{quote_name(name, dialect)}"
