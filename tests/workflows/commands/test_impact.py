"""`ingest impact` and `ingest diff` on a catalog that a run filled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests
from typer.testing import CliRunner

from connectors.catalog.http.server import CatalogConfig, running_catalog
from workflows.cli import app


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """a.x makes b.y, until a loses x in 1970's third second."""
    file = tmp_path / "catalog.db"
    parents = {
        "services": [{"name": "s", "serviceType": "Postgres"}],
        "databases": [{"name": "d", "service": "s"}],
        "schemas": [{"name": "p", "database": "s.d"}],
    }
    tables = [
        {"name": name, "databaseSchema": "s.d.p", "columns": [{"name": column, "dataType": "INT"}]}
        for name, column in (("a", "x"), ("b", "y"))
    ]
    with running_catalog(CatalogConfig(file, port=0)) as address:
        calls = f"{address.url}/v1/headwater"
        made = requests.post(f"{calls}/tables", json={**parents, "tables": tables, "at": 1000}, timeout=10).json()
        ends = [{"id": table["id"], "type": "table"} for table in made["tables"]]
        said = {
            "producer": {"kind": "query", "key": "q"},
            "source": "QueryLineage",
            "columns": [{"from": ["s.d.p.a.x"], "to": "s.d.p.b.y", "type": "DIRECT"}],
            "firstSeen": 1000,
            "lastSeen": 1000,
        }
        edge = {"fromEntity": ends[0], "toEntity": ends[1], "contribution": said}
        requests.post(f"{calls}/lineage", json={"batchId": "b", "edges": [edge]}, timeout=10).raise_for_status()
        gone = {**tables[0], "columns": []}
        body = {"tables": [gone], "replaceColumns": True, "at": 3000}
        requests.post(f"{calls}/tables", json=body, timeout=10).raise_for_status()
    return file


def test_impact_lists_what_is_downstream(catalog: Path) -> None:
    command = ["impact", "a.x", "--catalog", str(catalog), "--as-of", "1970-01-01T00:00:02", "--days", "0"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    assert "s.d.p.b.y" in done.output
    as_json = json.loads(CliRunner().invoke(app, [*command, "--format", "json"]).output)
    assert as_json["counts"]["direct"] == 1
    rows = CliRunner().invoke(app, [*command, "--format", "csv"]).output.splitlines()
    assert rows[0] == "table,column,type,depth,path,not seen since"


def test_a_breaking_change_ends_with_4(catalog: Path) -> None:
    command = ["diff", "--catalog", str(catalog), "--from", "1970-01-01T00:00:02"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 4
    assert "breaks" in done.output
    assert "s.d.p.a.x" in done.output


def test_a_time_in_which_nothing_broke_ends_with_0(catalog: Path) -> None:
    command = ["diff", "--catalog", str(catalog), "--from", "1970-01-01T00:00:04", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    assert json.loads(done.output)["schemaChanges"] == []


def test_a_name_that_is_not_there_ends_with_2(catalog: Path) -> None:
    done = CliRunner().invoke(app, ["impact", "nothing.like.it", "--catalog", str(catalog)])
    assert done.exit_code == 2
