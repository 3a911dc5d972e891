"""What a query is taken apart into: a view, measures over it, dimensions, filters. No literal is in any of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MASK = "\0"
"""What stands for a literal in a masked text: no SQL has it, while names and operators may have the `?` of a text."""


def masked_text(masked: str) -> str:
    """A masked text as it is shown, with `?` for literals."""
    return masked.replace(MASK, "?")


class ViewField(NamedTuple):
    """A column of a view: of the base table `table`, `column` there."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class EntityExpression:
    """An expression over a view's fields: `masked` has MASK for literals; `key` is equal where the meaning is.

    `of_groups` says that it holds an aggregate, as a condition of HAVING does, or is of what an inner query makes of
    its groups.
    """

    masked: str
    key: str
    fields: tuple[ViewField, ...] = ()
    of_groups: bool = False

    @property
    def text(self) -> str:
        """The expression with `?` for literals."""
        return masked_text(self.masked)


@dataclass(frozen=True, slots=True)
class View:
    """The join tree that a query reads; `tables` are its base tables. `sql` shows it as this query wrote it."""

    name: str
    key: str
    sql: str
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dimension:
    """What a query groups or filters by; `grain` is that of a time ("month"), "" as it is or where it is no time."""

    name: str
    expression: EntityExpression
    groups: bool = False
    filters: bool = False
    time: bool = False
    grain: str = ""

    @property
    def column(self) -> str | None:
        """The column that it is, as SQL without its relation's name; None where it is an expression."""
        if len(self.expression.fields) != 1:
            return None
        name = self.expression.fields[0].column
        text = self.expression.text
        for shown in (name, f'"{name}"', f"`{name}`", f"[{name}]"):
            alias = text.removesuffix(f".{shown}")
            if shown in (text, text.removeprefix(f"{alias}.")) and (alias == text or alias.isalnum()):
                return shown
        return None


@dataclass(frozen=True, slots=True)
class Measure:
    """An aggregate: its function ("sum", "count_distinct") and what it is of; or an expression over aggregates.

    Such a one has `parts`, and its `formula` names them: `SUM(a) / COUNT(*)` is `sum_a / count`. `argument` and
    `formula` have MASK for literals. `over_groups` says that it is of what an inner query makes of its groups.
    """

    name: str
    expression: EntityExpression
    aggregation: str = ""
    argument: str = ""
    composite: bool = False
    parts: tuple[Measure, ...] = ()
    formula: str = ""
    over_groups: bool = False


@dataclass(frozen=True, slots=True)
class QueryMetrics:
    """A query taken apart. `filters` are all conditions that choose its rows or groups, but those that join.

    `left_out` are outputs that are no measure and were not understood, with the reason. With `any_literal` it stands
    for queries that differ in their literals. A query that only groups has no measures. `joins` are pairs of columns of
    tables that a join has be equal.
    """

    view: View
    measures: tuple[Measure, ...]
    dimensions: tuple[Dimension, ...]
    filters: tuple[EntityExpression, ...] = ()
    left_out: tuple[str, ...] = ()
    any_literal: bool = False
    joins: tuple[tuple[ViewField, ViewField], ...] = ()
