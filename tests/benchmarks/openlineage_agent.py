"""Column edges that OpenLineage's Spark agent reports, beside ours out of the event log and the analyzer's own.

The application of the tests is run with the agent's jar and its file transport:

    application.py --jobs sql+dataframe ... --conf spark.jars=openlineage-spark_2.13-1.53.0.jar
      --conf spark.extraListeners=io.openlineage.spark.agent.OpenLineageSparkListener
      --conf spark.openlineage.transport.type=file --conf spark.openlineage.transport.location=EVENTS

    python tests/benchmarks/openlineage_agent.py --root ROOT --events EVENTS

ROOT is the application's folder with `logs`, `truth.json` and `warehouse`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from ingestion.plans.names import NameMapping
from tests.connectors.spark.conftest import read_directory
from tests.support.spark_jobs.comparison import Edge, by_target, direct_edges, wanted


def dataset(item: dict[str, Any], names: NameMapping) -> str:
    """A dataset's name as ours: the table whose location it is, or the path."""
    name = str(item["name"])
    return names.path(name).dotted if name.startswith("/") else name


def agent_edges(events: Path, names: NameMapping) -> dict[str, set[Edge]]:
    """The DIRECT edges that the agent reported, by target; the union over a job's events."""
    found: dict[str, set[Edge]] = defaultdict(set)
    for line in events.read_text().splitlines():
        for output in json.loads(line).get("outputs", []):
            target = dataset(output, names)
            fields = output.get("facets", {}).get("columnLineage", {}).get("fields", {})
            for column, facts in fields.items():
                for source in facts["inputFields"]:
                    kinds = {t["type"] for t in source.get("transformations", [])} or {"DIRECT"}
                    if "DIRECT" in kinds:
                        found[target].add((column, dataset(source, names), source["field"]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--events", required=True, type=Path)
    options = parser.parse_args()
    names = NameMapping(warehouse=str(options.root / "warehouse"))
    agent = agent_edges(options.events, names)
    ours = by_target(read_directory(options.root / "logs", through_views=True))
    totals = {"truth": 0, "agent right": 0, "agent wrong": 0, "ours right": 0, "ours wrong": 0}
    lost: list[tuple[str, Edge]] = []
    jobs = json.loads((options.root / "truth.json").read_text())
    exact = {"agent": 0, "ours": 0}
    print("| job | edges | agent: right, wrong | ours: right, wrong |\n|---|---|---|---|")
    for fact in jobs:
        target = fact["target"].rstrip("/")
        truth = wanted(fact, "direct")
        theirs = agent.get(target, set())
        mine = direct_edges(ours[target][1]) if target in ours else set()
        totals["truth"] += len(truth)
        for name, edges in (("agent", theirs), ("ours", mine)):
            totals[f"{name} right"] += len(edges & truth)
            totals[f"{name} wrong"] += len(edges - truth)
            exact[name] += edges == truth
        lost += [(fact["job"], edge) for edge in (theirs & truth) - mine]
        if theirs != truth or mine != truth:
            row = f"{len(theirs & truth)}, {len(theirs - truth)} | {len(mine & truth)}, {len(mine - truth)}"
            print(f"| {fact['job']} | {len(truth)} | {row} |")
    print(f"\n{len(jobs)} jobs; exact: agent {exact['agent']}, ours {exact['ours']}; {totals}")
    print(f"right edges that only the agent has: {lost}")


if __name__ == "__main__":
    main()
