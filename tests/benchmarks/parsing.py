"""How much the lineage of a statement costs beside its bare parse.

    python tests/benchmarks/parsing.py [--repeat 5]

Prints statements a second of processor time of the compiled `sqlglot.parse` alone; of parse, translation and analysis
together in one process (aim: half of that); and of LineageParser with its parser process, one statement at a time and
many in one call (aim: a third). All on the same statements, interleaved; the ratio is the share of the bare parse's
speed that is kept.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import psutil
import sqlglot
from sqlglot.errors import SqlglotError

from ingestion.analysis.analyzer import analyze
from ingestion.dialects import dialect_of
from ingestion.errors import RecordError, Unparsable
from ingestion.parser import LineageParser
from ingestion.parsing.sqlglot.tier import parse

SHARED = Path(__file__).resolve().parents[3] / "shared"
Statement = tuple[str, str]


def statements() -> dict[str, list[Statement]]:
    """Statements that this tier reads, by origin, each with its dialect."""
    found = {"generated": generated()}
    corpus = SHARED / "corpora" / "statements.jsonl"
    if corpus.exists():
        cases = [json.loads(line) for line in corpus.read_text().splitlines()]
        found["corpora"] = [(case["sql"], case["dialect"] or "ansi") for case in cases]
    oracle = SHARED / "data" / "mimic_iii" / "oracle.jsonl"
    if oracle.exists():
        cases = [json.loads(line) for line in oracle.read_text().splitlines()]
        found["mimic"] = [(case["sql"], "postgres") for case in cases if "sql" in case]
    return {origin: [s for s in texts if readable(s)] for origin, texts in found.items()}


def readable(statement: Statement) -> bool:
    """Whether the statement is one that both sides of the comparison can do."""
    try:
        bare([statement])
        parse(*statement)
    except (SqlglotError, Unparsable):
        return False
    return True


def generated() -> list[Statement]:
    """Reports of the size of a TPC-DS query: CTEs, joins, CASE, windows, a correlated subquery."""
    made = []
    for number in range(40):
        sums = ",\n".join(
            f"  sum(case when d.moy = {month} then s.price * s.quantity else 0 end) as m{month}_{number}"
            for month in range(1, 13)
        )
        made.append(
            (
                f"""with sales as (
                select s.item_id, s.store_id, d.year,\n{sums}
                from store_sales s join date_dim d on s.sold_date = d.date_id
                where d.year between 1999 and {2000 + number} and s.price > 0 group by s.item_id, s.store_id, d.year),
                ranked as (select sales.*, row_number() over (partition by store_id order by m1_{number} desc) as rn
                from sales)
                select i.name, coalesce(i.brand, 'none') as brand, st.city, r.m1_{number} + r.m2_{number} as first_two,
                (select max(x.m3_{number}) from sales x where x.store_id = r.store_id) as best
                from ranked r join item i on r.item_id = i.item_id left join store st on st.store_id = r.store_id
                where r.rn <= 10 and exists (select 1 from promo p where p.item_id = r.item_id)
                order by st.city, first_two desc limit 100""",
                "postgres",
            )
        )
    return made


def bare(batch: list[Statement]) -> None:
    for text, dialect in batch:
        sqlglot.parse(text, read=dialect_of(dialect).sqlglot)


def whole(batch: list[Statement]) -> None:
    for text, dialect in batch:
        analyze(parse(text, dialect), lambda _name: None)


def one_by_one(batch: list[Statement]) -> None:
    for text, dialect in batch:
        with suppress(RecordError):
            LineageParser(text, dialect)


def many_at_once(batch: list[Statement]) -> None:
    for dialect, statements_of in groupby(sorted(batch, key=itemgetter(1)), key=itemgetter(1)):
        deque(LineageParser.of_each([text for text, _dialect in statements_of], dialect), maxlen=0)


WORKS: dict[str, Callable[[list[Statement]], None]] = {
    "bare": bare,
    "whole": whole,
    "LineageParser": one_by_one,
    "of_each": many_at_once,
}


def timed(work: Callable[[list[Statement]], None], batch: list[Statement]) -> float:
    gc.collect()
    start = processor_seconds()
    work(batch)
    return processor_seconds() - start


def processor_seconds() -> float:
    """Of this process and of the parser process, which must have been started."""
    processes = [psutil.Process(), *psutil.Process().children()]
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeat", type=int, default=5)
    repeat = arguments.parse_args().repeat
    total = dict.fromkeys(WORKS, 0.0)
    for origin, batch in statements().items():
        one_by_one(batch)
        seconds: dict[str, list[float]] = {name: [] for name in WORKS}
        for _ in range(repeat):
            for name, work in WORKS.items():
                seconds[name].append(timed(work, batch))
        middle = {name: statistics.median(times) for name, times in seconds.items()}
        for name, value in middle.items():
            total[name] += value
        rates = "  ".join(f"{name} {len(batch) / value:8.0f}/s" for name, value in middle.items())
        print(f"{origin:10} {len(batch):5} statements  {rates}  {ratios(middle)}")
    print(f"all: {ratios(total)}")


def ratios(seconds: dict[str, float]) -> str:
    """The share of the bare parse's speed that each keeps."""
    return "  ".join(f"{name} {seconds['bare'] / value:.2f}" for name, value in seconds.items() if name != "bare")


if __name__ == "__main__":
    main()
