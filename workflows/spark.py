"""The Spark session that a run's data pipeline works in."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from workflows.config import SparkSettings
from workflows.java import find_java

_OWN_PACKAGES = ("ingestion", "connectors", "workflows")
_DEFAULTS = {
    "spark.app.name": "headwater",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.execution.pyspark.udf.faulthandler.enabled": "false",
    "spark.log.level": "ERROR",
}
_LOCAL_DEFAULTS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    # A run is short, and its work is in Python: what the JVM would spend on optimising its own code does not come back
    # (a third of the processor time at 100,000 records, two thirds at 100). spark.driver.extraJavaOptions wins over it.
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
}


@contextmanager
def spark_session(settings: SparkSettings) -> Iterator[SparkSession]:
    """A session on the configured master, stopped at the end; one that is active already is used, and left as it is.

    Raises ConfigError where Java is missing or too old, before Spark is started.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    find_java()
    local = settings.master.startswith("local")
    builder = SparkSession.builder.master(settings.master)
    for key, value in {**_DEFAULTS, **(_LOCAL_DEFAULTS if local else {}), **settings.conf}.items():
        builder = builder.config(key, value)
    # Tasks run in the interpreter that runs us, where what they import is installed.
    os.environ.setdefault("PYSPARK_PYTHON", settings.conf.get("spark.pyspark.python", sys.executable))
    logging.getLogger("py4j").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="headwater-spark-") as scratch:
        builder = builder.config("spark.sql.warehouse.dir", settings.conf.get("spark.sql.warehouse.dir", scratch))
        with _quiet_jvm():
            spark = builder.getOrCreate()
        try:
            if not settings.master.startswith("local["):
                spark.sparkContext.addPyFile(str(_own_code(Path(scratch))))
            yield spark
        finally:
            spark.stop()


@contextmanager
def _quiet_jvm() -> Iterator[None]:
    """The JVM and its Python workers inherit no standard error: what they would print there may quote queries.

    What matters comes back as an exception; `--log-level DEBUG` lets them talk.
    """
    if logging.getLogger("workflows").isEnabledFor(logging.DEBUG):
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _own_code(directory: Path) -> Path:
    """Our packages in a zip, for executors that have the dependencies installed but not us."""
    archive = directory / "headwater.zip"
    root = Path(__file__).resolve().parent.parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for package in _OWN_PACKAGES:
            for source in sorted((root / package).rglob("*.py")):
                out.write(source, source.relative_to(root))
    return archive
