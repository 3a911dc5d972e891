"""Times the explorer in a real browser: first pictures out of a large store, a hub of 500 readers, panning 500 cards.

Frames are told twice: the time from one to the next, which a browser without a graphics card spends on painting, and
the time of the page's own code within each.

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

from connectors.catalog import CatalogConfig, running_catalog
from tests.support.browser import Page, browser
from tests.support.http_client import Client

_COLUMNS = 12
_SCHEMAS = 40
_READERS = 500
_TIMED = """
    window.nextFrame = window.requestAnimationFrame.bind(window);
    window.ownTimes = [];
    window.requestAnimationFrame = (act) => window.nextFrame((at) => {
      const begun = performance.now();
      act(at);
      window.ownTimes.push(performance.now() - begun);
    });
"""
_HUB = "s.d.w0.t0"
_FRAMES = """
    const [kind, done] = arguments;
    const surface = document.getElementById('picture');
    const box = surface.getBoundingClientRect();
    const [times, own] = [[], []];
    let last = performance.now();
    let count = 0;
    const moves = {
      pan: () => ({ deltaY: count % 180 < 90 ? 24 : -24, shiftKey: true }),
      zoom: () => ({ deltaY: count % 60 < 30 ? -40 : 40, clientX: box.width / 2, clientY: box.height / 2 }),
    };
    const step = () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      own.push(window.ownTimes.reduce((sum, time) => sum + time, 0));
      window.ownTimes.length = 0;
      if (count++ >= 180) return done([times.slice(1), own.slice(1)]);
      surface.dispatchEvent(new WheelEvent('wheel', { cancelable: true, ...moves[kind]() }));
      window.nextFrame(step);
    };
    window.nextFrame(step);
"""


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
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _TIMED})
    page.open(url, 0)
    print(f"schemas: {_first_picture(page, f'{url}#a=schemas.'):.0f} ms ({page.status})")
    print(f"a hub: {_first_picture(page, f'{url}#t=1.1.{_HUB}'):.0f} ms ({page.status}; {page.text('.expand text')})")
    for table in (tables // 2, tables // 3, tables - 5):
        root = f"s.d.w{table % _SCHEMAS}.t{table}"
        print(f"first picture of {root}: {_first_picture(page, f'{url}#t=1.1.{root}'):.0f} ms ({page.status})")
    root = f"s.d.w{tables // 2 % _SCHEMAS}.t{tables // 2}"
    milliseconds = _first_picture(page, f"{url}#t=100.100.{root}")
    print(f"{page.tables} cards at once: {milliseconds:.0f} ms ({page.status})")
    page.driver.set_script_timeout(60)
    for name, zooms in (("all in sight", 0), ("names", 5), ("columns", 10)):
        page.press("f", *"+" * zooms)
        for kind in ("pan", "zoom"):
            time.sleep(0.6)
            _move(page, name, kind)


def _move(page: Page, name: str, kind: str) -> None:
    begun = _processor_seconds()
    frames, own = page.driver.execute_async_script(_FRAMES, kind)
    used = (_processor_seconds() - begun) * 1000 / len(frames)
    print(f"{kind}, {name}: processor {used:.1f} ms a frame", end="")
    for what, times in (("frames", frames), ("own code", own)):
        worst = sorted(times)[int(len(times) * 0.95)]
        print(f"; {what} median {statistics.median(times):.1f} ms, 95 % below {worst:.1f} ms", end="")
    print()


def _processor_seconds() -> float:
    """What the browser's processes have used: beside the time on the clock it tells what others on the machine took."""
    spent = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = process.cpu_times()
            spent += times.user + times.system
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
