"""Tables that the log shows and the catalog lacks are registered, with the columns that are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from connectors.openmetadata.entities.crud import COLUMNS_COMPLETE, TableDefinition
from connectors.openmetadata.entities.data_types import column_request
from ingestion.binding.binder import BoundLog
from ingestion.binding.composition import FlowSources
from ingestion.binding.relations import Relation, RelationIdentity
from ingestion.binding.restored_names import Order
from ingestion.binding.temporary_tables import PersistedFlow
from ingestion.dialects.connection_types import OTHER_DATABASE
from ingestion.entities import TableEntity
from ingestion.isolation import FailureStage, Isolation
from ingestion.model import Column, Json, NameKind
from ingestion.names.engine_names import EngineNameRules
from ingestion.names.fqn import build_fqn, encode_name
from ingestion.names.namespaces import QUALIFIED_PARTS, RelationKey
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.table_entities import EntityStatus, RelationEntities

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


@dataclass(frozen=True, slots=True)
class Registrar:
    """Where new tables belong: below this service, in this database where the log names none.

    What `places` gives to another service is made there. `isolation` gets the relations (by number) of which no request
    can be made.
    """

    service: str
    service_type: str
    database: str
    schema: str
    places: EngineNameRules = field(default_factory=EngineNameRules)
    isolation: Isolation[int] = field(default_factory=Isolation)

    def facts(self, source: LineageSource, entities: RelationEntities) -> list[RelationFacts]:
        """What is known of each relation of a log that has an entity or could have one."""
        log, definitions = source.log, source.view_definitions()
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
                wanted = news or status is EntityStatus.UNRESOLVED
                redundant = known is not None and number in source.filled_elsewhere
                if wanted or (entity is not None and known is None and relation.creator is None):
                    place = self.place_of(relation.key)
                    shape = _Shape({}, complete=True) if redundant else _Shape(columns, known is not None, definition)
                    found.append(RelationFacts(place, relation.key, shape, wanted and not redundant, relation.identity))
        return found

    def requests_of(self, facts: Iterable[RelationFacts], isolation: Isolation[str]) -> dict[str, list[Json]]:
        """The create requests of the wanted relations, parents first; what is known of one place is put together.

        `isolation` gets the places of which no request can be made.
        """
        groups: dict[str, dict[str, Json]] = {
            group: {} for group in ("services", "databases", "schemas", "tables", "containers")
        }
        places: dict[str, RelationFacts] = {}
        for one in sorted(facts, key=RelationFacts.moment):
            before = places.get(one.place)
            places[one.place] = one if before is None else before.followed_by(one)
        for one in places.values():
            if one.wanted:
                with isolation.around(FailureStage.REGISTRATION, one.place):
                    self._add(groups, one.key, one.shape)
        return {group: list(requests.values()) for group, requests in groups.items() if requests}

    def place_of(self, key: RelationKey) -> str:
        """What a relation in that place is registered as: the FQN of a table, the path of a container."""
        if key.kind is NameKind.PATH:
            return key.table
        service, database, schema = self._parents(key)
        return build_fqn(service, database, schema, key.table)

    def _parents(self, key: RelationKey) -> tuple[str, str, str]:
        """The service, database and schema that a table belongs to."""
        outside = key.parts[0] if len(key.parts) > QUALIFIED_PARTS else ""
        service = outside if outside in self.places.services else self.service
        return service, key.database or self.database, key.schema or self.schema

    def _add(self, groups: dict[str, dict[str, Json]], key: RelationKey, shape: _Shape) -> None:
        if key.kind is NameKind.PATH:
            self._add_container(groups, key.table, shape)
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
        service = self.places.storage_of(path) or scheme
        groups["services"][service] = {
            "type": "storageService",
            "name": service,
            "serviceType": _STORAGE_SERVICES.get(scheme, _OTHER_STORAGE),
        }
        groups["containers"][path] = {
            "name": encode_name(path.partition("://")[2] or path),
            "service": build_fqn(service),
            "fullPath": path,
            "dataModel": {"columns": [column_request(column) for column in shape.columns]},
        }

    def _type_of(self, service: str) -> str:
        """The type of another service, as far as the URL of a rule tells it."""
        kinds = [rule.url.kind for rule in self.places.jdbc if rule.to[0] == service and rule.url is not None]
        return next((_JDBC_SERVICES[kind] for kind in kinds if kind in _JDBC_SERVICES), OTHER_DATABASE)


def lacks_schema(relation: Relation, default_schema: str) -> bool:
    """Whether nothing tells in which schema a table is."""
    return relation.key.kind is NameKind.TABLE and not (relation.key.schema or default_schema)


_Sighting = tuple[Order, int] | None
"""When a column was first seen: its statement, and its place among those that are seen with it."""


@dataclass(frozen=True, slots=True)
class _Shape:
    columns: Mapping[Column, _Sighting]
    complete: bool
    definition: str | None = None


@dataclass(frozen=True, slots=True)
class RelationFacts:
    """What is known of the relation at a `place`; `wanted`: that is to be registered.

    `identity`: which relation it is.
    """

    place: str
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
        """What is known once a later relation of the same place is.

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
        return RelationFacts(self.place, self.key, shape, self.wanted or later.wanted, self.identity)


_NEVER = ((float("inf"), 0), 0)


def place_of_request(request: Json) -> str:
    """What `Registrar` calls the place of a table's or container's create request."""
    return request.get("fullPath") or f"{request.get('databaseSchema')}.{build_fqn(request['name'])}"


def _is_news(entity: TableEntity, columns: Sequence[Column], definition: str | None) -> bool:
    """Whether a table has columns that the catalog lacks, or a view that was filed from a log was defined anew."""
    redefined = entity.filed_from_log and definition is not None and definition != entity.definition
    return redefined or any(entity.column_fqn(column.name) is None for column in columns)


def _observed_columns(
    log: BoundLog, flows: Iterable[PersistedFlow], wanted: Collection[int]
) -> dict[int, dict[Column, _Sighting]]:
    """Columns that flows name for certain, by relation: what is known of the `wanted` tables, without a schema."""
    seen: dict[int, dict[Column, _Sighting]] = {}
    sightings = count()
    for flow in flows if wanted else ():
        sources = _certain_sources(flow.content)
        if flow.target in wanted or any(relation in wanted for relation, _name in sources):
            named = [(flow.target, name) for name in flow.content.columns if name not in flow.content.assumed]
            named += sorted(sources)
            order = log.statements[flow.statement].occurrence.order
            for relation, name in named:
                if relation in wanted and name != "*":
                    seen.setdefault(relation, {}).setdefault(Column(name), (order, next(sightings)))
    return seen


def _certain_sources(content: FlowSources) -> set[tuple[int, str]]:
    """The relations and columns that are surely read."""
    uses = [*content.columns.values(), content.indirect]
    certain = (use.sources[0] for references in uses for use in references if use.certain)
    return {(column.relation, column.column) for column in certain}
