"""What a statement does, told from its words without parsing it: what has lineage goes on, the rest has a reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import DollarQuotes, Separator, keywords
from ingestion.dialects.keywords import BEGUN_TRANSACTIONS, CONTROL_FLOW, QUERIES
from ingestion.dialects.lexing import COMMENT, HINT, WORD, Token, lexicon_of, tokens
from ingestion.model.lineage import StatementKind as Kind
from ingestion.model.outcomes import Outcome
from ingestion.statements import session_changes
from ingestion.statements._splitting import WRITES
from ingestion.statements.cleaning import redefined_view
from ingestion.statements.session_changes import SessionChange

# What a classification says, and the view of a statement that it is told from.

# Words that a comment parts are not beside each other in the text.
_OPEN_COMMENTS = ("/*", "--", "//", "#")


BLOCKS = frozenset({Outcome.ANONYMOUS_BLOCK, Outcome.DYNAMIC_SQL})
"""Statements that hold statements, which are read one by one."""


@dataclass(frozen=True, slots=True)
class Classification:
    """What a statement is, why it is skipped (None: it is to be parsed), and what it changes for its session."""

    kind: Kind
    skip_reason: Outcome | None = None
    session: SessionChange | None = None


@dataclass(frozen=True, slots=True)
class _Examined:
    """A statement under examination, also in lower case; its dialect; and where its verb starts."""

    text: str
    lowered: str
    dialect: Dialect
    start: int

    def tokens(self) -> Iterator[Token]:
        """The tokens, from the verb on."""
        return tokens(self.text, self.dialect, self.start)

    def head(self, count: int) -> tuple[Token, ...]:
        """The first tokens, the verb among them."""
        return tuple(islice(self.tokens(), count))

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether `pattern`, in lower case, occurs outside strings, names and comments."""
        if not pattern.search(self.lowered, self.start) and not any(sign in self.lowered for sign in _OPEN_COMMENTS):
            return False
        quoted = lexicon_of(self.dialect).quoted
        return pattern.search(quoted.sub(_blank, self.text[self.start :]).lower()) is not None


def _blank(match: re.Match[str]) -> str:
    return " " if match.lastgroup in (COMMENT, HINT) else "?"


def _parse_as(kind: Kind) -> Classification:
    """To be parsed as `kind`."""
    return Classification(kind)


def _skip_for(reason: Outcome, kind: Kind = Kind.OTHER) -> Classification:
    """Not to be parsed, for `reason`."""
    return Classification(kind, reason)


# Statements that may move data: which of them have a source.

_CHANGED_ROWS = re.compile(r"\b(?:final|old|new)\s+table\s*\(\s*(insert|update|delete|merge)\b")
_INTO = re.compile(r"\binto\b")
_WRITES = re.compile(r"\b(?:insert|ins|update|upd|delete|del|merge|into|upsert|replace)\b")
_ROW_WORDS = ("value", "set", "format", "default")
_ROWS = re.compile(r"\b(?:values?|set|format|default)\b")
_READS = re.compile(
    r"\b(?:select|sel|from|exec|execute|call|pivot|unpivot)\b|\btable\s*\(|\boutput\b[\s\S]*?\binto\b"
    r"|\bdo\s+update\b|\bon\s+duplicate\s+key\b"  # a row that is there already may count itself up
)
_READS_WHILE_DELETING = re.compile(
    r"\b(?:where|using|join|select|sel)\b|\bfrom\b[\s\S]*?\bfrom\b"
    r"|\boutput\b[\s\S]*?\binto\b"  # T-SQL keeps the rows
)
_CLIENT_ROWS = re.compile(r"\b(?:from\s+stdin|to\s+stdout|(?:from|to)\s+program)\b")
_LOADS = keywords("data table xml into from external")
_VERBS: dict[str, Kind] = {
    "insert": Kind.INSERT,
    "ins": Kind.INSERT,
    "upsert": Kind.INSERT,
    "replace": Kind.INSERT,
    "update": Kind.UPDATE,
    "upd": Kind.UPDATE,
    "merge": Kind.MERGE,
    "delete": Kind.DELETE,
    "del": Kind.DELETE,
}

SELECT = _skip_for(Outcome.SELECT, Kind.SELECT)


def _select(statement: _Examined) -> Classification:
    """SELECT: alone, INTO a new table or a file, or setting the search path."""
    if statement.dialect.dollar_quotes is DollarQuotes.TAGGED and "set_config" in statement.lowered:
        change = session_changes.set_config(statement.head(40), statement.dialect)
        if change is not None:
            return Classification(Kind.USE, Outcome.SESSION_STATE, change)
    changed = _CHANGED_ROWS.search(statement.lowered) if "table" in statement.lowered else None
    if changed is not None and statement.has(_CHANGED_ROWS):
        return _parse_as(_VERBS[changed[1]])
    if "into" not in statement.lowered or not statement.has(_INTO):
        return SELECT
    depth = 0
    words = statement.head(100_000)
    for index, token in enumerate(words):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text.lower() == "into":
            return _into(words[index + 1 : index + 2], statement)
    return SELECT


def _into(following: tuple[Token, ...], statement: _Examined) -> Classification:
    target = following[0].text.lower() if following else ""
    if target in ("outfile", "dumpfile"):
        return _parse_as(Kind.COPY)
    variable = target[:1] in (":", "@") or not statement.dialect.select_into_creates
    return SELECT if variable else _parse_as(Kind.CREATE_TABLE_AS)


def _with_(statement: _Examined) -> Classification:
    """WITH: what its main verb makes it, or a writing common table expression where the main verb only reads.

    Snowflake's `WITH p AS PROCEDURE () … CALL p()` is a block.
    """
    if [token.text.lower() for token in statement.head(4)][2:] == ["as", "procedure"]:
        return _BLOCK
    if not statement.has(_WRITES):
        return SELECT
    depth, before = 0, ""
    inner: Classification | None = None
    for token in statement.head(100_000):
        word = token.text.lower()
        if depth == 0 and before and word in _VERBS:
            return _parse_as(_VERBS[word])
        if depth == 0 and before != "as" and word in QUERIES and word != "with":
            main = _select(statement) if word in ("select", "sel") else SELECT
            return inner or main
        if depth == 1 and before == "(" and word in _VERBS and inner is None:
            inner = _parse_as(_VERBS[word])
        depth += (word == "(") - (word == ")")
        before = word
    return inner or SELECT


def _insert(statement: _Examined) -> Classification:
    """INSERT: with no query in it, only rows of values."""
    rows = any(word in statement.lowered for word in _ROW_WORDS) and statement.has(_ROWS)
    rows_only = rows and not statement.has(_READS)
    return _skip_for(Outcome.INSERT_VALUES, Kind.INSERT) if rows_only else _parse_as(Kind.INSERT)


def _from_(statement: _Examined) -> Classification:
    """Hive's FROM ... INSERT, or a query that begins with its FROM."""
    return _parse_as(Kind.INSERT) if statement.has(_WRITES) else SELECT


def _delete(statement: _Examined) -> Classification:
    """DELETE: lineage comes of it where something decides which rows go, the table's own columns or another table."""
    reads = statement.has(_READS_WHILE_DELETING)
    return _parse_as(Kind.DELETE) if reads else _skip_for(Outcome.DELETE, Kind.DELETE)


def _copy(statement: _Examined) -> Classification:
    """COPY between a table and storage; rows that a client or a program sends or receives leave no name behind."""
    return _skip_for(Outcome.COPY_STDIO, Kind.COPY) if statement.has(_CLIENT_ROWS) else _parse_as(Kind.COPY)


def _export(statement: _Examined) -> Classification:
    """EXPORT of rows to storage; BigQuery's EXPORT TABLE METADATA moves none."""
    words = [token.text.lower() for token in statement.head(3)]
    return _skip_for(Outcome.MAINTENANCE) if words[1:] == ["table", "metadata"] else _parse_as(Kind.COPY)


def _load(statement: _Examined) -> Classification:
    """LOAD DATA and its kin; DuckDB's and PostgreSQL's LOAD is for libraries."""
    words = [token.text.lower() for token in statement.head(2)]
    return _parse_as(Kind.COPY) if words[1:] and words[1] in _LOADS else _skip_for(Outcome.MAINTENANCE)


# CREATE, ALTER, DROP and RENAME: which of them define, change or end a name that lineage cares for.

_QUERY = re.compile(r"\b(?:select|sel)\b|\bas\b[\s(]*+(?:table|values|from|with|execute)\b")
_COPIES = keywords("like clone shallow deep copy")
# Oracle: a log of the changes that a view is refreshed by; a view may be called `log` too, and then has a query.
_VIEW_LOG = re.compile(r"\bmaterialized\s+view\s+log\s+on\b")
_IF_NOT_EXISTS = keywords("if not exists")
_ROUTINES = keywords("procedure proc function macro trigger package aggregate event task alert rule")
_ACCESS = keywords("user role login group grant policy profile")
_OTHER_OBJECTS = keywords(
    "schema database catalog sequence type domain extension stage stream synonym alias model server statistics"
    " dictionary warehouse integration secret share tablespace publication subscription language cast operator"
    " collation conversion format source library connection credential certificate key partition fulltext"
    " resource reservation capacity assignment tag network application service snapshot_policy scheduled"
)
DDL_OBJECTS = _ROUTINES | _ACCESS | _OTHER_OBJECTS | keywords("table view index flow pipe session system database")
"""What CREATE, ALTER and DROP may be of, by the word for it."""
_RENAMES = re.compile(
    r"\brename\s+(?:(?:to|as)\b(?!\s+partition\b)|(?!column\b)\S++\s*+\Z)|\bset\s+schema\b|\btransfer\b"
)
_SWAPS = re.compile(
    r"\b(?:swap\s+with|exchange\s+(?:sub)?partition|switch|replace\s+with\s+table|convert\s+(?:table|partition))\b"
)
_MOVES_SCHEMA = re.compile(r"\b(?:swap\s+with|rename\s+to)\b")
_COLUMNS = re.compile(
    r"\b(?:add|drop|modify|change|alter|replace|rename)\s+(?!to\s+partition|table|view|materialized|external|dynamic|iceberg|event"
    r"|hybrid|interactive|constraint|index|primary|unique|foreign|check|partition|key|fulltext|spatial|row|search"
    r"|policy|tag|statistics|projection|distkey|sortkey|encode|diststyle)",
)
_UNUSED = re.compile(r"\bset\s+unused\b")
_POLICIES = re.compile(r"\b(?:modify|alter)\s+(?:column\s+)?\S++\s+(?:un)?set\s+(?:masking|projection)\s+policy\b")
_MOVES_PARTITIONS = re.compile(
    r"\b(?:replace|attach)\s+part(?:ition)?\s[^;]{0,300}\bfrom\b|\bmove\s+part[^;]{0,300}\bto\s+table\b"
)
_MUTATES = re.compile(r"\btable\s+\S+\s+(?:on\s+cluster\s+\S+\s+)?(?:update|delete)\b")
# ALTER FUNCTION f(int) OWNER TO a, ALTER PACKAGE p COMPILE: no body.
_BODY = re.compile(
    r"\b(?:begin|do|modify\s+(?:as|action)|(?:as|is)\s*+(?:[$']|(?:select|with|insert|update|delete|merge|begin)\b))"
)
_NEW_BODY = re.compile(r"\bmodify\s+(?:as|action)\b")
_APPENDS = re.compile(r"\bappend\s+from\b|\battach\s+partition\s+\S+\s+(?:for\s+values|default)\b")

_OTHER = _skip_for(Outcome.DDL_OTHER)
_ROUTINE = _skip_for(Outcome.ROUTINE_DEFINITION, Kind.CREATE_ROUTINE)
_STREAM = _parse_as(Kind.CREATE_VIEW)
_TABLE_MADE = _parse_as(Kind.CREATE_TABLE_AS)
_BY_OBJECT: Mapping[str, Classification] = {
    **dict.fromkeys(_OTHER_OBJECTS, _OTHER),
    **dict.fromkeys(_ACCESS, _skip_for(Outcome.GRANT)),
    **dict.fromkeys(_ROUTINES, _ROUTINE),
    "index": _skip_for(Outcome.INDEX),
    "flow": _parse_as(Kind.INSERT),
    "pipe": _parse_as(Kind.COPY),
    "view": _parse_as(Kind.CREATE_VIEW),
}


def _create(statement: _Examined) -> Classification:
    """CREATE: by the kind of object."""
    words = islice(statement.tokens(), 1, 30)
    for token in words:
        word = token.text.lower() if token.kind == WORD else ""
        if word == "table":
            return _create_table(statement, words)
        if word == "materialized" and statement.has(_VIEW_LOG) and not statement.has(_QUERY):
            return _OTHER
        if word == "aggregate":  # of functions that are there, but for one with a body of its own
            function = next(words, None)
            return _ROUTINE if function is not None and function.text.lower() == "function" else _OTHER
        if word == "package":  # what a package has is declared without its body
            body = next(words, None)
            return _ROUTINE if body is not None and body.text.lower() == "body" else _OTHER
        plain = _of_dialect(statement.dialect, word) or _BY_OBJECT.get(word)
        if plain is not None:
            return plain
    return _OTHER


def _of_dialect(dialect: Dialect, word: str) -> Classification | None:
    if word == "stream" and dialect.table_streams:
        return _STREAM
    made = (word == "dictionary" and dialect.dictionaries) or (word == "sink" and dialect.sinks)
    return _TABLE_MADE if made else None


def _create_table(statement: _Examined, after: Iterator[Token]) -> Classification:
    """CREATE TABLE, given the tokens after TABLE: what follows its name tells a copy, a query tells CREATE TABLE AS."""
    before, words = "", 0
    for token in after:
        word = token.text.lower() if token.kind == WORD else token.text
        if word == "function" and not words:
            return _ROUTINE
        ends_name = words and before != "." and word != "."
        if ends_name and (word in _COPIES or (before == "(" and word == "like")):
            return _parse_as(Kind.CREATE_TABLE_LIKE)
        if ends_name and word != "(":
            break
        words += word not in _IF_NOT_EXISTS
        before = word
    return _parse_as(Kind.CREATE_TABLE_AS if statement.has(_QUERY) else Kind.CREATE_TABLE)


def _alter(statement: _Examined) -> Classification:
    """ALTER: renames, swaps and column changes of tables and views; a session's schema; a routine's new body."""
    words = [token.text.lower() for token in statement.head(6)]
    if words[1:2] == ["session"]:
        change = session_changes.set_(statement.head(12)[3:], statement.dialect) if words[2:3] == ["set"] else None
        return _session_altered(change)
    if words[1:2] == ["application"] or (words[1:2] in (["task"], ["alert"]) and not statement.has(_NEW_BODY)):
        return _OTHER
    if set(words[1:4]) & _ROUTINES:
        return _ROUTINE if statement.dialect.separator is Separator.GO or statement.has(_BODY) else _OTHER
    if redefined_view(statement.text, statement.dialect) is not None:
        return _parse_as(Kind.CREATE_VIEW)
    relation = next(
        (token for token in islice(statement.tokens(), 1, 4) if token.text.lower() in ("table", "view")), None
    )
    if words[1:2] in (["materialized"], ["streaming"]) and "schedule" in (t.text.lower() for t in statement.head(12)):
        return _OTHER
    if relation is not None:
        return _alter_table(replace(statement, start=relation.start))
    if words[1:2] == ["schema"] and "transfer" in words:
        return _parse_as(Kind.RENAME)
    if words[1:2] in (["schema"], ["database"]) and statement.has(_MOVES_SCHEMA):
        return _parse_as(Kind.SWAP if "swap" in words else Kind.RENAME)
    return _skip_for(Outcome.GRANT if set(words[1:3]) & _ACCESS else Outcome.DDL_OTHER)


def _alter_table(statement: _Examined) -> Classification:
    """By what is altered: rows that move, the name, or columns; the rest of ALTER TABLE changes neither."""
    if statement.has(_SWAPS):
        return _parse_as(Kind.SWAP)
    if statement.has(_APPENDS) or (statement.dialect.alter_moves_partitions and statement.has(_MOVES_PARTITIONS)):
        return _parse_as(Kind.INSERT)
    if statement.dialect.alter_moves_partitions and statement.has(_MUTATES):
        return _parse_as(Kind.UPDATE)
    if statement.has(_RENAMES):
        return _parse_as(Kind.RENAME)
    changes_columns = statement.has(_COLUMNS) or statement.has(_UNUSED)
    return _parse_as(Kind.ALTER_TABLE) if changes_columns and not statement.has(_POLICIES) else _OTHER


def _session_altered(change: session_changes.SessionChange | None) -> Classification:
    if change is None:
        return _skip_for(Outcome.SESSION_SETTING)
    return Classification(Kind.USE, Outcome.SESSION_STATE, change)


def _drop(statement: _Examined) -> Classification:
    """DROP: of tables and views, and of the streams and sinks that are like them."""
    words = [token.text.lower() for token in statement.head(5)][1:]
    if {"table", "view"} & set(words[:3]) and not {"function", "macro"} & set(words[:2]):
        return _parse_as(Kind.DROP)
    of_stream = words[:1] == ["stream"] and statement.dialect.table_streams
    if of_stream or (words[:1] == ["sink"] and statement.dialect.sinks):
        return _parse_as(Kind.DROP)
    if "index" in words[:3]:
        return _skip_for(Outcome.INDEX)
    return _skip_for(Outcome.GRANT) if set(words[:2]) & _ACCESS else _OTHER


def _exchange(statement: _Examined) -> Classification:
    """ClickHouse's EXCHANGE TABLES."""
    words = [token.text.lower() for token in statement.head(2)]
    return _parse_as(Kind.SWAP) if words[1:] == ["tables"] else _OTHER


def _rename(statement: _Examined) -> Classification:
    """RENAME as a verb of its own: of tables unless it says otherwise, or of all that a schema holds."""
    words = [token.text.lower() for token in statement.head(2)]
    if words[1:] in (["schema"], ["database"]):
        return _parse_as(Kind.RENAME)
    return _OTHER if words[1:] and words[1] in _OTHER_OBJECTS | _ACCESS else _parse_as(Kind.RENAME)


# The first word of a statement decides which of these rules it is examined by.

_BLOCK = _skip_for(Outcome.ANONYMOUS_BLOCK, Kind.CALL)
_SETTING = _skip_for(Outcome.SESSION_SETTING)
_UNKNOWN = _parse_as(Kind.OTHER)
_MAIN_VERBS = keywords("select sel insert ins update upd delete del merge create replace with")
_BLOCK_WORDS = CONTROL_FLOW | {"begin"}
_BARE_CALL = re.compile(r"(?:[\w$#@]++|\[[^\]]*+\]|\.)++(?:\s*+;?\s*+\Z|\s++(?:@\w++\s*+[=,;]|@\w++\s*+\Z|N?'|-?\d))")
"""T-SQL runs a procedure without EXEC where its name begins a batch."""
_SETS = re.compile(r"\bset\b")
_CURSOR = re.compile(r"\bcursor\b")
_BEGIN = re.compile(r"\bbegin\b")
_RUNS_TEXT = re.compile(r"\bexec(?:ute)?\s*+\(|\bsp_executesql\b")
_TABLE_VARIABLE = re.compile(r"@\w++\s++(?:as\s++)?table\s*+\(")
_SEPARATOR = re.compile(";")


def classify(text: str, dialect: Dialect | str) -> Classification:
    """What one statement does. It is not checked: what no verb is known for is left to the parsers to refuse."""
    return _classification(text, dialect if isinstance(dialect, str) else dialect.name)


@lru_cache(maxsize=8)
def _classification(text: str, dialect_name: str) -> Classification:
    """Kept for a moment: who splits a script, takes its blocks apart and reads it asks of the same text each time."""
    dialect = dialect_of(dialect_name)
    for token in tokens(text, dialect):
        if token.text not in "(;":
            return _by_verb(_Examined(text, text.lower(), dialect, token.start), token.text.lower())
    return _skip_for(Outcome.EMPTY)


def _by_verb(statement: _Examined, verb: str) -> Classification:
    plain = _PLAIN.get(verb)
    if plain is not None:
        return plain
    return _EXAMINED.get(verb, _other)(statement)


def _other(statement: _Examined) -> Classification:
    """What begins with no verb: a label, a client's command, a cell of another language, a procedure's name."""
    head = [token.text.lower() for token in statement.head(3)]
    if head[1:2] == [":"] and head[2:] and head[2] in _BLOCK_WORDS:
        return _BLOCK
    if head[:2] == ["<", "<"]:  # <<name>> BEGIN … END
        return _BLOCK
    if head[0] in statement.dialect.client_commands:
        return _SETTING
    if head[0] == "%" and statement.dialect.separator is Separator.CELL:
        return _skip_for(Outcome.CALL, Kind.CALL)
    if statement.dialect.separator is Separator.GO and _BARE_CALL.match(statement.text, statement.start):
        return _skip_for(Outcome.CALL, Kind.CALL)
    return _UNKNOWN


def _session(change: session_changes.SessionChange | None) -> Classification:
    return _SETTING if change is None else Classification(Kind.USE, Outcome.SESSION_STATE, change)


def _use(statement: _Examined) -> Classification:
    """USE db; USE ROLE r and USE WAREHOUSE w change no name."""
    return _session(session_changes.use(statement.head(12)[1:], statement.dialect))


def _set(statement: _Examined) -> Classification:
    """SET search_path = a, SET TRANSACTION ISOLATION LEVEL …, and settings that change no name."""
    head = statement.head(200)
    if any(token.text.lower() == "transaction" for token in head[1:3]):
        return _skip_for(Outcome.TRANSACTION)
    return _session(session_changes.set_(head[1:], statement.dialect))


def _reset(statement: _Examined) -> Classification:
    """PostgreSQL: RESET search_path, RESET ALL."""
    what = {token.text.lower() for token in statement.head(3)[1:]}
    return _session(session_changes.SessionChange(reset=True) if what & {"all", "search_path", "schema"} else None)


def _database(statement: _Examined) -> Classification:
    """Teradata's and Informix's DATABASE x."""
    head = statement.head(3)
    return _session(session_changes.use(head[1:], statement.dialect)) if len(head) == 2 else _UNKNOWN


def _update(statement: _Examined) -> Classification:
    """UPDATE: of a table, or of what the optimizer knows of one (UPDATE STATISTICS t); a table may have that name.

    Db2's UPDATE COMMAND OPTIONS and UPDATE DB CFG set nothing of a table.
    """
    head = [token.text.lower() for token in statement.head(3)]
    if statement.dialect.command_procedure and not statement.has(_SETS):
        return _SETTING
    of_statistics = head[1:2] == ["statistics"] and head[2:] not in (["set"], ["as"], ["."])
    return _skip_for(Outcome.MAINTENANCE) if of_statistics else _parse_as(Kind.UPDATE)


def _begin(statement: _Examined) -> Classification:
    """BEGIN, BEGIN WORK open a transaction; BEGIN … END is a block."""
    head = [token.text.lower() for token in statement.head(2)]
    if len(head) < 2 or head[1] in BEGUN_TRANSACTIONS:
        return _skip_for(Outcome.TRANSACTION)
    return _BLOCK


def _declare(statement: _Examined) -> Classification:
    """DECLARE a cursor or a variable; with a BEGIN behind it a block.

    So it is in T-SQL where something is written behind it, or a text run: `DECLARE @i int = 1 SELECT a INTO n FROM s`,
    `DECLARE @s varchar(99) = 'DELETE FROM t' EXEC (@s)`. Its `DECLARE @t TABLE (a INT)` is a block, too: it makes a
    table. DECLARE GLOBAL TEMPORARY TABLE is a statement of its own, which makes one.
    """
    if [token.text.lower() for token in statement.head(4)][2:] == ["temporary", "table"]:
        return _create_table(statement, islice(statement.tokens(), 4, 30))
    goes_on = statement.dialect.separator is Separator.GO and (statement.has(WRITES) or statement.has(_RUNS_TEXT))
    makes_table = statement.dialect.table_variables and statement.has(_TABLE_VARIABLE)
    if (
        goes_on
        or makes_table
        or statement.has(_BEGIN)
        or (statement.dialect.declare_opens_script and statement.has(_SEPARATOR))
    ):
        return _BLOCK
    return _skip_for(Outcome.CURSOR if statement.has(_CURSOR) else Outcome.VARIABLE)


def _open(statement: _Examined) -> Classification:
    """OPEN SCHEMA is Exasol's USE; else a cursor opens."""
    head = statement.head(12)
    if len(head) > 2 and head[1].text.lower() == "schema":
        return _session(session_changes.use(head[1:], statement.dialect))
    return _skip_for(Outcome.CURSOR)


def _execute(statement: _Examined) -> Classification:
    """EXEC p runs a procedure; EXECUTE IMMEDIATE 'text' and sp_executesql run a text; sp_rename renames."""
    head = [token.text.lower() for token in statement.head(6)]
    if any(word.strip('[]"') == "sp_rename" for word in head):
        return _parse_as(Kind.RENAME)
    dynamic = head[1:2] in (["immediate"], ["("]) or "sp_executesql" in head
    return _skip_for(Outcome.DYNAMIC_SQL if dynamic else Outcome.CALL, Kind.CALL)


def _call(statement: _Examined) -> Classification:
    """CALL p(…); Db2's CALL SYSPROC.ADMIN_CMD('LOAD …') runs a text."""
    commands = statement.dialect.command_procedure
    runs_text = bool(commands) and commands in [token.text.lower() for token in statement.head(4)[1:]]
    return _skip_for(Outcome.DYNAMIC_SQL if runs_text else Outcome.CALL, Kind.CALL)


def _cache(statement: _Examined) -> Classification:
    """Spark's CACHE TABLE ... AS SELECT names a query's result."""
    words = {token.text.lower() for token in statement.head(12)}
    return _parse_as(Kind.CREATE_TABLE_AS) if words & {"as", "select"} else _skip_for(Outcome.MAINTENANCE)


def _replace(statement: _Examined) -> Classification:
    """MySQL's and SQLite's REPLACE is an INSERT, Teradata's REPLACE VIEW a CREATE OR REPLACE."""
    words = [token.text.lower() for token in statement.head(3)]
    made = {"view", "macro", "procedure", "function"} & set(words) or words[1:2] == ["table"]
    return _create(statement) if made else _insert(statement)


def _locking(statement: _Examined) -> Classification:
    """Teradata's LOCKING ... FOR ACCESS stands before the statement proper; elsewhere LOCK is a statement."""
    for token in statement.head(12)[1:]:
        if token.text.lower() in _MAIN_VERBS:
            return _by_verb(replace(statement, start=token.start), token.text.lower())
    return _skip_for(Outcome.LOCK)


_EXAMINED: Mapping[str, Callable[[_Examined], Classification]] = {
    "select": _select,
    "sel": _select,
    "with": _with_,
    "from": _from_,
    "insert": _insert,
    "ins": _insert,
    "replace": _replace,
    "upsert": _insert,
    "update": _update,
    "upd": _update,
    "delete": _delete,
    "del": _delete,
    "copy": _copy,
    "load": _load,
    "import": _load,
    "create": _create,
    "export": _export,
    "define": _create,  # Snowflake's projects: CREATE OR ALTER
    "alter": _alter,
    "drop": _drop,
    "rename": _rename,
    "exchange": _exchange,
    "use": _use,
    "set": _set,
    "reset": _reset,
    "database": _database,
    "begin": _begin,
    "declare": _declare,
    "open": _open,
    "exec": _execute,
    "call": _call,
    "execute": _execute,
    "cache": _cache,
    "lock": _locking,
    "locking": _locking,
}


def _plain() -> dict[str, Classification]:
    by_reason = {
        Outcome.COMMENT: "comment",
        Outcome.CURSOR: "fetch close move",
        Outcome.DDL_OTHER: "undrop attach detach install security enable disable generate",
        Outcome.EXPLAIN: "explain",
        Outcome.FILE_TRANSFER: "put get list ls remove rm",
        Outcome.GRANT: "grant revoke deny reassign",
        Outcome.LOCK: "unlock",
        Outcome.MAINTENANCE: (
            "analyze analyse vacuum optimize refresh msck repair reindex cluster checkpoint compute uncache clear add"
            " collect update_statistics kill system notify listen unlisten dbcc cancel invalidate flush reorg runstats"
            " pause resume backup restore check checksum purge binlog reconfigure preload recompress convert force"
        ),
        Outcome.PREPARE: "prepare deallocate",
        Outcome.SELECT: "values table summarize pivot unpivot assert using",
        Outcome.SESSION_SETTING: (
            "pragma unset print raiserror throw signal resignal go waitfor return break continue"
        ),
        Outcome.SHOW: "show describe desc help",
        Outcome.TRANSACTION: "commit rollback start end savepoint release abort save bt et",
        Outcome.TRUNCATE: "truncate",
    }
    kinds = {Outcome.SELECT: Kind.SELECT}
    plain = {
        verb: _skip_for(reason, kinds.get(reason, Kind.OTHER))
        for reason, verbs in by_reason.items()
        for verb in verbs.split()
    }
    plain |= dict.fromkeys(("apply", "auto"), _parse_as(Kind.INSERT))  # APPLY CHANGES INTO, AUTO CDC INTO
    plain |= dict.fromkeys(("unload", "bulk"), _parse_as(Kind.COPY))
    plain |= dict.fromkeys(("do", "if", "while", "for", "loop", "repeat"), _BLOCK)
    return plain | {
        "merge": _parse_as(Kind.MERGE),
        "discard": Classification(Kind.USE, Outcome.SESSION_STATE, session_changes.SessionChange(reset=True)),
    }


_PLAIN: Mapping[str, Classification] = _plain()
