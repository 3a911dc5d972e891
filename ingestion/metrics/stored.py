"""The metrics of queries as JSON: what a state keeps of them, so that no later run takes them apart again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from ingestion.metrics.model import Dimension, EntityExpression, Measure, QueryMetrics, View, ViewField


def dumps(found: QueryMetrics) -> str:
    """The metrics of a query as text."""
    return json.dumps(asdict(found), separators=(",", ":"))


def loads(text: str) -> QueryMetrics:
    """The metrics that `dumps` made a text of. Raises ValueError where it is of another form."""
    try:
        return _query_metrics(json.loads(text))
    except (KeyError, TypeError) as error:
        raise ValueError("stored metrics of another form") from error


def _query_metrics(given: Mapping[str, Any]) -> QueryMetrics:
    view = given["view"]
    return QueryMetrics(
        View(**{**view, "tables": tuple(view["tables"])}),
        tuple(_measure(one) for one in given["measures"]),
        tuple(Dimension(**{**one, "expression": _expression(one["expression"])}) for one in given["dimensions"]),
        _expressions(given["filters"]),
        tuple(given["left_out"]),
        given["any_literal"],
        tuple((ViewField(*one), ViewField(*other)) for one, other in given["joins"]),
    )


def _measure(given: Mapping[str, Any]) -> Measure:
    parts = tuple(_measure(part) for part in given["parts"])
    return Measure(**{**given, "expression": _expression(given["expression"]), "parts": parts})


def _expressions(given: Iterable[Mapping[str, Any]]) -> tuple[EntityExpression, ...]:
    return tuple(map(_expression, given))


def _expression(given: Mapping[str, Any]) -> EntityExpression:
    return EntityExpression(**{**given, "fields": tuple(ViewField(*field) for field in given["fields"])})
