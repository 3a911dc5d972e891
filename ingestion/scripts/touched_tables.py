"""The tables that a statement is about without making, filling or reading one: an index, a grant, a lock, statistics.

`GRANT SELECT ON shop.orders TO app` has no lineage, and nothing depends on it; a name in it that is mistyped is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERY_STARTS
from ingestion.model.outcomes import Outcome
from ingestion.scripts.inspected_tables import inspected_tables
from ingestion.statements import classify
from ingestion.statements.classification import DDL_OBJECTS

_TableName = tuple[str, ...]
_TABLE_WORDS = keywords(
    "table tables view materialized foreign external dynamic iceberg temporary streaming only if exists object :"
    " concurrently"
)
"""What may stand before the name of a table: ON TABLE t, ON OBJECT::t, IF EXISTS t."""
_OTHER_WORDS = (DDL_OBJECTS - _TABLE_WORDS) | keywords("account metastore instance all")
"""A bare one of these is no name: GRANT … ON ACCOUNT, LOCK INSTANCE FOR BACKUP, ENABLE TRIGGER g ON ALL SERVER."""
_OPTIONS: Mapping[str, frozenset[str]] = {
    "alter": frozenset(),
    "analyse": keywords("verbose"),
    "analyze": keywords("verbose local no_write_to_binlog skip_locked compression"),
    "cache": keywords("lazy"),
    "check": frozenset(),
    "checksum": frozenset(),
    "cluster": keywords("verbose"),
    "collect": keywords("statistics statistic stats stat"),
    "compute": keywords("incremental stats"),
    "copy": frozenset(),
    "flush": keywords("local no_write_to_binlog"),
    "invalidate": keywords("metadata"),
    "lock": frozenset(),
    "msck": keywords("repair"),
    "optimize": keywords("local no_write_to_binlog"),
    "preload": frozenset(),
    "purge": frozenset(),
    "recompress": frozenset(),
    "refresh": frozenset(),
    "reindex": frozenset(),
    "reorg": frozenset(),
    "repair": keywords("local no_write_to_binlog"),
    "runstats": keywords("on"),
    "set": keywords("identity_insert"),
    "truncate": frozenset(),
    "uncache": frozenset(),
    "undrop": frozenset(),
    "unlock": frozenset(),
    "update": keywords("statistics"),
    "vacuum": keywords("full freeze verbose analyze analyse sort delete reindex recluster lite"),
}
"""The words that may stand between a verb and the table, beside those of every one and options in parentheses."""
_TABLE_KINDS = keywords("table tables view")
_NAMED_TABLE = keywords(
    "alter cache check checksum flush msck preload purge recompress reorg repair runstats uncache undrop unlock"
)
"""Verbs that are about a table only where it says so: ALTER TABLE t, FLUSH TABLES t, and FLUSH PRIVILEGES."""
_BEHIND_ON: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(keywords("grant deny"), keywords("to , (")),
    **dict.fromkeys(keywords("revoke"), keywords("from , (")),
    **dict.fromkeys(keywords("comment"), keywords("is as (")),
}
"""Verbs whose table stands behind ON, and what then stands behind the table: behind what is none, it does not."""
_ON_TABLES = keywords("index policy trigger rule statistics label")
"""What CREATE, ALTER, DROP, ENABLE, DISABLE and SECURITY may be of that is ON a table."""
_DEFINING = keywords("create alter drop enable disable security")
_MOST_MODIFIERS = 8
_BEHIND_TABLE = keywords("read write local low_priority *")
"""Between two tables of a list: LOCK TABLES a READ, b WRITE."""


def touched_tables(text: str, dialect: Dialect) -> Iterator[_TableName]:
    """The names of the tables that `text` is about; none of a statement that is parsed, which tells them itself."""
    reason = classify(text, dialect).skip_reason
    code = Code.of(text, dialect)
    verb = code.word(0)
    if reason is not None or verb in ("describe", "desc"):
        yield from inspected_tables(code)
    if reason in (None, Outcome.SELECT):
        return
    kinds = code.words(1, _MOST_MODIFIERS)
    if verb in _BEHIND_ON:
        yield from _tables_behind_on(code)
    elif verb == "security" and "column" in kinds:
        yield code.dotted_name(code.find(1, frozenset({"column"})) + 1)[0][:-1]
    elif verb in _DEFINING and "event" in kinds and "trigger" in kinds:
        return  # CREATE EVENT TRIGGER e ON ddl_command_end
    elif verb in _DEFINING and not _ON_TABLES.isdisjoint(kinds) and kinds[0] not in _TABLE_KINDS:
        yield from _tables_listed(code, code.find(1, frozenset({_before_table(code)})) + 1)
    elif verb in ("create", "alter") and "publication" in kinds:
        yield from _tables_listed(code, code.find(1, frozenset({"table"})))
    elif verb == "create" and "synonym" in kinds:
        yield from _tables_listed(code, code.find(1, frozenset({"for"})) + 1)
    elif verb in _OPTIONS and (verb != "set" or code.word(1) == "identity_insert"):
        yield from _tables_behind_verb(code, verb)


def _before_table(code: Code) -> str:
    """ON; of PostgreSQL's CREATE STATISTICS s ON a, b FROM t the columns stand behind that."""
    _name, after = code.dotted_name(code.find(1, frozenset({"on"})) + 1)
    columns = code.words(0, 2) == ("create", "statistics") and code.word(after) != "("
    return "from" if columns else "on"


def _tables_behind_on(code: Code) -> Iterator[_TableName]:
    """Of GRANT, REVOKE, DENY and COMMENT ON."""
    verb = code.word(0)
    index = code.find(1, frozenset({"on"})) + 1
    behind = _BEHIND_ON[verb]
    if verb == "comment":
        if code.word(index) == "column":
            name, after = code.dotted_name(index + 1)
            if len(name) > 1 and code.word(after) in behind:
                yield name[:-1]
            return
        inner = code.find(index, frozenset({"on", *behind}))  # COMMENT ON TRIGGER g ON t
        index = inner + 1 if code.word(inner) == "on" else index
    yield from _tables_listed(code, index, behind)


def _tables_behind_verb(code: Code, verb: str) -> Iterator[_TableName]:
    """Of VACUUM, ANALYZE, LOCK and their like, whose table stands behind the verb and its options."""
    index = 1
    while code.word(index) in _OPTIONS[verb] | {"("}:
        index = code.after(index)
    if verb == "collect":  # COLLECT STATISTICS COLUMN (a) ON t
        on = code.find(index, frozenset({"on"}))
        index = on + 1 if on < len(code) else index
    elif verb == "cluster" and code.word(index + 1) == "on":
        index += 2
    of_table = not _TABLE_KINDS.isdisjoint(code.words(index, 3))
    if code.word(index) in QUERY_STARTS or code.words(index, 2) == ("tables", "in"):
        return
    if of_table or verb not in _NAMED_TABLE:
        yield from _tables_listed(code, index)


def _tables_listed(code: Code, index: int, behind: frozenset[str] | None = None) -> Iterator[_TableName]:
    """The tables of a list that begins at a token; `behind`: what alone may stand behind one, None for anything."""
    while index < len(code):
        while code.word(index) in _TABLE_WORDS:
            index += 1
        name, after = code.dotted_name(index)
        bare = len(name) == 1 and code.is_word(index)
        if not name or (bare and code.word(index) in _OTHER_WORDS) or code.word(after) in (".", "@"):
            return
        if behind is not None and code.word(after) not in behind:
            return
        if "/" not in name[-1]:  # delta.`/a/b` is a path
            yield name
        while code.word(after) in _BEHIND_TABLE | {"("}:
            after = code.after(after)
        if code.word(after) != ",":
            return
        index = after + 1
