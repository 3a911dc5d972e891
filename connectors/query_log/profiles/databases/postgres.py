"""PostgreSQL's pg_stat_statements, as appendix F of its documentation has it (its csvlog is no export)."""

from __future__ import annotations

from connectors.query_log.profiles.export_profile import MILLISECONDS, ExportProfile, marks

STAT_STATEMENTS = ExportProfile(
    name="PostgreSQL pg_stat_statements",
    services=frozenset({"Postgres", "Timescale", "Greenplum", "Cockroach"}),
    marks=marks("query calls total_exec_time", "query calls total_time", "query queryid calls", "query userid dbid"),
    columns={
        "text": ("query",),
        "duration": ("total_exec_time", "total_time"),
        "user": ("rolname", "usename"),
        "database": ("datname",),
    },
    units={"total_exec_time": MILLISECONDS, "total_time": MILLISECONDS},
)
