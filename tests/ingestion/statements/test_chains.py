"""Snowflake's `a ->> b` is statements in a row, in which FROM $1 reads what the one before gives."""

from __future__ import annotations

import pytest

from ingestion import LineageParser
from ingestion.statements import split


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        (
            "SELECT a FROM s ->> INSERT INTO t SELECT a FROM $1",
            ["SELECT a FROM s", "INSERT INTO t SELECT a FROM (SELECT a FROM s)"],
        ),
        (
            "SELECT a FROM s ->> SELECT a FROM $1 ->> SELECT x.a FROM $1 x JOIN $2 y ON x.a = y.a; SELECT 1",
            [
                "SELECT a FROM s",
                "SELECT a FROM (SELECT a FROM s)",
                "SELECT x.a FROM (SELECT a FROM (SELECT a FROM s)) x JOIN (SELECT a FROM s) y ON x.a = y.a",
                "SELECT 1",
            ],
        ),
        (
            "SHOW TABLES ->> INSERT INTO t SELECT * FROM $1",
            ["SHOW TABLES", "INSERT INTO t SELECT * FROM TABLE(RESULT_SCAN(LAST_QUERY_ID()))"],
        ),
        (
            "SELECT '->>' AS a FROM @stage/f (FILE_FORMAT => f) -- ->>\n",
            ["SELECT '->>' AS a FROM @stage/f (FILE_FORMAT => f)"],
        ),
        ("SELECT 1 ->> INSERT INTO t SELECT $1 FROM @stage", ["SELECT 1", "INSERT INTO t SELECT $1 FROM @stage"]),
        ("SELECT 1 ->> SELECT * FROM $2", ["SELECT 1", "SELECT * FROM $2"]),
    ],
)
def test_the_statements_of_a_chain_are_read_one_by_one(text: str, statements: list[str]) -> None:
    assert [one.text for one in split(text, "snowflake")] == statements


def test_what_stands_behind_a_chain_keeps_its_line() -> None:
    found = split("SELECT a\nFROM s\n->> INSERT INTO t SELECT a FROM $1;\nSELECT 2", "snowflake")
    assert [one.line for one in found] == [1, 3, 4]


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN SELECT a FROM s ->> INSERT INTO t SELECT a FROM $1; END",
        "BEGIN IF (1 = 1) THEN SELECT a FROM s ->> INSERT INTO t SELECT a FROM $1; END IF; END",
        "EXECUTE IMMEDIATE $$BEGIN SELECT a FROM s ->> INSERT INTO t SELECT a FROM $1; END$$",
        "CREATE PROCEDURE p() RETURNS int AS BEGIN SELECT a FROM s ->> INSERT INTO t SELECT a FROM $1; END",
    ],
)
def test_a_chain_within_a_block_is_one_too(text: str) -> None:
    (edge,) = (edge for edge in LineageParser(text, "snowflake").edges if edge.target.table is not None)
    assert (str(edge.source), str(edge.target.table)) == ("s.A", "t")


def test_what_a_statement_writes_is_not_made_of_what_is_read_behind_it() -> None:
    parser = LineageParser("INSERT INTO t SELECT a FROM s ->> SELECT * FROM t", "snowflake")
    assert [str(edge.source) for edge in parser.edges if str(edge.target) == "t.A"] == ["s.A"]


def test_the_signs_are_an_operator_elsewhere() -> None:
    text = "INSERT INTO t SELECT a ->> 'b' FROM s"
    assert [one.text for one in split(text, "postgres")] == [text]


def test_queries_that_grow_from_statement_to_statement_are_not_put_in_without_end() -> None:
    text = "SELECT a FROM s" + " ->> SELECT x.a FROM $1 x JOIN $1 y ON x.a = y.a" * 40
    assert sum(len(one.text) for one in split(text, "snowflake")) < 5_000_000
