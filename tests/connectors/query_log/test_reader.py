from __future__ import annotations

import bz2
import csv
import gzip
import io
import time
from pathlib import Path

import pytest
import zstandard
from pyspark.sql import Row, SparkSession

from connectors.platforms import redshift
from connectors.platforms.profile import ExportProfile
from connectors.query_log import text_files as slicing
from connectors.query_log._columns import ReadingHints
from connectors.query_log._csv_records import QUOTE_PROBLEM
from connectors.query_log._layout import sniff
from connectors.query_log.files import QueryLogFile
from connectors.query_log.reader import QueryLogOptions, WidestTexts, open_query_log, whole_text
from connectors.records import RECORD_SCHEMA
from ingestion.errors import ConfigError

pytestmark = pytest.mark.spark

HEADER = "query_text,start_time,end_time,user_name,database_name,schema_name,session_id,status,query_type,duration_ms\n"
LOG = (
    HEADER
    + '"insert into t\nselect ""a"", \'é\' from s",'
    + "2026-11-20 08:00:00,2026-11-20 08:00:02,ann,shop,sales,s1,success,INSERT,2000\n"
    + "drop table x,2026-11-20 08:01:00Z,,bob,,,s2,failed,DROP,\n"
)


def rows(spark: SparkSession, path: object, timezone: str = "UTC") -> list[Row]:
    records = open_query_log(spark, QueryLogOptions(str(path), timezone)).records()
    assert records.schema == RECORD_SCHEMA
    return sorted(
        records.collect(), key=lambda row: (row.source_id.rpartition(":")[0], int(row.source_id.rpartition(":")[2]))
    )


def test_each_column_of_an_export_lands_in_its_field(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    first, second = rows(spark, tmp_path / "log.csv")
    assert first.asDict() == {
        "source_id": "log.csv:2", "text": 'insert into t\nselect "a", \'é\' from s', "start_time": 1795161600.0,
        "end_time": 1795161602.0, "duration": 2.0, "user": "ann", "session": "s1", "database": "shop",
        "schema": "sales", "dialect": None, "query_type": "INSERT", "job": None, "status": None, "problem": None,
        "symbolic": None, "edges": None, "error_code": None, "rows": None, "bytes": None, "credits": None,
    }  # fmt: skip
    assert (second.source_id, second.status, second.end_time, second.database) == ("log.csv:4", "failed", None, None)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_marks_and_line_ends_of_other_systems_do_not_matter(
    spark: SparkSession, tmp_path: Path, encoding: str, line_end: str
) -> None:
    (tmp_path / "log.csv").write_bytes(LOG.replace("\n", line_end).encode(encoding))
    first, second = rows(spark, tmp_path)
    assert (first.user, second.user, second.source_id) == ("ann", "bob", "log.csv:4")
    assert first.text.replace("\r\n", "\n") == "insert into t\nselect \"a\", 'é' from s"


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".zst", zstandard.ZstdCompressor().compress),
        (".zstd", zstandard.compress),
    ],
)
def test_compressed_files_give_all_their_rows(
    spark: SparkSession, tmp_path: Path, suffix: str, compress: object
) -> None:
    text = "query,user\n" + "".join(f"select {number},u{number}\n" for number in range(30_000))
    (tmp_path / f"log.csv{suffix}").write_bytes(compress(text.encode()))
    records = open_query_log(spark, QueryLogOptions(str(tmp_path))).records()
    assert records.count() == 30_000
    assert records.select("source_id").distinct().count() == 30_000


def test_a_cut_gzip_keeps_what_it_holds_and_names_the_line_where_it_breaks_off(
    spark: SparkSession, tmp_path: Path
) -> None:
    text = "query,user\n" + "".join(f"select {number},u{number * 7919 % 1000}\n" for number in range(30_000))
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(text.encode())[:-5000])
    found = rows(spark, tmp_path)
    assert len(found) > 15_000
    broken = [row for row in found if row.problem and "breaks off" in row.problem]
    assert [row.source_id for row in broken] == [found[-1].source_id]


def test_malformed_rows_are_kept_aside_and_named_by_file_and_line(spark: SparkSession, tmp_path: Path) -> None:
    text = HEADER.encode() + b"".join(
        [
            "select 1,2026-11-20 08:00:00,,anné,,,,,,\n".encode(),
            b"select 2,2026-11-20 08:00:00,,ann\n",
            b"select 3,the day before,,ann,,,,,,\n",
            b"select '\xff',2026-11-20 08:00:00,,ann,,,,,,\n",
            b'"select 4,2026-11-20 08:00:00,,ann,,,,,,\n',
            b"select 5,2026-11-20 08:00:00,,ann,,,,,,\n",
            b",2026-11-20 08:00:00,,ann,,,,,,\n",
            b"select '\0',2026-11-20 08:00:00,,ann,,,,,,\n",
            b'"select 6\nfrom t',
        ]
    )
    (tmp_path / "log.csv").write_bytes(text)
    found = rows(spark, tmp_path / "log.csv")
    problems = {row.source_id: row.problem for row in found if row.problem}
    assert problems == {
        "log.csv:3": "fewer columns than the 10 expected",
        "log.csv:4": "start_time is no time",
        "log.csv:5": "not valid UTF-8",
        "log.csv:6": QUOTE_PROBLEM,
        "log.csv:9": "a NUL character in it",
        "log.csv:10": QUOTE_PROBLEM,
    }
    assert all(row.text is None for row in found if row.problem)
    assert [row.text for row in found if row.text] == ["select 1", "select 5"]
    assert [row.source_id for row in found if row.status == "not_a_statement"] == ["log.csv:8"]


@pytest.mark.parametrize("at_once", [0, 1 << 30], ids=["surveyed by tasks", "surveyed at once"])
def test_a_big_file_read_in_ranges_is_the_same_as_read_at_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    for number in range(8000):
        text = f"insert into \"T{number}\"\nselect {number}, '{'x' * (number % 200)}'\n  from s, t, u, v, w, x, y, z, a"
        writer.writerow([text, "2026-11-20 08:00:00", "", "ann", "", "", f"s{number % 7}", "ok", "", "1"])
        if number % 1500 == 700:  # an odd quote turns all quotes around for who only counts them
            out.write('"select broken,2026-11-20 08:00:00,,ann,,,,,,\n')
    (tmp_path / "log.csv").write_text(HEADER + out.getvalue())
    whole = rows(spark, tmp_path)
    monkeypatch.setattr(slicing, "SMALLEST_RANGE", 100_000)
    monkeypatch.setattr(slicing, "LARGEST_RANGE", 100_000)
    monkeypatch.setattr(slicing, "AT_ONCE_BYTES", at_once)
    records = open_query_log(spark, QueryLogOptions(str(tmp_path))).records()
    assert records.rdd.getNumPartitions() > 8
    assert rows(spark, tmp_path) == whole
    assert len(whole) == 8006 - 1
    assert sum(1 for row in whole if row.problem) == 5


def test_files_of_other_file_systems_are_read_through_spark(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("fs.viewfs.mounttable.lake.link./logs", f"file://{tmp_path}")
    spark.sparkContext._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.lake.link./logs", f"file://{tmp_path}")
    (tmp_path / "day 1").mkdir()
    (tmp_path / "day 1" / "a.csv").write_text(LOG)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(LOG.encode()))
    here = rows(spark, tmp_path)
    assert [row.source_id for row in here] == ["b.csv.gz:2", "b.csv.gz:4", "day 1/a.csv:2", "day 1/a.csv:4"]
    assert rows(spark, "viewfs://lake/logs") == here
    assert rows(spark, "viewfs://lake/logs/day*/*.csv")[0].source_id == "day 1/a.csv:2"
    with pytest.raises(ConfigError, match="does not exist"):
        rows(spark, "viewfs://lake/logs/c.csv")


def test_one_file_that_is_no_log_does_not_stop_the_others(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(LOG)
    (tmp_path / "b.csv").write_text("id,name\n1,x\n")
    (tmp_path / "empty.csv").write_text("")
    found = rows(spark, tmp_path)
    assert [row.source_id for row in found] == ["a.csv:2", "a.csv:4", "b.csv:1"]
    assert "no column for the query text among id, name" in found[2].problem


def test_where_no_file_is_a_log_it_is_an_error_and_an_empty_one_has_no_records(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "b.csv").write_text("id,name\n1,x\n")
    with pytest.raises(ConfigError, match=r"b\.csv, line 1: no column for the query text among id, name"):
        rows(spark, tmp_path)
    (tmp_path / "b.csv").write_bytes(gzip.compress(b"")[:5])
    with pytest.raises(ConfigError, match="cannot be decompressed"):
        rows(spark, tmp_path)
    (tmp_path / "b.csv").write_text("")
    assert rows(spark, tmp_path) == []
    (tmp_path / "b.csv").write_text(HEADER)
    assert rows(spark, tmp_path) == []
    with pytest.raises(ConfigError, match="no time zone"):
        rows(spark, tmp_path, "Europe/Atlantis")


def test_the_csvlog_of_a_clinical_warehouse_is_read_in_full(spark: SparkSession) -> None:
    log = Path(__file__).parents[4] / "shared/data/mimic_iii/query_log.csv"
    if not log.exists():
        pytest.skip("the clinical warehouse's log is not here")
    found = rows(spark, log)
    assert len(found) == 95
    assert sum(row.text is not None and row.status is None for row in found) == 91
    assert {row.session for row in found if row.text} == {"6b0003da.35b6", "6b0003da.35ba"}
    first = next(row for row in found if row.text and "DDL for Table ADMISSIONS" in row.text)
    assert (
        log.read_bytes()
        .split(b"\n")[int(first.source_id.rpartition(":")[2]) - 1]
        .startswith(b"2026-11-20 08:24:58.204")
    )


def test_the_shipped_sample_is_read_in_full(spark: SparkSession) -> None:
    found = rows(spark, Path(__file__).parents[3] / "config" / "sample" / "query_log.csv")
    assert len(found) == 65
    assert [row.status for row in found if row.status or row.problem] == ["failed"]
    assert {row.schema for row in found} == {"shop", None}


@pytest.mark.parametrize("line", ["(1, 'abc', 2),", "", 'a""b""c'], ids=["values", "empty lines", "quotes"])
def test_ranges_within_a_statement_of_very_many_lines_are_looked_through_in_seconds(tmp_path: Path, line: str) -> None:
    statement = f'"insert into t values\n{f"{line}{chr(10)}" * 400_000}",2026-11-20 08:00:00,ann\n'
    log = tmp_path / "log.csv"
    log.write_text("query_text,start_time,user_name\n" + statement * 2)
    layout = sniff(log.read_bytes()[:1000], log.name, ReadingHints())
    part = slicing.FileRange(QueryLogFile(str(log), log.name, log.stat().st_size), layout)
    before = time.process_time()
    with log.open("rb") as raw:
        slicing.examine_range(raw, part, 0, (1000, log.stat().st_size))
    assert time.process_time() - before < 10


def joined(
    *texts: str, profile: ExportProfile = redshift.QUERY_TEXT, widest: tuple[int, int] = (0, 0)
) -> tuple[str, str]:
    found = whole_text(list(enumerate(texts)), profile, None, WidestTexts(*widest))
    return found["text"], found["status"]


WHOLE = "insert into shop.daily select a, ".ljust(190) + "from ord10s"[-10:]
SHORT = "insert into t select a, b from shop.orders"


@pytest.mark.parametrize(
    ("texts", "widest", "expected"),
    [
        # a piece as wide as the platform's is whole, and where one is, shorter ones have lost blanks
        ((WHOLE, "ers"), (200, 1), (WHOLE + "ers", None)),
        ((SHORT, "o join s"), (200, 1), (SHORT.ljust(200) + "o join s", None)),
        # of a log with pieces of another width, several of which are just as wide
        ((SHORT, "o join s"), (len(SHORT), 2), (SHORT + "o join s", None)),
        # where nothing tells, only a cut between words is no matter
        ((SHORT, "o join s"), (len(SHORT), 1), (SHORT + "o join s", "cut")),
        ((SHORT, "o join s"), (4000, 9), (SHORT + "o join s", "cut")),
        ((SHORT, " o join s"), (len(SHORT), 1), (SHORT + " o join s", None)),
        ((f"{SHORT} where a -", "- 1"), (0, 0), (f"{SHORT} where a -- 1", "cut")),
        ((f"{SHORT} where f(a", ", b)"), (0, 0), (f"{SHORT} where f(a, b)", None)),
        ((f"{SHORT}\\", "nwhere a"), (0, 0), (f"{SHORT}\nwhere a", "cut")),
        ((f"{SHORT} where b = 'é", "t'"), (0, 0), (f"{SHORT} where b = 'ét'", "cut")),
        ((SHORT,), (0, 0), (SHORT, None)),
    ],
)  # fmt: skip
def test_the_width_of_a_piece_is_never_assumed(
    texts: tuple[str, ...], widest: tuple[int, int], expected: tuple[str, str | None]
) -> None:
    assert joined(*texts, widest=widest) == expected


def test_a_failed_statement_with_an_uncertain_cut_has_failed() -> None:
    pieces = [(0, SHORT), (1, "o join s")]
    assert whole_text(pieces, redshift.QUERY_TEXT, "failed")["status"] == "failed"


def test_what_the_platform_has_of_an_outcome_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("query_id,sequence,text,start_time\n1,0,select 1,2026-11-20 08:00:00\n")
    (told,) = open_query_log(spark, QueryLogOptions(str(tmp_path))).lacking
    assert told.startswith("in the log no column tells how a statement ended: those that failed count as run; ")
    assert "SYS_QUERY_HISTORY has it" in told


def test_a_log_tells_how_large_its_text_is(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    plain = open_query_log(spark, QueryLogOptions(str(tmp_path / "log.csv")))
    assert plain.size == len(LOG.encode())
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(LOG.encode()))
    assert open_query_log(spark, QueryLogOptions(str(tmp_path))).size > plain.size
    spark.createDataFrame([(LOG,)], "query_text string").write.parquet(str(tmp_path / "table"))
    assert open_query_log(spark, QueryLogOptions(str(tmp_path / "table"))).size == float("inf")
