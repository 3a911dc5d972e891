"""Expressions of sqlglot's tree, in one walk: text with slots, the role of each column, and how the type follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from sqlglot import exp

from ingestion.analysis.form import AnySlot, CallSlot, Expression, FieldSlot, Query, Slot, TypeRule, Values
from ingestion.analysis.roles import ATOM, COMPOSED, IDENTITY, MASKING
from ingestion.model.lineage import NameKind, Problem, TableName
from ingestion.parsing.sqlglot.expressions.names import Names

_COLUMN_PARTS: tuple[str | int, ...] = (0,)


class QueryContext(Protocol):
    """The translator of a statement's queries, which everything inside of them is given."""

    names: Names
    problems: list[Problem]
    aliases: list[tuple[str, str]]
    generators: list[Expression]
    """What decides how many rows functions in the select list make of one: `xs` in `SELECT a, UNNEST(xs)`."""

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


Handler: TypeAlias = "Callable[[ExpressionWriter, exp.Expr, int, int], TypeRule]"
Translate: TypeAlias = Callable[[QueryContext, exp.Expr, int, dict[str, exp.Expr], frozenset[str]], Expression]


@dataclass(frozen=True, slots=True)
class Handlers:
    """What writes each type of node and every other function, and what translates an expression on its own."""

    by_type: Mapping[type[exp.Expr], Handler]
    function: Handler
    translate: Translate


class ExpressionWriter:
    """Writes one expression; `windows` are the WINDOW clause's, `shadows` the parameters of lambdas around."""

    __slots__ = ("handlers", "names", "parts", "queries", "shadows", "slots", "windows")

    def __init__(self, queries: QueryContext, windows: dict[str, exp.Expr], handlers: Handlers) -> None:
        self.queries = queries
        self.handlers = handlers
        self.names = queries.names
        self.windows = windows
        self.parts: list[str | int] = []
        self.slots: list[AnySlot] = []
        self.shadows: frozenset[str] = frozenset()

    def write(self, node: exp.Expr, role: int, outer_precedence: int = 0) -> TypeRule:
        """Append the node's text and slots, the columns in it playing `role`; returns its type's rule."""
        handlers = self.handlers
        handler = handlers.by_type.get(type(node)) or handlers.function
        return handler(self, node, role, outer_precedence)

    def slot(self, parts: tuple[str, ...], role: int, outer_precedence: int) -> TypeRule:
        """Append a column; its type is that of its slot.

        `parts` is its name as written, `("t", "c")`; `outer_precedence` is what its surroundings need.
        """
        slots = self.slots
        number = len(slots)
        slots.append(Slot(parts, role, outer_precedence))
        self.parts.append(number)
        return number

    def inner(self, node: exp.Expr, role: int) -> Expression:
        """The expression of a node on its own, where this one's windows and parameters are known."""
        return self.handlers.translate(self.queries, node, role, self.windows, self.shadows)

    def field(
        self, node: exp.Expr, path: tuple[str, ...], role: int, outer_precedence: int, *, shown: bool
    ) -> TypeRule:
        """Append a field inside a value; `shown` is whether the text shows the path."""
        number = len(self.slots)
        self.slots.append(FieldSlot(self.inner(node, IDENTITY), path, role, outer_precedence, shown))
        self.parts.append(number)
        return number

    def call(self, name: str, role: int, arguments: tuple[tuple[int, int, str], ...]) -> None:
        """Append what a function of the user's reads itself; `arguments` are those of its slot."""
        self.slots.append(CallSlot(TableName((name.lower(),), name, NameKind.FUNCTION), role, arguments=arguments))

    def join(self, nodes: list[exp.Expr], role: int) -> list[TypeRule]:
        """Write the nodes with commas between; returns their types."""
        rules: list[TypeRule] = []
        parts = self.parts
        for number, node in enumerate(nodes):
            if number:
                parts.append(", ")
            rules.append(self.write(node, role))
        return rules

    def also(self, start: int, role: int) -> None:
        """Let the columns used since slot `start` play `role` as well."""
        slots = self.slots
        for slot in slots[start:]:
            slots.append(slot._replace(role=COMPOSED[role][slot.role & MASKING]))


def column_expression(names: Names, node: exp.Expr, parts: tuple[str, ...], role: int) -> Expression:
    """The expression of a column alone, or of a word that looks like one.

    `parts` is its name as written: of `SELECT t.c, CURRENT_DATE FROM t`, `("t", "c")` and `("CURRENT_DATE",)`.
    """
    if names.is_niladic(node, parts):
        return Expression((".".join(parts).upper(),), (), ATOM)
    return Expression(_COLUMN_PARTS, (Slot(parts, role),), ATOM, 0)
