"""How much the lineage of a statement costs beside its bare parse.

    python tests/benchmarks/parsing.py [--repeat 5]

Prints statements a second of the compiled `sqlglot.parse` alone and of parse, translation and analysis together, on the
same statements in one process, interleaved; the ratio is the share of the bare parse's speed that is kept (aim: half).
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import sqlglot
from sqlglot.errors import SqlglotError

from ingestion.analysis.analyzer import analyze
from ingestion.dialects import dialect_of
from ingestion.errors import Unparsable
from ingestion.parsing.sqlglot_tier.tier import parse

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


def timed(work: Callable[[list[Statement]], None], batch: list[Statement]) -> float:
    gc.collect()
    start = time.process_time()
    work(batch)
    return time.process_time() - start


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeat", type=int, default=5)
    repeat = arguments.parse_args().repeat
    total: dict[str, float] = {"bare": 0.0, "whole": 0.0}
    for origin, batch in statements().items():
        seconds: dict[str, list[float]] = {"bare": [], "whole": []}
        for _ in range(repeat):
            seconds["bare"].append(timed(bare, batch))
            seconds["whole"].append(timed(whole, batch))
        middle = {name: statistics.median(times) for name, times in seconds.items()}
        for name, value in middle.items():
            total[name] += value
        rates = "  ".join(f"{name} {len(batch) / value:8.0f}/s" for name, value in middle.items())
        print(f"{origin:10} {len(batch):5} statements  {rates}  ratio {middle['bare'] / middle['whole']:.2f}")
    print(f"all: ratio {total['bare'] / total['whole']:.2f}")


if __name__ == "__main__":
    main()
