"""The same statements through every format and database give the same records, and one and the same catalog.

HEADWATER_FORMATS names a folder that generator/fetch_formats.sh filled with the jars, and a Spark that they fit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.catalog_contents import REPOSITORY
from tests.support.growing_log import Said, contributions_in
from tests.support.log_forms import ROWS, RUN

SECONDS = 240


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    formats = os.environ.get("HEADWATER_FORMATS")
    if not formats or not list(Path(formats, "jars").glob("sqlite-jdbc*.jar")):
        pytest.skip("set HEADWATER_FORMATS to a folder that generator/fetch_formats.sh filled")
    folder = tmp_path_factory.mktemp("forms")
    environment = {
        **os.environ, "PYTHONPATH": f"{formats}/spark:{REPOSITORY}", "SPARK_HOME": f"{formats}/spark/deps",
        "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONWARNINGS": "ignore",
    }  # fmt: skip
    command = [sys.executable, "-m", "tests.support.log_forms", str(folder), f"{formats}/jars"]
    done = subprocess.run(
        command, cwd=folder, env=environment, timeout=SECONDS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_every_form_gives_the_same_records(folder: Path) -> None:
    found = json.loads((folder / "records.json").read_text())
    assert len(found) == 12
    expected = found["csv"]
    assert (expected[0], len(expected) - 1) == (["Snowflake QUERY_HISTORY"], len(ROWS))
    assert {form: records for form, records in found.items() if records != expected} == {}


def test_every_form_gives_the_same_catalog(folder: Path) -> None:
    catalogs: dict[str, set[Said]] = {form: contributions_in(folder / form / "catalog.db") for form in RUN}
    assert {(one.source, one.target) for one in catalogs["csv"]} == {
        ("shop.SHOP.SALES.ORDERS", "shop.SHOP.SALES.Daily"),
        ("shop.SHOP.SALES.ORDERS", "shop.SHOP.SALES.WEEKLY"),
        ("shop.SHOP.SALES.ORDERS", "shop.SHOP.MART.NEWEST"),
    }
    assert {form for form, content in catalogs.items() if content != catalogs["csv"]} == set()
