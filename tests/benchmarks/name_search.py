"""Times the search by name over a store of a million columns, which it fills by itself.

Run: python -m tests.benchmarks.name_search [--tables 20000] [--columns 50]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from sqlalchemy import insert

from connectors.catalog.store.database import Database, open_database
from connectors.catalog.store.name_index import index_names
from connectors.catalog.store.queries.name_search import find
from connectors.catalog.store.schema import entities

_BATCH = 500
_WORDS = (
    *("order", "customer", "product", "payment", "invoice", "shipment", "store", "supplier", "item", "stock", "price"),
    *("campaign", "visit", "session", "click", "account", "ledger", "refund", "basket", "coupon", "date", "amount"),
    *("total", "status", "key", "id", "code", "name", "type", "flag", "tax", "net", "gross", "currency", "country"),
    *("city", "street", "phone", "mail", "first", "last", "created", "updated", "source", "batch", "user", "region"),
)
_ASKED = ("ord", "o", "id", "order customer", "ordercustomer", "customer_key", "order.customer", "custmer ordr", "zzzz")


def main() -> None:
    """Fills a store, searches it, prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=50, help="of each table")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(Path(folder) / "catalog.db")
        begun = time.perf_counter()
        _fill(database, asked.tables, asked.columns)
        print(f"{asked.tables * (asked.columns + 1)} names indexed in {time.perf_counter() - begun:.0f} s")
        for wanted in _ASKED:
            print(f"{wanted!r}: {_milliseconds(database, wanted):.0f} ms of processor time")
        database.close()


def _fill(database: Database, tables: int, columns: int) -> None:
    chance = random.Random(3)
    for start in range(0, tables, _BATCH):
        rows, named = [], {}
        for number in range(start, min(tables, start + _BATCH)):
            name = f"{_name(chance, 4)}_{number}"
            rows.append(_table(number, name))
            named[f"e{number}", ""] = name
            for at in range(columns):
                named[f"e{number}", f"{at}"] = _name(chance, 3)
        with database.write() as connection:
            connection.execute(insert(entities), rows)
            index_names(connection, named)


def _name(chance: random.Random, most: int) -> str:
    return "_".join(chance.choice(_WORDS) for _ in range(chance.randint(1, most)))


def _table(number: int, name: str) -> dict[str, object]:
    full = f"dwh.main.s{number % 40}.{name}"
    names = {"fqn": full, "fqn_folded": full, "name_folded": name}
    return {"id": f"e{number}", "type": "table", **names, "version": 0.1, "updated_at": 0, "document": "{}"}


def _milliseconds(database: Database, wanted: str) -> float:
    """The best of five, once everything that is kept is there."""
    times = []
    for _ in range(6):
        begun = time.process_time()
        with database.read() as connection:
            find(connection, wanted, 40)
        times.append(time.process_time() - begun)
    return 1000 * min(times[1:])


if __name__ == "__main__":
    main()
