"""Which files a query log's path names: a file, a directory or a glob, on this machine or on any Hadoop file system."""

from __future__ import annotations

import difflib
import glob
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from pyspark.sql import SparkSession

from ingestion.arguments import listing
from ingestion.errors import ConfigError
from ingestion.model.file_marks import FileMarks, local_mark, marks_of

_LOG_NAME = re.compile(
    r".*\.(csv|tsv|psv|json|jsonl|ndjson|parquet|orc|avro)(\.(gz|gzip|bz2|zst|zstd))?", re.IGNORECASE
)
_GLOB = re.compile(r"[*?\[{]")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_COARSEST_SECONDS = 2.0
"""The coarsest that file systems (FAT) keep a modification time."""
_LOG_NAMES = "*.csv, *.tsv, *.psv, *.json, *.jsonl, *.ndjson, plain or .gz, .bz2, .zst; *.parquet, *.orc, *.avro"


@dataclass(frozen=True, slots=True)
class QueryLogFile:
    """A file of the log: where it is, its name relative to the input, its size in bytes, when it was modified (seconds
    since the epoch; 0 where it is not local).
    """

    path: str
    name: str
    size: int
    local: bool = True
    modified: float = 0.0

    @property
    def log(self) -> str:
        """Each file is a log of its own."""
        return self.name


def find_log_files(spark: SparkSession, path: str) -> list[QueryLogFile]:
    """The files that `path` names, by name; a directory gives its logs at any depth, hidden ones left out.

    Raises ConfigError where nothing is there.
    """
    local = _local_path(spark, path)
    found = sorted(_find_local(local) if local else _find_remote(spark, path), key=lambda file: file.name)
    if not found:
        raise ConfigError(f"{path} matches no file. Check the queryLogFilePath")
    return found


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """The files of a log on local disks, and those of them that a later run can tell from changed ones."""

    there: tuple[QueryLogFile, ...]
    to_read: tuple[QueryLogFile, ...]


def local_files(found: Iterable[QueryLogFile], listed: float) -> LocalFiles:
    """Of the files that were `listed` then (seconds since the epoch), before they were read.

    A file may be written once more within the moment that its modification time tells: it is left out where that is
    not past, so that the next run reads it again.
    """
    there = tuple(file for file in found if file.local)
    return LocalFiles(there, tuple(file for file in there if file.modified < listed - _COARSEST_SECONDS))


def are_as_read(path: str, known: FileMarks) -> bool:
    """Whether the files that `path` names on local disks are those that are `known`, and none has changed since."""
    try:
        found = list(_find_local(_without_scheme(path)))
        return bool(found) and marks_of(found) == known
    except (ConfigError, OSError):  # what is wrong with it is told when it is read
        return False


def _local_path(spark: SparkSession, path: str) -> str | None:
    """The path on this machine's disks; None where another file system holds it."""
    scheme = SCHEME.match(path)
    if scheme is None:
        default = spark.sparkContext._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///")
        return path if default.startswith("file:") else None
    return _without_scheme(path) if scheme[1].lower() == "file" else None


def _without_scheme(path: str) -> str:
    return re.sub(r"^file:(//)?", "", path)


def table_format(spark: SparkSession, path: str) -> str | None:
    """Spark's name for the kind of table whose directory this is; None for any other path."""
    markers = {"_delta_log": "delta", "metadata/version-hint.text": "iceberg"}
    local = _local_path(spark, path)
    if local is not None:
        return next((kind for marker, kind in markers.items() if (Path(local) / marker).exists()), None)
    if _GLOB.search(path):
        return None
    hadoop: Any = spark.sparkContext._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
    system = hadoop.Path(path).getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    return next((kind for marker, kind in markers.items() if system.exists(hadoop.Path(path, marker))), None)


def _find_local(path: str) -> Iterator[QueryLogFile]:
    named = Path(path)
    if named.is_file():
        yield _local_file(named, named.name)
    elif named.is_dir():
        yield from _within(named)
    elif _GLOB.search(path):
        parent = _fixed_parent(path)
        matches = {Path(hit) for pattern in _expand(path) for hit in glob.glob(pattern, recursive=True)}  # noqa: PTH207
        for match in matches:
            if match.is_dir():
                yield from (_rename(file, match, parent) for file in _logs_of(match))
            else:
                yield _local_file(match, match.relative_to(parent).as_posix())
    else:
        raise ConfigError(_missing(named))


def _within(directory: Path) -> list[QueryLogFile]:
    found = _logs_of(directory)
    if not found:
        others = sorted(entry.name for entry in directory.iterdir() if entry.is_file())
        seen = f"; it holds {listing(others)}" if others else ": it is empty"
        hint = ". Name the files by a glob if one of them is the log" if others else ""
        raise ConfigError(f"the directory {directory} holds no query log ({_LOG_NAMES}){seen}{hint}")
    return found


def _logs_of(directory: Path) -> list[QueryLogFile]:
    found = []
    for file in directory.rglob("*"):
        inside = file.relative_to(directory)
        if _LOG_NAME.fullmatch(file.name) and not any(part[0] in "._" for part in inside.parts) and file.is_file():
            found.append(_local_file(file, inside.as_posix()))
    return found


def _local_file(file: Path, name: str) -> QueryLogFile:
    size, modified = local_mark(file.stat())
    return QueryLogFile(str(file.absolute()), name, size, modified=modified)


def _rename(file: QueryLogFile, directory: Path, parent: Path) -> QueryLogFile:
    name = (directory / file.name).relative_to(parent).as_posix()
    return replace(file, name=name)


def _fixed_parent(pattern: str) -> Path:
    """The part of a glob before its first wildcard: names are relative to it."""
    before = pattern[: _first_wildcard(pattern)]
    return Path(before if before.endswith("/") else str(Path(before).parent)) if before else Path()


def _first_wildcard(pattern: str) -> int:
    match = _GLOB.search(pattern)
    return match.start() if match else len(pattern)


def _expand(pattern: str) -> list[str]:
    """Hadoop's {a,b} alternatives as patterns of their own."""
    match = re.search(r"\{([^{}]*)\}", pattern)
    if match is None:
        return [pattern]
    before, after = pattern[: match.start()], pattern[match.end() :]
    return [whole for option in match[1].split(",") for whole in _expand(before + option + after)]


def _missing(path: Path) -> str:
    parent = path.absolute().parent
    if not parent.is_dir():
        return f"the query log {path} does not exist: there is no directory {parent}"
    near = difflib.get_close_matches(path.name, [entry.name for entry in parent.iterdir()], 1, 0.5)
    return f"the query log {path} does not exist" + (f"; did you mean {parent / near[0]}?" if near else "")


def _find_remote(spark: SparkSession, path: str) -> Iterator[QueryLogFile]:
    hadoop: Any = spark.sparkContext._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
    named = hadoop.Path(path)
    system = named.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    matches = system.globStatus(named)
    if not matches:
        raise ConfigError(f"the query log {path} does not exist")
    if len(matches) == 1 and matches[0].isDirectory() and not _GLOB.search(path):
        base = PurePosixPath(matches[0].getPath().toString())
    else:
        fixed = path[: _first_wildcard(path)]
        parent = fixed if fixed.endswith("/") else fixed.rpartition("/")[0]
        base = PurePosixPath(system.makeQualified(hadoop.Path(parent or ".")).toString())
    for match in matches:
        if not match.isDirectory():
            yield _remote_file(match, base)
            continue
        entries = system.listFiles(match.getPath(), True)  # noqa: FBT003 Java has no names for arguments
        while entries.hasNext():
            entry = entries.next()
            if _LOG_NAME.fullmatch(entry.getPath().getName()) and not entry.getPath().getName().startswith((".", "_")):
                yield _remote_file(entry, base)


def _remote_file(status: Any, base: PurePosixPath) -> QueryLogFile:
    where = PurePosixPath(status.getPath().toString())
    shown = where.relative_to(base).as_posix() if where.is_relative_to(base) else where.name
    return QueryLogFile(status.getPath().toString(), shown, status.getLen(), local=False)
