"""Moments, which are seconds since the epoch everywhere inside, as they are told."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_time(moment: float) -> str:
    """A moment as people and programs read it, in UTC and to the millisecond: `2026-01-01T00:00:00.000+00:00`."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
