"""The explorer's page: hosted with its files beside it, or as one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

_SITE = files("connectors.catalog.page") / "site"
_ENTRY = "app"
BUNDLE = "page.js"
"""The one script of the hosted page, beside ASSETS: to ask for each module took longer than most pictures do."""
_STYLE = "explorer.css"
_TYPES = {"css": "text/css; charset=utf-8", "mjs": "text/javascript; charset=utf-8"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The policy of the hosted page: its own files and its own server, nothing else."""

# what would end the element or the script early, or is no character in old script engines
_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}

_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "(?P<path>\.\.?/[a-z_/]+)\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (?P<name>\w+))", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function\*?|class|const) (?P<name>\w+)", re.MULTILINE)


@cache
def _file(name: str) -> str:
    return _SITE.joinpath(*name.split("/")).read_text("utf-8")


def _names(folder: Traversable, prefix: str = "") -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _names(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in _TYPES:
            yield prefix + entry.name


ASSETS: Mapping[str, str] = {name: _TYPES[name.rpartition(".")[2]] for name in sorted(_names(_SITE))}
"""The files beside the hosted page by their paths, with their media types."""


def asset(name: str) -> str:
    """The text of one of ASSETS; KeyError for any other name."""
    if name not in ASSETS:
        raise KeyError(name)
    return _file(name)


def hosted_page(assets: str) -> str:
    """The page for a server that serves ASSETS, and as BUNDLE their modules in one, below the path `assets`."""
    head = (
        "<title>Lineage</title>\n"
        f'<link rel="icon" href="data:,">\n<link rel="stylesheet" href="{html.escape(assets)}/{_STYLE}">'
    )
    script = f'<script type="module" src="{html.escape(assets)}/{BUNDLE}"></script>'
    return _page(head, "", script)


def self_contained_page(document: Mapping[str, Any], title: str) -> str:
    """One page that carries the graph `document`: it opens from disk and asks no network for anything."""
    style, script = _file(_STYLE), bundled_script()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style}</style>"
    )
    data = f'<script type="application/json" id="lineage-data">{_json(_intern(document))}</script>'
    return _page(head, data, f'<script type="module">{script}</script>')


@cache
def bundled_script() -> str:
    """All modules of the page as one script."""
    modules = {name.removesuffix(".mjs"): _file(name) for name in ASSETS if name.endswith(".mjs")}
    return bundle(modules, _ENTRY)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPES)


def _intern(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with each SQL text and expression once: an edge for each source repeats its statement."""
    texts: dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    def column(one: Mapping[str, Any]) -> dict[str, Any]:
        expression = one.get("expression")
        return {**one, "expression": number(expression)} if expression else dict(one)

    def contribution(one: Mapping[str, Any]) -> dict[str, Any]:
        sql = one.get("sqlQuery")
        interned = {**one, "columns": [column(item) for item in one["columns"]]}
        return {**interned, "sqlQuery": number(sql)} if sql else interned

    def edges(one: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [
            {**edge, "contributions": [contribution(item) for item in edge["contributions"]]} for edge in one["edges"]
        ]

    interned = {**document, "edges": edges(document)}
    if before := document.get("before"):
        interned["before"] = {**before, "edges": edges(before)}
    return {**interned, "texts": list(texts)}


def _page(head: str, data: str, script: str) -> str:
    before, rest = _file("page.html").split("<!--head-->")
    middle, rest = rest.split("<!--data-->")
    between, after = rest.split("<!--script-->")
    return f"{before}{head}{middle}{data}{between}{script}{after}"


# A page opened from disk may not import, so each of its modules becomes a function's inside.


def bundle(modules: Mapping[str, str], entry: str) -> str:
    """`entry` and the modules that it imports, in order of dependence, each with names of its own.

    A module is called by its path without an ending. The modules import named exports of others by relative paths,
    one statement a line, and export declarations.
    """
    order: list[str] = []
    _visit(entry, modules, order)
    return "\n".join(_wrap(name, modules[name]) for name in order)


def _visit(name: str, modules: Mapping[str, str], order: list[str]) -> None:
    if name in order:
        return
    for imported, _ in _imports(name, modules[name]):
        _visit(imported, modules, order)
    order.append(name)


def _imports(name: str, source: str) -> Iterator[tuple[str, str]]:
    """The modules that one imports, each with the names that it takes."""
    for found in _IMPORT.finditer(source):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(name), found["path"])), found["names"].strip()


def _wrap(name: str, source: str) -> str:
    imports = [f"const {{{names}}} = {_variable(imported)};" for imported, names in _imports(name, source)]
    exported = ", ".join(found["name"] for found in _EXPORTED.finditer(source))
    body = _EXPORT.sub("", _IMPORT.sub("", source))
    return "\n".join(
        [f"const {_variable(name)} = (() => {{", *imports, body.rstrip(), f"return {{ {exported} }};", "})();"]
    )


def _variable(name: str) -> str:
    return f"module_{name.replace('/', '$')}"
