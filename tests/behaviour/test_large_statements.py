"""A statement that has more edges than one may have is dead with a reason, and costs no other statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.catalog.store.entities import columns
from connectors.openmetadata.registration import register
from ingestion.analysis import analyzer
from ingestion.model import steps
from tests.behaviour.harness import Warehouse, catalog_with, publish
from workflows.run.resolve import contributions, entities, lineage

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


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO wide SELECT c1, c2, c3, c4 FROM p, q, r, s",  # each may be of each of them
        "INSERT INTO wide SELECT v AS a, v AS b, v + 1 AS c, v + 2 AS d FROM (SELECT a + b + c + d AS v FROM p) n",
        "CREATE TEMP TABLE n AS SELECT a + b + c + d AS v FROM p; INSERT INTO wide SELECT v, v, v, v FROM n",
    ],
)
def test_a_statement_of_too_many_steps_is_dead_and_the_others_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    names = ("wide", "x", "small")
    with catalog_with(tmp_path / "c.db", {f"svc.db.public.{one}": ["a", "b", "c", "d"] for one in names}) as (
        platform,
        _,
    ):
        monkeypatch.setattr(steps, "MOST_STEPS", 14)
        log = [*text.split("; "), SMALL]
        outcome = publish(platform, log, Warehouse())
        assert ("dead", "too_many_steps") in outcome.outcomes
        assert outcome.outcomes[-1] == ("published", "")
        assert set(outcome.edges) == {("public.x", "public.small")}


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE x (a int, b int, c int, d int)",
        "INSERT INTO wide (a) SELECT CASE a WHEN b THEN c ELSE d END FROM y",
        "INSERT INTO wide (a, b, c, d) SELECT 1, 2, 3, a FROM x",
    ],
)
def test_a_statement_that_names_more_columns_of_a_table_than_one_may_is_dead_and_the_others_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(analyzer, "MOST_COLUMNS", 3)
    tables = {f"svc.db.public.{one}": ["a"] for one in ("x", "small")}
    with catalog_with(tmp_path / "c.db", tables) as (platform, _):
        outcome = publish(platform, [text, SMALL], Warehouse())
    assert outcome.outcomes == (("dead", "too_many_columns"), ("published", ""))
    assert set(outcome.edges) == {("public.x", "public.small")}


def test_of_a_table_that_has_all_the_columns_it_may_what_names_others_is_dead_and_the_rest_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (columns, entities):
        monkeypatch.setattr(module, "MOST_COLUMNS", 3)
    log = [
        "INSERT INTO full (a, b) SELECT a, b FROM x",
        "INSERT INTO full (c, d) SELECT a, b FROM x",  # the fourth
        "INSERT INTO x (a) SELECT d FROM full",
        "INSERT INTO small (a) SELECT c FROM full",
    ]
    with catalog_with(tmp_path / "c.db", {f"svc.db.public.{one}": ["a", "b"] for one in ("x", "small")}) as (target, _):
        for given in ("ab", "cd"):  # as one run's log tells of it, and then another's
            filed = {"name": "full", "databaseSchema": "svc.db.public", "extension": {"columnsComplete": False}}
            register(target, {"tables": [{**filed, "columns": [{"name": one, "dataType": "INT"} for one in given]}]})
        outcome = publish(target, log, Warehouse())
    dead = ("dead", "too_many_columns")
    assert outcome.outcomes == (("published", ""), dead, dead, ("published", ""))
    assert set(outcome.edges) == {("public.x", "public.full"), ("public.full", "public.small")}


def test_expressions_that_are_too_long_together_are_left_out_and_the_edges_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contributions, "_MOST_EXPRESSIONS", 12)
    made = "INSERT INTO wide (a, b) SELECT a || b, b || a FROM x"  # on four edges
    names = ("wide", "x", "small")
    with catalog_with(tmp_path / "c.db", {f"svc.db.public.{one}": ["a", "b"] for one in names}) as (platform, _):
        outcome = publish(platform, [made, "INSERT INTO small (a) SELECT upper(a) FROM x"], Warehouse())
    assert outcome.outcomes == (("published", ""), ("published", ""))
    told = {
        request.to_entity.name: [column.expression for one in request.contributions for column in one.columns]
        for request in outcome.requests
    }
    assert told["wide"] == ["", "", "", ""]
    assert len(told["small"]) == 1
    assert told["small"][0] != ""
