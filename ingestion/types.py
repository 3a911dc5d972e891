"""The standard type set, how types follow through expressions, and each warehouse's names for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE")
_RANK = {name: number for number, name in enumerate(_NUMBERS)}
_TIMES = {"DATE": 0, "TIMESTAMP": 1, "TIMESTAMPTZ": 2}
_TEXTS = {"CHAR": 0, "VARCHAR": 1, "STRING": 2}
_INTEGERS = frozenset(_NUMBERS[:4])


def base_of(name: str) -> str:
    """The type without its parameters."""
    for number, character in enumerate(name):
        if character in "(<":
            return name[:number]
    return name


def widest(types: Sequence[str]) -> str:
    """The type that holds all of the types; "" where they have none in common, or one is not known.

    An untyped NULL is no obstacle: pass only what is known of a CASE's branches.
    """
    found = ""
    for name in types:
        if not name or name == found:
            continue
        found = name if not found else _wider(found, name)
        if not found:
            return ""
    return found


def _wider(left: str, right: str) -> str:
    a, b = base_of(left), base_of(right)
    for ranks in (_RANK, _TIMES, _TEXTS):
        if a in ranks and b in ranks:
            if a == b:
                return _same_base(a, left, right)
            wider = left if ranks[a] > ranks[b] else right
            return "DECIMAL" if base_of(wider) == "DECIMAL" and ranks is _RANK else wider
    if a == "INTERVAL" and b in _TIMES:
        return right
    if b == "INTERVAL" and a in _TIMES:
        return left
    if (a in _TIMES and b in _RANK) or (b in _TIMES and a in _RANK):  # a date plus a number of days
        return left if a in _TIMES else right
    return ""


def _same_base(base: str, left: str, right: str) -> str:
    sizes = [_sizes(left), _sizes(right)]
    if not all(sizes):
        return base
    if base == "DECIMAL":
        scale = max(size[1] for size in sizes)
        whole = max(size[0] - size[1] for size in sizes)
        return f"DECIMAL({min(whole + scale, 38)}, {scale})"
    return f"{base}({max(size[0] for size in sizes)})"


def _sizes(name: str) -> list[int]:
    inner = name.partition("(")[2].rstrip(")")
    parts = [part.strip() for part in inner.split(",")] if inner else []
    return [int(part) for part in parts] if all(part.isdigit() for part in parts) else []


def rule_type(rule: object, slot_type: Callable[[int], str]) -> str:
    """The type that a rule of the relational form gives; `slot_type` has the types of slots."""
    if rule is None:
        return ""
    if isinstance(rule, str):
        return rule
    if isinstance(rule, int):
        return slot_type(rule)
    if not isinstance(rule, tuple):
        return ""
    name, *inner = rule
    types = [rule_type(item, slot_type) for item in inner]
    return _RULES[name](types)


def _arithmetic(types: Sequence[str]) -> str:
    return widest(types)


def _subtracted(types: Sequence[str]) -> str:
    if len(types) == 2 and all(base_of(name) in _TIMES for name in types):
        return "INT" if types[0] == types[1] == "DATE" else "INTERVAL"
    return widest(types)


def _divided(types: Sequence[str]) -> str:
    wide = widest(types)
    return "DOUBLE" if wide in _INTEGERS else wide


def _summed(types: Sequence[str]) -> str:
    base = base_of(types[0]) if types else ""
    if base in _INTEGERS:
        return "BIGINT"
    if base == "DECIMAL":
        sizes = _sizes(types[0])
        return f"DECIMAL(38, {sizes[1]})" if len(sizes) == 2 else "DECIMAL"
    return "DOUBLE" if base in ("FLOAT", "DOUBLE") else base if base == "INTERVAL" else ""


def _averaged(types: Sequence[str]) -> str:
    base = base_of(types[0]) if types else ""
    if base == "DECIMAL":
        return "DECIMAL"
    return "DOUBLE" if base in _RANK else base if base == "INTERVAL" else ""


def _listed(types: Sequence[str]) -> str:
    return f"ARRAY<{types[0]}>" if types and types[0] else "ARRAY"


def _element(types: Sequence[str]) -> str:
    name = types[0] if types else ""
    if name.startswith("ARRAY<"):
        return name[6:-1]
    if name.startswith("MAP<"):
        return name[4:-1].partition(", ")[2]
    return name if name in ("JSON", "VARIANT") else ""


_RULES: dict[object, Callable[[Sequence[str]], str]] = {
    "widest": _arithmetic,
    "subtracted": _subtracted,
    "divided": _divided,
    "summed": _summed,
    "averaged": _averaged,
    "listed": _listed,
    "element": _element,
}
