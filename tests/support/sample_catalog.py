"""A small orchard's lineage: six tables in a line and beside it, said by a query, a view and a hand."""

from __future__ import annotations

from typing import Any

from tests.support.http_client import Client

TABLES = {
    "trees": ("tree_id", "kind", "planted"),
    "pickings": ("tree_id", "day", "kilos"),
    "weighed": ("tree_id", "day", "kilos", "grade"),
    "prices": ("grade", "cents"),
    "takings": ("day", "kind", "cents"),
    "report": ("kind", "best_day", "total"),
}
SCHEMAS = {"trees": "raw", "pickings": "raw", "prices": "raw", "weighed": "core", "takings": "core", "report": "mart"}
TAKINGS_SQL = (
    "INSERT INTO core.takings SELECT w.day, t.kind, w.kilos * p.cents FROM core.weighed AS w "
    "JOIN raw.trees AS t ON t.tree_id = w.tree_id JOIN raw.prices AS p ON p.grade = w.grade WHERE t.planted > ?"
)
DAY = 86_400_000
NOW = 1_700_000_000_000


def name(table: str, column: str = "") -> str:
    """The fully qualified name of a table or a column."""
    return f"farm.farm.{SCHEMAS[table]}.{table}" + (f".{column}" if column else "")


def fill(client: Client) -> None:
    """Puts the orchard into a catalog."""
    client.made(
        "/services/databaseServices",
        {"name": "farm", "serviceType": "Postgres", "connection": {"config": {"username": "u", "hostPort": "h:1"}}},
    )
    client.made("/databases", {"name": "farm", "service": "farm"})
    for schema in ("raw", "core", "mart"):
        client.made("/databaseSchemas", {"name": schema, "database": "farm.farm"})
    ids = {}
    for table, columns in TABLES.items():
        made = client.table(table, " ".join(columns), f"farm.farm.{SCHEMAS[table]}")
        ids[table] = made["id"]
    edges = [_edge(ids, *said) for said in _said()]
    status, answer = client.post("/headwater/lineage", {"batchId": "orchard", "edges": edges})
    assert status == 200, answer


def _edge(ids: dict[str, str], source: str, target: str, contribution: dict[str, Any]) -> dict[str, Any]:
    ends = {"fromEntity": {"id": ids[source], "type": "table"}, "toEntity": {"id": ids[target], "type": "table"}}
    return {**ends, "contribution": contribution}


def _said() -> list[tuple[str, str, dict[str, Any]]]:
    temp = [
        {"fromEntity": name("pickings"), "toEntity": "scratch"},
        {"fromEntity": "scratch", "toEntity": name("weighed")},
    ]
    weighed = [
        *(_direct(("pickings", column), ("weighed", column)) for column in ("tree_id", "day", "kilos")),
        _direct(
            ("pickings", "kilos"), ("weighed", "grade"), "TRANSFORMATION", "CASE WHEN pickings.kilos > ? THEN ? END"
        ),
        _indirect(("pickings", "kilos"), ("weighed", "grade"), "CONDITIONAL"),
    ]
    product = "core.weighed.kilos * raw.prices.cents"
    takings = {
        "weighed": [
            _direct(("weighed", "day"), ("takings", "day")),
            _direct(("weighed", "kilos"), ("takings", "cents"), "TRANSFORMATION", product),
            _indirect(("weighed", "tree_id"), ("takings", ""), "JOIN"),
        ],
        "trees": [
            _direct(("trees", "kind"), ("takings", "kind")),
            _indirect(("trees", "planted"), ("takings", ""), "FILTER"),
        ],
        "prices": [_direct(("prices", "cents"), ("takings", "cents"), "TRANSFORMATION", product)],
    }
    report = [
        _direct(("takings", "kind"), ("report", "kind")),
        _direct(("takings", "cents"), ("report", "total"), "AGGREGATION", "SUM(core.takings.cents)"),
        _indirect(("takings", "day"), ("report", "best_day"), "SORT"),
    ]
    return [
        (
            "pickings",
            "weighed",
            _contribution("query", "f1", weighed, tempLineageTables=temp, parser="sqlfluff", confidence=0.8),
        ),
        *(
            (
                ["weighed", "trees", "prices"][at],
                "takings",
                _contribution("query", "f2", takings[source], sqlQuery=TAKINGS_SQL),
            )
            for at, source in enumerate(["weighed", "trees", "prices"])
        ),
        ("takings", "report", _contribution("view", name("report"), report, source="ViewLineage")),
        ("prices", "report", _contribution("manual", "a hand", [], source="Manual", confidence=0.4)),
    ]


def _contribution(kind: str, key: str, columns: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    usual = {
        "source": "QueryLineage",
        "parser": "sqlglot",
        "confidence": 1.0,
        "firstSeen": NOW - 3 * DAY,
        "lastSeen": NOW,
    }
    records = [f"{abs(hash((kind, key))) & 0xFFFFFFFF:08x}"]
    return {"producer": {"kind": kind, "key": key}, "columns": columns, "records": records, **usual, **more}


def _direct(
    source: tuple[str, str], target: tuple[str, str], subtype: str = "IDENTITY", expression: str = ""
) -> dict[str, Any]:
    return {
        "from": [name(*source)],
        "to": name(*target),
        "type": "DIRECT",
        "subtype": subtype,
        "expression": expression,
    }


def _indirect(source: tuple[str, str], target: tuple[str, str], subtype: str) -> dict[str, Any]:
    return {"from": [name(*source)], "to": name(*target) if target[1] else None, "type": "INDIRECT", "subtype": subtype}
