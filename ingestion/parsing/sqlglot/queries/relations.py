"""FROM items of sqlglot's tree: tables, derived tables, joins, laterals, pivots, MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sqlglot import exp

from ingestion.analysis.form import (
    AnySlot,
    Clause,
    Expression,
    FieldSlot,
    JoinOfSides,
    Pivot,
    Projection,
    Query,
    RelationSource,
    Select,
    Slot,
    Star,
    TableFunction,
)
from ingestion.analysis.roles import ATOM, CONDITIONAL, FILTER, IDENTITY, JOIN, TRANSFORMATION, WINDOW
from ingestion.dialects import fold_column
from ingestion.dialects.definition import keywords
from ingestion.dialects.functions import TIME_WINDOWS, columns_of_changes
from ingestion.model.lineage import NameKind, TableName
from ingestion.model.storage_paths import location
from ingestion.parsing.sqlglot.expressions.names import named_by_text, named_table
from ingestion.parsing.sqlglot.expressions.output_names import output_name
from ingestion.parsing.sqlglot.expressions.stars import translate_columns
from ingestion.parsing.sqlglot.expressions.writer import QueryContext
from ingestion.parsing.sqlglot.queries._pivot_names import named_by_values
from ingestion.parsing.sqlglot.queries.projections import conditions, numbers_of_rows
from ingestion.parsing.sqlglot.queries.table_functions import is_function, translate_function

_APPLIES_MODEL = (exp.Predict, exp.MLTranslate, exp.GenerateEmbedding, exp.GenerateText, exp.GenerateTable)
_PASS_ON = keywords("DETECT_ANOMALIES RECONSTRUCTION_LOSS TRANSFORM GENERATE_BOOL GENERATE_DOUBLE GENERATE_INT")
"""BigQuery's functions that add columns to the rows that they are given."""


_BESIDE_NAME = ("changes", "joins", "laterals", "pivots", "sample")
"""What a table may have that is no part of its name: in `a JOIN b JOIN c ON … ON …` b has the join with c."""

_TABLE_PARTS = (("this", "this"), ("db", "table"), ("catalog", "db"))
"""What a column's parts are called where they are a table's."""
_CLASSIFIER = "CLASSIFIER"
_WINDOW_BOUNDS = ("window_start", "window_end")


# PIVOT and UNPIVOT of sqlglot's tree.


def _translate_pivots(queries: QueryContext, node: exp.Expr) -> tuple[Pivot, ...]:
    """The pivots of a FROM item, in order."""
    nodes = [node] if type(node) is exp.Pivot else node.args.get("pivots") or []
    return tuple(_unpivot(queries, item) if item.args.get("unpivot") else _pivot(queries, item) for item in nodes)


def _pivot(queries: QueryContext, node: exp.Expr) -> Pivot:
    """PIVOT(sum(a) FOR b IN (1, 2)): a column for each value, made of a; b chooses; what is left groups."""
    args = node.args
    simplified = args.get("using")  # DuckDB: PIVOT t ON a USING sum(b) GROUP BY c
    aggregates = simplified or args.get("expressions") or []
    keys = args.get("expressions") if simplified else [f.this for f in args.get("fields") or []]
    expressions = [(queries.expression(a.this if type(a) is exp.Alias else a), a) for a in aggregates]
    chosen = tuple(queries.expression(key, CONDITIONAL) for key in keys or [] if isinstance(key, exp.Expr))
    listed_values = [item for field in args.get("fields") or [] for item in field.expressions]
    sought = tuple(queries.query(item) for item in listed_values if isinstance(item, exp.Query))
    consumed = [*chosen, *(expression for expression, _ in expressions)]
    titles = named_by_values(node) if queries.names.dialect.pivot_names_are_bare else args.get("columns") or []
    names = [queries.names.column(c) if type(c) is exp.Identifier else c.name for c in titles]
    group = args.get("group")
    if simplified and not keys:  # one row, or one for each group
        names = [a.alias or output_name(queries.names, a, e) for (e, a) in expressions]
        group = group or exp.Group(expressions=[])
    elif simplified:
        names = _simplified_names(args.get("expressions") or [], aggregates)
    elif names:
        names = _with_unaliased(names, [queries.names.column(a.args["alias"]) if a.alias else "" for a in aggregates])
    if any(isinstance(item, exp.Query | exp.PivotAny) for item in listed_values):
        names = []
    if not names:
        queries.note_unsupported("PIVOT without a list of values")
    columns = (
        tuple(Projection(name, expressions[number % len(expressions)][0]) for number, name in enumerate(names))
        if expressions
        else ()
    )
    kept = (
        tuple(Projection(_name(queries, key), queries.expression(key)) for key in group.expressions)
        if group is not None
        else None
    )
    name, listed = _alias(queries, args.get("alias"))
    if listed and len(listed) >= len(columns):  # `p (a, b)` names the columns of all values, which then name none
        columns = tuple(
            column._replace(name=new) for column, new in zip(columns, listed[-len(columns) :], strict=False)
        )
    unnamed = () if names else tuple(expression for expression, _ in expressions)
    return Pivot(tuple(consumed), columns, name, chosen, kept, listed, unnamed=unnamed, sought=sought)


def _with_unaliased(names: list[str], aliases: list[str]) -> list[str]:
    """The names with those that sqlglot has not: of aggregates without an alias, beside others that have one.

    Oracle: `PIVOT (SUM(a) AS s, MAX(b) FOR c IN (1 AS x))` gives X_S and X.
    """
    endings = [f"_{alias}" for alias in aliases if alias]
    if len(endings) in (0, len(aliases)):
        return names
    values = [name[: -len(endings[0])] for name in names[:: len(endings)]]
    return [f"{value}_{alias}" if alias else value for value in values for alias in aliases]


def _simplified_names(keys: list[exp.Expr], aggregates: list[exp.Expr]) -> list[str]:
    """DuckDB: the columns of PIVOT … ON key IN (values); none where the values or a name are not said."""
    named = all(type(aggregate) is exp.Alias for aggregate in aggregates)
    if len(keys) != 1 or type(keys[0]) is not exp.In or not (named or len(aggregates) == 1):
        return []
    endings = [f"_{aggregate.alias}" for aggregate in aggregates] if named else [""]
    return [f"{value.alias_or_name}{ending}" for value in keys[0].expressions for ending in endings]


def _unpivot(queries: QueryContext, node: exp.Expr) -> Pivot:
    """UNPIVOT(v FOR n IN (a, b)): v is the value of a or of b, and n only their names; a NULL gives no row."""
    args = node.args
    fields = args.get("fields") or []
    if fields:
        names = [field.this for field in fields]
        listed_values = [each.unnest() for each in args.get("expressions") or []]  # Oracle: UNPIVOT ((v) FOR n IN …)
        values = [v for e in listed_values for v in (e.expressions if type(e) is exp.Tuple else [e])]
        items = [item for field in fields for item in field.args.get("expressions") or []]
    else:  # DuckDB: UNPIVOT t ON a, b INTO NAME n VALUE v, or without INTO
        into = args.get("into")
        items = args.get("expressions") or []
        names = [into.this if into is not None else exp.to_identifier("name")]
        values = list(into.expressions) if into is not None else [exp.to_identifier("value")]
    stars = [_unpivoted_star(item) for item in items]
    inputs = [_inputs(item) for item, star in zip(items, stars, strict=True) if star is None]
    star = next((translate_columns(queries, each) for each in stars if each is not None), None)
    consumed = [queries.expression(column) for group in inputs for column in group]
    labels = [Projection(_name(queries, item), Expression(("?",), (), ATOM, "STRING")) for item in names]
    columns: list[Projection] = []
    for number, value in enumerate(values):
        parts = [queries.expression(group[number]) for group in inputs if number < len(group)]
        columns.append(Projection(_name(queries, value), _one_of(parts)))
    name, listed = _alias(queries, args.get("alias"))
    drops_nulls = not args.get("include_nulls")
    made = (*columns, *labels) if queries.names.dialect.unpivot_value_first else (*labels, *columns)
    return Pivot(tuple(consumed), made, name, (), None, listed, star, drops_nulls=drops_nulls)


def _unpivoted_star(node: exp.Expr) -> exp.Columns | None:
    """DuckDB's `*` and `COLUMNS(…)` among what is unpivoted, converted or not: as COLUMNS(…)."""
    while isinstance(node, exp.Cast | exp.Paren):
        node = node.this
    if type(node) is exp.Star:
        return exp.Columns(this=node.copy())
    return node if type(node) is exp.Columns else None


def _inputs(node: exp.Expr) -> list[exp.Expr]:
    inner = node.this if isinstance(node, exp.Alias) else node
    return list(inner.expressions) if type(inner) is exp.Tuple else [inner]


def _one_of(expressions: list[Expression]) -> Expression:
    """A value that comes from one of several columns, taken as it is."""
    slots = tuple(slot for expression in expressions for slot in expression.slots)
    parts: list[str | int] = []
    for number in range(len(slots)):
        if number:
            parts.append(" | ")
        parts.append(number)
    return Expression(tuple(parts), slots, 0 if len(slots) > 1 else ATOM, ("widest", *range(len(slots))))


def _name(queries: QueryContext, node: exp.Expr) -> str:
    if type(node) is exp.Column:
        return queries.names.column_parts(node)[-1]
    return queries.names.column(node) if type(node) is exp.Identifier else str(node.name)


def _alias(queries: QueryContext, alias: exp.Expr | None) -> tuple[str, tuple[str, ...]]:
    """`p (a, b)` behind a pivot: its name, and names for its columns in order."""
    if alias is None:
        return "", ()
    name = queries.names.relation(alias.this) if type(alias.this) is exp.Identifier else ""
    columns = tuple(
        queries.names.column(column) for column in alias.args.get("columns") or () if type(column) is exp.Identifier
    )
    return name, columns


# FROM items: tables, derived tables, joins, laterals, table functions.


def translate_relations(queries: QueryContext, nodes: list[exp.Expr]) -> tuple[RelationSource, ...]:
    """The relations of FROM, JOIN and LATERAL VIEW items, in order; bracketed joins are laid flat.

    Behind a comma most systems join what follows first, as the standard has it: a has no part in the join of
    `FROM a, b JOIN c USING (k)`.
    """
    found: list[RelationSource] = []
    first = 0
    for node in nodes:
        if queries.names.dialect.joins_before_commas and _is_behind_comma(node):
            first = len(found)
        joined = len(found) - first
        items = _item(queries, node)
        found += [_joined_in(one, joined + number) for number, one in enumerate(items)] if first else items
    return tuple(found)


def _is_behind_comma(node: exp.Expr) -> bool:
    return type(node) is exp.Join and not any(value for key, value in node.args.items() if key != "this")


def _item(queries: QueryContext, node: exp.Expr) -> Iterator[RelationSource]:
    """A FROM item with its joins: `a JOIN b`, `(a JOIN b) c`, `LATERAL VIEW explode(x) v`."""
    if type(node) is exp.Join:
        yield from _join(queries, node)
        return
    if type(node) is exp.TableAlias:  # what `|> AS name` has called the rows so far
        node = exp.Table(this=node.this)
    while type(node) in (exp.Final, exp.Stream) or (type(node) is exp.Paren and not node.args.get("alias")):
        node = node.this
    node = named_by_text(_bare(node), queries.names.dialect.sqlglot)
    if type(node) in (exp.Subquery, exp.Paren) and _is_bracketed_join(node):
        yield from _bracketed_relations(queries, node)
    else:
        yield _relation(queries, node)
    for join in node.args.get("joins") or ():
        yield from _join(queries, join)
    for lateral in node.args.get("laterals") or ():
        yield from _item(queries, lateral)


def _bare(node: exp.Expr) -> exp.Expr:
    """The innermost of nested brackets that say nothing: ((x)) is x."""
    while (
        type(node) is exp.Subquery
        and type(node.this) is exp.Subquery
        and not any(value for key, value in node.args.items() if key != "this")
    ):
        node = node.this
    return node


def _is_bracketed_join(node: exp.Expr) -> bool:
    inner = node.this
    return isinstance(inner, exp.Table | exp.Lateral | exp.Unnest) or (
        type(inner) is exp.Subquery and bool(inner.args.get("joins") or _is_bracketed_join(inner))
    )


def _bracketed_relations(queries: QueryContext, node: exp.Expr) -> Iterator[RelationSource]:
    """`(a JOIN b)`: its relations are visible outside, unless an alias hides them."""
    relations = tuple(_item(queries, node.this))
    alias, columns = _alias_of(queries, node)
    pivots = _translate_pivots(queries, node)
    if not alias and not pivots:
        yield from relations
    elif len(relations) == 1 and not relations[0].pivots:
        yield replace(relations[0], alias=alias or relations[0].alias, columns=columns, pivots=pivots)
    else:
        yield RelationSource(Select((Star(),), relations), alias, columns, pivots=pivots)


def _join(queries: QueryContext, node: exp.Expr) -> Iterator[RelationSource]:
    """JOIN, with ON, USING, NATURAL, and ASOF's MATCH_CONDITION: what is compared decides which rows there are."""
    args = node.args
    this = args["this"]
    if args.get("kind") == "ARRAY":  # ClickHouse: ARRAY JOIN arr AS x
        yield from (_array_join(queries, array) for array in (this, *node.expressions))
        return
    using = tuple(
        queries.names.column_parts(c)[-1] if type(c) is exp.Column else queries.names.column(c)
        for c in args.get("using") or ()
    )
    method = args.get("method")
    how = " ".join(str(word).upper() for word in (args.get("side"), args.get("kind")) if word)
    natural = method is not None and str(method).upper() == "NATURAL"
    on: tuple[Clause, ...] = tuple(conditions(queries, args.get("on"), JOIN)) if args.get("on") is not None else ()
    match = args.get("match_condition")
    if match is not None:
        on += tuple(conditions(queries, match, JOIN))
    plain = type(this) is exp.Table and len(this.args) <= 4 and not is_function(this)
    if plain and not any(this.args.get(key) for key in _BESIDE_NAME):
        alias, columns = _alias_of(queries, this)
        yield RelationSource(_relation_name(queries, this, alias), alias, columns, how, on, using, natural)
        return
    relations = [_joined_in(relation, number) for number, relation in enumerate(_item(queries, this))]
    # The condition stands with the last relation of a bracketed join: by then all of its names are in scope.
    relations[-1] = replace(relations[-1], on=relations[-1].on + on)
    is_semi = how.endswith(("SEMI", "ANTI"))
    if len(relations) == 1 or not is_semi:
        relations[0] = replace(relations[0], join=how or relations[0].join)
    if len(relations) == 1:
        relations[0] = replace(relations[0], using=using, natural=natural)
    elif using or natural or is_semi:
        whole = JoinOfSides(using, natural, how, len(relations))
        relations[-1] = replace(relations[-1], outer=(*relations[-1].outer, whole))
    yield from relations


def _joined_in(relation: RelationSource, number: int) -> RelationSource:
    """A relation of a join that is joined itself: its own condition sees the `number` before it there, and no others.

    `u JOIN v ON b > c` is one in `t JOIN (u JOIN v ON b > c) ON t.a = u.a`, and in `t JOIN u JOIN v ON b > c ON …`.
    """
    if (relation.using or relation.natural) and not relation.left:
        relation = replace(relation, left=number)
    if relation.outer:
        outer = tuple(one if one.left else one._replace(left=number + 1 - one.right) for one in relation.outer)
        relation = replace(relation, outer=outer)
    if not any(clause.last == 0 for clause in relation.on):
        return relation
    return replace(relation, on=tuple(one if one.last else one._replace(last=number + 1) for one in relation.on))


def _array_join(queries: QueryContext, node: exp.Expr) -> RelationSource:
    """ClickHouse: ARRAY JOIN arr AS x, a row for each element; without AS the array's name means its element."""
    name = queries.names.column(node.args["alias"]) if type(node) is exp.Alias else ""
    array = node.this if type(node) is exp.Alias else node
    name = name or (".".join(queries.names.column_parts(array)) if type(array) is exp.Column else "")
    return RelationSource(
        TableFunction((queries.expression(array),), name, ((name, None),), of_array_join=True),
        *("", (), "CROSS"),
        lateral=True,
    )


def _alias_of(queries: QueryContext, node: exp.Expr) -> tuple[str, tuple[str, ...]]:
    """The alias of a FROM item and its column list."""
    alias = node.args.get("alias")
    if alias is None:
        return "", ()
    if type(alias) is exp.Identifier:
        return queries.names.relation(alias), ()
    name = queries.names.relation(alias.this) if type(alias.this) is exp.Identifier else ""
    columns = tuple(
        queries.names.column(column.this if type(column) is exp.ColumnDef else column)
        for column in alias.args.get("columns") or ()
        if isinstance(column, exp.ColumnDef | exp.Identifier)
    )
    return name, columns


def _relation(queries: QueryContext, node: exp.Expr) -> RelationSource:
    """One relation: a table, a query in brackets, VALUES, a function, and what is pivoted of them."""
    kind = type(node)
    alias, columns = _alias_of(queries, node)
    if kind is exp.Table and isinstance(node.this, exp.Values | exp.SemanticView):
        given = node.this
        query = queries.values(given) if type(given) is exp.Values else _semantic(queries, given)
        return RelationSource(query, alias, columns, pivots=_translate_pivots(queries, node))
    if kind is exp.Table and not is_function(node) and node.args.get("changes") is None:
        return _table(queries, node, alias, columns)
    pivots = _translate_pivots(queries, node)
    if kind is exp.AtIndex or (kind is exp.Pivot and not node.args.get("expressions") and node.args.get("unpivot")):
        return _navigated_object(queries, node)
    if kind is exp.Pivot:
        inner = _relation(queries, node.this)
        return replace(inner, pivots=inner.pivots + pivots)
    passed_on = _passed_on(node)
    if passed_on is not None:
        star = Star(wrapped=TRANSFORMATION if type(node.this) is exp.GapFill else None)
        return RelationSource(Select((star,), (_relation(queries, passed_on),)), alias, columns, pivots=pivots)
    windowed = _rows_with_windows(queries, node) if queries.names.dialect.windows_over_relations else None
    if windowed is not None:
        return RelationSource(windowed, alias, columns, pivots=pivots)
    changed = _changed_rows(queries, node)
    if changed is not None:
        return RelationSource(changed, alias, columns, pivots=pivots)
    if kind is exp.Subquery or isinstance(node, exp.Query | exp.Values):
        source: TableName | Query | TableFunction
        source = queries.query(node.this if kind is exp.Subquery and not _own(node) else _without_alias(node))
        return RelationSource(source, alias, columns, pivots=pivots)
    if kind is exp.Lateral and type(node.this) is exp.Subquery:
        return RelationSource(
            queries.query(node.this), alias, columns, lateral=True, join="CROSS" if node.args.get("cross_apply") else ""
        )
    return translate_function(queries, node, alias, columns, pivots)


def _semantic(queries: QueryContext, node: exp.Expr) -> Select:
    """Snowflake: SEMANTIC_VIEW(view METRICS … DIMENSIONS … WHERE …) gives what it names of the view."""
    given = [item for key in ("metrics", "facts", "dimensions") for item in node.args.get(key) or ()]
    given.sort(key=lambda item: item.find(exp.Identifier).meta.get("start", 0) if item.find(exp.Identifier) else 0)
    view = queries.names.table(node.this)
    projections = tuple(_of_view(queries, item) for item in given)
    return Select(projections, (RelationSource(view),))


def _of_view(queries: QueryContext, node: exp.Expr) -> Projection | Star:
    """What SEMANTIC_VIEW is asked for: a metric or a dimension by its name, `v.*`, or an expression of them."""
    inner = node.this if type(node) is exp.Alias else node
    name = queries.names.column_parts(inner)[-1] if type(inner) is exp.Column else ""
    if name == "*":
        return Star()
    label = queries.names.column(node.args["alias"]) if type(node) is exp.Alias else name
    if not name:
        return Projection(label, queries.expression(inner))
    return Projection(label, Expression((0,), (Slot((name,), IDENTITY),), ATOM, 0))


def _passed_on(node: exp.Expr) -> exp.Expr | None:
    """The rows that BigQuery's ML.PREDICT, GAP_FILL and their kin pass on; what they add, only they know."""
    function = node.this if type(node) is exp.Table else None
    if isinstance(function, _APPLIES_MODEL):
        given = function.args.get("expression")
    elif isinstance(function, exp.GapFill):
        given = function.this
    elif isinstance(function, exp.Anonymous) and str(function.this).upper() in _PASS_ON:
        given = next((item for item in function.expressions if isinstance(item, exp.Query)), None)
    else:
        given = None
    return given if isinstance(given, exp.Query | exp.Table) else None


def _rows_with_windows(queries: QueryContext, node: exp.Expr) -> Select | None:
    """`TUMBLE(t, ts, INTERVAL '1 min')` and HOP: the rows of t, each with the windows in time that it falls into."""
    function = node.this if type(node) is exp.Table else None
    if type(function) is not exp.Anonymous or str(function.this).upper() not in TIME_WINDOWS:
        return None
    given = function.expressions
    if len(given) < 3 or type(given[0]) is not exp.Column:
        return None
    named = given[0]
    table = exp.Table(**{key: named.args[part] for key, part in _TABLE_PARTS if named.args.get(part) is not None})
    bounds = [Projection(name, queries.expression(given[1], TRANSFORMATION)) for name in _WINDOW_BOUNDS]
    return Select((Star(), *bounds), (_relation(queries, table),))


def _changed_rows(queries: QueryContext, node: exp.Expr) -> Select | None:
    """`APPENDS(TABLE t, …)`, `table_changes('t', 1)`, Snowflake's `t CHANGES (…) AT (…)`.

    The rows of t, each with what was done to it, and when.
    """
    dialect = queries.names.dialect
    function = node.this if type(node) is exp.Table else None
    if type(node) is exp.Table and node.args.get("changes") is not None:
        rows = RelationSource(queries.names.table(node))
        return Select((Star(), *_constants(columns_of_changes("CHANGES", dialect.name))), (rows,))
    if type(function) is not exp.Anonymous or not function.expressions:
        return None
    added = columns_of_changes(str(function.this).upper(), dialect.name)
    changed = _changed_relation(queries, function.expressions[0]) if added else None
    if added and changed is None:  # a parameter names it
        queries.note_unsupported(f"{str(function.this).lower()}: what it reads")
    if changed is None:
        return None
    return Select((Star(), *_constants(fold_column(name, dialect, quoted=False) for name in added)), (changed,))


def _changed_relation(queries: QueryContext, given: exp.Expr) -> RelationSource | None:
    if isinstance(given, exp.Query):
        return _relation(queries, given)
    if type(given) is exp.Literal and "/" in given.name:
        return RelationSource(location(given.name))
    table = named_table(given, queries.names)
    return RelationSource(queries.names.table(table)) if table is not None else None


def _constants(names: Iterable[str]) -> Iterator[Projection]:
    """Columns that are made of no others."""
    return (Projection(name, Expression(("?",), (), ATOM, "STRING")) for name in names)


def _navigated_object(queries: QueryContext, node: exp.Expr) -> RelationSource:
    """Redshift's `array AS element AT index` and `UNPIVOT object AS value AT attribute`: a row for each part of it."""
    label, item = ("unpivot", node.this) if type(node) is exp.Pivot else ("unnest", node)
    at = [item.expression] if type(item) is exp.AtIndex else []
    item = item.this if at else item
    value, alias = item.this, item.args.get("alias")
    if type(item) is exp.Table:
        value = exp.column(*(item.args[part] for part in ("this", "db", "catalog") if item.args.get(part)))
        alias = alias.this if alias is not None else None
    columns = tuple((queries.names.column(name), None) for name in (alias, *at) if name is not None)
    numbers = (-1,) if at and label == "unnest" else ()
    function = TableFunction((queries.expression(value, TRANSFORMATION),), label, columns, numbers=numbers)
    return RelationSource(function, "", lateral=True)


def _own(node: exp.Expr) -> bool:
    return bool(node.args.get("order") or node.args.get("with_"))


def _without_alias(node: exp.Expr) -> exp.Expr:
    """A query in brackets without its alias, which is the relation's and would hide its own WITH and ORDER BY."""
    if type(node) is not exp.Subquery:
        return node
    bare = exp.Subquery(this=node.this)
    for key in ("with_", "order"):
        if node.args.get(key):
            bare.args[key] = node.args[key]
    return bare


def _table(queries: QueryContext, node: exp.Expr, alias: str, columns: tuple[str, ...]) -> RelationSource:
    pivots = _translate_pivots(queries, node) if node.args.get("pivots") else ()
    sample = node.args.get("sample")
    sizes = sample.args.values() if sample is not None else ()
    share = tuple(clause for size in sizes for clause in numbers_of_rows(queries, size))
    return RelationSource(_relation_name(queries, node, alias), alias, columns, on=share, pivots=pivots)


def _relation_name(queries: QueryContext, node: exp.Expr, alias: str) -> TableName:
    name = queries.names.table(node)
    if alias and name.kind is NameKind.TABLE:
        queries.aliases.append((alias, str(name)))
    return name


# MATCH_RECOGNIZE of sqlglot's tree: partition keys and measures are its columns, or all columns and the measures.


def match_rows(
    queries: QueryContext, node: exp.Expr, relations: tuple[RelationSource, ...]
) -> tuple[RelationSource, ...]:
    """What MATCH_RECOGNIZE makes of the relations of FROM."""
    args = node.args
    for call in node.find_all(exp.Anonymous):
        if str(call.this).upper() == _CLASSIFIER:  # CLASSIFIER(a) tells of a variable of the pattern, and of no column
            call.set("expressions", [])
    variables = {queries.names.relation(item.args["alias"]) for item in args.get("define") or ()}
    named = {relation.alias for relation in relations}
    keys = [queries.expression(key) for key in args.get("partition_by") or ()]
    measures = [
        Projection(queries.names.column(item.this.args["alias"]), _without(queries.expression(item.this.this), named))
        for item in args.get("measures") or ()
        if isinstance(item.this, exp.Alias)
    ]
    rows = args.get("rows")
    everything = rows is not None and "ALL ROWS" in rows.name.upper()
    order = args.get("order")
    ordering = [queries.expression(item.this) for item in (order.expressions if order else ())]
    kept: list[Projection | Star] = [Projection(_plain_column(key), key) for key in keys]
    rest: list[Projection | Star] = []
    if everything and queries.names.dialect.matched_rows_first:
        kept = [Star()]
    elif everything:
        kept += [Projection(_plain_column(key), key) for key in ordering]
        rest = [Star(excluded=tuple(item.name for item in kept if isinstance(item, Projection)))]
    clauses = [Clause(WINDOW, key) for key in (*keys, *ordering)]
    conditions = (queries.expression(item.this, FILTER) for item in args.get("define") or ())
    clauses += [Clause(FILTER, _without(condition, named)) for condition in conditions if variables]
    alias = args.get("alias")
    name = queries.names.relation(alias.this) if alias is not None and type(alias.this) is exp.Identifier else ""
    return (RelationSource(Select((*kept, *measures, *rest), relations, tuple(clauses)), name),)


def _plain_column(expression: Expression) -> str:
    slot = expression.slots[0] if expression.slots else None
    return slot.parts[-1] if isinstance(slot, Slot) else ""


def _without(expression: Expression, named: set[str]) -> Expression:
    """The expression with pattern variables taken off its columns: a variable's row is one of the input's."""
    slots: list[AnySlot] = []
    for slot in expression.slots:
        if isinstance(slot, Slot) and len(slot.parts) == 2 and slot.parts[0] not in named:
            slots.append(slot._replace(parts=slot.parts[1:]))
        elif isinstance(slot, FieldSlot):
            slots.append(slot._replace(value=_without(slot.value, named)))
        else:
            slots.append(slot)
    return expression._replace(slots=tuple(slots))
