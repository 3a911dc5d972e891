"""The lineage of random scripts, run by run in a catalog, against what engines do when one column's values change."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb
import psycopg
import pytest
from pyspark.sql import SparkSession

from tests.differential.script_engines import (
    DuckDbSession,
    MariaDbClient,
    PostgreSqlSession,
    Runner,
    Session,
    SessionRunner,
)
from tests.differential.script_grammar import DUCKDB, KINDS, MARIADB, POSTGRES, Engine, ScriptGrammar
from tests.differential.script_lineage import Comparison, Findings, publish, script_catalog
from tests.support import live_mariadb, live_postgres

pytestmark = pytest.mark.spark

STEPS = 8
NOT_YET = ("limit",)
NOT_YET_OVER_NIGHTS = ("rename_table", "swap")


@contextmanager
def _runner(engine: Engine) -> Iterator[tuple[Runner, Session | None]]:
    with ExitStack() as kept:
        if engine is DUCKDB:
            connection = kept.enter_context(duckdb.connect(":memory:", config={"threads": 1}))
            session: Session = DuckDbSession(connection)
            yield SessionRunner(session), session
            return
        # as root a server runs under another account, and pytest's own folders shut others out; in memory it is faster
        folder = Path(kept.enter_context(tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None)))
        folder.chmod(0o755)
        if engine is MARIADB:
            yield MariaDbClient(kept.enter_context(live_mariadb.mariadb(folder))), None
            return
        _, uri = kept.enter_context(live_postgres.server(folder / "data"))
        session = PostgreSqlSession(kept.enter_context(psycopg.connect(uri, autocommit=True)))
        yield SessionRunner(session), session


_MEMORY = Path("/dev/shm")
needs_mariadb = pytest.mark.skipif(live_mariadb.MARIADB is None, reason="no MariaDB on this machine")


@pytest.mark.parametrize(
    ("engine", "seeds", "nights"),
    [
        pytest.param(DUCKDB, range(24), 1, id="duckdb, in one run"),
        pytest.param(MARIADB, range(8), 3, id="mariadb, night by night", marks=needs_mariadb),
        pytest.param(POSTGRES, range(68), 3, id="postgres, night by night"),
    ],
)
def test_what_moves_with_a_column_is_tied_to_it_and_what_values_are_said_to_flow_into_can_move(
    spark: SparkSession, tmp_path: Path, engine: Engine, seeds: range, nights: int
) -> None:
    without = (*NOT_YET, *(NOT_YET_OVER_NIGHTS if nights > 1 else ()))
    kinds = [kind for kind in KINDS if kind not in without]
    scripts = {seed: ScriptGrammar(seed, engine, kinds).script(STEPS) for seed in seeds}
    counts = publish(tmp_path, engine, scripts, nights)
    found = Findings()
    with _runner(engine) as (runner, session), script_catalog(tmp_path) as catalog:
        for number, script in scripts.items():
            tried = session if number % 8 == 0 else None  # single statements take longer than whole scripts
            Comparison(catalog, runner, tried, fillings=1).compare(number, script, found)
    assert not found.refused
    assert not found.untold
    assert not found.unmoved
    assert not any(one.dead for one in counts)
    assert found.observed > 8 * len(seeds)
    assert found.claims > 8 * len(seeds)
