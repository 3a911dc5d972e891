"""The lineage graph as the platform's page asks for it, with filters, and as CSV."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise

import pytest

from tests.support.http_client import Client

G = "shop.main.public.g_"


@pytest.fixture(scope="module")
def chain(kept: Client) -> Client:
    """Tables a -> b -> c -> d, the first two hops by column x; c is tagged."""
    tables = [kept.table(f"g_{name}", "x y", tags=[{"tagFQN": "Own.Tag"}] if name == "c" else []) for name in "abcd"]
    for number, (source, target) in enumerate(pairwise(tables)):
        names = source["fullyQualifiedName"], target["fullyQualifiedName"]
        mapping = [{"fromColumns": [f"{names[0]}.x"], "toColumn": f"{names[1]}.x"}] if number < 2 else []
        kept.lineage(source, target, sqlQuery="insert", columnsLineage=mapping)
    return kept


def nodes(client: Client, name: str, **params: object) -> dict[str, int]:
    """The tables around one, with how many hops away they are."""
    status, body = client.get("/lineage/getLineage", fqn=f"{G}{name}", **params)
    assert status == 200, body
    return {fqn.removeprefix(G): node["nodeDepth"] for fqn, node in body["nodes"].items()}


def test_depths_bound_each_side(chain: Client) -> None:
    assert nodes(chain, "b") == {"a": -1, "b": 0, "c": 1, "d": 2}
    assert nodes(chain, "b", upstreamDepth=0, downstreamDepth=1) == {"b": 0, "c": 1}
    body = chain.get("/lineage/getLineage/Downstream", fqn=f"{G}b")[1]
    assert (len(body["downstreamEdges"]), body["upstreamEdges"]) == (2, {})
    (edge,) = [one for one in body["downstreamEdges"].values() if one["fromEntity"]["fullyQualifiedName"] == f"{G}b"]
    assert edge["columns"] == [{"fromColumns": [f"{G}b.x"], "toColumn": f"{G}c.x"}]
    assert (edge["toEntity"]["fullyQualifiedName"], edge["sqlQuery"]) == (f"{G}c", "insert")
    for path, status in (("/getLineage/Sideways", 400), ("/getLineage", 404)):
        assert chain.get(f"/lineage{path}", fqn=f"{G}nope")[0] == status


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("columnName:x", {"a", "b", "c"}),
        ("toColumn:x", {"a", "b", "c"}),
        ("columnName:y", {"a"}),
        (f"fromColumn:{G}a.x", {"a", "b"}),
        ("g_b", {"a", "b", "c"}),
    ],
)
def test_a_column_filter_keeps_edges_of_that_column(chain: Client, asked: str, found: set[str]) -> None:
    assert nodes(chain, "a", column_filter=asked).keys() == found


def test_a_filter_keeps_what_lies_on_the_way_unless_told_not_to(chain: Client) -> None:
    tagged = json.dumps({"query": {"term": {"tags.tagFQN": "Own.Tag"}}})
    assert nodes(chain, "a", query_filter=tagged).keys() == {"a", "b", "c"}
    assert nodes(chain, "a", query_filter=tagged, preservePaths="false").keys() == {"a"}
    assert nodes(chain, "b", query_filter=tagged, preservePaths="false").keys() == {"b", "c"}
    assert chain.get("/lineage/getLineage", fqn=f"{G}a", query_filter="{")[0] == 400


def test_the_graph_as_csv(chain: Client) -> None:
    answer = chain.session.get(f"{chain.url}/lineage/export", params={"fqn": f"{G}b", "type": "table"})
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    ends = [(row["fromEntityFQN"].removeprefix(G), row["toEntityFQN"].removeprefix(G)) for row in rows]
    assert ends == [("a", "b"), ("b", "c"), ("c", "d")]
    assert (rows[0]["fromChildEntityFQN"], rows[0]["toChildEntityFQN"]) == (f"{G}a.x", f"{G}b.x")
    assert (rows[2]["fromChildEntityFQN"], rows[0]["fromServiceType"]) == ("", "Postgres")
