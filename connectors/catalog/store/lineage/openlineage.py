"""OpenLineage's run events as contributions, outcomes and results of tests, so that jobs with an agent and jobs
without one meet in one graph.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert as upsert

from connectors.catalog.contract.bulk_models import ColumnRead, End
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
    Lineage,
    LineageInput,
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
from connectors.catalog.store.schema import contributions, entities, load_outcomes
from ingestion.dialects import DIALECTS, dialect_of
from ingestion.dialects.connection_types import OTHER_DATABASE, service_type
from ingestion.dialects.dataset_namespaces import (
    KINDS_OVER_FILES,
    SERVICE_KINDS,
    SERVICE_TYPES,
    UNKNOWN_DATABASE,
    NamespaceMap,
    ServiceAddress,
    is_namespace,
    line_of_database,
    line_of_map,
    namespace_key,
    scheme_of,
)
from ingestion.errors import ConfigError, Unparsable
from ingestion.model import fqn
from ingestion.model.digests import digest
from ingestion.model.job_slots import JobSlot, RunDays
from ingestion.model.lineage import Json
from ingestion.model.namespaces import QUALIFIED_PARTS
from ingestion.model.storage_paths import normal_path
from ingestion.model.topics import cluster_of, is_topic_name, split_topic, topic_path
from ingestion.model.uses import ColumnUseKind
from ingestion.statements.masking import QueryMasker

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
_STORES_OF_ACCOUNTS = frozenset({"abfs", "abfss", "wasb", "wasbs"})
"""Schemes of abfss://container@account, where what stands before the @ is a part of the place."""
# the platform's name for each standardised type
_PLATFORM_TYPES: Mapping[str, str] = {"INTEGER": "BIGINT", "FLOAT": "DOUBLE", "GEOGRAPHY": "GEOGRAPHY"}

WROTE_NOTHING = ("ABORT", "FAIL")

COMPLETE, FAILED = "complete", "failed"
_ENDED = "COMPLETE"
PRODUCER = "openlineage"
"""The kind of producer that jobs with an agent are."""
_LONGEST_READER = 200

_TEST_PLATFORM = "openlineage"
_TESTS_ENDED = (_ENDED, "FAIL")
"""Events that tell how tests ended: of the others some tell the same too early."""

_OF_DATASETS = "DATASET"
"""What the lineage facet tells of: a job that data comes from is none."""
_MAX_SQL = 1_000_000
_MAX_EDGES = 2_000
"""Edges of one event: every input with every output, of which a body of a megabyte names millions."""

_Key = tuple[str, str]
_Fields = dict[_Key, list[tuple[str, str | None, Transformation]]]


# OpenLineage's datasets as entities: found where they are known, registered where they are not.


@dataclass(frozen=True, slots=True)
class Intake:
    """How events are taken: which services `namespaces` are; `superseding`: what a job that was rewritten says since
    then ends what it said before.
    """

    namespaces: NamespaceMap = field(default_factory=NamespaceMap)
    superseding: bool = True


@dataclass(frozen=True, slots=True)
class FiledEvent:
    """The edges that an event gave, and the namespaces in it whose tables stand beside those of a log.

    `unjoined`: by namespace the line of YAML that would join them. `reads`: what was read by a run that wrote nothing.
    """

    given: tuple[ContributionRow, ...] = ()
    unjoined: Mapping[str, str] = field(default_factory=dict)
    reads: tuple[ColumnRead, ...] = ()


@dataclass(frozen=True, slots=True)
class _Location:
    """Where a dataset's table is: the namespace, its service (None where none is known), the parts of its name."""

    namespace: str
    name: str
    service: str | None
    address: ServiceAddress

    @property
    def is_joined(self) -> bool:
        """Whether it is a service that others speak of too."""
        return self.service is not None and not is_namespace(self.service)

    @property
    def parts(self) -> list[str]:
        """The parts of the name that count on its platform."""
        return self.address.table_parts(fqn.written_parts(self.name))


@dataclass(slots=True)
class _Datasets:
    """Entities for datasets, within one transaction; each dataset is resolved once."""

    connection: Connection
    registration: Registration
    intake: Intake
    unjoined: dict[str, str] = field(default_factory=dict)
    _map: NamespaceMap | None = None
    _resolved: dict[tuple[str, str], EntityRow] = field(default_factory=dict)

    def entity(self, dataset: Dataset, named: set[str]) -> EntityRow:
        """The entity of a dataset, with the columns that its schema has or that lineage names."""
        topic = _topic_of(dataset)
        if topic is not None:
            return self._topic(*topic, _dataset_columns(dataset, named))
        locations, path = self._locations(dataset), _path_of(dataset)
        key = (locations[0].namespace, locations[0].name)
        columns = _dataset_columns(dataset, named)
        stored = self._stored_entity(path) if path else None
        row = self._resolved.get(key) or self._find(locations, stored)
        learned = path if stored is None else None
        if row is None or columns or (learned and row.path is None and row.type == "table"):
            row = self._register(row, locations[0], learned, columns)
        self._resolved[key] = row
        if row.type == "table" and is_namespace(fqn.split(row.fqn)[0]):
            self._note_namespace(locations[0].namespace)
        elif row.type == "table" and locations[0].is_joined:
            self._note_database(locations[0])
        return row

    def known_entity(self, dataset: Dataset) -> EntityRow | None:
        """The entity of a dataset, None where there is none yet."""
        topic = _topic_of(dataset)
        if topic is not None:
            return find(self.connection, "topic", fqn.join(fqn.quote(self._messaging_service(topic[0])), topic[1]))
        path = _path_of(dataset)
        return self._find(self._locations(dataset), self._stored_entity(path) if path else None)

    def _find(self, locations: list[_Location], stored: EntityRow | None) -> EntityRow | None:
        """The table that a dataset is by one of its names; else what is `stored` at its path, unless a service is known
        that it is a new table of.
        """
        tables = (self._table_known(location) for location in locations if location.service is not None)
        found = next((row for row in tables if row is not None), None)
        return stored if found is None and not locations[0].is_joined else found

    def _topic(self, cluster: str, name: str, columns: list[Json]) -> EntityRow:
        """The topic of a cluster of Kafka, whatever a job calls it: a table of Flink over it is one of that job."""
        service = self._messaging_service(cluster)
        done = fqn.join(fqn.quote(service), name)
        if columns or find(self.connection, "topic", done) is None:
            self._make("messagingService", service, {"serviceType": "Kafka"})
            request = {"service": fqn.quote(service), "partitions": 1}
            if columns:
                request["messageSchema"] = {"schemaType": "Other", "schemaFields": columns}
            done = self._make("topic", fqn.encode_name(name), request)
        stored = find(self.connection, "topic", done)
        assert stored is not None
        return stored

    def _messaging_service(self, cluster: str) -> str:
        """The service of a cluster: which somebody says that it is, which has its address, else one called so."""
        given = self._namespaces().services_of(topic_path(cluster, "")[:-1])
        if given:
            return given[0]
        services = select(entities).where(entities.c.type == "messagingService", entities.c.deleted.is_(False))
        for row in self.connection.execute(services.order_by(entities.c.fqn)):
            config = (loads(row.document).get("connection") or {}).get("config") or {}
            if cluster in map(cluster_of, str(config.get("bootstrapServers") or "").split(",")):
                return fqn.split(row.fqn)[0]
        return cluster

    def _stored_entity(self, path: str) -> EntityRow | None:
        where = (entities.c.path == normal_path(path), entities.c.deleted.is_(False))
        stored = entities.c.type.in_(("container", "table"))
        return self.connection.execute(select(entities).where(*where, stored).order_by(entities.c.type)).first()

    def _table_known(self, location: _Location) -> EntityRow | None:
        """The table of a name: the one that is written so, else the only one that is in another case."""
        assert location.service is not None
        parts = [fqn.encode_name(part) for part in location.parts]
        folded = [part.casefold() for part in parts]
        where = (
            entities.c.type == "table",
            entities.c.service_folded == location.service.casefold(),
            entities.c.name_folded == folded[-1],
            entities.c.deleted.is_(False),
        )
        rows = self.connection.execute(select(entities).where(*where)).all()
        if len(parts) == 1:  # any schema may have a table of that name
            rows = [row for row in rows if fqn.split(row.fqn_folded)[-2] in location.address.default_schemas]
        exact = [row for row in rows if fqn.split(row.fqn)[-len(parts) :] == parts]
        if len(exact) == 1 or location.address.keeps_case:
            return exact[0] if len(exact) == 1 else None
        fitting = [row for row in rows if fqn.split(row.fqn_folded)[-len(parts) :] == folded]
        return fitting[0] if len(fitting) == 1 else None

    def _locations(self, dataset: Dataset) -> list[_Location]:
        """Where the table of a dataset may be, the likeliest first: by the names of tables that it goes by, then its
        own. What is known of a service goes before what is not."""
        symlinks = dataset.facets.symlinks if dataset.facets is not None else None
        others = (symlinks.identifiers if symlinks is not None else None) or ()
        names = [(other.namespace, other.name) for other in others if other.type == "TABLE"]
        names.append((dataset.namespace, dataset.name))
        found = [location for name in names for location in self._locations_of(*name)]
        tables = [one for one in found if one.service is not None] or [
            one for one in found if not _is_storage(one.namespace)
        ]
        return tables or found[-1:]

    def _locations_of(self, namespace: str, name: str) -> list[_Location]:
        known = self._namespaces()
        services = known.services_of(namespace)
        found = [self._location(namespace, name, service) for service in services]
        if len(found) > 1:  # an address of several services: which one is it that has the table?
            found = [location for location in found if self._table_known(location) is not None]
        if len(found) == 1:
            return found
        own = next((one for one in known.services if _is_named_by(one, namespace)), None)
        return [_Location(namespace, name, own, ServiceAddress(_type_of(namespace)))]

    def _location(self, namespace: str, name: str, service: str) -> _Location:
        """Where a table of a service is, which may be one of another service that it only queries."""
        known = self._namespaces()
        parts = fqn.written_parts(name)
        owner, within = known.behind(service, parts)
        address = known.services.get(owner, ServiceAddress(_type_of(namespace) if owner == service else OTHER_DATABASE))
        if len(within) == 2 and address.naming.parts > 2 and self._is_database(owner, within[0]):
            within = [within[0], address.usual_schema, within[1]]  # a driver's URL tells a database, and no schema
        name = name if within == parts else ".".join(map(fqn.quote, within))
        return _Location(namespace, name, owner, address)

    def _is_database(self, service: str, name: str) -> bool:
        """Whether a service has a database of that name, and no schema."""
        inside = (entities.c.service_folded == service.casefold(), entities.c.name_folded == name.casefold())
        kinds = select(entities.c.type).where(*inside, entities.c.deleted.is_(False))
        found = set(self.connection.execute(kinds).scalars())
        return "database" in found and "databaseSchema" not in found

    def _namespaces(self) -> NamespaceMap:
        if self._map is None:
            self._map = self.intake.namespaces.with_services(_service_addresses(self.connection))
        return self._map

    def _register(self, row: EntityRow | None, location: _Location, path: str | None, columns: list[Json]) -> EntityRow:
        kind, request = self._request(row, location, path)
        if kind == "container":
            request["dataModel"] = {"columns": columns}
        elif columns or row is None:
            request["columns"] = columns
        done = self.registration.put(BY_TYPE[kind], request)
        stored = find(self.connection, kind, done.fqn)
        assert stored is not None
        return stored

    def _request(self, row: EntityRow | None, location: _Location, path: str | None) -> tuple[str, Json]:
        if row is not None:
            return _request_again(row, path)
        namespace = location.namespace
        if location.service is None and _is_storage(namespace):
            service = self._make("storageService", namespace, {"serviceType": _STORAGE_TYPES[_scheme(namespace)]})
            return "container", {"name": location.name, "service": service, "fullPath": path}
        service = self._service(location)
        written = location.address.usual_case(location.parts) if location.is_joined else location.parts
        *above, table = map(fqn.encode_name, written)
        database, schema = [*self._default_parents(location, above), *above][-2:]
        parent = self._parent("database", database, {"service": service}, location)
        parent = self._parent("databaseSchema", ".".join([*above[:-2], schema]), {"database": parent}, location)
        request = {"name": table, "databaseSchema": parent}
        if path:
            request["locationPath"] = path
        return "table", request

    def _service(self, location: _Location) -> str:
        """The service of a new table; where none is known that the namespace is, one of the namespace's own name."""
        name = location.service or location.namespace
        if find(self.connection, "databaseService", fqn.quote(name)) is not None:
            return fqn.quote(name)
        self._map = None
        return self._make("databaseService", name, {"serviceType": service_type(location.address.type)})

    def _note_namespace(self, namespace: str) -> None:
        if namespace not in self.unjoined and (others := _services_alike(namespace, self._namespaces().services)):
            self.unjoined[namespace] = line_of_map(namespace, others)

    def _note_database(self, location: _Location) -> None:
        """A log whose database nobody named may mean the same table."""
        database, *inside = [UNKNOWN_DATABASE, *location.parts][-QUALIFIED_PARTS:]
        guessed = replace(location, name=".".join(map(fqn.quote, [UNKNOWN_DATABASE, *inside])))
        if database != UNKNOWN_DATABASE and self._table_known(guessed) is not None:
            self.unjoined[location.namespace] = line_of_database(database)

    def _default_parents(self, location: _Location, above: list[str]) -> list[str]:
        """Where a new table is whose name does not say: in the service's only database, else in one without a name; in
        the schema that its platform looks in first."""
        databases = []
        if location.service is not None and len(above) <= 1:
            inside = (entities.c.type == "database", entities.c.service_folded == location.service.casefold())
            found = select(entities.c.fqn).where(*inside, entities.c.deleted.is_(False))
            databases = [fqn.split(name)[-1] for name in self.connection.execute(found).scalars()]
        database = databases[0] if len(databases) == 1 else UNKNOWN_DATABASE
        return [database, location.address.usual_schema][: max(0, 2 - len(above))]

    def _parent(self, kind: str, name: str, request: Json, location: _Location) -> str:
        """What a new table stands in: what is written so, else the only one that is in another case."""
        within = next(iter(request.values()))
        inside = (entities.c.type == kind, entities.c.fqn_folded == fqn.join(within, name).casefold())
        found = select(entities.c.fqn).where(*inside, entities.c.deleted.is_(False))
        names: list[str] = list(self.connection.execute(found).scalars())
        if len(names) != 1 or location.address.keeps_case:
            return self._make(kind, name, request)
        return names[0]

    def _make(self, kind: str, name: str, request: Json) -> str:
        return self.registration.put(BY_TYPE[kind], {"name": name, **request}).fqn


def _services_alike(namespace: str, services: Mapping[str, ServiceAddress]) -> tuple[str, ...]:
    """The services of the kind of a namespace which is none of them: one of them it may be, if somebody says so."""
    over_files = namespace.partition(":/")[0].casefold() in _STORAGE_TYPES
    kinds = KINDS_OVER_FILES if over_files else SERVICE_KINDS.get(scheme_of(namespace), ())
    of_kind = set(map(service_type, kinds))
    return tuple(
        sorted(name for name, address in services.items() if address.type in of_kind and not is_namespace(name))
    )


def unjoined_namespaces(connection: Connection, namespaces: NamespaceMap) -> dict[str, tuple[str, ...]]:
    """The namespaces that have tables of their own in the catalog, and by each the services that it may be: that which
    it is by now, else those of its kind. One whose kind no service is of stands for itself.
    """
    known = namespaces.with_services(_service_addresses(connection))
    found: dict[str, tuple[str, ...]] = {}
    for name in sorted(known.services):
        if is_namespace(name):
            others = known.services_of(name) or _services_alike(name, known.services)
            found |= {name: others} if others else {}
    return found


def _service_addresses(connection: Connection) -> dict[str, ServiceAddress]:
    """The database services of the catalog, by name."""
    services = select(entities).where(entities.c.type == "databaseService", entities.c.deleted.is_(False))
    found = {}
    for row in connection.execute(services.order_by(entities.c.fqn)):
        document = loads(row.document)
        config = (document.get("connection") or {}).get("config") or {}
        found[fqn.split(row.fqn)[0]] = ServiceAddress(document.get("serviceType") or OTHER_DATABASE, config)
    return found


def _request_again(row: EntityRow, path: str | None) -> tuple[str, Json]:
    """The request that brings an entity up to date."""
    document = loads(row.document)
    if row.type == "container":
        request: Json = {"name": document["name"], "service": document["service"]["fullyQualifiedName"]}
        if document.get("parent"):
            request["parent"] = document["parent"]
        return row.type, request
    request = {"name": document["name"], "databaseSchema": document["databaseSchema"]["fullyQualifiedName"]}
    if path and row.path is None:
        request["locationPath"] = path
    return row.type, request


def _is_named_by(service: str, namespace: str) -> bool:
    return service == namespace or (is_namespace(service) and namespace_key(service) == namespace_key(namespace))


def _type_of(namespace: str) -> str:
    return SERVICE_TYPES.get(scheme_of(namespace), OTHER_DATABASE)


def _scheme(namespace: str) -> str:
    return namespace.partition("://")[0].casefold()


def _is_storage(namespace: str) -> bool:
    return _scheme(namespace) in _STORAGE_TYPES


def _topic_of(dataset: Dataset) -> tuple[str, str] | None:
    """The cluster and the topic that a dataset is; None of all else, as of a list or a pattern of topics."""
    topic = split_topic(f"{dataset.namespace.rstrip('/')}/{dataset.name}")
    if topic is None or not is_topic_name(dataset.name):
        return None
    return cluster_of(topic[0]) or topic[0], dataset.name


def _path_of(dataset: Dataset) -> str | None:
    return _path(dataset.namespace, dataset.name) if _is_storage(dataset.namespace) else None


def _path(namespace: str, name: str) -> str:
    scheme, _, store = namespace.partition("://")
    if scheme.casefold() not in _STORES_OF_ACCOUNTS:
        store = store.rpartition("@")[2]
    return f"{scheme}://{store.rstrip('/')}/{name.lstrip('/')}"


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


def _file_load_outcomes(connection: Connection, event: RunEvent, intake: Intake) -> None:
    """Files what became of a run for each table that it was to write; of tables that nobody knows nothing."""
    failed = event.eventType in WROTE_NOTHING
    if not failed and event.eventType != _ENDED:
        return
    datasets = _Datasets(connection, Registration(connection, _moment_of(event), replace=False), intake)
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
                    "job": f"{event.job.namespace}/{_job_name(event)}",
                }
            )
    if rows:
        connection.execute(upsert(load_outcomes).on_conflict_do_nothing(), rows)


def _moment_of(event: RunEvent) -> int:
    """When an event was, in milliseconds; without a zone it is in UTC: that of the machine has no first year."""
    time = event.eventTime
    return max(0, round((time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp() * 1000))


# OpenLineage's assertions about data as tests of tables and columns, each with its result.


def _file_assertions(connection: Connection, event: RunEvent, intake: Intake) -> None:
    """Files the tests that an event tells of; the same event twice counts once. Containers have no tests."""
    tested = [dataset for dataset in (*event.inputs, *event.outputs) if dataset.assertions]
    if not tested or event.eventType not in _TESTS_ENDED:
        return
    at = _moment_of(event)
    registration = Registration(connection, at, replace=False)
    datasets = _Datasets(connection, registration, intake)
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
    request = {"name": one.assertion, "entityLink": link, "testDefinition": fqn.quote(kind)}
    return registration.put(BY_TYPE["testCase"], request).fqn


# Run events as contributions.


def file_event(connection: Connection, event: Event, intake: Intake) -> FiledEvent:
    """Files what an event says about datasets; what it says of each edge. The same event twice counts once.

    What is told of a dataset without a job is its columns, and what they are made from by its own word.
    """
    if isinstance(event, DatasetEvent):
        return _file(connection, _as_run(event), intake)
    if isinstance(event, JobEvent):
        return _file(connection, _static_run(event, event.job, event.inputs, event.outputs), intake)
    _file_assertions(connection, event, intake)
    filed = FiledEvent() if event.eventType in WROTE_NOTHING else _file(connection, event, intake)
    _file_load_outcomes(connection, event, intake)
    return replace(filed, reads=_reads_of(connection, event, intake))


def _as_run(event: DatasetEvent) -> RunEvent:
    job = Job(namespace=event.dataset.namespace, name=event.dataset.name)
    named = _named_fields(_origins_of(_static_run(event, job, [], [event.dataset])).values())
    inputs = [Dataset(namespace=namespace, name=name) for namespace, name in sorted(named)]
    return _static_run(event, job, inputs, [event.dataset])


def _static_run(event: JobEvent | DatasetEvent, job: Job, inputs: list[Dataset], outputs: list[Dataset]) -> RunEvent:
    """An event without a run as the run that it stands for: there is one of each job."""
    return RunEvent(eventTime=event.eventTime, run=Run(runId="static"), job=job, inputs=inputs, outputs=outputs)


def _file(connection: Connection, event: RunEvent, intake: Intake) -> FiledEvent:
    origins = _origins_of(event)
    outputs = {(d.namespace, d.name): d for d in event.outputs}
    for key in origins:
        outputs.setdefault(key, Dataset(namespace=key[0], name=key[1]))
    if not outputs:
        return FiledEvent()
    named = _named_fields(origins.values())
    if len({(d.namespace, d.name) for d in event.inputs} | set(named)) * len(outputs) > _MAX_EDGES:
        raise ApiError(413, f"the event has more than {_MAX_EDGES} pairs of an input and an output: send smaller ones")
    now = tick(connection)
    at = _moment_of(event)
    registration = Registration(connection, at, replace=False)
    datasets = _Datasets(connection, registration, intake)
    inputs = {(d.namespace, d.name): d for d in event.inputs}
    for key in named:
        inputs.setdefault(key, Dataset(namespace=key[0], name=key[1]))
    sources = {key: datasets.entity(dataset, named.get(key, set())) for key, dataset in inputs.items()}
    targets = []
    for key, output in outputs.items():
        known = origins.get(key)
        targets.append((datasets.entity(output, known.own_fields if known is not None else set()), known))
    registration.finish()
    writer = LineageWriter(connection, f"openlineage:{event.run.runId}:{at}", now)
    edges = [
        ((source, target[0]), columns)
        for target in targets
        for source, columns in _edges(sources, target, named_only=len(targets) > 1)
        if columns or source.id != target[0].id  # many agents list what they write among their inputs
    ]
    text = _masked_text(event) if edges else None
    slots = (_slot_of(event, at),) if intake.superseding else ()
    given = tuple(replace(_contribution(event, *edge, at, text), slots=slots) for edge in edges)
    for contribution in given:
        writer.add(contribution)
    writer.finish()
    return FiledEvent(given, datasets.unjoined)


def _reads_of(connection: Connection, event: RunEvent, intake: Intake) -> tuple[ColumnRead, ...]:
    """A run that has ended and wrote nothing as a reader of its inputs: of which columns it does not tell.

    Tests look at everything, and are no readers. A job that has written out of an input has told so in another event:
    the events of one run may tell a part each.
    """
    tests = any(dataset.assertions for dataset in event.inputs)
    if event.eventType != _ENDED or event.outputs or _origins_of(event) or tests:
        return ()
    datasets = _Datasets(connection, Registration(connection, _moment_of(event), replace=False), intake)
    rows = {row.id: row for one in event.inputs[:_MAX_EDGES] if (row := datasets.known_entity(one)) is not None}
    job = f"{event.job.namespace}/{_job_name(event)}"
    of_job = (contributions.c.kind == PRODUCER, contributions.c.key == job, contributions.c.from_id.in_(list(rows)))
    wrote = set(connection.scalars(select(contributions.c.from_id).where(*of_job)))
    return tuple(
        ColumnRead(
            entity=End(id=row.id, type=row.type),
            how=ColumnUseKind.UNKNOWN,
            reader=job[:_LONGEST_READER],
            last=_moment_of(event),
        )
        for row in rows.values()
        if row.id not in wrote
    )


_QUERY_OF_TRINO = re.compile(r"\d{8}_\d{6}_\d{5}_\w{5}\Z")


def _job_name(event: RunEvent) -> str:
    """The name of a job. Trino's listener calls each query one of its own, by its id: of two that are alike but for
    their literals the same is said, by one job."""
    facets = event.job.facets
    kind = facets.jobType if facets is not None else None
    if kind is None or (kind.integration or "").upper() != "TRINO" or _QUERY_OF_TRINO.match(event.job.name) is None:
        return event.job.name
    sql = _masked_sql(event)
    return event.job.name if sql is None else f"query {digest(sql)[:12]}"


def _slot_of(event: RunEvent, at: int) -> JobSlot:
    """What a job writes into one dataset is one slot: it says of each run all that it read."""
    return JobSlot(digest("openlineage", event.job.namespace, _job_name(event)), RunDays(at / 1000, at / 1000))


def _contribution(
    event: RunEvent, ends: tuple[EntityRow, EntityRow], columns: list[Json], at: int, text: StoredText | None
) -> ContributionRow:
    key = f"{event.job.namespace}/{_job_name(event)}"
    run = digest(f"{key}\n{event.run.runId}")
    content = Content.of({"columns": columns, "parser": "openlineage"}, text)
    ids = ends[0].id, ends[1].id
    return ContributionRow(*ids, PRODUCER, key, "OpenLineage", content, at, at, 1, (record_digest(run),))


def _masked_text(event: RunEvent) -> StoredText | None:
    """The job's SQL without its literals; None where it has none, or where they cannot be told."""
    sql = _masked_sql(event)
    return None if sql is None else StoredText.of(sql)


def _masked_sql(event: RunEvent) -> str | None:
    facet = event.job.facets.sql if event.job.facets is not None else None
    if facet is None or len(facet.query) > _MAX_SQL:
        return None
    try:
        # a job that names a dialect writes in that one, known or not, whatever holds its output
        name = facet.dialect or event.outputs[0].namespace.partition("://")[0]
        with suppress(ConfigError):
            return QueryMasker(dialect_of(name)).mask(facet.query)
        return _masked_alike(facet.query)
    except Unparsable:
        return None


def _masked_alike(query: str) -> str | None:
    """SQL of a dialect that nobody names, where its literals are the same in all of them; else None.

    What stands in double quotes or between dollars, and the lines of a client, are values in some. Raises Unparsable.
    """
    masked = {QueryMasker(dialect).mask(query) for dialect in DIALECTS.values()}
    return masked.pop() if len(masked) == 1 else None


@dataclass(slots=True)
class _Origins:
    """What a dataset is told to be made of: by each source the fields of it, each with the dataset's own, which is None
    where it bears on all of them. `own_fields` are all of these; `whole`: there are no other sources.
    """

    fields: _Fields = field(default_factory=lambda: defaultdict(list))
    own_fields: set[str] = field(default_factory=set)
    whole: bool = False

    def add(self, facet: ColumnLineage) -> None:
        """What is told of columns alone."""
        self.own_fields.update(facet.fields)
        for name, output in facet.fields.items():
            for one in output.inputFields:
                self._add(one, one.field, name)
        for one in facet.dataset or ():
            self._add(one, one.field, None)

    def add_lineage(self, facet: Lineage) -> None:
        """What is told of datasets and of columns; what stands for all of a dataset is no column of it."""
        self.own_fields.update(facet.fields)
        self.whole |= facet.inputs is not None
        for name, output in facet.fields.items():
            for one in output.inputs:
                self._add(one, one.field, name)
        for one in facet.inputs or ():
            self._add(one, one.field, None)

    def _add(self, one: InputField | LineageInput, source: str | None, own: str | None) -> None:
        if isinstance(one, LineageInput) and one.type.upper() != _OF_DATASETS:
            return
        known = self.fields[one.namespace, one.name]
        if source is not None:
            default = Transformation(type="INDIRECT" if own is None else "DIRECT")
            known += [(source, own, how) for how in one.transformations or [default]]


def _origins_of(event: RunEvent) -> dict[_Key, _Origins]:
    """What datasets are made of, whoever in an event tells it: the dataset, its job, or the run."""
    found: dict[_Key, _Origins] = defaultdict(_Origins)
    for holder in (event.job.facets, event.run.facets):
        for one in holder.lineage.lineage if holder is not None and holder.lineage is not None else ():
            if one.type.upper() == _OF_DATASETS:
                found[one.namespace, one.name].add_lineage(one)
    for output in event.outputs:
        facets = output.facets
        if facets is not None and facets.columnLineage is not None:
            found[output.namespace, output.name].add(facets.columnLineage)
        if facets is not None and facets.lineage is not None:
            found[output.namespace, output.name].add_lineage(facets.lineage)
    return dict(found)


def _edges(
    sources: dict[_Key, EntityRow], output: tuple[EntityRow, _Origins | None], *, named_only: bool
) -> Iterable[tuple[EntityRow, list[Json]]]:
    """The inputs of one output: all of the run's, but only those that are told of it where a run has several outputs,
    or where these are all."""
    target, origins = output
    fields = origins.fields if origins is not None else {}
    named_only = origins is not None and (named_only or origins.whole)
    written = _column_names(target) if fields else {}
    # One table may go by two names: Airflow spells it in its facets as its query does, among its inputs as it is.
    named: dict[str, list[_Key]] = defaultdict(list)
    for key, row in sources.items():
        named[row.id].append(key)
    for keys in named.values():
        row = sources[keys[-1]]
        found = [one for key in keys for one in fields.get(key, ())]
        if not named_only or any(key in fields for key in keys):
            yield row, _columns(found, (_column_names(row) if found else {}, written))


def _column_names(row: EntityRow) -> dict[str, str]:
    """The columns of an entity by their names in no case: agents write them as a query does, not as the table has it.

    Where two differ in case alone there is no such name.
    """
    names: dict[str, list[str]] = defaultdict(list)
    for column in columns_of.of_document(loads(row.document)):
        names[column["name"].casefold()].append(column["name"])
    return {folded: written[0] for folded, written in names.items() if len(written) == 1}


def _columns(
    fields: Iterable[tuple[str, str | None, Transformation]], known: tuple[Mapping[str, str], Mapping[str, str]]
) -> list[Json]:
    def path(name: str, names: Mapping[str, str]) -> str:
        encoded = fqn.encode_name(name)
        return columns_of.path_of(names.get(encoded.casefold(), encoded))

    columns: dict[str, Json] = {}
    for source, target, how in fields:
        kind = "INDIRECT" if how.type.upper() == "INDIRECT" or target is None else "DIRECT"
        column: Json = {
            "from": [path(source, known[0])],
            "to": path(target, known[1]) if target is not None else None,
            "type": kind,
        }
        if how.subtype:
            column["subtype"] = how.subtype
        if how.masking:
            column["masking"] = True
        columns[dumps(column)] = column
    return [columns[key] for key in sorted(columns)]


def _named_fields(origins: Iterable[_Origins]) -> dict[_Key, set[str]]:
    """What datasets are told to be made of, with the columns of each that are named."""
    named: dict[_Key, set[str]] = defaultdict(set)
    for one in origins:
        for key, fields in one.fields.items():
            named[key] |= {source for source, _, _ in fields}
    return named
