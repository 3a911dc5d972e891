"""Names in sqlglot's tree: identifiers folded as their dialect folds them, and relations' names."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ingestion.dialects import Dialect, fold, fold_column
from ingestion.dialects.reserved_words import SEQUENCE_VALUES, reserved_words
from ingestion.errors import Templated
from ingestion.lexing.templates import refuse_bound_name
from ingestion.model import TableName
from ingestion.names.storage_paths import location

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


class Names:
    """Folds one statement's identifiers; each spelling is folded once."""

    __slots__ = (
        "_bare_columns",
        "_bare_relations",
        "_bare_tables",
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
        self._bare_columns: dict[str, str] = {}
        self._bare_relations: dict[str, str] = {}
        self._bare_tables: dict[str, TableName] = {}

    def column(self, node: exp.Expr) -> str:
        """The folded name of a column, output or alias."""
        args = node.args
        text: str = args["this"]
        if args.get("quoted"):
            return fold_column(text, self.dialect, quoted=True)
        name = self._bare_columns.get(text)
        if name is None:
            name = self._bare_columns[text] = fold_column(text, self.dialect, quoted=False)
        return name

    def relation(self, node: exp.Expr) -> str:
        """The folded name of a table, schema, database or relation alias."""
        args = node.args
        text: str = args["this"]
        if args.get("quoted"):
            return fold(text, self.dialect, quoted=True)
        name = self._bare_relations.get(text)
        if name is None:
            name = self._bare_relations[text] = fold(text, self.dialect, quoted=False)
        return name

    def is_niladic(self, node: exp.Expr, parts: tuple[str, ...]) -> bool:
        """Whether what is written like a column is a value that no relation has: USER, ROWNUM, seq.NEXTVAL."""
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
            text = part.name
            if not text:
                if parts and self.dialect.default_schema:  # T-SQL and Snowflake: db..t
                    parts.append(self.dialect.default_schema)
                    written.append("")
                continue
            if type(part) is exp.Identifier:
                parts.append(self._temporary(part, self.relation(part)))
                written.append(self._temporary(part, text))
            elif type(part) is exp.Parameter:  # a table variable: a temporary table, as it is in routines
                parts.append("#" + fold(text, quoted=False, dialect=self.dialect))
                written.append("#" + text)
            else:
                parts.append(text)
                written.append(text)
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
    if type(this) is exp.Var and this.name.startswith("@"):
        return str(this.name)
    if type(this) is not exp.Identifier or not this.args.get("quoted"):
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
