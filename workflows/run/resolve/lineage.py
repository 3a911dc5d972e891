"""What a log says of entities, as the requests that a sink takes, and what became of its statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingestion.binding.relations import Order
from ingestion.binding.temporary_tables import PersistedFlow
from ingestion.model.entities import EntityReference
from ingestion.model.isolation import Failure, FailureStage, Isolation
from ingestion.model.lineage import NameKind, StatementKind
from ingestion.model.outcomes import Outcome, StatementEnd
from ingestion.model.requests import AddLineageRequest, Replacement
from ingestion.model.table_commits import commit_format
from workflows.run.bind.binding import LineageSource, is_view
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.resolve.contributions import (
    ContributionBuilder,
    EdgeContributions,
    EdgeKey,
    definition_source,
    repetitions,
    requests_of,
)
from workflows.run.resolve.entities import GIVEN_UP, UNRESOLVED_STATUSES, RelationEntities, certain_sources
from workflows.run.resolve.routines import RoutineEntities

NOT_RESOLVED = frozenset({Outcome.AMBIGUOUS, *UNRESOLVED_STATUSES})
"""What a name may come to now and not the next time."""
_MOST_EDGES = 500_000
"""Of columns and tables that a statement may have: these are some 100 MB in the run, and as many in what is sent."""
_TOO_MUCH = (Outcome.TOO_MANY_EDGES, Outcome.TOO_MANY_COLUMNS)
_NOTHING_TO_SAY = frozenset({Outcome.SELF_REFERENCE, Outcome.NO_SOURCE})
_WITHOUT_ENTITY = (
    *sorted(GIVEN_UP),
    Outcome.AMBIGUOUS,
    Outcome.NO_DEFAULT_SCHEMA,
    Outcome.UNKNOWN_SESSION,
    Outcome.UNRESOLVED,
    Outcome.FILTERED,
)
"""Why a source has no entity; the first of them is the reason that is told."""


@dataclass(frozen=True, slots=True)
class FlowLineage:
    """What became of a flow: the edges that it contributes to, or why there are none.

    `whole`: every name in it is known. Of a statement that was given up on it is empty.
    """

    edges: tuple[EdgeKey, ...] = ()
    skipped: Outcome | None = None
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
    in_force = [proof.proved for proof in proofs if proof.proved is not None and proof.skipped != Outcome.SUPERSEDED]
    superseded = [proof.proved for proof in proofs if proof.proved is not None and proof.skipped == Outcome.SUPERSEDED]
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

    skipped: Outcome | None = None
    proved: EdgeContributions | None = None


def _proofs(
    source: LineageSource, entities: RelationEntities, routines: RoutineEntities
) -> tuple[list[_Proof], Mapping[Order, Failure]]:
    """What each flow proves, and why statements were given up on; of one that fails in a flow, none counts."""
    isolation = Isolation[Order](source.probe)
    known = entities.resolved, routines.references
    wanted = source.settings
    builder = ContributionBuilder(
        source.log,
        source.bound,
        source.templates,
        *known,
        superseding=wanted.supersede_rewritten,
        dbt_models=wanted.dbt_models,
    )
    proofs: list[_Proof] = []
    for flow in source.flows:
        proof = _Proof(_reason_to_skip(source, flow, entities, routines))
        # what was said word for word before is told too, with its time
        if proof.skipped is None or (proof.skipped == Outcome.SUPERSEDED and flow.target in entities.resolved):
            statement = source.log.statements[flow.statement]
            with isolation.around(FailureStage.EVIDENCE, statement.occurrence.order):
                isolation.probe(FailureStage.EVIDENCE, statement)
                proved = builder.of(flow)
                empty = proof.skipped is None and not proved.contributions
                proof = _Proof(_why_no_edge(source, flow, proved, entities) if empty else proof.skipped, proved)
        proofs.append(proof)
    failures = {**source.failures, **isolation.failures}
    kept = [
        _Proof() if source.group_of(flow).order in failures else proof
        for flow, proof in zip(source.flows, proofs, strict=True)
    ]
    return kept, failures


def _flow_lineage(flow: PersistedFlow, proof: _Proof, entities: RelationEntities) -> FlowLineage:
    if proof.proved is None or proof.skipped == Outcome.SUPERSEDED:
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
        Replacement(view, definition_source(view.type), whole=views[view])
        for view in sorted(views, key=lambda ref: ref.id)
    )


def _complete(source: LineageSource, flows: Iterable[FlowLineage], failures: Mapping[Order, Failure]) -> frozenset[str]:
    """Every name that they mention is known, and every statement of a routine could be read."""
    doubtful = [
        source.group_of(flow)
        for flow, lineage in zip(source.flows, flows, strict=True)
        if lineage.skipped != Outcome.SUPERSEDED and not lineage.whole
    ]
    read = {group.order for group in source.bound} - failures.keys()
    doubtful += [group for group in source.groups if group.order not in read]
    doubted = {group.template for group in doubtful} | {group.routine for group in doubtful}
    templates_read = {group.template for group in source.bound} | {group.routine for group in source.bound}
    return frozenset(key for key in templates_read - doubted if key is not None)


def _reason_to_skip(
    source: LineageSource, flow: PersistedFlow, entities: RelationEntities, routines: RoutineEntities
) -> Outcome | None:
    view = is_view(source.log, flow)
    group = source.group_of(flow)
    if group.already_published:
        return Outcome.UNCHANGED
    if group.routine in routines.filtered:
        return Outcome.FILTERED
    if view and source.log.relations[flow.target].superseded:
        return Outcome.SUPERSEDED
    if not (source.settings.views if view else source.settings.queries):
        return Outcome.NOT_WANTED
    status = entities.status(flow.target)
    if status is not Outcome.RESOLVED:
        return status
    if _has_too_many_edges(flow):
        return Outcome.TOO_MANY_EDGES
    return Outcome.TOO_MANY_COLUMNS if _names_what_does_not_fit(flow, entities) else None


def _names_what_does_not_fit(flow: PersistedFlow, entities: RelationEntities) -> bool:
    """Whether it names a column of a table of which the catalog has as many as it takes, and not that one."""
    if not entities.full:
        return False
    content = flow.content
    named = {(flow.target, name) for name in content.columns if name not in content.assumed}
    return any(
        relation in entities.full and column != "*" and entities.full[relation][column] is None
        for relation, column in named | certain_sources(content)
    )


def _has_too_many_edges(flow: PersistedFlow) -> bool:
    content = flow.content
    deciding = sum(len(use.sources) for use in content.indirect)
    flowing = sum(len(use.sources) for uses in content.columns.values() for use in uses)
    return len(content.sources) + flowing + deciding * (len(content.columns) if flow.sets_columns else 1) > _MOST_EDGES


def _why_no_edge(
    source: LineageSource, flow: PersistedFlow, proved: EdgeContributions, entities: RelationEntities
) -> Outcome:
    if proved.self_only:
        return Outcome.SELF_REFERENCE
    if commit_format(source.log.statements[flow.statement].lineage) is not None:
        return Outcome.TABLE_COMMIT
    statuses = {entities.status(source) for source in flow.content.sources}
    return next((status for status in _WITHOUT_ENTITY if status in statuses), Outcome.NO_SOURCE)


# What became of statements, flows and routines, once a sink has told what became of the edges.


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


@dataclass(frozen=True, slots=True)
class StatementOutcome:
    """What became of the runs of a statement; `reason` is "" where it was published."""

    group: OccurrenceGroup
    status: StatementEnd
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

    def outcome(group: OccurrenceGroup) -> tuple[StatementEnd, str]:
        if group.order in lineage.failures:
            return StatementEnd.DEAD, lineage.failures[group.order].reason
        number = numbers.get(group.order)
        if number is None:
            return StatementEnd.DEAD, source.templates[group.template].dead or Outcome.UNPARSABLE
        if number in own:
            return _outcome_of(own[number], edges)
        # what it wrote was inlined: it is published where what read that is
        status, reason = _outcome_of(through.get(number, ()), edges)
        if status is StatementEnd.PUBLISHED:
            return status, reason
        return StatementEnd.SKIPPED, _reason_without_flow(source, number)

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
        if outcome.status is StatementEnd.DEAD or outcome.reason in NOT_RESOLVED
    }
    for flow, flow_lineage in zip(lineage.source.flows, lineage.flows, strict=True):
        refused = any(edges[key].rejected is not None for key in flow_lineage.edges)
        if refused or (flow_lineage.edges and not flow_lineage.whole):
            unprocessed.add(lineage.source.group_of(flow).routine)
    return frozenset(group.routine for group in lineage.source.groups if group.routine) - unprocessed


def _outcome_of(flows: Sequence[FlowLineage], edges: EdgeOutcomes) -> tuple[StatementEnd, str]:
    too_much = next((flow.skipped for flow in flows if flow.skipped in _TOO_MUCH), None)
    if too_much is not None:
        # whatever else it writes is told, and is not all
        return too_much.end, too_much
    outcomes = [edges[key] for flow in flows for key in flow.edges]
    if any(outcome.stands for outcome in outcomes):
        return StatementEnd.PUBLISHED, ""
    if outcomes:
        refusal = next((outcome.rejected for outcome in outcomes if outcome.rejected is not None), None)
        if refusal is None:
            return StatementEnd.SKIPPED, Outcome.REJECTED_BY_HAND
        return StatementEnd.DEAD, refusal
    reason = next((flow.skipped for flow in flows if flow.skipped is not None), Outcome.NO_LINEAGE)
    return reason.end, reason


def _reason_without_flow(source: LineageSource, number: int) -> Outcome:
    statement = source.log.statements[number]
    lineage = statement.lineage
    written = [flow.target.name for flow in lineage.flows if flow.target is not None]
    targets = [statement.meaning[name] for name in written]
    if any(source.log.relations[target].unmade for target in targets):
        return Outcome.ALREADY_THERE
    if lineage.kind is StatementKind.CREATE_VIEW and any(target.kind is NameKind.FUNCTION for target in written):
        return Outcome.ROUTINE_DEFINITION  # of a function, which is read as a view that has no place
    if any(change.kind is StatementKind.TRUNCATE for change in lineage.changes):
        return Outcome.DELETE if lineage.kind is StatementKind.DELETE else Outcome.TRUNCATE
    if targets:
        return Outcome.TEMPORARY
    return Outcome.DEFINITION if lineage.changes else Outcome.NO_LINEAGE
