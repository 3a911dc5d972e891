"""Event logs in each of Spark's codecs: whole, torn, and of another kind than their name says."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.spark_history.event_logs.codecs import DamagedLog, codec_of, decoded
from tests.connectors.spark_history.conftest import History

CODECS = {"sql": "zstd", "dataframe": "lz4", "cli": "snappy", "connect": "lzf", "streaming": ""}


def real_log(history: History, kind: str) -> Path:
    return max((p for p in history.logs(kind).rglob("*") if p.is_file()), key=lambda path: path.stat().st_size)


def read(data: bytes, codec: str) -> tuple[bytes, bool]:
    """What is given of the data, and whether the end was damaged."""
    given_bytes = b""
    try:
        for chunk in decoded(io.BytesIO(data), codec):
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
