"""What became of statements, flows and routines, once a sink has told what became of the edges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ingestion.binding.temporary_tables import PersistedFlow
from workflows.lineage.contributions import EdgeKey, is_view
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.source_lineage import NOT_RESOLVED, FlowLineage, SourceLineage
from workflows.lineage.table_entities import GIVEN_UP
from workflows.templates.occurrences import OccurrenceGroup

REJECTED_BY_HAND = "rejected_by_hand"
"""The reason to skip a statement all of whose edges a person rejected."""


@dataclass(frozen=True, slots=True)
class EdgeOutcome:
    """What became of an edge: acknowledged or stored already, or the reason why it is not.

    `overruled`: it is stored, and nobody reads it, since a person rejected it.
    """

    rejected: str | None = None
    overruled: bool = False

    @property
    def stands(self) -> bool:
        return self.rejected is None and not self.overruled


EdgeOutcomes = Mapping[EdgeKey, EdgeOutcome]
"""Of every edge that a SourceLineage names."""


class StatementStatus(StrEnum):
    """How a statement ended."""

    PUBLISHED = "published"
    SKIPPED = "skipped"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """What became of the runs of a statement; `reason` is "" where it was published."""

    group: OccurrenceGroup
    status: StatementStatus
    reason: str = ""


def statement_outcomes(lineage: SourceLineage, edges: EdgeOutcomes) -> tuple[StatementOutcome, ...]:
    """One for every group of runs, in their order."""
    source = lineage.source
    numbers = {group.order: number for number, group in enumerate(source.bound)}
    own: dict[int, list[FlowLineage]] = {}
    through: dict[int, list[FlowLineage]] = {}
    for flow, flow_lineage in zip(source.flows, lineage.flows, strict=True):
        own.setdefault(flow.statement, []).append(flow_lineage)
        for statement in flow.content.via:
            through.setdefault(statement, []).append(flow_lineage)

    def outcome(group: OccurrenceGroup) -> tuple[StatementStatus, str]:
        if group.order in lineage.failures:
            return StatementStatus.DEAD, lineage.failures[group.order].reason
        number = numbers.get(group.order)
        if number is None:
            return StatementStatus.DEAD, source.templates[group.template].dead or "unparsable"
        if number in own:
            return _outcome_of(own[number], edges)
        # what it wrote was folded away: it is published where what read that is
        status, reason = _outcome_of(through.get(number, ()), edges)
        if status is StatementStatus.PUBLISHED:
            return status, reason
        return StatementStatus.SKIPPED, _reason_without_flow(source, number)

    return tuple(StatementOutcome(group, *outcome(group)) for group in source.groups)


def published_flows(lineage: SourceLineage, edges: EdgeOutcomes) -> Iterator[PersistedFlow]:
    """The flows one of whose edges stands at least, those that define views left out."""
    for flow, flow_lineage in zip(lineage.source.flows, lineage.flows, strict=True):
        stands = any(edges[key].stands for key in flow_lineage.edges)
        if stands and not is_view(lineage.source.log, flow):
            yield flow


def overruled_outcomes(edges: EdgeOutcomes, rejected: Collection[EdgeKey]) -> dict[EdgeKey, EdgeOutcome]:
    """The same, those marked that a person `rejected`."""
    return {key: replace(outcome, overruled=key in rejected) for key, outcome in edges.items()}


def processed_routines(
    lineage: SourceLineage, outcomes: Iterable[StatementOutcome], edges: EdgeOutcomes
) -> frozenset[str]:
    """The routines (by key) all of whose statements and edges ended published, or have nothing to publish."""
    unprocessed = {
        outcome.group.routine
        for outcome in outcomes
        if outcome.status is StatementStatus.DEAD or outcome.reason in NOT_RESOLVED
    }
    for flow, flow_lineage in zip(lineage.source.flows, lineage.flows, strict=True):
        refused = any(edges[key].rejected is not None for key in flow_lineage.edges)
        if refused or (flow_lineage.edges and not flow_lineage.whole):
            unprocessed.add(lineage.source.group_of(flow).routine)
    return frozenset(group.routine for group in lineage.source.groups if group.routine) - unprocessed


def _outcome_of(flows: Sequence[FlowLineage], edges: EdgeOutcomes) -> tuple[StatementStatus, str]:
    outcomes = [edges[key] for flow in flows for key in flow.edges]
    if any(outcome.stands for outcome in outcomes):
        return StatementStatus.PUBLISHED, ""
    if outcomes:
        refusal = next((outcome.rejected for outcome in outcomes if outcome.rejected is not None), None)
        if refusal is None:
            return StatementStatus.SKIPPED, REJECTED_BY_HAND
        return StatementStatus.DEAD, refusal or "rejected"
    reason = next((flow.skipped for flow in flows if flow.skipped is not None), "no_lineage")
    return StatementStatus.DEAD if reason in GIVEN_UP else StatementStatus.SKIPPED, str(reason)


def _reason_without_flow(source: LineageSource, number: int) -> str:
    lineage = source.log.statements[number].lineage
    if any(flow.target is not None for flow in lineage.flows):
        return "temporary"
    return "definition" if lineage.changes else "no_lineage"
