"""A mill's lineage around one table that a dozen others read, with names that are hard to show and one that moved."""

from __future__ import annotations

from typing import Any

from tests.support.http_client import Client, ref

NOW = 1_700_000_000_000
DAY = 86_400_000
LONG = "grind_" * 33 + "ings"
TURNED = "\u202egnitsrow"  # reads "worsting" where the override is obeyed
DOTTED = 'sacks "a.b"'
READERS = ("dim_flours", "fact_flours", "milled_daily", "milledMonthly", "flour_quality", "stock", "bakers", "bills")
HUB = "mill.main.core.flours"
FILE = 'a_store."/in/grain.csv"'
SALES_SQL = "INSERT INTO core.sales SELECT f.day, SUM(f.kilos * 2) AS kilos FROM core.flours AS f WHERE f.grade > ?"


def hub(column: str) -> str:
    """The full name of a column of the table in the middle."""
    return f"{HUB}.{column}"


def fill(client: Client) -> None:
    """Puts the mill into a catalog: grain.csv and grains -> flours -> readers; sales -> yearly, a chain of columns."""
    connection = {"connection": {"config": {"username": "u", "hostPort": "h:1"}}}
    client.made("/services/databaseServices", {"name": "mill", "serviceType": "Postgres", **connection})
    client.made("/services/storageServices", {"name": "a_store", "serviceType": "S3", **connection})
    client.made("/databases", {"name": "main", "service": "mill"})
    for schema in ("raw", "core"):
        client.made("/databaseSchemas", {"name": schema, "database": "mill.main"})
    made = {name: client.table(name, "day kilos grade", "mill.main.core") for name in _TABLES}
    made["grains"] = client.table("grains", "day kilos grade café_país", "mill.main.raw")
    model = {"columns": [{"name": name, "dataType": "INT"} for name in ("day", "kilos")]}
    made["file"] = client.made("/containers", {"name": "/in/grain.csv", "service": "a_store", "dataModel": model})
    edges = [_edge(made["file"], made["grains"], _same("day"), key="load")]
    edges += [_edge(made["grains"], made["flours"], [*_same("day"), *_cleaned()], key="clean")]
    edges += [_edge(made["flours"], made[name], _same("day"), key=name) for name in _TABLES if name not in _CHAIN]
    edges += [_edge(made["flours"], made["sales"], _sales(), key="sales", sqlQuery=SALES_SQL)]
    edges += [_edge(made["stock"], made["sales"], _graded(), key="grading")]
    edges += [_edge(made["sales"], made["yearly"], _same("kilos"), key="yearly")]
    status, answer = client.post("/headwater/lineage", {"batchId": "mill", "edges": edges})
    assert status == 200, answer
    moved = {"kind": "rename", "entity": ref(made["old_name"]), "other": ref(made["new_name"]), "at": NOW + DAY}
    status, answer = client.post("/headwater/names", {"events": [moved]})
    assert status == 200, answer


_CHAIN = ("flours", "sales", "yearly", "new_name")
_TABLES = (*_CHAIN, *READERS, LONG, TURNED, DOTTED, "old_name")


def _same(column: str) -> list[tuple[list[str], str | None, str, str, str]]:
    return [([column], column, "DIRECT", "IDENTITY", "")]


def _cleaned() -> list[tuple[list[str], str | None, str, str, str]]:
    return [
        (["kilos"], "kilos", "DIRECT", "TRANSFORMATION", "COALESCE(raw.grains.kilos, ?)"),
        (["café_país"], None, "INDIRECT", "FILTER", "raw.grains.café_país = ?"),
    ]


def _graded() -> list[tuple[list[str], str | None, str, str, str]]:
    return [
        (["grade"], "grade", "DIRECT", "IDENTITY", ""),
        (["day"], None, "INDIRECT", "FILTER", "core.stock.day < ?"),
    ]


def _sales() -> list[tuple[list[str], str | None, str, str, str]]:
    return [
        (["day"], "day", "DIRECT", "IDENTITY", ""),
        (["kilos"], "kilos", "DIRECT", "AGGREGATION", "SUM(core.flours.kilos * ?)"),
        (["grade"], None, "INDIRECT", "FILTER", "core.flours.grade > ?"),
    ]


def _edge(
    source: dict[str, Any],
    target: dict[str, Any],
    said: list[tuple[list[str], str | None, str, str, str]],
    *,
    key: str,
    **more: str,
) -> dict[str, Any]:
    def entity(one: dict[str, Any]) -> dict[str, str]:
        return {"id": one["id"], "type": "container" if one["fullyQualifiedName"] == FILE else "table"}

    columns = [
        {
            "from": [f"{source['fullyQualifiedName']}.{column}" for column in columns],
            "to": f"{target['fullyQualifiedName']}.{to}" if to else None,
            "type": kind,
            "subtype": subtype,
            "expression": expression,
        }
        for columns, to, kind, subtype, expression in said
    ]
    contribution = {
        "producer": {"kind": "query", "key": key},
        "source": "QueryLineage",
        "parser": "sqlglot",
        "columns": columns,
        "records": ["0000000a"],
        "firstSeen": NOW,
        "lastSeen": NOW,
        **more,
    }
    return {"fromEntity": entity(source), "toEntity": entity(target), "contribution": contribution}
