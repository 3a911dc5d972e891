"""From what stands to what a script leaves: tables and columns that come, go, get another name, type, meaning or
sensitive values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from connectors.catalog.questions.proposed_change._scripts import (
    ScriptEffects,
    TableState,
    columns_of,
    seen_columns,
)
from connectors.catalog.questions.proposed_change.report import ChangeKind
from connectors.catalog.questions.tables import LocalTables
from connectors.catalog.store.lineage.reads import ColumnDependency
from ingestion.dialects.types import standard_type, widest
from ingestion.model.contributions import ProducerKind
from ingestion.model.lineage import Column
from ingestion.policies import ValueFlow, value_flow
from ingestion.walk import DIRECT, ColumnNode

_GONE = TableState(exists=False)

_QUALIFIER = re.compile(r"(?:(?<![\w$])[\w$]++|\"[^\"]*+\"|`[^`]*+`)\s*+\.\s*+(?=[\w$\"`])")
_DEFINITIONS = (ProducerKind.VIEW, ProducerKind.DBT)
_HARMLESS = ("PII.None", "PII.NonSensitive")
_SENSITIVE = ("PII", "PersonalData")
_Key = tuple[object, ...]


# The changes of tables and columns from what stands to what a script leaves, without their effects.


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

    def made_tables(self) -> frozenset[str]:
        """The tables that the change makes, or gives their names; one that it only alters was there before."""
        states = self.after.states
        renamed = {name for name, state in states.items() if state.former_name}
        return frozenset(self.after.created | renamed | {one.new_name for one in states.values() if one.new_name})

    def rewritten_tables(self) -> frozenset[str]:
        """The tables to which the change gives another definition."""
        texts = self.after.defined
        return frozenset(name for name, text in texts.items() if self.before.defined.get(name) != text)

    def columns_seen(self, name: str) -> tuple[Column, ...]:
        """The columns of a table that the catalog knows, all of them or not."""
        table = self.tables.table(name)
        return () if table is None else seen_columns(table)

    def _catalog(self, name: str) -> TableState | None:
        table = self.tables.table(name)
        return None if table is None else TableState(exists=True, columns=columns_of(table) or None)


def schema_differences(sides: Sides) -> Iterator[TableDifference]:
    """Every table and column that comes, goes, or gets another name or type."""
    made = sides.made_tables()
    for name in sorted({**sides.before.states, **sides.after.states, **sides.before.types, **sides.after.types}):
        before, after = sides.state_before(name) or _GONE, sides.state_after(name) or _GONE
        if before.exists and after.exists:
            if after.former_name not in ("", name):  # of a swap: whoever reads the name reads other rows
                yield TableDifference(ChangeKind.ROWS_REDEFINED, (name, None), f"those of {after.former_name}")
            yield from _columns(sides, name, before, after)
        elif before.exists:
            kind = ChangeKind.TABLE_RENAMED if after.new_name else ChangeKind.TABLE_DROPPED
            yield TableDifference(kind, (name, None), f"now {after.new_name}" if after.new_name else "")
        elif after.exists and name in made:
            yield TableDifference(ChangeKind.TABLE_ADDED, (name, None))


def unknown_tables(sides: Sides) -> Iterator[str]:
    """Tables that the change alters, drops or gives another's name (SWAP WITH), and of which nothing is known."""
    made, after = sides.made_tables(), sides.after
    altered = {name for name in {**after.states, **after.types} if name not in made}
    moved = {state.former_name for name, state in after.states.items() if name not in after.created and state.exists}
    yield from (name for name in sorted(altered | moved - {""}) if sides.state_before(name) is None)


def unknown_columns(sides: Sides) -> Iterator[str]:
    """Columns that the change drops, renames, retypes, fills or is about, and that their tables do not have."""
    before, after = sides.before, sides.after
    for name in sorted({**after.needed, **after.touched}):
        there = _known_columns(sides, name)
        if there is not None:
            touched = after.touched.get(name, set()) - before.touched.get(name, set())
            needed = set() if name in after.created else after.needed.get(name, set())
            yield from (f"{name}.{column}" for column in sorted(needed | touched) if column.casefold() not in there)


def _known_columns(sides: Sides, name: str) -> set[str] | None:
    """The columns, in lower case, that a table has or gets; None where nothing tells of any."""
    made = name in sides.after.created
    state = sides.after.states.get(name) if made else sides.state_before(name)
    if state is None or (made and not state.columns):
        return None
    there = {column.name.casefold() for column in state.columns or sides.columns_seen(name)}
    there |= {column.casefold() for column in sides.after.given.get(name, ())}
    if state.columns is None:  # no query may have seen what the side before ended
        there |= {column.casefold() for column in sides.before.needed.get(name, ())}
    return there


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
    else:
        yield from _columns_named(sides, name, before, after)
    yield from _types(sides, name, before, after)


def _columns_named(sides: Sides, name: str, before: TableState, after: TableState) -> Iterator[TableDifference]:
    """What `ALTER TABLE t DROP COLUMN a`, `ADD COLUMN b` or another `CREATE TABLE t` does, where queries alone tell of
    t's columns.

    Nothing lists all that such a table has, so that no list could lack one of them.
    """
    last = {before.renamed.get(old, old): to for old, to in after.renamed.items()}
    for was, to in sorted(last.items()):
        if was != to:
            yield TableDifference(ChangeKind.COLUMN_RENAMED, _node(sides, name, was), f"now {to}")
    added = sides.after.given.get(name, set()) - sides.before.given.get(name, set())
    if name not in sides.after.created:
        seen = {column.name.casefold() for column in sides.columns_seen(name)}
        others = {one.casefold() for one in (*after.renamed.values(), *sides.after.needed.get(name, ()))} | seen
        for column in sorted(added):
            if column.casefold() not in others:
                yield TableDifference(ChangeKind.COLUMN_ADDED, (name, column))
    kept = {*after.renamed, *added, *sides.before.needed.get(name, ())}
    folded = {column.casefold() for column in kept} | sides.after.types.get(name, {}).keys()
    gone = set(sides.after.needed.get(name, ()))
    if after.columns and (name in sides.after.created or after.replaced):
        folded |= {column.name.casefold() for column in after.columns}
        gone |= {column.name for column in sides.columns_seen(name)}
    for column in sorted(gone):
        if column.casefold() not in folded:
            yield TableDifference(ChangeKind.COLUMN_DROPPED, _node(sides, name, column))


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


# What fills tables otherwise after a change: other definitions, other sources, values that are sensitive.


def filling_differences(sides: Sides) -> Iterator[TableDifference]:
    """The columns that a change gives another meaning or sensitive values."""
    rewritten = sides.rewritten_tables()
    for name in sorted(sides.after.filled):
        state = sides.state_before(name)
        if state is None or not state.exists:
            continue
        before, after = _before(sides, name), sides.after.dependencies.get(name, [])
        if name in rewritten:
            yield from _redefinitions(name, _of_definition(sides, name, before), after)
        elif name not in sides.after.defined:
            yield from _fillings_of(before, after)
        yield from _sensitive(sides, before, after)


def _before(sides: Sides, name: str) -> list[ColumnDependency]:
    stored = sides.tables.dependencies([name], upstream=True)
    return [*sides.before.dependencies.get(name, ()), *(one for one in stored if one.producer != "manual")]


def _of_definition(sides: Sides, name: str, before: list[ColumnDependency]) -> list[ColumnDependency]:
    """What the definition said that the change replaces."""
    if name in sides.before.defined:
        return sides.before.dependencies.get(name, [])
    views = [one for one in before if one.producer in _DEFINITIONS]
    return views if name in sides.after.views and views else before


def _redefinitions(
    name: str, before: list[ColumnDependency], after: list[ColumnDependency]
) -> Iterator[TableDifference]:
    if not before:
        yield TableDifference(ChangeKind.ROWS_REDEFINED, (name, None), "its former definition is not known")
        return
    if _rows(before) != _rows(after):
        yield TableDifference(ChangeKind.ROWS_REDEFINED, (name, None), "other tables, filters, joins or groups")
    old, new = _filled_columns(before), _filled_columns(after)
    for folded in sorted(old.keys() & new.keys()):
        if old[folded] != new[folded]:
            path = next(one.target[1] for one in after if (one.target[1] or "").casefold() == folded)
            yield TableDifference(ChangeKind.COLUMN_REDEFINED, (name, path), _how(after, path))


def _fillings_of(before: list[ColumnDependency], after: list[ColumnDependency]) -> Iterator[TableDifference]:
    known = {(one.source, one.target) for one in before}
    added = [one for one in after if one.type == DIRECT and (one.source, one.target) not in known]
    for target in dict.fromkeys(one.target for one in added):
        sources = dict.fromkeys(f"{one.source[0]}.{one.source[1]}" for one in added if one.target == target)
        yield TableDifference(ChangeKind.COLUMN_FILLED, target, f"from {', '.join(sources)}")


def _sensitive(
    sides: Sides, before: list[ColumnDependency], after: list[ColumnDependency]
) -> Iterator[TableDifference]:
    """The columns that get values of tagged columns, and have not had them, nor the tag."""
    had = {(one.source, one.target) for one in before if _keeps(one)}
    found: dict[tuple[str, str | None], dict[str, None]] = {}
    for one in after:
        if (one.source, one.target) not in had and _keeps(one):
            found.setdefault(one.target, {}).update(dict.fromkeys(sorted(_tags_brought(sides, one))))
    for target, tags in found.items():
        if tags:
            yield TableDifference(ChangeKind.COLUMN_SENSITIVE, target, ", ".join(tags))


def _tags_brought(sides: Sides, one: ColumnDependency) -> set[str]:
    """The sensitive tags of the source column that the target column lacks."""
    tags = []
    for table, path in (one.source, one.target):
        known = sides.tables.table(table)
        column = known.column(path.strip('"')) if known is not None and path is not None else None
        tags.append({tag for tag in column.tags if _is_sensitive(tag)} if column is not None else set())
    return tags[0] - tags[1]


def _is_sensitive(tag: str) -> bool:
    """Whether a tag says that values are personal, by the classifications that OpenMetadata has for that.

    Its own PII.None and PII.NonSensitive say the opposite.
    """
    return tag.partition(".")[0] in _SENSITIVE and tag not in _HARMLESS


def _keeps(one: ColumnDependency) -> bool:
    return one.certain and one.type == DIRECT and value_flow(one) is ValueFlow.KEPT


def _rows(dependencies: Iterable[ColumnDependency]) -> frozenset[_Key]:
    return frozenset((_fold(one.source), one.subtype) for one in dependencies if one.target[1] is None)


def _filled_columns(dependencies: Iterable[ColumnDependency]) -> dict[str, frozenset[_Key]]:
    found: dict[str, set[_Key]] = {}
    for one in dependencies:
        if one.target[1] is not None:
            key = (_fold(one.source), one.type, one.subtype, one.masking, _shape(one.expression))
            found.setdefault(one.target[1].casefold(), set()).add(key)
    return {name: frozenset(keys) for name, keys in found.items()}


def _fold(node: tuple[str, str | None]) -> tuple[str, str]:
    return node[0], (node[1] or "").casefold()


def _shape(expression: str) -> str:
    """An expression without what tells tables apart: `o.total` and `shop.orders.total` are one column's."""
    return re.sub(r"[\s\"`]", "", _QUALIFIER.sub("", expression)).casefold()


def _how(dependencies: Iterable[ColumnDependency], path: str | None) -> str:
    direct = [one for one in dependencies if one.target[1] == path and one.type == DIRECT]
    return ", ".join(dict.fromkeys(one.expression or f"{one.source[0]}.{one.source[1]}" for one in direct))
