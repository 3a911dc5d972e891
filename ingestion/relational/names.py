"""The relations that a query names, at any depth."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.model import TableName
from ingestion.relational.form import Expression, Query, QuerySlot, Select, SetOperation, TableFunction
from ingestion.relational.slots import all_slots, projected_expressions


def named_relations(query: Query) -> Iterator[TableName]:
    """Every relation name under FROM, those of WITH items among them, by a loop and not by recursion."""
    queries: list[Query] = [query]
    while queries:
        current = queries.pop()
        expressions: list[Expression] = []
        if isinstance(current, SetOperation):
            queries += current.branches
        elif isinstance(current, Select):
            expressions += projected_expressions(current)
            for relation in current.relations:
                source = relation.source
                if isinstance(source, TableName):
                    yield source
                elif isinstance(source, TableFunction):
                    expressions += source.arguments
                else:
                    queries.append(source)
                expressions += [clause.expression for clause in relation.on if clause.expression is not None]
        else:
            expressions += [cell for row in current.rows for cell in row]
        if isinstance(current, Select | SetOperation):
            expressions += [clause.expression for clause in current.clauses if clause.expression is not None]
            queries += [common.query for common in current.common_tables]
        queries += [slot.query for slot in all_slots(expressions) if isinstance(slot, QuerySlot)]
