"""A run without Spark: the same statements, templates, binding, resolution and catalog, over a handful of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from connectors.openmetadata.client import CatalogSearch, Platform, connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.entities import QueryRecord
from connectors.openmetadata.registration import register
from connectors.openmetadata.sink import RestSink
from connectors.sink import WriteReport, target_batches
from connectors.source_settings import LineageConfig
from ingestion.dialects import dialect_of
from ingestion.model.fqn import split_fqn
from ingestion.model.isolation import Isolation
from ingestion.model.namespaces import NamespaceDefaults
from ingestion.model.requests import AddLineageRequest
from ingestion.parsing.parser_pool import warm_parser
from ingestion.parsing.templates import ParsedTemplate
from ingestion.resolution import Resolver, SearchScope
from ingestion.statements.routines.definition import Definition
from tests.support.catalog_contents import Catalog, opened
from tests.support.one_batch import groups_of, names_of, query_records
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import bind_occurrences
from workflows.run.bind.schemas import StatedSchemas, catalog_schemas
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.group.runs import Run, RunTallies
from workflows.run.parse.tasks import parse_request, parsed_row, template_of
from workflows.run.read.definitions import definition_rows
from workflows.run.read.statements import rows_of
from workflows.run.resolve.entities import RelationEntities, relations_in, resolve_relations
from workflows.run.resolve.lineage import EdgeOutcome, lineage_of, statement_outcomes

TIMEOUT_SECONDS = 20


@dataclass(frozen=True)
class Record:
    """One record of a log; `at` is in seconds."""

    text: str
    session: str = "s1"
    at: float | None = None
    database: str | None = None
    schema: str | None = None


@dataclass(frozen=True)
class Warehouse:
    """What a run is configured with."""

    dialect: str = "postgres"
    service: str = "svc"
    database: str = "db"
    schema: str = "public"
    others: tuple[str, ...] = ()
    catalogs: Mapping[str, str] = field(default_factory=dict)
    filters: LineageConfig = field(default_factory=LineageConfig)
    inline_temporary: bool = True

    @property
    def settings(self) -> SourceSettings:
        two_level = dialect_of(self.dialect).two_level
        return SourceSettings(self.database, self.schema, two_level, inline_temporary=self.inline_temporary)


@dataclass(frozen=True)
class Outcome:
    """What a run made of a log: edges by (source, target), and what became of each statement."""

    requests: tuple[AddLineageRequest, ...]
    report: WriteReport
    entities: RelationEntities
    outcomes: tuple[tuple[str, str], ...]
    lookups: object
    queries: tuple[QueryRecord, ...] = ()

    @property
    def edges(self) -> dict[tuple[str, str], AddLineageRequest]:
        return {
            (_short(one.from_entity.fully_qualified_name), _short(one.to_entity.fully_qualified_name)): one
            for one in self.requests
        }

    @property
    def columns(self) -> set[tuple[str, str]]:
        """("table.column", "table.column") of every column edge on the wire."""
        return {
            (_column(source), _column(mapping.to_column))
            for one in self.requests
            for mapping in one.edge.lineage_details.columns_lineage
            for source in mapping.from_columns
        }

    def sql(self, source: str, target: str) -> str:
        return self.edges[source, target].edge.lineage_details.sql_query or ""


@contextmanager
def catalog_with(file: Path, tables: Mapping[str, Sequence[str]]) -> Iterator[tuple[Platform, Catalog]]:
    """An embedded catalog over HTTP that has these tables: "service.database.schema.table" -> columns."""
    with opened(file) as catalog:
        platform = connect(Connection(catalog.url))
        try:
            add_tables(platform, tables)
            yield platform, catalog
        finally:
            platform.close()


def add_tables(platform: Platform, tables: Mapping[str, Sequence[str]]) -> None:
    groups: dict[str, dict[str, dict[str, object]]] = {"services": {}, "databases": {}, "schemas": {}, "tables": {}}
    for fqn, columns in tables.items():
        service, database, schema, table = split_fqn(fqn)
        groups["services"][service] = {"type": "databaseService", "name": service, "serviceType": "Postgres"}
        groups["databases"][f"{service}.{database}"] = {"name": database, "service": service}
        groups["schemas"][f"{service}.{database}.{schema}"] = {"name": schema, "database": f"{service}.{database}"}
        groups["tables"][fqn] = {
            "name": table,
            "databaseSchema": f"{service}.{database}.{schema}",
            "columns": [{"name": column, "dataType": "VARCHAR", "dataLength": 9} for column in columns],
        }
    register(platform, {group: list(requests.values()) for group, requests in groups.items()})


def add_container(platform: Platform, path: str, columns: Sequence[str]) -> None:
    """A container of files at a storage path."""
    listed = [{"name": column, "dataType": "VARCHAR", "dataLength": 9} for column in columns]
    container = {
        "name": path.replace("/", "_").replace(":", "_"),
        "service": "lake",
        "fullPath": path,
        "dataModel": {"columns": listed},
    }
    service = {"type": "storageService", "name": "lake", "serviceType": "S3"}
    register(platform, {"services": [service], "containers": [container]})


def publish(
    platform: Platform,
    log: Sequence[Record | str],
    warehouse: Warehouse | None = None,
    definitions: Sequence[Definition] = (),
) -> Outcome:
    """Runs a log into the catalog, and tells what became of it. Nothing is registered: the catalog is as it is."""
    warehouse = warehouse or Warehouse()
    rows = [*statement_rows(log, warehouse), *definition_rows(definitions, dialect_of(warehouse.dialect).name)]
    templates = templates_of(rows)
    groups = [group_of(number, row) for number, row in enumerate(rows) if row.get("fingerprint")]
    scope = SearchScope(warehouse.service, warehouse.others, warehouse.catalogs, warehouse.settings.two_level)
    resolver = Resolver(CatalogSearch(platform), scope)
    source = bind_occurrences(templates, groups, warehouse.settings, catalog_schemas(StatedSchemas(), resolver))
    entities = resolve_relations(source.log, relations_in(source.flows), resolver, warehouse.filters)
    lineage = lineage_of(source, entities)
    sink = RestSink(platform, uuid4().hex)
    report = sink.write(target_batches(lineage.requests, lineage.replacements))
    published = {
        result.request.key: EdgeOutcome() if result.accepted else EdgeOutcome(result.reason)
        for result in report.results
    }
    skipped = [(str(row["skipped"]), "") for row in rows if row.get("skipped")]
    outcomes = tuple((str(one.status), one.reason) for one in statement_outcomes(lineage, published))
    queries = query_records(lineage, entities, published, warehouse.service)
    return Outcome(lineage.requests, report, entities, (*outcomes, *skipped), resolver.counts, queries)


def statement_rows(log: Sequence[Record | str], warehouse: Warehouse) -> list[dict[str, object]]:
    records = []
    for number, given in enumerate(log):
        record = given if isinstance(given, Record) else Record(given)
        records.append(
            {
                "source_id": f"log:{number + 1}",
                "text": record.text,
                "start_time": 1000.0 + number if record.at is None else record.at,
                "end_time": None,
                "duration": 0.5,
                "user": "ann",
                "session": record.session,
                "database": record.database,
                "schema": record.schema,
                "dialect": None,
                "query_type": None,
                "status": None,
                "problem": None,
                "symbolic": None,
            }
        )
    return rows_of(records, dialect_of(warehouse.dialect).name)


def templates_of(rows: Sequence[dict[str, object]]) -> dict[str, ParsedTemplate]:
    waiting = {str(row["fingerprint"]): row for row in rows if row.get("fingerprint") and row.get("text")}
    requests = [parse_request(key, row) for key, row in waiting.items()]
    return {
        outcome.key: template_of(parsed_row(waiting[outcome.key], outcome))
        for outcome in warm_parser(TIMEOUT_SECONDS).parse(requests)
    }


def group_of(number: int, row: dict[str, object]) -> OccurrenceGroup:
    time = float(str(row["time"]))
    schema = row.get("schema")
    return OccurrenceGroup(
        template=str(row["fingerprint"]),
        database=str(row.get("database") or ""),
        search_path=(str(schema),) if schema else (),
        session=str(row["session"]),
        order=(time, number),
        first_seen=time,
        last_seen=time,
        count=1,
        users=("ann",),
        digests=() if row["digest"] is None else (int(str(row["digest"])),),
        duration=0.5,
        already_published=bool(row["already_published"]),
    )


def _short(fqn: str | None) -> str:
    parts = split_fqn(fqn or "")
    return ".".join(parts[2:]) if len(parts) == 4 else parts[-1]


def _column(fqn: str) -> str:
    return ".".join(split_fqn(fqn)[-2:])


def merged_groups(
    rows: Sequence[Mapping[str, object]], templates: Mapping[str, ParsedTemplate], defaults: NamespaceDefaults
) -> list[OccurrenceGroup]:
    """The groups of the rows as a run makes them: runs that mean the same are one."""
    tallies = RunTallies(names_of(templates.values(), Isolation()), defaults)
    for row in rows:
        given = {
            **row,
            "search_path": (row["schema"],) if row["schema"] else (),
            "read_in_this_run": True,
            "routine": None,
            "already_published": row["already_published"],
        }
        tallies.add(Run._make(given[name] for name in Run._fields))
    return groups_of(tallies.tallies())
