"""A session's own name that differs in case alone from one that the log's statements say is that one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ingestion.dialects import DIALECTS, dialect_of
from ingestion.model.lineage import TableName, TableUsageNames
from ingestion.model.namespaces import NamespaceDefaults
from tests.support.growing_log import configuration
from tests.support.run_in_session import command_line, run
from workflows.run.group.session_names import SessionSpellings, session_spellings, with_spellings
from workflows.run.read.statements import STATEMENT_SCHEMA

Namespace = tuple[str, tuple[str, ...]]


def spellings(
    *sessions: Namespace, said: str = "", dialect: str = "snowflake", defaults: tuple[str, str] = ("default", "PUBLIC")
) -> tuple[dict[str, str], dict[str, str]]:
    """The databases and schemas that are spelled otherwise; `said` are the names in statements."""
    names = TableUsageNames(tuple(TableName(tuple(name.split("."))) for name in said.split()), (), (), ())
    rules = dialect_of(dialect)
    found = session_spellings(sessions, NamespaceDefaults(*defaults, rules.two_level), [names], rules)
    return dict(found.databases), dict(found.schemas)


def test_what_statements_say_is_what_sessions_mean() -> None:
    sessions = (("finance_db", ("Sales",)), ("FINANCE_DB", ("SALES", "other")))
    assert spellings(*sessions, said="FINANCE_DB.SALES.t SALES.u v") == (
        {"finance_db": "FINANCE_DB"},
        {"Sales": "SALES"},
    )
    assert spellings(("SHOP", ("WEB",)), said="shop.web.t", dialect="postgres", defaults=("shop", "public")) == (
        {"SHOP": "shop"},
        {"WEB": "web"},
    )
    assert spellings(("SHOP", ()), said="Shop.web.t", dialect="oracle")[0] == {"SHOP": "Shop"}


def test_a_name_that_is_said_with_the_same_letters_stays() -> None:
    assert spellings(("finance_db", ()), said="finance_db.S.t FINANCE_DB.S.t") == ({}, {})


def test_of_two_that_are_said_the_one_without_quotes_is_meant() -> None:
    assert spellings(("Finance_Db", ()), said="finance_db.S.t FINANCE_DB.S.t") == ({"Finance_Db": "FINANCE_DB"}, {})
    assert spellings(("Finance_Db", ()), said="finance_db.S.t fInAnCe_DB.S.t") == ({}, {})


def test_of_names_that_only_sessions_have_the_one_without_quotes_is_meant() -> None:
    sessions = (("finance_db", ("public",)), ("FINANCE_DB", ()), ("alone", ("Mixed",)))
    assert spellings(*sessions) == ({"finance_db": "FINANCE_DB"}, {"public": "PUBLIC"})


def test_what_sessions_begin_with_is_a_name_of_theirs() -> None:
    assert spellings(said="FINANCE_DB.SALES.t", defaults=("finance_db", "sales")) == (
        {"finance_db": "FINANCE_DB"},
        {"sales": "SALES"},
    )


@pytest.mark.parametrize("dialect", sorted(name for name in DIALECTS if not dialect_of(name).quotes_keep_case))
def test_where_quotes_make_no_difference_no_name_changes(dialect: str) -> None:
    assert spellings(("finance_db", ("Sales",)), said="FINANCE_DB.SALES.t", dialect=dialect) == ({}, {})


@pytest.mark.spark
def test_a_database_that_a_log_spells_in_other_letters_is_one(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "log.csv").write_text(
        "query_text,start_time,session_id,database_name,schema_name\n"
        "CREATE TABLE shop.web.a (k int),2026-11-02 00:00:00,1,,\n"
        "CREATE TABLE b AS SELECT * FROM a,2026-11-02 01:00:00,2,SHOP,Web\n"
        "CREATE TABLE c AS SELECT * FROM b,2026-11-02 02:00:00,2,SHOP,Web\n"
        "CREATE TABLE d AS SELECT * FROM shop.web.c,2026-11-02 03:00:00,3,,\n"
    )
    configuration(tmp_path, registerTables="always", defaults={"database": "Shop", "schema": "WEB"})
    run(tmp_path)
    connection = sqlite3.connect(tmp_path / "catalog.db")
    try:
        tables = {fqn for (fqn,) in connection.execute("select fqn from entities where type = 'table'")}
    finally:
        connection.close()
    assert tables == {f"shop.shop.web.{table}" for table in "abcd"}
    answer = command_line(tmp_path, "explain", "shop.shop.web.d.k", "--catalog", "catalog.db")
    assert "made of: shop.shop.web.a.k" in answer.stdout


@pytest.mark.spark
def test_statements_have_their_sessions_names_so(spark: SparkSession) -> None:
    given = {
        "database": "finance_db",
        "schema": "Sales",
        "set_database": "db",
        "set_path": ["Sales", "x"],
        "path": None,
    }
    rows = [
        {**given, "source_id": "a"},
        {**dict.fromkeys(given), "source_id": "b"},
        {**given, "source_id": "c", "database": "other", "path": ["sales"]},
    ]
    for row in rows:
        row |= {"time": 0.0, "file": "", "line": 1, "position": 0, "step": 0, "session": "", "sets": False}
        row |= {"already_published": False, "dialect": "snowflake"}
    names = STATEMENT_SCHEMA.fieldNames()
    frame = spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], STATEMENT_SCHEMA)
    known = SessionSpellings({"finance_db": "FINANCE_DB"}, {"Sales": "SALES", "sales": "SALES"})
    found = with_spellings(frame, known, NamespaceDefaults("finance_db", "public")).orderBy("source_id")
    assert found.schema.fieldNames() == names
    assert [tuple(row) for row in found.select(*given).collect()] == [
        ("FINANCE_DB", "SALES", "db", ["SALES", "x"], None),
        ("FINANCE_DB", None, None, None, None),
        ("other", "SALES", "db", ["SALES", "x"], ["SALES"]),
    ]
