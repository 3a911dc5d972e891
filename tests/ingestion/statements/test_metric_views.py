"""Databricks' metric views: YAML that says what each column of a view is made of."""

from __future__ import annotations

import pytest

from ingestion import LineageParser, Unparsable
from ingestion.model.lineage import LineageType
from ingestion.statements import split

_SOURCE = """
version: 1.1
source: shop.sales.orders
filter: state = 'paid'
joins:
  - name: buyer
    source: shop.sales.buyers
    on: source.buyer_no = buyer.no
    joins:
      - name: country
        source: SELECT code, title FROM shop.sales.countries
        on: buyer.code = country.code
  - name: branch
    source: shop.sales.branches
    using: [branch_no]
dimensions:
  - name: Month
    expr: date_trunc('month', ordered)
  - name: Buyer
    expr: upper(buyer.label)
  - name: Country
    expr: buyer.country.title
measures:
  - name: Total
    expr: SUM(source.price) FILTER (WHERE label = 'buyer.no')
  - name: orders
    expr: COUNT(DISTINCT no)
  - name: Share
    expr: MEASURE(`Total`) / measure(orders)
"""
_EXPECTED = {
    "orders.ordered>month",
    "buyers.label>buyer",
    "countries.title>country",
    "orders.price>total",
    "orders.no>orders",
    "orders.price>share",
    "orders.no>share",
}


@pytest.mark.parametrize(
    "head",
    [
        "CREATE OR REPLACE VIEW shop.v WITH METRICS LANGUAGE YAML COMMENT 'as a view' AS",
        "create view if not exists shop.v\nwith  metrics\nlanguage yaml as",
        "ALTER VIEW shop.v AS",
    ],
)
def test_a_metric_view_has_its_columns_from_its_source_and_what_is_joined(head: str) -> None:
    parser = LineageParser(f"{head} $${_SOURCE}$$", dialect="databricks")
    direct = [edge for edge in parser.edges if edge.type is LineageType.DIRECT]
    assert {f"{edge.source}>{edge.target.column}".removeprefix("shop.sales.") for edge in direct} == _EXPECTED
    assert all(edge.certain for edge in parser.edges)
    assert {str(table) for table in parser.source_tables} == {
        f"shop.sales.{table}" for table in ("orders", "buyers", "countries", "branches")
    }
    decide = {str(edge.source) for edge in parser.edges if edge.type is not LineageType.DIRECT}
    assert {"shop.sales.orders.state", "shop.sales.buyers.no", "shop.sales.branches.branch_no"} <= decide


def test_what_is_asked_of_a_metric_view_is_followed_to_it() -> None:
    reading = "CREATE TABLE o AS SELECT MEASURE(Total) AS t FROM v"
    text = f"CREATE VIEW v WITH METRICS LANGUAGE YAML AS $${_SOURCE}$$; {reading}"
    edges = {(str(edge.source), str(edge.target)) for edge in LineageParser(text, dialect="databricks").edges}
    assert {("shop.sales.orders.price", "v.total"), ("v.total", "o.t")} <= edges


def test_measures_that_are_made_of_themselves_come_to_an_end() -> None:
    measures = ("a, expr: MEASURE(a) * MEASURE(b) + sum(x)", "b, expr: MEASURE(a) + MEASURE(a)")
    body = "\n".join(["source: s", "measures:", *(f"  - {{name: {measure}}}" for measure in measures)])
    (only,) = split(f"CREATE VIEW v WITH METRICS LANGUAGE YAML AS $$\n{body}\n$$", "databricks")
    assert len(only.text) < 100_000


_READABLE = "source: s\ndimensions: [{name: d, expr: d}]\n"
_BEHIND = "CREATE TABLE a AS SELECT b FROM c"


@pytest.mark.parametrize("head", ["CREATE VIEW v WITH METRICS LANGUAGE YAML", "ALTER VIEW v"])
@pytest.mark.parametrize(
    "body",
    [
        "source: [s",
        "source: s",
        "measures: 3",
        "just text",
        "source: {a: b}\nmeasures: [x]",
        f"{_READABLE}x: {'[' * 5_000}",
        f"{_READABLE}joins: &j\n  - {{name: b, source: t, joins: *j}}",
        f"{_READABLE}filter: d = 'x",
        f"{_READABLE}filter: d) OR (d",
        f"{_READABLE}joins: [{{name: b c, source: t}}]",
        f"{_READABLE}joins: [{{source: t}}]",
        f"{_READABLE}# {'long' * 30_000}",
        "source: s\nmeasures: [{name: a, expr: measure(a)}]",
        "source: s\nmeasures: ["
        + ", ".join(f"{{name: m{n}, expr: '{' + '.join(300 * [f'measure(m{n + 1})'])}'}}" for n in range(9))
        + "]",
    ],
)
def test_what_is_no_metric_view_is_refused_alone(body: str, head: str) -> None:
    text = f"{head} AS $$\n{body}\n$$"
    assert [one.text for one in split(text, "databricks")] == [text]
    with pytest.raises(Unparsable, match="YAML of the metric view"):
        LineageParser(text, dialect="databricks")
    beside = LineageParser(f"{text}; {_BEHIND}", dialect="databricks")
    assert [str(edge.source) for edge in beside.edges] == ["c.b"]
    assert len(beside.failures) == 1


def _edges(body: str) -> set[str]:
    text = f"CREATE VIEW v WITH METRICS LANGUAGE YAML AS $$\n{body}\n$$"
    edges = LineageParser(text, dialect="databricks").edges
    return {f"{edge.source}>{edge.target.column}" for edge in edges if edge.type is LineageType.DIRECT}


def test_comments_in_a_metric_view_hide_nothing() -> None:
    body = """
source: s -- orders
filter: paid -- only
joins:
  - {name: b, source: t -- buyers, on: source.no = b.no -- who
    }
dimensions:
  - {name: d, expr: d -- the day}
  - {name: e, expr: e /* of b */ + b.f}
measures:
  - {name: m, expr: sum(x) -- all}
  - {name: n, expr: measure(m) * 2}
"""
    assert _edges(body) == {"s.d>d", "s.e>e", "t.f>e", "s.x>m", "s.x>n"}


def test_values_of_a_metric_view_are_taken_as_they_are_written() -> None:
    assert _edges(f"{_READABLE}x: 2024-13-45\ny: !!timestamp z") == {"s.d>d"}


def test_braces_in_a_joined_source_are_text() -> None:
    joins = """joins: [{name: b, source: "select a, k from t where c = '{y}'", on: source.k = b.k}]"""
    assert _edges(f"source: s\n{joins}\ndimensions: [{{name: d, expr: b.a}}]") == {"t.a>d"}


def test_other_dialects_have_no_metric_views() -> None:
    text = f"CREATE VIEW v WITH METRICS LANGUAGE YAML AS $$\n{_READABLE}\n$$"
    assert [one.text for one in split(text, "postgres")] == [text]


@pytest.mark.parametrize("copied", ["COPY GRANTS", "COPY TAGS", "COPY GRANTS COPY TAGS", "copy tags"])
def test_what_a_clone_takes_along_besides_is_no_lineage(copied: str) -> None:
    parser = LineageParser(f"CREATE TABLE t CLONE s {copied}", dialect="snowflake")
    assert [str(table) for table in parser.source_tables] == ["s"]
