"""Statements that sqlglot takes for opaque commands and that move data or names: read off their tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot.tokenizer_core import Token, TokenType

from ingestion.analysis.form import WriteForm
from ingestion.dialects.definition import keywords
from ingestion.model.lineage import StatementKind, TableChange, TableName, Target, WriteMode
from ingestion.model.storage_paths import location
from ingestion.parsing.sqlglot.expressions.names import Names, renamed_table
from ingestion.parsing.sqlglot.repairs.edits import matching
from ingestion.parsing.sqlglot.statements.definitions import altered_place, name_at
from ingestion.parsing.sqlglot.statements.writes import star_from

# A cursor over the tokens of a statement that sqlglot does not look into, and what such a statement does.


@dataclass(frozen=True, slots=True)
class Command:
    """What a command does: its kind, flows and changes."""

    kind: StatementKind
    writes: tuple[WriteForm, ...] = ()
    changes: tuple[TableChange, ...] = ()


class Words:
    """A cursor over a command's tokens."""

    __slots__ = ("_names", "_place", "_tokens")

    def __init__(self, tokens: list[Token], names: Names) -> None:
        self._tokens = [token for token in tokens if token.token_type is not TokenType.SEMICOLON]
        self._names = names
        self._place = 0

    @property
    def word(self) -> str:
        """The token here in capitals, "" at the end."""
        return self._tokens[self._place].text.upper() if self._place < len(self._tokens) else ""

    def take(self, *words: str) -> bool:
        """Step over the words if they stand here."""
        here = [token.text.upper() for token in self._tokens[self._place : self._place + len(words)]]
        if here != list(words):
            return False
        self._place += len(words)
        return True

    def take_altered(self) -> bool:
        """Step over ALTER TABLE or VIEW, of whatever kind it is, if that stands here."""
        place = altered_place(self._tokens) if self._place == 0 else None
        self._place = place or self._place
        return place is not None

    def step(self) -> None:
        """Step over the token here."""
        self._place += 1

    def find(self, *words: str) -> bool:
        """Step behind the next place where the words stand."""
        for place in range(self._place, len(self._tokens)):
            if [token.text.upper() for token in self._tokens[place : place + len(words)]] == list(words):
                self._place = place + len(words)
                return True
        return False

    def name(self) -> TableName | None:
        """The relation's name that stands here."""
        self._place, name = name_at(self._tokens, self._place, self._names)
        return name

    def brackets(self, text: str) -> str | None:
        """The text inside the next brackets."""
        tokens = self._tokens
        places = range(self._place, len(tokens))
        opening = next((place for place in places if tokens[place].token_type is TokenType.L_PAREN), None)
        closing = matching(tokens, opening) if opening is not None else 0
        if opening is None or tokens[closing].token_type is not TokenType.R_PAREN:
            return None
        self._place = closing + 1
        return text[tokens[opening].end + 1 : tokens[closing].start]

    def place(self) -> str | None:
        """The path that stands here: a string, or what has no space in it (@stage/path)."""
        tokens = self._tokens[self._place :]
        if not tokens:
            return None
        if tokens[0].token_type is TokenType.STRING:
            self._place += 1
            return tokens[0].text
        gaps = (n for n in range(1, len(tokens)) if tokens[n].start != tokens[n - 1].end + 1)
        length = next(gaps, len(tokens))
        self._place += length
        return "".join(token.text for token in tokens[:length])

    def string(self) -> str | None:
        """The next string literal."""
        for place in range(self._place, len(self._tokens)):
            if self._tokens[place].token_type in (
                TokenType.STRING,
                TokenType.RAW_STRING,
                TokenType.HEREDOC_STRING,
                TokenType.NATIONAL_STRING,
            ):
                self._place = place + 1
                return self._tokens[place].text
        return None


def _move_rows(source: TableName, target: TableName, mode: WriteMode = WriteMode.APPEND) -> WriteForm:
    """What writes all rows of `source` into `target`: `ALTER TABLE target ATTACH PARTITION source`."""
    return WriteForm(Target(target, mode), star_from(source))


# ALTERs that move rows between tables, or names, read off their tokens.


def _alter(words: Words, names: Names) -> Command | None:
    """The ALTER TABLEs that move rows between tables, or names."""
    if words.take("ALTER", "SCHEMA"):
        return _transfer(words)
    if not words.take_altered():
        return None
    words.take("IF", "EXISTS")
    words.take("ONLY")
    table = words.name()
    if table is None:
        return None
    if words.word == ",":
        return _renamed_together(words, table)
    if words.take("ON", "CLUSTER"):
        words.step()
    if words.take("SET", "SCHEMA"):
        schema = words.name()
        return _moved_name(table, schema) if schema is not None and not words.word else None
    if words.take("SWAP", "WITH") or words.take("REPLACE", "WITH", "TABLE"):
        other = words.name()
        return (
            Command(StatementKind.SWAP, (), (TableChange(StatementKind.SWAP, table, other=other),)) if other else None
        )
    if words.take("RENAME"):
        words.take("TO") or words.take("AS")
        other = words.name()
        if other is None or words.word:
            return None
        change = TableChange(StatementKind.RENAME, table, other=renamed_table(table, other))
        return Command(StatementKind.RENAME, (), (change,))
    for read in (_exchange_partition, _switch, _append, _clickhouse_partition):
        found = read(words, names, table)
        if found is not None:
            return found
    return None


def _renamed_together(words: Words, first: TableName) -> Command | None:
    """Vertica: ALTER TABLE a, b RENAME TO c, d, one after the other."""
    old = [first, *_listed_tables(words)]
    new = (
        [name for name in (words.name(), *_listed_tables(words)) if name is not None]
        if words.take("RENAME", "TO")
        else []
    )
    if len(old) != len(new) or words.word:
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


def _transfer(words: Words) -> Command | None:
    """T-SQL: ALTER SCHEMA s TRANSFER [OBJECT::] t."""
    schema = words.name()
    if schema is None or not words.take("TRANSFER"):
        return None
    words.take("OBJECT", "::")
    table = words.name()
    return _moved_name(table, schema) if table is not None and not words.word else None


def _moved_name(table: TableName, schema: TableName) -> Command:
    """The table under its own name in another schema of its database."""
    database = table.parts[:-2] if len(schema.parts) == 1 else ()
    new = TableName((*database, *schema.parts, table.table), f"{schema}.{str(table).rpartition('.')[2]}")
    return Command(StatementKind.RENAME, (), (TableChange(StatementKind.RENAME, table, other=new),))


def _exchange_partition(words: Words, names: Names, table: TableName) -> Command | None:
    if words.word != "EXCHANGE" or not words.find("WITH", "TABLE"):
        return None
    other = words.name()
    if other is None:
        return None
    writes = [_move_rows(other, table)]
    if names.dialect.exchange_swaps:
        writes.append(_move_rows(table, other))
    return Command(StatementKind.INSERT, tuple(writes))


def _switch(words: Words, names: Names, table: TableName) -> Command | None:
    if words.word != "SWITCH" or not words.find("TO"):
        return None
    other = words.name()
    return Command(StatementKind.INSERT, (_move_rows(table, other),)) if other else None


def _append(words: Words, names: Names, table: TableName) -> Command | None:
    if not words.take("APPEND", "FROM"):
        return None
    other = words.name()
    return Command(StatementKind.INSERT, (_move_rows(other, table),)) if other else None


def _clickhouse_partition(words: Words, names: Names, table: TableName) -> Command | None:
    if words.word in ("REPLACE", "ATTACH") and words.find("FROM"):
        other = words.name()
        return Command(StatementKind.INSERT, (_move_rows(other, table),)) if other else None
    if words.word == "MOVE" and words.find("TO", "TABLE"):
        other = words.name()
        return Command(StatementKind.INSERT, (_move_rows(table, other),)) if other else None
    return None


# Statements that sqlglot takes for opaque commands and that move data or names: read off their tokens.

_NAME_TOKENS_END = frozenset({"TO", "AS", "AND", "WITH", "FROM", "ON", "INTO", "PARTITION", "INCLUDING", "EXCLUDING"})
_WITHOUT_LINEAGE = keywords(
    "ADD ANALYZE ANALYSE ATTACH AUDIT BACKUP BEGIN CALL CHECK CHECKPOINT CLOSE CLUSTER COMMENT COMMIT "
    "DEALLOCATE DECLARE DENY DESC DESCRIBE DETACH DISCARD DO EXPLAIN FETCH FLUSH GET GRANT HELP INVALIDATE "
    "KILL LIST LISTEN LOCK LS MSCK NOTIFY OPEN OPTIMIZE PREPARE PURGE PUT REFRESH REINDEX REMOVE RESET RESTORE "
    "REVOKE RM ROLLBACK SAVEPOINT SET SHOW SHUTDOWN START STOP SYSTEM UNCACHE UNDROP UNLOCK USE VACUUM WAIT "
    "WATCH"
)


def without_lineage(text: str) -> bool:
    """Whether a command's first word says that it neither moves data nor changes a relation."""
    words = text.split(None, 1)
    return bool(words) and words[0].upper() in _WITHOUT_LINEAGE


def read_command(tokens: list[Token], names: Names) -> Command | None:
    """What a command does, None where it is none of those known here."""
    words = Words(tokens, names)
    reader = _READERS.get(words.word)
    return reader(words, names) if reader is not None else None


def _rename(words: Words, names: Names) -> Command | None:
    """RENAME TABLE a TO b, c TO d."""
    words.take("RENAME")
    words.take("OBJECT")  # Synapse
    if not (words.take("TABLE") or words.take("TABLES") or words.take("VIEW")) and words.word in (
        "COLUMN",
        "INDEX",
        "USER",
    ):
        return None
    words.take("IF", "EXISTS")
    changes = tuple(_renames(words))
    return Command(StatementKind.RENAME, (), changes) if changes else None


def _renames(words: Words) -> Iterator[TableChange]:
    while True:
        old = words.name()
        if old is None or not (words.take("TO") or words.take("AS")):
            return
        new = words.name()
        if new is None:
            return
        yield TableChange(StatementKind.RENAME, old, other=renamed_table(old, new))
        if not words.take(","):
            return


def _drop(words: Words, names: Names) -> Command | None:
    """DROP of a table whose kind the grammar does not know: DROP EXTERNAL TABLE t."""
    if not words.find("TABLE"):
        return None
    words.take("IF", "EXISTS")
    table = words.name()
    return Command(StatementKind.DROP, (), (TableChange(StatementKind.DROP, table),)) if table else None


def _exchange(words: Words, names: Names) -> Command | None:
    """ClickHouse: EXCHANGE TABLES a AND b."""
    if not (words.take("EXCHANGE", "TABLES") or words.take("EXCHANGE", "TABLE")):
        return None
    left = words.name()
    if left is None or not words.take("AND"):
        return None
    right = words.name()
    return Command(StatementKind.SWAP, (), (TableChange(StatementKind.SWAP, left, other=right),)) if right else None


def _load(words: Words, names: Names) -> Command | None:
    """MySQL: LOAD DATA [LOCAL] INFILE '…' INTO TABLE t."""
    words.take("LOAD", "DATA")
    if words.word in ("INTO", "OVERWRITE"):
        return _load_files(words)
    path = words.string()
    if path is None or not words.find("INTO", "TABLE"):
        return None
    table = words.name()
    if table is None:
        return None
    source = location(path)
    return Command(StatementKind.COPY, (WriteForm(Target(table, WriteMode.APPEND), star_from(source)),))


def _bulk(words: Words, names: Names) -> Command | None:
    """T-SQL: BULK INSERT t FROM 'path'."""
    table = words.name() if words.take("BULK", "INSERT") else None
    if table is None or not words.take("FROM"):
        return None
    path = words.string()
    return None if path is None else Command(StatementKind.COPY, (_move_rows(location(path), table),))


def _load_files(words: Words) -> Command | None:
    """BigQuery: LOAD DATA INTO|OVERWRITE t … FROM FILES (…, uris = ['…', '…'])."""
    mode = WriteMode.OVERWRITE if words.take("OVERWRITE") else WriteMode.APPEND
    words.take("INTO")
    temporary = words.take("TEMP", "TABLE") or words.take("TEMPORARY", "TABLE") or (words.take("TABLE") and False)
    table = words.name()
    if table is None or not words.find("FROM", "FILES") or not words.find("URIS", "=", "["):
        return None
    target = Target(table, mode, temporary=temporary)
    paths: list[str] = []
    while words.word and words.word != "]":
        path = words.string()
        if path is None:
            break
        paths.append(path)
        words.take(",")
    writes = tuple(WriteForm(target, star_from(location(path))) for path in dict.fromkeys(paths))
    return Command(StatementKind.COPY, writes) if writes else None


def _copy(words: Words, names: Names) -> Command | None:
    """Snowflake: COPY FILES INTO stage FROM stage."""
    if not words.take("COPY", "FILES", "INTO"):
        return None
    target = words.place()
    source = words.place() if words.take("FROM") else None
    if target is None or source is None:
        return None
    return Command(StatementKind.COPY, (_move_rows(location(source), location(target)),))


def _import(words: Words, names: Names) -> Command | None:
    """Exasol: IMPORT INTO t FROM … FILE 'location'."""
    if not words.take("IMPORT", "INTO"):
        return None
    found = _table_and_file(words)
    return None if found is None else Command(StatementKind.COPY, (_move_rows(found[1], found[0]),))


def _export(words: Words, names: Names) -> Command | None:
    """Exasol: EXPORT t INTO … FILE 'location'."""
    words.take("EXPORT")
    found = _table_and_file(words)
    return None if found is None else Command(StatementKind.COPY, (_move_rows(*found, WriteMode.OVERWRITE),))


def _table_and_file(words: Words) -> tuple[TableName, TableName] | None:
    """The table that stands here and the FILE 'location' that comes behind it."""
    table = words.name()
    path = words.string() if table is not None and words.find("FILE") else None
    return None if table is None or path is None else (table, location(path))


def _create(words: Words, names: Names) -> Command | None:
    """Fabric: CREATE TABLE a AS CLONE OF b."""
    if not words.take("CREATE", "TABLE"):
        return None
    table = words.name()
    if table is None or not words.take("AS", "CLONE", "OF"):
        return None
    other = words.name()
    if other is None:
        return None
    change = TableChange(StatementKind.CREATE_TABLE_LIKE, table, other=other)
    return Command(StatementKind.CREATE_TABLE_LIKE, (_move_rows(other, table, WriteMode.CREATE),), (change,))


_READERS: dict[str, Callable[[Words, Names], Command | None]] = {
    "RENAME": _rename,
    "EXCHANGE": _exchange,
    "ALTER": _alter,
    "BULK": _bulk,
    "COPY": _copy,
    "CREATE": _create,
    "DROP": _drop,
    "EXPORT": _export,
    "IMPORT": _import,
    "LOAD": _load,
}
