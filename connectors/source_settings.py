"""What a source is read with, and what of it is wanted: the settings that every source has.

The keys are those of OpenMetadata's lineage workflow, with our defaults where they differ. A source with keys of its
own has them in its room's `settings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from connectors.fields import Bool, InputLocation, Model, OrEmpty, Positive, Regex, Text
from ingestion.cores import cores
from ingestion.parsing.tiers import Parser

_DAYS_KEPT = 31
"""Of a log that is read whole; a month's export fits."""


class FilterPattern(Model):
    """Regular expressions over names, matched from their start, case ignored; an exclude outweighs an include."""

    includes: tuple[Regex, ...] = Field(
        default=(), description="Names to keep: regular expressions matched at the start, case ignored."
    )
    excludes: tuple[Regex, ...] = Field(default=(), description="Names to leave out; stronger than includes.")

    def allows(self, name: str) -> bool:
        """Whether a name is kept."""
        if _matches_one(self.excludes, name):
            return False
        return not self.includes or _matches_one(self.includes, name)


def _none_if_empty(given: FilterPattern | None) -> FilterPattern | None:
    return None if given == FilterPattern() else given


Pattern = Annotated[FilterPattern | None, AfterValidator(_none_if_empty)]


def _matches_one(patterns: Iterable[str], name: str) -> bool:
    return any(re.match(pattern, name, re.IGNORECASE) for pattern in patterns)


class QueryParserConfig(Model):
    type: Literal["Auto", "SqlGlot", "SqlFluff"] = Field(
        default="Auto",
        description="Which parser goes first; what it refuses falls to the next, down to the token rules.",
    )


class LineageConfig(Model):
    """`source.sourceConfig.config` of any source; one with keys of its own has them beside these."""

    needs_query_log: ClassVar[bool] = False
    """Whether there is nothing to read without a query log."""

    has_own_log: ClassVar[bool] = False
    """Whether it has records of its own, so that no query log is read beside it."""

    has_own_definitions: ClassVar[bool] = False
    """Whether it is a project, whose models are read beside whatever log is given."""

    has_engine_names: ClassVar[bool] = False
    """Whether its names are those of an engine over many sources (`headwater.sparkNames`)."""

    names_services: ClassVar[bool] = False
    """Whether a name of four parts begins with its service, whichever that is."""

    is_whole: ClassVar[bool] = False
    """Whether what it has now is all that it says: what it had before and has no more is not true any more."""

    type: Literal["DatabaseLineage"] = Field(default="DatabaseLineage", description="The kind of workflow.")
    query_log_file_path: InputLocation | None = Field(
        default=None,
        description="The query log as its platform exports it (CSV, JSON, Parquet, ORC, Avro, a csvlog): a file, a "
        "directory, a glob or a URI for Spark.",
    )
    query_log_duration: Positive | None = Field(
        default=None, description="Days back, from the newest record of the log; left out, all of it is read."
    )
    result_limit: Positive = Field(
        default=100_000, description="Records read at most; what lies beyond is counted as over limit."
    )
    parsing_timeout_limit: Positive = Field(
        default=30, description="Seconds for one parser on one statement; its process is killed then."
    )
    query_parser_config: Annotated[QueryParserConfig, OrEmpty] = Field(
        default_factory=QueryParserConfig, description="The parser to begin with."
    )
    filter_condition: Text | None = Field(
        default=None, description="Records to read: a Spark SQL condition, such as user = 'etl' AND duration > 5."
    )
    database_filter_pattern: Pattern = Field(default=None, description="Databases whose lineage is kept.")
    schema_filter_pattern: Pattern = Field(default=None, description="Schemas whose lineage is kept.")
    table_filter_pattern: Pattern = Field(default=None, description="Tables whose lineage is kept.")
    stored_procedure_filter_pattern: Pattern = Field(default=None, description="Procedures whose lineage is kept.")
    override_view_lineage: Bool = Field(
        default=True, description="A redefined view's old lineage goes when the new stands."
    )
    process_view_lineage: Bool = Field(default=True, description="Read the definitions of views.")
    process_query_lineage: Bool = Field(default=True, description="Read the query log.")
    process_stored_procedure_lineage: Bool = Field(default=True, description="Read the bodies of stored procedures.")
    threads: Positive = Field(
        default_factory=cores, description="Parser processes at a time; as many as cores if left out."
    )
    process_cross_database_lineage: Bool = Field(
        default=False, description="Look names up in crossDatabaseServiceNames as well."
    )
    cross_database_service_names: tuple[Text, ...] = Field(
        default=(), description="Services to look names up in, in this order."
    )
    enable_temp_table_lineage: Bool = Field(
        default=True, description="Follow temporary and staging tables to the tables behind them."
    )
    incremental_lineage_processing: Bool = Field(
        default=True, description="Leave out views and procedures that are done already."
    )
    process_entities: Bool = Field(
        default=False, description="Take the log's SELECTs apart: metrics, and who reads what (Headwater's own key)."
    )

    @property
    def location(self) -> str | None:
        """What to call the location of its own log; None where it has none."""
        return None

    @property
    def input_paths(self) -> Mapping[str, str]:
        """The paths that Spark reads, by their keys."""
        return {} if self.query_log_file_path is None else {"queryLogFilePath": self.query_log_file_path}

    def implied_connection(self) -> str | None:
        """The type of connection that these settings tell where none is given."""
        return None

    @property
    def parser(self) -> Parser:
        """Which parsers are asked."""
        return Parser(self.query_parser_config.type)

    @property
    def days_kept(self) -> int:
        """How much of what was read is remembered, to bind later records with."""
        return self.query_log_duration or _DAYS_KEPT

    @property
    def other_services(self) -> tuple[str, ...]:
        """Where names are looked up that the source's own service does not have."""
        return self.cross_database_service_names if self.process_cross_database_lineage else ()

    def allows(self, database: str, schema: str, table: str) -> bool:
        """Whether lineage of a table is kept."""
        patterns = (self.database_filter_pattern, self.schema_filter_pattern, self.table_filter_pattern)
        named = zip(patterns, (database, schema, table), strict=True)
        return all(pattern is None or pattern.allows(name) for pattern, name in named)

    def allows_procedure(self, database: str, schema: str, procedure: str) -> bool:
        """Whether lineage of a procedure is kept."""
        patterns = (self.database_filter_pattern, self.schema_filter_pattern, self.stored_procedure_filter_pattern)
        named = zip(patterns, (database, schema, procedure), strict=True)
        return all(pattern is None or pattern.allows(name) for pattern, name in named)
