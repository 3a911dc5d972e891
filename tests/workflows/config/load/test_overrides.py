"""`--set key=value`: by full path or unmistakable end, checked like the file itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.source_settings import FilterPattern
from workflows.config import InvalidConfig, load_config

Write = Callable[..., Path]


@pytest.mark.parametrize(
    "key",
    ["source.sourceConfig.config.resultLimit", "sourceConfig.config.resultLimit", "config.resultLimit", "resultLimit"],
)
def test_a_key_goes_by_its_path_or_its_end(workflow_file: Write, key: str) -> None:
    assert load_config(workflow_file(), [f"{key}=7"]).lineage.result_limit == 7


def test_the_last_setting_wins_and_values_are_yaml(workflow_file: Write) -> None:
    config = load_config(
        workflow_file(),
        [
            "threads=1",
            "threads=2",
            "schemaFilterPattern={includes: [a]}",
            "serviceName=a=b",
            "headwater.spark.conf.spark.driver.memory=2g",
            "spark.conf.spark.ui.enabled=true",
            "serviceConnection.config.password=x1: y2 #3",
        ],
        {},
    )

    assert config.lineage.threads == 2
    assert config.lineage.schema_filter_pattern == FilterPattern(includes=("a",))
    assert config.source.service_name == "a=b"
    assert config.headwater.spark.conf == {"spark.driver.memory": "2g", "spark.ui.enabled": "true"}
    assert config.secrets == ("x1: y2 #3",)


def test_references_work_in_settings(workflow_file: Write) -> None:
    assert load_config(workflow_file(), ["serviceName=${S}"], {"S": "x"}).source.service_name == "x"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("threads", "--set: expected key=value"),
        ("thread=1", "--set: thread: unknown key; did you mean threads?"),
        ("source.sourceConfig.config.thread=1", "unknown key; did you mean threads?"),
        ("type=x", "--set: type: several keys end so: source.type"),
        ("threads=x", "--set: source.sourceConfig.config.threads: expected a whole number"),
        ("threads=[", "--set: source.sourceConfig.config.threads: not valid YAML"),
        ("queryLogFilePath=nope", "--set: source.sourceConfig.config.queryLogFilePath: no such file"),
        ("serviceName=${NOPE}", "--set: source.serviceName: the environment variable NOPE is not set"),
        ("serviceName=", "--set: source.serviceName: expected text, not an empty value"),
        ("sink.config=x", "--set: sink.config: expected a mapping of keys"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(workflow_file: Write, setting: str, message: str) -> None:
    with pytest.raises(InvalidConfig) as caught:
        load_config(workflow_file(), [setting], {})

    assert str(caught.value).startswith(message) or message in str(caught.value)
    assert "\n" not in str(caught.value)
