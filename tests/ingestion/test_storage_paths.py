"""One spelling for what different tools write of the same data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.storage_paths import canonical_path, containers_of


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("s3a://b/t/dt=2026-01-01/hour=3/*.parquet", "s3://b/t"),
        ("S3N://b/t/", "s3://b/t"),
        ("s3://b/t", "s3://b/t"),
        ("abfss://c@a.dfs.core.windows.net/p/", "abfs://c@a.dfs.core.windows.net/p"),
        ("wasbs://c@a.blob.core.windows.net/p", "wasb://c@a.blob.core.windows.net/p"),
        ("gcs://b/p/part-{0..9}.csv", "gs://b/p"),
        ("hdfs://node:8020/data/[ab]/x", "hdfs://node:8020/data"),
        ("file:/data/x/", "file:///data/x"),
        ("file:///data/x", "file:///data/x"),
        ("/data/x/*", "/data/x"),
        ("s3://b", "s3://b"),
        ("/", "/"),
        ("@stage/p/", "@stage/p"),
    ],
)
def test_spellings_of_one_place_are_one(written: str, meant: str) -> None:
    assert canonical_path(written) == meant


@pytest.mark.parametrize(
    "written", ["s3://KEY:SECRET@b/p", "https://user:pass@host/p?sig=SECRET&x=1", "https://host/p#t=SECRET"]
)
def test_no_login_and_no_signature_is_left(written: str) -> None:
    assert "SECRET" not in canonical_path(written)
    assert "pass" not in canonical_path(written)


def test_a_file_lies_in_its_directory_and_a_bucket_in_nothing() -> None:
    assert list(containers_of("s3://b/t/x.csv.gz")) == ["s3://b/t/x.csv.gz", "s3://b/t"]
    assert list(containers_of("s3://b/x.csv")) == ["s3://b/x.csv"]
    assert list(containers_of("s3://b/t")) == ["s3://b/t"]


@given(st.text(st.sampled_from("ab/=*?:@.{}[]s3# "), max_size=30))
def test_the_canonical_path_is_its_own(path: str) -> None:
    assert canonical_path(canonical_path(path)) == canonical_path(path)
