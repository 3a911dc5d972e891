"""The lineage of many random statements beside what their engine does: star orders, conflicts, PIVOT, BY NAME.

python -m tests.hunts.forms --engine duckdb --seeds 500 [--first 0]
"""

from __future__ import annotations

import argparse

from tests.differential.form_grammar import FormGrammar
from tests.differential.form_lineage import FormFindings, compare
from tests.differential.script_engines import running
from tests.hunts.scripts import ENGINES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=ENGINES, default="duckdb")
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    engine = ENGINES[given.engine]
    found = FormFindings()
    with running(engine) as (runner, _):
        for seed in range(given.first, given.first + given.seeds):
            compare(seed, FormGrammar(seed, engine).script(), engine, runner, found)
    print(f"{found.statements} statements, {found.moved} pairs seen to move ({len(found.untold)} untold),")
    print(f"  {found.claims} said to flow ({len(found.unmoved)} unmoved), refused {len(found.refused)}")
    print(*found.refused, *found.untold, *found.unmoved, sep="\n")


if __name__ == "__main__":
    main()
