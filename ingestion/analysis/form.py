"""The small relational form that every parser's tree is translated into: names, scopes and roles, and nothing else.
It needs no schema and holds no literal: literals are `?` already. Names are folded as their dialect folds them.
What is used once per statement or clause is a frozen dataclass; what is used once per column is a named tuple,
which is several times cheaper to make. All of it pickles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from ingestion.analysis.roles import ATOM, FILTER, IDENTITY
from ingestion.model.lineage import Problem, StatementKind, TableChange, TableName, Target
from ingestion.model.outcomes import ProblemKind
from ingestion.model.quick_init import with_quick_init

TypeRule: TypeAlias = "str | int | tuple[str | int | tuple[object, ...] | None, ...] | None"
"""How an expression's type follows: a standard type, the type of slot n, a rule over others, or None (unknown)."""

POSITION = "?"
"""In a path: a field by its position, which is any field: positions are numbers, and a fingerprint masks numbers."""

COLUMNS_NOT_FOLLOWED = Problem(ProblemKind.UNSUPPORTED, "columns")


class Slot(NamedTuple):
    """A column used in an expression: `parts` as written (`("t", "c")`), and the role it plays there.

    `outer_precedence` is what its surroundings need, so that a text put in its place is bracketed when it must be.
    """

    parts: tuple[str, ...]
    role: int
    outer_precedence: int = 0


class QuerySlot(NamedTuple):
    """A subquery used in an expression; its columns play `role`. Of EXISTS only its rows count, not its columns.

    `struct` says that the rows are structs, whose fields the columns are: SELECT AS STRUCT. ClickHouse's `a IN u` has
    the rows of a table u, `unless` a column or an alias is called so there.
    """

    query: Query
    role: int
    outer_precedence: int = 0
    exists: bool = False
    struct: bool = False
    unless: tuple[str, ...] = ()


class CallSlot(NamedTuple):
    """A function of the user's, by its name: what it reads itself plays `role`, where its definition is known.

    `arguments` are the slots of each of its arguments, from one number to another, with the parameter's name where the
    call says that: what they are to the value its definition tells.
    """

    name: TableName
    role: int
    outer_precedence: int = 0
    arguments: tuple[tuple[int, int, str], ...] = ()


class ParameterSlot(NamedTuple):
    """A parameter of the function whose body this is."""

    number: int
    name: str
    role: int
    outer_precedence: int = 0


class FieldSlot(NamedTuple):
    """A field inside a value that is no column: `(SELECT AS STRUCT ...).a`, `ARRAY_AGG(t)[OFFSET(0)].a`, `o['a']`.

    `shown` is False where the text does not show the path, since it stands in a string.
    """

    value: Expression
    path: tuple[str, ...]
    role: int
    outer_precedence: int = 0
    shown: bool = True


class StarSlot(NamedTuple):
    """A star in an expression that leaves columns out, or changes them: those of `OBJECT_CONSTRUCT(* EXCLUDE a)`."""

    star: Star
    role: int
    outer_precedence: int = 0


AnySlot: TypeAlias = Slot | QuerySlot | CallSlot | ParameterSlot | FieldSlot | StarSlot


class Fields(NamedTuple):
    """The fields of the value that an expression makes.

    `own` are those of a struct that it builds. Else the value is one of those of `among`, each in its role, or an array
    of them: `acting` acts on every field then, and `names` are the fields' names by position where a type says them.
    Without either it is one of the expression's own direct slots, and the others act on it. `keyed` fields have names
    and no positions: those of an object.
    """

    own: tuple[Projection | Star, ...] = ()
    among: tuple[tuple[Expression, int], ...] = ()
    acting: tuple[tuple[Expression, int], ...] = ()
    names: tuple[str, ...] = ()
    keyed: bool = False


class Expression(NamedTuple):
    """A text with slots: `parts` holds text and, as integers, the numbers of slots.

    A slot that `parts` does not mention still counts (COALESCE tests its arguments for null).
    """

    parts: tuple[str | int, ...]
    slots: tuple[AnySlot, ...]
    precedence: int
    type: TypeRule = None
    fields: Fields | None = None


class Projection(NamedTuple):
    """One output column: `UPPER(a) AS b`. One is `unnamed` that is a column behind a prefix and no more: `t.a`.

    One is `ungrouped` that is a key in none of the grouping sets: b of `GROUP BY a, b GROUPING SETS (a)`, NULL in all,
    while SUM(b) beside it is of t's b.
    """

    name: str
    expression: Expression
    unnamed: bool = False
    ungrouped: bool = False


class Star(NamedTuple):
    """`*` or `t.*`; `pattern` is that of COLUMNS('...'), `wrapped` is the role that each column plays in a function.

    `value` is what stands before `.*` where that is no name. `unless` is the column that the value is where it is no
    struct: DuckDB's `UNNEST(s)`, which takes apart as many levels as `depth` says, or no map: Spark's `EXPLODE(m)`, of
    no depth. `call` is the function in the
    columns' new names, `max(a)` of `* APPLY(max)`, and `label` all of such a name, with what the pattern found in its
    place: `c_\\1` of `COLUMNS('a(.)') AS 'c_\\1'`. `changed_of` are columns that are left out, or
    renamed, of one relation alone, with its name: of `* EXCEPT (b.v)`, (("b", "v"), ""). `names` are what Trino's
    `t.* AS (x, y)` calls its columns, by position.
    """

    qualifier: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    replaced: tuple[Projection, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    pattern: str | None = None
    wrapped: int | None = None
    value: Expression | None = None
    changed_of: tuple[tuple[tuple[str, ...], str], ...] = ()
    unless: Projection | None = None
    depth: int = 1
    call: str = ""
    label: str = ""
    names: tuple[str, ...] = ()


class OutputNames(Enum):
    """Whether an expression may use the names of outputs, as `SELECT a AS b FROM t ORDER BY b` does."""

    HIDDEN = 0
    BEFORE_COLUMNS = 1  # ORDER BY
    AFTER_COLUMNS = 2  # where no column is meant: GROUP BY and HAVING in most dialects
    LATERAL = 3  # where no column is meant, and a column that nobody knows may be: lateral aliases, WHERE


class Clause(NamedTuple):
    """A condition or key (`WHERE b > 1`, `GROUP BY k`): what it uses acts on every output, in `role`.

    `ordinal` is the 1-based output that ORDER BY 2 means, and -1 the last one; 0 without an expression are all of them,
    as of ORDER BY ALL. `last`: how many relations, up to its own, may have the columns that it names without a prefix,
    of a join that is joined itself: two of `b > c` in `FROM t JOIN (u JOIN v ON b > c) ON …`; 0 where all that stand
    before may.
    """

    role: int
    expression: Expression | None
    ordinal: int = 0
    aliases: OutputNames = OutputNames.HIDDEN
    last: int = 0


class Pivot(NamedTuple):
    """PIVOT and UNPIVOT: the columns that `consumed` uses vanish from the input, `columns` come after what is left.

    `keys` are PIVOT's FOR columns, which choose the rows behind each new column, as do `sought`, the queries that say
    which of their values get one. `kept` is DuckDB's GROUP BY: what is
    left is that alone. `names` is the column list of the result's alias. `star` is the COLUMNS(…) that UNPIVOT takes
    into its last column; `drops_nulls` says that a NULL among its values gives no row. `unnamed` are the aggregates
    where the values, and so the new columns, are not said.
    """

    consumed: tuple[Expression, ...]
    columns: tuple[Projection, ...]
    alias: str = ""
    keys: tuple[Expression, ...] = ()
    kept: tuple[Projection, ...] | None = None
    names: tuple[str, ...] = ()
    star: Star | None = None
    unnamed: tuple[Expression, ...] = ()
    drops_nulls: bool = False
    sought: tuple[Query, ...] = ()


@dataclass(frozen=True, slots=True)
class TableFunction:
    """A relation made by a function: its columns are made of its arguments, as x is of t.xs in `UNNEST(t.xs) AS x`.

    `columns` are those that the function itself names (`()` when unknown); `label` is its name as columns are called
    by it; `name` is kept where the function is not a builtin, since what it reads is then unknown. `aligned` is the
    number of columns that the arguments give side by side: as many as they are, or more where one is a map. `wide` says
    that it gives several columns, whose names nobody knows here. `fixed` are the numbers of the arguments that say
    nothing of how many rows there are, as that of `UNNEST(ARRAY[a, b])`. `numbers` are the indices of the columns
    that number the elements: 0 of POSEXPLODE, -1 of WITH ORDINALITY and WITH OFFSET. `given_as` are the parameters'
    names, where the arguments say them. `of_map` says that it gives a key and a value in the place of its last column
    where its argument is a map; `maps` are the numbers of the arguments that are written as maps. `of_array_join` is
    ClickHouse's x in `FROM t ARRAY JOIN t.xs AS x`: it is none of a star's columns, and goes before all others of its
    name.
    """

    arguments: tuple[Expression, ...]
    label: str = "unnest"
    columns: tuple[tuple[str, TypeRule], ...] = ()
    name: TableName | None = None
    aligned: int = 0
    wide: bool = False
    fixed: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    given_as: tuple[str, ...] = ()
    of_map: bool = False
    maps: tuple[int, ...] = ()
    of_array_join: bool = False


class JoinOfSides(NamedTuple):
    """A join by USING or NATURAL, or a semi join, of what is joined itself: the last `right` with the `left` before.

    In `FROM t JOIN (u JOIN v ON …) USING (k)` it stands with v, and its right side are u and v. 0 on the left: all.
    """

    using: tuple[str, ...]
    natural: bool
    join: str
    right: int
    left: int = 0


@with_quick_init
@dataclass(frozen=True, slots=True)
class RelationSource:
    """One item of FROM with how it is joined. `columns` is the column list of its alias.

    `left` is how many relations before it are the left side of its join, where that is joined itself: one of v in
    `FROM t JOIN (u JOIN v USING (k)) ON …`; 0 where all are. `outer` are joins that it is the last relation of.
    """

    source: TableName | Query | TableFunction
    alias: str = ""
    columns: tuple[str, ...] = ()
    join: str = ""
    on: tuple[Clause, ...] = ()
    using: tuple[str, ...] = ()
    natural: bool = False
    left: int = 0
    outer: tuple[JoinOfSides, ...] = ()
    lateral: bool = False
    pivots: tuple[Pivot, ...] = ()
    named_by: TableName | None = None  # its columns go by the names of this table's, by position
    written: bool = False  # the target of the statement itself, which is a source only where its values are used


@dataclass(frozen=True, slots=True)
class CommonTable:
    """A WITH item; `columns` is its column list. ClickHouse's `scalar` ones name a value, not rows."""

    name: str
    columns: tuple[str, ...]
    query: Query
    recursive: bool = False
    scalar: bool = False


@with_quick_init
@dataclass(frozen=True, slots=True)
class Select:
    """SELECT with all of its clauses; WITH is visible inside only. `inner_aliases` stand inside expressions."""

    projections: tuple[Projection | Star, ...]
    relations: tuple[RelationSource, ...] = ()
    clauses: tuple[Clause, ...] = ()
    common_tables: tuple[CommonTable, ...] = ()
    distinct: bool = False
    inner_aliases: tuple[Projection, ...] = ()


class MatchedNames(NamedTuple):
    """Which columns a set operation BY NAME has.

    Those of all branches, of the first one (`kept` is "LEFT"), those that all have ("INNER"), or those that are
    `listed`: `LEFT UNION ALL BY NAME`, `UNION ALL BY NAME ON (a, b)`.
    """

    kept: str = ""
    listed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SetOperation:
    """Branches of one kind of set operation in order; `role` is what every column plays for all, None for UNION ALL.

    `first_only` marks EXCEPT, whose values come from its first branch. `match` says which columns meet BY NAME.
    """

    branches: tuple[Query, ...]
    role: int | None
    match: MatchedNames | None = None
    first_only: bool = False
    clauses: tuple[Clause, ...] = ()
    common_tables: tuple[CommonTable, ...] = ()


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES rows; `columns` are the dialect's names: column1, column2 for PostgreSQL's `VALUES (1, 2)`."""

    rows: tuple[tuple[Expression, ...], ...]
    columns: tuple[str, ...]


Query: TypeAlias = Select | SetOperation | Values


@dataclass(frozen=True, slots=True)
class WriteForm:
    """Data on its way: `query` gives the target's columns by position, or by name where the target says so.

    `INSERT INTO w (b, a) SELECT x, y FROM s` puts s.x into w.b. `query` is None where no column is followed (LIKE,
    EXCHANGE): `sources` has what is read then. `fixed` are the
    target's columns that a static partition sets, which positions skip, `chosen` those of a partition that the rows
    choose, which come last. `deletes` marks rows that go: nothing flows.
    `given` are the parameters of the function that the query is the body of, where each is known again in it. Of an
    `empty` table the query only says what its columns are.
    """

    target: Target | None
    query: Query | None
    fixed: tuple[str, ...] = ()
    sources: tuple[TableName, ...] = ()
    deletes: bool = False
    given: tuple[str, ...] | None = None
    empty: bool = False
    chosen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationalStatement:
    """One statement, translated: what a parse gives, and what is kept as symbolic lineage."""

    kind: StatementKind
    dialect: str
    writes: tuple[WriteForm, ...] = ()
    changes: tuple[TableChange, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


# What an expression holds at any depth: its slots, those of the values behind its fields among them.


def all_slots(expressions: Iterable[Expression]) -> Iterator[AnySlot]:
    """Every slot of the expressions; a field's slot is followed by those of the value that it is inside of."""
    for expression in expressions:
        for slot in expression.slots:
            yield slot
            if type(slot) is FieldSlot:
                yield from all_slots((slot.value,))
            elif type(slot) is StarSlot:
                yield from all_slots(_star_expressions(slot.star))


def projected_expressions(select: Select) -> Iterator[Expression]:
    """The expressions of a select list, those of REPLACE and of a value before `.*` among them."""
    for item in select.projections:
        if isinstance(item, Projection):
            yield item.expression
        else:
            yield from _star_expressions(item)


def _star_expressions(star: Star) -> Iterator[Expression]:
    """The expressions of a star."""
    yield from (replaced.expression for replaced in star.replaced)
    if star.value is not None:
        yield star.value


# The relations that a query names, at any depth.


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


# Parts of the relational form for the tiers that follow tables surely, and columns only where they are plain.


def plain_column(parts: tuple[str, ...], name: str) -> Projection:
    """An output that is a column as it is."""
    return Projection(name, Expression((0,), (Slot(parts, IDENTITY),), ATOM, 0))


def opaque_column(name: str) -> Projection:
    """An output of which only the position, and perhaps the name, is known: it goes with a Problem."""
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
