"""The lineage of SQL files, and where one of its columns comes from."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from connectors.model_project import ModelProject, dotted_name, script_text
from connectors.sql_files.scripts import Script, model_script, project_script, read_script, sql_text, sql_texts
from connectors.sqlmesh.model_files import begins_as_model
from ingestion.arguments import candidates_text, suggestion
from ingestion.dialects import dialect_of
from ingestion.dialects.other_dialects import fitting_types, is_share, mismatch_text, other_dialect
from ingestion.errors import ConfigError, RecordError
from ingestion.parser import JSON_VERSION, ColumnEdge, LineageParser, problem_text
from ingestion.scripts.explanation import Explanation, column_names, columns_called, explain
from ingestion.statements import split

if TYPE_CHECKING:
    from connectors.dbt.model_statements import DbtProject
    from connectors.sql_files.dbt_models import TableEdges
    from ingestion.graph import LineageGraph

DEFAULT_DIALECT = "ansi"
EVERY_COLUMN = "(every column)"
_SHOWN = 80
_LINE = re.compile(r"^line (?P<line>\d+)(?:, column \d+)?: ")
"""Files are put together with what goes before and without what dbt alone reads: their columns are others."""

Schema = Mapping[str, Mapping[str, str]]

_FAILURE = re.compile(r"\[(?P<text>\d+)\] line (?P<line>\d+)(?:, column \d+)?: (?P<reason>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ScriptLineage:
    """What a script's tables and columns come from; `failures` are its unreadable statements, by file and line."""

    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    intermediates: tuple[str, ...] = ()
    edges: tuple[ColumnEdge, ...] = ()
    problems: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    reads: TableEdges = ()
    notes: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        return (*self.sources, *self.targets, *self.intermediates)

    def tree(self) -> dict[str, dict[str, list[tuple[str, str]]]]:
        """Target table -> its column -> (source column, how it was made), in the order of the script.

        What acts on whole rows (a filter, a join) comes once, under EVERY_COLUMN.
        """
        found: dict[str, dict[str, list[tuple[str, str]]]] = {}
        for table, columns in self._columns().items():
            for_all = {row for row, count in Counter(chain(*columns.values())).items() if count == len(columns) > 1}
            rows = {column: [row for row in rows if row not in for_all] for column, rows in columns.items()}
            shared = [row for row in next(iter(columns.values())) if row in for_all]
            found[table] = rows | ({EVERY_COLUMN: shared} if shared else {})
        for table in (*self.intermediates, *self.targets):
            found.setdefault(table, {})
        for source, target in self.reads:  # of a table by which no column is told
            found.setdefault(target, {})  # one without SQL may be read, and made by nothing else
            if not found[target]:
                found[target] = {EVERY_COLUMN: [(source, "table")]}
            elif (known := found[target].get(EVERY_COLUMN)) and known[0][1] == "table":
                known.append((source, "table"))
        return found

    def _columns(self) -> dict[str, dict[str, list[tuple[str, str]]]]:
        found: dict[str, dict[str, list[tuple[str, str]]]] = {}
        for edge in self.edges:
            columns = found.setdefault(str(edge.target.table or "(query)"), {})
            rows = columns.setdefault(edge.target.column, [])
            row = (str(edge.source), _how(edge))
            if row not in rows:
                rows.append(row)
        return found

    def to_json(self) -> dict[str, Any]:
        """The same as JSON: `version`, tables by role, `column_lineage`, `problems`, `failures`."""
        return {
            "version": JSON_VERSION,
            "source_tables": list(self.sources),
            "target_tables": list(self.targets),
            "intermediate_tables": list(self.intermediates),
            "column_lineage": [edge.to_dict() for edge in self.edges],
            "table_lineage": [{"source": source, "target": target} for source, target in self.reads],
            "problems": list(self.problems),
            "failures": list(self.failures),
            "notes": list(self.notes),
        }


def script_lineage(sql: str, dialect: str | None, schema: Path | None, timeout_seconds: float) -> ScriptLineage:
    """The lineage of a file, a directory, a dbt project or standard input (`-`), bound to the tables in `schema`.

    `dialect` None: that of the project's adapter, ansi for anything else. Raises ConfigError for an unknown dialect
    and for files that cannot be read.
    """
    known: Schema = {}
    before = schema
    if schema is not None and schema.suffix == ".json":
        known, before = schema_from_json(schema), None
    project = _project(sql, dialect, timeout_seconds)
    if isinstance(project, ModelProject):
        return _of_models(project, before, {**_models_schema(project), **known}, timeout_seconds)
    if project is not None:
        from connectors.sql_files.dbt_models import schema_of

        dialect, known = project.dialect, {**schema_of(project), **known}
    dialect = dialect or DEFAULT_DIALECT
    script = project_script(project, before) if project is not None else read_script(sql, dialect_of(dialect), before)
    if project is None:
        _refuse_empty(script, dialect, before)
    found = _of_script(script, dialect, known, timeout_seconds)
    _refuse_schema_failures(before, found.failures)
    return found if project is None else _of_project(project, found)


def _of_script(script: Script, dialect: str, known: Schema, timeout_seconds: float) -> ScriptLineage:
    notes = tuple(_other_dialect(script.text, dialect))
    try:
        parser = LineageParser(script.text, dialect, known, timeout_seconds, script.parts)
    except RecordError as error:
        failures = (located_failure(failure, script) for failure in str(error).split("; "))
        return ScriptLineage(failures=(*script.unread, *failures), notes=notes)
    return ScriptLineage(
        sources=tuple(map(str, parser.source_tables)),
        targets=tuple(map(str, parser.target_tables)),
        intermediates=tuple(map(str, parser.intermediate_tables)),
        edges=parser.edges,
        problems=tuple(map(problem_text, parser.problems)),
        failures=(
            *script.unread,
            *(located_failure(failure, script) for failure in (*parser.failures, *parser.unread_calls)),
        ),
        reads=tuple((str(source), str(target)) for source, target in parser.table_lineage),
        notes=notes,
    )


def _other_dialect(script: str, dialect: str) -> Iterator[str]:
    """That a share of a script's statements is of another dialect, and which fits."""
    texts = {statement.text for statement in split(script, dialect)}
    found = Counter(other.forms for text in texts if (other := other_dialect(text, dialect)) is not None)
    if is_share(found, len(texts)):
        fitting = fitting_types(found)
        mend = f": try --dialect {dialect_of(fitting[0]).name}" if fitting else ""
        yield f"{mismatch_text(found, len(texts), dialect)}{mend}"


def _refuse_empty(script: Script, dialect: str, before: Path | None) -> None:
    """Raises ConfigError where no statement was given: an unset variable, a pipe that nothing came through."""
    first = script.files[1 if before is not None else 0][0]
    if not script.unread and not split(script.text.split("\n", first - 1)[-1], dialect):
        raise ConfigError("there is no statement in what was given: an empty text tells of no lineage")


def _of_project(project: DbtProject, found: ScriptLineage) -> ScriptLineage:
    """The lineage with what only dbt tells: models in Python, references that it was not told of, what is templated."""
    from connectors.sql_files.dbt_models import table_edges, undeclared_reads

    found = _without_unknown(found, frozenset(one.node.dotted.lower() for one in project.partial))
    whole = replace(
        found,
        failures=(*(str(failure) for failure in project.failures), *found.failures),
        notes=(*found.notes, *project.notes, *undeclared_reads(project, found.reads).lines()),
    )
    partial = tuple((read.dotted, one.node.dotted) for one in project.partial for read in one.reads)
    new = tuple(edge for edge in partial if edge not in whole.reads)
    whole = replace(whole, failures=(*map(str, project.partial), *whole.failures))
    return _with_table_edges(whole, (*table_edges(project), *new))


def _without_unknown(found: ScriptLineage, partial: frozenset[str]) -> ScriptLineage:
    """The lineage without what stands for something unknown; of models of which a part is, no column is certain."""
    if not partial:
        return found
    from connectors.dbt.nodes import NOT_KNOWN

    unknown = re.compile(NOT_KNOWN, re.IGNORECASE)  # a dialect may fold it

    def known_names(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in names if not unknown.search(name))

    edges = tuple(
        replace(edge, certain=False, expression=unknown.sub("?", edge.expression))
        if str(edge.target.table).lower() in partial
        else edge
        for edge in found.edges
        if not unknown.search(f"{edge.source} {edge.target}")
    )
    return replace(
        found,
        sources=known_names(found.sources),
        targets=known_names(found.targets),
        intermediates=known_names(found.intermediates),
        edges=edges,
        problems=known_names(found.problems),
        reads=tuple(edge for edge in found.reads if not unknown.search(" ".join(edge))),
    )


def _project(name: str, dialect: str | None, timeout_seconds: float) -> ModelProject | DbtProject | None:
    """The project at the path `name`; None for a file of SQL alone and for standard input.

    Raises ConfigError and UnreadableArtifact.
    """
    path = Path(name)
    if name == "-" or (path.suffix == ".sql" and path.is_file() and not begins_as_model(path)):
        return None
    from connectors.sql_files.projects import project_at  # all kinds of project: a third of what a file takes

    return project_at(path, dialect, timeout_seconds)


def _models_schema(project: ModelProject) -> dict[str, Mapping[str, str]]:
    """The columns of what no statement of the project makes."""
    return {
        dotted_name(key): {column.name: column.type for column in columns} for key, columns in project.columns.items()
    }


def _of_models(project: ModelProject, before: Path | None, known: Schema, timeout_seconds: float) -> ScriptLineage:
    """The lineage of a project of models, those that could not be read among its failures."""
    script = model_script(project, before)
    found = _of_script(script, project.dialect, known, timeout_seconds) if script.files else ScriptLineage()
    _refuse_schema_failures(before, found.failures)
    declared = list(project.unconfirmed_reads(found.reads))
    doubted = (
        f"{one.origin}: it is declared to read {source}, which its SQL does not tell" for source, one in declared
    )
    return _with_table_edges(
        replace(
            found,
            failures=(*map(str, project.failures), *found.failures),
            notes=(*found.notes, *project.notes, *doubted),
        ),
        (*project.table_edges, *((source, model.dotted) for source, model in declared)),
    )


def _with_table_edges(found: ScriptLineage, edges: TableEdges) -> ScriptLineage:
    """The lineage with tables of which it is known what they read, and by no column."""
    written, read = {target for _, target in edges}, {source for source, _ in edges}
    sources, targets = set(found.sources), set(found.targets)
    between = {one for one in written if one in sources or one in read} | {one for one in targets if one in read}
    return replace(
        found,
        sources=(*(one for one in found.sources if one not in between), *_new(read, found, between)),
        targets=(*(one for one in found.targets if one not in between), *_new(written, found, between)),
        intermediates=(*found.intermediates, *sorted(between - set(found.intermediates))),
        reads=(*found.reads, *edges),
    )


def _new(names: set[str], found: ScriptLineage, between: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names - between - set(found.tables)))


def _refuse_schema_failures(schema: Path | None, failures: Iterable[str]) -> None:
    """Raises ConfigError with the first of the failures (file:line: why) that lies in the file of the schema."""
    wrong = next((failure for failure in failures if schema is not None and failure.startswith(f"{schema}:")), None)
    if wrong is not None:
        raise ConfigError(wrong)


def schema_from_json(file: Path) -> Schema:
    """The tables of a JSON file {"schema.table": {"column": "type"}}. Raises ConfigError where it is none."""
    try:
        content = json.loads(sql_text(file))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{file}:{error.lineno}: not valid JSON") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply") from None
    except ValueError:
        raise ConfigError(f"{file}: a number of more digits than one has") from None
    expected = 'expected {"schema.table": {"column": "type"}}'
    if not isinstance(content, dict):
        raise ConfigError(f"{file}: {expected}")
    for table, columns in content.items():
        if not isinstance(columns, dict):
            raise ConfigError(f"{file}: {table[:_SHOWN]}: {expected}")
        wrong = next((name for name, type_ in columns.items() if not isinstance(type_, str)), None)
        if wrong is not None:
            raise ConfigError(f"{file}: {table[:_SHOWN]}.{wrong[:_SHOWN]}: expected the name of a type")
    return content


def located_failure(failure: str, script: Script) -> str:
    """`line 7: why` as `file:3: why`."""
    found = _LINE.match(failure)
    return f"{script.location(int(found['line']))}: {failure[found.end() :]}" if found else failure


def _how(edge: ColumnEdge) -> str:
    words = [edge.subtype.value.lower().replace("_", " "), edge.expression]
    if edge.masking:
        words.append("masked")
    if not edge.certain:
        words.append("not certain")
    return ", ".join(word for word in words if word)


# Where a column comes from, asked of SQL files.


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
    project = _project(sql.name, sql.dialect, sql.timeout_seconds)
    unread: tuple[str, ...] = ()
    if isinstance(project, ModelProject):
        dialect, known = project.dialect, {**_models_schema(project), **known}
        parts = [(one.origin, script_text(one, project)) for one in project.models if one.text]
    elif project is None:
        dialect = sql.dialect or DEFAULT_DIALECT
        parts, unread = _texts(sql, dialect)
    else:
        from connectors.sql_files.dbt_models import in_warehouse, schema_of

        dialect, known = project.dialect, {**schema_of(project), **known}
        parts = [(one.origin, one.text) for one in project.statements]
        column = in_warehouse(project, column)
    texts = [text for _, text in parts]
    from ingestion.graph import lineage_graph  # slow to load, as NetworkX is

    graph = lineage_graph(texts, dialect, known, sql.timeout_seconds, keep_temporary=True)
    named = [_with_location(failure, [name for name, _ in parts]) for failure in graph.failures]
    _refuse_schema_failures(sql.schema, named)
    failures = (*unread, *(map(str, project.failures) if project is not None else ()), *named)
    return explain(graph.document, _only(column, graph, failures)), failures


def _texts(sql: SqlOptions, dialect: str) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """(Name, text) of everything to read, and the files that cannot be."""
    before = [(str(sql.schema), sql_text(sql.schema))] if sql.schema and sql.schema.suffix != ".json" else []
    texts, unread = sql_texts(sql.name, dialect_of(dialect))
    return [*before, *texts], unread


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
