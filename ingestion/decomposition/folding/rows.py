"""What the rows of a query are made of while it is taken apart: relations joined, conditions, columns over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from ingestion.model import TableName

MATCHED = "$MATCHED"
"""A function around a value that an outer join makes NULL where nothing matched, though no column in it says so."""

WHOLE_QUERY = "*"
"""The name of the column that stands for a query inside an expression."""


class Refusal(Exception):
    """The query cannot be taken apart with certainty: why, in words that name no literal."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(eq=False, slots=True)
class Leaf:
    """One occurrence of a relation: a base table, or a query whose rows are not those of its tables (`rows`).

    `alias` is what a WITH item over it alone, or a query in FROM, is called; `known` are the types of a table's columns
    by name, where they are known.
    """

    number: int
    table: TableName | None
    alias: str
    rows: QueryRows | None = None
    known: Mapping[str, str] | None = None

    def column(self, name: str) -> exp.Column:
        """The node that stands for a column of this occurrence."""
        return exp.Column(
            this=exp.Identifier(this=name, quoted=False),
            table=exp.Identifier(this=str(self.number), quoted=False),
        )


@dataclass(eq=False, slots=True)
class FullJoin:
    """Two blocks of which every row stays, matched or not."""

    left: Block
    right: Block
    conditions: list[exp.Expr]


@dataclass(eq=False, slots=True)
class Block:
    """Relations of which every combination is a row, those that are matched where they can be, then the conditions.

    `(A JOIN C ON …) LEFT JOIN B ON q WHERE w` has A and C for `members`, B with q as `attached`, and the rest for
    `conditions`: inner joins and conditions have no order, and no left join has one but by what its condition uses.
    """

    members: list[Leaf | FullJoin] = field(default_factory=list)
    attached: list[tuple[Block, list[exp.Expr]]] = field(default_factory=list)
    conditions: list[exp.Expr] = field(default_factory=list)

    def leaves(self) -> Iterator[Leaf]:
        """Every occurrence in it, those behind outer joins among them."""
        for member in self.members:
            if isinstance(member, Leaf):
                yield member
            else:
                yield from member.left.leaves()
                yield from member.right.leaves()
        for block, _ in self.attached:
            yield from block.leaves()


Value: TypeAlias = "exp.Expr | Refusal"
"""What a column is made of, or why that is not known: it matters only where the column is used."""


@dataclass(eq=False, slots=True)
class QueryRows:
    """The rows of a query: `columns` in order; `open` are relations of which all columns are meant and none is known.

    `keys` are what it groups by, None where it does not, and `having` the conditions on groups.
    """

    block: Block
    columns: dict[str, Value]
    open: tuple[Leaf, ...] = ()
    keys: list[exp.Expr] | None = None
    having: list[exp.Expr] = field(default_factory=list)


def leaf_number(column: exp.Expr) -> int:
    """The number of the occurrence that a column of a rewritten expression belongs to."""
    return int(column.args["table"].name)


def columns_in(node: exp.Expr) -> Iterator[exp.Expr]:
    """The columns in a rewritten expression, in order."""
    return (found for found in node.walk(bfs=False) if type(found) is exp.Column)


def numbers_in(node: exp.Expr) -> set[int]:
    """The numbers of the occurrences in FROM that an expression uses; a query inside it is none of them."""
    return {leaf_number(column) for column in columns_in(node) if column.name != WHOLE_QUERY}
