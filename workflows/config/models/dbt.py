"""The source type dbt: OpenMetadata's own keys, and the whole file with them; and every source's keys together."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from workflows.config.models.fields import Bool, Model, OrEmpty, Text
from workflows.config.models.headwater import Workflow
from workflows.config.models.openmetadata import (
    NO_EFFECT,
    LineageConfig,
    QuerySource,
    SourceConfig,
    SparkHistoryLineageConfig,
)

_ELSEWHERE = frozenset({"http", "s3", "gcs", "azure", "cloud"})
"""The other places that OpenMetadata reads artifacts from."""


class DbtConfigSource(Model):
    """`dbtConfigSource`: where dbt's artifacts are."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_other_places(cls, given: Any) -> Any:
        """One line for all keys of a place that is not read."""
        place = given.get("dbtConfigType") if isinstance(given, dict) else None
        if place in _ELSEWHERE:
            raise ValueError(
                f"dbtConfigType {place} is not read: download the artifacts before the run, and name the files"
            )
        return given

    dbt_config_type: Literal["local"] = Field(default="local", description="Files that this machine can read.")
    dbt_manifest_file_path: Text | None = Field(
        default=None, description="manifest.json, or the folder of the project, which is read by its files if need be."
    )
    dbt_catalog_file_path: Text | None = Field(
        default=None, description="catalog.json; the one beside the manifest if left out."
    )
    dbt_run_results_file_path: Text | None = Field(
        default=None, description="run_results.json: what became of tests and models in dbt's last run."
    )
    dbt_sources_file_path: Text | None = Field(
        default=None, description="sources.json, which says how fresh the sources are."
    )


class DbtLineageConfig(LineageConfig):
    """`source.sourceConfig.config` of the source type dbt."""

    type: Literal["DBT", "DatabaseLineage"] = Field(default="DBT", description="The kind of workflow.")  # type: ignore[assignment]
    dbt_config_source: Annotated[DbtConfigSource, OrEmpty] = Field(
        default_factory=DbtConfigSource, description="Where dbt's artifacts are."
    )
    dbt_update_descriptions: Bool = Field(
        default=False, description="Whether dbt's descriptions take the place of those that the catalog has."
    )
    dbt_update_owners: Bool = Field(
        default=False, description="Whether dbt's owners take the place of those that the catalog has."
    )
    include_tags: Bool = Field(default=True, description="Whether dbt's tags are put on tables and columns.")
    dbt_classification_name: Text = Field(default="dbtTags", description="The classification of these tags.")
    search_across_databases: Bool = Field(default=False, description="Not used.", json_schema_extra=NO_EFFECT)


class DbtSourceConfig(SourceConfig):
    config: Annotated[DbtLineageConfig, OrEmpty] = Field(
        default_factory=DbtLineageConfig, description="What to read, and how."
    )


class DbtSource(QuerySource):
    source_config: Annotated[DbtSourceConfig, OrEmpty] = Field(
        default_factory=DbtSourceConfig, description="The workflow's settings."
    )


class DbtWorkflow(Workflow):
    """The whole file, where the source is a dbt project."""

    source: DbtSource = Field(description="Where the lineage is read from.")


class AnyLineageConfig(SparkHistoryLineageConfig, DbtLineageConfig):
    """The keys of all sources, for what knows no source yet."""

    type: Literal["DatabaseLineage", "DBT"] = Field(default="DatabaseLineage", description="The kind of workflow.")


class AnySourceConfig(SourceConfig):
    config: Annotated[AnyLineageConfig, OrEmpty] = Field(
        default_factory=AnyLineageConfig, description="What to read, and how."
    )


class AnySource(QuerySource):
    source_config: Annotated[AnySourceConfig, OrEmpty] = Field(
        default_factory=AnySourceConfig, description="The workflow's settings."
    )


class AnyWorkflow(Workflow):
    """The whole file, whatever its source."""

    source: AnySource = Field(description="Where the lineage is read from.")
