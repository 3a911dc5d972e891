"""The first stage of a run: the source's records as statements, on Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from connectors.dbt.model_statements import DbtProject
from connectors.openmetadata.transport.platform import Platform
from connectors.postgres import PostgresDatabase
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings, dialect_name
from workflows.reading.live_sources import live_definitions, spark_catalog
from workflows.reading.reader import Statements, read_statements
from workflows.state.dead_letters import DeadLetter
from workflows.state.watermark import ReadState
from workflows.templates.parsing import TemplateKey


@dataclass(frozen=True, slots=True)
class Reading:
    """Takes a Spark session, gives the statements that this run reads and those of its journal.

    `live` is the database or the dbt project that is read, None where there is none; `past` is what needs no reading.
    """

    config: RunConfig
    settings: SourceSettings
    platform: Platform
    live: PostgresDatabase | DbtProject | None
    past: ReadState

    @contextmanager
    def statements(self, spark: SparkSession) -> Iterator[Statements]:
        """The statements, which Spark keeps for the block.

        Raises ConfigError where the source cannot be read, TargetDown where the catalog does not answer.
        """
        live = self.live or spark_catalog(self.config, spark, self.settings.default_database)
        definitions = live_definitions(self.config, dialect_name(self.config), self.platform, live)
        with read_statements(spark, self.config, self.settings, definitions, self.past) as statements:
            yield statements


def texts_of_the_dead(statements: DataFrame, letters: Collection[DeadLetter]) -> dict[TemplateKey, str]:
    """For a replay: the masked texts of dead templates of which the log has no statement any more."""
    masked = {
        (letter.fingerprint, str(letter.details["dialect"])): str(letter.details["masked"])
        for letter in letters
        if letter.fingerprint and letter.details.get("masked")
    }
    here = statements.where(F.col("fingerprint").isin([key[0] for key in masked]))
    found = {row["fingerprint"] for row in here.select("fingerprint").distinct().toLocalIterator()}
    return {key: text for key, text in masked.items() if key[0] not in found}
