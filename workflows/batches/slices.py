"""Slices of a batch that is too large to go on as one: after binding less hangs together than before it.

One slice has all that is said of a target, all that reads or writes what folds away, all runs of a template and all
statements of a routine. What else is told of the whole, it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from networkx.utils import UnionFind

from ingestion.binding.binder import BoundLog, BoundStatement
from ingestion.binding.name_states import own_name
from ingestion.binding.relations import Relation
from ingestion.binding.restored_names import Order
from ingestion.binding.temporary_tables import inline_temporary_tables
from ingestion.binding.timeline import Occurrence
from ingestion.isolation import Failure, Isolation
from ingestion.model import StatementLineage, TableName
from ingestion.names.namespaces import RelationKey
from workflows.batches.passes import BatchStages, BoundBatch, NamesMet, survey_batch
from workflows.config.namespaces import SourceSettings
from workflows.control.shelf import unpack
from workflows.lineage.lineage_source import LineageSource, folding
from workflows.templates.occurrences import OccurrenceGroup
from workflows.templates.parsing import ParsedTemplate


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a bound batch before what folds is folded; its statements' lineage is packed where it can be."""

    source: LineageSource
    occurrences: tuple[Occurrence, ...]
    lineages: tuple[bytes | StatementLineage, ...]
    meanings: tuple[dict[TableName, int], ...]


@dataclass(frozen=True, slots=True)
class FoldedSlice:
    """What a slice names, or the failures of statements without which its batch is to be bound again."""

    met: NamesMet | None
    failures: Mapping[Order, Failure]


def fold_slice(stages: BatchStages, part: Slice, _given: None) -> tuple[BoundBatch | None, FoldedSlice]:
    """A `part` whose flows are those between relations that stay, and its names looked up. Raises TargetDown."""
    isolation = Isolation[Order](stages.binding.probe)
    lineages = (unpack(one) if isinstance(one, bytes) else one for one in part.lineages)
    statements = tuple(
        BoundStatement(occurrence, cast(StatementLineage, lineage), meaning)
        for occurrence, lineage, meaning in zip(part.occurrences, lineages, part.meanings, strict=True)
    )
    log = replace(part.source.log, statements=statements)
    flows = inline_temporary_tables(log, folding(part.source.settings), isolation)
    if isolation.failures:
        return None, FoldedSlice(None, isolation.failures)
    bound, met = survey_batch(stages, replace(part.source, log=log, flows=flows, probe=stages.binding.probe))
    return bound, FoldedSlice(met, {})


@dataclass(frozen=True, slots=True)
class BoundWhole:
    """A batch whose statements are bound: `groups` are all of it, `occurrences` those that are bound.

    `log` has no statements, `meanings` stand for these; `lineage` gives what one says, by its number, and `views` are
    the relations that the statements (by number) make as views. `failures`: why others could not be bound.
    """

    groups: tuple[OccurrenceGroup, ...]
    templates: Mapping[str, ParsedTemplate]
    settings: SourceSettings
    occurrences: Sequence[Occurrence]
    meanings: Sequence[dict[TableName, int]]
    log: BoundLog
    lineage: Callable[[int], bytes | StatementLineage]
    views: Mapping[int, Collection[int]]
    failures: Mapping[Order, Failure]

    def folded_relations(self) -> frozenset[int]:
        """The relations that fold away."""
        folds = folding(self.settings)
        return frozenset(relation.number for relation in self.log.relations if folds(relation))

    def targets(self, number: int) -> frozenset[int]:
        """The relations that a statement brings something into."""
        names = self.occurrences[number].names
        written = names.written if names is not None else ()
        return frozenset(self.meanings[number][name] for name, _temporary, _mode in written)

    def masked_text(self, number: int) -> str:
        """The text of a statement that may be stored; "" where it cannot be masked."""
        return self.templates[self.occurrences[number].template].masked


def slices_of(whole: BoundWhole, most: int) -> Iterator[Slice]:
    """The whole in slices of about so many templates at most; what hangs together is never parted."""
    slicer = _Slicer(whole)
    parts = slicer.parts(most)
    for place, part in enumerate(parts):
        one = slicer.slice_of(part)
        yield one if place == 0 else replace(one, source=replace(one.source, log=_without_events(one.source.log)))


def _without_events(log: BoundLog) -> BoundLog:
    """DDL is told in one order, by one slice."""
    return replace(log, events=(), type_events=(), column_events=())


class _Slicer:
    def __init__(self, whole: BoundWhole) -> None:
        self._whole = whole
        self._folding = whole.folded_relations()
        self._numbers = {one.order: number for number, one in enumerate(whole.occurrences)}
        self._into = [whole.targets(number) - self._folding for number in range(len(whole.occurrences))]
        self._filled = {target for targets in self._into for target in targets}
        self._in_force = {one.key: one.number for one in whole.log.relations if not one.superseded}
        self._defining = self._definitions()

    def parts(self, most: int) -> list[list[int]]:
        """The groups (by number) of each slice."""
        joined: UnionFind[tuple[str, object]] = UnionFind()
        for group in self._whole.groups:
            joined.union(("template", group.template), *self._bonds(group))
        units: dict[object, list[int]] = {}
        for place, group in enumerate(self._whole.groups):
            units.setdefault(joined["template", group.template], []).append(place)
        parts: list[list[int]] = []
        held = most
        for unit in units.values():
            size = len({self._whole.groups[place].template for place in unit})
            if held + size > most:
                parts.append([])
                held = 0
            parts[-1] += unit
            held += size
        return [sorted(part) for part in parts]

    def _bonds(self, group: OccurrenceGroup) -> Iterator[tuple[str, object]]:
        """What joins a group with others."""
        if group.routine:
            yield "routine", group.routine
        number = self._numbers.get(group.order)
        if number is not None:
            yield from (("folding", one) for one in self._folding.intersection(self._whole.meanings[number].values()))
            for target in self._into[number]:
                relation = self._whole.log.relations[target]
                yield "target", relation.key.table.casefold()
                yield "target", own_name(relation.mention[0]).casefold()

    def _definitions(self) -> dict[RelationKey, int]:
        """The statement (by number) that defines what stands in each place as a view."""
        last: dict[int, int] = {}
        for number, views in sorted(self._whole.views.items()):
            last.update((relation, number) for relation in views if relation not in self._folding)
        return {self._whole.log.relations[relation].key: number for relation, number in last.items()}

    def _statements_in(self, part: Sequence[int]) -> list[int]:
        """The statements (by number) of a part."""
        numbers = (self._numbers.get(self._whole.groups[place].order) for place in part)
        return [number for number in numbers if number is not None]

    def slice_of(self, part: Sequence[int]) -> Slice:
        """A part as a slice, whose relations have numbers of its own, in the order of the whole."""
        whole, numbers = self._whole, self._statements_in(part)
        filled = {target for number in numbers for target in self._into[number]}
        groups = tuple(whole.groups[place] for place in part)
        named = {relation for number in numbers for relation in whole.meanings[number].values()}
        # What took the place of another tells which of that one's columns are lost.
        others = (self._in_force.get(whole.log.relations[n].key) for n in named if whole.log.relations[n].superseded)
        relations = sorted(named.union(n for n in others if n is not None))
        local = {relation: place for place, relation in enumerate(relations)}
        keys = {whole.log.relations[relation].key for relation in relations}
        orders = {group.order for group in groups}
        source = LineageSource(
            templates={key: replace(whole.templates[key], symbolic=None) for key in {one.template for one in groups}},
            groups=groups,
            settings=whole.settings,
            bound=tuple(group for group in groups if group.order in self._numbers),
            log=replace(
                whole.log,
                relations=tuple(_as_a_part(whole.log.relations[relation], place) for relation, place in local.items()),
                schemas={place: whole.log.schemas[n] for n, place in local.items() if n in whole.log.schemas},
                failures={order: why for order, why in whole.failures.items() if order in orders},
            ),
            flows=(),
            failures={order: why for order, why in whole.failures.items() if order in orders},
            definitions={key: whole.masked_text(self._defining[key]) for key in keys if key in self._defining},
            filled_elsewhere=frozenset(local[one] for one in self._filled.intersection(local) - filled),
        )
        return Slice(
            source,
            tuple(whole.occurrences[number] for number in numbers),
            tuple(whole.lineage(number) for number in numbers),
            tuple({name: local[one] for name, one in whole.meanings[number].items()} for number in numbers),
        )


def _as_a_part(relation: Relation, number: int) -> Relation:
    """What is asked of a relation once all is bound; what made it is counted as in the whole."""
    return replace(relation, number=number, declared=None, like=None, alterations=[])
