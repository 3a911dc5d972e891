"""A shard that is too large to be bound at once: its timeline is one, read from names; all else is done in parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import cast

from networkx.utils import UnionFind

from ingestion.analysis.symbolic import Symbolic, is_resolved
from ingestion.binding.altered_columns import LaterChanges, changes_after, under_last_names
from ingestion.binding.binder import (
    BoundLog,
    BoundStatement,
    RelationSchemas,
    Schema,
    ShownColumns,
    bound_lineage,
    levels,
    log_of,
    shown_columns,
)
from ingestion.binding.name_states import own_name
from ingestion.binding.relations import Order, Relation
from ingestion.binding.temporary_tables import inline_temporary_tables
from ingestion.binding.timeline import Occurrence, Timeline, read_timeline
from ingestion.model.isolation import Failure, FailureStage, Isolation
from ingestion.model.lineage import Column, StatementKind, StatementLineage, TableName, TableUsageNames, WriteMode
from ingestion.model.namespaces import RelationKey
from ingestion.parsing.templates import ParsedTemplate
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import LineageSource, is_inlined_by, occurrence_of
from workflows.run.execution import DriverExecutor, Executor, Result
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.passes import BoundShard, NamesMet, PassContext, look_up_shard
from workflows.runtime.garbage_collection import collection_paused
from workflows.runtime.spill import Packed, SpillList, pack, unpack

UNREAD = StatementLineage(StatementKind.OTHER)
"""Stands for what a statement says where its names alone are at hand."""
_AT_ONCE = 250
"""Statements of a chunk, whose forms are in memory: a second of work."""


# Its statements, analysed some at a time.
#
# What a statement says follows from its form and the columns of what it reads. These go in, and what comes out is
# little where it is looked at (the columns of what the statement makes) and packed where it is not.


@dataclass(frozen=True, slots=True)
class _NumberedStatement:
    """A statement by its number, whose `occurrence` has names alone, and the columns that it finds under these.

    `later`: what is done to these columns after it.
    """

    number: int
    occurrence: Occurrence
    schemas: Mapping[TableName, Schema | None]
    later: Mapping[TableName, LaterChanges]


@dataclass(frozen=True, slots=True)
class _AnalysisChunk:
    """Statements none of which reads what another makes, and their templates by fingerprint."""

    templates: Mapping[str, ParsedTemplate]
    statements: tuple[_NumberedStatement, ...]


@dataclass(frozen=True, slots=True)
class _AnalysedStatement:
    """The lineage of a statement, packed where it can be, and the columns that it shows.

    `columns_at`: as that of a `BoundStatement`.
    """

    number: int
    order: Order
    lineage: StatementLineage | Packed[StatementLineage]
    shown: tuple[ShownColumns, ...]
    columns_at: float | None


@dataclass(frozen=True, slots=True)
class _ChunkAnalysis:
    """What the statements of a chunk say, and why some of them were given up on."""

    statements: tuple[_AnalysedStatement, ...]
    failures: Mapping[Order, Failure]


def _analyse_chunk(context: PassContext, chunk: _AnalysisChunk, _given: None) -> tuple[None, _ChunkAnalysis]:
    """What the statements of a `chunk` say."""
    isolation = Isolation[Order](context.binding.probe)
    forms: dict[str, Symbolic] = {}
    known: dict[object, StatementLineage] = {}
    found = []
    for one in chunk.statements:
        order, template = one.occurrence.order, one.occurrence.template
        with isolation.around(FailureStage.ANALYSIS, order):
            if template not in forms:
                forms[template] = chunk.templates[template].statement()
            symbolic = forms[template]
            isolation.probe(FailureStage.ANALYSIS, replace(one.occurrence, symbolic=symbolic))
            lineage = bound_lineage(symbolic, one.schemas, known)
            shown = shown_columns(lineage, symbolic)
            named = under_last_names(lineage, symbolic, one.later)
            found.append(_AnalysedStatement(one.number, order, pack(named.lineage), shown, named.at))
    return None, _ChunkAnalysis(tuple(found), isolation.failures)


# The shards that it goes on as: once bound, less hangs together than before.
#
# One shard has all that is said of a target, all that reads or writes what is inlined, all runs of a template that
# writes and all statements of a routine. What else is told of the whole, it is given.


@dataclass(frozen=True, slots=True)
class _UninlinedShard:
    """Some of a bound shard before temporary tables are inlined; its statements' lineage is packed where it can be."""

    source: LineageSource
    occurrences: tuple[Occurrence, ...]
    lineages: tuple[StatementLineage | Packed[StatementLineage], ...]
    meanings: tuple[dict[TableName, int], ...]
    columns_at: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class _InlinedShard:
    """What a shard names, or the failures of statements without which its shard is to be bound again."""

    met: NamesMet | None
    failures: Mapping[Order, Failure]


def _inline_shard(
    context: PassContext, shard: _UninlinedShard, _given: None
) -> tuple[BoundShard | None, _InlinedShard]:
    """A `shard` whose flows are those between relations that stay, and its names looked up. Raises TargetDown."""
    isolation = Isolation[Order](context.binding.probe)
    statements = tuple(
        BoundStatement(occurrence, unpack(lineage), meaning, at)
        for occurrence, lineage, meaning, at in zip(
            shard.occurrences, shard.lineages, shard.meanings, shard.columns_at, strict=True
        )
    )
    log = replace(shard.source.log, statements=statements)
    flows = inline_temporary_tables(log, is_inlined_by(shard.source.settings), isolation)
    if isolation.failures:
        return None, _InlinedShard(None, isolation.failures)
    bound, met = look_up_shard(context, replace(shard.source, log=log, flows=flows, probe=context.binding.probe))
    return bound, _InlinedShard(met, {})


@dataclass(frozen=True, slots=True)
class _BoundWhole:
    """A shard whose statements are bound: `groups` are all of it, `occurrences` those that are bound.

    `log` has no statements, `meanings` stand for these; `lineage` gives what one says, by its number, and `views` are
    the relations that the statements (by number) make as views. `columns_at`: by the number of a statement, as that of
    a `BoundStatement`. `failures`: why others could not be bound.
    """

    groups: tuple[OccurrenceGroup, ...]
    templates: Mapping[str, ParsedTemplate]
    settings: SourceSettings
    occurrences: Sequence[Occurrence]
    meanings: Sequence[dict[TableName, int]]
    log: BoundLog
    lineage: Callable[[int], StatementLineage | Packed[StatementLineage]]
    views: Mapping[int, Collection[int]]
    columns_at: Mapping[int, float | None]
    failures: Mapping[Order, Failure]

    def inlined_relations(self) -> frozenset[int]:
        """The relations that are inlined."""
        is_inlined = is_inlined_by(self.settings)
        return frozenset(relation.number for relation in self.log.relations if is_inlined(relation))

    def targets(self, number: int) -> frozenset[int]:
        """The relations that a statement brings something into."""
        names = self.occurrences[number].names
        written = names.written if names is not None else ()
        left = self.log.left_behind
        meant = (left.get((number, name), self.meanings[number][name]) for name, _temporary, _mode in written)
        return frozenset(meant)

    def masked_text(self, number: int) -> str:
        """The text of a statement that may be stored; "" where it cannot be masked."""
        return self.templates[self.occurrences[number].template].masked


def _shards_of_whole(whole: _BoundWhole, most: int) -> Iterator[_UninlinedShard]:
    """The whole in shards of about so many templates at most; what hangs together is never parted."""
    maker = _ShardMaker(whole)
    divided = maker.divided_groups(most)
    for index, chosen in enumerate(divided):
        one = maker.shard_of(chosen)
        yield one if index == 0 else replace(one, source=replace(one.source, log=_without_events(one.source.log)))


def _without_events(log: BoundLog) -> BoundLog:
    """DDL is told in one order, by one shard."""
    return replace(log, events=(), type_events=(), column_events=())


class _ShardMaker:
    def __init__(self, whole: _BoundWhole) -> None:
        self._whole = whole
        self._inlined = whole.inlined_relations()
        self._numbers = {one.order: number for number, one in enumerate(whole.occurrences)}
        self._into = [whole.targets(number) - self._inlined for number in range(len(whole.occurrences))]
        self._filled = {target for targets in self._into for target in targets}
        self._in_force = {one.key: one.number for one in whole.log.relations if not one.superseded}
        self._defining = self._definitions()

    def divided_groups(self, most: int) -> list[list[int]]:
        """The groups (by number) of each shard."""
        joined: UnionFind[tuple[str, object]] = UnionFind()
        for index, group in enumerate(self._whole.groups):
            joined.union(("group", index), *self._bonds(group))
        units: dict[object, list[int]] = {}
        for index in range(len(self._whole.groups)):
            units.setdefault(joined["group", index], []).append(index)
        divided: list[list[int]] = []
        held = most
        for unit in units.values():
            size = len({self._whole.groups[index].template for index in unit})
            if held + size > most:
                divided.append([])
                held = 0
            divided[-1] += unit
            held += size
        return [sorted(chosen) for chosen in divided]

    def _bonds(self, group: OccurrenceGroup) -> Iterator[tuple[str, object]]:
        """What joins a group with others."""
        if group.routine:
            yield "routine", group.routine
        number = self._numbers.get(group.order)
        if number is None or self._writes(number):
            yield "template", group.template
        if number is not None:
            named = self._whole.meanings[number].values()
            yield from (("inlined", one) for one in self._inlined.intersection(named))
            # what is read of a dropped column is read of what others have written into it
            yield from (("dropped", one) for one in named if self._whole.log.relations[one].gone_columns)
            for target in self._into[number]:
                relation = self._whole.log.relations[target]
                yield "target", relation.key.table.casefold()
                yield "target", own_name(relation.mention[0]).casefold()

    def _writes(self, number: int) -> bool:
        """Whether a statement says what something is made of: the `DROP TABLE stage` that all jobs have in common does
        not, and were they one shard for that, a log would be one shard however many templates it has.
        """
        names = self._whole.occurrences[number].names
        return names is None or bool(names.written)

    def _definitions(self) -> dict[RelationKey, int]:
        """The statement (by number) that defines each key as a view."""
        last: dict[int, int] = {}
        for number, views in sorted(self._whole.views.items()):
            last.update((relation, number) for relation in views if relation not in self._inlined)
        return {self._whole.log.relations[relation].key: number for relation, number in last.items()}

    def _statements_in(self, chosen: Sequence[int]) -> list[int]:
        """The statements (by number) of the chosen groups."""
        numbers = (self._numbers.get(self._whole.groups[index].order) for index in chosen)
        return [number for number in numbers if number is not None]

    def shard_of(self, chosen: Sequence[int]) -> _UninlinedShard:
        """The chosen groups as a shard, whose relations have numbers of its own, in the order of the whole."""
        whole, numbers = self._whole, self._statements_in(chosen)
        filled = {target for number in numbers for target in self._into[number]}
        groups = tuple(whole.groups[index] for index in chosen)
        left = {
            (index, name): whole.log.left_behind[number, name]
            for index, number in enumerate(numbers)
            for name in whole.meanings[number]
            if (number, name) in whole.log.left_behind
        }
        named = {relation for number in numbers for relation in whole.meanings[number].values()} | {*left.values()}
        # What took the place of another tells which of that one's columns are lost.
        others = (self._in_force.get(whole.log.relations[n].key) for n in named if whole.log.relations[n].superseded)
        relations = sorted(named.union(n for n in others if n is not None))
        local = {relation: index for index, relation in enumerate(relations)}
        keys = {whole.log.relations[relation].key for relation in relations}
        orders = {group.order for group in groups}
        source = LineageSource(
            templates={key: replace(whole.templates[key], symbolic=None) for key in {one.template for one in groups}},
            groups=groups,
            settings=whole.settings,
            bound=tuple(group for group in groups if group.order in self._numbers),
            log=replace(
                whole.log,
                relations=tuple(_as_a_part(whole.log.relations[relation], index) for relation, index in local.items()),
                schemas={index: whole.log.schemas[n] for n, index in local.items() if n in whole.log.schemas},
                failures={order: why for order, why in whole.failures.items() if order in orders},
                left_behind={written: local[relation] for written, relation in left.items()},
            ),
            flows=(),
            failures={order: why for order, why in whole.failures.items() if order in orders},
            definitions={key: whole.masked_text(self._defining[key]) for key in keys if key in self._defining},
            filled_elsewhere=frozenset(local[one] for one in self._filled.intersection(local) - filled),
        )
        return _UninlinedShard(
            source,
            tuple(whole.occurrences[number] for number in numbers),
            tuple(whole.lineage(number) for number in numbers),
            tuple({name: local[one] for name, one in whole.meanings[number].items()} for number in numbers),
            tuple(whole.columns_at[number] for number in numbers),
        )


def _as_a_part(relation: Relation, number: int) -> Relation:
    """What is asked of a relation once all is bound; what made it is counted as in the whole."""
    return replace(relation, number=number, declared=None, like=None, alterations=[])


# How it is bound.
#
# The statements are analysed level by level, each once the columns of what it reads are known, some at a time; what
# they say waits in a file. What has been bound goes on in shards, as other shards do.


@dataclass(frozen=True, slots=True)
class LargeShard:
    """Occurrences that hang together, in time order, to go on in shards of `most` templates (by fingerprint)."""

    templates: Mapping[str, ParsedTemplate]
    groups: tuple[OccurrenceGroup, ...]
    most: int


def bind_large(
    large: LargeShard,
    executor: Executor,
    driver: DriverExecutor,
    on_result: Callable[[Result[BoundShard, NamesMet]], None],
) -> None:
    """Binds a large shard part by part, by the `executor`, or in the `driver` where that is sooner done.

    `on_result` is told of each shard that it goes on as: together they are the same as the large one in one. Raises
    TargetDown.
    """
    binding = _LargeBinding(large, executor, driver)
    while not binding.bind():
        pass  # what a statement that fails has left behind must not be seen by the others
    binding.hand_over(on_result)


@dataclass(slots=True)
class _BoundStatements:
    """What is kept of the statements of a shard, by their numbers."""

    schemas: RelationSchemas
    timeline: Timeline
    lineages: SpillList[StatementLineage] = field(default_factory=lambda: SpillList(0))
    indexes: dict[int, int] = field(default_factory=dict)
    views: dict[int, frozenset[int]] = field(default_factory=dict)
    columns_at: dict[int, float | None] = field(default_factory=dict)
    columns: dict[Column, Column] = field(default_factory=dict)

    def add(self, one: _AnalysedStatement) -> None:
        """Takes in a statement."""
        self.schemas.note(one.number, one.order, [self._with_common_columns(shown) for shown in one.shown])
        views = frozenset(self.timeline.meanings[one.number][shown.target] for shown in one.shown if shown.view)
        if views:
            self.views[one.number] = views
        self.columns_at[one.number] = one.columns_at
        self.indexes[one.number] = self.lineages.append(one.lineage)

    def _with_common_columns(self, shown: ShownColumns) -> ShownColumns:
        """The same, with one value for equal columns: tables that are made from each other have mostly the same."""
        if shown.columns is None:
            return shown
        return replace(shown, columns=tuple(self.columns.setdefault(column, column) for column in shown.columns))

    def lineage(self, number: int) -> StatementLineage | Packed[StatementLineage]:
        """What a statement says, packed where it can be."""
        return self.lineages.packed_value(self.indexes[number])


class _LargeBinding:
    def __init__(self, large: LargeShard, executor: Executor, driver: DriverExecutor) -> None:
        self._large = large
        self._executor, self._driver = executor, driver
        context = driver.context
        self._settings = context.binding.settings
        self._before = context.before()
        self._isolation = Isolation[Order](context.binding.probe)
        self._resolved_templates: set[str] = set()
        self._occurrences = self._named_occurrences()
        self._results: SpillList[Result[BoundShard, NamesMet]] = SpillList(0)

    def bind(self) -> bool:
        """Whether all is bound but what failed before this."""
        failed = len(self._isolation.failures)
        remaining = [one for one in self._occurrences if one.order not in self._isolation.failures]
        with collection_paused():
            timeline = read_timeline(remaining, self._before, self._isolation)
        if timeline is None:
            return False
        bound = self._analyse(remaining, timeline)
        log = log_of(timeline, (), bound.schemas, self._isolation)
        if len(self._isolation.failures) > failed:
            return False
        whole = _BoundWhole(
            self._large.groups,
            self._large.templates,
            self._settings,
            remaining,
            timeline.meanings,
            log,
            bound.lineage,
            bound.views,
            bound.columns_at,
            self._isolation.failures,
        )
        self._inline(_shards_of_whole(whole, self._large.most))
        return len(self._isolation.failures) == failed

    def hand_over(self, on_result: Callable[[Result[BoundShard, NamesMet]], None]) -> None:
        """Gives away what was bound."""
        for result in self._results:
            on_result(result)

    def _named_occurrences(self) -> list[Occurrence]:
        """The groups that can be bound, by their names alone."""
        names: dict[str, TableUsageNames | None] = {}
        found = []
        for group in self._large.groups:
            with self._isolation.around(FailureStage.ANALYSIS, group.order):
                if group.template not in names:
                    names[group.template] = self._names_of(group.template)
                if (known := names[group.template]) is not None:
                    found.append(occurrence_of(group, UNREAD, known, self._settings))
        return found

    def _names_of(self, fingerprint: str) -> TableUsageNames | None:
        """The names of a template; None where it could not be parsed."""
        template = self._large.templates[fingerprint]
        if template.symbolic is None:
            return None
        if is_resolved(template.symbolic):
            self._resolved_templates.add(fingerprint)
        return template.names()

    def _analyse(self, occurrences: list[Occurrence], timeline: Timeline) -> _BoundStatements:
        found = _BoundStatements(RelationSchemas(timeline, self._before), timeline)

        def on_result(result: Result[None, _ChunkAnalysis]) -> None:
            for order, failure in result.summary.failures.items():
                self._isolation.failures.setdefault(order, failure)
            for one in result.summary.statements:
                with self._isolation.around(FailureStage.ANALYSIS, one.order):
                    found.add(one)

        def widened_relations(number: int) -> Collection[int]:
            one = occurrences[number]
            written = one.names.written if one.names is not None and one.template in self._resolved_templates else ()
            return [
                timeline.meanings[number][name] for name, _temporary, mode in written if mode is not WriteMode.CREATE
            ]

        size = min(_AT_ONCE, self._large.most)
        for level in levels(timeline, widened_relations):
            chunks = (
                self._chunk([occurrences[number] for number in some], some, found)
                for some in (level[start : start + size] for start in range(0, len(level), size))
            )
            executor = self._executor if len(level) > size else self._driver
            executor.map(_analyse_chunk, chunks, repeat(None), on_result)
        return found

    def _chunk(self, occurrences: list[Occurrence], numbers: list[int], found: _BoundStatements) -> _AnalysisChunk:
        numbered = []
        timeline = found.timeline
        for number, one in zip(numbers, occurrences, strict=True):
            with self._isolation.around(FailureStage.ANALYSIS, one.order):
                meaning, altered = timeline.meanings[number], timeline.altered[number]
                later = changes_after(timeline.relations, meaning, one.order, altered)
                numbered.append(_NumberedStatement(number, one, found.schemas.read_by(number, one.order), later))
        templates = self._large.templates
        return _AnalysisChunk({key: templates[key] for key in {one.template for one in occurrences}}, tuple(numbered))

    def _inline(self, shards: Iterable[_UninlinedShard]) -> None:
        self._results = SpillList(0)

        def on_result(result: Result[BoundShard | None, _InlinedShard]) -> None:
            for order, failure in result.summary.failures.items():
                self._isolation.failures.setdefault(order, failure)
            if result.left is not None and result.summary.met is not None:
                left = cast("BoundShard | Packed[BoundShard]", result.left)
                self._results.append(Result(left, result.summary.met))

        self._executor.map(_inline_shard, shards, repeat(None), on_result)
