"""The workflow's YAML, read once into frozen values."""

from workflows.config.load import load_config
from workflows.config.problems import InvalidConfig, Problem
from workflows.config.values import (
    Connection,
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
    SourceKind,
    SparkHistory,
    SparkSettings,
    State,
    Steps,
    Tls,
)

__all__ = [
    "Connection",
    "EmbeddedCatalog",
    "FilterPattern",
    "Filters",
    "InvalidConfig",
    "OpenLineage",
    "Problem",
    "QueryLog",
    "Register",
    "RunConfig",
    "Schedule",
    "SchemaFile",
    "Server",
    "Source",
    "SourceKind",
    "SparkHistory",
    "SparkSettings",
    "State",
    "Steps",
    "Tls",
    "load_config",
]
