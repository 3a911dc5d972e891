"""Where the rules of the house do not hold yet: lists that only become shorter."""

from __future__ import annotations

UNUSED_WORDS: dict[str, tuple[str, ...]] = {
    "place": (
        "connectors.spark",
        "ingestion.statements",
        "workflows.run",
    ),
}
"""By a word that is not used any more: the rooms whose names still have it."""

PRIVATE_MODULES = frozenset({})
"""Private modules that others than those of their package import."""

CONSTANTS = frozenset(
    {"JSON_VERSION", "_ATTEMPTS", "_AT_ONCE", "_KEY_BYTES", "_NAMES_SHOWN", "_SHOWN", "_STOP_SECONDS", "_UNKNOWN"}
)
"""Names of constants that several modules give the same value."""

FUNCTIONS = frozenset(
    {
        "connectors.catalog.http._lineage.patch",
        "connectors.catalog.http._lineage.patch_by_name",
        "connectors.catalog.http._queries.used_by",
        "connectors.catalog.http._queries.users",
        "connectors.catalog.store.entities.registration.query_digest",
        "connectors.catalog.store.lineage.inserts.edge",
        "connectors.catalog.store.lineage.reads.edge",
        "connectors.catalog.store.lineage.rejections.edge",
        "connectors.dbt._template_values.__init__",
        "connectors.openlineage.events._iso",
        "connectors.openmetadata.attachments._checksum",
        "connectors.sql_files.manifest_diff._table",
        "ingestion.model.lineage.table",
        "ingestion.model.namespaces.table",
        "ingestion.parsing.sqlglot.expressions._terms._aliased_value",
        "ingestion.parsing.sqlglot.expressions._terms._paren",
        "workflows.counts.iso_time",
        "workflows.run.publish.dbt_project._schema",
        "workflows.runtime.progress.seconds_by_stage",
    }
)
"""Functions that do what another one does."""
