"""The plan of the page's own modules, as that of the house: small rooms and files, imports in one direction."""

from __future__ import annotations

import posixpath
import re
from collections import Counter

from connectors.catalog.page.html import ASSETS, asset
from tests.house.source_tree import circles

MODULES = [name for name in ASSETS if name.endswith(".mjs")]
MOST_MODULES, MOST_LINES = 12, 300


def imports(name: str) -> set[str]:
    """The paths of the modules that one imports."""
    found = re.findall(r'^import .* from "(.+)";$', asset(name), re.MULTILINE)
    return {posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) for path in found}


def test_rooms_and_files_are_small() -> None:
    held = Counter(posixpath.dirname(name) for name in MODULES)
    assert len(held) > 5
    assert [room for room, count in held.items() if count > MOST_MODULES] == []
    assert [name for name in MODULES if asset(name).count("\n") > MOST_LINES] == []


def test_imports_go_in_one_direction() -> None:
    arrows = {name: imports(name) for name in MODULES}
    assert set().union(*arrows.values()) <= set(MODULES)
    assert circles(arrows) == []
    rooms: dict[str, set[str]] = {}
    for name, targets in arrows.items():
        rooms.setdefault(posixpath.dirname(name), set()).update(map(posixpath.dirname, targets))
    assert circles(rooms) == []
