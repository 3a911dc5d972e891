"""Taking apart in a process of its own: what it answers holds no literal, and nothing ends it for good."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from ingestion.metrics.process import MetricsProcess, MetricsRequest, TemporaryChange, known_table
from ingestion.model.lineage import TableName
from ingestion.parsing.sandbox.process import Limits

KEY, OTHER_KEY = b"one key", b"another key"
SECRET = "4711-canary"


@pytest.fixture(scope="module")
def process() -> Iterator[MetricsProcess]:
    with MetricsProcess(Limits(seconds=10)) as process:
        yield process


def _request(text: str, key: bytes = KEY) -> MetricsRequest:
    return MetricsRequest(text, "postgres", key)


def test_each_statement_has_its_reply(process: MetricsProcess) -> None:
    replies = process.take_apart(
        [
            _request("SELECT sum(a) AS total FROM t"),
            _request("SELECT a FROM t"),
            _request("SELECT sum(a FROM t"),
            _request("DELETE FROM t"),
            _request("SELECT sum(a) FROM {{ model }}"),
            _request("SELECT " + "(" * 3_000 + "sum(a)" + ")" * 3_000 + " AS deep FROM t"),
        ]
    )
    assert [reply.reason for reply in replies[1:5]] == ["no aggregate", "unparsable", "no query", "templated"]
    assert [reply.unreadable for reply in replies] == [False, False, True, False, True, False]
    for reply, name in ((replies[0], "total"), (replies[5], "deep")):
        assert reply.metrics is not None
        assert [one.name for one in reply.metrics.measures] == [name]
    assert replies[1].columns == {"a": ""}


def test_no_literal_is_in_a_reply_and_none_can_be_told_without_the_key(process: MetricsProcess) -> None:
    text = (
        f"SELECT date_trunc('{SECRET}', d) AS m, sum(CASE WHEN k = '{SECRET}' THEN 4711 END) AS s /* {SECRET} */ FROM t"
        f" WHERE j ->> '{SECRET}' = '{SECRET}' AND a IN (4711, 4712) AND e LIKE E'{SECRET}%' AND b = X'4711'"
        f" AND c IN (SELECT u.c FROM u WHERE u.z = '{SECRET}') GROUP BY 1 HAVING max(v) > 4711"
    )
    first, again, other = process.take_apart([_request(text), _request(text), _request(text, OTHER_KEY)])
    assert first.metrics is not None
    assert b"4711" not in pickle.dumps(first)
    assert first == again
    assert other.metrics is not None
    keys, others = ({one.key for one in found.filters} for found in (first.metrics, other.metrics))
    assert len(keys) == 6
    assert keys & others == set()


def test_temporary_tables_are_folded(process: MetricsProcess) -> None:
    plain, through = process.take_apart(
        [
            _request("SELECT sum(a) FROM t WHERE k = 'x'"),
            MetricsRequest(
                "SELECT sum(q.b) FROM q",
                "postgres",
                KEY,
                temporary=(
                    TemporaryChange("p", "CREATE TEMP TABLE p AS SELECT a AS b, k FROM t"),
                    TemporaryChange("q", "CREATE TEMP TABLE q AS SELECT * FROM p WHERE k = 'x'"),
                    TemporaryChange("p"),
                    TemporaryChange("p", "CREATE TEMP TABLE p AS SELECT * FROM u"),
                ),
            ),
        ]
    )
    assert plain.metrics is not None
    assert through.metrics is not None
    assert plain.metrics.filters == through.metrics.filters
    assert plain.metrics.measures[0].expression == through.metrics.measures[0].expression


def test_a_table_is_known_by_the_end_of_its_name_where_that_says_which() -> None:
    known = {"db.a.t": {"x": ""}, "db.b.t": {"y": ""}, "u": {"z": ""}}
    found = [known_table(known, TableName(tuple(name.split(".")))) for name in ("a.t", "t", "db.u", "DB.B.T")]
    assert found == [{"x": ""}, None, {"z": ""}, {"y": ""}]
