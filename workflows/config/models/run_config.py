"""The whole YAML: one workflow, as it is run."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, Union

from pydantic import BaseModel, Field, PrivateAttr, create_model, field_validator, model_validator

from connectors.dbt.settings import DbtLineageConfig
from connectors.fields import NO_EFFECT, Bool, FieldContext, MisfitCollector, Model, OrEmpty, Text
from connectors.sinks import SINK_TYPES, ConfiguredSink, sink_settings
from connectors.source_settings import LineageConfig
from connectors.sources import OWN_TYPES, source_settings
from ingestion.dialects.dataset_namespaces import NamespaceMap, ServiceAddress
from ingestion.model.engine_names import EngineNameRules
from ingestion.model.fqn import split_fqn
from ingestion.parsing.sandbox.process import Limits
from workflows.config.models.headwater import Headwater, OpenLineage, SparkSettings, State
from workflows.config.models.query_log import QueryLogJdbc
from workflows.config.models.server import EmbeddedCatalog, SecurityConfig, Server, WorkflowConfig
from workflows.config.models.source import ServiceConnection, Source, SourceConfig, SourceConnection
from workflows.config.models.spark_names import SparkNames

_NO_TOKEN = "no_token"
"""What stands for the token where authentication is off; it is no secret."""
_SESSION_CATALOG = "spark_catalog"
_SPEAK_SPARK = ("spark", "databricks")


class Component(Model):
    """`processor`, `stage` and `bulkSink`, which other workflows use."""

    type: Text = Field(description="Not used.")
    config: dict[str, Any] | None = Field(default=None, description="Not used.")


class RunConfig(Model):
    """The whole file. What several blocks say together is a property; all else is read where its key is.

    `source` and `sink` are as `run_config_model` has them for their types.
    """

    source: Source = Field(description="Where the lineage is read from.")
    sink: ConfiguredSink = Field(description="Where it is written to.")
    workflow_config: Annotated[WorkflowConfig, OrEmpty] = Field(
        default_factory=WorkflowConfig, description="The catalog, and when a run counts as failed."
    )
    headwater: Annotated[Headwater, OrEmpty] = Field(
        default_factory=Headwater, description="Headwater's own settings: Spark, embedded catalog, schemas."
    )
    ingestion_pipeline_fqn: Text | None = Field(
        default=None, alias="ingestionPipelineFQN", description="The name that progress is kept under."
    )
    pipeline_run_id: Text | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
    enable_streamable_logs: Bool = Field(default=False, description="Not used.", json_schema_extra=NO_EFFECT)
    ingestion_runner_name: Text | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
    processor: Component | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
    stage: Component | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)
    bulk_sink: Component | None = Field(default=None, description="Not used.", json_schema_extra=NO_EFFECT)

    _origin: str = PrivateAttr("")
    _secrets: tuple[str, ...] = PrivateAttr(())

    @field_validator("source")
    @classmethod
    def _has_a_connection(cls, given: Source) -> Source:
        return given.with_connection()

    @field_validator("sink")
    @classmethod
    def _has_a_class_with_a_name(cls, given: ConfiguredSink) -> ConfiguredSink:
        # One that is made for a type of sink would go to Spark's tasks by its code, and be made anew in each.
        return ConfiguredSink.model_construct(given.model_fields_set, type=given.type, config=given.config)

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        misfits, ours = MisfitCollector(), self.headwater
        path = ("source", "sourceConfig", "config", "queryLogFilePath")
        logs = (self.lineage.query_log_file_path, ours.query_log_table, ours.query_log_jdbc.spark_options or None)
        given = sum(log is not None for log in logs)
        if self.lineage.needs_query_log and not given:
            misfits.add("needed by the source type query-log-lineage, and not given", *path)
        if given > 1:
            misfits.add("give one of queryLogFilePath, headwater.queryLogTable and headwater.queryLogJdbc", *path)
        if ours.spark_names != SparkNames() and not self.lineage.has_engine_names:
            message = "only the source type spark-history-lineage has Spark's names; use catalogServices here"
            misfits.add(message, "headwater", "sparkNames")
        if ours.spark.catalogs and self.source.dialect not in (None, *_SPEAK_SPARK):
            message = "Spark's views are in Spark's SQL, and this source is in another"
            misfits.add(message, "headwater", "spark", "catalogs")
        misfits.check()
        return self

    def model_post_init(self, context: Any) -> None:
        """Keeps where it comes from, and what must not be shown of it."""
        if isinstance(context, FieldContext):
            self._origin = context.origin
            self._secrets = tuple(secret for secret in dict.fromkeys(context.secrets) if secret != _NO_TOKEN)

    @property
    def origin(self) -> str:
        """The name of the file."""
        return self._origin

    @property
    def replay_command(self) -> str:
        """What to type to have its dead statements read again."""
        return f"ingest replay -c {shlex.quote(self._origin)}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be shown, for redaction."""
        return self._secrets

    @property
    def lineage(self) -> LineageConfig:
        """`source.sourceConfig.config`: what is read, and how."""
        return self.source.source_config.config

    @property
    def dbt(self) -> DbtLineageConfig | None:
        """The same of a dbt project, None of any other source."""
        return self.lineage if isinstance(self.lineage, DbtLineageConfig) else None

    @property
    def query_log_location(self) -> str | None:
        """What to call the place of the log; None where none is given."""
        jdbc = self.headwater.query_log_jdbc
        over_jdbc = f"jdbc {jdbc.table or 'query'}" if jdbc.is_given else None
        return self.lineage.query_log_file_path or self.headwater.query_log_table or over_jdbc

    @property
    def has_query_log(self) -> bool:
        """Whether there is a log beside what the source itself has."""
        return self.query_log_location is not None

    @property
    def limits(self) -> Limits:
        """Of one parser on one statement."""
        return Limits(seconds=self.lineage.parsing_timeout_limit, memory_mb=self.headwater.parser_memory_limit)

    @property
    def name_rules(self) -> EngineNameRules:
        """The rules that names of an engine over many sources go by."""
        rules = self.headwater.spark_names.rules(self.source.service_name)
        # of the type, which the configuration that goes to tasks still has
        names_services = source_settings(self.source.type.lower()).names_services
        return replace(rules, service=self.source.service_name, any_service=True) if names_services else rules

    @property
    def spark_catalogs(self) -> tuple[str, ...]:
        """The catalogs of Spark whose views and columns are read."""
        given = self.headwater.spark.catalogs
        if given is None:
            return (_SESSION_CATALOG,) if self.source.type.lower() == "spark-lineage" else ()
        return given

    @property
    def target(self) -> EmbeddedCatalog | Server:
        """The catalog to publish to."""
        server = self.workflow_config.open_metadata_server_config
        return self.headwater.catalog if server.is_embedded else server

    @property
    def registers_tables(self) -> bool:
        """Whether tables that the catalog lacks are made in it."""
        if self.headwater.register_tables == "auto":
            return self.workflow_config.open_metadata_server_config.is_embedded
        return self.headwater.register_tables == "always"

    @property
    def workflow(self) -> str:
        """The name that progress is kept under."""
        return self.chosen_workflow or f"{self.source.service_name}.{self.source.type.lower()}"

    @property
    def chosen_workflow(self) -> str | None:
        """The same where the configuration names it, None where it is made of the service and the type."""
        return self.headwater.state.workflow or self.ingestion_pipeline_fqn

    @property
    def state_url(self) -> str:
        """Where progress is kept: beside the embedded catalog by default, so that who copies both has a whole again."""
        target = self.target
        beside = target.file.parent if isinstance(target, EmbeddedCatalog) else Path(".headwater")
        return self.headwater.state.url or str(beside / "state.db")

    @property
    def job_namespace(self) -> str:
        """OpenLineage's namespace of the jobs."""
        return self.headwater.open_lineage.namespace or self.source.service_name

    @property
    def namespaces(self) -> NamespaceMap:
        """OpenLineage's namespaces of the tables of services: as they are given, and by the source's connection."""
        connection = self.source.connection
        known = {self.source.service_name: ServiceAddress(connection.type, connection.options)} if connection else {}
        catalogs = {name.casefold(): split_fqn(other) for name, other in self.headwater.catalog_services.items()}
        return NamespaceMap(self.headwater.open_lineage.namespaces, known, {self.source.service_name: catalogs})

    @property
    def without_effect(self) -> tuple[str, ...]:
        """The keys that were given although nothing here reads them."""
        return tuple(_without_effect(self, ""))

    def without_secrets(self) -> RunConfig:
        """What tasks need of it, for an executor's disk: nothing of how to reach source, target and state."""
        ours = self.headwater.model_copy(
            update={
                "spark": SparkSettings(),
                "catalog": self.headwater.catalog.with_value("token", None),
                "query_log_jdbc": QueryLogJdbc(),
                "query_log_table": None,
                "state": State(workflow=self.workflow),
                "open_lineage": OpenLineage(),
            }
        )
        server = self.workflow_config.open_metadata_server_config
        server = server.model_copy(update={"security_config": SecurityConfig(), "extra_headers": {}})
        # Of the class that has a name: one that is made for a source and a sink cannot be unpickled elsewhere.
        return RunConfig.model_construct(
            source=_without_location(self.source),
            sink=self.sink.without_settings(),
            workflow_config=self.workflow_config.with_value("open_metadata_server_config", server),
            headwater=ours,
        )


def _without_location(source: Source) -> Source:
    wanted = {name: getattr(source.source_config.config, name) for name in LineageConfig.model_fields}
    wanted |= {"query_log_file_path": None, "filter_condition": None}
    connection = source.connection
    return Source.model_construct(
        type=source.type,
        service_name=source.service_name,
        service_connection=ServiceConnection(config=SourceConnection(type=connection.type)) if connection else None,
        source_config=SourceConfig.model_construct(config=LineageConfig.model_construct(**wanted)),
    )


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


def run_config_model(source_type: str = "", sink_type: str = SINK_TYPES[0]) -> type[RunConfig]:
    """The file of a source and a sink of these types; where a type is not known, it says so."""
    sink = sink_type if sink_type in SINK_TYPES else SINK_TYPES[0]
    return _run_config(_source(source_settings(source_type)), _sink(sink, sink_settings(sink)))


def any_run_config() -> type[RunConfig]:
    """The file with the keys of all sources and sinks, for what knows none yet."""
    every: Any = Union[tuple(map(sink_settings, SINK_TYPES))]  # noqa: UP007 there may be any number
    return _run_config(_source(_any_settings(), "AnySource"), _sink(SINK_TYPES[0], every))


def owners() -> Mapping[str, type[RunConfig]]:
    """By the type of a source: the file that has keys which others have not."""
    return {source_type: run_config_model(source_type) for source_type in OWN_TYPES}


def _any_settings() -> type[LineageConfig]:
    types: Any = Literal["DatabaseLineage", "DBT"]
    models = [model for model in map(source_settings, OWN_TYPES) if model is not LineageConfig]
    return create_model(
        "AnyLineageConfig",
        __base__=tuple(dict.fromkeys(models)),
        __doc__="The keys of all sources, for what knows no source yet.",
        type=(types, Field(default="DatabaseLineage", description="The kind of workflow.")),
    )


@cache
def _source(settings: type[LineageConfig], name: str = "Source") -> type[Source]:
    wanted: Any = Annotated[settings, OrEmpty]
    given = Field(default_factory=settings, description="What to read, and how.", validate_default=True)
    section = create_model(f"{name}Config", __base__=SourceConfig, config=(wanted, given))
    whole: Any = Annotated[section, OrEmpty]
    given = Field(default_factory=section, description="The workflow's settings.", validate_default=True)
    return create_model(name, __base__=Source, __doc__=Source.__doc__, source_config=(whole, given))


@cache
def _sink(sink_type: str, settings: Any) -> type[ConfiguredSink]:
    types: Any = Literal[SINK_TYPES]
    written_to = "; ".join(f"{name}: {sink_settings(name).written_to}" for name in SINK_TYPES)
    return create_model(
        "Sink",
        __base__=ConfiguredSink,
        __doc__=ConfiguredSink.__doc__,
        type=(types, Field(default=sink_type, description=f"{written_to}.")),
        config=(
            Annotated[settings, OrEmpty],
            Field(default_factory=sink_settings(sink_type), description="The sink's settings."),
        ),
    )


@cache  # two classes for one source and sink would make configurations unequal that say the same
def _run_config(source: type[Source], sink: type[ConfiguredSink]) -> type[RunConfig]:
    section: Any = Annotated[sink, OrEmpty]
    return create_model(
        "Workflow",
        __base__=RunConfig,
        __doc__="The whole file.",
        source=(source, Field(description="Where the lineage is read from.")),
        sink=(section, Field(default_factory=sink, description="Where it is written to.", validate_default=True)),
    )
