"""What the tests of the workflows share: a small configuration to start from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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
