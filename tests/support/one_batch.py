"""What a run does with the batches of a log, of a log that is one batch."""

from __future__ import annotations

from collections.abc import Iterable

from connectors.openmetadata.entities import QueryRecord
from ingestion.binding.binder import BoundLog
from ingestion.model.isolation import Isolation
from ingestion.parsing.templates import ParsedTemplate
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import LineageSource
from workflows.run.group.names import TemplateNames, changing_names, names_by_template
from workflows.run.group.occurrences import GroupedRuns, OccurrenceGroup
from workflows.run.group.runs import Tally
from workflows.run.publish.query_records import LogQueries, queries_behind
from workflows.run.publish.warnings import DoubtfulNames
from workflows.run.resolve.entities import RelationEntities
from workflows.run.resolve.lineage import EdgeOutcomes, SourceLineage
from workflows.run.resolve.resolution import NameResolution, ResolvedNames

_HELD = 5_000


def names_of(templates: Iterable[ParsedTemplate], isolation: Isolation[str]) -> TemplateNames:
    """The changing names of all templates that were parsed."""
    return changing_names(names_by_template(templates, isolation, _HELD))


def groups_of(tallies: Iterable[Tally]) -> list[OccurrenceGroup]:
    """An occurrence for each tally, in the order of time."""
    runs = GroupedRuns(tallies, _HELD)
    return [*runs.occurrences(range(len(runs)))]


def resolved_names(names: NameResolution, source: LineageSource) -> ResolvedNames:
    """The entities of all that the lineage names, once what the target lacks was registered."""
    before, facts = names.look_up(source, names.resolver())
    registered = names.register([facts])
    return names.resolve(source, before, registered, names.resolve_routines(source.routine_statements()))


def name_warnings(names: ResolvedNames, log: BoundLog, settings: SourceSettings) -> tuple[str, ...]:
    found = DoubtfulNames(settings)
    found.add(names, log)
    return found.warnings()


def log_queries(lineage: SourceLineage, entities: RelationEntities, edges: EdgeOutcomes) -> LogQueries:
    """The queries behind the `edges` that stand."""
    queries = LogQueries(1)
    queries.add(queries_behind(lineage, entities, edges))
    return queries


def query_records(
    lineage: SourceLineage, entities: RelationEntities, edges: EdgeOutcomes, service: str
) -> tuple[QueryRecord, ...]:
    (records,) = log_queries(lineage, entities, edges).records(service)
    return records
