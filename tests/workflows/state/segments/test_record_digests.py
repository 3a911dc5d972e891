"""A record has the same number in every version: another one would have all of a log read again, or counted twice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from connectors.records import RECORD_SCHEMA
from workflows.state.segments import are_known, none_known, record_digests

RECORDS: dict[int, dict[str, object]] = {
    1192993112929467933: {"text": "select 1"},
    -1279081997298200803: {"text": "select 1", "session": "s1", "start_time": 1767225600.5},
    8999006858395099527: {"text": "select 1", "user": "u", "database": "d", "end_time": 5.0},
    -8098659641439093090: {},
    5758856662317460246: {"text": "é ü"},
}


def batch_of(records: list[dict[str, object]]) -> pa.RecordBatch:
    schema = to_arrow_schema(RECORD_SCHEMA)
    return pa.RecordBatch.from_pylist([{"source_id": "log.csv:2", **record} for record in records], schema=schema)


def test_the_digest_of_a_record_is_of_its_session_its_time_and_its_content() -> None:
    assert record_digests(batch_of([*RECORDS.values()])).tolist() == [*RECORDS]
    moved = batch_of([{**record, "source_id": "other.csv:9", "job": "nightly"} for record in RECORDS.values()])
    same = record_digests(moved) == np.array([*RECORDS])
    assert same.tolist() == [bool(record) for record in RECORDS.values()]  # without content the place is all there is


def test_a_record_whose_lineage_cannot_be_read_has_the_digest_of_its_place() -> None:
    unreadable, nothing = record_digests(batch_of([{"symbolic": b"not lineage"}, {}]))
    assert unreadable == nothing


@pytest.mark.parametrize("known", [[], [2], [1, 3], [1, 2, 3, 9]])
def test_the_records_that_are_known_are_those_of_known_digests(known: list[int]) -> None:
    digests = np.array([3, 2, 8, 2], np.int64)
    found = are_known(digests, np.array(known, np.int64) if known else none_known())
    assert found.tolist() == [digest in known for digest in digests.tolist()]
