"""Streams of changes: what is read through them, tasks and alerts that read them, functions that give changes."""

from __future__ import annotations

from itertools import permutations

import pytest

from ingestion.errors import Templated
from ingestion.model.lineage import LineageType
from ingestion.parser import LineageParser

TABLE = "CREATE TABLE parcel (id INT, weight INT)"
READ = "INSERT INTO heavy (no, kg) SELECT id, weight FROM parcel_log WHERE METADATA$ACTION = 'INSERT'"


def direct_edges(script: str, dialect: str = "snowflake") -> set[str]:
    edges = LineageParser(script, dialect=dialect).edges
    return {f"{edge.source}>{edge.target}".lower() for edge in edges if edge.type is LineageType.DIRECT}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_stream_stands_between_its_table_and_what_reads_it_in_any_order(order: tuple[int, ...]) -> None:
    statements = (TABLE, "CREATE STREAM parcel_log ON TABLE parcel BEFORE (STATEMENT => '01a')", READ)
    assert direct_edges(";".join(statements[index] for index in order)) == {
        "parcel.id>parcel_log.id",
        "parcel.weight>parcel_log.weight",
        "parcel_log.id>heavy.no",
        "parcel_log.weight>heavy.kg",
    }


def test_a_star_over_a_stream_has_the_columns_of_its_source_and_those_of_the_change() -> None:
    script = f"CREATE TABLE seen AS SELECT * FROM parcel_log; CREATE STREAM parcel_log ON TABLE parcel; {TABLE}"
    of_stream = {f"parcel_log.{name}>seen.{name}" for name in ("id", "weight")}
    of_change = {f"parcel_log.metadata${name}>seen.metadata${name}" for name in ("action", "isupdate", "row_id")}
    assert direct_edges(script) >= of_stream | of_change | {"parcel.weight>parcel_log.weight"}


@pytest.mark.parametrize(
    ("definitions", "expected"),
    [
        ("CREATE STREAM s ON TABLE a; CREATE OR REPLACE STREAM s ON TABLE b", "s.y>o.q"),
        ("CREATE STREAM s ON TABLE a; CREATE STREAM IF NOT EXISTS s ON TABLE b", "s.x>o.q"),
        ("CREATE STREAM s ON TABLE a; DROP STREAM s; CREATE STREAM IF NOT EXISTS s ON TABLE b", "s.y>o.q"),
        ("CREATE STREAM r ON TABLE a; CREATE STREAM s CLONE r", "s.x>o.q"),
        ("CREATE VIEW v AS SELECT y FROM b; CREATE STREAM s ON VIEW v", "s.y>o.q"),
        ("CREATE STREAM IDENTIFIER('s') ON DYNAMIC TABLE b", "s.y>o.q"),
    ],
)
def test_the_definition_in_force_tells_what_a_stream_has(definitions: str, expected: str) -> None:
    tables = "CREATE TABLE a (x INT); CREATE TABLE b (y INT)"
    query = "INSERT INTO o (q) SELECT s.* EXCLUDE (METADATA$ACTION, METADATA$ISUPDATE, METADATA$ROW_ID) FROM s"
    assert expected in direct_edges(f"{tables}; {definitions}; {query}")


def test_a_stream_on_a_stage_lists_its_files() -> None:
    found = direct_edges("CREATE STREAM s ON STAGE inbox; INSERT INTO o (q) SELECT relative_path FROM s")
    assert {"@inbox.relative_path>s.relative_path", "s.relative_path>o.q"} <= found


@pytest.mark.parametrize(
    "definition",
    [
        "CREATE STREAM s CLONE IDENTIFIER('&{db}.k.r')",
        "CREATE STREAM s ON TABLE IDENTIFIER('&{db}.k.t') APPEND_ONLY = TRUE",
        "CREATE STREAM s ON VIEW IDENTIFIER($watched)",
        "CREATE STREAM IDENTIFIER('&{db}.k.s') ON TABLE t",
        "CREATE STREAM IDENTIFIER($made) ON TABLE t",
    ],
)
def test_a_stream_of_a_name_that_is_not_filled_in_is_no_stream_of_any_table(definition: str) -> None:
    with pytest.raises(Templated):
        LineageParser(definition, dialect="snowflake")


@pytest.mark.parametrize(
    "definition",
    [
        "CREATE TASK t AFTER u, v WHEN SYSTEM$STREAM_HAS_DATA('s') AS INSERT INTO o (a) SELECT x FROM s",
        "CREATE OR ALTER TASK t SCHEDULE = '5 M' AS BEGIN LET n := 1; INSERT INTO o (a) SELECT x FROM s; END",
        "CREATE TASK t AS CALL p(); CREATE PROCEDURE p() RETURNS INT AS 'INSERT INTO o (a) SELECT x FROM s';"
        " EXECUTE TASK t",
        "ALTER TASK t MODIFY AS INSERT INTO o (a) SELECT x FROM s",
        "CREATE ALERT t IF (EXISTS (SELECT 1 FROM u WHERE k > 1)) THEN INSERT INTO o (a) SELECT x FROM s",
        "CREATE ALERT t IF (EXISTS (SELECT CASE WHEN k THEN 1 END FROM u)) THEN"
        " BEGIN INSERT INTO o (a) SELECT x FROM s; END; EXECUTE ALERT t",
        "ALTER ALERT t MODIFY ACTION INSERT INTO o (a) SELECT x FROM s",
    ],
)
def test_what_a_task_or_an_alert_runs_is_its_lineage(definition: str) -> None:
    assert direct_edges(definition) == {"s.x>o.a"}


@pytest.mark.parametrize(
    ("dialect", "rows", "source"),
    [
        ("bigquery", "APPENDS(TABLE k.s, NULL, NULL)", "k.s"),
        ("bigquery", "CHANGES(TABLE `k.s`, NULL, CURRENT_TIMESTAMP()) c", "k.s"),
        ("databricks", "table_changes('k.s', 1, 2)", "k.s"),
        ("databricks", "table_changes_by_path('/lake/s', 1)", "/lake/s"),
        ("snowflake", "k.s CHANGES (INFORMATION => DEFAULT) AT (OFFSET => -60) AS c", "k.s"),
        ("spark", "table_changes('`k`.`s`', '2026-01-01')", "k.s"),
    ],
)
def test_changes_of_a_table_are_rows_of_that_table(dialect: str, rows: str, source: str) -> None:
    added = {"bigquery": "_CHANGE_TYPE", "snowflake": "METADATA$ACTION"}.get(dialect, "_change_type")
    script = f"CREATE TABLE k.s (x INT); INSERT INTO o (a, b) SELECT x, {added} FROM {rows}"
    parsed = LineageParser(script, dialect=dialect)
    assert direct_edges(script, dialect) == {f"{source}.x>o.a"}
    assert not parsed.problems


def test_a_table_whose_changes_are_asked_for_by_a_parameter_is_not_known() -> None:
    parsed = LineageParser("INSERT INTO o (a) SELECT x FROM table_changes(:t, 1)", dialect="databricks")
    assert [problem.kind for problem in parsed.problems] == ["unsupported"]
