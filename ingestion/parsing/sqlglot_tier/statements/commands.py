"""Statements that sqlglot takes for opaque commands and that move data or names: read off their tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot.tokenizer_core import Token

from ingestion.dialects.definition import keywords
from ingestion.model import StatementKind, TableChange, TableName, Target, WriteMode
from ingestion.names.storage_paths import location
from ingestion.parsing.sqlglot_tier.names.identifiers import Names, renamed_table
from ingestion.parsing.sqlglot_tier.statements.alterations import alter
from ingestion.parsing.sqlglot_tier.statements.words import Command, Words, move_rows
from ingestion.parsing.sqlglot_tier.statements.writes import star_from
from ingestion.relational.form import WriteForm

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
    return None if path is None else Command(StatementKind.COPY, (move_rows(location(path), table),))


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
    return Command(StatementKind.COPY, (move_rows(location(source), location(target)),))


def _import(words: Words, names: Names) -> Command | None:
    """Exasol: IMPORT INTO t FROM … FILE 'location'."""
    if not words.take("IMPORT", "INTO"):
        return None
    found = _table_and_file(words)
    return None if found is None else Command(StatementKind.COPY, (move_rows(found[1], found[0]),))


def _export(words: Words, names: Names) -> Command | None:
    """Exasol: EXPORT t INTO … FILE 'location'."""
    words.take("EXPORT")
    found = _table_and_file(words)
    return None if found is None else Command(StatementKind.COPY, (move_rows(*found, WriteMode.OVERWRITE),))


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
    return Command(StatementKind.CREATE_TABLE_LIKE, (move_rows(other, table, WriteMode.CREATE),), (change,))


_READERS: dict[str, Callable[[Words, Names], Command | None]] = {
    "RENAME": _rename,
    "EXCHANGE": _exchange,
    "ALTER": alter,
    "BULK": _bulk,
    "COPY": _copy,
    "CREATE": _create,
    "DROP": _drop,
    "EXPORT": _export,
    "IMPORT": _import,
    "LOAD": _load,
}
