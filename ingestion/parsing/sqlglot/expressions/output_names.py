"""The names that systems give output columns that have none: by position, by function, or by the text of what they are.

PostgreSQL calls `SELECT upper(a)` upper, Trino `SELECT a + 1` _col0; DuckDB and Spark write the expression, each by a
rule of its own, whatever the spaces, brackets and letters of the query are: `SUM(a+b)` is `sum((a + b))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ingestion.analysis.form import AnySlot, Expression, FieldSlot, Slot, StarSlot
from ingestion.dialects import POSTGRES, fold_column
from ingestion.parsing.sqlglot.expressions.grammars import grammar_of
from ingestion.parsing.sqlglot.expressions.names import WRITTEN_NAME, Names

_JOINED = ("joins", "laterals")
_NAMES = (exp.Column, exp.Identifier)
_TAKING_NAMES = (exp.Cast, exp.Window, exp.WithinGroup, exp.Filter, exp.Paren, exp.Bracket, exp.Collate)
"""Forms around a value whose output has the value's own name."""

_OPERATORS: Mapping[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.And: "AND",
    exp.Or: "OR",
}
"""How DuckDB writes them in the names of outputs."""

_OPERATORS_OF_PLANS: Mapping[type[exp.Expr], str] = {
    **{kind: _OPERATORS[kind] for kind in _OPERATORS if kind not in (exp.IntDiv, exp.DPipe, exp.NEQ)},
    exp.IntDiv: "div",
    exp.NullSafeEQ: "<=>",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
"""How Spark writes them; it calls a || b concat(a, b), and a <> b (NOT (a = b))."""

_OPERATORS_AS_CALLS: Mapping[type[exp.Expr], str] = {
    exp.Add: "plus",
    exp.Sub: "minus",
    exp.Mul: "multiply",
    exp.Div: "divide",
    exp.Mod: "modulo",
    exp.IntDiv: "intDiv",
    exp.Neg: "negate",
    exp.DPipe: "concat",
    exp.EQ: "equals",
    exp.NEQ: "notEquals",
    exp.LT: "less",
    exp.LTE: "lessOrEquals",
    exp.GT: "greater",
    exp.GTE: "greaterOrEquals",
    exp.And: "and",
    exp.Or: "or",
    exp.If: "if",
    exp.Not: "not",
}
"""The functions that ClickHouse's operators are, and are called by in the names of outputs."""

_OVER_ROWS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.Ntile)
_FRAMED_ELSEWHERE = (exp.Lag, exp.Lead, exp.IgnoreNulls, exp.RespectNulls)
"""Functions of one row before or behind, whose frame is it: Spark names them with arguments that nobody wrote."""
_TYPES_OF_LITERALS = (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ)
_UNBOUNDED = "UNBOUNDED FOLLOWING"
_DEFAULT_TYPES = {"DECIMAL": "DECIMAL(10,0)"}

_NAMED_ALONE: Mapping[type[exp.Expr], str] = {
    exp.Ceil: "ceil",
    exp.Floor: "floor",
    exp.Max: "max",
    exp.Min: "min",
    exp.Substring: "substring",
}
"""Functions of which sqlglot keeps no name."""

_Write = Callable[[exp.Expr], str]
"""Writes a part of an expression; "" of what it does not know how to write."""

_LONGEST_NAME = 200
_DEEPEST_NAME = 40
"""Of calls and operators in each other: deeper ones make a name that is cut."""

_POSTGRES_NAMES: dict[type[exp.Expr], str] = {
    exp.AtTimeZone: "timezone",
    exp.Array: "array",
    exp.CurrentDate: "current_date",
    exp.CurrentTimestamp: "current_timestamp",
    exp.Exists: "exists",
    exp.Explode: "unnest",
    exp.Extract: "extract",
    exp.IntDiv: "div",
    exp.Interval: "interval",
    exp.JSONArrayAgg: "json_agg",
    exp.JSONObjectAgg: "json_object_agg",
    exp.JSONValue: "json_value",
    exp.StrPosition: "position",
    exp.Substring: "substring",
}
"""What PostgreSQL calls forms that are written as no call, and calls that sqlglot reads by a grammar of their own."""

_CAST_CALLS = frozenset({"BIGINT", "BINARY", "DECIMAL", "SMALLINT", "TINYINT"})
"""Spark's casts written as calls that sqlglot takes for calls: it knows INT(a), DATE(a) and the others for casts."""
_TRIMMED = {"LEADING": "ltrim", "TRAILING": "rtrim"}
_POSTGRES_TYPES = {
    "smallint": "int2",
    "int": "int4",
    "bigint": "int8",
    "boolean": "bool",
    "real": "float4",
    "double precision": "float8",
    "decimal": "numeric",
    "char": "bpchar",
}
"""What the catalog calls types, whose names unnamed casts take."""


def output_name(names: Names, node: exp.Expr, expression: Expression) -> str:
    """The name of an output that is given none: PostgreSQL names it by its function, most by its text.

    "" in Trino and BigQuery, which number what has no name in the end, behind all stars, and in Hive, which numbers it
    by its place in the list.
    """
    while type(node) is exp.Paren:
        node = node.this
    if type(node) is exp.Dot or (type(node) is exp.JSONExtract and node.args.get("variant_extract")):
        if names.dialect.fields_of_values_unnamed and not all(isinstance(part, _NAMES) for part in node.flatten()):
            return ""
        return _field_name(names, node) or fold_column(plain_text(expression), names.dialect, quoted=False)
    if type(node) is exp.Column:
        return names.column_parts(node)[-1]
    dialect = names.dialect
    if dialect.named_by_function:
        return _by_function(names, node)
    if dialect.numbered_output or dialect.numbered_item:
        return ""
    written = _text_as_called(names, node)[:_LONGEST_NAME] if dialect.named_as_written else ""
    if dialect.operators_in_parentheses:
        written = _text_of_engine(names, node)[:_LONGEST_NAME]
    if dialect.casts_keep_names:
        text = _column_cast(names, node) or _TextOfPlans(names, node).write(node)[:_LONGEST_NAME]
        written = fold_column(text, dialect, quoted=False)
    return written or fold_column(plain_text(expression), names.dialect, quoted=False)


def _text_as_called(names: Names, node: exp.Expr, depth: int = 0) -> str:
    """ClickHouse's name of columns, calls and operators, which are calls there: `argMax(v, ts)`, `sum(multiply(a, b))`.

    "" of anything else, as of what has literals, which are masked. sqlglot writes some calls in capitals, and keeps
    beside them how they were written.
    """
    while type(node) is exp.Paren:
        node = node.this
    if type(node) is exp.Column:
        return names.column_parts(node)[-1] if type(node.this) is exp.Identifier else ""
    if depth == _DEEPEST_NAME:
        return ""
    called, nodes = _called_as_written(names, node)
    given = [_text_as_called(names, each, depth + 1) for each in nodes]
    if not all(given) or (not given and not called):
        return ""
    arguments = ", ".join(given)
    return f"[{arguments}]" if type(node) is exp.Array else f"{called}({arguments})"


def _called_as_written(names: Names, node: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """The name and the arguments of what ClickHouse takes for a call; none of anything else."""
    nodes = list(node.iter_expressions())
    kind = type(node)
    written = str(node.meta_get(f"{names.dialect.sqlglot}_name") or "")
    if kind in _OPERATORS_AS_CALLS:
        return written or _OPERATORS_AS_CALLS[kind], list(node.flatten()) if isinstance(node, exp.Connector) else nodes
    if kind is exp.Count and [type(item) for item in nodes] in ([], [exp.Star]):
        return written, []
    if kind is exp.Anonymous:
        return str(node.this), nodes
    if kind is exp.Array or not isinstance(node, exp.Func) or not nodes:
        return "", nodes if kind is exp.Array else []
    called = written or str(node.sql(names.dialect.sqlglot)).partition("(")[0]
    return (called, nodes) if called.isidentifier() else ("", [])


def _text_of_engine(names: Names, node: exp.Expr, depth: int = 0) -> str:
    """DuckDB's name of columns, operators and calls: `SUM(a+b) / COUNT(*)` is `(sum((a + b)) / count_star())`.

    "" of anything else, as of what has literals, which are masked. Names that are keywords are in double quotes there;
    which are, differs from one version to the next.
    """
    while type(node) is exp.Paren:
        node = node.this
    if type(node) is exp.Column:
        return ".".join(names.column_parts(node))
    if depth == _DEEPEST_NAME:
        return ""
    operator = _OPERATORS.get(type(node), "")
    if operator:
        sides = [_text_of_engine(names, side, depth + 1) for side in _operands(node)]
        return f"({f' {operator} '.join(sides)})" if all(sides) else ""
    if _counts_rows(node) and type(node.this) is not exp.Literal:
        return "count_star()"
    return _call(names, node, lambda argument: _text_of_engine(names, argument, depth + 1))


def _call(names: Names, node: exp.Expr, write: _Write) -> str:
    """A call with its arguments as they stood: `sum(DISTINCT a)`; "" where one of them cannot be written."""
    written = node.this if type(node) is exp.Anonymous else node.meta_get(WRITTEN_NAME)
    called = str(written or _NAMED_ALONE.get(type(node), "")).lower()
    arguments = node.expressions if type(node) is exp.Anonymous else list(node.iter_expressions())
    distinct = "DISTINCT " if len(arguments) == 1 and type(arguments[0]) is exp.Distinct else ""
    if distinct:
        arguments = arguments[0].expressions
    elif called and type(node) is not exp.Anonymous and len(arguments) > 1:
        order = _argument_order(names.dialect.sqlglot, called, len(arguments))
        if not order:
            return ""
        arguments = [arguments[number] for number in order]
    given = [write(argument) for argument in arguments]
    return f"{called}({distinct}{', '.join(given)})" if called and all(given) else ""


@lru_cache(maxsize=1024)
def _argument_order(dialect: str, called: str, count: int) -> tuple[int, ...]:
    """Where a call's arguments are among its node's: sqlglot has its own order of some.

    () where they are not all that is there: `date_sub(a, b)` becomes an addition.
    """
    given = [f"p{number}" for number in range(count)]
    text = f"SELECT {called}({', '.join(given)})"
    try:
        (tree,) = grammar_of(dialect).trees(grammar_of(dialect).tokens(text), text)
    except SqlglotError:
        return ()
    call = tree.selects[0] if isinstance(tree, exp.Select) else exp.Null()
    found = [node.name if type(node) is exp.Column else "" for node in call.iter_expressions()]
    return tuple(map(found.index, given)) if sorted(found) == given else ()


class _TextOfPlans:
    """Spark's name of an expression, which its plans have as well: `a+b > 1 AND c` is `(((a + b) > ?) AND c)`.

    A literal stands there without quotes, and is masked. "" is written of what is not known to be written so.
    """

    __slots__ = ("_depth", "_names", "_relations", "_root")

    def __init__(self, names: Names, root: exp.Expr) -> None:
        self._names = names
        self._root = root
        self._relations: set[str] | None = None
        self._depth = 0

    def write(self, node: exp.Expr) -> str:
        """The text of an expression, which may be a part of the one that is named."""
        while type(node) is exp.Paren:
            node = node.this
        if self._depth == _DEEPEST_NAME:
            return ""
        self._depth += 1
        try:
            return self._text(node)
        finally:
            self._depth -= 1

    def _text(self, node: exp.Expr) -> str:
        kind = type(node)
        if kind in _FORMS and (kind in _FORMS_OF_CALLS or node.meta_get(WRITTEN_NAME) is None):
            return _FORMS[kind](self, node)
        operator = _OPERATORS_OF_PLANS.get(kind, "")
        if operator:
            return self._of("({} " + operator + " {})", node.this, node.expression)
        return "count(1)" if _counts_rows(node) else _call(self._names, node, self.write)

    def _of(self, template: str, *nodes: exp.Expr) -> str:
        """The texts of nodes where a template has {}; "" where one of them has none."""
        texts = [self.write(node) for node in nodes]
        return template.format(*texts) if all(texts) else ""

    def _list(self, nodes: Iterable[exp.Expr]) -> str:
        texts = [self.write(node) for node in nodes]
        return ", ".join(texts) if all(texts) else ""

    def write_column(self, node: exp.Expr) -> str:
        """A column without its relation: t.a is a, and the field s.a of a column s is s.a."""
        parts = self._names.column_parts(node)
        if len(parts) > 1:
            if self._relations is None:
                self._relations = _relations_beside(self._root)
            last = max((n for n, part in enumerate(parts[:-1]) if part.lower() in self._relations), default=-1)
            parts = parts[last + 1 :]
        return ".".join(parts)

    def write_negation(self, node: exp.Expr) -> str:
        """NOT, which stands before all but IS NULL."""
        inner = node.this.unnest()
        if type(inner) is exp.Is and type(inner.expression) is exp.Null:
            return self._of("({} IS NOT NULL)", inner.this)
        return self._of("(NOT {})", inner)

    def write_test(self, node: exp.Expr) -> str:
        """IS NULL, IS TRUE."""
        if type(node.expression) is exp.Null:
            return self._of("({} IS NULL)", node.this)
        return self._of("({} <=> {})", node.this, node.expression) if type(node.expression) is exp.Boolean else ""

    def write_minus(self, node: exp.Expr) -> str:
        """-a; of a number it is its sign."""
        return "-?" if type(node.this) is exp.Literal else self._of("(- {})", node.this)

    def write_list_test(self, node: exp.Expr) -> str:
        """IN with a list or a query."""
        query = node.args.get("query")
        listed = self._list(node.expressions) if query is None else f"listquery({self._outer_columns(query)})"
        return f"({value} IN ({listed}))" if listed and (value := self.write(node.this)) else ""

    def write_cast(self, node: exp.Expr) -> str:
        """CAST, which `a::INT` and INT(a) are as well; but a literal, DATE '2020-01-01', and TO_TIMESTAMP(a)."""
        if _is_conversion(node):
            return self._of(f"{str(node.meta_get(WRITTEN_NAME)).lower()}({{}})", node.this)
        if type(node) is exp.Cast and type(node.this) is exp.Literal and node.args["to"].this in _TYPES_OF_LITERALS:
            return f"{node.args['to'].sql(self._names.dialect.sqlglot)} '?'"
        kind = str(node.args["to"].sql(self._names.dialect.sqlglot)).replace(", ", ",")
        called = "TRY_CAST" if node.args.get("safe") else "CAST"
        return f"{called}({value} AS {_DEFAULT_TYPES.get(kind, kind)})" if (value := self.write(node.this)) else ""

    def write_case(self, node: exp.Expr) -> str:
        """CASE; one of a value compares it with each."""
        value, default = node.args.get("this"), node.args.get("default")
        compared = () if value is None else (value,)
        condition = "({} = {})" if compared else "{}"
        made = [
            self._of(f" WHEN {condition} THEN {{}}", *compared, branch.this, branch.args["true"])
            for branch in node.args["ifs"]
        ]
        made += [self._of(" ELSE {}", default)] if default is not None else []
        return f"CASE{''.join(made)} END" if all(made) else ""

    def write_choice(self, node: exp.Expr) -> str:
        """IF(a, b, c)."""
        default = node.args.get("false") or exp.Null()
        return self._of("(IF({}, {}, {}))", node.this, node.args["true"], default)

    def write_window(self, node: exp.Expr) -> str:
        """`sum(a) OVER (PARTITION BY b ORDER BY c ASC NULLS FIRST RANGE BETWEEN … AND …)`, the frame always told."""
        args, order = node.args, node.args.get("order")
        if args.get("alias") or type(node.this) in _FRAMED_ELSEWHERE:
            return ""
        keys = self._list(args.get("partition_by") or ())
        sorts = [self._sort(key) for key in (order.expressions if order is not None else ())]
        function = self.write(node.this)
        if not function or not all(sorts) or bool(keys) != bool(args.get("partition_by")):
            return ""
        parts = [f"PARTITION BY {keys}"] if keys else []
        parts += [f"ORDER BY {', '.join(sorts)}"] if sorts else []
        frame = self._frame(args.get("spec"), ordered=bool(sorts), over_rows=type(node.this) in _OVER_ROWS)
        return f"{function} OVER ({' '.join([*parts, frame])})" if frame else ""

    def _frame(self, spec: exp.Expr | None, *, ordered: bool, over_rows: bool) -> str:
        if spec is None:
            rows, last = "RANGE" if ordered and not over_rows else "ROWS", "CURRENT ROW" if ordered else _UNBOUNDED
            return f"{rows} BETWEEN UNBOUNDED PRECEDING AND {last}"
        first = self._write_bound(spec.args.get("start"), str(spec.args.get("start_side") or ""))
        last = self._write_bound(spec.args.get("end") or "CURRENT ROW", str(spec.args.get("end_side") or ""))
        return f"{spec.args['kind']} BETWEEN {first} AND {last}" if first and last else ""

    def _write_bound(self, bound: object, side: str) -> str:
        if not isinstance(bound, exp.Expr):
            return f"{bound} {side}".strip()
        text = self.write(bound)
        behind = text if side.upper() == "FOLLOWING" else f"(- {text})"
        return f"{behind} FOLLOWING" if text else ""

    def _sort(self, key: exp.Expr) -> str:
        down = bool(key.args.get("desc"))
        first = key.args.get("nulls_first")
        nulls = "FIRST" if first or (first is None and not down) else "LAST"
        return self._of(f"{{}} {'DESC' if down else 'ASC'} NULLS {nulls}", key.this)

    def write_element(self, node: exp.Expr) -> str:
        """xs[i]."""
        return self._of("{}[{}]", node.this, *node.expressions) if len(node.expressions) == 1 else ""

    def write_filter(self, node: exp.Expr) -> str:
        """An aggregate of some rows."""
        return self._of("{} FILTER (WHERE {})", node.this, node.expression.this)

    def write_struct(self, node: exp.Expr) -> str:
        """STRUCT(a, b AS c), and NAMED_STRUCT('c', b), whose names are literals."""
        called = str(node.meta_get(WRITTEN_NAME) or "").lower()
        return f"{called}({fields})" if called and (fields := self._fields(called, node)) else ""

    def _fields(self, called: str, node: exp.Expr) -> str:
        found = []
        for field in node.expressions:
            value = self.write(field.expression if type(field) is exp.PropertyEQ else field)
            name = self._names.column(field.this) if type(field) is exp.PropertyEQ else value
            alias = "" if value.endswith(name) else f" AS {name}"
            found.append(value and (f"?, {value}" if called == "named_struct" else f"{value}{alias}"))
        return ", ".join(found) if all(found) else ""

    def write_interval(self, node: exp.Expr) -> str:
        """INTERVAL '2' DAY."""
        unit = node.args.get("unit")
        return f"INTERVAL '?' {unit.sql()}" if unit is not None and type(node.this) is exp.Literal else ""

    def write_bare_call(self, node: exp.Expr) -> str:
        """CURRENT_DATE, which is a call without its parentheses."""
        return f"{node.sql_name().lower()}()" if isinstance(node, exp.Func) and not any(node.args.values()) else ""

    def write_subquery(self, node: exp.Expr) -> str:
        """A query as a value, told by what it has of the query around: a of `(SELECT b FROM u WHERE t.a > c)`."""
        return f"scalarsubquery({self._outer_columns(node)})"

    def write_existence(self, node: exp.Expr) -> str:
        """EXISTS."""
        return f"exists({self._outer_columns(node)})" if isinstance(node.this, exp.Query) else ""

    def _outer_columns(self, query: exp.Expr) -> str:
        """The columns of a query that it names by relations of the one around."""
        around = _relations_beside(query)
        named = (column for column in query.find_all(exp.Column) if column.table.lower() in around)
        return ", ".join(dict.fromkeys(self.write_column(column) for column in named))

    def write_collation(self, node: exp.Expr) -> str:
        """a COLLATE UTF8_LCASE."""
        return self._of(f"collate({{}}, {node.expression.name})", node.this)

    def write_trim(self, node: exp.Expr) -> str:
        """TRIM(LEADING b FROM a)."""
        if node.expression is None:
            return self._of("trim({})", node.this)
        return self._of(f"TRIM({node.args.get('position') or 'BOTH'} {{}} FROM {{}})", node.expression, node.this)

    def write_extract(self, node: exp.Expr) -> str:
        """EXTRACT(YEAR FROM a)."""
        return self._of(f"extract({node.this.name} FROM {{}})", node.expression)


_FORMS: Mapping[type[exp.Expr], Callable[[_TextOfPlans, exp.Expr], str]] = {
    exp.Column: _TextOfPlans.write_column,
    exp.Literal: lambda _text, _node: "?",
    exp.Null: lambda _text, _node: "NULL",
    exp.Boolean: lambda _text, node: "true" if node.this else "false",
    exp.Not: _TextOfPlans.write_negation,
    exp.Is: _TextOfPlans.write_test,
    exp.Neg: _TextOfPlans.write_minus,
    exp.BitwiseNot: lambda text, node: text._of("~{}", node.this),
    exp.NEQ: lambda text, node: text._of("(NOT ({} = {}))", node.this, node.expression),
    exp.NullSafeNEQ: lambda text, node: text._of("(NOT ({} <=> {}))", node.this, node.expression),
    exp.Between: lambda text, node: text._of("between({}, {}, {})", node.this, node.args["low"], node.args["high"]),
    exp.In: _TextOfPlans.write_list_test,
    exp.Like: lambda text, node: text._of("{} LIKE {}", node.this, node.expression),
    exp.ILike: lambda text, node: text._of("ilike({}, {})", node.this, node.expression),
    exp.RegexpLike: lambda text, node: text._of("RLIKE({}, {})", node.this, node.expression),
    exp.DPipe: lambda text, node: text._of("concat({}, {})", node.this, node.expression),
    exp.Cast: _TextOfPlans.write_cast,
    exp.TryCast: _TextOfPlans.write_cast,
    exp.Case: _TextOfPlans.write_case,
    exp.If: _TextOfPlans.write_choice,
    exp.Window: _TextOfPlans.write_window,
    exp.Bracket: _TextOfPlans.write_element,
    exp.Filter: _TextOfPlans.write_filter,
    exp.Extract: _TextOfPlans.write_extract,
    exp.Collate: _TextOfPlans.write_collation,
    exp.Trim: _TextOfPlans.write_trim,
    exp.Struct: _TextOfPlans.write_struct,
    exp.Interval: _TextOfPlans.write_interval,
    exp.Subquery: _TextOfPlans.write_subquery,
    exp.Exists: _TextOfPlans.write_existence,
    **dict.fromkeys(
        (exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentUser, exp.Localtimestamp), _TextOfPlans.write_bare_call
    ),
}
_FORMS_OF_CALLS = (exp.Cast, exp.TryCast, exp.If, exp.Struct)
"""What is written so though it may have been a call: INT(a)."""


def _counts_rows(node: exp.Expr) -> bool:
    """COUNT(*), DuckDB's COUNT() and COUNT(1), which is what Spark calls all of them."""
    if type(node) is not exp.Count or node.expressions:
        return False
    counted = node.this
    return counted is None or type(counted) is exp.Star or (type(counted) is exp.Literal and counted.name == "1")


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """The two sides of an operator; of AND and OR all that one chain of them joins, in parentheses or not."""
    if type(node) not in (exp.And, exp.Or):
        return [node.this, node.expression]
    found: list[exp.Expr] = []
    left = [node.expression, node.this]
    while left:
        side = left.pop().unnest()
        if type(side) is type(node):
            left += [side.expression, side.this]
        else:
            found.append(side)
    return found


def _column_cast(names: Names, node: exp.Expr) -> str:
    """Spark's name of a cast of a column, which is the column's; "" of anything else.

    `CAST(t.a AS STRING)`, `t.a::STRING` and `BIGINT(t.a)` are a. A field of a struct in the place of a is no column,
    and nothing but the relations tells `t.a` and `s.a` apart.
    """
    if type(node) is exp.Anonymous and str(node.this).upper() in _CAST_CALLS and len(node.expressions) == 1:
        inner = node.expressions[0]
    else:
        inner = node.this if isinstance(node, exp.Cast) else None
    while type(inner) is exp.Paren:
        inner = inner.this
    if type(inner) is not exp.Column or type(inner.this) is not exp.Identifier or _is_conversion(node):
        return ""
    *qualifier, name = names.column_parts(inner)
    return name if not qualifier or inner.parts[-2].name.lower() in _relations_beside(node) else ""


def _is_conversion(node: exp.Expr) -> bool:
    """TO_TIMESTAMP(a), which sqlglot takes for a cast."""
    return str(node.meta_get(WRITTEN_NAME) or "").lower().startswith("to_")


def _relations_beside(node: exp.Expr) -> set[str]:
    """What the relations of the SELECT around an expression are called, in lower case."""
    args = select.args if (select := node.find_ancestor(exp.Select)) is not None else {}
    from_ = args.get("from_")
    relations = [from_.this] if from_ is not None else []
    relations += [item.this if type(item) is exp.Join else item for key in _JOINED for item in args.get(key) or ()]
    return {relation.alias_or_name.lower() for relation in relations}


def plain_text(expression: Expression) -> str:
    """The expression's text over the names as written, cut at 200 characters."""
    slots = expression.slots
    texts = (part if isinstance(part, str) else _slot_text(slots[part]) for part in expression.parts)
    return "".join(texts)[:_LONGEST_NAME]


def _slot_text(slot: AnySlot) -> str:
    if isinstance(slot, Slot):
        return ".".join(slot.parts)
    if isinstance(slot, FieldSlot):
        return ".".join((plain_text(slot.value), *(slot.path if slot.shown else ())))
    if isinstance(slot, StarSlot):
        return ".".join((*slot.star.qualifier, "*"))
    return "(subquery)"


def _field_name(names: Names, node: exp.Expr) -> str:
    last = node.expression
    if type(last) is exp.JSONPath:
        keys = [part for part in last.expressions if type(part) is exp.JSONPathKey]
        # d:['jane'] is a value, of which a template has many; sqlglot tells it and d:"jane" apart by nothing.
        named = bool(keys) and not keys[-1].args.get("quoted")
        return fold_column(str(keys[-1].this), names.dialect, quoted=False) if named else ""
    return names.column(last) if type(last) is exp.Identifier else str(last.name)


def _by_function(names: Names, node: exp.Expr) -> str:
    """PostgreSQL's name of an output: FigureColname in its parse_target.c."""
    return _strong_name(names, node) or _weak_name(names, node) or "?column?"


def _strong_name(names: Names, node: exp.Expr) -> str:
    """The name that a cast or a CASE around `node` takes over: of a column, a field, a function or a subquery."""
    inner = node
    while isinstance(inner, _TAKING_NAMES):
        inner = inner.this
    written = str(inner.meta_get(WRITTEN_NAME) or "").lower()
    if written:
        return written
    if type(inner) is exp.Column:
        return names.column_parts(inner)[-1]
    if type(inner) is exp.Dot:
        call = inner.expression
        return _strong_name(names, call) if isinstance(call, exp.Func) else _field_name(names, inner)
    if isinstance(inner, exp.Anonymous | exp.AnonymousAggFunc):
        return inner.this.lower() if isinstance(inner.this, str) else names.column(inner.this)
    if type(inner) is exp.Case:
        default = inner.args.get("default")
        return _strong_name(names, default) if default is not None else ""
    if isinstance(inner, exp.Subquery | exp.Select):
        return _subquery_name(names, inner)
    return _name_of_form(names, inner)


def _name_of_form(names: Names, node: exp.Expr) -> str:
    if type(node) is exp.GroupConcat:
        return names.dialect.list_aggregate
    if type(node) is exp.Trim:
        return _TRIMMED.get(str(node.args.get("position") or ""), "btrim")
    named = _POSTGRES_NAMES.get(type(node), "")
    if named or not isinstance(node, exp.Func) or isinstance(node, exp.Binary | exp.Connector | exp.MatchAgainst):
        return named
    return str(node.sql_name()).replace("J_S_O_N_B", "JSONB").replace("J_S_O_N", "JSON").lower()


def _weak_name(names: Names, node: exp.Expr) -> str:
    """The name of a cast of what has none, its type, and of a CASE."""
    while type(node) is exp.Paren or type(node) is exp.Collate:
        node = node.this
    if isinstance(node, exp.Cast):
        written = str(node.args["to"].sql(POSTGRES.sqlglot)).lower().partition("(")[0].removesuffix("[]")
        return _POSTGRES_TYPES.get(written, written.rpartition(".")[2])
    return "case" if type(node) is exp.Case else ""


def _subquery_name(names: Names, node: exp.Expr) -> str:
    query = node
    while type(query) is exp.Subquery:
        query = query.this
    first = query.selects[0] if isinstance(query, exp.Query) and query.selects else None
    if first is None:
        return ""
    if type(first) is exp.Alias:
        return names.column(first.args["alias"])
    return names.column_parts(first)[-1] if type(first) is exp.Column else _by_function(names, first)
