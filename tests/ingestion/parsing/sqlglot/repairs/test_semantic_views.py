"""Snowflake's semantic views: their columns come from those of their tables, by what FACTS and METRICS say of them."""

from __future__ import annotations

import pytest

from ingestion import LineageParser, Unparsable
from ingestion.model.lineage import LineageType

_TABLES = "tables (o as shop.orders primary key (no), c as shop.buyers primary key (id), shop.days unique (d))"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("dimensions (c.name as buyer with synonyms = ('who') comment = 'of a buyer')", "buyers.BUYER>NAME"),
        (
            "facts (o.net as price * part) metrics (o.total as sum(o.net), o.most as max(net))",
            "orders.PART>MOST orders.PART>NET orders.PART>TOTAL orders.PRICE>MOST orders.PRICE>NET orders.PRICE>TOTAL",
        ),
        ("facts (private o.net as price) metrics (public o.total as sum(o.net))", "orders.PRICE>TOTAL"),
        (
            "dimensions (c.name as name, o.who as case when o.paid then c.name else o.guest end)",
            "buyers.NAME>NAME buyers.NAME>WHO orders.GUEST>WHO",
        ),
        (
            "metrics (o.total as sum(o.price), c.known as count(distinct c.mail), share as o.total / c.known)",
            "buyers.MAIL>KNOWN buyers.MAIL>SHARE orders.PRICE>SHARE orders.PRICE>TOTAL",
        ),
        ("dimensions (o.a as o.b, o.b as o.a)", "orders.A>A orders.B>B"),
        ("dimensions (days.y as year(d) labels = (filter), o.no as c.id)", "buyers.ID>NO days.D>Y"),
    ],
)
def test_a_semantic_view_has_its_columns_from_its_tables(columns: str, expected: str) -> None:
    parser = LineageParser(
        f"create or replace semantic view shop.v {_TABLES} relationships (r as o (id) references c) {columns}",
        dialect="snowflake",
    )
    direct = [edge for edge in parser.edges if edge.type is LineageType.DIRECT]
    shown = {f"{edge.source}>{edge.target.column}".removeprefix("shop.") for edge in direct}
    assert " ".join(sorted(shown)) == expected
    assert all(edge.certain and str(edge.target).startswith("shop.v.") for edge in direct)
    assert {str(table) for table in parser.source_tables} == {"shop.orders", "shop.buyers", "shop.days"}


def test_what_is_asked_of_a_semantic_view_is_followed_to_it() -> None:
    text = (
        "create semantic view v tables (t) metrics (t.n as sum(q)) comment = 'of t'; "
        "create table o as select * from semantic_view(v metrics t.n)"
    )
    edges = {(str(edge.source), str(edge.target)) for edge in LineageParser(text, dialect="snowflake").edges}
    assert {("t.Q", "v.N"), ("v.N", "o.N")} <= edges


def test_columns_that_are_made_of_others_through_many_are_followed() -> None:
    chain = ", ".join(f"t.m{number} as t.m{number + 1}" for number in range(9))
    text = f"create semantic view v tables (t) metrics ({chain})"
    assert {str(edge.source) for edge in LineageParser(text, dialect="snowflake").edges} == {"t.M9"}


@pytest.mark.parametrize(
    "metrics",
    [
        ", ".join(f"t.m{one} as {' + '.join(f't.m{other}' for other in range(9))}" for one in range(9)),
        ", ".join(f"t.m{number} as t.m{number + 1} + t.m{number + 1}" for number in range(40)),
    ],
)
def test_a_semantic_view_whose_columns_grow_without_end_is_refused(metrics: str) -> None:
    with pytest.raises(Unparsable, match="semantic view"):
        LineageParser(f"create semantic view v tables (t) metrics ({metrics})", dialect="snowflake")
