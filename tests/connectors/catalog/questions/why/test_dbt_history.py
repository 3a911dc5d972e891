"""A dbt project whose models and tests really run, from its artifacts to the model that changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from pyspark.sql import SparkSession

from connectors.catalog.questions.answer import When
from connectors.catalog.questions.why.report import CauseReport
from connectors.catalog.questions.why.search import causes_in_file
from tests.support.live_postgres import Session, server
from tests.support.run_in_session import run

pytestmark = pytest.mark.spark

START = datetime(2026, 11, 2, 2, tzinfo=UTC)
RAW = (
    "CREATE TABLE raw_orders AS SELECT n AS id, n * 10 AS total, n * 7 AS net, 'x' AS note FROM generate_series(1, 9) n"
)
MODELS = {
    "stg_orders": (
        "view",
        "SELECT id, total AS amount, note FROM {db}.public.raw_orders",
        ["source.shop.raw.raw_orders"],
    ),
    "notes": (
        "table",
        "SELECT note, count(*) AS n FROM {db}.public.stg_orders GROUP BY note",
        ["model.shop.stg_orders"],
    ),
    "sales": ("table", "SELECT id, amount FROM {db}.public.stg_orders", ["model.shop.stg_orders"]),
    "daily": ("table", "SELECT sum(amount) AS revenue FROM {db}.public.sales", ["model.shop.sales"]),
}
TESTS = {
    "positive_daily_revenue": ("daily", "revenue", "positive", "SELECT * FROM public.daily WHERE revenue <= 0"),
    "not_null_notes_note": ("notes", "note", "not_null", "SELECT * FROM public.notes WHERE note IS NULL"),
}


class Project:
    """The project `shop`, built once a day into a database, and read by a run after that."""

    def __init__(self, folder: Path, session: Session) -> None:
        self.folder = folder
        self.session = session
        self.database = session.info.dbname
        settings = {"type": "DBT", "dbtConfigSource": {"dbtConfigType": "local", **self._files()}}
        content = {
            "source": {"type": "dbt", "serviceName": "shop", "sourceConfig": {"config": settings}},
            "sink": {"type": "metadata-rest", "config": {}},
            "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}},
            "headwater": {
                "catalog": {"file": str(folder / "catalog.db")},
                "deadLetters": str(folder / "dead.jsonl"),
                "state": {"url": str(folder / "state.db")},
            },
        }
        (folder / "lineage.yaml").write_text(yaml.safe_dump(content))

    def _files(self) -> dict[str, str]:
        names = {"dbtManifestFilePath": "manifest.json", "dbtRunResultsFilePath": "run_results.json"}
        return {key: str(self.folder / name) for key, name in names.items()}

    def build(self, day: int, **changed: str) -> dict[str, int]:
        """What `dbt build` does on a day with these queries of models; how many rows failed each test.

        A model whose query fails stays as it was.
        """
        at = START + timedelta(days=day)
        queries = {name: changed.get(name, query).format(db=self.database) for name, (_, query, _) in MODELS.items()}
        results = []
        for name, (kind, _, _) in MODELS.items():
            try:
                with self.session.transaction():
                    self.session.execute(f"DROP {kind} IF EXISTS public.{name} CASCADE".encode())
                    made = self.session.execute(f"CREATE {kind} public.{name} AS {queries[name]}".encode())
                results.append(self._result(f"model.shop.{name}", "success", at, {"rows_affected": made.rowcount}))
            except psycopg.Error:
                results.append(self._result(f"model.shop.{name}", "error", at, {}))
        failures = {name: self.session.execute(query.encode()).rowcount for name, (*_, query) in TESTS.items()}
        for name, failed in failures.items():
            status = "fail" if failed else "pass"
            results.append({**self._result(f"test.shop.{name}.1", status, at, {}), "failures": failed})
        schema = "https://schemas.getdbt.com/dbt/run-results/v6.json"
        metadata = {"dbt_schema_version": schema, "generated_at": self._moment(at, 2)}
        (self.folder / "run_results.json").write_text(json.dumps({"metadata": metadata, "results": results}))
        (self.folder / "manifest.json").write_text(json.dumps(self._manifest(queries, at)))
        run(self.folder)
        return failures

    def _result(self, node: str, status: str, at: datetime, response: dict[str, int]) -> dict[str, Any]:
        timing = [{"name": "execute", "started_at": self._moment(at, 1), "completed_at": self._moment(at, 1)}]
        return {"unique_id": node, "status": status, "timing": timing, "adapter_response": response, "failures": None}

    def _moment(self, at: datetime, minutes: int) -> str:
        return (at + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")

    def _manifest(self, queries: dict[str, str], at: datetime) -> dict[str, Any]:
        nodes: dict[str, Any] = {}
        for name, (kind, _, reads) in MODELS.items():
            nodes[f"model.shop.{name}"] = {
                **self._place("model", name),
                "compiled_code": queries[name],
                "original_file_path": f"models/{name}.sql",
                "config": {"materialized": kind},
                "depends_on": {"nodes": reads},
            }
        for name, (model, column, kind, query) in TESTS.items():
            nodes[f"test.shop.{name}.1"] = {
                **self._place("test", name),
                "compiled_code": query,
                "column_name": column,
                "attached_node": f"model.shop.{model}",
                "test_metadata": {"name": kind},
                "depends_on": {"nodes": [f"model.shop.{model}"]},
            }
        source = {**self._place("source", "raw_orders"), "identifier": "raw_orders"}
        schema = "https://schemas.getdbt.com/dbt/manifest/v12.json"
        metadata = {"dbt_schema_version": schema, "adapter_type": "postgres", "project_name": "shop"}
        metadata["generated_at"] = self._moment(at, 0)
        return {"metadata": metadata, "nodes": nodes, "sources": {"source.shop.raw.raw_orders": source}}

    def _place(self, kind: str, name: str) -> dict[str, Any]:
        relation = f'"{self.database}"."public"."{name}"'
        place = {"database": self.database, "schema": "public", "name": name, "relation_name": relation}
        return {**place, "resource_type": kind, "package_name": "shop"}

    def why(self, name: str, day: int) -> CauseReport:
        at = START + timedelta(days=day, hours=1)
        return causes_in_file(self.folder / "catalog.db", name, When(round(at.timestamp() * 1000))).content


@pytest.fixture
def project(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with server(tmp_path_factory.mktemp("pg")) as (_, uri), psycopg.connect(uri, autocommit=True) as session:
        session.execute(RAW.encode())
        yield Project(tmp_path, session)


def test_the_model_that_failed_and_later_the_one_that_changed_is_named_first(
    spark: SparkSession, project: Project
) -> None:
    passed = {"positive_daily_revenue": 0, "not_null_notes_note": 0}
    assert project.build(0) == passed
    assert project.build(1, sales=MODELS["sales"][1].replace("amount FROM", "amount / 0 AS amount FROM")) == passed
    first = project.why("daily.revenue", 1).accused[0]
    assert first.table.endswith(".public.sales")
    assert "load failed: dbt model.shop.sales" in [evidence.text for evidence in first.evidence]

    negative = MODELS["stg_orders"][1].replace("total AS amount", "net - total * 2 AS amount")
    assert project.build(2, stg_orders=negative) == {**passed, "positive_daily_revenue": 1}
    report = project.why("daily.revenue", 2)
    assert [test.name for test in report.symptom.failing] == ["positive"]
    first = report.accused[0]
    assert first.table.endswith(".public.stg_orders")
    assert [node[1] for node in first.way.nodes] == ["amount", "amount", "revenue"]
    assert first.evidence[0].text.startswith("definition changed (amount): amount: total -> ")
