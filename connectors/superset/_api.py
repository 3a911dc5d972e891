"""What a Superset has, over its REST API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from connectors.dashboards.documents import AskedDatabase, LocatedDocument, documents_in
from connectors.dashboards.servers import ToolServer
from connectors.dashboards.settings import DashboardServer
from connectors.superset._documents import Documents, database_of
from ingestion.errors import ConfigError

_PAGE = 100


def documents_of_server(settings: DashboardServer) -> Documents:
    """Its databases, datasets, charts and dashboards. Raises ConfigError and TargetDown."""
    server = ToolServer("Superset", settings.host_port or "")
    _log_in(server, settings)
    databases = {str(one["id"]): _database(server, one) for one in _list_all(server, "database")}
    datasets = dict(_locate_each(server, "dataset", "table_name"))
    charts = dict(_locate_each(server, "chart", "slice_name"))
    dashboards: dict[str, LocatedDocument] = {}
    for key, one in _locate_each(server, "dashboard", "dashboard_title"):
        members = _objects(server, f"api/v1/dashboard/{key}/charts")
        own = {**one.document, "charts": [str(member.get("id")) for member in members]}
        dashboards[key] = LocatedDocument(key, _with_address(own, settings, f"superset/dashboard/{key}/"), one.location)
    charts = {
        key: LocatedDocument(key, _with_address(one.document, settings, f"explore/?slice_id={key}"), one.location)
        for key, one in charts.items()
    }
    return Documents(databases, datasets, charts, dashboards)


def _log_in(server: ToolServer, settings: DashboardServer) -> None:
    if settings.username is None or settings.password is None:
        raise ConfigError("dashboardServer needs username and password to ask Superset")
    secret = settings.password.get_secret_value()
    body = {"username": settings.username, "password": secret, "provider": settings.provider, "refresh": False}
    answer = server.post("api/v1/security/login", body)
    token = answer.get("access_token") if isinstance(answer, dict) else None
    if not token:
        raise ConfigError(f"{settings.host_port} does not log in as Superset does: is hostPort right?")
    server.headers["Authorization"] = f"Bearer {token}"


def _objects(server: ToolServer, path: str, params: Mapping[str, str] | None = None) -> list[Mapping[str, Any]]:
    """The objects of an answer. Raises ConfigError where it lists none of any kind."""
    answer = server.require(server.get(path, params), dict, path)
    return [*documents_in(server.require(answer.get("result"), list, path))]


def _list_all(server: ToolServer, kind: str) -> Iterator[Mapping[str, Any]]:
    """All of a kind, page by page; `order_column` keeps what is added meanwhile from moving the pages."""
    page = 0
    while True:
        query = f"(order_column:changed_on_delta_humanized,order_direction:asc,page:{page},page_size:{_PAGE})"
        found = [one for one in _objects(server, f"api/v1/{kind}/", {"q": query}) if "id" in one]
        yield from found
        if len(found) < _PAGE:
            return
        page += 1


def _locate_each(server: ToolServer, kind: str, name: str) -> Iterator[tuple[str, LocatedDocument]]:
    """Each of a kind whole, with what only its list tells."""
    for listed in _list_all(server, kind):
        key = str(listed["id"])
        path = f"api/v1/{kind}/{key}"
        whole = server.require(server.get(path), dict, path).get("result")
        document = {**listed, **server.require(whole, dict, path)}
        if isinstance(document.get("database"), dict):
            document["database_id"] = document["database"].get("id")
        if document.get(name):
            if "datasource_id" in listed:
                document["datasource_id"] = listed["datasource_id"]
            yield key, LocatedDocument(key, document, f"{kind}/{key}:1")


def _with_address(document: Mapping[str, Any], settings: DashboardServer, path: str) -> dict[str, Any]:
    return {**document, "address": f"{(settings.host_port or '').rstrip('/')}/{path}"}


def _database(server: ToolServer, one: Mapping[str, Any]) -> AskedDatabase:
    """A connection; who may not see its address learns its kind alone, and `databaseNames` says where its names are."""
    name, backend = str(one.get("database_name") or ""), str(one.get("backend") or "")
    try:
        answer = server.get(f"api/v1/database/{one['id']}/connection")
    except ConfigError:
        return database_of(name, "", backend)
    result = answer.get("result") if isinstance(answer, dict) else None
    address = result.get("sqlalchemy_uri") if isinstance(result, dict) else None
    return database_of(name, str(address or ""), backend)
