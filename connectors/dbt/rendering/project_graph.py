"""`graph`: the nodes and sources of the project as templates look them up, of what its files tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from connectors.dbt.rendering.failures import NotRenderable
from connectors.dbt.rendering.scope import TemplateNode, TemplateScope, TemplateSource


class _GraphEntry(Mapping[str, Any]):
    """What is known of the `subject`; what is not ends the rendering, since none would pass for its value."""

    def __init__(self, subject: str, known: Mapping[str, Any]) -> None:
        self._subject, self._known = subject, known

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            raise NotRenderable(f"{name} of {self._subject} is not known without dbt")
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class ProjectGraph(Mapping[str, Any]):
    """`graph`, whose parts are made when one is asked for.

    `layers_of` gives what YAML files say of a node's config, `place_of` a source's database, schema and identifier.
    """

    def __init__(
        self,
        scope: TemplateScope,
        layers_of: Callable[[TemplateNode], dict[str, Any]],
        place_of: Callable[[TemplateSource], tuple[str, str, str]],
    ) -> None:
        self._scope, self._layers_of, self._place_of = scope, layers_of, place_of
        self._parts: dict[str, dict[str, _GraphEntry]] = {}

    def __getitem__(self, name: str) -> dict[str, _GraphEntry]:
        if name not in self._parts:
            self._parts[name] = self._part(name)
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("nodes", "sources"))

    def __len__(self) -> int:
        return 2

    def _part(self, name: str) -> dict[str, _GraphEntry]:
        if name == "nodes":
            return {node.unique_id: _GraphEntry("a node", self._node(node)) for node in self._scope.nodes}
        if name == "sources":
            return {source.unique_id: _GraphEntry("a source", self._source(source)) for source in self._scope.sources}
        raise NotRenderable(f"graph.{name} is not known without dbt")

    def _node(self, node: TemplateNode) -> dict[str, Any]:
        config = self._layers_of(node) if node.config is None else dict(node.config)
        known = {
            "unique_id": node.unique_id,
            "name": node.name,
            "resource_type": node.kind,
            "package_name": node.package,
            "version": node.version or None,
            "config": config,
            "meta": config.get("meta") or {},
            "tags": config.get("tags") or [],
            "original_file_path": node.path,
        }
        if node.place is not None:
            known |= dict(zip(("database", "schema", "alias"), node.place, strict=True))
        return known

    def _source(self, source: TemplateSource) -> dict[str, Any]:
        database, schema, identifier = self._place_of(source)
        return {
            "unique_id": source.unique_id,
            "name": source.table,
            "source_name": source.source,
            "resource_type": "source",
            "package_name": source.package,
            "database": database,
            "schema": schema,
            "identifier": identifier,
        }
