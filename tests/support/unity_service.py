"""A small Unity Catalog: external metadata objects and lineage between them and its tables, behind its REST calls.

It has these routes and no others, and takes no field, value or name that the API does not have: its fields are those of
`ExternalMetadata`, `CreateRequestExternalLineage` and `UpdateRequestExternalLineage` of databricks-sdk 0.162.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from connectors.databricks.settings import DatabricksSettings

_ROOT = "/api/2.0/lineage-tracking"
TOKEN = "dapi-canary"
_SYSTEMS = {
    "AMAZON_REDSHIFT", "AZURE_SYNAPSE", "CONFLUENT", "DATABRICKS", "GOOGLE_BIGQUERY", "KAFKA", "LOOKER",
    "MICROSOFT_FABRIC", "MICROSOFT_SQL_SERVER", "MONGODB", "MYSQL", "ORACLE", "OTHER", "POSTGRESQL", "POWER_BI",
    "SALESFORCE", "SAP", "SERVICENOW", "SNOWFLAKE", "STREAM_NATIVE", "TABLEAU", "TERADATA", "WORKDAY",
}  # fmt: skip
_NAME_FIELDS = {"table": "name", "path": "url", "external_metadata": "name"}

Ends = tuple[tuple[str, str], tuple[str, str]]


class _Refused(Exception):
    def __init__(self, status: int, code: str, message: str = "no") -> None:
        super().__init__(status, code, message)
        self.answer = Response(json.dumps({"error_code": code, "message": message}), status)


@dataclass
class UnityService:
    """The workspace: `tables` with their columns are what it has itself; `statuses` are given in place of its own."""

    server: HTTPServer
    tables: dict[str, list[str]] = field(default_factory=dict)
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    relationships: dict[Ends, dict[str, Any]] = field(default_factory=dict)
    statuses: list[Response | None] = field(default_factory=list)
    page_size: int = 1
    calls: list[str] = field(default_factory=list)

    @property
    def writes(self) -> list[str]:
        return [call for call in self.calls if not call.startswith("GET")]

    @property
    def pairs(self) -> dict[tuple[str, str], set[tuple[str, str]]]:
        """The pairs of columns of each relationship, by the names of its ends."""
        return {
            (source, target): {(one["source"], one["target"]) for one in body["columns"]}
            for ((_, source), (_, target)), body in self.relationships.items()
        }

    def settings(self, **more: Any) -> DatabricksSettings:
        given = {"host": self.server.url_for("").rstrip("/"), "token": TOKEN, "retry_max_times": 0}
        return DatabricksSettings.model_validate({**given, **more})

    def answer(self, request: Request) -> Response:
        path = request.path.removeprefix(_ROOT + "/")
        self.calls.append(f"{request.method} {path}")
        try:
            if request.headers.get("Authorization") != f"Bearer {TOKEN}":
                raise _Refused(401, "UNAUTHENTICATED")
            if self.statuses and (found := self.statuses.pop(0)) is not None:
                return found
            kind, _, name = path.partition("/")
            if kind == "external-metadata":
                return self._of_objects(request, name)
            if path == "external-lineage":
                return self._of_relationships(request)
            raise _Refused(404, "ENDPOINT_NOT_FOUND", f"No API found for {request.method} {path}")
        except _Refused as refused:
            return refused.answer

    def _of_objects(self, request: Request, name: str) -> Response:
        body = request.get_json() if request.data else {}
        if not name and request.method == "GET":
            return _page("external_metadata", list(self.objects.values()), request, self.page_size)
        if not name and request.method == "POST":
            _check(body, {"name", "system_type", "entity_type"}, {"columns", "description", "properties", "url"})
            if body["system_type"] not in _SYSTEMS or re.search(r"[\x00-\x20./\x7f]", body["name"]):
                raise _Refused(400, "INVALID_PARAMETER_VALUE", f"{body['name']} of {body['system_type']}")
            if len(body["name"]) > 255:
                raise _Refused(400, "INVALID_PARAMETER_VALUE", "too long")
            if body["name"].lower() in self.objects:
                raise _Refused(409, "ALREADY_EXISTS")
            self.objects[body["name"].lower()] = {**body, "name": body["name"].lower(), "created_by": "robot"}
            return _of(self.objects[body["name"].lower()])
        if name not in self.objects:
            raise _Refused(404, "EXTERNAL_METADATA_DOES_NOT_EXIST", f"{name} does not exist")
        if request.method == "PATCH":
            mask = request.args["update_mask"].split(",")
            _check(body, {"name", "system_type", "entity_type", *mask}, {"columns", "properties"})
            self.objects[name].update({field: body[field] for field in mask})
        elif request.method == "DELETE":
            del self.objects[name]
            end = "external_metadata", name
            self.relationships = {ends: one for ends, one in self.relationships.items() if end not in ends}
            return _of({})
        return _of(self.objects[name])

    def _of_relationships(self, request: Request) -> Response:
        if request.method == "GET":
            _check(request.args, {"lineage_direction", "page_size"}, {"page_token", *_parameters("object_info")})
            asked = _end_of(request.args, "object_info")
            self._see(asked)
            index = {"DOWNSTREAM": 0, "UPSTREAM": 1}[request.args["lineage_direction"]]
            found = [
                {"external_lineage_info": {"source": _shown(ends[0]), "target": _shown(ends[1]), "id": "1", **one}}
                for ends, one in self.relationships.items()
                if ends[index] == asked
            ]
            return _page("external_lineage_relationships", found, request, self.page_size)
        if request.method == "DELETE":
            prefix = "external_lineage_relationship"
            _check(request.args, set(), {*_parameters(f"{prefix}.source"), *_parameters(f"{prefix}.target")})
            ends = _end_of(request.args, f"{prefix}.source"), _end_of(request.args, f"{prefix}.target")
            if self.relationships.pop(ends, None) is None:
                raise _Refused(404, "EXTERNAL_LINEAGE_DOES_NOT_EXIST")
            return _of({})
        body = request.get_json()
        _check(body, {"source", "target"}, {"columns", "properties", "id"})
        ends = self._check_ends(body)
        content = {key: body[key] for key in ("columns", "properties") if key in body}
        self._check_columns(ends, content.get("columns", ()))
        if request.method == "POST":
            if ends in self.relationships:
                raise _Refused(409, "ALREADY_EXISTS")
            self.relationships[ends] = {"columns": [], "properties": {}, **content}
        else:
            if set(request.args["update_mask"].split(",")) != set(content) or ends not in self.relationships:
                raise _Refused(400, "INVALID_PARAMETER_VALUE", "mask")
            self.relationships[ends].update(content)
        return _of({**body, "id": "1"})

    def _check_ends(self, body: Mapping[str, Any]) -> Ends:
        ends = []
        for one in (body["source"], body["target"]):
            ((kind, inner),) = one.items()
            ((key, name),) = inner.items()
            if _NAME_FIELDS.get(kind) != key:
                raise _Refused(400, "INVALID_PARAMETER_VALUE", kind)
            ends.append((kind, name))
            self._see(ends[-1])
        if "external_metadata" not in (ends[0][0], ends[1][0]):
            raise _Refused(400, "INVALID_PARAMETER_VALUE", "one end must be an external metadata object")
        return ends[0], ends[1]

    def _see(self, end: tuple[str, str]) -> None:
        kind, name = end
        if kind == "table" and name not in self.tables:
            raise _Refused(404, "TABLE_DOES_NOT_EXIST", f"Table {name} does not exist; asked with {TOKEN}")
        if kind == "external_metadata" and name not in self.objects:
            raise _Refused(404, "EXTERNAL_METADATA_DOES_NOT_EXIST", name)

    def _check_columns(self, ends: Ends, columns: Any) -> None:
        for one in columns:
            _check(one, {"source", "target"}, set())
            for (kind, name), column in zip(ends, (one["source"], one["target"]), strict=True):
                known = self.objects[name]["columns"] if kind == "external_metadata" else self.tables.get(name)
                if kind == "table" and known is not None:  # which knows its columns in any case
                    known, column = [one.lower() for one in known], column.lower()
                if known is not None and column not in known:
                    raise _Refused(400, "INVALID_PARAMETER_VALUE", f"{name} has no column {column}")


def answer_by(service: UnityService) -> None:
    """Has its server answer as the service does."""
    service.server.expect_request(re.compile("/api/.*")).respond_with_handler(service.answer)


def _check(given: Any, needed: set[str], others: set[str]) -> None:
    if not needed <= set(given) <= needed | others:
        raise _Refused(400, "MALFORMED_REQUEST", f"fields: {sorted(given)}")


def _parameters(prefix: str) -> list[str]:
    return [f"{prefix}.{kind}.{name}" for kind, name in _NAME_FIELDS.items()]


def _end_of(parameters: Mapping[str, str], prefix: str) -> tuple[str, str]:
    (found,) = ((kind, parameters[key]) for kind in _NAME_FIELDS for key in _parameters(prefix)
                if key in parameters and f".{kind}." in key)  # fmt: skip
    return found


def _shown(end: tuple[str, str]) -> dict[str, Any]:
    kind, name = end
    return {kind: {_NAME_FIELDS[kind]: name}}


def _page(key: str, found: list[Any], request: Request, most: int) -> Response:
    assert 1 <= int(request.args["page_size"]) <= 1000
    start = int(request.args.get("page_token", 0))
    more = {"next_page_token": str(start + most)} if start + most < len(found) else {}
    return _of({key: found[start : start + most], **more})


def _of(content: Mapping[str, Any]) -> Response:
    return Response(json.dumps(content), 200, content_type="application/json")
