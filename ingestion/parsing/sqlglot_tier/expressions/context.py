"""What expressions, and the parts of queries, use of the translator of the statement that they stand in."""

from __future__ import annotations

from typing import Protocol

from sqlglot import exp

from ingestion.model import Problem
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.relational.form import Expression, Query, Values
from ingestion.relational.roles import IDENTITY


class QueryContext(Protocol):
    """The translator of a statement's queries, which everything inside of them is given."""

    names: Names
    problems: list[Problem]
    aliases: list[tuple[str, str]]

    def query(self, node: exp.Expr) -> Query:
        """The query of a node: SELECT, set operation, VALUES, TABLE, or one of them in brackets."""

    def values(self, node: exp.Expr) -> Values:
        """VALUES; a row without brackets is one column."""

    def expression(self, node: exp.Expr, role: int = IDENTITY) -> Expression:
        """The expression of a node, its columns playing `role`."""

    def field_name(self, name: str) -> str:
        """The name of a struct's field, by which a path in a string may mean it from now on."""

    def field_in_string(self, name: str) -> str:
        """What stands for a field that a string names."""

    def note_unsupported(self, what: str) -> None:
        """Note a construct whose columns are not followed."""

    def with_names(self, names: Names) -> QueryContext:
        """A translator of its own for a query in which other names hold."""
