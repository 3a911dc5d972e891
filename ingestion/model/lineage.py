"""The vocabulary of lineage: frozen values that every other module speaks in.

Terms are OpenLineage's column-lineage facet's (DIRECT and INDIRECT with a subtype and a masking flag).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ingestion.model.outcomes import ProblemKind
from ingestion.model.quick_init import with_quick_init

Json = dict[str, Any]
"""An object of a JSON document."""

MOST_EXPRESSION = 2_000
"""Characters of an expression: nested queries and plans compose theirs exponentially otherwise."""


class LineageType(StrEnum):
    """Whether a value was made from a source column, or only influenced by it."""

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"


class Subtype(StrEnum):
    """The facet's subtypes: the first three are DIRECT, the others INDIRECT."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    JOIN = "JOIN"
    GROUP_BY = "GROUP_BY"
    FILTER = "FILTER"
    SORT = "SORT"
    WINDOW = "WINDOW"
    CONDITIONAL = "CONDITIONAL"


DIRECT_SUBTYPES = frozenset({Subtype.IDENTITY, Subtype.TRANSFORMATION, Subtype.AGGREGATION})


@dataclass(frozen=True, slots=True, order=True)
class Transformation:
    """How a source column takes part in an output; `masking` as the facet defines it (hash, count)."""

    subtype: Subtype
    masking: bool = False

    def __hash__(self) -> int:
        # Hundreds of times a statement, in sets: an Enum's own hash is a call of Python's, and few differ in masking.
        return str.__hash__(self.subtype)

    @property
    def type(self) -> LineageType:
        return LineageType.DIRECT if self.subtype in DIRECT_SUBTYPES else LineageType.INDIRECT


class NameKind(StrEnum):
    """What a relation's name names."""

    TABLE = "table"
    PATH = "path"  # a file, directory or stage; parts hold the one location
    FUNCTION = "function"  # a table function
    SCHEMA = "schema"  # what holds relations, in the names of DDL that moves them all
    DATABASE = "database"


@with_quick_init
@dataclass(frozen=True, slots=True)
class TableName:
    """A relation's name: `parts` folded as the dialect folds case, outermost first; `written` as the query has it.

    Two names are equal when their parts and kind are; how they were written does not matter.
    """

    parts: tuple[str, ...]
    written: str = field(default="", compare=False)
    kind: NameKind = NameKind.TABLE

    def __hash__(self) -> int:
        # Two hundred times a statement: a tuple of the fields is made for none, and few names differ in kind alone.
        return hash(self.parts)

    @property
    def table(self) -> str:
        return self.parts[-1]

    @property
    def dotted(self) -> str:
        return ".".join(self.parts)

    def __str__(self) -> str:
        return self.written or self.dotted


@with_quick_init
@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of a relation; `*` stands for all columns of a relation whose schema is not known."""

    table: TableName
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


class StatementKind(StrEnum):
    """What a statement does, as far as lineage cares."""

    SELECT = "select"
    CREATE_TABLE = "create_table"  # DDL: columns, no flow
    CREATE_TABLE_AS = "create_table_as"
    CREATE_VIEW = "create_view"
    INSERT = "insert"
    UPDATE = "update"
    MERGE = "merge"
    DELETE = "delete"
    TRUNCATE = "truncate"  # all rows go, by TRUNCATE or by a DELETE without a condition
    COPY = "copy"
    CREATE_TABLE_LIKE = "create_table_like"  # LIKE and CLONE
    ALTER_TABLE = "alter_table"  # columns added, dropped, renamed
    RENAME = "rename"
    SWAP = "swap"  # SWAP WITH, EXCHANGE
    DROP = "drop"
    CREATE_ROUTINE = "create_routine"
    CALL = "call"
    USE = "use"  # session state: USE, SET search_path
    OTHER = "other"


class WriteMode(StrEnum):
    """What happens to what the target held before."""

    CREATE = "create"
    APPEND = "append"
    OVERWRITE = "overwrite"
    UPDATE = "update"
    DELETE = "delete"  # rows go, nothing flows


class CreateMode(StrEnum):
    """What a statement that creates does where the name is taken."""

    NEW = "new"  # an engine refuses it
    REPLACE = "replace"  # what stood there is gone: OR REPLACE, an overwrite that drops the table first
    IF_ABSENT = "if_absent"  # nothing happens


@dataclass(frozen=True, slots=True)
class ParameterUse:
    """What a parameter of a function is to a column that the function gives; `rows`: to which rows there are.

    Of `CREATE MACRO f(x) AS (SELECT max(v) FROM t WHERE k = x)` x, the first, filters what it gives.
    """

    number: int
    name: str
    transformation: Transformation
    rows: bool = False


@dataclass(frozen=True, slots=True)
class FunctionBody:
    """How a function makes a column: `uses` is what becomes of its parameters, whose names are `given`.

    A parameter without a use has no say in it. `reads` is whether it is made of tables, too.
    """

    given: tuple[str, ...]
    uses: tuple[ParameterUse, ...]
    reads: bool


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a known schema: its name as the catalog has it, and its type as written ("" if unknown).

    One that a function gives has the function's `body` where that tells what becomes of each parameter. A `hidden` one
    is in no star of its table, and is given no value by its place: ClickHouse's ALIAS and MATERIALIZED, INVISIBLE.
    """

    name: str
    type: str = ""
    body: FunctionBody | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """What a statement writes: `columns` is the explicit list of INSERT or CREATE VIEW, None without one."""

    name: TableName
    mode: WriteMode
    columns: tuple[str, ...] | None = None
    by_name: bool = False
    temporary: bool = False
    view: bool = False
    create_mode: CreateMode = CreateMode.NEW


@with_quick_init
@dataclass(frozen=True, slots=True)
class Reference:
    """One use of source data by an output.

    `sources` has one column when it is certain; several are the candidates of an ambiguous name. `expression` is
    masked and canonical: over base-table columns, aliases and nesting gone; "" where the column is taken as is.
    `opaque` marks a use that was not followed (code of the user's between source and output): never certain.
    """

    sources: tuple[ColumnRef, ...]
    transformation: Transformation
    expression: str = ""
    opaque: bool = False

    @property
    def certain(self) -> bool:
        return len(self.sources) == 1 and not self.opaque


@dataclass(frozen=True, slots=True)
class StarOutput:
    """All columns of a relation whose schema is not known yet, after EXCEPT, RENAME and REPLACE took theirs."""

    table: TableName
    excluded: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


@with_quick_init
@dataclass(frozen=True, slots=True)
class Output:
    """One column that a flow gives its target, in order; with `star` set, a run of columns not known yet.

    `name_assumed` marks a name that was guessed: a positional INSERT into a table of unknown schema. `body` is that of
    the function whose column it is, where it tells what becomes of each parameter.
    """

    name: str
    references: tuple[Reference, ...] = ()
    type: str = ""
    star: StarOutput | None = None
    name_assumed: bool = False
    body: FunctionBody | None = None


@with_quick_init
@dataclass(frozen=True, slots=True)
class Flow:
    """Data on its way into one target (None for a bare SELECT); `indirect` concerns every output of it."""

    target: Target | None
    outputs: tuple[Output, ...]
    indirect: tuple[Reference, ...] = ()
    sources: tuple[TableName, ...] = ()

    def references(self) -> Iterator[Reference]:
        """Every use of source data, by an output or by all of them."""
        for output in self.outputs:
            yield from output.references
        yield from self.indirect


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing about a statement that stays unresolved, with the name it concerns (never a literal)."""

    kind: ProblemKind
    subject: str


@dataclass(frozen=True, slots=True)
class TableChange:
    """DDL: what happened to a name. RENAME and SWAP carry the other name; CREATE carries columns.

    `optional_columns` are those of the dropped and renamed ones that need not be there (IF EXISTS). All of
    `renamed_columns` change their names at once: `(a, b), (b, a)` exchanges two. `whole`: `columns` are all that the
    table has from now on (REPLACE COLUMNS), but for the `partition_columns` that Hive's CREATE TABLE has beside them.
    `of_schema`: it happened to the schema, and to the table only if that stood there.
    """

    kind: StatementKind
    name: TableName
    columns: tuple[Column, ...] = ()
    other: TableName | None = None
    temporary: bool = False
    dropped_columns: tuple[str, ...] = ()
    renamed_columns: tuple[tuple[str, str], ...] = ()
    retyped_columns: tuple[Column, ...] = ()
    optional_columns: tuple[str, ...] = ()
    whole: bool = False
    partition_columns: tuple[str, ...] = ()
    create_mode: CreateMode = CreateMode.NEW
    of_schema: bool = False


@dataclass(frozen=True, slots=True)
class StatementLineage:
    """What one statement does to lineage. Names are as the statement has them: nothing is resolved here.

    `unused` are columns that the statement names and nothing that it gives depends on (a WITH item's column that nobody
    reads): no lineage, but the statement breaks without them. `functions` are the user's that its expressions call.
    `witness`: who says so, of an edge that stands in a list; `doubted`: not for certain, though it is of whole tables.
    """

    kind: StatementKind
    flows: tuple[Flow, ...] = ()
    changes: tuple[TableChange, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    unused: tuple[ColumnRef, ...] = ()
    functions: tuple[TableName, ...] = ()
    witness: str = ""
    doubted: bool = False

    @property
    def sources(self) -> tuple[TableName, ...]:
        return tuple(dict.fromkeys(name for flow in self.flows for name in flow.sources))

    @property
    def targets(self) -> tuple[TableName, ...]:
        return tuple(dict.fromkeys(flow.target.name for flow in self.flows if flow.target is not None))


@dataclass(frozen=True, slots=True)
class TableUsageNames:
    """The names of a statement by use: `CREATE TEMP TABLE n AS SELECT a FROM s` reads s, creates and writes n.

    `created` and `written` also say whether the name is temporary, `modes` of those created where it is not NEW what
    happens to what stands there.
    """

    read: tuple[TableName, ...]
    created: tuple[tuple[TableName, bool], ...]
    written: tuple[tuple[TableName, bool, WriteMode], ...]
    changes: tuple[TableChange, ...]
    modes: tuple[tuple[TableName, CreateMode], ...] = ()

    def mode_of(self, created: TableName) -> CreateMode:
        """What happens to what stands under a name that the statement creates."""
        return next((mode for name, mode in self.modes if name == created), CreateMode.NEW)

    def names(self) -> Iterator[TableName]:
        """Every name that is read, changed or written, as often as it is."""
        yield from self.read
        for change in self.changes:
            yield from (name for name in (change.name, change.other) if name is not None)
        yield from (name for name, _temporary, _mode in self.written)
