"""The lines of an event log: how its first one tells it from other files, and whole lines out of pieces of bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

LONGEST_LINE = 64 << 20
"""Bytes of one event beyond which it is skipped and counted."""

MOST_BLANKS = 1 << 20
"""Bytes without anything but white space that a log may begin with and be looked at for how it begins."""

EVENT = b'{"Event":"'
"""How Spark begins each line."""


def first_bytes(chunks: Iterator[bytes]) -> bytes:
    """As many bytes as tell whether an event begins there, or all there are; no more than MOST_BLANKS and a chunk."""
    held = b""
    for chunk in chunks:
        held += chunk
        if len(held.lstrip()) >= len(EVENT) or len(held) > MOST_BLANKS:
            break
    return held


def is_rewritten(first: bytes) -> bool:
    """Whether the first line is an event as another program than Spark writes it: with spaces, or in another order."""
    line = first.lstrip().partition(b"\n")[0]
    if line.startswith(EVENT) or not line.startswith(b"{"):
        return False
    try:
        return "Spark" in str(json.loads(line).get("Event"))
    except (ValueError, RecursionError):
        return False


def compact_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as Spark would have written them; what is no JSON stays as it is."""
    blocks = Blocks(chunks)
    for block in blocks:
        yield b"".join(_compact(line) + b"\n" for line in block.splitlines())
    yield _compact(blocks.rest)


def _compact(line: bytes) -> bytes:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(event, dict):
        return line
    return json.dumps({"Event": event.get("Event"), **event}, separators=(",", ":")).encode()


class Blocks:
    """The bytes of a log as blocks of whole lines; an empty block stands for a line that is too long to be held.

    `rest` has what follows the last line break, once all blocks were taken.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.rest = b""

    def __iter__(self) -> Iterator[bytes]:
        held: list[bytes] = []
        size, dropping = 0, False
        for chunk in self._chunks:
            end = chunk.rfind(b"\n") + 1
            start = 0
            if end:
                if dropping:
                    yield b""
                    start, dropping = chunk.find(b"\n") + 1, False
                if held:
                    first = chunk.find(b"\n", start) + 1
                    yield b"".join((*held, chunk[start:first]))
                    start = first
                if start < end:
                    yield chunk[start:end] if start or end < len(chunk) else chunk
                held, size = [], 0
            if not dropping and end < len(chunk):
                held.append(chunk[end:] if end else chunk)
                size += len(chunk) - end
            if size > LONGEST_LINE:
                held, size, dropping = [], 0, True
        self.rest = b"".join(held)
        if dropping:
            yield b""
