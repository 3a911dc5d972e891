"""Event logs in each of Spark's codecs: whole, torn, and of another kind than their name says."""

from __future__ import annotations

import gzip
import io
import struct
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import lz4.block
import pyarrow as pa
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.spark import _events as events
from connectors.spark._codecs import LZ4_HEADER, DamagedLog, codec_of, decode_stream
from connectors.spark._events import EventLine, event_lines
from tests.connectors.spark.conftest import History

CODECS = {"sql": "zstd", "dataframe": "lz4", "cli": "snappy", "connect": "lzf", "streaming": ""}


def real_log(history: History, kind: str) -> Path:
    return max((p for p in history.logs(kind).rglob("*") if p.is_file()), key=lambda path: path.stat().st_size)


def read(data: bytes, codec: str) -> tuple[bytes, bool]:
    """What is given of the data, and whether the end was damaged."""
    given_bytes = b""
    try:
        for chunk in decode_stream(io.BytesIO(data), codec):
            given_bytes += chunk
    except DamagedLog:
        return given_bytes, True
    return given_bytes, False


@pytest.mark.parametrize(("kind", "codec"), CODECS.items())
def test_real_logs_of_each_codec_are_read_to_their_last_event(history: History, kind: str, codec: str) -> None:
    path = real_log(history, kind)
    with path.open("rb") as stream:
        assert codec_of("any name", stream) == codec
    text, damaged = read(path.read_bytes(), codec)
    lines = text.split(b"\n")
    assert len(lines) > 50
    assert all(line.startswith(b'{"Event":') for line in lines[:-1])
    if kind != "dataframe":
        assert not damaged
        assert any(b"SparkListenerApplicationEnd" in line for line in lines[-5:])


@pytest.mark.parametrize(("kind", "codec"), CODECS.items())
def test_a_torn_log_gives_the_beginning_of_the_whole_one(history: History, kind: str, codec: str) -> None:
    data = real_log(history, kind).read_bytes()[:400_000]
    whole, _ = read(data, codec)

    @settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.integers(0, len(data)))
    def torn(size: int) -> None:
        part, _ = read(data[:size], codec)
        assert whole.startswith(part)

    torn()


@settings(max_examples=60)
@given(st.binary(max_size=400), st.sampled_from(["zstd", "lz4", "snappy", "lzf", "gz"]))
def test_bytes_of_another_kind_are_damaged_and_never_an_error(data: bytes, codec: str) -> None:
    read(data, codec)


@pytest.mark.parametrize(
    ("name", "content", "codec"),
    [
        ("events_1_local-1.zstd", b"damaged beyond its magic", "zstd"),
        ("application_1700000000000_0001.lz4.inprogress", b"damaged beyond its magic", "lz4"),
        ("events_3_local-1.zstd.compact", b"damaged beyond its magic", "zstd"),
        ("eventlog-2024-01-31--07-00.gz", b"damaged beyond its magic", "gz"),
        ("local-1700000000000", b"no magic", ""),
        ("local-1700000000000.inprogress", b"no magic", ""),
        ("local-1700000000000.brotli", b"no magic", None),
        ("local-1700000000000.brotli", b"", ""),
        ("renamed.log", b'{"Event":"SparkListenerLogStart"}', ""),
        ("renamed.zstd", b'{"Event":"SparkListenerLogStart"}', ""),
        ("renamed.log", gzip.compress(b"{}", mtime=0), "gz"),
        ("renamed", b"LZ4Block\x15", "lz4"),
    ],
)
def test_a_codec_is_told_by_the_bytes_and_failing_that_by_the_name(
    name: str, content: bytes, codec: str | None
) -> None:
    stream = io.BytesIO(content)
    assert codec_of(name, stream) == codec
    assert stream.read() == content


def test_gzip_of_several_members_is_read_to_its_end_and_a_torn_one_as_far_as_it_goes() -> None:
    lines = [b'{"Event":"%d"}\n' % number for number in range(2000)]
    data = gzip.compress(b"".join(lines[:1000])) + gzip.compress(b"".join(lines[1000:]))
    assert read(data, "gz") == (b"".join(lines), False)
    part, damaged = read(data[:-100], "gz")
    assert damaged
    assert b"".join(lines).startswith(part)
    assert part.startswith(b"".join(lines[:1000]))


MEBIBYTE = 1 << 20
START = b'{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart","executionId":%d,"time":1}\n'
LZF_RUN = bytes([0, ord("x")]) + (bytes([7 << 5, 255, 0]) * 245)  # one literal, then copies of 264 bytes each
LZF_SIZE = 1 + 264 * 245


def lzf_plain(data: bytes) -> bytes:
    return b"ZV\0" + len(data).to_bytes(2, "big") + data


def blocks_of(codec: str, piece: bytes) -> bytes:
    """A piece as a frame or a block of the codec, which may follow another."""
    match codec:
        case "zstd":
            return zstandard.compress(piece)
        case "gz":
            return gzip.compress(piece, mtime=0)
        case "lz4":
            packed: bytes = lz4.block.compress(piece, store_size=False)
            return LZ4_HEADER.pack(b"LZ4Block", 0x20, len(packed), len(piece), 0) + packed
        case "snappy":
            packed = pa.Codec("snappy").compress(piece, asbytes=True)
            return b"\x82SNAPPY\0" + bytes(8) + struct.pack(">i", len(packed)) + packed
        case "lzf" if piece == b"x" * MEBIBYTE:
            return (b"ZV\1" + len(LZF_RUN).to_bytes(2, "big") + LZF_SIZE.to_bytes(2, "big") + LZF_RUN) * 17
        case "lzf":
            return lzf_plain(piece)
        case _:
            return piece


class Growing(io.RawIOBase):
    """A file that is made while it is read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self.pieces = pieces
        self.ready = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while not self.ready:
            piece = next(self.pieces, None)
            if piece is None:
                return b""
            self.ready = piece
        given_bytes, self.ready = self.ready[:size], self.ready[size:]
        return given_bytes


@pytest.mark.parametrize("codec", ["", "zstd", "gz", "lz4", "snappy", "lzf"])
@pytest.mark.parametrize("line", ["an event without end", "white space without end"])
def test_a_file_that_grows_without_end_costs_one_line_and_little_memory(
    codec: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LONGEST_LINE", MEBIBYTE)
    event = line == "an event without end"
    grows = blocks_of(codec, b"x" * MEBIBYTE if event else b" " * 60_000)

    def pieces() -> Iterator[bytes]:
        if event:
            yield blocks_of(codec, START % 1 + (START % 2).rstrip()[:-1])
        for _ in range(16 if event else 16 * 18):
            yield grows
        yield blocks_of(codec, b"\n" + START % 3)

    tracemalloc.start()
    try:
        found: list[EventLine] = list(event_lines(decode_stream(Growing(pieces()), codec)))  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    too_long = (2 if event else 1, "problem")
    assert [(one.number, one.kind) for one in found] == [
        *[(1, "start")] * event,
        too_long,
        (3 if event else 2, "start"),
    ]
    assert found[-2].problem == "a line is longer than any event"
    assert peak < 8 * MEBIBYTE


@pytest.mark.parametrize(
    ("codec", "header"),
    [
        ("lz4", LZ4_HEADER.pack(b"LZ4Block", 0x20, 10, (1 << 31) - 1, 0)),
        ("lz4", LZ4_HEADER.pack(b"LZ4Block", 0x20, (1 << 31) - 1, 10, 0)),
        ("lz4", LZ4_HEADER.pack(b"LZ4Block", 0x20, -1, 10, 0)),
        ("snappy", struct.pack(">i", (1 << 31) - 1)),
        ("snappy", struct.pack(">i", 5) + b"\xff\xff\xff\xff\x07"),
        ("zstd", zstandard.ZstdCompressor(
            compression_params=zstandard.ZstdCompressionParameters(window_log=30, compression_level=1)
        ).compressobj().compress(b"x" * 10) or b"\x28\xb5\x2f\xfd\x00\xa0"),
    ],
)  # fmt: skip
def test_a_header_that_asks_for_gigabytes_is_damaged(codec: str, header: bytes) -> None:
    tracemalloc.start()
    try:
        given_bytes, damaged = read(header + bytes(100), codec)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (given_bytes, damaged) == (b"", True)
    assert peak < MEBIBYTE
