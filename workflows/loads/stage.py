"""A stage of a run whose log tells more of loads than that they ran: it is filed where the catalog keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from connectors.openmetadata.entities.extension import LOADS, file_loads
from ingestion.entities import TableEntity
from ingestion.isolation import FailureStage, Probe, in_parts
from ingestion.model import Json, StatementKind, StatementLineage, TableName
from ingestion.names.namespaces import Mention, may_be_temporary
from ingestion.resolution.resolver import Resolved, Resolver
from ingestion.symbolic import Symbolic
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings
from workflows.lineage.table_entities import is_allowed, is_guess
from workflows.loads.gathering import FailedLoad, GatheredLoads, LoadMoment, LoadTemplate, MeasuredLoad, gather_loads
from workflows.reading.reader import Statements
from workflows.report.losses import loss_warnings
from workflows.target import RunTarget
from workflows.templates.parsing import ParsedTemplate
from workflows.templates.temporary_names import temporary_names

_AT_ONCE = 5_000
_CHANGING = (StatementKind.UPDATE, StatementKind.DELETE)


@dataclass(frozen=True, slots=True)
class LogLoads:
    """Takes the statements of a run and their templates, and files what is told of the loads of known tables."""

    config: RunConfig
    settings: SourceSettings
    target: RunTarget
    probe: Probe
    symbolic: Callable[[], Iterable[Symbolic]]
    """All that is known of what statements do, of earlier runs too: which names are those of temporary tables."""

    @property
    def wanted(self) -> bool:
        """Whether the catalog keeps loads, and may be written to."""
        return self.target.writes and LOADS in self.target.platform.capabilities

    def carry_out(
        self, statements: Statements, templates: Mapping[str, ParsedTemplate], resolver: Resolver
    ) -> tuple[str, ...]:
        """What to warn of; `templates` are those of the run, by fingerprint. Raises TargetDown and SparkLost."""
        gathered = gather_loads(statements, self.settings.defaults)
        bodies = list(self._bodies(gathered, templates, resolver))
        platform, failed = self.target.platform, []
        for start in range(0, len(bodies), _AT_ONCE):
            some = bodies[start : start + _AT_ONCE]
            failed += in_parts(some, lambda part: file_loads(platform.http, part), FailureStage.LOADS, self.probe)
        warnings = loss_warnings("loads could not be filed", (failure for _body, failure in failed))
        if gathered.cut:
            warnings += ("the log tells of more loads than are kept of one run: the oldest are left out",)
        return warnings

    def _bodies(
        self, gathered: GatheredLoads, templates: Mapping[str, ParsedTemplate], resolver: Resolver
    ) -> Iterator[Json]:
        measured = _with_targets(gathered.measured, templates)
        named: list[tuple[FailedLoad | MeasuredLoad, TableName]] = [
            *((load, TableName(parts)) for load in gathered.failed for parts in load.targets),
            *((load, name) for load, names in measured for name in names),
        ]
        any_doubtful = any(may_be_temporary(name) for _load, name in named)
        temporary = temporary_names(self.symbolic()) if any_doubtful else frozenset[str]()
        kept = [(load, name) for load, name in named if not (may_be_temporary(name) and name.table in temporary)]
        found = self._entities(((name, load.template.namespace) for load, name in kept), resolver)
        filed: dict[tuple[str, str, int], Json] = {}
        for load, name in kept:
            entity = found.get((name, load.template.namespace))
            for body in _load_bodies(load, entity) if entity is not None else ():
                key = (body["entity"]["id"], body["run"], body["at"])
                if key not in filed or "rows" in body:
                    filed[key] = body
        yield from filed.values()

    def _entities(self, mentions: Iterable[Mention], resolver: Resolver) -> dict[Mention, TableEntity]:
        """The tables that are meant for certain, of those that the run's filters allow."""
        wanted = list(dict.fromkeys(mentions))
        registers = self.config.registers_tables
        return {
            mention: resolution.entity
            for mention, resolution in zip(wanted, resolver.resolve_all(wanted), strict=True)
            if isinstance(resolution, Resolved)
            and is_allowed(resolution.entity, self.config.filters)
            and not (registers and is_guess(resolution))
        }


def _with_targets(
    loads: Sequence[MeasuredLoad], templates: Mapping[str, ParsedTemplate]
) -> Iterator[tuple[MeasuredLoad, tuple[TableName, ...]]]:
    """The loads with what their statements write: of several tables it is not told which the rows are in."""
    known: dict[LoadTemplate, tuple[TableName, ...]] = {}
    for load in loads:
        if load.template not in known:
            template = templates.get(load.template.fingerprint)
            targets = _targets(template.statement()) if template is not None and template.symbolic is not None else ()
            known[load.template] = targets if len(targets) == 1 else ()
        yield load, known[load.template]


def _targets(symbolic: Symbolic) -> tuple[TableName, ...]:
    """What a statement fills; the rows that it changes or deletes tell nothing of how many a table has."""
    if isinstance(symbolic, StatementLineage):
        targets = [flow.target for flow in symbolic.flows]
    elif symbolic.kind in _CHANGING:
        targets = []
    else:
        targets = [write.target for write in symbolic.writes]
    stored = (one for one in targets if one is not None and not one.temporary and not one.view)
    return tuple(dict.fromkeys(one.name for one in stored))


def _load_bodies(load: FailedLoad | MeasuredLoad, entity: TableEntity) -> Iterator[Json]:
    """What is told of a load of one table, as the catalog's call takes it; times in milliseconds."""
    of_load: Json = {
        "entity": {"id": entity.id, "type": entity.type},
        "statement": load.template.fingerprint,
        "job": load.job,
    }
    if isinstance(load, MeasuredLoad):
        yield of_load | _completion(load.done)
        return
    failed = {"at": round(load.failed.time * 1000), "run": load.failed.record, "status": "failed"}
    yield of_load | failed | ({"error": load.code} if load.code else {})
    if load.came is not None:
        yield of_load | _completion(load.came)


def _completion(moment: LoadMoment) -> Json:
    body: Json = {"at": round(moment.time * 1000), "run": moment.record, "status": "complete"}
    return body if moment.rows is None else body | {"rows": moment.rows}
