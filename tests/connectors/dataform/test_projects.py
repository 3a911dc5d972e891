"""A Dataform project by its compiled graph, and what is no graph in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connectors.dataform.projects import is_dataform, open_dataform
from connectors.dataform.settings import DataformLineageConfig
from connectors.dataform.source import open_source
from connectors.source import SourceRun
from connectors.sql_files.lineage import SqlOptions, explain_in_sql, script_lineage
from ingestion.analysis.symbolic import loads
from ingestion.errors import ConfigError
from ingestion.model.lineage import StatementLineage


def action(name: str, schema: str = "mart", **given: Any) -> dict[str, Any]:
    return {
        "target": {"database": "hub", "schema": schema, "name": name},
        "fileName": f"definitions/{name}.sqlx",
        **given,
    }


GRAPH: dict[str, Any] = {
    "tables": [
        action(
            "daily",
            type="view",
            query="SELECT bean, SUM(kilos) AS kilos FROM `hub.raw.orders` GROUP BY 1",
            postOps=["GRANT SELECT ON x TO y"],
        ),
        action(
            "log",
            enumType="INCREMENTAL",
            query="SELECT bean FROM `hub.mart.daily`",
            incrementalQuery="SELECT bean FROM `hub.mart.daily` WHERE bean > (SELECT MAX(bean) FROM `hub.mart.log`)",
        ),
        action("off", type="table", query="SELECT x FROM y", disabled=True, preOps=["DELETE FROM z WHERE TRUE"]),
        action("empty", type="table"),
        {"query": "SELECT 1"},
    ],
    "operations": [
        action(
            "best", hasOutput=True, queries=["CREATE TABLE `hub.mart.best` AS SELECT bean AS top FROM `hub.mart.log`"]
        )
    ],
    "assertions": [action("rows", schema="checks", query="SELECT 1 FROM `hub.mart.daily`")],
    "declarations": [action("orders", schema="raw")],
    "notebooks": [{}],
    "graphErrors": {"compilationErrors": [{"fileName": "definitions/bad.sqlx", "message": "a secret"}]},
    "projectConfig": {"warehouse": "bigquery"},
    "dataformCoreVersion": "3.0.9",
}


def written(folder: Path, graph: object) -> Path:
    file = folder / "graph.json"
    file.write_text(json.dumps(graph))
    return file


def test_a_graph_is_read_action_by_action(tmp_path: Path) -> None:
    file = written(tmp_path, GRAPH)
    assert is_dataform(file)
    project = open_dataform(file)
    assert (project.dialect, [(model.dotted, model.kind) for model in project.models]) == (
        "bigquery",
        [("hub.mart.daily", "view"), ("hub.mart.log", "incremental"), ("hub.mart.best", "operation")],
    )
    assert [str(failure) for failure in project.failures] == [
        "definitions/empty.sqlx (compiled): malformed_record: it has no query",
        f"{file}: tables[4]: malformed_record: it has no target",
    ]
    assert list(project.notes) == [
        f"{file}: notebooks is no SQL: 1 not read",
        "1 assertions are no tables: not read",
        "1 statements before or after a query (pre_operations, post_operations): not read",
        "definitions/bad.sqlx: Dataform could not compile it",
        "1 actions are disabled: not read",
    ]


def test_what_the_service_answers_is_the_same_graph(tmp_path: Path) -> None:
    def of_service(one: dict[str, Any], **given: Any) -> dict[str, Any]:
        return {"target": one.get("target"), "filePath": one.get("fileName"), **given}

    daily, log, off, *_ = GRAPH["tables"]
    later = {"incrementalSelectQuery": log["incrementalQuery"]}
    actions = [
        of_service(daily, relation={"relationType": "VIEW", "selectQuery": daily["query"], "postOperations": ["x"]}),
        of_service(
            log,
            relation={
                "relationType": "INCREMENTAL_TABLE",
                "selectQuery": log["query"],
                "incrementalTableConfig": later,
            },
        ),
        of_service(off, relation={"relationType": "TABLE", "selectQuery": "SELECT 1", "disabled": True}),
        of_service(GRAPH["operations"][0], operations={"queries": GRAPH["operations"][0]["queries"]}),
        of_service(GRAPH["assertions"][0], assertion={"selectQuery": "SELECT 1"}),
        of_service(GRAPH["declarations"][0], declaration={}),
        of_service(daily, notebook={}),
        7,
    ]
    file = written(tmp_path, {"compilationResultActions": actions, "nextPageToken": "a secret"})
    assert is_dataform(file)
    (tmp_path / "compiled").mkdir()
    found, compiled = open_dataform(file), open_dataform(written(tmp_path / "compiled", GRAPH))
    assert [(one.key, one.text, one.kind) for one in found.models] == [
        (one.key, one.text, one.kind) for one in compiled.models
    ]
    assert not any("secret" in note for note in found.notes)
    assert any("one page of several" in note for note in found.notes)
    assert any("not read" in note and "actions" in note for note in found.notes)


def test_its_columns_flow_through_all_kinds_of_action(tmp_path: Path) -> None:
    lineage = script_lineage(str(written(tmp_path, GRAPH)), None, None, 30)
    edges = {(str(edge.source), str(edge.target)) for edge in lineage.edges if edge.type == "DIRECT"}
    assert edges == {
        ("hub.raw.orders.bean", "hub.mart.daily.bean"),
        ("hub.raw.orders.kilos", "hub.mart.daily.kilos"),
        ("hub.mart.daily.bean", "hub.mart.log.bean"),
        ("hub.mart.log.bean", "hub.mart.best.top"),
    }
    assert lineage.problems == ()


def test_a_declared_dependency_that_the_sql_does_not_confirm_is_told_and_not_certain(tmp_path: Path) -> None:
    names = [{"schema": "raw", "name": name} for name in ("orders", "beans", "days")]
    broken = "SELECT * FROM `hub.raw.orders` JOIN SELECT * FROM `hub.raw.beans` JOIN SELECT * FROM `hub.raw.days`"
    dependencies = [*names, {"schema": "ops", "name": "ready"}, {"schema": "ops"}]
    file = written(tmp_path, {"tables": [action("joined", type="view", query=broken, dependencyTargets=dependencies)]})
    (model,) = open_dataform(file).models
    # what it does not name only has to run before
    sources = ["hub.raw.orders", "hub.raw.beans", "hub.raw.days"]
    assert [".".join(key) for key in model.declared] == sources
    lineage = script_lineage(str(file), None, None, 30)
    assert {(source, "hub.mart.joined") for source in sources} <= set(lineage.reads)
    told = "definitions/joined.sqlx (compiled): it is declared to read hub.raw.days, which its SQL does not tell"
    assert told in lineage.notes
    with open_source(DataformLineageConfig(dataformGraphPath=str(file)), SourceRun("bigquery")) as opened:
        _view, recorded = opened.views()
    assert recorded.lineage is not None
    said = loads(recorded.lineage)
    assert isinstance(said, StatementLineage)
    assert (recorded.recorded_by, said.doubted) == ("dependencies of hub.mart.joined", True)
    assert [one.dotted for one in said.sources] == sources


def test_a_dependency_that_the_sql_confirms_is_not_told_again(tmp_path: Path) -> None:
    query = "SELECT bean FROM `hub.raw.orders`"
    table = action("all", type="view", query=query, dependencyTargets=[{"schema": "raw", "name": "orders"}])
    lineage = script_lineage(str(written(tmp_path, {"tables": [table]})), None, None, 30)
    assert (lineage.reads, lineage.notes) == ((("hub.raw.orders", "hub.mart.all"),), ())


@pytest.mark.parametrize("more", [{}, {"hasOutput": False}])
def test_an_operation_without_an_output_is_no_table_that_its_dependencies_lead_to(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    filled = ["CREATE TEMP TABLE x AS SELECT bean FROM `hub.raw.orders`", "INSERT INTO hub.mart.all SELECT bean FROM x"]
    dependencies = [{"schema": "raw", "name": "orders"}]
    loads_all = action("load_2026-11-01", queries=filled, dependencyTargets=dependencies, **more)
    lineage = script_lineage(str(written(tmp_path, {"operations": [loads_all]})), None, None, 30)
    assert {target for _source, target in lineage.reads} == {"x", "hub.mart.all"}
    assert not lineage.notes


def test_a_name_without_a_project_is_of_the_default_one_of_the_graph(tmp_path: Path) -> None:
    target = {"schema": "mart", "name": "daily"}
    graph = {
        "tables": [{"target": target, "query": "SELECT bean FROM raw.orders", "dependencyTargets": [{"schema": "raw",
                   "name": "orders"}]}],
        "operations": [action("fill", queries=["CREATE TEMP TABLE t AS SELECT bean FROM raw.orders;"
                                               "INSERT INTO mart.log SELECT bean FROM t"])],
        "projectConfig": {"warehouse": "bigquery", "defaultDatabase": "hub"},
    }  # fmt: skip
    file = written(tmp_path, graph)
    lineage = script_lineage(str(tmp_path), None, None, 30)  # the folder has the graph alone
    assert set(lineage.reads) == {("hub.raw.orders", "hub.mart.daily"), ("hub.raw.orders", "t"), ("t", "hub.mart.log")}
    assert not lineage.notes
    explained, _failures = explain_in_sql("hub.mart.daily.bean", SqlOptions(str(file)))
    assert "hub.raw.orders.bean" in str(explained)
    with open_source(DataformLineageConfig(dataformGraphPath=str(file)), SourceRun("bigquery")) as opened:
        assert opened.database == "hub"


def test_a_graph_beside_sql_files_is_not_read_for_them(tmp_path: Path) -> None:
    written(tmp_path, GRAPH)
    (tmp_path / "a.sql").write_text("SELECT 1")
    assert not is_dataform(tmp_path)


def test_sqlx_without_a_graph_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.sqlx").write_text('config {type: "view"}\nSELECT ${x} FROM ${ref("t")}')
    outside = tmp_path.parent / "outside.sqlx"
    outside.write_text("SELECT secret FROM t")
    (tmp_path / "b.sqlx").symlink_to(outside)
    assert is_dataform(tmp_path)
    assert is_dataform(tmp_path / "a.sqlx")
    lineage = script_lineage(str(tmp_path), None, None, 30)
    assert lineage.failures == (f"{tmp_path}/a.sqlx:1: templated: SQLX that is not compiled",)
    assert lineage.tables == ()
    assert any("dataform compile --json" in note for note in lineage.notes)
    assert any("b.sqlx: a link leads out" in note for note in lineage.notes)


def test_a_later_version_is_told_and_read(tmp_path: Path) -> None:
    project = open_dataform(written(tmp_path, {**GRAPH, "dataformCoreVersion": "11.2.0", "streams": [1, 2]}))
    assert len(project.models) == 3
    assert any("is of Dataform 11.2.0, newer than 3" in note for note in project.notes)
    assert any("streams is not known: 2 not read" in note for note in project.notes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"tables": [', r"graph.json:1: not whole JSON"),
        ('{"tables": 5}', "tables is no list"),
        ("[1]", "no compiled graph of Dataform"),
        ('{"nodes": {}}', "no compiled graph of Dataform"),
        ('{"tables": ' + "[" * 100_000, "nested too deeply|not whole JSON"),
        ("\x00", "not whole JSON|not JSON"),
        ('{"projectConfig": {"warehouse": "papyrus"}}', "warehouse papyrus is not known"),
    ],
)
def test_what_is_no_graph_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "graph.json").write_text(content)
    with pytest.raises(ConfigError, match=message) as raised:
        open_dataform(tmp_path / "graph.json")
    assert "\n" not in str(raised.value)


def test_a_graph_of_more_actions_than_a_project_has_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_text('{"tables": [' + "{}," * 50_000 + "{}]}")
    with pytest.raises(ConfigError, match="has more than 50000 actions: no project is as large"):
        open_dataform(file)


def test_a_folder_with_two_graphs_needs_one_to_be_named(tmp_path: Path) -> None:
    (tmp_path / "workflow_settings.yaml").write_text("")
    (tmp_path / "package.json").write_text('{"tables": []}')
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps(GRAPH))
    with pytest.raises(ConfigError, match=r"several compiled graphs \(one.json, two.json\)"):
        open_dataform(tmp_path)


def test_two_actions_of_one_name_are_both_dead(tmp_path: Path) -> None:
    twice = {"tables": [action("x", query="SELECT 1"), action("x", query="SELECT 2")]}
    reasons = {failure.reason for failure in open_dataform(written(tmp_path, twice)).failures}
    assert reasons == {"defined_twice: another model is called hub.mart.x too"}
