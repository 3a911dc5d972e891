"""From the YAML's models to the run's frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, SecretStr

from connectors.sinks import ConfiguredSink
from ingestion.arguments import nearest_name
from ingestion.dialects import dialect_of
from ingestion.dialects.connection_types import CONNECTION_TYPES
from ingestion.parsing._tiers import Parser
from ingestion.parsing.sandbox.process import Limits
from workflows.config.checks import Checks
from workflows.config.dbt import adapter_connection, dbt_artifacts
from workflows.config.models.headwater import Headwater, Workflow
from workflows.config.models.openmetadata import FilterPattern as FilterPatternModel
from workflows.config.models.openmetadata import LineageConfig, QuerySource, ServerConfig, SparkHistoryLineageConfig
from workflows.config.query_log import query_log_of
from workflows.config.spark_names import places_of
from workflows.config.values import (
    DbtArtifacts,
    EmbeddedCatalog,
    FilterPattern,
    Filters,
    OpenLineage,
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

_SETTINGS = ("source", "sourceConfig", "config")
_SERVER = ("workflowConfig", "openMetadataServerConfig")
_SUFFIX = "-lineage"
_SESSION_CATALOG = "spark_catalog"
_SPEAK_SPARK = ("spark", "databricks")
SOURCE_TYPES: tuple[str, ...] = (
    "query-log-lineage",
    "spark-history-lineage",
    "dbt",
    *(f"{kind.lower()}{_SUFFIX}" for kind in CONNECTION_TYPES),
)
_CONNECTION_TYPES = {kind.lower(): kind for kind in CONNECTION_TYPES}


def translate(workflow: Workflow, checks: Checks, secrets: Sequence[str]) -> RunConfig:
    """The run's values; what does not hold is noted in `checks`, and the result is then not to be used."""
    lineage = workflow.source.source_config.config
    ours, outcome = workflow.headwater, workflow.workflow_config
    dbt = dbt_artifacts(lineage, checks)
    source = _source(workflow.source, dbt, checks)
    target = _target(outcome.open_metadata_server_config, ours, checks)
    return RunConfig(
        origin=checks.origin,
        source=source,
        query_log=query_log_of(source, lineage, ours, checks),
        spark_history=_spark_history(lineage, checks),
        dbt=dbt,
        filters=_filters(lineage),
        limits=Limits(seconds=lineage.parsing_timeout_limit, memory_mb=ours.parser_memory_limit),
        threads=lineage.threads,
        parser=Parser(lineage.query_parser_config.type),
        steps=_steps(lineage),
        target=target,
        register=Register(ours.register_tables),
        sink=ConfiguredSink(workflow.sink.type, workflow.sink.config),
        templates_at_once=ours.templates_at_once,
        default_database=ours.defaults.database,
        default_schema=ours.defaults.schema_,
        schema_files=_schema_files(ours, checks),
        catalog_services=dict(ours.catalog_services),
        places=places_of(ours.spark_names, source, checks),
        spark=SparkSettings(ours.spark.master, dict(ours.spark.conf), _spark_catalogs(ours, source, checks)),
        dead_letters=Path(ours.dead_letters).expanduser(),
        state=_state(workflow, target),
        schedule=_schedule(ours),
        metrics_file=Path(ours.metrics_file).expanduser() if ours.metrics_file else None,
        open_lineage=_open_lineage(ours, source, checks),
        success_threshold=outcome.success_threshold,
        fail_below_threshold=outcome.raise_on_error,
        log_level=outcome.logger_level,
        without_effect=tuple(_without_effect(workflow, "")),
        secrets=tuple(secret for secret in dict.fromkeys([*secrets, *checks.secrets]) if secret != "no_token"),
    )


def _source(model: QuerySource, dbt: DbtArtifacts | None, checks: Checks) -> Source:
    kind, implied = _kind(model.type, checks)
    if dbt is not None:
        adapter = adapter_connection(dbt)
        implied = adapter.type if adapter is not None else None
    given = model.service_connection.config if model.service_connection else None
    name = implied
    if given is not None:
        name = _CONNECTION_TYPES.get(given.type.lower())
        path = ("source", "serviceConnection", "config", "type")
        if name is None:
            near = nearest_name(given.type, CONNECTION_TYPES)
            hint = f"did you mean {near}?" if near else "use CustomDatabase where nothing fits"
            checks.fail(path, f"unknown connection type; {hint}")
        elif implied is not None and kind is SourceKind.DATABASE and name != implied:
            checks.fail(path, f"source.type is for {implied}, and this is {name}")
    if name is None:
        return Source(kind, model.type, model.service_name)
    options = dict(given.model_extra or {}) if given is not None else {}
    return Source(kind, model.type, model.service_name, SourceConnection(name, dialect_of(name).name, options))


def _kind(written: str, checks: Checks) -> tuple[SourceKind, str | None]:
    """The kind of source, and the connection type that it implies."""
    lowered = written.lower()
    if lowered == "query-log-lineage":
        return SourceKind.QUERY_LOG, None
    if lowered == "dbt":
        return SourceKind.DBT, None
    if lowered == "spark-history-lineage":
        return SourceKind.SPARK_HISTORY, "Spark"
    found = _CONNECTION_TYPES.get(lowered.removesuffix(_SUFFIX))
    if found is None or not lowered.endswith(_SUFFIX):
        near = f"{found.lower()}{_SUFFIX}" if found else nearest_name(written, SOURCE_TYPES)
        hint = (
            f"did you mean {near}?" if near else "expected query-log-lineage, spark-history-lineage or postgres-lineage"
        )
        checks.fail(("source", "type"), f"unknown source type; {hint}")
    return SourceKind.DATABASE, found


def _spark_history(lineage: LineageConfig, checks: Checks) -> SparkHistory | None:
    if not isinstance(lineage, SparkHistoryLineageConfig):
        return None
    if (lineage.event_log_directory is None) == (lineage.history_server is None):
        checks.fail(_SETTINGS, "give one of eventLogDirectory and historyServer")
    server = lineage.history_server
    return SparkHistory(
        directory=checks.input(lineage.event_log_directory, (*_SETTINGS, "eventLogDirectory")),
        server=checks.http_url(server, (*_SETTINGS, "historyServer"), "http://spark:18080") if server else None,
        since=checks.moment(lineage.min_date, (*_SETTINGS, "minDate")),
        status=lineage.status,
    )


def _filters(lineage: LineageConfig) -> Filters:
    return Filters(
        database=_pattern(lineage.database_filter_pattern),
        schema=_pattern(lineage.schema_filter_pattern),
        table=_pattern(lineage.table_filter_pattern),
        stored_procedure=_pattern(lineage.stored_procedure_filter_pattern),
        condition=lineage.filter_condition,
    )


def _pattern(model: FilterPatternModel | None) -> FilterPattern:
    return FilterPattern(model.includes, model.excludes) if model else FilterPattern()


def _steps(lineage: LineageConfig) -> Steps:
    crosses = lineage.process_cross_database_lineage
    return Steps(
        views=lineage.process_view_lineage,
        queries=lineage.process_query_lineage,
        procedures=lineage.process_stored_procedure_lineage,
        override_views=lineage.override_view_lineage,
        temp_tables=lineage.enable_temp_table_lineage,
        incremental=lineage.incremental_lineage_processing,
        entities=lineage.process_entities,
        cross_services=lineage.cross_database_service_names if crosses else (),
    )


def _target(server: ServerConfig, ours: Headwater, checks: Checks) -> EmbeddedCatalog | Server:
    if server.host_port == "embedded":
        return EmbeddedCatalog(Path(ours.catalog.file).expanduser(), ours.catalog.port, ours.catalog.token)
    token_path = (*_SERVER, "securityConfig", "jwtToken")
    token: str | None = None
    if server.security_config.jwt_token is None:
        checks.fail(token_path, "needed by any hostPort but embedded; write no_token where authentication is off")
    else:
        token = checks.token(server.security_config.jwt_token.get_secret_value(), token_path)
    tls, where = server.ssl_config, (*_SERVER, "sslConfig")
    return Server(
        url=checks.api_url(server.host_port, (*_SERVER, "hostPort")) or "",
        token=SecretStr(token or ""),
        tls=Tls(
            verify=server.verify_ssl != "ignore",
            ca_certificate=checks.file(tls.ca_certificate, (*where, "caCertificate")) if tls else None,
            certificate=checks.file(tls.ssl_certificate, (*where, "sslCertificate")) if tls else None,
            key=checks.file(tls.ssl_key, (*where, "sslKey")) if tls else None,
        ),
        headers=dict(server.extra_headers),
        check_version=server.enable_version_validation,
    )


def _state(workflow: Workflow, target: EmbeddedCatalog | Server) -> State:
    """Beside the embedded catalog by default: whoever removes or copies both has a whole again."""
    ours = workflow.headwater.state
    beside = target.file.parent if isinstance(target, EmbeddedCatalog) else Path(".headwater")
    source = workflow.source
    name = ours.workflow or workflow.ingestion_pipeline_fqn or f"{source.service_name}.{source.type.lower()}"
    return State(ours.url or str(beside / "state.db"), name, ours.folder)


def _schedule(ours: Headwater) -> Schedule | None:
    given = ours.schedule
    if given.cron is None:
        return None
    return Schedule(given.cron, given.timezone, given.jitter, given.timeout, given.retries)


def _spark_catalogs(ours: Headwater, source: Source, checks: Checks) -> tuple[str, ...]:
    given = ours.spark.catalogs
    if given is None:
        return (_SESSION_CATALOG,) if source.type.lower() == f"spark{_SUFFIX}" else ()
    if given and source.dialect not in (None, *_SPEAK_SPARK):
        checks.fail(
            ("headwater", "spark", "catalogs"), "Spark's views are in Spark's SQL, and this source is in another"
        )
    return given


def _open_lineage(ours: Headwater, source: Source, checks: Checks) -> OpenLineage | None:
    given = ours.open_lineage
    if not given.transport:
        return None
    if not isinstance(given.transport.get("type"), str):
        checks.fail(("headwater", "openLineage", "transport"), "give its type: http, file, kafka, console, ...")
    place = source.service
    if source.connection is not None and "hostPort" in source.connection.options:
        place = f"{source.connection.type.lower()}://{source.connection.options['hostPort']}"
    return OpenLineage(given.transport, given.namespace or source.service, given.dataset_namespace or place)


def _schema_files(ours: Headwater, checks: Checks) -> tuple[SchemaFile, ...]:
    files = []
    for index, model in enumerate(ours.schema_files):
        path: tuple[str | int, ...] = ("headwater", "schemaFiles", index)
        file = checks.file(model.path, (*path, "path") if checks.is_given((*path, "path")) else path)
        if file is not None:
            files.append(SchemaFile(file, model.database, model.schema_))
    return tuple(files)


def _without_effect(model: BaseModel, above: str) -> list[str]:
    """The keys that were given although nothing here reads them."""
    found: list[str] = []
    for name, info in type(model).model_fields.items():
        if name not in model.model_fields_set:
            continue
        path = f"{above}{info.alias or name}"
        extra = info.json_schema_extra
        if isinstance(extra, dict) and extra.get("x-no-effect"):
            found.append(path)
        inner = getattr(model, name)
        if isinstance(inner, BaseModel):
            found += _without_effect(inner, f"{path}.")
    return found
