"""Every source of the index is a room as the interface has it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from connectors.source_settings import LineageConfig
from connectors.sources import OWN_TYPES, has_room, source_settings


@pytest.mark.parametrize("source_type", OWN_TYPES)
def test_a_source_has_its_settings(source_type: str) -> None:
    assert issubclass(source_settings(source_type), LineageConfig)


def test_a_database_whose_log_is_all_that_is_read_has_no_room() -> None:
    assert not has_room("snowflake-lineage")
    assert source_settings("snowflake-lineage") is LineageConfig


def test_no_configuration_loads_spark_or_a_client() -> None:
    """`ingest --help` and `ingest validate` start as fast as ever, whatever rooms there are."""
    code = "import sys, workflows.config; print([m for m in ('pyspark', 'requests', 'psycopg') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
