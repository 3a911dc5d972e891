"""What a task keeps of the runs of templates that always mean the same."""

from __future__ import annotations

import random

import pyarrow as pa

from workflows.run.group.runs import DIGESTS_KEPT, PLAIN_TALLY_SCHEMA, RUN_COLUMNS, tally_plain_runs

_NO_MATTER = {"routine": None, "already_published": False, "session": "s", "file": "f", "position": 0, "step": 0}
_RUNS = 6 * DIGESTS_KEPT


def batch(numbers: list[int], **more: object) -> pa.RecordBatch:
    """Runs of one template at these times, each with its number as its digest."""
    rows = [
        {
            **_NO_MATTER,
            "fingerprint": "t",
            "namespace_database": None,
            "namespace_path": ["mart"],
            "user": f"u{number % 3}",
            "duration": 0.5,
            "digest": number,
            "job": f"j{number % 2}",
            "read_in_this_run": number % 2 == 0,
            "time": float(number),
            "line": number,
            **more,
        }
        for number in numbers
    ]
    columns = {name: [row[name] for row in rows] for name in RUN_COLUMNS}
    return pa.RecordBatch.from_pydict({**columns, "namespace_path": pa.array(columns["namespace_path"])})


def test_no_more_digests_are_kept_than_count_however_often_a_template_ran() -> None:
    numbers = [*range(_RUNS)]
    random.Random(1).shuffle(numbers)
    batches = (batch(numbers[start : start + 500]) for start in range(0, _RUNS, 500))
    ((row,),) = (found.to_pylist() for found in tally_plain_runs(batches))
    assert row["digests"] == [*range(DIGESTS_KEPT)]
    assert (row["count"], row["read_in_this_run"], row["duration"]) == (_RUNS, _RUNS // 2, _RUNS / 2)
    assert (row["users"], row["jobs"]) == (["u0", "u1", "u2"], ["j0", "j1"])
    assert (row["at"]["time"], row["last"]["line"]) == (0.0, _RUNS - 1)


def test_what_ran_elsewhere_or_was_published_before_is_a_tally_of_its_own() -> None:
    others: tuple[dict[str, object], ...] = (
        {"namespace_path": ["raw"]},
        {"routine": "a.b.c"},
        {"already_published": True},
        {"namespace_database": "other"},
    )
    batches = [batch([1, 2]), *(batch([number], **other) for number, other in enumerate(others, 3)), batch([7])]
    (found,) = tally_plain_runs(iter(batches))
    assert found.schema.names == PLAIN_TALLY_SCHEMA.fieldNames()
    assert [row["digests"] for row in found.to_pylist()] == [[1, 2, 7], [3], [4], [5], [6]]


def test_a_task_without_rows_gives_none() -> None:
    assert [*tally_plain_runs(iter(()))] == []
