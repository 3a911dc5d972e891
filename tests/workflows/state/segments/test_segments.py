"""Segments say of themselves what the next run asks, whether they are at hand or in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ingestion.errors import ConfigError, StateLost
from workflows.state.segments import (
    Segment,
    SegmentFolder,
    any_conditional_change,
    any_session_change,
    digests_with,
    fingerprints_of,
    known_records,
    new_segment_file,
    newest_of,
    oldest_of,
    segment_of,
    stored_segment,
    write_segment,
)

ROWS = [(7, "a", 10.0, False), (3, "b", 0.0, False), (7, "a", 10.0, True), (9, None, 30.0, False)]
"""Digest, template, time and whether it changes its session."""


def table_of(rows: list[tuple[int, str | None, float, bool]]) -> pa.Table:
    digests, templates, times, changes = zip(*rows, strict=True)
    return pa.table(
        {
            "digest": pa.array(digests, pa.int64()),
            "fingerprint": pa.array(templates, pa.string()),
            "dialect": ["postgres"] * len(rows),
            "time": pa.array(times, pa.float64()),
            "sets": list(changes),
            "set_how": pa.nulls(len(rows), pa.string()),
        }
    )


def segment(rows: list[tuple[int, str | None, float, bool]], folder: Path | None) -> Segment:
    table = table_of(rows)
    return segment_of(table) if folder is None else write_segment(new_segment_file(folder), [table], table.schema)


@pytest.fixture(params=["at hand", "in files"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "run" if request.param == "in files" else None


@pytest.mark.parametrize(
    ("noted", "conditional"),
    [
        ([None, None], False),
        ([None, "transaction_end"], False),
        (["transaction_end", "local"], True),
        (["?0a", "transaction_end"], True),
    ],
)
def test_a_segment_tells_whether_changes_of_sessions_depend_on_more(
    noted: list[str | None], folder: Path | None, *, conditional: bool
) -> None:
    table = table_of(ROWS[:2]).drop_columns("set_how").append_column("set_how", pa.array(noted, pa.string()))
    kept = segment_of(table) if folder is None else write_segment(new_segment_file(folder), [table], table.schema)
    assert any_conditional_change([segment(ROWS, folder), kept]) is conditional


def test_a_segment_tells_its_times_its_templates_and_whether_sessions_change(folder: Path | None) -> None:
    untimed, timed = segment(ROWS, folder), segment(ROWS[3:], folder)
    assert (untimed.newest, timed.newest) == (None, 30.0)
    assert (oldest_of([untimed, timed]), oldest_of([segment(ROWS[1:2], folder)])) == (10.0, None)
    assert (newest_of([untimed], 40.0), newest_of([untimed], 20.0)) == (30.0, 10.0)
    assert (any_session_change([timed]), any_session_change([timed, untimed])) == (False, True)
    assert fingerprints_of([untimed, timed]) == {("a", "postgres"), ("b", "postgres")}
    assert digests_with([untimed, timed], ["a"]).tolist() == [7]
    assert digests_with([untimed], []).tolist() == []
    assert untimed.digests().tolist() == [3, 7, 9]
    assert untimed.rows() == table_of(ROWS)
    assert folder is None or stored_segment(folder / (untimed.file or folder).name) == untimed


def test_known_are_the_records_of_all_segments_but_those_to_be_read_again(folder: Path | None) -> None:
    found = known_records([segment(ROWS[:1], folder), segment(ROWS[1:2], None), segment(ROWS[3:], folder)])
    digests, times = np.array([7, 3, 9, 8, 7], np.int64), np.array([10.0, 0.0, 30.0, 30.0, 10.0])
    for known in (found, found.all_at_hand()):
        assert known.among(digests, times).tolist() == [True, True, True, False, True]
        assert known.among(digests[:1], times[:1]).tolist() == [True]
        assert known.among(digests[:0], times[:0]).tolist() == []


@pytest.mark.parametrize(
    ("between", "again", "left"),
    [
        ((10.0, 30.0), [], [False, True, True]),
        ((float("-inf"), float("inf")), [], [False, False, False]),
        (None, [3, 4], [True, False, True]),
    ],
)
def test_records_of_a_time_or_of_a_list_are_read_again(
    folder: Path | None, between: tuple[float, float] | None, again: list[int], left: list[bool]
) -> None:
    everything = known_records([segment(ROWS, folder)])
    known = replace(everything, between=between, again=np.array(again, np.int64))
    assert (everything.leaves_out, known.leaves_out) == (False, True)
    assert known.among(np.array([7, 3, 9], np.int64), np.array([10.0, 0.0, 30.0])).tolist() == left


def test_a_time_that_could_not_be_when_it_was_written_down_is_known_by_its_record() -> None:
    known = replace(known_records([segment([(5, "a", 0.0, False)], None)]), latest=50.0)
    assert known.among(np.array([5], np.int64), np.array([99.0])).tolist() == [True]


def test_what_no_commit_names_is_removed_and_what_is_of_others_stays(tmp_path: Path) -> None:
    own, other = (SegmentFolder(tmp_path / "all", name) for name in ("own", "other/one"))
    named, unnamed = segment(ROWS, own.of_run("r1")), segment(ROWS, own.of_run("r1"))
    died, foreign = segment(ROWS, own.of_run("r2")), segment(ROWS, other.of_run("r1"))
    assert named.file is not None
    assert own.file_of(own.name_of(named.file)) == named.file
    own.remove(own.present_files(), {named.file})
    assert [one.file.is_file() for one in (named, unnamed, died, foreign) if one.file] == [True, False, False, True]
    assert named.digests().tolist() == [3, 7, 9]
    assert not own.of_run("r2").exists()
    other.remove(other.present_files(), set())
    own.remove(own.present_files(), set())
    assert list(tmp_path.glob("*")) == []


def test_what_is_written_after_the_files_were_listed_is_not_touched(tmp_path: Path) -> None:
    """Another run has taken over meanwhile, and has named its files where this one did not look any more."""
    own = SegmentFolder(tmp_path, "own")
    before = segment(ROWS, own.of_run("r1"))
    written = own.present_files()
    since = [segment(ROWS, own.of_run(run)) for run in ("r1", "r2")]
    own.remove(written, set())
    assert [one.file.is_file() for one in (before, *since) if one.file] == [False, True, True]


def test_a_file_that_is_damaged_or_gone_is_told_as_damaged(tmp_path: Path) -> None:
    found = segment(ROWS, tmp_path / "run")
    assert found.file is not None
    for content in (b"PAR1 and then nothing", None):
        if content is None:
            found.file.unlink()
        else:
            found.file.write_bytes(content)
        for ask in (found.rows, lambda: found.span("time"), lambda: stored_segment(found.file or tmp_path)):
            with pytest.raises(StateLost, match="damaged") as caught:
                ask()
            assert caught.value.exit_code == ConfigError.exit_code
