"""The client against servers that misbehave: real sockets for transport, a virtual clock for every wait."""

from __future__ import annotations

import json
import logging
import pickle
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer

from connectors.openmetadata.connection import Connection
from connectors.openmetadata.http import Call, Http, NotFound, RetryPolicy, ServerFailed, path_of, retry_after_seconds
from ingestion.errors import ConfigError, LineageError, Rejected, TargetDown
from tests.connectors.openmetadata.conftest import VirtualTime

TOKEN = "eyJ.canary-token.x"
POLICY = RetryPolicy(attempts=4, total_seconds=60)


@contextmanager
def scripted(*answers: bytes | Callable[[socket.socket], None]) -> Iterator[tuple[str, list[bytes]]]:
    """A server of raw bytes: each connection gets the next answer, the last one again and again; then it closes."""
    listener = socket.create_server(("127.0.0.1", 0))
    received: list[bytes] = []

    def run() -> None:
        for number in range(1000):
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                client.settimeout(5)
                received.append(_head(client))
                answer = answers[min(number, len(answers) - 1)]
                try:
                    if callable(answer):
                        answer(client)
                    else:
                        client.sendall(answer)
                except OSError:
                    pass

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/api", received
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _head(client: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = client.recv(65536)
        if not chunk:
            break
        data += chunk
    return data


def ok(value: object, extra: str = "") -> bytes:
    body = json.dumps(value).encode()
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{extra}\r\n".encode() + body


def status(code: int, body: bytes = b"", extra: str = "") -> bytes:
    return f"HTTP/1.1 {code} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{extra}\r\n".encode() + body


def client(url: str, virtual_time: VirtualTime, policy: RetryPolicy = POLICY, **fields: object) -> Http:
    connection = replace(Connection(url, jwt_token=TOKEN, connect_seconds=0.5, read_seconds=0.3), **fields)  # type: ignore[arg-type]
    return Http(connection, policy, virtual_time.timing)


RESETS: list[bytes] = [
    b"",
    b"HTTP/1.1 200 OK\r\nContent-Le",
    b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"half":',
    b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"ha',
    b"garbage without a status line\r\n\r\n",
    status(503, b"<html>maintenance</html>"),
    status(500, b'{"code":500,"message":"oops"}'),
    status(429),
    status(200, b"<!doctype html><title>proxy</title>"),
    status(200, b'{"cut": "sho'),
    status(404, b"<html>no such backend</html>"),
]


@pytest.mark.parametrize("broken", RESETS)
def test_a_broken_answer_is_asked_for_again(broken: bytes, virtual_time: VirtualTime) -> None:
    with scripted(broken, broken, ok({"a": 1})) as (url, received):
        assert client(url, virtual_time).get("tables/x") == {"a": 1}
    assert len(received) == 3
    assert len(virtual_time.slept) == 2


@pytest.mark.parametrize("broken", RESETS)
def test_attempts_are_bounded(broken: bytes, virtual_time: VirtualTime) -> None:
    with scripted(broken) as (url, received), pytest.raises((TargetDown, ServerFailed)):
        client(url, virtual_time).get("tables/x")
    assert len(received) == POLICY.attempts
    assert virtual_time.slept == sorted(virtual_time.slept)


def test_a_server_that_is_not_there_is_down_in_one_sentence(virtual_time: VirtualTime) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    http = client(f"http://127.0.0.1:{port}", virtual_time)
    with pytest.raises(TargetDown) as caught:
        http.get("system/version")
    assert str(caught.value) == (
        f"GET /v1/system/version: no connection to http://127.0.0.1:{port}/api; given up on, run again later"
    )
    assert caught.value.exit_code == 75
    slept = len(virtual_time.slept)
    with pytest.raises(TargetDown):
        http.get("tables")
    assert len(virtual_time.slept) == slept, "nobody calls a target that is down"


def test_silence_times_out(virtual_time: VirtualTime) -> None:
    with scripted(lambda _: time.sleep(0.6), ok([])) as (url, _):
        assert client(url, virtual_time).get("tables") == []


def test_a_body_that_drips_is_given_up_on(virtual_time: VirtualTime) -> None:
    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            connection.sendall(b" ")
            virtual_time.now += 1
            time.sleep(0.005)

    with scripted(drip, ok("there")) as (url, received):
        assert client(url, virtual_time, answer_seconds=20).get("x") == "there"
        assert len(received) == 2


@pytest.mark.parametrize("beginning", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_a_header_that_drips_is_given_up_on(beginning: bytes, virtual_time: VirtualTime) -> None:
    def drip(connection: socket.socket) -> None:
        connection.sendall(beginning)
        for number in range(1000):
            connection.sendall(b"X: y\r\n" if beginning.endswith(b"\n") else b"x")
            virtual_time.now += 1
            time.sleep(0.005)
            drips[0] = number

    drips = [0]
    with scripted(drip, ok("there")) as (url, received):
        assert client(url, virtual_time, answer_seconds=20).get("x") == "there"
        assert len(received) == 2
    assert drips[0] < 200


def test_a_header_that_drips_slowly_ends_in_one_sentence() -> None:
    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        for _ in range(100):
            connection.sendall(b"X: y\r\n")
            time.sleep(0.1)

    connection = Connection("", jwt_token=TOKEN, read_seconds=5, answer_seconds=0.5)
    with scripted(drip) as (url, _), pytest.raises(TargetDown, match=r"was not complete in 0\.5 s"):
        Http(replace(connection, host_port=url), RetryPolicy(attempts=1)).get("x")


@pytest.mark.parametrize("code", [200, 400, 500])
def test_an_answer_nested_too_deeply_is_no_answer_of_the_platform(code: int, virtual_time: VirtualTime) -> None:
    with scripted(status(code, b"[" * 200_000 + b"]" * 200_000)) as (url, _), pytest.raises(LineageError):
        client(url, virtual_time).get("x")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"verify": "{0}/none.pem"}, "none.pem"),
        ({"verify": "{0}/text.pem"}, "text.pem"),
        ({"verify": "{0}"}, "sslConfig.caCertificate"),
        ({"client_certificate": ("{0}/none.pem", "{0}/key.pem")}, "key.pem"),
        ({"client_certificate": ("{0}/text.pem", "{0}/text.pem")}, "text.pem"),
    ],
)
def test_certificates_that_cannot_be_used_are_named_before_any_call(
    fields: dict[str, str | tuple[str, str]], named: str, tmp_path: Path, virtual_time: VirtualTime
) -> None:
    (tmp_path / "text.pem").write_text("no certificate")
    given = {
        name: value.format(tmp_path) if isinstance(value, str) else tuple(one.format(tmp_path) for one in value)
        for name, value in fields.items()
    }
    with pytest.raises(ConfigError, match=named) as caught:
        client("https://127.0.0.1:1/api", virtual_time, **given)
    assert "\n" not in str(caught.value)
    client("http://127.0.0.1:1/api", virtual_time, **given).close()


def test_a_body_that_stops_half_way_times_out(virtual_time: VirtualTime) -> None:
    def hang(connection: socket.socket) -> None:
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"a":')
        time.sleep(0.6)

    with scripted(hang, ok("there")) as (url, _):
        assert client(url, virtual_time).get("x") == "there"


@pytest.mark.parametrize("value", ["7", "date"])
def test_retry_after_is_obeyed(value: str, virtual_time: VirtualTime) -> None:
    header = value if value == "7" else format_datetime(datetime.now(UTC) + timedelta(seconds=8), usegmt=True)
    with scripted(status(429, extra=f"Retry-After: {header}\r\n"), ok(1)) as (url, _):
        assert client(url, virtual_time).get("x") == 1
    assert len(virtual_time.slept) == 1
    assert 6 <= virtual_time.slept[0] <= 8


def test_a_target_that_asks_for_more_patience_than_there_is_is_down_at_once(virtual_time: VirtualTime) -> None:
    with scripted(status(503, extra="Retry-After: 3600\r\n")) as (url, received), pytest.raises(LineageError):
        client(url, virtual_time).get("x")
    assert len(received) == 1
    assert virtual_time.slept == []


@pytest.mark.parametrize("header", [None, "soon", "", "-3", "Wed, 99 Foo 2026"])
def test_a_retry_after_that_says_nothing_is_none(header: str | None) -> None:
    assert retry_after_seconds(header) is None


def test_a_retry_after_in_the_past_is_now() -> None:
    assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0


def test_total_time_is_bounded(virtual_time: VirtualTime) -> None:
    policy = RetryPolicy(attempts=1000, total_seconds=45)
    with scripted(status(502)) as (url, _), pytest.raises(LineageError):
        client(url, virtual_time, policy).get("x")
    assert sum(virtual_time.slept) <= 45


def test_waits_grow_and_differ(virtual_time: VirtualTime) -> None:
    with scripted(status(502)) as (url, _), pytest.raises(LineageError):
        client(url, virtual_time, RetryPolicy(attempts=5)).get("x")
    assert all(base <= wait <= base + 0.5 for base, wait in zip((0.5, 1, 2, 4), virtual_time.slept, strict=True))
    assert len({wait % 0.5 for wait in virtual_time.slept}) > 1


def test_a_storm_of_500_opens_the_breaker(virtual_time: VirtualTime) -> None:
    http_calls = 0
    with scripted(status(500, b'{"code":500,"message":"disk full"}')) as (url, received):
        http = client(url, virtual_time, RetryPolicy(attempts=6))
        with pytest.raises(TargetDown, match="disk full"):
            for http_calls in range(20):  # noqa: B007
                try:
                    http.get("x")
                except ServerFailed:
                    continue
        before = len(received)
        with pytest.raises(TargetDown):
            http.get("x")
        assert len(received) == before
    assert http_calls <= 3


def test_one_call_that_the_server_cannot_bear_is_not_the_end_of_the_others(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/api/v1/poison").respond_with_json({"code": 500, "message": "bug"}, status=500)
    httpserver.expect_request("/api/v1/fine").respond_with_json({"ok": True})
    virtual_time = VirtualTime()
    http = client(httpserver.url_for(""), virtual_time)
    for _ in range(10):
        with pytest.raises(ServerFailed, match="HTTP 500: bug"):
            http.get("poison")
        assert http.get("fine") == {"ok": True}


@pytest.mark.parametrize("code", [400, 403, 405, 409, 412, 413, 422])
def test_a_refusal_is_final(code: int, virtual_time: VirtualTime) -> None:
    with scripted(status(code, json.dumps({"code": code, "message": "no"}).encode())) as (url, received):
        with pytest.raises(Rejected, match=f"HTTP {code}: no"):
            client(url, virtual_time).send(Call("PUT", "x", body={}))
        assert len(received) == 1


def test_an_absence_in_the_platforms_own_words_is_none(virtual_time: VirtualTime) -> None:
    with scripted(status(404, b'{"code":404,"message":"table instance for x not found"}')) as (url, received):
        assert client(url, virtual_time).get("tables/name/x") is None
        with pytest.raises(NotFound, match="table instance for x not found"):
            client(url, virtual_time).send(Call("DELETE", "lineage/x"))
    assert len(received) == 2


def test_an_expired_token_is_said_so(virtual_time: VirtualTime) -> None:
    with scripted(ok(1), status(401, b'{"code":401,"message":"Expired token!"}')) as (url, received):
        http = client(url, virtual_time)
        assert http.get("x") == 1
        with pytest.raises(ConfigError, match="expired or wrong") as caught:
            http.get("x")
    assert len(received) == 2
    assert TOKEN not in str(caught.value)


def test_a_token_that_was_rotated_in_its_file_is_taken_up(tmp_path: Path, virtual_time: VirtualTime) -> None:
    file = tmp_path / "token"
    file.write_text("old")

    def refuse(connection: socket.socket) -> None:
        file.write_text("new")
        connection.sendall(status(401, b'{"code":401}'))

    with scripted(refuse, ok(1)) as (url, received):
        assert client(url, virtual_time, jwt_token=str(file)).get("x") == 1
    assert b"Bearer new" in received[1]


def test_a_redirect_is_not_followed(virtual_time: VirtualTime) -> None:
    with scripted(status(302, extra="Location: http://evil.example/\r\n")) as (url, received):
        with pytest.raises(ConfigError, match="redirects"):
            client(url, virtual_time).get("x")
        assert len(received) == 1


def test_no_secret_and_no_body_is_in_any_error_or_log(
    virtual_time: VirtualTime, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = f'{{"code":CODE,"message":"you sent Bearer {TOKEN}\\nand more"}}'
    answers = [status(code, echo.replace("CODE", str(code)).encode()) for code in (400, 404, 500)]
    for answer in (*answers, b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"):
        with scripted(answer) as (url, _), pytest.raises(LineageError) as caught:
            http = client(url, virtual_time, extra_headers={"X-Key": "canary-header"})
            http.send(Call("PUT", "x", body={"sqlQuery": "canary-body"}))
        output = "".join(traceback.format_exception(caught.value)) + repr(http) + caplog.text
        output += str(pickle.dumps(caught.value))
        assert caught.value.__cause__ is None
        for canary in ("canary-token", "canary-header", "canary-body"):
            assert canary not in output.replace('"canary-body"', "").replace('"canary-header"', "")


def test_connections_are_kept(virtual_time: VirtualTime) -> None:
    ports: set[int] = set()

    class KeepAlive(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            ports.add(self.client_address[1])
            body = json.dumps("y" * 100_000).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), KeepAlive)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    http = client(f"http://127.0.0.1:{server.server_port}", virtual_time)
    for _ in range(20):
        assert len(str(http.get("x"))) == 100_000
    http.close()
    server.shutdown()
    server.server_close()
    thread.join(5)
    assert len(ports) == 1


def test_the_environments_netrc_and_proxy_do_not_take_over(
    virtual_time: VirtualTime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with scripted(ok(1)) as (url, received):
        assert client(url, virtual_time).get("x") == 1
    assert f"Authorization: Bearer {TOKEN}".encode() in received[0]


def test_names_in_paths_are_quoted_whole() -> None:
    assert path_of("table", "name", 'svc.db."a.b/c d"') == "table/name/svc.db.%22a.b%2Fc%20d%22"


def test_content_types_and_extra_headers_are_sent(virtual_time: VirtualTime) -> None:
    with scripted(ok(1)) as (url, received):
        http = client(url, virtual_time, extra_headers={"X-Team": "data"})
        http.attempt(Call("PATCH", "x", body=[]))
        http.send(Call("PUT", "x", {"a": ["1", "2"]}, body={}))
    assert b"application/json-patch+json" in received[0]
    assert b"X-Team: data" in received[0]
    assert b"Content-Type: application/json\r\n" in received[1]
    assert b"PUT /api/v1/x?a=1&a=2 " in received[1]


def test_an_empty_answer_is_one_only_where_none_is_due(virtual_time: VirtualTime) -> None:
    with scripted(status(200), status(204), status(200), ok(1)) as (url, received):
        http = client(url, virtual_time)
        assert http.send(Call("PUT", "lineage", body={}, answered=False)) is None
        assert http.send(Call("DELETE", "lineage", answered=False)) is None
        assert http.get("x") == 1
    assert len(received) == 4
