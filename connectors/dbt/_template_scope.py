"""What templates may know of their project: plain values that go to the rendering process as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

COLUMNS_OF = "which columns has"
"""Begins the reason why a template cannot be rendered that needs the columns of a relation; the relation follows."""


@dataclass(frozen=True, slots=True)
class TemplateMacro:
    """A macro's block as its file has it, and the package that it belongs to; `file` is "" where it is not known."""

    package: str
    name: str
    text: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class TemplateNode:
    """A model, seed or snapshot as the files have it: `layers` are its configs, the weakest first.

    `relation_key` is (database, schema, identifier) and `config` all layers together with what its text says, where
    these are known already; `path` is its file below its package's root.
    """

    unique_id: str
    kind: str
    name: str
    package: str
    version: str = ""
    latest: bool = True
    layers: tuple[Mapping[str, Any], ...] = ()
    relation_key: tuple[str, str, str] | None = None
    materialized: str = ""
    path: str = ""
    config: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A table of a source; its texts may be templates themselves."""

    unique_id: str
    package: str
    source: str
    table: str
    relation_key: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TemplateScope:
    """A project as its templates see it. `target` has name, type, schema and database, none of them secret.

    `columns` are those of the relations of which all columns are known, by the relation's name as it prints.
    """

    project: str
    dialect: str
    target: Mapping[str, str]
    variables: Mapping[str, Any] = field(default_factory=dict)
    package_variables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    dispatch: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    macros: tuple[TemplateMacro, ...] = ()
    nodes: tuple[TemplateNode, ...] = ()
    sources: tuple[TemplateSource, ...] = ()
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> TemplateScope:
        """Of what `to_json` gave."""
        content = json.loads(text)
        return cls(
            content["project"],
            content["dialect"],
            content["target"],
            content["variables"],
            content["package_variables"],
            {name: tuple(order) for name, order in content["dispatch"].items()},
            tuple(TemplateMacro(**macro) for macro in content["macros"]),
            tuple(TemplateNode(**_with_key(node)) for node in content["nodes"]),
            tuple(TemplateSource(**_with_key(source)) for source in content["sources"]),
            content["columns"],
        )


def _with_key(content: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists for tuples."""
    parts = content["relation_key"]
    return {**content, "relation_key": None if parts is None else tuple(parts)}
