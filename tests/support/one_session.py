"""Runs of several workflows in one Spark session, which the first one's YAML describes.

python -m tests.support.one_session FILE...
"""

from __future__ import annotations

import sys
from pathlib import Path

from workflows.config import load_config
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress
from workflows.runtime.signals import GracefulShutdown
from workflows.runtime.spark import spark_session

if __name__ == "__main__":
    configs = [load_config(Path(file)) for file in sys.argv[1:]]
    with spark_session(configs[0].headwater.spark, GracefulShutdown()):
        for config in configs:
            run_workflow(config, RunOptions("run"), LoggedProgress())
