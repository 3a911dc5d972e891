"""Dashboards in a run: what shows a column and who owns it, and what ends with a chart that is gone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import lookml_project, powerbi_project
from tests.support.growing_log import SPARK
from tests.support.run_in_session import command_line, run
from tests.support.superset_export import documents, export

pytestmark = pytest.mark.spark

SETTINGS = f"""\
source:
  type: superset
  serviceName: shop
  serviceConnection: {{config: {{type: Postgres}}}}
  sourceConfig: {{config: {{type: DatabaseLineage, dashboardPath: export.zip}}}}
sink: {{type: metadata-rest, config: {{}}}}
workflowConfig: {{successThreshold: 0, openMetadataServerConfig: {{hostPort: embedded}}}}
headwater:
  spark: {{master: "local[2]", conf: {json.dumps(SPARK)}}}
  catalog: {{file: catalog.db}}
  deadLetters: dead.jsonl
  state: {{url: state.db}}
  openLineage: {{transport: {{type: file, log_file_path: events.jsonl, append: true}}}}
"""


def asked(folder: Path, *question: str) -> str:
    done = command_line(folder, *question, "--catalog", "catalog.db")
    assert done.exit_code == 0, done.output
    return done.output


def test_impact_names_the_charts_and_dashboards_of_a_column_with_their_owners_until_they_are_gone(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.yaml").write_text(SETTINGS)
    (tmp_path / "export.zip").write_bytes(export(documents(owners=True)))

    counts = run(tmp_path).counts
    assert (counts.published, counts.skipped, counts.dead) == (6, {"no_query": 1}, {})
    events = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    written = {(one["namespace"], one["name"]) for event in events for one in event["outputs"]}
    assert {("superset", "GMV"), ("superset", "Sales"), ("superset", "model.orders")} <= written

    impact = asked(tmp_path, "impact", "shop.orders.total")
    assert sorted(impact.splitlines()[1:]) == [
        "  direct   superset.GMV  via superset.model.orders.gmv  (owner Ann Lee)",
        "  direct   superset.Sales by region  via superset.model.orders.total  (owner Ann Lee)",
        "  direct   superset.Sales.GMV  via superset.model.orders.gmv -> superset.GMV",
        "  direct   superset.Sales.Sales by region  via superset.model.orders.total -> superset.Sales by region",
        "  direct   superset.model.best customers.spent",
        "  direct   superset.model.orders.gmv",
        "  direct   superset.model.orders.net",
        "  direct   superset.model.orders.total",
        "  indirect superset.GMV (every row)  via superset.model.orders.net  (owner Ann Lee)",
        "2 data models, 2 charts, 1 dashboard: 8 direct, 1 indirect, 0 table",
    ]
    explained = asked(tmp_path, "explain", "superset.Sales by region")
    assert "made of: shop.shopdb.shop.orders.total, shop.shopdb.shop.orders.region" in explained
    assert "and depending on: shop.shopdb.shop.orders.placed" in explained
    assert "sesame" not in asked(tmp_path, "export", "--html", "-")

    (tmp_path / "export.zip").write_bytes(export(documents(without="GMV")))
    assert run(tmp_path).counts.dead == {}
    assert "GMV" not in asked(tmp_path, "impact", "shop.orders.total")

    # what cannot be read may have it still: nothing ends
    damaged = {**documents(without="Who"), "charts/x.yaml": {"slice_name": "x", "version": "9.0.0"}}
    (tmp_path / "export.zip").write_bytes(export(damaged))
    problem = "malformed_record:version 9.0.0 of Superset's export is not known: 1.0.0 is"
    assert run(tmp_path).counts.dead == {problem: 1}
    assert "superset.Who" in asked(tmp_path, "impact", "shop.customers.name")


def test_a_tile_of_looker_leads_through_its_explore_and_its_views_to_tables(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.yaml").write_text(SETTINGS.replace("superset", "lookml").replace("export.zip", "project"))
    for name, text in lookml_project.FILES.items():
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(text)

    counts = run(tmp_path).counts

    assert (counts.published, counts.skipped) == (6, {"no_query": 2, "no_dataset": 2})
    assert counts.dead == {"templated": 1, "unsupported:merged_queries": 1}
    impact = asked(tmp_path, "impact", "shop.orders.tax").splitlines()
    assert "  direct   looker.Sales.Paid  via " in "".join(impact)
    explained = asked(tmp_path, "explain", "looker.Paid")
    assert {f"shop.default.shop.orders.{name}" in explained for name in ("total", "tax", "placed_at")} == {True}


def test_a_visual_of_power_bi_leads_through_measures_and_tables_of_its_model_to_columns(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.yaml").write_text(SETTINGS.replace("superset", "powerbi").replace("export.zip", "project"))
    unlinked = "table Files\n\tcolumn Price\n\t\tsourceColumn: p\n\tcolumn Twice = [Price] * 2\n"
    for name, text in {**powerbi_project.FILES, "Sales.SemanticModel/definition/f.tmdl": unlinked}.items():
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(text)

    counts = run(tmp_path).counts

    assert (counts.published, counts.skipped, counts.dead) == (7, {"no_dataset": 1}, {})
    impact = asked(tmp_path, "impact", "shopdb.shop.orders.total").splitlines()
    way = "powerbi.model.Sales/Orders.Net -> powerbi.model.Sales.Total"
    assert f"  direct   powerbi.Sales/Overview/Sales by region  via {way}" in impact
    assert "  direct   powerbi.Sales/Overview/card Gross  via powerbi.model.Sales/Orders.Gross" in impact
    assert "powerbi.model.Sales/Files.Twice" in asked(tmp_path, "impact", "powerbi.model.Sales/Files.Price")
    assert "sesame" not in asked(tmp_path, "export", "--html", "-")
