"""What the names of a log mean where it does not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingestion.dialects import Dialect, dialect_of, fold
from ingestion.errors import ConfigError
from ingestion.model.entities import TableEntity
from ingestion.model.namespaces import Namespace, NamespaceDefaults
from workflows.config.models.run_config import RunConfig

DEFAULT_DATABASE = "default"
"""Where names stand of which nothing tells the database, as OpenMetadata's own connectors have it."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """What the names of the log mean where it does not say, and which lineage is wanted.

    `two_level`: the platform has no schemas below databases, so a session's database is what stands for a schema.
    `dbt_models`: definitions that no log has are models of a dbt project. `assets`: the charts and the like that names
    of the source mean, by the parts of these.
    """

    default_database: str
    default_schema: str
    two_level: bool = False
    views: bool = True
    queries: bool = True
    override_views: bool = True
    inline_temporary: bool = True
    supersede_rewritten: bool = True
    dbt_models: bool = False
    assets: Mapping[tuple[str, ...], TableEntity] = field(default_factory=dict)

    @property
    def defaults(self) -> NamespaceDefaults:
        """What a session begins with where the log does not say."""
        return NamespaceDefaults(self.default_database, self.default_schema, self.two_level)

    @property
    def guessed_database(self) -> str:
        """The default database where nobody named one; "" where one is named, or there is only this one."""
        return DEFAULT_DATABASE if self.default_database == DEFAULT_DATABASE and not self.two_level else ""


def dialect_name(config: RunConfig) -> str:
    """The SQL of the source. Raises ConfigError where nothing says what it is."""
    if config.source.dialect is None:
        raise ConfigError(f"{config.origin}: set source.serviceConnection.config.type, which says what the SQL is")
    return config.source.dialect


def source_settings(config: RunConfig, live_database: str | None) -> SourceSettings:
    """What names mean by the configuration; `live_database` stands for the default one where none is configured.

    Raises ConfigError where nothing says what the SQL of the source is.
    """
    dialect = dialect_of(dialect_name(config))
    return SourceSettings(
        default_database=_fold(config.headwater.defaults.database, dialect) or live_database or DEFAULT_DATABASE,
        default_schema=_fold(config.headwater.defaults.schema_, dialect) or dialect.default_schema,
        two_level=dialect.two_level,
        views=config.lineage.process_view_lineage,
        queries=config.lineage.process_query_lineage,
        override_views=config.lineage.override_view_lineage,
        inline_temporary=config.lineage.enable_temp_table_lineage,
        supersede_rewritten=config.headwater.supersede_rewritten,
        dbt_models=config.dbt is not None,
    )


def _fold(name: str | None, dialect: Dialect) -> str:
    """A name as it is stored, which a dialect folds where quotes make no difference."""
    return fold(name, dialect, quoted=True) if name else ""


def namespace_of(database: str, search_path: tuple[str, ...], settings: SourceSettings) -> Namespace:
    """The namespace of a session with this `database` and `search_path`, each "" or () where the log leaves it out."""
    return settings.defaults.namespace(database, search_path)
