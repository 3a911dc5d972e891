"""Logs that Spark itself reads: Parquet, ORC and Avro files, tables of its catalogs, tables and queries over JDBC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from connectors.query_log._columns import ColumnReading, ReadingHints, column_reading, plain_name
from connectors.query_log._inner_fields import with_inner_fields
from connectors.query_log._interpreter import interpret
from connectors.query_log.files import QueryLogFile
from connectors.records import RecordReading
from ingestion.arguments import listing
from ingestion.errors import ConfigError

MAGIC: Mapping[bytes, str] = {b"PAR1": "parquet", b"ORC": "orc", b"Obj\x01": "avro"}
"""What files of Spark's formats begin with."""

_SAMPLE_ROWS = 50
_UNREADABLE = (Py4JJavaError, PySparkException)
_NO_TEXT = ("0",)


@dataclass(frozen=True, slots=True)
class TableRead:
    """Rows that Spark reads, how their columns are read, and what they are called in a record's place."""

    frame: DataFrame
    reading: ColumnReading
    name: str
    files: Mapping[str, str] | None = None  # by path, where the rows are those of files


def format_of(head: bytes) -> str | None:
    """Spark's name for the format of a file that begins so; None for text."""
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), None)


def read_files(spark: SparkSession, kind: str, files: Sequence[QueryLogFile], hints: ReadingHints) -> TableRead:
    """The rows of files of one format. Raises ConfigError where they cannot be read or have no text."""
    paths = [re.sub(r"([\[\]{}*?\\])", r"\\\1", file.path) for file in files]
    reader = spark.read.format(kind)
    if kind != "avro":
        reader = reader.option("mergeSchema", "true")
    try:
        frame = reader.load(paths)
    except _UNREADABLE as error:
        raise ConfigError(_not_readable(files[0].name, kind, error)) from None
    names = {_plain_path(file.path): file.name for file in files}
    return TableRead(frame, _reading(frame, files[0].name, hints), files[0].name, names)


def read_directory(spark: SparkSession, kind: str, path: str, hints: ReadingHints) -> TableRead:
    """A table (`kind`: delta or iceberg) by its directory: not by its files, some of which are of its past.

    Raises ConfigError where this Spark cannot read it.
    """
    try:
        frame = spark.read.format(kind).load(path)
        return TableRead(frame, _reading(frame, path, hints), path.rstrip("/").rpartition("/")[2])
    except _UNREADABLE as error:
        raise ConfigError(
            f"{path} is a table of {kind}, which this Spark cannot read ({_reason(error)}): add its package to "
            "headwater.spark.conf's spark.jars.packages"
        ) from None


def read_table(spark: SparkSession, table: str, hints: ReadingHints) -> TableRead:
    """A table that the session's catalogs have (Delta, Iceberg, Hive, ...), by its name."""
    try:
        frame = spark.read.table(table)
        return TableRead(frame, _reading(frame, table, hints), table)
    except _UNREADABLE as error:
        raise ConfigError(f"the table {table} cannot be read ({_reason(error)}): check headwater.spark") from None


def read_jdbc(spark: SparkSession, options: Mapping[str, str], hints: ReadingHints) -> TableRead:
    """A table or query of another database, with Spark's own options of its JDBC source.

    Raises ConfigError, without the options' values, where it cannot be read.
    """
    name = options.get("dbtable") or "query"
    try:
        frame = spark.read.format("jdbc").option("preferTimestampNTZ", "true").options(**options).load()
        return TableRead(frame, _reading(frame, f"jdbc {name}", hints), f"jdbc {name}")
    except _UNREADABLE as error:
        raise ConfigError(
            f"headwater.queryLogJdbc cannot be read ({_reason(error)}): check its url, its user, and that "
            "headwater.spark.conf names the driver's jar (spark.jars)"
        ) from None


def table_records(table: TableRead, reading: RecordReading) -> DataFrame:
    """What comes of the records of a table's rows."""
    leaves = _leaves(table.frame.schema)
    used = [position for position in table.reading.used if table.reading.names[position] in leaves]
    columns = [leaves[table.reading.names[position]].column.alias(f"c{position}") for position in used]
    if table.files is None:
        position = [F.lit(table.name).alias("file"), F.monotonically_increasing_id().alias("start")]
    else:
        metadata = F.col("_metadata")
        position = [metadata["file_path"].alias("file"), metadata["file_block_start"].alias("start")]
    rows = table.frame.select(*position, *columns)
    return reading.apply(rows, partial(_records, table.reading, table.files, reading.arrow_schema))


def _reading(frame: DataFrame, name: str, hints: ReadingHints) -> ColumnReading:
    leaves = _leaves(frame.schema)
    names = list(leaves)
    # without samples first: which columns may be the text is known then, and no others need to be read
    unseen = {name: () if leaf.is_text else _NO_TEXT for name, leaf in leaves.items()}
    reading = column_reading(names, list(unseen.values()), hints)
    named = () if reading is None else reading.profile.columns.get("text", ())
    candidates = [name for name, leaf in leaves.items() if leaf.is_text and name in named]
    samples: dict[str, Sequence[str]] = dict(unseen)
    if candidates:
        head = frame.select(*(leaves[name].column.cast("string").alias(f"c{at}") for at, name in enumerate(candidates)))
        rows = head.limit(_SAMPLE_ROWS).collect()
        samples |= {name: [row[at] or "" for row in rows] for at, name in enumerate(candidates)}
    reading = column_reading(names, list(samples.values()), hints)
    if reading is None:
        raise ConfigError(
            f"{name}: no column for the query text among {listing(names)}: name it under headwater.queryLogColumns"
        )
    return reading


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A column or a field in one, as text where that loses nothing; `is_text`: it may be a statement's."""

    column: Column
    is_text: bool


def _leaves(schema: StructType, above: str = "", parent: Column | None = None) -> dict[str, _Leaf]:
    """Every column and every field in one by its joined name, the first of those that have the same."""
    found: dict[str, _Leaf] = {}
    for field in schema.fields:
        column = F.col(f"`{field.name.replace('`', '``')}`") if parent is None else parent.getField(field.name)
        name, kind = f"{above}{plain_name(field.name)}", field.dataType
        found.setdefault(name, _Leaf(_as_text(column, kind), isinstance(kind, StringType | BinaryType)))
        for inner, leaf in (_leaves(kind, f"{name}_", column) if isinstance(kind, StructType) else {}).items():
            found.setdefault(inner, leaf)
    return found


def _as_text(column: Column, kind: DataType) -> Column:
    if isinstance(kind, StructType | ArrayType | MapType | VariantType):
        return F.to_json(column)
    if isinstance(kind, TimestampType | TimestampNTZType | BinaryType | StringType):
        return column
    return column.cast("string")


def _records(
    reading: ColumnReading, files: Mapping[str, str] | None, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    positions = None
    counted: dict[tuple[str, int], int] = {}
    for batch in batches:
        positions = positions or [int(name[1:]) for name in batch.schema.names[2:]]
        nothing = [""] * batch.num_rows
        columns: dict[int, Sequence[str]] = dict.fromkeys(range(len(reading.names)), nothing)
        columns |= {at: _texts(array) for at, array in zip(positions, batch.columns[2:], strict=True)}
        for name, rows, lines in _runs(batch, files, counted):
            part = {at: values[rows] for at, values in columns.items()}
            yield interpret(with_inner_fields(part, reading), lines, [], reading).to_batch(name, schema)


def _runs(
    batch: pa.RecordBatch, files: Mapping[str, str] | None, counted: dict[tuple[str, int], int]
) -> Iterator[tuple[str, slice, list[int]]]:
    """The stretches of a batch that are of one file: its name, and the numbers of its rows, from 1."""
    paths, starts = batch.column(0).to_pylist(), batch.column(1).to_pylist()
    if files is None:
        yield (paths[0] if paths else ""), slice(0, len(starts)), [start + 1 for start in starts]
        return
    at = 0
    while at < len(paths):
        end = at
        while end < len(paths) and (paths[end], starts[end]) == (paths[at], starts[at]):
            end += 1
        key = (paths[at], starts[at])
        begin = counted.get(key, 0)
        counted[key] = begin + end - at
        path = _plain_path(unquote(paths[at]))
        name = files.get(path, path.rpartition("/")[2])
        # a file that is read in parts: rows are counted from where each begins
        shown = f"{name}@{starts[at]:012}" if starts[at] else name
        yield shown, slice(at, end), list(range(begin + 1, begin + 1 + end - at))
        at = end


def _texts(array: pa.Array) -> list[str]:
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us", "UTC" if array.type.tz else None))
    if pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        return ["" if value is None else value.decode("utf-8", "surrogateescape") for value in array.to_pylist()]
    texts: list[str] = array.cast(pa.string()).fill_null("").to_pylist()
    return texts


def _plain_path(path: str) -> str:
    return re.sub(r"^file:/+", "/", path)


def _not_readable(name: str, kind: str, error: Exception) -> str:
    if kind == "avro" and "avro" in _reason(error).lower() + str(error)[:200].lower():
        package = "org.apache.spark:spark-avro_2.13 of your Spark's version"
        return (
            f"{name} is Avro, which this Spark cannot read: add {package} to headwater.spark.conf's spark.jars.packages"
        )
    return f"{name} cannot be read as {kind} ({_reason(error)})"


def _reason(error: Any) -> str:
    if isinstance(error, PySparkException):
        return str(error.getCondition() or type(error).__name__)
    return str(error.java_exception.getClass().getName())
