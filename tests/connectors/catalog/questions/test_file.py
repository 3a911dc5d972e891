"""Questions to a catalog's file by the end of a name."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests
from click import unstyle

from connectors.catalog.answer.changes import DIFF
from connectors.catalog.answer.rendering import render
from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.diff import diff_of_file
from connectors.catalog.questions.impact import impact_in_file
from ingestion.errors import ConfigError

FIRST, SECOND, END = 1_000_000, 2_000_000, 3_000_000


def table(name: str, *columns: str) -> dict[str, object]:
    return {
        "name": name,
        "databaseSchema": "s.d.shop",
        "columns": [{"name": column, "dataType": "INT"} for column in columns],
    }


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """orders.total makes report.sum; then orders loses total."""
    file = tmp_path / "catalog.db"
    parents = {
        "services": [{"name": "s", "serviceType": "Postgres"}],
        "databases": [{"name": "d", "service": "s"}],
        "schemas": [{"name": "shop", "database": "s.d"}],
    }
    with running_catalog(CatalogConfig(file, port=0)) as address:

        def post(path: str, body: object) -> dict[str, list[dict[str, str]]]:
            answer = requests.post(f"{address.url}/v1/headwater/{path}", json=body, timeout=10)
            answer.raise_for_status()
            return dict(answer.json())

        tables = [table("orders", "id", "total"), table("report", "sum")]
        made = post("tables", {**parents, "tables": tables, "at": FIRST})["tables"]
        edge = {
            "fromEntity": {"id": made[0]["id"], "type": "table"},
            "toEntity": {"id": made[1]["id"], "type": "table"},
            "contribution": {
                "producer": {"kind": "query", "key": "q"},
                "source": "QueryLineage",
                "columns": [{"from": ["s.d.shop.orders.total"], "to": "s.d.shop.report.sum", "type": "DIRECT"}],
                "firstSeen": FIRST,
                "lastSeen": FIRST,
            },
        }
        post("lineage", {"batchId": "b", "edges": [edge]})
        post("tables", {"tables": [table("orders", "id")], "replaceColumns": True, "at": SECOND})
    return file


def test_a_column_is_found_by_the_end_of_its_name(catalog: Path) -> None:
    answer = impact_in_file(catalog, "orders.total", When(as_of=FIRST, days=0))
    assert answer.content.root == "s.d.shop.orders.total"
    assert [one.column for one in answer.content.reached] == ["s.d.shop.report.sum"]
    assert answer.cut == ()


def test_a_column_alone_is_found_where_one_table_has_it_and_all_are_named_where_several_do(catalog: Path) -> None:
    assert impact_in_file(catalog, "TOTAL", When(as_of=FIRST, days=0)).content.root == "s.d.shop.orders.total"
    with running_catalog(CatalogConfig(catalog, port=0)) as address:
        more = {"tables": [table("bills", "total", "id"), table("Sums", "Total")], "at": SECOND}
        requests.post(f"{address.url}/v1/headwater/tables", json=more, timeout=10).raise_for_status()
    with pytest.raises(ConfigError, match=r"2: s\.d\.shop\.bills\.id, s\.d\.shop\.orders\.id; give more"):
        impact_in_file(catalog, "id", When())
    with pytest.raises(
        ConfigError, match=r"s\.d\.shop\.Sums\.Total, s\.d\.shop\.bills\.total, s\.d\.shop\.orders\.total;"
    ):
        impact_in_file(catalog, "total", When())


def test_a_table_is_found_by_any_end_of_its_name_in_any_case(catalog: Path) -> None:
    with running_catalog(CatalogConfig(catalog, port=0)) as address:
        more = {"tables": [table("Straße", "id"), table("b.orders", "id"), table('say "hi"', "id")], "at": SECOND}
        requests.post(f"{address.url}/v1/headwater/tables", json=more, timeout=10).raise_for_status()
    for name, found in (
        ("ORDERS", "s.d.shop.orders"),
        ("Shop.Orders", "s.d.shop.orders"),
        ("s.d.shop.orders", "s.d.shop.orders"),
        ("STRASSE", "s.d.shop.Straße"),
        ('shop."B.ORDERS"', 's.d.shop."b.orders"'),
        ('orders"', 's.d.shop."b.orders"'),
        (r'"say \"hi\""', r's.d.shop."say \"hi\""'),
    ):
        assert impact_in_file(catalog, name, When()).content.root == found
    for name in ("rders", "d.orders", "shop.b.orders", "%orders", "order_"):
        with pytest.raises(ConfigError, match="no such table or column"):
            impact_in_file(catalog, name, When())


def test_an_unknown_name_is_answered_with_the_nearest(catalog: Path) -> None:
    with pytest.raises(ConfigError, match=r"did you mean shop\.orders\?"):
        impact_in_file(catalog, "shop.ordres", When())
    with pytest.raises(ConfigError, match="has no column"):
        impact_in_file(catalog, "shop.orders.totel", When())


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="ingest run"):
        impact_in_file(tmp_path / "none.db", "t", When())


def test_a_dropped_column_that_something_needs_breaks(catalog: Path) -> None:
    found = diff_of_file(catalog, FIRST, END).content
    assert found.breaking
    assert [(change.kind, change.column) for change in found.schema] == [("columnDropped", "s.d.shop.orders.total")]
    assert not diff_of_file(catalog, SECOND, END).content.breaking


def test_records_that_prove_lineage_count_as_readings(catalog: Path) -> None:
    with running_catalog(CatalogConfig(catalog, port=0)) as address:
        calls = f"{address.url}/v1/headwater"
        ids = {
            name: requests.get(f"{address.url}/v1/tables/name/s.d.shop.{name}", timeout=10).json()["id"]
            for name in ("orders", "report")
        }
        said = {
            "producer": {"kind": "query", "key": "q2"},
            "source": "QueryLineage",
            "firstSeen": END,
            "lastSeen": END,
            "records": ["00000000000000aa", "00000000000000bb"],
        }
        ends = {f"{end}Entity": {"id": ids[n], "type": "table"} for end, n in (("from", "orders"), ("to", "report"))}
        for batch in ("b2", "b3"):
            body = {"batchId": batch, "edges": [{**ends, "contribution": said}]}
            requests.post(f"{calls}/lineage", json=body, timeout=10).raise_for_status()
        graph = requests.get(f"{calls}/graph", params={"root": "s.d.shop.orders", "days": 0}, timeout=10).json()
        usage = {node["fullyQualifiedName"]: node["usage"] for node in graph["nodes"]}
        assert usage["s.d.shop.orders"] == {"reads": 2, "lastRead": END}
        assert usage["s.d.shop.report"]["reads"] == 0


def test_what_is_new_is_told_by_what_it_reaches_and_what_lineage_cannot_touch_is_counted(catalog: Path) -> None:
    found = diff_of_file(catalog, FIRST - 1, FIRST)
    assert [(one.name, one.reaches.count) for one in found.content.schema] == [
        ("s.d.shop.orders", 1),
        ("s.d.shop.report", 0),
    ]
    told = render(found, DIFF, "tree").splitlines()
    assert [" ".join(line.split()) for line in told] == [
        "table added s.d.shop.orders reaches 1",
        "table added s.d.shop.report made of s.d.shop.orders",
        "2 schema changes, 0 of them breaking; 1 lineage changes",
        "left out, see --all: 1 of database, 1 of database schema, 1 of database service",
    ]
    everything = diff_of_file(catalog, FIRST - 1, FIRST, everything=True).content
    assert not everything.left_out
    assert {one.name for one in everything.schema} > {"s", "s.d", "s.d.shop"}


def test_what_breaks_something_is_told_before_what_reaches_more(catalog: Path) -> None:
    with running_catalog(CatalogConfig(catalog, port=0)) as address:
        body = {"tables": [table("wide", "a")], "at": SECOND}
        requests.post(f"{address.url}/v1/headwater/tables", json=body, timeout=10).raise_for_status()
    told = unstyle(render(diff_of_file(catalog, SECOND - 1, SECOND), DIFF, "tree")).splitlines()
    assert [" ".join(line.split()) for line in told[:2]] == [
        "breaks column dropped s.d.shop.orders.total reaches 1",
        "table added s.d.shop.wide",
    ]
