"""What the header of a SQLMesh model says."""

from __future__ import annotations

import pytest

from connectors.sqlmesh._headers import MalformedHeader, model_header


def test_a_header_is_read_whatever_is_in_its_strings_and_comments() -> None:
    header = model_header(
        "-- MODEL (name no.model)\n/* x */ model (\n  name mart.sales, -- a, comment)\n"
        "  kind INCREMENTAL_BY_TIME_RANGE (time_column (day, '%Y)'), batch_size 3),\n"
        "  description 'with ) and , in it', grains (bean, day),\n"
        "columns (bean TEXT, price DECIMAL(10, 2)),\n);\nSELECT 1"
    )
    assert header is not None
    assert (header.name, header.kind, header.grains) == ("mart.sales", "INCREMENTAL_BY_TIME_RANGE", ("bean", "day"))
    assert header.columns == {"bean": "TEXT", "price": "DECIMAL(10, 2)"}
    assert header.enabled


def test_a_header_that_says_little_is_a_view() -> None:
    header = model_header("MODEL (name x, enabled false)")
    assert header is not None
    assert (header.kind, header.grains, header.columns, header.enabled) == ("VIEW", (), {}, False)
    assert header.blueprints == ({},)


def test_blueprints_are_a_model_each() -> None:
    header = model_header("MODEL (name @n, blueprints ((n := a.b, c := 'x'), (n := a.d, c := 'y')))")
    assert header is not None
    assert header.blueprints == ({"n": "a.b", "c": "'x'"}, {"n": "a.d", "c": "'y'"})
    made = model_header("MODEL (name @n, blueprints @make())")
    assert made is not None
    assert made.blueprints is None


def test_what_has_no_header_or_half_of_one() -> None:
    assert model_header("SELECT model (1)") is None
    with pytest.raises(MalformedHeader):
        model_header("MODEL (name x, kind FULL")
