"""`lineage_graph`: SQL to a picture, without a server."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

from ingestion import LineageGraph, lineage_graph
from ingestion.errors import ConfigError
from ingestion.graph import _page_writer

STATEMENTS = [
    "CREATE VIEW mart.sums AS SELECT o.buyer, SUM(o.amount) AS total "
    "FROM raw.orders o WHERE o.state = 'paid' GROUP BY o.buyer",
    "CREATE TEMP TABLE scratch AS SELECT buyer, total FROM mart.sums",
    "INSERT INTO mart.best (buyer, total) SELECT buyer, total FROM scratch ORDER BY total DESC LIMIT 10",
]


def edge(document: dict[str, object], source: str, target: str) -> dict[str, object]:
    edges = document["edges"]
    assert isinstance(edges, list)
    return next(one for one in edges if (one["from"], one["to"]) == (source, target))


def test_statements_become_tables_and_column_edges() -> None:
    graph = lineage_graph(STATEMENTS, "postgres")
    assert set(graph.tables) == {"raw.orders", "mart.sums", "mart.best"}
    assert [column.name for column in graph.tables["mart.sums"]] == ["buyer", "total"]
    said = edge(graph.to_json(), "raw.orders", "mart.sums")["contributions"][0]  # type: ignore[index]
    assert said["producer"] == {"kind": "view", "key": "mart.sums"}
    total = next(one for one in said["columns"] if one["to"] == "mart.sums.total" and one["type"] == "DIRECT")
    assert (total["from"], total["subtype"]) == (["raw.orders.amount"], "AGGREGATION")


def test_temporary_tables_are_folded_and_named() -> None:
    graph = lineage_graph(STATEMENTS, "postgres")
    said = edge(graph.to_json(), "mart.sums", "mart.best")["contributions"][0]  # type: ignore[index]
    hops = [(hop["fromEntity"], hop["toEntity"]) for hop in said["tempLineageTables"]]
    assert hops == [("mart.sums", "scratch"), ("scratch", "mart.best")]


def test_a_table_that_feeds_itself_has_an_edge_to_itself() -> None:
    document = lineage_graph(["UPDATE stock SET worth = unit * pieces"], "postgres").to_json()
    columns = edge(document, "stock", "stock")["contributions"][0]["columns"]  # type: ignore[index]
    assert {(one["from"][0], one["to"]) for one in columns} == {
        ("stock.unit", "stock.worth"),
        ("stock.pieces", "stock.worth"),
    }


def test_no_literal_is_shown() -> None:
    graph = lineage_graph(STATEMENTS, "postgres")
    for text in (json.dumps(graph.to_json()), graph.to_html(), graph._repr_html_(), repr(graph)):
        assert "paid" not in text.replace("--", "")


def test_a_statement_that_cannot_be_read_is_named_by_its_place_and_keeps_none_of_the_others_back() -> None:
    graph = lineage_graph(["SELEC 'sesame' FORM (", *STATEMENTS], "postgres")
    assert len(graph.failures) == 1
    assert graph.failures[0].startswith("[0] line 1: ")
    assert "sesame" not in graph.failures[0]
    assert "mart.best" in graph.tables


def test_a_directory_of_models_and_a_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "staged.sql").write_text("SELECT id, amount * 2 AS twice FROM raw_orders", "utf-8")
    (tmp_path / "final.sql").write_text("SELECT twice FROM staged", "utf-8")
    graph = lineage_graph(tmp_path, "duckdb")
    assert set(graph.tables) == {"raw_orders", "staged", "final"}
    assert set(lineage_graph(str(tmp_path / "staged.sql"), "duckdb").tables) == {"raw_orders", "staged"}


def test_a_lone_query_in_a_list_is_a_view_named_after_its_place() -> None:
    assert set(lineage_graph(["SELECT a FROM t", "SELECT b FROM u"]).tables) == {"t", "query_1", "u", "query_2"}


def test_a_schema_lets_stars_expand() -> None:
    graph = lineage_graph(["CREATE TABLE t AS SELECT * FROM s.u"], "ansi", {"s.u": {"x": "int", "y": "text"}})
    assert [column.name for column in graph.tables["t"]] == ["x", "y"]


@pytest.mark.parametrize("source", ["no/such/file.sql", "SELECT secret_word FROM t WHERE a = 'b'", "a\0b"])
def test_what_is_no_path_is_refused_with_what_to_do(source: str) -> None:
    with pytest.raises(ConfigError, match="SQL in a list") as refused:
        lineage_graph(source)
    assert "secret_word" not in str(refused.value)


def test_a_notebook_gets_a_frame_that_can_reach_nothing_outside() -> None:
    frame = lineage_graph(STATEMENTS, "postgres")._repr_html_()
    assert frame.startswith("<iframe") and frame.count("<") == 2
    assert "allow-same-origin" not in frame
    assert "<!doctype html>" in html.unescape(frame)


def test_the_name_means_the_function_however_often_it_is_imported() -> None:
    from ingestion import lineage_graph as again

    assert callable(again) and again is lineage_graph


def test_routines_and_blocks_are_the_statements_in_them() -> None:
    graph = lineage_graph(
        [
            "CREATE PROC p AS INSERT INTO t (x) SELECT a FROM s",
            "DECLARE @q int; IF @q = 1 INSERT INTO u (y) SELECT b FROM s",
        ],
        "tsql",
    )
    assert {"s", "t", "u"} <= set(graph.tables)
    assert graph.failures == ()


def test_without_an_installation_there_is_no_page_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_asked: ())
    _page_writer.cache_clear()
    try:
        with pytest.raises(ConfigError, match="install"):
            LineageGraph({"nodes": [], "edges": []}).to_html()
    finally:
        _page_writer.cache_clear()
