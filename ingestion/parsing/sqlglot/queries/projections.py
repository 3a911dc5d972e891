"""Select lists of sqlglot's tree, and the clauses that act on all outputs: WHERE, GROUP BY, ORDER BY and their kin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from ingestion.analysis.form import Clause, Expression, OutputNames, Projection, Slot, Star, StarSlot
from ingestion.analysis.roles import ARGUMENTS, ATOM, FILTER, GROUP_BY, IDENTITY, JOIN, SORT, TRANSFORMATION
from ingestion.dialects.functions import Effect, effect_of
from ingestion.parsing.sqlglot.expressions.names import Names, function_name
from ingestion.parsing.sqlglot.expressions.output_names import output_name
from ingestion.parsing.sqlglot.expressions.stars import (
    LIKENESS,
    columns_of_relation,
    pattern_of_names,
    star_of,
    star_of_quoted_pattern,
    translate_columns,
)
from ingestion.parsing.sqlglot.expressions.writer import QueryContext, column_expression
from ingestion.parsing.sqlglot.queries.table_functions import (
    Generated,
    array_of_inline,
    exploded_expressions,
    generated_columns,
    generated_expressions,
    merge_expressions,
    names_of_generated,
)
from ingestion.parsing.sqlglot.repairs.edits import ANY_FUNCTION

_ALL_LEVELS = 100
_OF_ARRAY = 2  # an array and the structs in it
_EXTREMES = (exp.Max, exp.Min)
_KEYS = (exp.Column, exp.Literal)
_EACH = "each_column"
"""Stands for the columns of COLUMNS(…) where the role that they play is looked for."""

_CONDITIONS = (
    ("where", OutputNames.LATERAL),
    ("prewhere", OutputNames.LATERAL),
    ("having", OutputNames.AFTER_COLUMNS),
    ("qualify", OutputNames.AFTER_COLUMNS),
)


def translate_projections(queries: QueryContext, nodes: list[exp.Expr]) -> Iterator[Projection | Star]:
    """The output columns of a select list."""
    names = queries.names
    for number, node in enumerate(nodes):
        kind = type(node)
        if kind is exp.Column:
            parts = names.column_parts(node)
            if parts[-1] == "*":
                yield star_of(queries, node.this, parts[:-1])
            else:
                plain = Projection(parts[-1], column_expression(names, node, parts, IDENTITY), len(parts) > 1)
                yield star_of_quoted_pattern(queries, node.this, parts[:-1]) or plain
        elif kind is exp.Alias:
            name = names.column(node.args["alias"])
            inner = node.args["this"]
            columns = _columns_in(queries, inner)
            if columns is not None:
                yield _star_of_columns(queries, inner, columns)._replace(label=name)
            elif type(inner) is exp.Columns:
                yield translate_columns(queries, inner)
            elif type(inner) is exp.Explode and names.dialect.structs_unnested:
                yield _unnested_struct(queries, inner, name)
            else:
                yield Projection(name, queries.expression(inner))
        elif kind is exp.Subquery and type(node.args.get("alias")) is exp.Identifier:  # T-SQL: a = (SELECT …)
            yield Projection(names.column(node.args["alias"]), queries.expression(node))
        elif kind is exp.Star:
            yield star_of(queries, node, ())
        else:
            made = generated_columns(node.this if kind is exp.Aliases else node, names.dialect)
            yield from (
                _unnamed_outputs(queries, node, number) if made is None else _generated_outputs(queries, node, made)
            )


def grouped_projections(
    queries: QueryContext, nodes: list[exp.Expr], group: exp.Expr | None
) -> Iterator[Projection | Star]:
    """The output columns of a select list, of whose groups Hive's `GROUP BY a, b GROUPING SETS (a)` may tell the sets.

    b, which is in none of the sets, is NULL in each.
    """
    projections = translate_projections(queries, nodes)
    if group is None or not group.args.get("grouping_sets"):
        yield from projections
        return
    grouped, dialect = list(_grouping_keys(group)), queries.names.dialect.name
    ungrouped = [key for key in _flat(group.expressions) if key not in grouped]
    nulled = [_without_ungrouped_keys(node, number, ungrouped, dialect) for number, node in enumerate(nodes, 1)]
    for projection, made in zip(projections, translate_projections(queries, nulled), strict=True):
        if isinstance(projection, Projection) and isinstance(made, Projection):
            is_null = made.expression != projection.expression and not made.expression.slots
            yield projection._replace(expression=made.expression, ungrouped=is_null)
        else:
            yield projection


def with_picked_rows(
    queries: QueryContext, select: exp.Expr, projections: tuple[Projection | Star, ...]
) -> tuple[Projection | Star, ...]:
    """SQLite: in `SELECT k, a, MAX(b) FROM t GROUP BY k` a is that of the row that has the most b.

    So it is where one MAX or MIN is all that could pick a row. What keys and aggregates are made of is no row's.
    """
    nodes = [*select.expressions, *filter(None, (select.args.get("having"), select.args.get("order")))]
    extremes = [one for node in nodes for one in _of_this_query(node) if type(one) in _EXTREMES and not one.expressions]
    if len(extremes) != 1 or len(projections) != len(select.expressions):
        return projections
    group = select.args.get("group")
    keys = {
        one.name.lower() for key in (group.expressions if group is not None else ()) for one in key.find_all(*_KEYS)
    }
    ranked = queries.expression(extremes[0].this, SORT).slots
    return tuple(
        made._replace(expression=made.expression._replace(slots=made.expression.slots + ranked))
        if isinstance(made, Projection)
        and keys.isdisjoint((str(number), node.alias.lower()))
        and _is_of_row(node, keys)
        else made
        for number, (node, made) in enumerate(zip(select.expressions, projections, strict=True), 1)
    )


def _of_this_query(node: exp.Expr) -> Iterator[exp.Expr]:
    """The nodes of an expression without those of the queries and windows in it."""
    return node.walk(prune=lambda one: isinstance(one, exp.Query | exp.Window))


def _is_of_row(node: exp.Expr, keys: set[str]) -> bool:
    """Whether an output has a column of a row: one in no aggregate, and by a name that no key has."""
    outside = node.walk(prune=lambda one: isinstance(one, exp.Query | exp.Window | exp.AggFunc))
    return any(type(one) is exp.Column and one.name.lower() not in keys for one in outside)


def fields_of(nodes: list[exp.Expr]) -> list[exp.Expr]:
    """BigQuery: SELECT AS VALUE STRUCT(a AS x, b) gives the columns x and b."""
    if len(nodes) != 1 or type(nodes[0]) is not exp.Struct:
        return nodes
    return [
        exp.Alias(this=field.expression, alias=field.this) if type(field) is exp.PropertyEQ else field
        for field in nodes[0].expressions
    ]


def _unnamed_outputs(queries: QueryContext, node: exp.Expr, number: int) -> Iterator[Projection | Star]:
    kind = type(node)
    starred = _star_of_value(queries, node) or columns_of_relation(queries, node)
    if starred is not None:
        yield starred
    elif kind is exp.Aliases:  # one function that gives several columns
        for alias, expression in zip(
            node.expressions, exploded_expressions(queries, node.this, len(node.expressions)), strict=True
        ):
            yield Projection(queries.names.column(alias), expression._replace(type=None))
    elif kind is exp.QueryTransform:
        yield from _transformed_columns(queries, node)
    elif kind is exp.Columns:
        yield translate_columns(queries, node)
    elif kind is exp.Apply:
        yield from _applied_columns(queries, node, number)
    elif kind is exp.Explode and queries.names.dialect.structs_unnested:
        expression = queries.expression(node)
        yield _unnested_struct(queries, node, output_name(queries.names, node, expression))
    elif kind is exp.PropertyEQ:  # T-SQL and MySQL variables: @x := value
        yield Projection(node.this.name, queries.expression(node.expression))
    elif kind is exp.EQ and _is_assigned(queries.names, node.this):
        yield from _assigned_output(queries, node)
    elif isinstance(node, LIKENESS) and _is_star(node.this):  # DuckDB: * LIKE 'pattern'
        yield from _with_pattern(queries, node.this, pattern_of_names(node))
    elif kind is exp.Not and isinstance(node.this, LIKENESS) and _is_star(node.this.this):
        yield from _with_pattern(queries, node.this.this, pattern_of_names(node.this, negated=True))
    elif isinstance(node, exp.Explode) and queries.names.dialect.row_generators:
        made = names_of_generated(node)
        *before, last = map(Projection, made, exploded_expressions(queries, node, len(made)))
        yield from before
        yield Star(value=queries.expression(node.this), unless=last, depth=0) if last.name == "col" else last
    else:
        columns = _columns_in(queries, node)
        if columns is not None:
            yield _star_of_columns(queries, node, columns)
            return
        yield _output_of(queries, node, number)


def _star_of_value(queries: QueryContext, node: exp.Expr) -> Star | None:
    """The star of `(a.b).*`, a name's, or of `f(a).*`, the fields of a value; None where it is neither.

    Trino's `t.* AS (x, y)` and `f(a).* AS (x, y)` name the columns by position.
    """
    named = type(node) is exp.Aliases
    inner = node.this if named else node
    if type(inner) is exp.Dot and type(inner.expression) is exp.Star:
        parts = _dotted_parts(queries.names, inner.this)
        star = star_of(queries, inner.expression, parts)
        star = star if parts else star._replace(value=queries.expression(inner.this))
    elif named and type(inner) is exp.Column and _is_star(inner):
        star = star_of(queries, inner.this, queries.names.column_parts(inner)[:-1])
    else:
        return None
    return star._replace(names=tuple(queries.names.column(alias) for alias in node.expressions)) if named else star


def _output_of(queries: QueryContext, node: exp.Expr, number: int) -> Projection | Star:
    """The output of an expression; of INLINE(xs) the fields of the structs in xs, where they are known."""
    expression = queries.expression(node)
    name = output_name(queries.names, node, expression) or queries.names.dialect.numbered_item.format(number)
    output = Projection(name, expression)
    array = array_of_inline(node, queries.names.dialect)
    return output if array is None else Star(value=queries.expression(array), unless=output, depth=_OF_ARRAY)


def _is_star(node: exp.Expr) -> bool:
    return type(node) is exp.Star or (type(node) is exp.Column and type(node.this) is exp.Star)


def _with_pattern(queries: QueryContext, node: exp.Expr, pattern: str) -> Iterator[Star]:
    """The columns of a star whose names a pattern finds."""
    for item in translate_projections(queries, [node]):
        if isinstance(item, Star):
            yield item._replace(pattern=pattern)


def _columns_in(queries: QueryContext, node: exp.Expr) -> exp.Columns | None:
    """DuckDB's COLUMNS(…) in an expression, which stands for one expression for each of its columns."""
    columns = node.find(exp.Columns) if queries.names.dialect.columns_function else None
    if columns is not None and columns.args.get("unpack"):  # COALESCE(*COLUMNS(*)) is one
        return None
    return None if columns is None or (type(columns.this) is exp.Column and not _is_star(columns.this)) else columns


def _star_of_columns(queries: QueryContext, node: exp.Expr, columns: exp.Columns) -> Star:
    """The star that `MAX(COLUMNS('a')) + 1` comes to, in the role that a column plays there."""
    star = translate_columns(queries, columns)
    if node is columns:
        return star
    if any(column.find_ancestor(exp.Columns) is None for column in node.find_all(exp.Column)):
        queries.note_unsupported("COLUMNS beside other columns")
    around = node.copy()
    for each in list(around.find_all(exp.Columns)):
        each.replace(exp.column(_EACH))
    slots = [slot for slot in queries.expression(around).slots if isinstance(slot, Slot) and slot.parts == (_EACH,)]
    return star._replace(wrapped=slots[0].role if slots else TRANSFORMATION)


def _transformed_columns(queries: QueryContext, node: exp.Expr) -> Iterator[Projection]:
    """Hive: SELECT TRANSFORM (a, b) USING 'script' AS (x, y)."""
    expressions = [queries.expression(item, TRANSFORMATION) for item in node.expressions]
    made = merge_expressions("TRANSFORM", expressions)
    schema = node.args.get("schema")
    for column in schema.expressions if schema is not None else ():
        yield Projection(queries.names.column(column.this if type(column) is exp.ColumnDef else column), made)


def _applied_columns(queries: QueryContext, node: exp.Expr, number: int) -> Iterator[Projection | Star]:
    """ClickHouse: `* APPLY(max)`, `t.* APPLY(max)`, `COLUMNS('a') APPLY(max) APPLY(toString)`."""
    calls: list[str] = []
    while type(node) is exp.Apply:
        calls.append(node.expression.name if type(node.expression) is exp.Var else "")
        node = node.this
    known = all(call and call != ANY_FUNCTION for call in calls)
    role = IDENTITY
    for call in calls:
        role = ARGUMENTS[effect_of(call.upper(), queries.names.dialect.name)][role]
    for item in translate_projections(queries, [node]):
        if isinstance(item, Star):
            yield item._replace(wrapped=role, call="(".join(calls) if known else "")
        else:
            queries.note_unsupported(f"column {number + 1}")


def _unnested_struct(queries: QueryContext, node: exp.Expr, name: str) -> Star:
    """DuckDB: UNNEST(s), UNNEST(s, recursive := true), UNNEST(s, max_depth := 2)."""
    depth = 1
    for option in node.expressions:
        if type(option) is exp.PropertyEQ and type(option.expression) is exp.Boolean:
            depth = _ALL_LEVELS if option.expression.this else depth
        elif type(option) is exp.PropertyEQ and option.expression.name.isdigit():
            depth = int(option.expression.name)
    plain = exp.Explode(this=node.this)
    return Star(value=queries.expression(node.this), unless=Projection(name, queries.expression(plain)), depth=depth)


def _generated_outputs(queries: QueryContext, node: exp.Expr, made: Generated) -> Iterator[Projection]:
    own = [exp.to_identifier(name) for name in made.names]
    aliases = node.expressions if type(node) is exp.Aliases else own
    for alias, expression in zip(aliases, generated_expressions(queries, made), strict=False):
        yield Projection(queries.names.column(alias), expression)


def _is_assigned(names: Names, node: exp.Expr) -> bool:
    return type(node) is exp.Parameter or (
        names.dialect.assigned_names and type(node) is exp.Literal and bool(node.args.get("is_string"))
    )


def _assigned_output(queries: QueryContext, node: exp.Expr) -> Iterator[Projection]:
    """T-SQL: 'name' = value is a column; @x = value gives none."""
    if type(node.this) is exp.Literal:
        name = queries.names.column(exp.to_identifier(node.this.name, quoted=True))
        yield Projection(name, queries.expression(node.expression))


def _dotted_parts(names: Names, node: exp.Expr) -> tuple[str, ...]:
    """The parts of a name, () where something else than names is in it."""
    if type(node) is exp.Column:
        return names.column_parts(node)
    if type(node) is exp.Dot:
        before, last = _dotted_parts(names, node.this), _dotted_parts(names, node.expression)
        return (*before, *last) if before and last else ()
    if type(node) is exp.Paren:
        return _dotted_parts(names, node.this)
    return (names.column(node),) if type(node) is exp.Identifier else ()


# The clauses of sqlglot's SELECT that act on all outputs: WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY and their kin.


def conditions(
    queries: QueryContext, node: exp.Expr | None, role: int, aliases: OutputNames = OutputNames.HIDDEN
) -> Iterator[Clause]:
    """A condition, one clause for each of the parts that AND joins: `WHERE a > 0 AND b > 0` is two, `role` FILTER."""
    stack = [node] if node is not None else []
    while stack:
        part = stack.pop()
        while type(part) is exp.Paren:
            part = part.args["this"]
        if type(part) is exp.And:
            stack.append(part.args["expression"])
            stack.append(part.args["this"])
        elif type(part) not in (exp.Boolean, exp.Literal):
            expression = queries.expression(part, role)
            if expression.slots:
                yield Clause(role, expression, 0, aliases)


def select_clauses(queries: QueryContext, node: exp.Expr) -> Iterator[Clause]:
    """The clauses of a SELECT in the order in which a name in them is looked up."""
    args = node.args
    for key, aliases in _CONDITIONS:
        clause = args.get(key)
        if clause is not None:
            yield from conditions(queries, clause.this, FILTER, aliases)
    connect = args.get("connect")
    if connect is not None:
        yield from conditions(queries, connect.args.get("start"), FILTER)
        yield from conditions(queries, connect.args.get("connect"), JOIN)
    group = args.get("group")
    if group is not None:
        automatic = [key for key in group.expressions if _is_automatic(queries.names, key, args["expressions"])]
        keys = (key for key in _grouping_keys(group) if key not in automatic)
        yield from _keys(queries, keys, GROUP_BY, OutputNames.AFTER_COLUMNS)
        named = (exp.column(key) for key in group.expressions if type(key) is exp.Identifier)
        yield from _keys(queries, named, GROUP_BY, OutputNames.BEFORE_COLUMNS)  # of a pipe: GROUP BY a AS x
        if automatic or (group.args.get("all") and not group.expressions):
            yield from _outputs_without_aggregates(queries, args["expressions"])
    distinct = args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        yield from _keys(queries, _flat([distinct.args["on"]]), GROUP_BY, OutputNames.BEFORE_COLUMNS)
    limit_by = args.get("limit")
    if limit_by is not None and limit_by.args.get("expressions"):  # ClickHouse: LIMIT n BY keys
        yield from _keys(queries, limit_by.args["expressions"], GROUP_BY, OutputNames.AFTER_COLUMNS)
    yield from order_clauses(queries, node)


def _is_automatic(names: Names, key: exp.Expr, items: list[exp.Expr]) -> bool:
    """Whether a key is Trino's GROUP BY AUTO, which groups by what has no aggregate: no column, where none is given.

    Before the word was one, a table could have a column called so: SELECT auto, COUNT(*) FROM t GROUP BY auto.
    """
    if not names.dialect.automatic_grouping or type(key) is not exp.Column or len(key.parts) > 1:
        return False
    if key.name.lower() != "auto" or key.this.args.get("quoted"):
        return False
    return not any(item.name.lower() == "auto" for item in items)


def _outputs_without_aggregates(queries: QueryContext, items: list[exp.Expr]) -> Iterator[Clause]:
    """GROUP BY ALL: by each item of the select list that has no aggregate, and by each column of a star."""
    plain = [item.find(exp.AggFunc) is None for item in items]
    if all(plain):
        yield Clause(GROUP_BY, None)
        return
    wide = {number: stars for number, item in enumerate(items) if plain[number] and (stars := _stars(queries, item))}
    for number in range(len(items)):
        if number in wide:
            yield from (Clause(GROUP_BY, Expression((0,), (StarSlot(star, GROUP_BY),), ATOM)) for star in wide[number])
        elif plain[number] and (not wide or number < min(wide)):
            yield Clause(GROUP_BY, None, number + 1)
        elif plain[number] and number > max(wide):  # how many columns the star has is known when it is expanded
            yield Clause(GROUP_BY, None, number - len(items))


def _stars(queries: QueryContext, item: exp.Expr) -> list[Star]:
    """The stars that an item gives columns by: none of struct(t.*) or of EXISTS (SELECT * …), which are one value."""
    if item.find(exp.Star, exp.Columns) is None:
        return []
    return [each for each in translate_projections(queries, [item]) if isinstance(each, Star)]


def order_clauses(queries: QueryContext, node: exp.Expr) -> Iterator[Clause]:
    """ORDER BY and Hive's kin of it, and what says how many rows there are: LIMIT, OFFSET, TOP, FETCH."""
    args = node.args
    for key in ("order", "sort", "cluster"):
        order = args.get(key)
        if isinstance(order, exp.Expr) and key == "order" and _is_all(order.expressions):
            yield Clause(SORT, None)
        elif isinstance(order, exp.Expr):
            yield from _keys(queries, order.expressions, SORT, OutputNames.BEFORE_COLUMNS)
    for key in ("limit", "offset"):
        clause = args.get(key)
        if isinstance(clause, exp.Expr):
            for number in ("count", "expression", "offset"):
                yield from numbers_of_rows(queries, clause.args.get(number))


def _is_all(keys: list[exp.Expr]) -> bool:
    """ORDER BY ALL: every column of the result, in their order. No engine lets a column have the bare word's name."""
    key = keys[0].this if len(keys) == 1 and type(keys[0]) is exp.Ordered else None
    named = key.this if type(key) is exp.Column and not key.args.get("table") else key
    return isinstance(named, exp.Identifier | exp.Var) and not named.args.get("quoted") and named.name.lower() == "all"


def numbers_of_rows(queries: QueryContext, node: object) -> Iterator[Clause]:
    """What a number of rows is made of: `LIMIT (SELECT n FROM c)`, and of a query around `TOP (t.n)`.

    A bare name is no column there, but a variable's: no engine lets the number be another for each row.
    """
    if not isinstance(node, exp.Expr) or type(node) is exp.Literal:
        return
    expression = queries.expression(node, FILTER)
    slots = tuple(slot for slot in expression.slots if type(slot) is not Slot or len(slot.parts) > 1)
    if slots:
        whole = len(slots) == len(expression.slots)
        yield Clause(FILTER, expression if whole else Expression(("?",), slots, ATOM))


def _keys(queries: QueryContext, nodes: Iterable[exp.Expr], role: int, aliases: OutputNames) -> Iterator[Clause]:
    for node in nodes:
        key = node.this if type(node) is exp.Ordered else node
        if type(key) is exp.Literal:
            if not key.args.get("is_string") and key.name.isdigit():
                yield Clause(role, None, int(key.name))
            continue
        expression = queries.expression(key, role)
        if expression.slots:
            yield Clause(role, expression, 0, aliases)


def _grouping_keys(group: exp.Expr) -> Iterator[exp.Expr]:
    """GROUP BY a, ROLLUP (b, c), GROUPING SETS ((d), ()): every column among them is a key.

    Of Hive's `GROUP BY a, b GROUPING SETS (a)` only those are that stand in a set.
    """
    yield from _flat(group.expressions if not group.args.get("grouping_sets") else [])
    for key in ("grouping_sets", "cube", "rollup"):
        found = group.args.get(key)
        if isinstance(found, list):
            for item in found:
                yield from _flat(item.expressions if isinstance(item, exp.Expr) else [])


def _without_ungrouped_keys(item: exp.Expr, number: int, keys: list[exp.Expr], dialect: str) -> exp.Expr:
    """An output in which NULL stands for keys of no set; an aggregate in it takes the values that the rows have."""
    named = exp.column(item.args["alias"]) if type(item) is exp.Alias else item
    if any(whole in keys for whole in (exp.Literal.number(number), named, item.unalias())):
        return exp.Null()

    def replace_key(node: exp.Expr) -> exp.Expr:
        return exp.Null() if node in keys and not _is_within_rows(node, dialect) else node

    return item.transform(replace_key)


def _is_within_rows(node: exp.Expr, dialect: str) -> bool:
    """Whether a name takes the values of single rows: in an aggregate, or in a query of its own."""
    around = node.parent
    while around is not None:
        called = function_name(around) if isinstance(around, exp.Func) else ""
        aggregates = effect_of(called, dialect) in (Effect.AGGREGATE, Effect.COUNT)
        if aggregates or isinstance(around, exp.AggFunc | exp.Query):
            return True
        around = around.parent
    return False


def _flat(nodes: list[exp.Expr]) -> Iterator[exp.Expr]:
    for node in nodes:
        if isinstance(node, exp.Tuple | exp.GroupingSets | exp.Cube | exp.Rollup):
            yield from _flat(node.expressions)
        elif type(node) is exp.Paren:
            yield from _flat([node.this])
        else:
            yield node
