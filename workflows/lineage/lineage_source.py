"""LineageSource: the statements of a log, bound to each other over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingestion.binding.binder import BoundLog, BoundStatement
from ingestion.binding.relations import Relation
from ingestion.binding.restored_names import Order
from ingestion.binding.temporary_tables import PersistedFlow, bind_and_fold, is_transient
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.isolation import Failure, FailureStage, Isolation, Probe, no_probe
from ingestion.model import ProblemKind, TableUsageNames
from ingestion.names.namespaces import RelationKey
from ingestion.symbolic import Symbolic
from workflows.config.namespaces import SourceSettings, namespace_of
from workflows.lineage.contributions import is_view
from workflows.templates.occurrences import OccurrenceGroup
from workflows.templates.parsing import ParsedTemplate


@dataclass(frozen=True, slots=True)
class LineageSource:
    """What a log says of relations, before these are resolved to entities.

    `groups` are all runs in time order; `bound` those whose statements could be bound, one for each of
    `log.statements`. `failures` tell by their order why others could not be. `templates` are by fingerprint.
    """

    templates: Mapping[str, ParsedTemplate]
    groups: tuple[OccurrenceGroup, ...]
    settings: SourceSettings
    bound: tuple[OccurrenceGroup, ...]
    log: BoundLog
    flows: tuple[PersistedFlow, ...]
    failures: Mapping[Order, Failure]
    probe: Probe = no_probe
    """Is told of each subject before a stage works on it."""
    outlined: bool = False
    """Whether no more is left of the statements than what comes after binding needs."""
    definitions: Mapping[RelationKey, str] | None = None
    """Of a part of a log: the masked definitions of the views that the whole makes, as far as it names them."""
    filled_elsewhere: frozenset[int] = frozenset()
    """Of a part of a log: the relations that another part fills."""

    def statements(self) -> Iterator[tuple[OccurrenceGroup, BoundStatement]]:
        """The runs of each bound statement with what it says, in time order."""
        return zip(self.bound, self.log.statements, strict=True)

    def group_of(self, flow: PersistedFlow) -> OccurrenceGroup:
        """The runs that a flow comes from."""
        return self.bound[flow.statement]

    def masked_text(self, group: OccurrenceGroup) -> str:
        """The text of a group's statement that may be stored; "" where it cannot be masked."""
        return self.templates[group.template].masked

    def view_definitions(self) -> Mapping[RelationKey, str]:
        """The masked definition of each view that the log makes.

        By place: what is read before it is defined is another relation of the same place.
        """
        if self.definitions is not None:
            return self.definitions
        views = {flow.target: self.masked_text(self.group_of(flow)) for flow in self.flows if is_view(self.log, flow)}
        return {self.log.relations[number].key: text for number, text in views.items()}

    def routine_statements(self) -> dict[str, tuple[str, ...]]:
        """The masked statements of each routine (by key) that the log or a definition shows, in their order."""
        found: dict[str, dict[str, None]] = {}
        for group in self.groups:
            masked = self.masked_text(group)
            if group.routine and masked:
                found.setdefault(group.routine, {})[masked] = None
        return {routine: tuple(statements) for routine, statements in found.items()}

    def problems(self) -> Counter[ProblemKind]:
        """How often columns could not be resolved, by kind."""
        return Counter(problem.kind for statement in self.log.statements for problem in statement.lineage.problems)


def bind_occurrences(
    templates: Mapping[str, ParsedTemplate],
    groups: Sequence[OccurrenceGroup],
    settings: SourceSettings,
    before: SchemaProvider,
    probe: Probe = no_probe,
) -> LineageSource:
    """The `groups` of the parsed `templates` (by fingerprint), bound over their time.

    `before` tells which schemas stood before the log began. A statement that cannot be bound is among the failures of
    the result; nothing is raised for it.
    """
    ordered = tuple(sorted(groups, key=lambda group: group.order))
    parsed = [group for group in ordered if templates[group.template].symbolic is not None]
    isolation = Isolation[Order](probe)

    occurrences = _occurrences(parsed, templates, settings, isolation)
    log, flows = bind_and_fold(occurrences, before, folding(settings), isolation)
    bound = tuple(group for group in parsed if group.order not in isolation.failures)
    return LineageSource(templates, ordered, settings, bound, log, flows, isolation.failures, probe)


def folding(settings: SourceSettings) -> Callable[[Relation], bool]:
    """Which relations fold away."""
    return lambda relation: settings.fold_temporary and is_transient(relation)


def occurrence_of(
    group: OccurrenceGroup, symbolic: Symbolic, names: TableUsageNames, settings: SourceSettings
) -> Occurrence:
    """A group as what is bound, given what its statement says and the names in it."""
    namespace = namespace_of(group.database, group.search_path, settings)
    return Occurrence(group.template, symbolic, namespace, group.order, group.session, group.states, names)


def _occurrences(
    groups: Iterable[OccurrenceGroup],
    templates: Mapping[str, ParsedTemplate],
    settings: SourceSettings,
    isolation: Isolation[Order],
) -> list[Occurrence]:
    """The groups as what is bound; a template is read once, however many of them it has."""
    statements: dict[str, tuple[Symbolic, TableUsageNames]] = {}
    found = []
    for group in groups:
        with isolation.around(FailureStage.ANALYSIS, group.order):
            if group.template not in statements:
                template = templates[group.template]
                statements[group.template] = template.statement(), template.names()
            found.append(occurrence_of(group, *statements[group.template], settings))
    return found
