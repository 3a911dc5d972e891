"""Folders and files without SQL: what reads them is told, and nothing of them is taken for SQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.sql_files.lineage import script_lineage
from ingestion.errors import ConfigError

GRAPH = json.dumps({"tables": [], "projectConfig": {}})


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("views/a.view.lkml", "view: a {}", "is for ingest run, with source.type lookml"),
        ("model/a.tmdl", "table A", "is for ingest run, with source.type powerbi"),
        ("c.json", '{"config": {"connector.class": "x.Y"}}', "is for ingest run, with source.type kafka-connect"),
        ("d/metadata.yaml", "version: 1.0.0\ntype: Dashboard\n", "is for ingest run, with source.type superset"),
        ("cards/c.yml", "name: x\nserdes/meta:\n- id: y\n", "is for ingest run, with source.type metabase"),
        ("c.yaml", "apiVersion: v3.0.0\nkind: DataContract\n", "is a contract: ingest impact and ingest diff take it"),
        ("build/graph.json", GRAPH, "name the project's"),
        ("target/manifest.json", "{}", "name the project's"),
    ],
)
def test_what_reads_a_folder_without_sql_is_named(tmp_path: Path, name: str, content: str, told: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    (tmp_path / "README.md").write_text("beans")
    with pytest.raises(ConfigError) as refused:
        script_lineage(str(tmp_path), None, None, 30)
    assert str(refused.value).startswith(f"{tmp_path} holds no *.sql file; ")
    assert told in str(refused.value)
    assert str(file) in str(refused.value)
    if "ingest" in told:
        with pytest.raises(ConfigError, match=told.partition(",")[0]):
            script_lineage(str(file), None, None, 30)


def test_a_folder_of_which_nothing_is_known_holds_no_sql(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    with pytest.raises(ConfigError, match=r"holds no \*\.sql file$"):
        script_lineage(str(tmp_path), None, None, 30)


def test_models_in_python_alone_are_a_project(tmp_path: Path) -> None:
    (tmp_path / "beans.py").write_text(
        'from sqlmesh import model\n@model("mart.beans", columns={"x": "int"})\n'
        'def execute(context, **kw):\n    return context.resolve_table("raw.beans")\n'
    )
    assert script_lineage(str(tmp_path), None, None, 30).reads == (("raw.beans", "mart.beans"),)
