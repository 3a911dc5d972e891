"""Log lines: with the run's id, without secrets and without what foreign errors quote."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from urllib.parse import quote

import py4j.java_gateway
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from workflows.runtime.logs import LogFormat, Redactor, frames, quiet_py4j, start_logging
from workflows.runtime.progress import open_progress

LOG = logging.getLogger("workflows.test")


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    before = (root.handlers[:], root.level, logging.raiseExceptions)
    yield
    root.handlers[:], root.level, logging.raiseExceptions = before
    for name in ("ingestion", "connectors", "workflows"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_text_lines_say_when_how_bad_and_what(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogFormat.TEXT, "INFO", "r1", Redactor(["hunter2"]))

    LOG.info("took %s", "hunter2")
    LOG.debug("not shown")

    assert capsys.readouterr().err.split(" ", 1)[1] == "INFO took ***\n"


def test_json_lines_have_the_run_id_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogFormat.JSON, "WARN", "r1", Redactor(["hunter2"]))

    LOG.warning("a\nb", extra={"stage": "read", "deep": {"list": ["hunter2", 1]}})
    LOG.info("not shown")

    [line] = capsys.readouterr().err.splitlines()
    entry = json.loads(line)
    assert entry["run_id"] == "r1"
    assert (entry["level"], entry["logger"], entry["message"]) == ("WARNING", "workflows.test", "a\nb")
    assert entry["deep"] == {"list": ["***", 1]}


def test_other_libraries_are_heard_from_warnings_up(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogFormat.TEXT, "DEBUG", "r1", Redactor())

    logging.getLogger("elsewhere").info("quiet")
    logging.getLogger("elsewhere").warning("loud")
    logging.getLogger("connectors.x").debug("ours")

    shown = capsys.readouterr().err
    assert "quiet" not in shown
    assert "loud" in shown
    assert "ours" in shown


def test_a_broken_record_shows_none_of_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogFormat.TEXT, "INFO", "r1", Redactor())

    LOG.info("%d rows", "secret_literal")

    assert "secret_literal" not in capsys.readouterr().err


def test_lines_appear_above_live_progress() -> None:
    start_logging(LogFormat.TEXT, "INFO", "r1", Redactor())
    stream = io.StringIO()

    with open_progress(Console(file=stream, force_terminal=True, width=100)) as progress, progress.stage("read"):
        LOG.warning("look here")

    assert "look here" in stream.getvalue()


@pytest.mark.parametrize("log_format", list(LogFormat))
def test_an_error_is_its_type_and_place_without_its_words(
    capsys: pytest.CaptureFixture[str], log_format: LogFormat
) -> None:
    start_logging(log_format, "INFO", "r1", Redactor())

    try:
        raise ValueError("near 'SELECT secret_literal'")
    except ValueError:
        LOG.exception("failed")

    shown = capsys.readouterr().err
    assert "ValueError" in shown
    assert "test_an_error_is_its_type_and_place_without_its_words" in shown
    assert "secret_literal" not in shown


def test_frames_lead_to_where_it_happened() -> None:
    def inner() -> None:
        raise KeyError("x")

    try:
        inner()
    except KeyError as error:
        found = frames(error.__traceback__)

    assert found[-1].endswith("inner")


@given(st.lists(st.text(min_size=1, alphabet=st.characters(codec="utf-8")), max_size=4), st.text(), st.text())
def test_no_known_secret_survives(secrets: list[str], before: str, after: str) -> None:
    redact = Redactor(secrets)

    for secret in secrets:
        if len(secret) >= 6:
            for form in (secret, quote(secret, safe="")):
                assert form not in redact(f"{before}{form}{after}").replace("***", "\0") or form in "\0"


def test_short_secrets_are_words_of_their_own() -> None:
    redact = Redactor(["a", "pw1"])

    assert redact("a pw1 data=pw1;") == "*** *** data=***;"
    assert redact("a database") == "*** database"


def test_the_longer_of_two_secrets_goes_first() -> None:
    assert Redactor(["hunter", "hunter22"])("hunter22") == "***"


def test_passwords_in_urls_and_bearer_tokens_go_unasked() -> None:
    redact = Redactor()

    assert redact("postgresql://bob:sesame@db:5432/x") == "postgresql://bob:***@db:5432/x"
    assert redact("Authorization: Bearer abc.def-ghi") == "Authorization: Bearer ***"


@pytest.mark.parametrize("name", ["root", "py4j.java_gateway"])
def test_py4j_logs_nothing_whatever_logger_it_takes(name: str, caplog: pytest.LogCaptureFixture) -> None:
    quiet_py4j()
    logger = logging.getLogger() if name == "root" else logging.getLogger(name)
    for file in (py4j.java_gateway.__file__, __file__):
        if logger.isEnabledFor(logging.ERROR):
            logger.handle(logger.makeRecord(name, logging.ERROR, file, 1, "broken off", (), None))
    assert [record.pathname for record in caplog.records] == ([__file__] if name == "root" else [])
