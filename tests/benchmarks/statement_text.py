"""What reading a statement's text costs, before any parser sees it.

    python tests/benchmarks/statement_text.py [--repeat 5]

Prints microseconds of CPU time for split, classify, fingerprint and mask, best of the repetitions, for statements of a
shop's log, and seconds for texts of a megabyte (aim: fingerprint 25, split and classify together 20 microseconds).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from ingestion.statements import classify, split
from ingestion.statements.masking import QueryMasker, fingerprint

_SELECT = """SELECT o.order_date, o.shop_id, SUM(i.quantity * i.unit_price) AS total, COUNT(*)
FROM shop.orders o
JOIN shop.order_items i ON i.order_id = o.id
WHERE o.order_date = '2024-01-15' AND o.status IN ('paid', 'sent') AND i.quantity > 10
GROUP BY o.order_date, o.shop_id"""
STATEMENTS = {
    "insert": f"INSERT INTO mart.daily_sales (day, shop_id, total, orders)\n{_SELECT}",
    "create": f"CREATE TABLE mart.daily_sales AS\n{_SELECT}",
    "select": _SELECT,
    "values": "INSERT INTO shop.orders (id, order_date, shop_id, note) VALUES (1, '2024-01-01', 5, 'from a note')",
    "quoted": 'SELECT "o"."id", "o"."total" FROM "shop"."orders" "o" WHERE "o"."id" = 17 AND "o"."status" = \'paid\'',
}
HUGE = {
    "rows": "INSERT INTO t VALUES " + ", ".join(f"('it''s {n}', {n})" for n in range(50_000)),
    "list": "SELECT a FROM t WHERE b IN (" + ", ".join(f"'x{n}'" for n in range(100_000)) + ")",
    "script": ";\n".join(f"INSERT INTO a{n} SELECT b FROM c{n} WHERE d = ';'" for n in range(20_000)),
}


def seconds(work: Callable[[], object], repeat: int, rounds: int) -> float:
    """The best CPU time of one call over `repeat` repetitions of `rounds` calls."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        for _ in range(rounds):
            work()
        best = min(best, (time.process_time() - start) / rounds)
    return best


def stages(text: str, dialect: str) -> dict[str, Callable[[], object]]:
    """What a run does with a statement's text."""
    return {
        "split": lambda: split(text, dialect),
        "classify": lambda: classify(text, dialect),
        "fingerprint": lambda: fingerprint(text, dialect),
        "mask": lambda: QueryMasker(dialect).mask(text),
    }


def main() -> None:
    """Runs the benchmark and prints its tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeat", type=int, default=5)
    repeat = arguments.parse_args().repeat
    for dialect in ("postgres", "snowflake", "mysql", "bigquery", "tsql"):
        for name, text in STATEMENTS.items():
            costs = {stage: seconds(work, repeat, 2000) * 1e6 for stage, work in stages(text, dialect).items()}
            print(f"{dialect:10} {name:7} {len(text):5}", *(f"{stage} {cost:6.1f} us" for stage, cost in costs.items()))
    for name, text in HUGE.items():
        costs = {stage: seconds(work, 1, 1) for stage, work in stages(text, "postgres").items()}
        print(f"{name:18} {len(text):8}", *(f"{stage} {cost:6.3f} s" for stage, cost in costs.items()))


if __name__ == "__main__":
    main()
