"""OpenLineage's run events as contributions, so that jobs with an agent and jobs without one meet in one graph."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator

from sqlalchemy import Connection

from connectors.catalog.contract.errors import ApiError
from connectors.catalog.contract.openlineage_models import (
    ColumnLineage,
    Dataset,
    DatasetEvent,
    Event,
    InputField,
    Job,
    JobEvent,
    Run,
    RunEvent,
    Transformation,
)
from connectors.catalog.store.database import dumps, tick
from connectors.catalog.store.entities.columns import path_of
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.lineage.inserts import Content, ContributionRow, record_digest
from connectors.catalog.store.lineage.writer import LineageWriter
from connectors.catalog.store.runs.assertions import file_assertions
from connectors.catalog.store.runs.datasets import Datasets
from connectors.catalog.store.runs.outcomes import WROTE_NOTHING, file_load_outcomes, moment_of
from ingestion.dialects import dialect_of
from ingestion.errors import ConfigError, Unparsable
from ingestion.masking import QueryMasker
from ingestion.model import Json

_MAX_SQL = 1_000_000
_MAX_EDGES = 2_000
"""Edges of one event: every input with every output, of which a body of a megabyte names millions."""

_Key = tuple[str, str]
_Fields = dict[_Key, list[tuple[str, str | None, Transformation]]]


def file_event(connection: Connection, event: Event) -> tuple[ContributionRow, ...]:
    """Files what an event says about datasets; what it says of each edge. The same event twice counts once.

    What is told of a dataset without a job is its columns, and what they are made from by its own word.
    """
    if isinstance(event, DatasetEvent):
        return _file(connection, _as_run(event))
    if isinstance(event, JobEvent):
        return _file(connection, _static_run(event, event.job, event.inputs, event.outputs))
    file_assertions(connection, event)
    given = () if event.eventType in WROTE_NOTHING else _file(connection, event)
    file_load_outcomes(connection, event)
    return given


def _as_run(event: DatasetEvent) -> RunEvent:
    facet = _facet(event.dataset)
    job = Job(namespace=event.dataset.namespace, name=event.dataset.name)
    named = {(one.namespace, one.name) for one in _input_fields(facet)}
    inputs = [Dataset(namespace=namespace, name=name) for namespace, name in sorted(named)]
    return _static_run(event, job, inputs, [event.dataset])


def _static_run(event: JobEvent | DatasetEvent, job: Job, inputs: list[Dataset], outputs: list[Dataset]) -> RunEvent:
    """An event without a run as the run that it stands for: there is one of each job."""
    return RunEvent(eventTime=event.eventTime, run=Run(runId="static"), job=job, inputs=inputs, outputs=outputs)


def _input_fields(facet: ColumnLineage | None) -> Iterator[InputField]:
    if facet is not None:
        for output in facet.fields.values():
            yield from output.inputFields
        yield from facet.dataset or ()


def _file(connection: Connection, event: RunEvent) -> tuple[ContributionRow, ...]:
    if not event.outputs:
        return ()
    named = _named_fields(event)
    if len({(d.namespace, d.name) for d in event.inputs} | set(named)) * len(event.outputs) > _MAX_EDGES:
        raise ApiError(413, f"the event has more than {_MAX_EDGES} pairs of an input and an output: send smaller ones")
    now = tick(connection)
    at = moment_of(event)
    registration = Registration(connection, at, replace=False)
    datasets = Datasets(connection, registration)
    inputs = {(d.namespace, d.name): d for d in event.inputs}
    for key in named:
        inputs.setdefault(key, Dataset(namespace=key[0], name=key[1]))
    sources = {key: datasets.entity(dataset, named.get(key, set())) for key, dataset in inputs.items()}
    targets = []
    for output in event.outputs:
        facet = _facet(output)
        targets.append((datasets.entity(output, set(facet.fields) if facet is not None else set()), facet))
    registration.finish()
    writer = LineageWriter(connection, f"openlineage:{event.run.runId}:{at}", now)
    given = [
        _contribution(event, (source, target), columns, at)
        for target, facet in targets
        for source, columns in _edges(sources, facet, named_only=len(targets) > 1)
        if source.id != target.id
    ]
    for contribution in given:
        writer.add(contribution)
    writer.finish()
    return tuple(given)


def _contribution(event: RunEvent, ends: tuple[EntityRow, EntityRow], columns: list[Json], at: int) -> ContributionRow:
    key = f"{event.job.namespace}/{event.job.name}"
    run = hashlib.blake2b(f"{key}\n{event.run.runId}".encode(), digest_size=16).hexdigest()
    content: Json = {"columns": columns, "parser": "openlineage"}
    sql = _masked_sql(event)
    if sql is not None:
        content["sql"] = sql
    ids = ends[0].id, ends[1].id
    return ContributionRow(
        *ids, "openlineage", key, "OpenLineage", Content.of(content), at, at, 1, (record_digest(run),)
    )


def _masked_sql(event: RunEvent) -> str | None:
    """The job's SQL without its literals; None where it has none, or where they cannot be told."""
    facet = event.job.facets.sql if event.job.facets is not None else None
    if facet is None or len(facet.query) > _MAX_SQL:
        return None
    for name in (facet.dialect, event.outputs[0].namespace.partition("://")[0], "ansi"):
        try:
            return QueryMasker(dialect_of(name or "")).mask(facet.query)
        except ConfigError:
            continue
        except Unparsable:
            return None
    return None


def _edges(
    sources: dict[_Key, EntityRow], facet: ColumnLineage | None, *, named_only: bool
) -> Iterable[tuple[EntityRow, list[Json]]]:
    """The inputs of one output: all of the run's, but only those its facet names where a run has several outputs."""
    fields = _fields(facet)
    for key, row in sources.items():
        if key in fields or facet is None or not named_only:
            yield row, _columns(fields.get(key, ()))


def _fields(facet: ColumnLineage | None) -> _Fields:
    found: _Fields = defaultdict(list)
    if facet is None:
        return found
    for name, output in facet.fields.items():
        for one in output.inputFields:
            for how in _transformations(one, "DIRECT"):
                found[one.namespace, one.name].append((one.field, name, how))
    for one in facet.dataset or ():
        for how in _transformations(one, "INDIRECT"):
            found[one.namespace, one.name].append((one.field, None, how))
    return found


def _transformations(one: InputField, default: str) -> list[Transformation]:
    return one.transformations or [Transformation(type=default)]


def _columns(fields: Iterable[tuple[str, str | None, Transformation]]) -> list[Json]:
    columns: dict[str, Json] = {}
    for source, target, how in fields:
        kind = "INDIRECT" if how.type.upper() == "INDIRECT" or target is None else "DIRECT"
        column: Json = {"from": [path_of(source)], "to": path_of(target) if target is not None else None, "type": kind}
        if how.subtype:
            column["subtype"] = how.subtype
        if how.masking:
            column["masking"] = True
        columns[dumps(column)] = column
    return [columns[key] for key in sorted(columns)]


def _named_fields(event: RunEvent) -> dict[_Key, set[str]]:
    named: dict[_Key, set[str]] = defaultdict(set)
    for output in event.outputs:
        for key, fields in _fields(_facet(output)).items():
            named[key] |= {source for source, _, _ in fields}
    return named


def _facet(dataset: Dataset) -> ColumnLineage | None:
    return dataset.facets.columnLineage if dataset.facets is not None else None
