"""What the state keeps of queries: totals that stay over runs, and one secret key."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import update

from tests.support.decompositions import decomposed
from workflows.state.log_queries import (
    FiledMetric,
    LogQuery,
    QueryChanges,
    QueryKey,
    Runs,
    filed_metrics,
    known_queries,
    literal_key,
    store_changes,
)
from workflows.state.store import StateStore, log_queries, open_state

ONE = LogQuery(
    QueryKey("q", "postgres", "l", "shop", ("web", "public")),
    "v",
    decomposed("SELECT b, sum(a) / count(*) AS rate FROM s.t WHERE c = 'x' GROUP BY b HAVING count(*) > 1"),
    tables=(("shop", "s", "t"),),
    runs={"ann": Runs(3, 12.5), "": Runs(1, None)},
)
OTHER = LogQuery(QueryKey("q2", "postgres", "", "", ()), "v", reason="no aggregate", runs={"bob": Runs(1, 1.0)})


def test_queries_and_metrics_are_found_again(store: StateStore) -> None:
    with store.write() as connection:
        store_changes(connection, "w", QueryChanges([ONE, OTHER], (), {"m": FiledMetric("rate", "d", "catalog a")}))
        store_changes(connection, "another", QueryChanges([OTHER]))
    more = replace(ONE, runs={**ONE.runs, "cy": Runs(2, 20.0)})
    with store.write() as connection:
        store_changes(connection, "w", QueryChanges([more], [OTHER.key], {"m": FiledMetric("rate", "d2", "catalog a")}))
    with store.read() as connection:
        assert known_queries(connection, "w") == {ONE.key: more}
        assert known_queries(connection, "another") == {OTHER.key: OTHER}
        assert filed_metrics(connection, "w") == {"m": FiledMetric("rate", "d2", "catalog a")}
    with store.write() as connection:
        connection.execute(update(log_queries).values(content="{}"))
    with store.read() as connection:
        (found,) = known_queries(connection, "w").values()
    assert (found.version, found.metrics, found.runs) == ("", None, more.runs)


def test_the_key_of_literals_is_made_once(store: StateStore, url: str) -> None:
    key = literal_key(store)
    assert len(key) == 32
    again = open_state(url)
    assert literal_key(again) == literal_key(store) == key
    again.close()
