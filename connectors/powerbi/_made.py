"""What columns are made of, and the rows that they are columns of: by Power Query and by DAX alike, written as SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from connectors.assets import Asset
from connectors.dashboards.queries import PLAIN_SQL, OutputColumn, query_text, subquery
from ingestion.dialects import Dialect, dialect_of
from ingestion.statements.routines.definition import quote_name

_AGGREGATES = frozenset({"AVG", "COUNT", "MAX", "MEDIAN", "MIN", "STDDEV", "SUM", "VARIANCE"})
_MOST_ROWS = 2_000
"""Of what one query is made of: a text that multiplies its own steps gives more."""
_MOST_STEPS = 250
"""Each asks the one before it for its columns, deeper than which Python does not go."""


class UnreadableQuery(Exception):
    """What cannot be told, with a word of ours for it."""

    @property
    def kind(self) -> str:
        """That word."""
        return str(self)


@dataclass(eq=False, slots=True)
class RowOrigin:
    """What rows come from: a table, a query in SQL, an asset, or the rows of several branches one after another.

    `connection`: the type of connection whose names these are. `size`: how many it is in all.
    """

    connection: str = ""
    path: tuple[str, ...] = ()
    query: str = field(default="", repr=False)
    asset: Asset | None = None
    branches: tuple[ModelRows, ...] = ()
    size: int = 1

    @property
    def database(self) -> str:
        """The database of a table, or that bare names of a query are in."""
        return self.path[0] if self.path else ""

    def within(self) -> Iterator[RowOrigin]:
        """This one, and those of its branches."""
        yield self
        for branch in self.branches:
            for one in branch.origins:
                yield from one.within()


@dataclass(frozen=True, slots=True)
class Term:
    """A column of an origin, with the aggregate that is taken of it ("" of one that is not)."""

    origin: RowOrigin
    column: str
    aggregate: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """What a value is made of, and what decides about it; `is_whole`: it is the only value, as it is."""

    values: tuple[Term, ...] = ()
    deciding: tuple[Term, ...] = ()
    is_whole: bool = False

    def as_part(self) -> Made:
        """The same, of which something is made."""
        return replace(self, is_whole=False)

    def aggregate_by(self, name: str) -> Made:
        """The same, of many rows."""
        values = tuple(replace(one, aggregate=one.aggregate or name) for one in self.values)
        return Made(values, self.deciding)

    def as_condition(self) -> Made:
        """The same where it decides alone."""
        return Made((), _each_once((*self.values, *self.deciding)))


def join_made(parts: Iterable[Made]) -> Made:
    """What is made of several."""
    several = tuple(parts)
    return Made(
        _each_once(one for made in several for one in made.values),
        _each_once(one for made in several for one in made.deciding),
    )


def _each_once(terms: Iterable[Term]) -> tuple[Term, ...]:
    return tuple(dict.fromkeys(terms))


def _no_column(_name: str) -> Made | None:
    return None


@dataclass(frozen=True, slots=True)
class ModelRows:
    """ModelRows out of origins: `column` tells what a column is made of, None where that is not known or there is none.

    `names`: the columns, where all are known. `conditions`: what decides which rows there are; of a join the columns
    that are compared. `nested`: by the names of columns, the tables that are in them. `unknown`: steps that are not
    understood; `steps`: how many in all are between these rows and their origins.
    """

    origins: tuple[RowOrigin, ...] = ()
    column: Callable[[str], Made | None] = _no_column
    names: tuple[str, ...] | None = None
    conditions: tuple[Made, ...] = ()
    grouping: tuple[Made, ...] = ()
    nested: Mapping[str, ModelRows] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    steps: int = 0

    def with_columns(self, column: Callable[[str], Made | None], names: tuple[str, ...] | None) -> ModelRows:
        """The same rows with other columns."""
        return replace(self, column=cache(column), names=names, steps=_next((self,)))

    def opaque(self, step: str) -> ModelRows:
        """The same rows, of whose columns nothing is known any more."""
        return ModelRows(self.origins, conditions=self.conditions, unknown=(*self.unknown, step))


def _next(several: Iterable[ModelRows]) -> int:
    """The steps of what is made of these. Raises UnreadableQuery of too many."""
    steps = max((one.steps for one in several), default=0) + 1
    if steps > _MOST_STEPS:
        raise UnreadableQuery("steps")
    return steps


def beside(several: tuple[ModelRows, ...]) -> ModelRows:
    """The rows of several side by side, as a join has them, without a column."""
    return ModelRows(
        tuple(dict.fromkeys(origin for one in several for origin in one.origins)),
        conditions=tuple(dict.fromkeys(made for one in several for made in one.conditions)),
        grouping=tuple(dict.fromkeys(made for one in several for made in one.grouping)),
        nested={name: inner for one in several for name, inner in one.nested.items()},
        unknown=tuple(dict.fromkeys(step for one in several for step in one.unknown)),
        steps=_next(several),
    )


def rows_of(origin: RowOrigin) -> ModelRows:
    """All rows of an origin, which may have any column."""
    return ModelRows((origin,), lambda name: Made((Term(origin, name),), is_whole=True))


def unite(branches: Iterable[ModelRows]) -> ModelRows:
    """The rows of several, one after another: a column is what it is in each that comes from anywhere."""
    given = tuple(branches)
    several = tuple(one for one in given if one.origins)
    lost = tuple(dict.fromkeys(step for one in given for step in one.unknown))
    if len(several) < 2:
        return replace(several[0] if several else ModelRows(), unknown=lost)
    size = sum(origin.size for one in several for origin in one.origins)
    if size > _MOST_ROWS:
        raise UnreadableQuery("size")
    origin = RowOrigin(branches=several, size=size)
    names = [one.names for one in several]
    known = tuple(dict.fromkeys(name for some in names for name in some or ())) if None not in names else None

    def column(name: str) -> Made | None:
        if all(one.column(name) is None for one in several):
            return None
        return Made((Term(origin, name),), is_whole=True)

    return ModelRows((origin,), cache(column), known, unknown=lost, steps=_next(several))


# As SQL.


@dataclass(slots=True)
class SqlOfRows:
    """How rows are written in a dialect; where `database` is the only one, names go without it."""

    dialect: Dialect
    database: str = ""

    def text(self, rows: ModelRows, outputs: Iterable[tuple[str, Made]]) -> str:
        """The query that gives these columns of the rows."""
        shown = tuple(outputs)
        origins = tuple(dict.fromkeys((*rows.origins, *self._asked_origins(shown))))
        aliases = {id(one): f"b{number}" for number, one in enumerate(origins)}
        terms = [*(made for _name, made in shown), *rows.conditions, *rows.grouping]
        asked = [term for made in terms for term in (*made.values, *made.deciding)]
        listed = [OutputColumn(self._expression(made, aliases), name) for name, made in shown]
        deciding = [text for made in rows.conditions for text in self._condition(made, aliases)]
        grouping = [self._term(term, aliases) for made in rows.grouping for term in made.values if not term.aggregate]
        origin_texts = [f"{self._origin(one, asked)} {aliases[id(one)]}" for one in origins]
        return query_text(listed, ", ".join(origin_texts), self.dialect, tuple(dict.fromkeys(deciding)), grouping)

    def _asked_origins(self, shown: Iterable[tuple[str, Made]]) -> Iterator[RowOrigin]:
        for _name, made in shown:
            yield from (term.origin for term in (*made.values, *made.deciding))

    def _origin(self, origin: RowOrigin, asked: Iterable[Term]) -> str:
        if origin.asset is not None:
            return origin.asset.relation_text(self.dialect.name)
        if origin.query:
            return subquery(origin.query, "").rstrip()
        if origin.branches:
            names = tuple(dict.fromkeys(term.column for term in asked if term.origin is origin))
            texts = (
                self.text(branch, [(name, branch.column(name) or Made()) for name in names])
                for branch in origin.branches
            )
            return subquery("\nUNION ALL\n".join(texts), "").rstrip()
        path = [one for one in origin.path if one]
        if len(path) > 2 and path[0] == self.database:
            path = path[1:]
        return ".".join(quote_name(part, self.dialect) for part in path)

    def _term(self, term: Term, aliases: Mapping[int, str]) -> str:
        text = f"{aliases[id(term.origin)]}.{quote_name(term.column, self.dialect)}"
        if not term.aggregate:
            return text
        if term.aggregate == "COUNT DISTINCT":
            return f"COUNT(DISTINCT {text})"
        return f"{term.aggregate if term.aggregate in _AGGREGATES else 'MAX'}({text})"

    def _expression(self, made: Made, aliases: Mapping[int, str]) -> str:
        values = [self._term(term, aliases) for term in made.values]
        if len(values) == 1 and (made.is_whole or made.values[0].aggregate):
            value = values[0]
        else:
            value = f"power_bi({', '.join(values)})" if values else "NULL"
        if not made.deciding:
            return value
        tests = " AND ".join(f"NOT {self._term(replace(one, aggregate=''), aliases)} IS NULL" for one in made.deciding)
        return f"CASE WHEN {tests} THEN {value if values else '1'} END"

    def _condition(self, made: Made, aliases: Mapping[int, str]) -> Iterator[str]:
        """Two columns that are compared are those of a join; any others decide each by itself."""
        terms = [self._term(replace(one, aggregate=""), aliases) for one in (*made.values, *made.deciding)]
        if len(made.values) == 2 and made.values[0].origin is not made.values[1].origin:
            yield f"{terms[0]} = {terms[1]}"
        else:
            yield from (f"NOT {term} IS NULL" for term in terms)


def connection_of(rows: ModelRows) -> tuple[str, str]:
    """The type of connection that the names in rows are written for, and the one database that they are in.

    Raises UnreadableQuery where queries in SQL are for several.
    """
    origins = tuple(dict.fromkeys(one for origin in rows.origins for one in origin.within()))
    queries = {(one.connection, one.database) for one in origins if one.query}
    databases = {one.database for one in origins if one.connection}
    connections = {one.connection for one in origins if one.connection}
    if len(queries) > 1 or (queries and len(connections) > 1):
        raise UnreadableQuery("queries_of_several_databases")
    connection = next(iter(connections)) if len(connections) == 1 else PLAIN_SQL
    only = next(iter(databases)) if len(databases) == 1 else ""
    return connection, only if len(databases) == 1 else next(iter(queries), ("", ""))[1]


def dialect_of_connection(connection: str) -> Dialect:
    """The dialect of a type of connection, plain SQL where there is none."""
    return dialect_of(connection or PLAIN_SQL)
