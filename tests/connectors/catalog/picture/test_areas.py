"""The rows of a schema's card: its tables that most runs read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import update

from connectors.catalog.picture.areas import areas
from connectors.catalog.store.lineage.window import window
from connectors.catalog.store.schema import entities
from tests.support.made_catalog import MadeCatalog

RUNS = {"a": 1, "b": 3, "c": 2, "d": 2, "e": 0, "f": 2, "g": 9, "h": 0}


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ((), ["b 3", "c 2", "d 2", "f 2", "a 1"]),
        (("b", "c"), ["d 2", "f 2", "a 1", "e 0", "h 0"]),
        (("a", "b", "c", "d", "f"), ["e 0", "h 0", "z 0"]),
    ],
)
@pytest.mark.parametrize("few", [0, 50])
def test_the_most_used_tables_come_first_then_those_that_nothing_uses_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: tuple[str, ...], expected: list[str], few: int
) -> None:
    monkeypatch.setattr("connectors.catalog.picture.areas._FEW_AREAS", few)
    with closing(MadeCatalog(tmp_path / "catalog.db")) as made:
        made.add_tables({f"shop.main.raw.{name}": ("x",) for name in (*RUNS, "y", "z")})
        for name, runs in RUNS.items():
            said = {"producer": {"kind": "query", "key": name}, "records": [f"{run:08x}" for run in range(runs)]}
            made.add_edges([(f"shop.main.raw.{name}", "shop.main.raw.z", said)])
        with made.database.write() as connection:
            names = [f"shop.main.raw.{name}" for name in ("g", *gone)]
            connection.execute(update(entities).where(entities.c.fqn.in_(names)).values(deleted=True))
            (card,) = areas(connection, "schemas", None, window(connection, None, 0))["nodes"]
    assert card["tables"] == 10 - len(names)
    assert [f"{row['name']} {row['dataType'].split()[0]}" for row in card["columns"]] == expected
