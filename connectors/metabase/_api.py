"""What a Metabase has, over its REST API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from connectors.dashboards.documents import LocatedDocument, documents_in
from connectors.dashboards.servers import ToolServer, objects_in
from connectors.dashboards.settings import DashboardServer
from connectors.metabase._documents import MetabaseContent, TableField, warehouse_of
from ingestion.errors import ConfigError


def documents_of_server(settings: DashboardServer) -> MetabaseContent:
    """Its databases with their fields, cards, dashboards and snippets. Raises ConfigError and TargetDown."""
    server = ToolServer("Metabase", settings.host_port or "")
    _log_in(server, settings)
    databases = [one for one in _objects(server, "api/database") if "id" in one]
    fields: dict[int, TableField] = {}
    tables: dict[int, TableField] = {}
    for database in databases:
        path = f"api/database/{database['id']}/metadata"
        _learn_fields(server.require(server.get(path), dict, path), tables, fields)
    address = (settings.host_port or "").rstrip("/")
    cards = dict(_cards(_objects(server, "api/card"), f"{address}/question"))
    dashboards = []
    for one in _objects(server, "api/dashboard"):
        path = f"api/dashboard/{one.get('id')}"
        document = {
            **one,
            **server.require(server.get(path), dict, path),
            "address": f"{address}/dashboard/{one.get('id')}",
        }
        dashboards.append(LocatedDocument(str(one.get("id")), document, f"dashboard/{one.get('id')}:1"))
    snippets = {
        str(one.get("name")): str(one.get("content") or "") for one in _objects(server, "api/native-query-snippet")
    }
    warehouses = {str(one["id"]): warehouse_of(one) for one in databases}
    return MetabaseContent(warehouses, cards, tuple(dashboards), fields, tables, snippets)


def _log_in(server: ToolServer, settings: DashboardServer) -> None:
    if settings.api_key is not None:
        server.headers["x-api-key"] = settings.api_key.get_secret_value()
        return
    if settings.username is None or settings.password is None:
        raise ConfigError("dashboardServer needs apiKey, or username and password, to ask Metabase")
    answer = server.post(
        "api/session", {"username": settings.username, "password": settings.password.get_secret_value()}
    )
    token = answer.get("id") if isinstance(answer, dict) else None
    if not token:
        raise ConfigError(f"{settings.host_port} does not log in as Metabase does: is hostPort right?")
    server.headers["X-Metabase-Session"] = str(token)


def _objects(server: ToolServer, path: str) -> list[Mapping[str, Any]]:
    """The objects of an answer, which older versions give as a list and newer ones under a key."""
    answer = server.get(path)
    found = answer if isinstance(answer, list) else server.require(answer, dict, path).get("data")
    return [one for one in documents_in(server.require(found, list, path)) if one.get("archived") is not True]


def _learn_fields(metadata: object, tables: dict[int, TableField], fields: dict[int, TableField]) -> None:
    for table in objects_in(metadata, "tables"):
        position = TableField(str(table.get("schema") or ""), str(table.get("name") or ""))
        if isinstance(table.get("id"), int):
            tables[table["id"]] = position
        for one in objects_in(table, "fields"):
            if isinstance(one.get("id"), int):
                fields[one["id"]] = TableField(position.schema, position.table, str(one.get("name") or ""))


def _cards(found: list[Mapping[str, Any]], address: str) -> Iterator[tuple[str, LocatedDocument]]:
    for one in found:
        if "id" in one and isinstance(one.get("name"), str):
            key = str(one["id"])
            yield key, LocatedDocument(key, {**one, "address": f"{address}/{key}"}, f"card/{key}:1")
