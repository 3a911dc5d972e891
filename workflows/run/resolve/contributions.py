"""From flows between relations to requests between entities: each statement contributes to the edges that it proves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from ingestion.binding.binder import BoundLog
from ingestion.binding.temporary_tables import PersistedFlow, RelationReference, reachable_relations
from ingestion.model.contributions import (
    DOUBTFUL,
    ColumnEvidence,
    Contribution,
    Producer,
    ProducerKind,
    join_contributions,
)
from ingestion.model.digests import digest
from ingestion.model.entities import DASHBOARD_TYPES, ColumnFqns, EntityReference, TableEntity
from ingestion.model.isolation import Failure, FailureStage, Isolation, Probe
from ingestion.model.job_slots import UNKNOWN, JobSlot
from ingestion.model.lineage import NameKind
from ingestion.model.requests import AddLineageRequest, EdgeSource, request_of
from ingestion.model.table_commits import COMMIT_TIER
from ingestion.parsing.templates import ENGINE_TIER, LIST_TIER, PLAN_TIER, ParsedTemplate
from workflows.run.bind.binding import is_view
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.group.runs import Runner

EdgeKey = tuple[str, str]
"""Ids of the entities that an edge joins."""

_CONFIDENCE = {
    "sqlglot": 1.0,
    PLAN_TIER: 1.0,
    ENGINE_TIER: 1.0,
    LIST_TIER: 1.0,
    COMMIT_TIER: 1.0,
    "sqlfluff": 0.8,
    "sqlparse": DOUBTFUL,
}
_DEFINED = frozenset({ProducerKind.VIEW, ProducerKind.DBT, ProducerKind.PROCEDURE})
_LESS_SURE = 0.5
"""Factor where a flow's columns are not all resolved: a star over an unknown schema, or hops beyond the limit."""
_UNSIGNED = (1 << 64) - 1
_MOST_EXPRESSIONS = 8 << 20
"""Characters of all expressions of a flow, each told on every edge of it; beyond them the edges go without.

200 columns that are each made of 200 others have 40,000 edges and 80 MB of expressions: no server takes that in a call.
"""


@dataclass(frozen=True, slots=True)
class EdgeContributions:
    """What a flow proves: contributions by edge. `self_only`: it reads nothing but what it writes.

    An edge from an entity to itself is one like any other where it tells of columns. That a table is read by what
    writes it, as engines note of every MERGE and of streams, says by itself nothing of where its data is from.
    """

    contributions: Mapping[EdgeKey, tuple[TableEntity, TableEntity, Contribution]]
    self_only: bool = False


@dataclass(frozen=True, slots=True)
class ContributionBuilder:
    """Turns flows into evidence, given the entity of each relation (by number) and routine (by key) that has one."""

    log: BoundLog
    groups: tuple[OccurrenceGroup, ...]
    templates: Mapping[str, ParsedTemplate]
    entities: Mapping[int, TableEntity]
    routines: Mapping[str, EntityReference] = field(default_factory=dict)
    superseding: bool = False
    dbt_models: bool = False
    _lost: Mapping[int, Callable[[str], bool]] = field(init=False)
    _column_fqns: dict[str, ColumnFqns] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lost", self.log.lost_columns())

    def of(self, flow: PersistedFlow) -> EdgeContributions:
        """The contributions of one flow whose target has an entity; sources without one contribute nothing."""
        target = self.entities[flow.target]
        kind, whole = self._contribution(flow, target)
        first, last = self._sightings(flow)
        uses = self._uses(flow, target)
        hops = _Hops(flow)
        found: dict[EdgeKey, tuple[TableEntity, TableEntity, Contribution]] = {}
        for number in sorted(flow.content.sources):
            source = self.entities.get(number)
            if source is None:
                continue
            key = source.id, target.id
            columns = tuple(self._columns_from(number, source, uses.get(number, ())))
            if source.id == target.id and not columns:
                continue
            since, until = self._under_last_name((first, last), number, flow)
            one = whole(
                source=_crossing(kind, source, target),
                columns=columns,
                temp_lineage_tables=tuple(sorted((self._name(a), self._name(b)) for a, b in hops.from_source(number))),
                first_seen=since or None,
                last_seen=until or None,
            )
            if key in found:
                one = join_contributions((found[key][2], one))
            found[key] = source, target, one
        sources = {entity.id for n in flow.content.sources if (entity := self.entities.get(n)) is not None}
        return EdgeContributions(found, self_only=sources == {target.id})

    def _sightings(self, flow: PersistedFlow) -> tuple[float, float]:
        """When what a flow brings was first and last seen, 0 where nothing tells."""
        group = self.groups[flow.statement]
        first, last = self.log.relations[flow.target].sightings(
            group.first_seen, group.ended, left_behind=flow.left_behind
        )
        if group.ran and not last:
            # To the catalog what has no time is seen now: of an old log it would move the window past all else.
            return group.latest, group.latest
        return first, last

    def _under_last_name(self, seen: tuple[float, float], source: int, flow: PersistedFlow) -> tuple[float, float]:
        """When a source was seen, since it has the name by which it is told: before that another may have had it."""
        first, last = seen
        if not (first and last) or flow.left_behind or not self.log.relations[flow.target].stands:
            return seen
        relation = self.log.relations[source]
        reading = (self.log.statements[number].occurrence.order for number in (flow.statement, *flow.content.via))
        late = last > self.groups[flow.statement].ended[0] or not relation.read_elsewhere.isdisjoint(reading)
        return relation.sightings_as_source(first, last, is_dated_later=late)

    def _contribution(self, flow: PersistedFlow, target: TableEntity) -> tuple[EdgeSource, Callable[..., Contribution]]:
        """What a flow is read from, and what makes its contributions, given what each says of its own edge."""
        group = self.groups[flow.statement]
        template = self.templates[group.template]
        producer, source = self._producer(flow, group, template, target)
        confidence = _CONFIDENCE[template.tier]
        if flow.too_deep or flow.content.stars:
            confidence *= _LESS_SURE
        if self.log.statements[flow.statement].lineage.doubted:
            confidence = DOUBTFUL
        return source, partial(
            Contribution,
            producer=producer,
            sql_query=template.masked,
            parser=template.tier,
            confidence=confidence,
            jobs=group.jobs,
            slots=tuple(self._slots(flow, group, producer)) if self.superseding else (),
            records=tuple(f"{digest & _UNSIGNED:016x}" for digest in group.digests),
            pipeline=self.routines.get(group.routine) if group.routine else None,
            columns_at=max((at for n in flow.content.via if (at := self.log.statements[n].columns_at)), default=None),
        )

    def _slots(self, flow: PersistedFlow, group: OccurrenceGroup, producer: Producer) -> Iterator[JobSlot]:
        """In which slots a statement ran; none of what its definition tells whole."""
        if producer.kind in _DEFINED:
            return
        lineage = self.log.statements[flow.statement].lineage
        modes = sorted({target.mode for one in lineage.flows if (target := one.target) is not None})
        for runner, ran in group.runners:
            yield JobSlot(_slot_key(runner, (lineage.kind, *modes), flow.content.columns), ran)

    def _uses(self, flow: PersistedFlow, target: TableEntity) -> dict[int, list[_ColumnUse]]:
        """What a flow says of columns, by the relation that these are of, which is gone over once for all its sources.

        The conditions of an `UPDATE t SET a = 1 WHERE k = 2` concern what it sets, those of other writes all columns.
        """
        content = flow.content
        to_columns = self._fqns_of(target)
        found: dict[int, list[_ColumnUse]] = {}
        short = _size_of_expressions(flow) <= _MOST_EXPRESSIONS

        def note(to_column: str, references: Iterable[RelationReference], *, certain: bool) -> None:
            for use in references if short else (one._replace(expression="") for one in references):
                for column in use.sources:
                    found.setdefault(column.relation, []).append(_ColumnUse(column.column, to_column, use, certain))

        for name, references in content.columns.items():
            to_column = to_columns[name]
            if to_column is not None:
                certain = name not in content.assumed
                note(to_column, references, certain=certain)
                if flow.sets_columns:
                    note(to_column, content.indirect, certain=certain)
        if not flow.sets_columns:
            note("", content.indirect, certain=True)
        return found

    def _columns_from(self, number: int, source: TableEntity, uses: Iterable[_ColumnUse]) -> Iterator[ColumnEvidence]:
        """What columns of a source say of those of the target."""
        lost, gone = self._lost.get(number), self.log.relations[number].gone_columns
        fqns = self._fqns_of(source)
        for use in uses:
            fqn = None if use.column in gone else fqns[use.column]
            if fqn is not None:
                # What is defined anew without a column gives none, whatever was read from it before.
                reference = use.reference
                sure = use.certain and reference.certain and not (lost is not None and lost(use.column))
                yield ColumnEvidence((fqn,), use.to_column, reference.transformation, reference.expression, sure)

    def _fqns_of(self, entity: TableEntity) -> ColumnFqns:
        found = self._column_fqns.get(entity.id)
        if found is None:
            found = self._column_fqns[entity.id] = entity.column_fqns
        return found

    def _producer(
        self, flow: PersistedFlow, group: OccurrenceGroup, template: ParsedTemplate, target: TableEntity
    ) -> tuple[Producer, EdgeSource]:
        witness = self.log.statements[flow.statement].lineage.witness
        if witness:
            return Producer(ProducerKind.EDGE_LIST, witness), EdgeSource.MANUAL
        if is_view(self.log, flow):
            kind = ProducerKind.DBT if self.dbt_models and not group.ran else ProducerKind.VIEW
            return Producer(kind, target.fully_qualified_name), definition_source(target.type)
        if group.routine:
            return Producer(ProducerKind.PROCEDURE, group.routine), EdgeSource.QUERY
        names = [self.log.relations[number].key for number in (*flow.content.sources, flow.target)]
        over_files = any(name.kind is NameKind.PATH for name in names)
        if template.tier == ENGINE_TIER:
            source = EdgeSource.EXTERNAL_TABLE if over_files else EdgeSource.QUERY
            return Producer(ProducerKind.ENGINE, template.fingerprint), source
        if over_files:
            return Producer(ProducerKind.EXTERNAL_TABLE, template.fingerprint), EdgeSource.EXTERNAL_TABLE
        if template.tier == PLAN_TIER:
            return Producer(ProducerKind.PLAN, template.fingerprint), EdgeSource.SPARK
        return Producer(ProducerKind.QUERY, template.fingerprint), EdgeSource.QUERY

    def _name(self, number: int) -> str:
        entity = self.entities.get(number)
        return entity.fully_qualified_name if entity else str(self.log.relations[number].key)


class _ColumnUse(NamedTuple):
    """A column of a source in what a flow says of a column of its target ("": of all); `certain`: it surely is that."""

    column: str
    to_column: str
    reference: RelationReference
    certain: bool


def definition_source(target_type: str) -> EdgeSource:
    """What an edge is read from that the definition of its target tells."""
    return EdgeSource.DASHBOARD if target_type in DASHBOARD_TYPES else EdgeSource.VIEW


def _size_of_expressions(flow: PersistedFlow) -> int:
    """Characters that the expressions of a flow take, once on each edge."""
    content = flow.content
    deciding = sum(len(use.expression) * len(use.sources) for use in content.indirect)
    flowing = sum(len(use.expression) * len(use.sources) for uses in content.columns.values() for use in uses)
    return flowing + deciding * (len(content.columns) if flow.sets_columns else 1)


class _Hops:
    """The hops of a flow through tables that are not kept; those by which data came from each of its sources."""

    def __init__(self, flow: PersistedFlow) -> None:
        self._hops = flow.content.hops
        self._leading = reachable_relations({flow.target}, ((b, a) for a, b in self._hops)) if self._hops else ()

    def from_source(self, source: int) -> set[tuple[int, int]]:
        """The hops by which data came from one of the sources, and none by which it came from the others."""
        if not self._hops:
            return set()
        after = reachable_relations({source}, self._hops)
        return {(a, b) for a, b in self._hops if a in after and b in self._leading}


def _slot_key(runner: Runner, way: Iterable[str], columns: Iterable[str]) -> str:
    """Of a job's statements those that write a target in one way; of a user's also no other columns than these."""
    if runner.job is not None:
        return digest("job", runner.job, *way)
    names = sorted(columns)
    if runner.user is None or not names:
        return UNKNOWN
    return digest("user", runner.user, str(runner.hour), *way, *names)


def _crossing(source_of_edge: str, source: TableEntity, target: TableEntity) -> str:
    """What the wire calls lineage of a query whose ends are in different databases."""
    tables = source.type == target.type == "table"
    crosses = (source.service, source.database) != (target.service, target.database)
    return EdgeSource.CROSS_DATABASE if source_of_edge == EdgeSource.QUERY and tables and crosses else source_of_edge


def repetitions(
    in_force: Iterable[EdgeContributions], superseded: Collection[EdgeContributions]
) -> Iterator[EdgeContributions]:
    """Of definitions that were replaced, what stands word for word in one in force: it was seen so much earlier."""
    if not superseded:
        return
    earlier = {(key, _without_sightings(c)) for one in in_force for key, (_, _, c) in one.contributions.items()}
    for one in superseded:
        again = {k: found for k, found in one.contributions.items() if (k, _without_sightings(found[2])) in earlier}
        if again:
            yield EdgeContributions(again)


def _without_sightings(contribution: Contribution) -> Contribution:
    return replace(contribution, first_seen=None, last_seen=None, records=(), jobs=(), slots=())


def requests_of(
    evidences: Iterable[EdgeContributions], probe: Probe
) -> tuple[tuple[AddLineageRequest, ...], Mapping[EdgeKey, Failure]]:
    """One request for each edge, in the order of their keys, with everything that was contributed to it.

    And why no request could be made of others.
    """
    isolation = Isolation[EdgeKey](probe)
    requests = []
    edges: dict[EdgeKey, tuple[TableEntity, TableEntity, list[Contribution]]] = {}
    for evidence in evidences:
        for key, (source, target, contribution) in evidence.contributions.items():
            edges.setdefault(key, (source, target, []))[2].append(contribution)
    for key, (source, target, contributions) in sorted(edges.items()):
        with isolation.around(FailureStage.PUBLISHING, key):
            isolation.probe(FailureStage.PUBLISHING, (source, target))
            requests.append(request_of(source.reference, target.reference, contributions))
    return tuple(requests), isolation.failures
