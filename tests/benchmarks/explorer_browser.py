"""Times the explorer in a real browser: first pictures out of a large store, a hub of 500 readers, panning 500 cards.

Of frames it tells the time from one to the next, and what they cost in processor time (milliseconds a frame): the
page's main thread, by what it did, and apart from it the browser's own drawing, which a machine without a graphics card
does in software: the compositor of the page, its drawing of tiles, and the process that puts tiles on the screen.

Run: python -m tests.benchmarks.explorer_browser [--tables 2000] [--edges 30000]
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.browser import Page, browser
from tests.support.http_client import Client

_COLUMNS = 12
_SCHEMAS = 40
_READERS = 500
_HUB = "s.d.w0.t0"
_FRAMES = """
    const [kind, done] = arguments;
    const surface = document.getElementById('picture');
    const box = surface.getBoundingClientRect();
    const times = [];
    let last = null;
    const moves = {
      pan: (count) => ({ deltaY: count % 180 < 90 ? 24 : -24, shiftKey: true }),
      zoom: (count) => ({ deltaY: count % 60 < 30 ? -40 : 40, clientX: box.width / 2, clientY: box.height / 2 }),
    };
    const step = (now) => {
      if (last !== null) times.push(now - last);
      last = now;
      if (times.length >= 180) return done(times);
      surface.dispatchEvent(new WheelEvent('wheel', { cancelable: true, ...moves[kind](times.length) }));
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
"""
_MAIN = {"ScriptDuration": "script", "RecalcStyleDuration": "style", "LayoutDuration": "layout", "TaskDuration": "all"}
_DRAWING = {"Compositor": "compositor", "ThreadPoolForeg": "raster", "VizCompositorTh": "screen"}
"""The threads of a browser that draw, by the names that the system knows them by."""


def main() -> None:
    """Fills a store, opens it, prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--edges", type=int, default=30_000, help="column edges")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_catalog(CatalogConfig(Path(folder) / "c.db", port=0)) as at:
        begun = time.perf_counter()
        edges = _fill(Client(at.url), asked.tables, asked.edges)
        print(f"{asked.tables} tables, {edges} column edges stored in {time.perf_counter() - begun:.1f} s")
        with browser(Path(folder)) as page:
            url = at.url.removesuffix("api")
            _measure(page, url, asked.tables)


def _measure(page: Page, url: str, tables: int) -> None:
    page.open(url, 0)
    print(f"schemas: {_first_picture(page, f'{url}#a=schemas.'):.0f} ms ({page.status})")
    print(f"a hub: {_first_picture(page, f'{url}#t=1.1.{_HUB}'):.0f} ms ({page.status}; {page.text('.expand text')})")
    for table in (tables // 2, tables // 3, tables - 5):
        root = f"s.d.w{table % _SCHEMAS}.t{table}"
        print(f"first picture of {root}: {_first_picture(page, f'{url}#t=1.1.{root}'):.0f} ms ({page.status})")
    roots = [f"s.d.w{n % _SCHEMAS}.t{n}" for n in (tables // 2, tables * 3 // 4, tables // 3)]
    steps = "&".join(f"t=100.100.{root}" for root in roots)
    milliseconds = _first_picture(page, f"{url}#days=0&{steps}")
    print(f"{page.tables} cards at once: {milliseconds:.0f} ms ({page.status})")
    page.driver.set_script_timeout(120)
    page.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    for name, zooms in (("all in sight", 0), ("names", 5), ("columns", 10)):
        page.press("f", *"+" * zooms)
        for kind in ("pan", "zoom"):
            time.sleep(2)  # until it rests
            _move(page, name, kind)


def _move(page: Page, name: str, kind: str) -> None:
    main, drawing = _main_thread(page), _drawing_threads()
    times = sorted(page.driver.execute_async_script(_FRAMES, kind))
    count = len(times)
    used = {what: (spent - main[what]) / count for what, spent in _main_thread(page).items()}
    used["rest (paint, commit)"] = used["all"] - used["script"] - used["style"] - used["layout"]
    drawn = {what: (spent - drawing[what]) / count for what, spent in _drawing_threads().items()}
    print(f"{kind}, {name}: {1000 / statistics.mean(times):.0f} frames a second", end="; ")
    print(f"interval median {statistics.median(times):.1f} ms, 95 % below {times[int(count * 0.95)]:.1f} ms")
    for what, costs in (("main thread", used), ("the browser's drawing", drawn)):
        print(f"    {what}: {', '.join(f'{part} {cost:.1f}' for part, cost in costs.items())} ms a frame")


def _main_thread(page: Page) -> dict[str, float]:
    """Milliseconds of processor time of the page's main thread so far, by what it did."""
    told = {one["name"]: one["value"] for one in page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
    return {name: told[metric] * 1000 for metric, name in _MAIN.items()}


def _drawing_threads() -> dict[str, float]:
    """Milliseconds of processor time so far of the threads of the browser that draw (0 where the system tells none)."""
    spent = dict.fromkeys(_DRAWING.values(), 0.0)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error, OSError):
            for thread in process.threads():
                name = Path(f"/proc/{process.pid}/task/{thread.id}/comm").read_text(encoding="utf-8").strip()
                if name in _DRAWING:
                    spent[_DRAWING[name]] += (thread.user_time + thread.system_time) * 1000
    return spent


def _first_picture(page: Page, address: str) -> float:
    """Milliseconds from the navigation until the cards are painted, in a new document."""
    page.driver.get("about:blank")
    page.driver.get(address)
    page.until(lambda: page.tables > 0, "cards")
    return float(page.js("return performance.getEntriesByName('drawn')[0]?.startTime ?? NaN"))


def _fill(client: Client, tables: int, wanted: int) -> int:
    chance = random.Random(7)
    client.made(
        "/services/databaseServices",
        {"name": "s", "serviceType": "Postgres", "connection": {"config": {"username": "u", "hostPort": "h:1"}}},
    )
    client.made("/databases", {"name": "d", "service": "s"})
    for schema in range(_SCHEMAS):
        client.made("/databaseSchemas", {"name": f"w{schema}", "database": "s.d"})
    columns = [{"name": f"c{number}", "dataType": "INT"} for number in range(_COLUMNS)]
    requests = [{"name": f"t{n}", "columns": columns, "databaseSchema": f"s.d.w{n % _SCHEMAS}"} for n in range(tables)]
    made: list[dict[str, str]] = []
    for start in range(0, tables, 500):
        status, answer = client.post("/headwater/tables", {"tables": requests[start : start + 500]})
        assert status == 200, answer
        made += answer["tables"]
    pairs = [(source, target) for target in range(1, tables) for source in _sources(chance, target)]
    pairs = sorted({*pairs, *((0, target) for target in range(1, tables, max(1, tables // _READERS)))})
    each = max(1, wanted // len(pairs))
    stored = 0
    for start in range(0, len(pairs), 1000):
        batch = [_edge(chance, made, pair, each) for pair in pairs[start : start + 1000]]
        stored += sum(len(edge["contribution"]["columns"]) for edge in batch)
        status, answer = client.post("/headwater/lineage", {"batchId": f"b{start}", "edges": batch})
        assert status == 200, answer
    return stored


def _sources(chance: random.Random, target: int) -> set[int]:
    reach = min(target, 120)
    return {target - chance.randint(1, reach) for _ in range(chance.choice((1, 2, 2, 3)))}


def _edge(chance: random.Random, made: list[dict[str, str]], pair: tuple[int, int], each: int) -> dict[str, Any]:
    source, target = (made[number] for number in pair)
    columns = [
        {
            "from": [f"{source['fullyQualifiedName']}.c{chance.randrange(_COLUMNS)}"],
            "to": f"{target['fullyQualifiedName']}.c{chance.randrange(_COLUMNS)}",
            "type": "INDIRECT" if chance.random() < 0.3 else "DIRECT",
            "subtype": "FILTER",
        }
        for _ in range(each)
    ]
    sql = (
        f"INSERT INTO t{pair[1]} SELECT "
        + ", ".join(f"c{n} + ? AS c{n}" for n in range(_COLUMNS))
        + f" FROM t{pair[0]}"
    )
    contribution = {
        "producer": {"kind": "query", "key": f"q{pair[1]}"},
        "source": "QueryLineage",
        "sqlQuery": sql,
        "columns": columns,
        "records": [f"{pair[0] * 100_000 + pair[1]:08x}"],
        "lastSeen": 1_700_000_000_000,
        "firstSeen": 1_700_000_000_000,
    }
    ends = {"fromEntity": {"id": source["id"], "type": "table"}, "toEntity": {"id": target["id"], "type": "table"}}
    return {**ends, "contribution": contribution}


if __name__ == "__main__":
    main()
