"""A project without artifacts: its templates rendered here, its names by dbt's rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from connectors.dbt._project_files import SourceFile, SourceFiles, read_package, read_source_files, target_of
from connectors.dbt._rendering_process import NodeConfig, RenderedModel, RenderingProcess
from connectors.dbt._template_scope import COLUMNS_OF, TemplateScope
from connectors.dbt._template_values import TYPE_ASKED, relation_name
from connectors.dbt.model_statements import (
    DbtProject,
    EphemeralModel,
    ModelFailure,
    ModelQuery,
    ModelStatement,
    PartialModel,
    adapter_dialect,
    model_statements,
    relations_read,
    with_ephemeral,
)
from connectors.dbt.nodes import DbtNode, ResourceKind
from ingestion.errors import RecordError, Templated
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome
from ingestion.parser import LineageParser
from ingestion.parsing.sandbox.process import Limits

_Lineage = frozenset[tuple[str, str, str]]

_ROUNDS = 8
"""Templates that need the columns of models that need the columns of others."""
_ASKING = " asks the warehouse"
_SETTINGS = ("strategy", "updated_at", "unique_key", "snapshot_meta_column_names")


# The columns of models, told by the SQL that makes them: what some templates ask the warehouse for.


def _known_columns(relations: Iterable[str], project: DbtProject) -> dict[str, tuple[str, ...]]:
    """The columns of those of the relations (as templates print them) of which all are known.

    Only what the relations are made of is parsed.
    """
    nodes, columns = project.nodes, project.columns
    ids = {node.relation: node.unique_id for node in nodes.values() if node.relation}
    wanted = {relation: ids[relation] for relation in relations if relation in ids}
    needed: dict[str, None] = dict.fromkeys(wanted.values())
    waiting = list(needed)
    for unique_id in waiting:
        new = [one for one in nodes[unique_id].depends_on if one in nodes and one not in needed]
        needed.update(dict.fromkeys(new))
        waiting += new
    text = "\n;\n".join(one.text for one in project.statements if one.node.unique_id in needed)
    needed_names = {nodes[unique_id].dotted for unique_id in needed}
    schema = {
        name: {column.name: column.type for column in known} for name, known in columns.items() if name in needed_names
    }
    made: dict[str, tuple[str, ...]] = {name.lower(): tuple(known) for name, known in schema.items()}
    if text:
        try:
            parser = LineageParser(text, project.dialect, schema)
        except RecordError:
            return {}
        made |= {str(table).lower(): names for table, names in parser.whole_columns.items()}
    found = {relation: made.get(nodes[unique_id].dotted.lower()) for relation, unique_id in wanted.items()}
    return {relation: names for relation, names in found.items() if names}


# Templates that ask for the types of columns: their SQL stands where its lineage is one whatever the types are.


def without_type_branches(rendered: Mapping[str, RenderedModel], dialect: str) -> dict[str, RenderedModel]:
    """The models as they are rendered, but those whose lineage depends on types: these ask the warehouse."""
    return {key: _settle(one, dialect) if one.other_ways else one for key, one in rendered.items()}


def _settle(one: RenderedModel, dialect: str) -> RenderedModel:
    ways = {one.texts, *one.other_ways}
    found = {_lineage_of(texts, dialect) for texts in ways} if len(ways) > 1 else {frozenset()}
    if len(found) == 1 and None not in found:
        return replace(one, other_ways=())
    return RenderedModel(line=one.line, reason=TYPE_ASKED)


def _lineage_of(texts: Iterable[str], dialect: str) -> _Lineage | None:
    views = ";\n".join(f"CREATE VIEW way_{number} AS {text}" for number, text in enumerate(texts))
    try:
        parser = LineageParser(views, dialect)
    except RecordError:
        return None
    if parser.failures:
        return None
    edges = {(str(edge.source), str(edge.target), str(edge.type)) for edge in parser.edges}
    made = {(str(table), column, "") for table, names in parser.whole_columns.items() for column in names}
    return frozenset(edges | made | {(str(table), "", "") for table in parser.source_tables})


# Names that are dbt's own rule because the project's rule cannot be carried out: what is said of them, what is not.


def _assumed_names(configs: Mapping[str, NodeConfig]) -> Iterator[str]:
    """A line for each reason why names are assumed, with how many are."""
    counted = Counter(one.assumed for one in configs.values() if one.assumed)
    for reason, count in counted.most_common():
        named = "1 name is" if count == 1 else f"{count} names are"
        yield f"{named} assumed to follow dbt's own rule: {reason}"


def _without_ambiguous(project: DbtProject, configs: Mapping[str, NodeConfig]) -> DbtProject:
    """A project without the statements of models that an assumption puts under one name: whose it is nobody knows."""
    nodes = project.nodes
    owners = Counter(node.dotted.casefold() for key, node in nodes.items() if key in configs and not node.ephemeral)
    lost = {
        key
        for key, config in configs.items()
        if config.assumed and key in nodes and owners[nodes[key].dotted.casefold()] > 1
    }
    if not lost:
        return project
    shared = {nodes[key].dotted.casefold() for key in lost}
    unsure = [one for one in project.statements if one.node.dotted.casefold() in shared]
    failures = {
        one.node.unique_id: ModelFailure(
            one.node, one.origin, f"{Outcome.DEFINED_TWICE}: its name {one.node.dotted} is assumed, and another's too"
        )
        for one in unsure
    }
    kept = tuple(one for one in project.statements if one.node.unique_id not in failures)
    return replace(project, statements=kept, failures=(*project.failures, *failures.values()))


# The project.


def project_from_files(root: Path, dialect: str | None, limits: Limits) -> DbtProject:
    """The project in a folder. `dialect` None: that of the profile that lies in it.

    Each model's template has `limits` of time and memory. Raises ConfigError for broken YAML, and where neither a
    dialect nor a profile says what the SQL is.
    """
    package = read_package(root)
    language = adapter_dialect(dialect or target_of(package, None)["type"])
    found = read_source_files(package, dialect, language)
    with RenderingProcess(limits) as process:
        configs = process.configure(found.scope, {key: one.text for key, one in found.files.items()})
        files = len(found.files)
        found = _enabled_files(found, configs)
        configs = {key: configs[key] for key in found.files}
        scope = replace(found.scope, nodes=tuple(_node_with_key(one, configs) for one in found.files.values()))
        source_keys = process.keys_of_sources(scope)
        texts = {key: one.text for key, one in found.files.items() if one.node.kind != "seed" and one.language == "sql"}
        rendered: Mapping[str, RenderedModel] = without_type_branches(process.render(scope, texts), language)
        project, rendered = _read(root, found, configs, source_keys, rendered)
        for _round in range(_ROUNDS):
            known = _columns_asked_for(project, rendered, scope)
            if not known:
                break
            scope = replace(scope, columns={**scope.columns, **known})
            again = process.render(
                scope, {key: texts[key] for key, one in rendered.items() if _requested_relation(one) in known}
            )
            project, rendered = _read(
                root, found, configs, source_keys, {**rendered, **without_type_branches(again, language)}
            )
        project = _with_partial(process, found, scope, replace(project, name=package.name), rendered)
    notes = (*_notes(found, scope, files), *_assumed_names(configs), *found.notes)
    return _without_ambiguous(replace(project, name=package.name, exposures=found.exposures, notes=notes), configs)


def _read(
    root: Path,
    found: SourceFiles,
    configs: Mapping[str, NodeConfig],
    source_keys: Mapping[str, tuple[str, str, str]],
    rendered: Mapping[str, RenderedModel],
) -> tuple[DbtProject, Mapping[str, RenderedModel]]:
    """The project as far as its templates were rendered."""
    language = found.scope.dialect
    nodes = {key: _dbt_node(one, configs[key], rendered.get(key), language) for key, one in found.files.items()}
    for source in found.scope.sources:
        relation_key = source_keys.get(source.unique_id)
        if relation_key is not None:
            relation = relation_name(relation_key, language)
            node = DbtNode(source.unique_id, ResourceKind.SOURCE, source.table, source.package, relation, relation_key)
            nodes[source.unique_id] = node
    queries, failures = queries_of(nodes, rendered, language, root)
    statements, refused = model_statements(queries, nodes, language)
    columns = {nodes[key].dotted: tuple(map(Column, one.columns)) for key, one in found.files.items() if one.columns}
    return DbtProject("", language, nodes, statements, columns, (*failures, *refused)), rendered


_NOT_AT_HAND = re.compile(r"env_var \S+ has no default$|' is undefined$|: run dbt deps$")
"""Why a template cannot be rendered of which the rest says something all the same."""


def _with_partial(
    process: RenderingProcess,
    found: SourceFiles,
    scope: TemplateScope,
    project: DbtProject,
    rendered: Mapping[str, RenderedModel],
) -> DbtProject:
    """The `project` with what is left of models that need a package or a variable which is not at hand."""
    lost = {
        key: one
        for key, one in rendered.items()
        if one.reason and _NOT_AT_HAND.search(one.reason) and not project.nodes[key].ephemeral
    }
    again = process.render(scope, {key: found.files[key].text for key in lost}, lenient=True)
    partial = tuple(
        _partial_model(project, project.nodes[key], lost[key], again[key], found.files[key].calls) for key in lost
    )
    kept = {one.node.unique_id for one in partial if one.reads or one.statements}
    return replace(
        project,
        partial=tuple(one for one in partial if one.node.unique_id in kept),
        failures=tuple(failure for failure in project.failures if failure.node.unique_id not in kept),
    )


def _partial_model(
    project: DbtProject, node: DbtNode, strict: RenderedModel, lenient: RenderedModel, calls: tuple[str, ...]
) -> PartialModel:
    ids = dict.fromkeys((*lenient.read, *calls))
    reads = relations_read(project, DbtNode("", node.kind, node.name, node.package, depends_on=tuple(ids)))
    at = _location(Path(), node, strict.line)
    text = next(iter(lenient.texts), "")
    statements: tuple[ModelStatement, ...] = ()
    if text and not lenient.ephemeral and not lenient.other_ways:
        query = ModelQuery(node, text, at)
        statements, _refused = model_statements((query,), {node.unique_id: node}, project.dialect)
    reason = f"{Templated.code}: {strict.reason}"
    return PartialModel(node, at, reason, tuple(one for one in reads if one.dotted != node.dotted), statements)


def _requested_relation(one: RenderedModel) -> str:
    """The relation whose columns a template needs, "" where it needs none."""
    return one.reason.removeprefix(f"{COLUMNS_OF} ").partition(_ASKING)[0] if one.reason.startswith(COLUMNS_OF) else ""


def _columns_asked_for(
    project: DbtProject, rendered: Mapping[str, RenderedModel], scope: TemplateScope
) -> dict[str, tuple[str, ...]]:
    """The columns that templates need, of those relations of which the others tell all."""
    asked = {
        relation
        for one in rendered.values()
        if (relation := _requested_relation(one)) and relation not in scope.columns
    }
    return _known_columns(asked, project) if asked else {}


def queries_of(
    nodes: Mapping[str, DbtNode], rendered: Mapping[str, RenderedModel], dialect: str, root: Path
) -> tuple[list[ModelQuery], list[ModelFailure]]:
    """The queries of rendered templates, ephemeral models carried along in those that read them; and what is none."""
    failures = [
        ModelFailure(nodes[key], _location(root, nodes[key], one.line), f"templated: {one.reason}")
        for key, one in rendered.items()
        if one.reason
    ]
    ephemeral = {
        key: EphemeralModel(nodes[key].relation_key[2], one.texts[0] if one.texts else None, one.ephemeral)
        for key, one in rendered.items()
        if nodes[key].ephemeral
    }
    queries: list[ModelQuery] = []
    for key, one in rendered.items():
        node = nodes[key]
        if one.reason or node.ephemeral:
            continue
        whole = [with_ephemeral(text, one.ephemeral, ephemeral, dialect) for text in one.texts]
        texts = [text for text in whole if text is not None]
        if len(texts) < len(one.texts):
            reason = f"templated: {_lost_in(one, rendered, nodes)} is, which it reads"
            failures.append(ModelFailure(node, _location(root, node, 0), reason))
            continue
        queries.append(ModelQuery(node, texts[0], _location(root, node, 0), tuple(texts[1:])))
    return queries, failures


def _lost_in(one: RenderedModel, rendered: Mapping[str, RenderedModel], nodes: Mapping[str, DbtNode]) -> str:
    """The first ephemeral model on the way from a model that cannot be had."""
    waiting = list(one.ephemeral)
    for key in waiting:
        if key not in rendered or rendered[key].reason:
            return nodes[key].name if key in nodes else key
        waiting += [other for other in rendered[key].ephemeral if other not in waiting]
    return "an ephemeral model"


def _location(root: Path, node: DbtNode, line: int) -> str:
    return f"{root / node.path}:{line}" if line else str(root / node.path)


def _enabled_files(found: SourceFiles, configs: Mapping[str, NodeConfig]) -> SourceFiles:
    files = {
        key: one
        for key, one in found.files.items()
        if configs[key].config.get("enabled", True) not in (False, "false", "False")
    }
    return replace(found, files=files)


def _node_with_key(one: SourceFile, configs: Mapping[str, NodeConfig]) -> Any:
    config = configs[one.node.unique_id]
    materialized = _materialization(one, config.config)
    relation_key = config.relation_key if config.relation_key[2] else None  # None: its config cannot be had
    return replace(one.node, relation_key=relation_key, materialized=materialized, config=config.config)


def _materialization(one: SourceFile, config: Mapping[str, Any]) -> str:
    default = "view" if one.node.kind == "model" else one.node.kind
    return str(config.get("materialized") or default)


def _dbt_node(one: SourceFile, config: NodeConfig, rendered: RenderedModel | None, dialect: str) -> DbtNode:
    materialized = _materialization(one, config.config)
    relation_key = config.relation_key if config.relation_key[2] else ("", "", one.node.name)
    tags = config.config.get("tags") or ()
    return DbtNode(
        unique_id=one.node.unique_id,
        kind=ResourceKind(one.node.kind),
        name=one.node.name,
        package=one.node.package,
        relation="" if materialized == "ephemeral" else relation_name(relation_key, dialect),
        relation_key=relation_key,
        path=one.path,
        materialized=materialized,
        language=one.language,
        depends_on=one.calls if one.language == "python" else rendered.read if rendered is not None else (),
        description=one.properties.description,
        tags=(tags,) if isinstance(tags, str) else tuple(map(str, tags)),
        owner=one.properties.owner,
        columns=one.properties.columns,
        config={name: config.config[name] for name in _SETTINGS if config.config.get(name)},
    )


def _notes(found: SourceFiles, scope: TemplateScope, files: int) -> tuple[str, ...]:
    notes = ["no manifest.json: the templates were rendered without the warehouse"]
    if found.missing_packages:
        notes.append("its packages are not installed: run dbt deps")
    if not scope.target.get("schema"):
        notes.append("no profiles.yml in the project: the target's own schema and database are left out of names")
    if len(found.files) < files:
        notes.append(
            f"{files - len(found.files)} of {files} models and seeds are disabled by its configuration: not read"
        )
    return tuple(notes)
