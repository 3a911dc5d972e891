"""Where to carry out the passes: in Spark's tasks where a log has several batches, in the driver where they cannot."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

from pyspark import SparkContext

from connectors.openmetadata.client import connect
from connectors.openmetadata.transport.connection import Connection, is_loopback, local_files
from ingestion.errors import LineageError
from workflows.batches.places import InDriver, Place
from workflows.batches.tasks import InTasks, destroy
from workflows.batches.worker import WorkerFacts, WorkerSettings, config_for_tasks
from workflows.lineage.schema_files import Schemas
from workflows.target import TRIED_ONCE

_AT_MOST = 64
"""Batches at a time: each waits in a thread of the driver."""

logger = logging.getLogger(__name__)


@contextmanager
def place_of(driver: InDriver, spark: SparkContext, batches: int, stated: tuple[Schemas, ...]) -> Iterator[Place]:
    """Where to carry out the passes over so many `batches`, in the block; `stated` has the schemas before the log.

    Why a log of several batches stays in the driver is logged.
    """
    stages = driver.stages
    connection = stages.target.connection
    if batches < 2:
        yield driver
        return
    reason = next(_reasons_for_driver(driver, spark), None)
    if reason is not None or connection is None:
        logger.info("%d batches are worked on in the driver: %s", batches, reason)
        yield driver
        return
    slots = min(spark.defaultParallelism, batches, _AT_MOST)
    publishers = min(slots, stages.config.threads)
    facts = spark.broadcast(WorkerFacts(config_for_tasks(stages.config), stages.names.settings, stated))
    settings = WorkerSettings(
        key=uuid4().hex,
        facts=facts,
        connection=replace(connection, connections=max(1, stages.config.threads // publishers)),
        run_id=stages.options.run_id,
        failpoints=stages.options.failpoints.in_tasks(),
        publishers=publishers,
        writes=stages.target.writes,
    )
    logger.info("%d batches are worked on in Spark's tasks, %d at a time", batches, slots)
    try:
        yield InTasks(spark, settings, slots, driver)
    finally:  # the session may be somebody's, and outlive the run
        destroy(facts)


def _reasons_for_driver(driver: InDriver, spark: SparkContext) -> Iterator[str]:
    """Why the tasks cannot do the same, the first one first."""
    stages = driver.stages
    connection = stages.target.connection
    if connection is None:
        yield "only it reaches the catalog"
        return
    if stages.binding.database is not None:
        yield "the live database's planner is asked by it"
    if spark.defaultParallelism < 2:
        yield "Spark has one core"
    if not str(spark.master).startswith("local"):
        if is_loopback(connection.host_port):
            yield f"{connection.host_port} is reached from its machine alone"
        if files := local_files(connection):
            yield f"{', '.join(files)} is on its machine alone"
        if refusal := _refusal(connection, spark):
            yield f"from an executor, {refusal}"


def _refusal(connection: Connection, spark: SparkContext) -> str:
    """Why an executor cannot reach the target; "" where it does."""

    def try_it(_number: int) -> str:
        try:
            connect(connection, TRIED_ONCE).close()
        except LineageError as error:
            return str(error)
        return ""

    (answer,) = spark.parallelize([0], 1).map(try_it).collect()
    return str(answer)
