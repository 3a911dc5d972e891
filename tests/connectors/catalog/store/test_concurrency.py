"""Several writers, in several processes, on one file; and a writer that is killed."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import requests

from connectors.catalog.http.server import CatalogConfig, running_catalog
from tests.support.http_client import Client
from tests.support.lineage_statements import graph, pairs, said, send

COLUMNS = [f"c{number}" for number in range(12)]
SERVER = """
import sys
from pathlib import Path
from connectors.catalog.http.server import CatalogConfig, serve
serve(CatalogConfig(Path(sys.argv[1]), port=int(sys.argv[2])), lambda address: None)
"""


class Process:
    """A catalog in a process of its own."""

    def __init__(self, file: Path, port: int) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", SERVER, str(file), str(port)], cwd=Path.cwd())
        self.client = Client(f"http://127.0.0.1:{port}/api")
        for _ in range(600):
            try:
                self.client.get("/system/version")
            except requests.ConnectionError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError("the catalog did not start")

    def stop(self, how: signal.Signals) -> int:
        os.kill(self._process.pid, how)
        return self._process.wait(30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tables(client: Client) -> tuple[Any, Any]:
    client.made("/services/databaseServices", {"name": "shop", "serviceType": "Postgres"})
    client.made("/databases", {"name": "main", "service": "shop"})
    client.made("/databaseSchemas", {"name": "public", "database": "shop.main"})
    return client.table("s", " ".join(COLUMNS)), client.table("t", " ".join(COLUMNS))


def together(*work: Any) -> None:
    """Runs each in a thread; raises what any of them raised."""
    raised: list[BaseException] = []

    def guarded(one: Any) -> None:
        try:
            one()
        except (AssertionError, requests.RequestException) as error:
            raised.append(error)

    threads = [threading.Thread(target=guarded, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not raised


def test_two_processes_merging_into_one_edge_both_survive_exactly_once(tmp_path: Path) -> None:
    processes = [Process(tmp_path / "c.db", free_port()) for _ in range(2)]
    try:
        source, target = tables(processes[0].client)

        def writer(process: Process, part: int) -> Any:
            def write() -> None:
                for number, column in enumerate(COLUMNS[part::2]):
                    edge = said(source, target, f"{column}>{column}", records=[f"{part}{number:07d}", "ffffffff"])
                    send(process.client, edge, batch=f"{part}-{number}")

            return write

        together(*(writer(process, part) for part, process in enumerate(processes)))
        for process in processes:
            assert pairs(process.client.edge(source, target)) == sorted(f"{c}>{c}" for c in COLUMNS)
            contributions = graph(process.client, target)["edges"][0]["contributions"]
            assert {one["count"] for one in contributions} == {len(COLUMNS) + 1}
    finally:
        assert [process.stop(signal.SIGTERM) for process in processes] == [-signal.SIGTERM] * 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["c.db"]


def test_writers_of_one_server_queue(tmp_path: Path) -> None:
    with running_catalog(CatalogConfig(tmp_path / "c.db", port=0)) as address:
        first = Client(address.url)
        source, target = tables(first)

        def write(column: str) -> Any:
            own = Client(address.url)

            def patch() -> None:
                send(own, said(source, target, f"{column}>{column}", producer=f"query:{column}"), batch=column)

            return patch

        together(*(write(column) for column in COLUMNS), *(lambda: first.edge(source, target) for _ in range(3)))
        assert pairs(first.edge(source, target)) == sorted(f"{column}>{column}" for column in COLUMNS)


def keep_writing(client: Client, ends: list[Any], number: int, acknowledged: list[str]) -> None:
    """Sends batches until the server is gone."""
    for count in itertools.count():
        key = f"{number}-{count}"
        try:
            send(client, said(ends[0], ends[1], "c0>c0", producer=f"query:{key}"), batch=key)
        except requests.RequestException:
            return
        acknowledged.append(key)


def test_a_killed_writer_leaves_a_store_with_everything_it_acknowledged(tmp_path: Path) -> None:
    file = tmp_path / "c.db"
    acknowledged: list[str] = []
    ends: list[Any] = []
    for number in range(3):
        process = Process(file, free_port())
        ends = ends or [*tables(process.client)]
        writer = threading.Thread(target=keep_writing, args=(process.client, ends, number, acknowledged))
        writer.start()
        time.sleep(0.3 + 0.1 * number)
        assert process.stop(signal.SIGKILL) == -signal.SIGKILL
        writer.join(60)
        assert not writer.is_alive()
    connection = sqlite3.connect(file)
    assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    assert connection.execute("pragma foreign_key_check").fetchall() == []
    connection.close()
    with running_catalog(CatalogConfig(file, port=0)) as address:
        client = Client(address.url)
        stored = {one["producer"]["key"] for one in graph(client, ends[1])["edges"][0]["contributions"]}
        assert set(acknowledged) <= stored
        assert len(stored) <= len(acknowledged) + 3  # one call in flight at each kill
        for key in acknowledged[:5]:
            answer = send(client, said(*ends, "c0>c0", producer=f"query:{key}"), batch=key)
            assert answer["new"] + answer["merged"] == 1  # the answer of then: applied once
        contributions = graph(client, ends[1])["edges"][0]["contributions"]
        assert {one["count"] for one in contributions} == {1}
