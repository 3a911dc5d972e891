"""Query logs: what platforms export, and PostgreSQL's own csvlog."""

from connectors.query_log.reader import QueryLogInput, QueryLogOptions, open_query_log, read_query_log

__all__ = ["QueryLogInput", "QueryLogOptions", "open_query_log", "read_query_log"]
