"""Errors as a person at a terminal sees them: one sentence and an exit code, a traceback never."""

from __future__ import annotations

import functools
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, ParamSpec

import typer

from ingestion.errors import Interrupted, LineageError
from workflows.runtime.logs import Redactor, frames

logger = logging.getLogger(__name__)
P = ParamSpec("P")


def shows_errors(command: Callable[P, None]) -> Callable[P, None]:
    """The command, which ends a LineageError with its sentence and its exit code, and a bug with 1.

    One that prints to where nobody reads any more (`| head`) ends as a program that SIGPIPE ends, and not with 1, which
    has a meaning of ours.
    """

    @functools.wraps(command)
    def run_command(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except LineageError as error:
            _end(_sentence(error), error, error.exit_code)
        except (typer.Exit, typer.Abort):
            raise
        except BrokenPipeError:
            print_no_more()
            raise typer.Exit(128 + signal.SIGPIPE) from None
        except Exception as error:  # noqa: BLE001 - the outermost border: a bug ends as one line, too
            # The message of a foreign error may quote a query: only its type and its last frame are told.
            where = frames(error.__traceback__)[-1]
            hint = "" if _is_debugging() else "; HEADWATER_DEBUG=1 shows the way there"
            _end(f"a bug, please report it: {type(error).__qualname__} in {where}{hint}", error, 1)

    return run_command


def print_no_more() -> None:
    """Sends what standard output still holds, and gets, nowhere: nobody reads it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def without_secrets(redact: Redactor) -> Iterator[None]:
    """Takes secrets out of the errors that leave the block."""
    try:
        yield
    except LineageError as error:
        if isinstance(error, Interrupted):
            raise
        clean = LineageError(redact(str(error)))
        clean.exit_code = error.exit_code
        raise clean.with_traceback(error.__traceback__) from None


def _sentence(error: LineageError) -> str:
    if isinstance(error, Interrupted):
        name = signal.Signals(error.exit_code - 128).name
        return f"ended by {name} before it was done; running the same command again is safe"
    return str(error)


def _end(message: str, error: Exception, exit_code: int) -> NoReturn:
    if _is_debugging():
        for frame in frames(error.__traceback__):
            typer.echo(f"  {frame}", err=True)
    typer.echo(f"ingest: {message}", err=True)
    raise typer.Exit(exit_code)


def _is_debugging() -> bool:
    return bool(os.environ.get("HEADWATER_DEBUG")) or logger.isEnabledFor(logging.DEBUG)
