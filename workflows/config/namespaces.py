"""What the names of a log mean where it does not say."""

from __future__ import annotations

from dataclasses import dataclass

from ingestion.names.namespaces import Namespace


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """What the names of the log mean where it does not say, and which lineage is wanted.

    `two_level`: the platform has no schemas below databases, so a session's database is what stands for a schema.
    """

    default_database: str
    default_schema: str
    two_level: bool = False
    views: bool = True
    queries: bool = True
    override_views: bool = True
    fold_temporary: bool = True


def namespace_of(database: str, search_path: tuple[str, ...], settings: SourceSettings) -> Namespace:
    """A session's namespace, with the configured defaults for what the log leaves out."""
    path = search_path or ((settings.default_schema,) if settings.default_schema else ())
    if settings.two_level:
        return Namespace(settings.default_database, search_path or ((database,) if database else path))
    return Namespace(database or settings.default_database, path)
