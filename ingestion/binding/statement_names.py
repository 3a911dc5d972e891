"""The names that a statement reads, writes and changes, from its symbolic lineage alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.analysis.analyzer import analyze
from ingestion.model import StatementKind, StatementLineage, TableChange, TableName, WriteMode
from ingestion.symbolic import Symbolic

CREATING_KINDS = frozenset(
    {
        StatementKind.CREATE_TABLE,
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
        StatementKind.CREATE_TABLE_LIKE,
    }
)


@dataclass(frozen=True, slots=True)
class TableUsageNames:
    """The names of a statement by use: `CREATE TEMP TABLE n AS SELECT a FROM s` reads s, creates and writes n.

    `created` and `written` also say whether the name is temporary.
    """

    read: tuple[TableName, ...]
    created: tuple[tuple[TableName, bool], ...]
    written: tuple[tuple[TableName, bool, WriteMode], ...]
    changes: tuple[TableChange, ...]

    def names(self) -> Iterator[TableName]:
        """Every name that is read, changed or written, as often as it is."""
        yield from self.read
        for change in self.changes:
            yield from (name for name in (change.name, change.other) if name is not None)
        yield from (name for name, _temporary, _mode in self.written)


def mentions(symbolic: Symbolic) -> TableUsageNames:
    """The names of one statement; which relation each means is the timeline's to say."""
    return names_in(without_schema(symbolic))


def names_in(lineage: StatementLineage) -> TableUsageNames:
    """The names of a statement that was analysed without any schema."""
    written = tuple(
        dict.fromkeys(
            (flow.target.name, flow.target.temporary, flow.target.mode)
            for flow in lineage.flows
            if flow.target is not None
        )
    )
    created = [(name, temporary) for name, temporary, mode in written if mode is WriteMode.CREATE]
    created += [(change.name, change.temporary) for change in lineage.changes if change.kind in CREATING_KINDS]
    read = tuple(dict.fromkeys((*lineage.sources, *lineage.functions)))
    return TableUsageNames(read, tuple(dict.fromkeys(created)), written, lineage.changes)


def without_schema(symbolic: Symbolic) -> StatementLineage:
    """What the statement says when no schema is known."""
    return analyze(symbolic, lambda _name: None)
