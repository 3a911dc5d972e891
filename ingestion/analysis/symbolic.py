"""Symbolic lineage as bytes: how it crosses the borders of processes, of Spark, and of one run to the next.

Behind the lineage stand the names of the statement, where they were known already: whoever needs these alone has them
without the rest. So nothing is read, or written anew, on the way from a parser to what binds the statement.
"""

from __future__ import annotations

import io
import pickle
import re
import struct
import zlib
from functools import cache
from importlib import import_module

from ingestion.analysis.form import RelationalStatement
from ingestion.errors import Unparsable
from ingestion.model import pickling
from ingestion.model.lineage import StatementLineage, TableUsageNames

Symbolic = RelationalStatement | StatementLineage
"""What a parse gives: a relational form to be analysed, or lineage that a plan had already resolved."""

_TRUSTED_MODULES = ("ingestion.model.lineage", "ingestion.model.outcomes", "ingestion.analysis.form")

_TRAILER = struct.Struct("!I?3sI")
"""Bytes of the names, whether the lineage is resolved, a sign, and the checksum of all that stands before it."""
_CHECKSUM = struct.Struct("!I")
_SIGN = b"HWs"

_SIZED = {
    pickle.SHORT_BINUNICODE[0]: 1,
    pickle.BINUNICODE[0]: 4,
    pickle.BINUNICODE8[0]: 8,
    pickle.SHORT_BINBYTES[0]: 1,
    pickle.BINBYTES[0]: 4,
    pickle.BINBYTES8[0]: 8,
    pickle.LONG1[0]: 1,
}
"""Operations of a pickle that are followed by as many bytes as a number tells, and the bytes of that number."""
_UNSIZED = re.compile(
    b"(?:[%b]++|(?:[%b].)++|%b..|[%b]....|[%b].{8}|%b(?:%b))++"
    % (
        re.escape(
            pickle.MARK + pickle.EMPTY_TUPLE + pickle.TUPLE + pickle.TUPLE1 + pickle.TUPLE2 + pickle.TUPLE3
            + pickle.NONE + pickle.NEWTRUE + pickle.NEWFALSE + pickle.EMPTY_LIST + pickle.APPEND + pickle.APPENDS
            + pickle.EMPTY_DICT + pickle.SETITEM + pickle.SETITEMS + pickle.EMPTY_SET + pickle.ADDITEMS
            + pickle.FROZENSET + pickle.MEMOIZE + pickle.STACK_GLOBAL + pickle.REDUCE + pickle.NEWOBJ + pickle.BUILD
            + pickle.POP + pickle.POP_MARK
        ),
        re.escape(pickle.PROTO + pickle.BININT1 + pickle.BINGET),
        re.escape(pickle.BININT2),
        re.escape(pickle.BININT + pickle.LONG_BINGET),
        re.escape(pickle.FRAME + pickle.BINFLOAT),
        re.escape(pickle.SHORT_BINUNICODE),
        b"|".join(re.escape(bytes([size])) + b".{%d}" % size for size in range(64)),  # most names are as short
    ),
    re.DOTALL,
)  # fmt: skip
"""The other operations that this version writes, and short texts, one after the other."""


class _SymbolicUnpickler(pickle.Unpickler):
    """Loads values of our own vocabulary only, so that a stored file cannot run code."""

    def find_class(self, module: str, name: str) -> type:
        return _trusted_class(module, name)


@cache
def _trusted_class(module: str, name: str) -> type:
    if module in _TRUSTED_MODULES and "." not in name:
        found = getattr(import_module(module), name)
        if isinstance(found, type) and found.__module__ == module:
            return found
    msg = f"stored lineage names {module}.{name}, which is no part of the lineage vocabulary"
    raise Unparsable(msg)


def dumps(symbolic: Symbolic) -> bytes:
    """The bytes of one statement's symbolic lineage; equal values of one version give equal lineage back."""
    return _seal(pickling.dumps(symbolic), b"", is_resolved=isinstance(symbolic, StatementLineage))


def with_names(data: bytes, names: TableUsageNames) -> bytes:
    """The bytes that `dumps` gave of a statement, with its names beside its lineage. Raises Unparsable for others."""
    if not is_whole(data):
        raise _damage_error()
    return _seal(lineage_bytes(data), pickling.dumps(names), is_resolved=is_resolved(data))


def lineage_bytes(data: bytes) -> bytes:
    """Of what `dumps` or `with_names` wrote the lineage alone: names as they are, and no number that text may mean."""
    return data[: len(data) - _TRAILER.size - _trailer(data)[0]]


def loads(data: bytes | bytearray | memoryview, *, stored: bool = True) -> Symbolic:
    """The symbolic lineage that `dumps` wrote.

    `stored`: the bytes may be anybody's by now; what a process of our own has just answered is not looked through.

    Raises:
        Unparsable: the bytes are not symbolic lineage, or were written by an incompatible version.
    """
    loaded = _value(data, stored=stored)
    if not isinstance(loaded, RelationalStatement | StatementLineage):
        msg = "stored lineage is of an unknown kind: read the log again with --full"
        raise Unparsable(msg)
    return loaded


def names_in_bytes(data: bytes) -> TableUsageNames | None:
    """The names that stand beside the lineage; None where there are none. Raises Unparsable."""
    if not is_whole(data):
        raise _damage_error()
    size = _trailer(data)[0]
    if not size:
        return None
    loaded = _value(data[len(data) - _TRAILER.size - size :])
    if not isinstance(loaded, TableUsageNames):
        raise _damage_error()
    return loaded


def is_resolved(data: bytes) -> bool:
    """Whether the lineage that `dumps` wrote is a StatementLineage."""
    return _trailer(data)[1]


def is_whole(data: bytes) -> bool:
    """Whether the bytes are as `dumps` or `with_names` wrote them."""
    if len(data) < _TRAILER.size:
        return False
    _size, _resolved, sign, checksum = _trailer(data)
    return sign == _SIGN and checksum == zlib.crc32(memoryview(data)[: -_CHECKSUM.size])


def _seal(lineage: bytes, names: bytes, *, is_resolved: bool) -> bytes:
    content = lineage + names + _TRAILER.pack(len(names), is_resolved, _SIGN, 0)[: -_CHECKSUM.size]
    return content + _CHECKSUM.pack(zlib.crc32(content))


def _trailer(data: bytes) -> tuple[int, bool, bytes, int]:
    size, resolved, sign, checksum = _TRAILER.unpack_from(data, len(data) - _TRAILER.size)
    return size, resolved, sign, checksum


def _is_as_written(data: bytes | bytearray | memoryview) -> bool:
    """Whether a pickle has only operations that this version writes.

    An operation that it does not write puts a value under any number: C's unpickler makes room for all numbers before,
    which for 2**31 takes a minute and 32 GB.
    """
    at = 0
    while at < len(data):
        operation = data[at]
        if (found := _UNSIZED.match(data, at)) is not None:
            at = found.end()
        elif (width := _SIZED.get(operation)) is not None:
            at += 1 + width + int.from_bytes(data[at + 1 : at + 1 + width], "little")
        else:
            return operation == pickle.STOP[0]
    return False


def _value(data: bytes | bytearray | memoryview, *, stored: bool = True) -> object:
    if stored and not _is_as_written(data):
        raise _damage_error()
    try:
        return _SymbolicUnpickler(io.BytesIO(data)).load()
    except (
        pickle.UnpicklingError,
        EOFError,
        AttributeError,
        TypeError,
        ValueError,
        IndexError,
        KeyError,
        OverflowError,
        MemoryError,
        RecursionError,
    ) as error:
        raise _damage_error() from error


def _damage_error() -> Unparsable:
    return Unparsable("stored lineage is damaged or of another version: read the log again with --full")
