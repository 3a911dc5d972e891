"""The workflow's YAML, read once into frozen models, which are the values that a run goes by."""

from workflows.config.load import load_config
from workflows.config.models.headwater import Schedule, SchemaFile, SparkSettings, StaleEdges, State
from workflows.config.models.run_config import RunConfig
from workflows.config.models.server import EmbeddedCatalog, Server, SslConfig
from workflows.config.models.source import SourceConnection
from workflows.config.yaml.document import ConfigProblem, InvalidConfig

__all__ = [
    "ConfigProblem",
    "EmbeddedCatalog",
    "InvalidConfig",
    "RunConfig",
    "Schedule",
    "SchemaFile",
    "Server",
    "SourceConnection",
    "SparkSettings",
    "SslConfig",
    "StaleEdges",
    "State",
    "load_config",
]
