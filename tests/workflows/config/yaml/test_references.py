"""References in values: replaced once, never read as anything but text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.config.yaml.references import BadReference, interpolate, names_a_secret

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,10}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain $5 and {x}", "plain $5 and {x}"),
        ("${A}", "one"),
        ("<${A}-${B}>", "<one-two>"),
        ("${MISSING:-fallback}", "fallback"),
        ("${MISSING:-}", ""),
        ("${EMPTY:-fallback}", "fallback"),
        ("${EMPTY}", ""),
        ("${A:-fallback}", "one"),
        ("${MISSING:-a:-b}", "a:-b"),
        ("$${A}", "${A}"),
        ("$$${A}", "$${A}"),
    ],
)
def test_references_are_replaced(text: str, expected: str) -> None:
    assert interpolate(text, {"A": "one", "B": "two", "EMPTY": ""}).text == expected


@given(NAMES, st.text())
def test_what_a_variable_holds_comes_in_as_it_is(name: str, value: str) -> None:
    assert interpolate(f"[${{{name}}}]", {name: value}).text == f"[{value}]"


@given(st.text().filter(lambda text: "${" not in text))
def test_text_without_references_stays(text: str) -> None:
    assert interpolate(text, {}).text == text


@given(NAMES, st.dictionaries(NAMES, st.text()))
def test_a_missing_variable_is_named_and_no_other_is(name: str, environment: dict[str, str]) -> None:
    environment.pop(name, None)

    with pytest.raises(BadReference, match=f"variable {re.escape(name)} is not set"):
        interpolate(f"${{{name}}}", environment)


@pytest.mark.parametrize("text", ["${", "${A", "${}", "${1A}", "${A B}", "${A:-${B}}", "x${file:}", "${-x}"])
def test_malformed_references_are_refused(text: str) -> None:
    with pytest.raises(BadReference):
        interpolate(text, {"A": "1", "B": "2"})


@pytest.mark.parametrize("text", ["pass${hunter2!}word", "pass${hunter2"])
def test_what_only_looks_like_a_reference_is_not_echoed(text: str) -> None:
    with pytest.raises(BadReference) as caught:
        interpolate(text, {})

    assert "hunter2" not in str(caught.value)


def test_a_file_gives_its_text_without_the_last_line_end(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"s3cret ${A}\r\n")

    found = interpolate(f"${{file:{tmp_path / 'token'}}}", {"A": "1"})

    assert found.text == "s3cret ${A}"
    assert found.secrets == ("s3cret ${A}",)


def test_a_file_that_gives_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")

    for name, reason in (("absent", "cannot be read"), ("bytes", "not UTF-8"), ("", "cannot be read")):
        with pytest.raises(BadReference, match=f"{tmp_path / name}.*{reason}|{reason}.*{tmp_path / name}"):
            interpolate(f"${{file:{tmp_path / name}}}", {})


def test_values_of_variables_named_like_secrets_are_secrets() -> None:
    found = interpolate("${DB_PASSWORD}@${HOST}", {"DB_PASSWORD": "pw", "HOST": "h"})

    assert found.secrets == ("pw",)


@pytest.mark.parametrize(
    "name",
    ["password", "DB_PASS_WORD_PASSWD", "jwtToken", "privateKey", "awsSecretAccessKey", "api_key", "credentials"],
)
def test_names_of_secrets(name: str) -> None:
    assert names_a_secret(name)


@pytest.mark.parametrize("name", ["serviceName", "hostPort", "threads", "keyspace", "queryLogFilePath", "monkey"])
def test_names_of_other_things(name: str) -> None:
    assert not names_a_secret(name)
