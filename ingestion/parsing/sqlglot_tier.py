"""The first tier: sqlglot parses, and its tree is translated to the relational form."""

from __future__ import annotations

import logging
from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import SqlglotError

from ingestion.dialects import Dialect, dialect_of
from ingestion.errors import Unparsable
from ingestion.model import NameKind, StatementKind, TableName, Target, WriteMode
from ingestion.parsing.relational import RelationalStatement, Write
from ingestion.parsing.sqlglot_changes import alter_changes, copied_table, create_change, drop_changes, is_temporary
from ingestion.parsing.sqlglot_merges import merge_writes, multitable_writes
from ingestion.parsing.sqlglot_names import Names
from ingestion.parsing.sqlglot_queries import QueryTranslator
from ingestion.parsing.sqlglot_writes import (
    copy_writes,
    create_writes,
    delete_writes,
    insert_writes,
    path_name,
    select_into,
    star_from,
    update_writes,
)

logging.getLogger("sqlglot").setLevel(logging.ERROR)


def parse(text: str, dialect: str) -> RelationalStatement:
    """The relational form of one statement.

    Raises:
        Unparsable: sqlglot refuses the text, understands it only as an opaque command, or finds no source where the
            text has one.
        ConfigError: there is no such dialect.
    """
    rules = dialect_of(dialect)
    try:
        nodes = [node for node in _grammar(rules.sqlglot).parse(text) if node is not None]
    except (SqlglotError, RecursionError, ValueError, AttributeError, TypeError, IndexError, KeyError) as error:
        msg = "sqlglot cannot read the statement"
        raise Unparsable(msg) from error
    nodes = [node for node in nodes if type(node) is not exp.Semicolon]
    if len(nodes) != 1:
        msg = "no statement in the text" if not nodes else "more than one statement in the text"
        raise Unparsable(msg)
    try:
        return _statement(nodes[0], rules)
    except RecursionError as error:
        msg = "the statement is nested too deeply"
        raise Unparsable(msg) from error


@cache
def _grammar(name: str) -> SqlglotDialect:
    return SqlglotDialect.get_or_raise(name)


def _statement(node: exp.Expr, rules: Dialect) -> RelationalStatement:
    queries = QueryTranslator(Names(rules))
    kind, writes = _writes(queries, node)
    changes = _changes(queries.names, node)
    embedded = [write for body in queries.embedded_writes for write in _writes(queries, body)[1]]
    return RelationalStatement(
        kind,
        rules.name,
        tuple([*embedded, *writes]),
        tuple(changes),
        tuple(dict.fromkeys(queries.aliases)),
        tuple(queries.problems),
    )


def _writes(queries: QueryTranslator, node: exp.Expr) -> tuple[StatementKind, list[Write]]:  # noqa: PLR0911
    kind = type(node)
    if isinstance(node, exp.LockingStatement):
        return _writes(queries, node.expression)
    if kind is exp.Select and node.args.get("into") is not None:
        return StatementKind.CREATE_TABLE_AS, [select_into(queries, node)]
    if isinstance(node, exp.Query | exp.Values | exp.Pivot):
        return StatementKind.SELECT, [Write(None, queries.query(node))]
    if kind is exp.Create:
        return _create(queries, node)
    if kind is exp.Insert:
        return StatementKind.INSERT, list(insert_writes(queries, node))
    if kind is exp.MultitableInserts:
        return StatementKind.INSERT, list(multitable_writes(queries, node))
    if kind is exp.Update:
        return StatementKind.UPDATE, list(update_writes(queries, node))
    if kind is exp.Merge:
        return StatementKind.MERGE, list(merge_writes(queries, node))
    if kind is exp.Delete:
        return StatementKind.DELETE, list(delete_writes(queries, node))
    if kind is exp.Copy:
        return StatementKind.COPY, list(copy_writes(queries, node))
    if kind is exp.LoadData:
        target = Target(
            queries.names.table(node.this), WriteMode.OVERWRITE if node.args.get("overwrite") else WriteMode.APPEND
        )
        return StatementKind.COPY, [Write(target, star_from(path_name(node.args["inpath"])))]
    return _without_flow(node), []


def _create(queries: QueryTranslator, node: exp.Expr) -> tuple[StatementKind, list[Write]]:
    created = str(node.args.get("kind") or "").upper()
    if created in ("PROCEDURE", "FUNCTION", "TRIGGER"):
        return StatementKind.CREATE_ROUTINE, []
    if node.args.get("expression") is not None and created in ("TABLE", "VIEW"):
        return create_writes(queries, node)
    other = copied_table(queries.names, node)
    if other is None:
        return StatementKind.CREATE_TABLE if created == "TABLE" else StatementKind.OTHER, []
    this = node.this.this if type(node.this) is exp.Schema else node.this
    name = queries.names.table(this)
    target = Target(name, WriteMode.CREATE, None, False, is_temporary(node, name))
    if node.args.get("clone") is not None:
        return StatementKind.CREATE_TABLE_LIKE, [Write(target, star_from(other))]
    return StatementKind.CREATE_TABLE_LIKE, [Write(target, None, sources=(other,))]


def _without_flow(node: exp.Expr) -> StatementKind:
    kinds: dict[type[exp.Expr], StatementKind] = {
        exp.Drop: StatementKind.DROP,
        exp.Use: StatementKind.USE,
        exp.Execute: StatementKind.CALL,
    }
    if type(node) is exp.Alter:
        for action in node.args.get("actions") or ():
            if type(action) is exp.AlterRename:
                return StatementKind.RENAME
            if type(action) is exp.SwapTable:
                return StatementKind.SWAP
        return StatementKind.ALTER_TABLE
    if type(node) is exp.Command:
        msg = "sqlglot takes the statement for an opaque command"
        raise Unparsable(msg)
    return kinds.get(type(node), StatementKind.OTHER)


def _changes(names: Names, node: exp.Expr) -> list:  # type: ignore[type-arg]
    kind = type(node)
    if kind is exp.Create and node.args.get("expression") is None:
        change = create_change(names, node)
        return [change] if change is not None else []
    if kind is exp.Drop:
        return list(drop_changes(names, node))
    if kind is exp.Alter:
        return list(alter_changes(names, node))
    return []


__all__ = ["NameKind", "TableName", "parse"]
