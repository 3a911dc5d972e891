"""The names of a run's lineage: resolved to the target's entities, and registered there where that is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

from connectors.openmetadata.client import TABLES
from connectors.openmetadata.entities import COLUMNS_COMPLETE, TableDefinition, column_request, topic_request
from connectors.openmetadata.registration import register_each
from ingestion.binding.binder import BoundLog
from ingestion.binding.relations import Order, Relation, RelationIdentity
from ingestion.binding.temporary_tables import PersistedFlow
from ingestion.dialects.connection_types import OTHER_DATABASE, service_type
from ingestion.dialects.dataset_namespaces import ServiceAddress
from ingestion.model.engine_names import EngineNameRules
from ingestion.model.entities import DASHBOARD_TYPES, TableEntity
from ingestion.model.fqn import build_fqn, encode_name
from ingestion.model.isolation import FailureStage, Isolation, Probe, no_probe
from ingestion.model.lineage import Column, Json, NameKind
from ingestion.model.namespaces import QUALIFIED_PARTS, RelationKey
from ingestion.model.outcomes import Outcome
from ingestion.model.topics import split_topic
from ingestion.resolution import Resolver, SearchScope
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import LineageSource
from workflows.run.resolve.entities import RelationEntities, certain_sources, relations_in, resolve_relations
from workflows.run.resolve.routines import RoutineEntities, RoutineResolver
from workflows.target import RunTarget

_STORAGE_SERVICES = {"s3": "S3", "s3a": "S3", "s3n": "S3", "gs": "GCS", "abfs": "ADLS", "abfss": "ADLS"}
_OTHER_STORAGE = "CustomStorage"
_JDBC_SERVICES = {
    "postgresql": "Postgres",
    "mysql": "Mysql",
    "mariadb": "MariaDB",
    "sqlserver": "Mssql",
    "oracle": "Oracle",
    "redshift": "Redshift",
    "snowflake": "Snowflake",
    "db2": "Db2",
    "clickhouse": "Clickhouse",
    "trino": "Trino",
    "sqlite": "SQLite",
}
_Sighting = tuple[Order, int] | None
"""When a column was first seen: its statement, and its number among those that are seen with it."""
_NEVER = ((float("inf"), 0), 0)


# Tables that the log shows and the catalog lacks are registered, with the columns that are known.


@dataclass(frozen=True, slots=True)
class Registrar:
    """Where new tables belong: below this service, in this database where the log names none.

    What `engine_names` gives to another service is made there. `isolation` gets the relations (by number) of which no
    request can be made. `address` is that of the service, for a catalog that keeps it.
    """

    service: str
    service_type: str
    database: str
    schema: str
    engine_names: EngineNameRules = field(default_factory=EngineNameRules)
    isolation: Isolation[int] = field(default_factory=Isolation)
    address: Mapping[str, str] = field(default_factory=dict)

    def facts(self, source: LineageSource, entities: RelationEntities) -> list[RelationFacts]:
        """What is known of each relation of a log that has an entity or could have one."""
        log, definitions = source.log, source.view_definitions()
        names = _TableNames(self, log)
        unknown = {number for number in entities.statuses if not log.schemas.get(number)}
        observed = _observed_columns(log, source.flows, unknown)
        found = []
        for number, status in sorted(entities.statuses.items()):
            relation = log.relations[number]
            known = log.schemas.get(number)
            columns = dict.fromkeys(known) if known else observed.get(number, {})
            definition = definitions.get(relation.key)
            entity = entities.resolved.get(number)
            with self.isolation.around(FailureStage.REGISTRATION, number):
                self.isolation.probe(FailureStage.REGISTRATION, relation)
                news = entity is not None and _is_news(entity, [*columns], definition)
                wanted = news or status is Outcome.UNRESOLVED
                redundant = known is not None and number in source.filled_elsewhere
                if wanted or (entity is not None and known is None and relation.creator is None):
                    key = names.key_in_catalog(relation.key, entity)
                    shape = _Shape({}, complete=True) if redundant else _Shape(columns, known is not None, definition)
                    done = wanted and not redundant
                    found.append(RelationFacts(self.location_of(key), key, shape, done, relation.identity))
        return found

    @property
    def keeps_case(self) -> bool:
        """Whether names that differ in case alone are two tables."""
        return ServiceAddress(self.service_type).keeps_case

    def requests_of(self, facts: Iterable[RelationFacts], isolation: Isolation[str]) -> dict[str, list[Json]]:
        """The create requests of the wanted relations, parents first; what is known of one location is put together.

        `isolation` gets the locations of which no request can be made.
        """
        groups: dict[str, dict[str, Json]] = {
            group: {} for group in ("services", "databases", "schemas", "tables", "containers", "topics")
        }
        by_location: dict[str, RelationFacts] = {}
        for one in sorted(facts, key=RelationFacts.moment):
            before = by_location.get(one.location)
            by_location[one.location] = one if before is None else before.followed_by(one)
        for one in by_location.values():
            if one.wanted:
                with isolation.around(FailureStage.REGISTRATION, one.location):
                    self._add(groups, one.key, one.shape)
        return {group: list(requests.values()) for group, requests in groups.items() if requests}

    def location_of(self, key: RelationKey) -> str:
        """What a relation of that key is registered as: the FQN of a table or topic, the path of a container."""
        if key.kind is NameKind.PATH:
            topic = split_topic(key.table)
            return key.table if topic is None else build_fqn(self._cluster(key.table, topic[0]), topic[1])
        service, database, schema = self._parents(key)
        return build_fqn(service, database, schema, key.table)

    def _parents(self, key: RelationKey) -> tuple[str, str, str]:
        """The service, database and schema that a table belongs to."""
        outside = key.parts[0] if len(key.parts) > QUALIFIED_PARTS else ""
        service = outside if self.engine_names.names_service(outside) else self.service
        return service, key.database or self.database, key.schema or self.schema

    def _add(self, groups: dict[str, dict[str, Json]], key: RelationKey, shape: _Shape) -> None:
        if key.kind is NameKind.PATH:
            topic = split_topic(key.table)
            if topic is None:
                self._add_container(groups, key.table, shape)
            else:
                self._add_topic(groups, self._cluster(key.table, topic[0]), topic[1], shape)
            return
        service, database, schema = self._parents(key)
        database_fqn = build_fqn(service, database)
        schema_fqn = build_fqn(service, database, schema)
        fqn = build_fqn(service, database, schema, key.table)
        groups["services"][service] = {
            "type": "databaseService",
            "name": service,
            "serviceType": self.service_type if service == self.service else self._type_of(service),
        }
        if service == self.service and self.address:
            groups["services"][service]["connection"] = {"config": self.address}
        groups["databases"][database_fqn] = {"name": encode_name(database), "service": build_fqn(service)}
        groups["schemas"][schema_fqn] = {"name": encode_name(schema), "database": database_fqn}
        table = TableDefinition(
            schema_fqn,
            key.table,
            tuple(shape.columns),
            "View" if shape.definition is not None else "Regular",
            shape.definition,
        )
        groups["tables"][fqn] = {**table.to_json(), "extension": {COLUMNS_COMPLETE: shape.complete}}

    def _add_container(self, groups: dict[str, dict[str, Json]], path: str, shape: _Shape) -> None:
        scheme = path.partition("://")[0] if "://" in path else "files"
        service = self.engine_names.storage_of(path) or scheme
        groups["services"][service] = {
            "type": "storageService",
            "name": service,
            "serviceType": _STORAGE_SERVICES.get(scheme, _OTHER_STORAGE),
        }
        groups["containers"][path] = {
            "name": encode_name(path.partition("://")[2] or path),
            "service": build_fqn(service),
            "fullPath": path,
            "dataModel": {
                "columns": [column_request(Column(encode_name(one.name), one.type)) for one in shape.columns]
            },
        }

    def _cluster(self, path: str, address: str) -> str:
        """The service of a topic: the one that a rule names, else one that is called as its cluster is."""
        return self.engine_names.storage_of(path) or address

    def _add_topic(self, groups: dict[str, dict[str, Json]], service: str, topic: str, shape: _Shape) -> None:
        groups["services"][f"kafka {service}"] = {"type": "messagingService", "name": service, "serviceType": "Kafka"}
        fqn = build_fqn(service, topic)
        groups["topics"][fqn] = topic_request(build_fqn(service), topic, tuple(shape.columns))

    def _type_of(self, service: str) -> str:
        """The type of another service, as far as the URL of a rule tells it."""
        kinds = [rule.url.kind for rule in self.engine_names.jdbc if rule.to[0] == service and rule.url is not None]
        return next((_JDBC_SERVICES[kind] for kind in kinds if kind in _JDBC_SERVICES), OTHER_DATABASE)


@dataclass(frozen=True)
class _TableNames:
    """Under which names the tables of a log are registered: those that the catalog has by now."""

    registrar: Registrar
    log: BoundLog

    def key_in_catalog(self, key: RelationKey, entity: TableEntity | None) -> RelationKey:
        """The key of a relation, with the letters of its entity: an agent that was here before the log, or who filed
        the table by hand, may have written them in another case.

        Of two tables of the log that differ in case alone the one that is not there yet is another.
        """
        if entity is None or entity.type != "table" or key.kind is not NameKind.TABLE:
            return key
        name, location = entity.fully_qualified_name, self.registrar.location_of(key)
        if location == name or location.casefold() != name.casefold():
            return key
        if self.registrar.keeps_case or name in self._locations:
            return key
        *outside, _database, _schema, _table = key.parts
        return replace(key, parts=(*outside, entity.database, entity.schema, entity.name))

    @cached_property
    def _locations(self) -> frozenset[str]:
        return frozenset(self.registrar.location_of(one.key) for one in self.log.relations)


@dataclass(frozen=True, slots=True)
class _Shape:
    columns: Mapping[Column, _Sighting]
    complete: bool
    definition: str | None = None


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """What is known of the relation at a `location`; `wanted`: that is to be registered.

    `identity`: which relation it is.
    """

    location: str
    key: RelationKey
    shape: _Shape
    wanted: bool
    identity: RelationIdentity

    @property
    def made(self) -> bool:
        """Whether the log creates it."""
        return self.identity[1] is not None

    @property
    def tells(self) -> bool:
        """Whether it can be that something is registered for it."""
        return self.wanted or not self.shape.complete

    def moment(self) -> Order:
        """When it counts: what the log makes in the order in which it is made, and what it does not after that."""
        return self.identity[1] or _NEVER[0]

    def followed_by(self, later: RelationFacts) -> RelationFacts:
        """What is known once a later relation of the same location is.

        Of one relation of which several parts of a log tell, and of those that no log creates, the columns of both.
        """
        another = self.identity != later.identity and (self.made or later.made)
        if another or self.shape.complete or later.shape.complete:
            return later if later.wanted or not self.wanted else self
        seen = dict(self.shape.columns)
        for column, sighting in later.shape.columns.items():
            seen[column] = min(filter(None, (seen.get(column), sighting)), default=None)
        ordered = sorted(seen.items(), key=lambda pair: pair[1] or _NEVER)
        shape = _Shape(dict(ordered), complete=False, definition=later.shape.definition or self.shape.definition)
        return RelationFacts(self.location, self.key, shape, self.wanted or later.wanted, self.identity)


def _is_news(entity: TableEntity, columns: Sequence[Column], definition: str | None) -> bool:
    """Whether a table has columns that the catalog lacks, or a view that was filed from a log was defined anew."""
    if entity.type in DASHBOARD_TYPES:  # its tool tells what it has
        return False
    redefined = entity.filed_from_log and definition is not None and definition != entity.definition
    known = entity.column_fqns
    return redefined or any(known[column.name] is None for column in columns)


def _observed_columns(
    log: BoundLog, flows: Iterable[PersistedFlow], wanted: Collection[int]
) -> dict[int, dict[Column, _Sighting]]:
    """Columns that flows name for certain, by relation: what is known of the `wanted` tables, without a schema."""
    seen: dict[int, dict[Column, _Sighting]] = {}
    sightings = count()
    for flow in flows if wanted else ():
        sources = certain_sources(flow.content)
        if flow.target in wanted or any(relation in wanted for relation, _name in sources):
            named = [(flow.target, name) for name in flow.content.columns if name not in flow.content.assumed]
            named += sorted(sources)
            order = log.statements[flow.statement].occurrence.order
            for relation, name in named:
                if relation in wanted and name != "*":
                    seen.setdefault(relation, {}).setdefault(Column(name), (order, next(sightings)))
    return seen


# The names of a shard, resolved.


@dataclass(frozen=True, slots=True)
class NamesBefore:
    """The entities of what a shard names, before anything is registered.

    `failed`: the relations (by number) of which nothing could be told.
    """

    entities: RelationEntities
    failed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RegisteredNames:
    """How many tables and containers were `made`, the locations `refused`, and whether any request was `sent`."""

    made: int = 0
    refused: frozenset[str] = frozenset()
    sent: bool = False

    def within(self, facts: Iterable[RelationFacts]) -> RegisteredNames:
        """The same, with those alone of the refused locations that these `facts` are of."""
        return replace(self, refused=self.refused & {one.location for one in facts})

    def __add__(self, other: RegisteredNames) -> RegisteredNames:
        return RegisteredNames(self.made + other.made, self.refused | other.refused, self.sent or other.sent)


@dataclass(frozen=True, slots=True)
class ResolvedNames:
    """The entities of a log's relations and routines."""

    entities: RelationEntities
    routines: RoutineEntities = field(default_factory=RoutineEntities)


class NameResolution:
    """Takes a LineageSource, gives the entities of its names, which it registers in the target where that is wanted."""

    def __init__(self, config: RunConfig, settings: SourceSettings, target: RunTarget, probe: Probe = no_probe) -> None:
        self._probe = probe
        self._config = config
        self.settings = settings
        self._target = target
        self._after: Resolver | None = None
        self._scope = SearchScope(
            config.source.service_name,
            config.lineage.other_services,
            config.headwater.catalog_services,
            settings.two_level,
            config.name_rules,
            settings.guessed_database,
            settings.assets,
        )

    def resolver(self) -> Resolver:
        """A new one, which has not asked for anything yet: it remembers what it found, and what it did not."""
        return Resolver(self._target.search, self._scope, self._probe)

    def look_up(self, source: LineageSource, resolver: Resolver) -> tuple[NamesBefore, tuple[RelationFacts, ...]]:
        """The entities of a shard before anything is registered, and what is known of those that may be."""
        wanted = relations_in(source.flows)
        entities = self._entities(source, wanted, resolver)
        if not self._registers:
            return NamesBefore(entities), ()
        registrar = self._registrar()
        facts = registrar.facts(source, entities)
        return NamesBefore(entities, frozenset(registrar.isolation.failures)), tuple(facts)

    def register(self, shards: Iterable[Sequence[RelationFacts]], shared: Collection[str] = ()) -> RegisteredNames:
        """Registers what the target lacks, once all shards were looked up; `shared` are the locations of several."""
        later: list[RelationFacts] = []
        done = RegisteredNames()
        for facts in shards:
            later += [one for one in facts if one.location in shared]
            done += self._send([one for one in facts if one.location not in shared])
        return done + self._send(later)

    def _send(self, facts: Iterable[RelationFacts]) -> RegisteredNames:
        isolation = Isolation[str](self._probe)
        requests = self._registrar().requests_of(facts, isolation)
        if not requests:
            return RegisteredNames(refused=frozenset(isolation.failures))
        done = register_each(self._target.platform, requests, self._probe)
        refused = {_location_of_request(request) for _group, request, _failure in done.refused}
        return RegisteredNames(done.made, frozenset(isolation.failures) | refused, sent=True)

    def resolve_routines(self, statements: Mapping[str, Sequence[str]]) -> RoutineEntities:
        """The entities of routines, given the masked statements of each; what the target lacks is registered."""
        return self.routines().resolve(statements, self._config.lineage) if statements else RoutineEntities()

    def resolve(
        self, source: LineageSource, before: NamesBefore, registered: RegisteredNames, routines: RoutineEntities
    ) -> ResolvedNames:
        """The entities of a shard once what the target lacks was registered, beside those of its routines.

        Raises TargetDown and ConfigError; a name that cannot be looked up or registered has that as its status.
        """
        entities = before.entities
        if registered.sent:
            entities = self._entities(source, relations_in(source.flows), self._resolver_after())
        refused = set(before.failed)
        registrar = self._registrar()
        if registered.refused:
            unresolved = {n for n, status in entities.statuses.items() if status is Outcome.UNRESOLVED} - refused
            locations = {n: registrar.location_of(source.log.relations[n].key) for n in unresolved}
            refused |= {n for n, location in locations.items() if location in registered.refused}
        return ResolvedNames(entities.with_status(refused, Outcome.REGISTRATION_FAILED), routines)

    def _resolver_after(self) -> Resolver:
        """One for all shards, that is made when everything is registered."""
        if self._after is None:
            self._after = self.resolver()
        return self._after

    def routines(self) -> RoutineResolver:
        """What finds the entities of stored procedures and functions, and registers them."""
        service = self._config.source.service_name
        return RoutineResolver(self._target.platform, service, self._service_type, self._registers, self._probe)

    @property
    def _registers(self) -> bool:
        return self._config.registers_tables and self._target.writes

    def _entities(self, source: LineageSource, wanted: Mapping[int, int], resolver: Resolver) -> RelationEntities:
        registers = self._config.registers_tables
        entities = resolve_relations(source.log, wanted, resolver, self._config.lineage, registers=registers)
        unplaced = {n for n in wanted if _lacks_schema(source.log.relations[n], self.settings.default_schema)}
        return entities.with_status(unplaced, Outcome.NO_DEFAULT_SCHEMA)

    def _registrar(self) -> Registrar:
        config, settings = self._config, self.settings
        return Registrar(
            config.source.service_name,
            self._service_type,
            settings.default_database,
            settings.default_schema,
            config.name_rules,
            Isolation(self._probe),
            self._address,
        )

    @property
    def _address(self) -> Mapping[str, str]:
        """Where the source is, for Headwater's own catalog, which tells by it whose tables an OpenLineage event names.

        A platform's service is what its own connector connects by.
        """
        connection = self._config.source.connection
        if connection is None or TABLES not in self._target.platform.capabilities:
            return {}
        return ServiceAddress(connection.type, connection.options).address

    @property
    def _service_type(self) -> str:
        connection = self._config.source.connection
        return service_type(connection.type) if connection is not None else OTHER_DATABASE


def _location_of_request(request: Json) -> str:
    """What `Registrar` calls the location of a table's, container's or topic's create request."""
    if "messageSchema" in request:
        return f"{request['service']}.{build_fqn(request['name'])}"
    return request.get("fullPath") or f"{request.get('databaseSchema')}.{build_fqn(request['name'])}"


def _lacks_schema(relation: Relation, default_schema: str) -> bool:
    """Whether nothing tells in which schema a table is."""
    return relation.key.kind is NameKind.TABLE and not (relation.key.schema or default_schema)
