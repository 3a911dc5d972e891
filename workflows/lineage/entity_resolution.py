"""The names of a run's lineage: resolved to the target's entities, and registered there where that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.openmetadata.entities.registration import RegistrationResult, register_each
from ingestion.dialects.connection_types import OTHER_DATABASE, service_type
from ingestion.isolation import Isolation, Probe, no_probe
from ingestion.resolution.resolver import Resolver, SearchScope
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.registration import Registrar, lacks_schema
from workflows.lineage.routine_entities import RoutineEntities, RoutineResolver
from workflows.lineage.table_entities import EntityStatus, RelationEntities, relations_in, resolve_relations
from workflows.target import RunTarget


@dataclass(frozen=True, slots=True)
class ResolvedNames:
    """The entities of a log's relations and routines; `registered` tables and containers were made for that."""

    entities: RelationEntities
    routines: RoutineEntities = field(default_factory=RoutineEntities)
    registered: int = 0


class NameResolution:
    """Takes a LineageSource, gives the entities of its names, which it registers in the target where that is wanted."""

    def __init__(self, config: RunConfig, settings: SourceSettings, target: RunTarget, probe: Probe = no_probe) -> None:
        self._probe = probe
        self._config = config
        self.settings = settings
        self._target = target
        steps = config.steps
        self._scope = SearchScope(
            config.source.service,
            steps.cross_services,
            config.catalog_services,
            settings.two_level,
            config.places,
            settings.guessed_database,
        )

    def resolver(self) -> Resolver:
        """A new one, which has not asked for anything yet: it remembers what it found, and what it did not."""
        return Resolver(self._target.search, self._scope, self._probe)

    def resolve(self, source: LineageSource, resolver: Resolver) -> ResolvedNames:
        """The entities of all that the lineage names.

        Raises TargetDown and ConfigError; a name that cannot be looked up or registered has that as its status.
        """
        wanted = relations_in(source.flows)
        entities = self._entities(source, wanted, resolver)
        registered = 0
        if self._registers:
            entities, registered = self._register(source, wanted, entities)
        routines = self.routines().resolve(source.routine_statements(), self._config.filters)
        return ResolvedNames(entities, routines, registered)

    def _register(
        self, source: LineageSource, wanted: Mapping[int, int], entities: RelationEntities
    ) -> tuple[RelationEntities, int]:
        """The entities once what the target lacks was registered there, and how many that were."""
        registrar = self._registrar()
        requests = registrar.requests(source.log, source.flows, entities, source.view_definitions())
        done = register_each(self._target.platform, requests, self._probe) if requests else RegistrationResult()
        if requests:
            entities = self._entities(source, wanted, self.resolver())
        relations = {n: source.log.relations[n] for n in wanted if entities.status(n) is EntityStatus.UNRESOLVED}
        made = {n: relation for n, relation in relations.items() if n not in registrar.isolation.failures}
        refused = registrar.refused_relations(made, (request for _group, request, _failure in done.refused))
        return entities.with_status(refused | registrar.isolation.failures.keys(), EntityStatus.REFUSED), done.made

    def routines(self) -> RoutineResolver:
        """What finds the entities of stored procedures and functions, and registers them."""
        service = self._config.source.service
        return RoutineResolver(self._target.platform, service, self._service_type, self._registers, self._probe)

    @property
    def _registers(self) -> bool:
        return self._config.registers_tables and self._target.writes

    def _entities(self, source: LineageSource, wanted: Mapping[int, int], resolver: Resolver) -> RelationEntities:
        registers = self._config.registers_tables
        entities = resolve_relations(source.log, wanted, resolver, self._config.filters, registers=registers)
        unplaced = {n for n in wanted if lacks_schema(source.log.relations[n], self.settings.default_schema)}
        return entities.with_status(unplaced, EntityStatus.UNPLACED)

    def _registrar(self) -> Registrar:
        config, settings = self._config, self.settings
        return Registrar(
            config.source.service,
            self._service_type,
            settings.default_database,
            settings.default_schema,
            config.places,
            Isolation(self._probe),
        )

    @property
    def _service_type(self) -> str:
        connection = self._config.source.connection
        return service_type(connection.type) if connection is not None else OTHER_DATABASE
