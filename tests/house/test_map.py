"""The map for those who change the code: what it names is there, and each room is on it."""

from __future__ import annotations

import re

from tests.house.source_tree import REPOSITORY, modules

MAP = (REPOSITORY / "docs" / "development.md").read_text("utf-8")
_PATHS = re.compile(r"`((?:ingestion|connectors|workflows|tests|docs)/[\w/.]*)`")


def test_what_the_map_names_is_there() -> None:
    assert [path for path in _PATHS.findall(MAP) if not (REPOSITORY / path).exists()] == []


def test_each_room_is_on_the_map() -> None:
    rooms = {"/".join(module.path.parts[:2]) + "/" for module in modules() if len(module.path.parts) > 2}
    assert sorted(rooms - set(_PATHS.findall(MAP))) == []


def test_a_room_that_is_not_there_is_found() -> None:
    named = _PATHS.findall("`connectors/nowhere/` and `connectors/catalog/`")
    assert [path for path in named if not (REPOSITORY / path).exists()] == ["connectors/nowhere/"]
