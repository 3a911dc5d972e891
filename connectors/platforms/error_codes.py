"""Codes of errors, told from words that anybody may have written: only what is from a closed vocabulary counts.

A number; an SQLSTATE of a class that the standard or a server's manual has, and of digits behind it, among which one
letter may stand where servers have one; a name of BigQuery's "Error messages" or of
Trino's error codes.
"""

from __future__ import annotations

import re

from ingestion.dialects.definition import keywords

_NUMBER = re.compile(r"-?[0-9]{1,9}")
_SQLSTATE = re.compile(r"([0-9A-Z]{2})(?:[0-9]{2}[0-9A-Z]|[CPST][0-9]{2}|K[0-9][0-9A-Z])")
_CLASSES = keywords(
    """01 02 03 07 08 09 0A 0B 0D 0E 0F 0K 0L 0M 0N 0P 0S 0T 0U 0V 0W 0X 0Y 0Z 10 20 21 22 23 24 25 26 27 28 2B 2C 2D
    2E 2F 2H 30 33 34 35 36 38 39 3B 3C 3D 3F 40 42 44 45 46 51 53 54 55 57 58 5U 72 F0 HV HW HY HZ P0 XX"""
)
_BIGQUERY = keywords(
    """accessDenied backendError billingNotEnabled billingTierLimitExceeded blocked duplicate internalError invalid
    invalidQuery invalidUser jobBackendError jobInternalError jobRateLimitExceeded notFound notImplemented quotaExceeded
    proxyAuthenticationRequired rateLimitExceeded resourceInUse resourcesExceeded responseTooLarge stopped
    tableUnavailable timeout"""
)
_TRINO = keywords(
    """GENERIC_USER_ERROR SYNTAX_ERROR ABANDONED_QUERY USER_CANCELED PERMISSION_DENIED NOT_FOUND FUNCTION_NOT_FOUND
    INVALID_FUNCTION_ARGUMENT DIVISION_BY_ZERO INVALID_CAST_ARGUMENT OPERATOR_NOT_FOUND INVALID_VIEW ALREADY_EXISTS
    NOT_SUPPORTED INVALID_SESSION_PROPERTY INVALID_WINDOW_FRAME CONSTRAINT_VIOLATION TRANSACTION_CONFLICT
    INVALID_TABLE_PROPERTY NUMERIC_VALUE_OUT_OF_RANGE UNKNOWN_TRANSACTION NOT_IN_TRANSACTION READ_ONLY_VIOLATION
    SUBQUERY_MULTIPLE_ROWS QUERY_REJECTED AMBIGUOUS_NAME INVALID_SCHEMA_PROPERTY SCHEMA_NOT_EMPTY
    QUERY_TEXT_TOO_LARGE MISMATCHED_COLUMN_ALIASES COLUMN_NOT_FOUND COLUMN_TYPE_UNKNOWN DUPLICATE_COLUMN_NAME
    EXPRESSION_NOT_AGGREGATE INVALID_ARGUMENTS INVALID_COLUMN_REFERENCE MISMATCHED_TABLE_NAME MISSING_CATALOG_NAME
    MISSING_COLUMN_NAME MISSING_SCHEMA_NAME SCHEMA_NOT_FOUND TABLE_NOT_FOUND CATALOG_NOT_FOUND TYPE_MISMATCH
    TYPE_NOT_FOUND UNSUPPORTED_TABLE_TYPE VIEW_IS_STALE VIEW_IS_RECURSIVE GENERIC_INTERNAL_ERROR GENERIC_EXTERNAL
    TOO_MANY_REQUESTS_FAILED PAGE_TOO_LARGE PAGE_TRANSPORT_ERROR PAGE_TRANSPORT_TIMEOUT NO_NODES_AVAILABLE
    REMOTE_TASK_ERROR COMPILER_ERROR REMOTE_TASK_MISMATCH SERVER_SHUTTING_DOWN FUNCTION_IMPLEMENTATION_MISSING
    REMOTE_HOST_GONE SERVER_STARTING_UP OPTIMIZER_TIMEOUT GENERIC_INSUFFICIENT_RESOURCES EXCEEDED_GLOBAL_MEMORY_LIMIT
    QUERY_QUEUE_FULL EXCEEDED_TIME_LIMIT CLUSTER_OUT_OF_MEMORY EXCEEDED_CPU_LIMIT EXCEEDED_SPILL_LIMIT
    EXCEEDED_LOCAL_MEMORY_LIMIT ADMINISTRATIVELY_PREEMPTED EXCEEDED_SCAN_LIMIT"""
)
_NAMES = _BIGQUERY | _TRINO


def error_code(value: str) -> str | None:
    """The code that a column has of an error, None for no error and for what may be anything."""
    word = value.strip()
    if not word.strip("0"):
        return None
    if _NUMBER.fullmatch(word) or word in _NAMES:
        return word
    state = _SQLSTATE.fullmatch(word)
    return word if state is not None and state[1] in _CLASSES else None
