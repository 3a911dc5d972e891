"""Two states of a dbt project as one document for the page: their lineage before and after, and what changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from connectors.dbt.opening import open_project
from ingestion.model import Json
from ingestion.parsing.parser_pool import Limits
from ingestion.scripts.lineage_graph import lineage_graph
from workflows.sql_files.dbt_models import schema_of
from workflows.sql_files.manifest_diff import ModelChangeKind, manifest_diff

_OF_COLUMNS = frozenset(
    {ModelChangeKind.COLUMN_ADDED, ModelChangeKind.COLUMN_DROPPED, ModelChangeKind.COLUMN_REDEFINED}
)


def manifest_document(base: Path, head: Path, dialect: str | None, timeout_seconds: float) -> Json:
    """The graph of the project at `head`, with that of `base` as `before`, and the changes with what they break.

    `timeout_seconds` is for each parser on one statement. Raises ConfigError and UnreadableArtifact.
    """
    before, after = (_graph(path, dialect, timeout_seconds) for path in (base, head))
    names = {name.lower(): name for graph in (before, after) for name in _card_names(graph)}
    changes = []
    for change in manifest_diff(base, head, dialect, timeout_seconds).changes:
        table, _, column = change.name.rpartition(".") if change.kind in _OF_COLUMNS else (change.name, "", "")
        fields = {"kind": str(change.kind), "name": change.name, "entity": names.get(table, ""), "path": column}
        changes.append({**fields, "reaches": list(change.reaches), "broken": list(change.broken)})
    return {**after, "before": before, "changes": changes, "compared": f"{base.name} compared with {head.name}"}


def _graph(path: Path, dialect: str | None, timeout_seconds: float) -> dict[str, Any]:
    project = open_project(path, dialect, Limits(seconds=timeout_seconds))
    texts = [statement.text for statement in project.statements]
    graph = lineage_graph(texts, project.dialect, schema_of(project), timeout_seconds)
    return graph.to_json()


def _card_names(graph: Json) -> list[str]:
    return [card["fullyQualifiedName"] for card in graph["nodes"]]
