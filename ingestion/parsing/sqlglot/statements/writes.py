"""INSERT, CREATE AS, COPY, UPDATE, DELETE and MERGE of sqlglot's tree: the writes that each comes to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from ingestion.analysis.form import (
    Clause,
    CommonTable,
    Expression,
    OutputNames,
    Projection,
    Query,
    QuerySlot,
    RelationalStatement,
    RelationSource,
    Select,
    SetOperation,
    Slot,
    Star,
    Values,
    WriteForm,
    all_slots,
    named_relations,
)
from ingestion.analysis.roles import ATOM, FILTER, IDENTITY, JOIN
from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import CHANGES
from ingestion.errors import FinalRefusal
from ingestion.model.lineage import Problem, StatementKind, TableName, Target, WriteMode
from ingestion.model.outcomes import ProblemKind
from ingestion.model.storage_paths import location
from ingestion.parsing.sqlglot.expressions.names import filled_function, function_as_written, path_of, table_elsewhere
from ingestion.parsing.sqlglot.queries.projections import conditions, fields_of, order_clauses, translate_projections
from ingestion.parsing.sqlglot.queries.relations import translate_relations
from ingestion.parsing.sqlglot.queries.table_functions import remote_target
from ingestion.parsing.sqlglot.queries.translator import QueryTranslator
from ingestion.parsing.sqlglot.repairs.edits import BY_POSITION
from ingestion.parsing.sqlglot.statements.definitions import create_mode, is_temporary
from ingestion.parsing.sqlglot.statements.targets import (
    changed_table,
    is_called,
    merged_table,
    queries_in_from,
    refuse_items,
    refuse_rows_of_query,
    relation_name,
    table_behind,
    table_of,
)

_NAMED_ARGUMENTS = (exp.EQ, exp.Kwarg, exp.PropertyEQ)
_NAMED_COLUMNS = (exp.Column, exp.ColumnDef, exp.Identifier)
_PROCESSES = frozenset({"program", "stdin", "stdout"})
_LONGEST_VALUE = 1_000
"""Nodes of a variable's value: one that a text spells out has some dozens."""

# T-SQL's OUTPUT and INSERT … EXEC.
_CHANGED_ROWS = "changed rows"
_STATEMENTS = keywords("insert update delete merge with")
_ROWS_OF_OUTPUT = keywords("inserted deleted $action")
_AFTER_FILE = keywords("from union")
_WORD = re.compile(r"\b(?:output|exec(?:ute)?)\b", re.IGNORECASE)
_ENDS_OUTPUT = keywords("from where select values exec execute with option default output ;")


# UPDATE and DELETE of sqlglot's tree, in the shapes that dialects give them.


def _column_name(queries: QueryTranslator, node: exp.Expr) -> str:
    """The folded name of a column in a column list or on the left of an assignment."""
    if type(node) is exp.Column:
        return queries.names.column_parts(node)[-1]
    inner = node.this if type(node) is exp.ColumnDef else node
    if type(inner) is exp.Identifier:
        return queries.names.column(inner)
    if type(inner) is exp.Column:
        return queries.names.column_parts(inner)[-1]
    if type(inner) is exp.Dot and queries.names.dialect.dotted_columns:
        return ".".join(queries.names.column(part) for part in inner.flatten())
    return queries.names.column_in_text(inner) or str(inner.name)


def _assigned_name(queries: QueryTranslator, node: exp.Expr, relations: Iterable[RelationSource]) -> str:
    """The column on the left of an assignment: addr of `SET addr.city = 'x'` and `SET t.addr.city = 'x'`.

    PostgreSQL's `SET xs[1] = 1` sets xs.
    """
    while type(node) is exp.Bracket:
        node = node.this
    parts = queries.names.column_parts(node) if type(node) is exp.Column else ()
    if type(node) is exp.Dot:
        path = list(node.flatten())
        first = path[0]
        parts = queries.names.column_parts(first) if type(first) is exp.Column else (queries.names.column(first),)
        parts += tuple(queries.names.column(item) for item in path[1:])
    if len(parts) < 2:
        return _column_name(queries, node)
    called = [
        (relation.alias,) if relation.alias else relation.source.parts if isinstance(relation.source, TableName) else ()
        for relation in relations
    ]
    for length in range(len(parts) - 1, 0, -1):
        qualifier = tuple(part.lower() for part in parts[:length])
        if any(qualifier == tuple(part.lower() for part in name[-length:]) for name in called):
            return parts[length]
    dialect = queries.names.dialect
    return parts[0] if dialect.struct_access or dialect.whole_rows else parts[-1]


def _assignments(
    queries: QueryTranslator, nodes: list[exp.Expr], relations: Iterable[RelationSource]
) -> Iterator[Projection]:
    """The assignments of UPDATE SET, one projection for each column."""
    for node in _column_assignments(queries, nodes):
        left, right = node.this, node.expression
        if type(left) in (exp.Tuple, exp.Paren):
            yield from _multiple(queries, left, right, relations)
        elif _is_default(right):
            continue
        else:
            yield Projection(_assigned_name(queries, left, relations), queries.expression(right))


def _values(assignments: Iterable[Projection]) -> tuple[Projection, ...]:
    """What SET gives, without names: in `SET a = b, c = a` a is the row's own, as it was, and no alias of b."""
    return tuple(assignment._replace(name="") for assignment in assignments)


def _column_assignments(queries: QueryTranslator, nodes: list[exp.Expr]) -> Iterator[exp.EQ | exp.PropertyEQ]:
    """Those that set a column. T-SQL's `SET @v = b` sets a variable alone, and `SET @v = a = b` the column a too.

    An assignment behind them that uses `@v` has b in its place: the value of the same row. Where each of several uses
    the one before it twice, that doubles with each: a variable of a long value is not followed.
    """
    values: dict[str, exp.Expr] = {}
    for node in nodes:
        variable = node.this if type(node.this) is exp.Parameter else None
        given = node.expression.transform(_with_value, values) if values else node.expression
        if variable is None and isinstance(node, exp.EQ | exp.PropertyEQ):
            yield node if given is node.expression else type(node)(this=node.this, expression=given)
        elif variable is not None:
            value = given.expression if isinstance(given, exp.EQ | exp.PropertyEQ) else given
            values[variable.name.lower()] = _replacement(queries, value, "variables")
            if isinstance(given, exp.EQ | exp.PropertyEQ):
                yield given


def _replacement(queries: QueryTranslator, value: exp.Expr, subject: str) -> exp.Expr:
    """A value that stands in the place of what it was assigned to, or nothing for one that is too long for that."""
    if sum(1 for _ in value.walk()) <= _LONGEST_VALUE:
        return value
    queries.note_unsupported(subject)
    return exp.Null()


def _with_value(node: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    value = values.get(node.name.lower()) if type(node) is exp.Parameter else None
    return node if value is None else exp.Paren(this=value.copy())


def _in_order(queries: QueryTranslator, nodes: list[exp.Expr], table: str) -> list[exp.Expr]:
    """The assignments to a table, which MySQL's UPDATE and ON DUPLICATE KEY UPDATE make from left to right.

    In `SET a = b, c = a` c has b, what a has by then, where other systems give it the a that was, as does MariaDB under
    sql_mode SIMULTANEOUS_ASSIGNMENT, which no statement shows. Of `SET a = b, a = c` the last is left. Of several
    tables MySQL promises no order.
    """
    if not queries.names.dialect.assigns_in_order:
        return nodes
    values: dict[str, exp.Expr] = {}
    made: dict[str, exp.Expr] = {}
    for number, node in enumerate(nodes):
        if not isinstance(node, exp.EQ | exp.PropertyEQ) or type(node.this) is not exp.Column:
            made[str(number)] = node
            continue
        value = node.expression.transform(_with_assigned, values, table.lower()) if values else node.expression
        column = node.this.name.lower()
        made[f".{column}"] = type(node)(this=node.this, expression=value)
        values[column] = exp.Null() if _is_default(value) else _replacement(queries, value, "assignments")
    return list(made.values())


def _with_assigned(node: exp.Expr, values: Mapping[str, exp.Expr], table: str) -> exp.Expr:
    """What a column of the table has by now; in a query in parentheses a bare name may be one of the query's own."""
    value = values.get(node.name.lower()) if isinstance(node, exp.Column) else None
    if value is None or not isinstance(node, exp.Column):
        return node
    qualifier, within = node.args.get("table"), node.find_ancestor(exp.Query) is not None
    if within if qualifier is None else node.table.lower() != table:
        return node
    found = exp.Paren(this=value.copy())
    for column in found.find_all(exp.Column):
        if within and qualifier is not None and column.args.get("table") is None:
            column.set("table", qualifier.copy())
    return found


def _is_default(node: exp.Expr) -> bool:
    return type(node) is exp.Column and not node.args.get("table") and node.name.lower() == "default"


def _multiple(
    queries: QueryTranslator, left: exp.Expr, right: exp.Expr, relations: Iterable[RelationSource]
) -> Iterator[Projection]:
    """(a, b) = (SELECT [AS STRUCT] c, d …), (a, b) = [ROW] (c, d) and (a, b) = STRUCT(c, d)."""
    items = left.expressions if type(left) is exp.Tuple else [left.this]
    names = [_assigned_name(queries, item, relations) for item in items]
    while type(right) is exp.Paren:
        right = right.this
    if type(right) is exp.Tuple or (type(right) is exp.Anonymous and str(right.this).upper() == "ROW"):
        for name, value in zip(names, right.expressions, strict=False):
            yield Projection(name, queries.expression(value))
        return
    if type(right) is exp.Struct and len(names) > 1:
        for name, field in zip(names, fields_of([right]), strict=False):
            yield Projection(name, queries.expression(field.this if type(field) is exp.Alias else field))
        return
    if not isinstance(right, exp.Query):
        yield from (Projection(name, queries.expression(right)) for name in names[: len(names) == 1])
        return
    query = queries.query(_with_fields(right, len(names)))
    for number, name in enumerate(names):
        yield Projection(name, Expression((0,), (QuerySlot(_nth(query, number, len(names)), IDENTITY),), ATOM, 0))


def _with_fields(node: exp.Expr, count: int) -> exp.Expr:
    """`SELECT STRUCT(c, d)` with as many columns as the struct has fields, where those are what is assigned."""
    select = node.this if type(node) is exp.Subquery else node
    if type(select) is not exp.Select or len(select.expressions) == count:
        return node
    fields = fields_of(select.expressions)
    if len(fields) != count:
        return node
    plain = select.copy()
    plain.set("expressions", fields)
    return plain


def _nth(query: Query, number: int, count: int) -> Query:
    """The query with its nth column only, of as many."""
    listed = query.projections if isinstance(query, Select) else ()
    if isinstance(query, Select) and number < len(listed) and not any(isinstance(item, Star) for item in listed):
        return replace(query, projections=(listed[number],))
    names = tuple(f"column{each + 1}" for each in range(count))
    rows = RelationSource(query, "assigned", names, lateral=True)
    column = Expression((0,), (Slot(("assigned", names[number]), IDENTITY),), ATOM, 0)
    return Select((Projection(names[number], column),), (rows,))


def update_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """UPDATE in the shapes of PostgreSQL (FROM), MySQL (joins before SET), T-SQL (an alias of FROM) and Oracle."""
    args = node.args
    relations = list(translate_relations(queries, [node.this]))
    from_ = args.get("from_")
    others = translate_relations(queries, [from_.this, *(from_.args.get("joins") or [])]) if from_ is not None else ()
    relations, target = _changed_relation(queries, relations, list(others))
    clauses = tuple(_changed_rows(queries, node))
    common_tables = queries.common_tables(node)
    named = [one for one in relations if one.written or queries.names.dialect.set_names_relations]
    by_owner: dict[TableName, list[Projection]] = {}
    alone = relations[0].alias or target.table if len(relations) == 1 else ""
    assignments = _in_order(queries, node.expressions, alone) if alone else node.expressions
    for assigned, projection in zip(
        _assigned_columns(queries, assignments),
        list(_assignments(queries, assignments, named)),
        strict=False,
    ):
        owner = _owner(queries, assigned, named, target)
        by_owner.setdefault(owner, []).append(projection)
    if not queries.names.dialect.writes_through_with:
        refuse_items(by_owner.keys() - {target}, common_tables)
    for owner, projections in (by_owner or {target: []}).items():
        own = _with_written(relations, owner)
        changed = Target(owner, WriteMode.UPDATE, tuple(projection.name for projection in projections), by_name=False)
        items = _items_changed(queries, common_tables) + queries_in_from(owner, own)
        yield WriteForm(table_behind(changed, items), Select(_values(projections), own, clauses, common_tables))


def retyped_columns(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """PostgreSQL's and DuckDB's `ALTER TABLE t ALTER COLUMN v TYPE text USING (a || k)`: an UPDATE of every row."""
    made = [
        Projection(queries.names.column(action.this), queries.expression(action.args["using"]))
        for action in node.args.get("actions") or ()
        if type(action) is exp.AlterColumn and isinstance(action.args.get("using"), exp.Expr)
    ]
    if made and isinstance(node.this, exp.Table):
        name = queries.names.table(node.this)
        target = Target(name, WriteMode.UPDATE, tuple(column.name for column in made), by_name=False)
        yield WriteForm(target, Select(tuple(made), (RelationSource(name, written=True),)))


def _changed_rows(queries: QueryTranslator, node: exp.Expr) -> Iterator[Clause]:
    """What says which rows an UPDATE or DELETE changes: WHERE, how many, and then MySQL's ORDER BY as well."""
    where = node.args.get("where")
    yield from conditions(queries, where.this if where is not None else None, FILTER)
    if node.args.get("limit") is not None:
        for clause in order_clauses(queries, node):
            yield clause._replace(aliases=OutputNames.HIDDEN)  # a name is the row's column, and no value that SET gives


def _items_changed(queries: QueryTranslator, items: tuple[CommonTable, ...]) -> tuple[CommonTable, ...]:
    """The items of WITH that a statement may change a table through: elsewhere its target is never an item."""
    return items if queries.names.dialect.writes_through_with else ()


def _assigned_columns(queries: QueryTranslator, nodes: list[exp.Expr]) -> Iterator[exp.Expr]:
    """The columns that SET assigns, as `_assignments` gives their values: of `(a, b) = (SELECT …)` both."""
    for node in _column_assignments(queries, nodes):
        if type(node.this) is exp.Tuple:
            yield from node.this.expressions
        elif not _is_default(node.expression):
            yield node.this


def _changed_relation(
    queries: QueryTranslator, relations: list[RelationSource], others: list[RelationSource]
) -> tuple[list[RelationSource], TableName]:
    """All relations of an UPDATE or DELETE with its target marked.

    `UPDATE a … FROM t AS a` means t, and T-SQL's `UPDATE a … FROM (SELECT …) AS a` what the query reads.
    """
    first = relations[0]
    if isinstance(first.source, TableName) and len(first.source.parts) == 1 and not first.alias:
        for number, other in enumerate(others):
            if relation_name(other) != first.source.table:
                continue
            table = changed_table(other)
            if table is not None or queries.names.dialect.writes_through_with:
                others[number] = replace(other, written=True)
                return others + relations[1:], table or first.source
    tables = [one.source for one in relations if isinstance(one.source, TableName)]
    if not isinstance(first.source, TableName) and len(tables) == 1:  # MySQL: UPDATE (SELECT …) x JOIN t SET a = x.b
        return relations + others, tables[0]
    target = first.source if isinstance(first.source, TableName) else TableName((first.alias,), first.alias)
    relations[0] = replace(first, written=True)
    return relations + others, target


def _with_written(relations: Iterable[RelationSource], target: TableName) -> tuple[RelationSource, ...]:
    """The relations, those marked that the target is: by its name, or a query that was found to go by it."""
    return tuple(
        replace(
            relation,
            written=table_of(relation) == target
            or (relation.written and table_of(relation) is None and is_called(relation, target)),
        )
        for relation in relations
    )


def _owner(queries: QueryTranslator, node: exp.Expr, relations: list[RelationSource], target: TableName) -> TableName:
    """The table that an assigned column belongs to: MySQL updates several at once."""
    qualifier = queries.names.column_parts(node)[:-1] if type(node) is exp.Column else ()
    if len(qualifier) == 1:
        for relation in relations:
            if relation_name(relation) == qualifier[0] and (relation.alias or relation.pivots):
                refuse_rows_of_query(relation)
                return table_of(relation) or target
    if qualifier:
        for relation in relations:
            source = relation.source
            if isinstance(source, TableName) and not relation.alias and source.parts[-len(qualifier) :] == qualifier:
                return source
    return target


def delete_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """DELETE: what it reads has a say in what is left, and nothing flows."""
    args = node.args
    own_tables = [node.this] if args.get("this") else args["tables"]  # without FROM: DELETE t WHERE …
    relations = list(translate_relations(queries, own_tables))
    using = args.get("using") or []
    others = list(translate_relations(queries, using if isinstance(using, list) else [using]))
    clauses = tuple(_changed_rows(queries, node))
    common_tables = queries.common_tables(node)
    named = [queries.names.table(table) for table in args.get("tables") or () if args.get("this")]
    if not named:
        relations, target = _changed_relation(queries, relations, others)
        targets = [target]
    else:
        relations = [_mark_written(queries, named, relation) for relation in relations + others]
        targets = [_named_target(name, relations) for name in named]
        if not queries.names.dialect.writes_through_with:
            refuse_items(targets, common_tables)
    for target in dict.fromkeys(targets):
        own = _with_written(relations, target)
        items = _items_changed(queries, common_tables) + queries_in_from(target, own)
        yield WriteForm(
            table_behind(Target(target, WriteMode.DELETE), items),
            Select((), own, clauses, common_tables),
            deletes=True,
        )


def _mark_written(queries: QueryTranslator, named: list[TableName], relation: RelationSource) -> RelationSource:
    """The relation, written where it is the query that T-SQL's `DELETE x FROM s JOIN (SELECT …) x` names."""
    is_query = queries.names.dialect.writes_through_with and table_of(relation) is None
    return replace(relation, written=is_query and any(is_called(relation, name) for name in named))


def _named_target(name: TableName, relations: list[RelationSource]) -> TableName:
    for relation in relations:
        if (relation.alias or relation.pivots) and is_called(relation, name):
            refuse_rows_of_query(relation)
            return changed_table(relation) or name
    return name


# INSERT, CREATE … AS, SELECT INTO, COPY and their kin.


def star_from(name: TableName) -> Select:
    """All columns of one relation."""
    return Select((Star(),), (RelationSource(name),))


def path_name(node: exp.Expr) -> TableName:
    """The location that a literal, stage or identifier names."""
    return location(str(node.name) if not isinstance(node, exp.Table) else str(node.this.name))


def _target_of(
    queries: QueryTranslator, node: exp.Expr, mode: WriteMode, *, by_name: bool = False
) -> tuple[Target, tuple[str, ...]]:
    """The target of an INSERT or COPY, and the columns that its static partition sets, or that it leaves out.

    Of `INSERT INTO t PARTITION (day = 1) SELECT …` and ClickHouse's `INSERT INTO t (* EXCEPT (day)) SELECT …`, t and
    `("day",)`; `by_name` is whether rows find their columns by name, as INSERT … BY NAME says, rather than by position.
    """
    columns: tuple[str, ...] | None = None
    if type(node) is exp.Schema and len(node.expressions) == 1 and type(node.expressions[0]) is exp.Star:
        name, left_out = queries.names.table(node.this), node.expressions[0].args.get("except_") or ()
        return Target(name, mode), tuple(_column_name(queries, item) for item in left_out)
    if type(node) is exp.Schema:
        remote = remote_target(queries, node)
        if remote is not None:
            return Target(remote[0], mode, remote[1], by_name), ()
        if any(_is_argument(queries, item) for item in node.expressions):
            raise FinalRefusal("the statement writes into a function of which nothing is known")
        columns = tuple(_column_name(queries, item) for item in node.expressions) or None
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
        return Target(filled_function(function_as_written(node)) if path is None else location(path), mode), ()
    name = queries.names.table(node)
    temporary = name.table.startswith("#")
    return Target(name, mode, columns, by_name, temporary), _fixed_partition(queries, node.args.get("partition"))


def _is_argument(queries: QueryTranslator, node: exp.Expr) -> bool:
    """Whether what stands in brackets behind a name is none of a table's columns: `INSERT INTO f(k => 'v', g(x))`.

    A string may be one: SQLite takes it for a name there, as MySQL with ANSI_QUOTES and Spark do of one in double
    quotes.
    """
    if isinstance(node, _NAMED_ARGUMENTS) or (type(node) is exp.Literal and not node.is_string):
        return True
    called = type(node) is exp.Anonymous or (isinstance(node, exp.Func) and any(node.args.values()))
    return called and not queries.names.column_in_text(node)


def _filled_table(node: exp.Expr) -> exp.Expr:
    """What an INSERT fills; of Teradata's `INSERT INTO t (1, f(2))`, whose brackets hold a row, t."""
    into: exp.Expr = node.this
    given = node.args.get("expression") or node.args.get("source")
    is_row = type(into) is exp.Schema and any(type(item) not in _NAMED_COLUMNS for item in into.expressions)
    return into.this if is_row and not given else into


def _fixed_partition(queries: QueryTranslator, partition: exp.Expr | None) -> tuple[str, ...]:
    """PARTITION (day = 1) gives the column to every row; PARTITION (day) leaves it to the rows."""
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
    filled = _filled_table(node)
    target, fixed = _target_of(queries, filled, mode, by_name=bool(args.get("by_name")))
    chosen = _chosen_partition(queries, filled.args.get("partition"))
    outer = queries.common_tables(node)
    target = table_behind(target, _items_changed(queries, outer))
    source = args.get("expression") or args.get("source")  # INSERT INTO t TABLE s
    if not isinstance(source, exp.Expr):  # INSERT INTO t DEFAULT VALUES
        yield WriteForm(target, None)
        return
    rows = star_from(queries.names.table(source)) if type(source) is exp.Table else queries.query(source)
    query = with_tables(rows, outer)
    conflict = args.get("conflict")
    if conflict is None:
        yield WriteForm(target, query, fixed, chosen=chosen)
        return
    own, incoming = _rows_in_conflict(queries, node, target, query)
    keys = incoming.on if next(named_relations(query), None) is not None else ()  # of constants, nothing is chosen
    met = (replace(incoming, on=()), replace(own, join="ANTI", on=keys))
    yield WriteForm(target, Select((Star(),), met) if keys else query, fixed)
    if conflict.expressions:
        among = query if conflict.args.get("duplicate") and isinstance(query, Select) else Select((), (), (), outer)
        yield _on_conflict(queries, node, target, replace(among, relations=(own, incoming, *among.relations)))


def with_tables(query: Query, outer: tuple[CommonTable, ...]) -> Query:
    """The query with the WITH items of the statement that it stands in."""
    if not outer:
        return query
    if isinstance(query, Values):
        return Select((Star(),), (RelationSource(query),), (), outer)
    return replace(query, common_tables=outer + query.common_tables)


def _rows_in_conflict(
    queries: QueryTranslator, node: exp.Expr, target: Target, query: Query
) -> tuple[RelationSource, RelationSource]:
    """The rows that are there, and those that come, `excluded`, met on what ON CONFLICT (k) compares."""
    names = target.columns or ()
    named_by = None if names or target.by_name else target.name
    source = node.args.get("expression")
    alias = getattr(source, "alias", "") if isinstance(source, exp.Values) else ""
    table = node.this.this if type(node.this) is exp.Schema else node.this
    own = RelationSource(target.name, _queries_alias(queries, table), written=True)
    renamed = _renamed_rows(queries, node)
    incoming = RelationSource(query, alias or "excluded", renamed or names, named_by=None if renamed else named_by)
    conflict = node.args["conflict"]
    keys = [key.this if type(key) is exp.Ordered else key for key in conflict.args.get("conflict_keys") or ()]
    clauses = [Clause(JOIN, queries.expression(key, JOIN)) for key in keys]
    predicate = conflict.args.get("index_predicate")
    clauses += conditions(queries, predicate.this if type(predicate) is exp.Where else predicate, FILTER)
    met = tuple(
        clause._replace(expression=_qualify(clause.expression, side))
        for clause in clauses
        for side in (own.alias or target.name.table, incoming.alias)
        if clause.expression is not None
    )
    return own, replace(incoming, on=met)


def _renamed_rows(queries: QueryTranslator, node: exp.Expr) -> tuple[str, ...]:
    """MySQL: VALUES (…) AS new (m, n) ON DUPLICATE KEY UPDATE v = n: the names that the rows that come are given."""
    source = node.args.get("expression")
    alias = source.args.get("alias") if type(source) is exp.Values else None
    return tuple(queries.names.column(name) for name in (alias.args.get("columns") or () if alias is not None else ()))


def _on_conflict(queries: QueryTranslator, node: exp.Expr, target: Target, met: Select) -> WriteForm:
    """DO UPDATE: what becomes of the rows that are there, whose columns bare names are, given those that come.

    Behind MySQL's `ON DUPLICATE KEY UPDATE` the relations of the query that gives them go by their own names too.
    """
    qualifier = met.relations[0].alias or target.name.table
    named = dict.fromkeys(_renamed_rows(queries, node), met.relations[1].alias)
    in_order = _in_order(queries, node.args["conflict"].expressions, qualifier)
    assigned = tuple(_assignments(queries, in_order, met.relations))
    if len(met.relations) > 2 and target.columns:  # what else stands bare may be of a table that the query reads
        named |= dict.fromkeys((*target.columns, *(one.name for one in assigned)), qualifier)
        qualifier = ""
    projections = tuple(one._replace(expression=_qualify(one.expression, qualifier, named)) for one in assigned)
    where = node.args["conflict"].args.get("where")
    clauses = tuple(conditions(queries, where.this if type(where) is exp.Where else where, FILTER))
    return WriteForm(
        replace(target, mode=WriteMode.UPDATE, columns=tuple(p.name for p in projections)),
        replace(met, projections=projections, clauses=clauses, distinct=False),
    )


def _qualify(expression: Expression, qualifier: str, others: Mapping[str, str] | None = None) -> Expression:
    """The expression, its bare columns as those of one table ("": as they are), but for those that `others` have."""
    tables = others or {}
    slots = (
        slot._replace(parts=(table, *slot.parts))
        if isinstance(slot, Slot) and len(slot.parts) == 1 and (table := tables.get(slot.parts[0], qualifier))
        else slot
        for slot in expression.slots
    )
    return expression._replace(slots=tuple(slots))


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
                _column_name(queries, item)
                for item in this.expressions
                if isinstance(item, exp.ColumnDef | exp.Identifier | exp.Column)
            )
            or None
        )
        dialect = queries.names.dialect
        if dialect.views_by_name if view else dialect.create_as_by_name:
            columns = None
        this = this.this
    name = queries.names.table(this)
    mode, temporary = create_mode(node), is_temporary(node, name)
    target = Target(name, WriteMode.CREATE, columns, temporary=temporary, view=view, create_mode=mode)
    source = args["expression"]
    query = star_from(queries.names.table(source)) if type(source) is exp.Table else queries.query(source)
    query = with_tables(query, queries.common_tables(node))
    properties = args.get("properties")
    writes = [WriteForm(target, query, empty=not view and _is_empty(properties))]
    writes += [  # ClickHouse: a materialized view writes another table
        WriteForm(Target(queries.names.table(item.this), WriteMode.APPEND, by_name=True), query)
        for item in (properties.expressions if properties is not None else ())
        if type(item) is exp.ToTableProperty
    ]
    return (StatementKind.CREATE_VIEW if view else StatementKind.CREATE_TABLE_AS), writes


def _is_empty(properties: exp.Properties | None) -> bool:
    """Whether a table is made without the rows of its query: WITH NO DATA, and ClickHouse's EMPTY AS."""
    return any(
        type(item) is exp.EmptyProperty or (type(item) is exp.WithDataProperty and bool(item.args.get("no")))
        for item in (properties.expressions if properties is not None else ())
    )


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
        by_name = queries.names.dialect.copy_by_name and type(this) is not exp.Schema and not _says_position(args)
        target, fixed = _target_of(queries, this, WriteMode.APPEND, by_name=by_name)
        for source in files:
            yield WriteForm(target, _source_query(queries, source), fixed)
        return
    query = _source_query(queries, this)
    for index in files:
        yield WriteForm(Target(path_name(index), WriteMode.OVERWRITE), query)


def _says_position(args: Mapping[str, object]) -> bool:
    """Databricks' COPY INTO t BY POSITION FROM …, as the repair of its text writes it: an option behind the others."""
    params = args.get("params")
    return isinstance(params, list) and any(param.name.lower() == BY_POSITION for param in params)


def _is_process(node: exp.Expr) -> bool:
    """PostgreSQL: what a client or a command sends or takes has no name."""
    return type(node) is exp.Identifier and not node.args.get("quoted") and node.name.lower() in _PROCESSES


def _is_location(node: exp.Expr) -> bool:
    inner = node.this if type(node) is exp.Table else node
    return type(inner) in (exp.Literal, exp.Var) or (
        type(inner) is exp.Identifier and ("://" in inner.name or inner.name.startswith("@"))
    )


def _source_query(queries: QueryTranslator, node: exp.Expr) -> Query:
    """What COPY takes its rows from: a query, a table, some of a table's columns, or files."""
    if isinstance(node, exp.Query):
        return queries.query(node)
    if type(node) is exp.Schema:
        columns = [_column_name(queries, item) for item in node.expressions]
        projections = tuple(Projection(name, Expression((0,), (Slot((name,), IDENTITY),), ATOM, 0)) for name in columns)
        return Select(projections, (RelationSource(queries.names.table(node.this)),))
    if type(node) is exp.Table and not _is_location(node):
        return star_from(queries.names.table(node))
    return star_from(path_name(node))


# MERGE and the multi-table INSERTs of sqlglot's tree: one write for each branch.


@dataclass(frozen=True, slots=True)
class _Branch:
    """What a WHEN branch sees: the target and the source, joined as they are there, and its own condition."""

    queries: QueryTranslator
    name: TableName
    relations: tuple[RelationSource, ...]
    clauses: tuple[Clause, ...]
    common_tables: tuple[CommonTable, ...]

    def select(self, projections: tuple[Projection | Star, ...], action: exp.Expr | None = None) -> Select:
        """The columns that the branch writes; Oracle's branches have a WHERE of their own."""
        own = _own_condition(self.queries, action) if action is not None else ()
        return Select(projections, self.relations, self.clauses + own, self.common_tables)


def _own_condition(queries: QueryTranslator, action: exp.Expr) -> tuple[Clause, ...]:
    """Oracle: WHEN MATCHED THEN UPDATE SET … WHERE …."""
    where = action.args.get("where")
    return tuple(conditions(queries, where.this, FILTER)) if isinstance(where, exp.Expr) else ()


def merge_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """Each WHEN branch of a MERGE."""
    args = node.args
    own = replace(translate_relations(queries, [node.this])[0], written=True)
    name, stood_for = merged_table(own)
    others = translate_relations(queries, [args["using"]])
    on = tuple(conditions(queries, args.get("on"), JOIN))
    common_tables = queries.common_tables(node)
    earlier: dict[tuple[bool, bool], tuple[Clause, ...]] = {}  # a row that one branch takes is not there for the next
    for when in args["whens"].expressions:
        kind = bool(when.args.get("matched")), bool(when.args.get("source"))
        clauses = earlier.get(kind, ()) + tuple(conditions(queries, when.args.get("condition"), FILTER))
        branch = _Branch(queries, name, _joined_relations(own, others, on, when), clauses, common_tables)
        action = when.args["then"]
        earlier[kind] = clauses + _own_condition(queries, action)
        write = _branch_write(branch, action)
        if write is not None and write.target is not None:
            items = _items_changed(queries, common_tables) + stood_for
            yield replace(write, target=table_behind(write.target, items))


def _branch_write(branch: _Branch, action: exp.Expr) -> WriteForm | None:
    if isinstance(action, exp.Insert):
        return _insert_branch(branch, action)
    if isinstance(action, exp.Update):
        return _update_branch(branch, action)
    if action.name.lower() == "delete":
        return WriteForm(Target(branch.name, WriteMode.DELETE), branch.select(()), deletes=True)
    return None


def _joined_relations(
    own: RelationSource, others: tuple[RelationSource, ...], on: tuple[Clause, ...], when: exp.Expr
) -> tuple[RelationSource, ...]:
    """Target and source as a branch sees them: rows without a match have the columns of their own side alone."""
    if when.args.get("matched"):
        last = replace(others[-1], on=others[-1].on + on)
        return (own, *others[:-1], last)
    if when.args.get("source"):
        unseen = [replace(other, join="ANTI") for other in others]
        return (own, *unseen[:-1], replace(unseen[-1], on=unseen[-1].on + on))
    return (*others, replace(own, join="ANTI", on=on))


def _insert_branch(branch: _Branch, action: exp.Expr) -> WriteForm:
    """MERGE … WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.a, s.b)."""
    target = Target(branch.name, WriteMode.APPEND)
    this, values = action.args.get("this"), action.args.get("expression")
    if isinstance(this, exp.Tuple) and not isinstance(values, exp.Expr) and all(map(_is_default, this.expressions)):
        return WriteForm(target, branch.select((), action))  # INSERT DEFAULT VALUES
    columns = (
        tuple(_column_name(branch.queries, item) for item in this.expressions) if isinstance(this, exp.Tuple) else None
    )
    if not isinstance(values, exp.Expr) and isinstance(this, exp.Tuple) and _calls_values(this):
        cells = [exp.Null() if _is_default(cell) else cell for cell in this.expressions[0].expressions]
        columns, values = None, exp.Tuple(expressions=cells)
    elif not isinstance(values, exp.Expr) and isinstance(this, exp.Tuple) and _is_row(this):
        columns, values = None, this
    if not isinstance(values, exp.Expr):  # INSERT *, and by position INSERT ROW: the target itself is not in the star
        if isinstance(this, exp.Tuple) and _is_named_star(this.expressions):
            return WriteForm(replace(target, by_name=True), branch.select((Star(),), action))
        by_name = type(this) is exp.Star and not _takes_positions(branch.queries)
        stars = tuple(translate_projections(branch.queries, [this])) if isinstance(this, exp.Star) else (Star(),)
        return WriteForm(replace(target, columns=columns, by_name=by_name), branch.select(stars, action))
    cells = values.expressions if isinstance(values, exp.Tuple) else [values]
    projections = tuple(translate_projections(branch.queries, cells))
    return WriteForm(replace(target, columns=columns), branch.select(projections, action))


def _update_branch(branch: _Branch, action: exp.Expr) -> WriteForm:
    """MERGE … WHEN MATCHED THEN UPDATE SET a = s.b."""
    target = Target(branch.name, WriteMode.UPDATE)
    stars: list[exp.Expr] = [item for item in action.expressions if type(item) is exp.Star]
    if _is_named_star(action.expressions):
        return WriteForm(replace(target, by_name=True), branch.select((Star(),), action))
    if stars:  # UPDATE SET *
        columns = tuple(translate_projections(branch.queries, stars[:1]))
        by_name = not _takes_positions(branch.queries)
        return WriteForm(replace(target, by_name=by_name), branch.select(columns, action))
    projections = tuple(_assignments(branch.queries, action.expressions, branch.relations))
    names = tuple(projection.name for projection in projections)
    return WriteForm(replace(target, columns=names), branch.select(_values(projections), action))


def _calls_values(this: exp.Tuple) -> bool:
    """Whether what stands for a column list is BigQuery's `INSERT VALUES (s.id, s.name)`, which has none."""
    first = this.expressions[0] if len(this.expressions) == 1 else None
    return type(first) is exp.Anonymous and str(first.this).upper() == "VALUES"


def _is_row(this: exp.Tuple) -> bool:
    """Whether what stands for a column list is Teradata's `INSERT (s.id, s.n + 1)`, where VALUES may be left out.

    A column list holds the target's own columns, and no table is named there.
    """
    return not _is_named_star(this.expressions) and any(
        type(cell) is not exp.Identifier and (type(cell) is not exp.Column or bool(cell.args.get("table")))
        for cell in this.expressions
    )


def _is_named_star(items: list[exp.Expr]) -> bool:
    """DuckDB's `UPDATE BY NAME` and `INSERT BY NAME`, as the repair of its text writes them."""
    return len(items) == 1 and type(items[0]) is exp.Columns


def _takes_positions(queries: QueryTranslator) -> bool:
    """Whether a star in a branch gives the target its columns by their places, as DuckDB does."""
    return queries.names.dialect.merge_star_by_position


def multitable_writes(queries: QueryTranslator, node: exp.Expr) -> Iterator[WriteForm]:
    """INSERT ALL and FIRST (Oracle, Snowflake), and Hive's FROM … INSERT … INSERT …."""
    base = translate_relations(queries, [node.args["source"]])
    common_tables = queries.common_tables(node)
    met = _conditions_met(queries, node)
    for item, clauses in zip(node.expressions, met, strict=True):
        insert = item.this if type(item) is exp.ConditionalInsert else item
        expression = insert.args.get("expression")
        if type(expression) is exp.Select and expression.args.get("from_") is None:
            yield from _hive_branch(queries, insert, base, common_tables)
            continue
        target, fixed = _target_of(queries, insert.this, WriteMode.APPEND)
        projections: tuple[Projection | Star, ...] = (Star(),)
        if type(expression) is exp.Values:
            row = expression.expressions[0]
            cells = row.expressions if type(row) is exp.Tuple else [row]
            projections = tuple(translate_projections(queries, cells))
        yield WriteForm(target, Select(projections, base, clauses, common_tables), fixed)


def _conditions_met(queries: QueryTranslator, node: exp.Expr) -> Iterator[tuple[Clause, ...]]:
    """What decides whether a row comes to each INTO of an INSERT ALL or FIRST.

    A WHEN may have several INTO. A row comes to ELSE where no WHEN took it, and in INSERT FIRST to a WHEN where none
    did before it.
    """
    before: tuple[Clause, ...] = ()
    met: tuple[Clause, ...] = ()
    for item in node.expressions:
        if type(item) is exp.ConditionalInsert:
            own = tuple(conditions(queries, item.args.get("expression"), FILTER))
            if own:
                met = before + own if node.args.get("kind") == "FIRST" else own
                before += own
            elif item.args.get("else_"):
                met = before
        yield met


def _hive_branch(
    queries: QueryTranslator, insert: exp.Expr, base: tuple[RelationSource, ...], common_tables: tuple[CommonTable, ...]
) -> Iterator[WriteForm]:
    """Hive: FROM s INSERT INTO a SELECT … INSERT INTO b SELECT …: one branch, over the common FROM."""
    for write in insert_writes(queries, insert):
        query = write.query
        if isinstance(query, Select):
            query = replace(query, relations=base + query.relations, common_tables=common_tables + query.common_tables)
        yield replace(write, query=query)


# Rows beside a statement: T-SQL's OUTPUT gives those that it changes, INSERT … EXEC takes those that a text gives.


def has_rows_beside(text: str, dialect: Dialect) -> bool:
    """Whether it is worth looking for the clause, or for an execution."""
    return dialect.output_clause and _WORD.search(text) is not None


def without_output(code: Code) -> tuple[str, str] | None:
    """The statement without the first of its OUTPUT clauses, and an INSERT of what it gives INTO a table ("" if none).

    None where there is no such clause.
    """
    if code.word(0) not in _STATEMENTS:
        return None
    clause = _clause(code, 1, len(code))
    if clause is None:
        return None
    first, last = clause
    into = next((n for n in code.outside(first + 1, last + 1) if code.word(n) == "into"), None)
    columns = range(first + 1, into if into is not None else last + 1)
    if not columns or (into is None and not any(code.word(number) in _ROWS_OF_OUTPUT for number in columns)):
        return None
    if into is not None and into < last:
        last = _end_of_target(code, into + 1)
    plain = code.text[: code.start_of(first)] + code.text[code.end_of(last) :]
    if into is None:
        return plain, ""
    target = code.between(into + 1, last + 1)
    return plain, f"INSERT INTO {target} SELECT {''.join(_texts(code, columns))}"


def _clause(code: Code, start: int, end: int) -> tuple[int, int] | None:
    """The first and the last token of the first OUTPUT clause, without the table behind its INTO."""
    clauses = (n for n in code.outside(start, end) if code.word(n) == "output")
    first = next((n for n in clauses if n + 1 < end and code.word(n + 1) not in ("=", ",", ".")), None)
    if first is None:
        return None
    ends = (n for n in code.outside(first + 1, end) if code.word(n) in _ENDS_OUTPUT)
    return first, next(ends, end) - 1


def nested_change(code: Code) -> tuple[str, str] | None:
    """INSERT … SELECT … FROM (DELETE … OUTPUT …) x as an INSERT from the changed rows, and the change that keeps them.

    None where the text has no such rows.
    """
    text = code.text
    for opening in range(2, len(code) - 2):
        if code.word(opening) != "(" or code.word(opening + 1) not in CHANGES:
            continue
        closing = code.closing(opening)
        clause = _clause(code, opening + 2, closing)
        if clause is not None:
            start, kept = code.start_of(opening + 1), code.end_of(clause[1])
            change = f"{text[start:kept]} INTO [{_CHANGED_ROWS}] {text[kept : code.start_of(closing)]}"
            return f"{text[: code.start_of(opening)]}[{_CHANGED_ROWS}]{text[code.end_of(closing) :]}", change
    return None


def with_changed_rows(statement: RelationalStatement, change: RelationalStatement) -> RelationalStatement:
    """The statement over the rows that the change gives, and the change itself."""
    rows = next((write.query for write in change.writes if _keeps_rows(write)), None)
    writes = tuple(write for write in change.writes if not _keeps_rows(write))
    writes += tuple(
        replace(write, query=_over(write.query, rows)) if isinstance(write.query, Select) else write
        for write in statement.writes
    )
    problems = dict.fromkeys((*statement.problems, *change.problems))
    return replace(statement, writes=writes, aliases=statement.aliases + change.aliases, problems=tuple(problems))


def _keeps_rows(write: WriteForm) -> bool:
    return write.target is not None and write.target.name.parts == (_CHANGED_ROWS,)


def _over(query: Select, rows: Query | None) -> Select:
    """The query with the changed rows where it reads them."""
    relations = tuple(
        replace(relation, source=rows)
        if rows is not None and isinstance(relation.source, TableName) and relation.source.parts == (_CHANGED_ROWS,)
        else relation
        for relation in query.relations
    )
    return replace(query, relations=relations)


def _end_of_target(code: Code, start: int) -> int:
    """The last token of a table's name and its column list."""
    end = start
    while end + 1 < len(code) and (code.word(end) in (".", "@", "#") or code.word(end + 1) == "."):
        end += 1
    if code.word(end + 1) == "(" and code.word(end + 2) not in ("select", "with", "("):
        end = code.closing(end + 1)
    return end


def _texts(code: Code, columns: range) -> Iterator[str]:
    """The clause's columns; what was done to a row is no data of any table."""
    at = code.start_of(columns.start)
    for number in columns:
        yield code.text[at : code.start_of(number)]
        yield "NULL" if code.word(number) == "$action" else code.between(number, number + 1)
        at = code.end_of(number)


def without_file(code: Code) -> tuple[str, str] | None:
    """The query without its INTO OUTFILE 'path' and what is said of the file, and the path."""
    for number in code.outside(0):
        if code.stands(number, "into") and code.word(number + 1) in ("outfile", "dumpfile"):
            if not code.is_string(number + 2):
                return None
            later = (n for n in code.outside(number + 3) if code.word(n) in _AFTER_FILE)
            rest = code.start_of(next(later, len(code)))
            return f"{code.text[: code.start_of(number)]} {code.text[rest:]}", code.without_quotes(number + 2)
    return None


def inserted_execution(code: Code) -> tuple[str, str] | None:
    """INSERT INTO t EXEC …, as an INSERT of a row and the EXEC; None where it is no such statement."""
    if code.word(0) != "insert":
        return None
    index = next((n for n in code.outside(1) if code.word(n) in ("exec", "execute")), None)
    if index is None or any(code.word(number) in ("select", "values") for number in range(index)):
        return None
    start = code.start_of(index)
    return f"{code.text[:start]} SELECT NULL", code.text[start:]


def with_execution(statement: RelationalStatement, executed: Iterable[RelationalStatement]) -> RelationalStatement:
    """The INSERT of what a text's queries give; of a procedure it is not known what that is."""
    given = (write.query for one in executed for write in one.writes if write.target is None)
    queries = [query for query in given if query is not None and not (isinstance(query, Select) and _fills(query))]
    problems = () if queries else (Problem(ProblemKind.UNSUPPORTED, "rows of a procedure"),)
    query = SetOperation(tuple(queries), None) if len(queries) > 1 else next(iter(queries), None)
    writes = tuple(replace(write, query=query) for write in statement.writes)
    return replace(statement, writes=writes, problems=statement.problems + problems)


def _fills(query: Select) -> bool:
    """Whether a query only fills variables, and gives no rows: SELECT @v = 1."""
    return not query.projections


def with_output(statement: RelationalStatement, into: RelationalStatement) -> RelationalStatement:
    """The statement with one more write: `into`, whose columns are those of the changed rows or of what it reads."""
    changed = next((write for write in statement.writes if write.target is not None), None)
    if changed is None or changed.target is None:
        return statement
    others: tuple[RelationSource, ...] = ()
    common_tables: tuple[CommonTable, ...] = ()
    if isinstance(changed.query, Select):
        others, common_tables = changed.query.relations, changed.query.common_tables
    seen = [replace(relation, join="", on=(), using=()) for relation in others if not relation.written]
    seen += [RelationSource(changed.target.name, alias) for alias in ("inserted", "deleted")]
    chosen = _chosen_rows(changed.query)
    writes = [
        replace(write, query=replace(_reading(write.query, seen), clauses=chosen, common_tables=common_tables))
        for write in into.writes
        if write.target is not None and isinstance(write.query, Select)
    ]
    return replace(
        statement, writes=(*statement.writes, *writes), problems=tuple({*statement.problems, *into.problems})
    )


def _chosen_rows(query: Query | None) -> tuple[Clause, ...]:
    """That a statement's conditions decide which rows it changes, and so which of them OUTPUT gives."""
    if not isinstance(query, Select):
        return ()
    if not (query.clauses or any(one.on or one.using or one.outer for one in query.relations)):
        return ()
    relations = tuple(replace(one, written=False) for one in query.relations)
    rows = replace(query, relations=relations, common_tables=())
    return (Clause(FILTER, Expression((0,), (QuerySlot(rows, FILTER, exists=True),), ATOM)),)


def _reading(query: Select, relations: list[RelationSource]) -> Select:
    """The query over those of the relations that it names."""
    named = {qualifier[-1] for qualifier in _qualifiers(query) if qualifier}
    return replace(query, relations=tuple(relation for relation in relations if relation_name(relation) in named))


def _qualifiers(query: Select) -> Iterator[tuple[str, ...]]:
    for item in query.projections:
        if isinstance(item, Star):
            yield item.qualifier
        elif isinstance(item, Projection):
            yield from (slot.parts[:-1] for slot in all_slots((item.expression,)) if isinstance(slot, Slot))
