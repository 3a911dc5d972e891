"""ALTERs that move rows between tables, or names, read off their tokens."""

from __future__ import annotations

from collections.abc import Iterator

from ingestion.model import StatementKind, TableChange, TableName
from ingestion.parsing.sqlglot_tier.names.identifiers import Names, renamed_table
from ingestion.parsing.sqlglot_tier.statements.words import Command, Words, move_rows


def alter(words: Words, names: Names) -> Command | None:
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
    writes = [move_rows(other, table)]
    if names.dialect.exchange_swaps:
        writes.append(move_rows(table, other))
    return Command(StatementKind.INSERT, tuple(writes))


def _switch(words: Words, names: Names, table: TableName) -> Command | None:
    if words.word != "SWITCH" or not words.find("TO"):
        return None
    other = words.name()
    return Command(StatementKind.INSERT, (move_rows(table, other),)) if other else None


def _append(words: Words, names: Names, table: TableName) -> Command | None:
    if not words.take("APPEND", "FROM"):
        return None
    other = words.name()
    return Command(StatementKind.INSERT, (move_rows(other, table),)) if other else None


def _clickhouse_partition(words: Words, names: Names, table: TableName) -> Command | None:
    if words.word in ("REPLACE", "ATTACH") and words.find("FROM"):
        other = words.name()
        return Command(StatementKind.INSERT, (move_rows(other, table),)) if other else None
    if words.word == "MOVE" and words.find("TO", "TABLE"):
        other = words.name()
        return Command(StatementKind.INSERT, (move_rows(table, other),)) if other else None
    return None
