from __future__ import annotations

from pathlib import Path

import pytest

from connectors.openmetadata.connection import BearerToken, Connection, base_url, check_headers, is_loopback
from ingestion.errors import ConfigError


@pytest.mark.parametrize(
    "host_port",
    [
        "http://om:8585/api",
        "http://om:8585/api/",
        "http://om:8585",
        "http://om:8585/",
        " http://om:8585/api/v1 ",
    ],
)
def test_the_url_ends_in_api_however_it_is_written(host_port: str) -> None:
    assert base_url(host_port) == "http://om:8585/api"


def test_a_prefix_and_an_ipv6_address_are_kept() -> None:
    assert base_url("https://data.example.org/om/api") == "https://data.example.org/om/api"
    assert base_url("http://[::1]:8585") == "http://[::1]:8585/api"


@pytest.mark.parametrize(
    "host_port",
    ["om:8585/api", "", "ftp://om/api", "http://", "http://om:port/api", "http://om:99999/api", "http://om/api?x=1"],
)
def test_what_is_no_url_is_refused_with_an_example(host_port: str) -> None:
    with pytest.raises(ConfigError, match="hostPort"):
        base_url(host_port)


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError) as caught:
        base_url("http://admin:hunter2@om:8585/api")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(("host_port", "own"), [("http://127.0.0.1:1/api", True), ("http://om/api", False)])
def test_loopback_is_told_from_elsewhere(host_port: str, own: bool) -> None:
    assert is_loopback(host_port) is own


def test_a_token_is_taken_as_it_is_or_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("eyJ.secret.token\n")
    assert BearerToken("eyJ.literal.token").value == "eyJ.literal.token"
    assert BearerToken(str(file)).value == "eyJ.secret.token"


def test_a_rotated_token_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first")
    token = BearerToken(str(file))
    assert not token.refresh()
    file.write_text("second")
    assert token.refresh()
    assert token.value == "second"
    assert not BearerToken("literal").refresh()


def test_a_missing_token_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        BearerToken(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("given", ["", "   ", "to\nken", "tökén"])
def test_what_no_token_can_be_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(ConfigError) as caught:
        BearerToken(given)
    assert "to\nken" not in str(caught.value)


def test_a_token_longer_than_any_path_is_a_token() -> None:
    assert BearerToken("a" * 5000).value == "a" * 5000


def test_headers_that_cannot_be_sent_are_named_without_their_value() -> None:
    with pytest.raises(ConfigError, match="X-Key") as caught:
        check_headers({"X-Key": "se\r\ncret"})
    assert "cret" not in str(caught.value)
    with pytest.raises(ConfigError, match="not the name"):
        check_headers({"X Key:": "v"})


def test_no_secret_is_in_the_repr() -> None:
    connection = Connection("http://om/api", jwt_token="hunter2", extra_headers={"X-Key": "hunter3"})
    assert "hunter" not in repr(connection)
