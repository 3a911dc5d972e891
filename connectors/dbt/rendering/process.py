"""What runs in the process that can be killed: requests about one scope, answered as JSON.

The second part of a request is the scope's file; the first asks for a node's config ("configure") or SQL ("render").
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from connectors.dbt.rendering.failures import failure_of
from connectors.dbt.rendering.renderer import TemplateRenderer
from connectors.dbt.rendering.scope import TemplateScope

_RECURSION_LIMIT = 5_000
"""Deeper than any macro goes that ends."""


def answer(request: str, scope_file: str) -> bytes:
    """The answer to one request; to what is none an empty one, once the scope is loaded."""
    renderer = _renderer(scope_file)
    if not request.startswith("{"):
        return b""
    asked = json.loads(request)
    sys.setrecursionlimit(_RECURSION_LIMIT)
    try:
        return json.dumps(_answer(renderer, asked), default=str).encode()
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001 a template may raise whatever it likes: it costs that model
        line, reason = failure_of(error)
        return json.dumps({"line": line, "reason": reason}).encode()


def _answer(renderer: TemplateRenderer, asked: dict[str, Any]) -> dict[str, Any]:
    if asked["do"] == "configure":
        configured, assumed = renderer.config_and_place(asked["node"], asked["text"])
        return {"config": configured.config, "place": configured.place, "assumed": assumed}
    if asked["do"] == "source":
        return {"place": renderer.source_place(asked["node"])}
    texts, rendering = renderer.render_model(asked["node"], asked["text"])
    reads = {"read": list(rendering.read), "ephemeral": list(rendering.ephemeral)}
    return {"texts": texts, "other_ways": rendering.other_ways, "line": rendering.line, **reads}


@lru_cache(maxsize=2)
def _renderer(scope_file: str) -> TemplateRenderer:
    return TemplateRenderer(TemplateScope.from_json(Path(scope_file).read_text("utf-8")))
