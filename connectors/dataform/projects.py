"""A Dataform project by its compiled graph: `dataform compile --json`, whose queries have no templates any more.

{"tables": [{"type": "view", "target": {"schema": "mart", "name": "daily"}, "query": "SELECT …"}],
 "operations": […], "assertions": […], "declarations": […], "projectConfig": {"warehouse": "bigquery"}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ijson

from connectors.model_project import Key, ModelProject, ProjectFailure, ProjectModel, view_model, without_twins
from ingestion.arguments import files_below, leads_out
from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code
from ingestion.errors import ConfigError, Templated, Unparsable
from ingestion.model.outcomes import Outcome

_ACTIONS = ("tables", "operations", "assertions", "declarations")
_OF_SERVICE = "compilationResultActions"
"""What the REST API's `compilationResults:query` answers: the actions in one list, each by what it has."""
_KEYS = frozenset((*_ACTIONS, "projectConfig", "graphErrors", "dataformCoreVersion", "targets", _OF_SERVICE))
_NEXT = "nextPageToken"
_OUTPUT = "hasOutput"
_BESIDE = ("preOps", "postOps", "incrementalPreOps", "incrementalPostOps")
_PROJECT_FILES = ("workflow_settings.yaml", "dataform.json")
_BIGQUERY = "bigquery"
_PLAIN_DATABASE = re.compile(r"[\w$:.-]+")
_DIALECTS = {"sqldatawarehouse": "tsql"}
_NEWEST_VERSION = 3
_MOST_BYTES = 128 << 20
_MOST_ACTIONS = 50_000
_COMPILE = "compile the project, and name what it writes: dataform compile --json > graph.json"


def is_dataform(path: Path) -> bool:
    """Whether a path is a compiled graph, or the folder of a Dataform project or of its graph alone."""
    if path.is_file():
        return path.suffix == ".sqlx" or (path.suffix == ".json" and _is_graph(path))
    if any((path / name).is_file() for name in _PROJECT_FILES):
        return True
    if not path.is_dir():
        return False
    has_sqlx = next(path.rglob("*.sqlx"), None) is not None
    return has_sqlx or (next(path.rglob("*.sql"), None) is None and bool(_graphs_in(path)))


def _is_graph(file: Path) -> bool:
    """By its first key, whatever stands behind it."""
    try:
        with file.open("rb") as opened:
            first = next((value for kind, value in ijson.basic_parse(opened) if kind == "map_key"), None)
    except (OSError, ijson.JSONError, UnicodeDecodeError):
        return False
    return first in _KEYS


def _graph_file(path: Path) -> Path | None:
    """The graph of a path; None where a project has none. Raises ConfigError where it has several."""
    if path.suffix == ".sqlx":
        return None
    if not path.is_dir():
        return path
    found = _graphs_in(path)
    if len(found) > 1:
        raise ConfigError(f"{path} has several compiled graphs ({', '.join(file.name for file in found)}): name one")
    return found[0] if found else None


def _graphs_in(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*.json")) if file.name not in _NOT_GRAPHS and _is_graph(file)]


_NOT_GRAPHS = frozenset({"dataform.json", "package.json", "package-lock.json"})


def graph_dialect(path: Path) -> str:
    """The dialect of a project's warehouse; that of BigQuery where no graph tells it. Raises ConfigError."""
    file = _graph_file(path)
    return _dialect(_read(file)) if file is not None else _BIGQUERY


def open_dataform(path: Path, dialect: str | None = None) -> ModelProject:
    """The project at a path: its compiled graph; without one its SQLX files are failures, each by its name.

    `dialect` None: that of its warehouse. Raises ConfigError where the graph is none.
    """
    file = _graph_file(path)
    if file is None:
        return _not_compiled(path, dialect)
    graph = _read(file)
    language = dialect_of(dialect).name if dialect is not None else _dialect(graph)
    models, failures = _models(file, graph, language)
    default = _default_database(graph)
    project = ModelProject(
        str(path.name or path.resolve().name),
        language,
        tuple(models),
        failures=tuple(failures),
        notes=tuple(_notes(file, graph)),
        default_database=default,
        session=f"SET @@dataset_project_id = '{default}'" if default and language == _BIGQUERY else "",
    )
    return without_twins(project)


def _default_database(graph: Mapping[str, Any]) -> str:
    """The project in which the jobs of a graph run: `mart.daily` is a table of it."""
    config = graph.get("projectConfig")
    found = config.get("defaultDatabase") if isinstance(config, dict) else None
    return found if isinstance(found, str) and _PLAIN_DATABASE.fullmatch(found) else ""


def _not_compiled(path: Path, dialect: str | None) -> ModelProject:
    inside, outside = ([path], []) if path.is_file() else files_below(path, "*.sqlx")
    files = [file for file in inside if "node_modules" not in file.parts]
    if not files:
        raise ConfigError(f"{path} has no compiled graph: {_COMPILE}")
    failures = tuple(ProjectFailure(f"{file}:1", f"{Templated.code}: SQLX that is not compiled") for file in files)
    notes = (f"no compiled graph: {_COMPILE}", *map(leads_out, outside))
    return ModelProject(path.name, dialect_of(dialect or _BIGQUERY).name, failures=failures, notes=notes)


def _read(file: Path) -> Mapping[str, Any]:
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise ConfigError(f"{file} is over {_MOST_BYTES >> 20} MB: no compiled graph is as large")
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None
    except json.JSONDecodeError as error:
        raise ConfigError(f"{file}:{error.lineno}: not whole JSON; {_COMPILE}") from None
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply") from None
    except ValueError:
        raise ConfigError(f"{file}: not JSON in UTF-8; {_COMPILE}") from None
    if isinstance(content, dict) and isinstance(content.get(_OF_SERVICE), list):
        content = _of_service(content)
    if not isinstance(content, dict) or not _KEYS & content.keys():
        raise ConfigError(f"{file} is no compiled graph of Dataform; {_COMPILE}")
    wrong = next((name for name in _ACTIONS if not isinstance(content.get(name, []), list)), None)
    if wrong is not None:
        raise ConfigError(f"{file}: {wrong} is no list, as it is in a compiled graph of Dataform")
    if sum(len(content.get(name, ())) for name in _ACTIONS) > _MOST_ACTIONS:
        raise ConfigError(f"{file} has more than {_MOST_ACTIONS} actions: no project is as large")
    return content


def _of_service(answer: Mapping[str, Any]) -> dict[str, Any]:
    """An answer of the service as a graph of the compiler: `{"relation": {"selectQuery": …}}` is one of its tables."""
    graph: dict[str, Any] = {name: [] for name in _ACTIONS}
    for given in answer[_OF_SERVICE]:
        action = given if isinstance(given, dict) else {}
        common = {"target": action.get("target"), "fileName": action.get("filePath")}
        relation, operations = action.get("relation"), action.get("operations")
        if isinstance(relation, dict):
            later = relation.get("incrementalTableConfig")
            kind = str(relation.get("relationType") or "table").lower().removesuffix("_table")
            graph["tables"].append(
                {
                    **common,
                    "enumType": kind,
                    "query": relation.get("selectQuery"),
                    "incrementalQuery": later.get("incrementalSelectQuery") if isinstance(later, dict) else None,
                    "disabled": relation.get("disabled"),
                    "dependencyTargets": relation.get("dependencyTargets"),
                    "preOps": relation.get("preOperations"),
                    "postOps": relation.get("postOperations"),
                }
            )
        elif isinstance(operations, dict):
            given_too = {name: operations.get(name) for name in ("queries", "disabled", "dependencyTargets", _OUTPUT)}
            graph["operations"].append({**common, **given_too})
        elif "assertion" in action:
            graph["assertions"].append(common)
        elif "declaration" not in action:
            graph.setdefault(next((name for name in action if name.endswith("s")), "actions"), []).append(common)
    return graph | {_NEXT: answer[_NEXT]} if answer.get(_NEXT) else graph


def _dialect(graph: Mapping[str, Any]) -> str:
    config = graph.get("projectConfig")
    warehouse = str(config.get("warehouse") or _BIGQUERY).lower() if isinstance(config, dict) else _BIGQUERY
    try:
        return dialect_of(_DIALECTS.get(warehouse, warehouse)).name
    except ConfigError:
        raise ConfigError(f"the warehouse {warehouse[:80]} is not known: name its SQL with --dialect") from None


def _models(file: Path, graph: Mapping[str, Any], language: str) -> tuple[list[ProjectModel], list[ProjectFailure]]:
    models: list[ProjectModel] = []
    failures: list[ProjectFailure] = []
    default = _default_database(graph)
    for kind in ("tables", "operations"):
        for number, action in enumerate(graph.get(kind, ())):
            where = f"{file}: {kind}[{number}]"
            target = _target(action)
            if target is None:
                failures.append(ProjectFailure(where, f"{Outcome.MALFORMED_RECORD}: it has no target"))
                continue
            if action.get("disabled") is True:
                continue
            key = _with_database(target, default)
            origin = f"{action['fileName']} (compiled)" if isinstance(action.get("fileName"), str) else where
            queries, text = (_queries(action), None) if kind == "tables" else ((), _operation_text(action))
            # an operation without an output is no table, however its target is called
            is_table = kind == "tables" or action.get(_OUTPUT) is True
            found = _declared_reads(action, "\n".join((*queries, text or "")), language) if is_table else ()
            declared = tuple(dict.fromkeys(_with_database(read, default) for read in found))
            if queries:
                model = view_model(key, origin, queries, language, _kind(action, kind))
                models.append(replace(model, declared=declared))
            elif text is not None:
                models.append(ProjectModel(key, origin, text, (), _kind(action, kind), declared=declared))
            else:
                failures.append(ProjectFailure(origin, f"{Outcome.MALFORMED_RECORD}: it has no query", key))
    return models, failures


def _with_database(key: Key, default: str) -> Key:
    """A name of a table in a schema, in the project where it says none."""
    return (key[0] or default, *key[1:]) if key[1] else key


def _kind(action: Mapping[str, Any], kind: str) -> str:
    written = action.get("enumType") or action.get("type")
    return written.lower() if isinstance(written, str) else kind.removesuffix("s")


def _target(action: object) -> Key | None:
    target = action.get("target") if isinstance(action, dict) else None
    parts = [target.get(name) or "" for name in ("database", "schema", "name")] if isinstance(target, dict) else []
    if (
        len(parts) != len(("database", "schema", "name"))
        or not parts[2]
        or not all(isinstance(one, str) for one in parts)
    ):
        return None
    return parts[0], parts[1], parts[2]


def _declared_reads(action: Mapping[str, Any], text: str, language: str) -> tuple[Key, ...]:
    """The dependencies of an action that its text names, as it does: one that it does not name is only to run before.

    An assertion is among those, and whatever is listed as `dependencies` alone.
    """
    given = action.get("dependencyTargets")
    wanted = [_target({"target": one}) for one in given] if isinstance(given, list) else []
    tails = {_tail(key) for key in wanted if key is not None}
    return tuple(dict.fromkeys(key for key in _names_in(text, language) if _tail(key) in tails)) if tails else ()


def _tail(key: Key) -> tuple[str, ...]:
    return tuple(part.casefold() for part in key if part)[-2:]


def _names_in(text: str, language: str) -> Iterator[Key]:
    """The dotted names of a text, of a query or not: of BigQuery's quotes there may be one pair around all parts."""
    try:
        code = Code.of(text, dialect_of(language))
    except Unparsable:
        return
    index = 0
    while index < len(code):
        parts, end = code.dotted_name(index)
        database, schema, name = ("", "", "", *".".join(parts).split("."))[-3:]
        if name:
            yield database, schema, name
        index = max(end, index + 1)


def _queries(action: Mapping[str, Any]) -> tuple[str, ...]:
    """The query; of an incremental table beside it the one that adds rows later."""
    queries = (action.get("query"), action.get("incrementalQuery"))
    return tuple(dict.fromkeys(one.strip().rstrip(";") for one in queries if isinstance(one, str) and one.strip()))


def _operation_text(action: Mapping[str, Any]) -> str | None:
    queries = action.get("queries")
    texts = (
        [one.strip().rstrip(";") for one in queries if isinstance(one, str) and one.strip()]
        if isinstance(queries, list)
        else []
    )
    return ";\n".join(texts) or None


def _statements_beside(action: object) -> int:
    """How many statements run before and after the query of an action."""
    if not isinstance(action, dict) or action.get("disabled") is True:
        return 0
    return sum(len(given) for name in _BESIDE if isinstance(given := action.get(name), list))


def _notes(file: Path, graph: Mapping[str, Any]) -> Iterator[str]:
    version = graph.get("dataformCoreVersion")
    major = str(version or "").partition(".")[0]
    if major.isdigit() and int(major) > _NEWEST_VERSION:
        yield f"{file} is of Dataform {version}, newer than {_NEWEST_VERSION}: what is known of it was read"
    unknown = sorted(str(name)[:80] for name in graph.keys() - _KEYS if isinstance(graph[name], list) and graph[name])
    known_others = {"tests", "notebooks", "dataPreparations", "jitCode", "runConfig"}
    for other in unknown:
        word = "is no SQL" if other in known_others else "is not known"
        yield f"{file}: {other} {word}: {len(graph[other])} not read"
    if graph.get(_NEXT):
        yield f"{file} is one page of several ({_NEXT}): the actions of the others are not in it"
    if assertions := graph.get("assertions"):
        yield f"{len(assertions)} assertions are no tables: not read"
    if beside := sum(map(_statements_beside, graph.get("tables", ()))):
        yield f"{beside} statements before or after a query (pre_operations, post_operations): not read"
    errors = graph.get("graphErrors")
    compilation = errors.get("compilationErrors") if isinstance(errors, dict) else None
    for error in compilation if isinstance(compilation, list) else ():
        name = error.get("fileName") if isinstance(error, dict) else None
        yield f"{name or file}: Dataform could not compile it"
    disabled = sum(
        1
        for kind in ("tables", "operations")
        for one in graph.get(kind, ())
        if isinstance(one, dict) and one.get("disabled") is True
    )
    if disabled:
        yield f"{disabled} actions are disabled: not read"
