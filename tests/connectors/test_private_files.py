from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.catalog.store.database import open_database
from connectors.private_files import private_file, private_folder, replaced_text
from workflows.run.remember.checkpoint import write_dead_letters
from workflows.state.store import open_state


def modes_below(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("catalog.db", open_database),
        ("dead.jsonl", lambda file: write_dead_letters(file, [])),
        ("plain", private_file),
        ("state.db", lambda file: open_state(str(file))),
    ],
)
def test_what_is_remembered_is_readable_by_its_owner_alone(
    name: str, make: Callable[[Path], object], tmp_path: Path
) -> None:
    make(tmp_path / "made" / name)
    modes = modes_below(tmp_path)
    assert modes.pop("made") == 0o700
    assert name in modes
    assert set(modes.values()) == {0o600}


def test_a_folder_and_a_file_that_are_there_stay_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    (folder / "kept").write_text("x")
    (folder / "kept").chmod(0o640)
    private_folder(folder)
    private_file(folder / "kept")
    assert modes_below(tmp_path) == {"shared": 0o755, "kept": 0o640}
    assert (folder / "kept").read_text() == "x"


def test_a_text_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "kept"
    with replaced_text(file) as out:
        out.write("whole")
    with pytest.raises(OSError, match="full"), replaced_text(file) as out:
        out.write("ha")
        raise OSError("full")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("whole", 0o600)
