"""The archive of Spark's classes, made by a run over a log of a few statements."""

from __future__ import annotations

import json
import subprocess
import tempfile
import uuid
from pathlib import Path

from pyspark import SparkContext

from ingestion.errors import ConfigError
from workflows.config import load_config
from workflows.run.start import run_workflow
from workflows.runtime.java import options_to_make
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress
from workflows.runtime.spark import CLASS_PATH

_LOG = """query_text,database_name,schema_name,start_time,user_name
create view v as select a.x from a,db,public,2026-01-01 00:00:00,ann
insert into t select x from v,db,public,2026-01-01 00:01:00,ann
insert into u select x from t,db,public,2026-01-01 00:02:00,bob
"""
_LATER = "insert into w select x from u,db,public,2026-01-01 00:03:00,bob\n"

_WORKFLOW = """
source:
  type: query-log-lineage
  serviceName: archive
  serviceConnection: {{config: {{type: Snowflake}}}}
  sourceConfig: {{config: {{type: DatabaseLineage, queryLogFilePath: {log}}}}}
sink: {{type: metadata-rest, config: {{}}}}
workflowConfig: {{openMetadataServerConfig: {{hostPort: embedded}}}}
headwater:
  catalog: {{file: {catalog}}}
  deadLetters: {dead_letters}
  spark: {{conf: {{spark.driver.defaultJavaOptions: {options}, {class_path}: ""}}}}
"""


def make_class_archive(file: Path) -> None:
    """Writes the archive of the classes that runs need, by two small ones; `file` is whole or not there.

    It needs a process that has not started Spark yet. Raises what a run raises, OSError where the folder of `file`
    cannot be written, and ConfigError where Java leaves no archive.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as made:
        unfinished, log = Path(made) / "classes.jsa", Path(made) / "log.csv"
        workflow = archiving_workflow(log, unfinished)
        for content in (_LOG, _LOG + _LATER):  # what a run does that finds an earlier one's state is archived too
            log.write_text(content, "utf-8")
            run_workflow(load_config(workflow), RunOptions(uuid.uuid4().hex), LoggedProgress())
        code = _end_jvm()
        if not unfinished.is_file():
            raise ConfigError(
                f"Java ended with {code} and left no archive of its classes: see JAVA_HOME, JAVA_TOOL_OPTIONS"
            )
        unfinished.replace(file)


def archiving_workflow(log: Path, archive: Path) -> Path:
    """Writes, beside `log`, the file of a workflow that reads it, and whose JVM leaves the `archive` when it ends.

    Its options stand in place of those that map an archive which is there already: no JVM can do both.
    """
    folder = log.parent
    files = {"log": log, "catalog": folder / "catalog.db", "dead_letters": folder / "dead_letters.jsonl"}
    texts = {name: json.dumps(str(file)) for name, file in files.items()}
    workflow = folder / "lineage.yaml"
    options = json.dumps(options_to_make(archive))
    workflow.write_text(_WORKFLOW.format(**texts, options=options, class_path=CLASS_PATH), "utf-8")
    return workflow


def _end_jvm() -> int:
    """Waits until the JVM has archived its classes and is gone; its exit code."""
    gateway = SparkContext._gateway
    assert gateway is not None
    process: subprocess.Popen[bytes] = gateway.proc
    gateway.shutdown()
    assert process.stdin is not None
    process.stdin.close()
    return process.wait()
