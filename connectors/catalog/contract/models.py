# ruff: noqa: N815 — the names are the wire's
"""What clients may send, as strict models. Keys that are not listed are dropped: an answer must not carry them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, StringConstraints

Name = Annotated[str, StringConstraints(min_length=1, max_length=3072)]
Fqn = Annotated[str, StringConstraints(min_length=1, max_length=12_288)]
Text = Annotated[str, StringConstraints(max_length=8_000_000)]
Word = Annotated[str, StringConstraints(max_length=256)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Item = TypeVar("Item")


class _FirstWrongItem(FailFast):
    """Hashable, as what is said of a type in a union must be."""

    def __hash__(self) -> int:
        return hash(self.fail_fast)


Many = Annotated[list[Item], _FirstWrongItem()]
"""A list that is refused at its first wrong item: telling of a million wrong ones costs a thousand times the body."""

Millis = Annotated[int, Field(ge=0, le=2**53)]
Count = Annotated[int, Field(ge=0, le=2**53)]


class Model(BaseModel):
    """Base of all requests."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


class Ref(Model):
    """A reference to an entity, by id or by name."""

    id: Id
    type: Word
    name: Name | None = None
    fullyQualifiedName: Fqn | None = None
    displayName: Text | None = None
    description: Text | None = None
    deleted: bool | None = None


class Tag(Model):
    """A tag label."""

    tagFQN: Word
    name: Word | None = None
    displayName: Word | None = None
    description: Text | None = None
    source: Word = "Classification"
    labelType: Word = "Manual"
    state: Word = "Confirmed"


class Create(Model):
    """What every create request has."""

    name: Name
    displayName: Text | None = None
    description: Text | None = None
    owners: Many[Ref] | None = None
    tags: Many[Tag] | None = None


class CreateService(Create):
    """A database, storage, pipeline or dashboard service."""

    serviceType: Word
    connection: dict[str, Any] | None = None


class Extended(Create):
    """Data assets take free attributes and a link."""

    extension: dict[str, Any] | None = None
    sourceUrl: Text | None = None
    retentionPeriod: Word | None = None


class CreateDatabase(Extended):
    """A database of a service."""

    service: Fqn
    default: bool | None = None


class CreateSchema(Extended):
    """A schema of a database."""

    database: Fqn


class ColumnRequest(Model):
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


class TableConstraint(Model):
    """A constraint over several columns."""

    constraintType: Word | None = None
    columns: Many[Name] | None = None
    referredColumns: Many[Fqn] | None = None


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


class ProcedureCode(Model):
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


class DataModel(Model):
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


class Task(Model):
    """A task of a pipeline."""

    name: Name
    displayName: Text | None = None
    fullyQualifiedName: Fqn | None = None
    description: Text | None = None
    sourceUrl: Text | None = None
    taskType: Word | None = None
    downstreamTasks: Many[Name] | None = None


class CreatePipeline(Extended):
    """A pipeline or job of a pipeline service."""

    service: Fqn
    concurrency: Annotated[int, Field(ge=0, le=2**31)] | None = None
    pipelineLocation: Text | None = None
    startDate: Word | None = None
    scheduleInterval: Word | None = None
    tasks: Many[Task] | None = None


class CreateQuery(Model):
    """A query of a database service; its name is the MD5 of its text when it has none."""

    query: Text
    service: Fqn
    name: Name | None = None
    displayName: Text | None = None
    description: Text | None = None
    owners: Many[Ref] | None = None
    tags: Many[Tag] | None = None
    duration: Annotated[float, Field(ge=0, le=2**53)] | None = None
    queryDate: Annotated[int, Field(ge=0, le=2**53)] | None = None
    query_type: Word | None = None
    exclude_usage: bool | None = None
    queryUsedIn: Many[Ref] | None = None
    users: Many[Fqn] | None = None
    usedBy: Many[Word] | None = None
    triggeredBy: Ref | None = None
    processedLineage: bool | None = None


class CreateIngestionPipeline(Create):
    """The record of a scheduled ingestion, for clients that report their progress."""

    service: Ref
    pipelineType: Word
    sourceConfig: dict[str, Any] = {}
    airflowConfig: dict[str, Any] = {}
    loggerLevel: Word | None = None
    raiseOnError: bool | None = None
    enabled: bool | None = None
    enableStreamableLogs: bool | None = None


PatchPath = Annotated[str, StringConstraints(max_length=12_288)]


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
