"""The third stage of a run: templates and their runs, bound to each other over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from connectors.postgres import PostgresDatabase
from ingestion.binding.timeline import SchemaProvider
from ingestion.isolation import Probe
from ingestion.resolution.resolver import Resolver
from workflows.config import RunConfig
from workflows.config.namespaces import SourceSettings, dialect_name
from workflows.lineage.lineage_source import LineageSource, bind_occurrences
from workflows.lineage.planner import Texts, disambiguated_templates
from workflows.lineage.schema_files import Schemas, read_schemas
from workflows.lineage.schema_provider import catalog_schemas
from workflows.templates.occurrences import OccurrenceGroup
from workflows.templates.parsing import ParsedTemplate


@dataclass(frozen=True, slots=True)
class Binding:
    """Takes templates and the groups of their runs, gives a LineageSource.

    `database` decides on what the text leaves ambiguous, None where there is none; `keep` is given the templates that
    it disambiguated.
    """

    config: RunConfig
    settings: SourceSettings
    database: PostgresDatabase | None
    keep: Callable[[Iterable[ParsedTemplate]], None]
    probe: Probe

    def schemas_before(self, live_columns: Schemas, resolver: Resolver) -> Callable[[], SchemaProvider]:
        """What stood before the log: by the schema files, then `live_columns`, then the catalog behind `resolver`.

        Each provider remembers what it was asked for, and raises TargetDown. Raises ConfigError for a schema file that
        cannot be read.
        """
        return self.providers(self.stated_schemas(live_columns), resolver)

    def stated_schemas(self, live_columns: Schemas) -> tuple[Schemas, ...]:
        """What the schema files and `live_columns` say. Raises ConfigError for a file that cannot be read."""
        config = self.config
        return read_schemas(config.schema_files, dialect_name(config), self.settings, config.limits), live_columns

    def providers(self, stated: Sequence[Schemas], resolver: Resolver) -> Callable[[], SchemaProvider]:
        """What stood before the log: by what was `stated`, then by the catalog behind `resolver`."""
        return lambda: catalog_schemas(stated, resolver, registers=self.config.registers_tables)

    def bind(
        self,
        templates: Mapping[str, ParsedTemplate],
        groups: Sequence[OccurrenceGroup],
        before: SchemaProvider,
        texts: Texts,
    ) -> LineageSource:
        """The groups bound; `texts` are those that the database is asked about.

        Raises TargetDown where the catalog does not answer, and what `keep` raises.
        """
        source = bind_occurrences(templates, groups, self.settings, before, self.probe)
        if self.database is None:
            return source
        disambiguated = disambiguated_templates(source, templates, texts, self.database)
        if not disambiguated:
            return source
        self.keep(disambiguated.values())
        return bind_occurrences({**templates, **disambiguated}, groups, self.settings, before, self.probe)
