"""Definitions that are in no log: those of the catalog, of a dbt project, of the live database where there is one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession

from connectors.dbt.downloads import download_artifacts
from connectors.dbt.model_statements import DbtProject, ModelStatement
from connectors.dbt.projects import open_project
from connectors.openmetadata.client import Platform
from connectors.openmetadata.definitions import stored_routines, stored_views
from connectors.postgres import PostgresDatabase, PostgresOptions, connect
from connectors.spark.catalog import SparkCatalog
from ingestion.errors import Templated, Unparsable
from ingestion.model.isolation import FailureStage, Isolation
from ingestion.model.lineage import Column
from ingestion.model.namespaces import RelationKey
from ingestion.model.outcomes import Outcome
from ingestion.statements import classify
from ingestion.statements.masking import QueryMasker
from ingestion.statements.routines._registry import key_of, routines_of
from ingestion.statements.routines.bodies import trigger_runs
from ingestion.statements.routines.definition import (
    Definition,
    DefinitionKind,
    code_of,
    same_definition,
    view_statement,
)
from ingestion.statements.routines.inline_functions import function_as_view
from ingestion.statements.routines.steps import RoutineStep
from workflows.config import RunConfig, SourceKind, Steps
from workflows.config.dbt import adapter_connection
from workflows.run.read.statements import STATEMENT_SCHEMA, Row, rows_of
from workflows.runtime.scratch import scratch_folder

# Definitions that are in no log: those of the catalog, or of the live database where there is one.


@dataclass(frozen=True, slots=True)
class FailedDefinition:
    """A definition whose text cannot be had: where it stands (`file:line`), and why."""

    definition: Definition
    source_id: str
    reason: str


def catalog_definitions(platform: Platform, service: str, steps: Steps) -> tuple[Definition, ...]:
    """The definitions that the catalog has, those of the steps that are wanted."""
    found: list[Definition] = []
    if steps.views:
        found += stored_views(platform, service)
    if steps.procedures:
        found += stored_routines(platform, service)
    return tuple(found if steps.incremental else (replace(definition, done=False) for definition in found))


def current_definitions(
    live: Iterable[Definition], stored: Sequence[Definition], dialect: str
) -> tuple[Definition, ...]:
    """The definitions of a live database; `done` where the catalog has the same and its lineage stands."""
    known = {(definition.kind is DefinitionKind.ROUTINE, definition.place): definition for definition in stored}
    current = tuple(live)
    runs = trigger_runs([definition for definition in current if _is_routine(definition)], dialect)
    ran: dict[tuple[str, str, str], list[RoutineStep]] = {}
    for run in runs:
        ran.setdefault(run.function, []).extend(run.steps)
    done = {}
    for one in current:
        steps = ran.get(one.place) if _is_routine(one) else None
        done[id(one)] = False
        with Isolation[str]().around(FailureStage.ROUTINES, one.text):  # what cannot be compared is read again
            done[id(one)] = _is_done(one, known.get((_is_routine(one), one.place)), dialect, steps)
    # A trigger's lineage is its function's, and is filed under that.
    functions = {one.place: done[id(one)] for one in current if _is_routine(one) and one.place in ran}
    triggers = {run.trigger: functions[run.function] for run in runs}
    return tuple(replace(one, done=triggers.get(one.place, done[id(one)])) for one in current)


def _is_routine(definition: Definition) -> bool:
    return definition.kind is DefinitionKind.ROUTINE


def _is_done(
    current: Definition, stored: Definition | None, dialect: str, ran: Sequence[RoutineStep] | None = None
) -> bool:
    if stored is None or not stored.done:
        return False
    if not _is_routine(current):
        return same_definition(view_statement(current, dialect), view_statement(stored, dialect), dialect)
    if ran is not None:
        return stored.text == _mask(ran, dialect)
    return stored.text in (current.text, _masked_code(current, dialect))


def _masked_code(definition: Definition, dialect: str) -> str | None:
    """What the catalog would keep of a routine's definition: its statements that bear lineage, masked."""
    routines = routines_of(definition, dialect)
    if not routines:
        return None
    return _mask([step for routine in routines for step in routine.steps], dialect)


def _mask(steps: Iterable[RoutineStep], dialect: str) -> str | None:
    texts = [step.text for step in steps if step.text]
    masker = QueryMasker(dialect)
    try:
        masked = [masker.mask(text) for text in texts if classify(text, dialect).skip_reason is None]
    except Unparsable:
        return None
    return code_of(tuple(dict.fromkeys(masked)))


def with_views(
    statements: DataFrame,
    definitions: Iterable[Definition],
    dialect: str,
    failures: Iterable[FailedDefinition] = (),
) -> DataFrame:
    """`statements` and those that define the views; the `failures` are dead, with their reason."""
    rows = definition_rows(definitions, dialect) + [_dead_row(failure, dialect) for failure in failures]
    if not rows:
        return statements
    names = STATEMENT_SCHEMA.fieldNames()
    values = [tuple(row.get(name) for name in names) for row in rows]
    return statements.unionByName(statements.sparkSession.createDataFrame(values, STATEMENT_SCHEMA))


def definition_rows(definitions: Iterable[Definition], dialect: str) -> list[Row]:
    """The statements that define views, and functions that give rows."""
    rows: list[Row] = []
    for definition in definitions:
        isolation = Isolation[str]()
        with isolation.around(FailureStage.ANALYSIS, definition.text):
            rows += _view_rows(definition, dialect)
        for failure in isolation.failures.values():
            (row,) = rows_of([_record(definition, "", dialect)], dialect)
            rows.append({**row, "digest": None, "skipped": None, "dead": failure.reason})
    return rows


def _dead_row(failure: FailedDefinition, dialect: str) -> Row:
    record = {**_record(failure.definition, "", dialect), "source_id": failure.source_id}
    (row,) = rows_of([record], dialect)
    return {**row, "digest": None, "skipped": None, "dead": failure.reason}


def _view_rows(definition: Definition, dialect: str) -> list[Row]:
    """The rows of a view, or of a function that gives rows."""
    text = view_statement(definition, dialect)
    if definition.own or (_is_routine(definition) and function_as_view(text, dialect) is None):
        return []
    _database, schema = definition.home or definition.place[:2]
    # A definition is no run: it is not counted as one.
    return [
        {**row, "digest": None, "standing": definition.done, "path": [schema] if schema else None}
        for row in rows_of([_record(definition, text, dialect)], dialect)
    ]


def _record(definition: Definition, text: str, dialect: str) -> Row:
    """A definition as the record of a log."""
    database, schema = definition.home or definition.place[:2]
    return {
        "source_id": f"definition of {key_of(definition.place)}:1",
        "text": text,
        "start_time": definition.at,
        "end_time": None,
        "duration": None,
        "user": None,
        "session": None,
        "database": database,
        "schema": schema,
        "dialect": dialect,
        "status": None,
        "problem": None if text else "no definition",
        "symbolic": None,
    }


# The models of a dbt project as definitions: what a run reads of it.

_LINE = re.compile(r":\d+$")


@contextmanager
def local_artifacts(config: RunConfig) -> Iterator[RunConfig]:
    """The configuration with dbt's artifacts on this machine's disk, for the block.

    Raises ConfigError where they are refused or missing, TargetDown where what has them does not answer.
    """
    if config.dbt is None or config.dbt.elsewhere is None:
        yield config
        return
    with scratch_folder("dbt") as folder:
        found = download_artifacts(config.dbt.elsewhere, folder)
        dbt = replace(
            config.dbt,
            project=found["manifest"],
            catalog=found.get("catalog"),
            run_results=found.get("run_results"),
            sources=found.get("sources"),
            elsewhere=None,
        )
        connection = config.source.connection or adapter_connection(dbt)
        yield replace(config, dbt=dbt, source=replace(config.source, connection=connection))


def open_dbt(config: RunConfig) -> DbtProject | None:
    """The project of the source type dbt, None for any other. Raises ConfigError, UnreadableArtifact."""
    if config.dbt is None:
        return None
    return open_project(config.dbt.project, config.source.dialect, config.limits, config.dbt.catalog)


def main_database(project: DbtProject | None) -> str | None:
    """The database in which most of a project's models stand, None where none tells it."""
    if project is None:
        return None
    counted = Counter(statement.node.place[0] for statement in project.statements)
    return counted.most_common(1)[0][0] or None if counted else None


def model_definitions(project: DbtProject) -> Iterator[Definition]:
    """A view for each model, whatever dbt makes of it: its query says all that its rows come from."""
    at = project.manifest.generated_at if project.manifest is not None else None
    by_node: dict[str, list[ModelStatement]] = {}
    for statement in project.statements:
        by_node.setdefault(statement.node.unique_id, []).append(statement)
    for first, *others in by_node.values():
        text = first.text
        if others:
            queries = " UNION ALL ".join(f"({one.body}\n)" for one in (first, *others))
            text = f"CREATE VIEW {first.node.relation} AS {queries}"
        yield Definition(DefinitionKind.VIEW, first.node.place, text, at)


def failed_models(project: DbtProject) -> tuple[FailedDefinition, ...]:
    """The models that no statement could be made of."""
    return tuple(
        FailedDefinition(
            Definition(DefinitionKind.VIEW, failure.node.place),
            failure.place if _LINE.search(failure.place) else f"{failure.place}:1",
            Templated.code if failure.reason.startswith(Templated.code) else Outcome.UNPARSABLE,
        )
        for failure in project.failures
    )


def columns_by_place(project: DbtProject) -> dict[tuple[str, str, str], tuple[Column, ...]]:
    """The columns of what no model makes, as far as they are known."""
    return {
        node.place: columns
        for node in project.nodes.values()
        if (columns := project.columns.get(node.dotted)) is not None
    }


# What stands around a log: the live database where there is one, and the definitions that are in no log.

_SPEAK_POSTGRES = frozenset({"Postgres", "Timescale", "Greenplum"})


@dataclass(frozen=True, slots=True)
class LiveDefinitions:
    """`columns` are those of the live database or of Spark's catalogs, by the places of their relations."""

    dialect: str
    definitions: tuple[Definition, ...] = ()
    database: PostgresDatabase | None = None
    columns: Mapping[RelationKey, tuple[Column, ...]] = field(default_factory=dict)
    failures: tuple[FailedDefinition, ...] = ()


@contextmanager
def open_database(config: RunConfig) -> Iterator[PostgresDatabase | None]:
    """The live database of the source, None where it has none that can be read.

    Raises ConfigError and TargetDown, without a password in them.
    """
    connection = config.source.connection
    live = config.source.kind is SourceKind.DATABASE and connection is not None and "hostPort" in connection.options
    if connection is None or not live or connection.type not in _SPEAK_POSTGRES:
        yield None
        return
    with connect(PostgresOptions.of(connection.options)) as session:
        yield PostgresDatabase(session)


def spark_catalog(config: RunConfig, spark: SparkSession, database: str) -> SparkCatalog | None:
    """The catalogs of the session that are to be read; `database` stands for the session's own."""
    return SparkCatalog(spark, config.spark.catalogs, database) if config.spark.catalogs else None


def live_definitions(
    config: RunConfig, dialect: str, platform: Platform, live: PostgresDatabase | SparkCatalog | DbtProject | None
) -> LiveDefinitions:
    """What the catalog, and what is live, tell before a log is read."""
    stored = catalog_definitions(platform, config.source.service, config.steps)
    if isinstance(live, DbtProject):
        return _of_dbt(live, dialect, stored, config.steps)
    if live is None:
        return LiveDefinitions(dialect, stored)
    if isinstance(live, SparkCatalog):
        return _of_spark(live, dialect, stored, config.steps)
    return _of_database(live, dialect, stored, config.steps)


def _of_dbt(project: DbtProject, dialect: str, stored: Sequence[Definition], steps: Steps) -> LiveDefinitions:
    # Other definitions of the catalog are for the source that they came from.
    models = current_definitions(model_definitions(project), stored, dialect) if steps.views else ()
    columns = {RelationKey(place): known for place, known in columns_by_place(project).items()}
    return LiveDefinitions(dialect, models, columns=columns, failures=failed_models(project))


def _of_spark(catalog: SparkCatalog, dialect: str, stored: Sequence[Definition], steps: Steps) -> LiveDefinitions:
    views = current_definitions(catalog.views(), stored, dialect) if steps.views else ()
    # What Spark cannot have, such as a procedure, the catalog may still tell.
    others = (
        definition
        for definition in stored
        if definition.kind is DefinitionKind.ROUTINE or catalog.parts(RelationKey(definition.place)) is None
    )
    return LiveDefinitions(dialect, (*views, *others), columns=catalog.columns())


def _of_database(
    database: PostgresDatabase, dialect: str, stored: Sequence[Definition], steps: Steps
) -> LiveDefinitions:
    live: list[Definition] = []
    if steps.views:
        live += database.views()
    if steps.procedures:
        live += database.routines()
    columns = {RelationKey(place): known for place, known in database.columns().items()}
    return LiveDefinitions(dialect, current_definitions(live, stored, dialect), database, columns)
