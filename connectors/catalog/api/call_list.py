"""The list of all calls as one page, made from their OpenAPI document."""

from __future__ import annotations

from collections import defaultdict
from html import escape

from ingestion.model import Json

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
_STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td { padding: .3rem .6rem .3rem 0; vertical-align: top; border-top: 1px solid #8884; overflow-wrap: anywhere }
td:first-child { width: 4.5rem }
"""


def call_list(document: Json) -> str:
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
