"""What a client asks before it starts: version, health, how a connection would be tested, and the list of all calls."""

from __future__ import annotations

from collections import defaultdict
from html import escape

from fastapi import APIRouter, Request
from fastapi.responses import Response

from connectors.catalog.http._context import ERRORS, PathText, Store, reply, unescape_name
from connectors.catalog.store.database import now_millis
from ingestion.model.lineage import Json

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td { padding: .3rem .6rem .3rem 0; vertical-align: top; border-top: 1px solid #8884; overflow-wrap: anywhere }
td:first-child { width: 4.5rem }
"""

router = APIRouter(tags=["system"], responses=ERRORS)


# The list of all calls as one page, made from their OpenAPI document.


def _call_list(document: Json) -> str:
    """The calls of an OpenAPI document as HTML, grouped by their tags."""
    groups: dict[str, list[str]] = defaultdict(list)
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            cells = (f"<b>{escape(method.upper())}</b>", _call(path, call), _answers(call))
            groups[(call.get("tags") or ["other"])[0]].append("".join(f"<td>{cell}</td>" for cell in cells))
    title = f"{escape(document['info']['title'])} {escape(document['info']['version'])}"
    links = " · ".join(f'<a href="#{escape(tag)}">{escape(tag)}</a>' for tag in sorted(groups))
    tables = "".join(
        f'<h2 id="{escape(tag)}">{escape(tag)}</h2><table>{"".join(f"<tr>{row}</tr>" for row in groups[tag])}</table>'
        for tag in sorted(groups)
    )
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    machines = '<p>For machines: <a href="/openapi.json">/openapi.json</a></p>'
    body = f"<h1>{title}</h1>{machines}<nav>{links}</nav>{tables}"
    return f'<!doctype html><html lang="en"><head>{head}<style>{_STYLE}</style></head><body>{body}</body></html>'


def _call(path: str, call: Json) -> str:
    queried = [one for one in call.get("parameters", ()) if one["in"] != "path"]
    names = ", ".join(f"<code>{escape(one['name'])}</code>" for one in queried)
    described = escape(call.get("description", ""))
    return f"<code>{escape(path)}</code><br>{described}{f'<br>{names}' if names else ''}"


def _answers(call: Json) -> str:
    return escape(" ".join(sorted(call.get("responses", ()))))


# What a client asks before it starts: version, health, how a connection would be tested.


@router.get("/api/v1/system/version")
def version(request: Request) -> Response:
    """The version that clients compare with their own."""
    return reply({"version": request.app.state.version, "revision": "headwater", "timestamp": now_millis()})


@router.get("/api/v1/services/testConnectionDefinitions/name/{name}")
def test_connection_definition(name: PathText) -> Response:
    """No steps: the catalog itself opens no connection to a source."""
    service = unescape_name(name).removesuffix(".testConnectionDefinition")
    return reply({"name": service, "steps": []})


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request) -> Response:
    """Every call, for machines."""
    return reply(request.app.openapi())


@router.get("/docs", include_in_schema=False)
def documentation(request: Request) -> Response:
    """Every call, for people: a page that needs no script and no network."""
    headers = {"content-security-policy": POLICY}
    return Response(_call_list(request.app.openapi()), media_type="text/html; charset=utf-8", headers=headers)


@router.get("/healthz")
def health() -> Response:
    """Whether the process answers."""
    return reply({"status": "ok"})


@router.get("/readyz")
def ready(store: Store) -> Response:
    """Whether the store can be read."""
    with store.read() as connection:
        connection.exec_driver_sql("select 1")
    return reply({"status": "ok"})
