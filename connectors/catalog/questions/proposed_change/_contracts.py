"""What a proposed change does to names that contracts may promise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from connectors.catalog.questions.contracts import ChangedName, Happening
from connectors.catalog.questions.proposed_change._scripts import BoundScript, TableNames
from connectors.catalog.questions.proposed_change.report import ChangeKind, DownstreamEffect, EffectKind, ProposedChange
from connectors.catalog.questions.tables import CatalogTable
from ingestion.dialects import Dialect
from ingestion.model import fqn
from ingestion.statements.altered_types import declared_nulls, loosened_table

_GOING = frozenset(
    {ChangeKind.TABLE_DROPPED, ChangeKind.TABLE_RENAMED, ChangeKind.COLUMN_DROPPED, ChangeKind.COLUMN_RENAMED}
)


def changed_names(changes: Iterable[ProposedChange]) -> Iterator[ChangedName]:
    """What happens to the tables and columns that are changed, and to what lies downstream of them."""
    for change in changes:
        detail = f" ({change.detail})" if change.detail else ""
        if change.kind in _GOING:
            yield ChangedName(change.name, Happening.GONE, f"{change.kind}{detail}")
        elif change.kind is ChangeKind.COLUMN_RETYPED:
            yield ChangedName(change.name, Happening.RETYPED, f"{change.kind}{detail}", type=_new_type(change))
        for effect in change.effects:
            yield from _affected_names(change, effect)


def _new_type(change: ProposedChange) -> str:
    return change.detail.rpartition(" -> ")[2]


def _affected_names(change: ProposedChange, effect: DownstreamEffect) -> Iterator[ChangedName]:
    why = f"{change.kind}: {change.name}"
    if change.kind is ChangeKind.COLUMN_RETYPED and not effect.whole:
        # what takes the column as it is has its type; of what is made of it, nobody knows which it gets
        to = "" if any(effect.expressions) else _new_type(change)
        yield ChangedName(effect.name, Happening.RETYPED, why, certain=bool(to), type=to)
    elif effect.kind in (EffectKind.BREAKS, EffectKind.UNCERTAIN):
        yield ChangedName(effect.name, Happening.GONE, why, certain=effect.kind is EffectKind.BREAKS)


def loosened_names(
    before: BoundScript, after: BoundScript, names: TableNames, dialect: Dialect
) -> Iterator[ChangedName]:
    """The columns that may hold nulls after a change and might not before it, and tables without their key."""
    for text in after.texts.values():
        loosened = loosened_table(text, dialect)
        table = names.table(loosened.name) if loosened is not None else None
        if loosened is None or table is None:
            continue
        if loosened.key is not None:
            yield ChangedName(table.fqn, Happening.KEYLESS, "the primary key is dropped", certain=loosened.key)
        for column, is_sure in loosened.columns:
            yield _nullable(table, column, "may be null then", certain=is_sure)
    declared = {text: found for text in before.texts.values() if (found := declared_nulls(text, dialect)) is not None}
    earlier = {found[0]: found for found in declared.values()}
    for text in after.texts.values():
        found = declared_nulls(text, dialect) if text not in declared else None
        table = names.table(found[0]) if found is not None else None
        if found is None or table is None:
            continue
        was = earlier.get(found[0])
        if not found[2] and (was is None or was[2]):
            yield ChangedName(table.fqn, Happening.KEYLESS, "made without a primary key", certain=was is not None)
        for column, may_be_null in found[1].items():
            could = was[1].get(column) if was is not None else None
            if may_be_null and not could:
                yield _nullable(table, column, "made without NOT NULL", certain=could is False)


def _nullable(table: CatalogTable, column: str, why: str, *, certain: bool) -> ChangedName:
    known = table.column(column)
    path = known.path if known is not None else fqn.quote(fqn.encode_name(column))
    return ChangedName(f"{table.fqn}.{path}", Happening.NULLABLE, why, certain=certain)
