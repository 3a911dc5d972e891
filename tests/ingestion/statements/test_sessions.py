"""Where a session looks for names, followed from statement to statement."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.model.namespaces import Namespace, readable
from ingestion.statements.sessions import Session, may_change, written_schemas

BEGUN = Session.at(Namespace("home", ("own",)))


def after(dialect: str, *texts: str, session: Session = BEGUN) -> Namespace:
    for text in texts:
        session = session.after(text, dialect_of(dialect))
    return session.namespace


@pytest.mark.parametrize(
    ("dialect", "texts", "namespace"),
    [
        ("snowflake", ("USE SCHEMA prod.core", "USE SCHEMA mart"), Namespace("PROD", ("MART",))),
        ("snowflake", ("USE DATABASE prod", "USE ROLE analyst", "USE WAREHOUSE w"), Namespace("PROD", ("PUBLIC",))),
        ("tsql", ("USE [Sales]",), Namespace("sales", ("dbo",))),
        ("mysql", ("USE `shop`;", "SELECT 1"), Namespace("home", ("shop",))),
        ("databricks", ("USE CATALOG lake", "USE raw"), Namespace("lake", ("raw",))),
        ("postgres", ("SET search_path TO web, public", "BEGIN", "COMMIT"), Namespace("home", ("web", "public"))),
        ("postgres", ('SET search_path = "$user", web, pg_catalog',), Namespace("home", ("web",))),
        ("postgres", ("SET search_path TO web", "RESET search_path"), BEGUN.namespace),
        ("postgres", ("SET search_path TO ''",), Namespace("home", ())),
        ("postgres", ("BEGIN", "SET LOCAL search_path TO web"), Namespace("home", ("web",))),
        ("postgres", ("BEGIN", "SET LOCAL search_path TO web", "SET LOCAL search_path TO x", "END"), BEGUN.namespace),
        ("postgres", ("SET LOCAL search_path TO web", "SET search_path TO x", "ROLLBACK"), Namespace("home", ("x",))),
        ("postgres", ("SET LOCAL search_path TO web", "ROLLBACK TO SAVEPOINT p"), Namespace("home", ("web",))),
        ("postgres", ("SET LOCAL search_path TO web", "BEGIN"), BEGUN.namespace),
        ("postgres", ("SET LOCAL search_path TO :place", "COMMIT"), BEGUN.namespace),
        ("postgres", ("SET search_path TO x", "SET LOCAL search_path TO DEFAULT", "END"), Namespace("home", ("x",))),
        ("postgres", ("SELECT set_config('search_path', 'web', true)", "COMMIT"), BEGUN.namespace),
        ("oracle", ("ALTER SESSION SET CURRENT_SCHEMA = hr",), Namespace("home", ("HR",))),
        ("teradata", ("DATABASE hr",), Namespace("home", ("hr",))),
        ("bigquery", ("SET @@dataset_project_id = 'p-1'", "SET @@dataset_id = 'D'"), Namespace("p-1", ("D",))),
    ],
)
def test_what_a_statement_changes_holds_for_those_after_it(
    dialect: str, texts: tuple[str, ...], namespace: Namespace
) -> None:
    assert after(dialect, *texts) == namespace


@pytest.mark.parametrize(
    ("dialect", "text", "namespace"),
    [
        ("snowflake", "CREATE OR REPLACE TRANSIENT SCHEMA mart", Namespace("home", ("MART",))),
        ("snowflake", "CREATE SCHEMA prod.mart CLONE prod.raw", Namespace("PROD", ("MART",))),
        ("snowflake", "CREATE DATABASE prod", Namespace("PROD", ("PUBLIC",))),
        ("exasol", "CREATE SCHEMA mart", Namespace("home", ("MART",))),
        ("snowflake", "CREATE DATABASE ROLE r", BEGUN.namespace),
        ("snowflake", "CREATE DATABASE theirs FROM SHARE partner.given", BEGUN.namespace),
        ("snowflake", "CREATE TABLE schema.t (a int)", BEGUN.namespace),
        ("postgres", "CREATE SCHEMA mart", BEGUN.namespace),
        ("mysql", "CREATE DATABASE mart", BEGUN.namespace),
    ],
)
def test_where_what_is_made_is_picked_names_are_looked_for_there(dialect: str, text: str, namespace: Namespace) -> None:
    assert after(dialect, text) == namespace


def test_a_schema_that_may_have_been_there_may_not_have_been_picked() -> None:
    found = after("snowflake", "CREATE SCHEMA IF NOT EXISTS mart")
    assert (found.database, readable(found.search_path)) == ("home", ())
    begun = Session.at(Namespace("PROD", ("MART",)))
    assert after("snowflake", "CREATE SCHEMA IF NOT EXISTS mart", session=begun) == begun.namespace
    assert readable((after("snowflake", "CREATE SCHEMA IF NOT EXISTS dev.mart", session=begun).database,)) == ()


@pytest.mark.parametrize(
    ("dialect", "text", "known"),
    [
        ("snowflake", "USE SCHEMA {{ target }}", ()),
        ("snowflake", "USE DATABASE IDENTIFIER($target)", ()),
        ("tsql", "USE [$(DatabaseName)]", ()),
        ("tsql", "USE $(DatabaseName)", ()),
        ("hive", "USE ${hiveconf:db}", ("home",)),
        ("databricks", "SET CATALOG IDENTIFIER(:c)", ()),
        ("teradata", "DATABASE ${DB}", ("home",)),
        ("oracle", "ALTER SESSION SET CURRENT_SCHEMA = &schema", ("home",)),
        ("postgres", "SET search_path TO :target", ("home",)),
        ("db2", "SET CURRENT SCHEMA = USER", ("home",)),
        ("db2", "SET SCHEMA SESSION_USER", ("home",)),
        ("postgres", "SELECT set_config('search_path', target, false)", ("home",)),
    ],
)
def test_what_a_text_does_not_tell_is_a_place_of_its_own(dialect: str, text: str, known: tuple[str, ...]) -> None:
    found = after(dialect, text)
    assert readable((found.database,)) == known
    assert readable(found.search_path) == ()
    assert found == after(dialect, "SELECT 1", text)
    assert found != BEGUN.namespace


def test_where_a_session_may_be_depends_on_where_it_was() -> None:
    assert BEGUN.into_unknown("a").namespace == BEGUN.into_unknown("a").namespace != BEGUN.into_unknown("b").namespace
    assert BEGUN.into_unknown("a", only_schemas=True).namespace.database == "home"


@pytest.mark.parametrize(
    ("dialect", "text", "written"),
    [
        ("snowflake", 'USE SCHEMA prod."Core"', {"PROD": "prod", "Core": "Core"}),
        ("tsql", "USE [Sales]", {"sales": "Sales"}),
        ("snowflake", "SELECT a FROM prod.core.t", {}),
    ],
)
def test_the_names_in_a_change_are_known_as_they_are_written(dialect: str, text: str, written: dict[str, str]) -> None:
    found = written_schemas(text, dialect_of(dialect))
    assert {name: found[name] for name in written} == written
    assert bool(found) == bool(written)


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("snowflake", "BEGIN IF (x) THEN USE mart; END IF; END", True),
        ("snowflake", "BEGIN EXECUTE IMMEDIATE 'USE SCHEMA mart'; END", True),
        ("snowflake", "BEGIN USE WAREHOUSE w; -- use mart\n INSERT INTO t SELECT a FROM s; END", False),
        ("tsql", "IF DB_ID('shop') IS NOT NULL USE shop", True),
        ("postgres", "DO $$ BEGIN SET LOCAL search_path TO web; END $$", True),
        ("postgres", "DO $$ BEGIN PERFORM set_config('search_path', 'web', true); END $$", True),
        ("postgres", "DO $$ BEGIN /* use web */ INSERT INTO t SELECT a FROM s; END $$", False),
        ("mysql", "BEGIN INSERT INTO t SELECT a FROM s USE INDEX (i); END", False),
        ("databricks", "BEGIN SET CATALOG lake; END", True),
        ("tsql", "BEGIN UPDATE t SET a = 'do use it' WHERE b = 1 END", False),
        ("databricks", "BEGIN EXECUTE IMMEDIATE 'USE ' || target; END", True),
        ("db2", "BEGIN SET CURRENT SCHEMA = 'MART'; END", True),
        ("postgres", "DO $$ BEGIN RESET ALL; END $$", True),
        ("postgres", "DO $$ BEGIN PERFORM 1 FROM pg_tables WHERE schemaname = current_schema(); END $$", False),
        ("postgres", "DO $$ BEGIN PERFORM current_setting('search_path'); END $$", False),
    ],
)
def test_a_block_tells_whether_it_may_change_its_session(dialect: str, text: str, *, expected: bool) -> None:
    assert may_change(text, dialect_of(dialect)) is expected


@pytest.mark.parametrize("text", ["EXEC ('USE shop; DELETE FROM t')", "EXEC sp_executesql N'USE shop'"])
def test_a_text_with_a_session_of_its_own_changes_no_other(text: str) -> None:
    assert may_change(text, dialect_of("tsql"))
    assert not may_change(text, dialect_of("tsql"), after=True)
    assert after("tsql", text) == BEGUN.namespace
    assert after("databricks", "EXECUTE IMMEDIATE 'USE shop'") != BEGUN.namespace
