"""The chain behind a column, over a graph document."""

from __future__ import annotations

from ingestion.graph import lineage_graph
from ingestion.scripts.explanation import Explanation, columns_called, explain

JOB = [
    "create temporary table stage as select id, price * quantity as amount from raw.sales where status = 'secret'",
    "insert into mart.daily (total, n) select sum(amount), 7 from stage",
    "insert into mart.daily (total) select amount from raw.corrections where amount > 3",
]


def _explained(column: str, statements: list[str]) -> Explanation:
    graph = lineage_graph(statements, "postgres", keep_temporary=True)
    (name,) = columns_called(graph.document, column)
    return explain(graph.document, name)


def _hops_of(found: Explanation, column: str) -> set[tuple[str, str, str]]:
    return {(hop.source, hop.subtype, hop.expression) for hop in found.hops[column]}


def test_each_hop_has_its_source_its_part_and_its_expression() -> None:
    found = _explained("mart.daily.total", JOB)
    assert _hops_of(found, "mart.daily.total") == {
        ("stage.amount", "AGGREGATION", "SUM(stage.amount)"),
        ("raw.corrections.amount", "IDENTITY", ""),
        ("raw.corrections.amount", "FILTER", "raw.corrections.amount > ?"),
    }
    assert _hops_of(found, "stage.amount") == {
        ("raw.sales.price", "TRANSFORMATION", "raw.sales.price * raw.sales.quantity"),
        ("raw.sales.quantity", "TRANSFORMATION", "raw.sales.price * raw.sales.quantity"),
        ("raw.sales.status", "FILTER", "raw.sales.status = ?"),
    }
    assert found.hops["raw.sales.price"] == ()


def test_base_columns_are_told_apart_by_whether_their_values_arrive() -> None:
    direct, indirect = _explained("mart.daily.total", JOB).base_columns()
    assert set(direct) == {"raw.corrections.amount", "raw.sales.price", "raw.sales.quantity"}
    assert indirect == ("raw.sales.status",)


def test_each_hop_names_its_masked_statement() -> None:
    found = _explained("mart.daily.total", JOB)
    texts = [statement.text for statement in found.statements]
    assert len(texts) == 3
    assert not any("secret" in text for text in texts)
    (hop,) = (hop for hop in found.hops["stage.amount"] if hop.source == "raw.sales.price")
    assert [texts[number - 1] for number in hop.statements] == [JOB[0].replace("'secret'", "?")]


def test_what_filters_one_statement_has_no_say_in_columns_that_it_does_not_give() -> None:
    found = _explained("mart.daily.n", [JOB[0], "insert into mart.daily (n) select id from stage", JOB[2]])
    assert {hop.source for hop in found.hops["mart.daily.n"]} == {"stage.id"}


def test_two_statements_that_make_a_column_alike_are_one_hop() -> None:
    twice = ["create view v as select a from t where b = 1", "insert into v (a) select a from t"]
    (hop,) = (hop for hop in _explained("v.a", twice).hops["v.a"] if hop.direct)
    assert len(hop.statements) == 2


def test_tables_that_feed_each_other_end() -> None:
    circle = ["insert into a (x) select y from b", "insert into b (y) select x + z from a"]
    found = _explained("a.x", circle)
    assert set(found.hops) == {"a.x", "b.y", "a.z"}
    assert found.base_columns() == (("a.z",), ())


def test_a_long_chain_is_followed_to_its_end() -> None:
    chain = [f"create view v{number} as select c from {f'v{number - 1}' if number else 't'}" for number in range(1500)]
    assert _explained("v1499.c", chain).base_columns() == (("t.c",), ())


def test_a_part_knows_where_the_whole_begins_and_how_much_of_it_is_left_out() -> None:
    whole = _explained("mart.daily.total", JOB)
    near = whole.within(1, direct=True)
    assert {name: {hop.source for hop in hops} for name, hops in near.hops.items()} == {
        "mart.daily.total": {"stage.amount", "raw.corrections.amount"},
        "stage.amount": set(),
        "raw.corrections.amount": set(),
    }
    assert near.base_columns() == whole.base_columns()
    assert (near.left_out, near.to_json()["left_out"]) == (4, 4)
    for hop in near.hops["mart.daily.total"]:
        assert hop.source.split(".")[-2] in near.statements[hop.statements[0] - 1].text
    assert whole.within(0, direct=False) is whole
    assert len(whole.within(0, direct=True).hops) == 5


def test_a_name_is_found_by_its_end_exact_case_first() -> None:
    graph = lineage_graph(['create view s.v as select a as "Total", b as total from t'], "postgres")
    assert columns_called(graph.document, "v.total") == ("s.v.total",)
    assert columns_called(graph.document, "V.TOTAL") == ("s.v.Total", "s.v.total")
    assert columns_called(graph.document, "al") == ()


def test_the_json_has_chain_bases_and_statements() -> None:
    document = _explained("v.m", ["create view v as select max(a) as m from t where b > 1"]).to_json()
    assert document["column"] == "v.m"
    assert document["base_columns"] == {"direct": ["t.a"], "indirect": ["t.b"]}
    (step,) = document["chain"]
    assert [hop["source"] for hop in step["direct"]] == ["t.a"]
    assert [hop["subtype"] for hop in step["indirect"]] == ["FILTER"]
    assert document["statements"] == [
        {
            "number": 1,
            "sql": "create view v as select max(a) as m from t where b > ?",
            "producer": "view",
            "parser": "sqlglot",
            "jobs": [],
        }
    ]
