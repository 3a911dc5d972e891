"""Statements that sqlglot takes for opaque commands and that move data or names: read off their tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.lexing import keywords
from ingestion.model import StatementKind, TableChange, TableName, Target, WriteMode
from ingestion.parsing.relational import Write
from ingestion.parsing.sqlglot_names import Names
from ingestion.parsing.sqlglot_writes import star_from
from ingestion.storage_paths import location

_BOTH_WAYS = frozenset({"oracle", "mysql", "mariadb", "singlestore", "doris", "starrocks"})
_NAME_TOKENS_END = frozenset({"TO", "AS", "AND", "WITH", "FROM", "ON", "INTO", "PARTITION", "INCLUDING", "EXCLUDING"})
_WITHOUT_LINEAGE = keywords(
    "ADD ANALYZE ANALYSE ATTACH AUDIT BACKUP BEGIN CALL CHECK CHECKPOINT CLOSE CLUSTER COMMENT COMMIT "
    "DEALLOCATE DECLARE DENY DESC DESCRIBE DETACH DISCARD DO EXPLAIN FETCH FLUSH GET GRANT HELP INVALIDATE "
    "KILL LIST LISTEN LOCK LS MSCK NOTIFY OPEN OPTIMIZE PREPARE PURGE PUT REFRESH REINDEX REMOVE RESET RESTORE "
    "REVOKE RM ROLLBACK SAVEPOINT SET SHOW SHUTDOWN START STOP SYSTEM UNCACHE UNDROP UNLOCK USE VACUUM WAIT "
    "WATCH"
)


@dataclass(frozen=True, slots=True)
class Command:
    """What a command does: its kind, flows and changes."""

    kind: StatementKind
    writes: tuple[Write, ...] = ()
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

    def find(self, *words: str) -> bool:
        """Step behind the next place where the words stand."""
        for place in range(self._place, len(self._tokens)):
            if [token.text.upper() for token in self._tokens[place : place + len(words)]] == list(words):
                self._place = place + len(words)
                return True
        return False

    def name(self) -> TableName | None:
        """The relation's name that stands here."""
        parts: list[str] = []
        written: list[str] = []
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            if token.token_type in (TokenType.STRING, TokenType.NUMBER) or not token.text.strip("(),"):
                break
            quoted = token.token_type is TokenType.IDENTIFIER
            node = exp.Identifier(this=token.text, quoted=quoted)
            parts.append(self._names.relation(node))
            written.append(token.text)
            self._place += 1
            if self.word != ".":
                break
            self._place += 1
        return TableName(tuple(parts), ".".join(written)) if parts else None

    def brackets(self, text: str) -> str | None:
        """The text inside the next brackets."""
        depth, start = 0, 0
        for place in range(self._place, len(self._tokens)):
            token = self._tokens[place]
            if token.token_type is TokenType.L_PAREN:
                depth += 1
                start = start or token.end + 1
            elif token.token_type is TokenType.R_PAREN:
                depth -= 1
                if depth == 0:
                    self._place = place + 1
                    return text[start : token.start]
        return None

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
        if len(new.parts) == 1 and len(old.parts) > 1:
            new = TableName((*old.parts[:-1], *new.parts), new.written)
        yield TableChange(StatementKind.RENAME, old, other=new)
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


def _alter(words: Words, names: Names) -> Command | None:
    """The ALTER TABLEs that move rows between tables, or names."""
    if not words.take("ALTER", "TABLE") and not words.take("ALTER", "VIEW"):
        return None
    words.take("IF", "EXISTS")
    table = words.name()
    if table is None:
        return None
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
        if len(other.parts) == 1 and len(table.parts) > 1:
            other = TableName((*table.parts[:-1], *other.parts), other.written)
        return Command(StatementKind.RENAME, (), (TableChange(StatementKind.RENAME, table, other=other),))
    for read in (_exchange_partition, _switch, _append, _clickhouse_partition):
        found = read(words, names, table)
        if found is not None:
            return found
    return None


def _moved(source: TableName, target: TableName, mode: WriteMode = WriteMode.APPEND) -> Write:
    return Write(Target(target, mode), star_from(source))


def _exchange_partition(words: Words, names: Names, table: TableName) -> Command | None:
    if words.word != "EXCHANGE" or not words.find("WITH", "TABLE"):
        return None
    other = words.name()
    if other is None:
        return None
    writes = [_moved(other, table)]
    if names.dialect.name in _BOTH_WAYS:
        writes.append(_moved(table, other))
    return Command(StatementKind.INSERT, tuple(writes))


def _switch(words: Words, names: Names, table: TableName) -> Command | None:
    if words.word != "SWITCH" or not words.find("TO"):
        return None
    other = words.name()
    return Command(StatementKind.INSERT, (_moved(table, other),)) if other else None


def _append(words: Words, names: Names, table: TableName) -> Command | None:
    if not words.take("APPEND", "FROM"):
        return None
    other = words.name()
    return Command(StatementKind.INSERT, (_moved(other, table),)) if other else None


def _clickhouse_partition(words: Words, names: Names, table: TableName) -> Command | None:
    if words.word in ("REPLACE", "ATTACH") and words.find("FROM"):
        other = words.name()
        return Command(StatementKind.INSERT, (_moved(other, table),)) if other else None
    if words.word == "MOVE" and words.find("TO", "TABLE"):
        other = words.name()
        return Command(StatementKind.INSERT, (_moved(table, other),)) if other else None
    return None


def _load(words: Words, names: Names) -> Command | None:
    """MySQL: LOAD DATA [LOCAL] INFILE '…' INTO TABLE t."""
    words.take("LOAD", "DATA")
    path = words.string()
    if path is None or not words.find("INTO", "TABLE"):
        return None
    table = words.name()
    if table is None:
        return None
    source = location(path)
    return Command(StatementKind.COPY, (Write(Target(table, WriteMode.APPEND), star_from(source)),))


def _import(words: Words, names: Names) -> Command | None:
    """Exasol: IMPORT INTO t FROM … FILE 'location'."""
    if not words.take("IMPORT", "INTO"):
        return None
    table = words.name()
    if table is None or not words.find("FILE"):
        return None
    path = words.string()
    if path is None:
        return None
    return Command(StatementKind.COPY, (_moved(location(path), table),))


def _export(words: Words, names: Names) -> Command | None:
    """Exasol: EXPORT t INTO … FILE 'location'."""
    words.take("EXPORT")
    table = words.name()
    if table is None or not words.find("FILE"):
        return None
    path = words.string()
    if path is None:
        return None
    target = location(path)
    return Command(StatementKind.COPY, (_moved(table, target, WriteMode.OVERWRITE),))


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
    return Command(StatementKind.CREATE_TABLE_LIKE, (_moved(other, table, WriteMode.CREATE),), (change,))


_READERS: dict[str, Callable[[Words, Names], Command | None]] = {
    "RENAME": _rename,
    "EXCHANGE": _exchange,
    "ALTER": _alter,
    "CREATE": _create,
    "DROP": _drop,
    "EXPORT": _export,
    "IMPORT": _import,
    "LOAD": _load,
}
