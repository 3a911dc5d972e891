"""The entity types of the catalog, as data: where each lives, what it hangs under, which keys its answers may have.

Clients forbid unknown keys in answers, so an entity only ever carries the keys listed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ingestion.model.lineage import Json

_TEXTS = ("displayName", "description", "owners", "tags", "domains")
_ASSET = (*_TEXTS, "extension", "sourceUrl", "lifeCycle", "certification", "sourceHash")
_DOMAINS = ("domains", ("domain",))
_SERVICES = tuple(f"{of}Service" for of in ("database", "storage", "pipeline", "dashboard", "messaging"))

_DATABASE_SERVICE = ("service", ("databaseService",))
_DASHBOARD_SERVICE = ("service", ("dashboardService",))
_DATABASE = ("database", ("database",))
_SCHEMA = ("databaseSchema", ("databaseSchema",))

_LABELS = ("displayName", "description", "owners", "domains", "reviewers", "provider", "mutuallyExclusive", "disabled")
_REVIEWERS = ("reviewers", ("user", "team"))

SERVICE_TYPES = frozenset(_SERVICES)
LINEAGE_TYPES = (
    *("table", "container", "topic", "storedProcedure", "pipeline"),
    *("dashboard", "chart", "dashboardDataModel", "metric"),
)
"""What lineage can touch."""
GO_WITH_THEIR_TABLE = frozenset({"testCase", "testSuite"})
"""What lies under a table without keeping it from being deleted."""


@dataclass(frozen=True, slots=True)
class EntityType:
    """One entity type.

    `parent` is the key of the create request that names the parent, `ancestors` the references an answer carries
    (key of the answer -> type), nearest first. `keys` are what it takes over from the request; of these `references`
    name other entities, of one of the types beside each key, and are answered as references. Entities of a type that
    `nests` may lie in one of the same type, which the request's `parent` names.
    """

    type: str
    collection: str
    index: str
    keys: tuple[str, ...]
    parent: str | None = None
    ancestors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    references: tuple[tuple[str, tuple[str, ...]], ...] = ()
    nests: bool = False
    deletable: bool = True

    @property
    def parent_types(self) -> tuple[str, ...]:
        return self.ancestors[0][1] if self.ancestors else ()

    def request_of(self, answer: Json) -> Json:
        """The create request that gives an entity with this `answer`."""
        request = {key: answer[key] for key in self.keys if answer.get(key) is not None} | {"name": answer["name"]}
        if self.parent is not None:
            parent = answer[self.parent]
            # a service of any kind: its name alone would not tell which
            request[self.parent] = parent if len(self.parent_types) > 1 else parent["fullyQualifiedName"]
        if self.nests and answer.get("parent") is not None:
            request["parent"] = answer["parent"]
        return request


def _service(type_: str) -> EntityType:
    """What holds databases, storage, pipelines, dashboards or topics."""
    of = type_.removesuffix("Service")
    return EntityType(
        type=type_,
        collection=f"services/{of}Services",
        index=f"{of}_service_search_index",
        keys=(*_TEXTS, "serviceType", "connection", "style"),
        references=(_DOMAINS,),
    )


_OF_DATABASES = (
    EntityType(
        type="database",
        collection="databases",
        index="database_search_index",
        keys=(*_ASSET, "default", "retentionPeriod"),
        parent="service",
        ancestors=(_DATABASE_SERVICE,),
        references=(_DOMAINS,),
    ),
    EntityType(
        type="databaseSchema",
        collection="databaseSchemas",
        index="database_schema_search_index",
        keys=(*_ASSET, "retentionPeriod"),
        parent="database",
        ancestors=(_DATABASE, _DATABASE_SERVICE),
        references=(_DOMAINS,),
    ),
    EntityType(
        type="table",
        collection="tables",
        index="table_search_index",
        keys=(
            *(*_ASSET, "tableType", "columns", "tableConstraints", "schemaDefinition", "locationPath", "fileFormat"),
            *("retentionPeriod", "processedLineage", "dataModel", "aliases", "tablePartition", "tableProfilerConfig"),
        ),
        parent="databaseSchema",
        ancestors=(_SCHEMA, _DATABASE, _DATABASE_SERVICE),
        references=(_DOMAINS,),
    ),
    EntityType(
        type="storedProcedure",
        collection="storedProcedures",
        index="stored_procedure_search_index",
        keys=(*_ASSET, "storedProcedureCode", "storedProcedureType", "code", "processedLineage"),
        parent="databaseSchema",
        ancestors=(_SCHEMA, _DATABASE, _DATABASE_SERVICE),
        references=(_DOMAINS,),
    ),
    EntityType(
        type="query",
        collection="queries",
        index="query_search_index",
        keys=(
            *(*_TEXTS, "query", "checksum", "duration", "queryDate", "query_type", "exclude_usage"),
            *("queryUsedIn", "usedBy", "users", "triggeredBy", "processedLineage"),
        ),
        parent="service",
        ancestors=(_DATABASE_SERVICE,),
        references=(_DOMAINS, ("users", ("user",))),
        deletable=False,
    ),
)

_OF_STORAGE_AND_PIPELINES = (
    EntityType(
        type="container",
        collection="containers",
        index="container_search_index",
        keys=(
            *(*_ASSET, "fullPath", "dataModel", "prefix", "numberOfObjects", "size", "fileFormats"),
            "retentionPeriod",
        ),
        parent="service",
        ancestors=(("service", ("storageService",)),),
        references=(_DOMAINS,),
        nests=True,
    ),
    EntityType(
        type="topic",
        collection="topics",
        index="topic_search_index",
        keys=(
            *(*_ASSET, "messageSchema", "partitions", "cleanupPolicies", "retentionTime", "replicationFactor"),
            *("maximumMessageSize", "minimumInSyncReplicas", "retentionSize", "topicConfig"),
        ),
        parent="service",
        ancestors=(("service", ("messagingService",)),),
        references=(_DOMAINS,),
    ),
    EntityType(
        type="pipeline",
        collection="pipelines",
        index="pipeline_search_index",
        keys=(
            *(*_ASSET, "concurrency", "pipelineLocation", "startDate", "endDate", "tasks", "scheduleInterval"),
            "state",
        ),
        parent="service",
        ancestors=(("service", ("pipelineService",)),),
        references=(_DOMAINS,),
    ),
    EntityType(
        type="ingestionPipeline",
        collection="services/ingestionPipelines",
        index="ingestion_pipeline_search_index",
        keys=(
            *("displayName", "description", "owners", "domains", "pipelineType", "sourceConfig", "airflowConfig"),
            *("loggerLevel", "raiseOnError", "enabled", "enableStreamableLogs", "provider", "processingEngine"),
        ),
        parent="service",
        ancestors=(("service", _SERVICES),),
        references=(_DOMAINS,),
    ),
)

_READERS = (
    EntityType(
        type="dashboard",
        collection="dashboards",
        index="dashboard_search_index",
        keys=(*_ASSET, "dashboardType", "project", "charts", "dataModels"),
        parent="service",
        ancestors=(_DASHBOARD_SERVICE,),
        references=(_DOMAINS, ("charts", ("chart",)), ("dataModels", ("dashboardDataModel",))),
    ),
    EntityType(
        type="chart",
        collection="charts",
        index="chart_search_index",
        keys=(*_ASSET, "chartType", "dashboards"),
        parent="service",
        ancestors=(_DASHBOARD_SERVICE,),
        references=(_DOMAINS, ("dashboards", ("dashboard",))),
    ),
    EntityType(
        type="dashboardDataModel",
        collection="dashboard/datamodels",
        index="dashboard_data_model_search_index",
        keys=(*_ASSET, "dataModelType", "columns", "sql", "project"),
        parent="service",
        ancestors=(_DASHBOARD_SERVICE,),
        references=(_DOMAINS,),
    ),
    EntityType(
        type="metric",
        collection="metrics",
        index="metric_search_index",
        keys=(
            *(*_TEXTS, "extension", "metricType", "metricExpression", "dimensions", "measures", "filters"),
            *("granularity", "unitOfMeasurement", "customUnitOfMeasurement", "relatedMetrics", "reviewers"),
            *("provider", "certification"),
        ),
        references=(_DOMAINS, ("relatedMetrics", ("metric",)), ("reviewers", ("user", "team"))),
    ),
)


_GOVERNANCE = (
    EntityType(
        type="team",
        collection="teams",
        index="team_search_index",
        keys=(
            *("displayName", "description", "owners", "domains", "teamType", "email", "externalId", "profile"),
            *("isJoinable", "parents", "children", "users"),
        ),
        references=(_DOMAINS, ("parents", ("team",)), ("children", ("team",)), ("users", ("user",))),
    ),
    EntityType(
        type="user",
        collection="users",
        index="user_search_index",
        keys=(
            *("displayName", "description", "domains", "email", "externalId", "scimUserName", "timezone", "isBot"),
            *("isAdmin", "profile", "teams"),
        ),
        references=(_DOMAINS, ("teams", ("team",))),
    ),
    EntityType(
        type="classification",
        collection="classifications",
        index="classification_search_index",
        keys=(*_LABELS, "autoClassificationConfig"),
        references=(_DOMAINS, _REVIEWERS),
    ),
    EntityType(
        type="tag",
        collection="tags",
        index="tag_search_index",
        keys=(
            *(*_LABELS, "style", "deprecated", "recognizers"),
            *("autoClassificationEnabled", "autoClassificationPriority"),
        ),
        parent="classification",
        ancestors=(("classification", ("classification",)),),
        references=(_DOMAINS, _REVIEWERS),
        nests=True,
    ),
    EntityType(
        type="domain",
        collection="domains",
        index="domain_search_index",
        keys=(
            *("displayName", "description", "owners", "tags", "domainType", "style", "experts"),
            *("extension", "certification"),
        ),
        references=(("experts", ("user",)),),
        nests=True,
        deletable=False,
    ),
)

_QUALITY = (
    EntityType(
        type="testDefinition",
        collection="dataQuality/testDefinitions",
        index="test_definition_search_index",
        keys=(
            *("displayName", "description", "owners", "domains", "entityType", "testPlatforms", "supportedDataTypes"),
            *("parameterDefinition", "dataQualityDimension", "supportedServices", "sqlExpression", "validatorClass"),
            *("provider", "enabled"),
        ),
        references=(_DOMAINS,),
    ),
    EntityType(
        type="testSuite",
        collection="dataQuality/testSuites",
        index="test_suite_search_index",
        keys=(*_TEXTS, "basic", "basicEntityReference", "reviewers"),
        references=(_DOMAINS, _REVIEWERS),
    ),
    EntityType(
        type="testCase",
        collection="dataQuality/testCases",
        index="test_case_search_index",
        keys=(
            *(*_TEXTS, "entityLink", "testDefinition", "parameterValues", "reviewers", "computePassedFailedRowCount"),
            *("useDynamicAssertion", "dimensionColumns", "topDimensions", "inspectionQuery"),
        ),
        references=(_DOMAINS, _REVIEWERS),
    ),
)

KINDS: tuple[EntityType, ...] = (
    *(_service(type_) for type_ in _SERVICES),
    *_OF_DATABASES,
    *_OF_STORAGE_AND_PIPELINES,
    *_READERS,
    *_GOVERNANCE,
    *_QUALITY,
)

BY_TYPE: Mapping[str, EntityType] = {kind.type: kind for kind in KINDS}
BY_INDEX: Mapping[str, EntityType] = {kind.index: kind for kind in KINDS}
