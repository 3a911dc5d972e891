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


TABLES = """\
CREATE TABLE orders (id INT, total DECIMAL(10, 2), doubled AS total * 2, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH (
  'connector' = 'kafka', 'topic' = 'shop-orders', 'properties.bootstrap.servers' = 'broker:9092',
  'format' = 'debezium-json',
  'properties.sasl.jaas.config' = 'org.apache.kafka.PlainLoginModule required password="open-sesame"');
CREATE TABLE daily (d STRING, sales DOUBLE) WITH ('connector' = 'jdbc', 'password' = 'open-sesame',
  'url' = 'jdbc:postgresql://warehouse.example:5432/dwh', 'table-name' = 'mart.daily');
"""
JOB = """\
SET 'execution.runtime-mode' = 'streaming';
EXECUTE STATEMENT SET BEGIN
INSERT INTO daily SELECT CAST(window_start AS STRING), SUM(doubled)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' DAY)) GROUP BY window_start, window_end;
END;
"""
LOG = f"""\
source:
  type: query-log-lineage
  serviceName: warehouse
  serviceConnection: {{config: {{type: Postgres}}}}
  sourceConfig: {{config: {{type: DatabaseLineage, queryLogFilePath: log.csv}}}}
sink: {{type: metadata-rest, config: {{}}}}
workflowConfig: {{openMetadataServerConfig: {{hostPort: embedded}}}}
headwater:
  spark: {{master: "local[2]", conf: {json.dumps(SPARK)}}}
  catalog: {{file: catalog.db}}
  defaults: {{database: dwh}}
  state: {{url: state.db}}
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


def test_a_column_a_topics_field_and_the_columns_behind_it_are_one_chain(
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
        "1 table, 1 topic: 2 direct, 0 indirect, 0 table",
    ]
    assert impact[0] == "shop.shopdb.shop.orders.total"
    edges = asked(tmp_path, "export", "--csv", "-")
    assert "shop.shopdb.shop.customers,email,kafka://events/shop-customers,email,direct,transformation,yes" in edges
    assert "note,warehouse" not in edges
    assert "sesame" not in edges + asked(tmp_path, "export", "--html", "-")
    (tmp_path / "state.db").unlink()
    again = run(tmp_path).counts
    assert (again.published, again.edges.new, again.edges.replaced) == (4, 0, 0)

    # a script of Flink takes the topic up, and the log of the warehouse what the script writes there
    flink = SETTINGS.replace("kafka-connect", "flink-sql").replace("connectorPath: connectors", "scriptPath: scripts")
    paths = '    paths: [{prefix: "kafka://broker:9092", to: events}]\n'
    (tmp_path / "lineage.yaml").write_text(flink.replace("serviceName: events", "serviceName: flink") + paths)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "1_tables.sql").write_text(TABLES)
    (tmp_path / "scripts" / "2_job.sql").write_text(JOB)
    (tmp_path / "scripts" / "bytes.sql").write_bytes(b"\xff\x00")
    (tmp_path / "scripts" / "cut.sql").write_text("INSERT INTO daily SELECT 'x FROM orders;")
    counts = run(tmp_path).counts
    assert (counts.published, counts.skipped) == (1, {"definition": 2, "session_setting": 1})
    assert counts.dead == {"ill_formed": 1, "malformed_record:it is not UTF-8 text": 1}
    (tmp_path / "lineage.yaml").write_text(LOG)
    (tmp_path / "log.csv").write_text(
        "query_text,start_time,session_id\n"
        '"INSERT INTO mart.report (gmv) SELECT sum(sales) FROM mart.daily",2026-11-20 08:00:00,1\n'
    )
    assert run(tmp_path).counts.published == 1
    assert sorted(asked(tmp_path, "impact", "shop.shopdb.shop.orders.total").splitlines()[1:]) == [
        "  direct   events.shop-orders.total",
        "  direct   warehouse.dwh.mart.daily.sales  via events.shop-orders.total",
        "  direct   warehouse.dwh.mart.report.gmv  via events.shop-orders.total -> warehouse.dwh.mart.daily.sales",
        "  direct   warehouse.dwh.mart.shop-orders_raw.amount  via events.shop-orders.total",
        "3 tables, 1 topic: 4 direct, 0 indirect, 0 table",
    ]
    explained = asked(tmp_path, "explain", "warehouse.dwh.mart.report.gmv")
    assert "shop.shopdb.shop.orders.total" in explained
    page = asked(tmp_path, "export", "--html", "-")
    assert "shop-orders" in page
    assert "sesame" not in page + (tmp_path / "dead.jsonl").read_text()
