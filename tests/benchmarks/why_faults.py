"""How often `ingest why` names the culprit first, or among the first three, beside two simpler answers.

Pipelines run in DuckDB for five days, with tests of some of their tables. On the last day one table has a fault. The
log goes through two ordinary runs (the last day by itself); tests' results, and what jobs tell of about half of the
tables (rows, types, failures), come as OpenLineage's events. Then the furthest table downstream with a failing test is
asked about.

    python tests/benchmarks/why_faults.py --work DIR [--cases 200] [--seed 1] [--held-out]

`--held-out` takes graph shapes that no weight was chosen on. Needs the package duckdb. On a loaded machine
200 cases take half an hour.
"""

from __future__ import annotations

import argparse
import csv
import json
import pickle
import random
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import requests
import yaml

sys.path.insert(0, str(Path(__file__).parents[2]))

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.why.report import CauseReport
from connectors.catalog.questions.why.search import causes_in_file
from tests.benchmarks.why_pipelines import DAYS, FIRST_DAY, HELD_OUT, SEEN, Case, made_case

SERVICE = "bench"


def made_cases(count: int, seed: int, shapes: tuple[str, ...]) -> list[Case]:
    """Cases whose fault some test noticed downstream, the kinds of fault in turn."""
    chance = random.Random(seed)
    found: list[Case] = []
    while len(found) < count:
        case = made_case(len(found), shapes[len(found) % len(shapes)], chance.randrange(2**31))
        if case is not None:
            found.append(case)
    return found


def write_log(cases: list[Case], file: Path, *, last_day: bool) -> None:
    border = FIRST_DAY + timedelta(days=DAYS - 1)
    records = [
        (time, f"c{case.number}", *rest) for case in cases for time, *rest in case.log if (time >= border) is last_day
    ]
    with file.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("at", "db", "body", "outcome"))
        writer.writerows((f"{time:%Y-%m-%d %H:%M:%S}", db, sql, status) for time, db, sql, status in sorted(records))


def ingest(work: Path, catalog: Path) -> None:
    config = {
        "source": {
            "type": "query-log-lineage",
            "serviceName": SERVICE,
            "serviceConnection": {"config": {"type": "Postgres"}},
            "sourceConfig": {
                "config": {"type": "DatabaseLineage", "queryLogFilePath": f"{work}/logs/*.csv", "resultLimit": 10**7}
            },
        },
        "sink": {"type": "metadata-rest", "config": {}},
        "workflowConfig": {"successThreshold": 0, "openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {
            "catalog": {"file": str(catalog)},
            "deadLetters": str(work / "dead.jsonl"),
            "registerTables": "always",
            "queryLogTimezone": "UTC",
            "queryLogColumns": {"text": "body", "time": "at", "database": "db", "status": "outcome"},
        },
    }
    (work / "bench.yaml").write_text(yaml.safe_dump(config))
    subprocess.run([sys.executable, "-m", "workflows", "run", "-c", str(work / "bench.yaml")], check=True)


def events_of(case: Case) -> list[dict[str, Any]]:
    """Tests at 6 o'clock of the last three days, and what a job tells of its loads."""
    events = []
    for day, results in list(case.results.items())[2:]:
        tables: dict[str, list[dict[str, Any]]] = {}
        for one, passed in results:
            tables.setdefault(one.table, []).append(
                {"assertion": one.name, "success": passed, **({"column": one.column} if one.column else {})}
            )
        inputs = [
            {**dataset(case, table), "inputFacets": {"dataQualityAssertions": {"assertions": told}}}
            for table, told in tables.items()
        ]
        events.append(event(f"c{case.number}.tests", FIRST_DAY + timedelta(days=day, hours=6), inputs=inputs))
    for number, (time, table, rows, types) in enumerate(case.loads):
        fields = [{"name": name, "type": kind} for name, kind in types.items()]
        output = {**dataset(case, table), "facets": {"schema": {"fields": fields}}}
        if rows is not None:
            output["outputFacets"] = {"outputStatistics": {"rowCount": rows}}
        kind = {"eventType": "FAIL" if rows is None else "COMPLETE"}
        events.append(event(f"c{case.number}.{table}.{number}", time, outputs=[output]) | kind)
    return events


def dataset(case: Case, table: str) -> dict[str, Any]:
    return {"namespace": SERVICE, "name": f"c{case.number}.{table}"}


def event(run: str, time: Any, **more: Any) -> dict[str, Any]:
    job = {"namespace": "bench", "name": run.partition(".")[2]}
    return {"eventType": "COMPLETE", "eventTime": time.isoformat(), "run": {"runId": run}, "job": job, **more}


def post(cases: list[Case], catalog: Path) -> None:
    with running_catalog(CatalogConfig(catalog, port=0)) as address:
        for case in cases:
            answer = requests.post(f"{address.url}/v1/openlineage/lineage/batch", json=events_of(case), timeout=600)
            answer.raise_for_status()
            assert answer.json()["summary"]["failed"] == 0, answer.text[:500]


def places(case: Case, report: CauseReport, seed: int) -> dict[str, int]:
    """The culprit's place (from 1; 99: it is not named) in our answer and in two simpler ones."""
    ways = {one.table: one.way.hops for one in report.suspects}
    prefix = f"{SERVICE}.c{case.number}."
    failing = {f"{prefix}{one.table}" for one, passed in case.results[DAYS - 1] if not passed}
    asked = f"{prefix}{case.asked}"
    upstream = sorted(ways.keys() - {asked})
    nearest = sorted(upstream, key=lambda name: (name not in failing, ways[name], name))
    shuffled = random.Random(seed * 1_000 + case.number).sample(upstream, len(upstream))
    ours = [one.table for one in (*report.accused, *report.others)]
    culprit = f"{prefix}{case.culprit}"
    rankings = {"why": ours, "nearest failing upstream": nearest, "random": shuffled}
    return {name: ranked.index(culprit) + 1 if culprit in ranked else 99 for name, ranked in rankings.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--ask-again", action="store_true", help="Of the catalog that is in DIR.")
    parser.add_argument("--misses", action="store_true", help="Print each case whose culprit is not first.")
    options = parser.parse_args()
    catalog, kept = options.work / "catalog.db", options.work / "cases.pickle"
    if options.ask_again:
        cases = pickle.loads(kept.read_bytes())
    else:
        (options.work / "logs").mkdir(parents=True)
        cases = made_cases(options.cases, options.seed, HELD_OUT if options.held_out else SEEN)
        kept.write_bytes(pickle.dumps(cases))
        for last_day in (False, True):
            write_log(cases, options.work / "logs" / f"part{int(last_day)}.csv", last_day=last_day)
            ingest(options.work, catalog)
        post(cases, catalog)
    found: list[tuple[Case, dict[str, int]]] = []
    at = round((FIRST_DAY + timedelta(days=DAYS - 1, hours=7)).timestamp() * 1000)
    for case in cases:
        report = causes_in_file(catalog, f"{SERVICE}.c{case.number}.{case.asked}", When(at)).content
        found.append((case, places(case, report, options.seed)))
        if options.misses and found[-1][1]["why"] > 1:
            first = [(one.table, one.score, [e.text for e in one.evidence]) for one in report.suspects[:3]]
            print(
                json.dumps([case.number, case.shape, case.fault, case.culprit, case.asked, found[-1][1]["why"], first])
            )
    print_figures(found)


def print_figures(found: list[tuple[Case, dict[str, int]]]) -> None:
    print(f"{len(found)} faults, {Counter(case.shape for case, _ in found)}")
    for name in found[0][1]:
        first, three = (sum(place[name] <= most for _, place in found) / len(found) for most in (1, 3))
        print(f"{name:26} first {first:6.1%}   first three {three:6.1%}")
    for fault in dict.fromkeys(case.fault for case, _ in found):
        of_kind = [place["why"] for case, place in found if case.fault == fault]
        shares = [sum(place <= most for place in of_kind) / len(of_kind) for most in (1, 3)]
        print(f"  {fault:24} first {shares[0]:6.1%}   first three {shares[1]:6.1%}   of {len(of_kind)}")


if __name__ == "__main__":
    main()
