"""Statements bound to schemas: those that are given, and those that the log itself makes, alters and renames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ingestion.analysis.analyzer import analyze
from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import Symbolic
from ingestion.binding.altered_columns import GONE, LaterChanges, changes_after, under_last_names
from ingestion.binding.relations import Order, Relation
from ingestion.binding.session_names import with_session_names
from ingestion.binding.timeline import (
    ColumnNameEvent,
    NameEvent,
    Occurrence,
    SchemaEvents,
    SchemaProvider,
    Timeline,
    TypeEvent,
    read_timeline,
)
from ingestion.dialects import dialect_of
from ingestion.model.isolation import Failure, FailureStage, Isolation
from ingestion.model.lineage import (
    Column,
    ColumnRef,
    CreateMode,
    Flow,
    Output,
    Reference,
    StatementKind,
    StatementLineage,
    TableChange,
    TableName,
    WriteMode,
)
from ingestion.model.namespaces import RelationKey

if TYPE_CHECKING:
    import networkx as nx

Schema = tuple[Column, ...]

_Names = dict[TableName, TableName]
"""By each name in a script, the one that its relation is left with."""


# In which order statements are bound: what makes a relation before whatever reads it, wherever the log has them.


def _creators_in_dependency_order(timeline: Timeline) -> list[int]:
    """Numbers of the occurrences that create relations, each after those whose relations it reads."""
    relations = timeline.relations
    creators = sorted({r.creator for r in relations if r.creator is not None})
    if len(creators) < 2:
        return creators
    import networkx as nx  # a fifth of what `ingest lineage` loads, and most texts make no two tables

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(creators)
    for number in list(graph):
        for relation in timeline.meanings[number].values():
            behind = _creators_behind(timeline, relations[relation])
            graph.add_edges_from((dependency, number) for dependency in behind)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    condensed = nx.condensation(graph)
    members: dict[int, set[int]] = nx.get_node_attributes(condensed, "members")
    components = nx.lexicographical_topological_sort(condensed, key=lambda c: min(members[c]))
    order = [number for component in components for number in sorted(members[component])]
    clear_graphs(graph, condensed)
    return order


def clear_graphs(*graphs: nx.DiGraph[Any]) -> None:
    """Empties graphs that nobody needs any more: NetworkX's views of one refer back to it, and keep all of it."""
    for graph in graphs:
        graph.clear()


def _creators_behind(timeline: Timeline, relation: Relation) -> list[int]:
    behind = [relation.creator] if relation.creator is not None else []
    if relation.like is not None:
        like = timeline.relations[relation.like].creator
        behind += [like] if like is not None else []
    return behind


def levels(timeline: Timeline, widened_relations: Callable[[int], Collection[int]]) -> list[list[int]]:
    """All occurrences (by number) in levels: bound level by level, each finds what it finds when they are bound one
    after the other, those that create something first, and on one level none finds what another shows.

    `widened_relations`: the relations (by number) of which an occurrence shows columns though it does not make them.
    """
    creators = _creators_in_dependency_order(timeline)
    made = frozenset(creators)
    found: list[list[int]] = []
    shown: dict[int, int] = {}
    read: dict[int, int] = {}
    for number in (*creators, *(number for number in range(len(timeline.meanings)) if number not in made)):
        meaning = set(timeline.meanings[number].values())
        reads = set(_behind(timeline.relations, meaning))
        shows = {one for one in meaning if timeline.relations[one].creator == number}.union(widened_relations(number))
        before = [shown[one] for one in reads if one in shown] + [read[one] for one in shows if one in read]
        level = max(before, default=-1) + 1
        if level == len(found):
            found.append([])
        found[level].append(number)
        shown.update((one, max(level, shown.get(one, 0))) for one in shows)
        read.update((one, max(level, read.get(one, 0))) for one in reads)
    return found


def _behind(relations: Sequence[Relation], numbers: Collection[int]) -> Iterator[int]:
    """The relations whose columns tell those of some: these themselves, and what they are LIKE."""
    for number in numbers:
        one: int | None = number
        seen = set[int]()
        while one is not None and one not in seen:
            seen.add(one)
            yield one
            one = relations[one].like


# The columns of relations over a log: as they were declared, or brought in by what made them, and altered since.


@dataclass(frozen=True, slots=True)
class ShownColumns:
    """What a flow shows of its target's columns, None where these are not all known.

    `made`: the flow makes the target (as a `view`, or a table), which has these columns; else it has them as well.
    `goes_with`: what a view reads that cannot be dropped without it.
    """

    target: TableName
    columns: Schema | None
    made: bool
    view: bool = False
    goes_with: tuple[TableName, ...] = ()


def shown_columns(lineage: StatementLineage, symbolic: Symbolic) -> tuple[ShownColumns, ...]:
    """What a bound statement, of which `symbolic` is the form, shows of the columns of its targets."""
    carried_out = isinstance(symbolic, StatementLineage)
    follows = isinstance(symbolic, RelationalStatement) and dialect_of(symbolic.dialect).views_follow_names
    found = []
    for flow in lineage.flows:
        target = flow.target
        if target is not None and target.mode is WriteMode.CREATE:
            behind = flow.sources if target.view and follows else ()
            found.append(
                ShownColumns(target.name, _schema_of_outputs(flow), made=True, view=target.view, goes_with=behind)
            )
        elif target is not None and carried_out:
            # A plan that was carried out shows columns that the table has by then: Delta's mergeSchema adds them.
            written = tuple(Column(o.name, o.type) for o in flow.outputs if o.name and not o.name_assumed)
            found.append(ShownColumns(target.name, written, made=False))
    return tuple(found)


class RelationSchemas:
    """The columns of a log's relations, as far as the statements that were bound until now show them."""

    def __init__(self, timeline: Timeline, before: SchemaProvider) -> None:
        self._timeline = timeline
        self._before = before
        self._created: dict[int, Schema | None] = {}
        self._written: dict[int, list[tuple[Order, Schema]]] = {}
        self._last: dict[int, tuple[Schema, list[tuple[Order, TableChange | Schema]], Schema]] = {}
        self._behind_views: dict[int, set[int]] = {}

    def note(self, number: int, order: Order, shown: Iterable[ShownColumns]) -> None:
        """Takes in what the statement of that number shows."""
        for one in shown:
            relation = self._timeline.meanings[number][one.target]
            if one.made:
                self._created[relation] = one.columns
            else:
                self._written.setdefault(relation, []).append((order, one.columns or ()))
            if one.goes_with:
                meaning = self._timeline.meanings[number]
                behind = {meaning[name] for name in one.goes_with if name in meaning}
                self._behind_views.setdefault(relation, set()).update(behind - {relation})

    def end_views(self) -> None:
        """Ends the views over what the log makes and drops for good.

        After `CREATE TABLE t AS SELECT a FROM s`, `CREATE VIEW v AS SELECT a FROM t` and `DROP TABLE t CASCADE` there
        is no v in PostgreSQL, which drops no table of a view without it: nothing in v is made of s.
        """
        relations = self._timeline.relations
        over: dict[int, list[int]] = {}
        for view, behind in self._behind_views.items():
            was_run = relations[view].made is not None  # a definition that a system lists stands
            for one in behind if was_run and not relations[view].superseded else ():
                over.setdefault(one, []).append(view)
        waiting = [one for one in over if relations[one].vacated and relations[one].creator is not None]
        while waiting:
            for view in over.pop(waiting.pop(), ()):
                relations[view].vacated = True
                waiting.append(view)
        ended = {relations[view].key for view in self._behind_views if relations[view].vacated}
        for view in self._behind_views:  # and what stood there before the last definition
            relations[view].vacated |= relations[view].superseded and relations[view].key in ended

    def read_by(self, number: int, order: Order) -> dict[TableName, Schema | None]:
        """The columns that a statement finds under each of its names; None for what it makes itself."""
        meaning, altered = self._timeline.meanings[number], self._timeline.altered[number]
        return {
            name: None
            if self._timeline.relations[relation].creator == number
            else self._schema_read_at(relation, order, altered.get(relation))
            for name, relation in meaning.items()
        }

    def _schema_read_at(self, number: int, order: Order, altered: Collection[Order] | None) -> Schema | None:
        """The columns that a statement of that time may name; those that it drops among them.

        `ALTER TABLE w ALTER COLUMN b TYPE text USING (a || k), DROP COLUMN a` reads what it drops.
        """
        schema = self.schema_at(number, order, altered)
        changes = self._timeline.relations[number].alterations
        if schema is None or not any(when == order and change.dropped_columns for when, change in changes):
            return schema
        return _widen(schema, self.schema_at(number, (order[0], order[1] - 1), altered) or ())

    def schema_at(self, number: int, order: Order, altered: Collection[Order] | None = None) -> Schema | None:
        """The columns of a relation at a moment, None if they are not (all) known.

        `altered`: which of its alterations are in force; None: all that come before.
        """
        relation = self._timeline.relations[number]
        created = self._schema_at_creation(relation, order)
        if created is None:
            return None
        alterations = [one for one in relation.alterations if altered is None or one[0] in altered]
        changes = sorted([*alterations, *self._written.get(number, ())], key=lambda change: change[0])
        changes = [one for one in changes if one[0] <= order]
        # A log asks in its order: what is done to the columns since the last time is all that there is to do.
        before, done, schema = self._last.get(number, (created, [], created))
        if before != created or changes[: len(done)] != done:
            done, schema = [], created
        for _when, change in changes[len(done) :]:
            schema = _widen(schema, change) if isinstance(change, tuple) else _alter(relation, schema, change)
        self._last[number] = created, changes, schema
        return schema

    def alterations(self, isolation: Isolation[Order]) -> tuple[tuple[TypeEvent, ...], tuple[ColumnNameEvent, ...]]:
        """What the log did to columns of relations that are not temporary: their types, and their names."""
        types: list[TypeEvent] = []
        columns: list[ColumnNameEvent] = []
        for relation in self._timeline.relations:
            if relation.key.session is not None or relation.temporary:
                continue
            orders = [*dict.fromkeys(order for order, change in relation.alterations if _changes_columns(change))]
            left = self._left_again(relation) if len(orders) > 2 else frozenset()
            for order in orders:
                with isolation.around(FailureStage.BINDING, order):
                    known = self._types_before(relation, order)
                    for change in (change for when, change in relation.alterations if when == order):
                        types += _type_events(relation, change, order, known)
                    if not any(when[0] == order[0] and when < order for when, _change in relation.alterations):
                        columns += _column_events(relation, order, known, left)
        return (
            tuple(sorted(types, key=lambda event: event.time)),
            tuple(sorted(columns, key=lambda event: event.time)),
        )

    def _left_again(self, relation: Relation) -> frozenset[str]:
        """The columns that a relation has in the end though the last alteration that the log has of them is no ADD.

        Of `ADD c`, `DROP c`, `ADD c`, `DROP c`, `ADD c` the last does what the second one did, and is it once more.
        """
        final = relation.final_alterations
        if final is None or all(when in final for when, _change in relation.alterations):
            return frozenset()
        last = max(when for when, _change in relation.alterations)
        return frozenset(column.name for column in self.schema_at(relation.number, last, final) or ())

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

    def latest(self, isolation: Isolation[Order]) -> dict[int, Schema]:
        """Columns of every relation as the log leaves it, where they are known."""
        end = (float("inf"), 0)
        found = {}
        for relation in self._timeline.relations:
            # Of what the log did not make, a failure costs no statement: its columns are not known.
            failures = isolation if relation.creator is not None else Isolation[Order]()
            with failures.around(FailureStage.BINDING, relation.created or end):
                schema = self.schema_at(relation.number, end, relation.final_alterations)
                if schema:
                    found[relation.number] = schema
        return found


def _changes_columns(change: TableChange) -> bool:
    return bool(change.retyped_columns or change.renamed_columns or change.dropped_columns or change.columns)


def _type_events(
    relation: Relation, change: TableChange, order: Order, known: Mapping[str, str]
) -> Iterator[TypeEvent]:
    old_names = {new: old for old, new in change.renamed_columns}
    for column in change.retyped_columns:
        yield TypeEvent(relation.key, column, order[0], known.get(old_names.get(column.name, column.name), ""))
    there = not (relation.superseded or relation.dropped is not None)
    for column in change.columns if there else ():
        if column.name not in known or column.name in change.dropped_columns or column.name in old_names.values():
            yield TypeEvent(relation.altered_at.get(order, relation.key), column, order[0], added=True)


def _column_events(
    relation: Relation, order: Order, known: Mapping[str, str], left: Collection[str]
) -> Iterator[ColumnNameEvent]:
    """What became of the names of columns; of one that the log shows not to be there, nothing (IF EXISTS).

    `left`: columns that are there in the end, whatever the alterations come to in their order.

    What is altered at one moment, in logs that have no parts of a second, is told as one change.
    """
    shown = relation.creator is not None and known  # else a catalog's, which may have them as they are by now
    changes = tuple(change for when, change in relation.alterations if when[0] == order[0] and when >= order)
    defined = {column.name for when, later in relation.alterations if when >= order for column in later.columns}
    optional = {name for change in changes for name in change.optional_columns}
    key = relation.altered_at.get(order, relation.key)
    for column, other in _new_names(relation, changes, known):
        if column != other and (column in known or not (shown or column in optional)):
            again = relation.superseded or relation.dropped is not None or column in defined or column in left
            yield ColumnNameEvent(key, column, order[0], other, known.get(column, ""), again)


def _new_names(
    relation: Relation, changes: tuple[TableChange, ...], known: Mapping[str, str]
) -> list[tuple[str, str | None]]:
    """The columns that changes rename, with their new names, and those that they drop, with None."""
    if len(changes) > 1:
        together = LaterChanges(changes, 0.0)
        return [(name, together.last(name)) for name in together.moved_columns()]
    (change,) = changes
    unlisted = _unlisted_columns(relation, change, map(Column, known))
    return [*change.renamed_columns, *((name, None) for name in (*change.dropped_columns, *unlisted))]


def _alter(relation: Relation, schema: Schema, change: TableChange) -> Schema:
    dropped = {
        _spelling(name, schema) for name in (*change.dropped_columns, *_unlisted_columns(relation, change, schema))
    }
    renamed = {_spelling(old, schema): new for old, new in change.renamed_columns}
    kept = [replace(c, name=renamed.get(c.name, c.name)) for c in schema if c.name not in dropped]
    types = {_spelling(column.name, kept): column.type for column in change.retyped_columns}
    kept = [replace(c, type=types.get(c.name, c.type)) for c in kept]
    if change.whole and relation.declared is not None:
        listed = {new.name for new in change.columns}
        kept = [*change.columns, *(c for c in kept if c.name not in listed)]
    there = {column.name for column in kept}
    altered = (*kept, *(c for c in change.columns if c.name not in there))
    partitions = relation.declared.partition_columns if relation.declared is not None else ()
    return tuple(sorted(altered, key=lambda column: column.name in partitions))  # Hive has these last


def _unlisted_columns(relation: Relation, change: TableChange, schema: Iterable[Column]) -> list[str]:
    """The columns that REPLACE COLUMNS takes away: of a table whose columns beside the list are known, all others."""
    if not change.whole or relation.declared is None:
        return []
    listed = {*relation.declared.partition_columns, *(column.name for column in change.columns)}
    return [column.name for column in schema if column.name not in listed]


def _spelling(name: str, schema: Iterable[Column]) -> str:
    """A column of DDL as the schema has it, which may be a catalog's: that spells names as they were made."""
    names = [column.name for column in schema]
    return name if name in names else next((one for one in names if one.casefold() == name.casefold()), name)


def _widen(schema: Schema, written: Schema) -> Schema:
    known = {column.name.casefold() for column in schema}
    return (*schema, *(column for column in written if column.name.casefold() not in known))


def _schema_of_outputs(flow: Flow) -> Schema | None:
    """The columns that a creating flow gives its target; None while a star in it is not expanded.

    That over a function of which nothing is known has no table, and goes by the name of all columns.
    """
    if any(output.star is not None or output.name in ("", "*") for output in flow.outputs):
        return None
    return tuple(Column(output.name, output.type, output.body) for output in flow.outputs) or None


# Late binding: symbolic lineage and schemas make column lineage, whatever the order in which the log has them.
#
# Schemas come from three places: the catalog (and schema files), DDL in the log, and the bound outputs of the
# statement that created a relation (LineageX's auto-inference). Creating statements are therefore bound before their
# readers, in the dependency order of the definitions that were in force; a definition that depends on itself stays
# unknown.


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """A statement with its columns bound as far as schemas are known; `meaning` gives each name's relation number.

    `SELECT * FROM t` has the columns that t has at that moment of the log, one output each. Columns have the names that
    the log leaves them with; `columns_at` is when they got these (seconds since the epoch), where one was another
    column's before, else None.
    """

    occurrence: Occurrence
    lineage: StatementLineage
    meaning: dict[TableName, int]
    columns_at: float | None = None


@dataclass(frozen=True, slots=True)
class BoundLog:
    """All statements of a log, bound, in time order, with the relations that their names mean.

    `failures`: the statements that could not be bound, by their order; all else is as if the log did not have them.
    `left_behind`: as the timeline has it.
    """

    relations: tuple[Relation, ...]
    statements: tuple[BoundStatement, ...]
    schemas: dict[int, Schema]
    events: tuple[NameEvent, ...] = ()
    type_events: tuple[TypeEvent, ...] = ()
    column_events: tuple[ColumnNameEvent, ...] = ()
    failures: dict[Order, Failure] = field(default_factory=dict)
    left_behind: Mapping[tuple[int, TableName], int] = field(default_factory=dict)

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
    for number in _creators_in_dependency_order(timeline):
        binder.bind(number)
    bound = [binder.bind(number) for number in range(len(occurrences))]
    return log_of(timeline, (one for one in bound if one is not None), binder.schemas, isolation)


def log_of(
    timeline: Timeline, statements: Iterable[BoundStatement], schemas: RelationSchemas, isolation: Isolation[Order]
) -> BoundLog:
    """The bound log, once all its `statements` are bound."""
    schemas.end_views()
    types, columns = schemas.alterations(isolation)
    return BoundLog(
        timeline.relations,
        tuple(statements),
        schemas.latest(isolation),
        timeline.events,
        types,
        columns,
        dict(isolation.failures),
        timeline.left_behind,
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
        self._runs = Counter(id(one.symbolic) for one in occurrences)
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
        if unbound is not None:
            lineage = unbound
        elif self._runs[id(symbolic)] > 1:
            lineage = bound_lineage(symbolic, schemas, self._analysed)
        else:  # nothing to remember, and the key of it would be all columns of its tables
            lineage = analyze(symbolic, schemas.get)
        shown = shown_columns(lineage, symbolic)
        self.schemas.note(number, occurrence.order, shown)
        meaning = self._timeline.meanings[number]
        later = changes_after(self._timeline.relations, meaning, occurrence.order, self._timeline.altered[number])
        named = under_last_names(lineage, symbolic, later)
        return BoundStatement(occurrence, named.lineage, meaning, named.at)


# Relations that RENAME and SWAP move, under the one name that a script leaves them with, and those that a session has.
#
# Two statements may mean one relation by two names, and two relations by one: told by the names as written, a swap
# would lead every later reader to the wrong table.


@dataclass(frozen=True, slots=True)
class _LastNames:
    """By a relation's number, the name that it is left with, and the name of the one that it took the place of.

    `spelled` has the parts of names that the text writes otherwise than they are stored, `refilled` the names that a
    relation has behind the moments when it was emptied.
    """

    moved: Mapping[int, TableName]
    replaced: Mapping[int, TableName]
    spelled: Mapping[str, str]
    refilled: Mapping[int, Sequence[tuple[Order, TableName]]]

    def name_at(self, number: int, order: Order, name: TableName) -> TableName:
        """What a relation that a statement names is called there."""
        behind = (other for since, other in reversed(self.refilled.get(number, ())) if since < order)
        return next(behind, self.moved.get(number, name))


def under_last_tables(
    log: BoundLog, spelled: Mapping[str, str], in_order: Collection[Order], emptied: Mapping[Order, tuple[str, ...]]
) -> tuple[StatementLineage, ...]:
    """The lineage of each statement, with what was moved under the name where the log leaves it.

    After `INSERT INTO new SELECT a FROM s` and `ALTER TABLE new RENAME TO t` the first statement writes into t. What
    a session leaves out of names stands before them, as `spelled` has it: after `USE SCHEMA prod.core` t is
    prod.core.t.

    A temporary table that is made anew is another one, `t (2)`: by one name, what is made of the second would be of
    all that the first was made of. That is told of those alone that statements make and end which are run `in_order`.
    So is one that is filled behind a statement that has `emptied` what goes by a name.
    """
    numbered, replaced = _numbered_names(log, in_order)
    moved = _last_names(log) | numbered
    refilled = {} if not emptied else dict(_refilled_tables(log, in_order, emptied, frozenset(moved)))
    names = _LastNames(moved, replaced, spelled, refilled)
    return tuple(_rename(statement, names, log.relations) for statement in _without_unread_columns(log))


def _without_unread_columns(log: BoundLog) -> Sequence[BoundStatement]:
    """The statements without what they write into columns that are dropped, unless something was read of these."""
    gone = {relation.number: relation.gone_columns for relation in log.relations if relation.gone_columns}
    if not gone:
        return log.statements
    read = {
        (statement.meaning.get(source.table), source.column)
        for statement in log.statements
        for flow in statement.lineage.flows
        for use in flow.references()
        for source in use.sources
    }

    def stays(number: int, output: Output) -> bool:
        there = output.name not in gone.get(number, ()) or (number, output.name) in read
        return there and GONE not in output.name

    def without_gone(uses: Iterable[Reference]) -> tuple[Reference, ...]:
        return tuple(use for use in uses if not any(GONE in source.column for source in use.sources))

    found = []
    for statement in log.statements:
        flows = []
        for flow in statement.lineage.flows:
            number = statement.meaning.get(flow.target.name, -1) if flow.target is not None else -1
            kept = (output for output in flow.outputs if stays(number, output))
            outputs = tuple(replace(output, references=without_gone(output.references)) for output in kept)
            flows.append(replace(flow, outputs=outputs, indirect=without_gone(flow.indirect)))
        unused = tuple(column for column in statement.lineage.unused if GONE not in column.column)
        found.append(replace(statement, lineage=replace(statement.lineage, flows=tuple(flows), unused=unused)))
    return found


def _last_names(log: BoundLog) -> dict[int, TableName]:
    """The name of each relation that a RENAME or SWAP moved, by the relation's number."""
    found: dict[int, TableName] = {}
    for statement in log.statements:
        for change in statement.lineage.changes:
            if change.other is None:
                continue
            meaning = statement.meaning
            if change.kind is StatementKind.RENAME and change.name in meaning:
                replaced = log.relations[meaning[change.name]].replaced
                found[meaning[change.name]] = change.name if replaced else _beside(change.name, change.other)
            elif change.kind is StatementKind.SWAP:
                pairs = ((change.name, change.other), (change.other, change.name))
                found.update((meaning[one], other) for one, other in pairs if one in meaning)
    return found


def _numbered_names(log: BoundLog, in_order: Collection[Order]) -> tuple[dict[int, TableName], dict[int, TableName]]:
    """The names of temporary tables that were made under the name of one before them, by the relation's number.

    And the names of those that stood there until then: `CREATE OR REPLACE TEMP TABLE t AS SELECT a FROM t` reads it.
    """
    found: dict[int, TableName] = {}
    replaced: dict[int, TableName] = {}
    for relations in _replaced_temporary_tables(log, in_order):
        for count, (last, relation) in enumerate(pairwise(relations), 2):
            name = relation.mention[0]
            parts = (*name.parts[:-1], f"{name.table} ({count})")
            found[relation.number] = TableName(parts, f"{name} ({count})", name.kind)
            stood = last.dropped == relation.created
            replaced[relation.number] = found.get(last.number, last.mention[0]) if stood else name
    return found, replaced


def _replaced_temporary_tables(log: BoundLog, in_order: Collection[Order]) -> Iterator[list[Relation]]:
    """The temporary tables of each name that several had, if each is certain to be another one than that before it.

    Of all others of a name the rows may be those of the first: CREATE TABLE IF NOT EXISTS makes none, of two branches
    one is run, and s.t may be another table than t. No batch of T-SQL's declares a table variable twice.
    """
    made: dict[RelationKey, list[Relation]] = {}
    for relation in log.relations:
        if relation.temporary and relation.creator is not None:
            made.setdefault(relation.born, []).append(relation)
    several = [relations for relations in made.values() if len(relations) > 1]
    if not several:
        return
    ends, makes = _ends_and_makes(log, in_order)
    names: dict[int, set[tuple[str, ...]]] = {}
    for statement in log.statements:
        for name, number in statement.meaning.items():
            names.setdefault(number, set()).add(name.parts)
    for relations in several:
        parts = relations[0].mention[0].parts
        if parts[-1].startswith("#@") or (
            all(one.left is None and names.get(one.number, {parts}) == {parts} for one in relations)
            and all(
                (last.dropped, parts) in ends and (one.created, parts) in makes for last, one in pairwise(relations)
            )
        ):
            yield relations


def _refilled_tables(
    log: BoundLog, in_order: Collection[Order], emptied: Mapping[Order, tuple[str, ...]], moved: Collection[int]
) -> Iterator[tuple[int, list[tuple[Order, TableName]]]]:
    """The temporary tables that are emptied and filled again, with the moments and the names that they have behind.

    One that is read before it is filled again may have been filled by what is not read: a routine, a text. A view over
    it gives what it holds then.
    """
    made = Counter(relation.born for relation in log.relations if relation.temporary)
    mentions: dict[int, list[tuple[BoundStatement, TableName]]] = {}
    for statement in log.statements:
        for name, number in statement.meaning.items():
            mentions.setdefault(number, []).append((statement, name))
    for relation in log.relations:
        name, found = relation.mention[0], mentions.get(relation.number, [])
        is_one = relation.temporary and relation.created is not None and made[relation.born] == 1
        if not is_one or relation.number in moved or name.table.startswith("##"):  # of all sessions
            continue
        if not all(one.occurrence.order in in_order and other.parts == name.parts for one, other in found):
            continue
        if any(flow.target is not None and flow.target.view for one, _other in found for flow in one.lineage.flows):
            continue
        moments = [order for order, parts in sorted(emptied.items()) if parts == name.parts and order in in_order]
        behind: list[tuple[Order, TableName]] = []
        for order in moments:
            following = next(((one, other) for one, other in found if one.occurrence.order > order), None)
            if following is not None and _only_fills(*following):
                parts = (*name.parts[:-1], f"{name.table} ({len(behind) + 2})")
                behind.append((order, TableName(parts, f"{name} ({len(behind) + 2})", name.kind)))
        if behind:
            yield relation.number, behind


def _only_fills(statement: BoundStatement, name: TableName) -> bool:
    """Whether a statement adds rows to a table of which it reads nothing."""
    flows = statement.lineage.flows
    modes = {flow.target.mode for flow in flows if flow.target is not None and flow.target.name == name}
    reads = any(
        name in flow.sources or any(one.table == name for use in flow.references() for one in use.sources)
        for flow in flows
    )
    return bool(modes) and modes <= {WriteMode.APPEND, WriteMode.OVERWRITE} and not reads


_Moments = set[tuple[Order | None, tuple[str, ...]]]


def _ends_and_makes(log: BoundLog, in_order: Collection[Order]) -> tuple[_Moments, _Moments]:
    """When statements `in_order` end what has a name (DROP, OR REPLACE), and when they make what is new under one."""
    ends: _Moments = set()
    makes: _Moments = set()
    for statement in log.statements:
        order = statement.occurrence.order
        if order not in in_order:
            continue
        lineage = statement.lineage
        targets = [flow.target for flow in lineage.flows if flow.target is not None]
        modes = [(target.name.parts, target.create_mode) for target in targets]
        modes += [(change.name.parts, change.create_mode) for change in lineage.changes]
        ends.update((order, parts) for parts, mode in modes if mode is CreateMode.REPLACE)
        dropped = (one for one in lineage.changes if one.kind is StatementKind.DROP and not one.of_schema)
        ends.update((order, one.name.parts) for one in dropped)
        absent = {parts for parts, mode in modes if mode is CreateMode.IF_ABSENT}
        makes.update((order, parts) for parts, _mode in modes if parts not in absent)
    return ends, makes


def _beside(old: TableName, new: TableName) -> TableName:
    """A new name without a schema stays in the old one's."""
    if len(new.parts) > 1 or len(old.parts) == 1:
        return new
    schema = str(old).rpartition(".")[0]
    return TableName((*old.parts[:-1], new.table), f"{schema}.{new}", new.kind)


def _rename(statement: BoundStatement, names_of: _LastNames, relations: Sequence[Relation]) -> StatementLineage:
    names, read = {}, {}
    for name, number in statement.meaning.items():
        relation = relations[number]
        key = relation.key if number in names_of.moved else relation.born
        made = relation.mention[0] if relation.temporary else name
        called = name if made.parts == name.parts else made  # pg_temp.t is the t that was made
        named = names_of.name_at(number, statement.occurrence.order, called)
        last = with_session_names(named, key, names_of.spelled)
        if number in names_of.moved or last is not name:
            names[name] = read[name] = last
        if number in names_of.replaced and relation.created == statement.occurrence.order:
            read[name] = names_of.replaced[number]
    if not names:
        return statement.lineage
    lineage = statement.lineage
    return replace(
        lineage,
        flows=tuple(_flow(flow, names, read) for flow in lineage.flows),
        unused=tuple(_column(column, read) for column in lineage.unused),
    )


def _flow(flow: Flow, names: _Names, read: _Names) -> Flow:
    target = flow.target
    return Flow(
        replace(target, name=names.get(target.name, target.name)) if target is not None else None,
        tuple(_output(output, read) for output in flow.outputs),
        tuple(_reference(reference, read) for reference in flow.indirect),
        tuple(read.get(source, source) for source in flow.sources),
    )


def _output(output: Output, names: _Names) -> Output:
    star = output.star
    return replace(
        output,
        references=tuple(_reference(reference, names) for reference in output.references),
        star=replace(star, table=names.get(star.table, star.table)) if star is not None else None,
    )


def _reference(reference: Reference, names: _Names) -> Reference:
    return replace(reference, sources=tuple(_column(source, names) for source in reference.sources))


def _column(column: ColumnRef, names: _Names) -> ColumnRef:
    return ColumnRef(names.get(column.table, column.table), column.column)
