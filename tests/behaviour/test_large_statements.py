"""A statement that has more edges than one may have is dead with a reason, and costs no other statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.behaviour.harness import Warehouse, catalog_with, publish
from workflows.run.resolve import lineage

WIDE = "INSERT INTO wide (a, b) SELECT x.a, y.b FROM x JOIN y ON x.a = y.a"
SMALL = "INSERT INTO small (a) SELECT a FROM x"


@pytest.mark.parametrize(("most", "ended"), [(5, "too_many_edges"), (6, "")])
def test_a_statement_with_more_edges_than_one_may_have_is_dead_and_the_others_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, ended: str
) -> None:
    monkeypatch.setattr(lineage, "_MOST_EDGES", most)
    names = ("wide", "x", "y", "small")
    with catalog_with(tmp_path / "c.db", {f"svc.db.public.{one}": ["a", "b"] for one in names}) as (platform, _):
        outcome = publish(platform, [WIDE, SMALL], Warehouse())
        assert outcome.outcomes == (("dead" if ended else "published", ended), ("published", ""))
        others = {("public.x", "public.wide"), ("public.y", "public.wide")} if not ended else set()
        assert set(outcome.edges) == {("public.x", "public.small"), *others}
