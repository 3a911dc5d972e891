"""What a run is given: the configuration, checked, complete and frozen. Secrets stay inside SecretStr."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import SecretStr

from connectors.dbt.artifact_locations import ArtifactLocation
from connectors.log_columns import LogColumn
from connectors.sinks import ConfiguredSink
from ingestion.model.engine_names import EngineNameRules
from ingestion.parsing._tiers import Parser
from ingestion.parsing.sandbox.process import Limits

_DAYS_KEPT = 31
"""Of a log that is read whole; a month's export fits."""


class SourceKind(StrEnum):
    """Where lineage is read from."""

    QUERY_LOG = "query-log"
    SPARK_HISTORY = "spark-history"
    DBT = "dbt"
    DATABASE = "database"  # a connection type: its views and procedures, its log where it can be read


class Register(StrEnum):
    """Whether tables that the catalog lacks are made in it."""

    AUTO = "auto"  # in the embedded catalog only
    NEVER = "never"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class SourceConnection:
    """How to reach a source. `options` has the connector's own keys as the YAML has them, secrets in clear."""

    type: str
    dialect: str
    options: Mapping[str, object] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Source:
    """`connection` is None where the catalog's service has to say what it is; then so is `dialect`."""

    kind: SourceKind
    type: str
    service: str
    connection: SourceConnection | None = None

    @property
    def dialect(self) -> str | None:
        return self.connection.dialect if self.connection else None


@dataclass(frozen=True, slots=True)
class FilterPattern:
    """Regular expressions over names, matched from their start, case ignored; an exclude outweighs an include."""

    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    def allows(self, name: str) -> bool:
        if any(re.match(pattern, name, re.IGNORECASE) for pattern in self.excludes):
            return False
        return not self.includes or any(re.match(pattern, name, re.IGNORECASE) for pattern in self.includes)


@dataclass(frozen=True, slots=True)
class Filters:
    database: FilterPattern = FilterPattern()
    schema: FilterPattern = FilterPattern()
    table: FilterPattern = FilterPattern()
    stored_procedure: FilterPattern = FilterPattern()
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class QueryLog:
    """Where the log is: `path` (a file, a directory, a glob or a URI), `table` or `jdbc`; the database's own, if none.

    `days`: the window, up to the newest record; None: all of it. `jdbc` has Spark's options, secrets in clear.
    """

    path: str | None = None
    days: int | None = None
    limit: int = 100_000
    timezone: str = "UTC"
    columns: Mapping[str, LogColumn] = field(default_factory=dict)
    table: str | None = None
    jdbc: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_given(self) -> bool:
        return self.path is not None or self.table is not None or bool(self.jdbc)

    @property
    def place(self) -> str | None:
        """What to call the place of the log."""
        return self.path or self.table or (f"jdbc {self.jdbc.get('dbtable', 'query')}" if self.jdbc else None)

    @property
    def days_kept(self) -> int:
        """How much of what was read is remembered, to bind later records with."""
        return self.days or _DAYS_KEPT


@dataclass(frozen=True, slots=True)
class SparkHistory:
    """Exactly one of `directory` and `server` is set; `since` has a time zone."""

    directory: str | None = None
    server: str | None = None
    since: datetime | None = None
    status: str = "all"


@dataclass(frozen=True, slots=True)
class DbtArtifacts:
    """`project` is a manifest.json or a project's folder; `classification` is that of dbt's tags, None for no tags.

    Where they lie `elsewhere`, there are no files before they are copied.
    """

    project: Path = Path()
    catalog: Path | None = None
    run_results: Path | None = None
    sources: Path | None = None
    overwrite_descriptions: bool = False
    overwrite_owners: bool = False
    classification: str | None = "dbtTags"
    elsewhere: ArtifactLocation | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """Which lineage is made, and how."""

    views: bool = True
    queries: bool = True
    procedures: bool = True
    override_views: bool = True
    temp_tables: bool = True
    incremental: bool = True
    cross_services: tuple[str, ...] = ()  # empty unless cross-database lineage is on
    entities: bool = False  # SELECTs are taken apart into metrics


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """DDL on disk; `database` and `schema` qualify what it leaves bare."""

    path: Path
    database: str | None = None
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class EmbeddedCatalog:
    """`port` 0 takes a free one; without a token it asks for none."""

    file: Path
    port: int = 0
    token: SecretStr | None = None


@dataclass(frozen=True, slots=True)
class Tls:
    """`ca_certificate`, `certificate` and `key` are PEM files."""

    verify: bool = True
    ca_certificate: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A metadata server's API: `url` ends in /api; `token` is the token or the path of a file that holds it."""

    url: str
    token: SecretStr
    tls: Tls = Tls()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    check_version: bool = True


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """`conf` may hold secrets, in clear. `catalogs` are those of its catalogs whose views and columns are read."""

    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    catalogs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to run: five cron fields in a time zone. `jitter` and `timeout` in seconds."""

    cron: str
    timezone: str = "UTC"
    jitter: int = 0
    timeout: int = 3600
    retries: int = 2


@dataclass(frozen=True, slots=True)
class State:
    """Where progress is kept, a file or a SQLAlchemy URL, and under which name.

    `folder`: where all hosts of a cluster see what is kept of many statements.
    """

    url: str = field(repr=False)
    workflow: str
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class OpenLineage:
    """Where run events go, in openlineage-python's own words (secrets in clear), and the namespaces in them."""

    transport: Mapping[str, object] = field(repr=False)
    namespace: str
    dataset_namespace: str


@dataclass(frozen=True, slots=True)
class RunConfig:
    """One workflow. `target` says where to publish; `secrets` has what must not be shown, for redaction."""

    origin: str
    source: Source
    query_log: QueryLog
    spark_history: SparkHistory | None
    dbt: DbtArtifacts | None
    filters: Filters
    limits: Limits  # of one parser on one statement
    threads: int  # parser processes at a time
    parser: Parser
    steps: Steps
    target: EmbeddedCatalog | Server
    register: Register
    sink: ConfiguredSink
    templates_at_once: int  # that are bound and published in memory, of more a quarter
    default_database: str | None
    default_schema: str | None
    schema_files: tuple[SchemaFile, ...]
    catalog_services: Mapping[str, str]
    places: EngineNameRules
    spark: SparkSettings
    dead_letters: Path
    state: State
    schedule: Schedule | None
    metrics_file: Path | None
    open_lineage: OpenLineage | None
    success_threshold: int  # per cent
    fail_below_threshold: bool
    log_level: str
    without_effect: tuple[str, ...]  # keys that were given and change nothing here
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def registers_tables(self) -> bool:
        if self.register is Register.AUTO:
            return isinstance(self.target, EmbeddedCatalog)
        return self.register is Register.ALWAYS
