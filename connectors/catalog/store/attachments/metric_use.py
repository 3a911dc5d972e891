"""What a metric tells of its use, as it was found in queries: who measures it, how often and of which rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingestion.model import Json
from ingestion.names.fqn import build_fqn, encode_name

_ENTITY = "entityLineage"
_LISTS = ("users", "filters", "variant")
_MOST = 1_000  # of a list: anybody may write the attribute, and the page shows it


def metric_use(document: Mapping[str, Any]) -> Json:
    """Of the document of a metric: `runs`, `users`, `lastRun` (ISO), `filters`, `anyLiteral`, `variants`, `view`.

    What is not there, or is not what it should be, is left out.
    """
    extension = document.get("extension")
    found = extension.get(_ENTITY) if isinstance(extension, dict) else None
    if not isinstance(found, dict):
        return {}
    answer: Json = {key: texts for key in _LISTS if (texts := _texts(found.get(key)))}
    if isinstance(found.get("runs"), int) and not isinstance(found["runs"], bool):
        answer["runs"] = found["runs"]
    if isinstance(found.get("last_run"), str):
        answer["lastRun"] = found["last_run"]
    if found.get("any_literal") is True:
        answer["anyLiteral"] = True
    if names := _texts(found.get("variant_of")):
        answer["variants"] = [{"name": name, "fullyQualifiedName": build_fqn(encode_name(name))} for name in names]
    view = found.get("view")
    if isinstance(view, dict) and isinstance(view.get("sql"), str):
        name = view.get("name")
        answer["view"] = {"name": name if isinstance(name, str) else "", "sql": view["sql"]}
    return answer


def _texts(given: object) -> list[str]:
    return [one for one in given if isinstance(one, str) and one][:_MOST] if isinstance(given, list) else []
