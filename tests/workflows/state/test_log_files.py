from __future__ import annotations

from pathlib import Path

from ingestion.model.file_marks import FileMarks
from workflows.state.log_files import files_read, files_unchanged, note_files
from workflows.state.store import StateStore, open_state


def store_of(folder: Path) -> StateStore:
    return open_state(str(folder / "state.db"))


def note(store: StateStore, read: FileMarks, there: set[str]) -> None:
    with store.write() as connection:
        note_files(connection, "w", read, there)


def are_unchanged(store: StateStore, workflow: str = "w") -> bool:
    with store.read() as connection:
        return files_unchanged(connection, workflow)


def test_files_are_noted_as_they_were_read_and_forgotten_once_gone(tmp_path: Path) -> None:
    store = store_of(tmp_path)
    note(store, {"/a": (1, 2.5), "/b": (3, 4.0)}, {"/a", "/b"})
    note(store, {"/c": (5, 6.0)}, {"/a", "/c"})
    with store.read() as connection:
        assert files_read(connection, "w") == {"/a": (1, 2.5), "/c": (5, 6.0)}
        assert files_read(connection, "another") == {}
    store.close()


def test_files_are_unchanged_until_one_is_not(tmp_path: Path) -> None:
    store, log = store_of(tmp_path), tmp_path / "a.csv"
    log.write_text("x")
    assert not are_unchanged(store)
    mark = log.stat().st_size, log.stat().st_mtime
    note(store, {str(log): mark}, {str(log)})
    assert are_unchanged(store)
    assert not are_unchanged(store, "another")
    log.write_text("xy")
    assert not are_unchanged(store)
    log.unlink()
    assert not are_unchanged(store)
    note(store, {"https://host/log": (1, 1.0)}, {"https://host/log"})
    assert not are_unchanged(store)
    store.close()
