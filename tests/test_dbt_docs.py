"""What docs/dbt.md shows works as it stands there."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from tests.support.dbt_project import BUILT, FRESHNESS, PROJECT
from tests.support.served_runs import carry_out
from workflows.config import load_config

DOCUMENT = (Path(__file__).parents[1] / "docs/dbt.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL) for line in block.splitlines()]
LINES = [line for block in re.findall(r"```text\n(.*?)```", DOCUMENT, re.DOTALL) for line in block.splitlines()]
SHOWN = [line for line in LINES if not line.startswith("warning: drift")]  # which tests/workflows/run/publish shows
WORKFLOW, ADDRESSES, BUCKET, WITH_LOG, ACTION = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project as a person has it, and two manifests of a pull request."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(PROJECT, folder / "my_project")
    write_artifacts(folder / "my_project/target")
    manifest = json.loads((BUILT / "manifest.json").read_text())
    (folder / "base.json").write_text(json.dumps(manifest))
    sales, prices = (manifest["nodes"][f"model.roastery.{name}"] for name in ("daily_sales", "prices.v1"))
    sales["compiled_code"] = sales["compiled_code"].replace("sum(price) as sales,", "")
    prices["compiled_code"] = prices["compiled_code"].replace("bean_code,", "bean_code, min(price) as cheapest,")
    (folder / "head.json").write_text(json.dumps(manifest))
    (folder / "dbt.yaml").write_text(WORKFLOW)
    return folder


def write_artifacts(target: Path) -> None:
    target.mkdir()
    for name in ("manifest.json", "run_results.json", "catalog.json"):
        shutil.copy(BUILT / name, target)
    (target / "sources.json").write_text(json.dumps(FRESHNESS))


@pytest.fixture(scope="module")
def printed(folder: Path) -> str:
    """What all commands print that need no Spark, and a model that asks the warehouse."""
    texts = [carry_out(command, folder) for command in COMMANDS if " run " not in command]
    (folder / "my_project/models/marts/pivoted.sql").write_text("select 1\n\n{{ run_query('x') }}")
    shutil.rmtree(folder / "my_project/target")
    texts.append(carry_out("ingest lineage my_project || test $? = 1", folder))
    macro = folder / "my_project/macros/names.sql"
    macro.write_text("{% macro generate_schema_name(own, node) %}{{ env_var('STAGE') }}{% endmacro %}")
    texts.append(carry_out("ingest lineage my_project || test $? = 1", folder))
    macro.unlink()
    write_artifacts(folder / "my_project/target")
    return "\n".join(texts)


@pytest.mark.parametrize("line", SHOWN)
def test_a_line_that_is_shown_is_printed(line: str, printed: str) -> None:
    assert line in printed


@pytest.mark.spark
@pytest.mark.parametrize("command", [command for command in COMMANDS if " run " in command])
def test_a_run_of_the_documentation_works(spark: SparkSession, command: str, folder: Path, printed: str) -> None:
    assert "100.0 %" in carry_out(command, folder)


def test_the_configuration_has_no_key_without_effect(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    config = load_config(folder / "dbt.yaml")
    assert config.without_effect == ()
    assert config.dbt is not None
    assert config.source.dialect == "duckdb"


@pytest.mark.parametrize("block", [ADDRESSES, BUCKET])
def test_a_place_of_artifacts_is_a_configuration(block: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CI_TOKEN", "hunter2")
    content = yaml.safe_load(WORKFLOW)
    content["source"]["sourceConfig"]["config"] |= yaml.safe_load(block)
    (folder / "elsewhere.yaml").write_text(yaml.safe_dump(content))
    config = load_config(folder / "elsewhere.yaml")
    assert config.without_effect == ()
    assert config.dbt is not None
    assert config.dbt.dbt_config_source.elsewhere is not None


def test_a_log_stands_beside_a_project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    shutil.copy(BUILT / "query_log.csv", folder / "query_history.csv")
    content = yaml.safe_load(WORKFLOW)
    content["source"]["sourceConfig"]["config"] |= yaml.safe_load(WITH_LOG)["source"]["sourceConfig"]["config"]
    (folder / "log.yaml").write_text(yaml.safe_dump(content))
    config = load_config(folder / "log.yaml")
    assert (config.without_effect, config.query_log_location) == ((), "query_history.csv")


def test_the_action_is_a_workflow_that_runs_what_is_there() -> None:
    action = yaml.safe_load(ACTION)
    steps = [step["run"] for step in action["jobs"]["diff"]["steps"] if "run" in step]
    assert any(step.startswith("ingest diff --manifest ../base . ") for step in steps)
    assert action[True] == "pull_request"  # YAML 1.1 reads `on` as a boolean, GitHub as its key
