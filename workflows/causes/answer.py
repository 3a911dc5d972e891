"""`why`: the causes of what is wrong, asked of a catalog's file by a name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection

from connectors.catalog.causes.cause_search import MomentAsked, cause_report
from connectors.catalog.causes.report import CauseReport
from connectors.catalog.local_queries import When, named_node, open_catalog
from workflows.causes.unread_statements import unread_statements


def causes_in_file(file: Path, name: str, when: When, dead_letters: Path | None = None) -> CauseReport:
    """Why a table or column of a catalog's file is wrong; `dead_letters` are what runs gave up on.

    Raises ConfigError for a name that is not there, or not just one, and for a moment of which nothing is known.
    """
    with open_catalog(file) as connection:
        report = causes(connection, name, when)
    if dead_letters is None:
        return report
    tables = [one.table for one in report.suspects]
    unread = unread_statements(dead_letters, tables, report.symptom.window)
    return replace(report, unknown=(*report.unknown, *unread))


def causes(connection: Connection, name: str, when: When) -> CauseReport:
    """The same of an open catalog, as it was at the moment of `when`."""
    return cause_report(connection, named_node(connection, name), MomentAsked(when.as_of, when.days))
