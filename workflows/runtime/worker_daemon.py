"""PySpark's daemon, of which its Python workers are forks, with the code of our tasks loaded: once, not by each
worker.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from pathlib import Path

from workflows.runtime.garbage_collection import collect_seldom

_ARCHIVES = ("pyspark.zip", "py4j-")
_LOADED = (
    "pyspark.worker",
    "connectors.query_log.text_files",
    "workflows.run.read.journal_frames",
    "workflows.run.group.runs",
)
"""No thread of theirs is needed after a fork: allocators and numeric libraries begin theirs anew."""


def main() -> None:
    """Forks a worker for each one that Spark asks for, until it asks for no more."""
    sys.path[:] = [place for place in sys.path if not Path(place).name.startswith(_ARCHIVES)]
    for module in _LOADED:
        with suppress(ImportError):  # a worker says what is missing, where it can be told
            importlib.import_module(module)
    collect_seldom()
    _fork()


def _fork() -> None:
    from pyspark.daemon import manager  # of the packages that are installed

    manager()


if __name__ == "__main__":
    main()
