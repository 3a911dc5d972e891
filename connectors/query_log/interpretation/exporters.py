"""Every exporter that is known."""

from __future__ import annotations

from connectors.query_log.profiles.databases import clickhouse, mysql, oracle, postgres, sqlserver, teradata, vertica
from connectors.query_log.profiles.engines import catalogs, hive, impala, trino
from connectors.query_log.profiles.export_profile import ExportProfile
from connectors.query_log.profiles.warehouses import athena, bigquery, databricks, fabric, redshift, snowflake, synapse

PROFILES: tuple[ExportProfile, ...] = (
    snowflake.QUERY_HISTORY,
    snowflake.ACCESS_HISTORY,
    bigquery.JOBS,
    redshift.SYS_QUERY_HISTORY,
    redshift.STL_QUERY,
    redshift.QUERY_TEXT,
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
