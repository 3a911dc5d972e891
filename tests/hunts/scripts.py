"""The lineage of many random scripts beside what the engines do: what moves untold, and what is said and cannot move.

python -m tests.hunts.scripts --engine duckdb --seeds 1000 [--first 0] [--nights 3] [--steps 8] [--fillings 2]
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.differential.script_engines import running
from tests.differential.script_grammar import DUCKDB, MARIADB, POSTGRES, Engine, Script, ScriptGrammar
from tests.differential.script_lineage import (
    Comparison,
    Findings,
    nights_of,
    publish,
    script_catalog,
    write_configuration,
    write_night,
)
from workflows.config import load_config
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

_AT_ONCE = 100
"""Scripts in one log."""
ENGINES = {"duckdb": DUCKDB, "mariadb": MARIADB, "postgres": POSTGRES}


def _look(scripts: Mapping[int, Script], given: argparse.Namespace, found: Findings) -> None:
    engine: Engine = ENGINES[given.engine]
    with tempfile.TemporaryDirectory() as folder:
        counts = publish(Path(folder), engine, scripts, given.nights)
        dead = sum(one.dead_total for one in counts)
        with running(engine) as (runner, session), script_catalog(Path(folder)) as catalog:
            for number, script in scripts.items():
                before = len(found.untold) + len(found.unmoved)
                Comparison(catalog, runner, session, given.fillings).compare(number, script, found)
                if len(found.untold) + len(found.unmoved) > before:
                    _tell(number, script, given.nights)
    skipped = {
        str(reason): sum(one.skipped.get(reason, 0) for one in counts) for one in counts for reason in one.skipped
    }
    print(f"up to {max(scripts)}: {found.scripts} scripts, {found.observed} seen to move ({len(found.untold)} untold),")
    print(f"  {found.claims} said to flow ({len(found.unmoved)} unmoved), refused {len(found.refused)}, dead {dead}")
    print(f"  skipped {skipped}", flush=True)


def _tell(number: int, script: Script, nights: int) -> None:
    for night, statements in enumerate(nights_of(number, script, nights)):
        print(f"-- script {number}, night {night}", *statements, sep="\n  ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--nights", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--fillings", type=int, default=2)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    found = Findings()
    with tempfile.TemporaryDirectory() as folder:
        write_configuration(Path(folder), ENGINES[given.engine])
        write_night(Path(folder), {}, 0)
        spark = load_config(Path(folder) / "lineage.yaml", ()).headwater.spark
    with spark_session(spark, GracefulShutdown()):
        for first in range(given.first, given.first + given.seeds, _AT_ONCE):
            seeds = range(first, min(first + _AT_ONCE, given.first + given.seeds))
            made = {seed: ScriptGrammar(seed, ENGINES[given.engine]).script(given.steps) for seed in seeds}
            _look(made, given, found)
    print(*found.untold, *(f"{one} never moved" for one in found.unmoved), sep="\n")


if __name__ == "__main__":
    main()
