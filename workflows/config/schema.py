"""The YAML described for editors (JSON Schema) and for people (a commented file to start from)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from connectors.catalog import DEFAULT_CATALOG
from connectors.fields import Model
from ingestion.dialects.connection_types import CONNECTION_TYPES
from workflows.config.explain import model_in
from workflows.config.models.run_config import any_run_config, run_config_model
from workflows.config.models.source import SOURCE_TYPES

_SAMPLE: Mapping[str, str] = {
    "source.type": "query-log-lineage",
    "source.serviceName": "my_service",
    "source.serviceConnection.config.type": "Postgres",
    "source.sourceConfig.config.type": "DatabaseLineage",
    "source.sourceConfig.config.queryLogFilePath": "query_log.csv",
    "sink.type": "metadata-rest",
    "workflowConfig.openMetadataServerConfig.hostPort": "embedded",
    "workflowConfig.successThreshold": "90",
    "headwater.catalog.file": str(DEFAULT_CATALOG),
}
_HEAD = """\
# A lineage workflow. What is commented out shows its default.
# Values may refer to ${VARIABLE}, ${VARIABLE:-default} and ${file:/path/to/a/secret}.
# For completion in editors: `ingest schema > lineage.schema.json`, and as the first line of this file
# yaml-language-server: $schema=lineage.schema.json
"""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the YAML, with the names of all source and connection types."""
    schema = any_run_config().model_json_schema(by_alias=True)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Headwater lineage workflow",
    }
    definitions = schema["$defs"]
    definitions["AnySource"]["properties"]["type"]["enum"] = list(SOURCE_TYPES)
    definitions["SourceConnection"]["properties"]["type"]["enum"] = list(CONNECTION_TYPES)
    return schema


def commented_yaml() -> str:
    """A workflow's YAML that runs once its log and service are named, every other key beside its default."""
    return _HEAD + "\n".join(_lines(run_config_model(), ())) + "\n"


def _lines(model: type[Model], path: tuple[str, ...]) -> Iterator[str]:
    indent = "  " * len(path)
    for name, info in model.model_fields.items():
        key = info.alias or name
        here = (*path, key)
        if isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("x-no-effect"):
            continue
        if not path:
            yield ""
        inner = model_in(info.annotation)
        if inner is not None and _is_section(info, here):
            yield f"{indent}{key}:  # {info.description}"
            yield from _lines(inner, here)
        elif ".".join(here) in _SAMPLE:
            yield f"{indent}{key}: {_SAMPLE['.'.join(here)]}  # {info.description}"
        else:
            yield f"{indent}# {key}: {_default(info)}  # {info.description}"


def _is_section(info: FieldInfo, path: tuple[str, ...]) -> bool:
    """Whether the mapping is shown key by key: one that is there by default, or has keys in the sample."""
    is_there = info.default_factory is not None
    return is_there or any(key.startswith(".".join(path) + ".") for key in _SAMPLE)


def _default(info: FieldInfo) -> str:
    inner = model_in(info.annotation)
    if info.default is None and inner is not None:
        return (
            "{"
            + ", ".join(f"{field.alias or name}: {_default(field)}" for name, field in inner.model_fields.items())
            + "}"
        )
    if info.default is PydanticUndefined or info.default is None:
        return "{}" if info.default_factory is dict else ""
    if isinstance(info.default, tuple):
        return "[]"
    return str(info.default) if isinstance(info.default, str | Path) else json.dumps(info.default)
