"""PySpark's daemon, of which its Python workers are forks, with the code of our tasks loaded: once, not by each
worker.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace

from workflows.runtime.garbage_collection import collect_seldom, collection_paused

_ARCHIVES = ("pyspark.zip", "py4j-")
_LOADED = (
    "pyspark.worker",
    "connectors.query_log.text_files",
    "workflows.run.read.journal_frames",
    "workflows.run.group.runs",
)
"""No thread of theirs is needed after a fork: allocators and numeric libraries begin theirs anew."""


class _NoPandas(MetaPathFinder):
    """Says that there is no pandas.

    Arrow loads it for the first list that it makes an array of, to see whether that is one of pandas': in each worker
    50 MB that no other shares, and half a second. No task of ours needs it.
    """

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def main() -> None:
    """Forks a worker for each one that Spark asks for, until it asks for no more."""
    sys.path[:] = [path for path in sys.path if not Path(path).name.startswith(_ARCHIVES)]
    sys.meta_path.insert(0, _NoPandas())
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
