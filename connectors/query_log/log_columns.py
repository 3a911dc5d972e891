"""What a run's configuration says of a query log's columns, beside what these say themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

KEYS: Mapping[str, str] = {"start_time": "time", "end_time": "endTime", "failure": "error", "query_type": "type"}
"""What a record's fields are called in the YAML, where that is another name."""

SECONDS_PER_UNIT: Mapping[str, float] = {
    "": 1.0, "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0,
    "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3, "millis": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
    "us": 1e-6, "µs": 1e-6, "usec": 1e-6, "micros": 1e-6, "microsecond": 1e-6, "microseconds": 1e-6,
    "ns": 1e-9, "nanos": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
    "ps": 1e-12, "picos": 1e-12, "picosecond": 1e-12, "picoseconds": 1e-12,
    "m": 60.0, "min": 60.0, "minute": 60.0, "minutes": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0,
}  # fmt: skip
"""Seconds in one unit, by the names that columns, values and the YAML have for it."""


@dataclass(frozen=True, slots=True)
class LogColumn:
    """Where the user says that a record's field is: in a column, or nowhere, since all records have one `value` of it.

    `unit`: seconds in one unit of its numbers. `zone`: of its times that name none.
    """

    column: str | None = None
    value: str | None = None
    unit: float | None = None
    zone: tzinfo | None = None
