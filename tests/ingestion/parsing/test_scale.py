"""Shapes that grow without mercy in other analyzers: answered, and answered right."""

from __future__ import annotations

from tests.support.lineage_lines import analysed, column_lines


def test_two_thousand_branches_of_a_union() -> None:
    text = " union all ".join(f"select a{n} as a from t{n}" for n in range(2000))
    (flow,) = analysed(f"create table r as {text}").flows
    assert len(flow.outputs[0].references) == 2000
    assert len(flow.sources) == 2000


def test_a_diamond_of_with_items_has_paths_without_number_and_one_source() -> None:
    steps = ", ".join(f"c{n} as (select x.a, y.b from c{n - 1} x join c{n - 1} y on x.k = y.k)" for n in range(1, 60))
    lines = column_lines(
        f"with c0 as (select a, b, k from t), {steps.replace('x.a, y.b', 'x.a, y.b, x.k')} select a from c59"
    )
    assert lines == {"a = t.a", "* join t.k"}


def test_sixty_nested_subqueries() -> None:
    text = "select a from t"
    for number in range(60):
        text = f"select a from ({text}) s{number}"
    assert column_lines(text) == {"a = t.a"}
    text = "select a from t"
    for number in range(60):
        text = f"select a from t{number} where a in ({text})"
    assert "a = t59.a" in column_lines(text)


def test_a_chain_of_five_hundred_with_items() -> None:
    steps = ", ".join(f"c{n} as (select a + 1 as a from c{n - 1})" for n in range(1, 500))
    assert column_lines(f"with c0 as (select a from t), {steps} select a from c499") == {"a f t.a"}


def test_ten_stars_over_two_hundred_columns_each() -> None:
    schemas = {f"s{n}": " ".join(f"c{n}_{m}" for m in range(200)) for n in range(10)}
    joins = " ".join(f"join s{n} on s0.c0_0 = s{n}.c{n}_0" for n in range(1, 10))
    (flow,) = analysed(f"select * from s0 {joins}", schemas=schemas).flows
    assert len(flow.outputs) == 2000


def test_five_thousand_conditions_and_terms() -> None:
    conditions = " and ".join(f"c{n % 50} = {n}" for n in range(5000))
    assert len(column_lines(f"select a from t where {conditions}")) == 51
    terms = " + ".join(f"c{n % 50}" for n in range(5000))
    assert len(column_lines(f"select {terms} as x from t")) == 50


def test_a_megabyte_of_values() -> None:
    rows = ", ".join(f"({n}, 'abc{n}')" for n in range(50_000))
    assert column_lines(f"insert into t (a, b) values {rows}") == {"a is constant", "b is constant"}
