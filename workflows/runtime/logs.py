"""Logs of a run on standard error: text for people or a JSON object a line, with the run's id, without its secrets."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from urllib.parse import quote, quote_plus

from ingestion.model.moments import iso_time

_OURS = ("ingestion", "connectors", "workflows")
_HIDDEN = "***"
_USER_INFO = re.compile(r"(://[^/@\s:]*:)[^@\s/]+@")
_BEARER = re.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]+")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LogFormat(StrEnum):
    """How a log line is written."""

    TEXT = "text"
    JSON = "json"


class Redactor:
    """Takes secrets out of text: those it is told of, passwords in URLs, bearer tokens."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms = {form for secret in secrets if secret for form in (secret, quote(secret, safe=""), quote_plus(secret))}
        # Longest first, so that no secret survives as the rest of a shorter one.
        parts = [_pattern(form) for form in sorted(forms, key=len, reverse=True)]
        self._known = re.compile("|".join(parts)) if parts else None

    def __call__(self, text: str) -> str:
        if self._known is not None:
            text = self._known.sub(_HIDDEN, text)
        return _BEARER.sub(rf"\1{_HIDDEN}", _USER_INFO.sub(rf"\1{_HIDDEN}@", text))


def _pattern(secret: str) -> str:
    """A short secret counts as a word of its own only: "a" is not taken out of every word."""
    escaped = re.escape(secret)
    return escaped if len(secret) >= 6 else rf"(?<!\w){escaped}(?!\w)"


def start_logging(log_format: LogFormat, level: str, run_id: str, redact: Redactor) -> None:
    """From now on the project's loggers write to standard error from `level` up, those of libraries from WARNING."""
    handler = _StandardError()
    formatter = _JsonFormatter(run_id, redact) if log_format is LogFormat.JSON else _TextFormatter(redact)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.raiseExceptions = False  # its complaint about a broken record would show the record's arguments
    number = logging.getLevelNamesMapping()["WARNING" if level == "WARN" else level]
    for name in _OURS:
        logging.getLogger(name).setLevel(number)


def quiet_py4j() -> None:
    """Logs nothing more of py4j, by the root logger neither: what goes wrong there comes as an exception too."""
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def frames(traceback: TracebackType | None) -> list[str]:
    """Where an error passed, innermost last, as `module:line function`: no message, no source, no values."""
    found = []
    while traceback is not None:
        code, module = traceback.tb_frame.f_code, traceback.tb_frame.f_globals.get("__name__", "?")
        found.append(f"{module}:{traceback.tb_lineno} {code.co_qualname}")
        traceback = traceback.tb_next
    return found


class _StandardError(logging.Handler):
    """Whatever standard error is now: live progress takes its place, so that lines appear above the bars."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
            sys.stderr.flush()
        except (OSError, ValueError, TypeError):
            self.handleError(record)


class _TextFormatter(logging.Formatter):
    def __init__(self, redact: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%H:%M:%S")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        record.message = record.getMessage()
        record.asctime = self.formatTime(record, self.datefmt)
        lines = [self.formatMessage(record), *(f"  {frame}" for frame in _error_frames(record))]
        return self._redact("\n".join(lines))


class _JsonFormatter(logging.Formatter):
    def __init__(self, run_id: str, redact: Redactor) -> None:
        super().__init__()
        self._run_id = run_id
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, object] = {
            "time": iso_time(record.created),
            "level": record.levelname,
            "run_id": self._run_id,
            "logger": record.name,
            "message": record.getMessage(),
        }
        entry.update({key: value for key, value in vars(record).items() if key not in _STANDARD})
        error = _error_frames(record)
        if error:
            entry["error"] = error
        return json.dumps(self._clean(entry), ensure_ascii=False, default=str)

    def _clean(self, value: object) -> object:
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, dict):
            return {str(key): self._clean(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(inner) for inner in value]
        return value if isinstance(value, int | float | bool | None) else self._redact(str(value))


def _error_frames(record: logging.LogRecord) -> list[str]:
    """An exception's type and frames. Its message may quote a query, so it stays out."""
    if not record.exc_info or record.exc_info[0] is None:
        return []
    return [*frames(record.exc_info[2]), record.exc_info[0].__qualname__]
