"""Query logs, files and tables, to records on Spark: it knows no platform by name."""

from connectors.query_log.reader import QueryLogInput, QueryLogOptions, open_query_log, read_query_log

__all__ = ["QueryLogInput", "QueryLogOptions", "open_query_log", "read_query_log"]
