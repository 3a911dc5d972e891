"""YAML that others wrote: plain values, and no more of them than the text is long."""

from __future__ import annotations

from typing import Any

import yaml

_SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    """The value of a document. Raises YAMLError, also for one that is nested too deeply or repeats a part of itself.

    Tools write no aliases, and with them a short text may stand for a very long one.
    """
    try:
        found = yaml.load(text, Loader=_SAFE_LOADER)
    except (RecursionError, ValueError):
        raise yaml.YAMLError("nested too deeply, or with a value that is none") from None
    seen: set[int] = set()
    waiting = [found]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            if id(value) in seen:
                raise yaml.YAMLError("a part of it is repeated by an alias")
            seen.add(id(value))
            waiting += value.values() if isinstance(value, dict) else value
    return found
