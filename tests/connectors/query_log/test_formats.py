"""One log in every form that it may come in gives the same records."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from connectors.query_log import text_files as slicing
from connectors.query_log.reader import QueryLogOptions, open_query_log
from ingestion.errors import ConfigError

pytestmark = pytest.mark.spark

NAMES = ("QUERY_TEXT", "START_TIME", "USER_NAME", "DATABASE_NAME", "SCHEMA_NAME", "SESSION_ID", "WAREHOUSE_NAME",
         "EXECUTION_STATUS", "TOTAL_ELAPSED_TIME", "ERROR_CODE")  # fmt: skip
ROWS = [
    ("insert into \"T\"\nselect 'é', 1 from s", "2026-11-20 08:00:00.25", "ANN", "SHOP", "SALES", 71, "W", "SUCCESS",
     2500, None),
    ("insert into gone select 2 from s", "2026-11-20 08:01:00", "BOB", "SHOP", None, 72, "W", "FAIL", 10, "2003"),
    ("use schema MART", "2026-11-20 08:02:00", "ANN", "SHOP", "SALES", 71, "W", "SUCCESS", 1, None),
]  # fmt: skip


def without_places(rows: list[Row]) -> list[dict[str, object]]:
    """The records without their places, which are those of the form."""
    records = [{name: value for name, value in row.asDict().items() if name != "source_id"} for row in rows]
    return sorted(records, key=lambda record: str(record["start_time"]))


def read(spark: SparkSession, options: QueryLogOptions) -> list[dict[str, object]]:
    log = open_query_log(spark, options)
    assert list(log.exporters) == ["Snowflake QUERY_HISTORY"]
    rows = log.records().collect()
    assert len({row.source_id for row in rows}) == len(rows)
    assert all(row.source_id.rpartition(":")[2].isdigit() for row in rows)
    return without_places(rows)


@pytest.fixture(scope="module")
def expected(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    file = tmp_path_factory.mktemp("csv") / "log.csv"
    file.write_text(as_csv(), "utf-8")
    found = read(spark, QueryLogOptions(str(file)))
    assert [(record["status"], record["duration"], record["session"]) for record in found] == [
        (None, 2.5, "71"), ("failed", 0.01, "72"), (None, 0.001, "71"),
    ]  # fmt: skip
    return found


def as_csv(delimiter: str = ",", quote: str = '"') -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quotechar=quote, quoting=csv.QUOTE_ALL)
    writer.writerows([NAMES, *ROWS])
    return out.getvalue()


def escaped_tsv() -> str:
    """As clients of MySQL and ClickHouse write it: no quotes, but backslashes."""
    rows = [["NULL" if value is None else str(value).replace("\n", "\\n") for value in row] for row in (NAMES, *ROWS)]
    return "".join("\t".join(row) + "\n" for row in rows)


def as_json() -> list[dict[str, object]]:
    return [dict(zip(NAMES, row, strict=True)) for row in ROWS]


def as_frame(spark: SparkSession, time: str) -> DataFrame:
    whole = ("SESSION_ID", "TOTAL_ELAPSED_TIME")
    schema = ", ".join(f"{name} {'bigint' if name in whole else 'string'}" for name in NAMES)
    frame = spark.createDataFrame(ROWS, schema)
    return frame.withColumn("START_TIME", frame["START_TIME"].cast(time))


TEXTS = {
    "log.tsv": as_csv("\t").encode(),
    "log.csv": as_csv(";").encode("utf-16"),
    "little.csv": as_csv().encode("utf-16-le"),
    "latin.csv": as_csv().encode("latin-1"),
    "apostrophes.csv": as_csv(quote="'").encode(),
    "escaped.tsv": escaped_tsv().encode(),
    "log.jsonl": "\n".join(map(json.dumps, as_json())).encode(),
    "log.ndjson.gz": gzip.compress("\n".join(json.dumps(one, ensure_ascii=False) for one in as_json()).encode()),
    "log.json": json.dumps(as_json(), indent=2).encode(),
    "around.json": json.dumps({"rows": as_json(), "next": None}).encode(),
    "one after the other.json": "\n".join(json.dumps(one, indent=1) for one in as_json()).encode(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_kind_of_text_gives_the_same_records(
    spark: SparkSession, tmp_path: Path, expected: list[dict[str, object]], name: str
) -> None:
    (tmp_path / name).write_bytes(TEXTS[name])
    assert read(spark, QueryLogOptions(str(tmp_path / name))) == expected
    assert read(spark, QueryLogOptions(str(tmp_path))) == expected


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_columnar_files_give_the_same_records(
    spark: SparkSession, tmp_path: Path, expected: list[dict[str, object]], kind: str
) -> None:
    typed = as_frame(spark, "timestamp")
    typed.repartition(2).write.format(kind).save(f"{tmp_path}/day=20 [1]")
    assert read(spark, QueryLogOptions(str(tmp_path))) == expected
    typed.createOrReplaceTempView("exported_history")
    assert read(spark, QueryLogOptions(table="exported_history")) == expected


def test_a_table_and_a_query_over_jdbc_give_the_same_records(
    spark: SparkSession, tmp_path: Path, expected: list[dict[str, object]]
) -> None:
    """Derby comes with Spark."""
    url = f"jdbc:derby:{tmp_path / 'database'}"
    typed = as_frame(spark, "timestamp_ntz")
    driver = {"driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver"}
    typed.write.format("jdbc").options(url=f"{url};create=true", dbtable="history", **driver).save()
    partitioned = {"partitionColumn": "SESSION_ID", "lowerBound": "71", "upperBound": "72", "numPartitions": "2"}
    for source in ({"dbtable": "history"}, {"dbtable": "history", **partitioned}, {"query": "select * from history"}):
        assert read(spark, QueryLogOptions(jdbc={"url": url, **source, **driver})) == expected
    with pytest.raises(ConfigError, match="check its url, its user") as caught:
        open_query_log(spark, QueryLogOptions(jdbc={"url": f"{url}x;password=hunter2", "dbtable": "h", **driver}))
    assert "hunter2" not in str(caught.value)


def test_fields_of_fields_and_lists_are_read_from_parquet_as_from_json(spark: SparkSession, tmp_path: Path) -> None:
    record = {
        "query": "insert into t select 1", "job_id": "j", "creation_time": "2026-11-20 08:00:00 UTC",
        "error_result": {"reason": "stopped"}, "labels": [{"key": "a", "value": "b"}],
        "session_info": {"session_id": "s1"}, "project_id": "shop", "user_email": "a@b",
    }  # fmt: skip
    (tmp_path / "log.json").write_text(json.dumps(record))
    spark.read.json(str(tmp_path / "log.json")).write.parquet(str(tmp_path / "parquet"))
    texts = without_places(open_query_log(spark, QueryLogOptions(str(tmp_path / "log.json"))).records().collect())
    assert (
        without_places(open_query_log(spark, QueryLogOptions(str(tmp_path / "parquet"))).records().collect()) == texts
    )
    assert (texts[0]["status"], texts[0]["session"], texts[0]["database"]) == ("failed", "s1", "shop")


def test_fields_in_a_cell_of_a_table_are_read_as_those_of_a_file(spark: SparkSession, tmp_path: Path) -> None:
    job = {"jobName": "projects/p/jobs/j", "jobConfig": {"queryConfig": {"query": "insert into t select 1"}}}
    cell = json.dumps({"jobChange": {"job": job | {"jobStatus": {"jobState": "DONE"}}}})
    columns = "timestamp string, protopayload_auditlog struct<metadataJson: string>"
    frame = spark.createDataFrame([("2026-11-20 08:00:00 UTC", (cell,)), ("2026-11-20 08:01:00 UTC", ("{",))], columns)
    frame.coalesce(1).write.parquet(str(tmp_path / "a"))
    rows = open_query_log(spark, QueryLogOptions(str(tmp_path / "a"))).records().collect()
    assert [(row.text, row.status, row.database) for row in rows] == [
        ("insert into t select 1", None, "p"), (None, "not_a_statement", None),
    ]  # fmt: skip


def test_pieces_of_a_text_are_put_together_over_files_and_forms(spark: SparkSession, tmp_path: Path) -> None:
    header = "xid,pid,query,sequence,text\n"
    wide = "insert into shop.wide select a, ".ljust(196) + "orde"
    (tmp_path / "0001.csv").write_text(header + f'1,7,42,1," from shop.s"\n1,7,43,1,orphan\n1,7,45,0,"{wide}"\n')
    (tmp_path / "0000.csv").write_text(header + '1,7,42,0,"insert into t\\nselect a"\n1,7,44,0,commit\n1,7,45,1,rs\n')
    rows = sorted(
        open_query_log(spark, QueryLogOptions(str(tmp_path))).records().collect(), key=lambda row: row.source_id
    )
    first = "insert into t\nselect a".ljust(200 - 1) + " from shop.s"
    assert [(row.source_id, row.text, row.problem is None) for row in rows] == [
        ("0000.csv:2", first, True), ("0000.csv:3", "commit", True), ("0001.csv:3", None, False),
        ("0001.csv:4", f"{wide}rs", True),
    ]  # fmt: skip


def test_json_lines_in_ranges_are_the_same_as_read_at_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"query": f'select {number} from "t"', "pid": number}) for number in range(8000)]
    lines[4000] = '{"query": "select'
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    whole = sorted(open_query_log(spark, QueryLogOptions(str(tmp_path))).records().collect())
    monkeypatch.setattr(slicing, "SMALLEST_RANGE", 50_000)
    monkeypatch.setattr(slicing, "LARGEST_RANGE", 50_000)
    records = open_query_log(spark, QueryLogOptions(str(tmp_path))).records()
    assert records.rdd.getNumPartitions() > 4
    assert sorted(records.collect()) == whole
    assert [(row.source_id, row.problem) for row in whole if row.problem] == [("log.jsonl:4001", "not valid JSON")]
    assert len(whole) == 8000


def test_avro_without_its_package_says_which(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.avro").write_bytes(b"Obj\x01\x04")
    with pytest.raises(ConfigError, match=r"spark-avro_2\.13"):
        open_query_log(spark, QueryLogOptions(str(tmp_path)))


def test_a_table_of_delta_is_not_read_by_its_files(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "_delta_log").mkdir()
    spark.createDataFrame([("select 1",)], "query string").write.mode("append").parquet(str(tmp_path))
    with pytest.raises(ConfigError, match=r"a table of delta, which this Spark cannot read"):
        open_query_log(spark, QueryLogOptions(str(tmp_path)))


def test_a_column_of_numbers_is_no_text_in_parquet_either(spark: SparkSession, tmp_path: Path) -> None:
    spark.createDataFrame([(42, "select 1")], "query int, statement string").write.parquet(str(tmp_path / "a"))
    (row,) = open_query_log(spark, QueryLogOptions(str(tmp_path / "a"))).records().collect()
    assert row.text == "select 1"
    spark.createDataFrame([("42", 1)], "query string, id int").write.parquet(str(tmp_path / "b"))
    with pytest.raises(ConfigError, match="no column for the query text among query, id"):
        open_query_log(spark, QueryLogOptions(str(tmp_path / "b")))
