"""An OpenMetadata of one minor version, as far as lineage goes: the calls and fields that this version has, no others.

What is here are facts of its contract in our words. Only the standard library is used, so that it also runs beside the
models of one version, which know more than it does (`tests/hunts/openmetadata_models.py`).
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

Json = dict[str, Any]
Minor = tuple[int, int]

# Collections by their path: the type of their entities, the key of a create request that names the parent, and all its
# keys that are known here.
_COLLECTIONS: Mapping[str, tuple[str, str, str]] = {
    "services/databaseServices": ("databaseService", "", "name serviceType"),
    "services/storageServices": ("storageService", "", "name serviceType"),
    "databases": ("database", "service", "name service"),
    "databaseSchemas": ("databaseSchema", "database", "name database"),
    "tables": ("table", "databaseSchema", "name databaseSchema columns tableType schemaDefinition"),
    "storedProcedures": ("storedProcedure", "databaseSchema", "name databaseSchema storedProcedureCode"),
    "containers": ("container", "service", "name service fullPath dataModel"),
    "queries": ("query", "service", "query service queryUsedIn processedLineage usedBy duration queryDate"),
    "services/dashboardServices": ("dashboardService", "", "name serviceType"),
    "dashboards": ("dashboard", "service", "name service dashboardType sourceUrl displayName description tags owners"),
    "dashboard/datamodels": ("dashboardDataModel", "service", "name service dataModelType sql columns"),
    "metrics": ("metric", "", "name displayName description metricExpression metricType tags owners"),
    "classifications": ("classification", "", "name description"),
    "tags": ("tag", "classification", "name classification description"),
    "dataQuality/testDefinitions": ("testDefinition", "", "name description entityType testPlatforms"),
    "dataQuality/testCases": ("testCase", "entityLink", "name entityLink testDefinition"),
    "teams": ("team", "", "name teamType"),
    "users": ("user", "", "name"),
}
_YOUNG_KEYS: Mapping[str, tuple[Minor, str]] = {"metrics": ((2, 0), "measures dimensions")}
_YOUNG_COLLECTIONS: Mapping[str, Minor] = {"metrics": (1, 6)}
_OF_DATABASES = frozenset({"databases", "databaseSchemas", "tables", "storedProcedures", "containers", "queries"})
_INDEXES = {
    "table_search_index": "tables",
    "container_search_index": "containers",
    "query_search_index": "queries",
}
_FIELDS = {
    "tables": {"columns", "tags", "owners"}, "containers": {"dataModel"}, "queries": {"queryUsedIn"},
    "metrics": {"extension"},
}  # fmt: skip
_SOURCES = frozenset({
    "Manual", "ViewLineage", "QueryLineage", "PipelineLineage", "DashboardLineage", "DbtLineage", "SparkLineage",
    "OpenLineage", "ExternalTableLineage",
})  # fmt: skip
_YOUNG_SOURCES = frozenset({"CrossDatabaseLineage", "ChildAssets"})
_DETAILS = frozenset({"sqlQuery", "columnsLineage", "pipeline", "description", "source"})
_STAMPS = ("createdAt", "createdBy", "updatedAt", "updatedBy")
_YOUNG_SERVICES: Mapping[str, Minor] = {
    "Cockroach": (1, 7), "StarRocks": (1, 12), "MicrosoftFabric": (1, 12), "Informix": (1, 12),
}  # fmt: skip
_PLURAL = {kind: path for path, (kind, _parent, _keys) in _COLLECTIONS.items()}


class Refused(Exception):
    """An answer that is none of success: its status, and what it says."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Received:
    """One call that came in: its path below /v1, and what it was answered."""

    method: str
    path: str
    body: Any
    status: int
    answer: Any = None


@dataclass
class StubPlatform:
    """What an OpenMetadata of the `minor` version holds; `received` are the calls, in their order.

    `edges` by the ids of their ends. Who writes is who the token names.
    """

    minor: Minor
    entities: dict[str, dict[str, Json]] = field(default_factory=lambda: {path: {} for path in _COLLECTIONS})
    edges: dict[tuple[str, str], Json] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    clock: int = 1_700_000_000_000

    @property
    def version(self) -> str:
        return f"{self.minor[0]}.{self.minor[1]}.3"

    def answer(self, method: str, url: str, body: Any, user: str) -> tuple[int, Any]:
        """The status and the value that a call is answered with."""
        parts = urlsplit(url)
        path, params = parts.path.removeprefix("/api/v1/"), parse_qs(parts.query)
        with self.lock:
            try:
                status, value = 200, self._route(method, path, params, body, user)
            except Refused as refused:
                status, value = refused.status, {"code": refused.status, "message": str(refused)}
            self.received.append(Received(method, path, body, status, value))
        return status, value

    def _route(self, method: str, path: str, params: Mapping[str, list[str]], body: Any, user: str) -> Any:
        methods = []
        for since, wanted, pattern, handler in self._ROUTES:
            found = re.fullmatch(pattern, path)
            if found is None or self.minor < since or self.minor < _YOUNG_COLLECTIONS.get(path.split("/")[0], since):
                continue
            if wanted == method:
                segments = [unquote(segment) for segment in found.groups()]
                return handler(self, *segments, _Call(params, body, user))
            methods.append(wanted)
        raise Refused(405 if methods else 404, f"HTTP {405 if methods else 404}")

    # Entities.

    def add(self, collection: str, request: Json) -> Json:
        """The entity that a create request makes, or brings up to date."""
        kind, parent, known = _COLLECTIONS[collection]
        since, young = _YOUNG_KEYS.get(collection, ((0, 0), ""))
        unknown = sorted(request.keys() - {*known.split(), *(young.split() if self.minor >= since else ())})
        if unknown:
            raise Refused(400, f'Unrecognized field "{unknown[0]}"')
        self._check_words(collection, request)
        if self.minor < _YOUNG_SERVICES.get(str(request.get("serviceType")), self.minor):
            raise Refused(400, f"{request['serviceType']} is no serviceType")
        name = request.get("name") or hashlib.md5(request["query"].encode(), usedforsecurity=False).hexdigest()
        fqn = f"{request[parent]}.{_quoted(name)}" if parent else _quoted(name)
        if collection == "dashboard/datamodels":
            fqn = f"{request['service']}.model.{_quoted(name)}"
        if collection == "dataQuality/testCases":
            fqn = f"{_linked(request['entityLink'])}.{_quoted(name)}"
        stored = self.entities[collection].get(fqn, {})
        made = {**stored, **request, "name": name, "fullyQualifiedName": fqn}
        made.setdefault("id", str(uuid.uuid5(uuid.NAMESPACE_URL, fqn)))
        made["updatedAt"] = self._now()
        if collection == "queries":
            made["checksum"] = name
        for key in ("service", "database", "databaseSchema") if collection in _OF_DATABASES else ():
            made.update(self._ancestors(key, fqn, collection))
        for column in _columns(made):
            column["fullyQualifiedName"] = f"{fqn}.{_quoted(column['name'])}"
        self.entities[collection][fqn] = made
        assert kind
        return made

    def _check_words(self, collection: str, request: Json) -> None:
        if collection == "dataQuality/testDefinitions" and request["testPlatforms"] != [
            "dbt" if self.minor >= (1, 11) else "DBT"
        ]:
            raise Refused(400, f"{request['testPlatforms']} are no testPlatforms")
        if request.get("metricType") == "SIMPLE" and self.minor < (2, 0):
            raise Refused(400, "SIMPLE is no metricType")
        if collection == "dataQuality/testCases" and self.minor < (1, 8):
            raise Refused(400, "testSuite must not be null")

    def _put_result(self, fqn: str, call: _Call) -> Json:
        if fqn not in self.entities["dataQuality/testCases"]:
            raise Refused(404, f"testCase instance for {fqn} not found")
        result: Json = self.entities["dataQuality/testCases"][fqn].setdefault("testCaseResult", call.body)
        return result

    def _ancestors(self, key: str, fqn: str, collection: str) -> Json:
        depth, path = {
            "service": (1, "services/storageServices" if collection == "containers" else "services/databaseServices"),
            "database": (2, "databases"),
            "databaseSchema": (3, "databaseSchemas"),
        }[key]
        parts = _split(fqn)
        if len(parts) <= depth or (collection in ("containers", "queries") and depth > 1):
            return {}
        parent = self.entities[path].get(".".join(parts[:depth]))
        if parent is None:
            raise Refused(404, f"{key} instance for {'.'.join(parts[:depth])} not found")
        return {key: _reference(parent, _COLLECTIONS[path][0])}

    def find(self, collection: str, identifier: str) -> Json:
        """An entity by its id. Raises Refused."""
        for one in self.entities[collection].values():
            if one["id"] == identifier:
                return one
        raise Refused(404, f"{collection} instance for {identifier} not found")

    def _put(self, collection: str, call: _Call) -> Json:
        return self.add(collection, call.body)

    def _put_many(self, collection: str, call: _Call) -> Json:
        done = [{"request": self.add(collection, one)["fullyQualifiedName"], "status": 201} for one in call.body]
        return {"status": "success", "numberOfRowsProcessed": len(done), "numberOfRowsPassed": len(done),
                "successRequest": done, "failedRequest": []}  # fmt: skip

    def _by_name(self, collection: str, fqn: str, call: _Call) -> Json:
        for name in ",".join(call.params.get("fields", [])).split(","):
            known = _FIELDS.get(collection, set()) | ({"schemaDefinition"} if self.minor >= (2, 0) else set())
            if name and name not in known:
                raise Refused(400, f"Invalid field name {name}")
        found = self.entities[collection].get(fqn)
        if found is None:
            raise Refused(404, f"{collection} instance for {fqn} not found")
        return found

    def _list(self, collection: str, _call: _Call) -> Json:
        found = list(self.entities[collection].values())
        return {"data": found, "paging": {"total": len(found)}}

    def _patch(self, collection: str, identifier: str, call: _Call) -> Json:
        entity = self.find(collection, identifier)
        for operation in call.body:
            name = operation["path"].removeprefix("/")
            if name == "processedLineage" and self.minor < (1, 6):
                raise Refused(400, 'Unrecognized field "processedLineage"')
            entity[name] = operation["value"]
        return entity

    # Search.

    def _field_query(self, call: _Call) -> Json:
        name, pattern = call.one("fieldName"), call.one("fieldValue").lower()
        found = [one for one in self._index(call).values() if fnmatchcase(str(one.get(name, "")).lower(), pattern)]
        return _hits(found[:10], len(found))

    def _query(self, call: _Call) -> Json:
        found = [one for one in self._index(call).values() if self._holds(one, json.loads(call.one("query_filter")))]
        found = sorted(found, key=lambda one: str(one["fullyQualifiedName"]), reverse=True)
        after = call.params.get("search_after", [""])[0]
        return _hits([one for one in found if not after or one["fullyQualifiedName"] < after], len(found))

    def _index(self, call: _Call) -> dict[str, Json]:
        if call.one("index") not in _INDEXES:
            raise Refused(404, f"no such index [{call.one('index')}]")
        return self.entities[_INDEXES[call.one("index")]]

    def _holds(self, entity: Json, query_filter: Json) -> bool:
        conditions = query_filter["query"]["bool"]["must"]
        return all(self._holds_one(entity, *next(iter(one.items()))) for one in conditions)

    def _holds_one(self, entity: Json, kind: str, condition: Any) -> bool:
        if kind == "exists":
            return bool(entity.get(condition["field"]))
        ((name, wanted),) = condition.items()
        if name == "service.name.keyword":
            return bool(entity["service"]["name"] == wanted)
        if kind == "terms" and name == "checksum.keyword" and self.minor >= (2, 0):
            return entity["checksum"] in wanted
        return False

    # Lineage.

    def _put_edge(self, call: _Call) -> None:
        edge = call.body["edge"]
        ends = [edge["fromEntity"], edge["toEntity"]]
        for end in ends:
            self.find(_PLURAL[end["type"]], end["id"])
        details = self._checked(edge["lineageDetails"], ends[1])
        stamps = dict.fromkeys(_STAMPS[::2], self._now()) | dict.fromkeys(_STAMPS[1::2], call.user)
        self.edges[ends[0]["id"], ends[1]["id"]] = {**details, **(stamps if self.minor >= (1, 7) else {})}

    def _checked(self, details: Json, target: Json) -> Json:
        """The details as they are stored; columns that are not there are dropped, until 1.9 they are refused."""
        known = _DETAILS | (set(_STAMPS) if self.minor >= (1, 7) else set())
        known |= {"tempLineageTables"} if self.minor >= (1, 13) else set()
        unknown = sorted(details.keys() - known)
        if unknown:
            raise Refused(400, f'Unrecognized field "{unknown[0]}" (class LineageDetails), not marked as ignorable')
        if details["source"] not in _SOURCES | (_YOUNG_SOURCES if self.minor >= (1, 7) else set()):
            raise Refused(400, f"{details['source']} is no source")
        pipeline = details.get("pipeline")
        if pipeline is not None:
            found = self.find(_PLURAL[pipeline["type"]], pipeline["id"])
            details = {**details, "pipeline": _reference(found, pipeline["type"])}
        kept = []
        there = {column["fullyQualifiedName"] for column in _columns(self.find(_PLURAL[target["type"]], target["id"]))}
        for mapping in details.get("columnsLineage") or () if target["type"] != "metric" else ():
            sources = [name for name in mapping["fromColumns"] if self._has_column(name)]
            wrong = [*(set(mapping["fromColumns"]) - set(sources)), *({mapping["toColumn"]} - there)]
            if wrong and self.minor < (1, 10):
                raise Refused(400, f"Invalid fully qualified column name {wrong[0]}")
            if sources and mapping["toColumn"] in there:
                kept.append({**mapping, "fromColumns": sources})
        return {**details, "columnsLineage": kept}

    def _has_column(self, fqn: str) -> bool:
        entities = (*self.entities["tables"].values(), *self.entities["containers"].values())
        return any(column["fullyQualifiedName"] == fqn for one in entities for column in _columns(one))

    def _edge(self, source: str, target: str) -> Json:
        found = self.edges.get((source, target))
        if found is None:
            raise Refused(404, "lineage edge not found")
        return found

    def _get_edge(self, source: str, target: str, _call: _Call) -> Json:
        return {"edge": self._edge(source, target)}

    def _patch_edge(self, _source_type: str, source: str, target_type: str, target: str, call: _Call) -> Json:
        changed = json.loads(json.dumps(self._edge(source, target)))
        for operation in call.body:
            name, _, last = operation["path"].removeprefix("/").partition("/")
            if operation["op"] == "remove":
                changed.pop(name)
            elif last == "-":
                changed[name].append(operation["value"])
            else:
                changed[name] = operation["value"]
        changed = self._checked(changed, {"type": target_type, "id": target})
        if self.minor >= (1, 7):
            changed |= {"updatedAt": self._now(), "updatedBy": call.user}
        self.edges[source, target] = changed
        return changed

    def _delete_edge(self, _source_type: str, source: str, _target_type: str, target: str, _call: _Call) -> None:
        self._edge(source, target)
        del self.edges[source, target]

    def _graph(self, kind: str, identifier: str, _call: _Call) -> Json:
        root = self.find(_PLURAL[kind], identifier)
        into = [(ends, details) for ends, details in self.edges.items() if ends[1] == identifier]
        everything = {one["id"]: (path, one) for path, held in self.entities.items() for one in held.values()}
        nodes = [_reference(everything[ends[0]][1], _COLLECTIONS[everything[ends[0]][0]][0]) for ends, _ in into]
        upstream = [{"fromEntity": ends[0], "toEntity": ends[1], "lineageDetails": details} for ends, details in into]
        return {"entity": _reference(root, kind), "nodes": nodes, "upstreamEdges": upstream, "downstreamEdges": []}

    def _version(self, _call: _Call) -> Json:
        return {"version": self.version, "revision": "stub", "timestamp": self.clock}

    def _now(self) -> int:
        self.clock += 1
        return self.clock

    _ANY = "(" + "|".join(_COLLECTIONS) + ")"
    _ENDS = "lineage/([a-zA-Z]+)/([-0-9a-f]{36})/([a-zA-Z]+)/([-0-9a-f]{36})"
    _ROUTES: ClassVar[tuple[tuple[Minor, str, str, Callable[..., Any]], ...]] = (
        ((1, 5), "GET", "system/version", _version),
        ((1, 5), "GET", "search/fieldQuery", _field_query),
        ((1, 5), "GET", "search/query", _query),
        ((1, 5), "PUT", "lineage", _put_edge),
        ((1, 5), "GET", "lineage/getLineageEdge/([-0-9a-f]{36})/([-0-9a-f]{36})", _get_edge),
        ((1, 5), "PATCH", _ENDS, _patch_edge),
        ((1, 5), "DELETE", _ENDS, _delete_edge),
        ((1, 5), "GET", "lineage/([a-zA-Z]+)/([-0-9a-f]{36})", _graph),
        ((1, 12), "PUT", "(queries)/bulk", _put_many),
        ((1, 8), "POST", "dataQuality/testCases/testCaseResults/([^/]+)", _put_result),
        ((1, 5), "PUT", _ANY, _put),
        ((1, 5), "GET", _ANY, _list),
        ((1, 5), "GET", f"{_ANY}/name/([^/]+)", _by_name),
        ((1, 5), "PATCH", f"{_ANY}/([-0-9a-f]{{36}})", _patch),
    )


@dataclass(frozen=True)
class _Call:
    params: Mapping[str, list[str]]
    body: Any
    user: str

    def one(self, name: str) -> str:
        """A parameter that there must be. Raises Refused."""
        if name not in self.params:
            raise Refused(400, f"query param {name} must not be null")
        return self.params[name][0]


def _linked(link: str) -> str:
    """The table or column of an entity link."""
    return ".".join(part for part in link.strip("<>").split("::")[2:] if part != "columns")


def _quoted(name: str) -> str:
    return f'"{name}"' if "." in name else name


def _split(fqn: str) -> list[str]:
    return re.findall(r'"[^"]+"|[^.]+', fqn)


def _columns(entity: Json) -> list[Json]:
    found: list[Json] = entity.get("columns") or (entity.get("dataModel") or {}).get("columns") or []
    return found


def _reference(entity: Json, kind: str) -> Json:
    return {"id": entity["id"], "type": kind, "name": entity["name"],
            "fullyQualifiedName": entity["fullyQualifiedName"]}  # fmt: skip


def _hits(found: list[Json], total: int) -> Json:
    hits = [{"_id": one["id"], "_source": one, "sort": [one["fullyQualifiedName"]]} for one in found]
    return {"hits": {"total": {"relation": "eq", "value": total}, "hits": hits}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # header and body in two segments wait 40 ms for each other
    platform: ClassVar[StubPlatform]

    def handle_any(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        user = str(self.headers.get("Authorization")).removeprefix("Bearer ")
        status, value = self.platform.answer(self.command, self.path, json.loads(content) if content else None, user)
        answer = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 the names that the server calls

    def log_message(self, *_arguments: object) -> None:
        """The calls are not logged."""


@contextmanager
def served(platform: StubPlatform) -> Iterator[str]:
    """The address of the platform, ending in /api."""
    handler = type("Handler", (_Handler,), {"platform": platform})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/api"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
