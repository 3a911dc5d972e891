# ruff: noqa: N815 — the names are the wire's
"""What clients may send of tables, of lineage and of use, as strict models. Keys that are not listed are dropped: an
answer must not carry them.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, StringConstraints

Name = Annotated[str, StringConstraints(min_length=1, max_length=3072)]
Fqn = Annotated[str, StringConstraints(min_length=1, max_length=12_288)]
Text = Annotated[str, StringConstraints(max_length=8_000_000)]
Word = Annotated[str, StringConstraints(max_length=256)]
MOST_REASON, MOST_AUTHOR = 2_000, 200
"""Characters of why somebody corrects an edge, and of who does."""
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MOST_REASON)]
Author = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MOST_AUTHOR)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Item = TypeVar("Item")

Millis = Annotated[int, Field(ge=0, le=2**53)]
Count = Annotated[int, Field(ge=0, le=2**53)]

Derived = Annotated[Any, Field(exclude=True)]
"""What answers carry and the catalog works out itself: taken, since clients send back what they read, and left out."""

Unkept = Annotated[list[Any], Field(max_length=0)] | None
"""What the contract has and this catalog does not keep: taken as long as nothing is in it."""

PatchPath = Annotated[str, StringConstraints(max_length=12_288)]

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


class _FirstWrongItem(FailFast):
    """Hashable, as what is said of a type in a union must be."""

    def __hash__(self) -> int:
        return hash(self.fail_fast)


Many = Annotated[list[Item], _FirstWrongItem()]
"""A list that is refused at its first wrong item: telling of a million wrong ones costs a thousand times the body."""


class Model(BaseModel):
    """Base of all requests."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class Stored(Model):
    """Base of what is stored: a key that would not be kept is refused, so that nothing is lost without a word."""

    model_config = ConfigDict(extra="forbid")


class Ref(Model):
    """A reference to an entity, by id or by name."""

    id: Id
    type: Word
    name: Name | None = None
    fullyQualifiedName: Fqn | None = None
    displayName: Text | None = None
    description: Text | None = None
    deleted: bool | None = None


class Tag(Stored):
    """A tag label."""

    tagFQN: Word
    name: Word | None = None
    displayName: Word | None = None
    description: Text | None = None
    source: Word = "Classification"
    labelType: Word = "Manual"
    state: Word = "Confirmed"
    style: dict[str, Any] | None = None
    reason: Text | None = None
    metadata: dict[str, Any] | None = None
    appliedAt: Any = None
    appliedBy: Word | None = None
    href: Derived = None


class Create(Stored):
    """What every create request has."""

    name: Name
    displayName: Text | None = None
    description: Text | None = None
    owners: Many[Ref] | None = None
    tags: Many[Tag] | None = None
    domains: Many[Fqn | Ref] | None = None
    dataProducts: Unkept = None


class CreateService(Create):
    """A database, storage, pipeline, dashboard or messaging service."""

    serviceType: Word
    connection: dict[str, Any] | None = None
    style: dict[str, Any] | None = None
    ingestionRunner: Unkept = None
    scheduleInterval: Unkept = None
    lifeCycle: Unkept = None


class Extended(Create):
    """Data assets take free attributes, a link, who used them last, and what they are certified for."""

    extension: dict[str, Any] | None = None
    sourceUrl: Text | None = None
    retentionPeriod: Word | None = None
    lifeCycle: dict[str, Any] | None = None
    certification: dict[str, Any] | None = None
    sourceHash: Word | None = None


class CreateDatabase(Extended):
    """A database of a service."""

    service: Fqn
    default: bool | None = None


class CreateSchema(Extended):
    """A schema of a database."""

    database: Fqn


class ColumnRequest(Stored):
    """A column; `dataType` is one of the platform's type names."""

    name: Name
    dataType: Word = "UNKNOWN"
    displayName: Text | None = None
    arrayDataType: Word | None = None
    dataLength: Count | None = None
    precision: Count | None = None
    scale: Annotated[int, Field(ge=-(2**31), le=2**31)] | None = None
    dataTypeDisplay: Text | None = None
    description: Text | None = None
    tags: Many[Tag] | None = None
    constraint: Word | None = None
    ordinalPosition: Annotated[int, Field(ge=0, le=2**31)] | None = None
    jsonSchema: Text | None = None
    children: Many[ColumnRequest] | None = None
    extension: dict[str, Any] | None = None
    fullyQualifiedName: Derived = None
    profile: Unkept = None
    customMetrics: Unkept = None


class TableConstraint(Stored):
    """A constraint over several columns."""

    constraintType: Word | None = None
    columns: Many[Name] | None = None
    referredColumns: Many[Fqn] | None = None
    relationshipType: Word | None = None


class TableModel(Stored):
    """The model that a transformation tool makes a table from."""

    modelType: Word
    resourceType: Word | None = None
    dbtSourceProject: Word | None = None
    description: Text | None = None
    path: Text | None = None
    rawSql: Text | None = None
    sql: Text | None = None
    upstream: Many[Fqn] | None = None
    owners: Many[Ref] | None = None
    tags: Many[Tag] | None = None
    columns: Many[ColumnRequest] | None = None
    generatedAt: Any = None


class CreateTable(Extended):
    """A table or view of a schema."""

    columns: Many[ColumnRequest]
    databaseSchema: Fqn
    tableType: Word | None = None
    tableConstraints: Many[TableConstraint] | None = None
    schemaDefinition: Text | None = None
    locationPath: Text | None = None
    fileFormat: Word | None = None
    processedLineage: bool | None = None
    dataModel: TableModel | None = None
    aliases: Many[Fqn] | None = None
    tablePartition: dict[str, Any] | None = None
    tableProfilerConfig: dict[str, Any] | None = None


class ProcedureCode(Stored):
    """The text of a stored procedure."""

    language: Word | None = None
    code: Text | None = None


class CreateProcedure(Extended):
    """A stored procedure of a schema."""

    databaseSchema: Fqn
    storedProcedureCode: ProcedureCode | None = None
    storedProcedureType: Word | None = None
    code: Text | None = None
    processedLineage: bool | None = None


class DataModel(Stored):
    """The columns of a container's files."""

    isPartitioned: bool | None = None
    columns: Many[ColumnRequest] = []


class CreateContainer(Extended):
    """A bucket, directory or file set of a storage service."""

    service: Fqn
    parent: Ref | None = None
    dataModel: DataModel | None = None
    prefix: Text | None = None
    fullPath: Text | None = None
    numberOfObjects: Annotated[float, Field(ge=0, le=2**53)] | None = None
    size: Annotated[float, Field(ge=0, le=2**53)] | None = None
    fileFormats: Many[Word] | None = None


class MessageSchema(Stored):
    """The fields of a topic's messages."""

    schemaText: Text | None = None
    schemaType: Word | None = None
    schemaFields: Many[ColumnRequest] = []


class CreateTopic(Extended):
    """A topic of a messaging service."""

    service: Fqn
    partitions: Annotated[int, Field(ge=1, le=2**31)]
    messageSchema: MessageSchema | None = None
    cleanupPolicies: Many[Word] | None = None
    retentionTime: Annotated[float, Field(ge=-1, le=2**63)] | None = None
    replicationFactor: Count | None = None
    maximumMessageSize: Count | None = None
    minimumInSyncReplicas: Count | None = None
    retentionSize: Annotated[float, Field(ge=-1, le=2**63)] | None = None
    topicConfig: dict[str, Any] | None = None


class PatchOperation(Model):
    """One operation of a JSON Patch (RFC 6902)."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: PatchPath
    value: Any = None
    from_: Annotated[PatchPath | None, Field(alias="from")] = None

    def document(self) -> dict[str, Any]:
        """The operation as RFC 6902 writes it."""
        operation: dict[str, Any] = {"op": self.op, "path": self.path}
        if self.op in {"add", "replace", "test"}:
            operation["value"] = self.value
        if self.from_ is not None:
            operation["from"] = self.from_
        return operation


class Restore(Model):
    """Which soft-deleted entity to take back."""

    id: Id


class Stale(Model):
    """What a complete crawl of a scope has seen."""

    scopeFqn: Fqn
    scopeEntityType: Word | None = None
    seenFqns: Many[Fqn]
    recursive: bool = False


# Edges.


class TempHop(Model):
    """A hop over a temporary table that was folded away."""

    fromEntity: Fqn
    toEntity: Fqn


class ColumnMapping(Model):
    """Columns that one column is made from."""

    fromColumns: Many[Fqn] | None = None
    toColumn: Fqn | None = None
    function: Text | None = None


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


# How data is used: counts, joins, rows.


class DailyCount(Stored):
    """How often something was used on a day."""

    date: date
    count: Count


class JoinedWith(Stored):
    """What something is joined with, and how often."""

    fullyQualifiedName: Fqn
    joinCount: Count


class ColumnJoins(Stored):
    """What a column is joined with."""

    columnName: Name
    joinedWith: Many[JoinedWith] = []


class TableJoins(Stored):
    """What a table and its columns are joined with on the day `startDate`."""

    startDate: date
    dayCount: Count | None = None
    columnJoins: Many[ColumnJoins] | None = None
    directTableJoins: Many[JoinedWith] | None = None


class Rows(Stored):
    """Some rows of a table."""

    columns: Annotated[Many[Fqn], Field(max_length=20_000)] | None = None
    rows: Annotated[Many[Many[Any]], Field(max_length=10_000)] | None = None
