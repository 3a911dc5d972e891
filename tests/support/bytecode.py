"""One place for the bytecode of all processes of the tests, where the environment tells them to leave none."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

LEAVE_NONE = "PYTHONDONTWRITEBYTECODE"


def share(folder: Path) -> None:
    """Has every process that is started from here on keep its bytecode in the folder, if it would keep none."""
    if os.environ.pop(LEAVE_NONE, ""):
        shutil.rmtree(folder / Path(tempfile.gettempdir()).relative_to("/"), ignore_errors=True)  # of copies, now gone
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
