from __future__ import annotations

import bz2
import gzip
import io
import tracemalloc
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest
import zstandard

from connectors.query_log._streams import CUT_LINE, DAMAGED, LONGEST_LINE, FileStream

CONTENT = "".join(f"line {number} é\n" for number in range(20_000)).encode()
COMPRESSIONS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def read(data: bytes, start: int = 0, end: int | None = None) -> tuple[bytes, str | None]:
    stream = FileStream(partial(io.BytesIO, data), start, end)
    return io.BufferedReader(stream).read(), stream.problem


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_content_is_the_same_however_it_is_compressed(name: str) -> None:
    assert read(COMPRESSIONS[name](CONTENT)) == (CONTENT, None)


@pytest.mark.parametrize("name", ["gzip", "bzip2", "zstd"])
def test_compressed_parts_one_after_the_other_are_all_read(name: str) -> None:
    assert read(COMPRESSIONS[name](CONTENT) + COMPRESSIONS[name](b"more\n")) == (CONTENT + b"more\n", None)


def test_zstd_without_its_size_in_the_header_is_read_whole() -> None:
    out = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(out, closefd=False) as writer:
        writer.write(CONTENT)
    assert read(out.getvalue()) == (CONTENT, None)


@pytest.mark.parametrize("name", ["gzip", "bzip2", "zstd"])
def test_a_cut_file_gives_what_it_holds_and_tells_that_it_breaks_off(name: str) -> None:
    compressed = COMPRESSIONS[name](bytes(range(256)) * 400 + CONTENT)
    content, problem = read(compressed[:-20])
    assert (bytes(range(256)) * 400 + CONTENT).startswith(content)
    assert problem is not None
    assert "breaks off" in problem


@pytest.mark.parametrize("name", ["gzip", "bzip2", "zstd"])
def test_of_a_damaged_file_nothing_is_read(name: str) -> None:
    compress = partial(zstandard.ZstdCompressor(write_checksum=True).compress) if name == "zstd" else COMPRESSIONS[name]
    compressed = bytearray(compress(bytes(range(256)) * 400 + CONTENT))
    compressed[-5] ^= 0x41  # of its content or of its checksum

    assert read(bytes(compressed)) == (b"", DAMAGED)


def test_what_follows_a_whole_gzip_and_is_none_takes_nothing_from_it() -> None:
    content, problem = read(gzip.compress(CONTENT) + b"-- end of the export")
    assert content == CONTENT
    assert problem is not None


def test_a_range_is_read_without_what_is_around_it() -> None:
    assert read(CONTENT, 10, 25) == (CONTENT[10:25], None)


def test_a_file_that_went_away_is_a_problem_and_no_error(tmp_path: Path) -> None:
    def gone() -> BinaryIO:
        return (tmp_path / "rotated.csv").open("rb")

    stream = FileStream(gone)
    assert stream.read() == b""
    assert stream.problem == "the file cannot be read (FileNotFoundError)"


LONG = b"x" * (1 << 20)


def long_line(name: str, mebibytes: int) -> bytes:
    """A line of so many MiB between two short ones, compressed in as many parts."""
    compress = COMPRESSIONS[name]
    return bytes(compress(b"before\n") + compress(LONG) * mebibytes + compress(b"\nafter\n"))


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_a_line_that_is_too_long_is_cut_short_and_the_lines_around_it_are_read(name: str) -> None:
    content, problem = read(long_line(name, 20))
    before, cut, after, rest = content.split(b"\n")
    assert (before, after, rest, problem) == (b"before", b"after", b"", None)
    assert (cut + b"\n").endswith(CUT_LINE)
    assert len(cut) <= LONGEST_LINE + len(CUT_LINE)


@pytest.mark.parametrize("name", ["gzip", "bzip2", "zstd"])
def test_a_small_file_that_stands_for_a_large_one_is_read_in_little_memory(name: str) -> None:
    data = COMPRESSIONS[name](b"\0" * (128 << 20)) if name == "zstd" else long_line(name, 128)
    stream = FileStream(partial(io.BytesIO, data))
    tracemalloc.start()
    try:
        lines = io.TextIOWrapper(io.BufferedReader(stream, 1 << 20), "utf-8", "surrogateescape", newline="\n")
        size = sum(len(line) for line in lines)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert LONGEST_LINE / 2 < size <= LONGEST_LINE + 100
    # The line's pieces, its text (two bytes a character, for the mark's sake) beside them, what decoded them last,
    # and what one piece of zstd stands for.
    assert peak < 6 * LONGEST_LINE


def test_a_zstd_header_that_asks_for_gigabytes_is_a_problem() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=30, compression_level=1)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    content, problem = read(compressor.compress(CONTENT) + compressor.flush())
    assert content == b""
    assert problem is not None


def test_a_line_that_is_too_long_in_utf_16_ends_the_file_with_its_reason() -> None:
    data = "a\n".encode("utf-16") + "x".encode("utf-16-le") * (LONGEST_LINE // 2 + 2**18) + "\nb\n".encode("utf-16-le")
    stream = FileStream(partial(io.BytesIO, data), encoding="utf-16")
    io.BufferedReader(stream).read()
    assert (stream.problem or "").startswith("too_large")
