"""Why a table is wrong: the facts around it are collected, and its suspects ranked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection

from connectors.catalog.causes.collection import (
    MOST_TABLES,
    Neighbourhood,
    neighbourhood,
    records_of_tests,
    upstream_facts,
)
from connectors.catalog.causes.facts import UpstreamFacts
from connectors.catalog.causes.question import LookBack, Symptom, symptom_of
from connectors.catalog.causes.ranking import rank_suspects
from connectors.catalog.causes.report import CauseReport, moment_text, name_list, timeline
from connectors.catalog.store.clock import now_millis
from connectors.catalog.store.entities.entities import EntityRow
from connectors.catalog.store.evidence.table_changes import known_since
from connectors.catalog.store.evidence.writes import observed_range
from connectors.catalog.store.lineage.reads import Moment
from connectors.catalog.store.queries.window import DAY, DEFAULT_DAYS
from ingestion.errors import ConfigError


@dataclass(frozen=True, slots=True)
class MomentAsked:
    """`as_of` in milliseconds, None for now; how many `days` are looked back: None for 30, 0 for all that is known."""

    as_of: int | None = None
    days: int | None = None


def cause_report(connection: Connection, node: tuple[EntityRow, str | None], when: MomentAsked) -> CauseReport:
    """Why the `node`, a table or the column of it at a path, is wrong.

    Raises ConfigError for a moment of which nothing is known.
    """
    row, path = node
    now = now_millis()
    at = now if when.as_of is None else when.as_of
    days = DEFAULT_DAYS if when.days is None else when.days
    back = LookBack(_beginning(connection, at, now), days)
    symptom = symptom_of((str(row.fqn), path), at, back, records_of_tests(connection, {row.id: row.fqn}, at))
    window = symptom.window
    looked_at = sorted({at, window.start, window.end})
    moments = [Moment(moment, moment - days * DAY if days else None) for moment in looked_at]
    around = neighbourhood(connection, row.id, moments)
    tests = records_of_tests(connection, around.names, symptom.at)
    facts = upstream_facts(connection, around, tests, window, back.earliest(window.end))
    suspects = rank_suspects(symptom, facts)
    upstream = frozenset(around.names[identifier] for identifier in around.upstream)
    unknown = tuple(_gaps(symptom, facts, around))
    return CauseReport(symptom, suspects, tuple(timeline(symptom, facts, upstream)), unknown, around.references)


def _beginning(connection: Connection, at: int, now: int) -> int:
    """Since when anything is known. Raises ConfigError where that is after the moment that is asked about."""
    if at > now:
        raise ConfigError(f"{moment_text(at)} has not come yet: leave the moment out to ask about now")
    seen = observed_range(connection, now)
    begun = [one for one in (known_since(connection), seen[0] if seen else None) if one is not None]
    if not begun:
        raise ConfigError("this catalog has no history: `ingest run` fills it, and each run after it adds to it")
    if at < min(begun):
        raise ConfigError(f"nothing is known of {moment_text(at)}: this catalog begins at {moment_text(min(begun))}")
    return min(begun)


def _gaps(symptom: Symptom, facts: UpstreamFacts, around: Neighbourhood) -> Iterator[str]:
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
    dark = sorted(table for table, one in facts.tables.items() if not one.written and not one.tests)
    if dark:
        yield f"nothing tells what came into {name_list(tuple(dark))}: no statement that writes, no result of a test"
    if around.cut:
        yield f"more than {MOST_TABLES} tables are around it: those further away were left out"
