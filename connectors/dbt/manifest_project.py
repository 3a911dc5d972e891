"""A project by its manifest.json: compiled queries from it, else from the files that dbt compiled, else rendered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from connectors.dbt.model_statements import DbtProject, ModelFailure, ModelQuery, adapter_dialect, model_statements
from connectors.dbt.project.packages import PROJECT_FILE, Package, read_package, target_of, text_of
from connectors.dbt.rendering.sandboxed import RenderingProcess
from connectors.dbt.rendering.scope import TemplateMacro, TemplateNode, TemplateScope, TemplateSource
from connectors.dbt.source_project import queries_of
from connectors.dbt.target.catalog import read_columns
from connectors.dbt.target.json_stream import Artifact
from connectors.dbt.target.json_stream import text_of as artifact_text
from connectors.dbt.target.manifest import NEWEST_VERSION, read_manifest
from connectors.dbt.target.nodes import DbtNode, Manifest, ResourceKind
from connectors.dbt.type_branches import without_type_branches
from ingestion.model import Column
from ingestion.parsing.sandbox.sandbox import Limits

_CATALOG = "catalog.json"


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
    return DbtProject(
        name=manifest.project,
        dialect=language,
        nodes=nodes,
        statements=statements,
        columns=_columns(nodes, catalog or _catalog_beside(file)),
        failures=(*failures, *refused),
        notes=tuple(_notes(file, manifest, len(without))),
        exposures=manifest.exposures,
        manifest=manifest,
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
    return text_of(file) if node.path and file.is_file() else None


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
        TemplateMacro(artifact_text(one.get("package_name")), artifact_text(one.get("name")), text)
        for _key, one in Artifact.of(file, "manifest").entries("macros")
        if (text := artifact_text(one.get("macro_sql")))
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
        place=node.place,
        materialized=node.materialized,
        path=node.path,
    )


def _template_source(node: DbtNode) -> TemplateSource:
    source = node.unique_id.split(".")[2]
    return TemplateSource(node.unique_id, node.package, source, node.name, node.place)


def _notes(file: Path, manifest: Manifest, rendered: int) -> list[str]:
    notes = []
    if manifest.newer:
        notes.append(
            f"{file} is of version {manifest.version}, newer than {NEWEST_VERSION}: what is known of it was read"
        )
    if rendered:
        notes.append(f"{rendered} models are not compiled in it: their templates were rendered without the warehouse")
    return notes
