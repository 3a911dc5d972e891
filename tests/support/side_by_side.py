"""How pytest-xdist divides the tests among processes: file by file, those first that take longest."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScopeScheduling

COSTLY = "connectors/spark/"
_COSTLY_PATHS = (COSTLY, "ingestion/plans/", "run/read/test_log_forms", "run/read/test_spark_history")
_COSTLY_FIXTURES = ("history", "sources", "formats")
"""Logs of real applications, which take so long to make that one process makes them; and in what paths they are read.
"""


class ByFile(LoadScopeScheduling):
    """The tests of a file stay together, as do those of all the costly files."""

    def _split_scope(self, nodeid: str) -> str:
        return _together(nodeid)


def given_time(items: list[pytest.Item]) -> None:
    """Lets what may have to make the costly logs first take as long as their applications do on a busy machine.

    Raises UsageError where one would be made by a second process too.
    """
    for item in items:
        if _together(item.nodeid) == COSTLY:
            item.add_marker(pytest.mark.timeout(900))
        elif _reads_costly_logs(item):
            raise pytest.UsageError(f"{item.nodeid} reads costly logs: name its path in tests/support/side_by_side.py")


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


def _reads_costly_logs(item: pytest.Item) -> bool:
    """Whether it has one of the fixtures of tests/conftest.py, not one of its own of that name."""
    fixtures = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return any(fixtures[name][-1].baseid == "tests" for name in _COSTLY_FIXTURES if name in fixtures)


def _uses_spark(item: pytest.Item) -> bool:
    return item.get_closest_marker("spark") is not None
