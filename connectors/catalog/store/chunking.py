"""Rows of the store in pieces that one statement can bind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import bindparam, func, select

_T = TypeVar("_T")
_CHUNK = 1_000
IDS = select(func.json_each(bindparam("ids")).table_valued("value").c.value)
"""The ids that a statement is given by `bind_ids`: SQLAlchemy takes some hundred values of its own `in_` for longer
than SQLite takes to find their rows.
"""


def chunks_of(wanted: Sequence[_T]) -> Iterator[list[_T]]:
    """`wanted` in order, a thousand at a time."""
    for start in range(0, len(wanted), _CHUNK):
        yield list(wanted[start : start + _CHUNK])


def bind_ids(ids: Sequence[str] | Sequence[int]) -> dict[str, str]:
    """The parameter of a statement with `IDS`: the `ids` of entities, or the numbers of rows."""
    text = json.dumps(ids, ensure_ascii=False)
    if "\\u0000" in text:  # where a text of SQLite's JSON would end; no id that is stored has it
        text = json.dumps([one for one in ids if not isinstance(one, str) or "\0" not in one], ensure_ascii=False)
    return {"ids": text}
