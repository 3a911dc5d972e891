"""What the last stages of a run ask of the statements that were read, asked as soon as these are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from pyspark.sql import Row

from ingestion.model.namespaces import NamespaceDefaults
from workflows.run.publish.loads import GatheredLoads, gather_loads
from workflows.run.publish.value_rows import filling_rows
from workflows.run.read.reader import Statements


@dataclass(frozen=True, slots=True)
class GatheredRows:
    """Each gives its rows, and raises what Spark raises of them."""

    loads: Callable[[], GatheredLoads]
    filling: Callable[[], Sequence[Row]]


def gathered_rows(
    statements: Statements, defaults: NamespaceDefaults, kept: ExitStack, *, are_wanted: bool
) -> GatheredRows:
    """The loads and the filled tables of `statements`. `kept` waits for what has begun when it is left.

    Of few statements they are asked for at once where they `are_wanted`, beside the stages between, in which a core
    waits: to plan two queries takes Spark 2 of the 13 seconds of the sample's run. Of many they are asked for when they
    are needed, since the stages between use all cores.
    """
    loads, filling = partial(gather_loads, statements, defaults), partial(filling_rows, statements)
    if not (are_wanted and statements.are_few):
        return GatheredRows(loads, filling)
    pool = ThreadPoolExecutor(1, "gathered-rows")
    kept.callback(pool.shutdown, cancel_futures=True)
    return GatheredRows(pool.submit(loads).result, pool.submit(filling).result)
