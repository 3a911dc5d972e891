"""Fully qualified names as OpenMetadata writes them: parts joined by dots, a part with a dot in double quotes.

Characters that its names may not hold arrive and leave under reserved words, in table and column names: `build_fqn` and
`split_fqn` take and give names as the database has them, `join`, `quote` and `split` as they are stored.
"""

from __future__ import annotations

import re

_RESERVED = {
    "::": "__reserved__colon__",
    ">": "__reserved__arrow__",
    '"': "__reserved__quote__",
    "\n": "__reserved__newline__",
    "\r": "__reserved__carriage_return__",
    "\t": "__reserved__tab__",
}
_RESERVED_PREFIX = "__reserved__"
_ENCODE = re.compile("|".join(map(re.escape, _RESERVED)))
_DECODE = re.compile("|".join(_RESERVED.values()))
_CHARACTERS = {word: characters for characters, word in _RESERVED.items()}
_WRITTEN_PART = re.compile(r'"((?:[^"\\]|\\"?+|"")++)"(?=\.|\Z)|([^.]*+)')
_PART = re.compile(r'"([^"]+)"|([^".]+)')


def encode_name(name: str) -> str:
    """A name as the platform stores it, with reserved words for the characters it refuses."""
    return _ENCODE.sub(lambda match: _RESERVED[match[0]], name)


def decode_name(name: str) -> str:
    """A stored name as the database has it."""
    if _RESERVED_PREFIX not in name:
        return name
    return _DECODE.sub(lambda match: _CHARACTERS[match[0]], name)


def build_fqn(*parts: str) -> str:
    """The FQN of the given parts, outermost first; ValueError when a part is empty."""
    if not parts or not all(parts):
        msg = "every part of a fully qualified name needs a text"
        raise ValueError(msg)
    return ".".join([part if part.isidentifier() else quote(encode_name(part)) for part in parts])


def split_fqn(fqn: str) -> tuple[str, ...]:
    """The parts of an FQN, decoded, outermost first; ValueError when it is not one.

    A stored name has no quotes in it, so a backslash is one here: `split` is for FQNs that others wrote.
    """
    if '"' not in fqn and _RESERVED_PREFIX not in fqn and all(plain := fqn.split(".")):
        return tuple(plain)
    parts = []
    position = 0
    while True:
        match = _PART.match(fqn, position)
        if match is None:
            break
        parts.append(decode_name(match[1] or match[2]))
        position = match.end()
        if position == len(fqn):
            return tuple(parts)
        if fqn[position] != ".":
            break
        position += 1
    msg = "not a fully qualified name: a part is empty or its quotes are not paired"
    raise ValueError(msg)


def quote(name: str) -> str:
    """`name` as one part of a fully qualified name."""
    if "." not in name and '"' not in name:
        return name
    return '"' + name.replace('"', '\\"') + '"'


def join(parent: str, name: str) -> str:
    """The fully qualified name of `name` under `parent` (itself a fully qualified name)."""
    return f"{parent}.{quote(name)}" if parent else quote(name)


def split(fqn: str) -> list[str]:
    """The parts of `fqn`, unquoted; an unclosed quote takes the rest as one part."""
    if '"' not in fqn:
        return fqn.split(".")
    parts: list[str] = []
    part: list[str] = []
    quoted = False
    position = 0
    while position < len(fqn):
        character = fqn[position]
        if quoted and character == "\\" and fqn[position + 1 : position + 2] == '"':
            part.append('"')
            position += 1
        elif character == '"':
            quoted = not quoted
        elif character == "." and not quoted:
            parts.append("".join(part))
            part = []
        else:
            part.append(character)
        position += 1
    parts.append("".join(part))
    return parts


def written_parts(name: str) -> list[str]:
    r"""The parts, as they are stored, of a name that somebody has written: as it is stored, or as a query has it.

    In `public."a.""b"` and in `public."a.\"b"` the table is called a."b; a quote within a part that does not begin with
    one is a character of it.
    """
    parts = []
    position = 0
    while match := _WRITTEN_PART.match(name, position):
        quoted = match[1].replace('""', '"').replace('\\"', '"') if match[1] else match[2]
        parts.append(encode_name(quoted))
        position = match.end() + 1
        if position > len(name):
            break
    return parts


def search_pattern(*parts: str | None) -> str:
    """A field-search pattern over FQNs: None is any part; wildcard characters inside a name match one character.

    The search knows no escape that every server honours, and its `*` crosses dots, so a hit is a candidate only:
    compare its parts.
    """
    return ".".join("*" if part is None else re.sub(r"[*?\\]", "?", build_fqn(part)) for part in parts)
