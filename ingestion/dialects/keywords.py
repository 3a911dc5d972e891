"""Words of SQL by the part they play: those that look like columns and are none, those that begin and end clauses."""

from __future__ import annotations

from functools import lru_cache

from ingestion.dialects import dialect_of, fold_column
from ingestion.dialects.definition import keywords

# Words that look like columns and are none: values of the session, of a row's place in a result, of a sequence.
#
# Only words that a system reserves are here: where a table may have a column of that name, the column is meant.

_POSTGRES = keywords(
    "CURRENT_CATALOG CURRENT_DATE CURRENT_ROLE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER LOCALTIME LOCALTIMESTAMP "
    "SESSION_USER SYSTEM_USER USER"
)
_ORACLE = keywords("CURRENT_DATE LEVEL ROWNUM SESSIONTIMEZONE SYSDATE SYSTIMESTAMP UID USER")
_TRANSACT = keywords("CURRENT_TIMESTAMP CURRENT_USER SESSION_USER SYSTEM_USER USER $ACTION")
_TRINO = keywords(
    "CURRENT_CATALOG CURRENT_DATE CURRENT_PATH CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER LOCALTIME "
    "LOCALTIMESTAMP"
)
_FLINK = _POSTGRES | keywords("UNKNOWN")
_RESERVED: dict[str, frozenset[str]] = {
    **dict.fromkeys(("postgres", "greenplum", "cockroach", "materialize", "risingwave"), _POSTGRES),
    "redshift": _POSTGRES | keywords("CURRENT_USER_ID SYSDATE"),
    "vertica": _POSTGRES | keywords("CURRENT_DATABASE SYSDATE"),
    **dict.fromkeys(("athena", "presto", "trino"), _TRINO),
    "flink": _FLINK | frozenset(map(str.lower, _FLINK)),  # the case of a column matters, that of these does not
    "oracle": _ORACLE,
    "exasol": _ORACLE | keywords("CURRENT_SCHEMA CURRENT_SESSION CURRENT_STATEMENT"),
    "tsql": _TRANSACT,
    "fabric": _TRANSACT,
    "teradata": keywords("ACCOUNT CURRENT_ROLE CURRENT_USER DATABASE DATE SESSION TIME USER"),
    "db2": keywords(
        "CURRENT_DATE CURRENT_PATH CURRENT_SCHEMA CURRENT_SERVER CURRENT_TIME CURRENT_TIMESTAMP CURRENT_TIMEZONE "
        "CURRENT_USER USER"
    ),
    "clickhouse": keywords("INF INFINITY Inf Infinity NAN NaN inf infinity nan"),  # numbers, before any column
}
_HIERARCHICAL = keywords("CONNECT_BY_ISCYCLE CONNECT_BY_ISLEAF LEVEL")
_GROUPED = dict.fromkeys(("databricks", "hive", "spark"), keywords("GROUPING__ID"))
SEQUENCE_VALUES = keywords("CURRVAL NEXTVAL")
"""`seq.NEXTVAL`: a sequence's, in every dialect that has them."""

_POSTGRES_ROWS = keywords("CMAX CMIN CTID TABLEOID XMAX XMIN")
_ROWS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("postgres", "greenplum", "redshift"), _POSTGRES_ROWS),
    "hive": keywords(
        "BLOCK__OFFSET__INSIDE__FILE INPUT__FILE__NAME ROW__ID ROW__IS__DELETED ROW__OFFSET__INSIDE__BLOCK"
    ),
    "oracle": keywords("ORA_ROWSCN ROWID"),
}


@lru_cache(maxsize=64)
def row_words(dialect: str) -> frozenset[str]:
    """Names that no column of a table can have, as `t.ctid` tells a row's place: it holds no data."""
    return frozenset(fold_column(word, dialect_of(dialect), quoted=False) for word in _ROWS.get(dialect, ()))


_HIDDEN_COLUMNS = {
    "duckdb": keywords("ROWID"),
    "clickhouse": keywords(
        "_block_number _block_offset _database _part _part_data_version _part_granule_offset _part_index _part_offset "
        "_part_starting_offset _part_uuid _partition_id _partition_value _row_exists _sample_factor _table"
    ),
    **dict.fromkeys(("databricks", "spark"), keywords("_METADATA")),  # a struct: of the file, and a row's place in it
}


@lru_cache(maxsize=64)
def hidden_columns(dialect: str) -> frozenset[str]:
    """Names that tell a row's place in every table that has no column of that name: DuckDB's `t.rowid`.

    SQLite's is none of these: it is the table's INTEGER PRIMARY KEY where there is one.
    """
    words = _HIDDEN_COLUMNS.get(dialect, ())
    return frozenset(fold_column(word, dialect_of(dialect), quoted=False) for word in words)


_HIDING: dict[str, frozenset[str]] = {
    "clickhouse": keywords("alias ephemeral materialized"),
    **dict.fromkeys(("mariadb", "mysql", "oracle"), keywords("invisible")),
    **dict.fromkeys(("db2", "fabric", "tsql"), keywords("hidden")),
}


def hiding_words(dialect: str) -> frozenset[str]:
    """Words that keep a column out of every star, where they stand in its definition: MySQL's `c INT INVISIBLE`."""
    return _HIDING.get(dialect, frozenset())


@lru_cache(maxsize=128)
def reserved_words(dialect: str, *, hierarchical: bool = False, grouped: bool = False) -> frozenset[str]:
    """The bare words that are no columns, folded as columns are.

    `hierarchical` adds those of CONNECT BY, `grouped` those of GROUP BY with several sets: a table that was filled
    from such a query may well have a column `grouping__id`.
    """
    words = _RESERVED.get(dialect, frozenset())
    words |= _HIERARCHICAL if hierarchical else frozenset()
    words |= _GROUPED.get(dialect, frozenset()) if grouped else frozenset()
    return frozenset(fold_column(word, dialect_of(dialect), quoted=False) for word in words)


QUERY_STARTS = keywords("select sel with from values")
"""Begin what may stand in parentheses as a query."""

QUERIES = QUERY_STARTS | {"table"}
"""Begin a query that stands alone: `TABLE t` is one too, while in parentheses a column may have that name."""

TRANSFERS = keywords("copy unload load export import bulk")
"""Verbs of what moves rows between tables and files."""

CHANGES = keywords("insert update delete merge")
"""Verbs of what changes the rows of a table."""

BEGUN_TRANSACTIONS = keywords(
    "tran transaction work name deferred immediate exclusive concurrent isolation read not distributed ;"
)
"""Follow a BEGIN that opens a transaction, and no block."""

CONVERSATIONS = keywords("dialog conversation")
"""Follow a BEGIN, or an END, of T-SQL's messages between services, and of no block."""

NO_BLOCKS = keywords("tran transaction distributed") | CONVERSATIONS
"""Follow a BEGIN of T-SQL's that opens no block."""

CONTROL_FLOW = keywords("if while loop for repeat")
"""Open a block, each ended by an END of its own."""

RELATIONS = keywords("table view")

SET_OPERATIONS = keywords("union intersect except minus")

ENDS_FROM = SET_OPERATIONS | keywords(
    """where prewhere group order having qualify window limit offset fetch for select set when returning connect
    start cluster distribute sort insert values option into"""
)
"""Begin what comes after a query's FROM."""

AFTER_RELATION = ENDS_FROM | keywords(
    """as on using join inner left right full cross outer natural asof semi anti positional global any all
    straight_join apply lateral pivot unpivot tablesample sample with partition match_recognize final array force
    ignore use by overwrite"""
)
"""May follow a relation, and so are not its alias."""

TABLE_HINTS = keywords(
    "nolock readuncommitted readcommitted readpast holdlock updlock rowlock tablock tablockx nowait paglock xlock"
    " serializable keepidentity"
)
"""In parentheses behind a relation in T-SQL."""

BEFORE_VALUE = keywords(
    """( , = < > + - * / % | and or not like ilike in between is then else when case values select where having on by
    set from using all any some distinct"""
)
"""A value begins behind them: what follows is no operator, no clause, no part of a name."""

BEFORE_RESULT = keywords("limit offset return returning")
"""So does one behind these, where they are no columns, as they are in Oracle and Teradata."""

NO_VALUE = keywords(
    "select where in and or not on when then else case values from join as by , ( = < > + - * / || set"
) | {""}
"""No value ends with these: brackets behind them, as in `x (DATE)`, convert none, and a minus is no operator."""

CREATE_MODIFIERS = keywords(
    """or replace alter global local temp temporary transient volatile unlogged multiset set external materialized
    secure recursive force no editionable noneditionable live streaming private hybrid dynamic refresh permanent iceberg
    snapshot column row columnar rowstore hadoop immutable blockchain sharded duplicated reference dimension fact"""
)
"""May stand between CREATE and TABLE or VIEW: how each system stores and keeps them."""

TEMPORARY = keywords("temp temporary volatile")

BEFORE_RELATIONS = keywords("from join apply ,")

BEFORE_TARGET = keywords(
    "into overwrite table ignore or replace low_priority high_priority delayed quick only if not exists concurrently"
    " rollback abort fail"
)
"""May stand between INSERT, REPLACE, MERGE, COPY or CREATE TABLE and the name of the target."""

INSERT_ELSEWHERE = keywords("local directory function all first")
"""Say that INSERT does not go into one table."""

NO_TARGET = INSERT_ELSEWHERE | keywords(
    "as default from identifier ignore low_priority on opendatasource openquery openrowset or sel select set table top"
    " using values where with"
)
"""Follow UPDATE, MERGE and INSERT without being the name of what they write."""

NO_COLUMN_DEFINITION = keywords("constraint primary unique foreign check index key like exclude")
"""Begin an item of a table's definition that is no column."""

NO_COLUMN = keywords(
    """null true false unknown default current_date current_time current_timestamp current_user session_user user
    sysdate systimestamp localtime localtimestamp rownum level"""
)
"""Look like a column and are a value."""


CONDITIONS = keywords("where on using having qualify group order distinct natural intersect except minus union connect")
"""Begin what has a say in which rows there are, or in their order."""

SHOWING_PACKAGES = keywords("dbms_output")
"""Oracle's packages whose procedures only show something to who runs a script."""

ADMINISTRATIVE_PROCEDURES = keywords(
    """sp_addextendedproperty sp_updateextendedproperty sp_dropextendedproperty sp_dboption sp_configure sp_serveroption
    sp_addtype sp_droptype sp_addmessage sp_dropmessage sp_bindrule sp_unbindrule sp_bindefault sp_unbindefault
    sp_addlogin sp_droplogin sp_adduser sp_dropuser sp_grantdbaccess sp_revokedbaccess sp_addrole sp_droprole
    sp_addrolemember sp_droprolemember sp_addsrvrolemember sp_dropsrvrolemember sp_changedbowner sp_changeobjectowner
    sp_tableoption sp_indexoption sp_settriggerorder sp_recompile sp_refreshview sp_refreshsqlmodule sp_updatestats
    sp_createstats sp_autostats sp_fulltext_database sp_fulltext_catalog sp_fulltext_table sp_fulltext_column
    sp_getapplock sp_releaseapplock sp_set_session_context sp_help sp_helptext sp_helpdb sp_helpindex sp_spaceused
    sp_who sp_who2 sp_lock sp_depends"""
)
"""SQL Server's procedures that change or show settings, rights and descriptions: no row of a table comes of them.

What every SSDT project and every generated script ends with. Those that run a text, as sp_executesql and
sp_MSforeachtable do, and jobs are not among them.
"""

METADATA_QUERIES = keywords("describe desc summarize show")
"""Begin what DuckDB takes as a relation in parentheses, besides queries."""

DATE_PARTS = keywords(
    """year years quarter quarters month months week weeks day days hour hours minute minutes second seconds millisecond
    microsecond nanosecond isoweek isoyear dayofweek dayofyear dow doy epoch yy yyyy qq q mm m wk ww dd d hh mi ss ms"""
)
"""Name a part of a date where a function's argument may stand."""

DATE_PART_WORDS = DATE_PARTS | keywords(
    """century centuries decade decades millennium millennia millenium julian milliseconds microseconds nanoseconds
    timezone tz tzh tzm date time datetime timestamp iso sql tsi frac of weekday weekofyear dayofmonth yearofweek
    dayofweekiso weekiso yearofweekiso yr yrs y mon mons w dw dy h hr hrs n min mins s sec secs msec usec nsec us ns mcs
    monday tuesday wednesday thursday friday saturday sunday"""
)
"""What the name of a part is made of where nothing but one may stand: `day_hour`, `week(monday)`, `sql_tsi_day`."""
