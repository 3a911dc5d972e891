"""Behind a query that a statement changes through stands a table that its columns are of, or it is refused."""

from __future__ import annotations

import pytest

from ingestion.analysis.form import CommonTable, Query, RelationSource, Select
from ingestion.errors import Unparsable
from ingestion.model.lineage import TableName, Target, WriteMode
from ingestion.parsing.sqlglot.statements.targets import queries_in_from, table_behind
from ingestion.parsing.sqlglot.tier import parse


def item(query: str, *listed: str) -> CommonTable:
    form = parse(query, "tsql").writes[0].query
    assert isinstance(form, Query)
    return CommonTable("c", listed, form)


def behind(query: str, *columns: str, listed: tuple[str, ...] = (), mode: WriteMode = WriteMode.UPDATE) -> str:
    found = table_behind(Target(TableName(("c",), "c"), mode, columns or None), (item(query, *listed),))
    return f"{found.name} {' '.join(found.columns or ())}".strip()


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (behind("SELECT a, b FROM t", "b"), "t b"),
        (behind("SELECT a AS b, b AS a FROM t", "b"), "t a"),
        (behind("SELECT a, b FROM t", "q", listed=("p", "q")), "t b"),
        (behind("SELECT t.a, u.b FROM t JOIN u ON t.k = u.k", "b"), "u b"),
        (behind("SELECT t.*, u.b FROM t JOIN u ON t.k = u.k", "a"), "t a"),
        (behind("SELECT a FROM t CROSS APPLY dbo.f(t.k) x", "a"), "t a"),
        (behind("SELECT a, n FROM t JOIN (SELECT k, COUNT(*) AS n FROM u GROUP BY k) v ON t.k = v.k", "a"), "t a"),
        (behind("SELECT * FROM (SELECT a AS p FROM t) x", "p"), "t a"),
        (behind("SELECT a, b FROM #t", "a"), "#t a"),
        (behind("SELECT a, b FROM t", mode=WriteMode.APPEND), "t a b"),
        (behind("SELECT * FROM t", mode=WriteMode.APPEND, listed=("p",)), "t"),
        (behind("SELECT * FROM t", mode=WriteMode.DELETE), "t"),
    ],
)
def test_a_table_and_its_own_names_of_columns_stand_behind_an_item(found: str, expected: str) -> None:
    assert found == expected


@pytest.mark.parametrize(
    ("query", "column"),
    [
        ("SELECT a, b FROM t JOIN u ON t.k = u.k", "a"),
        ("SELECT * FROM t JOIN u ON t.k = u.k", "a"),
        ("SELECT t.*, u.* FROM t JOIN u ON t.k = u.k", "a"),
        ("SELECT t.a + 1 AS a FROM t", "a"),
        ("SELECT DISTINCT a FROM t", "a"),
        ("SELECT n FROM (SELECT k, COUNT(*) AS n FROM u GROUP BY k) v JOIN t ON t.k = v.k", "n"),
        ("SELECT a FROM t UNION ALL SELECT a FROM u", "a"),
        ("SELECT p.a FROM t PIVOT (SUM(v) FOR k IN ([1])) p", "a"),
        ("SELECT a FROM t", "z"),
    ],
)
def test_what_is_not_seen_to_be_a_column_of_one_table_is_refused(query: str, column: str) -> None:
    with pytest.raises(Unparsable):
        behind(query, column)


def test_rows_of_a_join_are_of_no_table_that_is_seen() -> None:
    with pytest.raises(Unparsable):
        behind("SELECT t.a FROM t JOIN u ON t.k = u.k", mode=WriteMode.DELETE)


def test_a_target_that_is_no_item_stays_as_it_is() -> None:
    target = Target(TableName(("t",), "t"), WriteMode.UPDATE, ("a",))
    assert table_behind(target, (item("SELECT a FROM u"),)) == target


def test_what_a_name_of_from_stands_for_is_an_item() -> None:
    query = item("SELECT a FROM t").query
    named = (RelationSource(TableName(("s",), "s")), RelationSource(query, "c", ("p",), written=True))
    assert queries_in_from(TableName(("c",), "c"), named) == (CommonTable("c", ("p",), query),)
    assert queries_in_from(TableName(("s",), "s"), named) == ()
    assert isinstance(query, Select)
