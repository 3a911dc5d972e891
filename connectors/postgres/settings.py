"""A live PostgreSQL: the keys of its connection are OpenMetadata's own, and taken as they come."""

from __future__ import annotations

from connectors.source_settings import LineageConfig

SETTINGS = LineageConfig
