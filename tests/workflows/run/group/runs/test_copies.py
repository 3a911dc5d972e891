"""From a copy of a record nothing follows, as where a later run meets the copy and does not read it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.behaviour.harness import Record, Warehouse, merged_groups, statement_rows, templates_of
from workflows.run.group.occurrences import OccurrenceGroup

SECOND = [
    Record("CREATE TABLE n AS SELECT a FROM orders", at=1000.0),
    Record("ALTER TABLE n RENAME TO t", at=1000.0),
    Record("CREATE TABLE n AS SELECT a FROM items; ALTER TABLE t SWAP WITH n", at=1000.0),
    Record("CREATE OR REPLACE VIEW v AS SELECT a FROM t", at=1000.0),
]
"""What an export with times of whole seconds has of one second."""
READER = Record("INSERT INTO out SELECT a FROM v", at=1001.0)


def groups(log: list[Record]) -> list[OccurrenceGroup]:
    warehouse = Warehouse(dialect="snowflake")
    rows = statement_rows(log, warehouse)
    return merged_groups(rows, templates_of(rows), warehouse.settings.defaults)


def uncounted(found: list[OccurrenceGroup]) -> list[OccurrenceGroup]:
    return [replace(group, count=0, read_in_this_run=0, duration=0.0) for group in found]


@pytest.mark.parametrize(
    "log",
    [
        [*(record for record in SECOND for _ in range(2)), READER],
        [*SECOND, *SECOND, READER],
        [*SECOND, SECOND[1], SECOND[2], READER, READER],
    ],
    ids=["side by side", "two exports", "in part"],
)
def test_copies_of_records_change_nothing(log: list[Record]) -> None:
    assert sum(group.count for group in groups(log)) > sum(group.count for group in groups([*SECOND, READER]))
    assert uncounted(groups(log)) == uncounted(groups([*SECOND, READER]))


def test_what_a_record_says_twice_is_done_twice() -> None:
    (view,) = groups([Record("CREATE VIEW v AS SELECT 1 AS a; CREATE VIEW v AS SELECT 1 AS a", at=1000.0)])
    assert view.count == 2


def test_without_times_nothing_tells_a_copy_from_another_run() -> None:
    (view,) = groups([Record("CREATE VIEW v AS SELECT 1 AS a", at=0.0)] * 2)
    assert view.count == 2
