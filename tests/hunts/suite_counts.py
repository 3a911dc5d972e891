"""What a hunt over an engine's own tests is asked for and tells: how often there is which difference, and where."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

Found = tuple[str, str, dict[str, object]]
"""The kinds of difference, the query, and what differs."""


def asked(about: str | None, pattern: str) -> argparse.Namespace:
    """The folder of the engine's tests, which of its files, and where the differences go."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=pattern)
    parser.add_argument("--findings", type=Path)
    return parser.parse_args()


def tell(given: argparse.Namespace, found_in: Callable[[Path], Iterator[Found]]) -> int:
    """Prints the counts; 0 where nothing differs, 1 where something does."""
    counts, findings = Counter[str](), given.findings.open("w") if given.findings else None
    for file in sorted(given.folder.glob(given.only)):
        for kinds, query, differences in found_in(file):
            counts[kinds] += 1
            if findings is not None and differences:
                line = {"file": str(file), "kind": kinds, "sql": query, "detail": differences}
                findings.write(json.dumps(line, default=str) + "\n")
    for kinds, times in counts.most_common():
        print(f"{times:7d} {kinds}")
    return 0 if counts.keys() <= {"equal"} else 1
