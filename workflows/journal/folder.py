"""Where the segments of a workflow's journal are that are files: what no commit names is nobody's, and is removed."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PREFIX = "segments."


@dataclass(frozen=True, slots=True)
class SegmentFolder:
    """The files of one workflow, each below the id of the run that wrote it.

    `everywhere`: every host of a cluster sees it. `root` has those of other workflows too.
    """

    root: Path
    workflow: str
    everywhere: bool = False

    @property
    def own(self) -> Path:
        """Where the files of the workflow are."""
        return self.root / hashlib.blake2b(self.workflow.encode(), digest_size=8).hexdigest()

    def of_run(self, run_id: str) -> Path:
        """Where a run writes its files."""
        return self.own / hashlib.blake2b(run_id.encode(), digest_size=8).hexdigest()

    def name_of(self, file: Path) -> str:
        """What a commit calls a file."""
        return file.relative_to(self.root).as_posix()

    def file_of(self, name: str) -> Path:
        """The file that a commit named."""
        return self.root / name

    def present_files(self) -> frozenset[Path]:
        """The files of the workflow that are there now, named or not."""
        return frozenset(self.own.glob("*/*"))

    def remove(self, written: Collection[Path], named: Collection[Path]) -> None:
        """Removes those of the files that no commit names, and folders that are empty then; what cannot be stays."""
        for file in written:
            if file.with_name(file.name.partition(".")[0] + SEGMENT) not in named:
                with suppress(OSError):
                    file.unlink()
        for folder in ({file.parent for file in written}, {self.own}, {self.root}):
            for each in folder:
                with suppress(OSError):  # where there are others it is in use
                    each.rmdir()


SEGMENT = ".parquet"
"""How the file of a segment ends; before it are no dots."""


def beside(state: str) -> Path | None:
    """The folder beside a state's file; None for what is no file of its own."""
    if not state or state.startswith((":memory:", "file:")):
        return None
    file = Path(state).absolute()
    return file.with_name(_PREFIX + file.name)


def new_segment_file(folder: Path) -> Path:
    """A file that nobody else writes."""
    return folder / f"{uuid.uuid4().hex}{SEGMENT}"
