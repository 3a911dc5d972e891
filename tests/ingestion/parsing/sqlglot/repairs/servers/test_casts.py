"""Casts to types that sqlglot does not know."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import column_lines


@pytest.mark.parametrize("dialect", ["redshift", "postgres", "greenplum"])
@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("s.x::aclitem[]", "a f s.x"),
        ("(s.x::aclitem[])[1]", "a f s.x"),
        ("array_to_string(s.x::aclitem[], ',')", "a f s.x"),
        ("s.x::pg_catalog.oid", "a f s.x"),
        ("x::oid[]", "a f s.x"),
        ("cast(upper(s.x) as own.kind[])", "a f s.x"),
        ("'5'::abstime", "a is constant"),
    ],
)
def test_a_cast_to_any_type_keeps_its_source(dialect: str, value: str, line: str) -> None:
    assert column_lines(f"create view v as select {value} as a, s.y as b from s", dialect) == {line, "b = s.y"}
