"""A SQLMesh project on disk: its configuration, its models in SQL and Python, its seeds and external models."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from connectors.model_project import (
    Key,
    ModelProject,
    ProjectFailure,
    ProjectModel,
    key_of_name,
    quoted_name,
    without_twins,
)
from connectors.scratch import scratch_folder
from connectors.sqlmesh._headers import MalformedHeader, ModelHeader, model_header
from connectors.sqlmesh._library import LibraryAnswer, LibraryWork, library_python, rendered_by_library
from connectors.sqlmesh._python_models import python_models
from connectors.sqlmesh.model_files import HEADER, begins_as_model
from connectors.yaml_values import load_yaml
from ingestion.arguments import files_below, leads_out
from ingestion.dialects import dialect_of
from ingestion.errors import ConfigError, ParseMemory, ParseTimeout, Templated
from ingestion.model.lineage import Column
from ingestion.parsing.sandbox.process import Limits, Sandbox

if TYPE_CHECKING:
    from connectors.sqlmesh._rendering import ProjectScope

_CONFIGS = ("config.yaml", "config.yml", "config.py")
_NO_NAME = f"{Templated.code}: its name is no name"
_PROCESS = "connectors.sqlmesh._rendering"
_DIALECT_IN_PYTHON = re.compile(r"""dialect["']?\s*[:=]\s*["'](\w+)["']""")
_PYTHON_MODEL = re.compile(r"^from sqlmesh\b[^\n]* import [\s\S]*?^@model\(", re.MULTILINE)
_LONGEST_FILE = 16 << 20
_EXTERNAL = ("external_models.yaml", "schema.yaml", "external_models/*.yaml")
_MODELS = "models"
_SCD = ("SCD_TYPE_2", "SCD_TYPE_2_BY_TIME", "SCD_TYPE_2_BY_COLUMN")
_NO_MODELS = frozenset({"audits", "tests", "macros", "metrics", "seeds"})
"""Folders beside `models`; below it they are as any other, as `models/seeds`."""
_NOT_OF_PROJECT = frozenset({".cache", "node_modules", ".git", ".venv"})
_TEMPLATE = re.compile(r"\{[{%#]")
_CONNECTIONS = {"spark": "spark", "databricks": "databricks", "mssql": "tsql", "azuresql": "tsql",
                "gcp_postgres": "postgres", "motherduck": "duckdb"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SqlmeshOptions:
    """How a project is read: `dialect` None is its own, `python` the interpreter that has sqlmesh, None for our own.

    `own_rules`: SQLMesh is not asked, so that no code of the project is run.
    """

    dialect: str | None = None
    python: str | None = None
    own_rules: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class _Config:
    dialect: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Files:
    root: Path
    sql: Mapping[Path, str]
    python: Mapping[Path, str]
    outside: tuple[Path, ...] = ()
    unread: tuple[ProjectFailure, ...] = ()


@dataclass(frozen=True, slots=True)
class _Query:
    """A model that was rendered: `text` "" is that of a seed, `reason` says why there is none."""

    name: str
    text: str = field(default="", repr=False)
    reason: str = ""


def is_sqlmesh(path: Path) -> bool:
    """Whether a path is a file or a folder with models of SQLMesh."""
    if path.is_file():
        return path.suffix == ".sql" and begins_as_model(path)
    has_sql = any(map(begins_as_model, _sql_files(path)[0]))
    return has_sql or any(map(_has_python_models, _sql_files(path, "*.py")[0]))


def _sql_files(folder: Path, pattern: str = "*.sql") -> tuple[list[Path], list[Path]]:
    found = files_below(folder, pattern)
    inside, outside = ([file for file in files if _may_have_models(file, folder)] for files in found)
    return inside, outside


def _may_have_models(file: Path, folder: Path) -> bool:
    below = file.relative_to(folder).parts
    beside = () if folder.absolute().name == _MODELS else below[: below.index(_MODELS)] if _MODELS in below else below
    return _NO_MODELS.isdisjoint(beside) and _NOT_OF_PROJECT.isdisjoint(below)


def _has_python_models(file: Path) -> bool:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return _PYTHON_MODEL.search(opened.read(64 << 10)) is not None
    except OSError:
        return False


def open_sqlmesh(path: Path, options: SqlmeshOptions) -> ModelProject:
    """The project in a folder, or the one model in a file. Raises ConfigError where its configuration is broken."""
    root = path if path.is_dir() else path.parent
    config = _read_config(_project_root(root))
    language = dialect_of(options.dialect or config.dialect or "ansi").name
    files = _read_files(path)
    queries, notes = _render(files, replace(config, dialect=language), options)
    models, failures = _sql_models(files, queries, language)
    python, more = _python_project(files, language)
    project = ModelProject(
        root.resolve().name,
        language,
        (*models, *python),
        {**_external_columns(root, language), **_declared_columns(files, queries, language)},
        (*files.unread, *failures, *more),
        (*notes, *map(leads_out, files.outside), *_seeds_outside(files)),
    )
    return without_twins(project)


def project_dialect(path: Path) -> str:
    """The dialect that a project's configuration tells, ansi where it tells none. Raises ConfigError."""
    return _read_config(_project_root(path if path.is_dir() else path.parent)).dialect or "ansi"


def _project_root(folder: Path) -> Path:
    """The folder at or above this one that has the project's configuration; itself where none has."""
    for candidate in (folder, *list(folder.absolute().parents)[:3]):
        if any((candidate / name).is_file() for name in _CONFIGS) and candidate.name != _MODELS:
            return candidate
    return folder


def _read_config(root: Path) -> _Config:
    file = next((root / name for name in _CONFIGS if (root / name).is_file()), None)
    if file is None:
        return _Config()
    text = _text(file)
    if file.suffix == ".py":  # it is not run: it may open connections, and whatever else somebody thought of
        found = _DIALECT_IN_PYTHON.search(text)
        return _Config(_known_dialect(found[1]) if found else "")
    try:
        content = load_yaml(_filled_in(text, file))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        words = f"not valid YAML ({error})" if mark is None else "not valid YAML"
        raise ConfigError(f"{file}:{mark.line + 1 if mark is not None else 1}: {words}") from None
    content = content if isinstance(content, dict) else {}
    gateway = _default_gateway(content)
    variables = _mapping(content, "variables") | _mapping(gateway, "variables")
    dialect = _mapping(content, "model_defaults").get("dialect") or _mapping(gateway, "connection").get("type", "")
    return _Config(_known_dialect(str(dialect)), {str(name).lower(): value for name, value in variables.items()})


def _filled_in(text: str, file: Path) -> str:
    """A configuration's text without its templates, of which `env_var` has its default: the environment is not read."""
    if not _TEMPLATE.search(text):
        return text
    from connectors.sqlmesh._rendering import ProjectScope  # slow to load, as sqlglot is

    (reply,) = _ask([{"configuration": text}], ProjectScope(""), Limits())
    if "text" not in reply:
        raise ConfigError(f"{file}: its template cannot be filled in: {reply.get('reason')}")
    return str(reply["text"])


def _default_gateway(content: Mapping[str, Any]) -> dict[str, Any]:
    """The gateway that SQLMesh takes where nobody names one: the default, else the first."""
    gateways = _mapping(content, "gateways")
    default = str(content.get("default_gateway", ""))
    return _mapping(gateways, default if default in gateways else next(iter(gateways), default))


def _mapping(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = content.get(name)
    return found if isinstance(found, dict) else {}


def _known_dialect(written: str) -> str:
    """A dialect of ours by its name in SQLMesh, where settings may follow: `snowflake, normalization_strategy = …`."""
    name = written.partition(",")[0].strip().lower()
    name = _CONNECTIONS.get(name, name)
    try:
        return dialect_of(name).name if name else ""
    except ConfigError:
        return ""


def _read_files(path: Path) -> _Files:
    sql, python = ([path], []) if path.is_file() else (_sql_files(path)[0], _sql_files(path, "*.py")[0])
    outside = [] if path.is_file() else [*_sql_files(path)[1], *_sql_files(path, "*.py")[1]]
    texts: dict[Path, str] = {}
    unread = []
    for file in (*sql, *python):
        try:
            texts[file] = _text(file)
        except ConfigError as error:
            unread.append(ProjectFailure(str(file), str(error).partition(": ")[2] or str(error)))
    return _Files(
        path if path.is_dir() else path.parent,
        {file: texts[file] for file in sql if file in texts and HEADER.match(texts[file])},
        {file: texts[file] for file in python if file in texts and "model" in texts[file]},
        tuple(outside),
        tuple(unread),
    )


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > _LONGEST_FILE:
            raise ConfigError(f"{file}: over 16 MB: no model is as large")
        return file.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8") from None


# Rendering: by SQLMesh where it is at hand, and by rules of our own what it does not render.


def _render(files: _Files, config: _Config, options: SqlmeshOptions) -> tuple[dict[Path, list[_Query]], list[str]]:
    queries, notes = _by_library(files, config, options)
    left = {file: text for file, text in files.sql.items() if file not in queries}
    own = _by_own_rules(left, config, files.root, options.limits)
    merged = {file: queries.get(file) or own.get(file, []) for file in files.sql}
    return _without_embedded(merged, files, config.dialect, options.limits), notes


def _by_library(files: _Files, config: _Config, options: SqlmeshOptions) -> tuple[dict[Path, list[_Query]], list[str]]:
    python = None if options.own_rules else library_python(options.python)
    if python is None or not files.sql:
        return {}, [] if options.own_rules else [
            "sqlmesh is not installed: its macros were rendered by rules of our own"
        ]
    root = _project_root(files.root)
    work = LibraryWork(
        root,
        dialect_of(config.dialect).sqlglot,
        tuple(files.sql),
        config.variables,
        tuple(_macro_files(root, "*.py")),
        tuple(_macro_files(root, "*.sql")),
    )
    answer = rendered_by_library(python, work, options.limits)
    found = {file: _of_library(answer, file) for file in files.sql if str(file.resolve()) in answer.models}
    notes = [f"{file}: SQLMesh could not load its macros" for file in answer.unread_macros]
    refused = len(files.sql) - len(found)
    if refused:
        notes.append(f"{refused} models are not rendered by SQLMesh {answer.version}: rules of our own were tried")
    return found, notes


def _of_library(answer: LibraryAnswer, file: Path) -> list[_Query]:
    return [
        # a variable that is a part of a name leaves its quotes there
        _Query(str(one["name"]).replace("'", ""), str(one["query"] or ""))
        for one in answer.models[str(file.resolve())]
        if one.get("enabled", True)
    ]


def _macro_files(root: Path, pattern: str) -> list[Path]:
    folder = root / "macros"
    return files_below(folder, pattern, root)[0] if folder.is_dir() else []


def _by_own_rules(texts: Mapping[Path, str], config: _Config, root: Path, limits: Limits) -> dict[Path, list[_Query]]:
    if not texts:
        return {}
    from connectors.sqlmesh._rendering import ProjectScope, jinja_macros_of  # slow to load, as sqlglot is

    macros = "".join(jinja_macros_of(_text(file)) for file in _macro_files(_project_root(root), "*.sql"))
    variables = {name: _as_sql(value) for name, value in config.variables.items()}
    scope = ProjectScope(
        dialect_of(config.dialect).sqlglot, {"gateway": "''", "runtime_stage": "'evaluating'", **variables}, macros
    )
    replies = _ask([{"text": text} for text in texts.values()], scope, limits)
    return {file: list(_of_reply(reply)) for file, reply in zip(texts, replies, strict=True)}


def _as_sql(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).upper() if value is not None else "NULL"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_as_sql, value))}]"
    return str(value) if isinstance(value, int | float) else "'" + str(value).replace("'", "''") + "'"


def _ask(requests: list[dict[str, Any]], scope: ProjectScope, limits: Limits) -> list[dict[str, Any]]:
    with scratch_folder("sqlmesh") as folder, Sandbox(limits) as sandbox:
        file = folder / "scope.json"
        file.write_text(scope.to_json(), "utf-8")
        replies = sandbox.parse(_PROCESS, [(json.dumps(one), str(file)) for one in requests])
    return [json.loads(one.symbolic) if one.symbolic else {"reason": _overrun(one.reason)} for one in replies]


def _overrun(reason: str) -> str:
    words = {ParseTimeout.code: "overruns its time", ParseMemory.code: "overruns its memory"}
    return f"{Templated.code}: {words.get(reason, 'cannot be rendered')}"


def _of_reply(reply: Mapping[str, Any]) -> Iterator[_Query]:
    if "models" not in reply:
        yield _Query("", reason=str(reply.get("reason")))
    for one in reply.get("models", ()):
        yield _Query(str(one["name"]), str(one.get("query", "")), str(one.get("reason", "")))


def _without_embedded(
    queries: Mapping[Path, list[_Query]], files: _Files, dialect: str, limits: Limits
) -> dict[Path, list[_Query]]:
    """The queries with those of embedded models in the place where they are read: no database has them."""
    embedded = {
        query.name: query.text
        for file, found in queries.items()
        if _header(files.sql[file]).kind == "EMBEDDED"
        for query in found
        if query.name  # without a text too, where it is not rendered: who reads it cannot be read
    }
    if not embedded:
        return dict(queries)
    readers = [
        (file, query) for file, found in queries.items() for query in found if query.text and query.name not in embedded
    ]
    from connectors.sqlmesh._rendering import ProjectScope  # slow to load, as sqlglot is

    scope = ProjectScope(dialect_of(dialect).sqlglot)
    replies = _ask([{"text": query.text, "embedded": embedded} for _, query in readers], scope, limits)
    made: dict[Path, list[_Query]] = {
        file: [query for query in found if query.reason or (not query.text and query.name not in embedded)]
        for file, found in queries.items()
    }
    for (file, query), reply in zip(readers, replies, strict=True):
        made[file].append(replace(query, text=str(reply.get("query", "")), reason=str(reply.get("reason", ""))))
    return made


def _header(text: str) -> ModelHeader:
    try:
        return model_header(text) or ModelHeader()
    except MalformedHeader:
        return ModelHeader()


# The models.


def _sql_models(
    files: _Files, queries: Mapping[Path, list[_Query]], language: str
) -> tuple[list[ProjectModel], list[ProjectFailure]]:
    models: list[ProjectModel] = []
    failures: list[ProjectFailure] = []
    for file, found in queries.items():
        header = _header(files.sql[file])
        for query in found if header.enabled else ():
            try:
                key = key_of_name(_name_of(query, header, file, files.root), language)
            except ValueError:
                failures.append(ProjectFailure(f"{file}:1", query.reason or _NO_NAME))
                continue
            if query.reason:
                failures.append(ProjectFailure(f"{file}:1", query.reason, key))
            elif query.text:
                models.append(_model(key, file, query.text, header, language))
    return models, failures


def _name_of(query: _Query, header: ModelHeader, file: Path, root: Path) -> str:
    """The name; where a header has none it is that of the file below `models`, as SQLMesh infers it."""
    if query.name or header.name:
        return query.name or header.name
    parts = list(file.relative_to(root).with_suffix("").parts)
    return ".".join(parts[parts.index(_MODELS) + 1 :] if _MODELS in parts else parts)


def _model(key: Key, file: Path, query: str, header: ModelHeader, language: str) -> ProjectModel:
    name = quoted_name(key, language)
    body = query.strip().rstrip(";") if header.kind not in _SCD else _with_validity(query.strip().rstrip(";"), header)
    above = "\n" * (len(query) - len(query.lstrip()) and query[: len(query) - len(query.lstrip())].count("\n"))
    return ProjectModel(key, str(file), f"{above}CREATE VIEW {name} AS {body}", (), header.kind, header.grains)


def _with_validity(query: str, header: ModelHeader) -> str:
    """The query with the columns that a slowly changing dimension gets: from when and until when a row held."""
    options = header.options
    updated = options.get("updated_at_name", "updated_at")
    moment = "CURRENT_TIMESTAMP" if header.kind == "SCD_TYPE_2_BY_COLUMN" else f"sqlmesh_rows.{updated}"
    valid_from, valid_to = options.get("valid_from_name", "valid_from"), options.get("valid_to_name", "valid_to")
    return (
        f"SELECT sqlmesh_rows.*, {moment} AS {valid_from}, NULLIF({moment}, {moment}) AS {valid_to} "
        f"FROM ({query}\n) AS sqlmesh_rows"
    )


def _python_project(files: _Files, language: str) -> tuple[list[ProjectModel], list[ProjectFailure]]:
    models: list[ProjectModel] = []
    failures: list[ProjectFailure] = []
    for file, text in files.python.items():
        try:
            found = python_models(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            failures.append(ProjectFailure(f"{file}:{getattr(error, 'lineno', None) or 1}", "not valid Python"))
            continue
        for one in found:
            where = f"{file}:{one.line}"
            try:
                key = key_of_name(one.name, language)
                reads = tuple(dict.fromkeys(key_of_name(name, language) for name in one.reads))
            except ValueError:
                failures.append(ProjectFailure(where, one.reason or _NO_NAME))
                continue
            if one.reason:
                failures.append(ProjectFailure(where, one.reason, key))
            else:
                others = tuple(read for read in reads if read != key)
                models.append(ProjectModel(key, where, "", others, one.kind, one.grains))
    return models, failures


# Columns of what no statement makes: seeds, models in Python, tables from elsewhere.


def _declared_columns(
    files: _Files, queries: Mapping[Path, list[_Query]], language: str
) -> dict[Key, tuple[Column, ...]]:
    named: list[tuple[str, Mapping[str, str]]] = []
    for file, text in files.sql.items():
        header = _header(text)
        if header.kind == "SEED" and header.enabled:
            columns = dict(header.columns) or dict.fromkeys(_seed_header(file, header, _project_root(files.root)), "")
            named += [(_name_of(query, header, file, files.root), columns) for query in queries[file]]
    for text in files.python.values():
        try:
            models = python_models(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # told among the models
        named += [(one.name, one.columns) for one in models if not one.reason]
    return _columns_by_key(named, language)


def _columns_by_key(named: Iterable[tuple[str, Mapping[str, str]]], language: str) -> dict[Key, tuple[Column, ...]]:
    """Without what has a name that is none, a template's or a pattern's: no statement reads it by that."""
    found: dict[Key, tuple[Column, ...]] = {}
    for name, columns in named:
        if columns:
            with suppress(ValueError):
                found[key_of_name(name, language)] = _columns(columns)
    return found


def _columns(named: Mapping[str, str]) -> tuple[Column, ...]:
    return tuple(Column(name, kind) for name, kind in named.items())


def _seed_path(file: Path, header: ModelHeader, root: Path) -> Path | None:
    """The file of a seed, as its model names it; None where it names none."""
    written = header.options.get("path", "").strip("'\"").replace("$root", str(root))
    return file.parent / written if written else None


def _is_outside(seed: Path, root: Path) -> bool:
    try:
        return not seed.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # a link to itself, or a name that none can be
        return True


def _seeds_outside(files: _Files) -> Iterator[str]:
    """What is told of seeds whose path leads out of the project: whatever this user may read could be named there."""
    root = _project_root(files.root)
    for file, text in files.sql.items():
        header = _header(text)
        seed = _seed_path(file, header, root) if header.kind == "SEED" and header.enabled else None
        if seed is not None and _is_outside(seed, root):
            yield f"{file}: the path of its seed leads out of the project: not read; copy the file there"


def _seed_header(file: Path, header: ModelHeader, root: Path) -> tuple[str, ...]:
    """The names in the first line of a seed's file; none where that lies outside of the project."""
    seed = _seed_path(file, header, root)
    if seed is None or _is_outside(seed, root) or not seed.is_file():
        return ()
    try:
        with seed.open(encoding="utf-8-sig", newline="") as opened:
            return tuple(name.strip() for name in next(csv.reader(opened), ()) if name.strip())
    except (OSError, UnicodeDecodeError, csv.Error):
        return ()


def _external_columns(root: Path, language: str) -> dict[Key, tuple[Column, ...]]:
    named: list[tuple[str, Mapping[str, str]]] = []
    for pattern in _EXTERNAL:
        for file in files_below(root, pattern)[0] if root.is_dir() else ():
            try:
                content = load_yaml(_text(file))
            except (yaml.YAMLError, ConfigError):
                continue  # columns of tables from elsewhere only add to what is known
            for one in content if isinstance(content, list) else ():
                columns = one.get("columns") if isinstance(one, dict) else None
                if isinstance(columns, dict) and isinstance(one.get("name"), str):
                    named.append((one["name"], {str(name): str(kind) for name, kind in columns.items()}))
    return _columns_by_key(named, language)
