"""LineageSource: everything that was parsed becomes the requests that a sink publishes, and every statement a fate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingestion.binding import BoundLog, BoundStatement, bind
from ingestion.entities import EntityReference
from ingestion.graph import RealFlow, fold, is_transient
from ingestion.lineage_request import AddLineageRequest, Replacement
from ingestion.lineage_request import LineageSource as Source
from ingestion.model import ProblemKind
from ingestion.naming import Namespace
from ingestion.timeline import Before, Occurrence, Relation
from workflows.evidence import EdgeKey, Evidence, Evidences, is_view, repetitions, requests_of
from workflows.occurrences import Group
from workflows.relation_entities import EntityFate, RelationEntities
from workflows.routine_entities import RoutineEntities
from workflows.templates import Template


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """What the names of the log mean where it does not say, and which lineage is wanted.

    `two_level`: the platform has no schemas below databases, so a session's database is what stands for a schema.
    """

    default_database: str
    default_schema: str
    two_level: bool = False
    views: bool = True
    queries: bool = True
    override_views: bool = True
    fold_temporary: bool = True


@dataclass(frozen=True, slots=True)
class Published:
    """What became of an edge: acknowledged or stored already, or the reason why the target refused it."""

    rejected: str | None = None


class LineageSource:
    """Lineage of a log's templates and their occurrences, resolved against a catalog.

    Iterate `requests` first, write them, then ask for `fates` with what the sink made of them.
    """

    def __init__(
        self, templates: Mapping[str, Template], groups: Sequence[Group], settings: SourceSettings, before: Before
    ) -> None:
        self._settings = settings
        self._templates = templates
        self._groups = tuple(sorted(groups, key=lambda group: group.order))
        parsed = [group for group in self._groups if templates[group.template].symbolic is not None]
        self._parsed = tuple(parsed)
        self.log: BoundLog = bind([self._occurrence(group) for group in parsed], before)
        self.flows: tuple[RealFlow, ...] = fold(self.log, self._folds)
        self._evidence: dict[int, Evidence] = {}
        self._skipped: dict[int, str] = {}

    def requests(
        self, entities: RelationEntities, routines: RoutineEntities | None = None
    ) -> Iterator[AddLineageRequest]:
        """One request for each pair of entities, in a fixed order, with all that the log says of it."""
        routines = routines or RoutineEntities()
        evidences = Evidences(self.log, self._parsed, self._templates, entities.resolved, routines.references)
        for number, flow in enumerate(self.flows):
            reason = self._reason_to_skip(flow, entities, routines)
            if reason is not None:
                self._skipped[number] = reason
                continue
            evidence = evidences.of(flow)
            self._evidence[number] = evidence
            if not evidence.contributions:
                self._skipped[number] = _why_no_edge(flow, evidence, entities)
        found = [self._evidence[number] for number in sorted(self._evidence)]
        replaced = [
            evidences.of(self.flows[number])
            for number, reason in self._skipped.items()
            if reason == "superseded" and self.flows[number].target in entities.resolved
        ]
        yield from requests_of([*found, *repetitions(found, replaced)])

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
        return number in self._evidence and self._skipped.get(number, "self_reference") in _SETTLED

    def rebound(self, entities: RelationEntities) -> frozenset[str]:
        """The templates (by fingerprint) and routines (by key) of which this log says all there is.

        Every name that they mention is known, and every statement of a routine could be read.
        """
        doubtful = [
            self._parsed[flow.statement]
            for number, flow in enumerate(self.flows)
            if self._skipped.get(number) != "superseded" and not self._is_whole(number, flow, entities)
        ]
        doubtful += [group for group in self._groups if self._templates[group.template].symbolic is None]
        doubted = {group.template for group in doubtful} | {group.routine for group in doubtful}
        said = {group.template for group in self._parsed} | {group.routine for group in self._parsed}
        return frozenset(speaker for speaker in said - doubted if speaker is not None)

    def _is_whole(self, number: int, flow: RealFlow, entities: RelationEntities) -> bool:
        return number in self._evidence and all(
            entities.fate(relation) not in _UNSETTLED for relation in (flow.target, *flow.content.sources)
        )

    def fates(self, published: Mapping[EdgeKey, Published]) -> Iterator[tuple[Group, str, str]]:
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

    def flows_published(self, published: Mapping[EdgeKey, Published]) -> Iterator[RealFlow]:
        """The flows one of whose edges stands at least, those that define views left out."""
        for number, evidence in sorted(self._evidence.items()):
            stands = any(published[key].rejected is None for key in evidence.contributions)
            if stands and not is_view(self.log, self.flows[number]):
                yield self.flows[number]

    def statements(self) -> Iterator[tuple[Group, BoundStatement]]:
        """The runs of each parsed statement with what it says, in time order."""
        return zip(self._parsed, self.log.statements, strict=True)

    def group_of(self, flow: RealFlow) -> Group:
        """The runs that a flow comes from."""
        return self._parsed[flow.statement]

    def masked(self, group: Group) -> str:
        """The text of a group's statement that may be stored; "" where it cannot be masked."""
        return self._templates[group.template].masked

    def problems(self) -> Counter[ProblemKind]:
        """How often columns could not be settled, by kind."""
        return Counter(problem.kind for statement in self.log.statements for problem in statement.lineage.problems)

    def _fate(self, flows: Sequence[int], published: Mapping[EdgeKey, Published]) -> tuple[str, str]:
        edges = [key for number in flows if number in self._evidence for key in self._evidence[number].contributions]
        outcomes = [published[key] for key in edges]
        if any(outcome.rejected is None for outcome in outcomes):
            return "published", ""
        if outcomes:
            return "dead", outcomes[0].rejected or "rejected"
        return "skipped", next((self._skipped[number] for number in flows if number in self._skipped), "no_lineage")

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

    def routines_settled(self, published: Mapping[EdgeKey, Published], entities: RelationEntities) -> set[str]:
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

    def _reason_to_skip(self, flow: RealFlow, entities: RelationEntities, routines: RoutineEntities) -> str | None:
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

    def _occurrence(self, group: Group) -> Occurrence:
        template = self._templates[group.template]
        if template.symbolic is None:
            msg = "only parsed templates occur"
            raise ValueError(msg)
        return Occurrence(template.fingerprint, template.symbolic, self.namespace(group), group.order, group.session)

    def namespace(self, group: Group) -> Namespace:
        """Where the session of `group` looked for names."""
        return namespace_of(group.database, group.search_path, self._settings)


def namespace_of(database: str, search_path: tuple[str, ...], settings: SourceSettings) -> Namespace:
    """A session's namespace, with the configured defaults for what the log leaves out."""
    path = search_path or ((settings.default_schema,) if settings.default_schema else ())
    if settings.two_level:
        return Namespace(settings.default_database, search_path or ((database,) if database else path))
    return Namespace(database or settings.default_database, path)


_SETTLED = frozenset({"self_reference", "no_source"})
_UNSETTLED = frozenset({EntityFate.AMBIGUOUS, EntityFate.UNRESOLVED})


def _why_no_edge(flow: RealFlow, evidence: Evidence, entities: RelationEntities) -> str:
    if evidence.self_only:
        return "self_reference"
    fates = {entities.fate(source) for source in flow.content.sources}
    for fate in (EntityFate.AMBIGUOUS, EntityFate.UNRESOLVED, EntityFate.FILTERED):
        if fate in fates:
            return str(fate)
    return "no_source"
