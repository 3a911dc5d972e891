"""Queries taken apart in this process, for tests that compare what comes out."""

from __future__ import annotations

from collections.abc import Mapping

from ingestion.dialects import dialect_of
from ingestion.metrics._normalizer import Comparison
from ingestion.metrics.inlining import Refusal
from ingestion.metrics.model import QueryMetrics
from ingestion.metrics.process import TableColumns, known_table
from ingestion.metrics.query import Context, query_metrics, query_of
from ingestion.parsing.sqlglot.tier import syntax_tree

KEY = b"a key of the tests"


def decomposed(sql: str, dialect: str = "postgres", known: Mapping[str, TableColumns] | None = None) -> QueryMetrics:
    """The query of a statement taken apart. Raises Refusal."""
    rules = dialect_of(dialect)
    query = query_of(syntax_tree(sql, rules))
    assert query is not None
    comparison = Comparison(KEY, rules.text_addition)
    return query_metrics(query, Context(rules, comparison, lambda table: known_table(known or {}, table), ()))


def refusal_of(sql: str, dialect: str = "postgres", known: Mapping[str, TableColumns] | None = None) -> str:
    """Why a query is not taken apart, "" where it is."""
    try:
        decomposed(sql, dialect, known)
    except Refusal as refusal:
        return refusal.reason
    return ""


def identities(sql: str, known: Mapping[str, TableColumns] | None = None) -> set[tuple[object, ...]]:
    """What the measures of a query are known by: view, measure, filters."""
    found = decomposed(sql, known=known)
    filters = frozenset(one.key for one in found.filters)
    return {(found.view.key, measure.expression.key, filters) for measure in found.measures}
