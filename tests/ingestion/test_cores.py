"""A process that may use few of a machine's cores counts these alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingestion.cores import cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system gives a process all cores")
def test_only_cores_that_the_process_may_use_count() -> None:
    script = (
        "import os\nfrom ingestion.cores import cores\n"
        "os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])\nprint(cores())"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    alone = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert int(alone.stdout) == 1
    assert cores() >= 1
