"""No write that reads something ends with neither an edge nor a word of why: over every corpus of the tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import pytest

from ingestion import LineageParser
from ingestion.errors import RecordError
from ingestion.model.outcomes import Outcome
from tests.behaviour.harness import Record, Warehouse, statement_rows
from tests.support.written_corpora import CORPORA, Written, written_in_corpora, written_statements

TOLD_ELSEWHERE = (Outcome.ROUTINE_DEFINITION, Outcome.ANONYMOUS_BLOCK, Outcome.DYNAMIC_SQL, Outcome.PREPARE)
"""What holds statements, each of which counts by itself; and what is counted as it is executed."""

WITHOUT_LINEAGE = (
    "INSERT INTO BLACKHOLE()",
    "CREATE TABLE t AS SELECT 1 AS a FROM dual",
    "CREATE TABLE o (a, b) FROM SOURCE",
    "CREATE TABLE IF NOT EXISTS d.o FROM SOURCE",
    "CREATE TEMP TABLE a AS SELECT x, y AS z FROM s WITH NO DATA",
    "CREATE VOLATILE TABLE a AS (SELECT x, y AS z FROM s) WITH NO DATA",
)
"""Begin statements without rows, or whose rows go nowhere or come of another system or of no table."""


def test_each_write_of_the_tests_has_an_edge_or_says_why_not() -> None:
    written = written_statements()
    assert len(written) > 500
    assert not list(_silent(written))


@pytest.mark.skipif(not CORPORA.is_dir(), reason="the corpora are not beside the repository")
def test_each_write_of_the_corpora_has_an_edge_or_says_why_not() -> None:
    written = written_in_corpora()
    assert len(written) > 200
    assert not list(_silent(written))


def _silent(written: Sequence[Written]) -> Iterator[tuple[str, Written]]:
    """The writes of which nothing is said; and those with an edge that a run would not parse."""
    for dialect, some in groupby(written, lambda one: one.dialect):
        each = list(some)
        for one, parser in zip(each, LineageParser.of_each([one.text for one in each], dialect), strict=True):
            if isinstance(parser, RecordError) or parser.failures or one.text.startswith(WITHOUT_LINEAGE):
                continue
            if not (parser.target_tables and (parser.table_lineage or parser.edges)):
                if not parser.problems:
                    yield "neither an edge nor a problem", one
                continue
            rows = statement_rows([Record(one.text)], Warehouse(dialect))
            reasons = [row.get("skipped") or row.get("dead") for row in rows]
            if all(reasons) and not any(reason in TOLD_ELSEWHERE for reason in reasons):
                yield f"an edge, and in a run {reasons}", one
