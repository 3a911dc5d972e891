# ruff: noqa: N815 — the names are the wire's
"""What clients of the contract may send of edges."""

from __future__ import annotations

from typing import Literal

from connectors.catalog.contract.models import Fqn, Many, Model, Ref, Text


class TempHop(Model):
    """A hop over a temporary table that was folded away."""

    fromEntity: Fqn
    toEntity: Fqn


class ColumnMapping(Model):
    """Columns that one column is made from."""

    fromColumns: Many[Fqn] | None = None
    toColumn: Fqn | None = None
    function: Text | None = None


Source = Literal[
    "Manual",
    "ViewLineage",
    "QueryLineage",
    "PipelineLineage",
    "DashboardLineage",
    "DbtLineage",
    "SparkLineage",
    "OpenLineage",
    "ExternalTableLineage",
    "CrossDatabaseLineage",
    "ChildAssets",
]


class LineageDetails(Model):
    """What is known of an edge."""

    sqlQuery: Text | None = None
    columnsLineage: Many[ColumnMapping] | None = None
    pipeline: Ref | None = None
    description: Text | None = None
    source: Source = "Manual"
    tempLineageTables: Many[TempHop] | None = None


class EdgeRequest(Model):
    """An edge between two entities, by id."""

    fromEntity: Ref
    toEntity: Ref
    description: Text | None = None
    lineageDetails: LineageDetails | None = None


class AddLineage(Model):
    """The contract's request to add lineage."""

    edge: EdgeRequest
