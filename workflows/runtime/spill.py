"""What is too much to be held waits on the disk: values in a file of their own, frames of Spark by columns."""

from __future__ import annotations

import os
import pickle
import re
import tempfile
import uuid
from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Generic, TypeVar, cast, overload

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext, StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from connectors.records import RecordWork
from ingestion.errors import StateLost
from ingestion.model import pickling
from workflows.runtime.garbage_collection import collection_paused
from workflows.runtime.spark_kinds import is_one_process

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)

_SMALL = 16 << 10
"""Bytes of a pickle that is left as it is: to set up its compression takes longer than to write it."""
_AT_ONCE = 64 << 10
"""Bytes that are written or read together, of values that are smaller."""
_PACKED_BY = "zstd"
_SIZE = 8
"""Bytes before what is compressed that tell its size, of which the first is 0 and none that a pickle begins with."""
_FILE_SCHEMA = StructType([StructField("file", StringType(), False)])
_ENCRYPTION = "spark.io.encryption.enabled"
_ROWS_A_GROUP, _BYTES_A_GROUP = 25_000, 16 << 20
"""Rows that a task has at hand until they are written, and bytes of them."""
_QUICKLY_COMPRESSED = "snappy"


# Values that are too many to be held: beyond the first ones they are in a file, and read when they are asked for.


@dataclass(frozen=True, slots=True)
class Packed(Generic[Value]):
    """A value as bytes, for a file or another process: it is opened where it is needed."""

    content: bytes

    def __reduce__(self) -> tuple[type[Packed[Value]], tuple[bytes]]:
        return Packed, (self.content,)

    def value(self) -> Value:
        """The value that was packed."""
        content = self.content
        if content.startswith(pickle.PROTO):
            return cast(Value, pickle.loads(content))
        with collection_paused():
            size = int.from_bytes(content[:_SIZE], "big")
            return cast(Value, pickle.loads(pa.decompress(memoryview(content)[_SIZE:], size, _PACKED_BY)))


def pack(value: Value) -> Value | Packed[Value]:
    """A value as bytes; as it is where it is too deep for pickles, which recurse."""
    try:
        written = pickling.dumps(value)
    except RecursionError:
        return value
    if len(written) <= _SMALL:
        return Packed(written)
    compressed: bytes = pa.compress(written, _PACKED_BY, asbytes=True)
    return Packed(len(written).to_bytes(_SIZE, "big") + compressed)


def unpack(value: Value | Packed[Value]) -> Value:
    """The value, whether it is packed or not."""
    return value.value() if isinstance(value, Packed) else value


class SpillList(Sequence[Value], Generic[Value]):
    """A list of values of which the first so many are `held` in memory and the others in a file.

    The file has no name: nothing is left of it however the process ends. A value that cannot be packed is held.
    """

    def __init__(self, held: int) -> None:
        self._most = held
        self._held: dict[int, Value] = {}
        self._ends = array("q")
        self._file: IO[bytes] | None = None
        self._written = 0
        self._waiting = bytearray()  # of the values behind what is written
        self._read_last = -1
        self._at_hand = b"", 0  # what was read, and from where: together, as threads may read one after the other

    def append(self, value: Value | Packed[Value]) -> int:
        """Adds a value, or one that is packed already; its number. Raises StateLost where there is no room for it."""
        number, end = len(self._ends), self._end
        if not isinstance(value, Packed) and number >= self._most:
            value = pack(value)
        if isinstance(value, Packed):
            try:
                self._add(value.content)
            except OSError as error:
                raise _no_room(error) from error
            end += len(value.content)
        else:
            self._held[number] = value
        self._ends.append(end)
        return number

    def _stored_value(self, number: int) -> Value | Packed[Value]:
        return self._held[number] if number in self._held else Packed(self._read(number))

    def packed_value(self, number: int) -> Value | Packed[Value]:
        """A value as `pack` gives it, which is not opened for that where it is in the file."""
        value = self._stored_value(number)
        return value if isinstance(value, Packed) else pack(value)

    def packed_values(self) -> Iterator[Value | Packed[Value]]:
        """All of them like that, in their order."""
        return map(self.packed_value, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Value]: ...

    def __getitem__(self, index: int | slice) -> Value | Sequence[Value]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self._ends):
            raise IndexError(index)
        return unpack(self._stored_value(index))

    def __len__(self) -> int:
        return len(self._ends)

    def _read(self, number: int) -> bytes:
        """What was packed of a value; what follows it is read with it where they are read one after the other."""
        start, end = self._ends[number - 1] if number else 0, self._ends[number]
        in_order, self._read_last = number == self._read_last + 1, number
        if self._file is None or start >= self._written:
            return bytes(self._waiting[start - self._written : end - self._written])
        content, at = self._at_hand
        if not at <= start <= end <= at + len(content):
            if not in_order or end - start > _AT_ONCE:
                return os.pread(self._file.fileno(), end - start, start)
            content, at = os.pread(self._file.fileno(), min(_AT_ONCE, self._written - start), start), start
            self._at_hand = content, at
        return content[start - at : end - at]

    def _add(self, packed: bytes) -> None:
        """Adds what was packed: what is small waits, as a call of the system takes longer than to pack it."""
        if len(self._waiting) + len(packed) > _AT_ONCE:
            self._write(bytes(self._waiting))
            self._waiting = bytearray()
        if len(packed) > _AT_ONCE:
            self._write(packed)
        else:
            self._waiting += packed

    def _write(self, packed: bytes) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  it lives as long as the list
        left, offset = memoryview(packed), self._written
        while left:  # on a disk that is nearly full, the system takes a part of it
            written = os.pwrite(self._file.fileno(), left, offset)
            left, offset = left[written:], offset + written
        self._written = offset

    @property
    def _end(self) -> int:
        return self._ends[-1] if self._ends else 0


class SpillMapping(Mapping[Key, Value], Generic[Key, Value]):
    """A mapping whose values are a SpillList; its keys are held."""

    def __init__(self, held: int) -> None:
        self._values: SpillList[Value] = SpillList(held)
        self._numbers: dict[Key, int] = {}

    def put(self, key: Key, value: Value) -> None:
        """Sets the value of a key, in place of the one that it had."""
        self._numbers[key] = self._values.append(value)

    def __getitem__(self, key: Key) -> Value:
        return self._values[self._numbers[key]]

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[Key]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


class PackedMapping(Mapping[Key, Value], Generic[Key, Value]):
    """A mapping whose values are in memory as bytes, a fifth of what they take as values, also on their way to Spark's
    tasks, which open those that they ask for.
    """

    def __init__(self) -> None:
        self._packed: dict[Key, Value | Packed[Value]] = {}

    def put(self, key: Key, value: Value) -> None:
        """Sets the value of a key."""
        self._packed[key] = pack(value)

    def __getitem__(self, key: Key) -> Value:
        return unpack(self._packed[key])

    def __contains__(self, key: object) -> bool:
        return key in self._packed

    def __iter__(self) -> Iterator[Key]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


def _no_room(error: OSError) -> StateLost:
    return StateLost(
        f"the directory for temporary files {tempfile.gettempdir()} does not work ({error.strerror or error}): make "
        "room there, or name another one in TMPDIR; what was noted until now is kept: run the same command again"
    )


# What Spark's tasks make, kept on the disk by columns while a run works with it.


@contextmanager
def kept_by_spark(frame: DataFrame) -> Iterator[DataFrame]:
    """The frame, whose rows Spark keeps on its disk for the block once they are made."""
    kept = frame.persist(StorageLevel.DISK_ONLY)
    try:
        yield kept
    finally:
        # At once: a later run in this session must not be given what this one kept.
        kept.unpersist(blocking=True)


@contextmanager
def kept_frame(
    spark: SparkSession,
    made: Callable[[RecordWork, StructType], DataFrame],
    work: RecordWork,
    schema: StructType,
    *,
    are_few: bool = False,
) -> Iterator[DataFrame]:
    """What the `work` of tasks gives, rows of a schema, kept on the disk for the block.

    `made` has Spark do a work that gives rows of a schema. Where one process does all, the tasks write their rows
    themselves: what goes through Spark is copied into it row by row, and once more into what it keeps. Where they
    `are_few`, that costs less than the code that reads such files. What Spark is to encrypt on its disk it keeps
    itself.
    """
    if are_few or not _tasks_write(spark.sparkContext):
        with kept_by_spark(made(work, schema)) as kept:
            yield kept
        return
    # In a folder of Spark's own, below spark.local.dir, which goes when Spark does.
    # A task that another one's failure overtook may still be writing there.
    within = spark.sparkContext._temp_dir
    with tempfile.TemporaryDirectory(prefix="rows-", dir=within, ignore_cleanup_errors=True) as folder:
        writing = _into_files(work, folder, to_arrow_schema(schema))
        files = [row["file"] for row in made(writing, _FILE_SCHEMA).collect()]
        if files:
            yield spark.read.schema(schema).parquet(*map(_spark_path, files))
        else:
            yield spark.createDataFrame([], schema)


def _tasks_write(context: SparkContext) -> bool:
    return is_one_process(str(context.master)) and context.getConf().get(_ENCRYPTION, "").lower() != "true"


def _spark_path(file: str) -> str:
    """A file of this machine as Spark reads it: on no other file system, and nothing in its name is a pattern."""
    return "file:" + re.sub(r"([\\\[\]{}*?])", r"\\\1", file)


def _into_files(work: RecordWork, folder: str, schema: pa.Schema) -> RecordWork:
    """The work, whose results are written into a file of the task; a row names it where there are any."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        file = Path(folder, f"{uuid.uuid4().hex}.parquet")
        if sum(_write(file, work(batches), schema)):
            yield pa.RecordBatch.from_pydict({"file": [str(file)]})

    return run


def _write(file: Path, batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[int]:
    """Writes batches in groups of rows; the number of rows in each."""
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    with pq.ParquetWriter(
        file, schema, compression=_QUICKLY_COMPRESSED, use_dictionary=texts, write_statistics=False
    ) as writer:
        for group in _groups(batches):
            table = pa.Table.from_batches(group, schema)
            writer.write_table(table, row_group_size=_ROWS_A_GROUP)
            yield table.num_rows


def _groups(batches: Iterator[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _ROWS_A_GROUP or size >= _BYTES_A_GROUP:
            yield waiting
            waiting, rows, size = [], 0, 0
    if waiting:
        yield waiting
