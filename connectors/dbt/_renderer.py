"""One project's templates, rendered in the process that can be killed: each node's config and key, then each
model's SQL.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import cycle
from pathlib import Path
from types import CodeType
from typing import Any

from jinja2.sandbox import SandboxedEnvironment

from connectors.dbt._macros import DBT, DBTS_MACROS, Globals, MacroLibrary, MacroName, dispatch, hand_back, macros_in
from connectors.dbt._template_scope import COLUMNS_OF, TemplateNode, TemplateScope, TemplateSource
from connectors.dbt._template_values import (
    FILTERS,
    MODEL,
    TEMPLATE_ERRORS,
    ColumnApi,
    ConfigCall,
    Members,
    MissingName,
    NotRenderable,
    ProjectGraph,
    ProjectVariables,
    TemplateColumn,
    TemplateRelation,
    TypeAnswers,
    UnknownName,
    Warehouse,
    common_functions,
    failure_of,
    relation_name,
)
from connectors.dbt.nodes import EPHEMERAL_PREFIX, NOT_KNOWN

_OTHER_ANSWERS = ((True,), (True, False), (False, True))
"""To templates that ask for types: beside "no" each time, enough for every branch of an if with an elif."""

_OURS = {"get_intervals_between": 1}
"""Macros that ask the warehouse for nothing but a number of rows, on which no column depends."""

_RECURSION_LIMIT = 5_000
"""Deeper than any macro goes that ends."""


class _Environment(SandboxedEnvironment):
    """Jinja's sandbox, in which the macros of a package are no attributes: their names may begin as they like."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return (isinstance(obj, Members) and not attr.startswith("__")) or super().is_safe_attribute(obj, attr, value)


_ENVIRONMENT = _Environment(extensions=["jinja2.ext.do"], undefined=MissingName)
_ENVIRONMENT.filters.update(FILTERS)
_LENIENT_ENVIRONMENT = _Environment(extensions=["jinja2.ext.do"], undefined=UnknownName)
_LENIENT_ENVIRONMENT.filters.update(FILTERS)


_RENDERED_LATER = frozenset({"pre-hook", "pre_hook", "post-hook", "post_hook"})
"""What of a config dbt leaves as it is until the model runs: a hook may ask the warehouse, and names nothing."""


@lru_cache(maxsize=1000)
def _compile(text: str) -> CodeType:
    return _ENVIRONMENT.compile(text, MODEL, MODEL)


@dataclass
class _Rendering:
    """What comes up while one template is rendered."""

    node: TemplateNode
    config: dict[str, Any]
    relation_key: tuple[str, str, str] = ("", "", "")
    incremental: bool = False
    asked_incremental: bool = False
    read: dict[str, None] = field(default_factory=dict)  # unique ids
    ephemeral: dict[str, None] = field(default_factory=dict)
    types: TypeAnswers = field(default_factory=TypeAnswers)
    other_ways: list[list[str]] = field(default_factory=list)
    line: int = 0  # of the first question for a type


class _TemplateRenderer:
    """Renders the templates of one scope. Its errors are those of `failure_of`.

    `lenient`: what is not at hand is no error, and NOT_KNOWN stands in its place.
    """

    def __init__(self, scope: TemplateScope, *, lenient: bool = False) -> None:
        self.scope = scope
        self._lenient = lenient
        self._environment = _LENIENT_ENVIRONMENT if lenient else _ENVIRONMENT
        self._library = MacroLibrary(self._environment, (*macros_in(DBTS_MACROS, DBT), *scope.macros))
        self._nodes = {node.unique_id: node for node in scope.nodes}
        # A dbt_project.yml has the same few hundred values above every node, and a template may look at all nodes.
        self._values: dict[tuple[str, str], Any] = {}
        graph = ProjectGraph(scope, self._layer_configs, self._key_of_source)
        self._common = {**common_functions(), "graph": graph, "selected_resources": list(self._nodes)}
        if lenient:
            self._common["env_var"] = lambda _name, default=None: NOT_KNOWN if default is None else str(default)
        relations = Members({"create": self._relation})
        self._common["api"] = Members({"Relation": relations, "Column": ColumnApi(scope.dialect)})
        self._refs: dict[str, list[TemplateNode]] = {}
        for node in scope.nodes:
            self._refs.setdefault(node.name, []).append(node)
        self._sources = {(source.source, source.table): source for source in scope.sources}
        self._sources_by_id = {source.unique_id: source for source in scope.sources}

    def config_and_key(self, unique_id: str, text: str) -> tuple[_Rendering, str]:
        """A node with its config and its relation's key, with what its own text says in it as far as that gets.

        And why that key is dbt's own rule where the project has another that cannot be carried out here, "" where it
        is not.
        """
        node = self._nodes[unique_id]
        rendering = _Rendering(node, self._layer_configs(node))
        if "config" in text:
            with suppress(*TEMPLATE_ERRORS):  # what cannot be rendered says so when it is rendered for its SQL
                self._text_of(text, rendering)
        assumed: list[str] = []
        rendering.relation_key = node.relation_key or self._key_of(node, rendering.config, assumed)
        return rendering, "; ".join(assumed)

    def render_model(self, unique_id: str, text: str) -> tuple[list[str], _Rendering]:
        """A model's SQL, and where it depends on `is_incremental()` that of both cases; and what it reads.

        Where it asks for types, which nobody here knows, `other_ways` are what it is by other answers.
        """
        node = self._nodes[unique_id]
        rendering = _Rendering(node, self._layer_configs(node), node.relation_key or ("", "", ""))
        texts = self._texts_of(text, rendering)
        if rendering.types.asked:
            for answers in _OTHER_ANSWERS:
                rendering.types.answers = cycle(answers)
                rendering.other_ways.append(self._texts_of(text, rendering))
            rendering.line = self._line_of_question(text, rendering)
        return texts, rendering

    def _line_of_question(self, text: str, rendering: _Rendering) -> int:
        rendering.types.answers = None
        try:
            self._text_of(text, rendering)
        except NotRenderable as error:
            return failure_of(error)[0]
        return 0

    def _texts_of(self, text: str, rendering: _Rendering) -> list[str]:
        rendering.incremental = False
        texts = [self._text_of(text, rendering)]
        if rendering.asked_incremental:
            rendering.incremental = True
            texts.append(self._text_of(text, rendering))
        return list(dict.fromkeys(texts))

    def value(self, value: Any, package: str) -> Any:
        """A value of a YAML file, which may be a template."""
        if not isinstance(value, str) or "{{" not in value:
            return value
        if (value, package) not in self._values:
            names = self._names(_Rendering(TemplateNode("", "", "", package), {}), package)
            text = self._environment.from_string(value, names).render().strip()
            self._values[value, package] = {"true": True, "false": False}.get(text.lower(), text)
        return self._values[value, package]

    def source_key(self, unique_id: str) -> tuple[str, str, str]:
        """The key of a source's table."""
        return self._key_of_source(self._sources_by_id[unique_id])

    def _key_of_source(self, source: TemplateSource) -> tuple[str, str, str]:
        database, schema, identifier = (str(self.value(part, source.package)) for part in source.relation_key)
        return database or self.scope.target.get("database", ""), schema, identifier

    def _text_of(self, text: str, rendering: _Rendering) -> str:
        names = self._names(rendering, rendering.node.package)
        template = self._environment.template_class.from_code(self._environment, _compile(text), names)
        return template.render()

    def _layer_configs(self, node: TemplateNode) -> dict[str, Any]:
        config: dict[str, Any] = {}
        for layer in node.layers:
            for name, value in layer.items():
                config[name] = value if name in _RENDERED_LATER else self.value(value, node.package)
        return config

    def _key_of(self, node: TemplateNode, config: Mapping[str, Any], assumed: list[str]) -> tuple[str, str, str]:
        target = self.scope.target
        described = {"name": node.name, "version": node.version, "config": config, "resource_type": node.kind}
        versioned = f"{node.name}_v{node.version}" if node.version else node.name
        custom, alias = config.get("schema") or None, config.get("alias") or None
        schema = target.get("schema", "")
        default = custom if not schema else f"{schema}_{custom}" if custom else schema
        if node.kind == "snapshot" and config.get("target_schema"):
            own_schema = config["target_schema"]
        else:
            own_schema = self._generate_name("generate_schema_name", (custom, described), default, assumed)
        database = config.get("target_database") if node.kind == "snapshot" else None
        own = config.get("database")
        database = database or self._generate_name(
            "generate_database_name", (own, described), own or target.get("database"), assumed
        )
        identifier = self._generate_name("generate_alias_name", (alias, described), alias or versioned, assumed)
        return str(database or ""), str(own_schema or "").strip(), str(identifier or "").strip()

    def _generate_name(self, macro: str, args: tuple[Any, ...], default: Any, assumed: list[str]) -> Any:
        """What the project's own macro of that name gives, else dbt's rule; `assumed` gets why it does not."""
        root = self.scope.project
        if not self._library.has(root, macro):
            return default
        rendering = _Rendering(TemplateNode("", "", "", root), {})
        try:
            given = MacroName(self._library, root, macro, lambda package: self._names(rendering, package))(*args)
        except TEMPLATE_ERRORS as error:  # the project's rule asks for what is not here
            file = self._library.file(root, macro)
            assumed.append(f"{macro}{f' in {file}' if file else ''} cannot be carried out ({failure_of(error)[1]})")
            return default
        return given.strip() if isinstance(given, str) else given

    def _names(self, rendering: _Rendering, package: str) -> dict[str, Any]:
        """All names that a template of `package` sees while one node is rendered."""

        def names_of(other: str) -> dict[str, Any]:
            if other not in known:
                known[other] = self._of_package(rendering, other, names_of)
            return known[other]

        known: dict[str, dict[str, Any]] = {}
        return names_of(package)

    def _of_package(self, rendering: _Rendering, package: str, names_of: Globals) -> dict[str, Any]:
        root, library = self.scope.project, self._library
        names: dict[str, Any] = dict(self._environment.globals)
        for home in (DBT, root, package):
            macros = {name: MacroName(library, home, name, names_of) for name in library.packages.get(home, ())}
            names.update(macros)
        for home, own in library.packages.items():
            names[home] = Members({name: MacroName(library, home, name, names_of) for name in own})
        names.update(self._common)
        names.update(self._of_node(rendering, package))

        def find(macro_name: str, macro_namespace: str | None = None, **_others: Any) -> Any:
            return self._dispatch(names_of, macro_name, macro_namespace or "", package)

        names["adapter"] = Warehouse(
            {"dispatch": find, "quote": self._quote, "get_columns_in_relation": partial(self._columns_of, rendering)}
        )
        names["context"] = names
        return names

    def _dispatch(self, names_of: Globals, name: str, home: str, package: str) -> MacroName | Callable[..., Any]:
        if name in _OURS:
            return lambda *_args, **_kwargs: _OURS[name]
        root, adapter = self.scope.project, self.scope.target.get("type", "")
        searched = self.scope.dispatch.get(home, (root, home if home in self._library.packages else package))
        if self._lenient and home and home not in self._library.packages:
            return lambda *_args, **_kwargs: NOT_KNOWN
        return dispatch(self._library, names_of, name, (*searched, root, f"dbt_{adapter}", DBT), adapter)

    def _of_node(self, rendering: _Rendering, package: str) -> dict[str, Any]:
        node, target = rendering.node, self.scope.target
        database, schema, identifier = rendering.relation_key

        def is_incremental() -> bool:
            rendering.asked_incremental |= rendering.config.get("materialized") == "incremental"
            return rendering.incremental

        model = {
            "name": node.name,
            "unique_id": node.unique_id,
            "resource_type": node.kind,
            "version": node.version,
            "database": database,
            "schema": schema,
            "alias": identifier,
            "package_name": node.package,
            "config": rendering.config,
            "tags": rendering.config.get("tags", []),
        }
        return {
            "config": ConfigCall(rendering.config),
            "database": database,
            "is_incremental": is_incremental,
            "model": model,
            "project_name": self.scope.project,
            "ref": lambda *args, **kwargs: self._ref(rendering, args, kwargs),
            "return": hand_back,
            "schema": schema,
            "source": lambda source, table: self._source(rendering, source, table),
            "target": {**target, "profile_name": "", "threads": 1},
            "this": TemplateRelation(database, schema, identifier, self.scope.dialect),
            "var": ProjectVariables(self.scope, node.package, partial(self.value, package=node.package)),
        }

    def _relation(self, **parts: Any) -> TemplateRelation:
        names = (parts.get(name) for name in ("database", "schema", "identifier"))
        database, schema, identifier = (None if name is None else str(name) for name in names)
        return TemplateRelation(database, schema, identifier or "", self.scope.dialect)

    def _columns_of(self, rendering: _Rendering, relation: TemplateRelation) -> list[TemplateColumn]:
        known = self.scope.columns.get(str(relation)) if isinstance(relation, TemplateRelation) else None
        if known is None:
            raise NotRenderable(f"{COLUMNS_OF} {relation} asks the warehouse")
        return [TemplateColumn(name, self.scope.dialect, rendering.types.answer) for name in known]

    def _quote(self, identifier: str) -> str:
        return relation_name(("", "", str(identifier)), self.scope.dialect)

    def _ref(self, rendering: _Rendering, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> TemplateRelation:
        *package, name = (str(arg) for arg in args)
        version = kwargs.get("v", kwargs.get("version"))
        found = [node for node in self._refs.get(name, ()) if not package or node.package == package[0]]
        if version is not None:
            found = [node for node in found if node.version == str(version)]
        elif len(found) > 1:
            latest = [node for node in found if node.latest]
            found = [node for node in latest if node.package == self.scope.project] or latest
        if not found:
            raise NotRenderable(f"ref to {name}, which is no model here")
        node = found[0]
        rendering.read[node.unique_id] = None
        database, schema, identifier = node.relation_key or ("", "", node.name)
        if node.materialized == "ephemeral":
            rendering.ephemeral[node.unique_id] = None
            return TemplateRelation(None, None, identifier, self.scope.dialect, cte=f"{EPHEMERAL_PREFIX}{identifier}")
        return TemplateRelation(database, schema, identifier, self.scope.dialect)

    def _source(self, rendering: _Rendering, source: str, table: str) -> TemplateRelation:
        found = self._sources.get((source, table))
        if found is None:
            raise NotRenderable(f"source {source}.{table}, which no file here describes")
        rendering.read[found.unique_id] = None
        return TemplateRelation(*self._key_of_source(found), self.scope.dialect)


# What runs in the process that can be killed: requests about one scope, answered as JSON.
#
# The second part of a request is the scope's file; the first asks for a node's config ("configure") or SQL
# ("render").


def answer(request: str, scope_file: str) -> bytes:
    """The answer to one request; to what is none an empty one, once the scope is loaded."""
    renderer = _renderer(scope_file)
    if not request.startswith("{"):
        return b""
    asked = json.loads(request)
    sys.setrecursionlimit(_RECURSION_LIMIT)
    try:
        return json.dumps(_answer(renderer, asked, scope_file), default=str).encode()
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001 a template may raise whatever it likes: it costs that model
        line, reason = failure_of(error)
        return json.dumps({"line": line, "reason": reason}).encode()


def _answer(renderer: _TemplateRenderer, asked: dict[str, Any], scope_file: str) -> dict[str, Any]:
    if asked["do"] == "configure":
        configured, assumed = renderer.config_and_key(asked["node"], asked["text"])
        return {"config": configured.config, "relation_key": configured.relation_key, "assumed": assumed}
    if asked["do"] == "source":
        return {"relation_key": renderer.source_key(asked["node"])}
    if asked["do"] == "render leniently":
        renderer = _lenient_renderer(scope_file)
    texts, rendering = renderer.render_model(asked["node"], asked["text"])
    reads = {"read": list(rendering.read), "ephemeral": list(rendering.ephemeral)}
    return {"texts": texts, "other_ways": rendering.other_ways, "line": rendering.line, **reads}


@lru_cache(maxsize=2)
def _renderer(scope_file: str) -> _TemplateRenderer:
    return _TemplateRenderer(TemplateScope.from_json(Path(scope_file).read_text("utf-8")))


@lru_cache(maxsize=2)
def _lenient_renderer(scope_file: str) -> _TemplateRenderer:
    return _TemplateRenderer(TemplateScope.from_json(Path(scope_file).read_text("utf-8")), lenient=True)
