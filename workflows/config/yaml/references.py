"""`${...}` in all values of a document, and the secrets that a document holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workflows.config.yaml.document import Document, Path
from workflows.config.yaml.interpolation import BadReference, interpolate, names_a_secret
from workflows.config.yaml.problems import ConfigProblem, InvalidConfig

_USER_INFO = re.compile(r"://[^/@\s:]*+:(?P<password>[^@\s]++)(?P<end>@)?")
_SETTING = re.compile(r"(?<![A-Za-z_])(?P<name>[A-Za-z_]++)=(?P<value>[^&;\s]+)")


def replace_references(document: Document, environment: Mapping[str, str]) -> tuple[Document, tuple[str, ...]]:
    """The document with its references replaced, and the secrets that came in. Raises InvalidConfig."""
    problems: list[ConfigProblem] = []
    secrets: list[str] = []

    def substitute(value: Any, path: Path) -> Any:
        if isinstance(value, dict):
            return {key: substitute(inner, (*path, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [substitute(inner, (*path, index)) for index, inner in enumerate(value)]
        if not isinstance(value, str) or "${" not in value:
            return value
        try:
            result = interpolate(value, environment)
        except BadReference as error:
            problems.append(document.problem(path, str(error)))
            return value
        secrets.extend(result.secrets)
        return result.text

    content = substitute(document.content, ())
    if problems:
        raise InvalidConfig(problems)
    return replace(document, content=content), tuple(secrets)


def known_secrets(content: Mapping[str, Any], referred: Sequence[str]) -> tuple[str, ...]:
    """What must never be shown: values under a secret's name, passwords inside URLs, and `referred`."""
    return tuple(dict.fromkeys([*referred, *_secrets(content, "")]))


def _secrets(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _secrets(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _secrets(inner, key)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value)
        if text and names_a_secret(key):
            yield text
        yield from (found["password"] for found in _USER_INFO.finditer(text) if found["end"])
        for found in _SETTING.finditer(text):
            if names_a_secret(found["name"]):
                yield found["value"]
