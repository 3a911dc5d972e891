"""What a parser process and its owner say to each other: pickles with their length in front, over pipes."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass

from ingestion.model import pickling
from ingestion.model.outcomes import Outcome

HEADER = struct.Struct("!Q")
OUT_OF_MEMORY_EXIT = 77
"""The exit code of a parser process that was refused memory."""
ILL_FORMED = f"{Outcome.ILL_FORMED}:"
"""Begins the reason of text that no parser is given, before the name of what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The process is up and waits for work."""


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Load a parser and a dialect, parse something small, then allow `memory` bytes more than is held by then.

    `names`: beside its lineage, each statement is to be answered with its names.
    """

    module: str
    dialect: str
    memory: int
    names: bool = True


@dataclass(frozen=True, slots=True)
class Warm:
    """The warm-up is over."""


@dataclass(frozen=True, slots=True)
class ParseCall:
    """Statements (text, dialect) for `module.parse`, each with `seconds` of its own."""

    module: str
    seconds: float
    statements: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ParseReply:
    """What became of one statement: its symbolic lineage as bytes, or why there is none (`reason`).

    `detail` places an error in the code (`KeyError at tier.py:120`), or is what the parser says of the text,
    without a word of it but keywords; `line` and `column` (from 1, 0 if unknown) are where in the text it stopped.
    `final`: another parser would read the statement, and wrongly.
    """

    symbolic: bytes | None
    reason: str
    seconds: float
    detail: str = ""
    line: int = 0
    column: int = 0
    final: bool = False


def frame(message: object) -> bytes:
    """One message as it goes through the pipe."""
    body = pickling.dumps(message)
    return HEADER.pack(len(body)) + body


def take_frame(buffer: bytearray) -> object | None:
    """Removes the first whole message from what has arrived and returns it; None while there is none."""
    if len(buffer) < HEADER.size:
        return None
    (size,) = HEADER.unpack_from(buffer)
    end = HEADER.size + size
    if len(buffer) < end:
        return None
    with memoryview(buffer) as view:
        message: object = pickle.loads(view[HEADER.size : end])
    del buffer[:end]
    return message
