"""The models of a dbt project as definitions: what a run reads of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from connectors.dbt.download.artifacts import download_artifacts
from connectors.dbt.model_statements import DbtProject, ModelStatement
from connectors.dbt.opening import open_project
from ingestion.errors import Templated
from ingestion.model import Column
from ingestion.routines.definition import Definition, DefinitionKind
from workflows.config import RunConfig
from workflows.config.dbt import adapter_connection
from workflows.control.scratch import scratch_folder
from workflows.reading.stored_definitions import FailedDefinition

_LINE = re.compile(r":\d+$")


@contextmanager
def local_artifacts(config: RunConfig) -> Iterator[RunConfig]:
    """The configuration with dbt's artifacts on this machine's disk, for the block.

    Raises ConfigError where they are refused or missing, TargetDown where what has them does not answer.
    """
    if config.dbt is None or config.dbt.elsewhere is None:
        yield config
        return
    with scratch_folder("dbt") as folder:
        found = download_artifacts(config.dbt.elsewhere, folder)
        dbt = replace(
            config.dbt,
            project=found["manifest"],
            catalog=found.get("catalog"),
            run_results=found.get("run_results"),
            sources=found.get("sources"),
            elsewhere=None,
        )
        connection = config.source.connection or adapter_connection(dbt)
        yield replace(config, dbt=dbt, source=replace(config.source, connection=connection))


def open_dbt(config: RunConfig) -> DbtProject | None:
    """The project of the source type dbt, None for any other. Raises ConfigError, UnreadableArtifact."""
    if config.dbt is None:
        return None
    return open_project(config.dbt.project, config.source.dialect, config.limits, config.dbt.catalog)


def main_database(project: DbtProject | None) -> str | None:
    """The database in which most of a project's models stand, None where none tells it."""
    if project is None:
        return None
    counted = Counter(statement.node.place[0] for statement in project.statements)
    return counted.most_common(1)[0][0] or None if counted else None


def model_definitions(project: DbtProject) -> Iterator[Definition]:
    """A view for each model, whatever dbt makes of it: its query says all that its rows come from."""
    at = project.manifest.generated_at if project.manifest is not None else None
    by_node: dict[str, list[ModelStatement]] = {}
    for statement in project.statements:
        by_node.setdefault(statement.node.unique_id, []).append(statement)
    for first, *others in by_node.values():
        text = first.text
        if others:
            queries = " UNION ALL ".join(f"({one.body}\n)" for one in (first, *others))
            text = f"CREATE VIEW {first.node.relation} AS {queries}"
        yield Definition(DefinitionKind.VIEW, first.node.place, text, at)


def failed_models(project: DbtProject) -> tuple[FailedDefinition, ...]:
    """The models that no statement could be made of."""
    return tuple(
        FailedDefinition(
            Definition(DefinitionKind.VIEW, failure.node.place),
            failure.place if _LINE.search(failure.place) else f"{failure.place}:1",
            Templated.code if failure.reason.startswith(Templated.code) else "unparsable",
        )
        for failure in project.failures
    )


def columns_by_place(project: DbtProject) -> dict[tuple[str, str, str], tuple[Column, ...]]:
    """The columns of what no model makes, as far as they are known."""
    return {
        node.place: columns
        for node in project.nodes.values()
        if (columns := project.columns.get(node.dotted)) is not None
    }
