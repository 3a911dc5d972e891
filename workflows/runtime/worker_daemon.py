"""PySpark's daemon, of which its Python workers are forks, with the code of our tasks loaded: once, not by each
worker.
"""

from __future__ import annotations

import gc
import importlib
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

from workflows.runtime.garbage_collection import collect_seldom, collection_paused

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
    sys.path[:] = [path for path in sys.path if not Path(path).name.startswith(_ARCHIVES)]
    with collection_paused():  # a fifth of the time that they take to load
        for module in _LOADED:
            with suppress(ImportError):  # a worker says what is missing, where it can be told
                importlib.import_module(module)
    collect_seldom()
    _fork()


def _fork() -> None:
    from pyspark import daemon  # of the packages that are installed

    # A worker of PySpark searches all of its values after each task: 50 ms with our modules loaded, where most tasks
    # of a run take 10. What a task alone has made is young; the rest is searched when Python finds it time.
    vars(daemon)["gc"] = SimpleNamespace(collect=lambda: gc.collect(1))
    daemon.manager()


if __name__ == "__main__":
    main()
