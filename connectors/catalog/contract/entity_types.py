"""The entity types of the catalog, as data: where each lives, what it hangs under, which keys its answers may have.

Clients forbid unknown keys in answers, so an entity only ever carries the keys listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COMMON = ("displayName", "description", "owners", "tags", "extension")


@dataclass(frozen=True, slots=True)
class EntityType:
    """One entity type.

    `parent` is the key of the create request that names the parent, `ancestors` the references an answer carries
    (key of the answer -> type), nearest first. `keys` are what it takes over from the request.
    """

    type: str
    collection: str
    index: str
    keys: tuple[str, ...]
    parent: str | None = None
    ancestors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    deletable: bool = True

    @property
    def parent_types(self) -> tuple[str, ...]:
        return self.ancestors[0][1] if self.ancestors else ()


def _service(of: str) -> EntityType:
    """What holds databases, storage, pipelines or dashboards."""
    return EntityType(
        type=f"{of}Service",
        collection=f"services/{of}Services",
        index=f"{of}_service_search_index",
        keys=("displayName", "description", "owners", "tags", "serviceType", "connection"),
    )


_DATABASE_SERVICE = ("service", ("databaseService",))
_DATABASE = ("database", ("database",))
_SCHEMA = ("databaseSchema", ("databaseSchema",))

KINDS: tuple[EntityType, ...] = (
    _service("database"),
    _service("storage"),
    _service("pipeline"),
    _service("dashboard"),
    EntityType(
        type="database",
        collection="databases",
        index="database_search_index",
        keys=(*COMMON, "default", "sourceUrl", "retentionPeriod"),
        parent="service",
        ancestors=(_DATABASE_SERVICE,),
    ),
    EntityType(
        type="databaseSchema",
        collection="databaseSchemas",
        index="database_schema_search_index",
        keys=(*COMMON, "sourceUrl", "retentionPeriod"),
        parent="database",
        ancestors=(_DATABASE, _DATABASE_SERVICE),
    ),
    EntityType(
        type="table",
        collection="tables",
        index="table_search_index",
        keys=(
            *COMMON,
            "tableType",
            "columns",
            "tableConstraints",
            "schemaDefinition",
            "locationPath",
            "fileFormat",
            "sourceUrl",
            "retentionPeriod",
            "processedLineage",
        ),
        parent="databaseSchema",
        ancestors=(_SCHEMA, _DATABASE, _DATABASE_SERVICE),
    ),
    EntityType(
        type="storedProcedure",
        collection="storedProcedures",
        index="stored_procedure_search_index",
        keys=(*COMMON, "storedProcedureCode", "storedProcedureType", "code", "sourceUrl", "processedLineage"),
        parent="databaseSchema",
        ancestors=(_SCHEMA, _DATABASE, _DATABASE_SERVICE),
    ),
    EntityType(
        type="container",
        collection="containers",
        index="container_search_index",
        keys=(*COMMON, "fullPath", "dataModel", "prefix", "numberOfObjects", "size", "fileFormats", "sourceUrl"),
        parent="service",
        ancestors=(("service", ("storageService",)),),
    ),
    EntityType(
        type="pipeline",
        collection="pipelines",
        index="pipeline_search_index",
        keys=(*COMMON, "sourceUrl", "concurrency", "pipelineLocation", "startDate", "tasks", "scheduleInterval"),
        parent="service",
        ancestors=(("service", ("pipelineService",)),),
    ),
    EntityType(
        type="dashboard",
        collection="dashboards",
        index="dashboard_search_index",
        keys=(*COMMON, "dashboardType", "sourceUrl", "project"),
        parent="service",
        ancestors=(("service", ("dashboardService",)),),
    ),
    EntityType(
        type="metric",
        collection="metrics",
        index="metric_search_index",
        keys=(
            *COMMON,
            "metricType",
            "metricExpression",
            "dimensions",
            "measures",
            "granularity",
            "unitOfMeasurement",
        ),
    ),
    EntityType(
        type="team",
        collection="teams",
        index="team_search_index",
        keys=("displayName", "description", "teamType", "email"),
    ),
    EntityType(
        type="testDefinition",
        collection="dataQuality/testDefinitions",
        index="test_definition_search_index",
        keys=("displayName", "description", "owners", "entityType", "testPlatforms", "supportedDataTypes"),
    ),
    EntityType(
        type="testSuite",
        collection="dataQuality/testSuites",
        index="test_suite_search_index",
        keys=("displayName", "description", "owners", "tags", "basic", "basicEntityReference"),
    ),
    EntityType(
        type="testCase",
        collection="dataQuality/testCases",
        index="test_case_search_index",
        keys=("displayName", "description", "owners", "tags", "entityLink", "testDefinition", "parameterValues"),
    ),
    EntityType(
        type="query",
        collection="queries",
        index="query_search_index",
        keys=(
            "displayName",
            "description",
            "owners",
            "tags",
            "query",
            "checksum",
            "duration",
            "queryDate",
            "query_type",
            "exclude_usage",
            "queryUsedIn",
            "usedBy",
            "users",
            "triggeredBy",
            "processedLineage",
        ),
        parent="service",
        ancestors=(_DATABASE_SERVICE,),
        deletable=False,
    ),
    EntityType(
        type="ingestionPipeline",
        collection="services/ingestionPipelines",
        index="ingestion_pipeline_search_index",
        keys=(
            "displayName",
            "description",
            "owners",
            "pipelineType",
            "sourceConfig",
            "airflowConfig",
            "loggerLevel",
            "raiseOnError",
            "enabled",
            "enableStreamableLogs",
        ),
        parent="service",
        ancestors=(("service", ("databaseService", "storageService", "pipelineService", "dashboardService")),),
    ),
)

BY_TYPE: Mapping[str, EntityType] = {kind.type: kind for kind in KINDS}
BY_INDEX: Mapping[str, EntityType] = {kind.index: kind for kind in KINDS}
SERVICE_TYPES = frozenset({"databaseService", "storageService", "pipelineService", "dashboardService"})
LINEAGE_TYPES = ("table", "container", "storedProcedure", "pipeline", "dashboard", "metric")
"""What lineage can touch."""
GO_WITH_THEIR_TABLE = frozenset({"testCase", "testSuite"})
"""What lies under a table without keeping it from being deleted."""
