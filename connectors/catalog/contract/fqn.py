"""Fully qualified names: parts joined by dots, a part with a dot in double quotes."""

from __future__ import annotations


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
