"""Late binding: symbolic lineage and schemas make column lineage, whatever the order in which the log has them.

Schemas come from three places: the catalog (and schema files), DDL in the log, and the bound outputs of the statement
that created a relation (LineageX's auto-inference). Creating statements are therefore bound before their readers, in
the dependency order of the definitions that were in force; a definition that depends on itself stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ingestion.analysis.analyzer import analyze
from ingestion.binding.dependency_order import creators_in_dependency_order
from ingestion.binding.name_events import ColumnNameEvent, NameEvent, SchemaEvents, TypeEvent
from ingestion.binding.relation_schemas import RelationSchemas, Schema, shown_columns
from ingestion.binding.relations import Relation
from ingestion.binding.restored_names import Order
from ingestion.binding.timeline import Occurrence, SchemaProvider, Timeline, read_timeline
from ingestion.isolation import Failure, FailureStage, Isolation
from ingestion.model import StatementLineage, TableName
from ingestion.symbolic import Symbolic


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """A statement with its columns bound as far as schemas are known; `meaning` gives each name's relation number.

    `SELECT * FROM t` has the columns that t has at that moment of the log, one output each.
    """

    occurrence: Occurrence
    lineage: StatementLineage
    meaning: dict[TableName, int]


@dataclass(frozen=True, slots=True)
class BoundLog:
    """All statements of a log, bound, in time order, with the relations that their names mean.

    `failures`: the statements that could not be bound, by their order; all else is as if the log did not have them.
    """

    relations: tuple[Relation, ...]
    statements: tuple[BoundStatement, ...]
    schemas: dict[int, Schema]
    events: tuple[NameEvent, ...] = ()
    type_events: tuple[TypeEvent, ...] = ()
    column_events: tuple[ColumnNameEvent, ...] = ()
    failures: dict[Order, Failure] = field(default_factory=dict)

    @property
    def ddl_events(self) -> SchemaEvents:
        """What the log did to names, types and columns."""
        return SchemaEvents(self.events, self.type_events, self.column_events)

    def lost_columns(self) -> dict[int, Callable[[str], bool]]:
        """For each relation that was defined anew: whether what stands under its name now lacks a column.

        Of one whose new columns are not all known nothing is said.
        """
        in_force = {relation.key: relation.number for relation in self.relations if not relation.superseded}
        lost: dict[int, Callable[[str], bool]] = {}
        for relation in self.relations:
            schema = self.schemas.get(in_force.get(relation.key, relation.number)) if relation.superseded else None
            if schema:
                names = frozenset(column.name.casefold() for column in schema)
                lost[relation.number] = partial(_lacks, names)
        return lost


def _lacks(names: frozenset[str], column: str) -> bool:
    return column != "*" and column.casefold() not in names


def bind(
    occurrences: Sequence[Occurrence], before: SchemaProvider, isolation: Isolation[Order] | None = None
) -> BoundLog:
    """The bound lineage of `occurrences`, in time order; `before` says what stood before the log begins.

    Those that `isolation` has failures of already are left out.
    """
    isolation = isolation or Isolation()
    ordered = sorted(occurrences, key=lambda occurrence: occurrence.order)
    while True:
        failed = len(isolation.failures)
        remaining = [occurrence for occurrence in ordered if occurrence.order not in isolation.failures]
        log = _bind(remaining, before, isolation)
        # What a statement that fails has left behind must not be seen by the others: they are bound again without it.
        if log is not None and len(isolation.failures) == failed:
            return log


def _bind(occurrences: Sequence[Occurrence], before: SchemaProvider, isolation: Isolation[Order]) -> BoundLog | None:
    """The log as far as it can be bound; None where some of it has no place in the timeline."""
    timeline = read_timeline(occurrences, before, isolation)
    if timeline is None:
        return None
    binder = _Binder(occurrences, timeline, before, isolation)
    for number in creators_in_dependency_order(timeline):
        binder.bind(number)
    bound = [binder.bind(number) for number in range(len(occurrences))]
    return log_of(timeline, (one for one in bound if one is not None), binder.schemas, isolation)


def log_of(
    timeline: Timeline, statements: Iterable[BoundStatement], schemas: RelationSchemas, isolation: Isolation[Order]
) -> BoundLog:
    """The bound log, once all its `statements` are bound."""
    types, columns = schemas.alterations(isolation)
    return BoundLog(
        timeline.relations,
        tuple(statements),
        schemas.latest(isolation),
        timeline.events,
        types,
        columns,
        dict(isolation.failures),
    )


def bound_lineage(
    symbolic: Symbolic, schemas: Mapping[TableName, Schema | None], known: dict[object, StatementLineage]
) -> StatementLineage:
    """What a statement says that finds these `schemas`: runs of one over the same are analysed once.

    `known` keeps what was analysed, by the statement's identity: it must not outlive the statements.
    """
    key = id(symbolic), tuple(sorted((name.parts, name.kind, schema) for name, schema in schemas.items()))
    if key not in known:
        known[key] = analyze(symbolic, schemas.get)
    return known[key]


class _Binder:
    def __init__(
        self, occurrences: Sequence[Occurrence], timeline: Timeline, before: SchemaProvider, isolation: Isolation[Order]
    ) -> None:
        self.schemas = RelationSchemas(timeline, before)
        self._occurrences = occurrences
        self._timeline = timeline
        self._isolation = isolation
        self._bound: dict[int, BoundStatement] = {}
        self._analysed: dict[object, StatementLineage] = {}

    def bind(self, number: int) -> BoundStatement | None:
        """The statement, bound; None where it cannot be."""
        occurrence = self._occurrences[number]
        if number not in self._bound and occurrence.order not in self._isolation.failures:
            with self._isolation.around(FailureStage.ANALYSIS, occurrence.order):
                self._isolation.probe(FailureStage.ANALYSIS, occurrence)
                self._bound[number] = self._bind(number, occurrence)
        return self._bound.get(number)

    def _bind(self, number: int, occurrence: Occurrence) -> BoundStatement:
        symbolic = occurrence.symbolic
        schemas = self.schemas.read_by(number, occurrence.order)
        unbound = None if any(schemas.values()) else self._timeline.unbound.get(id(symbolic))
        lineage = unbound or bound_lineage(symbolic, schemas, self._analysed)
        shown = shown_columns(lineage, carried_out=isinstance(symbolic, StatementLineage))
        self.schemas.note(number, occurrence.order, shown)
        return BoundStatement(occurrence, lineage, self._timeline.meanings[number])
