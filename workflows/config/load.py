"""From a YAML file, and `--set key=value` over it, to a RunConfig: read, override, interpolate, validate, check
against the disk.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from connectors.fields import FieldContext, KeyPath
from connectors.standard_input import read_standard_input
from ingestion.arguments import nearest_file, suggestion
from workflows.config.explain import explain, keys_at, known_paths
from workflows.config.models.run_config import RunConfig, any_run_config, run_config_model
from workflows.config.yaml.document import (
    ConfigProblem,
    Document,
    InvalidConfig,
    dotted_path,
    parse_document,
    parse_scalar,
)
from workflows.config.yaml.references import known_secrets, replace_references

ORIGIN = "--set"
_OPEN_MAPPINGS = (
    ("source", "serviceConnection", "config"),
    ("headwater", "spark", "conf"),
    ("headwater", "catalogServices"),
    ("headwater", "openLineage", "namespaces"),
    ("workflowConfig", "openMetadataServerConfig", "extraHeaders"),
)
_MAX_BYTES = 4 << 20


# `--set key=value`: a value of the YAML replaced from the command line.


def _override(document: Document, settings: Sequence[str]) -> Document:
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
    known = list(dict.fromkeys(known_paths(any_run_config())))
    if parts in known:
        return parts
    ends = [path for path in known if path[-len(parts) :] == parts]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise _invalid(key, "several keys end so: " + ", ".join(dotted_path(path) for path in ends))
    names = {path[-1] for path in known} if len(parts) == 1 else keys_at(any_run_config(), parts[:-1])
    raise _invalid(key, "unknown key" + suggestion(parts[-1], names))


def _value(text: str, path: KeyPath) -> Any:
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


# The YAML of a workflow, with those values replaced, as a RunConfig.


def load_config(
    file: str | Path,
    overrides: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    *,
    may_lack_log: bool = False,
) -> RunConfig:
    """The workflow that a YAML file (`-` for standard input) describes, with `key=value` overrides.

    Relative paths in it are looked up from the working directory, then from the file's own. Raises InvalidConfig
    with every problem that was found; the first makes its text. `may_lack_log`: a log that is gone is no problem.
    """
    origin = "<stdin>" if str(file) == "-" else str(file)
    document = parse_document(_text(file, origin), origin)
    document = _override(document, overrides)
    document, referred = replace_references(document, os.environ if environment is None else environment)
    directory = Path.cwd() if str(file) == "-" else Path(file).parent
    secrets = list(known_secrets(document.content, referred))
    return _validate(document, FieldContext(origin, directory, may_lack_log, secrets))


def _validate(document: Document, reading: FieldContext) -> RunConfig:
    model = run_config_model(_type_of("source", document).lower(), _type_of("sink", document))
    try:
        return model.model_validate(document.content, context=reading)
    except ValidationError as error:
        raise InvalidConfig(explain(error, document, model)) from None


def _type_of(section: str, document: Document) -> str:
    """The type that a section names, "" where it names none."""
    content = document.content.get(section)
    named = content.get("type") if isinstance(content, Mapping) else None
    return named if isinstance(named, str) else ""


def _text(file: str | Path, origin: str) -> str:
    path = Path(file)
    try:
        if str(file) == "-":
            content = read_standard_input(_MAX_BYTES)
        else:
            with path.open("rb") as stream:
                content = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        hint = nearest_file(path) or "; `ingest init` writes one to start from"
        raise InvalidConfig([ConfigProblem(origin, None, "", f"no such file{hint}")]) from None
    except OSError as error:
        raise InvalidConfig([ConfigProblem(origin, None, "", f"cannot be read ({error.strerror})")]) from None
    if len(content) > _MAX_BYTES:
        raise InvalidConfig([ConfigProblem(origin, None, "", "over 4 MB: is this a workflow's YAML?")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidConfig([ConfigProblem(origin, line, "", "not UTF-8 text")]) from None
