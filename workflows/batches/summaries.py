"""What a batch tells of itself once it is resolved, and once it is published: counts, and what concerns all batches.

It is little beside the batch, and crosses from a task of Spark to the driver.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from ingestion.binding.relations import Relation
from ingestion.isolation import Failure
from ingestion.model import ProblemKind
from workflows.batches.counting import agreement_counts, statement_counts
from workflows.config.namespaces import SourceSettings
from workflows.lineage.entity_resolution import ResolvedNames
from workflows.lineage.outcomes import StatementStatus, processed_routines
from workflows.lineage.routine_entities import RoutineEntities
from workflows.lineage.source_lineage import SourceLineage
from workflows.lineage.table_entities import EntityStatus
from workflows.publishing.name_warnings import DoubtfulNames
from workflows.publishing.stage import PublishedLineage
from workflows.report.counts import RunCounts


@dataclass(frozen=True, slots=True)
class LineageSummary:
    """Of what a batch says, before it is published.

    `statuses`: those of its relations, each with what another batch may know it by.
    `names`: how often each name of a status was met. `targets`: the ids of the entities that something is said of,
    `given_up` those of edges that cannot be said. `met`: the templates that this run's statements have. `incomplete`:
    how many of its plans were cut.
    """

    statuses: tuple[tuple[bytes, EntityStatus], ...]
    names: Mapping[EntityStatus, Mapping[str, int]]
    doubtful: DoubtfulNames
    routines: RoutineEntities
    complete: frozenset[str]
    failures: Mapping[str, Failure]
    incomplete: int
    met: frozenset[str]
    requests: int
    targets: frozenset[str]
    given_up: frozenset[str]


@dataclass(frozen=True, slots=True)
class PublishedSummary:
    """Of what became of a batch: counts, why templates (by fingerprint) are dead, and the routines that are done."""

    counts: RunCounts
    dead: Mapping[str, str]
    processed: frozenset[str]


def lineage_summary(lineage: SourceLineage, names: ResolvedNames, settings: SourceSettings) -> LineageSummary:
    """What a batch says, in short; its `names` are those of its `lineage`."""
    source = lineage.source
    doubtful = DoubtfulNames(settings)
    doubtful.add(names, source.log)
    targets = {request.edge.to_entity.id for request in lineage.requests}
    targets.update(one.to_entity.id for one in lineage.replacements)
    return LineageSummary(
        statuses=tuple((_mark(source.log.relations[n]), status) for n, status in names.entities.statuses.items()),
        names=names.entities.names,
        doubtful=doubtful,
        routines=names.routines,
        complete=lineage.complete,
        failures=lineage.template_failures,
        incomplete=source.problems()[ProblemKind.INCOMPLETE],
        met=frozenset(group.template for group in source.groups if group.fresh),
        requests=len(lineage.requests),
        targets=frozenset(targets),
        given_up=frozenset(target for _source, target in lineage.given_up),
    )


def published_summary(lineage: SourceLineage, published: PublishedLineage) -> PublishedSummary:
    """What became of a batch, in short."""
    outcomes = published.outcomes
    counts = statement_counts(outcomes) + RunCounts(edges=published.counts) + agreement_counts(published.requests)
    dead = {one.group.template: one.reason for one in outcomes if one.status is StatementStatus.DEAD}
    return PublishedSummary(counts, dead, processed_routines(lineage, outcomes, published.edges))


def _mark(relation: Relation) -> bytes:
    """What no other relation of the log has, in few bytes: they are kept of all."""
    return hashlib.blake2b(repr(relation.identity).encode("utf-8", "surrogatepass"), digest_size=16).digest()
