"""Builds the roastery with a real dbt and keeps what it wrote: `make_artifacts.py path/to/dbt`.

The dbt is dbt-core below 1.11 with dbt-duckdb; the product needs neither. Of the manifest the macros of dbt's own
packages and what dbt keeps for itself are left out; of the warehouse the answer to DESCRIBE is kept.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PROJECT, BUILT = HERE / "roastery", HERE / "built"
LEFT_OUT = ("docs", "disabled", "parent_map", "child_map", "group_map", "selectors", "saved_queries")
DBTS_OWN = ("dbt", "dbt_duckdb")
WRITING = re.compile(r"^\s*(create|alter|drop|insert|update|delete)\b", re.MULTILINE)
DESCRIBE = """
import duckdb, json, sys
rows = duckdb.connect(sys.argv[1]).execute(
    "select table_schema || '.' || table_name, column_name from information_schema.columns order by 1, ordinal_position"
).fetchall()
print(json.dumps(rows))
"""


def main(dbt: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "roastery"
        shutil.copytree(PROJECT, project)
        for step in (["deps"], ["seed"], ["build"], ["docs", "generate"]):
            subprocess.run([dbt, *step, "--no-send-anonymous-usage-stats", "-q"], cwd=project, check=True)
            if step == ["build"]:
                shutil.copy(project / "target/run_results.json", BUILT)
                write_query_log(dbt, project)
        target = project / "target"
        manifest = json.loads((target / "manifest.json").read_text())
        (BUILT / "manifest.json").write_text(_written(_trimmed(manifest), scratch))
        for name in ("catalog.json", "run_results.json"):
            place = BUILT / name if name == "run_results.json" else target / name
            (BUILT / name).write_text(_written(json.loads(place.read_text()), scratch))
        shutil.rmtree(BUILT / "compiled", ignore_errors=True)
        shutil.copytree(target / "compiled", BUILT / "compiled")
        python = dbt.with_name("python")
        described_tables = subprocess.run(
            [python, "-c", DESCRIBE, project / "roastery.duckdb"], capture_output=True, text=True, check=True
        )
        described: dict[str, list[str]] = {}
        for table, column in json.loads(described_tables.stdout):
            described.setdefault(table, []).append(column)
        (BUILT / "described.json").write_text(json.dumps(described, indent=1) + "\n")


def write_query_log(dbt: Path, project: Path) -> None:
    """What the warehouse was sent by two builds, an incremental one the second, as an export of its log."""
    log = project / "logs" / "dbt.log"
    log.unlink()
    for _build in range(2):
        settings = ["--log-level-file", "debug", "--log-format-file", "json", "--no-send-anonymous-usage-stats", "-q"]
        subprocess.run([dbt, "build", *settings], cwd=project, check=True)
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    with (BUILT / "query_log.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["query_text", "start_time", "database_name", "session_id"])
        for event in sent:
            text = event["data"].get("sql", "")
            if event["info"]["name"] == "SQLQuery" and WRITING.search(text):
                writer.writerow([text.strip(), event["info"]["ts"], "roastery", event["data"]["conn_name"]])


def _trimmed(manifest: dict[str, object]) -> dict[str, object]:
    kept = {name: value for name, value in manifest.items() if name not in LEFT_OUT}
    macros = kept["macros"]
    assert isinstance(macros, dict)
    kept["macros"] = {name: macro for name, macro in macros.items() if macro["package_name"] not in DBTS_OWN}
    return kept


def _written(content: object, scratch: str) -> str:
    return json.dumps(content, separators=(",", ":")).replace(scratch, "/home/dbt") + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
