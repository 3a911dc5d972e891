"""The shop whose tables the fixed statements read, and the statements themselves (statements/*.sql, one a line)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ingestion.dialects.types import standard_type
from ingestion.model.lineage import Column, TableName

FOLDER = Path(__file__).parent / "statements"

TABLES = {
    "sales": "sale_id int, day_id int, item_id int, customer_id int, store_id int, promo_id int, quantity int, "
    "price decimal(7,2), discount decimal(7,2), net decimal(7,2)",
    "returns": "return_id int, sale_id int, day_id int, item_id int, customer_id int, store_id int, quantity int, "
    "amount decimal(7,2)",
    "web_sales": "order_id int, day_id int, item_id int, customer_id int, quantity int, price decimal(7,2), "
    "net decimal(7,2)",
    "items": "item_id int, name string, brand string, category string, class string, price decimal(7,2), "
    "tags array<string>, size struct<w:int,h:int>, attrs map<string,string>",
    "customers": "customer_id int, first_name string, last_name string, email string, address_id int, born date, "
    "kind string, scores array<int>",
    "addresses": "address_id int, city string, state string, zip string",
    "days": "day_id int, day date, year int, month int, week int, weekday int",
    "stores": "store_id int, name string, city string, state string, manager_id int",
    "employees": "employee_id int, name string, manager_id int, store_id int, salary decimal(9,2)",
    "inventory": "item_id int, day_id int, store_id int, on_hand int",
    "events": "event_id int, at timestamp, kind string, payload string, props map<string,string>, "
    "who struct<id:int,name:string,home:struct<city:string>>, steps array<struct<code:string,amount:int>>",
}
"""Table -> columns as Spark's DDL string."""


def lookup(name: TableName) -> tuple[Column, ...] | None:
    """What the analyzer asks for."""
    return _COLUMNS.get(name.table)


def _columns(ddl: str) -> tuple[Column, ...]:
    columns, depth, start = [], 0, 0
    for position, character in enumerate(ddl + ","):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            name, _, kind = ddl[start:position].strip().partition(" ")
            columns.append(Column(name, standard_type(kind, "spark")))
            start = position + 1
    return tuple(columns)


_COLUMNS = {table: _columns(ddl) for table, ddl in TABLES.items()}


def statements() -> Iterator[tuple[str, str]]:
    """Where each fixed statement stands (file:line), and its text."""
    for file in sorted(FOLDER.glob("*.sql")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if line and not line.startswith("--"):
                yield f"{file.name}:{number}", line.removesuffix(";")
