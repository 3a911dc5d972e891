"""The names of a run's lineage: resolved to the target's entities, and registered there where that is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from connectors.openmetadata.entities.registration import register_each
from ingestion.dialects.connection_types import OTHER_DATABASE, service_type
from ingestion.isolation import Isolation, Probe, no_probe
from ingestion.resolution.resolver import Resolver, SearchScope
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.lineage.lineage_source import LineageSource
from workflows.lineage.registration import Registrar, RelationFacts, lacks_schema, place_of_request
from workflows.lineage.routine_entities import RoutineEntities, RoutineResolver
from workflows.lineage.table_entities import EntityStatus, RelationEntities, relations_in, resolve_relations
from workflows.target import RunTarget


@dataclass(frozen=True, slots=True)
class NameSurvey:
    """What a batch names: the entities before anything is registered, and what is known of the relations that may be.

    `failed`: the relations (by number) of which nothing could be told.
    """

    entities: RelationEntities
    facts: tuple[RelationFacts, ...] = ()
    failed: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RegisteredNames:
    """How many tables and containers were `made`, and the places that were `refused`; `sent`: any request was made."""

    made: int = 0
    refused: frozenset[str] = frozenset()
    sent: bool = False

    def within(self, facts: Iterable[RelationFacts]) -> RegisteredNames:
        """The same, with those alone of the refused places that these `facts` are of."""
        return replace(self, refused=self.refused & {one.place for one in facts})

    def __add__(self, other: RegisteredNames) -> RegisteredNames:
        return RegisteredNames(self.made + other.made, self.refused | other.refused, self.sent or other.sent)


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
        self._after: Resolver | None = None
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

    def survey(self, source: LineageSource, resolver: Resolver) -> NameSurvey:
        """The entities of a batch before anything is registered, and what is known of those that are to be."""
        wanted = relations_in(source.flows)
        entities = self._entities(source, wanted, resolver)
        if not self._registers:
            return NameSurvey(entities)
        registrar = self._registrar()
        facts = registrar.facts(source, entities)
        return NameSurvey(entities, tuple(facts), frozenset(registrar.isolation.failures))

    def register(self, batches: Iterable[Sequence[RelationFacts]], shared: Collection[str] = ()) -> RegisteredNames:
        """Registers what the target lacks, once all batches were surveyed; `shared` are the places of several ones."""
        later: list[RelationFacts] = []
        done = RegisteredNames()
        for facts in batches:
            later += [one for one in facts if one.place in shared]
            done += self._send([one for one in facts if one.place not in shared])
        return done + self._send(later)

    def _send(self, facts: Iterable[RelationFacts]) -> RegisteredNames:
        isolation = Isolation[str](self._probe)
        requests = self._registrar().requests_of(facts, isolation)
        if not requests:
            return RegisteredNames(refused=frozenset(isolation.failures))
        done = register_each(self._target.platform, requests, self._probe)
        refused = {place_of_request(request) for _group, request, _failure in done.refused}
        return RegisteredNames(done.made, frozenset(isolation.failures) | refused, sent=True)

    def resolve_routines(self, statements: Mapping[str, Sequence[str]]) -> RoutineEntities:
        """The entities of routines, given the masked statements of each; what the target lacks is registered."""
        return self.routines().resolve(statements, self._config.filters) if statements else RoutineEntities()

    def resolve_batch(
        self, source: LineageSource, survey: NameSurvey, registered: RegisteredNames, routines: RoutineEntities
    ) -> ResolvedNames:
        """The entities of a batch once what the target lacks was registered, beside those of its routines.

        Raises TargetDown and ConfigError; a name that cannot be looked up or registered has that as its status.
        """
        entities = survey.entities
        if registered.sent:
            entities = self._entities(source, relations_in(source.flows), self._resolver_after())
        refused = set(survey.failed)
        registrar = self._registrar()
        if registered.refused:
            unresolved = {n for n, status in entities.statuses.items() if status is EntityStatus.UNRESOLVED} - refused
            places = {n: registrar.place_of(source.log.relations[n].key) for n in unresolved}
            refused |= {n for n, place in places.items() if place in registered.refused}
        return ResolvedNames(entities.with_status(refused, EntityStatus.REFUSED), routines, registered.made)

    def _resolver_after(self) -> Resolver:
        """One for all batches, that is made when everything is registered."""
        if self._after is None:
            self._after = self.resolver()
        return self._after

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
