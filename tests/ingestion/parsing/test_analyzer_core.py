"""The core of the analysis, statement by statement, without a schema and with one."""

from __future__ import annotations

from ingestion.model import Column, TableName
from ingestion.parsing.analyzer import analyze
from ingestion.parsing.sqlglot_tier import parse


def _flow(text: str, dialect: str = "postgres", **schemas: str):
    columns = {name: [Column(column) for column in names.split()] for name, names in schemas.items()}
    return analyze(parse(text, dialect), lambda name: columns.get(name.dotted)).flows[0]


def _direct(flow) -> set[tuple[str, str]]:
    return {
        (str(reference.sources[0]), output.name)
        for output in flow.outputs
        for reference in output.references
        if reference.certain and reference.transformation.type == "DIRECT"
    }


def test_insert_without_a_list_maps_by_position_when_the_target_is_known() -> None:
    flow = _flow("insert into x select a as q, b as p from t", x="p q")
    assert _direct(flow) == {("t.a", "p"), ("t.b", "q")}


def test_view_column_list_renames_by_position() -> None:
    flow = _flow("create view v (p, q) as select a, b + 1 from t")
    assert _direct(flow) == {("t.a", "p"), ("t.b", "q")}


def test_star_over_a_cte_over_an_unknown_table_stays_a_star_on_that_table() -> None:
    flow = _flow("create table x as with c as (select * from t) select c.* from c")
    assert [output.star.table for output in flow.outputs if output.star] == [TableName(("t",))]


def test_unprefixed_name_over_two_unknown_tables_keeps_both_candidates() -> None:
    flow = _flow("create table x as select a from t join u on t.i = u.i")
    (reference,) = flow.outputs[0].references
    assert {str(source) for source in reference.sources} == {"t.a", "u.a"}
