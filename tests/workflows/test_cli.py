"""The commands: what they print, where, and how they exit."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
from typer.testing import CliRunner

from ingestion.statements.masking import KEPT
from workflows.cli import app

Write = Callable[..., Path]
ROOT = Path(__file__).parents[2]
COMMANDS = ("run", "validate", "serve", "doctor", "lineage", "init", "schema")


def ingest(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments), env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from workflows.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def test_help_has_examples_and_the_exit_codes() -> None:
    code, shown, _ = ingest("--help")

    assert code == 0
    assert "ingest run -c lineage.yaml" in shown
    for number in ("0", "1", "2", "3", "4", "75", "130", "143"):
        assert re.search(rf"^\s+{number} +\w", shown, re.MULTILINE), number


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    code, shown, _ = ingest(command, "--help")

    assert code == 0
    assert re.search(rf"^\s+(\S+=\S+ |cat \S+ \| )?ingest {command}", shown, re.MULTILINE)


def test_starting_costs_no_heavy_import() -> None:
    heavy = ("pyspark", "pandas", "pyarrow", "sqlglot", "sqlfluff", "fastapi", "requests", "pydantic", "rich")
    program = f"import sys, workflows.cli; print([name for name in {heavy} if name in sys.modules])"

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT, timeout=60
    )

    assert found.stdout == "[]\n"


def test_a_command_is_loaded_without_the_others() -> None:
    program = (
        "import sys\nfrom workflows.cli import app\ntry:\n    app(['lineage', '--help'])\nexcept SystemExit:\n    "
        "print([name for name in sys.modules if name.startswith('workflows.commands.')])"
    )

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT, timeout=60
    )

    assert found.stdout.splitlines()[-1] == "['workflows.commands.options', 'workflows.commands.lineage']"


def test_of_a_command_that_there_is_not_the_nearest_is_named() -> None:
    code, _, shown = ingest("impcat")

    assert code == 2
    assert "Did you mean 'impact'?" in shown


@pytest.mark.parametrize(
    "arguments", [["run"], ["run", "-c"], ["walk"], ["run", "-c", "x", "--nope"], ["lineage"], ["serve", "--port", "x"]]
)
def test_a_wrong_command_line_exits_2(arguments: list[str]) -> None:
    code, _, shown = ingest(*arguments)

    assert code == 2
    assert "Error" in shown


@pytest.mark.parametrize(
    "arguments",
    [["--full", "--since", "2026-01-01"], ["--since", "2026-01-02", "--until", "2026-01-02"]],
)
def test_a_stretch_of_the_log_that_cannot_be_meant_exits_2(arguments: list[str], workflow_file: Write) -> None:
    code, _, shown = ingest("run", "-c", str(workflow_file()), *arguments)

    assert code == 2
    assert "--since" in shown
    assert len(shown.splitlines()) == 1


def test_a_wrong_configuration_is_one_line_and_exit_2_before_anything_starts(
    workflow_file: Write, minimal: str
) -> None:
    file = workflow_file(minimal + "      resultLimt: 5\n      threads: x\n")

    found = process("run", "-c", str(file))

    assert found.returncode == 2
    assert found.stdout == ""
    assert found.stderr == (
        "ingest: lineage.yaml:9: source.sourceConfig.config.resultLimt: unknown key; did you mean resultLimit? "
        "(and 1 more: `ingest validate` lists all)\n"
    )


def test_a_missing_java_is_one_line_and_exit_2_before_spark_starts(workflow_file: Write, tmp_path: Path) -> None:
    found = process("run", "-c", str(workflow_file()), PATH=str(tmp_path), JAVA_HOME="")

    assert found.returncode == 2
    assert len(found.stderr.splitlines()) == 1
    assert found.stderr.startswith("ingest: Java is missing: install Java 17")


def test_keys_without_effect_are_warned_about(workflow_file: Write, minimal: str, tmp_path: Path) -> None:
    file = workflow_file(minimal + "ingestionRunnerName: a.b\n")

    found = process("run", "-c", str(file), "--log-format", "json", PATH=str(tmp_path), JAVA_HOME="")

    [line, _] = found.stderr.splitlines()
    assert json.loads(line)["message"] == "ingestionRunnerName is accepted and has no effect here"
    assert re.fullmatch("[0-9a-f]{32}", json.loads(line)["run_id"])


def test_validate_says_what_a_run_would_do(workflow_file: Write) -> None:
    code, shown, _ = ingest("validate", "-c", str(workflow_file()), "--connect")

    assert code == 0
    assert "lineage.yaml: valid" in shown
    assert "query-log-lineage of shop (postgres), from log.csv" in shown
    assert ".headwater/catalog.db" in shown
    assert not Path(".headwater").exists()


def test_validate_says_which_catalogs_of_spark_are_read(workflow_file: Write) -> None:
    text = "source: {type: spark-lineage, serviceName: lake, sourceConfig: {config: {}}}\n"
    file = workflow_file(text + "workflowConfig: {openMetadataServerConfig: {hostPort: embedded}}\n")
    code, shown, _ = ingest("validate", "-c", str(file))

    assert code == 0
    assert "spark-lineage of lake (spark), from the views of spark_catalog" in shown


def test_validate_lists_all_problems(workflow_file: Write, minimal: str) -> None:
    code, shown, listed = ingest("validate", "-c", str(workflow_file(minimal + "      threads: x\n      a: 1\n")))

    assert (code, shown) == (2, "")
    assert [line.split(":")[1] for line in listed.splitlines()] == ["9", "10"]


def test_validate_connect_exits_75_when_nobody_answers(workflow_file: Write, minimal: str) -> None:
    server = "{hostPort: 'http://127.0.0.1:1/api', securityConfig: {jwtToken: s3cret}}"
    file = workflow_file(minimal + f"workflowConfig: {{openMetadataServerConfig: {server}}}\n")

    assert ingest("validate", "-c", str(file))[0] == 0
    code, _, shown = ingest("validate", "-c", str(file), "--connect")

    assert code == 75
    assert len(shown.splitlines()) == 1
    assert "s3cret" not in shown


@pytest.mark.parametrize("command", [["run"], ["doctor"], ["validate", "--connect"]])
@pytest.mark.parametrize(("there", "message"), [(False, "no such file"), (True, "it holds no PEM certificate")])
def test_a_ca_file_that_is_missing_or_none_is_one_line_that_names_its_key(
    command: list[str], there: bool, message: str, workflow_file: Write, minimal: str, tmp_path: Path
) -> None:
    if there:
        (tmp_path / "ca.pem").write_text("no certificate")
    server = "{hostPort: 'https://127.0.0.1:1/api', securityConfig: {jwtToken: s3cret}, verifySSL: validate, "
    server += f"sslConfig: {{caCertificate: '{tmp_path / 'ca.pem'}'}}}}"
    file = workflow_file(minimal + f"workflowConfig: {{openMetadataServerConfig: {server}}}\n")

    code, listed, shown = ingest(*command, "-c", str(file))

    (line,) = [line for line in (listed + shown).splitlines() if "sslConfig.caCertificate" in line]
    assert code == 2
    assert message in line
    assert "s3cret" not in listed + shown
    assert command == ["doctor"] or len(shown.splitlines()) == 1


def test_validate_connect_names_a_catalog_that_cannot_be_written(workflow_file: Write) -> None:
    code, _, shown = ingest("validate", "-c", str(workflow_file()), "--connect", "--set", "catalog.file=.")

    assert code == 2
    assert "is a directory" in shown


def test_the_shipped_sample_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    for file in sorted((ROOT / "config").glob("*.yaml")):
        text = file.read_text()
        if text.startswith("#") and "\nsource:\n" in text:
            # The log that this one reads is made by a command of its own.
            there = ("--set", "eventLogDirectory=config") if "eventLogDirectory" in text else ()
            code, _, shown = ingest("validate", "-c", str(file.relative_to(ROOT)), *there)
            assert (code, shown) == (0, ""), file


def test_doctor_exits_by_what_it_finds(workflow_file: Write, tmp_path: Path) -> None:
    workflow_file()

    code, shown, _ = ingest("doctor")
    assert code == 0
    assert shown.splitlines()[-len(KEPT) :] == [f"  {kept.what}: {kept.why}" for kept in KEPT]
    code, shown, _ = ingest("doctor", env={"PATH": str(tmp_path), "JAVA_HOME": ""})
    assert code == 2
    assert "failed   Java" in shown
    assert ingest("doctor", "-c", "nope.yaml")[0] == 2


def test_init_writes_once_and_its_file_says_what_to_do(workflow_file: Write, tmp_path: Path) -> None:
    workflow_file()
    printed = ingest("init")[1]

    code, _, _ = ingest("init", "new.yaml")

    assert code == 0
    assert (tmp_path / "new.yaml").read_text() == printed
    code, _, shown = ingest("init", "new.yaml")
    assert code == 2
    assert "is there already" in shown
    assert ingest("validate", "-c", "new.yaml", "--set", "queryLogFilePath=log.csv")[0] == 0


def test_schema_prints_json() -> None:
    assert json.loads(ingest("schema")[1])["title"] == "Headwater lineage workflow"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_serve_says_where_it_answers_until_a_signal_ends_it(
    tmp_path: Path, workflow_file: Write, minimal: str, number: int, code: int
) -> None:
    file = workflow_file(minimal + "headwater: {openLineage: {namespaces: {'hive://meta:1': lake}}}\n")
    program = [sys.executable, "-u", "-c", "from workflows.cli import main; main()", "serve", "--port", "0"]
    program += ["--openlineage", "-c", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HEADWATER_TOKEN": "tok"}
    running = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, text=True, env=environment)
    assert running.stdout is not None
    with running.stdout:
        url = running.stdout.readline().split()[-1]
        headers = {"Authorization": "Bearer tok"}
        assert requests.get(f"{url}/v1/system/version", headers=headers, timeout=10).status_code == 200
        assert requests.get(f"{url}/v1/system/version", timeout=10).status_code == 401
        assert requests.post(f"{url}/v1/lineage", json={}, headers=headers, timeout=10).status_code == 400
        told = {"eventTime": "2026-11-20T08:00:00Z", "dataset": {"namespace": "hive://META:1", "name": "sales.orders"}}
        assert requests.post(f"{url}/v1/lineage", json=told, headers=headers, timeout=10).status_code == 200
        table = f"{url}/v1/tables/name/lake.default.sales.orders"
        assert requests.get(table, headers=headers, timeout=10).status_code == 200
        running.send_signal(number)
        assert running.wait(20) == code
    assert [file.name for file in (tmp_path / ".headwater").iterdir()] == ["catalog.db"]


def test_serve_beyond_loopback_demands_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    code, _, shown = ingest("serve", "--host", "0.0.0.0", "--port", "0", env={"HEADWATER_TOKEN": ""})

    assert code == 2
    assert "token" in shown
