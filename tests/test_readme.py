"""Every command in the README works as it stands there, but for the test command itself."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
import yaml

from tests.support import sample_lineage as expected
from tests.support.catalog_contents import opened
from tests.support.shown_yaml import REPOSITORY, example_for, merged

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
TEST_COMMAND = re.compile(r"<!-- test command -->\n```sh\n(.*?)```", re.DOTALL)
SET_UP = "python3 -m venv .venv && .venv/bin/pip install -q . && "
FOREVER = ("serve", "schedule")


def commands() -> Iterator[str]:
    """The lines of all shell blocks, without the set-up, which whoever runs this has done."""
    (test_command,) = TEST_COMMAND.findall(README)
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL):
        if block != test_command:
            yield from (line.removeprefix(SET_UP) for line in block.splitlines() if line.strip())


def is_endless(command: str) -> bool:
    return any(f"ingest {name}" in command and "--help" not in command for name in FOREVER)


def test_what_the_readme_names_is_there() -> None:
    named = set(
        re.findall(r"`((?:ingestion|connectors|workflows|config|docs)/[\w/.]+)`|\]\(((?!http)[\w/.]+)\)", README)
    )
    paths = {path or link for path, link in named}
    assert {path for path in paths if not (REPOSITORY / path).exists()} == set()
    assert len(paths) > 10
    assert len(README.splitlines()) < 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone has and the commands need, with the interpreter that runs the tests as its .venv."""
    folder = tmp_path_factory.mktemp("clone")
    shutil.copytree(REPOSITORY / "config", folder / "config")
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


@pytest.fixture(scope="module")
def printed() -> list[str]:
    """What the commands have printed so far."""
    return []


@pytest.mark.spark
@pytest.mark.parametrize("command", [command for command in commands() if not is_endless(command)])
def test_command_of_the_readme_works(command: str, folder: Path, printed: list[str]) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout + done.stderr
    printed.append(" ".join(done.stdout.split()))


@pytest.mark.spark
def test_the_readme_quotes_what_its_commands_print(printed: list[str]) -> None:
    quoted = re.findall(r"^> (.+?)(?: <br>)?$", README, re.MULTILINE)
    assert len(quoted) >= 3
    assert [line for line in quoted if not any(line in output for output in printed)] == []


@pytest.mark.spark
def test_the_sample_of_the_readme_is_published(folder: Path) -> None:
    """By a process of its own, as whoever tries it has it; other commands add to the catalog."""
    with opened(folder / ".headwater" / "catalog.db") as catalog:
        assert catalog.edges().keys() >= expected.TABLE_EDGES | {expected.PATH_EDGE}
        assert catalog.column_edges() >= expected.COLUMN_EDGES


@pytest.mark.parametrize("command", [command for command in commands() if is_endless(command)])
def test_server_of_the_readme_answers(command: str, folder: Path) -> None:
    serving = subprocess.Popen(["bash", "-c", f"exec {command}"], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        for _attempt in range(200):
            time.sleep(0.1)
            try:
                answer = requests.get("http://127.0.0.1:8585/api/v1/system/version", timeout=5)
                break
            except requests.ConnectionError:
                continue
        assert answer.json()["version"].startswith("2.0")
    finally:
        serving.terminate()
        assert serving.wait(20) == 143


def test_the_python_example_prints_what_its_comments_say(folder: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )
    for promised in re.findall(r"#\s*(.+?)(?:, …)?$", example, re.MULTILINE):
        assert promised in done.stdout


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", README, re.DOTALL))
def test_yaml_of_the_readme_is_accepted(block: str, tmp_path: Path) -> None:
    from workflows.config import load_config

    shown = yaml.safe_load(block)
    content = example_for(shown, tmp_path)
    shown.get("headwater", {}).pop("schemaFiles", None)
    shown.get("source", {}).get("sourceConfig", {}).get("config", {}).pop("queryLogFilePath", None)
    (tmp_path / "lineage.yaml").write_text(yaml.safe_dump(merged(content, shown)))
    load_config(tmp_path / "lineage.yaml", environment={"OPENMETADATA_TOKEN": "t"})


@pytest.mark.spark
def test_the_figures_of_the_sample_are_those_that_the_run_printed(printed: list[str]) -> None:
    """After the commands: they print one after the other."""
    (statements, edges, columns) = re.findall(
        r"\| published \| (\d+) statements, as (\d+) edges with (\d+) column edges", README
    )[0]
    (skipped,) = re.findall(r"\| skipped \| (\d+), ", README)
    for told in (
        f" published {statements} ",
        f" skipped {skipped} ",
        f" edges new {edges} ",
        f" column edges {columns} ",
    ):
        assert any(told in output for output in printed), told
