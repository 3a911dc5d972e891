"""Requests as OpenLineage's run events: datasets by their names, an event for each producer."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    RunFacet,
    column_lineage_dataset,
    extraction_error_run,
    job_type_job,
    parent_run,
    schema_dataset,
    sql_job,
    symlinks_dataset,
)
from openlineage.client.serde import Serde

from ingestion.dialects.dataset_namespaces import STORAGE_SCHEMES, NamespaceMap, ServiceAddress
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer
from ingestion.model.entities import TableEntity
from ingestion.model.fqn import quote, split_fqn
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import Column
from ingestion.model.moments import iso_time
from ingestion.model.requests import AddLineageRequest
from ingestion.model.storage_paths import location

_PARTS_OF_A_TABLE = 3
_WRITTEN_SCHEMES = {"abfs": "abfss", "wasb": "wasbs"}
"""The specification's schemes for those that paths are kept under."""

PRODUCER = "https://pypi.org/project/headwater"
_ERRORS_SHOWN = 100


# Entities of the catalog as OpenLineage names datasets: a namespace for where they are, a name for which it is.


@dataclass(frozen=True, slots=True)
class DatasetNames:
    """How datasets are named: by the namespaces of their services, or where none is known by the service's name."""

    namespaces: NamespaceMap = field(default_factory=NamespaceMap)

    def of(self, entity: TableEntity) -> tuple[str, str]:
        """The namespace and the name of an entity; a container's are its store and its path."""
        service, *parts = split_fqn(entity.fully_qualified_name)
        address = self.namespaces.services.get(service, ServiceAddress(""))
        if entity.type != "container":
            name = address.dataset_name(parts[:_PARTS_OF_A_TABLE])
            return self.namespaces.namespace_of(service) or service, ".".join(map(quote, name))
        store, _, path = "/".join(parts).partition("/")
        if service == "files":
            return "file", f"{store}/{path}".rstrip("/")
        scheme = STORAGE_SCHEMES.get(address.type, service)
        return f"{_WRITTEN_SCHEMES.get(scheme, scheme)}://{store}", path or "/"

    def input(self, entity: TableEntity) -> InputDataset:
        """The entity as something that is read."""
        namespace, name = self.of(entity)
        return InputDataset(namespace, name, facets=_facets(entity))

    def output(self, entity: TableEntity, **facets: DatasetFacet) -> OutputDataset:
        """The entity as something that is written."""
        namespace, name = self.of(entity)
        return OutputDataset(namespace, name, facets={**_facets(entity), **facets})


def _column_name(entity: TableEntity, fqn: str) -> str:
    """The column that an FQN of the entity's names, a nested one with its path."""
    return ".".join(split_fqn(fqn)[len(split_fqn(entity.fully_qualified_name)) :])


def _facets(entity: TableEntity) -> dict[str, DatasetFacet]:
    facets: dict[str, DatasetFacet] = {}
    if entity.columns:
        facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=_fields(entity.columns))
    if entity.path and entity.type == "table":
        facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet(identifiers=[_location(entity.path)])
    return facets


def _location(path: str) -> symlinks_dataset.Identifier:
    """Where a table's files are, as another name of it."""
    scheme, separator, rest = location(path).dotted.partition("://")
    if not separator or scheme == "file":
        return symlinks_dataset.Identifier("file", rest or scheme, "LOCATION")
    store, _, name = rest.partition("/")
    return symlinks_dataset.Identifier(f"{scheme}://{store}", name or "/", "LOCATION")


def _fields(columns: Sequence[Column]) -> list[schema_dataset.SchemaDatasetFacetFields]:
    return [
        schema_dataset.SchemaDatasetFacetFields(name=column.name, type=column.type or None, ordinal_position=number)
        for number, column in enumerate(columns, 1)
    ]


# Requests as run events: one for each producer, with all that it reads and writes.


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose events these are: the workflow as a job and its run, the dialect of its SQL, how datasets are named."""

    workflow: str
    run_id: str
    namespace: str
    dialect: str
    names: DatasetNames

    @property
    def run_uuid(self) -> str:
        """The run's id in the form that OpenLineage wants."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{PRODUCER}/{self.workflow}/{self.run_id}"))

    @property
    def parent(self) -> parent_run.ParentRunFacet:
        """The workflow's run as what each job's run belongs to."""
        return parent_run.ParentRunFacet(
            run=parent_run.Run(runId=self.run_uuid),
            job=parent_run.Job(namespace=self.namespace, name=self.workflow),
        )


@dataclass(frozen=True, slots=True)
class RunResult:
    """What became of a run's statements; `errors` maps reasons to how many were given up on."""

    statements: int
    errors: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class JobRun:
    """A producer's event; `key` names the producer, `digest` is the same for the same content."""

    key: str
    digest: str
    event: RunEvent


def job_runs(
    requests: Iterable[AddLineageRequest],
    entities: Mapping[str, TableEntity],
    origin: Origin,
    isolation: Isolation[Producer] | None = None,
) -> Iterator[JobRun]:
    """An event for each producer, in the order of their names. `entities` has both ends of every request, by id.

    The run id follows from the content: an event that is sent again is the same event. `isolation` gets the producers
    of which no event can be made.
    """
    isolation = isolation or Isolation()
    by_producer: dict[Producer, _ProducerEdges] = {}
    for request in requests:
        ends = entities[request.from_entity.id], entities[request.to_entity.id]
        for contribution in request.contributions:
            by_producer.setdefault(contribution.producer, _ProducerEdges()).edges.append((*ends, contribution))
    for producer in sorted(by_producer):
        job = None
        with isolation.around(FailureStage.EVENTS, producer):
            isolation.probe(FailureStage.EVENTS, producer)
            job = _job_run(producer, by_producer[producer], origin)
        if job is not None:
            yield job


def outcome_event(origin: Origin, outcome: RunResult, at: float) -> RunEvent:
    """The workflow's own run, with what it could not make out. `at` is in seconds since the epoch."""
    errors = [
        extraction_error_run.Error(errorMessage=f"{reason}: {count} statements")
        for reason, count in sorted(outcome.errors.items())[:_ERRORS_SHOWN]
    ]
    failed = sum(outcome.errors.values())
    facet = extraction_error_run.ExtractionErrorRunFacet(
        totalTasks=outcome.statements, failedTasks=failed, errors=errors
    )
    facets: dict[str, RunFacet] = {"extractionError": facet} if failed else {}
    return RunEvent(
        eventTime=iso_time(at),
        eventType=RunState.COMPLETE,
        run=Run(origin.run_uuid, facets),
        job=Job(origin.namespace, origin.workflow, {"jobType": _job_type("WORKFLOW")}),
        producer=PRODUCER,
    )


@dataclass(slots=True)
class _ProducerEdges:
    """What one producer says: of each edge its ends and the contribution."""

    edges: list[tuple[TableEntity, TableEntity, Contribution]] = field(default_factory=list)

    @property
    def last_seen(self) -> float:
        return max(
            (contribution.last_seen for _, _, contribution in self.edges if contribution.last_seen is not None),
            default=0.0,
        )

    @property
    def latest(self) -> Contribution:
        return max((contribution for _, _, contribution in self.edges), key=lambda contribution: contribution.recency)


def _job_run(producer: Producer, produced: _ProducerEdges, origin: Origin) -> JobRun:
    name = f"{producer.kind}.{producer.key}"
    inputs = {source.id: source for source, _, _ in produced.edges}
    outputs = {target.id: target for _, target, _ in produced.edges}
    facets: dict[str, JobFacet] = {"jobType": _job_type(str(producer.kind).upper())}
    if produced.latest.sql_query:
        facets["sql"] = sql_job.SQLJobFacet(query=produced.latest.sql_query, dialect=origin.dialect)
    event = RunEvent(
        eventTime=iso_time(produced.last_seen),
        eventType=RunState.COMPLETE,
        run=Run(str(uuid.UUID(int=0)), {"parent": origin.parent}),
        job=Job(origin.namespace, name, facets),
        inputs=[origin.names.input(inputs[key]) for key in sorted(inputs)],
        outputs=[
            origin.names.output(outputs[key], columnLineage=_column_lineage(outputs[key], produced, origin.names))
            for key in sorted(outputs)
        ],
        producer=PRODUCER,
    )
    digest = _digest(event)
    event.run.runId = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{PRODUCER}/{origin.workflow}/{name}/{digest}"))
    return JobRun(name, digest, event)


def _digest(event: RunEvent) -> str:
    """Of what the event says, whichever run says it."""
    content = json.loads(Serde.to_json(event))
    del content["run"]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _column_lineage(
    target: TableEntity, produced: _ProducerEdges, names: DatasetNames
) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    """Of one output: which fields make each of its fields, and which bear on the whole of it. Only what is certain."""
    found: dict[str, dict[tuple[str, str, str], list[column_lineage_dataset.Transformation]]] = {}
    for source, to, contribution in produced.edges:
        for evidence in contribution.columns if to.id == target.id else ():
            if not evidence.certain:
                continue
            field_name = _column_name(target, evidence.to_column) if evidence.to_column else ""
            for column in evidence.from_columns:
                key = (*names.of(source), _column_name(source, column))
                found.setdefault(field_name, {}).setdefault(key, []).append(_transformation(evidence))
    return column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={
            name: column_lineage_dataset.Fields(inputFields=_input_fields(inputs))
            for name, inputs in sorted(found.items())
            if name
        },
        dataset=_input_fields(found.get("", {})),
    )


def _input_fields(
    inputs: Mapping[tuple[str, str, str], list[column_lineage_dataset.Transformation]],
) -> list[column_lineage_dataset.InputField]:
    return [
        column_lineage_dataset.InputField(*key, transformations=transformations)
        for key, transformations in sorted(inputs.items(), key=lambda entry: entry[0])
    ]


def _transformation(evidence: ColumnEvidence) -> column_lineage_dataset.Transformation:
    return column_lineage_dataset.Transformation(
        type=str(evidence.transformation.type),
        subtype=str(evidence.transformation.subtype),
        description=evidence.expression or "",
        masking=evidence.transformation.masking,
    )


def _job_type(kind: str) -> job_type_job.JobTypeJobFacet:
    return job_type_job.JobTypeJobFacet(processingType="BATCH", integration="HEADWATER", jobType=kind)
