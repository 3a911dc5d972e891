"""A dbt project as a source: its models as views, and the columns of what no model makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from connectors.dbt.column_index import recorded_definitions
from connectors.dbt.model_statements import DbtProject, ModelStatement, python_models
from connectors.model_source import failure_code, numbered_location, table_lineage
from connectors.source import FailedDefinition, OpenSource, SourceRun
from ingestion.model.lineage import Column
from ingestion.model.namespaces import RelationKey
from ingestion.statements.routines.definition import Definition, DefinitionKind


@contextmanager
def open_source(settings: DbtProject, _run: SourceRun) -> Iterator[OpenSource]:
    """The project, which was read when the run began: what its SQL is, its own artifacts tell."""
    yield OpenSource(
        database=_main_database(settings),
        views=partial(model_definitions, settings),
        keeps=lambda _stored: False,  # other definitions of the catalog are for the source that they came from
        failures=partial(_failed_models, settings),
        columns=lambda: {RelationKey(key): columns for key, columns in columns_by_key(settings).items()},
    )


def _main_database(project: DbtProject) -> str | None:
    """The database in which most of a project's models stand, None where none tells it."""
    counted = Counter(statement.node.relation_key[0] for statement in project.statements)
    return counted.most_common(1)[0][0] or None if counted else None


def model_definitions(project: DbtProject) -> Iterator[Definition]:
    """A view for each model, whatever dbt makes of it: its query says all that its rows come from.

    Of a model in Python, and of one of which a part is not known, it is told which tables it reads, and no column.
    """
    at = project.manifest.generated_at if project.manifest is not None else None
    by_node: dict[str, list[ModelStatement]] = {}
    for statement in project.statements:
        by_node.setdefault(statement.node.unique_id, []).append(statement)
    for first, *others in by_node.values():
        text = first.text
        if others:
            queries = " UNION ALL ".join(f"({one.body}\n)" for one in (first, *others))
            text = f"CREATE VIEW {first.node.relation} AS {queries}"
        yield Definition(DefinitionKind.VIEW, first.node.relation_key, text, at)
    partial = ((one.node, one.reads) for one in project.partial)
    for node, read in (*python_models(project), *partial):
        if read:
            lineage = table_lineage(node.relation_key, tuple(source.relation_key for source in read))
            yield Definition(DefinitionKind.VIEW, node.relation_key, at=at, lineage=lineage)
    yield from recorded_definitions(project.index, project.nodes, project.dialect)


def _failed_models(project: DbtProject) -> tuple[FailedDefinition, ...]:
    """The models that no statement could be made of."""
    return tuple(
        FailedDefinition(
            Definition(DefinitionKind.VIEW, failure.node.relation_key),
            numbered_location(failure.location),
            failure_code(failure.reason),
        )
        for failure in project.failures
    )


def columns_by_key(project: DbtProject) -> dict[tuple[str, str, str], tuple[Column, ...]]:
    """The columns of what no model makes, as far as they are known."""
    return {
        node.relation_key: columns
        for node in project.nodes.values()
        if (columns := project.columns.get(node.dotted)) is not None
    }
