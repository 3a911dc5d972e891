"""Names in sqlglot's tree: identifiers, relations and paths that functions name, and outputs that have no name."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ingestion.analysis.form import AnySlot, Expression, FieldSlot, Slot, StarSlot
from ingestion.dialects import POSTGRES, Dialect, fold, fold_column
from ingestion.dialects.functions import FILE_READERS, ON_OTHER_MACHINES, ON_OTHER_SERVERS, OWN_ADDRESS
from ingestion.dialects.keywords import SEQUENCE_VALUES, reserved_words, row_words
from ingestion.dialects.unfilled_templates import refuse_bound_name
from ingestion.errors import Templated
from ingestion.model.lineage import NameKind, TableName
from ingestion.model.storage_paths import location, name_without_secrets

_FILE_FORMATS = frozenset({"avro", "binaryfile", "csv", "delta", "iceberg", "json", "orc", "parquet", "text", "xml"})
_FILE_SUFFIXES = (
    ".parquet",
    ".csv",
    ".json",
    ".jsonl",
    ".ndjson",
    ".tsv",
    ".csv.gz",
    ".json.gz",
    ".xlsx",
    ".db",
)


_BOUND = (exp.Placeholder, exp.Parameter, exp.SessionParameter)
_IDENTIFIER = exp.Identifier  # looked up once for each column of each statement

_SPELLED_OUT = {"OPEN_J_S_O_N": "OPENJSON", "J_S_O_N_TABLE": "JSON_TABLE", "X_M_L_TABLE": "XMLTABLE"}
_OPTIONS = frozenset({"path", "uri", "url", "file_path", "location"})
_TEXTS = (exp.Concat, exp.DPipe, exp.Add, exp.Array, exp.Tuple, exp.Paren)
_PAIRS = (exp.EQ, exp.PropertyEQ, exp.Kwarg)
_JOINED = ("joins", "laterals")
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

_NAMED_ALONE: Mapping[type[exp.Expr], str] = {exp.Max: "max", exp.Min: "min"}
"""Functions of one name, of which sqlglot keeps none."""

_LONGEST_NAME = 200
_DEEPEST_NAME = 40
"""Of calls and operators in each other: deeper ones make a name that is cut."""

WRITTEN_NAME = "written name"
"""Under what a call keeps the name of its function as written: sqlglot has one node for var_samp(…) and variance(…)."""

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


class Names:
    """Folds one statement's identifiers; each spelling is folded once."""

    __slots__ = (
        "_bare_columns",
        "_bare_relations",
        "_bare_tables",
        "_row_words",
        "_sequences",
        "dialect",
        "quotes_are_text",
        "reserved",
    )

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        # sqlglot's default grammar takes double quotes for a name's even where the dialect has strings in them.
        self.quotes_are_text = not dialect.sqlglot and dialect.double_quotes_are_strings
        self.reserved = reserved_words(dialect.name)
        self._sequences = dialect.sequence_values
        self._row_words = row_words(dialect.name)
        self._bare_columns: dict[str, str] = {}
        self._bare_relations: dict[str, str] = {}
        self._bare_tables: dict[str, TableName] = {}

    def column(self, node: exp.Expr) -> str:
        """The folded name of a column, output or alias."""
        args = node.args
        text: str = args["this"]
        if args.get("quoted"):
            return fold_column(name_without_secrets(text), self.dialect, quoted=True)
        name = self._bare_columns.get(text)
        if name is None:
            name = self._bare_columns[text] = fold_column(text, self.dialect, quoted=False)
        return name

    def column_in_text(self, node: exp.Expr) -> str:
        """The folded name of a column that a text names: b of SQLite's `INSERT INTO t (a, 'b')` and of IDENTIFIER('b').

        "" of another. Raises Templated of IDENTIFIER(:x).
        """
        if type(node) is exp.Literal:
            return fold_column(node.name, self.dialect, quoted=True) if node.is_string else ""
        if not _is_identifier_of(node):
            return ""
        refuse_bound_name((_part_text(node, self.dialect),), self.dialect)
        text = str(_argument(node).name)  # type: ignore[union-attr]
        bare = text.strip('"`')
        return fold_column(bare, self.dialect, quoted=bare != text)

    def relation(self, node: exp.Expr) -> str:
        """The folded name of a table, schema, database or relation alias."""
        args = node.args
        text: str = args["this"]
        if args.get("quoted"):
            return fold(name_without_secrets(text), self.dialect, quoted=True)
        name = self._bare_relations.get(text)
        if name is None:
            name = self._bare_relations[text] = fold(text, self.dialect, quoted=False)
        return name

    def is_niladic(self, node: exp.Expr, parts: tuple[str, ...]) -> bool:
        """Whether what is written like a column is a value that no relation has: USER, ROWNUM, seq.NEXTVAL, t.ctid."""
        if parts[-1] in self._row_words:
            return True
        if len(parts) == 1:
            this = node.args["this"]
            return parts[0] in self.reserved and not this.args.get("quoted")
        return self._sequences and parts[-1].upper() in SEQUENCE_VALUES

    def column_parts(self, node: exp.Expr) -> tuple[str, ...]:
        """The parts of a column's name, outermost first; a star as the last part is `*`."""
        args = node.args
        this = args["this"]
        if type(this) is _IDENTIFIER:
            spelled = this.args
            last = self._bare_columns.get(spelled["this"]) if not spelled.get("quoted") else None
            if last is None:
                last = self.column(this)
        elif type(this) is exp.Star:
            last = "*"
        elif type(this) is exp.Parameter:
            last = "$" + str(this.args["this"].name)
        else:
            last = this.name
        if len(args) == 1:
            return (last,)
        table = args.get("table")
        if table is None:
            return (last,)
        db = args.get("db")
        if db is None:
            return (self._qualifier(table), last)
        outer = [args.get("catalog"), db, table]
        return (*(self._qualifier(part) for part in outer if part is not None), last)

    def _qualifier(self, node: exp.Expr) -> str:
        if type(node) is not _IDENTIFIER:
            return str(node.name)
        args = node.args
        if len(args) <= 2:
            name = self._bare_relations.get(args["this"]) if not args.get("quoted") else None
            return name if name is not None else self.relation(node)
        return self._temporary(node, self.relation(node))

    @staticmethod
    def _temporary(node: exp.Expr, name: str) -> str:
        args = node.args
        if len(args) <= 2:
            return name
        if args.get("temporary"):
            return "#" + name
        return "##" + name if args.get("global_") else name

    def table(self, node: exp.Expr) -> TableName:
        """The name of a relation, a path where the table is a file or a stage."""
        args = node.args
        this = args.get("this")
        if type(this) is not _IDENTIFIER or args.get("db") is not None or len(this.args) > 2 or this.args.get("quoted"):
            return self._any_table(node)
        text: str = this.args["this"]
        name = self._bare_tables.get(text)
        if name is None:
            refuse_bound_name((text,), self.dialect)
            name = self._bare_tables[text] = TableName((self.relation(this),), text)
        return name

    def _any_table(self, node: exp.Expr) -> TableName:
        path = _path(node)
        if path is not None:
            return location(path)
        parts: list[str] = []
        written: list[str] = []
        named = _table_parts(node)
        refuse_bound_name((_part_text(part, self.dialect) for part in named), self.dialect)
        for part in named:
            text = name_without_secrets(part.name)
            if not text:
                # T-SQL and Snowflake: db..t; of Informix' db:t the owner is not known.
                if parts and (self.dialect.default_schema or self.dialect.databases_before_colons):
                    parts.append(self.dialect.default_schema)
                    written.append("")
                continue
            if type(part) is exp.Identifier:
                parts.append(self._temporary(part, self.relation(part)))
                written.append(self._temporary(part, text))
            elif type(part) is exp.Parameter:  # a table variable: a temporary table, which is none of that name
                parts.append("#@" + fold(text, quoted=False, dialect=self.dialect))
                written.append("#@" + text)
            else:
                parts.append(text)
                written.append(text)
        if len(written) == 1 and (written[0].lower(), "") in self.dialect.one_row_tables:  # MySQL's `dual`, no DUAL
            written = [f"`{written[0]}`"]
        return TableName(tuple(parts) or ("",), ".".join(written))


def refuse_bound_function(node: exp.Expr, function: exp.Expr, dialect: Dialect) -> None:
    """Raises Templated for a function that stands for a relation, or lies in a schema, that is bound later."""
    if _is_identifier_of(function) or (type(node) is exp.TableFromRows and type(function) in _BOUND):
        raise Templated(Templated.code)
    for key in ("db", "catalog"):
        if type(node.args.get(key)) in _BOUND:
            refuse_bound_name((_part_text(node.args[key], dialect),), dialect)


def _is_identifier_of(node: exp.Expr) -> bool:
    """Whether it is Snowflake's and Spark's IDENTIFIER(…)."""
    anonymous = type(node) is exp.Anonymous and str(node.this).upper() == "IDENTIFIER"
    return anonymous or type(node) is exp.DynamicIdentifier


def _argument(node: exp.Expr) -> exp.Expr | None:
    """What is between the parentheses of IDENTIFIER(…), None where that is not one thing."""
    if type(node) is exp.DynamicIdentifier:
        return node.args.get("this")
    return node.expressions[0] if len(node.expressions) == 1 else None


def _constant_name(node: exp.Expr) -> bool:
    text = _argument(node)
    return type(text) is exp.Literal and bool(text.args.get("is_string"))


def _part_text(part: exp.Expr, dialect: Dialect) -> str:
    """A part of a name as it is told from one that is bound later; "" for one in quotes."""
    if type(part) is _IDENTIFIER:
        return "" if part.args.get("quoted") else str(part.name)
    if type(part) in _BOUND:
        mark = "@" if type(part) is exp.Parameter and dialect.table_variables else ":"
        return mark + part.name
    return "(" if _is_identifier_of(part) and not _constant_name(part) else ""


def named_by_text(node: exp.Expr, grammar: str) -> exp.Expr:
    """A relation that a constant text names (IDENTIFIER('s.t'), TABLE('s.t')) by its name; another as it is."""
    this = node.args.get("this")
    if type(node) is exp.Table and this is not None and _is_identifier_of(this):
        text = _argument(this)
    else:
        text = this if type(node) is exp.TableFromRows else None
    if type(text) is not exp.Literal or not text.args.get("is_string"):
        return node
    try:
        named = exp.to_table(text.name, dialect=grammar)
    except SqlglotError:
        return node
    for key in ("alias", "joins", "laterals", "pivots"):
        if node.args.get(key):
            named.set(key, node.args[key])
    return named


def _table_parts(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a relation's name, outermost first."""
    if type(node) is not exp.Table:
        return [node]
    args = node.args
    found: list[exp.Expr] = []
    last = args["this"]
    while type(last) is exp.Dot:
        found.append(last.expression)
        last = last.this
    found.append(last)
    outer = [part for part in (args.get("db"), args.get("catalog")) if part is not None]
    found += [part if isinstance(part, exp.Expr) else exp.Identifier(this=part) for part in outer]
    return found[::-1]


def _path(node: exp.Expr) -> str | None:
    args = node.args
    this = args.get("this")
    if type(this) is exp.Literal:
        return str(this.name)
    if type(this) is exp.DirectoryStage:
        this = this.this
    if type(this) is exp.Var and this.name.startswith("@"):
        return str(this.name)
    if type(this) is not exp.Identifier or not this.args.get("quoted") or this.args.get("temporary"):
        return None
    text: str = this.name
    db = args.get("db")
    if db and db.name.lower() in _FILE_FORMATS and ("/" in text or "." in text):
        return text
    if db is None and ("://" in text or text.startswith(("@", "/")) or text.lower().endswith(_FILE_SUFFIXES)):
        return text
    return None


def renamed_table(old: TableName, new: TableName) -> TableName:
    """The new name of a table; bare, it stays in the schema of the old one."""
    if len(new.parts) == 1 and len(old.parts) > 1:
        return TableName((*old.parts[:-1], *new.parts), f"{str(old).rpartition('.')[0]}.{new}")
    return new


# The path that a table function of sqlglot's tree reads or writes, and never its credentials.


def function_name(function: exp.Expr) -> str:
    """The function's name in capitals."""
    if isinstance(function, exp.Anonymous):
        return str(function.this).upper()
    if isinstance(function, exp.Dot):
        return function_name(function.expression)
    if isinstance(function, exp.Func):
        name = str(function.sql_names()[0]).removeprefix("EXPLODING_")
        return _SPELLED_OUT.get(name, name)
    return type(function).__name__.upper()


def filled_function(written: str) -> TableName:
    """What stands for the rows that a function is given: they are not those that another call of it gives.

    `INSERT INTO FUNCTION remote('h', d.t)` fills another table than `SELECT * FROM remote('k', d.u)` reads.
    """
    return TableName((f"function {written.lower()}",), f"FUNCTION {written}", NameKind.FUNCTION)


def function_as_written(function: exp.Expr) -> str:
    """The function's name in the statement's own spelling, as far as the tree has kept it."""
    return str(function.this) if isinstance(function, exp.Anonymous) else function_name(function).lower()


def is_reader(function: exp.Expr) -> bool:
    """Whether the function reads or writes files."""
    return type(function) is exp.ReadCSV or function_name(function) in FILE_READERS


def path_of(function: exp.Expr) -> str | None:
    """The path of a function that reads or writes files; None where it is not constant.

    It stands at a place of its own: whatever else looks like a path may be a secret.
    """
    if not is_reader(function):
        return None
    arguments = [item for item in (function.args.get("this"), *function.expressions) if isinstance(item, exp.Expr)]
    for pair in arguments:
        if isinstance(pair, _PAIRS) and pair.this.name.lower() in _OPTIONS:
            return _constant(pair.expression)
    name = function_name(function)
    indices = [item for item in arguments if not isinstance(item, _PAIRS)][name.endswith("CLUSTER") :]
    if name.startswith("AZUREBLOBSTORAGE"):
        return _blob(indices)
    return _constant(indices[0]) if indices else None


def _blob(indices: list[exp.Expr]) -> str | None:
    """ClickHouse: azureBlobStorage(account's address or connection string, container, path, …)."""
    account, *inside = [_constant(index) or "" for index in indices[:3]]
    known = [part for part in ("" if ";" in account else account.rstrip("/"), *inside) if part]
    return "/".join(known) or None


def _constant(node: exp.Expr) -> str | None:
    """The text, or what a list or a concatenation begins with."""
    while isinstance(node, _TEXTS):
        first = node.expressions[0] if node.expressions else node.args.get("this")
        if not isinstance(first, exp.Expr):
            return None
        node = first
    return str(node.name) if type(node) is exp.Literal and node.args.get("is_string") else None


# Relations that ClickHouse's functions name in their arguments: cluster(…), remote(…), view(…).
#
# cluster(…) asks the machines of a cluster that this server itself is configured with, as its Distributed tables do:
# their tables are its own, under one name. remote(…) asks any address: with the names taken for its own, a copy
# between two servers (`INSERT INTO d.t SELECT * FROM remote('h', d.t)`) would be a table made of itself.


def is_on_other_server(function: exp.Expr, names: Names) -> bool:
    """Whether it is remote(…) of another server than this one, whose tables no name here means."""
    if not names.dialect.relations_in_functions or function_name(function) not in ON_OTHER_SERVERS:
        return False
    address = function.expressions[0] if function.expressions else None
    return type(address) is not exp.Literal or not OWN_ADDRESS.fullmatch(address.name)


def table_elsewhere(function: exp.Expr, names: Names) -> TableName | None:
    """The table that cluster(…) or remote(…) names; None where it is another function, or its name is not constant."""
    if not names.dialect.relations_in_functions or function_name(function) not in ON_OTHER_MACHINES:
        return None
    if is_on_other_server(function, names):
        return None
    indices = function.expressions[1:3]
    if indices and _is_own_database(indices[0]):
        return _join(indices[1:], names)
    if indices and not _is_whole(indices[0]):
        return _join(indices, names)
    return _join(indices[:1], names)


def function_elsewhere(function: exp.Expr, names: Names) -> exp.Expr | None:
    """The table function or query that cluster(…) or remote(…) runs on other machines.

    What another server reads is told where its path is the same from everywhere.
    """
    if not names.dialect.relations_in_functions or function_name(function) not in ON_OTHER_MACHINES:
        return None
    inner = function.expressions[1] if len(function.expressions) > 1 else None
    if not isinstance(inner, exp.Func) or _is_own_database(inner):
        return None
    return inner if not is_on_other_server(function, names) or "://" in (path_of(inner) or "") else None


def query_of_view(function: exp.Expr, names: Names) -> exp.Expr | None:
    """The query of view(SELECT …)."""
    if not names.dialect.relations_in_functions or function_name(function) != "VIEW" or len(function.expressions) != 1:
        return None
    return function.expressions[0] if isinstance(function.expressions[0], exp.Query) else None


def _is_own_database(node: exp.Expr) -> bool:
    return isinstance(node, exp.Func) and function_name(node).replace("_", "") in ("CURRENTDATABASE", "DATABASE")


def _is_whole(node: exp.Expr) -> bool:
    return bool(node.args.get("table")) or (type(node) is exp.Literal and "." in node.name)


def _join(indices: list[exp.Expr], names: Names) -> TableName | None:
    tables = [named_table(index, names) for index in indices]
    if not tables or any(table is None for table in tables):
        return None
    table = tables[-1]
    if len(tables) == 2 and table is not None and tables[0] is not None:
        table.set("db", tables[0].this)
    return names.table(table) if table is not None else None


def named_table(node: exp.Expr, names: Names) -> exp.Table | None:
    """The relation that a text or a name as an argument means."""
    if type(node) is exp.Literal and node.args.get("is_string"):
        try:
            return exp.to_table(node.name, dialect=names.dialect.sqlglot)
        except SqlglotError:
            return None
    if type(node) is exp.Column and type(node.this) is exp.Identifier:
        parts = {"this": node.this, "db": node.args.get("table"), "catalog": node.args.get("db")}
        return exp.Table(**{key: part.copy() for key, part in parts.items() if part is not None})
    return None


# The name that a system gives an output column that has none.


def output_name(names: Names, node: exp.Expr, expression: Expression, number: int) -> str:
    """The name of output `number` (from 0): PostgreSQL names it by its function, Trino by number, most by its text."""
    while type(node) is exp.Paren:
        node = node.this
    if type(node) is exp.Dot or (type(node) is exp.JSONExtract and node.args.get("variant_extract")):
        return _field_name(names, node) or fold_column(plain_text(expression), names.dialect, quoted=False)
    if type(node) is exp.Column:
        return names.column_parts(node)[-1]
    dialect = names.dialect
    if dialect.named_by_function:
        return _by_function(names, node)
    if dialect.numbered_output:
        return dialect.numbered_output.format(number)
    written = _call_as_written(names, node) if dialect.named_as_written else ""
    if dialect.operators_in_parentheses:
        written = _text_of_engine(names, node)[:_LONGEST_NAME]
    if dialect.casts_keep_names:
        written = "count(1)" if _counts_rows(node) else _column_cast(names, node)
    return written or fold_column(plain_text(expression), names.dialect, quoted=False)


def _call_as_written(names: Names, node: exp.Expr) -> str:
    """ClickHouse's name of `argMax(v, ts)`, a call of columns alone; "" of anything else, which may have literals.

    sqlglot writes some in capitals, and keeps beside them how they were written.
    """
    nodes = list(node.iter_expressions())
    written = node.meta.get(f"{names.dialect.sqlglot}_name", "")
    if type(node) is exp.Count and [type(item) for item in nodes] in ([], [exp.Star]):
        return f"{written}()"
    if not isinstance(node, exp.Func) or not nodes or any(type(item) is not exp.Column for item in nodes):
        return ""
    arguments = ", ".join(names.column_parts(item)[-1] for item in nodes)
    if type(node) is exp.Array:
        return f"[{arguments}]"
    return f"{written or str(node.sql(names.dialect.sqlglot)).partition('(')[0]}({arguments})"


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
    written = node.this if type(node) is exp.Anonymous else node.meta_get(WRITTEN_NAME)
    called = str(written or _NAMED_ALONE.get(type(node), "")).lower()
    arguments = node.expressions if type(node) is exp.Anonymous else list(node.iter_expressions())
    distinct = "DISTINCT " if len(arguments) == 1 and type(arguments[0]) is exp.Distinct else ""
    given = [_text_of_engine(names, item, depth + 1) for item in (arguments[0].expressions if distinct else arguments)]
    in_order = type(node) is exp.Anonymous or len(given) == 1  # sqlglot has its own order of several
    return f"{called}({distinct}{', '.join(given)})" if called and in_order and all(given) else ""


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
    if type(inner) is not exp.Column or type(inner.this) is not exp.Identifier:
        return ""
    *qualifier, name = names.column_parts(inner)
    return name if not qualifier or inner.parts[-2].name.lower() in _relations_beside(node) else ""


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


def parameter_named_by(argument: exp.Expr) -> str:
    """The parameter that an argument names: x of `f(x := a)`, `f(x => a)`; "" where it stands by its position."""
    named = isinstance(argument, exp.Kwarg | exp.PropertyEQ)
    return str(argument.args["this"].name).lower() if named else ""
