"""A real warehouse: the csvlog of a PostgreSQL on which 83 scripts ran, against what that server itself says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.support.catalog_contents import REPOSITORY, opened
from tests.support.run_in_session import command_line

SHARED = REPOSITORY.parent / "shared" / "data" / "mimic_iii"
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the MIMIC-III log is not on this machine"),
]


@dataclass(frozen=True)
class Published:
    report: dict[str, Any]
    tables: dict[str, set[str]]
    columns: dict[str, list[str]]


@pytest.fixture(scope="module")
def published(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("mimic")
    (folder / "lineage.yaml").write_text(yaml.safe_dump(_config()))
    done = command_line(folder, "run", "-c", "lineage.yaml", "--report", "report.json")
    assert done.exit_code == 0, done.output
    tables: dict[str, set[str]] = {}
    with opened(folder / ".headwater" / "catalog.db") as catalog:
        for source, target in catalog.edges():
            tables.setdefault(target, set()).add(source)
        columns = {
            table["fullyQualifiedName"].split(".", 2)[2]: [column["name"] for column in table["columns"]]
            for table in catalog.listing("tables")
        }
    return Published(json.loads((folder / "report.json").read_text()), tables, columns)


def _config() -> dict[str, Any]:
    return {
        "source": {
            "type": "query-log-lineage",
            "serviceName": "hospital",
            "serviceConnection": {"config": {"type": "Postgres"}},
            "sourceConfig": {"config": {"type": "DatabaseLineage", "queryLogFilePath": str(SHARED / "query_log.csv")}},
        },
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {"schemaFiles": [{"path": str(SHARED / "schema.sql"), "database": "mimic", "schema": "mimiciii"}]},
    }


def _oracle() -> list[dict[str, Any]]:
    facts = [json.loads(line) for line in (SHARED / "oracle.jsonl").read_text().splitlines()]
    return [relation for relation in facts if "error" not in relation]


def test_every_relation_reads_exactly_the_tables_that_the_server_says(published: Published) -> None:
    wrong = {}
    for relation in _oracle():
        found = published.tables.get(f"mimiciii_derived.{relation['id']}", set())
        if found != set(relation["tables"]):
            wrong[relation["id"]] = found ^ set(relation["tables"])
    assert not wrong
    assert len(_oracle()) == 83


def test_every_relation_has_exactly_the_columns_that_the_server_says(published: Published) -> None:
    for relation in _oracle():
        assert published.columns[f"mimiciii_derived.{relation['id']}"] == relation["columns"]


def test_every_record_is_accounted_for(published: Published) -> None:
    counts = published.report["counts"]
    counted = counts["published"] + sum(counts["skipped"].values()) + sum(counts["dead"].values())
    assert counted == counts["statements"]
    assert counts["records_read"] == 95
    assert counts["dead"] == {}
