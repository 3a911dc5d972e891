"""Columns: standardised types, paths, merging definitions."""

from __future__ import annotations

import pytest

from connectors.catalog.store.database import dumps
from connectors.catalog.store.entities import columns


@pytest.mark.parametrize(
    ("written", "standard"),
    [
        ("INT", "INTEGER"),
        ("int8", "INTEGER"),
        ("number(10,2)", "DECIMAL"),
        ("character varying(20)", "STRING"),
        ("text[]", "ARRAY"),
        ("array<int>", "ARRAY"),
        ("struct<a:int>", "STRUCT"),
        ("timestamp without time zone", "DATETIME"),
        ("TIMESTAMP_LTZ", "TIMESTAMP"),
        ("", "UNKNOWN"),
        ("hyperlog", "UNKNOWN"),
    ],
)
def test_types_mean_the_same_whatever_a_platform_calls_them(written: str, standard: str) -> None:
    assert columns.standard_type(written) == standard


def test_shapes_carry_order_type_and_meaning() -> None:
    column = {"name": "d", "dataType": "DECIMAL", "precision": 12, "scale": 2}
    assert columns.shape(3, column) == {"position": 3, "dataType": "DECIMAL(12,2)", "standardType": "DECIMAL"}


def test_nested_columns_are_walked_after_their_parent() -> None:
    nested = [{"name": "a.b", "children": [{"name": "c"}, {"name": "d"}]}, {"name": "e"}]
    assert [(path, position) for path, position, _ in columns.walk(nested)] == [
        ('"a.b"', 1),
        ('"a.b".c', 1),
        ('"a.b".d', 2),
        ("e", 2),
    ]


def test_merging_adds_and_completes_but_loses_nothing() -> None:
    known = [{"name": "a", "dataType": "INT", "description": "kept"}, {"name": "b", "dataType": "UNKNOWN"}]
    given = [{"name": "B", "dataType": "DATE"}, {"name": "A", "dataType": "UNKNOWN"}, {"name": "c", "dataType": "INT"}]
    assert columns.merge(known, given) == [
        {"name": "a", "dataType": "INT", "description": "kept"},
        {"name": "b", "dataType": "DATE"},
        {"name": "c", "dataType": "INT"},
    ]


def test_a_column_is_found_in_the_text_of_a_stored_table_where_that_is_plain() -> None:
    given = [{"name": "a"}, {"name": "b", "children": [{"name": "c"}]}, {"name": "d.e"}]
    stored = {
        "columns": columns.answers("s.t", given),
        "dataModel": {"columns": columns.answers("s.t", [{"name": "f"}])},
    }
    document = dumps({**stored, "fullyQualifiedName": "s.t", "name": "t"})
    found = {
        path for path in ("a", "b", "c", "b.c", '"d.e"', "f", "t", "") if columns.names_column(document, "s.t", path)
    }
    assert found == {"a", "b"}
    assert not columns.names_column(document, "other.t", "a")
    assert not columns.names_column(dumps({"charts": [], **stored}), "s.t", "a")
