"""The workflow's YAML, read once into frozen values."""

from workflows.config.load import load_config
from workflows.config.values import (
    EmbeddedCatalog,
    FilterPattern,
    Filters,
    OpenLineage,
    QueryLog,
    Register,
    RunConfig,
    Schedule,
    SchemaFile,
    Server,
    Source,
    SourceConnection,
    SourceKind,
    SparkHistory,
    SparkSettings,
    State,
    Steps,
    Tls,
)
from workflows.config.yaml.problems import ConfigProblem, InvalidConfig

__all__ = [
    "ConfigProblem",
    "EmbeddedCatalog",
    "FilterPattern",
    "Filters",
    "InvalidConfig",
    "OpenLineage",
    "QueryLog",
    "Register",
    "RunConfig",
    "Schedule",
    "SchemaFile",
    "Server",
    "Source",
    "SourceConnection",
    "SourceKind",
    "SparkHistory",
    "SparkSettings",
    "State",
    "Steps",
    "Tls",
    "load_config",
]
