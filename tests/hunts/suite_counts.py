"""What a hunt over an engine's own tests is asked for and tells: how often there is which difference, and where."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

Found = tuple[str, str, dict[str, object]]
"""The kinds of difference, the query, and what differs."""

_SECONDS_OF_FILE = 20


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


def in_own_process(file: Path, send: Callable[[Path, Connection], None]) -> Iterator[Found]:
    """What is sent of a file, by a process that an engine may bring down."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=send, args=(file, sending))
    process.start()
    sending.close()
    ended = threading.Timer(_SECONDS_OF_FILE, process.kill)
    ended.start()
    with suppress(EOFError):
        while True:
            yield receiving.recv()
    ended.cancel()
    process.join()
    if process.exitcode:
        yield "file ended by the engine or by time", "", {"ended": process.exitcode}


def is_called(own: str, other: str) -> bool:
    """Whether names are the same, our literals masked and our end cut."""
    longest = 200
    pattern = ".*".join(map(re.escape, own.lower().split("?"))) + (".*" if len(own) == longest else "")
    return re.fullmatch(pattern, other.lower(), re.DOTALL) is not None
