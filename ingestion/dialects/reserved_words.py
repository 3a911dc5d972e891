"""Words that look like columns and are none: values of the session, of a row's place in a result, of a sequence.

Only words that a system reserves are here: where a table may have a column of that name, the column is meant.
"""

from __future__ import annotations

from functools import lru_cache

from ingestion.dialects import dialect_of, fold_column
from ingestion.dialects.definition import keywords

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
