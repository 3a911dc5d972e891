"""The parts of configurations that pages show, made whole by a configuration that ships."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[2]


def example_for(shown: dict[str, Any], events: Path) -> dict[str, Any]:
    """The content of a shipped configuration that these keys belong to, whose inputs are there from any directory.

    `events` is a directory for event logs.
    """
    history = "spark-history-lineage"
    of_history = shown.get("source", {}).get("type", history) == history and "sparkNames" in shown.get("headwater", {})
    name = "spark_history.yaml" if of_history else "lineage.yaml"
    content: dict[str, Any] = yaml.safe_load((REPOSITORY / "config" / name).read_text())
    source = content["source"]["sourceConfig"]["config"]
    if "eventLogDirectory" in source:
        source["eventLogDirectory"] = str(events)
    else:
        source["queryLogFilePath"] = str(REPOSITORY / "config/sample/query_log.csv")
    content["headwater"].pop("schemaFiles", None)
    return content


def merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """A YAML's content with what another says in place of it, key by key."""
    both = dict(base)
    for key, value in more.items():
        old = both.get(key)
        both[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both
