"""The queries behind the edges of a log, as they are filed."""

from __future__ import annotations

import hashlib

import pytest

from workflows.run.publish.query_records import LogQueries, RepeatedQuery

TEXTS = [*(f"INSERT INTO t SELECT {chr(97 + number % 26)}{number} FROM s" for number in range(300)), "SELECT '\ud800'"]


@pytest.mark.parametrize("batches", [1, 2, 64, 200])
def test_each_text_is_filed_once_and_in_order_of_its_checksum(batches: int) -> None:
    queries = LogQueries(batches)
    for batch in range(batches):
        queries.add({text: RepeatedQuery(users={f"u{batch % 2}"}, runs=1) for text in TEXTS[batch % 7 :: 3]})
    filed = [record for records in queries.records("shop") for record in records]
    assert {record.query for record in filed} == {text for batch in range(batches) for text in TEXTS[batch % 7 :: 3]}
    sums = [hashlib.md5(one.query.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest() for one in filed]
    assert sums == sorted({*sums})
    if batches > 1:
        assert max(len(record.users) for record in filed) == (2 if batches > 7 else 1)
