"""What a client sends is stored or refused: nothing is lost without a word."""

from __future__ import annotations

import pytest

from tests.support.http_client import Client, ref

PUBLIC = "shop.main.public"


def test_keys_that_nobody_keeps_are_refused_wherever_they_stand(kept: Client) -> None:
    table = kept.table("refusing")
    path = f"/tables/{table['id']}"
    for place, value in (
        ("/votes", {"upVotes": 1}),
        ("/dataProducts", [{"id": "1", "type": "dataProduct"}]),
        ("/followers/0", {"id": "1", "type": "user"}),
        ("/surprise", "x"),
        ("/name", "other"),
        ("/databaseSchema", {"id": "1", "type": "databaseSchema"}),
        ("/columns/0/surprise", "x"),
        ("/columns/0/profile", {"nullCount": 1}),
        ("/tags/0", {"tagFQN": "a.b", "surprise": 1}),
        ("/version", 7),
    ):
        status, body = kept.patch(path, [{"op": "add", "path": place, "value": value}])
        assert status == 400, (place, body)
    assert kept.get(path)[1] == table
    request = {"name": "new", "databaseSchema": PUBLIC, "columns": []}
    for key, value in (("fqnHash", "x"), ("dataProducts", ["p"]), ("columns", [{"name": "a", "surprise": 1}])):
        for call in (kept.put, kept.post):
            status, body = call("/tables", {**request, key: value})
            assert (status, body["code"]) == (400, 400), key
    bulk = kept.put("/tables/bulk", [{**request, "dataProducts": ["p"]}])[1]
    assert "keeps no dataProducts of a table" in bulk["failedRequest"][0]["message"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("lifeCycle", {"accessed": {"timestamp": 5, "accessedByAProcess": "nightly"}}),
        ("certification", {"tagLabel": {"tagFQN": "Certification.Gold"}}),
        ("tablePartition", {"columns": [{"columnName": "a", "intervalType": "OTHER"}]}),
        ("tableProfilerConfig", {"profileSample": 10}),
        ("aliases", ["other.main.public.t"]),
        ("sourceHash", "abc"),
    ],
)
def test_what_the_contract_has_of_a_table_is_kept(kept: Client, key: str, value: object) -> None:
    table = kept.table(f"with_{key.lower()}")
    status, body = kept.patch(f"/tables/{table['id']}", [{"op": "add", "path": f"/{key}", "value": value}])
    assert (status, body.get(key)) == (200, value)
    assert kept.get(f"/tables/{table['id']}")[1][key] == value


def test_a_column_takes_a_tag_from_the_empty_list_that_clients_read(kept: Client) -> None:
    table = kept.table("tagged")
    path = f"/tables/{table['id']}"
    assert kept.get(path, fields="columns,tags")[1]["columns"][0]["tags"] == []
    label = {"tagFQN": "PII.Sensitive", "reason": "a name", "style": {"color": "red"}}
    status, body = kept.patch(path, [{"op": "add", "path": "/columns/0/tags/0", "value": label}])
    assert status == 200
    assert label.items() <= body["columns"][0]["tags"][0].items()


def test_what_is_there_is_created_once(kept: Client) -> None:
    request = {"name": "once", "databaseSchema": PUBLIC, "columns": []}
    assert kept.post("/tables", request)[0] == 201
    assert kept.post("/tables", request)[0] == 409
    assert kept.delete(f"/tables/name/{PUBLIC}.once")[0] == 200
    assert kept.post("/tables", request)[0] == 201


def test_a_query_keeps_what_it_was_told_of_when_it_is_put_again(kept: Client) -> None:
    one, two = kept.table("q_one"), kept.table("q_two")
    kept.made("/users", {"name": "ann", "email": "ann@example.org"})
    for table in (one, two):
        query = kept.made("/queries", {"query": "select a from q", "service": "shop", "dialect": "ansi"})
        kept.put(f"/queries/{query['id']}/usage", [ref(table)])
        kept.put(f"/queries/{query['id']}/users", ["ann", "ghost"])
    (found,) = kept.get("/queries", entityId=one["id"])[1]["data"]
    assert {used["id"] for used in found["queryUsedIn"]} == {one["id"], two["id"]}
    assert ([user["name"] for user in found["users"]], found["usedBy"]) == (["ann"], ["ghost"])
    assert "dialect" not in found
