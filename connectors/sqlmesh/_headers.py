"""The header of a SQLMesh model: `MODEL (name shop.orders, kind FULL, …);`, what it says, and what stands behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from connectors.sqlmesh.model_files import HEADER

_QUOTED = r"'(?:[^']|'')*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|`[^`]*+(?:`|\Z)|--[^\n]*+|/\*[\s\S]*?(?:\*/|\Z)"
_STEP = re.compile(rf"{_QUOTED}|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<comma>,)")
_COMMENT = re.compile(r"'(?:[^']|'')*+'|\"[^\"]*+\"|(?P<gone>--[^\n]*+|/\*[\s\S]*?\*/)")
_FIELD = re.compile(r"\s*(\w+)\s*([\s\S]*)\Z")
_ASSIGNED = re.compile(r"\s*(\w+)\s*:?=\s*([\s\S]*)\Z")
_WORD = re.compile(r"\w+")


class MalformedHeader(Exception):
    """A header that never ends, or has no name where one is needed."""


@dataclass(frozen=True, slots=True)
class ModelHeader:
    """What a header says, as it is written: `fields` by their lower-case names; `end` is where it ends in the text."""

    fields: Mapping[str, str] = field(default_factory=dict)
    end: int = 0

    @property
    def name(self) -> str:
        return self.fields.get("name", "").strip()

    @property
    def kind(self) -> str:
        """In upper case; VIEW where it says none, as SQLMesh has it."""
        found = _WORD.search(self.fields.get("kind", "VIEW"))
        return found.group().upper() if found else "VIEW"

    @property
    def options(self) -> dict[str, str]:
        """What stands in parentheses behind its kind."""
        return dict(_fields(_inner(self.fields.get("kind", ""))))

    @property
    def grains(self) -> tuple[str, ...]:
        written = self.fields.get("grains", self.fields.get("grain", ""))
        return tuple(one.strip() for one in items(_inner(written) or written) if one.strip())

    @property
    def columns(self) -> dict[str, str]:
        """The columns with their types, where it lists them."""
        return {name.strip('"`'): kind for name, kind in _column_fields(_inner(self.fields.get("columns", "")))}

    @property
    def enabled(self) -> bool:
        return self.fields.get("enabled", "true").strip().lower() != "false"

    @property
    def blueprints(self) -> tuple[dict[str, str], ...] | None:
        """The variables of each model that it stands for; None where a macro makes them, one without any for one."""
        written = self.fields.get("blueprints", "").strip()
        if not written:
            return ({},)
        if not written.startswith("("):
            return None
        return tuple(dict(_assignments(_inner(one))) for one in items(_inner(written)) if one.strip())


def model_header(text: str) -> ModelHeader | None:
    """The header of a file's text, None where it has none. Raises MalformedHeader."""
    found = HEADER.match(text)
    if found is None:
        return None
    end = closing(text, found.end() - 1)
    if end < 0:
        raise MalformedHeader("its MODEL block never ends")
    return ModelHeader(dict(_fields(text[found.end() : end])), end + 1)


def closing(text: str, start: int) -> int:
    """Where the parenthesis that opens at `start` closes, -1 where it never does."""
    depth = 0
    for step in _STEP.finditer(text, start):
        if step["open"]:
            depth += 1
        elif step["close"]:
            depth -= 1
            if depth == 0:
                return step.start()
    return -1


def _inner(written: str) -> str:
    """What stands in the first parentheses or brackets of a text, "" where it has none."""
    start = next((step.start() for step in _STEP.finditer(written) if step["open"]), -1)
    end = closing(written, start) if start >= 0 else -1
    return written[start + 1 : end] if end >= 0 else ""


def items(written: str) -> list[str]:
    """The parts of a list that is split by commas outside of quotes and parentheses."""
    found, depth, begun = [], 0, 0
    for step in _STEP.finditer(written):
        if step["comma"] and not depth:
            found.append(written[begun : step.start()])
            begun = step.end()
        depth += bool(step["open"]) - bool(step["close"])
    return [*found, written[begun:]]


def _fields(written: str) -> Iterator[tuple[str, str]]:
    without = _COMMENT.sub(lambda one: " " if one["gone"] else one.group(), written)
    for one in items(without):
        if (found := _FIELD.match(one)) is not None:
            yield found[1].lower(), found[2].strip()


def _column_fields(written: str) -> Iterator[tuple[str, str]]:
    for one in items(written):
        name, _, kind = one.strip().partition(" ")
        if name:
            yield name, kind.strip()


def _assignments(written: str) -> Iterator[tuple[str, str]]:
    for one in items(written):
        if (found := _ASSIGNED.match(one)) is not None:
            yield found[1].lower(), found[2].strip()
