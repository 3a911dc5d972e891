"""Every exporter that is known, one line each."""

from __future__ import annotations

from connectors.platforms import (
    athena,
    bigquery,
    catalogs,
    clickhouse,
    databricks,
    dremio,
    fabric,
    hive,
    impala,
    mysql,
    oracle,
    postgres,
    redshift,
    snowflake,
    sqlserver,
    synapse,
    teradata,
    trino,
    vertica,
)
from connectors.platforms.profile import ExportProfile, HeaderlessFile, ServerLog

PROFILES: tuple[ExportProfile, ...] = (
    snowflake.QUERY_HISTORY,
    snowflake.ACCESS_HISTORY,
    bigquery.JOBS,
    redshift.SYS_QUERY_HISTORY,
    redshift.STL_QUERY,
    redshift.QUERY_TEXT,
    redshift.SYS_QUERY_TEXT,
    redshift.STATEMENT_TEXT,
    databricks.QUERY_HISTORY,
    databricks.TABLE_LINEAGE,
    databricks.COLUMN_LINEAGE,
    athena.QUERY_EXECUTION,
    synapse.EXEC_REQUESTS,
    fabric.EXEC_REQUESTS_HISTORY,
    mysql.GENERAL_LOG,
    mysql.SLOW_LOG,
    mysql.EVENTS_STATEMENTS,
    postgres.STAT_STATEMENTS,
    sqlserver.QUERY_STORE,
    oracle.SQL,
    oracle.SQL_TEXT,
    oracle.UNIFIED_AUDIT,
    dremio.QUERIES,
    teradata.LOG,
    teradata.SQL,
    vertica.QUERY_REQUESTS,
    clickhouse.QUERY_LOG,
    trino.QUERIES,
    trino.EVENTS,
    hive.LINEAGE_LOG,
    impala.LINEAGE_LOG,
    impala.AUDIT_LOG,
    impala.QUERY_LOG,
    catalogs.OPENMETADATA,
    catalogs.DATAHUB,
)

SERVER_LOGS: tuple[ServerLog, ...] = (postgres.SERVER_LOG,)
HEADERLESS_FILES: tuple[HeaderlessFile, ...] = (mysql.GENERAL_LOG_FILE,)
