"""What a shard tells of itself once it is resolved and once it is published, and what is kept of all shards: counts,
and what concerns them all.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from connectors.sink import EdgeCounts
from ingestion.binding.relations import Relation
from ingestion.binding.timeline import SchemaEvents
from ingestion.model.contributions import OBSERVED, Contribution
from ingestion.model.digests import digest
from ingestion.model.entities import TableEntity
from ingestion.model.isolation import Failure
from ingestion.model.lineage import LineageType
from ingestion.model.outcomes import Outcome, ProblemKind, StatementEnd
from ingestion.model.requests import AddLineageRequest
from ingestion.model.witnesses import ALWAYS, MOST_HOPS, Column, TargetWords, Verdict, Witness, Word, witness_of
from ingestion.walk import DIRECT, Hop, Walk
from workflows.config.namespaces import SourceSettings
from workflows.counts import AGREE, ONLY_ENGINE, ONLY_LOG, SILENT, EventReport, RunCounts
from workflows.run.parse.templates import Templates
from workflows.run.publish.publishing import PublishedLineage, SharedLineage, states_of_shard
from workflows.run.publish.query_records import RepeatedQuery, queries_behind
from workflows.run.publish.run_records import SourcelessWrites, add_writes, sourceless_writes
from workflows.run.publish.warnings import DoubtfulNames
from workflows.run.resolve.contributions import EdgeKey
from workflows.run.resolve.entities import UNRESOLVED_STATUSES
from workflows.run.resolve.lineage import SourceLineage, StatementOutcome, processed_routines
from workflows.run.resolve.resolution import ResolvedNames
from workflows.run.resolve.routines import RoutineEntities
from workflows.state.acknowledgements import PublishedState

_BY_HAND = (Witness.PERSON, Witness.FILE)


# Where what the engine recorded itself and what was read off the log say the same, and where not.


@dataclass(frozen=True, slots=True)
class _EdgeWitnesses:
    """Which edges between tables the `engine` tells of and which `others` do; whether the engine `tells_columns`."""

    engine: Set[EdgeKey]
    others: Set[EdgeKey]
    tells_columns: bool

    @classmethod
    def of(cls, requests: Iterable[AddLineageRequest]) -> _EdgeWitnesses:
        """Those of all contributions, which are many: of an engine's alone more is looked at than who says it."""
        engine: set[EdgeKey] = set()
        others: set[EdgeKey] = set()
        tells_columns = False
        for request in requests:
            for one in request.contributions:
                witness = witness_of(one.producer.kind, one.source)
                if witness is Witness.ENGINE:
                    engine.add(request.key)
                    tells_columns = tells_columns or any(column.publishable for column in one.columns)
                elif witness not in _BY_HAND:
                    others.add(request.key)
        return cls(engine, others, tells_columns)

    def counts(self) -> Counter[str]:
        """Edges by who says so: into those tables alone of which the engine says anything."""
        known = {target for _, target in self.engine}
        log = {edge for edge in self.others if edge[1] in known}
        both = len(self.engine & log)
        return +Counter({AGREE: both, ONLY_ENGINE: len(self.engine) - both, ONLY_LOG: len(log) - both})


def _compared_columns(requests: Iterable[AddLineageRequest]) -> Counter[str]:
    """Of columns that others are certainly made of, by the verdict of the engine."""
    words: dict[str, list[Word]] = defaultdict(list)
    for request in requests:
        for contribution in request.contributions:
            words[request.to_entity.id] += _words(request, contribution)
    linked = _Links(words.values())
    counted: Counter[str] = Counter()
    for some in words.values():
        target = TargetWords(some)
        counted.update(_engine_verdict(target.verdict(word, linked)) for word in target.pairs())
    return Counter({kind: count for kind, count in counted.items() if kind})


def _engine_verdict(verdict: Verdict) -> str:
    """What the engine says to an edge; "" for one that neither it nor anything that was read of statements has."""
    others = set(verdict.seen_by) - {Witness.ENGINE, *_BY_HAND}
    if Witness.ENGINE in verdict.seen_by:
        return AGREE if others else ONLY_ENGINE
    if not others:
        return ""
    return ONLY_LOG if Witness.ENGINE in verdict.not_by else SILENT


def _words(request: AddLineageRequest, contribution: Contribution) -> Iterator[Word]:
    """What a contribution says, in full names of columns."""
    first, last = contribution.first_seen, contribution.last_seen
    dated = contribution.producer.kind in OBSERVED and first is not None and last is not None
    word = Word(
        witness_of(contribution.producer.kind, contribution.source),
        request.from_entity.id,
        None,
        None,
        span=((first or 0) * 1000, (last or 0) * 1000) if dated else ALWAYS,
        whole=contribution.confidence >= 1,
    )
    if not contribution.columns:
        yield word
    for one in contribution.columns:
        direct = one.transformation.type is LineageType.DIRECT
        for column in one.from_columns:
            yield word._replace(path=column, to=one.to_column or None, direct=direct, certain=one.certain)


class _Links:
    """Whether columns are stations of one way, by what all these words say of values."""

    def __init__(self, words: Iterable[Iterable[Word]]) -> None:
        self._words = words

    @cached_property
    def _upstream(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for word in chain.from_iterable(self._words):
            if word.gives and word.certain and word.to is not None:
                found[word.to].add(word.column[1])
        return found

    def __call__(self, some: Iterable[Column], column: Column) -> bool:
        others = {name for _, name in some}
        return bool(others & self._behind({column[1]})) or column[1] in self._behind(others)

    def _behind(self, names: Iterable[str]) -> Set[str]:
        def hops(some: Sequence[str]) -> Iterator[Hop[str, None]]:
            return (Hop(one, source, DIRECT, None) for one in some for source in self._upstream.get(one, ()))

        return Walk(names, hops).finish(MOST_HOPS).arrivals.keys()


# What the stages of a run count, as parts of the run's counts.


def parse_counts(templates: Templates, met: Collection[str]) -> RunCounts:
    """Of the templates (by fingerprint) that this run's statements have, and those that it had to parse."""
    known = len(set(met) - templates.parsed)
    return RunCounts(templates=len(met), templates_known=known) + templates.counts


def _statement_counts(outcomes: Iterable[StatementOutcome]) -> RunCounts:
    """Of the statements that this run read."""
    skipped: Counter[str] = Counter()
    dead: Counter[str] = Counter()
    published = 0
    for outcome in outcomes:
        runs = outcome.group.read_in_this_run
        if outcome.status is StatementEnd.PUBLISHED:
            published += runs
        elif runs:
            (dead if outcome.status is StatementEnd.DEAD else skipped)[outcome.reason] += runs
    return RunCounts(published=published, skipped=dict(skipped), dead=dict(dead))


def _agreement_counts(requests: Collection[AddLineageRequest]) -> RunCounts:
    """Of the edges that an engine recorded itself, beside those of the log."""
    witnesses = _EdgeWitnesses.of(requests)
    columns = _compared_columns(requests) if witnesses.tells_columns else Counter[str]()
    return RunCounts(engine_edges=witnesses.counts(), engine_columns=columns)


def _name_counts(names: Mapping[Outcome, Mapping[str, int]], statuses: Iterable[Outcome]) -> RunCounts:
    """Of the names by what they resolved to; `statuses` are those of the relations that were not counted before.

    `names` tells how often each name of a status was met.
    """
    by_status = Counter(statuses)
    return RunCounts(
        resolved=by_status[Outcome.RESOLVED],
        unresolved=sum(by_status[status] for status in UNRESOLVED_STATUSES),
        ambiguous=by_status[Outcome.AMBIGUOUS],
        unresolved_names=dict(sum((Counter(names.get(status, {})) for status in UNRESOLVED_STATUSES), start=Counter())),
        ambiguous_names=dict(names.get(Outcome.AMBIGUOUS, {})),
    )


# What a shard tells of itself.
#
# It is little beside the shard, and crosses from a task of Spark to the driver.


@dataclass(frozen=True, slots=True)
class LineageSummary:
    """Of what a shard says, before it is published.

    `statuses`: those of its relations, each with what another shard may know it by.
    `names`: how often each name of a status was met. `states`: what to remember of the entities that something is said
    of, by their ids; `given_up`: the ids of those into which an edge cannot be said. `met`: the templates that this
    run's statements have. `incomplete`: how many of its plans were cut.
    """

    statuses: tuple[tuple[bytes, Outcome], ...]
    names: Mapping[Outcome, Mapping[str, int]]
    doubtful: DoubtfulNames
    routines: RoutineEntities
    complete: frozenset[str]
    failures: Mapping[str, Failure]
    incomplete: int
    met: frozenset[str]
    requests: int
    states: Mapping[str, PublishedState | None]
    given_up: frozenset[str]
    ddl: SchemaEvents


@dataclass(frozen=True, slots=True)
class PublishedShard:
    """What became of a shard: counts, why templates (by fingerprint) are `dead`, the routines that are `processed`.

    And what is filed beside its edges: queries by their masked text. `requests` and, by their ids, the `entities`
    at their ends only where these are asked for; `stood` are the requests whose edges no person rejected;
    `sourceless` tells why nothing is said of what some tables are made of.
    """

    counts: RunCounts
    dead: Mapping[str, str]
    processed: frozenset[str]
    queries: Mapping[str, RepeatedQuery]
    requests: tuple[AddLineageRequest, ...] = ()
    stood: tuple[AddLineageRequest, ...] = ()
    entities: Mapping[str, TableEntity] = field(default_factory=dict)
    sourceless: SourcelessWrites = field(default_factory=dict)


def lineage_summary(lineage: SourceLineage, names: ResolvedNames, settings: SourceSettings) -> LineageSummary:
    """What a shard says, in short; its `names` are those of its `lineage`."""
    source = lineage.source
    doubtful = DoubtfulNames(settings)
    doubtful.add(names, source.log)
    return LineageSummary(
        statuses=tuple((_mark(source.log.relations[n]), status) for n, status in names.entities.statuses.items()),
        names=names.entities.names,
        doubtful=doubtful,
        routines=names.routines,
        complete=lineage.complete,
        failures=lineage.template_failures,
        incomplete=source.problems()[ProblemKind.INCOMPLETE],
        met=frozenset(group.template for group in source.groups if group.read_in_this_run),
        requests=len(lineage.requests),
        states=states_of_shard(lineage),
        given_up=frozenset(target for _source, target in lineage.given_up),
        ddl=source.log.ddl_events,
    )


def published_shard(lineage: SourceLineage, names: ResolvedNames, published: PublishedLineage) -> PublishedShard:
    """What became of a shard, in short; its `names` are those of its `lineage`."""
    outcomes, edges = published.outcomes, published.edges
    counts = _statement_counts(outcomes) + RunCounts(edges=published.counts) + _agreement_counts(published.requests)
    dead = {one.group.template: one.reason for one in outcomes if one.status is StatementEnd.DEAD}
    processed = processed_routines(lineage, outcomes, edges)
    queries = queries_behind(lineage, names.entities, edges)
    sourceless = sourceless_writes(lineage, names.entities)
    return PublishedShard(counts, dead, processed, queries, sourceless=sourceless)


def _mark(relation: Relation) -> bytes:
    """What no other relation of the log has, in few bytes: they are kept of all."""
    return bytes.fromhex(digest(repr(relation.identity)))


# What is kept of the shards once they are gone.


class ShardSums:
    """Sums over shards, told of each as it goes by.

    `complete`: the templates (by fingerprint) and routines of which the log says all there is; `targets`: the ids of
    the entities that something is said of, `shared` those that several shards speak of, and `sharing` the numbers of
    these shards; `met`: the templates that this run's statements have; `dead` and `failures`: why templates are dead,
    by fingerprint.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self._counts = RunCounts()
        self._batches = 0
        self._counted: set[bytes] = set()
        self.doubtful = DoubtfulNames(settings)
        self.routines = RoutineEntities()
        self.processed: frozenset[str] = frozenset()
        self.complete: set[str] = set()
        self.targets: set[str] = set()
        self._first_batches: dict[str, int] = {}
        self.shared: set[str] = set()
        self.sharing: set[int] = set()
        self.requests = 0
        self.met: set[str] = set()
        self.dead: dict[str, str] = {}
        self.sourceless: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
        self.failures: dict[str, Failure] = {}
        self.events = EventReport()
        self.incomplete = 0

    def add_registered(self, made: int) -> None:
        """So many tables and containers were made."""
        self._counts += RunCounts(tables_registered=made)

    def add_lineage(self, summary: LineageSummary) -> None:
        """What a shard says, before it is published."""
        self._counts += _name_counts(summary.names, self._new_statuses(summary))
        self.doubtful.merge(summary.doubtful)
        self.routines = _both(self.routines, summary.routines)
        self.complete.update(map(sys.intern, summary.complete))
        self.failures |= summary.failures
        self.incomplete += summary.incomplete
        self.met.update(map(sys.intern, summary.met))
        self.requests += summary.requests
        self.targets |= summary.states.keys()
        # an edge that one shard gives up is not to be sent as another alone would have it
        for target in summary.states.keys() | summary.given_up:
            first = self._first_batches.setdefault(target, self._batches)
            if first != self._batches:
                self.shared.add(target)
                self.sharing |= {first, self._batches}
        self._batches += 1

    def add_shared(self, shared: SharedLineage) -> None:
        """What became of what several shards say."""
        self._counts += RunCounts(edges=shared.counts) + _agreement_counts(shared.requests)

    def add_published(self, shard: PublishedShard) -> None:
        """What became of a shard."""
        self._counts += shard.counts
        self.dead |= shard.dead
        add_writes(self.sourceless, shard.sourceless)
        self.processed |= shard.processed

    def add_edges(self, counts: EdgeCounts) -> None:
        """What became of edges, and of what is marked beside them, that is of no one shard."""
        self._counts += RunCounts(edges=counts)

    def counts(self) -> RunCounts:
        """All counts."""
        return self._counts

    def _new_statuses(self, summary: LineageSummary) -> Iterator[Outcome]:
        """The statuses of relations that no other shard named."""
        for relation, status in summary.statuses:
            if relation not in self._counted:
                self._counted.add(relation)
                yield status


def _both(one: RoutineEntities, other: RoutineEntities) -> RoutineEntities:
    return RoutineEntities(
        {**one.references, **other.references},
        one.filtered | other.filtered,
        {**one.failures, **other.failures},
        (*one.unplaced, *other.unplaced),
    )
