"""A project of models as an open source: a definition for each, whatever tool it is of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from connectors.model_project import Key, ModelProject, ProjectFailure
from connectors.source import FailedDefinition, OpenSource
from ingestion.analysis.symbolic import dumps
from ingestion.errors import Templated
from ingestion.model.lineage import Flow, StatementKind, StatementLineage, TableName, Target, WriteMode
from ingestion.model.namespaces import RelationKey
from ingestion.model.outcomes import Outcome
from ingestion.statements.routines.definition import Definition, DefinitionKind


def open_models(project: ModelProject) -> OpenSource:
    """A project as an open source."""
    counted = Counter(model.key[0] for model in project.models if model.key[0])
    return OpenSource(
        database=counted.most_common(1)[0][0] if counted else None,
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


def table_lineage(target: Key, sources: tuple[Key, ...]) -> bytes:
    """That a relation is made of others, by no column that is known, as `ingestion.analysis.symbolic` writes it."""
    names = tuple(TableName(tuple(filter(None, source))) for source in sources)
    made = Target(TableName(tuple(filter(None, target))), WriteMode.CREATE, view=True)
    return dumps(StatementLineage(StatementKind.CREATE_VIEW, (Flow(made, (), (), names),)))


def _failed_definition(failure: ProjectFailure) -> FailedDefinition:
    location = failure.location if failure.location.rpartition(":")[2].isdigit() else f"{failure.location}:1"
    key = failure.key if failure.key[2] else ("", "", Path(location.rpartition(":")[0]).stem)
    code = Templated.code if failure.reason.startswith(Templated.code) else Outcome.UNPARSABLE
    return FailedDefinition(Definition(DefinitionKind.VIEW, key), location, code)
