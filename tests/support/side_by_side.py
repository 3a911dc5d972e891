"""How pytest-xdist divides the tests among processes: file by file, those first that take longest."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScopeScheduling

COSTLY = "spark_history"
_COSTLY_PATHS = (COSTLY, "ingestion/plans", "reading/test_log_forms")
"""In the paths of files whose logs of real applications take so long to make that one process makes them."""


class ByFile(LoadScopeScheduling):
    """The tests of a file stay together, as do those of all the costly files."""

    def _split_scope(self, nodeid: str) -> str:
        return _together(nodeid)


def given_time(items: list[pytest.Item]) -> None:
    """Lets what may have to make the costly logs first take as long as their applications do on a busy machine."""
    for item in items:
        if _together(item.nodeid) == COSTLY:
            item.add_marker(pytest.mark.timeout(900))


def longest_first(items: list[pytest.Item]) -> None:
    """Puts what starts Spark before all else, so that no process is left alone with it in the end."""
    with_spark = {_together(item.nodeid) for item in items if _uses_spark(item)}
    places = {part: place for place, part in enumerate(dict.fromkeys(_together(item.nodeid) for item in items))}

    def rank(item: pytest.Item) -> tuple[bool, bool, int]:
        part = _together(item.nodeid)
        return part != COSTLY, part not in with_spark, places[part]

    items.sort(key=rank)


def _together(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    return COSTLY if any(part in file for part in _COSTLY_PATHS) else file


def _uses_spark(item: pytest.Item) -> bool:
    return item.get_closest_marker("spark") is not None
