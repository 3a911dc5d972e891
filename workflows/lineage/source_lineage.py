"""SourceLineage: what a log says of entities, as the requests that a sink takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ingestion.binding.restored_names import Order
from ingestion.binding.temporary_tables import PersistedFlow
from ingestion.entities import EntityReference
from ingestion.isolation import Failure, FailureStage, Isolation
from ingestion.lineage_request import AddLineageRequest, EdgeSource, Replacement
from workflows.lineage.contributions import (
    ContributionBuilder,
    EdgeContributions,
    EdgeKey,
    is_view,
    repetitions,
    requests_of,
)
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.routine_entities import RoutineEntities
from workflows.lineage.table_entities import GIVEN_UP, EntityStatus, RelationEntities

NOT_RESOLVED = frozenset({EntityStatus.AMBIGUOUS, EntityStatus.UNRESOLVED, EntityStatus.UNPLACED, *GIVEN_UP})
"""What a name may come to now and not the next time."""

_SUPERSEDED = "superseded"
_NOTHING_TO_SAY = frozenset({"self_reference", "no_source"})


@dataclass(frozen=True, slots=True)
class FlowLineage:
    """What became of a flow: the edges that it contributes to, or why there are none.

    `whole`: every name in it is known. Of a statement that was given up on it is empty.
    """

    edges: tuple[EdgeKey, ...] = ()
    skipped: str | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class SourceLineage:
    """Everything that `source` says of entities: a request for each edge, in a fixed order, and what these replace.

    `flows`: what became of each flow of the source. `complete`: the templates (by fingerprint) and routines (by key) of
    which this log says all there is. `failures`: why statements were given up on, by their order; `given_up`: why no
    request could be made of edges.
    """

    source: LineageSource
    requests: tuple[AddLineageRequest, ...]
    replacements: tuple[Replacement, ...]
    flows: tuple[FlowLineage, ...]
    complete: frozenset[str]
    failures: Mapping[Order, Failure]
    given_up: Mapping[EdgeKey, Failure]

    @property
    def template_failures(self) -> dict[str, Failure]:
        """Why statements were given up on that were parsed, by template (fingerprint)."""
        found = self.failures
        return {group.template: found[group.order] for group in self.source.groups if group.order in found}


def lineage_of(
    source: LineageSource, entities: RelationEntities, routines: RoutineEntities | None = None
) -> SourceLineage:
    """What `source` says, given the `entities` of its relations and `routines`.

    A statement or an edge that cannot be worked on is among the result's failures; nothing is raised for it.
    """
    proofs, failures = _proofs(source, entities, routines or RoutineEntities())
    in_force = [proof.proved for proof in proofs if proof.proved is not None and proof.skipped != _SUPERSEDED]
    superseded = [proof.proved for proof in proofs if proof.proved is not None and proof.skipped == _SUPERSEDED]
    requests, given_up = requests_of([*in_force, *repetitions(in_force, superseded)], source.probe)
    flows = tuple(_flow_lineage(flow, proof, entities) for flow, proof in zip(source.flows, proofs, strict=True))
    return SourceLineage(
        source=source,
        requests=requests,
        replacements=_replacements(source, entities, flows, given_up) if source.settings.override_views else (),
        flows=flows,
        complete=_complete(source, flows, failures),
        failures=failures,
        given_up=given_up,
    )


@dataclass(frozen=True, slots=True)
class _Proof:
    """What a flow proves, and why it is not published where it is not."""

    skipped: str | None = None
    proved: EdgeContributions | None = None


def _proofs(
    source: LineageSource, entities: RelationEntities, routines: RoutineEntities
) -> tuple[list[_Proof], Mapping[Order, Failure]]:
    """What each flow proves, and why statements were given up on; of one that fails in a flow, none counts."""
    isolation = Isolation[Order](source.probe)
    builder = ContributionBuilder(source.log, source.bound, source.templates, entities.resolved, routines.references)
    proofs: list[_Proof] = []
    for flow in source.flows:
        proof = _Proof(_reason_to_skip(source, flow, entities, routines))
        # what was said word for word before is told too, with its time
        if proof.skipped is None or (proof.skipped == _SUPERSEDED and flow.target in entities.resolved):
            statement = source.log.statements[flow.statement]
            with isolation.around(FailureStage.EVIDENCE, statement.occurrence.order):
                isolation.probe(FailureStage.EVIDENCE, statement)
                proved = builder.of(flow)
                empty = proof.skipped is None and not proved.contributions
                proof = _Proof(_why_no_edge(flow, proved, entities) if empty else proof.skipped, proved)
        proofs.append(proof)
    failures = {**source.failures, **isolation.failures}
    kept = [
        _Proof() if source.group_of(flow).order in failures else proof
        for flow, proof in zip(source.flows, proofs, strict=True)
    ]
    return kept, failures


def _flow_lineage(flow: PersistedFlow, proof: _Proof, entities: RelationEntities) -> FlowLineage:
    if proof.proved is None or proof.skipped == _SUPERSEDED:
        return FlowLineage(skipped=proof.skipped)
    names = (flow.target, *flow.content.sources)
    whole = all(entities.status(relation) not in NOT_RESOLVED for relation in names)
    return FlowLineage(tuple(proof.proved.contributions), proof.skipped, whole)


def _replacements(
    source: LineageSource,
    entities: RelationEntities,
    flows: Iterable[FlowLineage],
    given_up: Mapping[EdgeKey, Failure],
) -> tuple[Replacement, ...]:
    """For each view that the log defines: what was said of it before and is not said now goes."""
    views: dict[EntityReference, bool] = {}
    for flow, lineage in zip(source.flows, flows, strict=True):
        # what cannot be resolved now may be what the view said before
        resolved = bool(lineage.edges) or lineage.skipped in _NOTHING_TO_SAY
        if resolved and given_up.keys().isdisjoint(lineage.edges) and is_view(source.log, flow):
            view = entities.resolved[flow.target].reference
            views[view] = views.get(view, True) and lineage.whole
    return tuple(
        Replacement(view, EdgeSource.VIEW, whole=views[view]) for view in sorted(views, key=lambda ref: ref.id)
    )


def _complete(source: LineageSource, flows: Iterable[FlowLineage], failures: Mapping[Order, Failure]) -> frozenset[str]:
    """Every name that they mention is known, and every statement of a routine could be read."""
    doubtful = [
        source.group_of(flow)
        for flow, lineage in zip(source.flows, flows, strict=True)
        if lineage.skipped != _SUPERSEDED and not lineage.whole
    ]
    read = {group.order for group in source.bound} - failures.keys()
    doubtful += [group for group in source.groups if group.order not in read]
    doubted = {group.template for group in doubtful} | {group.routine for group in doubtful}
    templates_read = {group.template for group in source.bound} | {group.routine for group in source.bound}
    return frozenset(key for key in templates_read - doubted if key is not None)


def _reason_to_skip(
    source: LineageSource, flow: PersistedFlow, entities: RelationEntities, routines: RoutineEntities
) -> str | None:
    view = is_view(source.log, flow)
    group = source.group_of(flow)
    if group.already_published:
        return "unchanged"
    if group.routine in routines.filtered:
        return EntityStatus.FILTERED
    if view and source.log.relations[flow.target].superseded:
        return _SUPERSEDED
    if not (source.settings.views if view else source.settings.queries):
        return "not_wanted"
    status = entities.status(flow.target)
    return None if status is EntityStatus.RESOLVED else str(status)


_WITHOUT_ENTITY = (
    *sorted(GIVEN_UP),
    EntityStatus.AMBIGUOUS,
    EntityStatus.UNPLACED,
    EntityStatus.UNRESOLVED,
    EntityStatus.FILTERED,
)
"""Why a source has no entity; the first of them is the reason that is told."""


def _why_no_edge(flow: PersistedFlow, proved: EdgeContributions, entities: RelationEntities) -> str:
    if proved.self_only:
        return "self_reference"
    statuses = {entities.status(source) for source in flow.content.sources}
    return next((str(status) for status in _WITHOUT_ENTITY if status in statuses), "no_source")
