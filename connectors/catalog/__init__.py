"""The embedded catalog: a metadata platform's REST API for lineage over one SQLite file."""

from __future__ import annotations

from pathlib import Path

DEFAULT_CATALOG = Path(".headwater/catalog.db")
"""The catalog that is meant where nobody names one."""
