"""Names in sqlglot's tree: identifiers folded as their dialect folds them, and relations' names."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ingestion.dialects import Dialect, fold, fold_column
from ingestion.model import NameKind, TableName

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


class Names:
    """Folds one statement's identifiers; each spelling is folded once."""

    __slots__ = ("_columns", "_relations", "dialect")

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._columns: dict[tuple[str, bool], str] = {}
        self._relations: dict[tuple[str, bool], str] = {}

    def column(self, node: exp.Expr) -> str:
        """The folded name of a column, output or alias."""
        args = node.args
        key = (args["this"], bool(args.get("quoted")))
        known = self._columns.get(key)
        return known if known is not None else self._learn(self._columns, key, fold_column)

    def relation(self, node: exp.Expr) -> str:
        """The folded name of a table, schema, database or relation alias."""
        args = node.args
        key = (args["this"], bool(args.get("quoted")))
        known = self._relations.get(key)
        return known if known is not None else self._learn(self._relations, key, fold)

    def _learn(
        self,
        known: dict[tuple[str, bool], str],
        key: tuple[str, bool],
        folded: Callable[[str, bool, Dialect], str],
    ) -> str:
        text, quoted = key
        known[key] = name = folded(text, quoted, self.dialect)
        return name

    def column_parts(self, node: exp.Expr) -> tuple[str, ...]:
        """The parts of a column's name, outermost first; a star as the last part is `*`."""
        args = node.args
        this = args["this"]
        if type(this) is exp.Identifier:
            last = self.column(this)
        elif type(this) is exp.Star:
            last = "*"
        elif type(this) is exp.Parameter:
            last = "$" + str(this.args["this"].name)
        else:
            last = this.name
        table = args.get("table")
        if table is None:
            return (last,)
        db = args.get("db")
        if db is None:
            return (self._qualifier(table), last)
        outer = [args.get("catalog"), db, table]
        return (*(self._qualifier(part) for part in outer if part is not None), last)

    def _qualifier(self, node: exp.Expr) -> str:
        if type(node) is not exp.Identifier:
            return str(node.name)
        name = self.relation(node)
        return self._temporary(node, name)

    @staticmethod
    def _temporary(node: exp.Expr, name: str) -> str:
        if node.args.get("temporary"):
            return "#" + name
        return "##" + name if node.args.get("global_") else name

    def table(self, node: exp.Expr) -> TableName:
        """The name of a relation, a path where the table is a file or a stage."""
        path = _path(node)
        if path is not None:
            return TableName((path,), path, NameKind.PATH)
        parts: list[str] = []
        written: list[str] = []
        for part in table_parts(node):
            text = part.name
            if not text:
                continue
            if type(part) is exp.Identifier:
                parts.append(self._temporary(part, self.relation(part)))
                written.append(self._temporary(part, text))
            else:
                parts.append(text)
                written.append(text)
        return TableName(tuple(parts) or ("",), ".".join(written))


def table_parts(node: exp.Expr) -> list[exp.Expr]:
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
    found += [part for part in (args.get("db"), args.get("catalog")) if part is not None]
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
    if db is not None and db.name.lower() in _FILE_FORMATS and ("/" in text or "." in text):
        return text
    if db is None and ("://" in text or text.startswith(("@", "/")) or text.lower().endswith(_FILE_SUFFIXES)):
        return text
    return None
