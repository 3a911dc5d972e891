"""Queries by field, suggestions and counts, as the platform's search answers them."""

from __future__ import annotations

import json
import time

import pytest

from tests.support.http_client import Client


@pytest.fixture(scope="module")
def searched(kept: Client) -> Client:
    """Three tables, one owned and tagged; two people."""
    kept.made("/users", {"name": "zoe", "email": "zoe@example.org", "displayName": "Zoe Zapp"})
    team = kept.made("/teams", {"name": "sales", "email": "sales@example.org"})
    owner = {"id": team["id"], "type": "team"}
    kept.table("dim_orders", "id", owners=[owner], tags=[{"tagFQN": "PII.Sensitive"}], description="what was bought")
    kept.table("dim_customers", "id city", displayName="Customers", aliases=["x.main.public.customers"])
    kept.table("orders", "id")
    return kept


def found(client: Client, query: str, index: str = "table_search_index", **more: object) -> set[str]:
    """The names of what a search finds."""
    status, body = client.get("/search/query", q=query, index=index, size=100, **more)
    assert status == 200, body
    return {hit["_source"]["name"] for hit in body["hits"]["hits"]}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("name:orders", {"dim_orders", "orders"}),
        ("name.keyword:orders", {"orders"}),
        ("name:dim_*", {"dim_orders", "dim_customers"}),
        ("name:dim_* AND NOT name:orders", {"dim_customers"}),
        ("name.keyword:orders OR displayName:customers", {"orders", "dim_customers"}),
        ("(name.keyword:orders OR name:dim_customers) AND columns.name:city", {"dim_customers"}),
        ('fullyQualifiedName:"shop.main.public.orders"', {"orders"}),
        ("owners.name:sales", {"dim_orders"}),
        ("tags.tagFQN:PII.Sensitive", {"dim_orders"}),
        ("description:bought", {"dim_orders"}),
        ("aliases:x.main.public.customers", {"dim_customers"}),
        ("dim orders", {"dim_orders"}),
        ("owners:*", {"dim_orders"}),
        ("nothing.like.it:x", set()),
    ],
)
def test_a_query_by_field(searched: Client, query: str, names: set[str]) -> None:
    assert found(searched, query) & {"dim_orders", "dim_customers", "orders"} == names


def test_text_of_a_client_is_no_syntax_of_the_store(searched: Client) -> None:
    for query in (
        "name:'",
        'name:"',
        "name:%",
        "na'me:x",
        "a:b:c",
        "((((",
        "NOT",
        "AND OR",
        "name:[a-z]",
        "name:",
        "name:(",
        "\\",
    ):
        assert searched.get("/search/query", q=query, index="table_search_index")[0] == 200, query
    assert searched.get("/search/query", q="(" * 40 + "a" + ")" * 20, index="table_search_index")[0] == 400
    assert searched.get("/search/query", q="a " * 70, index="table_search_index")[0] == 400


def test_people_are_found_by_their_address_and_by_parts_of_their_name(searched: Client) -> None:
    assert found(searched, "email.keyword:zoe@example.org", "user_search_index") == {"zoe"}
    text = {"query": "zapp AND isBot:false", "fields": ["name", "displayName"], "default_operator": "AND"}
    asked = json.dumps({"query": {"query_string": text}})
    assert found(searched, "", "user_search_index", query_filter=asked) == {"zoe"}


@pytest.mark.parametrize(
    ("clause", "names"),
    [
        ({"match": {"name": "orders"}}, {"dim_orders", "orders"}),
        ({"wildcard": {"name.keyword": {"value": "dim*"}}}, {"dim_orders", "dim_customers"}),
        ({"prefix": {"name.keyword": "ord"}}, {"orders"}),
        ({"term": {"owners.name": "sales"}}, {"dim_orders"}),
        ({"exists": {"field": "aliases"}}, {"dim_customers"}),
    ],
)
def test_clauses_of_a_filter(searched: Client, clause: object, names: set[str]) -> None:
    answer = found(searched, "", query_filter=json.dumps({"query": clause}))
    assert answer & {"dim_orders", "dim_customers", "orders"} == names


def test_suggestions_and_counts(searched: Client) -> None:
    body = searched.get("/search/suggest", q="dim_", index="table_search_index")[1]
    options = body["suggest"]["metadata-suggest"][0]["options"]
    assert [one["_source"]["name"] for one in options] == ["dim_customers", "dim_orders"]
    names = searched.get("/search/aggregate", q="dim_", size=5)[1]["aggregations"]["suggest"]["buckets"]
    assert [one["key"] for one in names] == ["dim_customers", "dim_orders"]
    counts = searched.post("/search/aggregate", {"fieldName": "columns.name", "index": "table_search_index"})[1]
    assert {"key": "city", "doc_count": 1} in counts["aggregations"]["sterms#columns.name"]["buckets"]
    narrowed = searched.get("/search/aggregate", index="table_search_index", field="owners.name", value="sa.*")[1]
    assert narrowed["aggregations"]["sterms#owners.name"]["buckets"] == [{"key": "sales", "doc_count": 1}]
    assert searched.get("/search/aggregate", field="a'b")[1]["aggregations"] == {"sterms#a'b": {"buckets": []}}


@pytest.mark.parametrize(
    ("field", "descending", "ascending"),
    [
        ("name.keyword", "d c B a", "a B c d"),
        ("displayName", "c B a d", "a B c d"),  # what has none comes last
        ("updatedAt", "a B c d", "d c B a"),
        ("tableProfilerConfig.profileSample", "a c B d", "d B c a"),  # of 100, 20, 10 and 9 per cent
        ("_score", "d c a B", "B a c d"),  # nothing is found better than another: by their names
        ("fullyQualifiedName", "d c a B", "B a c d"),
    ],
)
def test_a_search_is_sorted_by_the_field_that_is_asked_for_and_paged_in_that_order(
    shop: Client, field: str, descending: str, ascending: str
) -> None:
    for name, title, sample in (("d", None, 9), ("c", "z", 20), ("B", "Y", 10), ("a", "x", 100)):
        shop.table(name, tableProfilerConfig={"profileSample": sample}, **({"displayName": title} if title else {}))
        time.sleep(0.002)
    for order, expected in (("desc", descending), ("asc", ascending)):
        asked = {"q": "", "index": "table_search_index", "sort_field": field, "sort_order": order}
        paged: list[str] = []
        after: dict[str, str] = {}
        while hits := shop.get("/search/query", **asked, size=1, **after)[1]["hits"]["hits"]:
            paged.append(hits[0]["_source"]["name"])
            after = {"search_after": hits[0]["sort"][0]}
        assert paged == expected.split()
        whole = shop.get("/search/query", **asked)[1]["hits"]["hits"]
        assert [hit["_source"]["name"] for hit in whole] == paged


def test_a_search_is_not_sorted_by_what_is_no_field_nor_paged_from_nowhere(shop: Client) -> None:
    asked = {"q": "", "index": "table_search_index"}
    assert shop.get("/search/query", **asked, sort_field="a b")[0] == 400
    assert shop.get("/search/query", **asked, sort_field="updatedAt", search_after="x.y")[0] == 400
