"""One log in every form that Spark and its packages write, read as records and, from some, into catalogs.

python log_forms.py --root FOLDER --jars a.jar,b.jar: writes FOLDER/records.json, and a catalog in FOLDER/<form> each.
Needs a Spark that the jars are built for.
"""

from __future__ import annotations

import argparse
import csv
import json
import sqlite3
import uuid
from collections.abc import Sequence
from pathlib import Path

import yaml
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from connectors.query_log.reader import QueryLogOptions, open_query_log
from tests.support.growing_log import configuration
from workflows.config import load_config
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

TEXT, WHOLE = "string", "bigint"
NAMES = {
    "QUERY_TEXT": TEXT, "START_TIME": "timestamp", "USER_NAME": TEXT, "DATABASE_NAME": TEXT, "SCHEMA_NAME": TEXT,
    "SESSION_ID": WHOLE, "WAREHOUSE_NAME": TEXT, "EXECUTION_STATUS": TEXT, "TOTAL_ELAPSED_TIME": WHOLE,
    "ERROR_CODE": TEXT, "QUERY_TAG": TEXT,
}  # fmt: skip
STATEMENTS = (
    ("insert into \"Daily\"\nselect day, 'é' as tag from orders where city = 'Köln'", "SUCCESS", "nightly"),
    ("insert into gone select day from nowhere", "FAIL", None),
    ("create temporary table t as select day from orders", "SUCCESS", None),
    ("insert into weekly (day) select day from t", "SUCCESS", "weekly_17"),
    ("use schema MART", "SUCCESS", None),
    ("create view newest as select day from sales.orders", "SUCCESS", None),
)
ROWS = [
    (text, f"2026-11-20 08:0{minute}:00.250", "ANN", "SHOP", "SALES" if minute < 5 else "MART", 71, "W", status, 2500,
     "2003" if status == "FAIL" else None, job)
    for minute, (text, status, job) in enumerate(STATEMENTS)
]  # fmt: skip
BOGUS = (*ROWS[0][:5], 99, *ROWS[0][6:])
RUN = ("iceberg", "sqlite")
"""The forms from which a catalog is made as well."""

Source = dict[str, object]
"""Keys of the YAML that say where a log is."""


def write_texts(folder: Path) -> dict[str, Source]:
    """CSV and JSON lines."""
    with (folder / "log.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(NAMES), *ROWS])
    lines = (json.dumps(dict(zip(NAMES, row, strict=True))) for row in ROWS)
    (folder / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return {"csv": {"path": folder / "log.csv"}, "json": {"path": folder / "log.jsonl"}}


def write_tables(spark: SparkSession, folder: Path) -> dict[str, Source]:
    """Files and tables; of the tables a row was deleted, so that not all that lies in their directories is theirs."""
    found: dict[str, Source] = {}
    frame = _frame(spark, ROWS)
    for kind in ("parquet", "orc", "avro"):
        frame.repartition(2).write.format(kind).save(str(folder / "tables" / kind))
        found[kind] = {"path": folder / "tables" / kind}
    more = frame.union(_frame(spark, [BOGUS]))
    more.write.format("delta").save(str(folder / "tables" / "delta"))
    spark.sql(f"delete from delta.`{folder / 'tables' / 'delta'}` where SESSION_ID = 99")
    more.writeTo("lake.logs.history").using("iceberg").create()
    spark.sql("delete from lake.logs.history where SESSION_ID = 99")
    found["delta"] = {"path": folder / "tables" / "delta"}
    found["iceberg"] = {"path": folder / "lake" / "logs" / "history"}
    found["iceberg table"] = {"table": "lake.logs.history"}
    return found


def write_databases(spark: SparkSession, folder: Path) -> dict[str, Source]:
    """A database of SQLite, in which times are texts, and one of H2, in which they are times."""
    with sqlite3.connect(folder / "log.sqlite") as connection:
        columns = ", ".join(f"{name} {'integer' if kind == WHOLE else 'text'}" for name, kind in NAMES.items())
        connection.execute(f"create table history ({columns})")
        connection.executemany(f"insert into history values ({', '.join('?' * len(NAMES))})", ROWS)
    sqlite = {"url": f"jdbc:sqlite:{folder / 'log.sqlite'}", "driver": "org.sqlite.JDBC"}
    h2 = {"url": f"jdbc:h2:{folder / 'log'}", "driver": "org.h2.Driver"}
    frame = _frame(spark, ROWS)
    frame = frame.withColumn("START_TIME", frame["START_TIME"].cast("timestamp_ntz"))
    frame.write.format("jdbc").options(dbtable="history", **h2).save()
    shared = {"partitionColumn": "SESSION_ID", "lowerBound": "1", "upperBound": "90", "numPartitions": "2"}
    return {
        "sqlite": {"jdbc": {**sqlite, "dbtable": "history"}},
        "sqlite query": {"jdbc": {**sqlite, "query": "select * from history where SESSION_ID < 99"}},
        "h2": {"jdbc": {**h2, "dbtable": "history"}},
        "h2 in parts": {"jdbc": {**h2, "dbtable": "history", **shared}},
    }


def records(spark: SparkSession, source: Source) -> list[list[str]]:
    """What is read, without where it stands, which is of the form."""
    options = {name: value if isinstance(value, dict) else str(value) for name, value in source.items()}
    log = open_query_log(spark, QueryLogOptions(**options))  # type: ignore[arg-type]
    rows = [row.asDict() for row in log.records().collect()]
    assert len({row["source_id"] for row in rows}) == len(rows)
    shown = [[str(value) for name, value in row.items() if name != "source_id"] for row in rows]
    return [list(log.exporters), *sorted(shown)]


def write_configuration(folder: Path, form: str, source: Source) -> Path:
    """The YAML of a workflow over the log in one form, with a catalog of its own."""
    (folder / form).mkdir()
    file = configuration(folder / form)
    content = yaml.safe_load(file.read_text())
    content["source"]["serviceConnection"]["config"]["type"] = "Snowflake"
    lineage = content["source"]["sourceConfig"]["config"]
    del lineage["queryLogFilePath"], lineage["queryLogDuration"]
    if "path" in source:
        lineage["queryLogFilePath"] = str(source["path"])
    else:
        jdbc = source["jdbc"]
        assert isinstance(jdbc, dict)
        content["headwater"]["queryLogJdbc"] = {"table": jdbc.pop("dbtable"), **jdbc}
    file.write_text(yaml.safe_dump(content))
    return file


def _frame(spark: SparkSession, rows: Sequence[tuple[object, ...]]) -> DataFrame:
    frame = spark.createDataFrame(list(rows), ", ".join(f"{n} {k if k == WHOLE else TEXT}" for n, k in NAMES.items()))
    return frame.withColumn("START_TIME", F.col("START_TIME").cast(NAMES["START_TIME"]))


def _session_file(folder: Path, jars: str) -> Path:
    conf = {
        "spark.jars": jars,
        "spark.eventLog.enabled": "false",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # For a few rows, compiling costs more than it saves.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.ui.enabled": "false",
    }
    (folder / "session").mkdir()
    return configuration(folder / "session", spark={"master": "local[2]", "conf": conf})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--jars", required=True)
    options = parser.parse_args()
    place: Path = options.root
    configured = load_config(_session_file(place, options.jars), may_lack_log=True)
    with spark_session(configured.headwater.spark, GracefulShutdown()):
        session = SparkSession.active()
        sources = {**write_texts(place), **write_tables(session, place), **write_databases(session, place)}
        read = {form: records(session, source) for form, source in sources.items()}
        (place / "records.json").write_text(json.dumps(read))
        for name in RUN:
            config = load_config(write_configuration(place, name, sources[name]))
            run_workflow(config, RunOptions(uuid.uuid4().hex), LoggedProgress())
