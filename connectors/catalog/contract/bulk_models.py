# ruff: noqa: N815 — the names are the wire's
"""The requests of the bulk calls."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import AfterValidator, Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from connectors.catalog.contract import entity_models, models
from connectors.catalog.contract.models import Count, Fqn, Id, Many, Millis, Model, Name, Ref, Text, Word
from connectors.platforms.error_codes import error_code
from ingestion.model.contributions import JOBS_KEPT
from ingestion.model.job_slots import DAYS_KEPT, SLOTS_KEPT
from ingestion.model.uses import ColumnUseKind

Digest = Annotated[str, StringConstraints(min_length=8, max_length=128, pattern="^[0-9a-fA-F]+$")]

ProducerKind = Literal[
    "query",
    "view",
    "dbt",
    "procedure",
    "external_table",
    "plan",
    "engine",
    "edge_list",
    "manual",
    "openlineage",
    "wire",
]


class LookupName(Model):
    """A name as a query has it; or the path of a container or external table."""

    database: Name | None = None
    schema_: Annotated[Name | None, Field(alias="schema")] = None
    table: Name | None = None
    path: Text | None = None


class Lookup(Model):
    """Names to find in one service; paths are found in any. Without `columns` an answer says which entity it is."""

    service: Name
    names: Annotated[Many[LookupName], Field(max_length=50_000)]
    columns: bool = True


class RegisterService(models.CreateService):
    """A service; `type` says which collection it belongs to."""

    type: Literal["databaseService", "storageService", "pipelineService", "messagingService"] = "databaseService"


class Register(Model):
    """Entities to register, parents before children; `at` is when the definitions held."""

    services: Many[RegisterService] = []
    databases: Many[models.CreateDatabase] = []
    schemas: Many[models.CreateSchema] = []
    tables: Many[models.CreateTable] = []
    procedures: Annotated[Many[models.CreateProcedure], Field(alias="storedProcedures")] = []
    containers: Many[models.CreateContainer] = []
    topics: Many[models.CreateTopic] = []
    pipelines: Many[entity_models.CreatePipeline] = []
    queries: Many[entity_models.CreateQuery] = []
    replaceColumns: bool = False
    at: Millis | None = None


class Producer(Model):
    """Who says so: a query's fingerprint, a view's name, a job."""

    kind: ProducerKind
    key: Text


class ColumnEdge(TypedDict):
    """Columns that take part in a column; without `to` they do in every column of the target.

    A dictionary, since they are nearly all of a batch: a model takes twice as long to read. What is left out is plain:
    certain, DIRECT, no masking.
    """

    from_: Annotated[Many[Fqn], Field(alias="from", max_length=10_000)]
    to: NotRequired[Fqn | None]
    type: NotRequired[Literal["DIRECT", "INDIRECT"]]
    subtype: NotRequired[Word | None]
    masking: NotRequired[bool]
    expression: NotRequired[Text | None]
    certain: NotRequired[bool]


class SlotRuns(Model):
    """When a statement ran in a slot: what one job, or user at one hour, does to one target in one way.

    `key` is a digest, "" where nobody knows who ran it. Bit n of `days` is the day (UTC) n days before that of `last`.
    """

    key: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{8,64})?$")]
    first: Millis
    last: Millis
    days: Annotated[int, Field(ge=1, lt=1 << DAYS_KEPT)] = 1


class ContributionRequest(Model):
    """What one producer says about one edge, and how often it was seen to.

    Its text is given with it, or by its place among the `sqlQueries` of the batch.
    """

    producer: Producer
    source: models.Source
    sqlQuery: Text | None = None
    sqlQueryIndex: Annotated[int, Field(ge=0)] | None = None
    columns: Many[ColumnEdge] = []
    parser: Word | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    firstSeen: Millis | None = None
    lastSeen: Millis | None = None
    columnsAt: Millis | None = None  # when the columns had the names that they have here, where not when it was seen
    records: Many[Digest] | None = None
    count: Count = 1
    pipeline: Ref | None = None
    description: Text | None = None
    tempLineageTables: Many[models.TempHop] | None = None
    jobs: Annotated[Many[Text], Field(max_length=JOBS_KEPT)] = []
    slots: Annotated[Many[SlotRuns], Field(max_length=SLOTS_KEPT)] = []


class End(Model):
    """One end of an edge."""

    id: Id
    type: Word


class Edge(Model):
    """An edge and what is said about it."""

    fromEntity: End
    toEntity: End
    contribution: ContributionRequest


class Replace(Model):
    """A scope of which this batch holds the whole truth up to `until`: what it does not hold ends at `at`.

    `processed`: the entity's lineage is done, and it is marked so.
    """

    producer: Producer | None = None
    toEntity: End
    source: models.Source
    at: Millis | None = None
    until: Millis | None = None
    processed: bool = False


class Lineage(Model):
    """A batch of contributions; the same `batchId` is applied once.

    `sqlQueries`: texts that contributions name by their place, so that a text is sent once for all of its edges.
    """

    batchId: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    sqlQueries: Annotated[Many[Text], Field(max_length=100_000)] = []
    edges: Annotated[Many[Edge], Field(max_length=100_000)]
    replace: Annotated[Many[Replace], Field(max_length=100_000)] = []

    @model_validator(mode="after")
    def _has_each_text_once(self) -> Lineage:
        for edge in self.edges:
            index = edge.contribution.sqlQueryIndex
            if index is None:
                continue
            if index >= len(self.sqlQueries):
                raise ValueError("a contribution names a text that is not among sqlQueries")
            if edge.contribution.sqlQuery is not None:
                raise ValueError("a contribution has both sqlQuery and sqlQueryIndex")
        return self


class DdlEvent(Model):
    """DDL: what happened to the name of an entity or to one of its columns, at its time.

    `other` is the entity that bears the name afterwards (rename) or that it was exchanged with (swap); a replace ends
    what was seen of the name before. `column` and `to` are names within the entity. A column that is new or has another
    type is given as its `definition`. `before`: the type that the column had, where that is known. `again`: a column of
    its old name was defined anew since, and stands.
    """

    kind: Literal[
        "create", "replace", "drop", "rename", "swap", "dropColumn", "renameColumn", "addColumn", "retypeColumn"
    ]
    entity: End
    other: End | None = None
    column: Name | None = None
    to: Name | None = None
    definition: models.ColumnRequest | None = None
    before: Text | None = None
    again: bool = False
    at: Millis


class DdlEvents(Model):
    """DDL, in any order, each as often as one likes."""

    events: Annotated[Many[DdlEvent], Field(max_length=100_000)]


class Use(Model):
    """Log records that read an entity."""

    entity: End
    records: Many[Digest]
    at: Millis | None = None


class Uses(Model):
    """Usage from a log; a record counts once."""

    items: Annotated[Many[Use], Field(max_length=100_000)]


def _known_code(word: str) -> str:
    """An error's code, or "" for none. Raises ValueError for what may be a word of a message."""
    if word and error_code(word) != word:
        raise ValueError("no code of an error that is known")
    return word


class StatementLoad(Model):
    """What became of a statement that was to write an entity, at its time; `run` tells it from others of that moment.

    `statement` is its fingerprint, `error` the code of why it failed (a number, an SQLSTATE, or a name that BigQuery or
    Trino has), `rows` how many it wrote.
    """

    entity: End
    at: Millis
    run: Digest
    status: Literal["complete", "failed"]
    statement: Word
    rows: Count | None = None
    error: Annotated[str, StringConstraints(max_length=64), AfterValidator(_known_code)] = ""
    job: Word = ""

    @model_validator(mode="after")
    def _has_an_error_only_where_it_failed(self) -> StatementLoad:
        if self.error and self.status != "failed":
            raise ValueError("an error of a load that is complete")
        return self


class StatementLoads(Model):
    """Loads to file, each once."""

    loads: Annotated[Many[StatementLoad], Field(max_length=50_000)]


class ColumnRead(Model):
    """A column that queries read, by whom and when last; without a `column` the table's rows, or no one knows which.

    `how`: the query names it, or has a star, needs but the rows (a count), or is not understood.
    """

    entity: End
    column: Fqn | None = None
    how: ColumnUseKind
    reader: Word = ""
    last: Millis | None = None
    undated: bool = False


class ReadingSpan(Model):
    """The stretch of a log that was read, and how many statements of which kind are in it; `days` since the epoch."""

    part: Word
    service: Name
    first: Millis | None = None
    last: Millis | None = None
    counts: Annotated[dict[Word, Count], Field(max_length=200)]
    days: Annotated[Many[Count], Field(max_length=50_000)] = []


class Reads(Model):
    """What the log of a workflow (`source`) tells of readers; with a `whole` span what was told of others is gone."""

    source: Text
    span: ReadingSpan | None = None
    whole: bool = False
    reads: Annotated[Many[ColumnRead], Field(max_length=50_000)] = []


class WrittenRun(Model):
    """A run that filled an entity, each once by its `run`, with what it took as far as the log tells."""

    entity: End
    run: Digest
    at: Millis
    statement: Word
    writer: Word = ""
    job: Word = ""
    seconds: Annotated[float, Field(ge=0, lt=1e12)] | None = None
    bytes: Count | None = None
    credits: Annotated[float, Field(ge=0, lt=1e12)] | None = None


class WrittenRuns(Model):
    """Runs to file, each once."""

    runs: Annotated[Many[WrittenRun], Field(max_length=50_000)]
