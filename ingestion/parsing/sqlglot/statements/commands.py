"""Statements that sqlglot takes for opaque commands and that move data or names: read off their tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ingestion.analysis.form import WriteForm
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.model.lineage import NameKind, StatementKind, TableChange, TableName, Target, WriteMode
from ingestion.model.storage_paths import location
from ingestion.parsing.sqlglot.expressions.names import renamed_table
from ingestion.parsing.sqlglot.statements.definitions import behind_altered
from ingestion.parsing.sqlglot.statements.writes import star_from
from ingestion.parsing.token_names import relation_name

_NO_SWAP = re.compile(r"(['\"])swap\1\s*=\s*(['\"])false\2", re.IGNORECASE)
_WITHOUT_LINEAGE = keywords(
    "add analyze analyse attach audit backup begin call check checkpoint close cluster comment commit "
    "deallocate declare deny desc describe detach discard do explain fetch flush get grant help invalidate "
    "kill list listen lock ls msck notify open optimize prepare purge put refresh reindex remove reset restore "
    "revoke rm rollback savepoint set show shutdown start stop system uncache undrop unlock use vacuum wait "
    "watch"
)


@dataclass(frozen=True, slots=True)
class Command:
    """What a command does: its kind, flows and changes."""

    kind: StatementKind
    writes: tuple[WriteForm, ...] = ()
    changes: tuple[TableChange, ...] = ()


class Words:
    """An index into the code of a command that moves on: what stands there is taken, or not."""

    __slots__ = ("_end", "_index", "code")

    def __init__(self, code: Code) -> None:
        self.code = code
        self._index = 0
        self._end = len(code) - (code.word(len(code) - 1) == ";")

    @property
    def word(self) -> str:
        """The word here, "" at the end and for what is none."""
        return self.code.word(self._index) if self._index < self._end else ""

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._index >= self._end

    def take(self, *words: str) -> bool:
        """Step over the words if they stand here."""
        if not self.code.stands(self._index, *words):
            return False
        self._index += len(words)
        return True

    def take_altered(self) -> bool:
        """Step over ALTER TABLE or VIEW, of whatever kind it is, if that stands here."""
        index = behind_altered(self.code) if self._index == 0 else None
        self._index = index or self._index
        return index is not None

    def step(self) -> None:
        """Step over the token here."""
        self._index += 1

    def find(self, *words: str) -> bool:
        """Step behind the next index at which the words stand."""
        for index in range(self._index, self._end):
            if self.code.stands(index, *words):
                self._index = index + len(words)
                return True
        return False

    def name(self) -> TableName | None:
        """The relation's name that stands here."""
        name, self._index = relation_name(self.code, self._index)
        return name

    def column(self) -> str:
        """The column's name that stands here, "" where none does."""
        if self.is_at_end or not self.code.is_name(self._index):
            return ""
        self._index += 1
        return self.code.column(self._index - 1)

    def brackets(self) -> str | None:
        """The text inside the next brackets."""
        code = self.code
        opening = next((index for index in range(self._index, self._end) if code.word(index) == "("), None)
        if opening is None or code.closing(opening) == len(code):
            return None
        self._index = code.after(opening)
        return code.text[code.end_of(opening) : code.start_of(code.closing(opening))]

    def path(self) -> str | None:
        """The path that stands here: a string, or what has no space in it (@stage/path)."""
        if self.is_at_end:
            return None
        code, first = self.code, self._index
        self._index += 1
        if code.is_string(first):
            return code.without_quotes(first)
        while self._index < self._end and code.start_of(self._index) == code.end_of(self._index - 1):
            self._index += 1
        return code.between(first, self._index)

    def string(self) -> str | None:
        """The next string literal."""
        for index in range(self._index, self._end):
            if self.code.is_string(index):
                self._index = index + 1
                return self.code.without_quotes(index)
        return None


def _move_rows(source: TableName, target: TableName, mode: WriteMode = WriteMode.APPEND) -> WriteForm:
    """What writes all rows of `source` into `target`: `ALTER TABLE target APPEND FROM source`."""
    return WriteForm(Target(target, mode), star_from(source))


# ALTERs that move rows between tables, or names, read off their tokens.


def _alter(words: Words) -> Command | None:
    """The ALTER TABLEs that move rows between tables, or names."""
    if words.take("alter", "schema"):
        return _moved_schema(words, NameKind.SCHEMA)
    if words.take("alter", "database"):
        return _moved_schema(words, NameKind.DATABASE)
    if not words.take_altered():
        return None
    words.take("if", "exists")
    words.take("only")
    table = words.name()
    if table is None:
        return None
    if words.word == ",":
        return _renamed_together(words, table)
    if words.take("on", "cluster"):
        words.step()
    if words.take("set", "schema"):
        schema = words.name()
        return _moved_name(table, schema) if schema is not None and words.is_at_end else None
    if words.take("swap", "with"):
        other = words.name()
        return (
            Command(StatementKind.SWAP, (), (TableChange(StatementKind.SWAP, table, other=other),)) if other else None
        )
    if words.take("replace", "with", "table"):
        return _replaced_by(words, table)
    if words.take("rename"):
        words.take("to") or words.take("as")
        other = words.name()
        if other is None or not words.is_at_end:
            return None
        change = TableChange(StatementKind.RENAME, table, other=renamed_table(table, other))
        return Command(StatementKind.RENAME, (), (change,))
    for read in (_exchange_partition, _convert, _switch, _append, _attached_table, _clickhouse_partition):
        found = read(words, table)
        if found is not None:
            return found
    return None


def _replaced_by(words: Words, table: TableName) -> Command | None:
    """Doris: ALTER TABLE a REPLACE WITH TABLE b, which exchanges them; with PROPERTIES('swap' = 'false') b is called a
    from then on, and what a was is dropped.
    """
    named = words.name()
    if named is None:
        return None
    other = renamed_table(table, named)  # a bare name is in the database of the first
    if not _NO_SWAP.search(words.code.text):
        return Command(StatementKind.SWAP, (), (TableChange(StatementKind.SWAP, table, other=other),))
    dropped = TableChange(StatementKind.DROP, table)
    renamed = TableChange(StatementKind.RENAME, other, other=table)
    return Command(StatementKind.RENAME, (), (dropped, renamed))


def _renamed_together(words: Words, first: TableName) -> Command | None:
    """Vertica: ALTER TABLE a, b RENAME TO c, d, one after the other."""
    old = [first, *_listed_tables(words)]
    new = (
        [name for name in (words.name(), *_listed_tables(words)) if name is not None]
        if words.take("rename", "to")
        else []
    )
    if len(old) != len(new) or not words.is_at_end:
        return None
    changes = tuple(
        TableChange(StatementKind.RENAME, one, other=TableName((*one.parts[:-1], *other.parts), str(other)))
        for one, other in zip(old, new, strict=True)
    )
    return Command(StatementKind.RENAME, (), changes)


def _listed_tables(words: Words) -> Iterator[TableName]:
    while words.take(","):
        name = words.name()
        if name is not None:
            yield name


def _moved_schema(words: Words, kind: NameKind) -> Command | None:
    """ALTER SCHEMA or DATABASE a SWAP WITH b, RENAME TO b: all that it holds moves."""
    words.take("if", "exists")
    name = words.name()
    if name is not None and kind is NameKind.SCHEMA and words.take("transfer"):
        return _transfer(words, name)
    change = StatementKind.SWAP if words.take("swap", "with") else StatementKind.RENAME
    if name is not None and (change is StatementKind.SWAP or words.take("rename", "to")):
        other = words.name()
        if other is not None and words.is_at_end:
            if change is StatementKind.RENAME and len(other.parts) < len(name.parts):
                other = TableName((*name.parts[: -len(other.parts)], *other.parts), str(other))
            moved = TableChange(change, replace(name, kind=kind), other=replace(other, kind=kind))
            return Command(change, (), (moved,))
    return None


def _transfer(words: Words, schema: TableName) -> Command | None:
    """T-SQL: ALTER SCHEMA s TRANSFER [OBJECT::] t."""
    words.take("object", ":", ":")
    table = words.name()
    return _moved_name(table, schema) if table is not None and words.is_at_end else None


def _moved_name(table: TableName, schema: TableName) -> Command:
    """The table under its own name in another schema of its database."""
    database = table.parts[:-2] if len(schema.parts) == 1 else ()
    new = TableName((*database, *schema.parts, table.table), f"{schema}.{str(table).rpartition('.')[2]}")
    return Command(StatementKind.RENAME, (), (TableChange(StatementKind.RENAME, table, other=new),))


def _exchange_partition(words: Words, table: TableName) -> Command | None:
    """ALTER TABLE t EXCHANGE PARTITION p WITH TABLE s: most engines swap the rows, Hive moves them."""
    if words.word != "exchange" or not words.find("with", "table"):
        return None
    other = words.name()
    if other is None:
        return None
    writes = [_move_rows(other, table)]
    if words.code.dialect.exchange_swaps:
        writes.append(_move_rows(table, other))
    return Command(StatementKind.INSERT, tuple(writes))


def _convert(words: Words, table: TableName) -> Command | None:
    """MariaDB: ALTER TABLE t CONVERT TABLE s TO PARTITION p ends s, CONVERT PARTITION p TO TABLE s makes it."""
    if words.take("convert", "table"):
        other = words.name()
        if other is None:
            return None
        return Command(StatementKind.INSERT, (_move_rows(other, table),), (TableChange(StatementKind.DROP, other),))
    if not words.take("convert", "partition") or not words.find("to", "table"):
        return None
    other = words.name()
    if other is None:
        return None
    made = TableChange(StatementKind.CREATE_TABLE_LIKE, other, other=table)
    return Command(StatementKind.CREATE_TABLE_LIKE, (_move_rows(table, other, WriteMode.CREATE),), (made,))


def _switch(words: Words, table: TableName) -> Command | None:
    """T-SQL: ALTER TABLE t SWITCH [PARTITION 1] TO s."""
    if words.word != "switch" or not words.find("to"):
        return None
    other = words.name()
    return Command(StatementKind.INSERT, (_move_rows(table, other),)) if other else None


def _append(words: Words, table: TableName) -> Command | None:
    """Redshift: ALTER TABLE t APPEND FROM s."""
    if not words.take("append", "from"):
        return None
    other = words.name()
    return Command(StatementKind.INSERT, (_move_rows(other, table),)) if other else None


def _attached_table(words: Words, table: TableName) -> Command | None:
    """PostgreSQL: ALTER TABLE t ATTACH PARTITION s FOR VALUES … or DEFAULT: columns of one name are one."""
    code = words.code
    bounded = code.stands(len(code) - 1, "default") or any(code.stands(n, "for", "values") for n in range(len(code)))
    other = words.name() if bounded and words.take("attach", "partition") else None
    if other is None:
        return None
    return Command(StatementKind.INSERT, (WriteForm(Target(table, WriteMode.APPEND, by_name=True), star_from(other)),))


def _clickhouse_partition(words: Words, table: TableName) -> Command | None:
    """ALTER TABLE t REPLACE or ATTACH PARTITION p FROM s, and MOVE PARTITION p TO TABLE s."""
    if words.word in ("replace", "attach") and words.find("from"):
        other = words.name()
        return Command(StatementKind.INSERT, (_move_rows(other, table),)) if other else None
    if words.word == "move" and words.find("to", "table"):
        other = words.name()
        return Command(StatementKind.INSERT, (_move_rows(table, other),)) if other else None
    return None


def without_lineage(text: str) -> bool:
    """Whether a command's first word says that it neither moves data nor changes a relation."""
    words = text.split(None, 1)
    return bool(words) and words[0].lower() in _WITHOUT_LINEAGE


def read_command(code: Code) -> Command | None:
    """What a command does, None where it is none of those known here."""
    words = Words(code)
    reader = _READERS.get(words.word)
    return reader(words) if reader is not None else None


def _rename(words: Words) -> Command | None:
    """RENAME TABLE a TO b, c TO d; Informix's RENAME COLUMN t.a TO b, Synapse's RENAME OBJECT t COLUMN a TO b."""
    words.take("rename")
    if words.word in ("schema", "database"):
        return _renamed_schemas(words)
    if words.take("column"):
        of_column = words.name()
        if of_column is None or len(of_column.parts) == 1:
            return None
        table = TableName(of_column.parts[:-1], str(of_column).rpartition(".")[0])
        return _renamed_column(words, table, of_column.table)
    if words.take("object"):
        words.take(":", ":")
    elif not (words.take("table") or words.take("tables") or words.take("view")) and words.word in ("index", "user"):
        return None
    words.take("if", "exists")
    first = words.name()
    if first is not None and words.take("column"):
        return _renamed_column(words, first, words.column())
    changes = tuple(_renames(words, first))
    return Command(StatementKind.RENAME, (), changes) if changes else None


def _renamed_schemas(words: Words) -> Command | None:
    """Exasol: RENAME SCHEMA a TO b; ClickHouse: RENAME DATABASE a TO b, c TO d ON CLUSTER e, which are its schemas."""
    is_schema = words.code.dialect.two_level or words.word == "schema"
    words.step()
    words.take("if", "exists")
    kind = NameKind.SCHEMA if is_schema else NameKind.DATABASE
    changes = list[TableChange]()
    while not changes or words.take(","):
        old = words.name()
        new = words.name() if old is not None and words.take("to") else None
        if old is None or new is None:
            return None
        changes.append(TableChange(StatementKind.RENAME, replace(old, kind=kind), other=replace(new, kind=kind)))
    return Command(StatementKind.RENAME, (), tuple(changes)) if words.is_at_end or words.take("on", "cluster") else None


def _renamed_column(words: Words, table: TableName, old: str) -> Command | None:
    """What stands behind the column's old name: TO b."""
    new = words.column() if old and words.take("to") else ""
    if not new or not words.is_at_end:
        return None
    change = TableChange(StatementKind.ALTER_TABLE, table, renamed_columns=((old, new),))
    return Command(StatementKind.ALTER_TABLE, (), (change,))


def _renames(words: Words, old: TableName | None) -> Iterator[TableChange]:
    """RENAME TABLE a TO b, c TO d: one after the other."""
    while old is not None and (words.take("to") or words.take("as")):
        new = words.name()
        if new is None:
            return
        yield TableChange(StatementKind.RENAME, old, other=renamed_table(old, new))
        old = words.name() if words.take(",") else None


def _drop(words: Words) -> Command | None:
    """DROP of a table whose kind the grammar does not know: DROP EXTERNAL TABLE t."""
    if not words.find("table"):
        return None
    words.take("if", "exists")
    table = words.name()
    return Command(StatementKind.DROP, (), (TableChange(StatementKind.DROP, table),)) if table else None


def _exchange(words: Words) -> Command | None:
    """ClickHouse: EXCHANGE TABLES a AND b."""
    if not (words.take("exchange", "tables") or words.take("exchange", "table")):
        return None
    left = words.name()
    if left is None or not words.take("and"):
        return None
    right = words.name()
    return Command(StatementKind.SWAP, (), (TableChange(StatementKind.SWAP, left, other=right),)) if right else None


def _load(words: Words) -> Command | None:
    """MySQL: LOAD DATA [LOCAL] INFILE '…' INTO TABLE t."""
    words.take("load", "data")
    if words.word in ("into", "overwrite"):
        return _load_files(words)
    path = words.string()
    if path is None or not words.find("into", "table"):
        return None
    table = words.name()
    if table is None:
        return None
    source = location(path)
    return Command(StatementKind.COPY, (WriteForm(Target(table, WriteMode.APPEND), star_from(source)),))


def _bulk(words: Words) -> Command | None:
    """T-SQL: BULK INSERT t FROM 'path'."""
    table = words.name() if words.take("bulk", "insert") else None
    if table is None or not words.take("from"):
        return None
    path = words.string()
    return None if path is None else Command(StatementKind.COPY, (_move_rows(location(path), table),))


def _load_files(words: Words) -> Command | None:
    """BigQuery: LOAD DATA INTO|OVERWRITE t … FROM FILES (…, uris = ['…', '…'])."""
    mode = WriteMode.OVERWRITE if words.take("overwrite") else WriteMode.APPEND
    words.take("into")
    temporary = words.take("temp", "table") or words.take("temporary", "table") or (words.take("table") and False)
    table = words.name()
    if table is None or not words.find("from", "files") or not words.find("uris", "=", "["):
        return None
    target = Target(table, mode, temporary=temporary)
    paths: list[str] = []
    while not words.is_at_end and words.word != "]":
        path = words.string()
        if path is None:
            break
        paths.append(path)
        words.take(",")
    writes = tuple(WriteForm(target, star_from(location(path))) for path in dict.fromkeys(paths))
    return Command(StatementKind.COPY, writes) if writes else None


def _copy(words: Words) -> Command | None:
    """Snowflake: COPY FILES INTO stage FROM stage."""
    if not words.take("copy", "files", "into"):
        return None
    target = words.path()
    source = words.path() if words.take("from") else None
    if target is None or source is None:
        return None
    return Command(StatementKind.COPY, (_move_rows(location(source), location(target)),))


def _import(words: Words) -> Command | None:
    """Exasol: IMPORT INTO t FROM … FILE 'location'; Hive: IMPORT [EXTERNAL] TABLE t PARTITION (…) FROM 'path'."""
    if words.take("import", "table") or words.take("import", "external", "table"):
        table = words.name()
        path = words.string() if table is not None and words.find("from") else None
        files = None if path is None else location(path)
        return None if table is None or files is None else Command(StatementKind.COPY, (_move_rows(files, table),))
    if not words.take("import", "into"):
        return None
    found = _table_and_file(words)
    return None if found is None else Command(StatementKind.COPY, (_move_rows(found[1], found[0]),))


def _export(words: Words) -> Command | None:
    """Exasol: EXPORT t INTO … FILE 'location'; SAP HANA: EXPORT INTO CSV FILE 'location' FROM t.

    Hive: EXPORT TABLE t PARTITION (…) TO 'path'.
    """
    words.take("export")
    if words.take("table"):
        table = words.name()
        path = words.string() if table is not None and words.find("to") else None
        found = None if table is None or path is None else (table, location(path))
    elif words.take("into"):
        path = words.string() if words.find("file") else None
        table = words.name() if path is not None and words.take("from") else None
        found = None if table is None or path is None else (table, location(path))
    else:
        found = _table_and_file(words)
    return None if found is None else Command(StatementKind.COPY, (_move_rows(*found, WriteMode.OVERWRITE),))


def _table_and_file(words: Words) -> tuple[TableName, TableName] | None:
    """The table that stands here and the FILE 'location' that comes behind it."""
    table = words.name()
    path = words.string() if table is not None and words.find("file") else None
    return None if table is None or path is None else (table, location(path))


def _create(words: Words) -> Command | None:
    """Fabric: CREATE TABLE a AS CLONE OF b."""
    if not words.take("create", "table"):
        return None
    table = words.name()
    if table is None or not words.take("as", "clone", "of"):
        return None
    other = words.name()
    if other is None:
        return None
    change = TableChange(StatementKind.CREATE_TABLE_LIKE, table, other=other)
    return Command(StatementKind.CREATE_TABLE_LIKE, (_move_rows(other, table, WriteMode.CREATE),), (change,))


_READERS: dict[str, Callable[[Words], Command | None]] = {
    "rename": _rename,
    "exchange": _exchange,
    "alter": _alter,
    "bulk": _bulk,
    "copy": _copy,
    "create": _create,
    "drop": _drop,
    "export": _export,
    "import": _import,
    "load": _load,
}
