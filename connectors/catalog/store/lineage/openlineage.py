"""OpenLineage's run events as contributions, outcomes and results of tests, so that jobs with an agent and jobs
without one meet in one graph.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract.entity_types import BY_TYPE
from connectors.catalog.contract.errors import ApiError
from connectors.catalog.contract.openlineage_models import (
    Assertion,
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
from connectors.catalog.store.database import dumps, loads, tick
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow, find
from connectors.catalog.store.entities.registration import Registration
from connectors.catalog.store.entities.tests import file_result
from connectors.catalog.store.lineage.inserts import Content, ContributionRow, StoredText, record_digest
from connectors.catalog.store.lineage.writer import LineageWriter
from connectors.catalog.store.schema import entities, load_outcomes
from ingestion.dialects import DIALECTS, dialect_of
from ingestion.errors import ConfigError, Unparsable
from ingestion.model import fqn
from ingestion.model.digests import digest
from ingestion.model.job_slots import JobSlot, RunDays
from ingestion.model.lineage import Json
from ingestion.model.storage_paths import normal_path
from ingestion.statements.masking import QueryMasker

_SERVICE_TYPES: Mapping[str, str] = {
    "athena": "Athena",
    "awsathena": "Athena",
    "bigquery": "BigQuery",
    "databricks": "Databricks",
    "hive": "Hive",
    "mssql": "Mssql",
    "mysql": "Mysql",
    "oracle": "Oracle",
    "postgres": "Postgres",
    "postgresql": "Postgres",
    "redshift": "Redshift",
    "snowflake": "Snowflake",
    "sqlserver": "Mssql",
    "trino": "Trino",
    "unitycatalog": "UnityCatalog",
}
_STORAGE_TYPES: Mapping[str, str] = {
    "abfs": "ADLS",
    "abfss": "ADLS",
    "dbfs": "CustomStorage",
    "file": "CustomStorage",
    "gs": "GCS",
    "hdfs": "CustomStorage",
    "s3": "S3",
    "s3a": "S3",
    "s3n": "S3",
    "wasb": "ADLS",
    "wasbs": "ADLS",
}
# the platform's name for each standardised type
_PLATFORM_TYPES: Mapping[str, str] = {"INTEGER": "BIGINT", "FLOAT": "DOUBLE", "GEOGRAPHY": "GEOGRAPHY"}
_DEFAULT = "default"

WROTE_NOTHING = ("ABORT", "FAIL")
COMPLETE, FAILED = "complete", "failed"

_TEST_PLATFORM = "openlineage"
_TESTS_ENDED = ("COMPLETE", "FAIL")
"""Events that tell how tests ended: of the others some tell the same too early."""

_MAX_SQL = 1_000_000
_MAX_EDGES = 2_000
"""Edges of one event: every input with every output, of which a body of a megabyte names millions."""

_Key = tuple[str, str]
_Fields = dict[_Key, list[tuple[str, str | None, Transformation]]]


# OpenLineage's datasets as entities: found where they are known, registered where they are not.


@dataclass(slots=True)
class _Datasets:
    """Entities for datasets, within one transaction; each dataset is resolved once."""

    connection: Connection
    registration: Registration
    _resolved: dict[tuple[str, str], EntityRow] = field(default_factory=dict)

    def entity(self, dataset: Dataset, named: set[str]) -> EntityRow:
        """The entity of a dataset, with the columns that its schema has or that lineage names."""
        namespace, name, path = _identity(dataset)
        key = (namespace, name)
        columns = _dataset_columns(dataset, named)
        row = self._resolved.get(key)
        if row is None:
            row = self._stored_entity(path) if path else None
            row = row or self._table_known(namespace, name)
        if row is None or columns:
            row = self._register(row, key, path, columns)
        self._resolved[key] = row
        return row

    def known_entity(self, dataset: Dataset) -> EntityRow | None:
        """The entity of a dataset, None where there is none yet."""
        namespace, name, path = _identity(dataset)
        stored = self._stored_entity(path) if path else None
        return stored or self._table_known(namespace, name)

    def _stored_entity(self, path: str) -> EntityRow | None:
        where = (entities.c.path == normal_path(path), entities.c.deleted.is_(False))
        stored = entities.c.type.in_(("container", "table"))
        return self.connection.execute(select(entities).where(*where, stored).order_by(entities.c.type)).first()

    def _table_known(self, namespace: str, name: str) -> EntityRow | None:
        service = self._service(namespace)
        parts = [part.casefold() for part in fqn.written_parts(name)]
        if service is None or _is_storage(namespace):
            return None
        where = (
            entities.c.type == "table",
            entities.c.service_folded == service.casefold(),
            entities.c.name_folded == parts[-1],
            entities.c.deleted.is_(False),
        )
        rows = self.connection.execute(select(entities).where(*where)).all()
        fitting = [row for row in rows if fqn.split(row.fqn_folded)[-len(parts) :] == parts]
        return fitting[0] if len(fitting) == 1 else None

    def _service(self, namespace: str) -> str | None:
        """The service of a namespace: the one of its name, or the one that connects to its address."""
        if find(self.connection, "databaseService", fqn.quote(namespace)) is not None:
            return namespace
        address = urlsplit(namespace).netloc.rpartition("@")[2].casefold()
        if not address:
            return None
        services = select(entities).where(entities.c.type == "databaseService", entities.c.deleted.is_(False))
        for row in self.connection.execute(services.order_by(entities.c.fqn)):
            config = (loads(row.document).get("connection") or {}).get("config") or {}
            if str(config.get("hostPort") or "").casefold() == address:
                return fqn.split(row.fqn)[0]
        return None

    def _register(
        self, row: EntityRow | None, key: tuple[str, str], path: str | None, columns: list[Json]
    ) -> EntityRow:
        kind, request = self._request(row, key, path)
        if kind == "container":
            request["dataModel"] = {"columns": columns}
        else:
            request["columns"] = columns
        done = self.registration.put(BY_TYPE[kind], request)
        stored = find(self.connection, kind, done.fqn)
        assert stored is not None
        return stored

    def _request(self, row: EntityRow | None, key: tuple[str, str], path: str | None) -> tuple[str, Json]:
        if row is not None:
            document = loads(row.document)
            if row.type == "container":
                request: Json = {"name": document["name"], "service": document["service"]["fullyQualifiedName"]}
                if document.get("parent"):
                    request["parent"] = document["parent"]
                return row.type, request
            return row.type, {
                "name": document["name"],
                "databaseSchema": document["databaseSchema"]["fullyQualifiedName"],
            }
        namespace, name = key
        if _is_storage(namespace):
            service = self._make("storageService", namespace, {"serviceType": _STORAGE_TYPES[_scheme(namespace)]})
            return "container", {"name": name, "service": service, "fullPath": path}
        known = self._service(namespace)
        kind = {"serviceType": _SERVICE_TYPES.get(_scheme(namespace), "CustomDatabase")}
        service = fqn.quote(known) if known is not None else self._make("databaseService", namespace, kind)
        parts = fqn.written_parts(name)
        database, schema = [_DEFAULT, _DEFAULT, *parts[:-1]][-2:]
        parent = self._make("database", database, {"service": service})
        parent = self._make("databaseSchema", ".".join([*parts[:-3], schema]), {"database": parent})
        request = {"name": parts[-1], "databaseSchema": parent}
        if path:
            request["locationPath"] = path
        return "table", request

    def _make(self, kind: str, name: str, request: Json) -> str:
        return self.registration.put(BY_TYPE[kind], {"name": name, **request}).fqn


def _identity(dataset: Dataset) -> tuple[str, str, str | None]:
    """Namespace and name of the table that a dataset is, and the path where it is stored."""
    path = _path(dataset.namespace, dataset.name) if _is_storage(dataset.namespace) else None
    symlinks = dataset.facets.symlinks if dataset.facets is not None else None
    for other in (symlinks.identifiers if symlinks is not None else None) or ():
        if other.type == "TABLE" and not _is_storage(other.namespace):
            return other.namespace, other.name, path
    return dataset.namespace, dataset.name, path


def _scheme(namespace: str) -> str:
    return namespace.partition("://")[0].casefold()


def _is_storage(namespace: str) -> bool:
    return _scheme(namespace) in _STORAGE_TYPES


def _path(namespace: str, name: str) -> str:
    # a path may carry a password or a signature; the location alone is a name
    scheme, _, location = namespace.partition("://")
    rest = f"{location.rstrip('/')}/{name.lstrip('/')}"
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


def _dataset_columns(dataset: Dataset, named: set[str]) -> list[Json]:
    schema = dataset.facets.schema_ if dataset.facets is not None else None
    columns: dict[str, Json] = {}
    for one in (schema.fields if schema is not None else None) or ():
        standard = columns_of.standard_type(one.type or "")
        column: Json = {"name": fqn.encode_name(one.name), "dataType": _PLATFORM_TYPES.get(standard, standard)}
        if one.type:
            column["dataTypeDisplay"] = one.type
        if one.description:
            column["description"] = one.description
        columns[one.name.casefold()] = column
    for name in sorted(named):
        columns.setdefault(name.casefold(), {"name": fqn.encode_name(name), "dataType": "UNKNOWN"})
    return list(columns.values())


# Whether runs wrote what they were to write, and how many rows.


def _file_load_outcomes(connection: Connection, event: RunEvent) -> None:
    """Files what became of a run for each table that it was to write; of tables that nobody knows nothing."""
    failed = event.eventType in WROTE_NOTHING
    if not failed and event.eventType != "COMPLETE":
        return
    datasets = _Datasets(connection, Registration(connection, _moment_of(event), replace=False))
    rows: list[dict[str, Any]] = []
    for output in event.outputs:
        row = datasets.known_entity(output)
        statistics = output.outputFacets.outputStatistics if output.outputFacets is not None else None
        count = statistics.rowCount if statistics is not None else None
        if row is not None and (failed or count is not None):
            rows.append(
                {
                    "entity_id": row.id,
                    "at": _moment_of(event),
                    "run": event.run.runId,
                    "status": FAILED if failed else COMPLETE,
                    "rows": None if failed else count,
                    "job": f"{event.job.namespace}/{event.job.name}",
                }
            )
    if rows:
        connection.execute(upsert(load_outcomes).on_conflict_do_nothing(), rows)


def _moment_of(event: RunEvent) -> int:
    """When an event was, in milliseconds; without a zone it is in UTC: that of the machine has no first year."""
    time = event.eventTime
    return max(0, round((time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp() * 1000))


# OpenLineage's assertions about data as tests of tables and columns, each with its result.


def _file_assertions(connection: Connection, event: RunEvent) -> None:
    """Files the tests that an event tells of; the same event twice counts once. Containers have no tests."""
    tested = [dataset for dataset in (*event.inputs, *event.outputs) if dataset.assertions]
    if not tested or event.eventType not in _TESTS_ENDED:
        return
    at = _moment_of(event)
    registration = Registration(connection, at, replace=False)
    datasets = _Datasets(connection, registration)
    filed = []
    for dataset in tested:
        row = datasets.entity(dataset, {one.column for one in dataset.assertions if one.column is not None})
        if row.type == "table":
            filed += [(_register_test(registration, row, one), one.success) for one in _distinct(dataset)]
    registration.finish()
    for name, success in filed:
        test = find(connection, "testCase", name)
        assert test is not None
        file_result(connection, test, {"timestamp": at, "testCaseStatus": "Success" if success else "Failed"})


def _distinct(dataset: Dataset) -> list[Assertion]:
    """Of several assertions of one name on one column there is one test: it holds where all of them do."""
    found: dict[tuple[str, str | None], Assertion] = {}
    for one in dataset.assertions:
        known = found.get((one.assertion, one.column))
        found[one.assertion, one.column] = one if known is None or known.success else known
    return list(found.values())


def _register_test(registration: Registration, table: EntityRow, one: Assertion) -> str:
    """The full name of the test in the catalog."""
    path = fqn.join(table.fqn, fqn.encode_name(one.column)) if one.column else table.fqn
    if find(registration.connection, "testCase", fqn.join(path, one.assertion)) is not None:
        return fqn.join(path, one.assertion)
    kind = f"{_TEST_PLATFORM}_{'column' if one.column else 'table'}_{one.assertion}"
    definition = {
        "name": kind,
        "description": "A test that a job told of.",
        "entityType": "COLUMN" if one.column else "TABLE",
        "testPlatforms": [_TEST_PLATFORM],
    }
    registration.put(BY_TYPE["testDefinition"], definition)
    column = f"::columns::{fqn.encode_name(one.column)}" if one.column else ""
    link = f"<#E::table::{table.fqn}{column}>"
    request = {"name": one.assertion, "entityLink": link, "testDefinition": kind}
    return registration.put(BY_TYPE["testCase"], request).fqn


# Run events as contributions.


def file_event(connection: Connection, event: Event, *, superseding: bool = True) -> tuple[ContributionRow, ...]:
    """Files what an event says about datasets; what it says of each edge. The same event twice counts once.

    What is told of a dataset without a job is its columns, and what they are made from by its own word. `superseding`:
    what a job that was rewritten says since then ends what it said before.
    """
    if isinstance(event, DatasetEvent):
        return _file(connection, _as_run(event), superseding=superseding)
    if isinstance(event, JobEvent):
        static = _static_run(event, event.job, event.inputs, event.outputs)
        return _file(connection, static, superseding=superseding)
    _file_assertions(connection, event)
    given = () if event.eventType in WROTE_NOTHING else _file(connection, event, superseding=superseding)
    _file_load_outcomes(connection, event)
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


def _file(connection: Connection, event: RunEvent, *, superseding: bool) -> tuple[ContributionRow, ...]:
    if not event.outputs:
        return ()
    named = _named_fields(event)
    if len({(d.namespace, d.name) for d in event.inputs} | set(named)) * len(event.outputs) > _MAX_EDGES:
        raise ApiError(413, f"the event has more than {_MAX_EDGES} pairs of an input and an output: send smaller ones")
    now = tick(connection)
    at = _moment_of(event)
    registration = Registration(connection, at, replace=False)
    datasets = _Datasets(connection, registration)
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
    edges = [
        ((source, target), columns)
        for target, facet in targets
        for source, columns in _edges(sources, facet, named_only=len(targets) > 1)
        if columns or source.id != target.id  # many agents list what they write among their inputs
    ]
    text = _masked_text(event) if edges else None
    slots = (_slot_of(event, at),) if superseding else ()
    given = tuple(replace(_contribution(event, *edge, at, text), slots=slots) for edge in edges)
    for contribution in given:
        writer.add(contribution)
    writer.finish()
    return given


def _slot_of(event: RunEvent, at: int) -> JobSlot:
    """What a job writes into one dataset is one slot: it says of each run all that it read."""
    return JobSlot(digest("openlineage", event.job.namespace, event.job.name), RunDays(at / 1000, at / 1000))


def _contribution(
    event: RunEvent, ends: tuple[EntityRow, EntityRow], columns: list[Json], at: int, text: StoredText | None
) -> ContributionRow:
    key = f"{event.job.namespace}/{event.job.name}"
    run = digest(f"{key}\n{event.run.runId}")
    content = Content.of({"columns": columns, "parser": "openlineage"}, text)
    ids = ends[0].id, ends[1].id
    return ContributionRow(*ids, "openlineage", key, "OpenLineage", content, at, at, 1, (record_digest(run),))


def _masked_text(event: RunEvent) -> StoredText | None:
    """The job's SQL without its literals; None where it has none, or where they cannot be told."""
    sql = _masked_sql(event)
    return None if sql is None else StoredText.of(sql)


def _masked_sql(event: RunEvent) -> str | None:
    facet = event.job.facets.sql if event.job.facets is not None else None
    if facet is None or len(facet.query) > _MAX_SQL:
        return None
    try:
        for name in (facet.dialect, event.outputs[0].namespace.partition("://")[0]):
            with suppress(ConfigError):
                return QueryMasker(dialect_of(name or "")).mask(facet.query)
        return _masked_alike(facet.query)
    except Unparsable:
        return None


def _masked_alike(query: str) -> str | None:
    """SQL of a dialect that nobody names, where its literals are the same in all of them; else None.

    What stands in double quotes or between dollars, and the lines of a client, are values in some. Raises Unparsable.
    """
    masked = {QueryMasker(dialect).mask(query) for dialect in DIALECTS.values()}
    return masked.pop() if len(masked) == 1 else None


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
        column: Json = {
            "from": [columns_of.path_of(fqn.encode_name(source))],
            "to": columns_of.path_of(fqn.encode_name(target)) if target is not None else None,
            "type": kind,
        }
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
