"""Db2: rows of a change that a query reads."""

from __future__ import annotations

import pytest

from ingestion.statements.classification import classify
from tests.support.lineage_lines import lines_of_flows


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("final table (insert into t (k, v) select k, w from s)", {"into T", "from S", "K = S.K", "V = S.W"}),
        ("new table (update t set v = (select max(d + 3 days) from s))", {"into T", "from S", "V agg S.D"}),
        ("old table (delete from t where k in (select k from s))", {"into T", "from S"}),
    ],
)
@pytest.mark.parametrize(
    "around", ["insert into a (k) select k from {} as x", "with c as (select k from {}) select k from c"]
)
def test_rows_of_a_change_are_read_of_the_table_that_it_changes(change: str, expected: set[str], around: str) -> None:
    text = around.format(change)
    assert classify(text, "db2").skip_reason is None
    changed, *others = lines_of_flows(text, "db2")
    assert expected <= changed
    assert any({"from T", "K = T.K"} <= flow for flow in others)
