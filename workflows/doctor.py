"""Whether this machine can do a run: one finding for each thing that a run needs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from connectors.catalog.store.database import damage_error
from connectors.query_log.files import SCHEME
from connectors.sqlite_files import is_whole
from ingestion.cores import cores
from ingestion.dialects.dataset_namespaces import NamespaceMap, line_of_map
from ingestion.errors import LineageError
from workflows.config import EmbeddedCatalog, RunConfig, Server
from workflows.runtime.java import archive_file, find_java
from workflows.runtime.spark_kinds import (
    OLDEST_SPARK,
    is_old_spark,
    is_one_machine,
    refuse_other_spark,
    refuse_spark_connect,
)

_GB = 1 << 30
_ENOUGH_MEMORY_GB, _ENOUGH_DISK_GB = 2.0, 1.0
_PYTHONS = (3, 11), (3, 14)
_SQLITE = b"SQLite format 3\0"
_INSTALL_PYSPARK = "pip install 'pyspark>=4.0,<5'"


class Health(StrEnum):
    """How a check went; a run is possible with warnings."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check, what it found, and where that is not good what to do."""

    subject: str
    health: Health
    detail: str


def examine(config: RunConfig | None = None, environment: Mapping[str, str] | None = None) -> list[Finding]:
    """All findings; with a configuration also those on its target and catalog."""
    environment = os.environ if environment is None else environment
    target = config.target if config else EmbeddedCatalog()
    findings = [
        python(),
        _try("Java", lambda: _java(environment)),
        _pyspark(environment),
        *_class_archive(environment),
        memory(_available_bytes()),
        Finding("cores", Health.OK, str(cores())),
        _disk(),
        _temporary_directory(),
        _full_text_search(),
    ]
    if isinstance(target, EmbeddedCatalog):
        findings.append(catalog_file(target.file))
        if config and findings[-1].health is Health.OK and target.file.exists():
            findings += _namespaces(config, target.file)
    else:
        findings.append(_try("target", lambda: _target(target)))
    return findings + (cluster(config, environment) if config else [])


def _try(subject: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, Health.OK, check())
    except LineageError as error:
        return Finding(subject, Health.FAILED, str(error))


def python(version: tuple[int, int] = sys.version_info[:2]) -> Finding:
    """Whether this version of Python is one that the project runs on."""
    oldest, newest = _PYTHONS
    if not oldest <= version <= newest:
        wanted = f"{oldest[0]}.{oldest[1]} to {newest[0]}.{newest[1]}"
        return Finding("Python", Health.FAILED, f"{version[0]}.{version[1]}: Python {wanted} is needed")
    return Finding("Python", Health.OK, platform.python_version())


def _java(environment: Mapping[str, str]) -> str:
    java = find_java(environment)
    return f"{java.major} ({java.executable})"


def _pyspark(environment: Mapping[str, str]) -> Finding:
    """By what is installed; importing it would cost a second."""
    try:
        return pyspark(importlib.metadata.version("pyspark"), environment)
    except importlib.metadata.PackageNotFoundError:
        return Finding("PySpark", Health.FAILED, f"missing: {_INSTALL_PYSPARK}")


def pyspark(version: str, environment: Mapping[str, str]) -> Finding:
    """Whether this version of PySpark is one that a run works with, and the Spark that it would start is its own."""
    if is_old_spark(version):
        return Finding("PySpark", Health.FAILED, f"{version}: a run needs {OLDEST_SPARK}: {_INSTALL_PYSPARK}")
    try:
        refuse_other_spark(version, environment)
    except LineageError as error:
        return Finding("PySpark", Health.FAILED, str(error))
    return Finding("PySpark", Health.OK, version)


def _class_archive(environment: Mapping[str, str]) -> list[Finding]:
    """Nothing where it could not be used: without Java or PySpark."""
    try:
        file = archive_file(find_java(environment))
    except (LineageError, importlib.metadata.PackageNotFoundError):
        return []
    advice = "none: `ingest doctor --class-archive` makes one, and Spark starts in half the processor time"
    return [Finding("class archive", Health.OK, str(file) if file.is_file() else advice)]


def cluster(config: RunConfig, environment: Mapping[str, str]) -> list[Finding]:
    """What is different where Spark's executors are on other hosts; nothing where they are here."""
    master, conf = config.headwater.spark.master, config.headwater.spark.conf
    try:
        refuse_spark_connect(config.headwater.spark, environment)
    except LineageError as error:
        return [Finding("cluster", Health.FAILED, str(error))]
    if is_one_machine(master):
        return []
    wanted = "Spark of this PySpark's version, Python of this one's, Headwater's dependencies"
    found = [Finding("cluster", Health.OK, f"{master}: its hosts need {wanted}")]
    found += [
        Finding("cluster", Health.WARNING, details) for details in (*_on_driver_alone(config), *_unshared_state(config))
    ]
    for key, path in config.lineage.input_paths.items():
        where = _on_disks(path, conf.get("spark.hadoop.fs.defaultFS")) if path else None
        if where is not None:
            advice = "every host must have the same files there, or give a URI that all of them read (hdfs://, s3a://)"
            found.append(Finding("cluster", Health.WARNING, f"{key} {path} {where}: {advice}"))
    return found


def _on_driver_alone(config: RunConfig) -> list[str]:
    """Why the executors cannot publish, and the driver has to do what they would."""
    from connectors.openmetadata.connection import is_loopback, local_files
    from workflows.target import connection_of

    driver = "its machine alone: batches of a large log are bound and published by the driver, one after the other"
    if isinstance(config.target, EmbeddedCatalog):
        return [f"the embedded catalog is reached from {driver}"]
    connection = connection_of(config.target)
    details = [f"{config.target.host_port} is reached from {driver}"] if is_loopback(config.target.host_port) else []
    with suppress(LineageError):  # of a file that is not there, which the check of the target tells
        details += [f"{file} is on {driver}" for file in local_files(connection)]
    return details


def _unshared_state(config: RunConfig) -> list[str]:
    if config.headwater.state.folder is not None:
        return []
    return [
        "what is remembered of a large log goes through the driver's memory into the state: headwater.state.folder "
        "names a folder that all hosts see"
    ]


def _on_disks(path: str, default_system: str | None) -> str | None:
    """How a path comes to be on the disks of each host for itself; None where it does not."""
    scheme = SCHEME.match(path)
    if scheme is not None:
        return "is on the disks of each host" if scheme[1].lower() == "file" else None
    if default_system is None:
        return "has no scheme, and is on the disks of each host unless the cluster's fs.defaultFS says otherwise"
    own = default_system.startswith("file:")
    return "has no scheme, and spark.hadoop.fs.defaultFS means the disks of each host" if own else None


def memory(available: int | None) -> Finding:
    """Whether so many free bytes are enough for a run."""
    if available is None:
        return Finding("memory", Health.WARNING, f"unknown; a run wants {_ENOUGH_MEMORY_GB:.0f} GB free")
    detail = f"{available / _GB:.1f} GB free"
    if available < _ENOUGH_MEMORY_GB * _GB:
        hint = "a run wants 2 GB; lower headwater.spark.conf.spark.driver.memory and threads"
        return Finding("memory", Health.WARNING, f"{detail}: {hint}")
    return Finding("memory", Health.OK, detail)


def _available_bytes() -> int | None:
    """Free memory, or what the container's limit leaves of it."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None
    try:
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text("ascii"))
        return min(free, limit - int((group / "memory.current").read_text("ascii")))
    except (OSError, ValueError):
        return free


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    detail = f"{free / _GB:.1f} GB free in {Path.cwd()}"
    if free < _ENOUGH_DISK_GB * _GB:
        return Finding(
            "disk", Health.WARNING, f"{detail}: a run wants {_ENOUGH_DISK_GB:.0f} GB for the catalog and Spark"
        )
    return Finding("disk", Health.OK, detail)


def _temporary_directory() -> Finding:
    try:
        directory = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=directory) as stream:
            stream.write(b"x")
    except OSError as error:
        return Finding(
            "temporary files", Health.FAILED, f"{error.strerror}: set TMPDIR to a directory that can be written"
        )
    return Finding("temporary files", Health.OK, directory)


def _full_text_search() -> Finding:
    version = f"SQLite {sqlite3.sqlite_version}"
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return Finding("full-text search", Health.FAILED, f"{version} has no FTS5: use a Python whose sqlite3 has it")
    return Finding("full-text search", Health.OK, f"{version} with FTS5")


def catalog_file(file: Path) -> Finding:
    """Whether the embedded catalog's file can be made or written."""
    subject = "catalog file"
    if file.is_dir():
        return Finding(subject, Health.FAILED, f"{file} is a directory: set headwater.catalog.file to a file")
    if file.exists():
        return _existing_catalog(file)
    parent = next(directory for directory in file.absolute().parents if directory.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        return Finding(subject, Health.FAILED, f"{file}: {parent} cannot be written; set headwater.catalog.file")
    return Finding(subject, Health.OK, f"{file} (not there yet)")


def _existing_catalog(file: Path) -> Finding:
    if not os.access(file, os.R_OK | os.W_OK):
        return Finding("catalog file", Health.FAILED, f"{file} cannot be written; set headwater.catalog.file")
    with file.open("rb") as stream:
        begin = stream.read(len(_SQLITE))
    if begin not in (b"", _SQLITE):
        return Finding("catalog file", Health.FAILED, f"{file} is no SQLite file; set headwater.catalog.file")
    if not is_whole(file):
        return Finding("catalog file", Health.FAILED, str(damage_error(file)))
    return Finding("catalog file", Health.OK, str(file))


def _namespaces(config: RunConfig, file: Path) -> list[Finding]:
    """Where tables of OpenLineage's events stand beside those of a service, with the line of YAML that joins them."""
    from connectors.catalog.questions.file import open_catalog
    from connectors.catalog.store.lineage.openlineage import unjoined_namespaces

    known = config.namespaces
    try:
        with open_catalog(file) as connection:
            found = unjoined_namespaces(connection, known)
    except LineageError as error:
        return [Finding("namespaces", Health.FAILED, str(error))]
    return [Finding("namespaces", Health.WARNING, _joining(one, found[one], known)) for one in found]


def _joining(namespace: str, services: Sequence[str], known: NamespaceMap) -> str:
    if known.services_of(namespace):
        return (
            f"{namespace} is {services[0]} by now; what came before stays in a service of its name till that is deleted"
        )
    return f"{namespace} has tables of its own; they join with {line_of_map(namespace, services)}"


def _target(server: Server) -> str:
    from workflows.target import server_version

    return f"{server.host_port}, version {server_version(server)}"
