"""Statements of sqlglot's tree that write: INSERT, CREATE … AS, SELECT INTO, COPY, UPDATE, DELETE and their kin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.model import NameKind, StatementKind, TableName, Target, WriteMode
from ingestion.parsing.relational import (
    Clause,
    Expression,
    Projection,
    Query,
    QuerySlot,
    Relation,
    Select,
    Slot,
    Star,
    Values,
    Write,
)
from ingestion.parsing.roles import FILTER, IDENTITY
from ingestion.parsing.sqlglot_expressions import ATOM
from ingestion.parsing.sqlglot_queries import QueryTranslator
from ingestion.parsing.sqlglot_relations import translate_relations


def star_from(name: TableName) -> Select:
    """All columns of one relation."""
    return Select((Star(),), (Relation(name),))


def path_name(node: exp.Expr) -> TableName:
    """The location that a literal, stage or identifier names."""
    text = str(node.name) if not isinstance(node, exp.Table) else str(node.this.name)
    return TableName((text,), text, NameKind.PATH)


def target_of(
    queries: QueryTranslator, node: exp.Expr, mode: WriteMode, by_name: bool = False
) -> tuple[Target, tuple[str, ...]]:
    """The target of an INSERT or COPY, and the columns that its static partition sets."""
    columns: tuple[str, ...] | None = None
    if type(node) is exp.Schema:
        columns = tuple(_column_name(queries, item) for item in node.expressions) or None
        node = node.this
    if type(node) is exp.Directory:
        return Target(path_name(node.this), mode), ()
    if isinstance(node, exp.Func):  # ClickHouse: INSERT INTO FUNCTION
        return Target(path_name(node.find(exp.Literal) or exp.to_identifier("function")), mode), ()
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


def _column_name(queries: QueryTranslator, node: exp.Expr) -> str:
    if type(node) is exp.Column:
        return queries.names.column_parts(node)[-1]
    inner = node.this if type(node) is exp.ColumnDef else node
    if type(inner) is exp.Identifier:
        return queries.names.column(inner)
    return queries.names.column_parts(inner)[-1] if type(inner) is exp.Column else str(inner.name)


def insert_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[Write]:
    """INSERT and REPLACE; its ON CONFLICT branch is a write of its own."""
    args = node.args
    mode = WriteMode.OVERWRITE if args.get("overwrite") else WriteMode.APPEND
    target, fixed = target_of(queries, node.this, mode, bool(args.get("by_name")))
    outer = queries.common_tables(node)
    source = args.get("expression")
    if source is None:
        yield Write(target, None)
        return
    query = _with_tables(queries.query(source), outer)
    yield Write(target, query, fixed)
    conflict = args.get("conflict")
    if conflict is not None and conflict.expressions:
        yield _on_conflict(queries, node, target, query)
    returning = args.get("returning")
    if returning is not None and returning.args.get("into") is not None:
        yield _output_into(queries, node, returning)


def _with_tables(query: Query, outer: tuple[object, ...]) -> Query:
    if not outer or isinstance(query, Values):
        return query
    return replace(query, common_tables=outer + query.common_tables)  # type: ignore[operator]


def _on_conflict(queries: QueryTranslator, node: exp.Expr, target: Target, query: Query) -> Write:
    """DO UPDATE: `excluded` is the row that was to be inserted."""
    names = target.columns or ()
    incoming = Relation(query, "EXCLUDED" if queries.names.dialect.name == "oracle" else "excluded", names)
    alias = getattr(node.args["expression"], "alias", "")
    if alias and isinstance(node.args["expression"], exp.Values):
        incoming = replace(incoming, alias=alias)
    own = Relation(target.name, queries_alias(queries, node.this), written=True)
    projections = tuple(assignments(queries, node.args["conflict"].expressions))
    where = node.args["conflict"].args.get("where")
    clauses = tuple(queries.conditions(where.this if type(where) is exp.Where else where, FILTER))
    return Write(
        replace(target, mode=WriteMode.UPDATE, columns=tuple(p.name for p in projections)),
        Select(projections, (own, incoming), clauses),
    )


def queries_alias(queries: QueryTranslator, node: exp.Expr) -> str:
    """The alias of a statement's target, "" without one."""
    alias = node.args.get("alias")
    if type(alias) is exp.Identifier:
        return queries.names.relation(alias)
    return queries.names.relation(alias.this) if alias is not None and type(alias.this) is exp.Identifier else ""


def _output_into(queries: QueryTranslator, node: exp.Expr, returning: exp.Expr) -> Write:
    """T-SQL: OUTPUT inserted.a INTO t."""
    into = returning.args["into"]
    source = node.this.this if type(node.this) is exp.Schema else node.this
    name = queries.names.table(source)
    relations = tuple(Relation(name, alias) for alias in ("inserted", "deleted"))
    return Write(
        Target(queries.names.table(into), WriteMode.APPEND),
        Select(tuple(queries.projections(returning.expressions)), relations[:1]),
    )


def assignments(queries: QueryTranslator, nodes: list[exp.Expr]) -> Iterator[Projection]:
    """The assignments of UPDATE SET, one projection for each column."""
    for node in nodes:
        if not isinstance(node, exp.EQ | exp.PropertyEQ):
            continue
        left, right = node.this, node.expression
        if type(left) is exp.Tuple:
            yield from _multiple(queries, left, right)
        elif type(right) is exp.Column and not right.args.get("table") and right.name.lower() == "default":
            continue
        else:
            yield Projection(_column_name(queries, left), queries.expression(right))


def _multiple(queries: QueryTranslator, left: exp.Expr, right: exp.Expr) -> Iterator[Projection]:
    """(a, b) = (SELECT c, d …), and (a, b) = (c, d)."""
    names = [_column_name(queries, item) for item in left.expressions]
    while type(right) is exp.Paren:
        right = right.this
    if type(right) is exp.Tuple:
        for name, value in zip(names, right.expressions, strict=False):
            yield Projection(name, queries.expression(value))
        return
    if not isinstance(right, exp.Query):
        return
    query = queries.query(right)
    for number, name in enumerate(names):
        yield Projection(name, Expression((0,), (QuerySlot(_nth(query, number), IDENTITY),), ATOM, 0))


def _nth(query: Query, number: int) -> Query:
    """The query with its nth column only."""
    if isinstance(query, Select) and number < len(query.projections):
        if not any(isinstance(item, Star) for item in query.projections):
            return replace(query, projections=(query.projections[number],))
    return query


def create_writes(queries: QueryTranslator, node: exp.Expr) -> tuple[StatementKind, list[Write]]:
    """CREATE TABLE … AS and CREATE VIEW, with or without a column list."""
    from ingestion.parsing.sqlglot_changes import is_temporary  # noqa: PLC0415

    args = node.args
    this = node.this
    view = args["kind"] == "VIEW"
    columns: tuple[str, ...] | None = None
    if type(this) is exp.Schema:
        columns = (
            tuple(
                _column_name(queries, item)
                for item in this.expressions
                if isinstance(item, exp.ColumnDef | exp.Identifier | exp.Column)
            )
            or None
        )
        this = this.this
    name = queries.names.table(this)
    target = Target(name, WriteMode.CREATE, columns, False, is_temporary(node, name), view)
    source = args["expression"]
    query = star_from(queries.names.table(source)) if type(source) is exp.Table else queries.query(source)
    query = _with_tables(query, queries.common_tables(node))
    writes = [Write(target, query)]
    properties = args.get("properties")
    for item in properties.expressions if properties is not None else ():
        if type(item) is exp.ToTableProperty:  # ClickHouse: a materialized view writes another table
            writes.append(Write(Target(queries.names.table(item.this), WriteMode.APPEND, by_name=True), query))
    return (StatementKind.CREATE_VIEW if view else StatementKind.CREATE_TABLE_AS), writes


def select_into(queries: QueryTranslator, node: exp.Expr) -> Write:
    """SELECT … INTO t."""
    into = node.args["into"]
    name = queries.names.table(into.this)
    temporary = bool(into.args.get("temporary")) or name.table.startswith("#")
    return Write(Target(name, WriteMode.CREATE, None, False, temporary), queries.query(node))


def update_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[Write]:
    """UPDATE in the shapes of PostgreSQL (FROM), MySQL (joins before SET), T-SQL (an alias of FROM) and Oracle."""
    args = node.args
    relations = list(translate_relations(queries, [node.this]))
    from_ = args.get("from_")
    others = translate_relations(queries, [from_.this, *(from_.args.get("joins") or [])]) if from_ is not None else ()
    relations, target = _place_target(relations, list(others))
    clauses = tuple(queries.conditions(args["where"].this if args.get("where") is not None else None, FILTER))
    common_tables = queries.common_tables(node)
    by_owner: dict[TableName, list[Projection]] = {}
    for assigned, projection in zip(
        _assigned(node.expressions), assignments_of(queries, node.expressions), strict=False
    ):
        owner = _owner(queries, assigned, relations, target)
        by_owner.setdefault(owner, []).append(projection)
    for owner, projections in (by_owner or {target: []}).items():
        names = tuple(projection.name for projection in projections)
        yield Write(
            Target(owner, WriteMode.UPDATE, names, False, owner.table.startswith("#")),
            Select(tuple(projections), tuple(relations), clauses, common_tables),
        )


def assignments_of(queries: QueryTranslator, nodes: list[exp.Expr]) -> list[Projection]:
    """The assignments in order."""
    return list(assignments(queries, nodes))


def _assigned(nodes: list[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, exp.EQ | exp.PropertyEQ):
            right = node.expression
            if type(node.this) is exp.Tuple:
                yield from node.this.expressions
            elif not (type(right) is exp.Column and not right.args.get("table") and right.name.lower() == "default"):
                yield node.this


def _place_target(relations: list[Relation], others: list[Relation]) -> tuple[list[Relation], TableName]:
    """All relations of an UPDATE or DELETE with its target marked; `UPDATE a … FROM t AS a` means t."""
    first = relations[0]
    assert isinstance(first.source, TableName) or others or True
    if isinstance(first.source, TableName) and len(first.source.parts) == 1 and not first.alias:
        for number, other in enumerate(others):
            named = other.alias or (other.source.table if isinstance(other.source, TableName) else "")
            if named == first.source.table and isinstance(other.source, TableName):
                others[number] = replace(other, written=True)
                return others + relations[1:], other.source
    target = first.source if isinstance(first.source, TableName) else _inner_table(first)
    relations[0] = replace(first, written=True)
    return relations + others, target


def _inner_table(relation: Relation) -> TableName:
    source = relation.source
    if isinstance(source, Select) and source.relations:
        return _inner_table(source.relations[0])
    return source if isinstance(source, TableName) else TableName(("",), "")


def _owner(queries: QueryTranslator, node: exp.Expr, relations: list[Relation], target: TableName) -> TableName:
    """The table that an assigned column belongs to: MySQL updates several at once."""
    qualifier = queries.names.column_parts(node)[:-1] if type(node) is exp.Column else ()
    if len(qualifier) == 1:
        for relation in relations:
            if relation.alias == qualifier[0] and isinstance(relation.source, TableName):
                return relation.source
    if qualifier:
        for relation in relations:
            source = relation.source
            if isinstance(source, TableName) and not relation.alias and source.parts[-len(qualifier) :] == qualifier:
                return source
    return target


def delete_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[Write]:
    """DELETE: what it reads has a say in what is left, and nothing flows."""
    args = node.args
    relations = list(translate_relations(queries, [node.this])) if args.get("this") is not None else []
    using = args.get("using") or []
    others = list(translate_relations(queries, using if isinstance(using, list) else [using]))
    clauses = tuple(queries.conditions(args["where"].this if args.get("where") is not None else None, FILTER))
    common_tables = queries.common_tables(node)
    named = [queries.names.table(table) for table in args.get("tables") or ()]
    if not named:
        relations, target = _place_target(relations, others)
        others = []
        targets = [target]
    else:
        targets = [_named_target(name, relations + others) for name in named]
    all_relations = tuple(replace(r, written=True) if r.source in targets else r for r in relations + others)
    for target in dict.fromkeys(targets):
        yield Write(
            Target(target, WriteMode.DELETE, temporary=target.table.startswith("#")),
            Select((), all_relations, clauses, common_tables),
            deletes=True,
        )


def _named_target(name: TableName, relations: list[Relation]) -> TableName:
    for relation in relations:
        if isinstance(relation.source, TableName) and name.parts == (relation.alias,):
            return relation.source
    return name


def copy_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[Write]:
    """COPY in both directions, between a table or query and files or stages."""
    args = node.args
    files = args.get("files") or []
    this = node.this
    if args.get("kind"):  # FROM
        if _is_location(this):  # Snowflake unloads: COPY INTO @stage FROM t
            target = Target(path_name(this), WriteMode.OVERWRITE)
            for source in files:
                yield Write(target, _source_query(queries, source))
            return
        target, fixed = target_of(queries, this, WriteMode.APPEND)
        for source in files:
            yield Write(target, _source_query(queries, source), fixed)
        return
    query = _source_query(queries, this)
    for location in files:
        yield Write(Target(path_name(location), WriteMode.OVERWRITE), query)


def _is_location(node: exp.Expr) -> bool:
    inner = node.this if type(node) is exp.Table else node
    return type(inner) in (exp.Literal, exp.Var) or (
        type(inner) is exp.Identifier and ("://" in inner.name or inner.name.startswith("@"))
    )


def _source_query(queries: QueryTranslator, node: exp.Expr) -> Query:
    if isinstance(node, exp.Query):
        return queries.query(node)
    if type(node) is exp.Schema:
        columns = [_column_name(queries, item) for item in node.expressions]
        projections = tuple(Projection(name, Expression((0,), (Slot((name,), IDENTITY),), ATOM, 0)) for name in columns)
        return Select(projections, (Relation(queries.names.table(node.this)),))
    if type(node) is exp.Table and not _is_location(node):
        return star_from(queries.names.table(node))
    return star_from(path_name(node))


__all__ = ["Clause"]
