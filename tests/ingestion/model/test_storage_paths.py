"""One spelling for what different tools write of the same data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.model.storage_paths import canonical_path, containers_of, location, normal_path, spellings


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
    "written",
    [
        "s3://KEY:SECRET@b/p",
        "s3a://KEY:se/SECRET+x/pass@b/p",
        "https://user:pass@host/p?sig=SECRET&x=1",
        "https://SECRET@host/p",
        "https://host/p#t=SECRET",
        "https://host/p?SECRET",
        "azure://a/b?sv=1/2&sig=SECRET",
        "/data/x?sig=SECRET",
        "@stage/x?sig=SECRET",
    ],
)
def test_no_login_and_no_signature_is_left(written: str) -> None:
    assert "SECRET" not in canonical_path(written)
    assert "pass" not in canonical_path(written)
    assert "SECRET" not in str(location(written))
    assert "pass" not in str(location(written))


@pytest.mark.parametrize(
    "written",
    [
        "hdfs://node:8020/x/y@z",
        "abfss://c@a.dfs.core.windows.net/p",
        "s3://b/part-?/dt=1/x.csv",
        "s3://b/a:b@c",
        "x/?.csv",
    ],
)
def test_a_port_a_container_and_a_pattern_are_no_secrets(written: str) -> None:
    assert str(location(written)) == written


def test_a_file_lies_in_its_directory_and_a_bucket_in_nothing() -> None:
    assert list(containers_of("s3://b/t/x.csv.gz")) == ["s3://b/t/x.csv.gz", "s3://b/t"]
    assert list(containers_of("s3://b/x.csv")) == ["s3://b/x.csv"]
    assert list(containers_of("s3://b/t")) == ["s3://b/t"]


@given(st.text(st.sampled_from("ab/=*?:@.{}[]s3# "), max_size=30))
def test_the_canonical_path_is_its_own(path: str) -> None:
    assert canonical_path(canonical_path(path)) == canonical_path(path)


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("s3a://b/p/", "s3://b/p"),
        ("S3://b/P", "s3://b/P"),
        ("abfss://c@a/p", "abfs://c@a/p"),
        ("gcs://b/t", "gs://b/t"),
        ("file:/data/o", "file:///data/o"),
        ("file:///data/o/", "file:///data/o"),
        ("/data/x/", "/data/x"),
        ("/", "/"),
    ],
)
def test_a_container_is_found_under_each_spelling_of_its_path(path: str, normal: str) -> None:
    assert normal_path(path) == normal
    assert normal_path(canonical_path(path)) == normal
    assert path.rstrip("/").lower() in {spelling.rstrip("/").lower() for spelling in spellings(normal)}


@given(st.sampled_from(["s3", "s3a", "gs", "gcs", "file", "abfss", "hdfs", "dbfs"]), st.text("abc/", max_size=12))
def test_normal_paths_stay_as_they_are(scheme: str, rest: str) -> None:
    normal = normal_path(f"{scheme}://b/{rest}")
    assert normal_path(normal) == normal
    assert all(normal_path(spelling) == normal for spelling in spellings(normal))


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("//me:secret@host/x", "//host/x"),
        ("C:/data/a@b.csv", "C:/data/a@b.csv"),
        ("https:me:secret@host/x.csv", "https:host/x.csv"),
        ("me:secret@host:/x", "host:/x"),
        ("s3://key:with/slash+plus@bucket/x", "s3://bucket/x"),
        ("s3:/key:with/slash@bucket/x", "s3:/bucket/x"),
        ("file:/data/a@b/c", "file:/data/a@b/c"),
        ("folder/a@b", "folder/a@b"),
    ],
)
def test_a_login_goes_however_many_slashes_stand_before_it(path: str, kept: str) -> None:
    assert str(location(path)) == kept
