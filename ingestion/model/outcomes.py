"""Every end of a statement, a name and an edge: its code, what it counts as, what it means and what to do about it.

A code is what the report, the summary, the dead letters and the metrics show; `docs/outcomes.md` is this table for
people. Nobody else writes a code: what ends something names a member of one of the enumerations below.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from ingestion.errors import (
    ParseCrash,
    ParseMemory,
    ParseTimeout,
    Rejected,
    Templated,
    TooLarge,
    TooManyColumns,
    TooManySteps,
    Unparsable,
)


class StatementEnd(StrEnum):
    """What a statement counts as; every statement of a log is exactly one of these. `words` say it behind a number."""

    words: str

    def __new__(cls, code: str, words: str) -> Self:
        """`2 given up on`."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.words = words
        return member

    PUBLISHED = "published", "gave lineage"
    SKIPPED = "skipped", "left out"
    DEAD = "dead", "given up on"


_PUBLISHED, _SKIPPED, _DEAD = StatementEnd.PUBLISHED, StatementEnd.SKIPPED, StatementEnd.DEAD


class _DescribedCode(StrEnum):
    """A code with what there is to tell of it."""

    end: StatementEnd
    sentence: str
    advice: str

    def __new__(cls, code: str, end: StatementEnd, sentence: str, advice: str = "") -> Self:
        """`end` is what a statement counts as that ends so; `advice` is "" where there is nothing to do."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.end, member.sentence, member.advice = end, sentence, advice
        return member


_LOG_IT_WHOLE = "Have the log keep the whole text of a statement."
_MENTION = "Report it with the statement of the dead letter; nothing else is lost."


class _Code(StrEnum):
    """A code with what it means."""

    sentence: str

    def __new__(cls, code: str, sentence: str) -> Self:
        """The same of what is the end of no statement."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.sentence = sentence
        return member


class RunOutcome(_Code):
    """How a run ended."""

    RUNNING = "running", "Under way."
    DONE = "done", "Done."
    BELOW_THRESHOLD = "below_threshold", "Done, and fewer statements succeeded than the configuration demands."
    FAILED = "failed", "Failed."
    TARGET_DOWN = "target_down", "Given up: the catalog could not be reached."
    INTERRUPTED = "interrupted", "Stopped from outside before its end."
    CRASHED = "crashed", "Its process was gone before it could say how it ended."


class UncoveredReason(_Code):
    """Why the source of a table is not known by columns, where no statement's end tells it."""

    NOT_WRITTEN = "not_written", "No statement that was read fills it."
    COLUMNS_UNKNOWN = "columns_unknown", "Its tables are known, and not which of their columns go where."


class Outcome(_DescribedCode):
    """How a statement ends, and how a name that it needs does.

    A code may be followed by a colon and what exactly it was: `unsupported:InsertIntoHiveTable`.
    """

    PUBLISHED = "published", _PUBLISHED, "At least one edge of it is in the catalog."

    # A statement that has no lineage of its own, told from its verb.
    ANONYMOUS_BLOCK = "anonymous_block", _SKIPPED, "A block without a name; each statement in it counts by itself."
    CALL = (
        "call",
        _SKIPPED,
        "A call of a routine; each statement that the routine runs counts by itself, where its definition is known.",
    )
    COMMENT = "comment", _SKIPPED, "Writes a comment on a table, a column or another object."
    COPY_STDIO = "copy_stdio", _SKIPPED, "Copies rows from or to the client, which is no table."
    CURSOR = "cursor", _SKIPPED, "Opens, reads or closes a cursor."
    DDL_OTHER = "ddl_other", _SKIPPED, "Makes, alters or drops what holds no data: a schema, a role, a sequence."
    DELETE = "delete", _SKIPPED, "Deletes rows, and nothing decides which."
    DYNAMIC_SQL = (
        "dynamic_sql",
        _SKIPPED,
        "Runs a text that is put together as it runs, or elsewhere; constant texts that run here are read.",
        "Log the statements that are run, not only the call.",
    )
    EMPTY = "empty", _SKIPPED, "There is no statement in the text: only comments or blanks."
    EXPLAIN = "explain", _SKIPPED, "Asks for a plan, and runs nothing."
    FILE_TRANSFER = "file_transfer", _SKIPPED, "Moves files to or from a stage, or lists them."
    GRANT = "grant", _SKIPPED, "Gives or takes rights."
    INDEX = "index", _SKIPPED, "Makes, alters or drops an index."
    INSERT_VALUES = "insert_values", _SKIPPED, "Writes rows of constants, which come from no table."
    LOCK = "lock", _SKIPPED, "Takes or gives back a lock."
    MAINTENANCE = "maintenance", _SKIPPED, "Keeps the database in order: statistics, vacuum, repair, caches, backups."
    OTHER_LANGUAGE = (
        "other_language",
        _SKIPPED,
        "A routine in another language than SQL: only whole texts of SQL in it are read, and its code may do more.",
        "Log the statements that are run, not only the call.",
    )
    PREPARE = "prepare", _SKIPPED, "Prepares a statement or forgets one; its execution counts."
    ROUTINE_DEFINITION = (
        "routine_definition",
        _SKIPPED,
        "Defines a routine or a trigger; what that runs counts where it is called.",
    )
    SELECT = "select", _SKIPPED, "Only reads: nothing flows into a table."
    SESSION_SETTING = (
        "session_setting",
        _SKIPPED,
        "Sets what names do not depend on, or only steers a script: RETURN, PRINT, GO.",
    )
    SESSION_STATE = (
        "session_state",
        _SKIPPED,
        "Says where its session looks names up, which the statements after it heed.",
    )
    SHOW = "show", _SKIPPED, "Shows or describes objects."
    TRANSACTION = "transaction", _SKIPPED, "Begins or ends a transaction, or sets a savepoint."
    TRUNCATE = "truncate", _SKIPPED, "Empties a table; of a temporary one, what is read later was written since."
    VARIABLE = "variable", _SKIPPED, "Declares a variable."

    # A record that says nothing of lineage.
    FAILED = "failed", _SKIPPED, "It failed at the source: nothing was written."
    # Redshift logs a statement that is still planning, Vertica one that executes; Spark's log may end within an event.
    UNFINISHED = "unfinished", _SKIPPED, "It had not ended when the log was written; a later run reads it again."
    # A statement that failed has written nothing: a wrong edge would be worse than a missing one.
    UNKNOWN_STATE = (
        "unknown_state",
        _SKIPPED,
        "The log's word for how it ended is not known here, so it is not taken for one that ran.",
        "Export states as words such as success, failed or running.",
    )
    NOT_A_STATEMENT = (
        "not_a_statement",
        _SKIPPED,
        "A record of the log that holds no statement: a server's message, a connect, an empty text.",
    )
    NO_QUERY = "no_query", _SKIPPED, "A chart or dashboard that shows no data: a text, a picture, nothing at all."
    NO_DATASET = (
        "no_dataset",
        _SKIPPED,
        "The dataset, view or model that a chart or view is made of is not among what was read.",
        "Export it with what shows it.",
    )
    # BigQuery logs a script beside its parts, ClickHouse the parts of a distributed query beside it.
    PART_OF_ANOTHER = (
        "part_of_another",
        _SKIPPED,
        "The platform made it of another statement, or it holds others, which the log has too.",
    )
    UNLISTED = (
        "unlisted",
        _SKIPPED,
        "A connector names its tables or topics by a pattern, or by what is in the messages: which they are, nothing "
        "tells.",
        "Read its Connect worker (connectWorker), which tells the topics that it has seen.",
    )
    NO_WRITE = "no_write", _SKIPPED, "A record of the engine's own lineage that tells of no write."
    NOT_AN_EVENT_LOG = (
        "not_an_event_log",
        _SKIPPED,
        "A file beside Spark's event logs that holds no events.",
        "Name the folder of the event logs alone.",
    )
    UNREAD = (
        "unread",
        _SKIPPED,
        "A file of Spark's history that could not be had this time; a later run reads it again.",
    )

    # A record that the configuration leaves out.
    FILTERED = (
        "filtered",
        _SKIPPED,
        "The filters of the configuration leave it, or the table that it writes, out.",
        "See filterCondition and the filter patterns of sourceConfig.",
    )
    OUTSIDE_WINDOW = (
        "outside_window",
        _SKIPPED,
        "It is older than the run was asked to read.",
        "Set queryLogDuration, or read a stretch again with --since and --until.",
    )
    OVER_LIMIT = (
        "over_limit",
        _SKIPPED,
        "It lies beyond the number of records that a run reads; the next run goes on there.",
        "Raise resultLimit.",
    )
    NOT_WANTED = (
        "not_wanted",
        _SKIPPED,
        "Lineage of its kind is switched off.",
        "See processViewLineage and processQueryLineage.",
    )

    # A statement that was read and gives no edge.
    NO_LINEAGE = "no_lineage", _SKIPPED, "It was understood, and no data flows from a table to a table in it."
    DEFINITION = "definition", _SKIPPED, "It makes, alters, moves or drops a table, and fills none."
    ALREADY_THERE = "already_there", _SKIPPED, "It makes a table IF NOT EXISTS that stands: nothing is written."
    TEMPORARY = (
        "temporary",
        _SKIPPED,
        "It fills a temporary or staging table from which nothing was written that is published.",
    )
    SELF_REFERENCE = (
        "self_reference",
        _SKIPPED,
        "It reads no table but the one that it writes, and nothing tells which of its columns.",
    )
    NO_SOURCE = "no_source", _SKIPPED, "It fills a table from no other: from constants, or from functions."
    TABLE_COMMIT = (
        "table_commit",
        _SKIPPED,
        "A table's own log says that it was written, when, how and by whom; out of what is not in it.",
    )
    SUPERSEDED = "superseded", _SKIPPED, "A later statement of the log defines the same view."
    UNCHANGED = "unchanged", _SKIPPED, "A definition whose lineage an earlier run has published, and that is the same."
    UNKNOWN_ROUTINE = (
        "unknown_routine",
        _SKIPPED,
        "A call of a routine of which no definition is at hand, or several are with equal right.",
        "Let the run read the definitions: from the database itself, or from a log that has them.",
    )
    WHOLE_ROWS = (
        "whole_rows",
        _SKIPPED,
        "A trigger's statement that writes all columns of a row beside other relations: which is which is not known.",
    )
    REJECTED_BY_HAND = (
        "rejected_by_hand",
        _SKIPPED,
        "A person rejected each of its edges.",
        "`ingest correct list` shows who, and `ingest correct undo` takes it back.",
    )

    # A name: what it led to, and so what becomes of a statement that writes it, or reads nothing else.
    RESOLVED = "resolved", _PUBLISHED, "The name means one table of the catalog."
    UNRESOLVED = (
        "unresolved",
        _SKIPPED,
        "The catalog has no table of that name.",
        "Ingest the service's tables first, or set headwater.registerTables, headwater.defaults or catalogServices.",
    )
    AMBIGUOUS = (
        "ambiguous",
        _SKIPPED,
        "The name could mean several tables, so it means none.",
        "Say where bare names stand: headwater.defaults, or the log's columns of database and schema.",
    )
    # BigQuery, MySQL, Oracle, Trino, Teradata and Db2 have no schema of their own to fall back on.
    NO_DEFAULT_SCHEMA = (
        "no_default_schema",
        _SKIPPED,
        "Neither the statement nor its session says in which schema a name stands.",
        "Set headwater.defaults.schema, or headwater.defaults.database where schemas are called databases.",
    )
    UNKNOWN_SESSION = (
        "unknown_session",
        _SKIPPED,
        "Its session picked a schema that the log does not tell: by a template, a variable, or a USE in a block.",
        "Give the log columns for the database and schema of each statement.",
    )
    NOT_STORED = "not_stored", _SKIPPED, "The name is that of a function which gives rows: data without a place."
    NO_SUCH_TABLE = (
        "no_such_table",
        _SKIPPED,
        "No table goes by the name where it was looked for; it counts as unresolved.",
    )
    UNKNOWN_SERVER = (
        "unknown_server",
        _SKIPPED,
        "The name begins with a linked server or catalog that no service is given for; it counts as unresolved.",
        "Name its service under headwater.catalogServices.",
    )
    TOO_MANY_PARTS = (
        "too_many_parts",
        _SKIPPED,
        "The name has more parts than any platform gives one; it counts as unresolved.",
    )
    NOTHING_THERE = (
        "nothing_there",
        _SKIPPED,
        "No container and no table of the catalog stands at that path; it counts as unresolved.",
    )

    # A text that no parser reads.
    # Platforms cut texts: at 200 characters (Teradata), 1,000 (Oracle), 4,000 (Redshift, Synapse), 100,000 (Snowflake).
    CUT = "cut", _DEAD, "The source cut its text: what stood at the end is not known.", _LOG_IT_WHOLE
    ILL_FORMED = (
        "ill_formed",
        _DEAD,
        "A quote or a comment in it never ends, its parentheses do not pair, or a quote is typographic.",
        _LOG_IT_WHOLE,
    )
    NOT_SQL = (
        "not_sql",
        _DEAD,
        "The text has no word of SQL.",
        "Name the column of the text under headwater.queryLogColumns: most often another was taken.",
    )
    UNKNOWN_VERB = (
        "unknown_verb",
        _DEAD,
        "It begins with no verb of SQL that is known, and nothing that it does was understood.",
        "Look for a mistyped word, or name the dialect.",
    )
    TEMPLATED = (
        Templated.code,
        _DEAD,
        "A template was left in the text that nobody filled in.",
        "Log, or name, the text that the database was sent.",
    )
    TOO_LARGE = TooLarge.code, _DEAD, "It is larger than any parser is given."
    # What is kept of an edge takes some hundred bytes in every stage: a statement may not take a run's memory.
    TOO_MANY_EDGES = (
        "too_many_edges",
        _DEAD,
        "Its columns come from more than 500,000 columns of tables, taken together; none of them is told.",
        "Give the run the schemas of its tables: a bare column of a table that is not known may be of each of them.",
    )
    OTHER_DIALECT = (
        "other_dialect",
        _DEAD,
        "It is written as the SQL of the source cannot be: what its names mean there, nobody knows.",
        "Name the type that fits under source.serviceConnection.config, or the dialect; then run again.",
    )
    DEFINED_TWICE = (
        "defined_twice",
        _DEAD,
        "Another model of its project has its name: which of them makes the table nobody knows.",
        "Rename one of them, or give the project as it is for one target.",
    )
    TOO_MANY_COLUMNS = (
        TooManyColumns.code,
        _DEAD,
        "It names columns of a table beyond the first 20,000, by itself or with others; no catalog has more of one.",
    )
    TOO_MANY_STEPS = (
        TooManySteps.code,
        _DEAD,
        "A stage after parsing was stopped at 1,000,000 steps, one for each column that a value of it may be of.",
        "Give the run the schemas of its tables: a bare column of a table that is not known may be of each of them.",
    )
    UNPARSABLE = (
        Unparsable.code,
        _DEAD,
        "No parser made sense of it.",
        "Check the type of the source: it says whose SQL it is.",
    )
    TIMEOUT = (
        ParseTimeout.code,
        _DEAD,
        "A parser overran its time and was stopped, and no other one read it.",
        "Raise parsingTimeoutLimit, then `ingest replay`.",
    )
    MEMORY = (
        ParseMemory.code,
        _DEAD,
        "A parser overran its memory and was stopped, and no other one read it.",
        "Raise headwater.parserMemoryLimit, then `ingest replay`.",
    )
    CRASH = ParseCrash.code, _DEAD, "A parser's process died of it, and no other one read it.", _MENTION

    # A record that cannot be read.
    MALFORMED_RECORD = (
        "malformed_record",
        _DEAD,
        "The record is not as its format wants.",
        "Look at the file and line of the dead letter.",
    )
    MALFORMED_LINEAGE = (
        "malformed_lineage",
        _DEAD,
        "What the engine itself recorded of its lineage cannot be read; its text counts by itself.",
    )
    UNSUPPORTED = (
        "unsupported",
        _DEAD,
        "A write that ran, of a kind of which nothing is understood.",
        "Report the kind that follows the code.",
    )

    # A statement or edge on which a stage failed: nothing but that one is lost.
    INTERNAL_ERROR = "internal_error", _DEAD, "Reading its record failed unexpectedly.", _MENTION
    PARSING_FAILED = "parsing_failed", _DEAD, "What a parser gave of it could not be used.", _MENTION
    ANALYSIS_FAILED = "analysis_failed", _DEAD, "Telling what flows where in it failed unexpectedly.", _MENTION
    BINDING_FAILED = "binding_failed", _DEAD, "Telling which tables its names mean failed unexpectedly.", _MENTION
    FOLDING_FAILED = "folding_failed", _DEAD, "Following its temporary tables failed unexpectedly.", _MENTION
    ROUTINES_FAILED = "routines_failed", _DEAD, "Reading a routine's definition failed unexpectedly.", _MENTION
    RESOLUTION_FAILED = (
        "resolution_failed",
        _DEAD,
        "The catalog refused to look a name up, or its answer could not be read.",
        "Look at the catalog's log; the next run asks again.",
    )
    REGISTRATION_FAILED = (
        "registration_failed",
        _DEAD,
        "A table that it needs was to be registered, and could not be.",
        "Look at the catalog's log; the next run tries again.",
    )
    EVIDENCE_FAILED = "evidence_failed", _DEAD, "Making its edges failed unexpectedly.", _MENTION
    PUBLISHING_FAILED = "publishing_failed", _DEAD, "Sending its edges failed unexpectedly.", _MENTION


class WriteOutcome(_DescribedCode):
    """What became of an edge that was sent to a sink; of a statement that has no other, a rejection's end is its."""

    NEW = "new", _PUBLISHED, "The catalog did not have the edge."
    MERGED = "merged", _PUBLISHED, "The catalog had the edge, and says more of it now."
    UNCHANGED = "unchanged", _PUBLISHED, "The catalog had all of it already."
    REPLACED = "replaced", _PUBLISHED, "What the same producer had said before made room for it."
    STORED = "stored", _PUBLISHED, "Acknowledged in a batch, whose counts tell how many were new."
    REJECTED = (
        Rejected.code,
        _DEAD,
        "The catalog refused the edge, and would refuse it again; its answer follows the code.",
        "Mend what the answer names, then run again.",
    )


class ProblemKind(_DescribedCode):
    """Why something in a statement could not be resolved, whose other lineage counts."""

    UNKNOWN_COLUMN = "unknown_column", _PUBLISHED, "A column that the table, whose schema is known, does not have."
    AMBIGUOUS_COLUMN = "ambiguous_column", _PUBLISHED, "A column that several tables of the query may have."
    COLUMN_COUNT = "column_count", _PUBLISHED, "More or fewer values than the target has columns."
    UNSUPPORTED = "unsupported", _PUBLISHED, "A construct whose columns were not followed."
    INCOMPLETE = "incomplete", _PUBLISHED, "The source has cut the list of columns."
    DISAGREEMENT = "disagreement", _PUBLISHED, "The statement's text and its plan tell different things."


_BY_CODE: Mapping[str, Outcome | WriteOutcome] = {outcome.value: outcome for outcome in (*WriteOutcome, *Outcome)}
"""Of a code that an edge and a statement have, the statement's: a report's reasons are those of statements."""


_SENTENCES: Mapping[str, str] = {
    one.value: one.sentence for one in (*WriteOutcome, *RunOutcome, *UncoveredReason, *Outcome)
}
"""Of a code that both a run and a statement end with, the statement's: `failed`."""


_RUN_OUTCOMES: Mapping[str, RunOutcome] = {one.value: one for one in RunOutcome}


def run_outcome(code: str) -> RunOutcome:
    """The outcome of a run that was stored by its code."""
    return _RUN_OUTCOMES[code]


def code_of(reason: str) -> str:
    """The code of a reason, which more may follow: `ill_formed` of `ill_formed:unbalanced parentheses`."""
    return reason.partition(":")[0]


def meaning_of(reason: str) -> str:
    """What a statement's `reason` means, with or without what follows its code, and what to do; "" for no code of ours.

    A state that another version has written may have one that is none any more.
    """
    outcome = _BY_CODE.get(code_of(reason))
    return f"{outcome.sentence} {outcome.advice}".rstrip() if outcome is not None else ""


def words_of(reason: str) -> str:
    """What a `reason` means, to be put into a sentence: without its last point, what to do, and what follows its code.

    Of no code of ours its own words.
    """
    code = code_of(reason)
    return _SENTENCES.get(code, code.replace("_", " ")).removesuffix(".")
