"""The suspects, ranked by how well what happened to each explains what tests tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from connectors.catalog.questions.why.facts import (
    CONSEQUENCES,
    SHAPES,
    Incident,
    IncidentKind,
    Symptom,
    TestRecord,
    UpstreamFacts,
)
from connectors.catalog.store.lineage.reads import ColumnDependency
from ingestion.walk import DIRECT, INDIRECT, STRENGTHS, TABLE, ColumnNode, EdgeIndex, Way, strongest_ways

# How much what speaks for or against a suspect counts.

KIND_WEIGHTS: Mapping[IncidentKind, float] = {
    IncidentKind.DEFINITION: 3.0,
    IncidentKind.NEW_WRITER: 2.0,
    IncidentKind.TYPE: 3.2,
    IncidentKind.COLUMN_DROPPED: 3.2,
    IncidentKind.COLUMN_RENAMED: 3.0,
    IncidentKind.TABLE_DROPPED: 3.0,
    IncidentKind.LOAD_FAILED: 3.0,
    IncidentKind.LOAD_REPLACED: 1.5,
    IncidentKind.LOAD_MISSING: 3.0,
    IncidentKind.LOAD_LATE: 2.5,
    IncidentKind.FEWER_ROWS: 2.5,
    IncidentKind.MORE_ROWS: 2.0,
}
"""What is not here, such as a column that was added, is told in the timeline alone."""
TIES = {DIRECT: 1.0, INDIRECT: 0.7, TABLE: 0.4}
OFF_THE_PATH = 0.25
"""Of a change of columns that do not lead to what went wrong."""
BEFORE_THE_LAST_PASS = 0.15
FAILING_TEST = 1.6
CONSEQUENCE = 0.3
OTHER_FAILURES = 0.85
"""How much of the weight hangs on how many of the failing tests a suspect explains."""
SYMPTOMS = frozenset({IncidentKind.FEWER_ROWS, IncidentKind.MORE_ROWS})
"""What a load that is as it was shows of what it read."""
INHERITED = 0.5
"""How much of what a table shows speaks against those that it is made of."""
SILENT = 0.3
"""Of a table where nothing is known to have happened: among those the ones that more failing tests depend on."""
PASSED = {DIRECT: 0.5, INDIRECT: 0.2, TABLE: 0.1}
PASSED_OF_THE_SAME_KIND = 1.0
"""How much a passed test downstream counts beside the failing ones."""
USUAL_SIZE = 0.4
"""Of what is inherited in a count of rows, where the suspect itself had as many as ever."""
CLEARED = 0.7
"""What is taken away of a suspect downstream of which all tests passed."""


# Ways between columns, each as strong as its weakest hop: values flow, values decide, or only rows come through.


@dataclass(frozen=True, slots=True)
class ColumnWay:
    """The shortest of the strongest ways from a node down to where the search began; `ties` are those of its hops."""

    nodes: tuple[ColumnNode, ...]
    strength: str = DIRECT
    ties: tuple[str, ...] = ()

    @classmethod
    def of(cls, way: Way[ColumnNode, ColumnDependency]) -> ColumnWay:
        """A way that was walked against the flow of data."""
        return cls(way.nodes[::-1], way.strength, tuple(hop.strength for hop in reversed(way.hops)))

    @property
    def hops(self) -> int:
        return len(self.nodes) - 1


class UpstreamPaths:
    """Walks against the flow of data; the walk from each node is made once.

    A table that is read for other columns has a say too: without its rows those of the table that reads it would be
    others.
    """

    def __init__(self, edges: Iterable[ColumnDependency]) -> None:
        self._edges = EdgeIndex.of(sorted(set(edges), key=_order), upstream=True, rows=True)
        self._known: dict[ColumnNode, dict[ColumnNode, ColumnWay]] = {}

    def upstream_of(self, start: ColumnNode) -> dict[ColumnNode, ColumnWay]:
        """Every node with a say in `start`, itself among them."""
        if start not in self._known:
            ways = strongest_ways(start, self._edges.hops).found
            self._known[start] = {node: ColumnWay.of(way) for node, way in ways.items()}
        return self._known[start]

    def tables_upstream_of(self, start: ColumnNode) -> dict[str, ColumnWay]:
        """The best way from each table."""
        best: dict[str, ColumnWay] = {}
        for (table, _), way in self.upstream_of(start).items():
            if table not in best or _rank(way) < _rank(best[table]):
                best[table] = way
        return best


def _rank(way: ColumnWay) -> tuple[int, int]:
    return STRENGTHS.index(way.strength), way.hops


def _order(edge: ColumnDependency) -> tuple[str, ...]:
    return tuple(str(part) for part in (*edge.source, *edge.target, edge.type, edge.subtype, edge.expression))


# The ranking of suspects: a function of the symptom and the facts, and of nothing else.


@dataclass(frozen=True, slots=True)
class Indication:
    """What speaks against a suspect: what happened (at a time in milliseconds), and how much it counts.

    `columns` are those of the suspect that it touched, empty: every row.
    """

    at: int
    text: str
    weight: float
    from_test: bool = False
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspect:
    """A table upstream (or the table itself): `way` leads down to what went wrong; `cleared_by` are passed tests.

    Without `evidence` it is only not ruled out.
    """

    table: str
    score: float
    way: ColumnWay
    evidence: tuple[Indication, ...]
    cleared_by: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()


def rank_suspects(symptom: Symptom, facts: UpstreamFacts) -> tuple[Suspect, ...]:
    """Every table upstream of the symptom, the likeliest cause first."""
    return _Ranking.of(symptom, facts).suspects()


@dataclass(frozen=True, slots=True)
class _ClearingTest:
    """A test downstream of a suspect that passed at a time (milliseconds), and how much that counts."""

    at: int
    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class _OwnSymptom:
    """What a table shows of what it read: how much that counts, and whether it is about how many rows there are."""

    node: ColumnNode
    weight: float
    counts: bool


@dataclass(frozen=True, slots=True)
class _Ranking:
    symptom: Symptom
    facts: UpstreamFacts
    paths: UpstreamPaths
    ways: Mapping[str, ColumnWay]
    nodes: Mapping[ColumnNode, ColumnWay]
    incidents: Mapping[str, tuple[Incident, ...]]
    failing: Mapping[TestRecord, int]
    """With the time of the first failure."""
    passing: Mapping[TestRecord, int]
    """With the time of the pass."""
    own_symptoms: list[_OwnSymptom] = field(default_factory=list)

    @classmethod
    def of(cls, symptom: Symptom, facts: UpstreamFacts) -> _Ranking:
        paths = UpstreamPaths(facts.edges)
        nodes: dict[ColumnNode, ColumnWay] = {}
        ways: dict[str, ColumnWay] = {}
        for start in symptom.nodes:
            for node, way in paths.upstream_of(start).items():
                nodes[node] = _better(nodes.get(node), way)
                ways[node[0]] = _better(ways.get(node[0]), way)
        incidents: dict[str, list[Incident]] = defaultdict(list)
        for one in sorted(set(facts.incidents)):
            if one.table in ways and one.at <= symptom.window.end:
                incidents[one.table].append(one)
        window = symptom.window
        tests = sorted(facts.tests, key=lambda test: (str(test.node), test.name))
        failing = {t: first.at for t in tests if (first := t.failure_within(window)) is not None}
        passing = {t: at for t in tests if t not in failing and (at := t.pass_within(window)) is not None}
        by_table = {t: tuple(i) for t, i in incidents.items()}
        ranking = cls(symptom, facts, paths, ways, nodes, by_table, failing, passing)
        ranking.own_symptoms.extend(one for table in ways for one in ranking._symptoms_of(table))
        return ranking

    def suspects(self) -> tuple[Suspect, ...]:
        found = (self._suspect(table) for table in self.ways)
        return tuple(sorted(found, key=lambda one: (-one.score, one.way.hops, one.table)))

    def _suspect(self, table: str) -> Suspect:
        evidence = self._evidence(table)
        clearing = self._clearing_tests(table)
        weights = sorted((one.weight * self._share_kept(table, clearing, one) for one in evidence), reverse=True)
        weight = weights[0] + 0.15 * sum(weights[1:]) if weights else 0.0
        of_readers = max(self._weight_of_readers(table), 0.0 if evidence else SILENT * TIES[self.ways[table].strength])
        weight = max(weight, of_readers * self._share_kept(table, clearing, None))
        cleared = {one.name for of in evidence or (None,) for one in _after(clearing, of)}
        failing = tuple(_test_name(test) for test in self.failing if test.node[0] == table)
        score = round(weight * self._coverage(table), 4)
        return Suspect(table, score, self.ways[table], evidence, tuple(sorted(cleared)), failing)

    def _symptoms_of(self, table: str) -> Iterator[_OwnSymptom]:
        """What a table shows that is as it was and was loaded in time."""
        incidents = [one for one in self.incidents.get(table, ()) if self.symptom.window.holds(one.at)]
        if any(one.kind in KIND_WEIGHTS and one.kind not in SYMPTOMS for one in incidents):
            return
        for one in incidents:
            if one.kind in SYMPTOMS:
                yield _OwnSymptom((table, None), self._of_incident(one).weight, counts=True)
        weight = self._weight_of_failures(table)
        for test in self.failing:
            if test.node[0] == table:
                yield _OwnSymptom(test.node, weight, counts=test.node[1] is None)

    def _weight_of_failures(self, table: str) -> float:
        explained = self._has_cause_upstream(table, tests=True)
        return FAILING_TEST * (CONSEQUENCE if explained else 1.0) * TIES[self.ways[table].strength]

    def _weight_of_readers(self, table: str) -> float:
        """What tables that are made of this one show, less with each hop; nothing of those where something happened."""
        found = 0.0
        for own in self.own_symptoms:
            way = self.paths.tables_upstream_of(own.node).get(table)
            if way is None or way.hops == 0 or own.node[0] == table:
                continue
            weight = own.weight * INHERITED**way.hops * TIES[way.strength]
            knowledge = self.facts.tables.get(table)
            if own.counts and knowledge is not None and knowledge.usual_size:
                weight *= USUAL_SIZE
            found = max(found, weight)
        return found

    def _share_kept(self, table: str, clearing: Iterable[_ClearingTest], evidence: Indication | None) -> float:
        """What the tests that passed since then leave of the weight of what speaks against a suspect."""
        passed = sum(one.weight for one in _after(clearing, evidence))
        failed = sum(TIES[way.strength] for way in self._ways_to_tests(table, self.failing).values())
        return 1.0 - CLEARED * passed / (passed + failed) if passed else 1.0

    def _evidence(self, table: str) -> tuple[Indication, ...]:
        found = [self._of_incident(one) for one in self.incidents.get(table, ()) if one.kind in KIND_WEIGHTS]
        failing = [test for test in self.failing if test.node[0] == table]
        if failing:
            weight = self._weight_of_failures(table)
            found += [
                Indication(
                    self.failing[test],
                    f"test {_test_name(test)} fails",
                    round(weight, 4),
                    from_test=True,
                    columns=tuple(filter(None, (test.node[1],))),
                )
                for test in failing
            ]
        return tuple(sorted(found, key=lambda one: (-one.weight, one.at, one.text)))

    def _of_incident(self, one: Incident) -> Indication:
        weight = KIND_WEIGHTS[one.kind] * self._tie(one)
        if not self.symptom.window.holds(one.at):
            weight *= BEFORE_THE_LAST_PASS
        if self._is_consequence(one):
            weight *= CONSEQUENCE
        return Indication(one.at, one.text, round(weight, 4), columns=one.columns)

    def _is_consequence(self, one: Incident) -> bool:
        """Whether it may follow from what happened upstream; a load fails by another shape of what it reads."""
        if one.kind is not IncidentKind.LOAD_FAILED:
            return one.kind in CONSEQUENCES and self._has_cause_upstream(one.table, tests=one.kind in SYMPTOMS)
        upstream = self.paths.tables_upstream_of((one.table, None)).keys() | {one.table}
        changes = (other for table in upstream for other in self.incidents.get(table, ()) if other.kind in SHAPES)
        return any(self.symptom.window.holds(other.at) and other.at <= one.at for other in changes)

    def _tie(self, one: Incident) -> float:
        if not one.columns:
            return TIES[self.ways[one.table].strength]
        touched = [self.nodes[node] for column in one.columns if (node := (one.table, column)) in self.nodes]
        if not touched and (one.table, None) in self.symptom.nodes:
            return 1.0
        return max((TIES[way.strength] for way in touched), default=OFF_THE_PATH)

    def _has_cause_upstream(self, table: str, *, tests: bool) -> bool:
        """Whether something happened upstream of a table that may be why its own tests fail, or its load is missing."""
        for other, way in self.paths.tables_upstream_of((table, None)).items():
            if other == table or other not in self.ways:
                continue
            happened = any(
                one.kind in KIND_WEIGHTS and self.symptom.window.holds(one.at) for one in self.incidents.get(other, ())
            )
            failing = tests and way.strength != TABLE and any(test.node[0] == other for test in self.failing)
            if happened or failing:
                return True
        return False

    def _coverage(self, table: str) -> float:
        """How many of the failing tests lie downstream of a suspect, as a factor."""
        if not self.failing:
            return 1.0
        reached = sum(TIES[way.strength] for way in self._ways_to_tests(table, self.failing).values())
        best = max(
            sum(TIES[way.strength] for way in self._ways_to_tests(other, self.failing).values()) for other in self.ways
        )
        return 1.0 - OTHER_FAILURES * (1.0 - reached / best) if best else 1.0

    def _ways_to_tests(self, table: str, tests: Iterable[TestRecord]) -> dict[TestRecord, ColumnWay]:
        found = {}
        for test in tests:
            way = self.paths.tables_upstream_of(test.node).get(table)
            if way is not None:
                found[test] = way
        return found

    def _clearing_tests(self, table: str) -> list[_ClearingTest]:
        """The passed tests downstream of a suspect, on the columns that lead to what went wrong."""
        own = [column for (name, column) in self.nodes if name == table]
        kinds = {test.kind for test in self.symptom.failing}
        found = []
        for test, at in self.passing.items():
            ways = self.paths.upstream_of(test.node)
            tied = [ways[table, column] for column in own if (table, column) in ways]
            if not tied:
                continue
            way = min(tied, key=lambda one: (one.strength != DIRECT, one.strength == TABLE, one.hops))
            weight = PASSED[way.strength]
            if way.strength == DIRECT and test.kind in kinds:
                weight = PASSED_OF_THE_SAME_KIND
            found.append(_ClearingTest(at, _test_name(test), weight))
        return found


def _after(clearing: Iterable[_ClearingTest], evidence: Indication | None) -> list[_ClearingTest]:
    """The tests that passed after what happened; all where only a test tells: when it went wrong is not known then."""
    since = None if evidence is None or evidence.from_test else evidence.at
    return [one for one in clearing if since is None or one.at > since]


def _better(known: ColumnWay | None, way: ColumnWay) -> ColumnWay:
    if known is None:
        return way
    return min(known, way, key=lambda one: (*_rank(one), str(one.nodes)))


def _test_name(test: TestRecord) -> str:
    table, column = test.node
    return f"{test.name} of {table if column is None else f'{table}.{column}'}"
