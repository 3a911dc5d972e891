"""A project of models as an open source: a definition for each, whatever tool it is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from connectors.model_project import Key, ModelProject, ProjectFailure, ProjectModel
from connectors.source import FailedDefinition, OpenSource
from ingestion.analysis.symbolic import dumps
from ingestion.model.lineage import Flow, StatementKind, StatementLineage, TableName, Target, WriteMode
from ingestion.model.namespaces import RelationKey
from ingestion.model.outcomes import Outcome, StatementEnd, code_of
from ingestion.statements.routines.definition import Definition, DefinitionKind

_DEAD = {code.value: code for code in Outcome if code.end is StatementEnd.DEAD}


def open_models(project: ModelProject) -> OpenSource:
    """A project as an open source."""
    counted = Counter(model.key[0] for model in project.models if model.key[0])
    return OpenSource(
        database=project.default_database or (counted.most_common(1)[0][0] if counted else None),
        views=lambda: _definitions(project),
        keeps=lambda _stored: False,  # other definitions of the catalog are for the source that they came from
        failures=lambda: tuple(map(_failed_definition, project.failures)),
        columns=lambda: {RelationKey(key): columns for key, columns in project.columns.items()},
    )


def _definitions(project: ModelProject) -> Iterator[Definition]:
    for model in project.models:
        if model.text:
            yield Definition(DefinitionKind.VIEW, model.key, model.text)
        elif model.reads:
            yield Definition(DefinitionKind.VIEW, model.key, lineage=table_lineage(model.key, model.reads))
        if model.text and model.declared:
            lineage, recorded_by = _declared_lineage(model), f"dependencies of {model.dotted}"
            yield Definition(DefinitionKind.VIEW, model.key, lineage=lineage, recorded_by=recorded_by)


def table_lineage(target: Key, sources: tuple[Key, ...]) -> bytes:
    """That a relation is made of others, by no column that is known, as `ingestion.analysis.symbolic` writes it."""
    names = tuple(TableName(tuple(filter(None, source))) for source in sources)
    made = Target(TableName(tuple(filter(None, target))), WriteMode.CREATE, view=True)
    return dumps(StatementLineage(StatementKind.CREATE_VIEW, (Flow(made, (), (), names),)))


def _declared_lineage(model: ProjectModel) -> bytes:
    """What a model's tool says that it reads, beside its text: not for certain, as rows need not come from there."""
    sources = tuple(TableName(tuple(filter(None, source))) for source in model.declared)
    flow = Flow(Target(TableName(tuple(filter(None, model.key))), WriteMode.APPEND), (), (), sources)
    return dumps(StatementLineage(StatementKind.INSERT, (flow,), doubted=True))


def _failed_definition(failure: ProjectFailure) -> FailedDefinition:
    location = numbered_location(failure.location)
    key = failure.key if failure.key[2] else ("", "", Path(location.rpartition(":")[0]).stem)
    return FailedDefinition(Definition(DefinitionKind.VIEW, key), location, failure_code(failure.reason))


def numbered_location(location: str) -> str:
    """`file:line` of what may be told by its file alone."""
    return location if location.rpartition(":")[2].isdigit() else f"{location}:1"


def failure_code(reason: str) -> Outcome:
    """The end of a model that has no statement: what its reason begins with, where that is one."""
    return _DEAD.get(code_of(reason), Outcome.UNPARSABLE)
