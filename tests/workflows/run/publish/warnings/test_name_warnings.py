"""Where a log tells too little of a name, the run says which key of the configuration mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.behaviour.harness import Record, Warehouse
from tests.support.generated_log import ran

FILLS = "INSERT INTO {} (a) SELECT a FROM {}"


def log(*pairs: tuple[str, str]) -> list[Record]:
    return [Record(FILLS.format(*pair), at=float(at)) for at, pair in enumerate(pairs, 1)]


@pytest.mark.parametrize("dialect", ["mysql", "bigquery", "oracle", "trino", "teradata", "db2"])
def test_a_name_without_a_schema_names_the_key_where_nothing_is_registered(tmp_path: Path, dialect: str) -> None:
    found = ran(tmp_path, log(("t", "s")), None, Warehouse(dialect, schema=""), registerTables="never")
    assert found.outcomes == {1.0: ("skipped", "no_default_schema")}
    (warning,) = found.warnings
    assert warning.startswith("2 names have no schema")
    assert "set headwater.defaults.schema" in warning
    assert ("which is the database there" in warning) is (dialect in ("mysql", "teradata"))


def test_a_name_whose_database_nothing_tells_names_the_key(tmp_path: Path) -> None:
    warehouse = Warehouse("bigquery", database="default", schema="")
    found = ran(tmp_path, log(("web.t", "web.s")), None, warehouse, registerTables="never")
    (warning,) = found.warnings
    assert "nothing tells the database of 2 names that were not found (web.s, web.t)" in warning
    assert "set headwater.defaults.database" in warning


def test_a_table_that_stands_with_a_database_and_without_is_named(tmp_path: Path) -> None:
    pairs = log(("web.t", "lake.web.s"), ("web.u", "web.s"))
    found = ran(tmp_path, pairs, None, Warehouse("bigquery", database="default", schema=""))
    assert {status for status, _reason in found.outcomes.values()} == {"published"}
    (warning,) = found.warnings
    assert "(web.s and lake.web.s), and are kept apart: if they are one, set headwater.defaults.database" in warning
    again = ran(tmp_path / "told", pairs, None, Warehouse("bigquery", database="lake", schema=""))
    assert again.warnings == ()


@pytest.mark.parametrize(
    ("dialect", "names", "kept_apart"),
    [
        ("mysql", ("shop.Daily", "shop.daily"), "default.shop.Daily and default.shop.daily"),
        ("bigquery", ("web.Daily", "web.daily"), "db.web.Daily and db.web.daily"),
        ("postgres", ('web."Daily"', "web.daily"), "db.web.Daily and db.web.daily"),
        ("snowflake", ('web."daily"', "web.daily"), "db.WEB.DAILY and db.WEB.daily"),
        ("tsql", ("web.[Daily]", "WEB.daily"), None),
        ("trino", ('web."Daily"', "WEB.daily"), None),
        ("hive", ("web.`Daily`", "WEB.daily"), None),
        ("postgres", ("WEB.Daily", "web.daily"), None),
    ],
)
def test_names_that_differ_in_case_are_one_or_are_named(
    tmp_path: Path, dialect: str, names: tuple[str, str], kept_apart: str | None
) -> None:
    database = "default" if dialect == "mysql" else "db"
    pairs = log(*((name, "web.s" if dialect != "mysql" else "shop.s") for name in names))
    found = ran(tmp_path, pairs, None, Warehouse(dialect, database=database))
    assert len({target for _source, target, *_rest in found.edges}) == (2 if kept_apart else 1)
    assert [kept_apart in warning for warning in found.warnings if kept_apart] == [True] * bool(kept_apart)
    assert bool(found.warnings) is bool(kept_apart)
