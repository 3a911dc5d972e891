"""The ranking of suspects: a function of the symptom and the facts, and of nothing else.

A suspect is a table upstream. What happened to it counts by its kind, by how it is tied to what went wrong, and by
whether it happened between the last pass and the first failure. What is the consequence of something further upstream
counts less, and so does all of it where tests downstream of the suspect passed after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from connectors.catalog.causes.column_paths import DIRECT, INDIRECT, TABLE, ColumnWay, UpstreamPaths
from connectors.catalog.causes.facts import CONSEQUENCES, Incident, IncidentKind, TestRecord, UpstreamFacts
from connectors.catalog.causes.question import Symptom
from ingestion.policies.values import ColumnNode

_KINDS: Mapping[IncidentKind, float] = {
    IncidentKind.DEFINITION: 3.0,
    IncidentKind.NEW_WRITER: 2.0,
    IncidentKind.TYPE: 3.2,
    IncidentKind.COLUMN_DROPPED: 3.2,
    IncidentKind.COLUMN_RENAMED: 3.0,
    IncidentKind.TABLE_DROPPED: 3.0,
    IncidentKind.LOAD_FAILED: 3.0,
    IncidentKind.LOAD_MISSING: 3.0,
    IncidentKind.LOAD_LATE: 2.5,
    IncidentKind.FEWER_ROWS: 2.5,
    IncidentKind.MORE_ROWS: 2.0,
}
"""What is not here, such as a column that was added, is told in the timeline alone."""
_TIES = {DIRECT: 1.0, INDIRECT: 0.7, TABLE: 0.4}
_OFF_THE_PATH = 0.25
"""Of a change of columns that do not lead to what went wrong."""
_BEFORE_THE_LAST_PASS = 0.15
_FAILING_TEST = 1.6
_CONSEQUENCE = 0.3
_OTHER_FAILURES = 0.6
"""How much of the weight hangs on how many of the failing tests a suspect explains."""
_SILENT = 0.3
"""Of a table where nothing is known to have happened: among those the ones that more failing tests depend on."""
_PASSED = {DIRECT: 0.5, INDIRECT: 0.2, TABLE: 0.1}
_PASSED_OF_THE_SAME_KIND = 1.0
"""How much a passed test downstream counts beside the failing ones."""
_CLEARED = 0.7
"""What is taken away of a suspect downstream of which all tests passed."""


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
        return cls(symptom, facts, paths, ways, nodes, {t: tuple(i) for t, i in incidents.items()}, failing, passing)

    def suspects(self) -> tuple[Suspect, ...]:
        found = (self._suspect(table) for table in self.ways)
        return tuple(sorted(found, key=lambda one: (-one.score, one.way.hops, one.table)))

    def _suspect(self, table: str) -> Suspect:
        evidence = self._evidence(table)
        clearing = self._clearing_tests(table)
        weights = sorted((one.weight * self._share_kept(table, clearing, one) for one in evidence), reverse=True)
        weight = weights[0] + 0.15 * sum(weights[1:]) if weights else _SILENT * _TIES[self.ways[table].strength]
        if not evidence:
            weight *= self._share_kept(table, clearing, None)
        cleared = {one.name for of in evidence or (None,) for one in _after(clearing, of)}
        failing = tuple(_test_name(test) for test in self.failing if test.node[0] == table)
        score = round(weight * self._coverage(table), 4)
        return Suspect(table, score, self.ways[table], evidence, tuple(sorted(cleared)), failing)

    def _share_kept(self, table: str, clearing: Iterable[_ClearingTest], evidence: Indication | None) -> float:
        """What the tests that passed since then leave of the weight of what speaks against a suspect."""
        passed = sum(one.weight for one in _after(clearing, evidence))
        failed = sum(_TIES[way.strength] for way in self._ways_to_tests(table, self.failing).values())
        return 1.0 - _CLEARED * passed / (passed + failed) if passed else 1.0

    def _evidence(self, table: str) -> tuple[Indication, ...]:
        found = [self._of_incident(one) for one in self.incidents.get(table, ()) if one.kind in _KINDS]
        failing = [test for test in self.failing if test.node[0] == table]
        if failing:
            explained = self._has_cause_upstream(table, tests=True)
            weight = _FAILING_TEST * (_CONSEQUENCE if explained else 1.0) * _TIES[self.ways[table].strength]
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
        weight = _KINDS[one.kind] * self._tie(one)
        if not self.symptom.window.holds(one.at):
            weight *= _BEFORE_THE_LAST_PASS
        if one.kind in CONSEQUENCES and self._has_cause_upstream(one.table, tests=False):
            weight *= _CONSEQUENCE
        return Indication(one.at, one.text, round(weight, 4), columns=one.columns)

    def _tie(self, one: Incident) -> float:
        if not one.columns:
            return _TIES[self.ways[one.table].strength]
        touched = [self.nodes[node] for column in one.columns if (node := (one.table, column)) in self.nodes]
        if not touched and (one.table, None) in self.symptom.nodes:
            return 1.0
        return max((_TIES[way.strength] for way in touched), default=_OFF_THE_PATH)

    def _has_cause_upstream(self, table: str, *, tests: bool) -> bool:
        """Whether something happened upstream of a table that may be why its own tests fail, or its load is missing."""
        for other, way in self.paths.tables_upstream_of((table, None)).items():
            if other == table or other not in self.ways:
                continue
            happened = any(
                one.kind in _KINDS and self.symptom.window.holds(one.at) for one in self.incidents.get(other, ())
            )
            failing = tests and way.strength != TABLE and any(test.node[0] == other for test in self.failing)
            if happened or failing:
                return True
        return False

    def _coverage(self, table: str) -> float:
        """How many of the failing tests lie downstream of a suspect, as a factor."""
        if not self.failing:
            return 1.0
        reached = sum(_TIES[way.strength] for way in self._ways_to_tests(table, self.failing).values())
        best = max(
            sum(_TIES[way.strength] for way in self._ways_to_tests(other, self.failing).values()) for other in self.ways
        )
        return 1.0 - _OTHER_FAILURES * (1.0 - reached / best) if best else 1.0

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
            weight = _PASSED[way.strength]
            if way.strength == DIRECT and test.kind in kinds:
                weight = _PASSED_OF_THE_SAME_KIND
            found.append(_ClearingTest(at, _test_name(test), weight))
        return found


def _after(clearing: Iterable[_ClearingTest], evidence: Indication | None) -> list[_ClearingTest]:
    """The tests that passed after what happened; all where only a test tells: when it went wrong is not known then."""
    since = None if evidence is None or evidence.from_test else evidence.at
    return [one for one in clearing if since is None or one.at > since]


def _better(known: ColumnWay | None, way: ColumnWay) -> ColumnWay:
    order = (DIRECT, INDIRECT, TABLE)
    if known is None:
        return way
    return min(known, way, key=lambda one: (order.index(one.strength), one.hops, str(one.nodes)))


def _test_name(test: TestRecord) -> str:
    table, column = test.node
    return f"{test.name} of {table if column is None else f'{table}.{column}'}"
