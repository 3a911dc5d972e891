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
_RESERVED: dict[str, frozenset[str]] = {
    **dict.fromkeys(("postgres", "greenplum", "cockroach", "materialize", "risingwave"), _POSTGRES),
    "redshift": _POSTGRES | keywords("CURRENT_USER_ID SYSDATE"),
    "vertica": _POSTGRES | keywords("CURRENT_DATABASE SYSDATE"),
    "oracle": _ORACLE,
    "exasol": _ORACLE | keywords("CURRENT_SCHEMA CURRENT_SESSION CURRENT_STATEMENT"),
    "tsql": _TRANSACT,
    "fabric": _TRANSACT,
    "teradata": keywords("ACCOUNT CURRENT_ROLE CURRENT_USER DATABASE DATE SESSION TIME USER"),
    "db2": keywords(
        "CURRENT_DATE CURRENT_PATH CURRENT_SCHEMA CURRENT_SERVER CURRENT_TIME CURRENT_TIMESTAMP CURRENT_TIMEZONE "
        "CURRENT_USER USER"
    ),
}
_HIERARCHICAL = keywords("CONNECT_BY_ISCYCLE CONNECT_BY_ISLEAF LEVEL")
SEQUENCE_VALUES = keywords("CURRVAL NEXTVAL")
"""`seq.NEXTVAL`: a sequence's, in every dialect that has them."""


@lru_cache(maxsize=128)
def reserved_words(dialect: str, *, hierarchical: bool = False) -> frozenset[str]:
    """The bare words that are no columns, folded as columns are; `hierarchical` adds those of CONNECT BY."""
    words = _RESERVED.get(dialect, frozenset()) | (_HIERARCHICAL if hierarchical else frozenset())
    return frozenset(fold_column(word, dialect_of(dialect), quoted=False) for word in words)


# The words of SQL that the token rules know, by the part they play.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


QUERY_STARTS = _words("SELECT SEL WITH FROM VALUES")
"""Begin what may stand in parentheses as a query."""

SET_OPERATIONS = _words("UNION INTERSECT EXCEPT MINUS")

ENDS_FROM = SET_OPERATIONS | _words(
    """WHERE PREWHERE GROUP ORDER HAVING QUALIFY WINDOW LIMIT OFFSET FETCH FOR SELECT SET WHEN RETURNING CONNECT
    START CLUSTER DISTRIBUTE SORT INSERT VALUES OPTION INTO"""
)
"""Begin what comes after a query's FROM."""

AFTER_RELATION = ENDS_FROM | _words(
    """AS ON USING JOIN INNER LEFT RIGHT FULL CROSS OUTER NATURAL ASOF SEMI ANTI POSITIONAL GLOBAL ANY ALL
    STRAIGHT_JOIN APPLY LATERAL PIVOT UNPIVOT TABLESAMPLE SAMPLE WITH PARTITION MATCH_RECOGNIZE FINAL ARRAY FORCE
    IGNORE USE BY OVERWRITE"""
)
"""May follow a relation, and so are not its alias."""

TABLE_HINTS = _words("NOLOCK READUNCOMMITTED READCOMMITTED READPAST HOLDLOCK UPDLOCK ROWLOCK TABLOCK TABLOCKX NOWAIT")
"""In parentheses behind a relation in T-SQL."""

CREATE_MODIFIERS = _words(
    """OR REPLACE ALTER GLOBAL LOCAL TEMP TEMPORARY TRANSIENT VOLATILE UNLOGGED MULTISET SET EXTERNAL MATERIALIZED
    SECURE RECURSIVE FORCE NO EDITIONABLE NONEDITIONABLE LIVE STREAMING PRIVATE HYBRID DYNAMIC"""
)
"""May stand between CREATE and TABLE or VIEW."""

TEMPORARY = _words("TEMP TEMPORARY VOLATILE")

INSERT_MODIFIERS = _words("INTO OVERWRITE TABLE IGNORE OR REPLACE LOW_PRIORITY HIGH_PRIORITY DELAYED")
"""May stand between INSERT and its target."""

INSERT_ELSEWHERE = _words("LOCAL DIRECTORY FUNCTION ALL FIRST")
"""Say that INSERT does not go into one table."""

NO_TARGET = _words(
    "AS FROM IGNORE LOW_PRIORITY ON OPENDATASOURCE OPENQUERY OPENROWSET OR SELECT SET TOP USING VALUES WHERE WITH"
)
"""Follow UPDATE, MERGE and INSERT without being what they write."""

NO_COLUMN_DEFINITION = _words("CONSTRAINT PRIMARY UNIQUE FOREIGN CHECK INDEX KEY LIKE EXCLUDE")
"""Begin an item of a table's definition that is no column."""

NO_COLUMN = _words(
    """NULL TRUE FALSE UNKNOWN DEFAULT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER SESSION_USER USER
    SYSDATE SYSTIMESTAMP LOCALTIME LOCALTIMESTAMP ROWNUM LEVEL"""
)
"""Look like a column and are a value."""


CONDITIONS = _words("WHERE ON USING HAVING QUALIFY GROUP ORDER DISTINCT NATURAL INTERSECT EXCEPT MINUS UNION CONNECT")
"""Begin what has a say in which rows there are, or in their order."""

METADATA_QUERIES = _words("DESCRIBE DESC SUMMARIZE SHOW")
"""Begin what DuckDB takes as a relation in parentheses, besides queries."""

DATE_PARTS = _words(
    """YEAR YEARS QUARTER QUARTERS MONTH MONTHS WEEK WEEKS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS MILLISECOND
    MICROSECOND NANOSECOND ISOWEEK ISOYEAR DAYOFWEEK DAYOFYEAR DOW DOY EPOCH YY YYYY QQ Q MM M WK WW DD D HH MI SS MS"""
)
"""Name a part of a date where a function's argument may stand."""
