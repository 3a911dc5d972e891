"""YAML that people wrote, whose aliases may name a part again, as plain values: as many as a file can hold.

`a: &a [*a]` holds itself, and nine lines that each name the line before nine times stand for millions of values.
"""

from __future__ import annotations

from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_VALUES = 2_000_000
_MOST_BYTES = 16 << 20
"""Of which a parsed byte may take a hundred in memory."""


def load_yaml(content: str | bytes) -> Any:
    """The value of a document. Raises YAMLError, also where it is nested too deeply, or endless."""
    if len(content) > _MOST_BYTES:
        raise yaml.YAMLError(f"over {_MOST_BYTES >> 20} MB")
    try:
        found = yaml.load(content, Loader=_LOADER)
    except (RecursionError, ValueError):
        raise yaml.YAMLError("nested too deeply, or with a value that is none") from None
    _refuse_endless(found)
    return found


def _refuse_endless(value: object) -> None:
    """Raises YAMLError where a part holds itself, or the parts come to more than a file has that names each once."""
    sizes: dict[int, int] = {}
    begun: set[int] = set()
    waiting = [value]
    while waiting:
        one = waiting[-1]
        inner = list(one.values()) if isinstance(one, dict) else one if isinstance(one, list) else []
        parts = [part for part in inner if isinstance(part, dict | list)]
        if id(one) in begun or not parts:
            waiting.pop()
            begun.discard(id(one))
            sizes[id(one)] = 1 + len(inner) + sum(sizes[id(part)] for part in parts)
            if sizes[id(one)] > _MOST_VALUES:
                raise yaml.YAMLError("its aliases name their own parts again and again")
            continue
        begun.add(id(one))
        if any(id(part) in begun for part in parts):
            raise yaml.YAMLError("a part of it holds itself")
        waiting += [part for part in parts if id(part) not in sizes]
