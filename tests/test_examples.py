"""The shipped examples for schedulers: well-formed, and their command lines are ones that `ingest` takes."""

from __future__ import annotations

import ast
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

CONFIG = Path(__file__).parents[1] / "config"


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((CONFIG / name).read_text()))


def kubernetes() -> dict[str, Any]:
    container: dict[str, Any] = pod()["containers"][0]
    return container


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = documents("kubernetes-cronjob.yaml")[0]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return spec


def dag_constants() -> dict[str, str]:
    """The DAG's own strings; Airflow itself is not needed to read them."""
    tree = ast.parse((CONFIG / "airflow_dag.py").read_text())
    return {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def command_lines() -> Iterator[tuple[str, list[str]]]:
    yield "kubernetes", kubernetes()["command"]
    yield "airflow", shlex.split(dag_constants()["COMMAND"])
    for step in documents("github-actions.yaml")[0]["jobs"]["ingest"]["steps"]:
        if "ingest" in step.get("run", "").split():
            yield "github", shlex.split(step["run"])


COMMANDS = list(command_lines())


def test_every_example_has_a_command() -> None:
    assert [name for name, _ in COMMANDS] == ["kubernetes", "airflow", "github"]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_each_command_line_is_taken_and_ends_in_the_configuration_s_own_words(
    name: str, command: list[str], tmp_path: Path
) -> None:
    program, *arguments = command
    assert Path(program).name == "ingest"
    (tmp_path / "broken.yaml").write_text("source: {}\n")
    place = arguments.index("-c") + 1
    arguments[place] = str(tmp_path / "broken.yaml")
    ended = subprocess.run(
        [sys.executable, "-m", "workflows", *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    # The options were understood: what is wrong is what the file says.
    assert ended.returncode == 2
    assert "broken.yaml" in ended.stderr
    assert "No such option" not in ended.stderr


def test_the_workflow_in_the_config_map_is_valid(tmp_path: Path) -> None:
    text = documents("kubernetes-cronjob.yaml")[1]["data"]["lineage.yaml"]
    (tmp_path / "lineage.yaml").write_text(text.replace("/var/log/exports", str(tmp_path)))
    environment = {"OPENMETADATA_TOKEN": "a-token-of-ours", "HEADWATER_STATE_URL": "postgresql://h:pw@db/headwater"}
    ended = subprocess.run(
        [sys.executable, "-m", "workflows", "validate", "-c", str(tmp_path / "lineage.yaml")],
        capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "a-token-of-ours" not in ended.stdout


def test_the_cron_job_never_overlaps_and_gives_a_run_time_to_drain() -> None:
    spec = documents("kubernetes-cronjob.yaml")[0]["spec"]
    assert spec["concurrencyPolicy"] == "Forbid"
    assert pod()["restartPolicy"] == "Never"
    assert pod()["terminationGracePeriodSeconds"] >= 60
    never_again = spec["jobTemplate"]["spec"]["podFailurePolicy"]["rules"][0]["onExitCodes"]
    assert set(never_again["values"]) == {2, 3}
    assert (
        kubernetes()["name"]
        == spec["jobTemplate"]["spec"]["podFailurePolicy"]["rules"][0]["onExitCodes"]["containerName"]
    )


@pytest.mark.parametrize(("code", "raised"), [(0, None), (1, "Again"), (2, "Never"), (3, "Never"), (75, "Again")])
def test_airflow_repeats_only_what_may_pass(code: int, raised: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    again, never = type("Again", (Exception,), {}), type("Never", (Exception,), {})
    anything = SimpleNamespace(datetime=lambda *_a, **_k: None, duration=lambda **_k: None)
    ran: list[Callable[[], None]] = []
    sdk = SimpleNamespace(
        dag=lambda **_k: lambda function: function,
        task=lambda **_k: lambda function: lambda: ran.append(function),
    )
    errors = SimpleNamespace(AirflowException=again, AirflowFailException=never)
    for name, module in {"airflow.sdk": sdk, "airflow.exceptions": errors, "pendulum": anything}.items():
        monkeypatch.setitem(sys.modules, name, module)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "airflow", SimpleNamespace())  # type: ignore[arg-type]
    dag = runpy.run_path(str(CONFIG / "airflow_dag.py"))
    monkeypatch.setitem(ran[0].__globals__, "COMMAND", f"{sys.executable} -c 'raise SystemExit({code})'")
    assert dag["GIVE_UP"].keys() == {2, 3}
    if raised is None:
        ran[0]()
        return
    with pytest.raises({"Again": again, "Never": never}[raised]):
        ran[0]()


def test_no_example_holds_a_secret() -> None:
    for file in ("kubernetes-cronjob.yaml", "airflow_dag.py", "github-actions.yaml"):
        for value in re.findall(r"(?i)(?:token|password)\"?\s*[:=]\s*(.+)", (CONFIG / file).read_text()):
            assert re.search(r"\$\{|\{\{|secretKeyRef|openmetadata-token|OPENMETADATA_TOKEN", value), value
