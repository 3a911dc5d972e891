"""Columns that are renamed, dropped and added, in one run and over several, in a catalog that remembers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from time import time

import pytest

from tests.behaviour.conftest import Opened, Shop
from tests.behaviour.harness import Record
from tests.behaviour.test_swapped_tables import run

SOURCES = {"public.t1": ("k", "a", "b"), "public.t2": ("k", "c")}
W = "CREATE TABLE w AS SELECT k, a, b FROM t1"
NIGHT = 100_000.0


def nights(shop: Shop, texts: Sequence[str], *cuts: int, after: float = 0.0) -> None:
    """The statements, run in parts that are cut before those of these numbers; a night lies between two parts."""
    for night, (start, end) in enumerate(pairwise((0, *cuts, len(texts)))):
        run(shop, [Record(texts[n], at=after + NIGHT * (night + 1) + n, schema="public") for n in range(start, end)])


def column_edges(shop: Shop) -> set[str]:
    """Every column edge into a table of the shop, `t1.a->w.z`."""
    found = set()
    for details in shop.catalog.edges(shop.warehouse.service).values():
        for mapping in details["columnsLineage"]:
            target = ".".join(mapping["toColumn"].split(".")[-2:])
            found |= {f"{'.'.join(source.split('.')[-2:])}->{target}" for source in mapping["fromColumns"]}
    return found


CASES = {
    "renamed": (
        [W, "ALTER TABLE w RENAME a TO z", "CREATE TABLE fin AS SELECT z FROM w"],
        "t1.a->w.z t1.b->w.b t1.k->w.k w.z->fin.z",
    ),
    "renamed after it was read": (
        [W, "CREATE TABLE fin AS SELECT a FROM w", "ALTER TABLE w RENAME COLUMN a TO z"],
        "t1.a->w.z t1.b->w.b t1.k->w.k w.z->fin.a",
    ),
    "filled before and after": (
        [
            "CREATE TABLE w (k int, a int)",
            "INSERT INTO w SELECT k, a FROM t1",
            "ALTER TABLE w RENAME COLUMN a TO z",
            "INSERT INTO w SELECT k, a FROM t1",
        ],
        "t1.a->w.z t1.k->w.k",
    ),
    "exchanged": (
        [W, *(f"ALTER TABLE w RENAME COLUMN {names}" for names in ("a TO x", "b TO a", "x TO b"))],
        "t1.a->w.b t1.b->w.a t1.k->w.k",
    ),
    "dropped and added": (
        [W, "ALTER TABLE w DROP COLUMN a", "ALTER TABLE w ADD COLUMN a int", "INSERT INTO w (a) SELECT c FROM t2"],
        "t1.b->w.b t1.k->w.k t2.c->w.a",
    ),
    "dropped, and another takes its name": (
        [W, "ALTER TABLE w DROP COLUMN a", "ALTER TABLE w RENAME COLUMN b TO a", "CREATE TABLE fin AS SELECT a FROM w"],
        "t1.b->w.a t1.k->w.k w.a->fin.a",
    ),
    "dropped for good": ([W, "ALTER TABLE w DROP COLUMN a"], "t1.b->w.b t1.k->w.k"),
    "dropped for one that was made of it": (
        [
            W,
            "ALTER TABLE w ADD a2 text",
            "UPDATE w SET a2 = upper(a)",
            "ALTER TABLE w DROP a",
            "ALTER TABLE w RENAME a2 TO c",
        ],
        "t1.a->w.c t1.b->w.b t1.k->w.k",
    ),
    "dropped for one that is called as it was": (
        [
            W,
            "ALTER TABLE w ADD a2 text",
            "UPDATE w SET a2 = upper(a)",
            "ALTER TABLE w DROP a",
            "ALTER TABLE w RENAME a2 TO a",
        ],
        "t1.a->w.a t1.b->w.b t1.k->w.k",
    ),
    "renamed with its table": (
        [W, "ALTER TABLE w RENAME COLUMN a TO z", "ALTER TABLE w RENAME TO u", "CREATE TABLE fin AS SELECT z FROM u"],
        "t1.a->u.z t1.b->u.b t1.k->u.k u.z->fin.z",
    ),
    "of a view": (
        ["CREATE VIEW v AS SELECT a FROM t1", "ALTER VIEW v RENAME a TO z", "CREATE TABLE fin AS SELECT z FROM v"],
        "t1.a->v.z v.z->fin.z",
    ),
    "of a source": (
        ["CREATE TABLE fin AS SELECT a FROM t1", "ALTER TABLE t1 RENAME a TO z", "CREATE TABLE f2 AS SELECT z FROM t1"],
        "t1.z->fin.a t1.z->f2.z",
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_column_has_its_lineage_under_the_name_that_it_is_left_with(shop: Opened, case: str) -> None:
    texts, expected = CASES[case]
    made = shop(SOURCES)
    nights(made, texts)
    assert column_edges(made) == {*expected.split()}


def test_what_is_read_through_a_temporary_table_is_followed_through_its_renamed_columns(shop: Opened) -> None:
    made = shop(SOURCES)
    texts = [
        "CREATE TEMP TABLE n AS SELECT a, upper(b) AS b FROM t1",
        "ALTER TABLE n RENAME a TO z",
        "ALTER TABLE n RENAME b TO a",
        "CREATE TABLE fin AS SELECT z, a || 'x' AS y FROM n",
    ]
    nights(made, texts)
    assert column_edges(made) == {"t1.a->fin.z", "t1.b->fin.y"}


@pytest.mark.parametrize("case", sorted(case for case in CASES if not case.startswith("dropped for one")))
def test_a_run_for_each_statement_leaves_what_one_run_does(shop: Opened, case: str) -> None:
    """What was registered before the log, as the sources are, has its columns as they were then."""
    texts, expected = CASES[case]
    made = shop(SOURCES)
    first = 2 if texts[0].startswith("CREATE TABLE w (") else 1  # a table that is filled by nothing is not registered
    nights(made, texts, *range(first, len(texts)), after=time() if case == "of a source" else 0.0)
    assert column_edges(made) == {*expected.split()}
