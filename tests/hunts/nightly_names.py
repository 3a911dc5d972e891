"""Random nights of DDL, whole and night by night, held to what an engine then has under each name.

python -m tests.hunts.nightly_names --first 0 --count 1000 [--readers]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.nights import (
    Edge,
    Names,
    Night,
    Readers,
    growing,
    in_one_run,
    random_nights,
    random_reading_nights,
    records_of,
    side_by_side,
    standing_after,
)

_AT_ONCE = 50


def differences(
    nights: Sequence[Night], engine: Names | Readers, apart: float
) -> list[tuple[str, set[Edge], set[Edge]]]:
    """Where the catalog says something else: after which log, what it says alone, and what it lacks."""
    expected = [*engine.edges_after(nights)]
    parts = records_of(nights, apart)
    found = []
    with TemporaryDirectory() as folder:
        for what, logs, wanted in (
            ("in one run", in_one_run(parts), expected[-1:]),
            ("night by night", growing(parts), expected),
        ):
            told = [*standing_after(Path(folder) / what, logs)]
            pairs = zip(told, wanted, strict=True)
            found += [(f"{what}, {number}", one - other, other - one) for number, (one, other) in enumerate(pairs, 1)]
    return [one for one in found if one[1] or one[2]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--apart", type=float, default=1.0, help="seconds between the statements of a night, maybe 0")
    parser.add_argument("--readers", action="store_true", help="tables that are written out of each other")
    options = parser.parse_args()
    made, engine = (random_reading_nights, Readers) if options.readers else (random_nights, Names)
    seeds = range(options.first, options.first + options.count)
    together = (seeds[start : start + _AT_ONCE] for start in range(0, len(seeds), _AT_ONCE))
    wrong = [
        (some[0], difference)
        for some in together
        for difference in differences(side_by_side([made(seed) for seed in some]), engine(), options.apart)
    ]
    for first, (when, false, missing) in wrong:
        print(f"seeds from {first}, {when}: false {sorted(false)}, missing {sorted(missing)}")
    print(f"{len(seeds)} seeds, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
