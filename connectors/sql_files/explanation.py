"""Where a column comes from, asked of SQL files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from connectors.sql_files.dbt_models import dbt_project, in_warehouse, schema_of
from connectors.sql_files.lineage import DEFAULT_DIALECT, refuse_schema_failures, schema_from_json
from connectors.sql_files.scripts import sql_text, sql_texts
from ingestion.arguments import candidates_text, suggestion
from ingestion.dialects import dialect_of
from ingestion.errors import ConfigError
from ingestion.graph import LineageGraph, lineage_graph
from ingestion.scripts.explanation import Explanation, column_names, columns_called, explain

_FAILURE = re.compile(r"\[(?P<text>\d+)\] line (?P<line>\d+)(?:, column \d+)?: (?P<reason>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SqlOptions:
    """Where SQL is (a file, a directory, - for standard input), its dialect, and the tables that are known before."""

    name: str
    dialect: str | None = None
    schema: Path | None = None
    timeout_seconds: float = 30


def explain_in_sql(column: str, sql: SqlOptions) -> tuple[Explanation, tuple[str, ...]]:
    """The explanation of a column that the SQL makes, and the statements that could not be read (file:line: why).

    Raises ConfigError for files that cannot be read, and for a column that is not there or not just one.
    """
    known = schema_from_json(sql.schema) if sql.schema is not None and sql.schema.suffix == ".json" else {}
    project = dbt_project(sql.name, sql.dialect, sql.timeout_seconds)
    if project is None:
        dialect = sql.dialect or DEFAULT_DIALECT
        parts = _texts(sql, dialect)
    else:
        dialect, known = project.dialect, {**schema_of(project), **known}
        parts = [(one.origin, one.text) for one in project.statements]
        column = in_warehouse(project, column)
    texts = [text for _, text in parts]
    graph = lineage_graph(texts, dialect, known, sql.timeout_seconds, keep_temporary=True)
    named = [_with_location(failure, [name for name, _ in parts]) for failure in graph.failures]
    refuse_schema_failures(sql.schema, named)
    failures = (*(map(str, project.failures) if project is not None else ()), *named)
    return explain(graph.document, _only(column, graph, failures)), failures


def _texts(sql: SqlOptions, dialect: str) -> list[tuple[str, str]]:
    """(Name, text) of everything to read."""
    before = [(str(sql.schema), sql_text(sql.schema))] if sql.schema and sql.schema.suffix != ".json" else []
    return [*before, *sql_texts(sql.name, dialect_of(dialect))]


def _only(column: str, graph: LineageGraph, failures: tuple[str, ...]) -> str:
    found = columns_called(graph.document, column)
    if len(found) > 1:
        raise ConfigError(f"{column} {candidates_text(found)}; give more of its name")
    if not found:
        names = column_names(graph.document)
        tables = [name.rpartition(".")[0] for name in names]
        near = suggestion(column, names) or suggestion(column.rpartition(".")[0], dict.fromkeys(tables))
        unread = f" (not read: {failures[0]})" if failures else ""
        raise ConfigError(f"{column}: no such column in this SQL{near}{unread}")
    return found[0]


def _with_location(failure: str, names: list[str]) -> str:
    """`[1] line 7: why` as `file:7: why`."""
    found = _FAILURE.fullmatch(failure)
    return f"{names[int(found['text'])]}:{found['line']}: {found['reason']}" if found else failure
