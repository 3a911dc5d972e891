"""Streams in a run: the chain from a database's column over a topic's field into a table's column is whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connectors.openmetadata.entities import TableDefinition
from connectors.openmetadata.registration import register
from ingestion.model.lineage import Column
from tests.support.connectors_of_connect import CHANGES, SINK, as_file
from tests.support.growing_log import SPARK
from tests.support.run_in_session import command_line, run
from workflows.config import EmbeddedCatalog
from workflows.target import platform_of

pytestmark = pytest.mark.spark

SETTINGS = f"""\
source:
  type: kafka-connect
  serviceName: events
  sourceConfig: {{config: {{connectorPath: connectors}}}}
sink: {{type: metadata-rest, config: {{}}}}
workflowConfig: {{successThreshold: 0, openMetadataServerConfig: {{hostPort: embedded}}}}
headwater:
  spark: {{master: "local[2]", conf: {json.dumps(SPARK)}}}
  catalog: {{file: catalog.db}}
  deadLetters: dead.jsonl
  state: {{url: state.db}}
  sparkNames:
    jdbc:
      - {{url: "jdbc:postgresql://db.example/shopdb", to: shop}}
      - {{url: "jdbc:postgresql://warehouse.example/dwh", to: warehouse}}
"""


def file_tables(catalog: Path) -> None:
    """The tables of the database behind the connectors, as a run over its own log would have filed them."""
    columns = tuple(map(Column, ("id", "total", "note")))
    tables = (TableDefinition("shop.shopdb.shop", "orders", columns).to_json(),)
    with platform_of(EmbeddedCatalog(file=catalog)) as platform:
        register(
            platform,
            {
                "services": [{"name": "shop", "serviceType": "Postgres"}],
                "databases": [{"name": "shopdb", "service": "shop"}],
                "schemas": [{"name": "shop", "database": "shop.shopdb"}],
                "tables": tables,
            },
        )


def asked(folder: Path, *question: str) -> str:
    done = command_line(folder, *question, "--catalog", "catalog.db")
    assert done.exit_code == 0, done.output
    return done.output


def test_a_connectors_table_a_topic_and_a_sinks_table_are_one_chain(
    tmp_path: Path, spark: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lineage.yaml").write_text(SETTINGS)
    file_tables(tmp_path / "catalog.db")
    folder = tmp_path / "connectors"
    folder.mkdir()
    (folder / "all.json").write_text(as_file(CHANGES, SINK))
    counts = run(tmp_path).counts

    assert (counts.published, counts.skipped, counts.dead) == (4, {}, {})
    impact = asked(tmp_path, "impact", "shop.shopdb.shop.orders.total").splitlines()
    assert impact[1:] == [
        "  direct   events.shop-orders.total",
        "  direct   warehouse.dwh.mart.shop-orders_raw.amount  via events.shop-orders.total",
        "2 tables: 2 direct, 0 indirect, 0 table",
    ]
    assert impact[0] == "shop.shopdb.shop.orders.total"
    edges = asked(tmp_path, "export", "--csv", "-")
    assert "shop.shopdb.shop.customers,email,kafka://events/shop-customers,email,direct,transformation,yes" in edges
    assert "note,warehouse" not in edges
    assert "sesame" not in edges + asked(tmp_path, "export", "--html", "-")
    (tmp_path / "state.db").unlink()
    again = run(tmp_path).counts
    assert (again.published, again.edges.new, again.edges.replaced) == (4, 0, 0)
