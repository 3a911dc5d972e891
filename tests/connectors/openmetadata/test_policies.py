"""Tags that an OpenMetadata lacks are made before a label names them, and those that it has stay as they are."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import pytest

from connectors.openmetadata.client import Platform
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.http import Http
from connectors.openmetadata.policies import apply_plan
from ingestion.policies.plan import PolicyPlan, TagAction, TagChange

THERE = {"/api/v1/tags/name/PII.Sensitive", "/api/v1/classifications/name/PII"}


class TagServer(BaseHTTPRequestHandler):
    """Has one classification with one tag, no tables, and keeps what it is asked to make."""

    made: list[tuple[str, Any]]

    def do_GET(self) -> None:
        found = unquote(self.path) in THERE
        self._answer(200 if found else 404, {"name": "n"} if found else {"code": 404, "message": "not found"})

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.made.append((self.path.rpartition("/")[2], body))
        self._answer(201, {"id": "1", **body})

    def _answer(self, status: int, body: Any) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def platform() -> Iterator[tuple[Platform, list[tuple[str, Any]]]]:
    made: list[tuple[str, Any]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (TagServer,), {"made": made}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    http = Http(Connection(f"http://127.0.0.1:{server.server_port}/api", "token"))
    yield Platform(http, "2.0.7"), made
    http.close()
    server.shutdown()
    thread.join()
    server.server_close()


def test_only_missing_tags_are_made(platform: tuple[Platform, list[tuple[str, Any]]]) -> None:
    tags = ("PII.Sensitive", "PII.Derived", "Risk.High.Personal")
    changes = tuple(TagChange(TagAction.ADD, ("s.d.p.t", "c"), tag, ("s.d.p.t.c",)) for tag in tags)
    assert set(apply_plan(platform[0], PolicyPlan(changes, 0, (), ()))) == {"s.d.p.t.c is not there any more"}
    made = [(kind, body["name"], body.get("classification"), body.get("parent")) for kind, body in platform[1]]
    assert made == [
        ("tags", "Derived", "PII", None),
        ("classifications", "Risk", None, None),
        ("tags", "Personal", "Risk", "Risk.High"),
    ]
