"""Errors end a command with one sentence and an exit code."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer

from ingestion.errors import ConfigError, Interrupted, LineageError, TargetDown, ThresholdBreached
from tests.support.catalog_contents import REPOSITORY
from workflows.runtime.error_reporting import shows_errors, without_secrets
from workflows.runtime.logs import Redactor


def ending(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    @shows_errors
    def command() -> None:
        raise error

    with pytest.raises(typer.Exit) as caught:
        command()
    return caught.value.exit_code, capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LineageError("it failed"), 1),
        (ConfigError("it failed"), 2),
        (ThresholdBreached("it failed"), 3),
        (TargetDown("it failed"), 75),
    ],
)
def test_an_error_is_its_sentence_and_its_code(
    error: LineageError, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(error, capsys) == (code, "ingest: it failed\n")


@pytest.mark.parametrize(("code", "signal"), [(130, "SIGINT"), (143, "SIGTERM")])
def test_an_interruption_says_which_signal_it_was(code: int, signal: str, capsys: pytest.CaptureFixture[str]) -> None:
    found, shown = ending(Interrupted(code), capsys)

    assert found == code
    assert signal in shown


def test_a_bug_is_its_type_and_place_without_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = ending(KeyError("SELECT secret_literal"), capsys)

    assert code == 1
    assert "KeyError in " in shown
    assert "secret_literal" not in shown
    assert len(shown.splitlines()) == 1


def test_debugging_shows_the_way_there_and_still_no_message(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_DEBUG", "1")

    _, shown = ending(KeyError("SELECT secret_literal"), capsys)

    assert len(shown.splitlines()) > 1
    assert "secret_literal" not in shown


def test_secrets_leave_errors_and_the_code_stays() -> None:
    with pytest.raises(LineageError, match=r"no \*\*\* here") as caught, without_secrets(Redactor(["hunter2"])):
        raise TargetDown("no hunter2 here")

    assert caught.value.exit_code == 75
    assert caught.value.__suppress_context__


PRINTING = """
import sys
from workflows.commands.options import print_answer
from workflows.runtime.error_reporting import shows_errors
from connectors.catalog.answer.rendering import Renderings
from connectors.catalog.questions.answer import Answer
import typer
@shows_errors
def command():
    if sys.argv[1] == "answer":
        print_answer(Answer("x" * 1_000_000), Renderings(lambda text: [text], dict), "tree")
        raise typer.Exit(4)
    typer.echo("x" * 1_000_000)
typer.run(command)
"""


@pytest.mark.parametrize(("printed", "code"), [("answer", 4), ("something else", 141)])
def test_a_reader_who_has_had_enough_is_no_failure_and_an_answer_keeps_its_code(printed: str, code: int) -> None:
    script = PRINTING.replace("sys.argv[1]", repr(printed))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=REPOSITORY
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(60) == code
        assert process.stderr.read() == b""
