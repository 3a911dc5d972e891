"""Bytes of a log file: decompressed by what they are, not by what the file is called, and never raising half-way."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, cast

import zstandard

from ingestion.errors import TooLarge

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Opener = Callable[[], BinaryIO]

LONGEST_LINE = 16 << 20
"""Bytes of a line beyond which it is cut short and marked: a record has no more, and no reader holds it whole."""

TOO_LARGE = f"{TooLarge.code}: a record of more than {LONGEST_LINE >> 20} MiB"

DAMAGED = "the compressed data is damaged: nothing of the file is read"

CUT_LINE = b"\x00\xff\xfe\x00\n"
"""What a line that was too long ends with: no text in any encoding has it."""

CUT_LINE_TEXT = CUT_LINE.decode("utf-8", "surrogateescape")
"""The same, as it is decoded."""

_GZIP, _BZIP2, _ZSTD = b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd"
_READ_BYTES = 1 << 18
_ZSTD_WINDOW = 1 << 27
"""What zstd itself takes without being told to: a header may ask for gigabytes."""

_ZSTD_STEP = 1 << 9
"""Compressed bytes at a time: each four of them may stand for 128 KiB, and the library gives all at once."""


class FileStream(io.RawIOBase):
    """Bytes `start` (inclusive) to `end` (exclusive; None: to the end) of a file, decompressed where it is compressed.

    A line of more than LONGEST_LINE bytes is given as far as that, and ends with CUT_LINE. What goes wrong while
    reading ends the stream and is told by `problem`: the lines before it are not lost. Compressed data that is damaged
    gives none: its checksum stands at the end, after all that the damage may have made up.
    """

    def __init__(self, opener: Opener, start: int = 0, end: int | None = None, encoding: str = "utf-8") -> None:
        super().__init__()
        self.problem: str | None = None
        self._markable = encoding == "utf-8"
        self._line_bytes = 0
        self._dropping = False
        self._left = None if end is None else end - start
        self._inner: io.BufferedIOBase | None = None
        self._raw: BinaryIO | None = None
        try:
            self._raw = opener()
            self._raw.seek(start)
            if start == 0 and _is_damaged(self._raw):
                self.problem = DAMAGED
            self._inner = _decompressed_stream(self._raw) if start == 0 else io.BufferedReader(_as_raw(self._raw))
        except OSError as error:
            self.problem = f"the file cannot be read ({type(error).__name__})"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        # room for the mark, which takes the place of what it cuts off
        room = max(len(view) - len(CUT_LINE), 1)
        while data := self._read(room):
            kept = self._without_long_lines(data)
            if kept:
                view[: len(kept)] = kept
                return len(kept)
        return 0

    def _read(self, size: int) -> bytes:
        wanted = size if self._left is None else min(size, self._left)
        if self._inner is None or self.problem or not wanted:
            return b""
        try:
            data = self._inner.read1(wanted)
        except (EOFError, gzip.BadGzipFile):
            self.problem = "the compressed data breaks off after the line before"
            return b""
        except OSError as error:
            self.problem = f"the file cannot be read any further ({type(error).__name__})"
            return b""
        if self._left is not None:
            self._left -= len(data)
        return data

    def _without_long_lines(self, data: bytes) -> bytes:
        first = data.find(b"\n")
        if self._dropping:
            if first < 0:
                return b""
            data, self._dropping, self._line_bytes = data[first + 1 :], False, 0
            first = data.find(b"\n")
        if first >= 0:
            # lines within one reading are never too long: it is far smaller
            self._line_bytes = len(data) - data.rfind(b"\n") - 1
            return data
        self._line_bytes += len(data)
        if self._line_bytes <= LONGEST_LINE:
            return data
        if not self._markable:
            self.problem = f"{TOO_LARGE}; what follows it in a file of this encoding cannot be told"
            return b""
        self._dropping = True
        return CUT_LINE

    def close(self) -> None:
        if self._raw is not None:
            self._raw.close()
        super().close()


def _decompressed_stream(raw: BinaryIO) -> io.BufferedIOBase:
    """The file's content, told by its first bytes: gzip, bzip2, zstd (any number of members), or as it is."""
    head = raw.read(4)
    raw.seek(0)
    if head.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw)
    if head.startswith(_BZIP2):
        return bz2.BZ2File(raw)
    if head == _ZSTD:
        return io.BufferedReader(_ZstdStream(raw), _READ_BYTES)
    return io.BufferedReader(_as_raw(raw), _READ_BYTES)


def _is_damaged(raw: BinaryIO) -> bool:
    """Whether compressed data decompresses to what was not compressed; one that breaks off is good up to there.

    A second pass over it, at some 300 MB a second (gzip): the checksum of a member comes after its content, and a
    damaged name of a table is a table.
    """
    head = raw.read(4)
    raw.seek(0)
    if not is_compressed(head):
        return False
    stream, member = _decompressed_stream(raw), False
    try:
        while stream.read1(_READ_BYTES):
            member = True
    except EOFError:
        return False
    except gzip.BadGzipFile as error:
        # what follows a whole member and is none takes nothing from it
        return not (member and str(error).startswith("Not a gzipped file"))
    except (OSError, zlib.error, zstandard.ZstdError):  # bzip2 tells of damage by an OSError
        return True
    finally:
        raw.seek(0)
    return False


def is_compressed(head: bytes) -> bool:
    return head.startswith((_GZIP, _BZIP2, _ZSTD))


def _as_raw(stream: BinaryIO) -> io.RawIOBase:
    # BufferedReader needs readinto alone, which buffered files and BytesIO have as well
    return cast(io.RawIOBase, stream)


class _ZstdStream(io.RawIOBase):
    """zstd frames one after the other; unlike the library's own reader it raises EOFError on a cut frame."""

    def __init__(self, raw: BinaryIO) -> None:
        super().__init__()
        self._raw = raw
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._compressed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        while not self._ready:
            if not self._compressed:
                self._compressed = self._raw.read(_READ_BYTES // 4)
            if not self._compressed:
                if self._frame is not None:
                    raise EOFError
                return 0
            self._decompress()
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._ready))
        view[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _decompress(self) -> None:
        if self._frame is None:
            self._frame = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()
        step, rest = self._compressed[:_ZSTD_STEP], self._compressed[_ZSTD_STEP:]
        self._ready = memoryview(self._frame.decompress(step))
        if self._frame.eof:
            rest = self._frame.unused_data + rest
            self._frame = None
        self._compressed = rest
