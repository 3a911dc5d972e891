"""What one statement costs, stage by stage, as it grows: in tables, columns, joins, depth, CTEs and CASEs.

    python -m tests.benchmarks.one_statement [--sizes 500 1000 2000 4000] [--shapes unions columns]

Prints seconds of processor time of each stage (of the parser: its parse, its analysis; of the run: binding, resolving
names, requests; of the catalog: storing, with its bytes) at each size, without the garbage collector's, and the
exponent between the last two: 1 is n, 1.1 about n log n, 2 is n squared. Sizes go up to 50,000; a limit that ends a
statement is told. `failing` are n statements that no tier reads, `refused` n INSERTs that sqlglot does not read, so
that 1 is the same for each; what one costs beside one that sqlglot reads is told. Exit code 1 where a stage of a second
or more grows faster than n log n.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from math import log
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil

from connectors.openmetadata.client import CatalogSearch, Platform
from connectors.openmetadata.sink import RestSink
from connectors.sink import target_batches
from connectors.source_settings import LineageConfig
from ingestion.analysis.analyzer import analyze
from ingestion.errors import RecordError, Rejected
from ingestion.parsing.parser_pool import close_warm_parsers
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.sqlglot.tier import parse
from ingestion.parsing.tiers import ParseRequest, parse_chunk
from ingestion.resolution import Resolver, SearchScope
from tests.behaviour.harness import Warehouse, add_tables, catalog_with, group_of, statement_rows, templates_of
from workflows.run.bind.binding import bind_occurrences
from workflows.run.bind.schemas import StatedSchemas, catalog_schemas
from workflows.run.publish.delivery import published_state
from workflows.run.resolve.entities import relations_in, resolve_relations
from workflows.run.resolve.lineage import lineage_of

DIALECT = "postgres"
_STACK, _RECURSION = 512 << 20, 100_000
_MOST_EXPONENT = 1.35
"""Of n log n over a doubling, with what the machine adds."""
_WORTH_TELLING = 1.0
Tables = dict[str, list[str]]


def unions(n: int) -> str:
    return "INSERT INTO target (a, b) " + " UNION ALL ".join(f"SELECT a, b FROM t{i}" for i in range(n))


def columns(n: int) -> str:
    names = ", ".join(f"c{i}" for i in range(n))
    return f"INSERT INTO target ({names}) SELECT {names} FROM t0"


def joins(n: int) -> str:
    joined = " ".join(f"JOIN t{i} ON t0.a = t{i}.a" for i in range(1, n))
    return f"INSERT INTO target (a) SELECT t0.a FROM t0 {joined}"


def depth(n: int) -> str:
    return "INSERT INTO target (a) SELECT a FROM " + "(SELECT a FROM " * n + "t0" + "".join(f") s{i}" for i in range(n))


def ctes(n: int) -> str:
    chain = "".join(f", c{i} AS (SELECT a FROM c{i - 1})" for i in range(1, n))
    return f"INSERT INTO target (a) WITH c0 AS (SELECT a FROM t0){chain} SELECT a FROM c{n - 1}"


def cases(n: int) -> str:
    whens = " ".join(f"WHEN a = {i} THEN b{i}" for i in range(n))
    return f"INSERT INTO target (a) SELECT CASE {whens} ELSE c END FROM t0"


SHAPES: dict[str, Callable[[int], str]] = {one.__name__: one for one in (unions, columns, joins, depth, ctes, cases)}
FAILING = {
    "failing": "GRUNT INTO t{n} ((a, b) WHERE {n} FROM",
    "refused": "INSERT INTO t{n} (a, b) SELECT f(a b c), b FROM s WHERE x = {n}",
}
_READ = "INSERT INTO t{n} (a, b) SELECT f(a), b FROM s WHERE x = {n}"


def tables_of(shape: str, n: int) -> Tables:
    """What the statement reads and writes, as the catalog has it."""
    wide = [f"c{i}" for i in range(n)] if shape == "columns" else ["a", "b"]
    whole = {"cases": ["a", "c", *(f"b{i}" for i in range(n))]}.get(shape, wide)
    count = n if shape in ("unions", "joins") else 1
    return {"svc.db.public.target": wide, **{f"svc.db.public.t{i}": whole for i in range(count)}}


@dataclass
class Stages:
    """Seconds of processor time by stage."""

    seconds: dict[str, float] = field(default_factory=dict)
    ended: str = ""

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        gc.collect()
        # a full collection goes over all that earlier stages hold, and falls into one stage or another
        gc.disable()
        begun = time.process_time()
        try:
            yield
        finally:
            gc.enable()
        self.seconds[stage] = time.process_time() - begun


def measure(shape: str, n: int) -> Stages:
    """One statement through every stage."""
    text, stages = SHAPES[shape](n), Stages()
    try:
        with stages.timed("parse"):
            form = parse(text, DIALECT)
        with stages.timed("analysis"):
            analyze(form, lambda _name: None)
    except RecordError as error:
        stages.ended = error.code
        return stages
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "catalog.db"
        with catalog_with(file, {}) as (platform, _catalog):
            before = file.stat().st_size
            try:
                add_tables(platform, tables_of(shape, n))
                before = file.stat().st_size
                run(platform, text, stages)
            except Rejected as error:  # the catalog has limits of a table
                stages.ended = str(error)
        print(f"{shape:8} {n:6}  stored {(file.stat().st_size - before) / 1e6:.1f} MB of {len(text) / 1e6:.2f} MB text")
    return stages


def run(platform: Platform, text: str, stages: Stages) -> None:
    """The statement as a log of one record, into a catalog whose server is in this process."""
    warehouse = Warehouse(DIALECT)
    rows = statement_rows([text], warehouse)
    templates = templates_of(rows)
    (template,) = templates.values()
    if template.symbolic is None:
        stages.ended = str(template.dead)
        return
    groups = [group_of(0, rows[0])]
    resolver = Resolver(CatalogSearch(platform), SearchScope(warehouse.service))
    with stages.timed("bind"):
        source = bind_occurrences(templates, groups, warehouse.settings, catalog_schemas(StatedSchemas(), resolver))
    with stages.timed("resolve"):
        entities = resolve_relations(source.log, relations_in(source.flows), resolver, LineageConfig())
    with stages.timed("requests"):
        lineage = lineage_of(source, entities)
    batches = target_batches(lineage.requests, lineage.replacements)
    with stages.timed("compare"):
        for batch in batches:
            published_state(batch)
    with stages.timed("store"):
        RestSink(platform, "benchmark").write(batches)


def measure_failing(shape: str, n: int) -> Stages:
    """n statements of one kind that not every tier reads: in processor time of the process that parses."""
    stages = Stages()
    sandbox = Sandbox(Limits(seconds=60))
    try:
        for stage, text in (("sqlglot alone", _READ), ("parse", FAILING[shape])):
            requests = [ParseRequest(str(i), text.format(n=i), DIALECT) for i in range(n)]
            parse_chunk(requests[:1], sandbox)
            begun = _processor_seconds(sandbox.pid)
            parse_chunk(requests, sandbox)
            stages.seconds[stage] = _processor_seconds(sandbox.pid) - begun
    finally:
        sandbox.close()
    return stages


def _processor_seconds(pid: int | None) -> float:
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


def exponents(found: dict[int, Stages]) -> dict[str, float]:
    """Of each stage between the last two sizes that both reached it."""
    grown: dict[str, float] = {}
    for (small, before), (large, after) in pairwise(found.items()):
        for stage in before.seconds.keys() & after.seconds.keys():
            times = before.seconds[stage], after.seconds[stage]
            if min(times) > 0:
                grown[stage] = log(times[1] / times[0]) / log(large / small)
    return grown


def tell(shape: str, sizes: list[int]) -> bool:
    """Measures one shape at all sizes; whether no stage that takes long grows faster than n log n."""
    found: dict[int, Stages] = {}
    for n in sizes:
        found[n] = measure_failing(shape, n) if shape in FAILING else measure(shape, n)
        times = "  ".join(f"{stage} {seconds:.2f}" for stage, seconds in found[n].seconds.items())
        print(f"{shape:8} {n:6}  {times}  {found[n].ended}", flush=True)
    grown = exponents(found)
    print(f"{shape:8} exponent {'  '.join(f'{stage} {one:.2f}' for stage, one in sorted(grown.items()))}\n", flush=True)
    long = {stage for stage, seconds in found[sizes[-1]].seconds.items() if seconds >= _WORTH_TELLING}
    return all(grown.get(stage, 0) <= _MOST_EXPONENT for stage in long)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sizes", type=int, nargs="+", default=[500, 1_000, 2_000, 4_000])
    arguments.add_argument("--shapes", nargs="+", choices=[*SHAPES, *FAILING], default=[*SHAPES, *FAILING])
    given = arguments.parse_args()
    good: list[bool] = []
    sys.setrecursionlimit(_RECURSION)
    threading.stack_size(_STACK)  # as the parser process has it
    work = threading.Thread(target=lambda: good.extend(tell(shape, given.sizes) for shape in given.shapes))
    work.start()
    work.join()
    close_warm_parsers()
    sys.exit(0 if len(good) == len(given.shapes) and all(good) else 1)


if __name__ == "__main__":
    main()
