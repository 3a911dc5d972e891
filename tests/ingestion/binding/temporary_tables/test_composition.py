"""Two steps of lineage make one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.binding.temporary_tables import FlowSources, RelationColumn, RelationReference, compose, merge_contents
from ingestion.model.lineage import Subtype, Transformation

DIRECT = (Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION)


def reference(subtype: Subtype, expression: str = "", masking: bool = False) -> RelationReference:
    return RelationReference((RelationColumn(1, "a"),), Transformation(subtype, masking), expression)


def composed(outer: RelationReference, inner: RelationReference) -> RelationReference:
    return compose(outer, "c", inner, lambda number: f"t{number}")


@pytest.mark.parametrize(
    ("inner", "outer", "whole"),
    [
        (Subtype.IDENTITY, Subtype.IDENTITY, Subtype.IDENTITY),
        (Subtype.TRANSFORMATION, Subtype.IDENTITY, Subtype.TRANSFORMATION),
        (Subtype.AGGREGATION, Subtype.TRANSFORMATION, Subtype.AGGREGATION),
        (Subtype.IDENTITY, Subtype.FILTER, Subtype.FILTER),
        (Subtype.CONDITIONAL, Subtype.AGGREGATION, Subtype.CONDITIONAL),
        (Subtype.WINDOW, Subtype.JOIN, Subtype.JOIN),
    ],
)
def test_the_strongest_direct_step_counts_and_an_indirect_one_makes_all_indirect(
    inner: Subtype, outer: Subtype, whole: Subtype
) -> None:
    assert composed(reference(outer), reference(inner)).transformation.subtype is whole


def test_expressions_nest_without_needless_brackets() -> None:
    inner = reference(Subtype.TRANSFORMATION, "s.a + s.b")
    assert composed(reference(Subtype.AGGREGATION, "SUM(stage.c)"), inner).expression == "SUM(s.a + s.b)"
    assert composed(reference(Subtype.TRANSFORMATION, "stage.c * ?"), inner).expression == "(s.a + s.b) * ?"
    assert composed(reference(Subtype.IDENTITY), inner).expression == "s.a + s.b"


def test_a_column_taken_as_it_is_lends_its_name() -> None:
    assert composed(reference(Subtype.TRANSFORMATION, "UPPER(stage.c)"), reference(Subtype.IDENTITY)).expression == (
        "UPPER(t1.a)"
    )


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(DIRECT), st.integers(0, 3)), max_size=6))
def test_merging_contents_does_not_depend_on_order_or_repetition(writes: list[tuple[str, Subtype, int]]) -> None:
    contents = [
        FlowSources(
            {name: frozenset({reference(subtype)})}, frozenset(), frozenset({number}), frozenset(), frozenset(), 0
        )
        for name, subtype, number in writes
    ]
    assert merge_contents(contents) == merge_contents([*reversed(contents), *contents])
