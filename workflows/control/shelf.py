"""Values that are too many to be held: beyond the first ones they are in a file, and read when they are asked for."""

from __future__ import annotations

import os
import pickle
import tempfile
import zlib
from array import array
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import IO, Generic, TypeVar, cast, overload

from ingestion import pickling
from ingestion.errors import StateLost
from workflows.control.collection import collection_paused

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)

_QUICKLY = 1
"""How hard zlib tries."""


class Shelf(Sequence[Value], Generic[Value]):
    """A list of values of which the first so many are `held` in memory and the others in a file.

    The file has no name: nothing is left of it however the process ends. A value that cannot be pickled is held.
    """

    def __init__(self, held: int) -> None:
        self._most = held
        self._held: dict[int, Value] = {}
        self._ends = array("q")
        self._file: IO[bytes] | None = None

    def append(self, value: Value) -> int:
        """Adds a value; its number. Raises StateLost where there is no room for it."""
        number = len(self._ends)
        if number >= self._most and (packed := pack(value)) is not None:
            return self.append_packed(packed)
        self._held[number] = value
        self._ends.append(self._end)
        return number

    def append_packed(self, packed: bytes) -> int:
        """Adds a value that `pack` has packed, to the file; its number. Raises StateLost as `append` does."""
        number, end = len(self._ends), self._end
        try:
            self._write(packed, end)
        except OSError as error:
            raise _no_room(error) from error
        self._ends.append(end + len(packed))
        return number

    def packed_value(self, number: int) -> bytes | None:
        """A value as `pack` packs it; None where it cannot be."""
        if number in self._held or self._file is None:
            return pack(self._held[number])
        return self._read(self._file, number)

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Value]: ...

    def __getitem__(self, index: int | slice) -> Value | Sequence[Value]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not 0 <= index < len(self._ends):
            raise IndexError(index)
        if index in self._held or self._file is None:
            return self._held[index]
        return cast(Value, unpack(self._read(self._file, index)))

    def __len__(self) -> int:
        return len(self._ends)

    def _read(self, file: IO[bytes], number: int) -> bytes:
        start = self._ends[number - 1] if number else 0
        return os.pread(file.fileno(), self._ends[number] - start, start)

    def _write(self, packed: bytes, place: int) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  it lives as long as the shelf
        left = memoryview(packed)
        while left:  # on a disk that is nearly full, the system takes a part of it
            written = os.pwrite(self._file.fileno(), left, place)
            left, place = left[written:], place + written

    @property
    def _end(self) -> int:
        return self._ends[-1] if self._ends else 0


class ShelvedMapping(Mapping[Key, Value], Generic[Key, Value]):
    """A mapping whose values stand on a shelf; its keys are held."""

    def __init__(self, held: int) -> None:
        self._shelf: Shelf[Value] = Shelf(held)
        self._numbers: dict[Key, int] = {}

    def put(self, key: Key, value: Value) -> None:
        """Sets the value of a key, in place of the one that it had."""
        self._numbers[key] = self._shelf.append(value)

    def __getitem__(self, key: Key) -> Value:
        return self._shelf[self._numbers[key]]

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[Key]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def _no_room(error: OSError) -> StateLost:
    return StateLost(
        f"the directory for temporary files {tempfile.gettempdir()} does not work ({error.strerror or error}): make "
        "room there, or name another one in TMPDIR; what was noted until now is kept: run the same command again"
    )


def pack(value: object) -> bytes | None:
    """A value as bytes; None where it is too deep for that."""
    try:
        return zlib.compress(pickling.dumps(value), _QUICKLY)
    except RecursionError:
        return None


def unpack(packed: bytes) -> object:
    """The value that was packed."""
    with collection_paused():
        return pickle.loads(zlib.decompress(packed))
