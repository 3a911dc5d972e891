"""Event logs of Sparks before 4.0, which generator/older_application.py made on them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

OLDER = Path(__file__).parent / "older"
VERSIONS = ("3.3", "3.5")


def kept(name: str) -> dict[str, Any]:
    """What is kept of an older Spark: its whole version, the truth of its jobs, and the events of its applications.

    The name is that of a version, or of one with a table format and an explain mode.
    """
    found: dict[str, Any] = json.loads(gzip.decompress((OLDER / f"spark-{name}.json.gz").read_bytes()))
    assert found["version"].startswith(name.partition("-")[0])
    return found


def write_log(events: list[dict[str, Any]], folder: Path, name: str = "local-1") -> Path:
    """The folder, with an event log of these events in it."""
    lines = [json.dumps(event, separators=(",", ":")) for event in events]
    (folder / name).write_text("".join(line + "\n" for line in lines))
    return folder
