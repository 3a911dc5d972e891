"""The columns of relations over a log: as they were declared, or brought in by what made them, and altered since."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ingestion.binding.name_events import ColumnNameEvent, TypeEvent
from ingestion.binding.relations import Relation
from ingestion.binding.restored_names import Order
from ingestion.binding.timeline import SchemaProvider, Timeline
from ingestion.isolation import FailureStage, Isolation
from ingestion.model import Column, Flow, StatementLineage, TableChange, TableName, WriteMode
from ingestion.names.namespaces import RelationKey

Schema = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class ShownColumns:
    """What a flow shows of its target's columns, None where these are not all known.

    `made`: the flow makes the target (as a `view`, or a table), which has these columns; else it has them as well.
    """

    target: TableName
    columns: Schema | None
    made: bool
    view: bool = False


def shown_columns(lineage: StatementLineage, *, carried_out: bool) -> tuple[ShownColumns, ...]:
    """What a bound statement shows of the columns of its targets; `carried_out`: it is a plan that ran."""
    found = []
    for flow in lineage.flows:
        target = flow.target
        if target is not None and target.mode is WriteMode.CREATE:
            found.append(ShownColumns(target.name, _schema_of_outputs(flow), made=True, view=target.view))
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

    def note(self, number: int, order: Order, shown: Iterable[ShownColumns]) -> None:
        """Takes in what the statement of that number shows."""
        for one in shown:
            relation = self._timeline.meanings[number][one.target]
            if one.made:
                self._created[relation] = one.columns
            else:
                self._written.setdefault(relation, []).append((order, one.columns or ()))

    def read_by(self, number: int, order: Order) -> dict[TableName, Schema | None]:
        """The columns that a statement finds under each of its names; None for what it makes itself."""
        meaning, altered = self._timeline.meanings[number], self._timeline.altered[number]
        return {
            name: None
            if self._timeline.relations[relation].creator == number
            else self.schema_at(relation, order, altered.get(relation))
            for name, relation in meaning.items()
        }

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

    def alterations(self, isolation: Isolation[Order]) -> tuple[tuple[TypeEvent, ...], tuple[ColumnNameEvent, ...]]:
        """What the log did to columns of relations that are not temporary: their types, and their names."""
        types: list[TypeEvent] = []
        columns: list[ColumnNameEvent] = []
        for relation in self._timeline.relations:
            if relation.key.session is not None or relation.temporary:
                continue
            for order in dict.fromkeys(order for order, change in relation.alterations if _changes_columns(change)):
                with isolation.around(FailureStage.BINDING, order):
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

    def latest(self, isolation: Isolation[Order]) -> dict[int, Schema]:
        """Columns of every relation as the log leaves it, where they are known."""
        end = (float("inf"), 0)
        found = {}
        for relation in self._timeline.relations:
            # Of what the log did not make, a failure costs no statement: its columns are not known.
            failures = isolation if relation.creator is not None else Isolation[Order]()
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
