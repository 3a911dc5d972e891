"""The names that a statement reads, writes and changes, from its symbolic lineage alone."""

from __future__ import annotations

from ingestion.analysis.analyzer import analyze, analyze_tables
from ingestion.model import StatementKind, StatementLineage, TableUsageNames, WriteMode
from ingestion.relational.form import RelationalStatement

CREATING_KINDS = frozenset(
    {
        StatementKind.CREATE_TABLE,
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
        StatementKind.CREATE_TABLE_LIKE,
    }
)


def mentions(symbolic: RelationalStatement | StatementLineage) -> TableUsageNames:
    """The names of one statement; which relation each means is the timeline's to say."""
    return names_in(analyze_tables(symbolic))


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


def without_schema(symbolic: RelationalStatement | StatementLineage) -> StatementLineage:
    """What the statement says when no schema is known."""
    return analyze(symbolic, lambda _name: None)
