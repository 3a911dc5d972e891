"""The ways into a project: its manifest, its own files, what dbt compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from connectors.dbt._project_files import PROJECT_FILE, Package, file_text, read_package, target_of
from connectors.dbt._rendering_process import RenderingProcess
from connectors.dbt._source_project import project_from_files, queries_of, without_type_branches
from connectors.dbt._template_scope import TemplateMacro, TemplateNode, TemplateScope, TemplateSource
from connectors.dbt._template_values import relation_name
from connectors.dbt.artifacts import NEWEST_VERSION, Artifact, read_columns, read_manifest, text_of
from connectors.dbt.column_index import read_column_index
from connectors.dbt.model_statements import DbtProject, ModelFailure, ModelQuery, adapter_dialect, model_statements
from connectors.dbt.nodes import EPHEMERAL_PREFIX, DbtNode, Manifest, ResourceKind
from connectors.model_project import dotted_name
from ingestion.arguments import files_below, leads_out
from ingestion.dialects import dialect_of
from ingestion.dialects.lexing import NAME, STRING, WORD, tokens
from ingestion.errors import ConfigError
from ingestion.model.lineage import Column
from ingestion.parsing.sandbox.process import Limits

_NO_MODELS = frozenset({"tests", "data-tests", "analyses", "analysis"})
_YAML = (".yml", ".yaml")
_QUALIFIED = 3

_CATALOG = "catalog.json"

_MANIFEST = "manifest.json"


# What `dbt compile` wrote, without anything else: files whose own names stand in the queries of the others.


def _is_compiled_folder(path: Path) -> bool:
    """Whether a folder is dbt's `target/compiled`, or one of a package in it."""
    return "compiled" in (path.name, path.parent.name) and any(path.rglob("*.sql"))


def _project_from_compiled(path: Path, dialect: str | None) -> DbtProject:
    """The models of a folder of compiled files, each under the name by which others read it.

    One that no other reads stands where all those of its project stand; where these differ, it keeps its bare name.
    Raises ConfigError where no dialect is given, since nothing there tells it.
    """
    if dialect is None:
        raise ConfigError(f"{path}: compiled files do not say what their SQL is: name it with --dialect")
    language = adapter_dialect(dialect)
    files, outside = files_below(path, "*.sql")
    texts = {file: file_text(file) for file in files if _is_model(file.relative_to(path))}
    names = {name for text in texts.values() for name in _qualified_names(text, language)}
    whole = " ".join(texts.values())
    ephemeral = {file for file in texts if f"{EPHEMERAL_PREFIX}{file.stem}" in whole}
    relation_keys = _relation_keys([file.stem for file in texts if file not in ephemeral], names)
    nodes: dict[str, DbtNode] = {}
    queries: list[ModelQuery] = []
    for file, text in texts.items():
        if file in ephemeral:
            continue
        relation_key = relation_keys[file.stem]
        read = tuple(sorted(dotted_name(parts) for parts in _qualified_names(text, language)))
        node = DbtNode(
            dotted_name(relation_key),
            ResourceKind.MODEL,
            file.stem,
            path.name,
            relation_name(relation_key, language),
            relation_key,
            str(file),
            depends_on=tuple(name for name in read if name != dotted_name(relation_key)),
        )
        nodes[node.unique_id] = node
        queries.append(ModelQuery(node, text, str(file)))
    statements, failures = model_statements(queries, nodes, language)
    notes = ("compiled files alone: a model's name is told by those that read it", *map(leads_out, outside))
    return DbtProject(path.name, language, nodes, statements, failures=failures, notes=notes)


def _qualified_names(text: str, dialect: str) -> Iterator[tuple[str, str, str]]:
    """The names of two or three parts in a text: (database, schema, name), and what only looks like one."""
    rules = dialect_of(dialect)
    run: list[str] = []
    dotted = False
    for token in tokens(text, rules):
        if token.text == "." and run:
            dotted = True
            continue
        is_name = token.kind in (WORD, NAME) or (token.kind == STRING and token.text[:1] in rules.name_quotes)
        if is_name and dotted:
            run.append(_unquote(token.text))
        else:
            yield from _relation_keys_in(run)
            run = [_unquote(token.text)] if is_name else []
        dotted = False
    yield from _relation_keys_in(run)


def _relation_keys_in(run: list[str]) -> Iterator[tuple[str, str, str]]:
    if len(run) == _QUALIFIED:
        yield run[0], run[1], run[2]
    elif len(run) == _QUALIFIED - 1:
        yield "", run[0], run[1]


def _unquote(name: str) -> str:
    return name[1:-1] if name[:1] in '"`[' and len(name) > 1 else name


def _relation_keys(stems: Iterable[str], names: Iterable[tuple[str, str, str]]) -> dict[str, tuple[str, str, str]]:
    by_name: dict[str, set[tuple[str, str, str]]] = {}
    for name in names:
        by_name.setdefault(name[2].lower(), set()).add(name)
    found: dict[str, tuple[str, str, str]] = {}
    stems = list(stems)
    for stem in stems:
        known = by_name.get(stem.lower(), set())
        if len(known) == 1:
            found[stem] = next(iter(known))
    homes = {relation_key[:2] for relation_key in found.values()}
    home = homes.pop() if len(homes) == 1 else ("", "")
    return {stem: found.get(stem, (*home, stem)) for stem in stems}


def _is_model(file: Path) -> bool:
    """Not a test, which is compiled below the YAML file or the folder that has it, and no analysis."""
    folders = file.parent.parts
    return not any(folder.endswith(_YAML) or folder in _NO_MODELS for folder in folders)


# A project by its manifest.json: compiled queries from it, else from the files that dbt compiled, else rendered.


def project_from_manifest(file: Path, dialect: str | None, limits: Limits, catalog: Path | None = None) -> DbtProject:
    """The project of a manifest; `catalog` is a catalog.json, the one beside it if there is one and none is named.

    Raises UnreadableArtifact, and ConfigError where the adapter's SQL is not known and no dialect is given.
    """
    manifest = read_manifest(file)
    language = adapter_dialect(dialect or manifest.adapter)
    nodes = dict(manifest.nodes)
    package = _package_around(file)
    root = package.root if package is not None else Path()
    queries, without = _compiled_queries(file.parent, nodes, root)
    failures: list[ModelFailure] = []
    if any(not nodes[unique_id].ephemeral for unique_id in without):
        scope = _scope(file, manifest, package, language)
        texts = {
            key: node.raw or without.get(key, "") for key, node in nodes.items() if key in without or node.ephemeral
        }
        with RenderingProcess(limits) as process:
            rendered = process.render(scope, {key: text for key, text in texts.items() if text})
        more, failures = queries_of(nodes, without_type_branches(rendered, language), language, root)
        queries += more
    statements, refused = model_statements(queries, nodes, language)
    index = read_column_index(file.parent)
    return DbtProject(
        name=manifest.project,
        dialect=language,
        nodes=nodes,
        statements=statements,
        columns=_columns(nodes, catalog or _catalog_beside(file)),
        failures=(*failures, *refused),
        notes=(*_notes(file, manifest, len(without)), *index.notes),
        exposures=manifest.exposures,
        manifest=manifest,
        index=index,
    )


def _compiled_queries(
    target: Path, nodes: Mapping[str, DbtNode], root: Path
) -> tuple[list[ModelQuery], dict[str, str]]:
    """The queries of what is compiled, and by their unique ids the templates of what is not."""
    queries: list[ModelQuery] = []
    without: dict[str, str] = {}
    for unique_id, node in nodes.items():
        if node.kind not in (ResourceKind.MODEL, ResourceKind.SNAPSHOT) or node.language != "sql":
            continue
        compiled = node.compiled or _compiled_file(target, node)
        if compiled is not None and not node.ephemeral:
            queries.append(ModelQuery(node, compiled, f"{root / node.path} (compiled)"))
        elif compiled is None:
            without[unique_id] = node.raw
    return queries, without


def _package_around(manifest: Path) -> Package | None:
    """The project in whose target folder a manifest lies, None where it lies elsewhere."""
    root = manifest.parent.parent
    return read_package(root) if (root / PROJECT_FILE).is_file() else None


def _compiled_file(target: Path, node: DbtNode) -> str | None:
    """What `dbt compile` wrote for a node, None where it did not."""
    file = target / "compiled" / node.package / node.path
    is_there = node.path and file.is_file() and file.resolve().is_relative_to(target.resolve())
    return file_text(file) if is_there else None


def _catalog_beside(manifest: Path) -> Path | None:
    file = manifest.parent / _CATALOG
    return file if file.is_file() else None


def _columns(nodes: Mapping[str, DbtNode], catalog: Path | None) -> dict[str, tuple[Column, ...]]:
    known = read_columns(catalog) if catalog is not None else {}
    return {nodes[key].dotted: columns for key, columns in known.items() if key in nodes}


def _scope(file: Path, manifest: Manifest, package: Package | None, language: str) -> TemplateScope:
    """What templates see, told by the manifest; variables are in the project's own file alone."""
    target = target_of(package, manifest.adapter) if package is not None else {"name": "default"}
    macros = tuple(
        TemplateMacro(text_of(one.get("package_name")), text_of(one.get("name")), text)
        for _key, one in Artifact.of(file, "manifest").entries("macros")
        if (text := text_of(one.get("macro_sql")))
    )
    sql = [node for node in manifest.nodes.values() if node.kind is not ResourceKind.SOURCE]
    return TemplateScope(
        project=manifest.project,
        dialect=language,
        target={**target, "type": manifest.adapter},
        variables=package.variables if package is not None else {},
        dispatch=package.dispatch if package is not None else {},
        macros=macros,
        nodes=tuple(_template_node(node) for node in sql),
        sources=tuple(_template_source(node) for node in manifest.nodes.values() if node.kind is ResourceKind.SOURCE),
    )


def _template_node(node: DbtNode) -> TemplateNode:
    *_, last = node.unique_id.split(".")
    version = last.removeprefix("v") if node.kind is ResourceKind.MODEL and last != node.name else ""
    config = {**node.config, "materialized": node.materialized}
    return TemplateNode(
        node.unique_id,
        node.kind.value,
        node.name,
        node.package,
        version,
        latest=True,
        layers=(config,),
        relation_key=node.relation_key,
        materialized=node.materialized,
        path=node.path,
    )


def _template_source(node: DbtNode) -> TemplateSource:
    source = node.unique_id.split(".")[2]
    return TemplateSource(node.unique_id, node.package, source, node.name, node.relation_key)


def _notes(file: Path, manifest: Manifest, rendered: int) -> list[str]:
    notes = []
    if manifest.newer:
        notes.append(
            f"{file} is of version {manifest.version}, newer than {NEWEST_VERSION}: what is known of it was read"
        )
    if rendered:
        notes.append(f"{rendered} models are not compiled in it: their templates were rendered without the warehouse")
    return notes


# Which of the ways into a project a path is: a manifest, a project's folder, or what dbt compiled.


def is_project(path: Path) -> bool:
    """Whether a path is one of a dbt project's."""
    if path.is_dir():
        return (path / PROJECT_FILE).is_file() or (path / _MANIFEST).is_file() or _is_compiled_folder(path)
    return path.suffix == ".json"


def open_project(path: Path, dialect: str | None, limits: Limits, catalog: Path | None = None) -> DbtProject:
    """The project at a path: its manifest where it has one, else its files, else what was compiled of it.

    `dialect` None: as its adapter has it; `catalog`: a catalog.json, the one beside the manifest if None. Raises
    ConfigError and UnreadableArtifact.
    """
    if not path.is_dir():
        return project_from_manifest(path, dialect, limits, catalog)
    if (path / PROJECT_FILE).is_file():
        manifest = path / read_package(path).target_path / _MANIFEST
        if manifest.is_file():
            return project_from_manifest(manifest, dialect, limits, catalog)
        return project_from_files(path, dialect, limits)
    if (path / _MANIFEST).is_file():
        return project_from_manifest(path / _MANIFEST, dialect, limits, catalog)
    return _project_from_compiled(path, dialect)


def adapter_of(path: Path) -> str:
    """The adapter of the project at a path, "" where nothing there tells it. Raises ConfigError."""
    if path.is_dir() and (path / PROJECT_FILE).is_file():
        package = read_package(path)
        manifest = path / package.target_path / _MANIFEST
        if not manifest.is_file():
            return target_of(package, None)["type"].lower()
    else:
        manifest = path / _MANIFEST if path.is_dir() else path
    return Artifact.of(manifest, "manifest").metadata.adapter.lower()
