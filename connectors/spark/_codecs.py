"""The bytes of an event log, decompressed: zstd, lz4, snappy, lzf (Spark's framings), gzip (Databricks') or plain.

Spark's own readers are not used: reading an lz4 or snappy log as text gives no rows and no error.
"""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

import lz4.block
import pyarrow as pa
import zstandard

from ingestion.errors import RecordError

BLOCK_BYTES = 1 << 18
"""Bytes that are read or given at a time."""

LARGEST_BLOCK = 1 << 25
"""Bytes of a compressed block beyond which its header is taken for damaged."""

SUFFIX = re.compile(r"\.([a-z]\w*)(?:\.inprogress|\.compact)?$")

MAGIC = (
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x1f\x8b", "gz"),
    (b"LZ4Block", "lz4"),
    (b"\x82SNAPPY\x00", "snappy"),
    (b"ZV", "lzf"),
)
"""How the bytes of each codec begin."""

LONGEST_MAGIC = 16

LZ4_HEADER = struct.Struct("<8sBiiI")
LZ4_MAGIC = b"LZ4Block"
LZ4_RAW = 0x10

SNAPPY_HEADER = b"\x82SNAPPY\x00"


class DamagedLog(RecordError):
    """The bytes end early or are not what the file's name says; what came before them has been given."""

    code = "damaged_log"


def named_codec(name: str) -> str | None:
    """The codec that a file's name tells: `.inprogress` and `.compact` may follow it; None for one not known here."""
    match = SUFFIX.search(name)
    codec = match.group(1) if match else ""
    if codec in ("inprogress", "compact"):
        return ""
    return codec if codec in DECODERS else None


def codec_of(name: str, stream: BinaryIO) -> str | None:
    """The codec of a file that is at its beginning, and stays there: as its bytes tell, or failing that its name.

    None where neither tells one that is known here. "" is plain text.
    """
    beginning = stream.read(LONGEST_MAGIC)
    stream.seek(0)
    found = next((codec for magic, codec in MAGIC if beginning.startswith(magic)), None)
    if found is not None or not beginning:
        return found or ""
    return "" if beginning.lstrip().startswith(b"{") else named_codec(name)


def decode_stream(stream: BinaryIO, codec: str) -> Iterator[bytes]:
    """The decompressed bytes block by block; memory does not grow with the file.

    Raises:
        DamagedLog: the stream is torn or is not of this codec. All that could be read was given before.
    """
    return DECODERS[codec](stream)


def _plain(stream: BinaryIO) -> Iterator[bytes]:
    while block := stream.read(BLOCK_BYTES):
        yield block


def _zstd(stream: BinaryIO) -> Iterator[bytes]:
    try:
        with zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True) as reader:
            while block := reader.read(BLOCK_BYTES):
                yield block
    except zstandard.ZstdError as error:
        raise DamagedLog("the zstd stream is damaged or not zstd") from error


class TornLog(DamagedLog):
    """The bytes end in the middle of a block, as they do while they are written."""


def _decompress_gzip(stream: BinaryIO) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=stream) as reader:
            while block := reader.read1(BLOCK_BYTES):
                yield block
    except EOFError as error:
        raise TornLog("the gzip stream ends in the middle of a block") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DamagedLog("the gzip stream is damaged or not gzip") from error


def _lz4_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The framing of lz4-java's LZ4BlockOutputStream: magic, token, lengths and checksum, then one block."""
    while header := _exactly(stream, LZ4_HEADER.size, "lz4"):
        magic, token, packed, size, _ = LZ4_HEADER.unpack(header)
        if magic != LZ4_MAGIC or not 0 <= packed <= LARGEST_BLOCK or not 0 <= size <= LARGEST_BLOCK:
            raise DamagedLog("the lz4 stream is damaged or not lz4")
        if not packed:
            continue
        block = _read_needed(stream, packed, "lz4")
        try:
            yield block if token & 0xF0 == LZ4_RAW else lz4.block.decompress(block, uncompressed_size=size)
        except lz4.block.LZ4BlockError as error:
            raise DamagedLog("the lz4 stream is damaged") from error


def _snappy_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The framing of snappy-java's SnappyOutputStream: a header of 16 bytes, then blocks behind their length."""
    codec = pa.Codec("snappy")
    while head := _exactly(stream, 4, "snappy"):
        if head == SNAPPY_HEADER[:4]:
            if _read_needed(stream, 12, "snappy")[:4] != SNAPPY_HEADER[4:]:
                raise DamagedLog("the snappy stream is damaged or not snappy")
            continue
        (packed,) = struct.unpack(">i", head)
        if not 0 < packed <= LARGEST_BLOCK:
            raise DamagedLog("the snappy stream is damaged or not snappy")
        block = _read_needed(stream, packed, "snappy")
        try:
            yield codec.decompress(block, decompressed_size=_snappy_size(block), asbytes=True)
        except (pa.ArrowException, OSError) as error:
            raise DamagedLog("the snappy stream is damaged") from error


def _snappy_size(block: bytes) -> int:
    """A raw snappy block begins with its decompressed length as a varint."""
    size = shift = 0
    for byte in block[:5]:
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    if size > LARGEST_BLOCK:
        raise DamagedLog("the snappy stream is damaged")
    return size


def _lzf_blocks(stream: BinaryIO) -> Iterator[bytes]:
    """The framing of compress-lzf: `ZV`, a type byte, lengths, then a chunk."""
    while head := _exactly(stream, 5, "lzf"):
        if head[:2] != b"ZV":
            raise DamagedLog("the lzf stream is damaged or not lzf")
        packed = int.from_bytes(head[3:5], "big")
        if head[2] == 0:
            yield _read_needed(stream, packed, "lzf")
            continue
        size = int.from_bytes(_read_needed(stream, 2, "lzf"), "big")
        yield _lzf(_read_needed(stream, packed, "lzf"), size)


def _lzf(data: bytes, size: int) -> bytes:
    """One compressed LZF chunk: runs of literals, and copies of what was given before."""
    out = bytearray()
    position = 0
    try:
        while position < len(data):
            control = data[position]
            position += 1
            if control < 32:
                out += data[position : position + control + 1]
                position += control + 1
                continue
            length = control >> 5
            if length == 7:
                length += data[position]
                position += 1
            start = len(out) - ((control & 0x1F) << 8) - data[position] - 1
            position += 1
            if start < 0:
                raise DamagedLog("the lzf stream is damaged")
            block = out[start : start + length + 2]
            out += (block * -(-(length + 2) // len(block)))[: length + 2]  # it may go on into what it gives
    except IndexError as error:
        raise DamagedLog("the lzf stream is damaged") from error
    if len(out) != size:
        raise DamagedLog("the lzf stream is damaged")
    return bytes(out)


def _exactly(stream: BinaryIO, size: int, codec: str) -> bytes:
    """The next `size` bytes, or none at the end of the stream."""
    data = stream.read(size)
    while data and len(data) < size:
        more = stream.read(size - len(data))
        if not more:
            raise TornLog(f"the {codec} stream ends in the middle of a block")
        data += more
    return data


def _read_needed(stream: BinaryIO, size: int, codec: str) -> bytes:
    data = _exactly(stream, size, codec)
    if len(data) < size:
        raise TornLog(f"the {codec} stream ends in the middle of a block")
    return data


DECODERS: dict[str, Callable[[BinaryIO], Iterator[bytes]]] = {
    "": _plain,
    "zstd": _zstd,
    "zst": _zstd,
    "lz4": _lz4_blocks,
    "snappy": _snappy_blocks,
    "lzf": _lzf_blocks,
    "gz": _decompress_gzip,
}
