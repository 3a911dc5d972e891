"""The laws of the algebra of roles, over all roles that there are."""

from __future__ import annotations

from itertools import product

import pytest

from ingestion.analysis.roles import (
    AGGREGATION,
    COMPOSED,
    CONDITIONAL,
    FILTER,
    IDENTITY,
    JOIN,
    MASKING,
    TRANSFORMATION,
    TRANSFORMATIONS,
    compose_transformations,
    is_direct,
    unite_roles,
)
from ingestion.model.lineage import Subtype, Transformation

ALL = [role | mark for role in range(len(Subtype)) for mark in (0, MASKING)]
DIRECT = [role for role in ALL if is_direct(role)]


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        (AGGREGATION, TRANSFORMATION, AGGREGATION),  # SELECT SUM(x) FROM (SELECT a + 1 AS x FROM t)
        (TRANSFORMATION, AGGREGATION, AGGREGATION),  # SELECT x + 1 FROM (SELECT SUM(a) AS x FROM t)
        (IDENTITY, FILTER, FILTER),  # SELECT x FROM (SELECT b AS x FROM t WHERE a > 0)
        (JOIN, FILTER, JOIN),  # ... JOIN (SELECT b AS x FROM t WHERE a > 0) d ON d.x = u.x
        (CONDITIONAL, AGGREGATION, CONDITIONAL),  # SELECT CASE WHEN x > 0 THEN c END FROM (SELECT SUM(a) AS x ...)
        (IDENTITY, TRANSFORMATION | MASKING, TRANSFORMATION | MASKING),  # SELECT x FROM (SELECT MD5(a) AS x FROM t)
    ],
)
def test_one_step_after_another(outer: int, inner: int, expected: int) -> None:
    assert COMPOSED[outer][inner] == expected


def test_composition_does_not_depend_on_where_the_steps_are_cut() -> None:
    for one, two, three in product(ALL, repeat=3):
        assert COMPOSED[COMPOSED[one][two]][three] == COMPOSED[one][COMPOSED[two][three]]


def test_taking_a_value_as_it_is_changes_no_role() -> None:
    for role in ALL:
        assert COMPOSED[IDENTITY][role] == COMPOSED[role][IDENTITY] == role


def test_the_same_step_twice_is_that_step() -> None:
    for role in ALL:
        assert COMPOSED[role][role] == role


def test_what_is_not_direct_or_was_masked_stays_so() -> None:
    for outer, inner in product(ALL, repeat=2):
        made = COMPOSED[outer][inner]
        assert is_direct(made) is (is_direct(outer) and is_direct(inner))
        assert made & MASKING == (outer | inner) & MASKING


def test_two_ways_to_a_value_are_one_whatever_their_order_and_repetition() -> None:
    for one, two, three in product(DIRECT, repeat=3):
        assert unite_roles(one, two) == unite_roles(two, one)
        assert unite_roles(unite_roles(one, two), three) == unite_roles(one, unite_roles(two, three))
        assert unite_roles(one, one) == unite_roles(IDENTITY, one) == one


def test_a_step_over_two_ways_is_the_step_over_each() -> None:
    for step, one, two in product(DIRECT, repeat=3):
        assert COMPOSED[step][unite_roles(one, two)] == unite_roles(COMPOSED[step][one], COMPOSED[step][two])
        assert COMPOSED[unite_roles(one, two)][step] == unite_roles(COMPOSED[one][step], COMPOSED[two][step])


def test_transformations_compose_as_their_roles() -> None:
    for outer, inner in product(ALL, repeat=2):
        assert (
            compose_transformations(TRANSFORMATIONS[outer], TRANSFORMATIONS[inner])
            == TRANSFORMATIONS[COMPOSED[outer][inner]]
        )


def test_each_transformation_is_one_role() -> None:
    assert {TRANSFORMATIONS[role] for role in ALL} == {
        Transformation(subtype, mark) for subtype in Subtype for mark in (False, True)
    }
