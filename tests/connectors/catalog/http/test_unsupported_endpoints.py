"""What stays out answers as the documentation has it; all calls are described in a page without scripts."""

from __future__ import annotations

import re
from pathlib import Path

from connectors.catalog.http._unsupported_endpoints import UNSUPPORTED
from tests.support.http_client import Client

DOCS = Path(__file__).resolve().parents[4] / "docs" / "catalog.md"


def test_what_the_documentation_leaves_out_is_what_answers_so(kept: Client) -> None:
    section = DOCS.read_text().partition("## What it leaves out")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (`.+) \|$", section, re.MULTILINE)
    told = {what: tuple(re.findall(r"`([^`]+)`", paths)) for what, paths in rows}
    assert told == UNSUPPORTED
    for path in (path for paths in told.values() for path in paths):
        for method, below in (("GET", ""), ("PUT", ""), ("POST", ""), ("GET", "/name/a.b"), ("PATCH", "/name/a.b")):
            status, body = kept.call(method, f"/{path}{below}", {} if method != "GET" else None)
            assert (status, body["code"]) == (404, 404), (method, path)
            assert "leaves out" in body["message"], (method, path)


def test_every_call_is_described_for_people_and_machines(kept: Client) -> None:
    root = kept.url.removesuffix("/api/v1")
    described = kept.session.get(f"{root}/openapi.json").json()
    page = kept.session.get(f"{root}/docs")
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "script" not in page.headers["Content-Security-Policy"]
    assert all(f"<code>{path}</code>" in page.text for path in described["paths"])
    assert {"/api/v1/tables", "/api/v1/lineage/export", "/api/v1/openlineage/lineage"} <= described["paths"].keys()
