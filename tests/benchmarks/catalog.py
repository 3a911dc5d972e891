"""How fast the catalog loads and reads 2,000 tables with 30,000 column edges: `python tests/benchmarks/catalog.py`."""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import requests

from connectors.catalog.http.server import CatalogConfig, running_catalog

COLUMNS = 15
SERVICE = "warehouse"
BATCH = 1_000


class Catalog:
    def __init__(self, url: str) -> None:
        self._url = f"{url}/v1"
        self._session = requests.Session()

    def __call__(self, method: str, path: str, body: Any = None, **params: Any) -> Any:
        answer = self._session.request(method, self._url + path, json=body, params=params, timeout=600)
        answer.raise_for_status()
        return answer.json() if answer.content else None


def timed(what: str, work: Callable[[], Any], repeat: int = 1) -> Any:
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - begin)
    print(f"{what:<64} {sorted(taken)[len(taken) // 2] * 1000:>10.1f} ms")
    return result


def schema_of(number: int) -> str:
    return f"layer_{number % 10}"


def fqn(number: int) -> str:
    return f"{SERVICE}.main.{schema_of(number)}.t{number}"


def registration(tables: int) -> Any:
    columns = [{"name": f"c{number}", "dataType": "INT"} for number in range(COLUMNS)]
    parent = f"{SERVICE}.main"
    return {
        "services": [{"name": SERVICE, "serviceType": "Postgres"}],
        "databases": [{"name": "main", "service": SERVICE}],
        "schemas": [{"name": f"layer_{number}", "database": parent} for number in range(10)],
        "tables": [
            {"name": f"t{number}", "databaseSchema": f"{parent}.{schema_of(number)}", "columns": columns}
            for number in range(tables)
        ],
    }


def edges(ids: list[str], chance: random.Random) -> list[Any]:
    """Each table is made from up to two earlier ones, by a query of its own: 15 column edges a table."""
    found = []
    for target in range(10, len(ids)):
        sources = chance.sample(range(max(0, target - 200), target), k=2)
        for part, source in enumerate(sources):
            columns = [
                {
                    "from": [f"{fqn(source)}.c{number}"],
                    "to": f"{fqn(target)}.c{number}",
                    "type": "DIRECT" if number % 4 else "INDIRECT",
                    "subtype": "TRANSFORMATION" if number % 4 else "FILTER",
                    "expression": f"upper(c{number})",
                }
                for number in range(part, COLUMNS, 2)
            ]
            said = {
                "producer": {"kind": "query", "key": f"fingerprint {target}"},
                "source": "QueryLineage",
                "sqlQuery": f"insert into t{target} select ... from t{source}",
                "columns": columns,
                "parser": "sqlglot",
                "confidence": 1.0,
                "records": [f"{target:08x}{number:08x}" for number in range(5)],
            }
            ends = {
                "fromEntity": {"id": ids[source], "type": "table"},
                "toEntity": {"id": ids[target], "type": "table"},
            }
            found.append({**ends, "contribution": said})
    return found


def main(tables: int) -> None:
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "catalog.db"
        with running_catalog(CatalogConfig(file, port=0)) as address:
            call = Catalog(address.url)
            made = timed(f"register {tables} tables", lambda: call("POST", "/headwater/tables", registration(tables)))
            timed("register them again", lambda: call("POST", "/headwater/tables", registration(tables)))
            ids = [one["id"] for one in made["tables"]]
            load(call, edges(ids, chance))
            read(call, tables, chance)
        print(f"{'file':<64} {file.stat().st_size / 1e6:>10.1f} MB")
    print(f"{'peak memory':<64} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:>10.1f} MB")


def load(call: Catalog, wanted: list[Any]) -> None:
    parts = [wanted[start : start + BATCH] for start in range(0, len(wanted), BATCH)]

    def send(name: str) -> int:
        answers = [
            call("POST", "/headwater/lineage", {"batchId": f"{name} {number}", "edges": part})
            for number, part in enumerate(parts)
        ]
        return sum(answer["columnEdges"] for answer in answers)

    count = sum(len(edge["contribution"]["columns"]) for edge in wanted)
    timed(f"load {len(wanted)} edges with {count} column edges", lambda: send("first"))
    timed("load them again", lambda: send("second"))


def read(call: Catalog, tables: int, chance: random.Random) -> None:
    middle = fqn(tables // 2)
    names = [{"table": f"T{chance.randrange(tables * 2)}"} for _ in range(5_000)]
    timed("look up 5,000 names", lambda: call("POST", "/headwater/tables/lookup", {"service": SERVICE, "names": names}))
    timed("version", lambda: call("GET", "/system/version"), 200)
    timed("table by name", lambda: call("GET", f"/tables/name/{middle}"), 200)
    wildcard = {"fieldName": "fullyQualifiedName", "fieldValue": f"{SERVICE}.*.*.t7", "index": "table_search_index"}
    timed("field search", lambda: call("GET", "/search/fieldQuery", **wildcard), 50)
    timed("search for a part of a name", lambda: call("GET", "/headwater/search", q="t199"), 20)
    timed("graph, one hop", lambda: call("GET", "/headwater/graph", root=middle, upstream=1, downstream=1), 20)
    body = timed(
        "graph, everything up to 400 cards",
        lambda: call("GET", "/headwater/graph", root=middle, upstream=20, downstream=20, limit=400),
        5,
    )
    print(f"  {len(body['nodes'])} cards, {len(body['edges'])} edges")
    body = timed(
        "graph, everything",
        lambda: call("GET", "/headwater/graph", root=middle, upstream=100, downstream=100, limit=5_000),
        3,
    )
    print(f"  {len(body['nodes'])} cards, {len(body['edges'])} edges")
    body = timed("impact of a column", lambda: call("GET", "/headwater/impact", entity=fqn(12), column="c1"), 3)
    print(f"  {body['counts']}")
    timed("contract's graph, 3 hops", lambda: call("GET", f"/lineage/table/name/{middle}", upstreamDepth=3), 10)
    timed("overview", lambda: call("GET", "/headwater/overview"), 5)
    compare(call, middle)


def compare(call: Catalog, middle: str) -> None:
    """What the page asks of the past, and of corrections by hand: 500 of them first."""
    before = time.time_ns() // 1_000_000
    step = {"steps": [{"entity": middle, "upstream": 2, "downstream": 2}], "from": before}

    def correct(number: int) -> Any:
        target = int(middle.rpartition(".t")[2]) + number
        ends = {"from": {"entity": fqn(number)}, "to": {"entity": fqn(target)}}
        return call("POST", "/headwater/corrections", {"verdict": "added", "reason": "a figure", **ends})

    timed("500 corrections by hand", lambda: [correct(number) for number in range(10, 510)])
    timed("moments of change", lambda: call("GET", "/headwater/moments"), 5)
    body = timed("two moments, two hops", lambda: call("POST", "/headwater/picture/difference", step), 10)
    print(f"  {len(body['after']['nodes'])} cards, {len(body['after']['edges'])} edges")
    timed("graph as of a moment, one hop", lambda: call("GET", "/headwater/graph", root=middle, asOf=before), 10)
    timed("what changed since", lambda: call("GET", "/headwater/diff", **{"from": before, "to": before + 10**7}), 3)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
