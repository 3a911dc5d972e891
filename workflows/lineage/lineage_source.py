"""LineageSource: everything that was parsed becomes the requests that a sink publishes, and every statement a fate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingestion.binding.binder import BoundLog, BoundStatement
from ingestion.binding.temporary_tables import PersistedFlow, bind_and_fold, is_transient
from ingestion.binding.timeline import Occurrence, Order, Relation, SchemaProvider
from ingestion.entities import EntityReference
from ingestion.isolation import Failure, FailureStage, Isolation, Probe, unprobed
from ingestion.lineage_request import AddLineageRequest, Replacement
from ingestion.lineage_request import EdgeSource as Source
from ingestion.model import ProblemKind
from ingestion.names.namespaces import Namespace
from workflows.config.namespaces import SourceSettings, namespace_of
from workflows.lineage.contributions import (
    ContributionBuilder,
    EdgeContributions,
    EdgeKey,
    is_view,
    repetitions,
    requests_of,
)
from workflows.lineage.routine_entities import RoutineEntities
from workflows.lineage.table_entities import GIVEN_UP, EntityFate, RelationEntities
from workflows.templates.grouping import OccurrenceGroup
from workflows.templates.parsing import ParsedTemplate


@dataclass(frozen=True, slots=True)
class EdgeOutcome:
    """What became of an edge: acknowledged or stored already, or the reason why the target refused it."""

    rejected: str | None = None


class LineageSource:
    """Lineage of a log's templates and their occurrences, resolved against a catalog.

    Iterate `requests` first, write them, then ask for `fates` with what the sink made of them.
    """

    def __init__(
        self,
        templates: Mapping[str, ParsedTemplate],
        groups: Sequence[OccurrenceGroup],
        settings: SourceSettings,
        before: SchemaProvider,
        probe: Probe = unprobed,
    ) -> None:
        self._settings = settings
        self._templates = templates
        self._groups = tuple(sorted(groups, key=lambda group: group.order))
        parsed = [group for group in self._groups if templates[group.template].symbolic is not None]
        self._isolation = Isolation[Order](probe)
        self.log: BoundLog
        self.flows: tuple[PersistedFlow, ...]
        occurrences = [self._occurrence(group) for group in parsed]
        self.log, self.flows = bind_and_fold(occurrences, before, self._folds, self._isolation)
        self._parsed = tuple(group for group in parsed if group.order not in self._isolation.failures)
        self._evidence: dict[int, EdgeContributions] = {}
        self._skipped: dict[int, str] = {}
        self.failed_edges: dict[EdgeKey, EdgeOutcome] = {}

    def requests(
        self, entities: RelationEntities, routines: RoutineEntities | None = None
    ) -> Iterator[AddLineageRequest]:
        """One request for each pair of entities, in a fixed order, with all that the log says of it."""
        routines = routines or RoutineEntities()
        evidences = ContributionBuilder(self.log, self._parsed, self._templates, entities.resolved, routines.references)
        superseded: dict[int, EdgeContributions] = {}
        for number, flow in enumerate(self.flows):
            reason = self._reason_to_skip(flow, entities, routines)
            if reason is not None:
                self._skipped[number] = reason
            if reason is None or (reason == "superseded" and flow.target in entities.resolved):
                occurrence = self.log.statements[flow.statement].occurrence
                with self._isolation.around(FailureStage.EVIDENCE, occurrence.order):
                    self._isolation.probe(FailureStage.EVIDENCE, occurrence)
                    evidence = evidences.of(flow)
                    (self._evidence if reason is None else superseded)[number] = evidence
                    if reason is None and not evidence.contributions:
                        self._skipped[number] = _why_no_edge(flow, evidence, entities)
        for number, flow in enumerate(self.flows):  # of a statement that fails in one of its flows, none counts
            if self._parsed[flow.statement].order in self._isolation.failures:
                self._evidence.pop(number, None)
                superseded.pop(number, None)
        found = [self._evidence[number] for number in sorted(self._evidence)]
        isolation = Isolation[EdgeKey](self._isolation.probe)
        yield from requests_of([*found, *repetitions(found, superseded.values())], isolation)
        self.failed_edges = {key: EdgeOutcome(failure.reason) for key, failure in isolation.failures.items()}

    @property
    def probe(self) -> Probe:
        """What is told of each subject before a stage works on it."""
        return self._isolation.probe

    @property
    def failures(self) -> dict[str, Failure]:
        """Why statements were given up on that were parsed, by template (fingerprint)."""
        found = self._isolation.failures
        return {group.template: found[group.order] for group in self._groups if group.order in found}

    def replacements(self, entities: RelationEntities) -> tuple[Replacement, ...]:
        """For each view that the log defines: what was said of it before and is not said now goes."""
        if not self._settings.override_views:
            return ()
        views: dict[EntityReference, bool] = {}
        for number, flow in enumerate(self.flows):
            if self._is_settled(number) and is_view(self.log, flow):
                view = entities.resolved[flow.target].reference
                views[view] = views.get(view, True) and self._is_whole(number, flow, entities)
        return tuple(
            Replacement(view, Source.VIEW, whole=views[view]) for view in sorted(views, key=lambda ref: ref.id)
        )

    def _is_settled(self, number: int) -> bool:
        """Whether all that a flow says is known: what cannot be resolved now may be what it said before."""
        if number not in self._evidence or self._skipped.get(number, "self_reference") not in _SETTLED:
            return False
        return self.failed_edges.keys().isdisjoint(self._evidence[number].contributions)

    def rebound(self, entities: RelationEntities) -> frozenset[str]:
        """The templates (by fingerprint) and routines (by key) of which this log says all there is.

        Every name that they mention is known, and every statement of a routine could be read.
        """
        doubtful = [
            self._parsed[flow.statement]
            for number, flow in enumerate(self.flows)
            if self._skipped.get(number) != "superseded" and not self._is_whole(number, flow, entities)
        ]
        parsed = {group.order for group in self._parsed} - self._isolation.failures.keys()
        doubtful += [group for group in self._groups if group.order not in parsed]
        doubted = {group.template for group in doubtful} | {group.routine for group in doubtful}
        said = {group.template for group in self._parsed} | {group.routine for group in self._parsed}
        return frozenset(contribution_key for contribution_key in said - doubted if contribution_key is not None)

    def _is_whole(self, number: int, flow: PersistedFlow, entities: RelationEntities) -> bool:
        return number in self._evidence and all(
            entities.fate(relation) not in _UNSETTLED for relation in (flow.target, *flow.content.sources)
        )

    def fates(self, published: Mapping[EdgeKey, EdgeOutcome]) -> Iterator[tuple[OccurrenceGroup, str, str]]:
        """For every group of runs: ("published" | "skipped" | "dead", the reason or "")."""
        by_statement: dict[int, list[int]] = {}
        through: dict[int, list[int]] = {}
        for number, flow in enumerate(self.flows):
            by_statement.setdefault(flow.statement, []).append(number)
            for statement in flow.content.via:
                through.setdefault(statement, []).append(number)
        statements = {id(group): number for number, group in enumerate(self._parsed)}
        for group in self._groups:
            template = self._templates[group.template]
            if template.symbolic is None:
                yield group, "dead", template.dead or "unparsable"
                continue
            if group.order in self._isolation.failures:
                yield group, "dead", self._isolation.failures[group.order].reason
                continue
            statement = statements[id(group)]
            own = by_statement.get(statement, [])
            fate, reason = self._fate(own or through.get(statement, []), published)
            if not own and fate != "published":
                fate, reason = "skipped", self._reason_without_flow(statement)
            yield group, fate, reason

    def view_definitions(self) -> dict[int, str]:
        """The masked definition of each relation (by number) that the log defines as a view."""
        return {
            flow.target: self._templates[self._parsed[flow.statement].template].masked
            for flow in self.flows
            if is_view(self.log, flow)
        }

    def flows_published(self, published: Mapping[EdgeKey, EdgeOutcome]) -> Iterator[PersistedFlow]:
        """The flows one of whose edges stands at least, those that define views left out."""
        for number, evidence in sorted(self._evidence.items()):
            stands = any(published[key].rejected is None for key in evidence.contributions)
            if stands and not is_view(self.log, self.flows[number]):
                yield self.flows[number]

    def statements(self) -> Iterator[tuple[OccurrenceGroup, BoundStatement]]:
        """The runs of each parsed statement with what it says, in time order."""
        return zip(self._parsed, self.log.statements, strict=True)

    def group_of(self, flow: PersistedFlow) -> OccurrenceGroup:
        """The runs that a flow comes from."""
        return self._parsed[flow.statement]

    def masked(self, group: OccurrenceGroup) -> str:
        """The text of a group's statement that may be stored; "" where it cannot be masked."""
        return self._templates[group.template].masked

    def problems(self) -> Counter[ProblemKind]:
        """How often columns could not be settled, by kind."""
        return Counter(problem.kind for statement in self.log.statements for problem in statement.lineage.problems)

    def _fate(self, flows: Sequence[int], published: Mapping[EdgeKey, EdgeOutcome]) -> tuple[str, str]:
        edges = [key for number in flows if number in self._evidence for key in self._evidence[number].contributions]
        outcomes = [published[key] for key in edges]
        if any(outcome.rejected is None for outcome in outcomes):
            return "published", ""
        if outcomes:
            return "dead", outcomes[0].rejected or "rejected"
        reason = next((self._skipped[number] for number in flows if number in self._skipped), "no_lineage")
        return "dead" if reason in GIVEN_UP else "skipped", reason

    def _reason_without_flow(self, statement: int) -> str:
        lineage = self.log.statements[statement].lineage
        if any(flow.target is not None for flow in lineage.flows):
            return "temporary"
        return "definition" if lineage.changes else "no_lineage"

    def routine_statements(self) -> dict[str, tuple[str, ...]]:
        """The masked statements of each routine that the log or a definition shows, in their order."""
        found: dict[str, dict[str, None]] = {}
        for group in self._groups:
            masked = self._templates[group.template].masked
            if group.routine and masked:
                found.setdefault(group.routine, {})[masked] = None
        return {routine: tuple(statements) for routine, statements in found.items()}

    def routines_settled(self, published: Mapping[EdgeKey, EdgeOutcome], entities: RelationEntities) -> set[str]:
        """The routines all of whose statements and edges ended published, or have nothing to publish."""
        unsettled = {
            group.routine for group, fate, reason in self.fates(published) if fate == "dead" or reason in _UNSETTLED
        }
        for number, flow in enumerate(self.flows):
            edges = self._evidence[number].contributions if number in self._evidence else ()
            refused = any(published[key].rejected is not None for key in edges)
            if refused or (edges and not self._is_whole(number, flow, entities)):
                unsettled.add(self._parsed[flow.statement].routine)
        return {group.routine for group in self._groups if group.routine} - unsettled

    def _reason_to_skip(self, flow: PersistedFlow, entities: RelationEntities, routines: RoutineEntities) -> str | None:
        view = is_view(self.log, flow)
        group = self._parsed[flow.statement]
        if group.standing:
            return "unchanged"
        if group.routine in routines.filtered:
            return EntityFate.FILTERED
        if view and self.log.relations[flow.target].superseded:
            return "superseded"
        if not (self._settings.views if view else self._settings.queries):
            return "not_wanted"
        fate = entities.fate(flow.target)
        return None if fate is EntityFate.RESOLVED else str(fate)

    def _folds(self, relation: Relation) -> bool:
        return self._settings.fold_temporary and is_transient(relation)

    def _occurrence(self, group: OccurrenceGroup) -> Occurrence:
        template = self._templates[group.template]
        if template.symbolic is None:
            msg = "only parsed templates occur"
            raise ValueError(msg)
        return Occurrence(template.fingerprint, template.symbolic, self.namespace(group), group.order, group.session)

    def namespace(self, group: OccurrenceGroup) -> Namespace:
        """Where the session of `group` looked for names."""
        return namespace_of(group.database, group.search_path, self._settings)


_SETTLED = frozenset({"self_reference", "no_source"})
_UNSETTLED = frozenset({EntityFate.AMBIGUOUS, EntityFate.UNRESOLVED, EntityFate.UNPLACED, *GIVEN_UP})


_WITHOUT_ENTITY = (
    *sorted(GIVEN_UP),
    EntityFate.AMBIGUOUS,
    EntityFate.UNPLACED,
    EntityFate.UNRESOLVED,
    EntityFate.FILTERED,
)


def _why_no_edge(flow: PersistedFlow, evidence: EdgeContributions, entities: RelationEntities) -> str:
    if evidence.self_only:
        return "self_reference"
    fates = {entities.fate(source) for source in flow.content.sources}
    for fate in (
        *sorted(GIVEN_UP),
        EntityFate.AMBIGUOUS,
        EntityFate.UNPLACED,
        EntityFate.UNRESOLVED,
        EntityFate.FILTERED,
    ):
        if fate in fates:
            return str(fate)
    return "no_source"
