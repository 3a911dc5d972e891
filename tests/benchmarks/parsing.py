"""How much the lineage of a statement costs beside its bare parse.

    python tests/benchmarks/parsing.py [suite ...] [--as-tables] [--dialect postgres] [--repeat 5] [--beside CHECKOUT]

A suite is a file of lines {"sql": …, "dialect": …}, or a file or folder of SQL; without one, own texts of mixed length
and dialect are measured. `--as-tables`: each query stands for the table that is made of it.

Prints milliseconds a statement, first of the clock and then of processors, those of the parser processes with them, of
the compiled `sqlglot.parse` alone; of parse, translation and analysis in one process (`tier`); of LineageParser one
statement at a time (aim: three bare parses) and a thousand and more in one call (aim: two). All on the same statements,
in turns, the least of the repetitions. `--beside` measures another checkout in the same turns, as the machine may be
busier in one minute than in the next.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import groupby
from math import ceil
from operator import itemgetter
from pathlib import Path

import psutil
import sqlglot
from sqlglot.errors import SqlglotError

sys.path.append(str(Path(__file__).resolve().parents[2]))  # behind the checkout that a measuring process is given

from ingestion.analysis.analyzer import analyze
from ingestion.dialects import dialect_of
from ingestion.errors import RecordError, Unparsable
from ingestion.parser import LineageParser
from ingestion.parsing.sqlglot.tier import parse
from ingestion.statements import split

HERE = Path(__file__).resolve().parents[2]
Statement = tuple[str, str]
Suites = dict[str, list[Statement]]
_OWN = "own texts"
_COPIES = 12
_MANY_AT_ONCE = "of_each"
_MANY = 1_000
"""Statements at least of which a call is made that takes many: a smaller suite is given several times over."""

SHAPES: tuple[Statement, ...] = (
    ("INSERT INTO stage_{n} SELECT * FROM raw.events_{n} WHERE day = '2024-03-0{n}'", "snowflake"),
    ("UPDATE customers_{n} c SET level = l.level, since = now() FROM levels l WHERE l.customer = c.id", "postgres"),
    (
        "INSERT OVERWRITE TABLE mart.visits_{n} PARTITION (day) SELECT v.page, v.seconds, f(v.agent), v.day FROM "
        "raw.visits v LATERAL VIEW explode(v.tags) tags AS tag WHERE tag = 'x'",
        "spark",
    ),
    (
        "MERGE INTO dbo.stock_{n} AS t USING (SELECT item, SUM(pieces) AS pieces FROM dbo.moves GROUP BY item) AS s ON "
        "t.item = s.item WHEN MATCHED THEN UPDATE SET t.pieces = t.pieces + s.pieces WHEN NOT MATCHED THEN INSERT "
        "(item, pieces) VALUES (s.item, s.pieces);",
        "tsql",
    ),
    (
        "CREATE OR REPLACE VIEW `p.d.sessions_{n}` AS SELECT user_id, ARRAY_AGG(STRUCT(page, at) ORDER BY at) AS pages,"
        " COUNT(DISTINCT page) AS distinct_pages FROM `p.d.hits_{n}`, UNNEST(items) AS item WHERE SAFE_CAST(item.price "
        "AS INT64) > 3 GROUP BY user_id",
        "bigquery",
    ),
)
"""Short statements; the long ones are `_report`, `_wide` and `_ambiguous`."""


def _own_texts() -> list[Statement]:
    made = [(text.replace("{n}", str(number)), dialect) for number in range(_COPIES) for text, dialect in SHAPES]
    for number in range(_COPIES):
        made += [(_report(number), "postgres"), (_wide(number), "mysql"), (_ambiguous(number), "duckdb")]
    return made


def _report(number: int) -> str:
    """CTEs, joins, CASE, windows, a correlated subquery, every column with its table."""
    sums = ",\n".join(
        f"  sum(case when d.moy = {month} then s.price * s.quantity else 0 end) as m{month}_{number}"
        for month in range(1, 13)
    )
    return f"""with sales as (
        select s.item_id, s.store_id, d.year,\n{sums}
        from store_sales s join date_dim d on s.sold_date = d.date_id
        where d.year between 1999 and {2000 + number} and s.price > 0 group by s.item_id, s.store_id, d.year),
        ranked as (select sales.*, row_number() over (partition by store_id order by m1_{number} desc) as rn
        from sales)
        select i.name, coalesce(i.brand, 'none') as brand, st.city, r.m1_{number} + r.m2_{number} as first_two,
        (select max(x.m3_{number}) from sales x where x.store_id = r.store_id) as best
        from ranked r join item i on r.item_id = i.item_id left join store st on st.store_id = r.store_id
        where r.rn <= 10 and exists (select 1 from promo p where p.item_id = r.item_id)
        order by st.city, first_two desc limit 100"""


def _wide(number: int) -> str:
    names = ", ".join(f"measure_{column}" for column in range(60))
    return f"INSERT INTO `archive`.`of_{number}` ({names}) SELECT {names} FROM `readings` WHERE `day` < 20{number}"


def _ambiguous(number: int) -> str:
    """Names without their tables, over tables of which nothing is known: each may be any table's."""
    totals = ", ".join(f"sum(amount_{column}) as total_{column}" for column in range(10))
    return f"""create table totals_{number} as
        select region, product, day, {totals} from orders, customers, products, days
        where customer_key = order_customer and product_key = order_product and day_key = order_day
        and year = {2000 + number} and region in ('north', 'south') and price * (1 - discount) > 100
        group by region, product, day having sum(amount_1) > 10 order by region, total_1 desc"""


def _suite(file: Path, dialect: str, *, as_tables: bool) -> list[Statement]:
    if file.suffix == ".jsonl":
        cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        found = [(case["sql"], case["dialect"] or "ansi") for case in cases if "sql" in case]
    else:
        files = sorted(file.rglob("*.sql")) if file.is_dir() else [file]
        texts = (text.text for one in files for text in split(one.read_text(encoding="utf-8"), dialect))
        found = [(text, dialect) for text in texts]
    if not as_tables:
        return found
    return [(f"CREATE TABLE made_{number} AS {text}", dialect) for number, (text, dialect) in enumerate(found)]


def _readable(statement: Statement) -> bool:
    """Whether the statement is one that both sides of the comparison can do."""
    try:
        bare([statement])
        parse(*statement)
    except (SqlglotError, Unparsable):
        return False
    return True


def bare(batch: list[Statement]) -> None:
    for text, dialect in batch:
        sqlglot.parse(text, read=dialect_of(dialect).sqlglot)


def tier(batch: list[Statement]) -> None:
    for text, dialect in batch:
        analyze(parse(text, dialect), lambda _name: None)


def one_by_one(batch: list[Statement]) -> None:
    for text, dialect in batch:
        with suppress(RecordError):
            LineageParser(text, dialect)


def many_at_once(batch: list[Statement]) -> None:
    for dialect, statements_of in groupby(sorted(_many(batch), key=itemgetter(1)), key=itemgetter(1)):
        deque(LineageParser.of_each([text for text, _dialect in statements_of], dialect), maxlen=0)


def _many(batch: list[Statement]) -> list[Statement]:
    """The suite as often as makes that many: each text another one, for what is kept of a text helps the next."""
    copies = range(ceil(_MANY / max(1, len(batch))))
    return [(f"-- {number}\n{text}", dialect) for number in copies for text, dialect in batch]


WORKS: dict[str, Callable[[list[Statement]], None]] = {
    "bare": bare,
    "tier": tier,
    "LineageParser": one_by_one,
    _MANY_AT_ONCE: many_at_once,
}


def _processor_seconds() -> float:
    """Of this process and of the parser processes, which must have been started."""
    clocks = [(~child.pid << 3) | 2 for child in psutil.Process().children()]  # Linux's numbers of others' clocks
    return time.process_time() + sum(time.clock_gettime(clock) for clock in clocks)


def _serve(suites: Suites) -> None:
    """Measures what is asked for: `0 bare` is the work of that name on the first suite."""
    batches = [[one for one in batch if _readable(one)] for batch in suites.values()]
    for batch in batches:
        many_at_once(batch)
    print(json.dumps([len(batch) for batch in batches]), flush=True)
    for line in sys.stdin:
        number, work = line.split()
        batch = batches[int(number)]
        gc.collect()
        begun, begun_processors = time.perf_counter(), _processor_seconds()
        WORKS[work](batch)
        spent = (time.perf_counter() - begun, _processor_seconds() - begun_processors)
        statements = max(1, len(_many(batch) if work == _MANY_AT_ONCE else batch))
        print(*(one / statements for one in spent), flush=True)


class _Worker:
    """A process that has the code of one checkout."""

    def __init__(self, checkout: Path, arguments: list[str]) -> None:
        self.name = checkout.name
        command = [sys.executable, __file__, "--worker", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, bufsize=1
        )
        self.counts: list[int] = json.loads(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"the measuring process of {self.name} ended: see what it says above")
        return line

    def measure(self, suite: int, work: str) -> tuple[float, ...]:
        """Seconds a statement: of the clock, and of processors."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{suite} {work}\n")
        return tuple(map(float, self._line().split()))


def _rows(name: str, number: int, workers: list[_Worker], repeat: int) -> Iterator[str]:
    least = {(worker.name, work): (float("inf"),) * 2 for worker in workers for work in WORKS}
    for _ in range(repeat):
        for work in WORKS:
            for worker in workers:
                found = least[worker.name, work]
                least[worker.name, work] = tuple(map(min, found, worker.measure(number, work)))
    for worker in workers:
        bare_seconds = least[worker.name, "bare"]
        times = "  ".join(f"{work} {_milliseconds(least[worker.name, work], bare_seconds)}" for work in WORKS)
        yield f"{name:18} {worker.counts[number]:5} statements  {worker.name:10} {times}"


def _milliseconds(seconds: tuple[float, ...], bare_seconds: tuple[float, ...]) -> str:
    return ", ".join(f"{own * 1e3:.3f} ({own / its:.1f})" for own, its in zip(seconds, bare_seconds, strict=True))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("suites", type=Path, nargs="*")
    arguments.add_argument("--as-tables", action="store_true")
    arguments.add_argument("--dialect", default="postgres")
    arguments.add_argument("--repeat", type=int, default=5)
    arguments.add_argument("--beside", type=Path)
    arguments.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.worker:
        found = {file.name: _suite(file, given.dialect, as_tables=given.as_tables) for file in given.suites}
        _serve(found or {_OWN: _own_texts()})
        return
    passed = [*map(str, given.suites), "--dialect", given.dialect, *(["--as-tables"] if given.as_tables else [])]
    checkouts = [HERE] if given.beside is None else [given.beside.resolve(), HERE]
    workers = [_Worker(checkout, passed) for checkout in checkouts]
    for number, name in enumerate([file.name for file in given.suites] or [_OWN]):
        for row in _rows(name, number, workers, given.repeat):
            print(row, flush=True)
    for worker in workers:
        worker.process.communicate()


if __name__ == "__main__":
    main()
