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


@pytest.mark.parametrize(
    "body", ["source: [s", "source: s", "measures: 3", "just text", "source: {a: b}\nmeasures: [x]"]
)
def test_what_is_no_metric_view_stays_as_it_is_written(body: str) -> None:
    text = f"CREATE VIEW v WITH METRICS LANGUAGE YAML AS $$\n{body}\n$$"
    assert [one.text for one in split(text, "databricks")] == [text]
    with pytest.raises(Unparsable):
        LineageParser(text, dialect="databricks")


@pytest.mark.parametrize("copied", ["COPY GRANTS", "COPY TAGS", "COPY GRANTS COPY TAGS", "copy tags"])
def test_what_a_clone_takes_along_besides_is_no_lineage(copied: str) -> None:
    parser = LineageParser(f"CREATE TABLE t CLONE s {copied}", dialect="snowflake")
    assert [str(table) for table in parser.source_tables] == ["s"]
