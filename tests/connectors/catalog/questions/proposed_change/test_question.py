"""What a proposed change does downstream, asked of a catalog that a few statements filled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests
from typer.testing import CliRunner

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.proposed_change.question import ChangeOptions, proposed_change
from connectors.catalog.questions.proposed_change.report import ChangeReport
from ingestion.errors import ConfigError
from tests.support.published_scripts import publish
from workflows.cli import app

TABLES = {
    "raw.customers": {"id": "int", "name": "text", "email": "text", "city": "varchar(50)"},
    "raw.orders": {"id": "int", "cid": "int", "total": "numeric(10,2)", "placed": "date"},
    "old.orders": {"id": "int"},
    "core.people": {"id": "int", "name": "text", "email_hash": "text", "city": "varchar(50)"},
    "core.sales": {"id": "int", "city": "varchar(50)", "total": "numeric(10,2)"},
    "mart.by_city": {"city": "varchar(50)", "total": "numeric"},
    "mart.copy": {"id": "int", "city": "varchar(50)", "total": "numeric(10,2)"},
    "mart.dark": {"x": "int"},
}
PEOPLE = "CREATE VIEW core.people AS SELECT c.id, c.name, md5(c.email) AS email_hash, c.city FROM raw.customers c"
STATEMENTS = (
    PEOPLE,
    "INSERT INTO core.sales SELECT o.id, city, total FROM raw.orders o JOIN core.people p ON p.id = o.cid "
    "WHERE o.placed > '2020-01-01'",
    "CREATE VIEW mart.by_city AS SELECT city, sum(total) AS total FROM core.sales GROUP BY city",
    "INSERT INTO mart.copy SELECT * FROM core.sales",
)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """email is PII; mart.by_city is the finance team's."""
    file = tmp_path_factory.mktemp("changes") / "catalog.db"
    publish(file, TABLES, STATEMENTS)
    with running_catalog(CatalogConfig(file, port=0)) as address:
        send = requests.Session()
        team = send.put(f"{address.url}/v1/teams", json={"name": "finance", "teamType": "Group"}, timeout=10).json()
        patches = {
            "s.shop.raw.customers": {"op": "add", "path": "/columns/2/tags", "value": [{"tagFQN": "PII.Sensitive"}]},
            "s.shop.mart.by_city": {"op": "add", "path": "/owners", "value": [{"id": team["id"], "type": "team"}]},
        }
        headers = {"Content-Type": "application/json-patch+json"}
        for name, patch in patches.items():
            answer = send.patch(f"{address.url}/v1/tables/name/{name}", json=[patch], headers=headers, timeout=10)
            answer.raise_for_status()
    return file


def asked(catalog: Path, ddl: str, dialect: str | None = None, default_schema: str = "") -> ChangeReport:
    return proposed_change(
        catalog, ChangeOptions(ddl=ddl, dialect=dialect, default_schema=default_schema), When(days=0)
    ).content


def lines(report: ChangeReport) -> set[str]:
    """Each effect as `kind name`, without what all full names begin with; changes without effects as themselves."""
    found = {f"{one.kind} {one.name}" for change in report.changes for one in change.effects}
    found |= {f"{one.kind}: {one.name}" for one in report.changes if not one.effects}
    return {line.replace("s.shop.", "") for line in found} | set(report.unknown)


SALES = ("core.sales", "mart.by_city", "mart.copy")
TOTAL = {f"{table}.total" for table in SALES}
CITY = {*(f"{table}.city" for table in SALES), "mart.by_city.total"}  # it is grouped by city
EACH = {*CITY, *TOTAL, "core.sales.id", "mart.copy.id"}


def each(kind: str, names: set[str]) -> set[str]:
    return {f"{kind} {name}" for name in names}


CASES: dict[str, tuple[set[str], int]] = {
    "ALTER TABLE raw.orders DROP COLUMN total": (each("breaks", TOTAL), 4),
    "ALTER TABLE raw.orders DROP COLUMN placed": (each("breaks", EACH), 4),
    "ALTER TABLE raw.customers RENAME COLUMN city TO town": ({"column renamed: raw.customers.city"}, 0),
    "ALTER TABLE raw.orders RENAME COLUMN total TO amount": (each("breaks", TOTAL), 4),
    "ALTER TABLE raw.customers RENAME city TO town": ({"column renamed: raw.customers.city"}, 0),
    "ALTER TABLE raw.orders RENAME total TO amount": (each("breaks", TOTAL), 4),
    "ALTER TABLE raw.orders ALTER COLUMN total TYPE numeric(12,2)": (each("type", TOTAL), 0),
    "ALTER TABLE raw.orders ALTER COLUMN total TYPE text": (each("breaks", TOTAL), 4),
    "ALTER TABLE raw.orders ALTER COLUMN total TYPE my_money": (each("may break", TOTAL), 1),
    "ALTER TABLE raw.orders ADD COLUMN note text": ({"column added: raw.orders.note"}, 0),
    "ALTER TABLE raw.orders ADD COLUMN city text": ({"breaks core.sales"}, 4),
    "ALTER TABLE core.sales ADD COLUMN note text": ({"breaks mart.copy"}, 4),
    f"DROP VIEW core.people; {PEOPLE}": (set(), 0),
    "DROP VIEW core.people": (each("breaks", EACH), 4),
    "DROP SCHEMA core CASCADE": (
        {
            *each("breaks", EACH - {"core.sales.id", "core.sales.city", "core.sales.total"}),
            "2 tables go with what is dropped, 1 of them made of others among them (s.shop.core.sales):"
            " drop them by name if that is meant",
        },
        4,
    ),
    "DROP DATABASE shop": (
        {
            *(f"table dropped: {table}" for table in TABLES),
            "8 tables go with what is dropped, 4 of them made of others among them (s.shop.core.people,"
            " s.shop.core.sales, s.shop.mart.by_city): drop them by name if that is meant",
        },
        1,
    ),
    "DROP TABLE mart.copy": ({"table dropped: mart.copy"}, 0),
    "CREATE OR REPLACE VIEW core.people AS SELECT c.id, c.name, md5(c.email) AS email_hash, upper(c.city) AS city "
    "FROM raw.customers AS c": (each("meaning", CITY), 0),
    "CREATE OR REPLACE VIEW core.people AS SELECT id, name, md5(email) AS email_hash FROM raw.customers": (
        each("breaks", CITY),
        4,
    ),
    "UPDATE core.sales SET city = c.email FROM raw.customers c WHERE c.id = core.sales.id": (
        {*each("meaning", CITY - {"core.sales.city"}), "sensitivity mart.by_city.city", "sensitivity mart.copy.city"},
        0,
    ),
    "DROP TABLE orders": (
        {
            "orders may be one of s.shop.old.orders, s.shop.raw.orders",
            "orders is not in this catalog: what depends on it is not known",
        },
        1,
    ),
    "DROP TABLE nothing.there": ({"nothing.there is not in this catalog: what depends on it is not known"}, 1),
    "ALTER TABLE raw.orders DROP COLUMN nope": ({"s.shop.raw.orders.nope is not in this catalog"}, 1),
    "ALTER TABLE raw.nosuch DROP COLUMN total": (
        {"raw.nosuch is not in this catalog: what depends on it is not known"},
        1,
    ),
    "ALTER TABLE raw.nosuch ADD COLUMN total int": (
        {"raw.nosuch is not in this catalog: what depends on it is not known"},
        1,
    ),
    "INSERT INTO raw.nosuch SELECT id FROM raw.orders": ({"raw.nosuch is not in this catalog: a mistyped name?"}, 1),
    "garbage here": ({"<ddl>:1: unknown_verb"}, 1),
    "DROP TABEL raw.orders": ({"<ddl>:1: DROP TABEL is no statement that is known; did you mean TABLE?"}, 1),
    "ALTER TABEL raw.orders DROP COLUMN total": (
        {"<ddl>:1: ALTER TABEL is no statement that is known; did you mean TABLE?"},
        1,
    ),
    "ALTER SCHEMA raw SWAP WITH core": ({"<ddl>:1: what depends on what ALTER SCHEMA changes is not followed"}, 1),
    "DROP FUNCTION f(int)": ({"<ddl>:1: what depends on what DROP FUNCTION changes is not followed"}, 1),
    "CREATE INDEX i ON raw.orders (id); GRANT SELECT ON raw.orders TO x": (set(), 0),
    "ALTER TABLE raw.orders RENAME TO orders_2; CREATE VIEW raw.orders AS SELECT * FROM raw.orders_2": (
        {"table added: raw.orders_2", *each("meaning", EACH)},
        0,
    ),
    "CREATE TABLE core.new AS SELECT id FROM raw.orders": ({"table added: core.new"}, 0),
    "INSERT INTO mart.dark SELECT nope FROM raw.orders": ({"s.shop.mart.dark: unknown column: nope"}, 1),
    "ALTER TABLE raw.orders DROP COLUMN total; SELECT 'secret FROM": (
        {"<ddl>:1: ill_formed:unterminated quote ' opened in line 1", *each("breaks", TOTAL)},
        4,
    ),
}


@pytest.mark.parametrize("ddl", CASES)
def test_effects_of_a_change(catalog: Path, ddl: str) -> None:
    report = asked(catalog, ddl)
    expected, code = CASES[ddl]
    assert lines(report) == expected
    assert (4 if report.breaks else 0 if report.complete else 1) == code


@pytest.mark.parametrize("dialect", ["databricks", "hive", "impala", "spark"])
def test_columns_that_are_replaced_go_where_they_are_not_listed(catalog: Path, dialect: str) -> None:
    report = asked(catalog, "ALTER TABLE raw.orders REPLACE COLUMNS (id int, cid int, placed date)", dialect)
    assert lines(report) == each("breaks", TOTAL)


def test_a_swap_gives_readers_of_either_name_other_rows(catalog: Path) -> None:
    report = asked(catalog, "ALTER TABLE core.sales SWAP WITH mart.copy", "snowflake")
    assert {(one.kind.value, one.name, one.detail) for one in report.changes} == {
        ("rows redefined", "s.shop.core.sales", "those of s.shop.mart.copy"),
        ("rows redefined", "s.shop.mart.copy", "those of s.shop.core.sales"),
    }
    assert "meaning mart.by_city.total" in lines(report)


NOT_SAFE = {
    "CALL refresh()": ("postgres", "what CALL runs is not known"),
    "COMMENT ON TABLE raw.oders IS 'x'": ("postgres", "raw.oders is not in this catalog: a mistyped name?"),
    "CREATE OR REPLACE SCHEMA core": ("snowflake", "2 tables go with what is dropped"),
    "CREATE UNIQUE INDEX IF NOT EXISTS i ON raw.oders (id)": ("postgres", "raw.oders is not in this catalog"),
    "DETACH TABLE raw.orders": ("clickhouse", "DETACH TABLE changes is not followed"),
    "DROP USER core CASCADE": ("oracle", "2 tables go with what is dropped"),
    "EXCHANGE TABLES core.sales AND mart.cpy": ("clickhouse", "mart.cpy is not in this catalog"),
    "RESTORE TABLE raw.orders TO VERSION AS OF 3": ("databricks", "RESTORE TABLE changes is not followed"),
    "ALTER TABLE core.sales INHERIT raw.orders": ("postgres", "ALTER TABLE changes is not followed"),
    "ALTER TABLE core.sales SWAP WITH mart.cpy": ("snowflake", "MART.CPY is not in this catalog"),
    "TRUNCATE raw.oders": ("postgres", "raw.oders is not in this catalog"),
    "BEGIN refresh(1); END;": ("oracle", "what is called here is not known"),
    "CREATE TRIGGER g AFTER INSERT ON raw.orders FOR EACH ROW EXECUTE FUNCTION f()": (
        "postgres",
        "what is called here is not known",
    ),
    "DROP PROCEDURE p; CALL p()": ("postgres", "what CALL runs is not known"),
    "GRANT SELECT ON raw.orders, raw.oders TO app": ("postgres", "raw.oders is not in this catalog: a mistyped name?"),
    "PREPARE q AS DELETE FROM raw.oders WHERE id = $1; EXECUTE q (1)": ("postgres", "raw.oders is not in this catalog"),
    "PREPARE q FROM @text; EXECUTE q": ("mysql", "dynamic_sql"),
    "ALTER TABLE mart.dark ADD CHECK (y > 0)": ("postgres", "mart.dark.y is not in this catalog"),
    "ALTER TABLE mart.dark ALTER COLUMN y SET NOT NULL": ("postgres", "mart.dark.y is not in this catalog"),
    "COMMENT ON COLUMN mart.dark.y IS 'x'": ("postgres", "mart.dark.y is not in this catalog"),
    "CREATE TABLE mart.n (a int); CREATE INDEX i ON mart.n (b)": ("postgres", "mart.n.b is not in this catalog"),
    "CREATE TABLE mart.n (a int REFERENCES raw.oders (id))": ("postgres", "raw.oders is not in this catalog"),
    "CREATE TABLE nosuch.t (a int)": ("postgres", "nosuch is not in this catalog: a mistyped name?"),
    "CREATE TRIGGER g AFTER UPDATE ON raw.oders FOR EACH ROW SET NEW.a = 1": ("mysql", "raw.oders is not in this"),
    "DROP SCHEMA IF EXISTS nosuch CASCADE": ("postgres", "nosuch is not in this catalog: a mistyped name?"),
    "GRANT SELECT (y) ON mart.dark TO app": ("postgres", "mart.dark.y is not in this catalog"),
    "GRANT USAGE ON SCHEMA nosuch TO app": ("postgres", "nosuch is not in this catalog: a mistyped name?"),
    "INSERT INTO mart.dark (y) VALUES (1)": ("postgres", "mart.dark.y is not in this catalog"),
    "UPDATE mart.dark SET y = 1": ("postgres", "mart.dark.y is not in this catalog"),
    "USE nosuch": ("mysql", "nosuch is not in this catalog: a mistyped name?"),
    "EXPLAIN SELECT nope FROM raw.orders": ("postgres", "unknown column: nope"),
    "EXPLAIN (ANALYZE, BUFFERS) TABLE raw.oders": ("postgres", "raw.oders is not in this catalog"),
    "EXPLAIN UPDATE raw.oders SET a = 1": ("postgres", "raw.oders is not in this catalog"),
    "EXPLAIN SELCT * FROM raw.orders": ("postgres", "selct is not in this catalog"),
    "EXPLAIN PLAN FOR SELECT * FROM raw.oders": ("oracle", "RAW.ODERS is not in this catalog"),
    "DECLARE c CURSOR FOR SELECT * FROM raw.oders": ("postgres", "raw.oders is not in this catalog"),
    "DESCRIBE raw.oders": ("mysql", "raw.oders is not in this catalog"),
    "DESC raw.orders nope": ("mysql", "raw.orders.nope is not in this catalog"),
    "SHOW INDEX FROM oders FROM raw": ("mysql", "raw.oders is not in this catalog"),
    "SUMMARIZE SELECT nope FROM raw.orders": ("duckdb", "unknown column: nope"),
    "ALTER TABLE raw.orders ADD COLUMN z int, ORDER BY z, nope DESC": ("mysql", "raw.orders.nope is not in this"),
    "ALTER TABLE raw.orders MODIFY TTL placed + INTERVAL 1 DAY, ADD INDEX i nope TYPE minmax": (
        "clickhouse",
        "raw.orders.nope is not in this catalog",
    ),
    "CREATE TABLE raw.n (a Int32) ENGINE = MergeTree ORDER BY a TTL nope + INTERVAL 1 DAY": (
        "clickhouse",
        "raw.n.nope is not in this catalog",
    ),
    "DBCC CHECKTABLE ('raw.oders')": ("tsql", "raw.oders is not in this catalog"),
    "DBCC SHRINKDATABASE (nosuch)": ("tsql", "nosuch is not in this catalog"),
    "CONVERT TO DELTA raw.oders": ("databricks", "raw.oders is not in this catalog"),
    "RESTORE raw.orders TO VERSION AS OF 3": ("databricks", "what depends on what RESTORE RAW changes is not followed"),
    "ASSERT EXISTS (SELECT nope FROM raw.orders) AS 'none'": ("bigquery", "unknown column: nope"),
    "CREATE MODEL raw.m AS SELECT nope FROM raw.orders": ("bigquery", "unknown column: nope"),
    "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f()": ("postgres", "what is called here is not known"),
}


@pytest.mark.parametrize("ddl", sorted(NOT_SAFE))
def test_what_is_not_read_or_not_known_is_not_called_safe(catalog: Path, ddl: str) -> None:
    dialect, told = NOT_SAFE[ddl]
    report = asked(catalog, ddl, dialect)
    assert not report.complete
    assert [one for one in report.unknown if told in one] != []


@pytest.mark.parametrize(
    "ddl",
    [
        "CREATE INDEX i ON raw.orders (id)",
        "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$",
        "GRANT SELECT ON raw.orders TO app; LOCK TABLE core.sales, raw.orders; VACUUM ANALYZE raw.orders; VACUUM",
        "GRANT USAGE ON SCHEMA raw TO app; GRANT reader TO app",
        "PREPARE q (int) AS DELETE FROM core.sales WHERE id = $1; EXECUTE q (1)",
        "CREATE PROCEDURE p() LANGUAGE sql AS $$ SELECT 1 $$; CALL p()",
        "CREATE TABLE raw.fresh (id int); CREATE INDEX i ON raw.fresh (id); COMMENT ON TABLE raw.fresh IS 'x'",
        "PREPARE p AS SELECT 1; EXECUTE p",
        "TRUNCATE raw.orders",
        "ALTER TABLE mart.dark ADD COLUMN y int CHECK (y > x), ADD UNIQUE (x, y); GRANT SELECT (y) ON mart.dark TO app",
        "ALTER TABLE raw.orders ADD FOREIGN KEY (cid) REFERENCES raw.customers (id) ON DELETE CASCADE",
        "CREATE SCHEMA fresh; CREATE TABLE fresh.t (a int REFERENCES raw.orders (id)); CREATE INDEX i ON fresh.t (a)",
        "CREATE TABLE mart.part (LIKE raw.orders); CREATE INDEX i ON mart.part (lower(total::text)) WHERE id > 1",
        "CREATE TABLE public.t (a int)",
        "GRANT USAGE ON SCHEMA raw TO x; COMMENT ON COLUMN raw.orders.total IS 'x'; REVOKE ALL ON DATABASE shop FROM x",
        "SET search_path TO raw, public; CREATE INDEX i ON orders (total); INSERT INTO orders (id) VALUES (1)",
        "EXPLAIN SELECT total FROM raw.orders; EXPLAIN DELETE FROM raw.orders; EXPLAIN CREATE TABLE x AS SELECT 1 AS a",
        "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;"
        " CREATE EVENT TRIGGER e ON sql_drop WHEN TAG IN ('DROP TABLE') EXECUTE FUNCTION f()",
        "SELECT count(*) FROM information_schema.tables, pg_stat_activity",
        "CREATE TABLE raw.part (z int, CHECK (total > z)) INHERITS (raw.orders)",
    ],
)
def test_what_touches_known_tables_alone_is_safe(catalog: Path, ddl: str) -> None:
    report = asked(catalog, ddl, "postgres")
    assert (report.complete, report.breaks, report.unknown) == (True, False, ())


@pytest.mark.parametrize("text", ["", "  \n", "-- nothing to do"])
def test_a_text_without_a_statement_is_refused(catalog: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="no statement"):
        asked(catalog, text)


def test_names_stand_in_the_schema_that_is_given(catalog: Path) -> None:
    dropped = "ALTER TABLE orders DROP COLUMN total"
    assert lines(asked(catalog, dropped, default_schema="raw")) == each("breaks", TOTAL)
    assert lines(asked(catalog, f"SET search_path TO raw; {dropped}")) == each("breaks", TOTAL)


def test_a_dialect_may_refuse_what_another_allows(catalog: Path) -> None:
    short = "ALTER TABLE mart.copy ADD COLUMN note text"
    assert not asked(catalog, short).breaks
    assert lines(asked(catalog, short, "duckdb")) == {"breaks mart.copy"}
    renamed = "ALTER TABLE raw.customers RENAME COLUMN city TO town"
    assert asked(catalog, renamed, "duckdb").breaks


SEEN = {
    "raw.clicks": {"page": "unknown", "visitor": "unknown"},
    "core.pages": {"page": "text"},
    "mart.pages": {"page": "text"},
    "raw.hits": {"page": "unknown"},
    "mart.hits": {"page": "text"},
    "core.visits": {"page": "text"},
    "raw.users": {"name": "unknown"},
}
SEEN_CASES: dict[str, tuple[set[str], int]] = {
    "ALTER TABLE raw.clicks DROP COLUMN page": ({"breaks core.pages.page", "breaks mart.pages.page"}, 4),
    "ALTER TABLE raw.clicks RENAME COLUMN page TO url": ({"breaks core.pages.page", "breaks mart.pages.page"}, 4),
    "ALTER TABLE raw.clicks DROP COLUMN visitor": ({"column dropped: raw.clicks.visitor"}, 0),
    "ALTER TABLE raw.clicks DROP COLUMN pagee": (
        {"column dropped: raw.clicks.pagee", "s.shop.raw.clicks.pagee is not in this catalog"},
        1,
    ),
    "ALTER TABLE raw.clicks ADD COLUMN seen date": ({"column added: raw.clicks.seen"}, 0),
    "ALTER TABLE raw.clicks ADD COLUMN page text": (set(), 0),
    "ALTER TABLE raw.hits ADD COLUMN seen date": ({"may break mart.hits"}, 1),
    "ALTER TABLE raw.hits ADD COLUMN at date": ({"may break core.visits", "may break mart.hits"}, 1),
    "ALTER TABLE raw.clicks ADD COLUMN seen date; ALTER TABLE raw.clicks DROP COLUMN seen": (set(), 0),
    "DROP TABLE raw.clicks; CREATE TABLE raw.clicks (visitor unknown, seen date)": (
        {"breaks core.pages.page", "breaks mart.pages.page"},
        4,
    ),
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog in which queries alone tell of the columns of raw.clicks, as of every source that no log creates."""
    file = tmp_path_factory.mktemp("seen") / "catalog.db"
    fills = (
        "CREATE TABLE core.pages AS SELECT page FROM raw.clicks",
        "INSERT INTO mart.pages SELECT * FROM core.pages",
        "INSERT INTO mart.hits SELECT * FROM raw.hits",
        "INSERT INTO core.visits SELECT h.page FROM raw.hits h JOIN raw.users u ON at > 1",
    )
    publish(file, SEEN, fills, seen=frozenset({"raw.clicks", "raw.hits", "raw.users"}))
    return file


@pytest.mark.parametrize("ddl", sorted(SEEN_CASES))
def test_effects_of_a_change_to_a_table_that_nothing_lists_the_columns_of(seen: Path, ddl: str) -> None:
    report = asked(seen, ddl)
    expected, code = SEEN_CASES[ddl]
    assert lines(report) == expected
    assert (4 if report.breaks else 0 if report.complete else 1) == code


def test_columns_that_are_replaced_go_though_queries_alone_tell_of_them(seen: Path) -> None:
    dropped = asked(seen, "ALTER TABLE raw.clicks DROP COLUMN page")
    assert dropped.breaks
    replaced = asked(seen, "ALTER TABLE raw.clicks REPLACE COLUMNS (other int)", "spark")
    assert replaced.breaks and set(lines(dropped)) <= set(lines(replaced))
    kept = asked(seen, "ALTER TABLE raw.clicks REPLACE COLUMNS (page string, other int)", "spark")
    assert not kept.breaks


def test_folders_that_end_the_same_columns_differ_in_nothing(seen: Path, tmp_path: Path) -> None:
    dropped = "ALTER TABLE raw.clicks DROP COLUMN gone; ALTER TABLE raw.clicks RENAME COLUMN old TO page"
    base = folder(tmp_path / "base", a=dropped)
    head = folder(tmp_path / "head", a=dropped, b="ALTER TABLE raw.clicks DROP COLUMN page")
    same = proposed_change(seen, ChangeOptions(diff=(base, base)), When(days=0)).content
    assert (same.changes, same.unknown) == ((), ())
    assert proposed_change(seen, ChangeOptions(diff=(base, head)), When(days=0)).content.breaks


def folder(path: Path, **files: str) -> str:
    path.mkdir()
    for name, text in files.items():
        (path / f"{name}.sql").write_text(text)
    return str(path)


def test_two_folders_are_compared_by_what_they_leave(catalog: Path, tmp_path: Path) -> None:
    """A migration that is new, a view that is written anew, and one that reads it and is not."""
    people = PEOPLE
    reader = "CREATE VIEW core.names AS SELECT name, city FROM core.people"
    base = folder(tmp_path / "base", a=people, b=reader, c="ALTER TABLE raw.orders ADD COLUMN seen date")
    head = folder(
        tmp_path / "head",
        a=people.replace(", c.city", ""),
        b=reader,
        c="ALTER TABLE raw.orders ADD COLUMN seen date",
        d="ALTER TABLE raw.orders DROP COLUMN total",
    )
    renamed = "ALTER TABLE old.orders RENAME COLUMN id TO oid; ALTER TABLE old.orders ADD COLUMN id text"
    for one in (base, head):
        (Path(one) / "_renamed.sql").write_text(f"{renamed}; DROP FUNCTION f(int); DO $$ BEGIN EXECUTE x; END $$")
    same = proposed_change(catalog, ChangeOptions(diff=(base, base)), When(days=0)).content
    assert (same.changes, same.unknown) == ((), ())
    report = proposed_change(catalog, ChangeOptions(diff=(base, head)), When(days=0)).content
    assert (report.reads, report.writes, report.unknown) == (("s.shop.raw.customers",), ("s.shop.core.people",), ())
    assert each("breaks", {*CITY, *TOTAL, "core.names.city"}) <= lines(report)
    assert report.breaks


def test_the_answer_is_written_for_people_machines_and_pull_requests(catalog: Path) -> None:
    command = ["impact", "--catalog", str(catalog), "--days", "0", "--ddl"]
    change = (
        "CREATE OR REPLACE VIEW mart.by_city AS SELECT city FROM core.sales WHERE city <> 's3cret'; "
        "DROP VIEW core.people"
    )
    done = CliRunner().invoke(app, [*command, change])
    assert done.exit_code == 4
    assert "breaks      s.shop.core.sales.city" in done.output
    data = json.loads(CliRunner().invoke(app, [*command, change, "--format", "json"]).output)
    assert (data["breaking"], data["complete"]) == (True, True)
    effects = [effect for one in data["changes"] if one["name"] == "s.shop.core.people" for effect in one["effects"]]
    copy = next(one for one in effects if one["name"] == "s.shop.mart.copy.city")
    assert copy["path"] == ["s.shop.core.people.city", "s.shop.core.sales.city", "s.shop.mart.copy.city"]
    page = CliRunner().invoke(app, [*command, change, "--format", "markdown"]).output
    assert page.startswith("### Lineage: downstream ")
    assert "| ❌ breaks | `s.shop.mart.copy.city` |" in page
    assert all("s3cret" not in text for text in (done.output, json.dumps(data), page))
    owned = CliRunner().invoke(app, [*command, "ALTER TABLE core.sales DROP COLUMN total"])
    assert "mart.by_city.total  (owner finance)" in owned.output


def test_what_cannot_be_answered_is_refused(catalog: Path) -> None:
    ran = CliRunner()
    drop = ["impact", "--ddl", "DROP TABLE a"]
    for wrong in (["impact"], [*drop, "--sql", "a.sql"], [*drop, "--format", "csv"]):
        assert ran.invoke(app, [*wrong, "--catalog", str(catalog)]).exit_code == 2
    unread = ran.invoke(app, ["impact", "--ddl", "ALTER TABLE 'secret", "--catalog", str(catalog)])
    assert unread.exit_code == 1
    assert "secret" not in unread.output
