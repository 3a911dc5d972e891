"""Which procedures a run marks as done: each for itself, and none of which something is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from pyspark.sql import SparkSession

from connectors.openmetadata.client import connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.entities import Collection, put
from connectors.source_settings import LineageConfig
from ingestion.model.entities import EntityReference
from tests.behaviour.harness import add_tables, catalog_with
from tests.support.catalog_contents import Catalog, opened
from workflows.config import load_config
from workflows.counts import RunCounts
from workflows.run.resolve.routines import RoutineEntities, RoutineResolver
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress

BODIES = {
    "good": "INSERT INTO t (a) SELECT a FROM s",
    "calls_good_and_bad": "INSERT INTO t (b) SELECT b FROM s; CALL bad()",
    "bad": "INSERT INTO t (a) SELECT a FROM s; INSERT INTO t (a)) SELECT ((a FROM s",
    "reads_what_nobody_knows": "INSERT INTO t (a, b) SELECT s.a, n.b FROM s JOIN other_place.nowhere n ON n.a = s.a",
    "calls_what_nobody_knows": "INSERT INTO t (a) SELECT a FROM s; CALL nobody.knows()",
    "makes_up_its_sql": "INSERT INTO t (a) SELECT a FROM s; EXECUTE 'DELETE FROM ' || which",
}


def procedure(name: str, body: str) -> dict[str, Any]:
    text = f"CREATE PROCEDURE {name}() LANGUAGE plpgsql AS $$ BEGIN {body}; END $$"
    return {
        "name": name,
        "databaseSchema": "svc.db.public",
        "storedProcedureCode": {"language": "SQL", "code": text},
    }


def run(folder: Path) -> tuple[RunCounts, dict[str, bool]]:
    content = {
        "source": {
            "type": "postgres-lineage",
            "serviceName": "svc",
            "sourceConfig": {"config": {"type": "DatabaseLineage"}},
        },
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {
            "catalog": {"file": str(folder / "catalog.db")},
            "deadLetters": str(folder / "dead.jsonl"),
            "registerTables": "never",
            "defaults": {"database": "db"},
        },
    }
    (folder / "lineage.yaml").write_text(yaml.safe_dump(content))
    summary = run_workflow(load_config(folder / "lineage.yaml"), RunOptions("test"), LoggedProgress())
    with opened(folder / "catalog.db") as catalog:
        return summary.counts, _marked(catalog)


def _marked(catalog: Catalog) -> dict[str, bool]:
    return {one["name"]: bool(one.get("processedLineage")) for one in catalog.listing("storedProcedures")}


@pytest.mark.spark
def test_one_that_failed_is_not_marked_and_marks_or_spoils_no_other(spark: SparkSession, tmp_path: Path) -> None:
    tables = {"svc.db.public.s": ("a", "b"), "svc.db.public.t": ("a", "b")}
    with catalog_with(tmp_path / "catalog.db", tables) as (platform, _catalog):
        for name, body in BODIES.items():
            put(platform.http, Collection.PROCEDURES, procedure(name, body))
    counts, marked = run(tmp_path)
    counts.check_conservation()
    assert marked == {
        "good": True,
        "calls_good_and_bad": True,
        "bad": False,
        "reads_what_nobody_knows": False,
        "calls_what_nobody_knows": False,
        "makes_up_its_sql": True,
    }
    with catalog_with(tmp_path / "catalog.db", tables) as (platform, _catalog):
        put(platform.http, Collection.PROCEDURES, procedure("bad", "INSERT INTO t (b) SELECT b FROM s"))
        add_tables(platform, {"svc.db.other_place.nowhere": ("a", "b")})
    _counts, again = run(tmp_path)
    assert {name for name, done in again.items() if not done} == {"calls_what_nobody_knows"}


def test_a_procedure_that_is_gone_keeps_no_other_from_being_marked(tmp_path: Path) -> None:
    with catalog_with(tmp_path / "catalog.db", {"svc.db.public.s": ("a",)}) as (_platform, catalog):
        platform = connect(Connection(catalog.url))
        entities = {
            f"db.public.{name}": put(platform.http, Collection.PROCEDURES, procedure(name, "DELETE FROM s"))
            for name in ("a_gone", "kept")
        }
        gone: EntityReference = entities["db.public.a_gone"]
        requests.delete(f"{catalog.url}/v1/storedProcedures/{gone.id}?hardDelete=true", timeout=30).raise_for_status()
        resolver = RoutineResolver(platform, "svc", "Postgres", registers=False)
        resolver.mark_processed(RoutineEntities(entities), entities)
        platform.close()
        assert _marked(catalog) == {"kept": True}


def test_a_routine_of_which_nothing_says_the_schema_has_no_entity(tmp_path: Path) -> None:
    with catalog_with(tmp_path / "catalog.db", {}) as (platform, _catalog):
        found = RoutineResolver(platform, "svc", "Mysql", registers=True).resolve(
            {"default.p": ("DELETE FROM s",), "default.shop.q": ("DELETE FROM s",)}, LineageConfig()
        )
    assert (found.unplaced, found.failures, found.filtered) == (("default.p",), {}, frozenset())
    assert set(found.references) == {"default.shop.q"}
