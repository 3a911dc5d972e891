"""Names in sqlglot's tree: identifiers, relations and paths that functions name, and outputs that have no name."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ingestion.dialects import Dialect, fold, fold_column
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
WRITTEN_NAME = "written name"
"""Under what a call keeps the name of its function as written: sqlglot has one node for var_samp(…) and variance(…)."""


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


def parameter_named_by(argument: exp.Expr) -> str:
    """The parameter that an argument names: x of `f(x := a)`, `f(x => a)`; "" where it stands by its position."""
    named = isinstance(argument, exp.Kwarg | exp.PropertyEQ)
    return str(argument.args["this"].name).lower() if named else ""
