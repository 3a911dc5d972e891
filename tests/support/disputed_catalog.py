"""A small catalog in which a log and an engine differ on one column, and are both right on another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.made_catalog import MadeCatalog

SHOP = "shop.main.public"
TABLES = {
    "orders": ("amount", "price", "day"),
    "calendar": ("day",),
    "recent": ("day",),
    "daily": ("total", "day"),
    "report": ("total",),
    "alone": ("total",),
}


def edge(kind: str, start: str, end: str, *pairs: str, **more: Any) -> tuple[str, str, dict[str, Any]]:
    """`amount>total` for each pair of columns."""
    columns = [
        {"from": [f"{SHOP}.{start}.{a}"], "to": f"{SHOP}.{end}.{b}", "subtype": "IDENTITY"}
        for a, b in (pair.split(">") for pair in pairs)
    ]
    says = {"producer": {"kind": kind, "key": f"{kind} {start} {end}"}, "columns": columns, **more}
    return f"{SHOP}.{start}", f"{SHOP}.{end}", says


EDGES = [
    edge("query", "orders", "daily", "amount>total", "day>day"),
    edge("engine", "orders", "daily", "price>total"),
    # recent is a view of calendar, through which the engine looks
    edge("view", "calendar", "recent", "day>day", source="ViewLineage"),
    edge("query", "recent", "report", "day>total"),
    edge("engine", "calendar", "report", "day>total"),
    edge("query", "daily", "alone", "total>total"),
]


def disputed_catalog(file: Path) -> Path:
    """Makes the catalog."""
    made = MadeCatalog(file)
    made.add_tables({f"{SHOP}.{name}": columns for name, columns in TABLES.items()})
    made.add_edges(EDGES)
    made.close()
    return file
