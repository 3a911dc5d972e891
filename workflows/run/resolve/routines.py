"""The entity behind each routine of a log: found in the catalog, or registered there with what was seen of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from connectors.openmetadata.client import Platform
from connectors.openmetadata.entities import FILED_FROM_LOG, Collection, get_by_name, mark_processed
from connectors.openmetadata.http import ServerFailed
from connectors.openmetadata.registration import register_each
from connectors.source_settings import LineageConfig
from ingestion.errors import Rejected
from ingestion.model.entities import EntityReference
from ingestion.model.fqn import build_fqn, encode_name, split_fqn
from ingestion.model.isolation import Failure, FailureStage, Isolation, Probe, no_probe
from ingestion.model.lineage import Json
from ingestion.statements.routines.definition import code_of

_PARTS = 3
"""Of a key: database, schema and name."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RoutineEntities:
    """By routine key (database.schema.name); `filtered` are those that the configuration leaves out.

    `failures`: those that could not be looked up or registered; `unplaced`: those of which nothing says in which schema
    they are.
    """

    references: Mapping[str, EntityReference] = field(default_factory=dict)
    filtered: frozenset[str] = frozenset()
    failures: Mapping[str, Failure] = field(default_factory=dict)
    unplaced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoutineResolver:
    """Finds routines in the catalog behind `platform`, below `service`; `registers` makes what it lacks."""

    platform: Platform
    service: str
    service_type: str
    registers: bool
    probe: Probe = no_probe

    def resolve(self, statements: Mapping[str, Sequence[str]], filters: LineageConfig) -> RoutineEntities:
        """The entities of routines, given the masked statements of each."""
        isolation = Isolation[str](self.probe)
        wanted: dict[str, Sequence[str]] = {}
        found: dict[str, Json | None] = {}
        unplaced: list[str] = []
        for key in sorted(statements):
            with isolation.around(FailureStage.ROUTINES, key):
                isolation.probe(FailureStage.ROUTINES, key)
                if len(split_fqn(key)) < _PARTS:
                    unplaced.append(key)
                elif filters.allows_procedure(*split_fqn(key)):
                    wanted[key] = statements[key]
                    found[key] = self._stored_entity(key)
        filtered = statements.keys() - wanted.keys() - isolation.failures.keys() - set(unplaced)
        if self.registers:
            self._register({key: wanted[key] for key in found if _is_news(found[key], wanted[key])}, found, isolation)
        references = {key: _reference(entity) for key, entity in found.items() if entity is not None}
        return RoutineEntities(references, frozenset(filtered), isolation.failures, tuple(unplaced))

    def _register(
        self, news: Mapping[str, Sequence[str]], found: dict[str, Json | None], isolation: Isolation[str]
    ) -> None:
        """Registers what is new of routines, and finds it again."""
        requests = self._requests(news, isolation)
        if not requests["storedProcedures"]:
            return
        refused = register_each(self.platform, requests, self.probe).refused
        for key in sorted(news):
            with isolation.around(FailureStage.ROUTINES, key):
                found[key] = self._stored_entity(key)
            if refused and found[key] is None:
                isolation.failures.setdefault(key, refused[0][2])

    def mark_processed(self, entities: RoutineEntities, keys: Iterable[str]) -> int:
        """Tells the catalog that the lineage of these is done, so that the next run may leave them out.

        How many are done and a catalog of its version cannot be told so.
        """
        processed = set(keys)
        references = entities.references
        open_ones = {references[key].id for key in references if key not in processed}  # of a package, one may be left
        done = {one.id: one for one in references.values() if one.id not in open_ones}
        if not self.platform.features.processed:
            return len(done)
        for identifier in sorted(done):
            self._mark(done[identifier])
        return 0

    def _mark(self, routine: EntityReference) -> None:
        try:
            mark_processed(self.platform.http, Collection.PROCEDURES, routine.id)
        except (Rejected, ServerFailed) as error:
            name = routine.fully_qualified_name or routine.id
            logger.warning("%s: not marked as processed: %s", name, error)

    def _stored_entity(self, key: str) -> Json | None:
        database, schema, name = split_fqn(key)
        fqns = [build_fqn(self.service, database, schema, name)]
        package = name.rpartition(".")[0]
        if package:  # a platform may know a package as one procedure
            fqns.append(build_fqn(self.service, database, schema, package))
        return next(
            (found for fqn in fqns if (found := get_by_name(self.platform.http, Collection.PROCEDURES, fqn))), None
        )

    def _requests(self, news: Mapping[str, Sequence[str]], isolation: Isolation[str]) -> dict[str, list[Json]]:
        groups: dict[str, dict[str, Json]] = {"services": {}, "databases": {}, "schemas": {}, "storedProcedures": {}}
        groups["services"][self.service] = {
            "type": "databaseService",
            "name": self.service,
            "serviceType": self.service_type,
        }
        for key, masked in sorted(news.items()):
            with isolation.around(FailureStage.ROUTINES, key):
                database, schema, name = split_fqn(key)
                database_fqn = build_fqn(self.service, database)
                schema_fqn = build_fqn(self.service, database, schema)
                groups["databases"][database_fqn] = {"name": encode_name(database), "service": build_fqn(self.service)}
                groups["schemas"][schema_fqn] = {"name": encode_name(schema), "database": database_fqn}
                groups["storedProcedures"][key] = {
                    "name": encode_name(name),
                    "databaseSchema": schema_fqn,
                    "storedProcedureCode": {"language": "SQL", "code": code_of(masked)},
                    "extension": {FILED_FROM_LOG: True},
                }
        return {group: list(requests.values()) for group, requests in groups.items()}


def _is_news(entity: Json | None, masked: Sequence[str]) -> bool:
    if entity is None:
        return True
    own = FILED_FROM_LOG in (entity.get("extension") or {})
    return own and (entity.get("storedProcedureCode") or {}).get("code") != code_of(masked)


def _reference(entity: Json) -> EntityReference:
    return EntityReference(str(entity["id"]), "storedProcedure", entity.get("name"), entity.get("fullyQualifiedName"))
