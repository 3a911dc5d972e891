"""The lineage of a text as a dict, a graph, a data frame, and as it is shown; wrong types; why a text is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import networkx
import pytest

import ingestion
from ingestion import ConfigError, LineageParser, QueryMasker, RecordError, Unparsable, lineage_graph

STEPS = "CREATE TABLE Mid AS SELECT a, b FROM s WHERE k = 'secret'; INSERT INTO t (x) SELECT upper(a) FROM MID"


def test_a_parser_is_shown_by_what_it_found() -> None:
    assert repr(LineageParser(STEPS)) == "<LineageParser ansi: s -> t; 5 column edges>"
    assert repr(LineageParser("SELECT 1")) == "<LineageParser ansi: (nothing) -> (query); 0 column edges>"
    many = LineageParser(
        "SELECT x.v FROM a, b, c, d, e x; INSERT INTO u SELECT a b c 'secret' FROM s; SELECT CAST(a AS)"
    )
    assert repr(many) == "<LineageParser ansi: a, b, c and 3 more -> u; 1 column edge, 1 problem, 1 failure>"


def test_a_dict_is_json_and_holds_every_edge() -> None:
    parser = LineageParser(STEPS)
    content = json.loads(json.dumps(parser.to_dict()))
    assert (content["source_tables"], content["intermediate_tables"], content["target_tables"]) == (
        ["s"],
        ["Mid"],
        ["t"],
    )
    assert len(content["column_lineage"]) == len(parser.edges) == 5
    assert content["column_lineage"][0] == {
        "source": "s.a",
        "target": "Mid.a",
        "type": "DIRECT",
        "subtype": "IDENTITY",
        "masking": False,
        "expression": "",
        "certain": True,
    }
    assert "secret" not in json.dumps(content)


def test_a_graph_has_one_node_a_column_however_it_is_spelled() -> None:
    graph = LineageParser(STEPS).to_networkx()
    assert networkx.shortest_path(graph, "s.a", "t.x") == ["s.a", "Mid.a", "t.x"]
    assert graph.nodes["Mid.a"] == {"table": "Mid", "column": "a"}
    assert {data["subtype"] for _, _, data in graph.edges(data=True)} == {"IDENTITY", "FILTER", "TRANSFORMATION"}
    assert LineageParser("SELECT a AS x FROM s").to_networkx().nodes["x"] == {"table": None, "column": "x"}


def test_a_frame_has_a_row_an_edge_and_its_columns_without_any() -> None:
    frame = LineageParser(STEPS).to_pandas()
    assert len(frame) == 5
    (row,) = frame[frame.target_table == "t"].to_dict("records")[:1]
    assert (row["source_table"], row["source_column"], row["expression"]) == ("MID", "a", "UPPER(mid.a)")
    assert list(LineageParser("SELECT 1").to_pandas().columns) == list(frame.columns)


@pytest.mark.parametrize(("library", "method"), [("networkx", "to_networkx"), ("pandas", "to_pandas")])
def test_a_missing_library_is_named_with_what_installs_it(
    library: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = LineageParser(STEPS)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ConfigError, match=rf"^{method} needs {library}, which is not installed: pip install {library}$"
    ):
        getattr(parser, method)()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: LineageParser(None), "query is None: give the SQL as a str"),
        (lambda: LineageParser(b"SELECT 1"), "query is bytes: decode it first"),
        (lambda: LineageParser(["SELECT 1"]), "query is a list: "),
        (lambda: LineageParser("SELECT 1", None), 'dialect is None: give its name, as in dialect="postgres"'),
        (
            lambda: LineageParser("SELECT 1", schema=["s"]),
            'schema is a list: give {"schema.table": {"column": "type"}}',
        ),
        (lambda: LineageParser("SELECT 1", schema={"s": ["a"]}), "schema['s'] is a list: "),
        (lambda: LineageParser("SELECT 1", schema={"s": {"a": 1}}), "schema['s'] has an int in it: "),
        (lambda: LineageParser("SELECT 1", schema={1: {}}), "a table of schema is an int: "),
        (lambda: LineageParser("SELECT 1", timeout_seconds=None), "timeout_seconds is None: give a number of seconds"),
        (lambda: LineageParser("SELECT 1", timeout_seconds=True), "timeout_seconds is a bool: "),
        (lambda: LineageParser.of_each("SELECT 1"), "queries is a str: give a list of texts"),
        (lambda: LineageParser.of_each(None), "queries is None: "),
        (lambda: LineageParser.of_each([], schema=1), "schema is an int: "),
        (lambda: list(LineageParser.of_each(["SELECT 1", None])), "one of queries is None: "),
        (lambda: lineage_graph(None), "source is None: give a path, or a list of texts"),
        (lambda: lineage_graph(["SELECT 1", 7]), "source[1] is an int: "),
        (lambda: lineage_graph([], schema=[1]), "schema is a list: "),
        (lambda: lineage_graph([], dialect=None), "dialect is None: "),
        (lambda: QueryMasker(None), "dialect is None: "),
        (lambda: QueryMasker("postgres").mask(None), "query is None: "),
    ],
)
def test_a_wrong_type_is_refused_in_a_sentence(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize(
    ("script", "failure"),
    [
        ("SELECT CAST(a AS)", "line 1, column 17: unparsable: sqlglot: expected TYPE after CAST at )"),
        ("SELECT 1 +", "line 1, column 10: unparsable: sqlglot: expression missing for Add at +"),
        ("SELECT a, FROM, WHERE k = 5 5", "line 1, column 15: unparsable: sqlglot: expected table name at ,"),
        ("frobnicate secret secrets more", "line 1, column 19: unparsable: sqlglot: unexpected token"),
        (
            "INSERT INTO t SELECT 'secret' x 'secret' INTO FROM s GROUP HAVING",
            "line 1, column 33: unparsable: sqlglot: unexpected token",
        ),
        (
            "-- one\nSELECT a FROM t;  /* two */ SELECT\n  CAST(a AS)",
            "line 3, column 12: unparsable: sqlglot: expected TYPE after CAST at )",
        ),
        ("SELECT a FROM t; SELECT CAST(a AS)", "line 1, column 34: unparsable: sqlglot: expected TYPE after CAST at )"),
        ("SELECT CAST(a AS 'secret\nx')", "line 1: unparsable: sqlglot: expected TYPE after CAST"),
        ("SELECT 1;\nSELECT (1\n", "line 2: ill_formed:unbalanced parentheses: 1 opened, 0 closed"),
        ("SELECT 1;\nSELECT 2,\n'secret", "line 2: ill_formed:unterminated quote ' opened in line 3"),
        (
            "CREATE PROCEDURE p() AS BEGIN\n SELECT 1;\n INSERT INTO t SELECT CAST('secret' AS); END",
            "line 1: unparsable: sqlglot: expected TYPE after CAST at )",
        ),
    ],
)  # fmt: skip
def test_a_refusal_names_its_place_and_what_was_expected_and_no_literal(script: str, failure: str) -> None:
    dialect = "snowflake" if "PROCEDURE" in script else "postgres"
    (found,) = LineageParser.of_each([script], dialect)
    told = (str(found),) if isinstance(found, RecordError) else found.failures
    assert told == (failure,)
    assert "secret" not in failure
    assert lineage_graph(["SELECT 1", f"{script};SELECT 2"], dialect).failures == (f"[1] {failure}",)


def test_a_query_that_becomes_a_view_is_refused_without_a_column_that_it_has_not() -> None:
    (failure,) = lineage_graph(["\nSELECT CAST(a AS)"]).failures
    assert failure == "[0] line 2: unparsable: sqlglot: expected TYPE after CAST at )"


def test_a_refused_text_raises_with_the_place() -> None:
    with pytest.raises(Unparsable, match=r"^line 1, column 17: unparsable: sqlglot: expected TYPE after CAST at \)$"):
        LineageParser("SELECT CAST(a AS)")


def test_the_version_is_the_distribution_s() -> None:
    from importlib.metadata import version

    assert ingestion.__version__ == version("headwater")
