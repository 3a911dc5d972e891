"""Table functions of sqlglot's tree: UNNEST, EXPLODE, FLATTEN, STACK, file readers, queries that other servers run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect

from ingestion.analysis.form import (
    AnySlot,
    Expression,
    Pivot,
    Query,
    QuerySlot,
    RelationSource,
    Select,
    Star,
    TableFunction,
    TypeRule,
    Values,
)
from ingestion.analysis.roles import ATOM, CONDITIONAL, TRANSFORMATION
from ingestion.dialects import Dialect, fold, fold_column
from ingestion.dialects.functions import (
    ELEMENT_NUMBERS,
    INLINES,
    NAMED_RELATIONS,
    ONE_ROW_FUNCTIONS,
    REMOTE_QUERIES,
    TABLE_FUNCTIONS,
    columns_of_function,
)
from ingestion.model.lineage import NameKind, TableName
from ingestion.model.storage_paths import location
from ingestion.parsing.sqlglot.expressions.names import (
    Names,
    filled_function,
    function_as_written,
    function_elsewhere,
    function_name,
    is_on_other_server,
    is_reader,
    parameter_named_by,
    path_of,
    query_of_view,
    refuse_bound_function,
    table_elsewhere,
)
from ingestion.parsing.sqlglot.expressions.types import has_constant_length, type_name
from ingestion.parsing.sqlglot.expressions.writer import QueryContext
from ingestion.parsing.sqlglot.repairs.edits import REFUSALS

_TO_ROWS = (exp.Explode, exp.Posexplode)

_ORDINALITY = "ordinality"
_NAMED = "openquery"
_GRAMMARS = ("tsql", "", "mysql")
"""What the other server speaks is not known: a query that one of these takes is plain enough."""
_LEVELS = 3

_WIDE = (exp.VectorSearch, exp.AIForecast, exp.MLForecast)


# Functions that give several columns, each made of some of the arguments: STACK, INLINE, JSON_TUPLE, EXPLODE of a map.


@dataclass(frozen=True, slots=True)
class Generated:
    """The columns of a generator by the names it gives them, and what each is one of."""

    label: str
    names: tuple[str, ...]
    cells: tuple[tuple[exp.Expr, ...], ...]


def generated_columns(function: exp.Expr, dialect: Dialect) -> Generated | None:
    """The columns of a generator whose arguments tell which column each of them goes to."""
    if not dialect.row_generators:
        return None
    if type(function) is exp.Stack:
        return _stack(function)
    if isinstance(function, _TO_ROWS):
        return _map_items(function)
    label = str(function.sql_names()[0]) if isinstance(function, exp.Func) else ""
    name = str(function.this).upper() if type(function) is exp.Anonymous else label
    if name in INLINES:
        return _inline(function, name)
    if name == "JSON_TUPLE" and len(function.expressions) > 1:
        document, *keys = function.expressions
        names = tuple(f"c{number}" for number in range(len(keys)))
        return Generated(name, names, tuple((document, key) for key in keys))
    return None


def names_of_generated(node: exp.Expr) -> tuple[str, ...]:
    """The names that Spark and Hive give the columns of EXPLODE and POSEXPLODE."""
    item = ("key", "value") if isinstance(node.this, exp.Map | exp.VarMap | exp.StarMap) else ("col",)
    return ("pos", *item) if isinstance(node, exp.Posexplode) else item


def array_of_inline(function: exp.Expr, dialect: Dialect) -> exp.Expr | None:
    """The array of structs that INLINE(xs) gives a column for each field of; None for any other function."""
    if not dialect.row_generators or not isinstance(function, exp.Func) or function_name(function) not in INLINES:
        return None
    given = [function.this] if type(function) is exp.Inline else function.expressions
    return given[0] if len(given) == 1 else None


def exploded_expressions(queries: QueryContext, node: exp.Expr, count: int) -> tuple[Expression, ...]:
    """The columns of EXPLODE and its like in a select list.

    In `SELECT POSEXPLODE(xs) AS (p, x)` p has nothing of the elements of xs: their number decides how far p counts.
    """
    expression = queries.expression(node)
    if not isinstance(node, exp.Posexplode) or not queries.names.dialect.row_generators:
        return (expression,) * count
    counted = [] if has_constant_length(node.this) else [queries.expression(node.this, CONDITIONAL)]
    return (merge_expressions("POSEXPLODE", counted)._replace(type="INT"), *[expression] * (count - 1))


def generated_expressions(queries: QueryContext, made: Generated) -> tuple[Expression, ...]:
    """The expression of each column; one that only literals go to uses nothing."""
    return tuple(
        merge_expressions(made.label, [queries.expression(cell, TRANSFORMATION) for cell in column])
        for column in made.cells
    )


def merge_expressions(function: str, expressions: list[Expression]) -> Expression:
    """One function over several expressions."""
    parts: list[str | int] = [function + "("]
    slots: list[AnySlot] = []
    for number, expression in enumerate(expressions):
        if number:
            parts.append(", ")
        parts.extend(p + len(slots) if isinstance(p, int) else p for p in expression.parts)
        slots.extend(expression.slots)
    parts.append(")")
    return Expression(tuple(parts), tuple(slots), ATOM)


def _stack(function: exp.Expr) -> Generated | None:
    """STACK(n, …): the values row by row in n rows; keys among them are mostly literals."""
    rows = function.args["this"]
    values = function.expressions
    if type(rows) is not exp.Literal or not rows.name.isdigit() or not int(rows.name) or not values:
        return None
    width = -(-len(values) // int(rows.name))
    return Generated(
        "STACK",
        tuple(f"col{number}" for number in range(width)),
        tuple(tuple(values[number::width]) for number in range(width)),
    )


def _map_items(function: exp.Expr) -> Generated | None:
    """EXPLODE(MAP(k, v, …)): keys and values; POSEXPLODE has the position before them."""
    made = function.args["this"]
    keys, values = made.args.get("keys"), made.args.get("values")
    if not isinstance(keys, exp.Array) or not isinstance(values, exp.Array):
        return None
    cells = (tuple(keys.expressions), tuple(values.expressions))
    if isinstance(function, exp.Posexplode):
        return Generated("POSEXPLODE", ("pos", "key", "value"), ((), *cells))
    return Generated("EXPLODE", ("key", "value"), cells)


def _inline(function: exp.Expr, label: str) -> Generated | None:
    """INLINE(ARRAY(STRUCT(a, b), …)): a row for each struct, named as the first one's fields are."""
    made = function.args.get("this") if isinstance(function.args.get("this"), exp.Expr) else None
    if type(function) is exp.Anonymous:
        made = function.expressions[0] if len(function.expressions) == 1 else None
    rows = made.expressions if type(made) is exp.Array else []
    if not rows or any(type(row) is not exp.Struct for row in rows):
        return None
    first = rows[0].expressions
    if not first or any(len(row.expressions) != len(first) for row in rows):
        return None
    fields = [[item.expression if type(item) is exp.PropertyEQ else item for item in row.expressions] for row in rows]
    names = tuple(
        str(item.this.name) if type(item) is exp.PropertyEQ else (item.output_name or f"col{number}")
        for number, item in enumerate(first, 1)
    )
    return Generated(label, names, tuple(zip(*fields, strict=True)))


# T-SQL's queries that another server answers: OPENQUERY(server, 'query'), OPENROWSET(provider, place, 'query').
#
# What OPENQUERY's text reads is named as linked servers' tables are, in four parts, the server first. OPENROWSET has
# only a connection's text, which is no name and may hold a password: its sources are not told.


class _RemoteNames(Names):
    """Names of a server's tables, but for those that the text itself gives with WITH."""

    __slots__ = ("_common", "_server")

    def __init__(self, dialect: Dialect, server: str, common: frozenset[str]) -> None:
        super().__init__(dialect)
        self._server = server
        self._common = common

    def table(self, node: exp.Expr) -> TableName:
        name = super().table(node)
        own = len(name.parts) == 1 and name.table in self._common
        if own or name.kind is not NameKind.TABLE or len(name.parts) > _LEVELS:
            return name
        unsaid = ("",) * (_LEVELS - len(name.parts))
        server = fold(self._server, self.dialect, quoted=False)
        return TableName((server, *unsaid, *name.parts), ".".join((self._server, *unsaid, str(name))))


def _is_remote(function: exp.Expr, names: Names) -> bool:
    """Whether the function's rows come from another server."""
    named = names.dialect.linked_servers and function_name(function) in REMOTE_QUERIES
    return named or is_on_other_server(function, names)


def _remote_relation(queries: QueryContext, function: exp.Expr, alias: str, columns: tuple[str, ...]) -> RelationSource:
    """The rows that the other server gives: those of the query, or a function whose sources are not known."""
    name = function_name(function).lower()
    query = _query(queries, name, list(function.expressions))
    if query is not None:
        return RelationSource(query, alias, columns)
    queries.note_unsupported(f"{name}: what its text reads")
    return RelationSource(TableName((name,), name, NameKind.FUNCTION), alias, columns)


def _query(queries: QueryContext, name: str, arguments: list[exp.Expr]) -> Query | None:
    """The query that the arguments of the function `name` hold; None where that is no plain query of a named server."""
    server, text = arguments if name == _NAMED and len(arguments) == 2 else (None, None)
    if not isinstance(server, exp.Expr) or type(text) is not exp.Literal or not text.args.get("is_string"):
        return None
    node = next(_trees(str(text.this)), None)
    if node is None:
        return None
    dialect = queries.names.dialect
    common = frozenset(fold(item.alias, dialect, quoted=False) for item in node.find_all(exp.CTE))
    inner = queries.with_names(_RemoteNames(dialect, server.name, common))
    query = inner.query(node)
    queries.problems += [problem for problem in inner.problems if problem not in queries.problems]
    return query


def _trees(text: str) -> Iterator[exp.Expr]:
    for grammar in _GRAMMARS:
        try:
            nodes = SqlglotDialect.get_or_raise(grammar).parse(text)
        except REFUSALS:
            continue
        if len(nodes) == 1 and isinstance(nodes[0], exp.Query):
            yield nodes[0]


def remote_target(queries: QueryContext, node: exp.Expr) -> tuple[TableName, tuple[str, ...] | None] | None:
    """The table and columns that INSERT OPENQUERY(server, 'SELECT columns FROM table') fills; None where it is none."""
    function = node.this.this if type(node.this) is exp.Table else None
    if not queries.names.dialect.linked_servers or type(function) is not exp.Identifier:
        return None
    name = function.name.lower()
    if name.upper() not in REMOTE_QUERIES or node.this.args.get("db") is not None:
        return None
    query = _query(queries, name, list(node.expressions))
    source = query.relations[0].source if isinstance(query, Select) and len(query.relations) == 1 else None
    if not isinstance(query, Select) or not isinstance(source, TableName):
        queries.note_unsupported(f"{name}: what its text reads")
        return filled_function(name), None
    if any(isinstance(item, Star) for item in query.projections):
        return source, None
    return source, tuple(item.name for item in query.projections if not isinstance(item, Star))


# Table functions: UNNEST, EXPLODE, LATERAL VIEW, FLATTEN, file readers, functions of users.


def is_function(node: exp.Expr) -> bool:
    """Whether a table node holds a function rather than a name."""
    this = node.args.get("this")
    return this is None or (isinstance(this, exp.Func) and not isinstance(this, exp.Identifier))


def translate_function(
    queries: QueryContext, node: exp.Expr, alias: str, columns: tuple[str, ...], pivots: tuple[Pivot, ...]
) -> RelationSource:
    """The relation that a function makes, `FROM UNNEST(t.items) AS alias(columns)`; of a file's reader its path."""
    function = _with_named_parameters(queries, _function_in(node))
    refuse_bound_function(node, function, queries.names.dialect)
    if type(function) is exp.Anonymous and str(function.this).upper() in ("TABLE", "LATERAL") and function.expressions:
        function = _without_arguments(node, function.expressions[0])
    if type(function) in (exp.Column, exp.Parameter) or (type(function) is exp.Identifier):
        return _array_relation(queries, function, alias, columns)
    made = generated_columns(function, queries.names.dialect)
    if made is not None:
        cells = Values((generated_expressions(queries, made),), made.names)
        return RelationSource(cells, alias, columns, lateral=True, pivots=pivots)
    elsewhere = _elsewhere(queries, function) or _called_view(queries, node, function)
    if elsewhere is not None:
        return replace(elsewhere, alias=alias, columns=columns, pivots=pivots)
    if _is_remote(function, queries.names):
        return replace(_remote_relation(queries, function, alias, columns), pivots=pivots)
    name = function_name(function)
    if name in NAMED_RELATIONS:
        source = _named_relation(queries, function)
        return RelationSource(source, alias, columns, lateral=isinstance(source, TableFunction), pivots=pivots)
    path = path_of(function)
    if path is not None:
        return RelationSource(location(path), alias, columns, pivots=pivots)
    known = _known_by_name(node, function)
    given = _given_arguments(queries, node, function, known)
    arguments = tuple(_argument(queries, argument, name) for argument in given)
    own = tuple(_own_columns(queries, function)) or _system_columns(queries, name, len(given))
    explodes = isinstance(function, exp.Explode) and queries.names.dialect.row_generators and not columns
    if explodes:
        own = tuple((each, None) for each in names_of_generated(function))
    of_map = explodes and own[-1][0] == "col"
    several = type(function) is exp.Unnest or bool(node.args.get("rows_from"))
    labels = own or _labels(queries, function, alias, len(given))
    columns = _numbered_columns(queries, node, columns or _side_by_side(queries, labels), labels)
    values = len(given) if several else _count_of_values(columns, own, known)
    fixed, numbers = _fixed_arguments(given, name), _number_columns(queries, node, own, listed=len(columns) > values)
    aligned = len(columns) - (numbers == (-1,)) if several and len(arguments) > 1 else 0
    wide = known is not None or type(function) in _WIDE
    written = (_given_names(function, given), of_map, _maps(given))
    source = TableFunction(arguments, name.lower(), own, known, aligned, wide, fixed, numbers, *written)
    return RelationSource(source, alias, columns, "", lateral=True, pivots=pivots)


def _with_named_parameters(queries: QueryContext, function: exp.Expr) -> exp.Expr:
    """DuckDB's `FROM f('x', y = 1)` gives 1 to the parameter y of f, and compares nothing."""
    named = queries.names.dialect.parameters_by_equals and type(function) is exp.Anonymous
    for item in function.expressions if named else ():
        if type(item) is exp.EQ and type(item.this) is exp.Column and len(item.this.parts) == 1:
            item.replace(exp.Kwarg(this=exp.var(item.this.name), expression=item.expression))
    return function


def _given_arguments(
    queries: QueryContext, node: exp.Expr, function: exp.Expr, known: TableName | None
) -> list[exp.Expr]:
    """What a call is given; of ClickHouse's mysql(…), whose names are those of another server, queries alone."""
    given = [] if is_reader(function) else _arguments(node, function)
    if known is None or not queries.names.dialect.relations_in_functions:
        return given
    return [item for item in given if isinstance(item, exp.Query)]


def _given_names(function: exp.Expr, arguments: list[exp.Expr]) -> tuple[str, ...]:
    """The parameters that a call's arguments name, "" for those that it gives by position."""
    written = function.expressions
    return tuple(map(parameter_named_by, written if len(written) == len(arguments) else arguments))


def _known_by_name(node: exp.Expr, function: exp.Expr) -> TableName | None:
    """The name of a function of which only its definition tells what it gives, or of a file's reader; None of others.

    In `FROM web.report(1)` its schema is part of it.
    """
    unknown = isinstance(function, exp.Anonymous | exp.Dot) and function_name(function) not in TABLE_FUNCTIONS
    if not (is_reader(function) or unknown):
        return None
    written = function.sql().partition("(")[0] if type(function) is exp.Dot else function_as_written(function)
    schemas = [str(node.args[part].name) for part in ("catalog", "db") if node.args.get(part) is not None]
    written = ".".join((*schemas, written))
    return TableName((written.lower(),), written, NameKind.FUNCTION)


def _named_relation(queries: QueryContext, function: exp.Expr) -> TableName | TableFunction:
    """DuckDB: the table of `query_table('web.t')`; what a parameter, or a graph, reads nobody knows here."""
    given = function.expressions
    if len(given) == 1 and type(given[0]) is exp.Literal and given[0].name.replace(".", "").isidentifier():
        return queries.names.table(exp.to_table(given[0].name))
    queries.note_unsupported(f"{function_name(function).lower()}: what it reads")
    return TableFunction((), function_name(function).lower())


def _function_in(node: exp.Expr) -> exp.Expr:
    """What stands in the place of a relation, without what is around it."""
    while type(node) in (exp.Table, exp.Lateral, exp.TableFromRows, exp.Paren):
        inner = node.args.get("this")
        if inner is None:
            break
        node = inner
    return node


def _without_arguments(node: exp.Expr, function: exp.Expr) -> exp.Expr:
    """Oracle: FROM TABLE(pkg.f) calls f. TABLE(t.xs) of a relation t in the statement takes its column apart."""
    if type(function) is not exp.Column or len(function.parts) == 1:
        return function
    qualifiers = {part.name.lower() for part in function.parts[:-1]}
    relations = node.root().find_all(exp.Table, exp.Subquery, exp.CTE, exp.Lateral)
    if any(relation.alias_or_name.lower() in qualifiers for relation in relations):
        return function
    *path, name = function.parts
    return exp.Dot.build([*(part.copy() for part in path), exp.Anonymous(this=name.name, expressions=[])])


def _elsewhere(queries: QueryContext, function: exp.Expr) -> RelationSource | None:
    """The relation behind ClickHouse's cluster(…), remote(…) and view(…)."""
    inner = function_elsewhere(function, queries.names)
    if inner is not None:
        function = inner
    query = query_of_view(function, queries.names)
    if query is not None:
        return RelationSource(queries.query(query))
    if inner is not None:
        return translate_function(queries, inner, "", (), ())
    named = table_elsewhere(function, queries.names)
    return None if named is None else RelationSource(named)


def _called_view(queries: QueryContext, node: exp.Expr, function: exp.Expr) -> RelationSource | None:
    """The view that ClickHouse's `FROM v(x = 1)` gives parameters to, each by its name."""
    given = function.expressions if type(function) is exp.Anonymous else ()
    if not queries.names.dialect.views_with_parameters or not given or any(type(item) is not exp.EQ for item in given):
        return None
    name = exp.Table(this=exp.to_identifier(function.name), db=node.args.get("db"))
    return RelationSource(queries.names.table(name))


def _argument(queries: QueryContext, node: exp.Expr, function: str) -> Expression:
    """An argument; a query is one of rows, whose columns are its fields, but where a value is taken apart."""
    if not isinstance(node, exp.Query) or function in TABLE_FUNCTIONS:
        return queries.expression(node, TRANSFORMATION)
    return Expression((0,), (QuerySlot(queries.query(node), TRANSFORMATION, struct=True),), ATOM)


def _array_relation(queries: QueryContext, function: exp.Expr, alias: str, columns: tuple[str, ...]) -> RelationSource:
    return RelationSource(TableFunction((queries.expression(function, TRANSFORMATION),)), alias, columns, lateral=True)


def _arguments(node: exp.Expr, function: exp.Expr) -> list[exp.Expr]:
    if type(node) is exp.Table and node.args.get("rows_from"):
        return [table.this if type(table) is exp.Table else table for table in node.args["rows_from"]]
    if type(function) is exp.Unnest:
        return list(function.expressions)
    if type(function) is exp.Dot:
        return [function]
    if type(function) is exp.XMLTable:
        return list(function.args.get("passing") or [])
    found: list[exp.Expr] = []
    for value in function.args.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, exp.Kwarg):
                found.append(item.expression)
            elif isinstance(item, exp.Expr) and not isinstance(
                item, exp.ColumnDef | exp.OpenJSONColumnDef | exp.JSONSchema
            ):
                found.append(item)
    return found


def _system_columns(queries: QueryContext, name: str, arguments: int) -> tuple[tuple[str, TypeRule], ...]:
    dialect = queries.names.dialect
    if name == "RANGE" and dialect.range_column:
        return ((dialect.range_column, "BIGINT"),)
    named = columns_of_function(name, dialect.name, arguments)
    return tuple((fold_column(column, dialect, quoted=False), None) for column in named)


def _maps(arguments: list[exp.Expr]) -> tuple[int, ...]:
    """The numbers of the arguments that are written as maps: 1 of `UNNEST(a, MAP(b, c))`."""
    return tuple(number for number, node in enumerate(arguments) if isinstance(node, exp.Map | exp.VarMap))


def _labels(queries: QueryContext, function: exp.Expr, alias: str, count: int) -> tuple[tuple[str, TypeRule], ...]:
    """What the columns of a function are called that names none: as itself or its alias, of Trino's UNNEST nothing.

    `unnest(a, b)` gives a column for each, which are both called unnest.
    """
    name = function_name(function).lower()
    if type(function) is not exp.Unnest:
        return ((alias or name, None),)
    label = "" if queries.names.dialect.unnested_by_type else alias if alias and count == 1 else name
    return ((label, None),) * count


def _side_by_side(queries: QueryContext, labels: tuple[tuple[str, TypeRule], ...]) -> tuple[str, ...]:
    """The names of what several arrays give, where the number of their columns does not follow from types."""
    dialect = queries.names.dialect
    by_type = dialect.unnested_by_type or dialect.fields_unnested
    return () if by_type or len(labels) == 1 else tuple(name for name, _ in labels)


def _numbered_columns(
    queries: QueryContext, node: exp.Expr, columns: tuple[str, ...], own: tuple[tuple[str, TypeRule], ...]
) -> tuple[str, ...]:
    """The column list with what the rows' numbers are called: BigQuery's WITH OFFSET says it behind the list.

    PostgreSQL's WITH ORDINALITY has them in the list where that is long enough, else a name of its own.
    """
    offset = _offset(node)
    if isinstance(offset, exp.Identifier):
        return (*columns, queries.names.column(offset))
    if len(columns) > max(len(own), 1) or not (node.args.get("ordinality") or offset is True):
        return columns
    number = "" if queries.names.dialect.unnested_by_type else _ORDINALITY
    return (*columns, *(name for name, _ in own[len(columns) :]), number)


def _offset(node: exp.Expr) -> object:
    """What sqlglot keeps of WITH OFFSET and of UNNEST's WITH ORDINALITY: a name, or True."""
    return node.args.get("offset") or _function_in(node).args.get("offset")


def _count_of_values(columns: tuple[str, ...], own: tuple[tuple[str, TypeRule], ...], known: TableName | None) -> int:
    """How many columns come before the number; of a function that only its definition tells of as many as are listed.

    `f(a) WITH ORDINALITY AS u (k, v)`: v is the number, or a second column of f.
    """
    if known is not None and columns[-1:] != (_ORDINALITY,):
        return len(columns)
    return max(len(own), 1)


def _number_columns(
    queries: QueryContext, node: exp.Expr, own: tuple[tuple[str, TypeRule], ...], *, listed: bool
) -> tuple[int, ...]:
    """The indices of the columns that number the elements: JSON_TABLE's FOR ORDINALITY, INDEX of FLATTEN.

    WITH ORDINALITY numbers them in a last column, where it is `listed`: in `unnest(a, b) WITH ORDINALITY AS u (x, y)` y
    is of b. BigQuery's WITH OFFSET has the name itself.
    """
    function = _function_in(node)
    if isinstance(function, exp.Posexplode):
        return (0,)
    offset = _offset(node)
    if offset or node.args.get("ordinality"):
        named = isinstance(offset, exp.Identifier) and queries.names.dialect.fields_unnested
        return (-1,) if listed or named else ()
    declared = list(_definitions(function))
    if declared:
        return tuple(number for number, item in enumerate(declared) if item.args.get("ordinality"))
    return tuple(number for number, (column, _) in enumerate(own) if column.upper() in ELEMENT_NUMBERS)


def _fixed_arguments(arguments: list[exp.Expr], function: str) -> tuple[int, ...]:
    """The numbers of the arguments that say nothing of how many rows there are."""
    one = function in ONE_ROW_FUNCTIONS
    return tuple(number for number, node in enumerate(arguments) if one or has_constant_length(node))


def _own_columns(queries: QueryContext, function: exp.Expr) -> Iterator[tuple[str, TypeRule]]:
    for item in _definitions(function):
        this = item.this
        name = queries.names.column(this) if type(this) is exp.Identifier else str(item.name)
        kind = item.args.get("kind")
        yield name, type_name(kind) if type(kind) is exp.DataType else None


def _definitions(function: exp.Expr) -> Iterator[exp.Expr]:
    """The definitions of columns in a call, those of NESTED PATH in their place."""
    schema = function.args.get("schema")
    of_call = function.args.get("columns") or function.args.get("expressions") or []
    definitions = schema.args.get("expressions") or [] if isinstance(schema, exp.Expr) else of_call
    left = list(reversed(definitions)) if isinstance(definitions, list) else []
    while left:
        item = left.pop()
        if isinstance(item, exp.ColumnDef | exp.OpenJSONColumnDef | exp.JSONColumnDef):
            nested = item.args.get("nested_schema")
            if nested is None:
                yield item
            else:
                left += reversed(nested.expressions)
