"""A plain HTTP client of a running catalog."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import requests


class Client:
    """Calls as any client of the contract makes them; answers are (status, body)."""

    def __init__(self, url: str, token: str = "no_token") -> None:
        self.url = f"{url}/v1"
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> tuple[int, Any]:
        answer = self.session.request(method, self.url + path, json=body, timeout=30, **options)
        return answer.status_code, answer.json() if answer.content else None

    def get(self, path: str, **params: Any) -> tuple[int, Any]:
        return self.call("GET", path, params=params)

    def put(self, path: str, body: Any) -> tuple[int, Any]:
        return self.call("PUT", path, body)

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        return self.call("POST", path, body)

    def patch(self, path: str, body: Any) -> tuple[int, Any]:
        headers = {"Content-Type": "application/json-patch+json"}
        return self.call("PATCH", path, body, headers=headers)

    def delete(self, path: str, **params: Any) -> tuple[int, Any]:
        return self.call("DELETE", path, params=params)

    def made(self, path: str, body: Any) -> Any:
        status, answer = self.put(path, body)
        assert status in (200, 201), answer
        return answer

    def table(self, name: str, columns: str = "a b", schema: str = "shop.main.public", **more: Any) -> Any:
        """A table with columns of one type."""
        wanted = [{"name": column, "dataType": "INT"} for column in columns.split()]
        return self.made("/tables", {"name": name, "columns": wanted, "databaseSchema": schema, **more})

    def lineage(self, upstream: Any, downstream: Any, **details: Any) -> None:
        ends = {"fromEntity": ref(upstream), "toEntity": ref(downstream)}
        status, body = self.put("/lineage", {"edge": {**ends, "lineageDetails": details}})
        assert status == 200, body

    def edge(self, source: Any, target: Any) -> Any:
        status, body = self.get(f"/lineage/getLineageEdge/{source['id']}/{target['id']}")
        return body["edge"] if status == 200 else None


def ref(entity: Any, kind: str = "table") -> Any:
    return {"id": entity["id"], "type": kind}


def escaped(name: str) -> str:
    return quote(name, safe="")
