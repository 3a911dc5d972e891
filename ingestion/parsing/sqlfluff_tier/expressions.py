"""Expressions of sqlfluff's tree: text with slots, the role of each column; only of shapes that are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlfluff.core.parser import BaseSegment

from ingestion.dialects import Dialect
from ingestion.dialects.functions import STRUCTS, ArgumentUse, argument_uses, effect_of, unit_positions
from ingestion.parsing.sqlfluff_tier.tree import code, column_name, column_parts, only_code
from ingestion.parsing.sqlparse_tier.words import DATE_PARTS, NO_COLUMN
from ingestion.relational.form import AnySlot, Expression, Query, QuerySlot, Slot
from ingestion.relational.roles import ARGUMENT_ROLES, ARGUMENTS, ATOM, COMPOSED, CONDITIONAL, TRANSFORMED, WINDOW

QUERIES = ("select_statement", "set_expression", "with_compound_statement")

_LOOKUPS = ("DICTGET", "DICTHAS", "DICTISIN", "JOINGET")
"""ClickHouse: what they give comes out of a relation that a string names."""
_TRANSPARENT = (
    "expression",
    "bracketed",
    "function_contents",
    "cast_expression",
    "partitionby_clause",
    "orderby_clause",
    "window_specification",
)
_MASKED = ("literal", "numeric_literal", "quoted_literal", "date_constructor_literal", "interval_expression")
_TEXT = (
    "keyword",
    "symbol",
    "operator",
    "binary_operator",
    "comparison_operator",
    "casting_operator",
    "data_type",
    "star",
    "bare_function",
    "date_part",
    "datetime_unit",
    "boolean_literal",
    "null_literal",
    "frame_clause",
)


class NotFollowed(Exception):
    """A construct whose columns are not followed; `str()` names it."""


@dataclass(slots=True)
class ExpressionReader:
    """Reads expressions; `query` translates the subqueries in them."""

    dialect: Dialect
    query: Callable[[BaseSegment], Query]
    parts: list[str | int] = field(default_factory=list)
    slots: list[AnySlot] = field(default_factory=list)

    def read(self, segments: list[BaseSegment], role: int) -> Expression:
        """The expression that stands in these segments, its columns playing `role`. Raises NotFollowed."""
        self.parts, self.slots = [], []
        self._sequence(segments, role)
        precedence = ATOM if len(segments) == 1 and segments[0].is_type("column_reference", "function") else 0
        return Expression(tuple(self.parts), tuple(self.slots), precedence)

    def _sequence(self, segments: list[BaseSegment], role: int) -> None:
        inner = role if len(segments) == 1 else TRANSFORMED[role]
        for number, segment in enumerate(segments):
            if number:
                self.parts.append(" ")
            if segment.raw == "->" and not segments[-1].is_type(*_MASKED):  # x -> x + a: a lambda's x is no column
                raise NotFollowed("lambda")
            self._write(segment, inner)

    def _write(self, segment: BaseSegment, role: int) -> None:
        if segment.is_type("column_reference"):
            self._column(segment, role)
        elif segment.is_type(*QUERIES):
            self.parts.append(len(self.slots))
            self.slots.append(QuerySlot(self.query(segment), role))
        elif segment.is_type("case_expression"):
            self._case(segment, role)
        elif segment.is_type("function"):
            self._function(segment, role)
        elif segment.is_type(*_TEXT):
            self.parts.append(segment.raw.upper())
        elif segment.is_type(*_MASKED):
            self.parts.append("?")
        elif segment.is_type(*_TRANSPARENT):
            wrapped = only_code(segment)
            self._sequence([wrapped] if wrapped is not None else code(segment), role)
        else:
            raise NotFollowed(segment.get_type())

    def _column(self, segment: BaseSegment, role: int) -> None:
        parts = column_parts(segment, self.dialect)
        if len(parts) == 1 and segment.raw.upper() in NO_COLUMN:
            self.parts.append(segment.raw.upper())
            return
        self.parts.append(len(self.slots))
        self.slots.append(Slot(parts, role, ATOM))

    def _case(self, segment: BaseSegment, role: int) -> None:
        inner = TRANSFORMED[role]
        tested = COMPOSED[inner][CONDITIONAL]
        for number, child in enumerate(code(segment)):
            if number:
                self.parts.append(" ")
            if child.is_type("when_clause"):
                self._when(child, tested, inner)
            elif child.is_type("else_clause"):
                self._sequence(code(child), inner)
            else:
                self._write(child, tested)

    def _when(self, segment: BaseSegment, tested: int, given: int) -> None:
        role = tested
        for child in code(segment):
            self.parts.append(" ")
            if child.is_type("keyword") and child.raw.upper() == "THEN":
                role = given
            self._write(child, role)

    def _function(self, segment: BaseSegment, role: int) -> None:
        name = "".join(child.raw for child in segment.segments if child.is_type("function_name")).upper()
        if self.dialect.relations_in_functions and name.startswith(_LOOKUPS):
            raise NotFollowed(name.lower())
        if name in STRUCTS:  # which of its fields the query around it takes is not seen here
            raise NotFollowed(f"fields of {name.lower()}")
        inner = ARGUMENTS[effect_of(name.rpartition(".")[2], self.dialect.name)][role]
        self.parts.append(name)
        for child in code(segment):
            if child.is_type("function_contents"):
                self._arguments(child, inner, name)
            elif child.is_type("over_clause"):
                for part in code(child):
                    self.parts.append(" ")
                    self._write(part, COMPOSED[role][WINDOW])
            elif not child.is_type("function_name"):
                raise NotFollowed(child.get_type())

    def _arguments(self, contents: BaseSegment, role: int, name: str) -> None:
        """Arguments; a bare date part among them looks like a column."""
        for bracketed in code(contents):
            arguments = code(bracketed)
            commas = sum(child.raw == "," for child in arguments)
            units = unit_positions(name, commas + 1, self.dialect.name)
            uses = argument_uses(name, commas + 1) or (ArgumentUse.VALUE,) * (commas + 1)
            position = 0
            for child in arguments:
                position += child.raw == ","
                if position in units and child.raw.upper() in DATE_PARTS:
                    self.parts.append(child.raw.upper())
                elif child.is_type("date_part", "datetime_unit"):  # sqlfluff's guess, where only a column can be meant
                    self.parts.append(len(self.slots))
                    self.slots.append(Slot((column_name(child, self.dialect),), role, ATOM))
                else:
                    self._argument(child, role, uses[position])

    def _argument(self, segment: BaseSegment, role: int, use: ArgumentUse) -> None:
        first = len(self.slots)
        self._write(segment, COMPOSED[role][ARGUMENT_ROLES[use]])
        if use is ArgumentUse.BOTH:
            self.slots += [slot._replace(role=COMPOSED[role][CONDITIONAL]) for slot in self.slots[first:]]
