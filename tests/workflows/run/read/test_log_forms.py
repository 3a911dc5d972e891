"""The same statements through every format and database give the same records, and one and the same catalog."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.growing_log import contributions_in
from tests.support.log_forms import ROWS, RUN


def test_every_form_gives_the_same_records(formats: Path) -> None:
    found = json.loads((formats / "forms" / "records.json").read_text())
    assert len(found) == 12
    expected = found["csv"]
    assert (expected[0], len(expected) - 1) == (["Snowflake QUERY_HISTORY"], len(ROWS))
    assert {form: records for form, records in found.items() if records != expected} == {}


def test_a_table_and_a_database_give_the_same_catalog(formats: Path) -> None:
    table, database = (contributions_in(formats / "forms" / form / "catalog.db") for form in RUN)
    assert {(one.source, one.target) for one in table} == {
        ("shop.SHOP.SALES.ORDERS", "shop.SHOP.SALES.Daily"),
        ("shop.SHOP.SALES.ORDERS", "shop.SHOP.SALES.WEEKLY"),
        ("shop.SHOP.SALES.ORDERS", "shop.SHOP.MART.NEWEST"),
    }
    assert database == table
