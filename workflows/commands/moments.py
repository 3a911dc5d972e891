"""What the commands that ask a catalog have in common: where it is by default, and how a moment is given."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

DEFAULT_CATALOG = Path(".headwater/catalog.db")
FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]

AsOf = Annotated[datetime | None, typer.Option("--as-of", help="As it was then (UTC).", formats=FORMATS)]
Days = Annotated[int | None, typer.Option(min=0, help="Observations of so many days; 0 is any age.")]


def millis(moment: datetime) -> int:
    """A moment of the command line, which is in UTC, as milliseconds since the epoch."""
    return int(moment.replace(tzinfo=UTC).timestamp() * 1000)
