"""Queries written for what a tool keeps as a list of columns, measures and filters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count

from connectors.assets import Asset, AssetQuery
from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import tokens
from ingestion.errors import ConfigError, Unparsable
from ingestion.statements.masking import QueryMasker
from ingestion.statements.routines.definition import quote_name

PLAIN_SQL = dialect_of("CustomDatabase").name
"""The dialect of what names none."""
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_IN_SQL = re.compile(r"['\"=<>]")
_FROM_QUOTE = re.compile(r"['\"].*", re.DOTALL)
_RESERVED = keywords(
    "all and any as asc between both by case cast check column constraint create cross current_date current_time "
    "current_timestamp date day default desc distinct drop else end except exists false fetch for foreign from full "
    "grant group having hour in index inner insert int intersect interval into is join key language leading left like "
    "limit level minute month natural not null offset on or order outer over partition primary quarter range rank "
    "references right row rows second select session set some start table text then time timestamp to top trailing "
    "true type union unique update user using value values view week when where window with year"
)
"""Words that are quoted where they are names: in some dialect each is no name otherwise."""


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """A column of a query: what it is made of, as SQL, and what it is called."""

    expression: str
    name: str


def known_dialect(*names: str) -> str:
    """The first of these names that is a dialect's, "" where none is."""
    for name in names:
        try:
            return dialect_of(name).name if name else ""
        except ConfigError:
            continue
    return ""


def column_text(name: str, dialect: Dialect) -> str:
    """A column's name as SQL has it, in quotes where it would mean another without."""
    return name if _PLAIN.match(name) and name not in _RESERVED else quote_name(name, dialect)


def label_without_values(label: str, expression: str, dialect: Dialect) -> str:
    """A column's name as it may be shown: a tool that is given none takes the SQL of the expression, values and all.

    `SUM(CASE WHEN region = 'north' THEN total END)` is called `SUM(CASE WHEN region = ? THEN total END)`.
    """
    is_made = expression.strip().startswith(label.strip().removesuffix("...").removesuffix("…"))
    if not is_made and not _IN_SQL.search(label):
        return label
    try:
        return QueryMasker(dialect).mask(f"SELECT {label}").removeprefix("SELECT ")
    except Unparsable:
        return _FROM_QUOTE.sub("?", label)


def unused_name(name: str, taken: Collection[str]) -> str:
    """The name, with the first number behind it that makes it another than those that are taken."""
    numbered = chain([name], (f"{name} {number}" for number in count(2)))
    return next(one for one in numbered if one not in taken)


def query_text(
    outputs: Iterable[OutputColumn],
    origin: str,
    dialect: Dialect,
    deciding: Sequence[str] = (),
    grouping: Sequence[str] = (),
) -> str:
    """`SELECT region AS "region", SUM(total) AS "gmv" FROM orders WHERE NOT day IS NULL GROUP BY region`.

    `deciding` are conditions of which at least the columns are right: values are left out.
    """
    listed = ", ".join(f"{_end_line(one.expression)} AS {quote_name(one.name, dialect)}" for one in outputs) or "1"
    text = f"SELECT {listed} FROM {origin}"
    if deciding:
        text += " WHERE " + " AND ".join(deciding)
    if grouping:
        text += " GROUP BY " + ", ".join(dict.fromkeys(grouping))
    return text


def _end_line(expression: str) -> str:
    """An expression behind which more may stand: a comment in it may go on to the end of its line."""
    return f"{expression}\n" if any(mark in expression for mark in ("--", "#", "//")) else expression


def is_expression(text: str, dialect: Dialect) -> bool:
    """Whether a text ends what it begins: one that does not would take what stands behind it into itself."""
    depth = 0
    try:
        for token in tokens(text, dialect):
            depth += (token.text == "(") - (token.text == ")")
            if depth < 0 or token.text == ";":
                return False
    except Unparsable:
        return False
    return depth == 0


def subquery(query: str, alias: str) -> str:
    """A query as what another one reads."""
    return f"(\n{query.strip().rstrip(';').rstrip()}\n) {alias}"


@dataclass(frozen=True, slots=True)
class FilteringColumn:
    """A column that decides what a dashboard shows: of which relation, as SQL has it."""

    relation: str
    column: str


def dashboard_query(charts: Sequence[Asset], filters: Sequence[FilteringColumn] = ()) -> AssetQuery | None:
    """What a dashboard shows, a column for each chart, out of any of that chart's; `filters` decide what is shown.

    None of one that has neither.
    """
    if not charts and not filters:
        return None
    dialect = dialect_of(PLAIN_SQL)
    outputs = [
        OutputColumn(f"c{number}.{quote_name(one.columns[0].name, dialect)}", one.title)
        for number, one in enumerate(charts)
        if one.columns
    ]
    aliases = {one: f"f{number}" for number, one in enumerate(dict.fromkeys(each.relation for each in filters))}
    relations = [(one.relation_text(PLAIN_SQL), f"c{number}") for number, one in enumerate(charts)]
    origin = ", ".join(f"{relation} {alias}" for relation, alias in (*relations, *aliases.items()))
    deciding = [f"NOT {aliases[one.relation]}.{quote_name(one.column, dialect)} IS NULL" for one in filters]
    return AssetQuery(query_text(outputs, origin, dialect, deciding), PLAIN_SQL)
