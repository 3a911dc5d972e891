"""The changes of tables and columns from what stands to what a script leaves, without their effects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from connectors.catalog.local_tables import LocalTables
from ingestion.dialects.types import standard_type, widest
from ingestion.policies.values import ColumnNode
from workflows.changes.report import ChangeKind
from workflows.changes.scripts import columns_of
from workflows.changes.table_states import ScriptEffects, TableState

_GONE = TableState(exists=False)


@dataclass(frozen=True, slots=True)
class TableDifference:
    """A change of a table (column None) or of one of its columns.

    `fits`: whether columns of the old type and of the new one take each other's values, None where that is not known.
    """

    kind: ChangeKind
    node: ColumnNode
    detail: str = ""
    fits: bool | None = None


@dataclass(frozen=True, slots=True)
class Sides:
    """A catalog, and what the scripts of either side leave of its tables; the one before may leave all as it is."""

    tables: LocalTables
    before: ScriptEffects
    after: ScriptEffects

    def state_before(self, name: str) -> TableState | None:
        """A table before the change, None where nothing knows it."""
        return self.before.states.get(name) or self._catalog(name)

    def state_after(self, name: str) -> TableState | None:
        """A table after the change, None where nothing knows it."""
        state = self.after.states.get(name)
        if state is None:
            state = _GONE if name in self.before.created else self._catalog(name)
        return state

    def rewritten_tables(self) -> frozenset[str]:
        """The tables to which the change gives another definition."""
        texts = self.after.defined
        return frozenset(name for name, text in texts.items() if self.before.defined.get(name) != text)

    def _catalog(self, name: str) -> TableState | None:
        table = self.tables.table(name)
        return None if table is None else TableState(exists=True, columns=columns_of(table) or None)


def schema_differences(sides: Sides) -> Iterator[TableDifference]:
    """Every table and column that comes, goes, or gets another name or type."""
    for name in sorted({**sides.before.states, **sides.after.states, **sides.before.types, **sides.after.types}):
        before, after = sides.state_before(name) or _GONE, sides.state_after(name) or _GONE
        if before.exists and after.exists:
            yield from _columns(sides, name, before, after)
        elif before.exists:
            kind = ChangeKind.TABLE_RENAMED if after.new_name else ChangeKind.TABLE_DROPPED
            yield TableDifference(kind, (name, None), f"now {after.new_name}" if after.new_name else "")
        elif after.exists:
            yield TableDifference(ChangeKind.TABLE_ADDED, (name, None))


def unknown_tables(sides: Sides) -> Iterator[str]:
    """Tables that the change alters or drops, and of which nothing is known."""
    for name in sorted({**sides.after.states, **sides.after.types}):
        state = sides.after.states.get(name)
        made = name in sides.after.created or (state is not None and state.exists and name not in sides.after.types)
        if not made and sides.state_before(name) is None:
            yield name


def unknown_columns(sides: Sides) -> Iterator[str]:
    """Columns that the change drops, renames or retypes, and that their tables do not have."""
    for name, needed in sorted(sides.after.needed.items()):
        state = sides.state_before(name)
        if state is not None and state.columns is not None and name not in sides.after.created:
            there = {column.name.casefold() for column in state.columns}
            there |= {column.casefold() for column in sides.after.given.get(name, ())}
            yield from (f"{name}.{column}" for column in sorted(needed) if column.casefold() not in there)


def _columns(sides: Sides, name: str, before: TableState, after: TableState) -> Iterator[TableDifference]:
    if before.columns is not None and after.columns is not None:
        new = {column.name.casefold(): column for column in after.columns}
        last = {old: (before.renamed.get(old, old), to) for old, to in after.renamed.items()}
        renamed = {was.casefold(): to for was, to in last.values() if was != to and to.casefold() in new}
        for column in before.columns:
            folded = column.name.casefold()
            if folded in renamed:
                yield TableDifference(
                    ChangeKind.COLUMN_RENAMED, _node(sides, name, column.name), f"now {renamed[folded]}"
                )
            elif folded not in new:
                yield TableDifference(ChangeKind.COLUMN_DROPPED, _node(sides, name, column.name))
        known = {column.name.casefold() for column in before.columns} | {to.casefold() for to in renamed.values()}
        for folded, column in new.items():
            if folded not in known:
                yield TableDifference(ChangeKind.COLUMN_ADDED, (name, column.name), column.type)
    yield from _types(sides, name, before, after)


def _types(sides: Sides, name: str, before: TableState, after: TableState) -> Iterator[TableDifference]:
    old = {column.name.casefold(): column.type for column in before.columns or ()}
    table = sides.tables.table(name)
    if not old and table is not None:
        old = {column.path.casefold(): column.type for column in table.columns}
    old |= sides.before.types.get(name, {})
    inferred = name in sides.after.defined and name not in sides.before.defined
    new = {} if inferred else {column.name.casefold(): column.type for column in after.columns or ()}
    new |= sides.after.types.get(name, {})
    for folded, to in new.items():
        was, standard = old.get(folded, ""), standard_type(to)
        if folded not in old or not to or was.casefold() == to.casefold():
            continue
        if standard and standard == standard_type(was):
            continue
        fits = bool(widest([standard_type(was), standard])) if standard and standard_type(was) else None
        yield TableDifference(
            ChangeKind.COLUMN_RETYPED, _node(sides, name, folded), f"{was or 'unknown'} -> {to}", fits
        )


def _node(sides: Sides, name: str, column: str) -> ColumnNode:
    table = sides.tables.table(name)
    known = table.column(column) if table is not None else None
    return name, column if known is None else known.path
