"""A workflow as an Airflow DAG. Headwater runs in an environment of its own: the scheduler never imports it."""

from __future__ import annotations

import shlex
import subprocess

import pendulum
from airflow.exceptions import AirflowException, AirflowFailException
from airflow.sdk import dag, task

COMMAND = "/opt/headwater/bin/ingest run -c /etc/headwater/lineage.yaml --log-format json"
GIVE_UP = {2: "the configuration is wrong", 3: "too few statements succeeded"}
"""Exit codes after which a repetition will not help."""


@dag(
    dag_id="headwater_lineage",
    schedule="15 * * * *",
    start_date=pendulum.datetime(2026, 1, 1, tz="Europe/Berlin"),
    catchup=False,  # a run reads whatever is new: the latest one makes up for all that were missed
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": pendulum.duration(minutes=5)},
)
def headwater_lineage() -> None:
    """Tokens come in by the environment of the workers, or as ${file:...} in the YAML."""

    @task(execution_timeout=pendulum.duration(hours=1))
    def ingest() -> None:
        code = subprocess.run(shlex.split(COMMAND), check=False).returncode
        if code in GIVE_UP:
            raise AirflowFailException(GIVE_UP[code])
        if code:
            raise AirflowException(f"ingest ended with {code}")

    ingest()


headwater_lineage()
