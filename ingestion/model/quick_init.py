"""How frozen dataclasses are made of which a statement makes hundreds."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)


def with_quick_init(kind: Kind) -> Kind:
    """A frozen dataclass with slots whose `__init__` fills them itself.

    The one that Python writes has `object.__setattr__` look for each slot by its name: to make a value of five fields
    takes 0.6 µs then, and 0.37 so. Raises TypeError for a class with `__post_init__`, without slots of its own, or with
    fields that are made anew for each value or taken by name alone.
    """
    own = fields(kind)
    plain = (one.init and not one.kw_only and one.default_factory is MISSING and one.name in vars(kind) for one in own)
    if hasattr(kind, "__post_init__") or not all(plain):
        raise TypeError(f"{kind.__name__} does more than to take the fields of its slots")
    known: dict[str, Any] = {f"set_{one.name}": vars(kind)[one.name].__set__ for one in own}
    known |= {f"default_{one.name}": one.default for one in own}
    parameters = (one.name if one.default is MISSING else f"{one.name}=default_{one.name}" for one in own)
    body = "".join(f"\n    set_{one.name}(self, {one.name})" for one in own)
    exec(f"def __init__(self, {', '.join(parameters)}):{body}", known)  # as dataclasses writes its own
    made = known["__init__"]
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    made.__annotations__ = kind.__init__.__annotations__  # type: ignore[misc]
    kind.__init__ = made  # type: ignore[misc]
    return kind
