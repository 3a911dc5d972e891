"""CREATE, ALTER and DROP: what happens to a name and to its columns, off the tree or off the tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import sqlglot
from sqlglot import exp

from ingestion.analysis.form import (
    COLUMNS_NOT_FOLLOWED,
    CallSlot,
    Projection,
    RelationalStatement,
    RelationSource,
    Select,
    Slot,
    WriteForm,
)
from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import BEFORE_VALUE, QUERIES, TEMPORARY, hiding_words
from ingestion.dialects.lexing import PUNCTUATION, WORD, Token, tokens
from ingestion.model.lineage import Column, CreateMode, StatementKind, TableChange, TableName, Target, WriteMode
from ingestion.parsing.sqlglot.expressions.names import Names, renamed_table
from ingestion.parsing.sqlglot.expressions.types import type_name
from ingestion.parsing.sqlglot.queries.table_functions import is_function
from ingestion.parsing.sqlglot.queries.translator import QueryTranslator
from ingestion.parsing.sqlglot.repairs.edits import REFUSALS
from ingestion.parsing.token_names import relation_name
from ingestion.statements.altered_types import altered_types

_TEMPORARY_PROPERTIES = (exp.TemporaryProperty, exp.VolatileProperty)
_KINDS_OF_COLUMNS = ("COLUMN", "COLUMNS")
_RELATION_KINDS = frozenset({"TABLE", "VIEW", "DYNAMIC TABLE", "EXTERNAL TABLE", "MATERIALIZED VIEW"})

# What stands in CREATE TABLE's list and before and behind a column's type, in any dialect.
_COPIES = keywords("like clone copy of as template")
_QUERIES = QUERIES | keywords("( execute clone")
# A list behind these is one of options, keys or passwords: USING jdbc OPTIONS (url "…", password "…").
_NO_LIST_OF_COLUMNS = keywords(
    "using options properties tblproperties dbproperties serdeproperties with server engine connection credentials"
    " parameters organization location comment settings stored row by = file_format"
)
_CONSTRAINTS = keywords("constraint primary unique foreign check exclude supplemental connection projection")
_LISTED_KEYS = keywords("key fulltext spatial")
_LISTED_IN_TWO_WORDS = frozenset(
    {
        ("distribute", "by"),  # Exasol
        ("inverted", "index"),  # CockroachDB
        ("partition", "by"),
        ("period", "for"),
        ("shard", "key"),  # SingleStore
        ("sort", "key"),
        ("vector", "index"),  # MariaDB
        ("vector", "key"),
        ("watermark", "for"),  # RisingWave, Flink
    }
)
_LISTED_WITH_COLUMNS = keywords("family index")
"""CockroachDB's FAMILY f (a, b) and INDEX ix (a), which look like columns of a type with arguments."""
_LISTED = _LISTED_WITH_COLUMNS | {word for pair in _LISTED_IN_TWO_WORDS for word in (pair[0], " ".join(pair))}
_TYPE_ENDS = keywords(
    "not null default primary unique check references collate generated identity constraint comment encode masked "
    "encrypted filestream sparse rowguidcol auto_increment autoincrement invisible visible as with srid distkey "
    "sortkey options enable disable key storage compression title format compress casespecific uppercase index for "
    "codec ttl materialized alias ephemeral stored virtual on hidden inline implicitly using tag policy sum max min "
    "replace hll_union bitmap_union zerofill increment start column_format sort encrypt"
)
_COLLECTIONS = keywords("array struct map row record nested tuple uniontype")

# What stands behind ALTER and its object, where no column is meant.
_KINDS_OF_RELATION = keywords(
    "materialized foreign external dynamic iceberg hybrid event streaming secure snapshot interactive live ignore"
)
_NO_COLUMN = keywords("partition system period default versioning subpartition statistics rowdependencies")
_NO_OBJECT_KIND = keywords(
    "alter modify set reset enable disable with nocheck check rebuild comment cluster attach detach validate "
    "force order engine convert discard import analyze repair optimize owner replica inherit no move shrink "
    "logging nologging parallel noparallel compress nocompress cache nocache read allocate deallocate truncate split "
    "merge coalesce reorganize activate deactivate recluster suspend resume unset approve tablespace data lock "
    "algorithm auto_increment row_format default character collate"
)
_LEAVING = keywords("comment drop set type first after")


# DDL of sqlglot's tree: what happened to a name.


def is_temporary(node: exp.Expr, name: TableName) -> bool:
    """Whether CREATE makes a relation that ends with its session."""
    properties = node.args.get("properties")
    marked = properties is not None and any(isinstance(item, _TEMPORARY_PROPERTIES) for item in properties.expressions)
    return marked or name.table.startswith("#")


def create_mode(node: exp.Expr) -> CreateMode:
    """What CREATE does to what stands there."""
    if node.args.get("replace"):
        return CreateMode.REPLACE
    return CreateMode.IF_ABSENT if node.args.get("exists") else CreateMode.NEW


def _columns_of(names: Names, schema: exp.Expr) -> tuple[Column, ...]:
    """The columns of a CREATE TABLE's list, with their types in the standard set."""
    return tuple(
        Column(names.column(item.this), type_name(item.args["kind"]) if item.args.get("kind") else "")
        for item in schema.expressions
        if type(item) is exp.ColumnDef and type(item.this) is exp.Identifier
    )


def lists_more_than_columns(node: exp.Expr) -> bool:
    """Whether a CREATE's list may have an index or a key that sqlglot takes for a column: T-SQL's `INDEX ix (a)`."""
    schema = node.this if type(node) is exp.Create else None
    return type(schema) is exp.Schema and any(_may_be_no_column(item) for item in schema.expressions)


def _may_be_no_column(item: exp.Expr) -> bool:
    name = item.this if type(item) is exp.ColumnDef else None
    if type(name) is not exp.Identifier or name.args.get("quoted") or name.name.lower() not in _LISTED:
        return False
    kind = item.args.get("kind")
    return kind is None or kind.this is exp.DType.USERDEFINED


def create_change(names: Names, node: exp.Expr) -> TableChange | None:
    """CREATE TABLE with columns, LIKE or CLONE; None where no relation is made."""
    args = node.args
    this = node.this
    schema = this if type(this) is exp.Schema else None
    table = this.this if schema is not None else this
    if type(table) is not exp.Table or args["kind"] not in _RELATION_KINDS:
        return None
    name = names.table(table)
    temporary = is_temporary(node, name)
    mode = create_mode(node)
    other = copied_table(names, node)
    if other is not None:
        return TableChange(StatementKind.CREATE_TABLE_LIKE, name, (), other, temporary, create_mode=mode)
    columns = _columns_of(names, schema) if schema is not None else ()
    properties = args.get("properties")
    if properties is not None and properties.find(exp.InheritsProperty) is not None:
        # its parents' columns come before its own
        return TableChange(StatementKind.CREATE_TABLE, name, (), None, temporary, create_mode=mode)
    partitions: tuple[Column, ...] = ()
    for item in properties.expressions if properties is not None else ():
        if type(item) is exp.PartitionedByProperty and type(item.this) is exp.Schema:
            partitions += _columns_of(names, item.this)
    change = TableChange(StatementKind.CREATE_TABLE, name, columns, None, temporary, create_mode=mode)
    return _with_partitions(change, partitions)


def _with_partitions(change: TableChange, partitions: tuple[Column, ...]) -> TableChange:
    """Hive's `PARTITIONED BY (c INT)`, columns of the table's own that stand behind the listed ones.

    Where none is listed they are not all: the others stand in a schema of Avro, or in what lies there.
    """
    known = (*change.columns, *partitions) if change.columns else ()
    return replace(change, columns=known, partition_columns=tuple(column.name for column in partitions))


def copied_table(names: Names, node: exp.Expr) -> TableName | None:
    """The table that LIKE, CLONE or PARTITION OF names, and that of ClickHouse's CREATE TABLE n AS s."""
    shape = node.args.get("expression")
    if shape is not None:
        is_shape = type(shape) is exp.Table and names.dialect.create_as_copies and not is_function(shape)
        return names.table(shape) if is_shape else None
    clone = node.args.get("clone")
    if clone is not None:
        return names.table(clone.this)
    found: list[exp.Expr] = []
    if type(node.this) is exp.Schema:
        found += node.this.expressions
    properties = node.args.get("properties")
    if properties is not None:
        found += properties.expressions
    for item in found:
        if isinstance(item, exp.LikeProperty | exp.PartitionedOfProperty) and type(item.this) is exp.Table:
            return names.table(item.this)
    return None


def drop_changes(names: Names, node: exp.Expr) -> Iterator[TableChange]:
    """DROP of tables and views."""
    if node.args.get("kind") not in _RELATION_KINDS:
        return
    tables = node.args.get("tables") or ([node.this] if node.args.get("this") is not None else [])
    for table in tables:
        yield TableChange(StatementKind.DROP, names.table(table))


def alter_changes(names: Names, node: exp.Expr) -> Iterator[TableChange]:
    """ALTER: columns added, dropped and renamed; the table renamed, swapped or exchanged."""
    if not isinstance(node.this, exp.Table):
        return
    name = names.table(node.this)
    actions: list[exp.Expr] = node.args.get("actions") or []
    retypes = any(action.args.get("dtype") or type(action) is exp.ModifyColumn for action in actions)
    change = TableChange(
        StatementKind.ALTER_TABLE,
        name,
        tuple(column for action in actions for column in _added_columns(names, action)),
        dropped_columns=tuple(column for action in actions for column in _dropped_columns(names, action)),
        renamed_columns=_renamed_together(
            (pair for one in actions for pair in _renamed_columns(names, one)), names.dialect
        ),
        optional_columns=tuple(_optional_columns(names, actions)),
        whole=any(type(action) is exp.ReplaceColumns for action in actions),
    )
    # Before the new name of the table itself, which the statement has not yet in front of its list.
    if change.columns or change.dropped_columns or change.renamed_columns or retypes or not actions:
        yield change
    for action in actions:
        if type(action) is exp.AlterRename:
            yield TableChange(StatementKind.RENAME, name, other=renamed_table(name, names.table(action.this)))
        elif type(action) is exp.SwapTable:
            yield TableChange(StatementKind.SWAP, name, other=names.table(action.this))


def _renamed_together(pairs: Iterable[tuple[str, str]], rules: Dialect) -> tuple[tuple[str, str], ...]:
    """The renames of one statement as if they happened at once: of `a TO t, b TO a, t TO b` b is a, and a is b.

    MySQL's happen at once; BigQuery and ClickHouse carry them out one after the other.
    """
    if rules.renames_at_once:
        return tuple(pair for pair in pairs if pair[0] != pair[1])
    now: dict[str, str] = {}
    for old, new in pairs:
        first = next((name for name, called in now.items() if called == old), old)
        now[first] = new
    return tuple((old, new) for old, new in now.items() if old != new)


def _added_columns(names: Names, action: exp.Expr) -> Iterator[Column]:
    """ADD COLUMN a type, ADD COLUMNS (a type, b type), Hive's REPLACE COLUMNS (a type, b type)."""
    if type(action) is exp.ColumnDef and type(action.this) is exp.Identifier:
        yield Column(names.column(action.this), type_name(action.args["kind"]) if action.args.get("kind") else "")
    elif type(action) in (exp.Schema, exp.ReplaceColumns):
        yield from _columns_of(names, action)


def _renamed_columns(names: Names, action: exp.Expr) -> Iterator[tuple[str, str]]:
    """RENAME COLUMN a TO b, CHANGE a b type; a field of a nested value is no column."""
    kind = type(action)
    if kind is exp.ModifyColumn and action.args.get("rename_from") is not None:
        old, new = action.args["rename_from"], action.this.this
    elif kind is exp.AlterColumn and action.args.get("rename_to") is not None:
        old, new = action.this, action.args["rename_to"]
    elif kind is exp.RenameColumn:
        old, new = action.this, action.args["to"]
    else:
        return
    if not _is_field(old):
        yield _name(names, old), _name(names, new)


def _optional_columns(names: Names, actions: Iterable[exp.Expr]) -> Iterator[str]:
    for action in actions:
        if action.args.get("exists"):
            yield from _dropped_columns(names, action)
            yield from (old for old, _new in _renamed_columns(names, action))


def _dropped_columns(names: Names, action: exp.Expr) -> Iterator[str]:
    """DROP COLUMN a, and Spark's DROP COLUMNS (a, b); a field of a nested value is no column."""
    if type(action) is not exp.Drop or action.args.get("kind") not in _KINDS_OF_COLUMNS:
        return
    for item in action.args.get("tables") or [action.this]:
        listed = item.expressions if type(item) in (exp.Schema, exp.Tuple) else [item.unnest()]
        yield from (_name(names, one) for one in listed if not _is_field(one))


def _is_field(node: exp.Expr) -> bool:
    return type(node) is exp.Column and node.args.get("table") is not None


def _name(names: Names, node: exp.Expr) -> str:
    if type(node) is exp.Column:
        return names.column_parts(node)[-1]
    return names.column(node) if type(node) is exp.Identifier else str(node.name)


# What CREATE TABLE says of a table's columns, read off the tokens where sqlglot knows not all of them.
#
# Only names and types count. How a table is stored, indexed and checked changes with every release of every system
# and says nothing about lineage: it is passed over.


@dataclass(frozen=True, slots=True)
class _TokenSpan:
    """Tokens `first` to before `end`."""

    first: int
    end: int


def defined_table(code: Code) -> TableChange | None:
    """The table that a CREATE TABLE with a list of columns, or with nothing but options, makes.

    None where a query or another table gives its columns.
    """
    before = code.words(0, 8)
    if before[0] != "create" or "table" not in before:
        return None
    index = before.index("table") + 1
    if "(" in before[:index]:
        return None
    temporary = bool(TEMPORARY & set(before[:index]))
    mode = CreateMode.REPLACE if "replace" in before[:index] else CreateMode.NEW
    if code.stands(index, "if", "not", "exists"):
        index, mode = index + 3, CreateMode.IF_ABSENT
    name, end = relation_name(code, index)
    opening = next((n for n in range(end, len(code)) if code.word(n) == "("), None)
    if name is None or opening is None or any(code.word(n) in _COPIES for n in range(end, opening)):
        return None
    closing = code.closing(opening)
    if closing == len(code) or any(_copies_or_asks(code, n) for n in code.outside(closing + 1)):
        return None
    columns: tuple[Column, ...] = ()
    partitions = list[Column]()
    # SQLite's CREATE VIRTUAL TABLE t USING fts5 (a, b) is one of columns.
    has_list = "virtual" in before or _NO_LIST_OF_COLUMNS.isdisjoint(code.words(end, opening - end))
    if has_list:
        columns = tuple(_columns_defined(code, _TokenSpan(opening + 1, closing)))
    for number in code.outside(closing + 1 if has_list else end):
        if code.stands(number, "partitioned", "by", "("):  # Hive: with a type it is a column of its own
            inside = _TokenSpan(number + 3, code.closing(number + 2))
            partitions += (column for column in _columns_defined(code, inside) if column.type)
    if has_list and not (columns or partitions):
        return None
    temporary |= name.table.startswith("#")
    change = TableChange(StatementKind.CREATE_TABLE, name, columns, None, temporary, create_mode=mode)
    return _with_partitions(change, tuple(partitions))


def _copies_or_asks(code: Code, number: int) -> bool:
    word, following = code.words(number, 2)
    return (word == "as" and following in _QUERIES) or word in ("select", "like", "inherits")


def _list_items(code: Code, around: _TokenSpan) -> Iterator[_TokenSpan]:
    """The items of a list: what stands between its commas outside of brackets, those of types too: MAP<INT, INT>."""
    first, angles = around.first, 0
    for number in code.outside(around.first, around.end):
        word = code.word(number)
        if word == "<" and (angles or code.word(number - 1) in _COLLECTIONS):
            angles += 1
        elif word == ">" and angles:
            angles -= 1
        elif word == "," and not angles:
            yield _TokenSpan(first, number)
            first = number + 1
    if first < around.end:
        yield _TokenSpan(first, around.end)


def _columns_defined(code: Code, around: _TokenSpan) -> Iterator[Column]:
    """The columns that the items of a list, the tokens `around` them, define; constraints are passed over.

    A name that comes again is of what goes before it: Exasol's `a INT, b INT, DISTRIBUTE BY a, b`.
    """
    seen = set[str]()
    items = [item for item in _list_items(code, around) if item.first < item.end]
    for item in items:
        if not _is_constraint(code, item) and not _lists_columns(code, item, items):
            column = _column_defined(code, item)
            if column is not None and column.name not in seen:
                seen.add(column.name)
                yield column


def _is_constraint(code: Code, item: _TokenSpan) -> bool:
    """Whether an `item` defines a constraint or an index, and no column."""
    if code.is_quoted(item.first) or not code.is_name(item.first):
        return not code.is_name(item.first)
    word = code.word(item.first)
    return (
        word in _CONSTRAINTS
        or (word == "index" and code.dialect.listed_indexes)
        or (word in _LISTED_KEYS and code.dialect.listed_keys)
        or code.words(item.first, 2) in _LISTED_IN_TWO_WORDS
        or (word == "like" and item.end > item.first + 1)
    )


def _lists_columns(code: Code, item: _TokenSpan, items: Sequence[_TokenSpan]) -> bool:
    """Whether an `item` says of columns of the list that they are stored, or found, together: `FAMILY f (a, b)`."""
    if code.is_quoted(item.first) or code.word(item.first) not in _LISTED_WITH_COLUMNS:
        return False
    opening = next((number for number in range(item.first + 1, item.end) if code.word(number) == "("), item.end)
    names = {code.column(one.first) for one in items if code.is_name(one.first)}
    listed = code.items(opening + 1, code.closing(opening)) if opening < item.end else ()
    return any(code.is_name(first) and code.column(first) in names for first, _last in listed)


def _column_defined(code: Code, item: _TokenSpan) -> Column | None:
    """The column that an `item` defines, with its type in the standard set, "" where that is not known."""
    if not code.is_name(item.first) or code.stands(item.first + 1, "="):  # an option of a virtual table
        return None
    end = item.first + 1
    while end < item.end and not _ends_type(code, end):
        end = code.after(end)
    return Column(code.column(item.first), _type(code, _TokenSpan(item.first + 1, end)))


def _ends_type(code: Code, number: int) -> bool:
    """Whether a column's type ends here: of `a TIMESTAMP WITH TIME ZONE NOT NULL` at NOT."""
    word = code.word(number)
    if word == "character":
        return code.stands(number + 1, "set")
    if word == "with":
        return not any(code.stands(number + 1, *zone) for zone in (("time", "zone"), ("local", "time", "zone")))
    return word in _TYPE_ENDS


def _type(code: Code, span: _TokenSpan) -> str:
    """The type that tokens write: of `a DECIMAL (10, 2)` DECIMAL(10, 2)."""
    text = ""
    for number in range(span.first, span.end):
        token = code.tokens[number]
        if code.is_string(number) and code.word(number - 1) not in ("(", ","):
            return ""  # no type has a string but ENUM ('a', 'b'): what stands here is a value
        part = code.without_quotes(number) if code.is_quoted(number) else token.text
        text += f" {part}" if text and (part[:1].isalnum() or code.is_string(number)) else part
    return _defined_type(text, code.dialect) if text else ""


def _defined_type(written: str, rules: Dialect) -> str:
    """The type of a column as a definition tells it, in the standard set where it has one; "" where it is not read."""
    try:
        built = exp.DataType.build(written, dialect=rules.sqlglot or None, udt=True)
        return type_name(built).partition("(" if built.this is exp.DType.USERDEFINED else "\0")[0]
    except REFUSALS:
        return ""


# What ALTER TABLE does to a table's columns, read off the tokens as CREATE TABLE is.


def behind_altered(code: Code) -> int | None:
    """The index behind ALTER [MATERIALIZED, FOREIGN, …] TABLE or VIEW; None where something else is altered."""
    if not code.stands(0, "alter"):
        return None
    index = next((n for n in range(1, len(code)) if code.word(n) not in _KINDS_OF_RELATION), 1)
    return index + 1 if code.stands(index, "table") or code.stands(index, "view") else None


def renames_column(code: Code) -> bool:
    """Whether the text is ALTER TABLE t RENAME a TO b, which renames a column without saying so."""
    index = next((n for n in range(len(code)) if code.word(n) == "rename"), len(code))
    if code.word(index + 1) in ("to", "as"):
        return False
    return code.word(code.dotted_name(index + 1)[1]) in ("to", "as")


def _altered_name(code: Code, index: int) -> tuple[TableName | None, int]:
    """The relation that stands behind ALTER TABLE, [IF EXISTS] [ONLY] t [ON CLUSTER c], and the index behind it."""
    for word in ("if", "exists", "only"):
        index += code.stands(index, word)
    name, end = relation_name(code, index)
    return name, end + (3 if code.stands(end, "on", "cluster") else 0)


def altered_table(code: Code) -> TableChange | None:
    """The columns that an ALTER TABLE adds, drops and renames; None where it does what is not known here."""
    index = behind_altered(code)
    if index is None:
        return None
    name, end = _altered_name(code, index)
    if name is None or end >= len(code):
        return None
    stop = len(code) - 1 if code.word(len(code) - 1) == ";" else len(code)
    change = _Changes(code)
    if not all(change.take(item) for item in _list_items(code, _TokenSpan(end, stop))):
        return None
    return TableChange(
        StatementKind.ALTER_TABLE,
        name,
        tuple(change.added),
        dropped_columns=tuple(change.dropped),
        renamed_columns=_renamed_together(change.renamed, code.dialect),
        optional_columns=tuple(change.optional),
        whole=change.whole,
    )


def with_types(statement: RelationalStatement, text: str, rules: Dialect) -> RelationalStatement:
    """The statement with the types that an ALTER TABLE gives to columns, which no grammar reads in every spelling.

    They are told as a definition tells types, so that what is written again as it was is seen to be the same.
    """
    altered = altered_types(text, rules) if statement.kind is StatementKind.ALTER_TABLE else None
    if altered is None:
        return statement
    columns = tuple(Column(one.name, _defined_type(one.type, rules) or one.type) for one in altered[1])
    changes = (replace(change, retyped_columns=columns) for change in statement.changes)
    return replace(statement, changes=tuple(changes))


# Columns that a definition makes of others of the same table, in any dialect.
#
# `c INT GENERATED ALWAYS AS (a + b) STORED`, T-SQL's `c AS a + b`, ClickHouse's `c INT MATERIALIZED a + b` and `c INT
# ALIAS a`, Vertica's `c INT SET USING (SELECT …)`: the grammars know some of these each, and drop others in silence.

_MAKES_COLUMNS = re.compile(r"\b(?:as|materialized|alias|default|using)\b", re.IGNORECASE)
_NOT_GENERATED = keywords("identity row user security")
_BEHIND_EXPRESSION = keywords(
    "persisted stored virtual comment codec ttl check constraint primary unique invisible visible references settings "
    "encoding accessrank first after on collate enable disable options generated"
)
_ROW = "defined_row"
_DEFINING = frozenset({StatementKind.CREATE_TABLE, StatementKind.CREATE_TABLE_AS, StatementKind.ALTER_TABLE})
_DEFINING_VERBS = keywords("add modify alter change")


def with_generated_columns(statement: RelationalStatement, text: str, rules: Dialect) -> RelationalStatement:
    """The statement with what its table makes of itself: a write into the table, from the table.

    A DEFAULT counts where the dialect lets it read other columns of the row. What files hold is no column of the table
    over them: Snowflake's `CREATE EXTERNAL TABLE t (c INT AS (value:c1::INT))`.
    """
    if statement.kind not in _DEFINING or _MAKES_COLUMNS.search(text) is None:
        return statement
    filled = statement.kind is StatementKind.CREATE_TABLE_AS
    code = _definition_in(text, rules) if filled else Code.of(text, rules)
    if filled and not any(token.text == "(" for token in code.tokens):  # CREATE TABLE t AS SELECT …, as most are
        return statement
    made = _defined_name(statement)
    if made is None or code.word(0) not in ("create", "alter", "define", "declare") or "external" in code.words(0, 6):
        return statement
    queries = QueryTranslator(Names(rules))
    items = tuple(_defined_items(code))
    known = frozenset(code.column(item.first) for item in items) if code.word(0) != "alter" else None
    found = [one for item in items if (one := _generated_column(queries, code, item, known)) is not None]
    projections = tuple(one for one in found if not all(isinstance(slot, CallSlot) for slot in one.expression.slots))
    problems = (*statement.problems, *queries.problems)
    if not projections:
        return replace(statement, problems=problems)
    name, temporary = made
    target = Target(name, WriteMode.UPDATE, tuple(one.name for one in projections), temporary=temporary)
    write = WriteForm(target, Select(projections, (RelationSource(name, _ROW, written=True),)))
    return replace(statement, writes=(*statement.writes, write), problems=problems)


_NESTS_COLUMNS = re.compile(r"\bnested\s*+\(", re.IGNORECASE)


def with_nested_columns(statement: RelationalStatement, text: str, rules: Dialect) -> RelationalStatement:
    """The statement with the arrays n.x and n.y, which ClickHouse makes of a column `n Nested(x Int32, y String)`."""
    if not rules.dotted_columns or statement.kind not in _DEFINING or _NESTS_COLUMNS.search(text) is None:
        return statement
    code = Code.of(text, rules)
    nested: dict[str, tuple[Column, ...]] = {}
    for item in _defined_items(code):
        if code.stands(item.first + 1, "nested", "("):
            name = code.column(item.first)
            fields = _columns_defined(code, _TokenSpan(item.first + 3, code.closing(item.first + 2)))
            nested[name] = tuple(Column(f"{name}.{one.name}", f"ARRAY<{one.type}>") for one in fields)
    changes = (
        replace(change, columns=tuple(made for one in change.columns for made in nested.get(one.name, (one,))))
        for change in statement.changes
    )
    return replace(statement, changes=tuple(changes))


_HIDES_NOTHING = BEFORE_VALUE | keywords("constraint default references")
"""Before a word that hides no column: `REFERENCES hidden (id)`, Db2's `NOT HIDDEN`, `DEFAULT alias + 1`."""


def with_hidden_columns(statement: RelationalStatement, text: str, rules: Dialect) -> RelationalStatement:
    """The statement with those columns marked that no star of the table has.

    ClickHouse's `c INT ALIAS a`, `c INT MATERIALIZED a`, `c INT EPHEMERAL`; MySQL's and Oracle's `c INT INVISIBLE`,
    Db2's `c INT IMPLICITLY HIDDEN`, T-SQL's `c datetime2 GENERATED ALWAYS AS ROW START HIDDEN`.
    """
    hiding = hiding_words(rules.name) if statement.kind in _DEFINING else frozenset()
    lowered = text.lower() if hiding else ""
    if not any(word in lowered for word in hiding):
        return statement
    code = Code.of(text, rules)
    hidden = {
        code.column(item.first)
        for item in _defined_items(code)
        for number in code.outside(item.first + 1, item.end)
        if code.word(number) in hiding and code.word(number - 1) not in _HIDES_NOTHING
    }
    changes = (
        replace(change, columns=tuple(replace(one, hidden=one.name in hidden) for one in change.columns))
        for change in statement.changes
    )
    return replace(statement, changes=tuple(changes))


def _definition_in(text: str, rules: Dialect) -> Code:
    """A CREATE TABLE up to its query, which defines no column and is most of the text: nobody asks for its tokens."""
    found = list[Token]()
    depth = 0
    for token in tokens(text, rules):
        if token.kind == PUNCTUATION:
            depth += (token.text == "(") - (token.text == ")")
        elif token.kind == WORD and not depth and token.text.lower() in ("as", "select"):
            break
        found.append(token)
    return Code(text, tuple(found), rules)


def _defined_name(statement: RelationalStatement) -> tuple[TableName, bool] | None:
    """The table that a statement defines, and whether it is temporary."""
    for change in statement.changes:
        return change.name, change.temporary
    targets = (write.target for write in statement.writes if write.target is not None)
    return next(((one.name, one.temporary) for one in targets if one.mode is WriteMode.CREATE and not one.view), None)


def _defined_items(code: Code) -> Iterator[_TokenSpan]:
    """The definitions of columns in a CREATE TABLE's list, or that an ALTER TABLE adds or changes."""
    altered = behind_altered(code)
    if altered is not None:
        yield from _altered_items(code, altered)
        return
    index = next((n + 1 for n in range(min(len(code), 12)) if code.word(n) == "table"), len(code))
    index += 3 if code.stands(index, "if", "not", "exists") else 0
    _name, end = relation_name(code, index)
    opening = next((n for n in range(end, len(code)) if code.word(n) in ("(", "as", "select")), len(code))
    if code.word(opening) == "(":
        yield from _column_items(code, _TokenSpan(opening + 1, code.closing(opening)))


def _altered_items(code: Code, index: int) -> Iterator[_TokenSpan]:
    _name, end = _altered_name(code, index)
    verb = ""
    for item in _list_items(code, _TokenSpan(end, len(code))):
        first = item.first
        if code.word(first) in _VERBS or code.word(first) in _NO_OBJECT_KIND:
            verb, first = code.word(first), first + 1
        while code.word(first) in ("column", "columns", "if", "not", "exists"):
            first += 1
        first += verb == "change"
        if verb not in _DEFINING_VERBS or code.word(first) in _NO_COLUMN:
            continue
        if code.word(first) == "(":
            yield from _column_items(code, _TokenSpan(first + 1, code.closing(first)))
        else:
            yield from _column_items(code, _TokenSpan(first, item.end))


def _column_items(code: Code, around: _TokenSpan) -> Iterator[_TokenSpan]:
    return (item for item in _list_items(code, around) if item.first < item.end and not _is_constraint(code, item))


def _generated_column(
    queries: QueryTranslator, code: Code, item: _TokenSpan, known: frozenset[str] | None
) -> Projection | None:
    """What its definition makes a column of; None where nothing. `known`: the columns that a DEFAULT can mean."""
    start = next((n for n in code.outside(item.first + 1, item.end) if _begins_expression(code, n)), None)
    if start is None:
        return None
    first = start + 1 + (code.word(start) == "set")
    end = next((n for n in code.outside(first, item.end) if n > first and _ends_expression(code, n)), item.end)
    end -= code.word(end - 1) == ";"
    try:
        node = sqlglot.parse_one(code.text[code.start_of(first) : code.end_of(end - 1)], read=code.dialect.sqlglot)
    except REFUSALS:
        queries.problems.append(COLUMNS_NOT_FOLLOWED)
        return None
    expression = queries.expression(node.unalias())
    if code.word(start) == "default" and known is not None:
        read = {slot.parts[-1] for slot in expression.slots if isinstance(slot, Slot)}
        if not read <= known:  # the words for a moment and a user stand without brackets
            return None
    # A name is the row's column, whatever else is made beside it: no output of that name goes before it.
    slots = (
        s._replace(parts=(_ROW, *s.parts)) if type(s) is Slot and len(s.parts) == 1 else s for s in expression.slots
    )
    return Projection(code.column(item.first), expression._replace(slots=tuple(slots)))


def _begins_expression(code: Code, number: int) -> bool:
    word, following = code.words(number, 2)
    if word == "as":
        return following not in _NOT_GENERATED
    if word == "default":
        return code.dialect.defaults_read_columns and code.word(number - 1) != "by"
    return word in ("materialized", "alias") or (word == "set" and following == "using")


def _ends_expression(code: Code, number: int) -> bool:
    word = code.word(number)
    if word == "not":
        return code.word(number + 1) == "null" and code.word(number - 1) != "is"
    return word in _BEHIND_EXPRESSION or (word == "null" and code.word(number - 1) not in ("is", "not"))


@dataclass(slots=True)
class _Changes:
    """The columns changed by the items of an ALTER TABLE so far; `verb` goes on from one item to the next."""

    code: Code
    verb: str = ""
    of_columns: bool = False
    added: list[Column] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)
    whole: bool = False

    def take(self, item: _TokenSpan) -> bool:
        """Takes one item; False where it is not known what it does."""
        index = item.first
        if index >= item.end:
            return False
        word = self.code.word(index)
        if self.code.stands(index, "set", "unused"):
            return self._take_unused(item)
        if self.code.stands(index, "drop", "unused", "columns"):  # they went when they were set so
            return True
        if word in _VERBS and self.code.word(index + 1) != ".":
            self.verb, self.of_columns = word, not self.code.dialect.drop_needs_column or word != "drop"
            index += 1
        elif word in _NO_OBJECT_KIND:
            self.verb = "" if word == "set" and self.code.word(index + 1) == "schema" else word
        if self.verb in _NO_OBJECT_KIND:
            return True
        if self.code.word(index) in ("column", "columns"):
            self.of_columns = True
            index += 1
        first = index
        while self.code.word(index) in ("if", "not", "exists"):
            index += 1
        moved = len(self.dropped), len(self.renamed)
        known = index < item.end and self.verb in _VERBS and _VERBS[self.verb](self, _TokenSpan(index, item.end))
        if index > first:
            self.optional += [*self.dropped[moved[0] :], *(old for old, _new in self.renamed[moved[1] :])]
        return known

    def _take_unused(self, item: _TokenSpan) -> bool:
        """Oracle: SET UNUSED (a, b), SET UNUSED COLUMN a: nobody sees these columns any more."""
        first = item.first + 2
        self.verb, self.of_columns = "drop", True
        return self.drop(_TokenSpan(first + (self.code.word(first) == "column"), item.end))

    def _is_no_column(self, item: _TokenSpan) -> bool:
        return _is_constraint(self.code, item) or self.code.word(item.first) in _NO_COLUMN

    def add(self, item: _TokenSpan) -> bool:
        """ADD a type, ADD (a type, b type), ADD CONSTRAINT …."""
        if self.code.word(item.first) == "(":
            inner = _TokenSpan(item.first + 1, self.code.closing(item.first))
            self.added += _columns_defined(self.code, inner)
        elif not self._is_no_column(item):
            column = _column_defined(self.code, item)
            self.added += () if column is None else (column,)
        return True

    def drop(self, item: _TokenSpan) -> bool:
        """DROP [COLUMN] a, DROP (a, b), DROP CONSTRAINT …."""
        if self.code.word(item.first) == "(":
            inner = _TokenSpan(item.first + 1, self.code.closing(item.first))
            self.dropped += (self.code.column(each.first) for each in _list_items(self.code, inner))
        elif self._is_no_column(item) or self.code.word(item.first) in ("index", "key"):
            self.of_columns = False
        elif self.of_columns and self.code.word(item.first + 1) != ".":
            self.dropped.append(self.code.column(item.first))
        return True

    def rename(self, item: _TokenSpan) -> bool:
        """RENAME [COLUMN] a TO b, Teradata's RENAME a AS b, Doris's RENAME COLUMN a b.

        A new name of the table itself is no column's, and one of a field of a nested value changes no column.
        """
        old, behind = self.code.dotted_name(item.first)
        between = self.code.word(behind) in ("to", "as")
        new = behind + between
        of_column = self.code.word(item.first - 1) in ("column", "exists")
        if not old or new != item.end - 1 or not (between or of_column) or not self.of_columns:
            return False
        if len(old) == 1:
            self.renamed.append((self.code.column(item.first), self.code.column(new)))
        return True

    def replace(self, item: _TokenSpan) -> bool:
        """REPLACE COLUMNS (a type, b type): these are all that there are."""
        if self.code.word(item.first - 1) != "columns" or self.code.word(item.first) != "(":
            return False
        self.whole = True
        return self.add(item)

    def change(self, item: _TokenSpan) -> bool:
        """MySQL: CHANGE [COLUMN] a b type; Spark's CHANGE COLUMN a COMMENT, DROP, TYPE, … leaves the name."""
        if item.end < item.first + 3:
            return False
        if self.code.word(item.first + 1) in _LEAVING and self.code.dialect.change_keeps_names:
            return True
        old, new = self.code.column(item.first), self.code.column(item.first + 1)
        self.renamed += ((old, new),) if old != new else ()
        return True


_VERBS = {
    "add": _Changes.add,
    "drop": _Changes.drop,
    "rename": _Changes.rename,
    "change": _Changes.change,
    "replace": _Changes.replace,
}
