"""What the tests of the workflows share: a small configuration to start from, and what a whole run leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.support.growing_log import Said

MINIMAL = """\
source:
  type: query-log-lineage
  serviceName: shop
  serviceConnection: {config: {type: Postgres}}
  sourceConfig:
    config:
      type: DatabaseLineage
      queryLogFilePath: log.csv
"""


@pytest.fixture
def workflow_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes a YAML beside a query log and makes that directory the current one; without a text the smallest."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("query_text\nselect 1\n")

    def write(text: str = MINIMAL) -> Path:
        (tmp_path / "lineage.yaml").write_text(text)
        return Path("lineage.yaml")

    return write


@pytest.fixture
def minimal() -> str:
    """The smallest configuration."""
    return MINIMAL


@pytest.fixture(scope="session")
def undisturbed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> set[Said]:
    """What one run over the whole of SHOP leaves, when nothing disturbs it."""
    from tests.support.growing_log import SHOP, configuration, contributions_in, rows_of, write_log
    from tests.support.run_in_session import run

    folder = tmp_path_factory.mktemp("undisturbed")
    write_log(folder / "log" / "all.csv", rows_of(SHOP))
    configuration(folder)
    run(folder)
    return contributions_in(folder / "catalog.db")
