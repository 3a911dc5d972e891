"""Statements of sqlglot's tree, each by its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.analysis.form import RelationalStatement, WriteForm
from ingestion.dialects import Dialect
from ingestion.model.lineage import StatementKind, TableChange, Target, WriteMode
from ingestion.parsing.sqlglot.expressions.names import Names
from ingestion.parsing.sqlglot.queries.translator import QueryTranslator
from ingestion.parsing.sqlglot.statements.definitions import (
    alter_changes,
    copied_table,
    create_change,
    create_mode,
    drop_changes,
    is_temporary,
)
from ingestion.parsing.sqlglot.statements.writes import (
    copy_writes,
    create_writes,
    delete_writes,
    insert_writes,
    merge_writes,
    multitable_writes,
    path_name,
    retyped_columns,
    select_into,
    star_from,
    update_writes,
    with_tables,
)

_ROUTINES = frozenset({"PROCEDURE", "FUNCTION", "TRIGGER"})

_Writer = Callable[[QueryTranslator, exp.Expr], Iterable[WriteForm]]


def translate_statement(node: exp.Expr, rules: Dialect) -> RelationalStatement:
    """The relational form of a statement's tree.

    Raises Unparsable where the tree has no query at a place that needs one.
    """
    while isinstance(node, exp.LockingStatement):
        node = node.expression
    queries = QueryTranslator(Names(rules))
    kind, writes = _flows(queries, node)
    embedded = [
        write if write.query is None else replace(write, query=with_tables(write.query, before))
        for body, before in queries.embedded_writes
        for write in _flows(queries, body)[1]
    ]
    return RelationalStatement(
        kind,
        rules.name,
        (*embedded, *writes),
        _changes(queries.names, node),
        tuple(dict.fromkeys(queries.aliases)),
        tuple(queries.problems),
    )


def _flows(queries: QueryTranslator, node: exp.Expr) -> tuple[StatementKind, list[WriteForm]]:
    """What the statement writes: `INSERT INTO t SELECT a FROM s` is one flow into t, a bare query one into nothing."""
    kind = type(node)
    if kind is exp.Create:
        return _create(queries, node)
    writer = _WRITERS.get(kind)
    if writer is not None:
        return writer[0], list(writer[1](queries, node))
    into = _into(node) if queries.names.dialect.select_into_creates else None  # elsewhere it fills variables
    if into is not None:
        return StatementKind.CREATE_TABLE_AS, [select_into(queries, node, into)]
    if kind is exp.Alter:
        return _kind_without_flow(node), [*_moved_partitions(queries, node), *retyped_columns(queries, node)]
    if isinstance(node, exp.Query | exp.Values | exp.Pivot):
        return StatementKind.SELECT, [WriteForm(None, queries.query(node))]
    return _kind_without_flow(node), []


def _into(node: exp.Expr) -> exp.Expr | None:
    """The INTO of a query, which of several branches the first one has."""
    while isinstance(node, exp.SetOperation | exp.Subquery):
        node = node.this
    into = node.args.get("into") if type(node) is exp.Select else None
    return into if isinstance(into, exp.Expr) else None


def _moved_partitions(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """ClickHouse: ALTER TABLE a REPLACE PARTITION p FROM b."""
    for action in node.args.get("actions") or ():
        if type(action) is exp.ReplacePartition:
            target = Target(queries.names.table(node.this), WriteMode.OVERWRITE)
            yield WriteForm(target, star_from(queries.names.table(action.args["source"])))


def _load(queries: QueryTranslator, node: exp.Expr) -> list[WriteForm]:
    """Hive: LOAD DATA INPATH '/data/x' [OVERWRITE] INTO TABLE t."""
    mode = WriteMode.OVERWRITE if node.args.get("overwrite") else WriteMode.APPEND
    return [WriteForm(Target(queries.names.table(node.this), mode), star_from(path_name(node.args["inpath"])))]


def _export(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """BigQuery: EXPORT DATA OPTIONS (uri = '…') AS query."""
    for option in node.args["options"].expressions if node.args.get("options") is not None else ():
        if option.name.lower() == "uri":
            target = Target(path_name(option.args["value"]), WriteMode.OVERWRITE)
            yield WriteForm(target, queries.query(node.this))


def _cache(queries: QueryTranslator, node: exp.Expr) -> list[WriteForm]:
    """Spark: CACHE TABLE t AS query makes a temporary view."""
    if node.args.get("expression") is None:
        return []
    target = Target(queries.names.table(node.this), WriteMode.CREATE, temporary=True, view=True)
    return [WriteForm(target, queries.query(node.expression))]


_WRITERS: dict[type[exp.Expr], tuple[StatementKind, _Writer]] = {
    exp.Insert: (StatementKind.INSERT, insert_writes),
    exp.MultitableInserts: (StatementKind.INSERT, multitable_writes),
    exp.Update: (StatementKind.UPDATE, update_writes),
    exp.Merge: (StatementKind.MERGE, merge_writes),
    exp.Delete: (StatementKind.DELETE, delete_writes),
    exp.Export: (StatementKind.COPY, _export),
    exp.Copy: (StatementKind.COPY, copy_writes),
    exp.LoadData: (StatementKind.COPY, _load),
    exp.Cache: (StatementKind.CREATE_VIEW, _cache),
}


def _create(queries: QueryTranslator, node: exp.Expr) -> tuple[StatementKind, list[WriteForm]]:
    """CREATE TABLE a AS …, CREATE VIEW, and CREATE TABLE a LIKE b, CLONE b or PARTITION OF b.

    A clone brings rows along, as SAP HANA's LIKE b WITH DATA does. LIKE takes the columns alone: a comes from b, as
    other tools tell it too, and no column of it. Of a temporary table, which is looked through, that would be told of
    whatever is made of its rows: there it is nothing.
    """
    created = str(node.args.get("kind") or "").upper()
    if created in _ROUTINES:
        return StatementKind.CREATE_ROUTINE, []
    other = copied_table(queries.names, node)
    if other is None and node.args.get("expression") is not None and created in ("TABLE", "VIEW"):
        return create_writes(queries, node)
    if other is None:
        return StatementKind.CREATE_TABLE if created == "TABLE" else StatementKind.OTHER, []
    name = queries.names.table(node.this.this if type(node.this) is exp.Schema else node.this)
    target = Target(name, WriteMode.CREATE, temporary=is_temporary(node, name), create_mode=create_mode(node))
    filling = node.find(exp.WithDataProperty)
    if node.args.get("clone") is not None or (filling is not None and not filling.args.get("no")):
        return StatementKind.CREATE_TABLE_LIKE, [WriteForm(target, star_from(other))]
    shaped = [] if target.temporary else [WriteForm(target, None, sources=(other,))]
    return StatementKind.CREATE_TABLE_LIKE, shaped


def _kind_without_flow(node: exp.Expr) -> StatementKind:
    kind = type(node)
    if kind is exp.Drop:
        return StatementKind.DROP
    if kind is exp.Use:
        return StatementKind.USE
    if kind is exp.Alter:
        actions = [type(action) for action in node.args.get("actions") or ()]
        if exp.AlterRename in actions:
            return StatementKind.RENAME
        return StatementKind.SWAP if exp.SwapTable in actions else StatementKind.ALTER_TABLE
    return StatementKind.OTHER


def _changes(names: Names, node: exp.Expr) -> tuple[TableChange, ...]:
    """What becomes of names: CREATE without a query, DROP, ALTER; a query's columns follow from the flow."""
    kind = type(node)
    if kind is exp.Create and (node.args.get("expression") is None or copied_table(names, node) is not None):
        change = create_change(names, node)
        return (change,) if change is not None else ()
    if kind is exp.Drop:
        return tuple(drop_changes(names, node))
    if kind is exp.Alter:
        return tuple(alter_changes(names, node))
    return ()
