"""What killed runs leave in the directory for temporary files goes with the next run; nothing else does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from connectors.scratch import remove_abandoned, scratch_folder

HOLD = """
import time
from connectors.scratch import scratch_folder
with scratch_folder("spark") as folder:
    (folder / "part").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


@contextmanager
def running(directory: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process with a folder of its own, which is not young any more."""
    environment = {**os.environ, "TMPDIR": str(directory)}
    with subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        aged(folder)
        try:
            yield process, folder
        finally:
            process.kill()


def aged(path: Path, days: float = 1) -> Path:
    moment = time.time() - days * 86_400
    os.utime(path, (moment, moment))
    return path


def test_the_folder_of_a_killed_run_is_removed_and_that_of_a_living_one_stays(tmp_path: Path) -> None:
    with running(tmp_path) as (killed, left), running(tmp_path) as (_living, kept):
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        remove_abandoned(tmp_path)
        assert not left.exists()
        assert (kept / "part").read_text() == "x"


def test_a_run_that_ends_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder("state") as folder:
        assert folder.parent == tmp_path
        aged(folder)
        with scratch_folder("state") as other:
            assert folder.is_dir()
            assert other != folder
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_a_folder_of_a_run_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "deep").mkdir(parents=True)
    (elsewhere / ".owner").touch()
    (tmp_path / "headwater-spark-link").symlink_to(elsewhere)
    (tmp_path / "headwater-spark-file").touch()
    for name in ("headwater-notes-1", "headwater-spark-unowned", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "headwater-spark-young").mkdir()
    (tmp_path / "headwater-spark-young" / ".owner").touch()
    for path in (elsewhere, tmp_path / "headwater-notes-1", tmp_path / "headwater-spark-unowned"):
        aged(path)
    before = sorted(path.name for path in tmp_path.iterdir())
    remove_abandoned(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert (elsewhere / "deep").is_dir()


def test_a_folder_of_an_earlier_version_goes_after_a_week(tmp_path: Path) -> None:
    left = tmp_path / "headwater-spark-unowned"
    left.mkdir()
    aged(left, days=8)
    remove_abandoned(tmp_path)
    assert not left.exists()
