"""Relations that RENAME and SWAP move, under the one name that a script leaves them with.

Two statements may mean one relation by two names, and two relations by one: told by the names as written, a swap would
lead every later reader to the wrong table.
"""

from __future__ import annotations

from dataclasses import replace

from ingestion.binding.binder import BoundLog, BoundStatement
from ingestion.model import ColumnRef, Flow, Output, Reference, StatementKind, StatementLineage, TableName

_Names = dict[TableName, TableName]


def under_last_names(log: BoundLog) -> tuple[StatementLineage, ...]:
    """The lineage of each statement, with what was moved under the name where the log leaves it.

    After `INSERT INTO new SELECT a FROM s` and `ALTER TABLE new RENAME TO t` the first statement writes into t.
    """
    moved = _last_names(log)
    if not moved:
        return tuple(statement.lineage for statement in log.statements)
    return tuple(_rename(statement, moved) for statement in log.statements)


def _last_names(log: BoundLog) -> dict[int, TableName]:
    """The name of each relation that a RENAME or SWAP moved, by the relation's number."""
    found: dict[int, TableName] = {}
    for statement in log.statements:
        for change in statement.lineage.changes:
            if change.other is None or change.name not in statement.meaning:
                continue
            number = statement.meaning[change.name]
            if change.kind is StatementKind.RENAME:
                replaced = log.relations[number].replaced
                found[number] = change.name if replaced else _beside(change.name, change.other)
            elif change.kind is StatementKind.SWAP and change.other in statement.meaning:
                found[number], found[statement.meaning[change.other]] = change.other, change.name
    return found


def _beside(old: TableName, new: TableName) -> TableName:
    """A new name without a schema stays in the old one's."""
    if len(new.parts) > 1 or len(old.parts) == 1:
        return new
    schema = str(old).rpartition(".")[0]
    return TableName((*old.parts[:-1], new.table), f"{schema}.{new}", new.kind)


def _rename(statement: BoundStatement, moved: dict[int, TableName]) -> StatementLineage:
    names = {name: moved[number] for name, number in statement.meaning.items() if number in moved}
    if not names:
        return statement.lineage
    lineage = statement.lineage
    return replace(
        lineage,
        flows=tuple(_flow(flow, names) for flow in lineage.flows),
        unused=tuple(_column(column, names) for column in lineage.unused),
    )


def _flow(flow: Flow, names: _Names) -> Flow:
    target = flow.target
    return Flow(
        replace(target, name=names.get(target.name, target.name)) if target is not None else None,
        tuple(_output(output, names) for output in flow.outputs),
        tuple(_reference(reference, names) for reference in flow.indirect),
        tuple(names.get(source, source) for source in flow.sources),
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
