"""The journal has small segments in the store and large ones in files, whatever is taken out or put together."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from ingestion.errors import StateLost
from workflows.state import journal
from workflows.state.journal import Journal, journal_of
from workflows.state.segments import Segment, new_segment_file, segment_of, write_segment
from workflows.state.store import StateStore, open_state


def table_of(digests: range) -> pa.Table:
    return pa.table({"digest": pa.array(digests, pa.int64()), "time": [float(number) for number in digests]})


@pytest.fixture
def kept(store: StateStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journal:
    """A journal with files, for which ten statements are many."""
    monkeypatch.setattr(journal, "SMALL", 10)
    monkeypatch.setattr(journal, "_TOGETHER", 20)
    return journal_of(store, "w", "run", str(tmp_path / "shared"))


def in_a_file(kept: Journal, digests: range) -> Segment:
    assert kept.folder is not None
    table = table_of(digests)
    return write_segment(new_segment_file(kept.folder), [table], table.schema)


def records(segments: list[Segment]) -> list[int]:
    return sorted(digest for segment in segments for digest in segment.rows()["digest"].to_pylist())


def test_what_is_taken_out_is_gone_and_nothing_else(store: StateStore, kept: Journal) -> None:
    with store.write() as connection:
        kept.append(connection, [in_a_file(kept, range(100)), segment_of(table_of(range(100, 105)))])
        kept.append(connection, [in_a_file(kept, range(200, 300))])
        kept.drop_records(connection, [in_a_file(kept, range(95, 103)), in_a_file(kept, range(200, 300))])
    with store.read() as connection:
        found = kept.segments(connection)
    assert records(found) == [*range(95), 103, 104]
    assert sorted((one.statements, one.file is None) for one in found) == [(2, True), (95, False)]


def test_what_was_only_skipped_is_taken_out_where_the_log_is_read_anew(store: StateStore, kept: Journal) -> None:
    rows = {
        "skipped": ["filtered", None, "select", "select", "not_a_statement", "not_a_statement", None],
        "fingerprint": [None, "t", None, None, None, None, None],
        "query": [None, None, None, "q", None, None, None],
        "sets": [False, False, False, False, True, False, False],
        "set_how": [None, None, None, None, None, "local", None],
    }
    table = table_of(range(7))
    for name, values in rows.items():
        table = table.append_column(name, pa.array(values, pa.bool_() if name == "sets" else pa.string()))
    with store.write() as connection:
        kept.append(connection, [segment_of(table)])
        kept.drop_records(connection, [segment_of(table_of(range(1, 2)))], skipped=True)
    with store.read() as connection:
        assert records(kept.segments(connection)) == [3, 4, 5, 6]


def test_many_small_segments_are_put_together_and_large_ones_leave_the_store(store: StateStore, kept: Journal) -> None:
    small = [segment_of(table_of(range(number, number + 1))) for number in range(35)]
    with store.write() as connection:
        kept.append(connection, [*small, segment_of(table_of(range(100, 150)))])
        kept.compact(connection)
    with store.read() as connection:
        found = kept.segments(connection)
    assert records(found) == [*range(35), *range(100, 150)]
    assert [one.file is None for one in found if one.statements < 10] == []
    kept.remove_unnamed(kept.present_files(), found)
    assert records(found) == [*range(35), *range(100, 150)]


def test_few_statements_need_no_file(kept: Journal) -> None:
    few = kept.without_small_files([in_a_file(kept, range(4)), in_a_file(kept, range(4, 9))])
    assert [(one.statements, one.file) for one in few] == [(9, None)]
    many = [in_a_file(kept, range(4)), in_a_file(kept, range(4, 12))]
    assert kept.without_small_files(many) == many


def test_a_file_that_is_not_there_is_told_with_its_place(store: StateStore, kept: Journal) -> None:
    segment = in_a_file(kept, range(20))
    with store.write() as connection:
        kept.append(connection, [segment])
    assert segment.file is not None
    segment.file.unlink()
    with store.read() as connection, pytest.raises(StateLost, match=rf"damaged.*{segment.file.name}.*state\.folder"):
        kept.segments(connection)


def test_without_a_folder_only_a_file_of_this_machine_has_files_beside_it(store: StateStore) -> None:
    found = journal_of(store, "w", "run", None)
    assert (found.folder is not None) is store.is_file
    assert not found.is_everywhere


def test_states_of_one_path_on_two_hosts_share_a_folder_and_no_file(tmp_path: Path) -> None:
    stores = []
    for host in ("a", "b"):
        (tmp_path / host).mkdir()
        stores.append(open_state(str(tmp_path / host / "state.db")))
        stores[-1].location = "/app/.headwater/state.db"
    first, second = (journal_of(store, "w", "run", str(tmp_path / "shared")) for store in stores)
    of_first = in_a_file(first, range(20))
    second.remove_unnamed(second.present_files(), [])
    assert records([of_first]) == [*range(20)]
    again = journal_of(stores[0], "w", "next", str(tmp_path / "shared"))
    again.remove_unnamed(again.present_files(), [])
    assert of_first.file is not None
    assert not of_first.file.exists()
    for store in stores:
        store.close()
