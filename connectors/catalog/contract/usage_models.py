# ruff: noqa: N815 — the names are the wire's
"""What clients may send of how data is used: counts, joins, rows."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import Field

from connectors.catalog.contract.models import Count, Fqn, Many, Name, Stored


class DailyCount(Stored):
    """How often something was used on a day."""

    date: date
    count: Count


class JoinedWith(Stored):
    """What something is joined with, and how often."""

    fullyQualifiedName: Fqn
    joinCount: Count


class ColumnJoins(Stored):
    """What a column is joined with."""

    columnName: Name
    joinedWith: Many[JoinedWith] = []


class TableJoins(Stored):
    """What a table and its columns are joined with on the day `startDate`."""

    startDate: date
    dayCount: Count | None = None
    columnJoins: Many[ColumnJoins] | None = None
    directTableJoins: Many[JoinedWith] | None = None


class Rows(Stored):
    """Some rows of a table."""

    columns: Annotated[Many[Fqn], Field(max_length=20_000)] | None = None
    rows: Annotated[Many[Many[Any]], Field(max_length=10_000)] | None = None
