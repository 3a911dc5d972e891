"""Searches narrowed by tags, owners, producers, use and age: one catalog, many questions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, text

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.store.database import open_database
from connectors.catalog.store.schema import entity_activity, entity_labels, meta
from tests.support.http_client import Client, ref

DAY = 86_400_000
NOW = 1_700_000_000_000
WRITES = {  # target: sources, what runs it, in how many records, how long before NOW
    "stage": ("raw", "load", 3, 0),
    "mart": ("stage", "nightly.mart", 200, 0),
    "ledger": ("stage", "nightly.ledger", 5, 90),
    "report": ("mart", "weekly", 1, 10),
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    file = tmp_path_factory.mktemp("narrowed") / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        client = Client(address.url)
        fill(client)
        yield client, file


def fill(client: Client) -> None:
    connection = {"connection": {"config": {"username": "u", "hostPort": "h:1"}}}
    client.made("/services/databaseServices", {"name": "shop", "serviceType": "Postgres", **connection})
    client.made("/databases", {"name": "main", "service": "shop"})
    client.made("/databaseSchemas", {"name": "public", "database": "shop.main"})
    ann, bob = ({"id": f"0b9c5d1e-7a53-4a41-9d0e-0d6b1a2c3d4{n}", "type": "user", "name": name} for n, name in _OWNERS)
    private = [
        {"name": "mail", "dataType": "TEXT", "tags": [_tag("PII.Sensitive")]},
        {"name": "day", "dataType": "INT"},
    ]
    made = {name: client.table(name, "day total", "shop.main.public") for name in ("stage", "ledger", "spare")}
    tables = {
        "raw": {"columns": private, "owners": [ann]},
        "mart": {"columns": [{"name": "total", "dataType": "INT"}], "tags": [_tag("Tier.Tier1")], "owners": [ann, bob]},
        "report": {"columns": [{"name": "mail", "dataType": "TEXT", "tags": [_tag("PII.NonSensitive")]}]},
    }
    for name, more in tables.items():
        made[name] = client.made("/tables", {"name": name, "databaseSchema": "shop.main.public", **more})
    edges = [edge(made[source], made[target], *how) for target, (source, *how) in WRITES.items()]
    edges += [edge(made["raw"], made["mart"], "nightly.mart", 200, 0)]  # one statement reads both
    edges += [edge(made["mart"], made["spare"], "weekly", 1, 10)]  # one statement writes both
    status, answer = client.post("/headwater/lineage", {"batchId": "b", "edges": edges})
    assert status == 200, answer
    uses = {"entity": ref(made["ledger"]), "records": ["000000aa", "000000ab", "000000aa"], "at": NOW}
    assert client.post("/headwater/usage", {"items": [uses, uses]})[1] == {"new": 2}


_OWNERS = ((1, "ann.lee"), (2, "bob"))


def _tag(name: str) -> dict[str, str]:
    return {"tagFQN": name, "source": "Classification", "labelType": "Manual", "state": "Confirmed"}


def edge(source: Any, target: Any, job: str, records: int, days: int) -> dict[str, Any]:
    contribution = {
        "producer": {"kind": "query", "key": f"form of {job}"},
        "source": "QueryLineage",
        "jobs": [job],
        "records": [f"{number:08x}" for number in range(records)],
        "firstSeen": NOW - 100 * DAY,
        "lastSeen": NOW - days * DAY,
    }
    return {"fromEntity": ref(source), "toEntity": ref(target), "contribution": contribution}


def names(client: Client, wanted: str, **more: int) -> list[str]:
    status, answer = client.get("/headwater/search", q=wanted, **more)
    assert status == 200, answer
    found = [one.get("column") or one["entity"]["fullyQualifiedName"] for one in answer["results"]]
    return [name.removeprefix("shop.main.public.") for name in found]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("tag:PII.Sensitive", ["raw", "raw.mail"]),
        ("tag:pii", ["raw", "report", "raw.mail", "report.mail"]),
        ("tag:tier1", ["mart"]),
        ("mail tag:PII.Sensitive", ["raw.mail"]),
        ("tag:PII -tag:PII.Sensitive", ["report", "report.mail"]),
        ("tag:nothing", []),
        ("owner:ann", ["raw", "mart"]),
        ("owner:ann owner:bob", ["mart"]),
        ("-owner:ann", ["stage", "ledger", "report", "spare"]),
        ("mart owner:bob", ["mart"]),
        ("stage owner:bob", []),
        ("producer:nightly", ["ledger", "mart"]),
        ("producer:nightly.mart", ["mart"]),
        ("producer:query sort:name", ["ledger", "mart", "report", "spare", "stage"]),
        ("service:shop used:>100", ["stage", "raw"]),
        ("used:<3", ["ledger", "mart", "report", "spare"]),
        ("used:200..203", ["raw"]),
        ("readers:>1 sort:name", ["mart", "raw", "stage"]),
        ("stale:30d", ["ledger"]),
        ("stale:5d sort:stale", ["ledger", "report", "spare"]),
        ("-stale:5d producer:query", ["stage", "mart"]),
        ("new:1d sort:name", ["ledger", "mart", "raw", "report", "spare", "stage"]),
        ("new:2100-01-01", []),
        ("total sort:used", ["stage.total", "ledger.total", "mart.total", "spare.total"]),
    ],
)
def test_a_search_is_narrowed(filled: tuple[Client, Path], wanted: str, expected: list[str]) -> None:
    assert names(filled[0], wanted) == expected


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_of_what_was_written_at_one_time_the_first_by_name_come_first_however_few_are_sought(
    filled: tuple[Client, Path], monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Two tables were written last, and two before them: which of both an index has first is no matter."""
    monkeypatch.setattr("connectors.catalog.search.filters._MOST_SOUGHT", most)
    expected = ["ledger", "report", "spare", "mart", "stage"]
    for limit in range(1, 6):
        assert names(filled[0], "service:shop sort:stale", limit=limit) == expected[:limit]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_of_what_bears_a_tag_so_many_are_found(filled: tuple[Client, Path], limit: int) -> None:
    assert names(filled[0], "tag:pii", limit=limit) == ["raw", "report", "raw.mail", "report.mail"][:limit]


SEARCHES = [
    f"{words} {one} {order}"
    for words in ("", "total", "mail", "a")
    for one in ("tag:pii", "-owner:ann", "producer:query", "used:>1", "stale:5d", "used:<3")
    for order in ("", "sort:stale")
]


@pytest.fixture(scope="module")
def found(filled: tuple[Client, Path]) -> list[list[str]]:
    """What the searches find as they are made."""
    return _found(filled[0])


def _found(client: Client) -> list[list[str]]:
    return [names(client, one, limit=limit) for one in SEARCHES for limit in (1, 2, 40)]


@pytest.mark.parametrize("most", [0, 1, 2, 4])
def test_what_is_found_is_the_same_whether_few_are_noted_or_all_looked_at(
    filled: tuple[Client, Path], found: list[list[str]], monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    for bound in ("_FEW_TABLES", "_FEW_WITH_COLUMNS", "_MOST_SOUGHT"):
        monkeypatch.setattr(f"connectors.catalog.search.filters.{bound}", most)
    assert _found(filled[0]) == found
    assert any(found)


def test_results_tell_by_what_they_are_chosen(filled: tuple[Client, Path]) -> None:
    _, answer = filled[0].get("/headwater/search", q="raw")
    use = answer["results"][0]["use"]
    assert (use["runs"], use["readers"]) == (203, 2)
    assert time.time() * 1000 - use["appeared"] < DAY
    _, answer = filled[0].get("/headwater/search", q="ledger")
    assert (answer["results"][0]["use"]["runs"], answer["results"][0]["use"]["lastWritten"]) == (2, NOW - 90 * DAY)


def test_values_to_narrow_by_come_with_their_counts(filled: tuple[Client, Path]) -> None:
    _, values = filled[0].get("/headwater/search/values")
    assert values["tags"][0] == {"value": "PII.NonSensitive", "count": 1}
    assert values["owners"] == [{"value": "ann.lee", "count": 2}, {"value": "bob", "count": 1}]
    assert {"query", "nightly.mart", "weekly"} <= {one["value"] for one in values["producers"]}


@pytest.mark.parametrize("wanted", ["used:many", "stale:soon", "sort:price"])
def test_a_filter_that_cannot_be_read_is_refused(filled: tuple[Client, Path], wanted: str) -> None:
    status, answer = filled[0].get("/headwater/search", q=wanted)
    assert (status, answer["code"]) == (400, 400)
    assert wanted in answer["message"]


def test_a_store_that_was_made_without_labels_and_counts_gets_them(filled: tuple[Client, Path]) -> None:
    with open_database(filled[1]).write() as connection:
        before = connection.execute(text("select * from entity_labels")).all()
        runs = connection.execute(text("select * from entity_activity")).all()
        connection.execute(delete(entity_labels))
        connection.execute(delete(entity_activity))
        connection.execute(delete(meta).where(meta.c.key.in_(("labels", "activity"))))
    with open_database(filled[1]).read() as connection:
        assert sorted(connection.execute(text("select * from entity_labels")).all()) == sorted(before)
        assert sorted(connection.execute(text("select * from entity_activity")).all()) == sorted(runs)


def test_a_tagged_column_is_found_by_its_name_where_that_is_not_its_path(filled: tuple[Client, Path]) -> None:
    client, _ = filled
    tagged = {"dataType": "TEXT", "tags": [_tag("Inner.Tag")]}
    columns = [
        {"name": "parcel", "dataType": "STRUCT", "children": [{"name": "weight", **tagged}]},
        {"name": "net.weight", **tagged},
        {"name": "gross_weight", **tagged},
        {"name": "weight", "dataType": "TEXT"},
    ]
    made = client.made("/tables", {"name": "crate", "databaseSchema": "shop.main.public", "columns": columns})
    found = [f"crate.{path}" for path in ("parcel.weight", '"net.weight"', "gross_weight")]
    assert names(client, "weight tag:inner") == found
    client.delete(f"/tables/{made['id']}", hardDelete="true")


def test_a_tag_that_is_taken_away_is_not_found_any_more(filled: tuple[Client, Path]) -> None:
    client, _ = filled
    made = client.table("fleeting", "a", "shop.main.public", tags=[_tag("Fleeting.Tag")])
    assert names(client, "tag:fleeting") == ["fleeting"]
    client.patch(f"/tables/{made['id']}", [{"op": "remove", "path": "/tags/0"}])
    assert names(client, "tag:fleeting") == []
    client.delete(f"/tables/{made['id']}", hardDelete="true")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("tags.tagFQN", "PII.Sensitive", {"raw"}),
        ("tags.tagFQN", "tier.tier1", {"mart"}),
        ("owners.name", "ann.lee", {"raw", "mart"}),
        ("owners.name.keyword", "cy", set()),
    ],
)
def test_the_platforms_search_knows_tags_and_owners(
    filled: tuple[Client, Path], field: str, value: str, expected: set[str]
) -> None:
    client = filled[0]
    term = json.dumps({"query": {"bool": {"must": [{"term": {field: value}}]}}})
    for path, asked in (
        ("/search/query", {"q": "*", "query_filter": term}),
        ("/search/fieldQuery", {"fieldName": field, "fieldValue": value}),
    ):
        status, answer = client.get(path, index="table_search_index", size=50, **asked)
        assert status == 200, answer
        assert {hit["_source"]["name"] for hit in answer["hits"]["hits"]} == expected, path


def test_the_platforms_search_finds_what_has_no_owner(filled: tuple[Client, Path]) -> None:
    term = json.dumps({"bool": {"must_not": [{"exists": {"field": "owners.name"}}]}})
    _, answer = filled[0].get("/search/query", q="*", query_filter=term, size=50)
    assert {hit["_source"]["name"] for hit in answer["hits"]["hits"]} == {"stage", "ledger", "report", "spare"}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("tags.tagFQN:PII.Sensitive", ["raw"]),
        ('owners.name:"ann.lee"', ["mart", "raw"]),
        ("owners.name:ann.lee AND tags.tagFQN:Tier.Tier1", ["mart"]),
    ],
)
def test_the_platforms_query_strings_name_tags_and_owners(
    filled: tuple[Client, Path], wanted: str, expected: list[str]
) -> None:
    status, answer = filled[0].get("/search/query", q=wanted, index="table_search_index", size=20)
    assert status == 200, answer
    assert [hit["_source"]["name"] for hit in answer["hits"]["hits"]] == expected


def test_a_filter_is_asked_of_every_name_that_fits_and_not_of_the_first_hundreds(filled: tuple[Client, Path]) -> None:
    client, _ = filled
    columns = [{"name": "berth", "dataType": "INT"}]
    tables = [{"name": f"quay_{n:03d}", "columns": columns, "databaseSchema": "shop.main.public"} for n in range(450)]
    tables[-1]["tags"] = [_tag("Last.One")]
    status, answer = client.post("/headwater/tables", {"tables": tables})
    assert status == 200, answer
    assert names(client, "quay tag:last") == ["quay_449"]
