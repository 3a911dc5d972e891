"""Bulk lineage in the words of the tests."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.support.http_client import Client, ref

DAY = 86_400_000
_batches = count()


def said(upstream: Any, downstream: Any, columns: str = "", **more: Any) -> Any:
    """One contribution: `columns` as "a>b c>d", INDIRECT with ~ instead of >, `~` without target for a filter."""
    kind, _, key = more.pop("producer", "query:q").partition(":")
    contribution = {
        "producer": {"kind": kind, "key": key},
        "source": {"view": "ViewLineage", "manual": "Manual"}.get(kind, "QueryLineage"),
        "columns": [_column(upstream, downstream, pair) for pair in columns.split()],
        **more,
    }
    return {"fromEntity": ref(upstream), "toEntity": ref(downstream), "contribution": contribution}


def _column(upstream: Any, downstream: Any, pair: str) -> Any:
    mark = ">" if ">" in pair else "~"
    source, _, target = pair.partition(mark)
    column = {"from": [f"{upstream['fullyQualifiedName']}.{source}"], "type": "DIRECT", "subtype": "IDENTITY"}
    if mark == "~":
        column |= {"type": "INDIRECT", "subtype": "FILTER"}
    column["to"] = f"{downstream['fullyQualifiedName']}.{target}" if target else None
    return column


def send(client: Client, *edges: Any, replace: Any = (), batch: str | None = None) -> Any:
    """Sends one batch; its answer."""
    body = {"batchId": batch or f"batch {next(_batches)}", "edges": list(edges), "replace": list(replace)}
    status, answer = client.post("/headwater/lineage", body)
    assert status == 200, answer
    return answer


def redefinition(entity: Any, producer: str | None = None, **more: Any) -> Any:
    kind, _, key = (producer or "").partition(":")
    scope = {"toEntity": ref(entity), "source": "ViewLineage", **more}
    return {**scope, "producer": {"kind": kind, "key": key} if producer else None}


def happened(client: Client, kind: str, entity: Any, at: int, **more: Any) -> Any:
    status, answer = client.post(
        "/headwater/names", {"events": [{"kind": kind, "entity": ref(entity), "at": at, **more}]}
    )
    assert status == 200, answer
    return answer


def pairs(edge: Any) -> list[str]:
    """The mappings of an edge, as "a>b"."""
    if edge is None:
        return []
    last = [(one["fromColumns"], one["toColumn"]) for one in edge["columnsLineage"]]
    return sorted(
        f"{source.rsplit('.')[-1]}>{target.rsplit('.')[-1]}" for sources, target in last for source in sources
    )


def graph(client: Client, root: Any, **more: Any) -> Any:
    params = {"root": root["fullyQualifiedName"], "upstream": 3, "downstream": 3, "days": 0, **more}
    status, body = client.get("/headwater/graph", **params)
    assert status == 200, body
    return body


def edges_of(body: Any) -> set[tuple[str, str]]:
    """The edges of a graph, by the last part of the names."""
    names = {node["id"]: node["name"] for node in body["nodes"]}
    return {(names[edge["from"]], names[edge["to"]]) for edge in body["edges"]}
