"""Artifacts behind web addresses: copied, tried again, refused, and nothing secret in what is said of it."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from connectors.dbt.artifact_locations import HttpArtifacts
from connectors.dbt.downloads import HttpDownload, HttpLimits, download_artifacts
from ingestion.errors import ConfigError, LineageError, TargetDown

QUICK = HttpLimits(timeout=(2, 0.3), whole=2, attempts=3, wait=0.01)
HEADERS = {"PRIVATE-TOKEN": "hunter2"}


def artifacts(server: HTTPServer, path: str = "/manifest.json") -> HttpArtifacts:
    return HttpArtifacts({"manifest": server.url_for(path) + "?signature=hunter2"}, HEADERS)


def copied(relation_key: HttpArtifacts, folder: Path, limits: HttpLimits = QUICK) -> bytes:
    assert HttpDownload(relation_key, limits).copy("manifest", folder / "manifest.json")
    return (folder / "manifest.json").read_bytes()


def failure(relation_key: HttpArtifacts, folder: Path, limits: HttpLimits = QUICK) -> LineageError:
    with pytest.raises(LineageError) as caught:
        copied(relation_key, folder, limits)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    return caught.value


def test_what_has_an_address_is_copied_with_the_headers(httpserver: HTTPServer, tmp_path: Path) -> None:
    packed = Response(gzip.compress(b'{"b": 2}'), headers={"Content-Encoding": "gzip"})
    httpserver.expect_request("/manifest.json", headers=HEADERS).respond_with_data('{"a": 1}')
    httpserver.expect_request("/results").respond_with_response(packed)
    urls = {"manifest": httpserver.url_for("/manifest.json"), "run_results": httpserver.url_for("/results")}
    found = download_artifacts(HttpArtifacts(urls, HEADERS), tmp_path)
    assert {name: file.read_text() for name, file in found.items()} == {
        "manifest": '{"a": 1}',
        "run_results": '{"b": 2}',
    }


def test_headers_go_to_no_other_host(httpserver: HTTPServer, tmp_path: Path) -> None:
    seen: list[bool] = []

    def answer(request: Request) -> Response:
        seen.append("PRIVATE-TOKEN" in request.headers)
        return Response("{}")

    elsewhere = httpserver.url_for("/store").replace("localhost", "127.0.0.1")
    httpserver.expect_request("/manifest.json", headers=HEADERS).respond_with_data(
        status=302, headers={"Location": elsewhere}
    )
    httpserver.expect_request("/store").respond_with_handler(answer)
    assert copied(artifacts(httpserver), tmp_path) == b"{}"
    assert seen == [False]


def test_a_server_that_is_busy_or_breaks_off_is_asked_again(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_ordered_request("/manifest.json").respond_with_data(status=503)
    broken = Response(iter([b"{"]), headers={"Content-Length": "100"})
    httpserver.expect_ordered_request("/manifest.json").respond_with_response(broken)
    httpserver.expect_ordered_request("/manifest.json").respond_with_data('{"a": 1}')
    assert copied(artifacts(httpserver), tmp_path) == b'{"a": 1}'


@pytest.mark.parametrize(
    ("status", "said"),
    [(404, "answers 404: check the address"), (401, "answers 401: check dbtHttpHeaders"), (302, "redirects more than")],
)
def test_a_refusal_is_one_line(httpserver: HTTPServer, tmp_path: Path, status: int, said: str) -> None:
    headers = {"Location": "/manifest.json"} if status == 302 else {}
    httpserver.expect_request("/manifest.json").respond_with_data("hunter2", status=status, headers=headers)
    error = failure(artifacts(httpserver), tmp_path)
    assert isinstance(error, ConfigError)
    assert said in str(error)


def test_a_server_that_does_not_come_back_is_down(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/manifest.json").respond_with_data(status=503)
    error = failure(artifacts(httpserver), tmp_path)
    assert isinstance(error, TargetDown)
    assert "answers 503" in str(error)
    nobody = HttpArtifacts({"manifest": "http://127.0.0.1:9/manifest.json?signature=hunter2"})
    assert isinstance(failure(nobody, tmp_path), TargetDown)


def test_what_is_too_large_or_drips_is_given_up_on(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/manifest.json").respond_with_data(b" " * 3_000_000)
    assert "over 1 MB" in str(failure(artifacts(httpserver), tmp_path, replace(QUICK, largest=1 << 20)))
    assert isinstance(failure(artifacts(httpserver), tmp_path, replace(QUICK, whole=0)), TargetDown)


def test_a_header_that_is_none_is_not_shown(httpserver: HTTPServer, tmp_path: Path) -> None:
    relation_key = HttpArtifacts({"manifest": httpserver.url_for("/manifest.json")}, {"X-Key": "hunter2\nX: y"})
    assert "dbtHttpHeaders" in str(failure(relation_key, tmp_path))
    assert "hunter2" not in repr(relation_key)
