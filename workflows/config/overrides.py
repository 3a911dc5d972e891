"""`--set key=value`: a value of the YAML replaced from the command line."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ingestion.names.suggestions import suggestion
from workflows.config.explain import keys_at, known_paths
from workflows.config.models.dbt import AnyWorkflow
from workflows.config.yaml.document import Document, Path, dotted_path, parse_document, parse_scalar
from workflows.config.yaml.problems import ConfigProblem, InvalidConfig

ORIGIN = "--set"
_OPEN_MAPPINGS = (
    ("source", "serviceConnection", "config"),
    ("headwater", "spark", "conf"),
    ("headwater", "catalogServices"),
    ("workflowConfig", "openMetadataServerConfig", "extraHeaders"),
)


def override(document: Document, settings: Sequence[str]) -> Document:
    """The document with each `key=value` put in its place.

    A key is a dotted path or its unmistakable end (`resultLimit`); a value is read as YAML. Raises InvalidConfig.
    """
    if not settings:
        return document
    content: dict[str, Any] = copy.deepcopy(dict(document.content))
    given = set(document.overridden)
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise _invalid("", "expected key=value")
        path = _path(key.strip())
        _put(content, path, _value(text, path))
        given.add(path)
    return replace(document, content=content, overridden=frozenset(given))


def _path(key: str) -> tuple[str, ...]:
    for mapping in _OPEN_MAPPINGS:
        # What follows is one key, dots included: spark.driver.memory.
        for start in range(len(mapping)):
            prefix = ".".join(mapping[start:]) + "."
            if key.startswith(prefix) and len(mapping[start:]) > 1 and len(key) > len(prefix):
                return (*mapping, key.removeprefix(prefix))
    parts = tuple(key.split("."))
    known = list(dict.fromkeys(known_paths(AnyWorkflow)))
    if parts in known:
        return parts
    ends = [path for path in known if path[-len(parts) :] == parts]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise _invalid(key, "several keys end so: " + ", ".join(dotted_path(path) for path in ends))
    names = {path[-1] for path in known} if len(parts) == 1 else keys_at(AnyWorkflow, parts[:-1])
    raise _invalid(key, "unknown key" + suggestion(parts[-1], names))


def _value(text: str, path: Path) -> Any:
    """Lists, mappings and quoted text as YAML has them; all else is one scalar, without comments or aliases."""
    if not text.lstrip().startswith(("[", "{", "'", '"')):
        return parse_scalar(text) if text else ""
    try:
        return parse_document("value: " + text, ORIGIN).content["value"]
    except InvalidConfig as error:
        raise _invalid(dotted_path(path), error.problems[0].message) from None


def _put(content: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        inner = content.get(part)
        if not isinstance(inner, dict):
            inner = content[part] = {}
        content = inner
    content[path[-1]] = value


def _invalid(field: str, message: str) -> InvalidConfig:
    return InvalidConfig([ConfigProblem(ORIGIN, None, field, message)])
