"""Which queries are one, over runs and literals, and what their metrics are called."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import sentinel

import pytest

from ingestion.metrics.query import NO_MEASURE
from ingestion.statements.fingerprints import MOST_LITERALS, SeenQueries
from tests.support.decompositions import decomposed
from workflows.run.publish.log_metrics import QueryRuns, collected_metrics, identity_of, merged_runs, replaced_keys
from workflows.state.log_queries import ANY_LITERAL, FiledMetric, LogQuery, QueryKey, Runs


def key(literals: str, query: str = "q") -> QueryKey:
    return QueryKey(query, "postgres", literals, "shop", ("public",))


def known(*literals: str, reason: str = "") -> dict[QueryKey, LogQuery]:
    return {key(one): LogQuery(key(one), "v", reason=reason, runs={"ann": Runs(2, 10.0)}) for one in literals}


def met(*literals: str) -> QueryRuns:
    return QueryRuns(sentinel.statements, {key(one): {"ann": Runs(1, 20.0), "": Runs(3, None)} for one in literals})


def test_runs_of_a_query_are_added_up_by_user() -> None:
    merged, found = merged_runs(known("a", "b"), met("b", "c"))
    assert merged == {
        key("b"): {"ann": Runs(3, 20.0), "": Runs(3, None)},
        key("c"): {"ann": Runs(1, 20.0), "": Runs(3, None)},
    }
    assert found.passed == frozenset()


@pytest.mark.parametrize("reason", ["", NO_MEASURE])
def test_with_too_many_literals_or_without_a_measure_all_are_one(reason: str) -> None:
    before = known(*map(str, range(MOST_LITERALS if not reason else 2)), reason=reason)
    merged, found = merged_runs(before, met("new"))
    assert merged == {key(ANY_LITERAL): {"ann": Runs(1 + 2 * len(before), 20.0), "": Runs(3, None)}}
    assert replaced_keys(before, found.passed) == list(before)
    assert merged_runs(before, QueryRuns(sentinel.statements))[0] == {}


def test_a_metric_keeps_the_name_that_it_was_filed_under() -> None:
    texts = ["SELECT sum(a) AS total FROM s.t", "SELECT sum(b) AS total FROM s.t", "SELECT max(a) AS total FROM s.t"]
    queries = [
        LogQuery(key("", str(n)), "v", decomposed(text), runs={"ann": Runs(1, 1.0)}) for n, text in enumerate(texts)
    ]
    first = collected_metrics(queries[1:], {})
    filed = {identity_of(one): FiledMetric(one.name, "", "") for one in first}
    names = {one.measure.expression.text: one.name for one in collected_metrics(queries, filed)}
    assert sorted(names.values()) == ["total", "total_2", "total_3"]
    assert names["SUM(a)"] == "total_3"
    assert {one.measure.expression.text: one.name for one in first}.items() <= names.items()


def test_a_query_is_known_by_its_text_and_a_digest_of_its_literals() -> None:
    seen, again, other = SeenQueries(b"key"), SeenQueries(b"key"), SeenQueries(b"another")
    one, two, one_again = (seen.look_up(f"SELECT max(a) FROM t WHERE b = {n}", "postgres") for n in (1, 2, 1))
    assert one is not None
    assert two is not None
    assert one.first
    assert two.first
    assert one_again == replace(one, first=False)
    assert one.fingerprint == two.fingerprint
    assert one.literals != two.literals
    assert again.look_up("select MAX(a) from t -- here\n where b = 1", "postgres") == one
    keyed = other.look_up("SELECT max(a) FROM t WHERE b = 1", "postgres")
    assert keyed is not None
    assert keyed.literals != one.literals
    assert seen.look_up("SELECT 'open", "postgres") is None
