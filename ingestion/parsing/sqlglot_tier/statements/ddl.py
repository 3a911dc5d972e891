"""DDL of sqlglot's tree: what happened to a name."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ingestion.model import Column, StatementKind, TableChange, TableName
from ingestion.parsing.sqlglot_tier.expressions.types import type_name
from ingestion.parsing.sqlglot_tier.names.identifiers import Names, renamed_table
from ingestion.parsing.sqlglot_tier.queries.table_functions import is_function

_TEMPORARY = (exp.TemporaryProperty, exp.VolatileProperty)
_KINDS_OF_COLUMNS = ("COLUMN", "COLUMNS")
_RELATION_KINDS = frozenset({"TABLE", "VIEW", "DYNAMIC TABLE", "EXTERNAL TABLE", "MATERIALIZED VIEW"})


def is_temporary(node: exp.Expr, name: TableName) -> bool:
    """Whether CREATE makes a relation that ends with its session."""
    properties = node.args.get("properties")
    marked = properties is not None and any(isinstance(item, _TEMPORARY) for item in properties.expressions)
    return marked or name.table.startswith("#")


def _columns_of(names: Names, schema: exp.Expr) -> tuple[Column, ...]:
    """The columns of a CREATE TABLE's list, with their types in the standard set."""
    return tuple(
        Column(names.column(item.this), type_name(item.args["kind"]) if item.args.get("kind") else "")
        for item in schema.expressions
        if type(item) is exp.ColumnDef and type(item.this) is exp.Identifier
    )


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
    other = copied_table(names, node)
    if other is not None:
        return TableChange(StatementKind.CREATE_TABLE_LIKE, name, (), other, temporary)
    columns = _columns_of(names, schema) if schema is not None else ()
    properties = args.get("properties")
    if properties is not None and properties.find(exp.InheritsProperty) is not None:
        return TableChange(StatementKind.CREATE_TABLE, name, (), None, temporary)  # its parents' come before its own
    for item in properties.expressions if properties is not None else ():
        if type(item) is exp.PartitionedByProperty and type(item.this) is exp.Schema:
            columns += _columns_of(names, item.this)
    return TableChange(StatementKind.CREATE_TABLE, name, columns, None, temporary)


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
    added: list[Column] = []
    dropped: list[str] = []
    renamed: list[tuple[str, str]] = []
    for action in node.args.get("actions") or ():
        kind = type(action)
        if kind is exp.AlterRename:
            yield TableChange(StatementKind.RENAME, name, other=renamed_table(name, names.table(action.this)))
        elif kind is exp.SwapTable:
            yield TableChange(StatementKind.SWAP, name, other=names.table(action.this))
        elif kind is exp.ModifyColumn and action.args.get("rename_from") is not None:
            renamed.append((_name(names, action.args["rename_from"]), _name(names, action.this.this)))
        elif kind is exp.AlterColumn and action.args.get("rename_to") is not None:
            renamed.append((_name(names, action.this), _name(names, action.args["rename_to"])))
        elif kind is exp.RenameColumn:
            renamed.append((_name(names, action.this), _name(names, action.args["to"])))
        elif kind is exp.Drop and action.args.get("kind") in _KINDS_OF_COLUMNS:
            dropped += _dropped_columns(names, action)
        elif kind is exp.ColumnDef and type(action.this) is exp.Identifier:
            added.append(
                Column(names.column(action.this), type_name(action.args["kind"]) if action.args.get("kind") else "")
            )
        elif kind is exp.Schema:
            added += _columns_of(names, action)
    retypes = any(
        action.args.get("dtype") or type(action) is exp.ModifyColumn for action in node.args.get("actions") or ()
    )
    if added or dropped or renamed or retypes or not node.args.get("actions"):
        yield TableChange(
            StatementKind.ALTER_TABLE,
            name,
            tuple(added),
            dropped_columns=tuple(dropped),
            renamed_columns=tuple(renamed),
            optional_columns=tuple(_optional_columns(names, node)),
        )


def _optional_columns(names: Names, node: exp.Expr) -> Iterator[str]:
    for action in node.args.get("actions") or ():
        if action.args.get("exists") and type(action) in (exp.Drop, exp.RenameColumn):
            yield from _dropped_columns(names, action)


def _dropped_columns(names: Names, action: exp.Expr) -> Iterator[str]:
    """DROP COLUMN a, and Spark's DROP COLUMNS (a, b)."""
    for item in action.args.get("tables") or [action.this]:
        listed = item.expressions if type(item) in (exp.Schema, exp.Tuple) else [item.unnest()]
        yield from (_name(names, one) for one in listed)


def _name(names: Names, node: exp.Expr) -> str:
    if type(node) is exp.Column:
        return names.column_parts(node)[-1]
    return names.column(node) if type(node) is exp.Identifier else str(node.name)
