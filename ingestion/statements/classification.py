"""What a statement does, told from its words without parsing it: what bears lineage goes on, the rest has a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import Separator, keywords
from ingestion.lexing import tokens
from ingestion.model import StatementKind as Kind
from ingestion.statements import data_movement, ddl, session_changes
from ingestion.statements.skip_reasons import Classification, Examined, SkipReason, parse_as, skip_for

_BLOCK = skip_for(SkipReason.ANONYMOUS_BLOCK, Kind.CALL)
_SETTING = skip_for(SkipReason.SESSION_SETTING)
_UNKNOWN = parse_as(Kind.OTHER)
_TRANSACTION_WORDS = keywords(
    "tran transaction work name deferred immediate exclusive concurrent isolation read not distributed ;"
)
_MAIN_VERBS = keywords("select sel insert ins update upd delete del merge create replace with")
_BLOCK_WORDS = keywords("begin if while loop for repeat")
_BARE_CALL = re.compile(r"(?:[\w$#@]++|\[[^\]]*+\]|\.)++(?:\s*+;?\s*+\Z|\s++(?:@\w++\s*+[=,;]|@\w++\s*+\Z|N?'|-?\d))")
"""T-SQL runs a procedure without EXEC where its name begins a batch."""
_CURSOR = re.compile(r"\bcursor\b")
_BEGIN = re.compile(r"\bbegin\b")
_SEPARATOR = re.compile(";")


def classify(text: str, dialect: Dialect | str) -> Classification:
    """What one statement does. It is not checked: what no verb is known for is left to the parsers to refuse."""
    dialect = dialect_of(dialect) if isinstance(dialect, str) else dialect
    for token in tokens(text, dialect):
        if token.text not in "(;":
            return _by_verb(Examined(text, text.lower(), dialect, token.start), token.text.lower())
    return skip_for(SkipReason.EMPTY)


def _by_verb(statement: Examined, verb: str) -> Classification:
    plain = _PLAIN.get(verb)
    if plain is not None:
        return plain
    return _EXAMINED.get(verb, _other)(statement)


def _other(statement: Examined) -> Classification:
    """What begins with no verb: a label, a client's command, a cell of another language, a procedure's name."""
    head = [token.text.lower() for token in statement.head(3)]
    if head[1:2] == [":"] and head[2:] and head[2] in _BLOCK_WORDS:
        return _BLOCK
    if head[0] == statement.dialect.client_command:
        return _SETTING
    if head[0] == "%" and statement.dialect.separator is Separator.CELL:
        return skip_for(SkipReason.CALL, Kind.CALL)
    if statement.dialect.separator is Separator.GO and _BARE_CALL.match(statement.text, statement.start):
        return skip_for(SkipReason.CALL, Kind.CALL)
    return _UNKNOWN


def _session(change: session_changes.SessionChange | None) -> Classification:
    return _SETTING if change is None else Classification(Kind.USE, SkipReason.SESSION_STATE, change)


def _use(statement: Examined) -> Classification:
    return _session(session_changes.use(statement.head(12)[1:], statement.dialect))


def _set(statement: Examined) -> Classification:
    head = statement.head(200)
    if any(token.text.lower() == "transaction" for token in head[1:3]):
        return skip_for(SkipReason.TRANSACTION)
    return _session(session_changes.set_(head[1:], statement.dialect))


def _reset(statement: Examined) -> Classification:
    what = {token.text.lower() for token in statement.head(3)[1:]}
    return _session(session_changes.SessionChange(reset=True) if what & {"all", "search_path", "schema"} else None)


def _database(statement: Examined) -> Classification:
    """Teradata's and Informix's DATABASE x."""
    head = statement.head(3)
    return _session(session_changes.use(head[1:], statement.dialect)) if len(head) == 2 else _UNKNOWN


def _update(statement: Examined) -> Classification:
    """UPDATE: of a table, or of what the optimizer knows of one (UPDATE STATISTICS t); a table may have that name."""
    head = [token.text.lower() for token in statement.head(3)]
    of_statistics = head[1:2] == ["statistics"] and head[2:] not in (["set"], ["as"], ["."])
    return skip_for(SkipReason.MAINTENANCE) if of_statistics else parse_as(Kind.UPDATE)


def _begin(statement: Examined) -> Classification:
    head = [token.text.lower() for token in statement.head(2)]
    if len(head) < 2 or head[1] in _TRANSACTION_WORDS:
        return skip_for(SkipReason.TRANSACTION)
    return _BLOCK


def _declare(statement: Examined) -> Classification:
    if statement.has(_BEGIN) or (statement.dialect.declare_opens_script and statement.has(_SEPARATOR)):
        return _BLOCK
    return skip_for(SkipReason.CURSOR if statement.has(_CURSOR) else SkipReason.VARIABLE)


def _open(statement: Examined) -> Classification:
    """OPEN SCHEMA is Exasol's USE; else a cursor opens."""
    head = statement.head(12)
    if len(head) > 2 and head[1].text.lower() == "schema":
        return _session(session_changes.use(head[1:], statement.dialect))
    return skip_for(SkipReason.CURSOR)


def _execute(statement: Examined) -> Classification:
    head = [token.text.lower() for token in statement.head(6)]
    if "sp_rename" in head:
        return parse_as(Kind.RENAME)
    dynamic = head[1:2] in (["immediate"], ["("]) or "sp_executesql" in head
    return skip_for(SkipReason.DYNAMIC_SQL if dynamic else SkipReason.CALL, Kind.CALL)


def _cache(statement: Examined) -> Classification:
    """Spark's CACHE TABLE ... AS SELECT names a query's result."""
    words = {token.text.lower() for token in statement.head(12)}
    return parse_as(Kind.CREATE_TABLE_AS) if words & {"as", "select"} else skip_for(SkipReason.MAINTENANCE)


def _replace(statement: Examined) -> Classification:
    """MySQL's and SQLite's REPLACE is an INSERT, Teradata's REPLACE VIEW a CREATE OR REPLACE."""
    words = [token.text.lower() for token in statement.head(3)]
    made = {"view", "macro", "procedure", "function"} & set(words) or words[1:2] == ["table"]
    return ddl.create(statement) if made else data_movement.insert(statement)


def _locking(statement: Examined) -> Classification:
    """Teradata's LOCKING ... FOR ACCESS stands before the statement proper; elsewhere LOCK is a statement."""
    for token in statement.head(12)[1:]:
        if token.text.lower() in _MAIN_VERBS:
            return _by_verb(replace(statement, start=token.start), token.text.lower())
    return skip_for(SkipReason.LOCK)


_EXAMINED: Mapping[str, Callable[[Examined], Classification]] = {
    "select": data_movement.select,
    "sel": data_movement.select,
    "with": data_movement.with_,
    "from": data_movement.from_,
    "insert": data_movement.insert,
    "ins": data_movement.insert,
    "replace": _replace,
    "upsert": data_movement.insert,
    "update": _update,
    "upd": _update,
    "delete": data_movement.delete,
    "del": data_movement.delete,
    "copy": data_movement.copy,
    "load": data_movement.load,
    "import": data_movement.load,
    "create": ddl.create,
    "export": data_movement.export,
    "define": ddl.create,  # Snowflake's projects: CREATE OR ALTER
    "alter": ddl.alter,
    "drop": ddl.drop,
    "rename": ddl.rename,
    "exchange": ddl.exchange,
    "use": _use,
    "set": _set,
    "reset": _reset,
    "database": _database,
    "begin": _begin,
    "declare": _declare,
    "open": _open,
    "exec": _execute,
    "execute": _execute,
    "cache": _cache,
    "lock": _locking,
    "locking": _locking,
}


def _plain() -> dict[str, Classification]:
    by_reason = {
        SkipReason.COMMENT: "comment",
        SkipReason.CURSOR: "fetch close move",
        SkipReason.DDL_OTHER: "undrop attach detach install security enable disable generate",
        SkipReason.EXPLAIN: "explain",
        SkipReason.FILE_TRANSFER: "put get list ls remove rm",
        SkipReason.GRANT: "grant revoke deny reassign",
        SkipReason.LOCK: "unlock",
        SkipReason.MAINTENANCE: (
            "analyze analyse vacuum optimize refresh msck repair reindex cluster checkpoint compute uncache clear add"
            " collect update_statistics kill system notify listen unlisten dbcc cancel invalidate flush reorg runstats"
            " pause resume backup restore check checksum purge binlog reconfigure preload recompress convert force"
        ),
        SkipReason.PREPARE: "prepare deallocate",
        SkipReason.SELECT: "values table summarize pivot unpivot assert using",
        SkipReason.SESSION_SETTING: (
            "pragma unset print raiserror throw signal resignal go waitfor return break continue"
        ),
        SkipReason.SHOW: "show describe desc help",
        SkipReason.TRANSACTION: "commit rollback start end savepoint release abort save bt et",
        SkipReason.TRUNCATE: "truncate",
    }
    kinds = {SkipReason.SELECT: Kind.SELECT}
    plain = {
        verb: skip_for(reason, kinds.get(reason, Kind.OTHER))
        for reason, verbs in by_reason.items()
        for verb in verbs.split()
    }
    plain |= dict.fromkeys(("apply", "auto"), parse_as(Kind.INSERT))  # APPLY CHANGES INTO, AUTO CDC INTO
    plain |= dict.fromkeys(("unload", "bulk"), parse_as(Kind.COPY))
    plain |= dict.fromkeys(("do", "if", "while", "for", "loop", "repeat"), _BLOCK)
    return plain | {
        "merge": parse_as(Kind.MERGE),
        "call": skip_for(SkipReason.CALL, Kind.CALL),
        "discard": Classification(Kind.USE, SkipReason.SESSION_STATE, session_changes.SessionChange(reset=True)),
    }


_PLAIN: Mapping[str, Classification] = _plain()
