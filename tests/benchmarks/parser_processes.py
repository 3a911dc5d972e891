"""What a parser process costs: its start, a round trip, its replacement, and statements a second beside bare parsing.

Run it as `python tests/benchmarks/parser_processes.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from ingestion.analysis.symbolic import dumps
from ingestion.parsing.parser_pool import ThreadedParser
from ingestion.parsing.sandbox.process import Limits, Sandbox
from ingestion.parsing.sqlglot import tier
from ingestion.parsing.tiers import MODULES, ParseRequest, Tier

DIALECT = "postgres"
SQLGLOT = MODULES[Tier.SQLGLOT]
SHAPES = (
    "INSERT INTO mart.sales_{n} (day, shop, total) SELECT o.day, s.name, sum(o.price * o.pieces) FROM orders_{n} o "
    "JOIN shops s ON o.shop = s.id WHERE o.state <> 'void' GROUP BY 1, 2",
    "CREATE TABLE step_{n} AS WITH recent AS (SELECT * FROM events_{n} WHERE at > '2024-01-01'), ranked AS (SELECT "
    "r.*, row_number() OVER (PARTITION BY visitor ORDER BY at DESC) AS place FROM recent r) SELECT visitor, page, CASE "
    "WHEN place = 1 THEN 'last' ELSE 'older' END AS age FROM ranked LEFT JOIN pages_{n} p ON p.id = ranked.page",
    "SELECT a, b, c FROM small_{n} WHERE d = 1",
    "UPDATE customers_{n} c SET level = l.level, since = now() FROM levels l WHERE l.customer = c.id",
)


def statements(count: int) -> list[str]:
    return [SHAPES[number % len(SHAPES)].format(n=number) for number in range(count)]


def seconds(work: Callable[[], object], repetitions: int = 5) -> float:
    """The median time of `work`."""
    times = []
    for _ in range(repetitions):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return median(times)


def start_and_warm() -> None:
    with Sandbox(Limits()) as sandbox:
        sandbox.parse(SQLGLOT, [("SELECT 1", DIALECT)])


def round_trips() -> None:
    texts = [(text, DIALECT) for text in statements(2000)]
    with Sandbox(Limits(seconds=0.5)) as sandbox:
        sandbox.parse(SQLGLOT, texts[:1])
        alone = seconds(lambda: [sandbox.parse(SQLGLOT, [text]) for text in texts[:400]]) / 400
        batched = seconds(lambda: sandbox.parse(SQLGLOT, texts)) / len(texts)
    bare = seconds(lambda: [dumps(tier.parse(*text)) for text in texts]) / len(texts)
    print(f"one statement in process          {bare * 1e6:8.0f} us")
    print(f"  in a warm process, in batches   {batched * 1e6:8.0f} us")
    print(f"  in a warm process, one by one   {alone * 1e6:8.0f} us")


def threads() -> None:
    requests = [ParseRequest(str(number), text, DIALECT) for number, text in enumerate(statements(8000))]
    for count in (1, 2, 4):
        with ThreadedParser(count, Limits()) as parser:
            list(parser.parse(requests[: 200 * count]))
            spent = seconds(lambda parser=parser: list(parser.parse(requests)), 3)  # type: ignore[misc]
        print(f"{count} threads                         {len(requests) / spent:8.0f} statements/s")


def main() -> None:
    print(f"start of a process and warm-up    {seconds(start_and_warm) * 1e3:8.0f} ms")
    round_trips()
    threads()


if __name__ == "__main__":
    main()
