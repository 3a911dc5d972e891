"""pydantic's findings in a reader's words, at their place in the document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType
from typing import Any, Union, get_args

from pydantic import ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from connectors.fields import KeyPath, Misfits, Model
from ingestion.arguments import nearest_name, suggestion
from workflows.config.models.run_config import any_run_config, owners
from workflows.config.yaml.document import ConfigProblem, Document

_EXPECTED = {
    "string_type": "expected text",
    "string_too_short": "expected text, not an empty value",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "model_type": "expected a mapping of keys",
    "model_attributes_type": "expected a mapping of keys",
    "dict_type": "expected a mapping of keys",
    "tuple_type": "expected a list",
}

_MOST_SHOWN = 100
"""Each costs a search for the nearest name; nobody mends more at a time."""


def explain(error: ValidationError, document: Document, model: type[Model]) -> list[ConfigProblem]:
    """One problem for each finding of `error`, with its line in the `document`.

    Values that were found wrong are looked at for their type only.
    """
    details = error.errors(include_url=False)
    found = [problem for detail in details[:_MOST_SHOWN] for problem in _problems(detail, document, model)]
    shown = sorted(dict.fromkeys(found), key=lambda problem: problem.line or 0)
    others = len(details) - _MOST_SHOWN
    return shown if others <= 0 else [*shown, document.problem((), f"and {others:,} more problems")]


def _problems(detail: ErrorDetails, document: Document, model: type[Model]) -> Iterator[ConfigProblem]:
    path, error = detail["loc"], detail.get("ctx", {}).get("error")
    if isinstance(error, Misfits):
        for below, message in error.found:
            yield document.problem((*_known_part(path, document.content), *below), message)
        return
    if detail["type"] != "missing":
        path = _known_part(path, document.content)
    yield document.problem(path, _message(detail, path, document, model))


def _message(detail: ErrorDetails, path: KeyPath, document: Document, model: type[Model]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return "needed, and not given"
    if kind == "extra_forbidden":
        return "unknown key" + _where_it_belongs(path, model)
    if detail["input"] is None:
        return _EXPECTED.get(kind, "expected a value") + ", and nothing is given"
    if kind == "literal_error":
        return f"expected {context['expected']}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "greater_than_equal":
        return f"expected at least {context['ge']}"
    if kind == "less_than_equal":
        return f"expected at most {context['le']}"
    if kind == "string_type" and path in document.looks_like_text:
        return "expected text, and YAML reads this bare word as a number or a boolean: put it in quotes"
    return _EXPECTED.get(kind, "not a valid value")


def _known_part(path: KeyPath, content: Any) -> KeyPath:
    """Without what pydantic adds at the end, such as the member of a union that was tried."""
    for depth, part in enumerate(path):
        inside = isinstance(content, Mapping) and part in content
        if not inside and not (isinstance(content, list) and isinstance(part, int) and part < len(content)):
            return path[:depth]
        content = content[part]
    return path


def _where_it_belongs(path: KeyPath, model: type[Model]) -> str:
    *above, key = path
    parent = tuple(part for part in above if isinstance(part, str))
    near = nearest_name(str(key), keys_at(model, parent))
    if near:
        return f"; did you mean {near}?"
    others = list(known_paths(any_run_config()))
    for source, owner in owners().items():
        if (*parent, str(key)) in known_paths(owner):
            return f"; it belongs to the source type {source}"
    homes = sorted({".".join(other[:-1]) or "the top level" for other in others if other[-1] == key})
    return f"; it belongs under {' or '.join(homes)}" if homes else suggestion(str(key), keys_at(model, parent))


def keys_at(model: type[Model], path: tuple[str, ...]) -> list[str]:
    """The keys that the mapping at `path` knows; none where there is no such mapping, or any key goes."""
    current: type[Model] | None = model
    for part in path:
        if current is None:
            return []
        current = _children(current).get(part)
    return list(_children(current)) if current else []


def known_paths(model: type[Model], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every key that the model knows."""
    for key, child in _children(model).items():
        yield (*above, key)
        if child is not None:
            yield from known_paths(child, (*above, key))


@cache
def _children(model: type[Model]) -> dict[str, type[Model] | None]:
    return {info.alias or name: model_in(info.annotation) for name, info in model.model_fields.items()}


def model_in(annotation: Any) -> type[Model] | None:
    """The model in `X`, `X | None`, `Annotated[X, ...]` and `tuple[X, ...]`; of `X | Y` one with the keys of both."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    inner = (model_in(part) for part in get_args(annotation) if part is not NoneType)
    found = tuple(dict.fromkeys(model for model in inner if model is not None))
    return found[0] if len(found) == 1 else _model_of_all(found) if found else None


@cache
def _model_of_all(models: tuple[type[Model], ...]) -> type[Model]:
    """One with the keys of all of them; in a key that several have stands what any of them has there."""
    given: defaultdict[str, list[FieldInfo]] = defaultdict(list)
    for model in models:
        for name, info in model.model_fields.items():
            given[name].append(info)
    shared: dict[str, Any] = {
        name: (Union[tuple(info.annotation for info in fields)], fields[0])  # noqa: UP007 there may be any number
        for name, fields in given.items()
        if len({model_in(info.annotation) for info in fields}) > 1
    }
    return create_model("Merged", __base__=models, **shared)
