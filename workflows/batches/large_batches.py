"""A batch that is too large to be bound at once: its timeline is one, read from names; all else is done in parts.

The statements are analysed level by level, each once the columns of what it reads are known, some at a time; what they
say waits in a file. What has been bound goes on in slices, as batches do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import repeat

from ingestion.binding.binder import log_of
from ingestion.binding.dependency_order import levels
from ingestion.binding.relation_schemas import RelationSchemas, ShownColumns
from ingestion.binding.restored_names import Order
from ingestion.binding.timeline import Occurrence, Timeline, read_timeline
from ingestion.isolation import FailureStage, Isolation
from ingestion.model import Column, StatementLineage, TableUsageNames, WriteMode
from ingestion.symbolic import is_resolved
from workflows.batches.passes import BoundBatch, NamesMet
from workflows.batches.pieces import (
    UNREAD,
    AnalysedStatement,
    AnalysisPiece,
    PieceAnalysis,
    PlacedStatement,
    analyse_piece,
)
from workflows.batches.places import InDriver, Place
from workflows.batches.slices import BoundWhole, FoldedSlice, Slice, fold_slice, slices_of
from workflows.control.collection import collection_paused
from workflows.control.shelf import Shelf
from workflows.lineage.lineage_source import occurrence_of
from workflows.templates.occurrences import OccurrenceGroup
from workflows.templates.parsing import ParsedTemplate

_AT_ONCE = 250
"""Statements of a piece, whose forms are in memory: a second of work."""


@dataclass(frozen=True, slots=True)
class LargeBatch:
    """Occurrences that hang together, in time order, to go on in slices of `most` templates (by fingerprint)."""

    templates: Mapping[str, ParsedTemplate]
    groups: tuple[OccurrenceGroup, ...]
    most: int


def bind_large(
    batch: LargeBatch,
    places: tuple[Place, InDriver],
    leave: Shelf[BoundBatch],
    take: Callable[[NamesMet], None],
) -> None:
    """Binds a batch part by part, in the first of the `places`, or in the driver where that is sooner done.

    `leave` gets what is left of each slice, and `take` what it tells: together the same as of the batch in one piece.
    Raises TargetDown.
    """
    binding = _LargeBinding(batch, places)
    while not binding.bind():
        pass  # what a statement that fails has left behind must not be seen by the others
    binding.hand_over(leave, take)


@dataclass(slots=True)
class _BoundStatements:
    """What is kept of the statements of a batch, by their numbers."""

    schemas: RelationSchemas
    timeline: Timeline
    lineages: Shelf[StatementLineage] = field(default_factory=lambda: Shelf(0))
    places: dict[int, int] = field(default_factory=dict)
    views: dict[int, frozenset[int]] = field(default_factory=dict)
    columns: dict[Column, Column] = field(default_factory=dict)

    def add(self, one: AnalysedStatement) -> None:
        """Takes in a statement."""
        self.schemas.note(one.number, one.order, [self._with_common_columns(shown) for shown in one.shown])
        views = frozenset(self.timeline.meanings[one.number][shown.target] for shown in one.shown if shown.view)
        if views:
            self.views[one.number] = views
        lineage, lineages = one.lineage, self.lineages
        place = lineages.append_packed(lineage) if isinstance(lineage, bytes) else lineages.append(lineage)
        self.places[one.number] = place

    def _with_common_columns(self, shown: ShownColumns) -> ShownColumns:
        """The same, with one value for equal columns: tables that are made from each other have mostly the same."""
        if shown.columns is None:
            return shown
        return replace(shown, columns=tuple(self.columns.setdefault(column, column) for column in shown.columns))

    def lineage(self, number: int) -> bytes | StatementLineage:
        """What a statement says, packed where it can be."""
        place = self.places[number]
        return self.lineages.packed_value(place) or self.lineages[place]


class _LargeBinding:
    def __init__(self, batch: LargeBatch, places: tuple[Place, InDriver]) -> None:
        self._batch = batch
        self._place, self._driver = places
        stages = self._driver.stages
        self._settings = stages.binding.settings
        self._before = stages.before()
        self._isolation = Isolation[Order](stages.binding.probe)
        self._carried_out: set[str] = set()
        self._occurrences = self._named_occurrences()
        self._slices: Shelf[BoundBatch | None] = Shelf(0)
        self._met: Shelf[NamesMet] = Shelf(0)

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
        whole = BoundWhole(
            self._batch.groups,
            self._batch.templates,
            self._settings,
            remaining,
            timeline.meanings,
            log,
            bound.lineage,
            bound.views,
            self._isolation.failures,
        )
        self._fold(slices_of(whole, self._batch.most))
        return len(self._isolation.failures) == failed

    def hand_over(self, leave: Shelf[BoundBatch], take: Callable[[NamesMet], None]) -> None:
        """Gives away what was bound."""
        for number, met in enumerate(self._met):
            packed = self._slices.packed_value(number)
            value = self._slices[number] if packed is None else None
            if packed is not None:
                leave.append_packed(packed)
            elif value is not None:
                leave.append(value)
            take(met)

    def _named_occurrences(self) -> list[Occurrence]:
        """The groups that can be bound, by their names alone."""
        names: dict[str, TableUsageNames | None] = {}
        found = []
        for group in self._batch.groups:
            with self._isolation.around(FailureStage.ANALYSIS, group.order):
                if group.template not in names:
                    names[group.template] = self._names_of(group.template)
                if (known := names[group.template]) is not None:
                    found.append(occurrence_of(group, UNREAD, known, self._settings))
        return found

    def _names_of(self, fingerprint: str) -> TableUsageNames | None:
        """The names of a template; None where it could not be parsed."""
        template = self._batch.templates[fingerprint]
        if template.symbolic is None:
            return None
        if is_resolved(template.symbolic):
            self._carried_out.add(fingerprint)
        return template.names()

    def _analyse(self, occurrences: list[Occurrence], timeline: Timeline) -> _BoundStatements:
        found = _BoundStatements(RelationSchemas(timeline, self._before), timeline)

        def take(analysis: PieceAnalysis) -> None:
            for order, failure in analysis.failures.items():
                self._isolation.failures.setdefault(order, failure)
            for one in analysis.statements:
                with self._isolation.around(FailureStage.ANALYSIS, one.order):
                    found.add(one)

        def widened_relations(number: int) -> Collection[int]:
            one = occurrences[number]
            written = one.names.written if one.names is not None and one.template in self._carried_out else ()
            return [
                timeline.meanings[number][name] for name, _temporary, mode in written if mode is not WriteMode.CREATE
            ]

        size = min(_AT_ONCE, self._batch.most)
        for level in levels(timeline, widened_relations):
            pieces = (
                self._piece([occurrences[number] for number in some], some, found.schemas)
                for some in (level[start : start + size] for start in range(0, len(level), size))
            )
            place = self._place if len(level) > size else self._driver
            place.carry_out(analyse_piece, (pieces, repeat(None)), Shelf[None](len(level)), take)
        return found

    def _piece(self, occurrences: list[Occurrence], numbers: list[int], schemas: RelationSchemas) -> AnalysisPiece:
        placed = []
        for number, one in zip(numbers, occurrences, strict=True):
            with self._isolation.around(FailureStage.ANALYSIS, one.order):
                placed.append(PlacedStatement(number, one, schemas.read_by(number, one.order)))
        templates = self._batch.templates
        return AnalysisPiece({key: templates[key] for key in {one.template for one in occurrences}}, tuple(placed))

    def _fold(self, slices: Iterable[Slice]) -> None:
        self._slices, self._met = Shelf(0), Shelf(0)

        def take(folded: FoldedSlice) -> None:
            for order, failure in folded.failures.items():
                self._isolation.failures.setdefault(order, failure)
            if folded.met is not None:
                self._met.append(folded.met)

        self._place.carry_out(fold_slice, (slices, repeat(None)), self._slices, take)
