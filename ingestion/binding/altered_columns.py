"""Columns under the names that a log leaves them with: RENAME COLUMN, DROP COLUMN and ADD COLUMN in their order.

Two statements may mean one column by two names, and two columns by one. After `INSERT INTO w (a) SELECT x FROM t` and
`ALTER TABLE w RENAME COLUMN a TO z` the first statement has filled w.z; after `DROP COLUMN a` and `ADD COLUMN a` what
it filled is gone, and the new column is made of what comes then.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ingestion.analysis.form import RelationalStatement
from ingestion.analysis.symbolic import Symbolic
from ingestion.binding.relations import Alterations, Order, Relation
from ingestion.dialects import dialect_of
from ingestion.model.lineage import (
    ColumnRef,
    Flow,
    Output,
    Reference,
    StarOutput,
    StatementLineage,
    Subtype,
    TableChange,
    TableName,
    Transformation,
)

GONE = "\0"
"""In the name of a column that is dropped while another has its name."""
_TAKEN_AS_IS = Transformation(Subtype.IDENTITY)


@dataclass(frozen=True, slots=True)
class LaterChanges:
    """What is done to the columns of a relation after a statement, in order; `at` is when the last of it is done.

    `kept`: the columns that REPLACE COLUMNS keeps without listing them, None where that is not known.
    """

    changes: tuple[TableChange, ...]
    at: float
    kept: frozenset[str] | None = None

    def last(self, name: str) -> str | None:
        """What a column of this name is called in the end; None: it is dropped."""
        for change in self.changes:
            if _names(name, change.dropped_columns):
                return None
            name = _name_after(change, name)
            listed = (*(self.kept or ()), *(column.name for column in change.columns))
            if change.whole and self.kept is not None and not _names(name, listed):
                return None
        return name

    def gone_name(self, name: str) -> str:
        """What a column that is dropped is called until it is known what was read of it: no other has that name.

        Its own, unless another column has that in the end; then one that tells by which of the changes it went.
        """
        if not self.is_given_again(name):
            return name
        now = name
        for number, change in enumerate(self.changes):
            if _names(now, change.dropped_columns):
                return f"{name}{GONE}{len(self.changes) - number}"
            now = _name_after(change, now)
        return f"{name}{GONE}"

    def moved_columns(self) -> Iterator[str]:
        """The columns that get another name or go, as they are called before."""
        given: set[str] = set()
        for change in self.changes:
            for name in _names_taken(change):
                if name not in given:
                    given.add(name)
                    yield name
            given.update(column.name for column in change.columns)
            given.update(new for _old, new in change.renamed_columns)

    def is_given_again(self, name: str) -> bool:
        """Whether another column has this name in the end."""
        return self._is_given(name) and self.last(name) != name

    def was_given_before(self, name: str) -> bool:
        """Whether a column that has this name in the end got it after another one had lost it."""
        return self._is_given(name) and any(name in _names_taken(change) for change in self.changes)

    def _is_given(self, name: str) -> bool:
        there = False
        for change in self.changes:
            there = there and not _names(name, _names_taken(change))
            there = there or _names(name, [new for _old, new in change.renamed_columns])
            there = there or _names(name, [column.name for column in change.columns])
        return there


def _name_after(change: TableChange, name: str) -> str:
    return next((new for old, new in change.renamed_columns if _names(name, (old,))), name)


def _names_taken(change: TableChange) -> tuple[str, ...]:
    return (*change.dropped_columns, *(old for old, _new in change.renamed_columns))


def _names(name: str, names: Collection[str]) -> bool:
    """Whether a column is among some: DDL spells it as it is folded, a catalog as it was made."""
    return name in names or name.casefold() in {one.casefold() for one in names}


def _later_changes(relation: Relation, order: Order, in_force: Collection[Order] | None) -> LaterChanges | None:
    """What is done to a relation after a statement that ran at `order`, None where nothing is.

    `in_force`: which alterations were in force then; None: those before it. Where runs of a log that repeats itself
    have altered it in several ways, no order is known of these.
    """
    before = {when for when, _change in relation.alterations if when < order} if in_force is None else {*in_force}
    final = relation.final_alterations
    if final is not None and not before <= final:
        return None
    coming = [(when, change) for when, change in relation.alterations if when not in before]
    coming = sorted((one for one in coming if final is None or one[0] in final), key=lambda one: one[0])
    if not coming:
        return None
    kept = None if relation.declared is None else frozenset(relation.declared.partition_columns)
    return LaterChanges(tuple(change for _when, change in coming), coming[-1][0][0], kept)


def changes_after(
    relations: Sequence[Relation], meaning: Mapping[TableName, int], order: Order, altered: Alterations
) -> dict[TableName, LaterChanges]:
    """What is done to columns after a statement that means these relations, by its names for them.

    `altered`: which alterations were in force when it ran, of the relations of which the order does not tell.
    """
    found = {}
    for name, number in meaning.items():
        later = _later_changes(relations[number], order, altered.get(number))
        if later is not None:
            found[name] = later
    return found


@dataclass(frozen=True, slots=True)
class LastNames:
    """What a statement says, with its columns as they are called in the end.

    `at`: when they got these names (seconds since the epoch), where one was another column's before; else None.
    """

    lineage: StatementLineage
    at: float | None = None


def under_last_names(
    lineage: StatementLineage, symbolic: Symbolic, later: Mapping[TableName, LaterChanges]
) -> LastNames:
    """What a statement says under the last names of its columns; `later` is what is done to these after it."""
    if not later:
        return LastNames(lineage)
    dialect = dialect_of(symbolic.dialect) if isinstance(symbolic, RelationalStatement) else None
    follows = dialect is not None and dialect.views_follow_names
    flows = tuple(_Renaming(later, flow, follows).flow() for flow in lineage.flows)
    no_flow = _Renaming(later, Flow(None, ()), follows)
    unused = tuple(no_flow.source(column) for column in lineage.unused)
    renamed = replace(lineage, flows=flows, unused=unused)
    altered = ((later[column.table], column.column) for column in _columns_of(renamed) if column.table in later)
    return LastNames(renamed, max((one.at for one, name in altered if one.was_given_before(name)), default=None))


def _columns_of(lineage: StatementLineage) -> Iterator[ColumnRef]:
    for flow in lineage.flows:
        yield from (source for reference in flow.references() for source in reference.sources)
        if flow.target is not None:
            yield from (ColumnRef(flow.target.name, output.name) for output in flow.outputs)


@dataclass(frozen=True, slots=True)
class _Renaming:
    """The columns of one flow under their last names, by what is done to the tables that it names."""

    later: Mapping[TableName, LaterChanges]
    given: Flow
    views_follow: bool

    def flow(self) -> Flow:
        flow = self.given
        outputs = tuple(new for output in flow.outputs for new in self._outputs(output))
        return Flow(flow.target, outputs, self._references(flow.indirect), flow.sources)

    def source(self, column: ColumnRef) -> ColumnRef:
        """A column that is read, under its last name.

        A view that its engine looks up by names reads whatever has the name.
        """
        later = self.later.get(column.table)
        if later is None or column.column == "*":
            return column
        if self._looks_up_names() and later.is_given_again(column.column):
            return column
        last = later.last(column.column)
        return ColumnRef(column.table, later.gone_name(column.column) if last is None else last)

    def _looks_up_names(self) -> bool:
        target = self.given.target
        return target is not None and target.view and not self.views_follow

    def _of_target(self) -> LaterChanges | None:
        """What is done to the columns of what the flow writes."""
        return self.later.get(self.given.target.name) if self.given.target is not None else None

    def _outputs(self, output: Output) -> Iterator[Output]:
        if output.star is not None:
            yield from self._star(output, output.star)
            return
        yield replace(output, name=self._target(output.name), references=self._references(output.references))

    def _target(self, name: str) -> str:
        """A column that is written, under its last name."""
        later = self._of_target()
        if later is None:
            return name
        return later.last(name) or later.gone_name(name)

    def _star(self, output: Output, star: StarOutput) -> Iterator[Output]:
        """A star over unknown columns: those of which a later name is known stand beside it, one by one."""
        source, target = self.later.get(star.table), self._of_target()
        renamed = dict(star.renamed)
        other_names = {new: old for old, new in star.renamed}
        moved = {name: renamed.get(name, name) for name in (source.moved_columns() if source is not None else ())}
        moved |= {other_names.get(name, name): name for name in (target.moved_columns() if target is not None else ())}
        named = {given.name for given in self.given.outputs}
        moved = {old: new for old, new in moved.items() if old not in star.excluded and new not in named}
        several = sum(one.star is not None for one in self.given.outputs) > 1
        found = []
        for old, new in moved.items():
            read, written = self.source(ColumnRef(star.table, old)), self._target(new)
            found.append(Output(written, (Reference((read,), _TAKEN_AS_IS, opaque=several),)))
        left = {self.source(ColumnRef(star.table, name)) for name in (*star.excluded, *moved)}
        excluded = tuple(sorted(column.column for column in left))
        others = tuple((old, new) for old, new in star.renamed if old not in moved)
        yield replace(output, star=StarOutput(star.table, excluded, others))
        yield from found

    def _references(self, references: Sequence[Reference]) -> tuple[Reference, ...]:
        return tuple(self._reference(reference) for reference in references)

    def _reference(self, reference: Reference) -> Reference:
        expression = self._expression(reference.expression) if reference.expression else ""
        return replace(
            reference, sources=tuple(self.source(source) for source in reference.sources), expression=expression
        )

    def _expression(self, expression: str) -> str:
        """An expression with all its columns under their last names, at once, as names may be exchanged."""
        tables = {name.table.casefold(): name for name in self.later}

        def last(match: re.Match[str]) -> str:
            table = tables.get(match["table"].strip('"`').casefold())
            column = match["column"].strip('"`')
            new = self.source(ColumnRef(table, column)) if table is not None else None
            if new is None or new.column == column or GONE in new.column:
                return match[0]
            return f"{match['before']}{match['table']}.{new.column}"

        return _QUALIFIED.sub(last, expression)


_PART = r"(?:[\w$#@]++|\"[^\"]++\"|`[^`]++`)"
_QUALIFIED = re.compile(rf"(?<![\w$#@.\"`])(?P<before>(?:{_PART}\.)*?)(?P<table>{_PART})\.(?P<column>{_PART})(?!\.)")
