"""Requests as OpenLineage's run events: datasets by their names, an event for each producer."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState, set_producer
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

from connectors.openlineage.receivers import EventLimits
from ingestion.dialects.dataset_namespaces import STORAGE_SCHEMES, NamespaceMap, ServiceAddress, specified_scheme
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer
from ingestion.model.entities import DASHBOARD_TYPES, TableEntity
from ingestion.model.fqn import quote, split_fqn
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import Column
from ingestion.model.moments import iso_time
from ingestion.model.requests import AddLineageRequest
from ingestion.model.storage_paths import location
from ingestion.model.topics import cluster_of, topic_path

_PARTS_OF_A_TABLE = 3

PRODUCER = "urn:headwater"
set_producer(PRODUCER)  # before any facet is made: each takes it then, and the run's id follows from what facets say
_ERRORS_SHOWN = 100


# Entities of the catalog as OpenLineage names datasets: a namespace for where they are, a name for which it is.


@dataclass(frozen=True, slots=True)
class DatasetNames:
    """How datasets are named: by the namespaces of their services, or where none is known by the service's name."""

    namespaces: NamespaceMap = field(default_factory=NamespaceMap)

    def of(self, entity: TableEntity) -> tuple[str, str]:
        """The namespace and the name of an entity; a container's are its store and its path, a topic's its cluster's.

        A cluster goes by its address: that is what its service is called, or tells.
        """
        service, *parts = split_fqn(entity.fully_qualified_name)
        if entity.type == "topic":
            return self._cluster(service), parts[0]
        if entity.type in DASHBOARD_TYPES:  # no specification names these: they go by their tool
            return self.namespaces.namespace_of(service) or service, ".".join(map(quote, parts))
        if entity.type != "container":
            namespace, name = self.namespaces.dataset(service, parts[:_PARTS_OF_A_TABLE])
            return namespace, ".".join(map(quote, name))
        address = self.namespaces.services.get(service, ServiceAddress(""))
        store, _, path = "/".join(parts).partition("/")
        if service == "files":
            return "file", f"{store}/{path}".rstrip("/")
        scheme = STORAGE_SCHEMES.get(address.type, service)
        return f"{specified_scheme(scheme)}://{store}", path or "/"

    def _cluster(self, service: str) -> str:
        given = self.namespaces.namespace_of(service)
        address = self.namespaces.services.get(service, ServiceAddress("")).options.get("bootstrapServers")
        return given or topic_path(cluster_of(str(address or "")) or service, "")[:-1]

    def has_name(self, entity: TableEntity) -> bool:
        """Whether it can be called as others call it: not where names have a database that nobody knows."""
        return entity.type != "table" or bool(self.of(entity)[1])

    def services_without_namespace(self, entities: Iterable[TableEntity]) -> frozenset[str]:
        """The services of these tables that nothing tells the namespace of."""
        services = {split_fqn(one.fully_qualified_name)[0] for one in entities if one.type == "table"}
        return frozenset(service for service in services if self.namespaces.namespace_of(service) is None)

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
    """Whose events these are: the workflow as a job and its run, the dialect of its SQL, how datasets are named.

    `limits`: what their receiver takes.
    """

    workflow: str
    run_id: str
    namespace: str
    dialect: str
    names: DatasetNames
    limits: EventLimits = field(default_factory=EventLimits)

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
    """What a producer says as events of one job: several where a receiver does not take it in one.

    `key` names the producer, `digest` is the same for the same content, `left_out` counts the edges of columns that no
    event of the receiver's size could hold.
    """

    key: str
    digest: str
    events: tuple[RunEvent, ...]
    left_out: int = 0


def job_runs(
    requests: Iterable[AddLineageRequest],
    entities: Mapping[str, TableEntity],
    origin: Origin,
    isolation: Isolation[Producer] | None = None,
) -> Iterator[JobRun]:
    """The events of each producer, in the order of their names. `entities` has both ends of every request, by id.

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


_Edge = tuple[TableEntity, TableEntity, Contribution]
"""Its source, its target, and what is said of it."""


@dataclass(slots=True)
class _ProducerEdges:
    """What one producer says: of each edge its ends and the contribution."""

    edges: list[_Edge] = field(default_factory=list)

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
    job = _Job(f"{producer.kind}.{producer.key}", str(producer.kind).upper(), produced.latest.sql_query, origin)
    events, digests, left_out = [], [], 0
    for event, lost in _events_within(job, produced):
        digest = _digest(event)
        event.run.runId = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{PRODUCER}/{origin.workflow}/{job.name}/{digest}"))
        events.append(event)
        digests.append(digest)
        left_out += lost
    whole = digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()
    return JobRun(job.name, whole, tuple(events), left_out)


@dataclass(frozen=True, slots=True)
class _Job:
    """What all events of a producer have of it."""

    name: str
    kind: str
    sql: str | None
    origin: Origin

    def event(self, produced: _ProducerEdges) -> RunEvent:
        """One with these edges; its run has no id yet."""
        names = self.origin.names
        inputs = {source.id: source for source, _, _ in produced.edges}
        outputs = {target.id: target for _, target, _ in produced.edges}
        facets: dict[str, JobFacet] = {"jobType": _job_type(self.kind)}
        if self.sql:
            facets["sql"] = sql_job.SQLJobFacet(query=self.sql, dialect=self.origin.dialect)
        return RunEvent(
            eventTime=iso_time(produced.last_seen),
            eventType=RunState.COMPLETE,
            run=Run(str(uuid.UUID(int=0)), {"parent": self.origin.parent}),
            job=Job(self.origin.namespace, self.name, facets),
            inputs=[names.input(inputs[key]) for key in sorted(inputs)],
            outputs=[
                names.output(outputs[key], columnLineage=_column_lineage(outputs[key], produced, names))
                for key in sorted(outputs)
            ],
            producer=PRODUCER,
        )


def _digest(event: RunEvent) -> str:
    """Of what the event says, whichever run says it."""
    content = json.loads(Serde.to_json(event))
    del content["run"]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# An event that is more than its receiver takes: split by its outputs, then by its inputs, then without details.


def _events_within(job: _Job, produced: _ProducerEdges) -> Iterator[tuple[RunEvent, int]]:
    """Events that the receiver takes, and how many edges of columns had to be left out of each."""
    limits = job.origin.limits
    if limits.pairs and len(groups := _by_inputs(produced)) > 1:
        for group in groups:
            yield from _events_within(job, group)
        return
    event = job.event(produced)
    if not _is_beyond(event, limits):
        yield event, 0
    elif halves := _halves(produced):
        for half in halves:
            yield from _events_within(job, half)
    else:
        yield event, _reduce(event, limits)


def _is_beyond(event: RunEvent, limits: EventLimits) -> bool:
    inputs, outputs = event.inputs or [], event.outputs or []
    return (
        (limits.links is not None and len(inputs) * len(outputs) > limits.links)
        or (limits.columns is not None and sum(map(_column_edges, outputs)) > limits.columns)
        or (limits.size is not None and len(Serde.to_json(event).encode()) > limits.size)
    )


def _lineage_of(output: OutputDataset) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    facet = (output.facets or {})["columnLineage"]
    assert isinstance(facet, column_lineage_dataset.ColumnLineageDatasetFacet)
    return facet


def _column_edges(output: OutputDataset) -> int:
    facet = _lineage_of(output)
    return sum(len(made.inputFields) for made in facet.fields.values()) + len(facet.dataset or ())


def _by_inputs(produced: _ProducerEdges) -> list[_ProducerEdges]:
    """The edges apart by outputs that are not made of the same inputs."""
    inputs: dict[str, set[str]] = {}
    for source, target, _ in produced.edges:
        inputs.setdefault(target.id, set()).add(source.id)
    groups: dict[tuple[str, ...], _ProducerEdges] = {}
    for edge in produced.edges:
        groups.setdefault(tuple(sorted(inputs[edge[1].id])), _ProducerEdges()).edges.append(edge)
    return [groups[key] for key in sorted(groups)]


def _halves(produced: _ProducerEdges) -> list[_ProducerEdges]:
    """Those of one half of the outputs, and of the other; of one output by the inputs. None where there is one each."""
    for end_of in (_output_of, _input_of):
        keys = sorted(set(map(end_of, produced.edges)))
        if len(keys) > 1:
            first = set(keys[: len(keys) // 2])
            halves = _ProducerEdges(), _ProducerEdges()
            for edge in produced.edges:
                halves[end_of(edge) not in first].edges.append(edge)
            return list(halves)
    return []


def _input_of(edge: _Edge) -> str:
    return edge[0].id


def _output_of(edge: _Edge) -> str:
    return edge[1].id


def _reduce(event: RunEvent, limits: EventLimits) -> int:
    """Takes the details out of an event of two datasets until it is small enough; how many edges of columns went."""
    assert event.outputs
    output = event.outputs[0]
    facet = _lineage_of(output)
    before = _column_edges(output)
    for reduction in (_without_expressions, _without_schemas, _without_sql, _without_influences):
        if _is_beyond(event, limits):
            reduction(event)
    while facet.fields and _is_beyond(event, limits):
        kept = list(facet.fields)[: len(facet.fields) * 9 // 10]
        facet.fields = {name: facet.fields[name] for name in kept}
    return before - _column_edges(output)


def _without_expressions(event: RunEvent) -> None:
    for output in event.outputs or ():
        facet = _lineage_of(output)
        for one in (*(one for made in facet.fields.values() for one in made.inputFields), *(facet.dataset or ())):
            for transformation in one.transformations or ():
                transformation.description = ""


def _without_schemas(event: RunEvent) -> None:
    for dataset in (*(event.inputs or ()), *(event.outputs or ())):
        (dataset.facets or {}).pop("schema", None)


def _without_sql(event: RunEvent) -> None:
    (event.job.facets or {}).pop("sql", None)


def _without_influences(event: RunEvent) -> None:
    for output in event.outputs or ():
        _lineage_of(output).dataset = []


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
