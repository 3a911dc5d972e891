"""Why a table or a column is wrong: the facts around it are read from a catalog, and its suspects ranked."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.graph import table_hop
from connectors.catalog.questions.answer import Answer, When, moment_text
from connectors.catalog.questions.file import named_node, open_catalog
from connectors.catalog.questions.why._incidents import (
    by_table,
    definition_changes,
    failed_loads,
    has_usual_size,
    last_commit,
    late_loads,
    missing_loads,
    new_commits,
    unusual_sizes,
)
from connectors.catalog.questions.why.facts import (
    Incident,
    IncidentKind,
    LookBack,
    Symptom,
    TableKnowledge,
    TestOutcomeAt,
    TestRecord,
    TimeRange,
    UpstreamFacts,
    symptom_of,
)
from connectors.catalog.questions.why.ranking import rank_suspects
from connectors.catalog.questions.why.report import CauseReport, name_list, timeline
from connectors.catalog.store.database import now_millis
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of, reference_of
from connectors.catalog.store.entities.tests import QualityTest, quality_tests
from connectors.catalog.store.evidence.loads import (
    StoredLoad,
    WrittenVersion,
    first_commit,
    load_history,
    load_rhythm,
    observed_range,
    writes_into,
)
from connectors.catalog.store.evidence.table_changes import StoredChange, known_since, table_changes
from connectors.catalog.store.lineage import reads
from connectors.catalog.store.lineage.reads import ColumnDependency, Moment, dependencies_of
from connectors.catalog.store.lineage.window import DAY, DEFAULT_DAYS
from ingestion.errors import ConfigError
from ingestion.model.fqn import split_fqn
from ingestion.model.lineage import Json
from ingestion.model.moments import minute_text
from ingestion.walk import Budget, Hop, Walk

_MOST_TABLES = 2_000
_CUT = f"more than {_MOST_TABLES} tables are around it: those further away were left out"
_UNKNOWN_TYPE = "unknown"
_STATUSES = {"Success": True, "Failed": False}
_KINDS = {
    "added": (IncidentKind.TABLE_ADDED, IncidentKind.COLUMN_ADDED),
    "dropped": (IncidentKind.TABLE_DROPPED, IncidentKind.COLUMN_DROPPED),
    "retyped": (IncidentKind.TYPE, IncidentKind.TYPE),
    "renamed": (IncidentKind.COLUMN_RENAMED, IncidentKind.COLUMN_RENAMED),
    "redefined": (IncidentKind.DEFINITION, IncidentKind.DEFINITION),
}

_WORDS = re.compile(r"\w+")


# The facts around a table, read from a catalog's file.


@dataclass(frozen=True, slots=True)
class _Neighbourhood:
    """The tables upstream of one, and those that are made of them, by id with their names; and their edges.

    `references` are to the tables upstream, by their names.
    """

    names: Mapping[str, str]
    upstream: frozenset[str]
    edges: tuple[ColumnDependency, ...]
    cut: bool
    references: Mapping[str, Json]


def _neighbourhood(connection: Connection, start: str, moments: Iterable[Moment]) -> _Neighbourhood:
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
        for one in dependencies_of(view._replace(content={**view.content, "sql": ""}), names[source], names[target])
    ]
    return _Neighbourhood(names, frozenset(upstream), tuple(dict.fromkeys(edges)), cut_up or cut_down, references)


def _walk(
    connection: Connection,
    starts: set[str],
    moments: tuple[Moment, ...],
    views: dict[tuple[str, str], dict[int, reads.ContributionView]],
    *,
    upstream: bool,
) -> tuple[set[str], bool]:
    def hops(entities: Sequence[str]) -> Iterator[Hop[str, tuple[str, str]]]:
        for moment in moments:
            around = reads.contributions_around(connection, entities, upstream=upstream, moment=moment)
            for edge, found in around.items():
                views[edge].update({view.version_id: view for view in found})
                yield table_hop(edge, upstream=upstream)

    walk = Walk(starts, hops, Budget(nodes=_MOST_TABLES - 1)).finish()
    return set(walk.arrivals), walk.truncated


def _records_of_tests(connection: Connection, names: Mapping[str, str], until: int) -> tuple[TestRecord, ...]:
    """The tests of tables (by id, with their names) with what they told by `until` (milliseconds)."""
    return tuple(_record(test, names[test.table_id]) for test in quality_tests(connection, names, until))


def _record(test: QualityTest, table: str) -> TestRecord:
    outcomes = [
        TestOutcomeAt(int(one["timestamp"]), _STATUSES[one["testCaseStatus"]], one.get("failedRows"))
        for one in test.results
        if one["testCaseStatus"] in _STATUSES
    ]
    return TestRecord((table, test.path or None), test.name, test.definition, tuple(outcomes))


def _upstream_facts(
    connection: Connection, around: _Neighbourhood, tests: tuple[TestRecord, ...], window: TimeRange, earliest: int
) -> UpstreamFacts:
    """What is known of the tables upstream, from `earliest` (milliseconds) to the end of the `window`."""
    names, within = around.names, TimeRange(earliest, window.end)
    upstream = sorted(around.upstream)
    writes: dict[str, list[WrittenVersion]] = defaultdict(list)
    for one in writes_into(connection, names, window.end):
        named = _with_names(one, names)
        writes[named.to_id].append(named)
    # what a table does to itself, as a DELETE of old rows does, brings nothing in
    fed = {table: [one for one in found if one.from_id != one.to_id] for table, found in writes.items()}
    rhythms = {table: rhythm for table, found in fed.items() if (rhythm := load_rhythm(found)) is not None}
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
        found += new_commits(table, loads)
        incidents += [one for one in found if within.holds(one.at)]
    of_rhythms = late_loads(rhythms, _readers(around.edges), window)
    of_rhythms += missing_loads(rhythms, seen[1], within) if seen is not None else []
    incidents += [one for one in of_rhythms if one.table in wanted]
    tested = [test.node[0] for test in tests if test.outcomes]
    due = {table: rhythm.due for table, rhythm in rhythms.items()}
    commits = {names[identifier]: _last_commit(loads) for identifier, loads in loads_of.items()}
    tables = {
        table: TableKnowledge(
            bool(fed.get(table)), tested.count(table), due.get(table), table in usual, commits.get(table, "")
        )
        for table in sorted(wanted)
    }
    since = [moment for moment in (known_since(connection), seen[0] if seen else None) if moment is not None]
    read_until = seen[1] if seen else None
    return UpstreamFacts(around.edges, tuple(incidents), tests, tables, min(since, default=window.end), read_until)


def _last_commit(loads: Iterable[StoredLoad]) -> str:
    found = last_commit(loads)
    return "" if found is None else f"{found.commit}, at {minute_text(found.at)}"


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


# The search: facts collected, suspects ranked.


def cause_report(connection: Connection, node: tuple[EntityRow, str | None], when: When) -> Answer[CauseReport]:
    """Why the `node`, a table or the column of it at a path, is wrong at a moment, by what happened in the days before.

    Raises ConfigError for a moment of which nothing is known.
    """
    row, path = node
    now = now_millis()
    at = now if when.as_of is None else when.as_of
    days = DEFAULT_DAYS if when.days is None else when.days
    back = LookBack(_beginning(connection, at, now), days)
    symptom = symptom_of((str(row.fqn), path), at, back, _records_of_tests(connection, {row.id: row.fqn}, at))
    window = symptom.window
    looked_at = sorted({at, window.start, window.end})
    moments = [Moment(moment, moment - days * DAY if days else None) for moment in looked_at]
    around = _neighbourhood(connection, row.id, moments)
    tests = _records_of_tests(connection, around.names, symptom.at)
    facts = _upstream_facts(connection, around, tests, window, back.earliest(window.end))
    suspects = rank_suspects(symptom, facts)
    upstream = frozenset(around.names[identifier] for identifier in around.upstream)
    cut = (_CUT,) if around.cut else ()
    unknown = (*_gaps(symptom, facts), *cut)
    report = CauseReport(symptom, suspects, tuple(timeline(symptom, facts, upstream)), unknown, around.references)
    return Answer(report, cut)


def _beginning(connection: Connection, at: int, now: int) -> int:
    """Since when anything is known. Raises ConfigError where that is after the moment that is asked about."""
    if at > now:
        raise ConfigError(f"{moment_text(at)} has not come yet: leave the moment out to ask about now")
    seen = observed_range(connection, now)
    known = (known_since(connection), seen[0] if seen else None, first_commit(connection))
    begun = [one for one in known if one is not None]
    if not begun:
        raise ConfigError("this catalog has no history: `ingest run` fills it, and each run after it adds to it")
    if at < min(begun):
        raise ConfigError(f"nothing is known of {moment_text(at)}: this catalog begins at {moment_text(min(begun))}")
    return min(begun)


def _gaps(symptom: Symptom, facts: UpstreamFacts) -> Iterator[str]:
    window = symptom.window
    if symptom.failing and all((test.last_pass or 0) < facts.known_since for test in symptom.failing):
        yield f"none of its failing tests passed after {moment_text(facts.known_since)}, before which nothing is known"
    until = facts.read_until
    if until is None:
        yield "no statement is seen to run: what was loaded, and when, is not told"
    else:
        waiting = [t for t, one in facts.tables.items() if one.due is not None and until < one.due <= window.end]
        if waiting or until <= window.start:
            loads = f", nor whether {name_list(tuple(waiting))} came" if waiting else ""
            yield f"nothing tells what ran after {moment_text(until)}{loads}"
    unseen = sorted(table for table, one in facts.tables.items() if not one.written)
    for table in unseen:
        commit = facts.tables[table].commit
        if commit:
            yield f"{table} is written by nothing that is known here: its last commit is {commit}"
    dark = [table for table in unseen if not facts.tables[table].tests and not facts.tables[table].commit]
    if dark:
        into = name_list(tuple(dark))
        yield f"nothing tells what came into {into}: no statement that fills it from others, no result of a test"


# Statements that were given up on: what they did to the tables that they name is not known.


def unread_statements(file: Path, tables: Iterable[str], within: TimeRange) -> Iterator[str]:
    """A sentence for each table (full name) that dead letters of that time name, with their reasons.

    A dead letter without a time counts as well. Raises ConfigError for a file that is none of dead letters.
    """
    dead_letters = [letter for letter in _dead_letters(file) if not letter[0] or within.holds(letter[0])]
    for table in sorted(tables):
        name = split_fqn(table)[-1].casefold()
        reasons = Counter(reason for _, reason, words in dead_letters if name in words)
        if reasons:
            of_what = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            yield f"statements that name {table} could not be read ({of_what}): what they did is not told"


def _dead_letters(file: Path) -> Iterator[tuple[int, str, frozenset[str]]]:
    """Of each its time (milliseconds, 0 where it has none), its reason, and the words of its masked text."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        for line in lines:
            letter = json.loads(line)
            words = frozenset(_WORDS.findall(str(letter.get("masked") or "").casefold()))
            yield round(float(letter.get("time") or 0) * 1000), str(letter["reason"]), words
    except OSError as error:
        raise ConfigError(f"--dead-letters {file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ConfigError(f"--dead-letters {file} is no file of dead letters, as a run writes it") from None


# `why`: the causes of what is wrong, asked of a catalog's file by a name.


def causes_in_file(file: Path, name: str, when: When, dead_letters: Path | None = None) -> Answer[CauseReport]:
    """Why a table or column of a catalog's file is wrong; `dead_letters` are what runs gave up on.

    Raises ConfigError for a name that is not there, or not just one, and for a moment of which nothing is known.
    """
    with open_catalog(file) as connection:
        answer = cause_report(connection, named_node(connection, name), when)
    if dead_letters is None:
        return answer
    report = answer.content
    unread = unread_statements(dead_letters, [one.table for one in report.suspects], report.symptom.window)
    return replace(answer, content=replace(report, unknown=(*report.unknown, *unread)))
