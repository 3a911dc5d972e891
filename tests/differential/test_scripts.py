"""The lineage of random scripts, run by run in a catalog, against what engines do when one column's values change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.differential.form_grammar import FormGrammar
from tests.differential.form_lineage import FormFindings, compare
from tests.differential.script_engines import Runner, Session, running
from tests.differential.script_grammar import DUCKDB, MARIADB, POSTGRES, Engine, ScriptGrammar
from tests.differential.script_lineage import Comparison, Findings, publish, script_catalog
from tests.support import live_mariadb

pytestmark = pytest.mark.spark

STEPS = 8  # of some scripts; of many more: `tests/hunts/scripts.py`


needs_mariadb = pytest.mark.skipif(live_mariadb.MARIADB is None, reason="no MariaDB on this machine")


_Started = Callable[[Engine], tuple[Runner, Session | None]]


@pytest.fixture(scope="module")
def started() -> Iterator[_Started]:
    """What runs the scripts of an engine, started for the first test that asks for it."""
    with ExitStack() as kept:
        yield cache(lambda engine: kept.enter_context(running(engine)))


@pytest.mark.parametrize(
    ("engine", "seeds", "nights"),
    [
        pytest.param(DUCKDB, range(13), 1, id="duckdb, in one run"),
        pytest.param(MARIADB, range(5), 3, id="mariadb, night by night", marks=needs_mariadb),
        pytest.param(POSTGRES, range(25), 3, id="postgres, night by night"),
    ],
)
def test_what_moves_with_a_column_is_tied_to_it_and_what_values_are_said_to_flow_into_can_move(
    spark: SparkSession, tmp_path: Path, started: _Started, engine: Engine, seeds: range, nights: int
) -> None:
    scripts = {seed: ScriptGrammar(seed, engine).script(STEPS) for seed in seeds}
    counts = publish(tmp_path, engine, scripts, nights)
    found = Findings()
    runner, session = started(engine)
    with script_catalog(tmp_path) as catalog:
        for number, script in scripts.items():
            tried = session if number % 12 == 0 else None  # single statements take longer than whole scripts
            Comparison(catalog, runner, tried, fillings=1).compare(number, script, found)
    assert not found.refused
    assert not found.untold
    assert not found.unmoved
    assert not any(one.dead for one in counts)
    assert found.observed > 8 * len(seeds)
    assert found.claims > 8 * len(seeds)


@pytest.mark.parametrize(
    ("engine", "seeds"),
    [
        pytest.param(DUCKDB, range(6), id="duckdb"),
        pytest.param(MARIADB, range(4), id="mariadb", marks=needs_mariadb),
        pytest.param(POSTGRES, range(6), id="postgres"),
    ],
)
def test_stars_conflicts_turned_columns_and_names_are_read_as_the_engine_reads_them(
    started: _Started, engine: Engine, seeds: range
) -> None:
    found = FormFindings()
    for seed in seeds:
        compare(seed, FormGrammar(seed, engine).script(), engine, started(engine)[0], found)
    assert not found.refused
    assert not found.untold
    assert not found.unmoved
    assert found.claims > 3 * len(seeds)
