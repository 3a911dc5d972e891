"""Artifacts in a bucket: what S3's protocol answers, and what is said of it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from connectors.dbt.artifact_locations import BucketArtifacts, BucketKind
from connectors.dbt.downloads import download_artifacts
from ingestion.errors import ConfigError, LineageError, TargetDown

LISTED = """<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<Name>lake</Name><KeyCount>{}</KeyCount><IsTruncated>false</IsTruncated>{}</ListBucketResult>"""
ENTRY = "<Contents><Key>{}</Key><Size>2</Size><LastModified>2026-11-20T00:00:00.000Z</LastModified></Contents>"


def serve(server: HTTPServer, objects: dict[str, bytes], status: int = 0) -> dict[str, str]:
    """Answers as S3 does for the objects of the bucket `lake`; every question with a status, where one is given."""

    def answer(request: Request) -> Response:
        key = request.path.removeprefix("/lake").strip("/")
        if status:
            return Response(b"", status=status)
        if key in objects:
            found = Response(objects[key], headers={"Last-Modified": "Fri, 20 Nov 2026 00:00:00 GMT"})
            return found.make_conditional(request, accept_ranges=True, complete_length=len(objects[key]))
        if "list-type" in request.args:
            names = [name for name in objects if name.startswith(request.args.get("prefix", ""))]
            return Response(LISTED.format(len(names), "".join(map(ENTRY.format, names))), mimetype="application/xml")
        return Response(b"", status=404)

    server.expect_request("/lake").respond_with_handler(answer)
    server.expect_request("/lake/").respond_with_handler(answer)
    for key in {*objects, "dbt", *(f"dbt/{name}.json" for name in ("manifest", "catalog", "run_results", "sources"))}:
        server.expect_request(f"/lake/{key}").respond_with_handler(answer)
    address = urlsplit(server.url_for("/")).netloc
    return {"access_key": "id", "secret_key": "hunter2", "region": "r", "scheme": "http", "endpoint_override": address}


def failure(options: dict[str, str], folder: Path, prefix: str = "dbt") -> LineageError:
    with pytest.raises(LineageError) as caught:
        download_artifacts(BucketArtifacts(BucketKind.S3, "lake", prefix, options), folder)
    assert "hunter2" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize("prefix", ["dbt/target", "dbt"])
def test_what_a_folder_has_is_copied(httpserver: HTTPServer, tmp_path: Path, prefix: str) -> None:
    objects = {"dbt/target/manifest.json": b"{ }" * 1_000_000, "dbt/target/sources.json": b"{}"}
    options = serve(httpserver, objects)
    httpserver.expect_request("/lake/dbt/target").respond_with_data(status=404)
    for name in ("catalog", "run_results"):
        httpserver.expect_request(f"/lake/dbt/target/{name}.json").respond_with_data(status=404)
    found = download_artifacts(BucketArtifacts(BucketKind.S3, "lake", prefix, options), tmp_path)
    assert {name: file.stat().st_size for name, file in found.items()} == {"manifest": 3_000_000, "sources": 2}


def test_what_is_missing_many_refused_or_down_is_one_line(httpserver: HTTPServer, tmp_path: Path) -> None:
    options = serve(httpserver, {"dbt/a/manifest.json": b"{}", "dbt/b/manifest.json": b"{}"})
    error = failure(options, tmp_path)
    assert isinstance(error, ConfigError)
    assert "2 manifests: name one in dbtObjectPrefix (lake/dbt/a, lake/dbt/b)" in str(error)
    httpserver.clear()
    assert "s3://lake/dbt has no manifest.json" in str(failure(serve(httpserver, {}), tmp_path))
    httpserver.clear()
    refused = failure(serve(httpserver, {}, status=403), tmp_path)
    assert isinstance(refused, ConfigError)
    assert "is refused (ACCESS_DENIED): check dbtSecurityConfig" in str(refused)
    assert isinstance(failure({**options, "endpoint_override": "127.0.0.1:9"}, tmp_path), TargetDown)
