"""Parts of the relational form for the tiers that follow tables surely, and columns only where they are plain."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.model import Problem, ProblemKind, TableName
from ingestion.relational.form import Clause, Expression, Projection, QuerySlot, RelationSource, Select, Slot, Star
from ingestion.relational.roles import ATOM, FILTER, IDENTITY

COLUMNS_NOT_FOLLOWED = Problem(ProblemKind.UNSUPPORTED, "columns")


def plain_column(parts: tuple[str, ...], name: str) -> Projection:
    """An output that is a column as it is."""
    return Projection(name, Expression((0,), (Slot(parts, IDENTITY),), ATOM, 0))


def opaque_column(name: str) -> Projection:
    """An output of which only the place, and perhaps the name, is known: it goes with a Problem."""
    return Projection(name, Expression(("?",), (), ATOM))


def tables_only_select(
    projections: Sequence[Projection | Star], relations: Sequence[RelationSource], also_read: Sequence[TableName]
) -> Select:
    """A query over `relations`; what it reads elsewhere, in subqueries, is read without a column."""
    clauses: tuple[Clause, ...] = ()
    if also_read:
        inner = Select((), tuple(RelationSource(name) for name in dict.fromkeys(also_read)))
        clauses = (Clause(FILTER, Expression(("?",), (QuerySlot(inner, FILTER),), ATOM)),)
    return Select(tuple(projections), tuple(relations), clauses)
