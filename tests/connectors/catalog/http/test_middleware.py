"""What every call passes: sizes, names of the host, other web pages, headers; and what a start refuses."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from connectors.catalog.http.server import CatalogConfig, running_catalog
from ingestion.errors import ConfigError
from tests.support.http_client import Client


def raw(client: Client, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], Any]:
    connection = http.client.HTTPConnection(urlsplit(client.url).netloc, timeout=10)
    connection.request(method, path, body, {key.replace("_", "-"): value for key, value in headers.items()})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, {key.lower(): value for key, value in answer.getheaders()}, json.loads(content or b"null")


class TestSizes:
    @pytest.fixture
    def small(self, tmp_path: Path) -> Any:
        with running_catalog(CatalogConfig(tmp_path / "c.db", port=0, max_body_bytes=2_000)) as address:
            yield Client(address.url)

    def test_a_body_that_says_it_is_too_large_is_refused(self, small: Client) -> None:
        status, body = small.put("/services/databaseServices", {"name": "x" * 3_000, "serviceType": "Mysql"})
        assert (status, body["code"]) == (413, 413)

    def test_a_body_that_turns_out_too_large_is_refused(self, small: Client) -> None:
        chunks = (b'"' + b"x" * 1_000 + b'",' for _ in range(5))
        answer = requests.put(small.url + "/services/databaseServices", data=chunks, timeout=10)
        assert (answer.status_code, answer.json()["code"]) == (413, 413)

    def test_the_server_goes_on_afterwards(self, small: Client) -> None:
        small.put("/services/databaseServices", {"name": "x" * 3_000})
        assert small.get("/system/version")[0] == 200

    def test_a_page_is_bounded_whatever_is_asked(self, shop: Client) -> None:
        assert shop.get("/tables", limit=1_000_000)[0] == 200
        assert shop.get("/tables", limit=-1)[0] == 400
        assert shop.get("/lineage/table/name/x", upstreamDepth=10_000)[0] == 400


class TestBodiesThatDoNotCome:
    """What is said in bytes to the server's port, and what it answers before it hangs up."""

    @pytest.fixture
    def impatient(self, tmp_path: Path) -> Iterator[tuple[str, int]]:
        with running_catalog(CatalogConfig(tmp_path / "c.db", port=0, body_seconds=0.3)) as address:
            yield "127.0.0.1", urlsplit(address.url).port or 0

    def test_a_body_that_does_not_come_is_given_up_and_its_connection_closed(self, impatient: tuple[str, int]) -> None:
        answer = said(impatient, _HEAD + b"Content-Length: 400\r\n\r\n{")
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"0.3 seconds" in answer

    def test_a_body_of_drops_has_no_more_time_than_another(self, impatient: tuple[str, int]) -> None:
        drops = (b"1\r\n \r\n" for _ in range(200))
        answer = said(impatient, _HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *drops)
        assert answer.startswith(b"HTTP/1.1 408 ")

    def test_a_length_that_is_told_twice_is_refused(self, impatient: tuple[str, int]) -> None:
        both = b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
        assert said(impatient, _HEAD + both).startswith(b"HTTP/1.1 400 ")

    def test_a_head_that_does_not_come_ends_its_connection(
        self, impatient: tuple[str, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("connectors.web_server._HEAD_SECONDS", 0.2)
        whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        assert said(impatient, _HEAD) == b""
        with socket.create_connection(impatient, timeout=20) as connection:
            connection.sendall(whole)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
            connection.sendall(whole[:9])
            while connection.recv(65_536):
                pass


_HEAD = b"PUT /api/v1/services/databaseServices HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def said(address: tuple[str, int], *parts: bytes) -> bytes:
    """All that a server answers to these parts, which are sent one at a time, until it closes the connection."""
    answer = b""
    with socket.create_connection(address, timeout=20) as connection:
        for number, part in enumerate(parts):
            if number:
                connection.settimeout(0.02)
                with suppress(TimeoutError):
                    answer += connection.recv(65_536)
                if answer:  # what is sent now is answered by a reset, which may overtake the answer
                    break
                connection.settimeout(20)
            with suppress(OSError):  # it may have hung up by now
                connection.sendall(part)
        connection.settimeout(20)
        with suppress(ConnectionError):
            while received := connection.recv(65_536):
                answer += received
    return answer


class TestPages:
    def test_calls_under_another_name_are_refused(self, client: Client) -> None:
        assert raw(client, "GET", "/api/v1/tables", Host="evil.example:80")[0] == 421
        assert raw(client, "GET", "/api/v1/tables", Host="localhost")[0] == 200

    def test_calls_of_other_web_pages_are_refused(self, client: Client) -> None:
        assert raw(client, "GET", "/api/v1/tables", Origin="https://evil.example")[0] == 403
        own = urlsplit(client.url).netloc
        assert raw(client, "GET", "/api/v1/tables", Origin=f"http://{own}")[0] == 200

    def test_a_form_is_no_json(self, client: Client) -> None:
        body = b'{"name":"s","serviceType":"Mysql"}'
        status, _, _ = raw(client, "PUT", "/api/v1/services/databaseServices", body, Content_Type="text/plain")
        assert status == 400

    def test_every_answer_carries_the_security_headers(self, client: Client) -> None:
        for path in ("/api/v1/tables", "/api/v1/nothing", "/healthz"):
            _, headers, _ = raw(client, "GET", path)
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["content-security-policy"].startswith("default-src 'none'")
            assert headers["content-type"] == "application/json"

    def test_markup_in_names_stays_json(self, shop: Client) -> None:
        table = shop.table("<script>alert(1)</script>")
        status, headers, body = raw(shop, "GET", f"/api/v1/tables/{table['id']}")
        assert (status, headers["content-type"], body["name"]) == (200, "application/json", table["name"])


class TestBodies:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[" * 100_000,
            b'{"a":' * 50_000,
            b"\xff\xfe",
            b'{"name":"\\ud800","serviceType":"Mysql"}',
            b'{"name":"n","serviceType":"Mysql","connection":{"config":{"n":NaN}}}',
            b'{"name":"n","serviceType":"Mysql","connection":{"config":{"n":1e999}}}',
            b'{"name":"n","serviceType":"Mysql","connection":{"config":{"\\ud800":1}}}',
            b'{"name":"n","serviceType":"Mysql","connection":{"config":[1]}}',
            b'{"name":"","serviceType":"Mysql"}',
        ],
    )
    def test_nonsense_is_refused_with_a_code(self, client: Client, body: bytes) -> None:
        path = "/api/v1/services/databaseServices"
        status, _, answer = raw(client, "PUT", path, body, Content_Type="application/json")
        assert (status, answer["code"]) == (400, 400)

    def test_paths_of_any_bytes_are_answered(self, client: Client) -> None:
        for path in ("/api/v1/tables/name/%ff%fe", "/api/v1/tables/name/%ED%A0%80", "/api/v1/tables/name/%00", "/%2F"):
            assert raw(client, "GET", path)[0] == 404


class TestStart:
    def test_keep_alive_answers_come_at_once(self, client: Client) -> None:
        client.get("/system/version")
        spent = []
        for _ in range(50):
            begin = time.perf_counter()
            client.get("/system/version")
            spent.append(time.perf_counter() - begin)
        # a header that waits for its acknowledgement costs every call 40 ms; other work delays some calls at most
        assert median(spent) < 0.03

    def test_nothing_is_left_behind(self, tmp_path: Path) -> None:
        before = set(threading.enumerate())
        with running_catalog(CatalogConfig(tmp_path / "c.db", port=0)) as address:
            Client(address.url).get("/system/version")
            port = urlsplit(address.url).port
        assert {thread for thread in threading.enumerate() if thread not in before and not thread.daemon} == set()
        assert [file.name for file in tmp_path.iterdir()] == ["c.db"]
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port or 0)) != 0

    def test_a_store_is_found_again(self, tmp_path: Path) -> None:
        for status in (201, 200):
            with running_catalog(CatalogConfig(tmp_path / "c.db", port=0)) as address:
                request = {"name": "s", "serviceType": "Mysql"}
                assert Client(address.url).put("/services/databaseServices", request)[0] == status

    def test_a_port_in_use_is_named(self, tmp_path: Path) -> None:
        with running_catalog(CatalogConfig(tmp_path / "c.db", port=0)) as address:
            port = urlsplit(address.url).port or 0
            with (
                pytest.raises(ConfigError, match=f"127.0.0.1:{port}"),
                running_catalog(CatalogConfig(tmp_path / "d.db", port=port)),
            ):
                pass

    @pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0broken"])
    def test_a_file_that_is_no_store_is_named(self, tmp_path: Path, content: bytes) -> None:
        file = tmp_path / "c.db"
        file.write_bytes(content)
        with pytest.raises(ConfigError, match=r"c\.db"), running_catalog(CatalogConfig(file, port=0)):
            pass
        assert file.read_bytes() == content

    def test_a_store_of_another_version_is_not_touched(self, tmp_path: Path) -> None:
        file = tmp_path / "c.db"
        with running_catalog(CatalogConfig(file, port=0)):
            pass
        with sqlite3.connect(file) as connection:
            connection.execute("update meta set value = 99 where key = 'schema'")
        connection.close()
        before = file.read_bytes()
        said = r"c\.db was written by another version \(store 99, this is \d\).*name another file .*--catalog"
        with pytest.raises(ConfigError, match=said), running_catalog(CatalogConfig(file, port=0)):
            pass
        assert file.read_bytes() == before

    def test_a_directory_that_cannot_be_made_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        config = CatalogConfig(tmp_path / "file" / "c.db", port=0)
        with pytest.raises(ConfigError, match=r"c\.db"), running_catalog(config):
            pass

    def test_ipv6_loopback(self, tmp_path: Path) -> None:
        if not socket.has_ipv6:
            pytest.skip("this machine has no IPv6")
        try:
            with running_catalog(CatalogConfig(tmp_path / "c.db", "::1", 0)) as address:
                assert Client(address.url).get("/system/version")[0] == 200
        except ConfigError:
            pytest.skip("this machine has no IPv6 loopback address")

    def test_a_failure_inside_is_told_without_its_text(
        self, client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken(*_: object) -> None:
            raise ValueError("canary")

        monkeypatch.setattr("connectors.catalog.store.entities.entities.get", broken)
        with caplog.at_level(logging.DEBUG):
            status, body = client.get("/tables/name/x")
        assert (status, body["code"]) == (500, 500)
        assert "canary" not in caplog.text + str(body)
        assert "Traceback" not in caplog.text
