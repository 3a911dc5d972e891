"""Late binding: symbolic lineage and schemas make column lineage, whatever the order in which the log has them.

Schemas come from three places: the catalog (and schema files), DDL in the log, and the bound outputs of the statement
that created a relation (LineageX's auto-inference). Creating statements are therefore bound before their readers, in
the dependency order of the definitions that were in force; a definition that depends on itself stays unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import networkx as nx

from ingestion.analysis.analyzer import analyze
from ingestion.binding.name_events import ColumnNameEvent, NameEvent, SchemaEvents, TypeEvent
from ingestion.binding.relations import Relation
from ingestion.binding.restored_names import Order
from ingestion.binding.timeline import Occurrence, SchemaProvider, Timeline, read_timeline
from ingestion.isolation import Failure, FailureStage, Isolation
from ingestion.model import Column, Flow, StatementLineage, TableChange, TableName, WriteMode
from ingestion.names.namespaces import RelationKey

Schema = tuple[Column, ...]


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
    for number in binder.creators_in_dependency_order():
        binder.bind(number)
    bound = [binder.bind(number) for number in range(len(occurrences))]
    statements = tuple(statement for statement in bound if statement is not None)
    types, columns = binder.alterations()
    return BoundLog(
        timeline.relations,
        statements,
        binder.latest_schemas(),
        timeline.events,
        types,
        columns,
        dict(isolation.failures),
    )


class _Binder:
    def __init__(
        self, occurrences: Sequence[Occurrence], timeline: Timeline, before: SchemaProvider, isolation: Isolation[Order]
    ) -> None:
        self._occurrences = occurrences
        self._timeline = timeline
        self._before = before
        self._isolation = isolation
        self._bound: dict[int, BoundStatement] = {}
        self._created: dict[int, Schema | None] = {}
        self._written: dict[int, list[tuple[Order, Schema]]] = {}
        self._analysed: dict[tuple[object, ...], StatementLineage] = {}

    def creators_in_dependency_order(self) -> list[int]:
        """Numbers of the occurrences that create relations, each after those whose relations it reads."""
        relations = self._timeline.relations
        creators = sorted({r.creator for r in relations if r.creator is not None})
        if len(creators) < 2:
            return creators
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(creators)
        for number in list(graph):
            for relation in self._timeline.meanings[number].values():
                graph.add_edges_from((dependency, number) for dependency in self._creators_behind(relations[relation]))
        graph.remove_edges_from(list(nx.selfloop_edges(graph)))
        condensed = nx.condensation(graph)
        members: dict[int, set[int]] = nx.get_node_attributes(condensed, "members")
        components = nx.lexicographical_topological_sort(condensed, key=lambda c: min(members[c]))
        return [number for component in components for number in sorted(members[component])]

    def _creators_behind(self, relation: Relation) -> list[int]:
        behind = [relation.creator] if relation.creator is not None else []
        if relation.like is not None:
            like = self._timeline.relations[relation.like].creator
            behind += [like] if like is not None else []
        return behind

    def bind(self, number: int) -> BoundStatement | None:
        """The statement, bound; None where it cannot be."""
        occurrence = self._occurrences[number]
        if number not in self._bound and occurrence.order not in self._isolation.failures:
            with self._isolation.around(FailureStage.ANALYSIS, occurrence.order):
                self._isolation.probe(FailureStage.ANALYSIS, occurrence)
                self._bound[number] = self._bind(number, occurrence)
        return self._bound.get(number)

    def _bind(self, number: int, occurrence: Occurrence) -> BoundStatement:
        meaning = self._timeline.meanings[number]
        created_here = {r for r in meaning.values() if self._timeline.relations[r].creator == number}

        def schema_of(name: TableName) -> Schema | None:
            relation = meaning.get(name)
            if relation is None or relation in created_here:
                return None
            return self.schema_at(relation, occurrence.order, self._timeline.altered[number].get(relation))

        # Runs of one template over the same schemas mean the same: they are analysed once.
        schemas = {name: schema_of(name) for name in meaning}
        seen = tuple(sorted((name.parts, name.kind, schema) for name, schema in schemas.items()))
        unbound = None if any(schemas.values()) else self._timeline.unbound.get(id(occurrence.symbolic))
        lineage = unbound or self._analysed.get((id(occurrence.symbolic), seen))
        if lineage is None:
            lineage = analyze(occurrence.symbolic, schema_of)
            self._analysed[id(occurrence.symbolic), seen] = lineage
        for flow in lineage.flows:
            if flow.target is not None and flow.target.mode is WriteMode.CREATE:
                self._created[meaning[flow.target.name]] = _schema_of_outputs(flow)
            elif flow.target is not None and isinstance(occurrence.symbolic, StatementLineage):
                # A plan that was carried out shows columns that the table has by then: Delta's mergeSchema adds them.
                written = tuple(Column(o.name, o.type) for o in flow.outputs if o.name and not o.name_assumed)
                self._written.setdefault(meaning[flow.target.name], []).append((occurrence.order, written))
        return BoundStatement(occurrence, lineage, meaning)

    def schema_at(self, number: int, order: Order, altered: Collection[Order] | None = None) -> Schema | None:
        """The columns of a relation at a moment, None if they are not (all) known.

        `altered`: which of its alterations are in force; None: all that come before.
        """
        relation = self._timeline.relations[number]
        schema = self._schema_at_creation(relation, order)
        alterations = [(when, change) for when, change in relation.alterations if altered is None or when in altered]
        changes = [*alterations, *self._written.get(number, ())]
        for when, change in sorted(changes, key=lambda change: change[0]):
            if schema is not None and when <= order:
                schema = _widen(schema, change) if isinstance(change, tuple) else _alter(schema, change)
        return schema

    def alterations(self) -> tuple[tuple[TypeEvent, ...], tuple[ColumnNameEvent, ...]]:
        """What the log did to columns of relations that are not temporary: their types, and their names."""
        types: list[TypeEvent] = []
        columns: list[ColumnNameEvent] = []
        for relation in self._timeline.relations:
            if relation.key.session is not None or relation.temporary:
                continue
            for order in dict.fromkeys(order for order, change in relation.alterations if _changes_columns(change)):
                with self._isolation.around(FailureStage.BINDING, order):
                    known = self._types_before(relation, order)
                    for change in (change for when, change in relation.alterations if when == order):
                        types += _type_events(relation.key, change, order[0], known)
                        columns += _column_events(relation, change, order, known)
        return (
            tuple(sorted(types, key=lambda event: event.time)),
            tuple(sorted(columns, key=lambda event: event.time)),
        )

    def _types_before(self, relation: Relation, order: Order) -> dict[str, str]:
        """The columns that a relation had before an alteration, empty where they are not known."""
        before = {when for when, _change in relation.alterations if when < order}
        return {column.name: column.type for column in self.schema_at(relation.number, order, before) or ()}

    def _schema_at_creation(self, relation: Relation, order: Order) -> Schema | None:
        if relation.declared is not None and relation.declared.columns:
            return relation.declared.columns
        if relation.like is not None and not self._is_circular(relation.like):
            return self.schema_at(relation.like, relation.created or order)
        inferred = self._created.get(relation.number)
        if inferred is not None:
            return inferred
        return tuple(self._before.schema(relation.born) or ()) or None

    def _is_circular(self, number: int | None) -> bool:
        """Whether a relation is LIKE one that is LIKE itself: logs are not complete, and names are used again."""
        seen = set()
        while number is not None and number not in seen:
            seen.add(number)
            number = self._timeline.relations[number].like
        return number is not None

    def latest_schemas(self) -> dict[int, Schema]:
        """Columns of every relation as the log leaves it, where they are known."""
        end = (float("inf"), 0)
        found = {}
        for relation in self._timeline.relations:
            # Of what the log did not make, a failure costs no statement: its columns are not known.
            failures = self._isolation if relation.creator is not None else Isolation[Order]()
            with failures.around(FailureStage.BINDING, relation.created or end):
                schema = self.schema_at(relation.number, end)
                if schema:
                    found[relation.number] = schema
        return found


def _changes_columns(change: TableChange) -> bool:
    return bool(change.retyped_columns or change.renamed_columns or change.dropped_columns)


def _type_events(key: RelationKey, change: TableChange, time: float, known: Mapping[str, str]) -> Iterator[TypeEvent]:
    old_names = {new: old for old, new in change.renamed_columns}
    for column in change.retyped_columns:
        yield TypeEvent(key, column, time, known.get(old_names.get(column.name, column.name), ""))


def _column_events(
    relation: Relation, change: TableChange, order: Order, known: Mapping[str, str]
) -> Iterator[ColumnNameEvent]:
    """What became of the names of columns; of one that the log shows not to be there, nothing (IF EXISTS)."""
    shown = relation.creator is not None and known  # else a catalog's, which may have them as they are by now
    defined = {column.name for when, later in relation.alterations if when >= order for column in later.columns}
    for column, other in (*change.renamed_columns, *((name, None) for name in change.dropped_columns)):
        if column != other and (column in known or not (shown or column in change.optional_columns)):
            again = relation.superseded or relation.dropped is not None or column in defined
            yield ColumnNameEvent(relation.key, column, order[0], other, known.get(column, ""), again)


def _alter(schema: Schema, change: TableChange) -> Schema:
    dropped, renamed = set(change.dropped_columns), dict(change.renamed_columns)
    types = {column.name: column.type for column in change.retyped_columns}
    kept = [Column(renamed.get(c.name, c.name), c.type) for c in schema if c.name not in dropped]
    kept = [Column(c.name, types.get(c.name, c.type)) for c in kept]
    return (*kept, *(c for c in change.columns if c.name not in {k.name for k in kept}))


def _widen(schema: Schema, written: Schema) -> Schema:
    known = {column.name.casefold() for column in schema}
    return (*schema, *(column for column in written if column.name.casefold() not in known))


def _schema_of_outputs(flow: Flow) -> Schema | None:
    """The columns that a creating flow gives its target; None while a star in it is not expanded."""
    if any(output.star is not None or not output.name for output in flow.outputs):
        return None
    return tuple(Column(output.name, output.type) for output in flow.outputs) or None
