"""Secrets and literals in whatever the sources of files may hold, looked for in every byte that runs over them leave.

    python -m tests.hunts.source_canaries [--only superset kafka]

Dashboards of four tools, projects of SQLMesh and Dataform, configurations of Kafka Connect, scripts of Flink, lists of
edges and Snowflake's tasks (`tests/support/source_canaries.json`) hold a canary wherever a password, a URL, a header, a
comment, a default or a literal may stand. Each is run into the embedded catalog and into a file for DataHub, with its
log from DEBUG on, OpenLineage's events and metrics; then the catalog is exported in every form. A line for each source
says what was published and what was found; exit code 1 where a canary was, or where nothing was published.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.support.growing_log import SPARK
from tests.support.run_in_session import command_line, run_that_shows_all
from tests.workflows.run.test_secrecy_of_sources import contents

_SOURCES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "support" / "source_canaries.json").read_text()
)
_CANARY = "kzq{:04}secret"
_FORMS = (("--html", "page.html"), ("--json", "graph.json"), ("--csv", "edges.csv"), ("--odcs", "draft.odcs.yaml"))
_SHOWN = 60
"""Signs before a canary that are told with it."""


def write_files(source: dict[str, Any], folder: Path) -> dict[str, str]:
    """Writes what a source reads; each canary, with what stands before it."""
    canaries: dict[str, str] = {}

    def fill(match: re.Match[str]) -> str:
        canary = _CANARY.format(len(canaries))
        canaries[canary] = " ".join(match.string[max(match.start() - _SHOWN, 0) : match.start()].split())
        return canary

    for name, text in source["files"].items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(re.sub("@@", fill, text))
    return canaries


def workflow(source: dict[str, Any], given: Path, left: Path, sink: dict[str, Any]) -> dict[str, Any]:
    """The YAML of a run over it, which leaves all that a run can."""
    settings = {source["key"]: str(given / source["path"])}
    if source["type"] == "query-log-lineage":
        settings |= {"type": "DatabaseLineage", "queryLogDuration": "30"}
    read = {"type": source["type"], "serviceName": "shop", "sourceConfig": {"config": settings}}
    if source["connection"]:
        read["serviceConnection"] = {"config": {"type": source["connection"]}}
    events = {"type": "file", "log_file_path": str(left / "events.jsonl"), "append": True}
    return {
        "source": read,
        "sink": sink,
        "workflowConfig": {"successThreshold": 0, "openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {
            "spark": {"master": "local[2]", "conf": SPARK},
            "catalog": {"file": str(left / "catalog.db")},
            "deadLetters": str(left / "dead.jsonl"),
            "state": {"url": str(left / "state.db")},
            "metricsFile": str(left / "metrics.prom"),
            "openLineage": {"transport": events},
        },
    }


def runs(name: str, folder: Path) -> Iterator[tuple[int, list[str]]]:
    """For each sink, how many were published, and the canaries that are left with where they are."""
    source, given = _SOURCES[name], folder / "given"
    canaries = write_files(source, given)
    for kind in ("metadata-rest", "datahub-file"):
        left = folder / kind
        left.mkdir()
        config = {"filename": str(left / "datahub.json"), "env": "PROD"} if kind == "datahub-file" else {}
        file = folder / f"{kind}.yaml"
        file.write_text(yaml.safe_dump(workflow(source, given, left, {"type": kind, "config": config})))
        summary = run_that_shows_all(file, left / "shown.txt")
        for form, output in _FORMS:
            command_line(left, "export", "--catalog", str(left / "catalog.db"), form, output)
        found = [
            f"{before!r} in {place}"
            for place, content in contents(left)
            for canary, before in canaries.items()
            if canary.encode() in content.lower()
        ]
        yield summary.counts.published, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=sorted(_SOURCES), default=sorted(_SOURCES))
    given = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    is_clean = True
    for name in given.only:
        with tempfile.TemporaryDirectory(prefix="headwater-canaries-") as scratch:
            (catalog, left), (datahub, left_too) = runs(name, Path(scratch))
        found = sorted({*left, *left_too})
        good = bool(catalog) and not found
        is_clean = is_clean and good
        count = sum(text.count("@@") for text in _SOURCES[name]["files"].values())
        line = f"{name}: {catalog} published, {datahub} for DataHub; {len(found)} of {count} canaries left"
        print(f"{'pass' if good else 'FAIL'} {line}", *found[:5], sep="\n  ", flush=True)
    sys.exit(0 if is_clean else 1)


if __name__ == "__main__":
    main()
