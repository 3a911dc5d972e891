"""Power BI's text form of a model (TMDL): objects by their indentation, each with properties and an expression.

```
table Sales
    measure 'Total Sales' = SUM(Sales[Amount])
        formatString: #,##0
    column Amount
        dataType: decimal
        sourceColumn: Amount
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_FENCE = "```"
_KEY = re.compile(r"[A-Za-z_]\w*")
_BARE_NAME = re.compile(r"[^\s='\":]+")
_TAB = 4
"""Blanks that are as much as a tab, where a file is indented by blanks."""
_WITHOUT_PROPERTIES = frozenset({"annotation", "extendedProperty", "changedProperty"})
_DESCRIPTION = "///"
_DEEPEST_OBJECT = 20


class NotTmdl(Exception):
    """A text that is no TMDL, or is cut: where."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(slots=True)
class TmdlObject:
    """`kind name = expression` with what is indented below it; `line`: where it stands."""

    kind: str
    name: str
    line: int
    expression: str = field(default="", repr=False)
    properties: dict[str, str] = field(default_factory=dict, repr=False)
    objects: list[TmdlObject] = field(default_factory=list, repr=False)
    description: str = ""

    def of_kind(self, kind: str) -> Iterator[TmdlObject]:
        """The objects in it of one kind."""
        return (one for one in self.objects if one.kind == kind)


@dataclass(slots=True)
class _Lines:
    """The lines of a text, and how far they are read."""

    lines: list[str]
    at: int = 0

    def block(self, least: int) -> str:
        """The lines from here on that are indented as deep at least, without what all of them have before them."""
        taken: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and _depth(line) < least:
                break
            taken.append(line)
            self.at += 1
        return "\n".join(taken).strip("\n")

    def fence(self) -> str:
        """The lines to the end of a fence. Raises NotTmdl where it has none."""
        begin = self.at
        while self.at < len(self.lines):
            self.at += 1
            if self.lines[self.at - 1].strip() == _FENCE:
                return "\n".join(self.lines[begin : self.at - 1])
        raise NotTmdl(begin)


def read_tmdl(text: str) -> TmdlObject:
    """A file's objects, in one that has no name. Raises NotTmdl."""
    source = _Lines(text.replace("\r\n", "\n").split("\n"))
    root = TmdlObject("", "", 1)
    open_objects = [(-1, root)]
    described: list[str] = []
    while source.at < len(source.lines):
        line = source.lines[source.at]
        source.at += 1
        written = line.strip()
        if not written:
            continue
        if written.startswith(_DESCRIPTION):
            described.append(written.removeprefix(_DESCRIPTION).strip())
            continue
        depth = _depth(line)
        while open_objects[-1][0] >= depth:
            open_objects.pop()
        if depth > open_objects[-1][0] + 1 or len(open_objects) > _DEEPEST_OBJECT:
            raise NotTmdl(source.at)
        made = _read_line(written, depth, source, open_objects[-1][1])
        if made is not None:
            made.description = "\n".join(described)
            open_objects[-1][1].objects.append(made)
            open_objects.append((depth, made))
        described = []
    return root


def _depth(line: str) -> int:
    tabs = blanks = 0
    for character in line:
        if character == "\t":
            tabs += 1
        elif character == " ":
            blanks += 1
        else:
            break
    return tabs + blanks // _TAB


def _read_line(written: str, depth: int, source: _Lines, owner: TmdlObject) -> TmdlObject | None:
    """The object that a line begins; None of a property, which is given to its owner."""
    number = source.at
    key = _KEY.match(written)
    if key is None:
        raise NotTmdl(number)
    rest = written[key.end() :].lstrip()
    if rest.startswith(":"):
        owner.properties[key[0]] = _plain(rest[1:].strip())
        return None
    name = ""
    if rest and not rest.startswith("="):
        if not written[key.end()].isspace():
            raise NotTmdl(number)
        name, rest = _name(rest, number)
    if rest and not rest.startswith("="):
        if key[0] == "ref":
            return None
        raise NotTmdl(number)
    made = TmdlObject(key[0], name, number)
    if rest:
        has_properties = bool(name) and key[0] not in _WITHOUT_PROPERTIES
        made.expression = _expression(rest[1:].strip(), depth + 1 + has_properties, source)
        if not name:
            owner.properties[key[0]] = made.expression
    elif not name:
        owner.properties.setdefault(key[0], "true")
    return made


def _expression(begun: str, least: int, source: _Lines) -> str:
    if begun == _FENCE:
        return source.fence()
    if begun.startswith(_FENCE) and begun.endswith(_FENCE) and len(begun) > len(_FENCE):
        return begun.strip("`")
    below = source.block(least)
    return f"{begun}\n{below}" if begun and below else begun or below


def _name(text: str, number: int) -> tuple[str, str]:
    """The name that a text begins with, and what stands behind it: `'It''s' = 1` is `It's` and `= 1`."""
    if not text.startswith("'"):
        bare = _BARE_NAME.match(text)
        if bare is None:
            raise NotTmdl(number)
        return bare[0], text[bare.end() :].lstrip()
    at = 1
    while True:
        end = text.find("'", at)
        if end < 0:
            raise NotTmdl(number)
        if text[end + 1 : end + 2] != "'":
            return text[1:end].replace("''", "'"), text[end + 1 :].lstrip()
        at = end + 2


def _plain(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1].replace('""', '"')
    return value


def qualified_name(text: str) -> tuple[str, str]:
    """The parts of `Sales.'Order Date'`; of a name alone, "" and that. Raises NotTmdl."""
    first, rest = _name(text, 1) if text.startswith("'") else ("", text)
    if not first:
        first, dot, last = text.partition(".")
        rest = f"{dot}{last}"
    if not rest.startswith("."):
        return "", first
    last = rest[1:]
    return first, (_name(last, 1)[0] if last.startswith("'") else last)
