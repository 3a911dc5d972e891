"""The facts around a table, read from a catalog's file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from connectors.catalog.causes.definition_changes import definition_changes
from connectors.catalog.causes.facts import (
    Incident,
    IncidentKind,
    TableKnowledge,
    TestOutcomeAt,
    TestRecord,
    TimeRange,
    UpstreamFacts,
)
from connectors.catalog.causes.failed_loads import failed_loads
from connectors.catalog.causes.loads import late_loads, missing_loads
from connectors.catalog.causes.volume import by_table, has_usual_size, unusual_sizes
from connectors.catalog.store.entities.entities import any_rows_of, reference_of
from connectors.catalog.store.evidence.column_dependencies import ColumnDependency, dependencies_of
from connectors.catalog.store.evidence.load_history import load_history
from connectors.catalog.store.evidence.load_rhythm import load_rhythm
from connectors.catalog.store.evidence.quality_results import QualityTest, quality_tests
from connectors.catalog.store.evidence.table_changes import StoredChange, known_since, table_changes
from connectors.catalog.store.evidence.writes import WrittenVersion, observed_range, writes_into
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import Moment
from ingestion.model import Json

MOST_TABLES = 2_000
_UNKNOWN_TYPE = "unknown"
_STATUSES = {"Success": True, "Failed": False}
_KINDS = {
    "added": (IncidentKind.TABLE_ADDED, IncidentKind.COLUMN_ADDED),
    "dropped": (IncidentKind.TABLE_DROPPED, IncidentKind.COLUMN_DROPPED),
    "retyped": (IncidentKind.TYPE, IncidentKind.TYPE),
    "renamed": (IncidentKind.COLUMN_RENAMED, IncidentKind.COLUMN_RENAMED),
    "redefined": (IncidentKind.DEFINITION, IncidentKind.DEFINITION),
}


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The tables upstream of one, and those that are made of them, by id with their names; and their edges.

    `references` are to the tables upstream, by their names.
    """

    names: Mapping[str, str]
    upstream: frozenset[str]
    edges: tuple[ColumnDependency, ...]
    cut: bool
    references: Mapping[str, Json]


def neighbourhood(connection: Connection, start: str, moments: Iterable[Moment]) -> Neighbourhood:
    """What lies upstream of an entity at any of the moments, and what else is made directly or later of that."""
    views: dict[tuple[str, str], dict[int, reads.ContributionView]] = defaultdict(dict)
    chosen = tuple(moments)
    upstream, cut_up = _walk(connection, {start}, chosen, views, upstream=True)
    around, cut_down = _walk(connection, upstream, chosen, views, upstream=False)
    rows = any_rows_of(connection, upstream | around)
    names = {key: str(row.fqn) for key, row in rows.items()}
    references = {names[key]: reference_of(row) for key, row in rows.items() if key in upstream}
    edges = [
        one
        for (source, target), found in views.items()
        if source in names and target in names
        for view in found.values()
        for one in dependencies_of(replace(view, content={**view.content, "sql": ""}), names[source], names[target])
    ]
    return Neighbourhood(names, frozenset(upstream), tuple(dict.fromkeys(edges)), cut_up or cut_down, references)


def _walk(
    connection: Connection,
    starts: set[str],
    moments: tuple[Moment, ...],
    views: dict[tuple[str, str], dict[int, reads.ContributionView]],
    *,
    upstream: bool,
) -> tuple[set[str], bool]:
    seen, frontier = set(starts), set(starts)
    while frontier and len(seen) < MOST_TABLES:
        following: set[str] = set()
        for moment in moments:
            for edge, found in reads.contributions_around(
                connection, frontier, upstream=upstream, moment=moment
            ).items():
                views[edge].update({view.version_id: view for view in found})
                following.add(edge[0 if upstream else 1])
        frontier = following - seen
        seen |= frontier
    return seen, bool(frontier)


def records_of_tests(connection: Connection, names: Mapping[str, str], until: int) -> tuple[TestRecord, ...]:
    """The tests of tables (by id, with their names) with what they told by `until` (milliseconds)."""
    return tuple(_record(test, names[test.table_id]) for test in quality_tests(connection, names, until))


def _record(test: QualityTest, table: str) -> TestRecord:
    outcomes = [
        TestOutcomeAt(int(one["timestamp"]), _STATUSES[one["testCaseStatus"]], one.get("failedRows"))
        for one in test.results
        if one["testCaseStatus"] in _STATUSES
    ]
    return TestRecord((table, test.path or None), test.name, test.definition, tuple(outcomes))


def upstream_facts(
    connection: Connection, around: Neighbourhood, tests: tuple[TestRecord, ...], window: TimeRange, earliest: int
) -> UpstreamFacts:
    """What is known of the tables upstream, from `earliest` (milliseconds) to the end of the `window`."""
    names, within = around.names, TimeRange(earliest, window.end)
    upstream = sorted(around.upstream)
    writes: dict[str, list[WrittenVersion]] = defaultdict(list)
    for one in writes_into(connection, names, window.end):
        named = _with_names(one, names)
        writes[named.to_id].append(named)
    rhythms = {table: rhythm for table, found in writes.items() if (rhythm := load_rhythm(found)) is not None}
    seen = observed_range(connection, window.end)
    wanted = {names[identifier] for identifier in upstream}
    incidents = [_incident(change, names) for change in table_changes(connection, upstream, earliest, window.end)]
    for table in sorted(wanted):
        incidents += definition_changes(table, writes.get(table, ()), within)
    loads_of = by_table(load_history(connection, upstream, window.end))
    usual = {names[identifier] for identifier, loads in loads_of.items() if has_usual_size(loads, window)}
    for identifier, loads in loads_of.items():
        table = names[identifier]
        found = [*unusual_sizes(table, loads), *failed_loads(table, loads, writes.get(table, ()), window)]
        incidents += [one for one in found if within.holds(one.at)]
    of_rhythms = late_loads(rhythms, _readers(around.edges), window)
    of_rhythms += missing_loads(rhythms, seen[1], within) if seen is not None else []
    incidents += [one for one in of_rhythms if one.table in wanted]
    tested = [test.node[0] for test in tests if test.outcomes]
    due = {table: rhythm.due for table, rhythm in rhythms.items()}
    tables = {t: TableKnowledge(bool(writes.get(t)), tested.count(t), due.get(t), t in usual) for t in sorted(wanted)}
    since = [moment for moment in (known_since(connection), seen[0] if seen else None) if moment is not None]
    read_until = seen[1] if seen else None
    return UpstreamFacts(around.edges, tuple(incidents), tests, tables, min(since, default=window.end), read_until)


def _readers(edges: Iterable[ColumnDependency]) -> dict[str, set[str]]:
    """The tables that read each."""
    found: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        found[edge.source[0]].add(edge.target[0])
    return found


def _with_names(one: WrittenVersion, names: Mapping[str, str]) -> WrittenVersion:
    return replace(one, from_id=names.get(one.from_id, one.from_id), to_id=names[one.to_id])


def _incident(change: StoredChange, names: Mapping[str, str]) -> Incident:
    of_table, of_column = _KINDS[change.kind]
    detail = " -> ".join(one for one in (change.before, change.after) if one not in ("", _UNKNOWN_TYPE))
    columns = (change.path,) if change.path else ()
    return Incident(change.at, names[change.entity_id], of_column if change.path else of_table, columns, detail)
