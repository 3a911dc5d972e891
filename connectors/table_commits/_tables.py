"""Which tables lie at or below a path, and the files that have their commits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ingestion.errors import ConfigError
from ingestion.model.table_commits import TableFormat

_LEVELS = 4
"""Folders at which a table is looked for: the path itself and three levels below, as catalog, schema and table are."""
_LOGS = {TableFormat.DELTA: "_delta_log/*.json", TableFormat.ICEBERG: "metadata/*metadata.json*"}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_VERSION = re.compile(r"(\d{20})\.json")
_METADATA = re.compile(r"\Av?(\d{1,18})(?:-[^/]*)?(?:\.gz)?\.metadata\.json(?:\.gz)?")


@dataclass(frozen=True, slots=True)
class CommitFile:
    """A file of a table's log: `version` is that of its commit, or of the metadata; `size` in bytes."""

    table: str
    table_format: TableFormat
    path: str
    version: int
    size: int


def commit_files(spark: SparkSession, path: str) -> list[CommitFile]:
    """The files that have the commits of the tables at a path: each of Delta Lake, the newest metadata of Iceberg.

    Raises ConfigError where no table is there.
    """
    where = _absolute(spark, path).rstrip("/")
    found = [file for table_format in TableFormat for file in _files(spark, where, table_format)]
    if not found:
        raise ConfigError(
            f"{path} holds no table of Delta Lake or Iceberg, nor does a folder up to three levels below it: name the "
            "folders of tables in tablePaths"
        )
    return found


def _absolute(spark: SparkSession, path: str) -> str:
    """A path of this machine's disks whole: the JVM, which may be older than the run, has a folder of its own."""
    scheme = _SCHEME.match(path)
    default = spark.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///")
    return str(Path(path).absolute()) if scheme is None and default.startswith("file:") else path


def _files(spark: SparkSession, path: str, table_format: TableFormat) -> Iterator[CommitFile]:
    tables: dict[str, list[CommitFile]] = defaultdict(list)
    for level in range(_LEVELS):
        for status in _statuses(spark, "/".join([path, *"*" * level, _LOGS[table_format]])):
            file = _file(status, table_format)
            if file is not None:
                tables[file.table].append(file)
    for _table, files in sorted(tables.items()):
        whole = (
            [max(files, key=lambda file: (file.version, file.path))] if table_format is TableFormat.ICEBERG else files
        )
        yield from sorted(whole, key=lambda file: file.version)


def _statuses(spark: SparkSession, pattern: str) -> Iterator[Any]:
    hadoop: Any = spark.sparkContext._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
    named = hadoop.Path(pattern)
    system = named.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    yield from system.globStatus(named) or ()


def _file(status: Any, table_format: TableFormat) -> CommitFile | None:
    """The file that has a name of the format; None of what else lies there: checkpoints, checksums."""
    path = str(status.getPath().toString())
    folder, _, name = path.rpartition("/")
    pattern = _VERSION if table_format is TableFormat.DELTA else _METADATA
    match = pattern.fullmatch(name)
    if match is None or status.isDirectory():
        return None
    return CommitFile(folder.rpartition("/")[0], table_format, path, int(match[1]), int(status.getLen()))
