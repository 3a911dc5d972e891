"""Applications over Delta Lake and Apache Iceberg, and one log in every form, from one JVM for all their tests.

The jars are built for one Spark each, often not the newest: HEADWATER_FORMATS names a folder that
generator/fetch_formats.sh filled with one that they fit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.connectors.spark.conftest import CHEAP, GENERATOR, LONGEST_RUN, environment
from tests.support.catalog_contents import REPOSITORY

MODES = {
    "default": (),
    "extended": ("spark.sql.ui.explainMode=extended", "spark.sql.debug.maxToStringFields=2000"),
}
LIVE = (("iceberg", "default", "statements"), ("delta", "extended", "frames"))
"""The format, the mode in which plans are printed, and the jobs of each application."""
RUN = {
    "iceberg": (
        "f01", "f03", "f05", "f06", "f07", "f08", "f09", "f12", "f13", "f14", "f15", "f28", "f37", "f38", "f41",
        "m09", "m12", "m13", "m40", "i01",
    ),
    "delta": (
        "g01", "g06", "g08", "g09", "g10", "g11", "g13", "g14", "g17", "g18", "g19", "g23", "g24", "g25", "g26",
        "g27", "g28",
    ),
}  # fmt: skip
"""One job of each way to write: a query of another shape takes a second, and the logs that are kept have all jobs."""


def made_formats(folder: Path) -> Path:
    """A folder with what each application left under the name of its format, and with `forms`; skips without jars."""
    formats = os.environ.get("HEADWATER_FORMATS")
    if not formats or not list(Path(formats, "jars").glob("sqlite-jdbc*.jar")):
        pytest.skip("set HEADWATER_FORMATS to a folder that generator/fetch_formats.sh filled")
    jars = ",".join(str(jar) for jar in sorted(Path(formats, "jars").glob("*.jar")))
    scripts = [_script(folder / form, mode, jobs, jars) for form, mode, jobs in LIVE]
    scripts.append([str(REPOSITORY / "tests/support/log_forms.py"), "--root", str(folder / "forms"), "--jars", jars])
    for name in ("iceberg", "delta", "forms"):
        (folder / name / "logs").mkdir(parents=True)
    spark = {"SPARK_HOME": f"{formats}/spark/deps", "PYTHONPATH": f"{formats}/spark:{REPOSITORY}"}
    done = subprocess.run(
        [sys.executable, str(GENERATOR / "sequence.py"), json.dumps(scripts)],
        cwd=folder, env={**environment(), **spark}, timeout=LONGEST_RUN, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def _script(root: Path, mode: str, jobs: str, jars: str) -> list[str]:
    confs = [f"spark.eventLog.dir={(root / 'logs').as_uri()}", "spark.eventLog.rolling.enabled=false"]
    confs += [*CHEAP, *MODES[mode]]
    script = ["format_application.py", "--format", root.name, "--jobs", jobs, "--jars", jars]
    script += ["--root", str(root), "--truth", str(root / "truth.json")]
    script += [argument for job in RUN[root.name] for argument in ("--only", job)]
    return [*script, *(argument for conf in confs for argument in ("--conf", conf))]
