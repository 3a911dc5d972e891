"""How long the catalog takes to answer what people ask of it, over 2,000,000 columns and 10,000,000 edges of columns.

Run: python -m tests.benchmarks.large_catalog [--tables 40000] [--columns 50] [--edges 5] [--file FILE] [--times 200]

Tables lie in domains of 200 and, in each, in five layers. A table is made of some of the layer before, 19 in 20 of them
of its own domain and the popular ones more often, column by column, one edge in ten with a filter; and each reads one
calendar, which has as many readers as there are tables. A catalog that is in FILE already is asked as it is.
Prints the median, the 95th percentile and the longest of each kind of question, in process and over HTTP, in processor
time (over HTTP that of both ends): it is the same whatever else the machine does.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import requests
from sqlalchemy import Connection, insert

from connectors.catalog.contract import bulk_models
from connectors.catalog.http._page import MAX_CARDS
from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.picture import areas, neighbourhood
from connectors.catalog.questions.explain import explain
from connectors.catalog.questions.impact import impact
from connectors.catalog.search import names as name_search
from connectors.catalog.store.database import Database, open_database
from connectors.catalog.store.entities import lookup
from connectors.catalog.store.entities.entities import entity_id, lineage_entity
from connectors.catalog.store.lineage import bulk_lineage
from connectors.catalog.store.lineage.window import window
from connectors.catalog.store.schema import entity_labels
from tests.benchmarks.name_search import ASKED, NARROWED, random_name
from workflows.runtime.garbage_collection import collect_seldom

DOMAIN, LAYERS = 200, ("raw", "stage", "core", "mart", "report")
HOME = "dwh.main"
CALENDAR = f"{HOME}.shared.calendar"
_TABLES_AT_ONCE, _TARGETS_AT_ONCE = 1_000, 200
_NOW = time.time_ns() // 1_000_000
_DAY = 86_400_000


@dataclass(frozen=True, slots=True)
class Size:
    """How many tables, columns of each, and tables that a table is made of on average."""

    tables: int
    columns: int
    edges: int


@dataclass(frozen=True, slots=True)
class Made:
    """The names of a catalog: each table's, and its columns."""

    size: Size
    tables: list[str]
    columns: list[list[str]]

    @classmethod
    def of(cls, size: Size) -> Made:
        chance = random.Random(3)
        tables, columns = [], []
        for number in range(size.tables):
            domain, layer = number // DOMAIN, _layer(number)
            tables.append(f"{HOME}.d{domain}_{LAYERS[layer]}.{random_name(chance, 3)}_{number}")
            names = (f"{random_name(chance, 3)}" for _ in range(size.columns))
            columns.append([f"{name}_{at}" if at % 5 == 0 else name for at, name in enumerate(names)])
        return cls(size, tables, [_distinct(some) for some in columns])

    def sources(self) -> Iterator[list[int]]:
        """Of each table the numbers of those that it is made of."""
        chance = random.Random(7)
        each = self.size.edges * len(LAYERS) / (len(LAYERS) - 1)
        wide = DOMAIN // len(LAYERS)
        domains = max(1, self.size.tables // DOMAIN)
        for number in range(self.size.tables):
            if not (layer := _layer(number)):
                yield []
                continue
            found: set[int] = set()
            wanted = int(each + chance.random())
            while len(found) < wanted:
                domain = number // DOMAIN if chance.random() < 0.95 else chance.randrange(domains)
                found.add(domain * DOMAIN + (layer - 1) * wide + int(wide * chance.random() ** 2))
            yield sorted(found)


def _layer(number: int) -> int:
    return number % DOMAIN * len(LAYERS) // DOMAIN


def _distinct(names: list[str]) -> list[str]:
    known: dict[str, int] = {}
    for at, name in enumerate(names):
        known.setdefault(name if name not in known else f"{name}_{at}", at)
    return list(known)


# Making it, by the bulk calls.


def fill(database: Database, made: Made) -> None:
    """Files the tables, what they are made of, and who owns them."""
    begun = time.perf_counter()
    _register(database, made)
    print(f"{made.size.tables} tables registered in {time.perf_counter() - begun:.0f} s", flush=True)
    begun, edges, batch = time.perf_counter(), 0, 0
    waiting: list[tuple[int, list[int]]] = []
    for target, sources in enumerate(made.sources()):
        waiting.append((target, sources))
        if len(waiting) == _TARGETS_AT_ONCE or target == made.size.tables - 1:
            edges += _file(database, _batch(made, waiting, batch))
            waiting, batch = [], batch + 1
    print(f"{edges} edges of columns filed in {time.perf_counter() - begun:.0f} s", flush=True)
    _label(database, made)


def _register(database: Database, made: Made) -> None:
    service, main = HOME.split(".")
    parts = [name.split(".") for name in made.tables]
    schemas = [*dict.fromkeys(one[2] for one in parts), "shared"]
    home = {
        "services": [{"name": service, "serviceType": "Postgres"}],
        "databases": [{"name": main, "service": service}],
    }
    home |= {"schemas": [{"name": one, "database": HOME} for one in schemas]}
    calendar = {"name": "calendar", "databaseSchema": f"{HOME}.shared", "columns": [_column("day")]}
    _send(database, {**home, "tables": [calendar]})
    for start in range(0, len(parts), _TABLES_AT_ONCE):
        some = range(start, min(len(parts), start + _TABLES_AT_ONCE))
        tables = [
            {
                "name": parts[at][3],
                "databaseSchema": f"{HOME}.{parts[at][2]}",
                "columns": list(map(_column, made.columns[at])),
            }
            for at in some
        ]
        _send(database, {"tables": tables})


def _column(name: str) -> dict[str, str]:
    return {"name": name, "dataType": "INT"}


def _send(database: Database, request: dict[str, object]) -> None:
    with database.write() as connection:
        lookup.register(connection, bulk_models.Register.model_validate(request))


def _file(database: Database, batch: dict[str, object]) -> int:
    with database.write() as connection:
        answer = bulk_lineage.apply(connection, bulk_models.Lineage.model_validate(batch))
    return int(answer["columnEdges"])


def _batch(made: Made, some: list[tuple[int, list[int]]], number: int) -> dict[str, object]:
    edges, chance = [], random.Random(number)
    for at, (target, sources) in enumerate(some):
        said = {
            "producer": {"kind": "query", "key": f"{target:032x}"},
            "source": "QueryLineage",
            "sqlQueryIndex": at,
            "parser": "sqlglot",
            "confidence": 1.0,
            "firstSeen": _NOW - 300 * _DAY,
            "lastSeen": _NOW - chance.randrange(20) * _DAY,
            "records": [f"{target:08x}{one:08x}" for one in range(1 + int(chance.paretovariate(0.9)) % 30)],
            "jobs": [f"{('nightly', 'hourly')[target % 2]}.job.{target % 900}"],
        }
        ends = {"toEntity": {"id": entity_id("table", made.tables[target]), "type": "table"}}
        for source in sources:
            origin = {"id": entity_id("table", made.tables[source]), "type": "table"}
            columns = list(_column_edges(made, source, target, chance))
            edges.append({"fromEntity": origin, **ends, "contribution": {**said, "columns": columns}})
        calendar = {"id": entity_id("table", CALENDAR), "type": "table"}
        day = {"from": [f"{CALENDAR}.day"], "to": f"{made.tables[target]}.{made.columns[target][0]}"}
        edges.append({"fromEntity": calendar, **ends, "contribution": {**said, "columns": [day]}})
    texts = [
        f"INSERT INTO {made.tables[target]} SELECT * FROM {' JOIN '.join(made.tables[one] for one in sources)}"
        for target, sources in some
    ]
    return {"batchId": f"large {number}", "sqlQueries": texts, "edges": edges}


def _column_edges(made: Made, source: int, target: int, chance: random.Random) -> Iterator[dict[str, object]]:
    start, end = made.tables[source], made.tables[target]
    for at, (name, to) in enumerate(zip(made.columns[source], made.columns[target], strict=False)):
        edge: dict[str, object] = {"from": [f"{start}.{name}"], "to": f"{end}.{to}"}
        if at % 3 == 0:
            edge |= {"subtype": "TRANSFORMATION", "expression": f"coalesce(s{source}.{name}, 0)"}
        if at % 10 == 9:
            edge |= {"type": "INDIRECT", "subtype": "CONDITION"}
        yield edge
    if chance.random() < 0.1:
        yield {"from": [f"{start}.{made.columns[source][-1]}"], "to": None, "type": "INDIRECT", "subtype": "FILTER"}


def _label(database: Database, made: Made) -> None:
    """Tags on one column in a hundred, and an owner for each table."""
    chance, rows = random.Random(5), []
    for number, (name, columns) in enumerate(zip(made.tables, made.columns, strict=True)):
        owner = {"kind": "owner", "value": f"{chance.choice(('ann', 'bob', 'cy'))}.{number % 300}", "column_path": ""}
        tag = {"kind": "tag", "value": f"{chance.choice(('PII', 'Tier'))}.T{chance.randrange(9)}"}
        some = [{**tag, "column_path": one} for one in columns if chance.random() < 0.01]
        rows += [{**one, "entity_id": entity_id("table", name)} for one in (owner, *some)]
    with database.write() as connection:
        connection.execute(insert(entity_labels), rows)


# Asking it.


@dataclass(frozen=True, slots=True)
class Question:
    """A question in process, and as a call: its method, path, parameters and body."""

    ask: Callable[[Connection], object]
    method: str
    path: str
    params: dict[str, object] | None = None
    body: object = None


def draw_columns(made: Made, times: int) -> list[tuple[str, str]]:
    """So many columns of all, each with its table, by their names."""
    chance = random.Random(11)
    drawn = chance.choices(range(made.size.tables), k=times)
    return [(made.tables[at], chance.choice(made.columns[at])) for at in drawn]


def questions(drawn: list[tuple[str, str]]) -> Iterator[tuple[str, list[Question]]]:
    """Each kind of question, asked of the columns that were drawn and of their tables."""
    chance, times = random.Random(13), len(drawn)
    yield "impact of a column", [_impact(*one) for one in drawn]
    yield "explain a column", [_explain(*one) for one in drawn]
    yield "graph of what a column comes from", [_upstream(*one) for one in drawn]
    yield "picture of a table, one hop", [_picture(name, 1, 20) for name, _ in drawn]
    yield "picture of a table, two hops", [_picture(name, 2, 20) for name, _ in drawn]
    yield (
        "neighbours of a table",
        [_neighbours(name, chance.choice(("upstream", "downstream")), "") for name, _ in drawn],
    )
    hub = [(side, words) for side in ("downstream",) for words in ("", "order", "customer stage", "zzzz")]
    yield "neighbours of the calendar", [_neighbours(CALENDAR, *one) for one in hub] * 3
    yield "picture of the calendar, one hop", [_picture(CALENDAR, 1, 20)] * 10
    parts = [(table.split(".")[-1], column) for table, column in drawn]
    typed = [*(table for table, _ in parts), *(column for _, column in parts)]
    typed += [f"{table.split('_')[0]} {column.split('_')[0]}" for table, column in parts]
    typed += [one[: chance.randint(2, 6)] for one in typed[:times]]
    yield "search by words", [_search(one) for one in typed[: 4 * times]]
    for one in (*ASKED, *NARROWED):
        yield f"search {one!r}", [_search(one)] * 5
    yield "schemas", [_areas("schemas")] * 5
    yield "services", [_areas("services")] * 5


def _impact(table: str, column: str) -> Question:
    def ask(connection: Connection) -> object:
        return impact(connection, (_id(connection, table), column), window(connection, None, None)).content.to_json()

    return Question(ask, "GET", "impact", {"entity": table, "column": column})


def _explain(table: str, column: str) -> Question:
    name = f"{table}.{column}"

    def ask(connection: Connection) -> object:
        return explain(connection, name, window(connection, None, None)).content.to_json()

    return Question(ask, "", "")


def _upstream(table: str, column: str) -> Question:
    def ask(connection: Connection) -> object:
        node = _id(connection, table), column
        return neighbourhood.origins_graph(connection, node, MAX_CARDS, window(connection, None, None))

    return Question(ask, "GET", "upstream", {"entity": table, "column": column})


def _picture(table: str, hops: int, beside: int) -> Question:
    steps = [neighbourhood.NeighbourhoodStep(table, hops, hops)]

    def ask(connection: Connection) -> object:
        return neighbourhood.picture(connection, steps, 1_000, window(connection, None, None), beside)

    body = {"steps": [{"entity": table, "upstream": hops, "downstream": hops}], "limit": 1_000, "beside": beside}
    return Question(ask, "POST", "picture", None, body)


def _neighbours(table: str, side: str, words: str) -> Question:
    page = neighbourhood.NeighbourPage(side == "upstream", words)

    def ask(connection: Connection) -> object:
        row = lineage_entity(connection, table)
        assert row is not None
        return neighbourhood.neighbours(connection, row, page, window(connection, None, None))

    return Question(ask, "GET", "neighbours", {"entity": table, "side": side, "q": words})


def _search(words: str) -> Question:
    return Question(
        lambda connection: name_search.search(connection, words, 40), "GET", "search", {"q": words, "limit": 40}
    )


def _areas(level: str) -> Question:
    def ask(connection: Connection) -> object:
        return areas.areas(connection, level, None, window(connection, None, None))

    return Question(ask, "GET", "areas", {"level": level})


def _id(connection: Connection, table: str) -> str:
    row = lineage_entity(connection, table)
    assert row is not None
    return str(row.id)


def measure(database: Database, url: str, asked: list[Question]) -> tuple[list[float], list[float], int]:
    """The milliseconds of each question in process and over HTTP (both ends), and the bytes of the largest answer."""
    inside, outside, size = [], [], 0
    with requests.Session() as session:
        for one in asked:
            begun = time.process_time()
            with database.read() as connection:
                one.ask(connection)
            inside.append(1000 * (time.process_time() - begun))
            if one.path:
                begun = time.process_time()
                call = session.request(one.method, f"{url}/v1/headwater/{one.path}", params=one.params, json=one.body)
                outside.append(1000 * (time.process_time() - begun))
                call.raise_for_status()
                size = max(size, len(call.content))
    return inside, outside, size


def _figures(taken: list[float]) -> str:
    if not taken:
        return f"{'':>24}"
    ordered = sorted(taken)
    return f"{ordered[len(ordered) // 2]:>8.1f}{ordered[int(len(ordered) * 0.95)]:>8.1f}{ordered[-1]:>8.1f}"


@contextmanager
def _folder(file: Path | None) -> Iterator[Path]:
    if file is not None:
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "catalog.db"


def main() -> None:
    """Makes the catalog, unless it is there, asks it, prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=40_000)
    parser.add_argument("--columns", type=int, default=50, help="of each table")
    parser.add_argument("--edges", type=int, default=5, help="tables that a table is made of, on average")
    parser.add_argument("--file", type=Path, help="where the catalog is, or is to be kept")
    parser.add_argument("--times", type=int, default=200, help="questions of a kind about tables and columns")
    parser.add_argument("--only", default="", help="kinds of questions that begin so")
    options = parser.parse_args()
    size = Size(options.tables, options.columns, options.edges)
    with _folder(options.file) as file:
        # two million names in pieces of memory all over would make each answer take half as long again
        with ProcessPoolExecutor(1, get_context("spawn")) as other:
            drawn = other.submit(_prepare, file, size, options.times).result()
        collect_seldom()  # as `ingest serve` does
        print(f"{file.stat().st_size / 1e9:.2f} GB")
        _ask(file, drawn, options.only)


def _prepare(file: Path, size: Size, times: int) -> list[tuple[str, str]]:
    """Makes the catalog where it is not there; gives what is to be asked about, by the names of tables and columns."""
    made = Made.of(size)
    there = file.exists()
    database = open_database(file)
    if not there:
        collect_seldom()  # never through the names
        fill(database, made)
    database.close()
    return draw_columns(made, times)


def _ask(file: Path, drawn: list[tuple[str, str]], only: str) -> None:
    print(f"{'milliseconds':<50}{'in process':>24}{'over HTTP':>24}{'largest':>10}")
    print(f"{'':<50}{'median':>8}{'p95':>8}{'longest':>8}{'median':>8}{'p95':>8}{'longest':>8}{'KB':>10}")
    with file.open("rb") as stream:  # into memory: what a disk takes is another figure
        while stream.read(1 << 24):
            pass
    with running_catalog(CatalogConfig(file, port=0)) as address:
        database = open_database(file)
        for kind, asked in questions(drawn):
            if kind.startswith(only):
                inside, outside, size = measure(database, address.url, asked)
                print(f"{kind[:49]:<50}{_figures(inside)}{_figures(outside)}{size / 1e3:>10.0f}", flush=True)
        database.close()


if __name__ == "__main__":
    main()
