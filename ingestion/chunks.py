"""A stream cut into chunks, each of which a call, a thread or a server can take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import add, gt
from typing import TypeVar

Item = TypeVar("Item")


def chunks_within(
    items: Iterable[Item], sizes: Callable[[Item], tuple[int, ...]], most: tuple[int, ...]
) -> Iterator[list[Item]]:
    """The items in their order, in lists none of whose sizes comes to more than `most`; one that is larger is alone.

    `sizes` tells of an item as many as `most` has: 1 where items are counted, its characters, its columns.
    """
    chunk: list[Item] = []
    held: tuple[int, ...] = ()
    for item in items:
        own = sizes(item)
        held = tuple(map(add, held, own)) if chunk else own
        if chunk and any(map(gt, held, most)):
            yield chunk
            chunk, held = [], own
        chunk.append(item)
    if chunk:
        yield chunk
