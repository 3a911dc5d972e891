"""Query entities: filed by their masked text, so that the same query is one entity however often a log has it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from connectors.openmetadata.entities import extension
from connectors.openmetadata.entities.crud import Collection, QueryRecord
from connectors.openmetadata.transport.http import Call, Http
from connectors.openmetadata.transport.platform import Platform
from ingestion.entities import EntityReference
from ingestion.model import Json

_INDEX = "query_search_index"
_CHUNK = 100
_OUR_CHUNK = 500
"""Of a catalog with bulk calls."""
_ASKED_AT_ONCE = 150
"""Checksums in the URL of a search: with more of them it is longer than the 8 KiB that usual proxies take."""
_FIELDS = ["checksum", "queryUsedIn", "usedBy", "processedLineage", "duration"]


def file_queries(platform: Platform, service: str, queries: Sequence[QueryRecord]) -> int:
    """Files queries that are new, or have new users or tables; how many. What is stored of a query is never lost."""
    filed = 0
    at_once = _OUR_CHUNK if extension.LOOKUP in platform.capabilities else _CHUNK
    for start in range(0, len(queries), at_once):
        chunk = queries[start : start + at_once]
        stored = _stored_queries(platform.http, service, [_checksum(query.query) for query in chunk])
        news = [query for query in (_with(query, stored.get(_checksum(query.query))) for query in chunk) if query]
        if news:
            path = f"{Collection.QUERIES}/bulk"
            body = [query.to_json() for query in news]
            platform.http.send(Call("PUT", path, {"async": "false", "overrideMetadata": "false"}, body))
        filed += len(news)
    return filed


def _checksum(text: str) -> str:
    """The platform's key of a query within its service."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _with(query: QueryRecord, stored: Json | None) -> QueryRecord | None:
    """The query with what is stored of it; None where that is all there is."""
    if stored is None:
        return query
    known = {ref["id"]: EntityReference.from_json(ref) for ref in stored.get("queryUsedIn") or ()}
    used_in = {**known, **{entity.id: entity for entity in query.used_in}}
    users = {*(stored.get("usedBy") or ()), *query.users}
    whole = used_in.keys() == known.keys() and users == set(stored.get("usedBy") or ())
    if whole and stored.get("processedLineage"):
        return None
    return replace(query, used_in=tuple(used_in[key] for key in sorted(used_in)), users=tuple(sorted(users)))


def _stored_queries(http: Http, service: str, checksums: Sequence[str]) -> Mapping[str, Json]:
    parts = (checksums[start : start + _ASKED_AT_ONCE] for start in range(0, len(checksums), _ASKED_AT_ONCE))
    hits = (hit for part in parts for hit in _hits(http, service, part))
    return {str(hit["checksum"]): hit for hit in hits if hit.get("checksum")}


def _hits(http: Http, service: str, checksums: Sequence[str]) -> Iterator[Json]:
    must = [{"term": {"service.name.keyword": service}}, {"terms": {"checksum.keyword": list(checksums)}}]
    answer = http.get(
        "search/query",
        {
            "q": "",
            "index": _INDEX,
            "size": len(checksums),
            "query_filter": json.dumps({"query": {"bool": {"must": must}}}),
            "include_source_fields": _FIELDS,
        },
    )
    hits = answer.get("hits") if isinstance(answer, dict) else None
    for hit in (hits or {}).get("hits") or ():
        yield hit["_source"]
