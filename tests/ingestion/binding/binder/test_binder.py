"""Late binding: schemas from everywhere, in whatever order the log has the statements."""

from __future__ import annotations

from itertools import permutations

import pytest

from ingestion.binding.binder import bind
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.model.lineage import (
    ColumnRef,
    Flow,
    Output,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
    WriteMode,
)
from ingestion.model.namespaces import Namespace
from ingestion.parsing.sqlglot.tier import parse
from tests.support.captured_logs import bound, edges

CHAIN = (
    "CREATE VIEW shown AS SELECT c.label, a.* FROM clients c JOIN acts a ON c.id = a.client",
    "CREATE VIEW acts AS SELECT v.client, v.day FROM visits v INTERSECT SELECT h.who, h.at FROM hits h",
    "CREATE VIEW visits AS SELECT c.id AS client, h.at AS day FROM clients c JOIN hits h ON c.id = h.who",
)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_views_bind_whatever_the_order_of_their_definitions(order: tuple[int, ...]) -> None:
    found = edges(bound([CHAIN[number] for number in order]))
    assert {target for _source, target in found if target.startswith("shown.")} == {
        "shown.label",
        "shown.client",
        "shown.day",
    }
    assert ("acts.client", "shown.client") in found
    assert ("visits.day", "acts.day") in found
    assert ("hits.at", "visits.day") in found


def test_a_star_over_an_unknown_table_stays_symbolic() -> None:
    log = bound(["CREATE TABLE copy AS SELECT * FROM unknown"])
    (output,) = log.statements[0].lineage.flows[0].outputs
    assert output.star is not None
    assert edges(log) == set()


def test_a_star_binds_to_the_schema_of_the_catalog() -> None:
    log = bound(["CREATE TABLE copy AS SELECT * FROM base"], {"base": ["a", "b"]})
    assert edges(log) == {("base.a", "copy.a"), ("base.b", "copy.b")}


def test_a_star_binds_to_ddl_in_the_log() -> None:
    log = bound(["CREATE TABLE base (a int, b text)", "CREATE TABLE copy AS SELECT * FROM base"])
    assert edges(log) == {("base.a", "copy.a"), ("base.b", "copy.b")}


def test_altered_columns_count_from_their_time_on() -> None:
    log = bound(
        [
            "CREATE TABLE base (a int)",
            "CREATE TABLE early AS SELECT * FROM base",
            "ALTER TABLE base ADD COLUMN b int",
            "CREATE TABLE late AS SELECT * FROM base",
        ]
    )
    assert edges(log) == {("base.a", "early.a"), ("base.a", "late.a"), ("base.b", "late.b")}


def test_an_unprefixed_column_finds_the_table_that_has_it() -> None:
    log = bound(["INSERT INTO t (x) SELECT b FROM one, two"], {"one": ["a"], "two": ["b"], "t": ["x"]})
    assert edges(log) == {("two.b", "t.x")}


def test_an_unprefixed_column_of_two_unknown_tables_is_no_certain_edge() -> None:
    assert edges(bound(["INSERT INTO t (x) SELECT b FROM one, two"])) == set()


def test_insert_without_a_list_is_positional() -> None:
    log = bound(["INSERT INTO t SELECT a AS b, b AS a FROM src"], {"t": ["a", "b"], "src": ["a", "b"]})
    assert edges(log) == {("src.a", "t.a"), ("src.b", "t.b")}


def test_a_reader_binds_to_the_definition_in_force_when_it_ran() -> None:
    log = bound(
        [
            "CREATE TABLE v AS SELECT a FROM one",
            "CREATE TABLE early AS SELECT * FROM v",
            "DROP TABLE v",
            "CREATE TABLE v AS SELECT b FROM two",
            "CREATE TABLE late AS SELECT * FROM v",
        ]
    )
    assert {("v.a", "early.a"), ("v.b", "late.b")} <= edges(log)
    assert ("v.b", "early.b") not in edges(log)


def test_a_definition_that_depends_on_itself_stays_unknown() -> None:
    log = bound(["CREATE VIEW a AS SELECT * FROM b", "CREATE VIEW b AS SELECT * FROM a"])
    assert edges(log) == set()


def test_a_long_chain_of_views_binds() -> None:
    views = [f"CREATE VIEW v{n} AS SELECT * FROM v{n + 1}" for n in range(3000)]
    log = bound(views, {"v3000": ["a"]})
    assert ("v1.a", "v0.a") in edges(log)


def test_create_table_like_takes_the_columns() -> None:
    log = bound(["CREATE TABLE twin (LIKE base)", "CREATE TABLE c AS SELECT * FROM twin"], {"base": ["a"]})
    assert edges(log) == {("twin.a", "c.a")}


def written_by_a_plan(number: int, *columns: str) -> Occurrence:
    """An append that Spark carried out, of columns of the table `src`."""
    source = TableName(("src",))
    outputs = tuple(
        Output(name, (Reference((ColumnRef(source, name),), Transformation(Subtype.IDENTITY)),)) for name in columns
    )
    flow = Flow(Target(TableName(("t",)), WriteMode.APPEND, by_name=True), outputs, sources=(source,))
    lineage = StatementLineage(StatementKind.INSERT, (flow,))
    return Occurrence(str(number), lineage, Namespace("db", ("public",)), (float(number), number), "s")


def test_a_plan_that_was_carried_out_shows_the_columns_that_its_table_has_by_then() -> None:
    created = Occurrence("0", parse("CREATE TABLE t (a int)", "postgres"), Namespace("db", ("public",)), (0.0, 0), "s")
    dropped = Occurrence(
        "2", parse("ALTER TABLE t DROP COLUMN price", "postgres"), Namespace("db", ("public",)), (2.0, 2), "s"
    )

    def names(*occurrences: Occurrence) -> list[str]:
        log = bind(occurrences, SchemaProvider(lambda _key: None))
        (number,) = (relation.number for relation in log.relations if relation.key.table == "t")
        return [column.name for column in log.schemas[number]]

    assert names(created, written_by_a_plan(1, "A", "price")) == ["a", "price"]
    assert names(created, written_by_a_plan(1, "a", "price"), dropped) == ["a"]
