"""Query logs: what platforms export, and PostgreSQL's own csvlog."""

from connectors.query_log.reader import QueryLogOptions, read_query_log
from connectors.query_log.window import apply_window, newest_time

__all__ = ["QueryLogOptions", "apply_window", "newest_time", "read_query_log"]
