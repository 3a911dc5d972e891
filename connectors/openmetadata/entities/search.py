"""The platform's search: tables by name, containers by path, views and procedures that wait for their lineage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from connectors.openmetadata.transport.http import Http
from ingestion.model import Json
from ingestion.resolution.cached_search import Hits

TABLES = "table_search_index"
CONTAINERS = "container_search_index"
PAGE = 100
# a real server ignores `size` in field searches and shows so many
SHOWN = 10
_FIELDS = ["schemaDefinition", "fullyQualifiedName", "tableType", "processedLineage", "updatedAt", "extension"]


def field_search(http: Http, pattern: str, field: str = "fullyQualifiedName", index: str = TABLES) -> Hits:
    """FQNs of what matches a wildcard pattern (`*`, `?`, case ignored), and whether these are all."""
    params: dict[str, str | int] = {
        "fieldName": field,
        "fieldValue": pattern,
        "from": 0,
        "size": SHOWN,
        "index": index,
        "deleted": "false",
    }
    answer = _hits(http.get("search/fieldQuery", params))
    found = tuple(str(hit["_source"]["fullyQualifiedName"]) for hit in answer.get("hits") or ())
    total = answer.get("total") or {}
    known = total.get("value", len(found)) if isinstance(total, dict) else int(total)
    return Hits(found, complete=known <= len(found) and len(found) < SHOWN)


def containers_by_path(http: Http, path: str) -> Hits:
    """FQNs of containers whose fullPath is `path`, compared without case and with `*` and `?` as any character."""
    return field_search(http, path.replace("*", "?"), "fullPath", CONTAINERS)


def views(http: Http, service: str, *, unprocessed_only: bool) -> Iterator[Json]:
    """Every view of a service that has a definition: its name, definition, type, and when it was changed last."""
    must: list[Json] = [
        {"term": {"service.name.keyword": service}},
        {"exists": {"field": "schemaDefinition"}},
    ]
    yield from _pages(http, TABLES, must, unprocessed_only=unprocessed_only)


def _pages(http: Http, index: str, must: list[Json], *, unprocessed_only: bool) -> Iterator[Json]:
    bool_query: Json = {"must": must}
    if unprocessed_only:
        bool_query["must_not"] = [{"term": {"processedLineage": True}}]
    params: dict[str, str | int | list[str]] = {
        "q": "",
        "size": PAGE,
        "deleted": "false",
        "index": index,
        "query_filter": json.dumps({"query": {"bool": bool_query}}),
        "include_source_fields": _FIELDS,
        "sort_field": "fullyQualifiedName",
        "sort_order": "desc",
    }
    while True:
        hits = _hits(http.get("search/query", params)).get("hits") or ()
        for hit in hits:
            yield hit["_source"]
        after = hits[-1].get("sort") if hits else None
        if not after or params.get("search_after") == str(after[0]):
            return
        params["search_after"] = str(after[0])


def _hits(answer: Any) -> Json:
    hits = answer.get("hits") if isinstance(answer, dict) else None
    return hits if isinstance(hits, dict) else {}
