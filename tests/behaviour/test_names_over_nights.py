"""Whatever the order of DDL in a night: after each run the catalog says what the names now hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion import LineageParser
from ingestion.statements.fingerprints import fingerprint
from tests.support.growing_log import contributions_in
from tests.support.nights import (
    Names,
    Readers,
    growing,
    in_one_run,
    random_nights,
    random_reading_nights,
    records_of,
    side_by_side,
    standing_after,
    standing_at,
)

_SEEDS = range(5)
"""More of them: `tests/hunts/nightly_names.py`."""


def test_after_each_night_the_catalog_says_what_the_names_hold(tmp_path: Path) -> None:
    nights = side_by_side([random_nights(seed) for seed in _SEEDS])
    expected = [*Names().edges_after(nights)]
    parts = records_of(nights)
    assert [*standing_after(tmp_path / "whole", in_one_run(parts))] == expected[-1:]
    assert [*standing_after(tmp_path / "nights", growing(parts))] == expected


def test_after_each_night_the_catalog_says_of_what_the_names_then_are_tables_were_made(tmp_path: Path) -> None:
    nights = side_by_side([random_reading_nights(seed) for seed in _SEEDS])
    expected = [*Readers().edges_after(nights)]
    parts = records_of(nights)
    assert [*standing_after(tmp_path / "whole", in_one_run(parts))] == expected[-1:]
    assert [*standing_after(tmp_path / "nights", growing(parts))] == expected


@pytest.mark.parametrize(
    ("dialect", "moved"),
    [
        ("mysql", ["RENAME TABLE wide TO aside, long TO wide, aside TO long"]),
        ("postgres", ["ALTER TABLE wide RENAME TO aside", "ALTER TABLE long RENAME TO wide"]),
        ("postgres", ["DROP TABLE wide", "ALTER TABLE long RENAME TO wide"]),
    ],
)
@pytest.mark.parametrize("dropped_before", [True, False])
def test_a_table_that_was_moved_has_its_columns_for_certain_whatever_had_the_name_after_it_was_made(
    tmp_path: Path, dialect: str, moved: list[str], *, dropped_before: bool
) -> None:
    first = ["CREATE TABLE wide AS SELECT c FROM s0", "DROP TABLE wide"] if dropped_before else []
    made = ["CREATE TABLE long AS SELECT x AS k, y AS v FROM s1", *first, "CREATE TABLE wide AS SELECT z AS w FROM s2"]
    nights = [made, [*moved, "CREATE TABLE made AS SELECT v FROM wide WHERE k > 1"]]
    assert [*standing_after(tmp_path, growing(records_of(nights)), dialect)][-1] >= {("wide", "made"), ("s1", "wide")}
    (found,) = (one for one in contributions_in(tmp_path / "catalog.db", None) if one.target.endswith(".made"))
    assert [one.get("certain", True) for one in found.content["columns"]] == [True, True]


def test_a_column_that_is_dropped_and_added_again_and_again_takes_what_is_written_then(tmp_path: Path) -> None:
    made = ["CREATE TABLE t AS SELECT x AS k FROM s0", "ALTER TABLE t ADD COLUMN v int"]
    again = ["ALTER TABLE t DROP COLUMN v", "ALTER TABLE t ADD COLUMN v int"]
    nights = [made, [*again, *again], ["INSERT INTO t (v) SELECT y FROM s1"]]
    assert [*standing_after(tmp_path, growing(records_of(nights)))][-1] == {("s0", "t"), ("s1", "t")}
    (found,) = (one for one in contributions_in(tmp_path / "catalog.db", None) if one.source.endswith(".s1"))
    assert [one["to"] for one in found.content["columns"]] == ["v"]


_MADE_AGAIN_WITHOUT_ITS_RENAME = [
    ["CREATE OR REPLACE TABLE stg AS SELECT x FROM s0", "ALTER TABLE stg RENAME TO kept", "DROP TABLE IF EXISTS stg"],
    [
        "DROP TABLE IF EXISTS kept",
        "CREATE OR REPLACE TABLE stg AS SELECT x FROM s0",
        "CREATE TABLE IF NOT EXISTS kept AS SELECT x FROM s1",
        "DROP TABLE IF EXISTS stg",
    ],
]
_ROUND_AND_REPLACED = [
    [
        "CREATE OR REPLACE TABLE p AS SELECT x FROM s2",
        "ALTER TABLE p RENAME TO q",
        "ALTER TABLE q RENAME TO r",
        "ALTER TABLE r RENAME TO p",
        "DROP TABLE IF EXISTS r",
        "CREATE OR REPLACE TABLE p AS SELECT x FROM s1",
    ],
    ["INSERT INTO p SELECT x FROM s3"],
]
_MADE_AGAIN_AND_SWAPPED_BACK = [
    [
        "CREATE TABLE u AS SELECT x FROM s2",
        "ALTER TABLE u RENAME TO v",
        "CREATE TABLE u AS SELECT x FROM s1",
        "ALTER TABLE u SWAP WITH v",
    ],
    ["INSERT INTO v SELECT x FROM s0", "CREATE OR REPLACE TABLE v AS SELECT x FROM s1"],
    [
        "DROP TABLE IF EXISTS v",
        "ALTER TABLE u RENAME TO v",
        "CREATE TABLE u AS SELECT x FROM s1",
        "ALTER TABLE v SWAP WITH u",
        "DROP TABLE IF EXISTS v",
    ],
]
_MADE_AGAIN_WHERE_IT_WAS = [
    [
        "CREATE OR REPLACE TABLE f AS SELECT x FROM s0",
        "CREATE OR REPLACE TABLE e AS SELECT x FROM s1",
        "ALTER TABLE f RENAME TO g",
        "INSERT INTO e SELECT x FROM s2",
        "ALTER TABLE e RENAME TO f",
    ],
    [
        "DROP TABLE IF EXISTS g",
        "CREATE OR REPLACE TABLE f AS SELECT x FROM s0",
        "CREATE OR REPLACE TABLE e AS SELECT x FROM s1",
        "DROP TABLE IF EXISTS f",
        "INSERT INTO e SELECT x FROM s2",
    ],
    [
        "CREATE TABLE f AS SELECT x FROM s1",
        "CREATE OR REPLACE TABLE e AS SELECT x FROM s0",
        "DROP TABLE IF EXISTS e",
    ],
]


def test_at_one_time_a_write_is_not_into_what_gets_the_name_afterwards(tmp_path: Path) -> None:
    nights = random_nights(6361)  # in the last, `b` is written into, then made again and exchanged for `a`
    expected = [*Names().edges_after(nights)]
    assert [*standing_after(tmp_path, in_one_run(records_of(nights, apart=0.0)))] == expected[-1:]


def test_what_is_made_again_where_it_was_made_has_no_other_name_that_it_had(tmp_path: Path) -> None:
    longer = [_MADE_AGAIN_AND_SWAPPED_BACK, _MADE_AGAIN_WHERE_IT_WAS]
    nights = side_by_side([*longer, [*_MADE_AGAIN_WITHOUT_ITS_RENAME, []], [*_ROUND_AND_REPLACED, []]])
    expected = [*Names().edges_after(nights)]
    parts = records_of(nights)
    assert [*standing_after(tmp_path / "whole", in_one_run(parts))] == expected[-1:]
    assert [*standing_after(tmp_path / "nights", growing(parts))] == expected


def test_runs_that_see_only_their_own_night_miss_nothing(tmp_path: Path) -> None:
    """They cannot know that the table of an IF NOT EXISTS stood already: only there the catalog says too much."""
    nights = side_by_side([random_nights(seed) for seed in _SEEDS])
    told = [*standing_after(tmp_path, records_of(nights), forgets=True)]
    for number, (found, expected) in enumerate(zip(told, Names().edges_after(nights), strict=True), 1):
        doubtful = {
            text.split()[5].strip("abcd") for night in nights[:number] for text in night if "NOT EXISTS" in text
        }
        assert not expected - found
        assert {table.strip("abcd") for _source, table in found - expected} <= doubtful


_SWAPS = {
    "drop": ("postgres", "DROP TABLE IF EXISTS t", "ALTER TABLE n RENAME TO t"),
    "aside": (
        "postgres",
        "ALTER TABLE t RENAME TO t__dbt_backup",
        "ALTER TABLE n RENAME TO t",
        "DROP TABLE t__dbt_backup",
    ),
    "swap": ("snowflake", "ALTER TABLE n SWAP WITH t", "DROP TABLE n"),
    "replaced": ("doris", "ALTER TABLE t REPLACE WITH TABLE n PROPERTIES('swap' = 'false')"),
    "exchange": ("clickhouse", "EXCHANGE TABLES n AND t", "DROP TABLE n"),
    "together": ("mysql", "RENAME TABLE t TO o, n TO t", "DROP TABLE o"),
    "procedure": ("tsql", "EXEC sp_rename 't', 'o'", "EXEC sp_rename 'n', 't'", "DROP TABLE o"),
}


@pytest.mark.parametrize("swap", sorted(_SWAPS))
def test_a_nightly_swap_leaves_the_newest_source_alone(swap: str, tmp_path: Path) -> None:
    dialect, *exchange = _SWAPS[swap]
    nights = [["CREATE TABLE t AS SELECT x FROM s0"]] + [
        [f"CREATE TABLE n AS SELECT x FROM {source}", *exchange] for source in ("s1", "s1", "s2")
    ]
    parts = records_of(nights, apart=0.0)  # the order of the log tells what a log without times of day does not
    expected = [{(source, "t")} for source in ("s0", "s1", "s1", "s2")]
    assert [*standing_after(tmp_path / "nights", growing(parts), dialect)] == expected
    assert [*standing_after(tmp_path / "whole", in_one_run(parts), dialect)] == expected[-1:]


_ENDS = {
    "swap": _SWAPS["swap"],
    "exchange": _SWAPS["exchange"],
    "swap, both kept": ("snowflake", "ALTER TABLE n SWAP WITH t"),
    "three renames": (
        "postgres",
        "ALTER TABLE t RENAME TO o",
        "ALTER TABLE n RENAME TO t",
        "ALTER TABLE o RENAME TO n",
        "DROP TABLE n",
    ),
    "gone": ("postgres", "DROP TABLE IF EXISTS t", "DROP TABLE n"),
    "moved away": ("postgres", "ALTER TABLE t RENAME TO u", "DROP TABLE u", "DROP TABLE n"),
}


@pytest.mark.parametrize("end", sorted(_ENDS))
def test_what_a_name_held_before_is_told_as_of_then(end: str, tmp_path: Path) -> None:
    """A later run that reads that the name went, or went to another table, takes nothing back of what it held."""
    dialect, *statements = _ENDS[end]
    nights = [["CREATE TABLE t AS SELECT x FROM s0"]] + [
        [f"CREATE OR REPLACE TABLE n AS SELECT x FROM {source}", *statements] for source in ("s1", "s2")
    ]
    if end in ("gone", "moved away"):
        nights = nights[:2]
    for number, _standing in enumerate(standing_after(tmp_path, growing(records_of(nights)), dialect)):
        noons = [86_400.0 * (day + 1.5) for day in range(number + 1)]
        held = [sorted(source for source, table in standing_at(tmp_path, noon) if table == "t") for noon in noons]
        expected = [[f"s{day}"] for day in range(number + 1)]
        assert held == ([["s0"], []] if number and end in ("gone", "moved away") else expected)


def test_a_log_may_both_exchange_tables_and_replace_one_by_another() -> None:
    texts = [
        f"ALTER TABLE d.t REPLACE WITH TABLE n PROPERTIES('swap' = '{swap}')" for swap in ("true", "false", "false")
    ]
    assert len({fingerprint(text, "doris") for text in texts}) == 2
    made = "CREATE TABLE d.n AS SELECT x FROM s; CREATE TABLE d.t AS SELECT y FROM u"
    found = [{f"{a}->{b}" for a, b in LineageParser(f"{made}; {text}", "doris").column_lineage} for text in texts[:2]]
    assert found == [{"s.x->d.t.x", "u.y->d.n.y"}, {"s.x->d.t.x", "u.y->d.t.y"}]


def test_what_rows_were_exchanged_with_may_go_and_the_names_stay_where_they_are(tmp_path: Path) -> None:
    nights = [
        [f"CREATE TABLE n AS SELECT x FROM {source}", "ALTER TABLE t EXCHANGE PARTITION p WITH TABLE n", "DROP TABLE n"]
        for source in ("s1", "s1", "s2")
    ]
    told = standing_after(tmp_path, growing(records_of(nights, apart=0.0)), "mysql")
    assert [*told] == [{("s1", "t")}, {("s1", "t")}, {("s1", "t"), ("s2", "t")}]


def _whole_names(folder: Path) -> set[tuple[str, str]]:
    """From what into what, with the schema of the latter."""
    said = contributions_in(folder / "catalog.db", None)
    return {(one.source.rpartition(".")[2], ".".join(one.target.lower().split(".")[-2:])) for one in said}


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("dialect", "move", "kept"),
    [
        ("snowflake", ("ALTER SCHEMA stg SWAP WITH mart",), True),
        ("snowflake", ("ALTER SCHEMA IF EXISTS db.mart SWAP WITH db.stg",), True),
        ("snowflake", ("DROP TABLE mart.t", "DROP TABLE mart.u", "ALTER SCHEMA stg RENAME TO mart"), False),
        ("postgres", ("DROP TABLE mart.t", "DROP TABLE mart.u", "ALTER SCHEMA stg RENAME TO mart"), False),
    ],
)
def test_what_a_schema_holds_moves_with_it(
    dialect: str, move: tuple[str, ...], kept: bool, whole: bool, tmp_path: Path
) -> None:
    nights = [
        [f"CREATE TABLE mart.{name} AS SELECT x FROM s0" for name in "tu"],
        *(
            [
                f"CREATE OR REPLACE TABLE stg.t AS SELECT x FROM s{n}",
                "CREATE OR REPLACE TABLE stg.u AS SELECT x FROM r",
                *move,
            ]
            for n in (1, 1, 2)
        ),
    ]
    parts = records_of(nights)
    logs = in_one_run(parts) if whole else growing(parts)
    found = [_lower(_whole_names(tmp_path)) for _ in standing_after(tmp_path, logs, dialect)]
    expected = [{("s0", "mart.t"), ("s0", "mart.u")}]
    for now, before in ((1, 0), (1, 1), (2, 1)):
        old = {(f"s{before}", "stg.t"), ("r" if before else "s0", "stg.u")} if kept else set()
        expected.append({(f"s{now}", "mart.t"), ("r", "mart.u"), *old})
    assert found == (expected[-1:] if whole else expected)


def _lower(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(source.lower(), target) for source, target in edges}


def test_in_a_script_what_a_schema_holds_moves_with_it() -> None:
    script = (
        "CREATE TABLE stg.t AS SELECT a FROM s; ALTER SCHEMA stg SWAP WITH mart; CREATE TABLE f AS SELECT a FROM mart.t"
    )
    edges = {(str(e.source).lower(), str(e.target.table).lower()) for e in LineageParser(script, "snowflake").edges}
    assert edges == {("s.a", "mart.t"), ("mart.t.a", "f")}


@pytest.mark.parametrize(
    ("dialect", "renamed"),
    [
        ("exasol", "RENAME SCHEMA stg TO mart"),
        ("clickhouse", "RENAME DATABASE other TO third, stg TO mart ON CLUSTER c"),
        ("clickhouse", "RENAME DATABASE stg TO mart"),
    ],
)
def test_a_schema_is_renamed_by_a_verb_of_its_own(dialect: str, renamed: str) -> None:
    script = f"CREATE TABLE stg.t AS SELECT a FROM s; {renamed}; CREATE TABLE f AS SELECT a FROM mart.t"
    edges = {(str(e.source).lower(), str(e.target.table).lower()) for e in LineageParser(script, dialect).edges}
    assert edges == {("s.a", "mart.t"), ("mart.t.a", "f")}


def test_of_a_schema_of_which_nothing_is_known_nothing_is_said() -> None:
    script = "INSERT INTO f SELECT a FROM mart.t; ALTER SCHEMA other RENAME TO mart"
    (edge,) = LineageParser(script, "postgres").edges
    assert (str(edge.source), str(edge.target.table)) == ("mart.t.a", "f")
