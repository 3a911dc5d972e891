"""sqlfluff's tree of one statement: the names in it, and its expressions as text with slots."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec

from sqlfluff.core import FluffConfig
from sqlfluff.core.errors import SQLFluffUserError, SQLParseError
from sqlfluff.core.parser import BaseSegment, Lexer, Parser
from sqlfluff.core.parser.rust_parser import RustParser

from ingestion.analysis.form import AnySlot, Expression, Query, QuerySlot, Slot
from ingestion.analysis.roles import (
    AGGREGATED,
    ARGUMENT_ROLES,
    ARGUMENTS,
    ATOM,
    COMPOSED,
    CONDITIONAL,
    FILTER,
    SORT,
    TRANSFORMED,
    WINDOW,
)
from ingestion.dialects import Dialect, fold, fold_column
from ingestion.dialects.definition import Arrow
from ingestion.dialects.functions import (
    SORTED_WITHIN,
    STRUCTS,
    ArgumentUse,
    argument_uses,
    effect_of,
    has_condition_last,
    unit_positions,
)
from ingestion.dialects.keywords import DATE_PARTS, NO_COLUMN
from ingestion.dialects.unfilled_templates import refuse_bound_name
from ingestion.errors import Unparsable
from ingestion.model.lineage import TableName
from ingestion.model.storage_paths import location, name_without_secrets

_CLOSING = {'"': '"', "`": "`", "[": "]", "'": "'"}

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


@cache
def _config(dialect: str) -> FluffConfig:
    return FluffConfig(overrides={"dialect": dialect, "large_file_skip_byte_limit": 0})


_HALF_CHARACTER = re.compile("[\ud800-\udfff]")

# The compiled parser takes a tenth of the other one's time; it is not there for every machine.
_PARSER: type[RustParser | Parser] = RustParser if find_spec("sqlfluffrs") is not None else Parser


def read_statement(text: str, dialect: Dialect) -> BaseSegment:
    """The tree of the text's one statement.

    Raises Unparsable when sqlfluff has no such dialect, understands the text only in part, or finds several statements.
    """
    if dialect.sqlfluff is None:
        raise Unparsable("sqlfluff does not know the dialect")
    if _HALF_CHARACTER.search(text):
        raise Unparsable("half of a character is no text to Rust")
    config = _config(dialect.sqlfluff)
    try:
        tokens, errors = Lexer(config=config).lex(text)
        tree = None if errors else _PARSER(config=config).parse(tokens)
    except (SQLParseError, SQLFluffUserError) as error:
        raise Unparsable("sqlfluff refuses the text") from error
    if tree is None or next(tree.recursive_crawl("unparsable"), None) is not None:
        raise Unparsable("sqlfluff understands the text only in part")
    statements = list(tree.recursive_crawl("statement", recurse_into=False))
    if len(statements) != 1:
        raise Unparsable("the text is not one statement")
    return code(statements[0])[0]


def code(segment: BaseSegment) -> list[BaseSegment]:
    """The segment's children without white space, comments and marks of indentation."""
    return [child for child in segment.segments if child.is_code and not child.is_meta]


def only_code(segment: BaseSegment) -> BaseSegment | None:
    """The one child between a segment's brackets, if it is one."""
    inner = [child for child in code(segment) if not child.is_type("start_bracket", "end_bracket")]
    return inner[0] if len(inner) == 1 else None


def keywords(segment: BaseSegment) -> list[str]:
    """The keywords, in lower case, that are the segment's own children."""
    return [child.raw.lower() for child in segment.segments if child.is_type("keyword")]


def _identifier(segment: BaseSegment) -> tuple[str, bool]:
    """A name without its quotes, and whether it had some."""
    raw = segment.raw
    closing = _CLOSING.get(raw[0])
    if closing is None or len(raw) == 1 or raw[-1] != closing:
        return raw, False
    return name_without_secrets(raw[1:-1].replace(closing * 2, closing)), True


def _dotted_parts(reference: BaseSegment) -> Iterator[tuple[str, bool]]:
    """The parts of a dotted name; what stands between two dots is one part (BigQuery's dashes)."""
    part: list[BaseSegment] = []
    for child in [*code(reference), None]:
        if child is not None and not child.is_type("dot"):
            part.append(child)
            continue
        if len(part) == 1:
            yield _identifier(part[0])
        elif part:
            yield "".join(each.raw for each in part), False
        part = []


def table_name(reference: BaseSegment, dialect: Dialect) -> TableName:
    """The name of a relation, folded as the dialect folds it; a path where a file stands for a table."""
    parts = list(_dotted_parts(reference))
    text, quoted = parts[-1]
    if "(" in text and not quoted:
        raise Unparsable("a function stands for a relation")
    refuse_bound_name((text for text, quoted in parts if not quoted), dialect)
    if quoted and ("/" in text or reference.is_type("file_reference")):
        return location(text)
    if dialect.table_variables and text.startswith("@") and not quoted:  # a temporary table, and none of that name
        parts = [(f"#{text}", False)]
    if dialect.dotted_quotes:
        parts = [(each, quoted) for text, quoted in parts for each in (text.split(".") if quoted else [text])]
    return TableName(
        tuple(fold(text, dialect, quoted=quoted) for text, quoted in parts), ".".join(text for text, _ in parts)
    )


def qualifier(reference: BaseSegment, dialect: Dialect) -> tuple[str, ...]:
    """The parts of a name that stands before a star."""
    return tuple(fold(text, dialect, quoted=quoted) for text, quoted in _dotted_parts(reference) if text != "*")


def column_parts(reference: BaseSegment, dialect: Dialect) -> tuple[str, ...]:
    """The parts of a column's name: its qualifiers fold as relations do."""
    *before, (text, quoted) = _dotted_parts(reference)
    return (
        *(fold(part, dialect, quoted=marked) for part, marked in before),
        fold_column(text, dialect, quoted=quoted),
    )


def column_name(name: BaseSegment, dialect: Dialect) -> str:
    """A column's or an output's single name."""
    text, quoted = _identifier(name)
    return fold_column(text, dialect, quoted=quoted)


def relation_alias(name: BaseSegment, dialect: Dialect) -> str:
    """The alias of a relation or the name of a common table."""
    text, quoted = _identifier(name)
    return fold(text, dialect, quoted=quoted)


# Expressions of sqlfluff's tree: text with slots, the role of each column; only of shapes that are known.


def is_value_word(reference: BaseSegment) -> bool:
    """Whether a bare word is a value of the session or a constant, which sqlfluff takes for a column: SYSDATE."""
    return reference.raw.lower() in NO_COLUMN


def _words(segment: BaseSegment) -> str:
    """The text of an expression's words. Of the literals in them only a type's numbers are kept: `DECIMAL(10, 2)`.

    `CAST(a AS DATE FORMAT 'yyyy')` and `ENUM('new', 'paid')` have texts in a type, `ROWS 5 PRECEDING` a number.
    """
    masked = ("quoted_literal",) if segment.is_type("data_type") else _MASKED
    leaves = (leaf for leaf in segment.raw_segments if not leaf.is_type("comment"))
    return "".join("?" if leaf.is_type(*masked) else leaf.raw.upper() for leaf in leaves)


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
            if segment.raw == "->" and self.dialect.arrow is not Arrow.ACCESS and not segments[-1].is_type(*_MASKED):
                raise NotFollowed("lambda")  # x -> x + a: a lambda's x is no column
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
            self.parts.append(_words(segment))
        elif segment.is_type(*_MASKED):
            self.parts.append("?")
        elif segment.is_type(*_TRANSPARENT):
            wrapped = only_code(segment)
            self._sequence([wrapped] if wrapped is not None else code(segment), role)
        else:
            raise NotFollowed(segment.get_type())

    def _column(self, segment: BaseSegment, role: int) -> None:
        parts = column_parts(segment, self.dialect)
        if is_value_word(segment):
            self.parts.append(segment.raw.upper())
            return
        self.parts.append(len(self.slots))
        self.slots.append(Slot(parts, role, ATOM))

    def _case(self, segment: BaseSegment, role: int) -> None:
        """CASE a WHEN b THEN c ELSE d END: c and d are values, a and b decide."""
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
        """f(a) OVER (PARTITION BY b): what a is, the table of functions says; b decides over which rows."""
        name = "".join(child.raw for child in segment.segments if child.is_type("function_name")).upper()
        if self.dialect.relations_in_functions and name.startswith(_LOOKUPS):
            raise NotFollowed(name.lower())
        if name in STRUCTS:  # which of its fields the query around it takes is not seen here
            raise NotFollowed(f"fields of {name.lower()}")
        self.parts.append(name)
        for child in code(segment):
            if child.is_type("function_contents"):
                self._arguments(child, role, name)
            elif child.is_type("over_clause"):
                for part in code(child):
                    self.parts.append(" ")
                    self._write(part, COMPOSED[role][WINDOW])
            elif child.is_type("withingroup_clause"):
                self._keys_within(child, COMPOSED[role][SORT] if name in SORTED_WITHIN else AGGREGATED[role])
            elif child.is_type("keyword") and child.raw.upper() == "FILTER":
                self.parts.append(" FILTER ")
            elif child.is_type("bracketed") and keywords(child) == ["where"]:
                self._sequence(code(child), COMPOSED[role][FILTER])
            elif not child.is_type("function_name"):
                raise NotFollowed(child.get_type())

    def _keys_within(self, clause: BaseSegment, role: int) -> None:
        """LISTAGG(a) WITHIN GROUP (ORDER BY b) sorts by b; PERCENTILE_CONT(0.5) is made of it."""
        self.parts.append(" WITHIN GROUP (ORDER BY ")
        for order in clause.recursive_crawl("orderby_clause"):
            for key in code(order):
                self._write(key, role)
        self.parts.append(")")

    def _arguments(self, contents: BaseSegment, outer: int, name: str) -> None:
        """Arguments of a function whose result plays `outer`; a bare date part among them looks like a column."""
        for bracketed in code(contents):
            arguments = code(bracketed)
            commas = sum(child.raw == "," for child in arguments)
            role = ARGUMENTS[effect_of(name, self.dialect.name, commas + 1)][outer]
            units = unit_positions(name, commas + 1, self.dialect.name)
            uses = argument_uses(name, commas + 1) or (ArgumentUse.VALUE,) * (commas + 1)
            filters = commas > 0 and has_condition_last(name, self.dialect.name)
            position = 0
            for before, child in zip([None, *arguments], arguments, strict=False):
                position += child.raw == ","
                if before is not None and before.is_type("expression") and child.is_type("expression"):
                    raise NotFollowed(f"words between the arguments of {name.lower()}")  # f(a VALUE b)
                if filters and position == commas and child.raw != ",":
                    role = COMPOSED[outer][FILTER]
                if position in units and child.raw.lower() in DATE_PARTS:
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
