from __future__ import annotations

import bz2
import gzip
import io
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pytest
import zstandard

from connectors.query_log.streams import SliceStream

CONTENT = "".join(f"line {number} é\n" for number in range(20_000)).encode()
COMPRESSIONS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def read(data: bytes, start: int = 0, end: int | None = None) -> tuple[bytes, str | None]:
    stream = SliceStream(partial(io.BytesIO, data), start, end)
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


def test_a_range_is_read_without_what_is_around_it() -> None:
    assert read(CONTENT, 10, 25) == (CONTENT[10:25], None)


def test_a_file_that_went_away_is_a_problem_and_no_error(tmp_path: Path) -> None:
    def gone() -> BinaryIO:
        return (tmp_path / "rotated.csv").open("rb")

    stream = SliceStream(gone)
    assert stream.read() == b""
    assert stream.problem == "the file cannot be read (FileNotFoundError)"
