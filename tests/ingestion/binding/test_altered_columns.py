"""Columns that a script renames, drops and adds: what is made of them is told under the names that it leaves."""

from __future__ import annotations

import pytest

from ingestion import LineageParser
from ingestion.binding.altered_columns import changes_after
from ingestion.binding.relations import Relation
from ingestion.model.lineage import StatementKind, TableChange, TableName
from ingestion.model.namespaces import Namespace, RelationKey

W = "CREATE TABLE w AS SELECT k, a, b FROM t1"
SCRIPTS = {
    "a column that is renamed": (
        "duckdb",
        f"{W}; ALTER TABLE w RENAME a TO z; CREATE TABLE fin AS SELECT z FROM w",
        "t1.a->w.z t1.b->w.b t1.k->w.k w.z->fin.z",
    ),
    "one that is renamed twice": (
        "postgres",
        f"{W}; ALTER TABLE w RENAME COLUMN a TO y; INSERT INTO w (y) SELECT c FROM t2; ALTER TABLE w RENAME y TO z",
        "t1.a->w.z t1.b->w.b t1.k->w.k t2.c->w.z",
    ),
    "two that exchange their names at once": (
        "mysql",
        f"{W}; ALTER TABLE w RENAME COLUMN a TO b, RENAME COLUMN b TO a; CREATE TABLE fin AS SELECT a FROM w",
        "t1.a->w.b t1.b->w.a t1.k->w.k w.a->fin.a",
    ),
    "two that exchange them one after the other": (
        "bigquery",
        f"{W}; ALTER TABLE w RENAME COLUMN a TO x, RENAME COLUMN b TO a, RENAME COLUMN x TO b",
        "t1.a->w.b t1.b->w.a t1.k->w.k",
    ),
    "MySQL's CHANGE": (
        "mysql",
        f"{W}; ALTER TABLE w CHANGE a z TEXT; CREATE TABLE fin AS SELECT z FROM w",
        "t1.a->w.z t1.b->w.b t1.k->w.k w.z->fin.z",
    ),
    "T-SQL's procedure": (
        "tsql",
        "SELECT k, a INTO w FROM t1; EXEC sp_rename 'w.a', 'z', 'COLUMN'; SELECT z INTO fin FROM w",
        "t1.a->w.z t1.k->w.k w.z->fin.z",
    ),
    "a dropped column, and a new one of its name": (
        "postgres",
        f"{W}; ALTER TABLE w DROP COLUMN a; ALTER TABLE w ADD COLUMN a int; INSERT INTO w (a) SELECT c FROM t2",
        "t1.b->w.b t1.k->w.k t2.c->w.a",
    ),
    "a dropped column, and one that takes its name": (
        "postgres",
        f"{W}; ALTER TABLE w DROP COLUMN a; ALTER TABLE w RENAME COLUMN b TO a; CREATE TABLE fin AS SELECT a FROM w",
        "t1.b->w.a t1.k->w.k w.a->fin.a",
    ),
    "a column that the same statement reads and drops": (
        "postgres",
        f"{W}; ALTER TABLE w ALTER COLUMN b TYPE text USING (a || k), DROP COLUMN a",
        "t1.a->w.a t1.b->w.b t1.k->w.k w.a->w.b w.k->w.b",
    ),
    "a column that was read before it went": (
        "postgres",
        "CREATE TABLE fin AS SELECT a, b FROM t1; ALTER TABLE t1 DROP COLUMN a",
        "t1.a->fin.a t1.b->fin.b",
    ),
    "a column of the text that was read before it went": (
        "postgres",
        f"{W}; CREATE TABLE fin AS SELECT upper(a) AS x FROM w; ALTER TABLE w DROP a, DROP b",
        "t1.a->w.a t1.k->w.k w.a->fin.x",
    ),
    "one that was renamed, dropped, and has a namesake": (
        "postgres",
        f'{W}; ALTER TABLE w RENAME a TO x; ALTER TABLE w DROP x; ALTER TABLE w ADD a int, ADD "A" int',
        "t1.b->w.b t1.k->w.k",
    ),
    "one that was read before another had its name": (
        "postgres",
        "CREATE TABLE fin AS SELECT a, b FROM t1; ALTER TABLE t1 DROP a; ALTER TABLE t1 RENAME b TO a",
        "t1.a->fin.b",
    ),
    "a star over columns that are not known": (
        "postgres",
        "CREATE TABLE w AS SELECT * FROM t1; ALTER TABLE w RENAME COLUMN a TO z; CREATE TABLE fin AS SELECT z FROM w",
        "t1.*->w.* t1.a->w.z w.z->fin.z",
    ),
    "a star whose table is altered afterwards": (
        "postgres",
        "CREATE TABLE w AS SELECT * FROM t1; ALTER TABLE t1 RENAME COLUMN a TO z",
        "t1.*->w.* t1.z->w.a",
    ),
    "several stars, one of which has the column": (
        "postgres",
        "CREATE TABLE w AS SELECT t1.*, t2.* FROM t1, t2; ALTER TABLE w RENAME COLUMN a TO z",
        "t1.*->w.* t1.a->w.z? t2.*->w.* t2.a->w.z?",
    ),
    "a table that is renamed with its column": (
        "mysql",
        f"{W}; ALTER TABLE w RENAME COLUMN a TO z, RENAME TO u; CREATE TABLE fin AS SELECT z FROM u",
        "t1.a->u.z t1.b->u.b t1.k->u.k u.z->fin.z",
    ),
    "a view over what is renamed under it": (
        "postgres",
        "CREATE VIEW v AS SELECT a FROM t1; ALTER TABLE t1 RENAME a TO z; CREATE TABLE fin AS SELECT a FROM v",
        "t1.z->v.a v.a->fin.a",
    ),
    "a view whose own column is renamed": (
        "postgres",
        "CREATE VIEW v AS SELECT a FROM t1; ALTER VIEW v RENAME a TO z; CREATE TABLE fin AS SELECT z FROM v",
        "t1.a->v.z v.z->fin.z",
    ),
    "a view that follows a column whose name another has": (
        "postgres",
        "CREATE VIEW v AS SELECT a FROM t1; ALTER TABLE t1 RENAME a TO z; ALTER TABLE t1 ADD a int",
        "t1.z->v.a",
    ),
    "a view that looks its columns up by their names": (
        "snowflake",
        "CREATE VIEW v AS SELECT a FROM t1; ALTER TABLE t1 RENAME COLUMN a TO z; ALTER TABLE t1 ADD COLUMN a int",
        "t1.A->v.A",
    ),
    "Hive's list of all columns": (
        "hive",
        "CREATE TABLE w (a int, b int) PARTITIONED BY (p string); INSERT INTO w SELECT a, b, p FROM t1; "
        "ALTER TABLE w REPLACE COLUMNS (b int, c int); INSERT INTO w SELECT b, c, p FROM t2",
        "t1.b->w.b t1.p->w.p t2.b->w.b t2.c->w.c t2.p->w.p",
    ),
}


@pytest.mark.parametrize("case", sorted(SCRIPTS))
def test_what_is_made_of_a_column_is_told_under_the_name_that_it_is_left_with(case: str) -> None:
    dialect, script, expected = SCRIPTS[case]
    parser = LineageParser(script, dialect=dialect)
    assert parser.failures == ()
    found = {f"{edge.source}->{edge.target}{'' if edge.certain else '?'}" for edge in parser.edges}
    assert sorted(found) == sorted(expected.split())


def test_an_expression_names_its_columns_as_they_are_left() -> None:
    script = f"{W}; CREATE TABLE fin AS SELECT upper(a) || b AS x FROM w; ALTER TABLE w RENAME COLUMN a TO b2"
    edges = LineageParser(script, dialect="postgres").edges
    assert {edge.expression for edge in edges if str(edge.target) == "fin.x"} == {"UPPER(w.b2) || w.b"}


def test_a_catalogs_spelling_of_a_column_is_the_one_that_ddl_means() -> None:
    script = "SELECT amount INTO u FROM w; EXEC sp_rename 'w.amount', 'total', 'COLUMN'; SELECT total INTO fin FROM w"
    parser = LineageParser(script, dialect="tsql", schema={"w": {"Amount": "int", "Id": "int"}})
    assert sorted(f"{edge.source}->{edge.target}" for edge in parser.edges) == [
        "w.total->fin.total",
        "w.total->u.amount",
    ]
    assert parser.problems == ()


def test_where_a_log_that_repeats_itself_altered_a_table_in_two_ways_no_later_name_is_guessed() -> None:
    name = TableName(("w",))
    relation = Relation(0, RelationKey(("", "", "w")), RelationKey(("", "", "w")), (name, Namespace()))
    for at, new in ((2.0, "y"), (5.0, "z")):
        change = TableChange(StatementKind.ALTER_TABLE, name, renamed_columns=(("a", new),))
        relation.alterations.append(((at, 0), change))
    relation.final_alterations = frozenset({(5.0, 0)})
    first = {0: frozenset({(2.0, 0)})}
    assert changes_after((relation,), {name: 0}, (3.0, 0), first) == {}
    (later,) = changes_after((relation,), {name: 0}, (4.0, 0), {0: frozenset()}).values()
    assert later.last("a") == "z"
