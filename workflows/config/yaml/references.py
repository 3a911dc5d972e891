"""`${VAR}`, `${VAR:-default}`, `${file:/path}` in the values of a document, and the secrets that a document holds;
`$${` stands for a plain `${`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from connectors.fields import KeyPath
from workflows.config.yaml.document import ConfigProblem, Document, InvalidConfig

_REFERENCE = re.compile(r"\$\$\{|\$\{(?P<body>[^}]*)(?P<end>\}?)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET_NAME = re.compile(
    r"passw|passphrase|pwd|secret(?!s?[_-]?manager)|token(?![_-]?ur[il])|credential|authori[sz]ation|cookie|signature"
    r"|(private|api|access|account|encryption|shared|sas)[_-]?key|^key$|_key$|jwt",
    re.IGNORECASE,
)
_MAX_FILE_BYTES = 1 << 20
_USER_INFO = re.compile(r"://[^/@\s:]*+:(?P<password>[^@\s]++)(?P<end>@)?")
_SETTING = re.compile(r"(?<![A-Za-z_])(?P<name>[A-Za-z_]++)=(?P<value>[^&;\s]+)")


# The references in one value.
#
# They are replaced in values that are parsed already, and what comes in is not looked at again: neither a variable
# nor a file can add keys, change types or refer further.


class BadReference(ValueError):
    """A reference that gives no value; the message names the variable or file, never a value."""


@dataclass(frozen=True, slots=True)
class Interpolated:
    """A value with its references replaced, and those parts of it that must never be shown."""

    text: str
    secrets: tuple[str, ...] = ()


def names_a_secret(name: str) -> bool:
    """Whether a key or a variable of this name holds a secret, going by the words in it."""
    return _SECRET_NAME.search(name) is not None


def interpolate(text: str, environment: Mapping[str, str]) -> Interpolated:
    """`text` with its references replaced. Raises BadReference for one that is malformed or has no value."""
    texts: list[str] = []
    secrets: list[str] = []
    position = 0
    for found in _REFERENCE.finditer(text):
        texts.append(text[position : found.start()])
        position = found.end()
        if found.group("body") is None:
            texts.append("${")
            continue
        if not found.group("end"):
            raise BadReference("a ${ without its }; write $${ for a plain ${")
        value, secret = _look_up(found.group("body"), environment)
        texts.append(value)
        if secret and value:
            secrets.append(value)
    texts.append(text[position:])
    return Interpolated("".join(texts), tuple(secrets))


def _look_up(body: str, environment: Mapping[str, str]) -> tuple[str, bool]:
    if body.startswith("file:"):
        return _file_text(body.removeprefix("file:")), True
    name, has_default, default = body.partition(":-")
    if _VARIABLE.fullmatch(name) is None:
        raise BadReference("a ${...} that is no variable name; write $${ for a plain ${")
    if "${" in default:
        raise BadReference(f"the default of {name} holds another reference: references do not nest")
    value = environment.get(name)
    if value is None or (has_default and not value):
        if not has_default:
            raise BadReference(f"the environment variable {name} is not set; set it, or write ${{{name}:-default}}")
        return default, False
    return value, names_a_secret(name)


def _file_text(name: str) -> str:
    """What the file holds, without the line end that editors and `echo` leave."""
    path = Path(name).expanduser()
    try:
        with path.open("rb") as stream:
            content = stream.read(_MAX_FILE_BYTES + 1)
    except (OSError, ValueError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a usable path"
        raise BadReference(f"${{file:...}} names a file that cannot be read: {name} ({reason})") from None
    if len(content) > _MAX_FILE_BYTES:
        raise BadReference(f"${{file:...}} names a file over 1 MB: {name}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise BadReference(f"${{file:...}} names a file that is not UTF-8 text: {name}") from None
    return text.removesuffix("\n").removesuffix("\r")


# Those in all values of a document, and its secrets.


def replace_references(document: Document, environment: Mapping[str, str]) -> tuple[Document, tuple[str, ...]]:
    """The document with its references replaced, and the secrets that came in. Raises InvalidConfig."""
    problems: list[ConfigProblem] = []
    secrets: list[str] = []

    def substitute(value: Any, path: KeyPath) -> Any:
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
