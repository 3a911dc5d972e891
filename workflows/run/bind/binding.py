"""Templates and their runs, bound to each other over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from connectors.source import Planner, Question, Reads, Schemas
from ingestion.analysis.symbolic import Symbolic, dumps
from ingestion.binding.binder import BoundLog, BoundStatement
from ingestion.binding.relations import Order, Relation
from ingestion.binding.temporary_tables import (
    PersistedFlow,
    bind_and_inline,
    is_transient,
)
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.dialects import dialect_of
from ingestion.model.isolation import Failure, FailureStage, Isolation, Probe, no_probe
from ingestion.model.lineage import ColumnRef, Reference, StatementLineage, TableUsageNames
from ingestion.model.namespaces import RelationKey
from ingestion.model.outcomes import ProblemKind
from ingestion.parsing.templates import ParsedTemplate
from ingestion.resolution import Resolver
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings, dialect_name, namespace_of
from workflows.run.bind.schemas import StatedSchemas, catalog_schemas, read_schemas
from workflows.run.group.occurrences import OccurrenceGroup

Texts = Callable[[Collection[str]], Mapping[str, str]]
"""Gives the texts of templates (by fingerprint), as far as the log still has them. They are not masked."""


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

        By key: what is read before it is defined is another relation of the same key.
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
    log, flows = bind_and_inline(occurrences, before, is_inlined_by(settings), isolation)
    bound = tuple(group for group in parsed if group.order not in isolation.failures)
    return LineageSource(templates, ordered, settings, bound, log, flows, isolation.failures, probe)


def is_inlined_by(settings: SourceSettings) -> Callable[[Relation], bool]:
    """Which relations are inlined: temporary tables, of which only what goes through them is told."""
    return lambda relation: settings.inline_temporary and is_transient(relation)


def occurrence_of(
    group: OccurrenceGroup, symbolic: Symbolic, names: TableUsageNames, settings: SourceSettings
) -> Occurrence:
    """A group as what is bound, given what its statement says and the names in it."""
    namespace = namespace_of(group.database, group.search_path, settings)
    given = group.session, group.states, names, group.ended, group.ran
    return Occurrence(group.template, symbolic, namespace, group.order, *given)


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


# What the text leaves ambiguous, the live database's planner decides: whose an unprefixed column is, as `a` in
# `SELECT a FROM s, t` where the columns of neither table are known.


def texts_in(statements: DataFrame) -> Texts:
    """The texts that the statements of a run still have."""

    def texts(wanted: Collection[str]) -> dict[str, str]:
        having = F.col("fingerprint").isin(list(wanted)) & F.col("text").isNotNull()
        rows = statements.where(having).groupBy("fingerprint").agg(F.min("text").alias("text"))
        return {row["fingerprint"]: row["text"] for row in rows.toLocalIterator()}

    return texts


def disambiguated_templates(
    source: LineageSource, templates: Mapping[str, ParsedTemplate], texts: Texts, planner: Planner
) -> dict[str, ParsedTemplate]:
    """The templates whose ambiguous columns the planner could resolve, without the ambiguity.

    A template that means different things in different places stays as it is.
    """
    uses = Counter(group.template for group, _statement in source.statements())
    open_ones = [
        (number, group, statement)
        for number, (group, statement) in enumerate(source.statements())
        if uses[group.template] == 1 and _is_ambiguous(statement.lineage)
    ]
    if not open_ones:
        return {}
    groups = [group for group, _statement in source.statements()]
    behind = {number: _creators_behind(source.log, number) for number, _group, _statement in open_ones}
    numbers = {number for number, _group, _statement in open_ones}.union(*behind.values())
    known = texts({groups[number].template for number in numbers})
    found: dict[str, ParsedTemplate] = {}
    for number, group, statement in open_ones:
        needed = (known.get(groups[creator].template) for creator in behind[number])
        with Isolation[str](source.probe).around(FailureStage.BINDING, group.template):  # what fails stays ambiguous
            read = _ask_planner(group, known, tuple(text for text in needed if text), planner)
            if read is not None:
                lineage = _disambiguate(statement, source.log, read)
                found[group.template] = replace(templates[group.template], symbolic=dumps(lineage))
    return found


def _ask_planner(
    group: OccurrenceGroup, known: Mapping[str, str], dependencies: tuple[str, ...], planner: Planner
) -> Reads | None:
    text = known.get(group.template)
    return None if text is None else planner(Question(text, dependencies, group.search_path))


def _is_ambiguous(lineage: StatementLineage) -> bool:
    return any(len(reference.sources) > 1 for flow in lineage.flows for reference in flow.references())


def _creators_behind(log: BoundLog, number: int) -> tuple[int, ...]:
    """The statements that made what a statement reads, and what those read, in the order of the log."""
    found: set[int] = set()
    waiting = [number]
    while waiting:
        for relation in log.statements[waiting.pop()].meaning.values():
            creator = log.relations[relation].creator
            if creator is not None and creator != number and creator not in found:
                found.add(creator)
                waiting.append(creator)
    return tuple(sorted(found))


def _disambiguate(statement: BoundStatement, log: BoundLog, read: Reads) -> StatementLineage:
    def choose(reference: Reference) -> Reference:
        if len(reference.sources) < 2:
            return reference
        fitting = tuple(ref for ref in reference.sources if _is_read(ref, statement, log, read))
        return replace(reference, sources=fitting) if len(fitting) == 1 else reference

    flows = tuple(
        replace(
            flow,
            outputs=tuple(replace(o, references=tuple(map(choose, o.references))) for o in flow.outputs),
            indirect=tuple(map(choose, flow.indirect)),
        )
        for flow in statement.lineage.flows
    )
    return replace(statement.lineage, flows=flows)


def _is_read(ref: ColumnRef, statement: BoundStatement, log: BoundLog, read: Reads) -> bool:
    relation = statement.meaning.get(ref.table)
    if relation is None:
        return False
    return ref.column in read.get(_schema_and_table(log.relations[relation].key), frozenset())


def _schema_and_table(key: RelationKey) -> tuple[str, str]:
    return ("" if key.session is not None else key.schema), key.table


# What binds the shards of a run.


@dataclass(frozen=True, slots=True)
class Binding:
    """Takes templates and the groups of their runs, gives a LineageSource.

    A live database's `planner` decides on what the text leaves ambiguous, None where there is none; `keep` is given
    the templates that it disambiguated.
    """

    config: RunConfig
    settings: SourceSettings
    planner: Planner | None
    keep: Callable[[Iterable[ParsedTemplate]], None]
    probe: Probe

    def schemas_before(self, live_columns: Schemas, resolver: Resolver) -> Callable[[], SchemaProvider]:
        """What stood before the log: by the schema files, then `live_columns`, then the catalog behind `resolver`.

        Each provider remembers what it was asked for, and raises TargetDown. Raises ConfigError for a schema file that
        cannot be read.
        """
        return self.providers(self.stated_schemas(live_columns), resolver)

    def stated_schemas(self, live_columns: Schemas) -> tuple[Schemas, ...]:
        """What the schema files and `live_columns` say. Raises ConfigError for a file that cannot be read."""
        config = self.config
        return read_schemas(
            config.headwater.schema_files, dialect_name(config), self.settings, config.limits
        ), live_columns

    def providers(self, stated: Sequence[Schemas], resolver: Resolver) -> Callable[[], SchemaProvider]:
        """What stood before the log: by what was `stated`, then by the catalog behind `resolver`.

        What is stated is put in order once for all shards, where one is bound.
        """
        registers, in_any_case = self.config.registers_tables, dialect_of(dialect_name(self.config)).quotes_keep_case
        of_all = cache(lambda: StatedSchemas.of(stated, in_any_case=in_any_case))
        return lambda: catalog_schemas(of_all(), resolver, registers=registers)

    def bind(
        self,
        templates: Mapping[str, ParsedTemplate],
        groups: Sequence[OccurrenceGroup],
        before: SchemaProvider,
        texts: Texts,
    ) -> LineageSource:
        """The groups bound; `texts` are those that the planner is asked about.

        Raises TargetDown where the catalog does not answer, and what `keep` raises.
        """
        source = bind_occurrences(templates, groups, self.settings, before, self.probe)
        if self.planner is None:
            return source
        disambiguated = disambiguated_templates(source, templates, texts, self.planner)
        if not disambiguated:
            return source
        self.keep(disambiguated.values())
        return bind_occurrences({**templates, **disambiguated}, groups, self.settings, before, self.probe)


def is_view(log: BoundLog, flow: PersistedFlow) -> bool:
    """Whether the flow defines a view."""
    statement = log.statements[flow.statement]
    return any(
        f.target is not None and f.target.view and statement.meaning[f.target.name] == flow.target
        for f in statement.lineage.flows
    )
