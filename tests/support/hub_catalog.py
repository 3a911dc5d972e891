"""A catalog around one table that five hundred others read, in two services, with tags and owners."""

from __future__ import annotations

import hashlib
from typing import Any

from tests.support.http_client import Client, ref

READERS = 500
HUB = "port.main.core.harbour"
NOW = 1_700_000_000_000
CHANGED = NOW + 86_400_000
REWORDED = 25
COLUMNS = [{"name": name, "dataType": "INT"} for name in ("ship", "day", *(f"tide_{n:03d}" for n in range(60)))]
_ANN = {"id": "0b9c5d1e-7a53-4a41-9d0e-0d6b1a2c3d41", "type": "user", "name": "ann.lee"}
_TAG = {"tagFQN": "PII.Sensitive", "source": "Classification", "labelType": "Manual", "state": "Confirmed"}


def fill(client: Client) -> None:
    """coast.main.raw.ships -> harbour -> quay_000 ... quay_499, the last thirty of these read by 1, 2 ... 30 runs.

    A day later quay_000 ... quay_024 are made by another expression.
    """
    connection = {"connection": {"config": {"username": "u", "hostPort": "h:1"}}}
    for service, schema in (("port", "core"), ("port", "quays"), ("coast", "raw")):
        client.made("/services/databaseServices", {"name": service, "serviceType": "Postgres", **connection})
        client.made("/databases", {"name": "main", "service": service})
        client.made("/databaseSchemas", {"name": schema, "database": f"{service}.main"})
    few = [{"name": "ship", "dataType": "INT"}, {"name": "crew", "dataType": "TEXT", "tags": [_TAG]}]
    tables: list[dict[str, Any]] = [
        {"name": "ships", "columns": few, "databaseSchema": "coast.main.raw", "owners": [_ANN]},
        {"name": "harbour", "columns": COLUMNS, "databaseSchema": "port.main.core", "tags": [_TAG]},
    ]
    tables += [
        {"name": f"quay_{n:03d}", "columns": few[:1], "databaseSchema": "port.main.quays"} for n in range(READERS)
    ]
    status, answer = client.post("/headwater/tables", {"tables": tables})
    assert status == 200, answer
    ships, harbour, *quays = answer["tables"]
    edges = [_edge(ships, harbour, ("load", 3)), *(_edge(harbour, quay, ("spread", 1)) for quay in quays)]
    status, answer = client.post("/headwater/lineage", {"batchId": "hub", "edges": edges})
    assert status == 200, answer
    again = [_edge(harbour, quay, ("spread", 1), expression="ship + 1", at=CHANGED) for quay in quays[:REWORDED]]
    ended = [
        {"toEntity": one["toEntity"], "at": CHANGED, "source": "QueryLineage"}
        | {"producer": one["contribution"]["producer"]}
        for one in again
    ]
    status, answer = client.post("/headwater/lineage", {"batchId": "again", "edges": again, "replace": ended})
    assert status == 200, answer
    uses = [
        {"entity": ref(quay), "records": [f"{n:04x}{number:04x}" for number in range(n)], "at": NOW}
        for n, quay in enumerate(quays[-30:], 1)
    ]
    status, answer = client.post("/headwater/usage", {"items": uses})
    assert status == 200, answer


def _edge(
    source: dict[str, str], target: dict[str, str], ran: tuple[str, int], at: int = NOW, **column: str
) -> dict[str, Any]:
    job, records = ran
    ends = [f"{one['fullyQualifiedName']}.ship" for one in (source, target)]
    contribution = {
        "producer": {"kind": "query", "key": target["fullyQualifiedName"]},
        "source": "QueryLineage",
        "jobs": [f"nightly.{job}"],
        "columns": [{"from": ends[:1], "to": ends[1], "type": "DIRECT", "subtype": "IDENTITY", **column}],
        "records": [hashlib.md5(f"{ends[1]} {number}".encode()).hexdigest()[:16] for number in range(records)],
        "firstSeen": at,
        "lastSeen": at,
    }
    return {"fromEntity": ref(source), "toEntity": ref(target), "contribution": contribution}
