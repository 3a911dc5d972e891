"""Versions of entities, and ETags of what is to be changed."""

from __future__ import annotations

import json

from tests.support.http_client import Client, ref

DESCRIBE = [{"op": "add", "path": "/description", "value": "said"}]


def test_every_version_can_be_read_with_what_changed(kept: Client) -> None:
    table = kept.table("versioned")
    path = f"/tables/{table['id']}"
    kept.patch(path, DESCRIBE)
    kept.patch(path, [{"op": "replace", "path": "/description", "value": "said again"}])
    kept.patch(path, [{"op": "remove", "path": "/description"}])
    status, history = kept.get(f"{path}/versions")
    versions = [json.loads(one) for one in history["versions"]]
    assert (status, history["entityType"]) == (200, "table")
    assert [one["version"] for one in versions] == [0.4, 0.3, 0.2, 0.1]
    assert [one.get("description") for one in versions] == [None, "said again", "said", None]
    assert versions[1]["changeDescription"] == {
        "fieldsAdded": [],
        "fieldsUpdated": [{"name": "description", "oldValue": "said", "newValue": "said again"}],
        "fieldsDeleted": [],
        "previousVersion": 0.2,
    }
    assert [one["name"] for one in versions[0]["changeDescription"]["fieldsDeleted"]] == ["description"]
    first = kept.get(f"{path}/versions/0.1")[1]
    assert (first["version"], first["columns"]) == (0.1, table["columns"])
    for number, answer in (("0.9", 404), ("x", 400)):
        assert kept.get(f"{path}/versions/{number}")[0] == answer


def test_if_match_is_honoured_by_every_write_of_an_entity(kept: Client) -> None:
    table = kept.table("guarded")
    url, name = f"/tables/{table['id']}", f"/tables/name/{table['fullyQualifiedName']}"
    request = {"name": "guarded", "databaseSchema": "shop.main.public", "columns": [], "description": "other"}
    old = kept.session.get(kept.url + url).headers["ETag"]
    assert kept.call("PATCH", url, DESCRIBE, headers={"If-Match": old})[0] == 200
    for stale in (old, 'W/"0.1"', '"made-up"'):
        headers = {"If-Match": stale}
        assert kept.call("PATCH", url, DESCRIBE, headers=headers)[0] == 412
        assert kept.call("PATCH", name, DESCRIBE, headers=headers)[0] == 412
        assert kept.call("PUT", "/tables", request, headers=headers)[0] == 412
        assert kept.call("DELETE", url, headers=headers)[0] == 412
        assert kept.call("DELETE", name, headers=headers)[0] == 412
    assert kept.get(url)[1]["description"] == "said"
    new = kept.session.get(kept.url + name).headers["ETag"]
    for fresh in (f'"x", {new}', 'W/"0.2"', "*"):
        assert kept.call("PATCH", url, DESCRIBE, headers={"If-Match": fresh})[0] == 200
    absent = {"If-Match": "*"}
    assert kept.call("PUT", "/tables", {**request, "name": "absent"}, headers=absent)[0] == 412


def test_if_match_is_honoured_by_every_write_of_an_edge(kept: Client) -> None:
    source, target = kept.table("e_source"), kept.table("e_target")
    ends = f"table/{source['id']}/table/{target['id']}"
    edge = {"edge": {"fromEntity": ref(source), "toEntity": ref(target)}}
    assert kept.call("PUT", "/lineage", edge, headers={"If-Match": "*"})[0] == 412
    assert kept.put("/lineage", edge)[0] == 200
    read = kept.session.get(f"{kept.url}/lineage/getLineageEdge/{source['id']}/{target['id']}")
    patch = [{"op": "add", "path": "/sqlQuery", "value": "select 1"}]
    assert kept.call("PATCH", f"/lineage/{ends}", patch, headers={"If-Match": read.headers["ETag"]})[0] == 200
    stale = {"If-Match": read.headers["ETag"]}
    assert kept.call("PATCH", f"/lineage/{ends}", patch, headers=stale)[0] == 412
    assert kept.call("PUT", "/lineage", edge, headers=stale)[0] == 412
    assert kept.call("DELETE", f"/lineage/{ends}", headers=stale)[0] == 412
    assert kept.edge(source, target)["sqlQuery"] == "select 1"


def test_where_nothing_has_an_etag_a_condition_is_refused(kept: Client) -> None:
    table = kept.table("no_condition")
    headers = {"If-Match": "*"}
    for method, path, body in (
        ("PUT", f"/tables/{table['id']}/dataModel", {"modelType": "DBT"}),
        ("PUT", f"/tables/{table['id']}/sampleData", {"columns": [], "rows": []}),
        ("POST", f"/usage/table/{table['id']}", {"date": "2026-11-01", "count": 1}),
        ("POST", "/tables", {"name": "conditional", "databaseSchema": "shop.main.public", "columns": []}),
        ("PUT", "/tables/bulk", []),
        ("POST", "/headwater/usage", {"items": []}),
        ("POST", "/openlineage/lineage/batch", []),
    ):
        status, body = kept.call(method, path, body, headers=headers)
        assert (status, "If-Match" in body["message"]) == (400, True), path
