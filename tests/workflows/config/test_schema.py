"""The JSON Schema and the commented YAML say what the loader does."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from workflows.config import load_config
from workflows.config.explain import known_paths
from workflows.config.models.run_config import any_run_config, run_config_model
from workflows.config.schema import commented_yaml, json_schema

Write = Callable[..., Path]


def every_property(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    models = [schema, *schema["$defs"].values()]
    return [entry for model in models for entry in model.get("properties", {}).items()]


def test_every_key_is_described() -> None:
    assert [name for name, field in every_property(json_schema()) if not field.get("description")] == []


def test_the_schema_knows_every_key_and_every_type() -> None:
    schema = json_schema()

    assert {path[-1] for path in known_paths(any_run_config())} == {name for name, _ in every_property(schema)}
    assert "snowflake-lineage" in schema["$defs"]["AnySource"]["properties"]["type"]["enum"]
    assert "Snowflake" in schema["$defs"]["SourceConnection"]["properties"]["type"]["enum"]
    assert schema["additionalProperties"] is False


def test_the_shipped_configurations_fit_the_schema() -> None:
    import jsonschema

    root = Path(__file__).parents[3]
    for file in (root / "config").glob("*.yaml"):
        for content in yaml.safe_load_all(file.read_text()):
            if "source" in content:
                jsonschema.validate(content, json_schema())


def test_the_commented_yaml_is_the_smallest_workflow(workflow_file: Write) -> None:
    file = workflow_file(commented_yaml().replace("query_log.csv", "log.csv").replace("my_service", "shop"))

    assert load_config(file) == load_config(workflow_file())


def test_the_commented_yaml_has_every_key_and_each_default_holds(workflow_file: Write) -> None:
    text = commented_yaml().replace("query_log.csv", "log.csv").replace("my_service", "shop")
    uncommented = re.sub(r"^( *)# (\w+: \S.*)$", r"\1\2", text, flags=re.MULTILINE)
    uncommented = re.sub(r"^ *(\w+):   #.*$|^ *sslConfig:.*$", "", uncommented, flags=re.MULTILINE)
    shown = set(re.findall(r"^ *(?:# )?(\w+):", text, flags=re.MULTILINE))

    assert load_config(workflow_file(uncommented)) == load_config(workflow_file())
    hidden = {path[-1] for path in known_paths(run_config_model())} - shown
    assert hidden <= {
        # inside patterns, certificates, schema files and names, which are shown on one line
        *("includes", "excludes", "caCertificate", "sslCertificate", "sslKey", "path", "to", "url", "tables", "prefix"),
        # of a column of the log
        *("column", "value", "unit", "zone"),
        # without effect
        *("api_endpoint", "enable_async_pipeline", "async_pipeline_workers", "override_metadata", "authProvider"),
        *("clusterName", "storeServiceConnection", "forceEntityOverwriting", "secretsManagerProvider"),
        *("secretsManagerLoader", "schedule", "cron", "timezone", "jitter", "timeout", "retries", "bulkSink"),
        *("ingestionPipelineFQN", "pipelineRunId", "enableStreamableLogs", "ingestionRunnerName", "processor", "stage"),
    }
