"""Statements of sqlglot's tree that write: INSERT, CREATE … AS, SELECT INTO, COPY, UPDATE, DELETE and their kin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.model import NameKind, StatementKind, TableName, Target, WriteMode
from ingestion.names.storage_paths import location
from ingestion.parsing.sqlglot_tier.names.function_tables import table_elsewhere
from ingestion.parsing.sqlglot_tier.names.paths import function_as_written, path_of
from ingestion.parsing.sqlglot_tier.queries.clauses import conditions
from ingestion.parsing.sqlglot_tier.queries.remote import remote_target
from ingestion.parsing.sqlglot_tier.queries.translator import QueryTranslator
from ingestion.parsing.sqlglot_tier.statements.ddl import is_temporary
from ingestion.parsing.sqlglot_tier.statements.updates import assignments, column_name
from ingestion.relational.form import (
    CommonTable,
    Expression,
    Projection,
    Query,
    RelationSource,
    Select,
    Slot,
    Star,
    Values,
    WriteForm,
)
from ingestion.relational.roles import ATOM, FILTER, IDENTITY

_PROCESSES = frozenset({"program", "stdin", "stdout"})


def star_from(name: TableName) -> Select:
    """All columns of one relation."""
    return Select((Star(),), (RelationSource(name),))


def path_name(node: exp.Expr) -> TableName:
    """The location that a literal, stage or identifier names."""
    return location(str(node.name) if not isinstance(node, exp.Table) else str(node.this.name))


def target_of(
    queries: QueryTranslator, node: exp.Expr, mode: WriteMode, *, by_name: bool = False
) -> tuple[Target, tuple[str, ...]]:
    """The target of an INSERT or COPY, and the columns that its static partition sets.

    Of `INSERT INTO t PARTITION (day = 1) SELECT …`, t and `("day",)`; `by_name` is whether rows find their columns by
    name, as INSERT … BY NAME says, rather than by position.
    """
    columns: tuple[str, ...] | None = None
    if type(node) is exp.Schema:
        remote = remote_target(queries, node)
        if remote is not None:
            return Target(remote[0], mode, remote[1], by_name), ()
        columns = tuple(column_name(queries, item) for item in node.expressions) or None
        node = node.this
        if columns is not None:  # the partitions that the rows themselves choose come last
            columns += _chosen_partition(queries, node.args.get("partition"))
    if type(node) is exp.Directory:
        return Target(path_name(node.this), mode), ()
    if isinstance(node, exp.Func):  # ClickHouse: INSERT INTO FUNCTION
        elsewhere = table_elsewhere(node, queries.names)
        if elsewhere is not None:
            return Target(elsewhere, mode), ()
        path = path_of(node)
        written = function_as_written(node)
        name = TableName((written.lower(),), written, NameKind.FUNCTION) if path is None else location(path)
        return Target(name, mode), ()
    name = queries.names.table(node)
    temporary = name.table.startswith("#")
    return Target(name, mode, columns, by_name, temporary), _fixed_partition(queries, node.args.get("partition"))


def _fixed_partition(queries: QueryTranslator, partition: exp.Expr | None) -> tuple[str, ...]:
    if partition is None:
        return ()
    return tuple(
        queries.names.column_parts(item.this)[-1]
        for item in partition.expressions
        if type(item) is exp.EQ and type(item.this) is exp.Column
    )


def _chosen_partition(queries: QueryTranslator, partition: exp.Expr | None) -> tuple[str, ...]:
    if queries.names.dialect.named_partitions:
        return ()
    items = partition.expressions if partition is not None else ()
    return tuple(queries.names.column_parts(item)[-1] for item in items if type(item) is exp.Column)


def insert_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """INSERT and REPLACE; its ON CONFLICT branch is a write of its own."""
    args = node.args
    mode = WriteMode.OVERWRITE if args.get("overwrite") else WriteMode.APPEND
    target, fixed = target_of(queries, node.this, mode, by_name=bool(args.get("by_name")))
    outer = queries.common_tables(node)
    source = args.get("expression") or args.get("source")  # INSERT INTO t TABLE s
    if source is None:
        yield WriteForm(target, None)
        return
    rows = star_from(queries.names.table(source)) if type(source) is exp.Table else queries.query(source)
    query = with_tables(rows, outer)
    yield WriteForm(target, query, fixed)
    conflict = args.get("conflict")
    if conflict is not None and conflict.expressions:
        yield _on_conflict(queries, node, target, query)


def with_tables(query: Query, outer: tuple[CommonTable, ...]) -> Query:
    """The query with the WITH items of the statement that it stands in."""
    if not outer:
        return query
    if isinstance(query, Values):
        return Select((Star(),), (RelationSource(query),), (), outer)
    return replace(query, common_tables=outer + query.common_tables)


def _on_conflict(queries: QueryTranslator, node: exp.Expr, target: Target, query: Query) -> WriteForm:
    """DO UPDATE: `excluded` is the row that was to be inserted."""
    names = target.columns or ()
    incoming = RelationSource(query, "excluded", names, named_by=None if names else target.name)
    alias = getattr(node.args["expression"], "alias", "")
    if alias and isinstance(node.args["expression"], exp.Values):
        incoming = replace(incoming, alias=alias)
    table = node.this.this if type(node.this) is exp.Schema else node.this
    own = RelationSource(target.name, _queries_alias(queries, table), written=True)
    projections = tuple(assignments(queries, node.args["conflict"].expressions))
    where = node.args["conflict"].args.get("where")
    clauses = tuple(conditions(queries, where.this if type(where) is exp.Where else where, FILTER))
    return WriteForm(
        replace(target, mode=WriteMode.UPDATE, columns=tuple(p.name for p in projections)),
        Select(projections, (own, incoming), clauses),
    )


def _queries_alias(queries: QueryTranslator, node: exp.Expr) -> str:
    """The alias of a statement's target, "" without one."""
    alias = node.args.get("alias")
    if type(alias) is exp.Identifier:
        return queries.names.relation(alias)
    return queries.names.relation(alias.this) if alias is not None and type(alias.this) is exp.Identifier else ""


def create_writes(queries: QueryTranslator, node: exp.Expr) -> tuple[StatementKind, list[WriteForm]]:
    """CREATE TABLE … AS and CREATE VIEW, with or without a column list."""
    args = node.args
    this = node.this
    view = args["kind"] == "VIEW"
    columns: tuple[str, ...] | None = None
    if type(this) is exp.Schema:
        columns = (
            tuple(
                column_name(queries, item)
                for item in this.expressions
                if isinstance(item, exp.ColumnDef | exp.Identifier | exp.Column)
            )
            or None
        )
        if not view and queries.names.dialect.create_as_by_name:
            columns = None
        this = this.this
    name = queries.names.table(this)
    target = Target(name, WriteMode.CREATE, columns, by_name=False, temporary=is_temporary(node, name), view=view)
    source = args["expression"]
    query = star_from(queries.names.table(source)) if type(source) is exp.Table else queries.query(source)
    query = with_tables(query, queries.common_tables(node))
    writes = [WriteForm(target, query)]
    properties = args.get("properties")
    writes += [  # ClickHouse: a materialized view writes another table
        WriteForm(Target(queries.names.table(item.this), WriteMode.APPEND, by_name=True), query)
        for item in (properties.expressions if properties is not None else ())
        if type(item) is exp.ToTableProperty
    ]
    return (StatementKind.CREATE_VIEW if view else StatementKind.CREATE_TABLE_AS), writes


def select_into(queries: QueryTranslator, node: exp.Expr, into: exp.Expr) -> WriteForm:
    """SELECT … INTO t, given the INTO."""
    name = queries.names.table(into.this)
    temporary = bool(into.args.get("temporary")) or name.table.startswith("#")
    return WriteForm(Target(name, WriteMode.CREATE, None, by_name=False, temporary=temporary), queries.query(node))


def copy_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """COPY in both directions, between a table or query and files or stages."""
    args = node.args
    files = [file for file in args.get("files") or [] if not _is_process(file)]
    this = node.this
    if args.get("kind"):  # FROM
        if _is_location(this):  # Snowflake unloads: COPY INTO @stage FROM t
            target = Target(path_name(this), WriteMode.OVERWRITE)
            for source in files:
                yield WriteForm(target, _source_query(queries, source))
            return
        target, fixed = target_of(queries, this, WriteMode.APPEND)
        for source in files:
            yield WriteForm(target, _source_query(queries, source), fixed)
        return
    query = _source_query(queries, this)
    for place in files:
        yield WriteForm(Target(path_name(place), WriteMode.OVERWRITE), query)


def _is_process(node: exp.Expr) -> bool:
    """PostgreSQL: what a client or a command sends or takes has no name."""
    return type(node) is exp.Identifier and not node.args.get("quoted") and node.name.lower() in _PROCESSES


def _is_location(node: exp.Expr) -> bool:
    inner = node.this if type(node) is exp.Table else node
    return type(inner) in (exp.Literal, exp.Var) or (
        type(inner) is exp.Identifier and ("://" in inner.name or inner.name.startswith("@"))
    )


def _source_query(queries: QueryTranslator, node: exp.Expr) -> Query:
    if isinstance(node, exp.Query):
        return queries.query(node)
    if type(node) is exp.Schema:
        columns = [column_name(queries, item) for item in node.expressions]
        projections = tuple(Projection(name, Expression((0,), (Slot((name,), IDENTITY),), ATOM, 0)) for name in columns)
        return Select(projections, (RelationSource(queries.names.table(node.this)),))
    if type(node) is exp.Table and not _is_location(node):
        return star_from(queries.names.table(node))
    return star_from(path_name(node))
