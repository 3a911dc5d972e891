"""YAML as plain values, with the line of every key and value, and what is wrong with them: no value is ever part of
a problem, since it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import yaml

from connectors.fields import KeyPath
from ingestion.errors import ConfigError

# What is wrong with a configuration: the file, the line, the field, and what to write instead.
#
# No value of the configuration is ever part of a problem: a value may be a secret.


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One thing to correct; `line` is 1-based, None where the whole file is meant."""

    origin: str
    line: int | None
    field: str
    message: str

    def __str__(self) -> str:
        where = self.origin if self.line is None else f"{self.origin}:{self.line}"
        return ": ".join(part for part in (where, self.field, self.message) if part)


class InvalidConfig(ConfigError):
    """The configuration cannot be used; as text it is its first problem on one line, `problems` has all."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        first, others = self.problems[0], len(self.problems) - 1
        return f"{first} (and {others} more: `ingest validate` lists all)" if others else str(first)


# The file, read.


_MAX_NODES = 100_000  # aliases of aliases grow without end; no configuration comes near
_MAX_DEPTH = 100
_NESTED = "nested too deeply"
_TOO_DEEP = "maximum nesting depth"
"""What newer versions of libyaml say of it, which read so far ahead that they meet their own limit first."""
_LONGEST_NUMBER = 100
_TEXT_WORDS = frozenset({"yes", "no", "on", "off", "y", "n"})
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_MERGE, _TIMESTAMP = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:timestamp"

# PyYAML's own words quote the input, which may be a secret that wanted quotes.
_SAYINGS = {
    "tab character": "a tab; indent with spaces",
    "invalid Unicode character": "half a character",
    "alias": "a value that starts with * is an alias; put it in quotes",
    "anchor": "a value that starts with & is an anchor; put it in quotes",
    "directive": "a value that starts with % is a directive; put it in quotes",
    "cannot start any token": "a value that starts with a special character; put it in quotes",
    "could not find expected ':'": "a line that is not `key: value`; is a colon or an indent off?",
    "mapping values are not allowed": "a second `: ` in a line, or an indent that is off",
    "but found another document": "more than one document; one file is one workflow",
    "expected <block end>": "an indent that does not fit the lines above",
    "did not find expected key": "an indent that does not fit the lines above",
    "unexpected end of stream": "a quote that is never closed",
    "tag": "a value that starts with ! is a tag; put it in quotes",
    "unknown escape character": "an unknown \\ escape in double quotes; use single quotes for plain text",
}


# One of JSON's escapes for a character beyond 16 bits, which YAML writes as one escape of eight digits.
_HALVES = re.compile(r"(?<!\\)((?:\\\\)*+)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})")

# libyaml reads ten times as fast; PyYAML may have been built without it.
_SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LITTLE = 20_000
"""Characters that PyYAML itself reads in a moment, however hostile they are."""
_RESOLVERS = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class _Loader(_SafeLoader):  # type: ignore[misc, valid-type]
    """SafeLoader whose dates stay text."""

    yaml_implicit_resolvers = _RESOLVERS


class _PatientLoader(yaml.SafeLoader):
    """The same in Python: it reads `{key:}`, which libyaml refuses."""

    yaml_implicit_resolvers = _RESOLVERS


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file's content: plain values, and the 1-based line of each path in them.

    `looks_like_text` has the paths of bare words that YAML 1.1 reads as booleans (no, on) or numbers.
    """

    origin: str
    content: Mapping[str, Any]
    lines: Mapping[KeyPath, int]
    looks_like_text: frozenset[KeyPath] = frozenset()
    overridden: frozenset[KeyPath] = frozenset()  # given on the command line

    def problem(self, path: KeyPath, message: str) -> ConfigProblem:
        """What is wrong at the path, at its place."""
        if any(path[: len(given)] == given for given in self.overridden):
            return ConfigProblem("--set", None, dotted_path(path), message)
        return ConfigProblem(self.origin, self.line_of(path), dotted_path(path), message)

    def line_of(self, path: KeyPath) -> int | None:
        """The line of the path, or of the nearest thing around it that the file has."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path)


def parse_document(text: str, origin: str) -> Document:
    """The document in `text`; `origin` is what its problems call it. Raises InvalidConfig."""
    text = _whole_characters(text)
    if control := next(yaml.reader.Reader.NON_PRINTABLE.finditer(text), None):
        raise _invalid(origin, text.count("\n", 0, control.start()) + 1, "a control character")
    try:
        return _read_document(text, origin, _Loader)
    except InvalidConfig:
        if len(text) > _LITTLE:
            raise
        with suppress(InvalidConfig):
            return _read_document(text, origin, _PatientLoader)
        raise


def _read_document(text: str, origin: str, loader_class: type[_Loader | _PatientLoader]) -> Document:
    loader = loader_class(text)
    try:
        _check_size(text, origin, loader_class)
        root = loader.get_single_node()
        if root is None:
            raise _invalid(origin, None, "the file is empty; `ingest init` writes one to start from")
        if not isinstance(root, yaml.MappingNode):
            raise _invalid(origin, _line(root), "a mapping of `key: value` lines is expected at the top")
        reading = _DocumentReading(loader, origin)
        content = reading.value(root, ())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        if _TOO_DEEP in str(error.problem):
            raise _invalid(origin, line, _NESTED) from None
        advice = _saying(f"{error.context}: {error.problem}", (line or 1) - 1, text)
        raise _invalid(origin, line, f"not valid YAML: {advice}") from None
    finally:
        loader.dispose()
    return Document(origin, content, reading.lines, frozenset(reading.looks_like_text))


def _check_size(text: str, origin: str, loader_class: type[_Loader | _PatientLoader]) -> None:
    """Raises InvalidConfig where the text holds more than a loader takes in a moment. Raises YAMLError."""
    depth = values = line = 0
    for event in yaml.parse(text, Loader=loader_class):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        else:
            values += 1
        if event.start_mark is not None:
            line = event.start_mark.line + 1
        if depth > _MAX_DEPTH:
            raise _invalid(origin, line, _NESTED)
        if values > 2 * _MAX_NODES:
            raise _invalid(origin, line, f"more than {_MAX_NODES:,} values")


def _whole_characters(text: str) -> str:
    """JSON's text with each character beyond 16 bits in one escape."""
    if not text.lstrip().startswith("{"):
        return text

    def whole(found: re.Match[str]) -> str:
        halves = found[2].encode("ascii").decode("unicode_escape")
        return f"{found[1]}\\U{ord(halves.encode('utf-16', 'surrogatepass').decode('utf-16')):08x}"

    return _HALVES.sub(whole, text)


class _DocumentReading:
    """One walk over a node tree: values out, lines kept."""

    def __init__(self, loader: _Loader | _PatientLoader, origin: str) -> None:
        self.loader = loader
        self.origin = origin
        self.lines: dict[KeyPath, int] = {}
        self.looks_like_text: set[KeyPath] = set()
        self._open: list[yaml.Node] = []
        self._count = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        self._count += 1
        if self._count > _MAX_NODES:
            raise _invalid(self.origin, _line(node), "aliases that unfold without end")
        if any(node is outer for outer in self._open):
            raise _invalid(self.origin, _line(node), "an anchor that holds itself")
        self.lines.setdefault(path, _line(node))
        self._open.append(node)
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode):
                return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
            return self._scalar(node, path)
        finally:
            self._open.pop()

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: list[yaml.Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                several = isinstance(value_node, yaml.SequenceNode)
                merged += value_node.value if several else [value_node]
                continue
            # The raw text, so that a key `on:` is not the key True.
            if not isinstance(key_node, yaml.ScalarNode):
                raise _invalid(self.origin, _line(key_node), "a key that is no plain name")
            key = str(key_node.value)
            if key in values:
                raise _invalid(self.origin, _line(key_node), "given twice; keep one of the two", (*path, key))
            self.lines.setdefault((*path, key), _line(key_node))
            values[key] = self.value(value_node, (*path, key))
        for source in merged:
            values = self._merge(values, source, path)
        return values

    def _merge(self, values: dict[str, Any], source: yaml.Node, path: KeyPath) -> dict[str, Any]:
        """`<<:` gives what the mapping does not have of its own."""
        if not isinstance(source, yaml.MappingNode):
            raise _invalid(self.origin, _line(source), "<< takes a mapping, or a list of them", path)
        inherited = self.value(source, path)
        return {**inherited, **values}

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        try:
            value = _scalar_value(self.loader, node)
        except (ValueError, OverflowError, KeyError):
            raise _invalid(self.origin, _line(node), "neither a number nor quoted text", path) from None
        if isinstance(value, str) and not value.isascii():
            value = self._unicode(value, node, path)
        bare_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not getattr(node, "style", None) and (bare_number or str(node.value).lower() in _TEXT_WORDS):
            self.looks_like_text.add(path)
        return value

    def _unicode(self, value: str, node: yaml.Node, path: KeyPath) -> str:
        """JSON escapes characters beyond 16 bits as two halves, which YAML leaves apart."""
        try:
            return value.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise _invalid(self.origin, _line(node), "half a character", path) from None


def _scalar_value(loader: _Loader | _PatientLoader, node: yaml.Node) -> Any:
    """The value of a scalar. Raises ValueError, for a number of more digits than one has too."""
    if len(node.value) > _LONGEST_NUMBER and node.tag in _NUMBERS:
        raise ValueError("a number of so many digits")
    return loader.construct_object(node)


def parse_scalar(text: str) -> Any:
    """A number, a boolean or null where YAML reads the bare text as one; otherwise the text itself."""
    candidates = _RESOLVERS.get(text[:1], [])
    tag = next((tag for tag, pattern in candidates if pattern.match(text)), "")
    if tag.rpartition(":")[2] not in {"null", "bool", "int", "float"}:
        return text
    loader = _Loader("")
    try:
        return _scalar_value(loader, yaml.ScalarNode(tag, text))
    except ValueError:
        return text
    finally:
        loader.dispose()


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _saying(problem: str, line: int, text: str) -> str:
    lines = text.splitlines()
    if "cannot start any token" in problem and lines[line : line + 1] and "\t" in lines[line][: _indent(lines[line])]:
        return "a tab; indent with spaces"
    for nearby in lines[max(line - 1, 0) : line + 1]:
        if "${" in nearby and ("{" in nearby.replace("${", "") or "[" in nearby):
            return "inside { } and [ ] a ${...} needs quotes around it"
    return next((hint for part, hint in _SAYINGS.items() if part in problem), "is a quote, a bracket or an indent off?")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _invalid(origin: str, line: int | None, message: str, path: KeyPath = ()) -> InvalidConfig:
    return InvalidConfig([ConfigProblem(origin, line, dotted_path(path), message)])


def dotted_path(path: KeyPath) -> str:
    """A path as people write it: `headwater.schemaFiles[0].path`."""
    written = ""
    for part in path:
        written += f"[{part}]" if isinstance(part, int) else f".{part}" if written else part
    return written
