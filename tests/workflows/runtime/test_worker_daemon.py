"""What Python workers have loaded before their first task, and where they are not forks of our daemon."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark import daemon

from workflows.config import SparkSettings
from workflows.runtime import worker_daemon
from workflows.runtime.java import Java
from workflows.runtime.spark import spark_conf

MODULE = "spark.python.daemon.module"
JAVA = Java(Path("java"), 17)
PROGRAM = """
import os, sys, zipfile
import pyspark
home = os.path.dirname(pyspark.__file__)
for name in [*sys.modules]:
    if name.startswith("pyspark"):
        del sys.modules[name]
archive = os.path.join(home, "python", "lib", "pyspark.zip")
assert zipfile.is_zipfile(archive)
sys.path.insert(0, archive)
from workflows.runtime import worker_daemon
def fork():
    sys.modules["pyarrow"].array(["a list"])
    print(*sorted(sys.modules), sys.modules["pyspark"].__file__, file=sys.stderr)
worker_daemon._fork = fork
worker_daemon.main()
"""


def test_workers_are_forked_from_what_has_the_code_of_our_tasks_and_is_compiled_once() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert ran.stdout == ""  # there the daemon tells Spark its port, and nothing else
    *loaded, place = ran.stderr.split()
    assert {"pyarrow", "pyspark.worker", "connectors.query_log.text_files", "workflows.run.group.runs"} <= {*loaded}
    assert "pyspark.zip" not in place
    assert "pandas" not in loaded


def test_what_is_not_installed_keeps_no_worker_from_saying_so(monkeypatch: pytest.MonkeyPatch) -> None:
    forked = list[bool]()
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(worker_daemon, "_LOADED", ("no_such_module", "pyspark.worker"))
    monkeypatch.setattr(worker_daemon, "_fork", lambda: forked.append(True))
    worker_daemon.main()
    assert forked == [True]


def test_after_a_task_a_worker_searches_what_is_young_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = list[int]()
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(worker_daemon, "collect_seldom", lambda: None)  # the tests go on in this process
    monkeypatch.setattr(daemon, "gc", gc)
    monkeypatch.setattr(daemon, "manager", lambda: daemon.gc.collect())
    monkeypatch.setattr(worker_daemon, "_LOADED", ())
    monkeypatch.setattr(gc, "collect", searched.append)
    worker_daemon.main()
    assert searched == [1]


@pytest.mark.parametrize(
    ("master", "python", "is_ours"),
    [
        ("local[*]", sys.executable, True),
        ("local", sys.executable, True),
        ("local[*]", "/usr/bin/other-python", False),
        ("local-cluster[1,1,1024]", sys.executable, False),
        ("spark://host:7077", sys.executable, False),
    ],
)
def test_only_workers_of_this_machine_and_interpreter_are_forks_of_our_daemon(
    master: str, python: str, is_ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", python)
    module = spark_conf(SparkSettings(master=master), JAVA).get(MODULE)
    assert module == (worker_daemon.__name__ if is_ours else None)
