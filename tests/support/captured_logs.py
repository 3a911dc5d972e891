"""Small logs for tests: statements in, bound and folded lineage out, in the names that people read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingestion.binding.binder import BoundLog, bind
from ingestion.binding.temporary_tables import PersistedFlow, inline_temporary_tables
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.model.lineage import Column
from ingestion.model.namespaces import Namespace, RelationKey
from ingestion.parsing.sqlglot.tier import parse

Edge = tuple[str, str]
"""("table.column", "table.column"), direct and certain."""


def bound(
    statements: Sequence[str | tuple[str, str]],
    known: Mapping[str, Sequence[str]] | None = None,
    path: tuple[str, ...] = ("public",),
    dialect: str = "postgres",
) -> BoundLog:
    """A log, in time order; a statement is a text, or (session, text). `known` gives schemas by name."""
    occurrences = []
    for number, statement in enumerate(statements):
        session, text = statement if isinstance(statement, tuple) else ("s", statement)
        symbolic = parse(text, dialect)
        occurrences.append(Occurrence(str(number), symbolic, Namespace("db", path), (float(number), number), session))
    schemas = {name: [Column(column) for column in columns] for name, columns in (known or {}).items()}

    def schema(key: RelationKey) -> Sequence[Column] | None:
        return schemas.get(".".join(key.parts[1:])) or schemas.get(key.table if key.schema == "public" else "")

    return bind(occurrences, SchemaProvider(schema))


def edges(log: BoundLog, flows: Sequence[PersistedFlow] | None = None) -> set[Edge]:
    """Certain direct column edges between relations that stay."""
    return {
        (
            f"{log.relations[source.relation].key.table}.{source.column}",
            f"{log.relations[flow.target].key.table}.{name}",
        )
        for flow in (inline_temporary_tables(log) if flows is None else flows)
        if flow.target >= 0
        for name, references in flow.content.columns.items()
        for reference in references
        if reference.certain and reference.transformation.type == "DIRECT"
        for source in reference.sources
    }


def table_edges(log: BoundLog) -> list[Edge]:
    """(source, target) of every flow between relations that stay, in time order."""
    return [
        (log.relations[source].key.table, log.relations[flow.target].key.table)
        for flow in inline_temporary_tables(log)
        if flow.target >= 0
        for source in sorted(flow.content.sources)
    ]
