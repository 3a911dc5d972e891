"""DDL: what happens to names and columns."""

from __future__ import annotations

import pytest

from ingestion.model import StatementKind
from tests.ingestion.told import analysed


def test_create_table_has_columns_with_standard_types() -> None:
    text = """create table s.t (a int not null, b varchar(10) default 'x', c numeric(10,2), d timestamptz, e text[],
              f jsonb, primary key (a))"""
    (change,) = analysed(text).changes
    assert change.kind is StatementKind.CREATE_TABLE
    assert change.name.parts == ("s", "t")
    assert [(column.name, column.type) for column in change.columns] == [
        ("a", "INT"),
        ("b", "VARCHAR(10)"),
        ("c", "DECIMAL(10, 2)"),
        ("d", "TIMESTAMPTZ"),
        ("e", "ARRAY<STRING>"),
        ("f", "JSON"),
    ]


def test_partition_columns_are_columns() -> None:
    (change,) = analysed("create external table t (x int) partitioned by (d string) location 's3://b'", "hive").changes
    assert [column.name for column in change.columns] == ["x", "d"]


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "alter table s.a rename to b", [("s.a", "s.b")]),
        ("mysql", "rename table a to b, d.c to e", [("a", "b"), ("d.c", "d.e")]),
        ("teradata", "rename table a as b", [("a", "b")]),
        ("clickhouse", "rename table a to b", [("a", "b")]),
        ("tsql", "exec sp_rename 's.a', 'b'", [("s.a", "s.b")]),
        ("snowflake", "alter table a rename to d.b", [("A", "D.B")]),
    ],
)
def test_renames(dialect: str, text: str, expected: list[tuple[str, str]]) -> None:
    changes = analysed(text, dialect).changes
    assert all(change.kind is StatementKind.RENAME for change in changes)
    assert [(change.name.dotted, change.other.dotted if change.other else "") for change in changes] == expected


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("snowflake", "alter table a swap with b"),
        ("clickhouse", "exchange tables a and b"),
    ],
)
def test_swaps(dialect: str, text: str) -> None:
    (change,) = analysed(text, dialect).changes
    assert change.kind is StatementKind.SWAP
    assert change.other is not None
    assert (change.name.table.lower(), change.other.table.lower()) == ("a", "b")


def test_drops_name_every_relation() -> None:
    changes = analysed("drop table if exists a, s.b cascade").changes
    assert [change.name.dotted for change in changes] == ["a", "s.b"]
    assert all(change.kind is StatementKind.DROP for change in changes)


def test_alter_table_adds_drops_and_renames_columns() -> None:
    (added,) = analysed("alter table t add column a int, drop column b").changes
    assert [column.name for column in added.columns] == ["a"]
    assert added.dropped_columns == ("b",)
    (renamed,) = analysed("alter table t rename column a to b").changes
    assert renamed.renamed_columns == (("a", "b"),)


def test_a_clone_is_a_change_and_a_flow() -> None:
    lineage = analysed("create table n clone s", "snowflake")
    (change,) = lineage.changes
    assert change.kind is StatementKind.CREATE_TABLE_LIKE
    assert change.other is not None
    assert lineage.flows[0].outputs[0].star is not None


@pytest.mark.parametrize(
    "text",
    ["create index i on t (a)", "create sequence s", "create schema s", "drop index i", "grant select on t to u"],
)
def test_what_is_no_relation_changes_nothing(text: str) -> None:
    lineage = analysed(text)
    assert lineage.changes == ()
    assert lineage.flows == ()
