"""CREATE, ALTER and DROP: what happens to a name and to its columns, off the tree or off the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.analysis.form import RelationalStatement
from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.model.lineage import Column, StatementKind, TableChange, TableName
from ingestion.parsing.sqlglot.expressions.names import Names, renamed_table
from ingestion.parsing.sqlglot.expressions.types import type_name
from ingestion.parsing.sqlglot.queries.table_functions import is_function
from ingestion.parsing.sqlglot.repairs.edits import at_depth_zero, matching, words
from ingestion.statements.altered_types import altered_types

# DDL of sqlglot's tree: what happened to a name.

_TEMPORARY_PROPERTIES = (exp.TemporaryProperty, exp.VolatileProperty)
_KINDS_OF_COLUMNS = ("COLUMN", "COLUMNS")
_RELATION_KINDS = frozenset({"TABLE", "VIEW", "DYNAMIC TABLE", "EXTERNAL TABLE", "MATERIALIZED VIEW"})


def is_temporary(node: exp.Expr, name: TableName) -> bool:
    """Whether CREATE makes a relation that ends with its session."""
    properties = node.args.get("properties")
    marked = properties is not None and any(isinstance(item, _TEMPORARY_PROPERTIES) for item in properties.expressions)
    return marked or name.table.startswith("#")


def _columns_of(names: Names, schema: exp.Expr) -> tuple[Column, ...]:
    """The columns of a CREATE TABLE's list, with their types in the standard set."""
    return tuple(
        Column(names.column(item.this), type_name(item.args["kind"]) if item.args.get("kind") else "")
        for item in schema.expressions
        if type(item) is exp.ColumnDef and type(item.this) is exp.Identifier
    )


def create_change(names: Names, node: exp.Expr) -> TableChange | None:
    """CREATE TABLE with columns, LIKE or CLONE; None where no relation is made."""
    args = node.args
    this = node.this
    schema = this if type(this) is exp.Schema else None
    table = this.this if schema is not None else this
    if type(table) is not exp.Table or args["kind"] not in _RELATION_KINDS:
        return None
    name = names.table(table)
    temporary = is_temporary(node, name)
    other = copied_table(names, node)
    if other is not None:
        return TableChange(StatementKind.CREATE_TABLE_LIKE, name, (), other, temporary)
    columns = _columns_of(names, schema) if schema is not None else ()
    properties = args.get("properties")
    if properties is not None and properties.find(exp.InheritsProperty) is not None:
        return TableChange(StatementKind.CREATE_TABLE, name, (), None, temporary)  # its parents' come before its own
    for item in properties.expressions if properties is not None else ():
        if type(item) is exp.PartitionedByProperty and type(item.this) is exp.Schema:
            columns += _columns_of(names, item.this)
    return TableChange(StatementKind.CREATE_TABLE, name, columns, None, temporary)


def copied_table(names: Names, node: exp.Expr) -> TableName | None:
    """The table that LIKE, CLONE or PARTITION OF names, and that of ClickHouse's CREATE TABLE n AS s."""
    shape = node.args.get("expression")
    if shape is not None:
        is_shape = type(shape) is exp.Table and names.dialect.create_as_copies and not is_function(shape)
        return names.table(shape) if is_shape else None
    clone = node.args.get("clone")
    if clone is not None:
        return names.table(clone.this)
    found: list[exp.Expr] = []
    if type(node.this) is exp.Schema:
        found += node.this.expressions
    properties = node.args.get("properties")
    if properties is not None:
        found += properties.expressions
    for item in found:
        if isinstance(item, exp.LikeProperty | exp.PartitionedOfProperty) and type(item.this) is exp.Table:
            return names.table(item.this)
    return None


def drop_changes(names: Names, node: exp.Expr) -> Iterator[TableChange]:
    """DROP of tables and views."""
    if node.args.get("kind") not in _RELATION_KINDS:
        return
    tables = node.args.get("tables") or ([node.this] if node.args.get("this") is not None else [])
    for table in tables:
        yield TableChange(StatementKind.DROP, names.table(table))


def alter_changes(names: Names, node: exp.Expr) -> Iterator[TableChange]:
    """ALTER: columns added, dropped and renamed; the table renamed, swapped or exchanged."""
    if not isinstance(node.this, exp.Table):
        return
    name = names.table(node.this)
    added: list[Column] = []
    dropped: list[str] = []
    renamed: list[tuple[str, str]] = []
    for action in node.args.get("actions") or ():
        kind = type(action)
        if kind is exp.AlterRename:
            yield TableChange(StatementKind.RENAME, name, other=renamed_table(name, names.table(action.this)))
        elif kind is exp.SwapTable:
            yield TableChange(StatementKind.SWAP, name, other=names.table(action.this))
        elif kind is exp.ModifyColumn and action.args.get("rename_from") is not None:
            renamed.append((_name(names, action.args["rename_from"]), _name(names, action.this.this)))
        elif kind is exp.AlterColumn and action.args.get("rename_to") is not None:
            renamed.append((_name(names, action.this), _name(names, action.args["rename_to"])))
        elif kind is exp.RenameColumn:
            renamed.append((_name(names, action.this), _name(names, action.args["to"])))
        elif kind is exp.Drop and action.args.get("kind") in _KINDS_OF_COLUMNS:
            dropped += _dropped_columns(names, action)
        elif kind is exp.ColumnDef and type(action.this) is exp.Identifier:
            added.append(
                Column(names.column(action.this), type_name(action.args["kind"]) if action.args.get("kind") else "")
            )
        elif kind is exp.Schema:
            added += _columns_of(names, action)
    retypes = any(
        action.args.get("dtype") or type(action) is exp.ModifyColumn for action in node.args.get("actions") or ()
    )
    if added or dropped or renamed or retypes or not node.args.get("actions"):
        yield TableChange(
            StatementKind.ALTER_TABLE,
            name,
            tuple(added),
            dropped_columns=tuple(dropped),
            renamed_columns=tuple(renamed),
            optional_columns=tuple(_optional_columns(names, node)),
        )


def _optional_columns(names: Names, node: exp.Expr) -> Iterator[str]:
    for action in node.args.get("actions") or ():
        if action.args.get("exists") and type(action) in (exp.Drop, exp.RenameColumn):
            yield from _dropped_columns(names, action)


def _dropped_columns(names: Names, action: exp.Expr) -> Iterator[str]:
    """DROP COLUMN a, and Spark's DROP COLUMNS (a, b)."""
    for item in action.args.get("tables") or [action.this]:
        listed = item.expressions if type(item) in (exp.Schema, exp.Tuple) else [item.unnest()]
        yield from (_name(names, one) for one in listed)


def _name(names: Names, node: exp.Expr) -> str:
    if type(node) is exp.Column:
        return names.column_parts(node)[-1]
    return names.column(node) if type(node) is exp.Identifier else str(node.name)


# What CREATE TABLE says of a table's columns, read off the tokens where sqlglot knows not all of them.
#
# Only names and types count. How a table is stored, indexed and checked changes with every release of every system
# and says nothing about lineage: it is passed over.

_TEMPORARY = keywords("TEMP TEMPORARY VOLATILE")
_COPIES = keywords("LIKE CLONE COPY OF AS TEMPLATE")
_QUERIES = keywords("SELECT SEL WITH VALUES TABLE FROM ( EXECUTE CLONE")
_CONSTRAINTS = keywords("CONSTRAINT PRIMARY UNIQUE FOREIGN CHECK EXCLUDE SUPPLEMENTAL CONNECTION PROJECTION")
_LISTED_KEYS = keywords("KEY FULLTEXT SPATIAL")
_TYPE_ENDS = keywords(
    "NOT NULL DEFAULT PRIMARY UNIQUE CHECK REFERENCES COLLATE GENERATED IDENTITY CONSTRAINT COMMENT ENCODE MASKED "
    "ENCRYPTED FILESTREAM SPARSE ROWGUIDCOL AUTO_INCREMENT AUTOINCREMENT INVISIBLE VISIBLE AS WITH SRID DISTKEY "
    "SORTKEY OPTIONS ENABLE DISABLE KEY STORAGE COMPRESSION TITLE FORMAT COMPRESS CASESPECIFIC UPPERCASE INDEX FOR "
    "CODEC TTL MATERIALIZED ALIAS EPHEMERAL STORED VIRTUAL ON HIDDEN INLINE IMPLICITLY USING TAG POLICY SUM MAX MIN "
    "REPLACE HLL_UNION BITMAP_UNION ZEROFILL INCREMENT START COLUMN_FORMAT SORT ENCRYPT"
)
_COLLECTIONS = keywords("ARRAY STRUCT MAP ROW RECORD NESTED TUPLE")


@dataclass(frozen=True, slots=True)
class _TokenSpan:
    """Tokens `first` to before `end`."""

    first: int
    end: int


def defined_table(tokens: list[Token], names: Names) -> TableChange | None:
    """The table that a CREATE TABLE with a list of columns makes; None where a query or another table gives them."""
    before = [token.text.upper() for token in tokens[:8]]
    if before[:1] != ["CREATE"] or "TABLE" not in before:
        return None
    place = before.index("TABLE") + 1
    if "(" in before[:place]:
        return None
    temporary = bool(_TEMPORARY & set(before[:place]))
    if words(tokens, place, "IF", "NOT", "EXISTS"):
        place += 3
    end, name = name_at(tokens, place, names)
    opening = next((n for n in range(end, len(tokens)) if tokens[n].token_type is TokenType.L_PAREN), None)
    if name is None or opening is None or any(tokens[n].text.upper() in _COPIES for n in range(end, opening)):
        return None
    closing = matching(tokens, opening)
    if any(_copies_or_asks(tokens, n) for n in at_depth_zero(tokens, closing + 1)):
        return None
    columns = [*_columns_defined(tokens, _TokenSpan(opening + 1, closing), names)]
    for number in at_depth_zero(tokens, closing + 1):
        if words(tokens, number, "PARTITIONED BY", "("):
            last = matching(tokens, number + 1)
            columns += (
                column for column in _columns_defined(tokens, _TokenSpan(number + 2, last), names) if column.type
            )
    if not columns:
        return None
    return TableChange(StatementKind.CREATE_TABLE, name, tuple(columns), None, temporary or name.table.startswith("#"))


def _copies_or_asks(tokens: list[Token], number: int) -> bool:
    word = tokens[number].text.upper()
    following = tokens[number + 1].text.upper() if number + 1 < len(tokens) else ""
    return (word == "AS" and following in _QUERIES) or word in ("SELECT", "LIKE", "INHERITS")


def name_at(tokens: list[Token], place: int, names: Names) -> tuple[int, TableName | None]:
    """The place behind the relation's name that stands at `place`, and the name; None where there is none."""
    parts: list[exp.Identifier] = []
    while place < len(tokens) and _is_word(tokens[place]):
        quoted = tokens[place].token_type is TokenType.IDENTIFIER
        parts.append(exp.Identifier(this=tokens[place].text, quoted=quoted))
        place += 1
        if place >= len(tokens) or tokens[place].text != ".":
            break
        place += 1
    if not parts:
        return place, None
    written = ".".join(str(part.this) for part in parts)
    return place, TableName(tuple(names.relation(part) for part in parts), written)


def _is_word(token: Token) -> bool:
    return token.token_type is TokenType.IDENTIFIER or token.text[:1].isalpha() or token.text[:1] in "_#@"


def _list_items(tokens: list[Token], around: _TokenSpan) -> Iterator[_TokenSpan]:
    """The items of a list: what stands between its commas outside of brackets."""
    first, angles = around.first, 0
    for number in at_depth_zero(tokens[: around.end], around.first):
        text = tokens[number].text
        if text == "<" and (angles or tokens[number - 1].text.upper() in _COLLECTIONS):
            angles += 1
        elif angles and set(text) == {">"}:
            angles -= len(text)
        elif text == "," and not angles:
            yield _TokenSpan(first, number)
            first = number + 1
    if first < around.end:
        yield _TokenSpan(first, around.end)


def _columns_defined(tokens: list[Token], around: _TokenSpan, names: Names) -> Iterator[Column]:
    """The columns that the items of a list, the tokens `around` them, define; constraints are passed over."""
    for item in _list_items(tokens, around):
        if item.first < item.end and not _is_constraint(tokens, item, names.dialect):
            column = _column_defined(tokens, item, names)
            if column is not None:
                yield column


def _is_constraint(tokens: list[Token], item: _TokenSpan, dialect: Dialect) -> bool:
    """Whether an `item` defines a constraint or an index, and no column."""
    first = tokens[item.first]
    if first.token_type is TokenType.IDENTIFIER or not _is_word(first):
        return not _is_word(first)
    word = _first_word(first)
    return (
        word in _CONSTRAINTS
        or (word == "INDEX" and dialect.listed_indexes)
        or (word in _LISTED_KEYS and dialect.listed_keys)
        or (word == "PERIOD" and words(tokens, item.first + 1, "FOR"))
        or (word == "LIKE" and item.end > item.first + 1)
    )


def _column_defined(tokens: list[Token], item: _TokenSpan, names: Names) -> Column | None:
    """The column that an `item` defines, with its type in the standard set, "" where that is not known."""
    token = tokens[item.first]
    if not _is_word(token) or words(tokens, item.first + 1, "="):  # an option of a virtual table
        return None
    name = names.column(exp.Identifier(this=token.text, quoted=token.token_type is TokenType.IDENTIFIER))
    end = item.first + 1
    while end < item.end and not _ends_type(tokens, end):
        end = matching(tokens, end) + 1 if tokens[end].token_type is TokenType.L_PAREN else end + 1
    return Column(name, _type(tokens[item.first + 1 : end], names))


def _ends_type(tokens: list[Token], number: int) -> bool:
    word = _first_word(tokens[number])
    if word == "CHARACTER":
        return words(tokens, number + 1, "SET")
    if word == "WITH":
        return not any(words(tokens, number + 1, *zone) for zone in (("TIME", "ZONE"), ("LOCAL", "TIME", "ZONE")))
    return word in _TYPE_ENDS


def _first_word(token: Token) -> str:
    """A token may hold several words: PRIMARY KEY, CHARACTER SET."""
    return token.text.split(None, 1)[0].upper() if token.text.strip() else ""


def _type(tokens: list[Token], names: Names) -> str:
    text = ""
    for token in tokens:
        quote = "'" if token.token_type is TokenType.STRING else ""
        text += f"{' ' if text and token.text[:1].isalnum() else ''}{quote}{token.text}{quote}"
    return _defined_type(text, names.dialect) if text else ""


def _defined_type(written: str, rules: Dialect) -> str:
    """The type of a column as a definition tells it, in the standard set where it has one; "" where it is not read."""
    try:
        built = exp.DataType.build(written, dialect=rules.sqlglot or None, udt=True)
        return type_name(built).partition("(" if built.this is exp.DType.USERDEFINED else "\0")[0]
    except (SqlglotError, ValueError, AttributeError):
        return ""


# What ALTER TABLE does to a table's columns, read off the tokens as `definitions` reads CREATE TABLE.

_KINDS_OF_RELATION = keywords(
    "MATERIALIZED FOREIGN EXTERNAL DYNAMIC ICEBERG HYBRID EVENT STREAMING SECURE SNAPSHOT INTERACTIVE LIVE IGNORE"
)
_NO_COLUMN = keywords("PARTITION SYSTEM PERIOD DEFAULT VERSIONING SUBPARTITION STATISTICS ROWDEPENDENCIES")
_NO_OBJECT_KIND = keywords(
    "ALTER MODIFY SET RESET ENABLE DISABLE WITH NOCHECK CHECK REBUILD COMMENT CLUSTER ATTACH DETACH VALIDATE "
    "FORCE ORDER ENGINE CONVERT DISCARD IMPORT ANALYZE REPAIR OPTIMIZE OWNER REPLICA INHERIT NO MOVE SHRINK "
    "LOGGING NOLOGGING PARALLEL NOPARALLEL COMPRESS NOCOMPRESS CACHE NOCACHE READ ALLOCATE DEALLOCATE TRUNCATE SPLIT "
    "MERGE COALESCE REORGANIZE ACTIVATE DEACTIVATE RECLUSTER SUSPEND RESUME UNSET APPROVE TABLESPACE DATA LOCK "
    "ALGORITHM AUTO_INCREMENT ROW_FORMAT DEFAULT CHARACTER COLLATE"
)
_LEAVING = keywords("COMMENT DROP SET TYPE FIRST AFTER")


def altered_place(tokens: list[Token]) -> int | None:
    """The place behind ALTER [MATERIALIZED, FOREIGN, …] TABLE or VIEW; None where something else is altered."""
    if not words(tokens, 0, "ALTER"):
        return None
    place = next((n for n in range(1, len(tokens)) if tokens[n].text.upper() not in _KINDS_OF_RELATION), 1)
    return place + 1 if words(tokens, place, "TABLE") or words(tokens, place, "VIEW") else None


def altered_table(tokens: list[Token], names: Names) -> TableChange | None:
    """The columns that an ALTER TABLE adds, drops and renames; None where it does what is not known here."""
    place = altered_place(tokens)
    if place is None:
        return None
    for word in ("IF", "EXISTS", "ONLY"):
        place += words(tokens, place, word)
    end, name = name_at(tokens, place, names)
    end += 3 if words(tokens, end, "ON", "CLUSTER") else 0
    if name is None or end >= len(tokens):
        return None
    stop = len(tokens) - 1 if tokens[-1].token_type is TokenType.SEMICOLON else len(tokens)
    change = _Changes(tokens, names)
    if not all(change.take(item) for item in _list_items(tokens, _TokenSpan(end, stop))):
        return None
    return TableChange(
        StatementKind.ALTER_TABLE,
        name,
        tuple(change.added),
        dropped_columns=tuple(change.dropped),
        renamed_columns=tuple(change.renamed),
        optional_columns=tuple(change.optional),
    )


def with_types(statement: RelationalStatement, text: str, rules: Dialect) -> RelationalStatement:
    """The statement with the types that an ALTER TABLE gives to columns, which no grammar reads in every spelling.

    They are told as a definition tells types, so that what is written again as it was is seen to be the same.
    """
    altered = altered_types(text, rules) if statement.kind is StatementKind.ALTER_TABLE else None
    if altered is None:
        return statement
    columns = tuple(Column(one.name, _defined_type(one.type, rules) or one.type) for one in altered[1])
    changes = (replace(change, retyped_columns=columns) for change in statement.changes)
    return replace(statement, changes=tuple(changes))


@dataclass(slots=True)
class _Changes:
    """The columns changed by the items of an ALTER TABLE so far; `verb` goes on from one item to the next."""

    tokens: list[Token]
    names: Names
    verb: str = ""
    of_columns: bool = False
    added: list[Column] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    optional: list[str] = field(default_factory=list)

    def take(self, item: _TokenSpan) -> bool:
        """Takes one item; False where it is not known what it does."""
        place = item.first
        if place >= item.end:
            return False
        word = self._word(place)
        if word in _VERBS and self._word(place + 1) != ".":
            self.verb, self.of_columns = word, not self.names.dialect.drop_needs_column or word != "DROP"
            place += 1
        elif word in _NO_OBJECT_KIND:
            self.verb = "" if word == "SET" and self._word(place + 1) == "SCHEMA" else word
        if self.verb in _NO_OBJECT_KIND:
            return True
        if self._word(place) in ("COLUMN", "COLUMNS"):
            self.of_columns = True
            place += 1
        first = place
        while self._word(place) in ("IF", "NOT", "EXISTS"):
            place += 1
        moved = len(self.dropped), len(self.renamed)
        known = place < item.end and self.verb in _VERBS and _VERBS[self.verb](self, _TokenSpan(place, item.end))
        if place > first:
            self.optional += [*self.dropped[moved[0] :], *(old for old, _new in self.renamed[moved[1] :])]
        return known

    def _word(self, place: int) -> str:
        if place >= len(self.tokens) or self.tokens[place].token_type is TokenType.IDENTIFIER:
            return ""
        return self.tokens[place].text.upper()

    def _is_no_column(self, item: _TokenSpan) -> bool:
        return _is_constraint(self.tokens, item, self.names.dialect) or self._word(item.first) in _NO_COLUMN

    def add(self, item: _TokenSpan) -> bool:
        """ADD a type, ADD (a type, b type), ADD CONSTRAINT …."""
        if self._word(item.first) == "(":
            inner = _TokenSpan(item.first + 1, matching(self.tokens, item.first))
            self.added += _columns_defined(self.tokens, inner, self.names)
        elif not self._is_no_column(item):
            column = _column_defined(self.tokens, item, self.names)
            self.added += () if column is None else (column,)
        return True

    def drop(self, item: _TokenSpan) -> bool:
        """DROP [COLUMN] a, DROP (a, b), DROP CONSTRAINT …."""
        if self._word(item.first) == "(":
            inner = _TokenSpan(item.first + 1, matching(self.tokens, item.first))
            self.dropped += (self._name(each.first) for each in _list_items(self.tokens, inner))
        elif self._is_no_column(item) or self._word(item.first) in ("INDEX", "KEY"):
            self.of_columns = False
        elif self.of_columns:
            self.dropped.append(self._name(item.first))
        return True

    def rename(self, item: _TokenSpan) -> bool:
        """RENAME [COLUMN] a TO b; a new name of the table itself is no column's."""
        if self._word(item.first + 1) != "TO" or item.end < item.first + 3 or not self.of_columns:
            return False
        self.renamed.append((self._name(item.first), self._name(item.first + 2)))
        return True

    def change(self, item: _TokenSpan) -> bool:
        """MySQL: CHANGE [COLUMN] a b type; Spark's CHANGE COLUMN a COMMENT, DROP, TYPE, … leaves the name."""
        if item.end < item.first + 3:
            return False
        if self.tokens[item.first + 1].text.upper() in _LEAVING and self.names.dialect.change_keeps_names:
            return True
        old, new = self._name(item.first), self._name(item.first + 1)
        self.renamed += ((old, new),) if old != new else ()
        return True

    def _name(self, place: int) -> str:
        token = self.tokens[place]
        return self.names.column(exp.Identifier(this=token.text, quoted=token.token_type is TokenType.IDENTIFIER))


_VERBS = {"ADD": _Changes.add, "DROP": _Changes.drop, "RENAME": _Changes.rename, "CHANGE": _Changes.change}
