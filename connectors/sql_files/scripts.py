"""SQL files put together into one script, each line traceable to its file."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from connectors.encodings import text_encoding
from connectors.model_project import ModelProject, script_text
from connectors.standard_input import read_standard_input
from ingestion.arguments import files_below, leads_out, nearest_file
from ingestion.dialects import Dialect
from ingestion.dialects.lexing import DOLLAR, STRING, tokens
from ingestion.errors import ConfigError
from ingestion.scripts.statements import TextParts, lone_query_as_view, without_templates
from ingestion.statements import split

if TYPE_CHECKING:
    from connectors.dbt.model_statements import DbtProject

_MAX_BYTES = 64 << 20
_UNREADABLE = "\ufffd"
"""Stands for bytes that are of no character."""
_VALUES = (STRING, DOLLAR)
_NOT_LINE_ENDS = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class Script:
    """A text, and where each of its files begins: (1-based line, name), in order.

    `unread`: the files of a folder that could not be read, file:line: why. `given`: the first file is DDL of tables
    that the others know.
    """

    text: str
    files: tuple[tuple[int, str], ...]
    unread: tuple[str, ...] = ()
    given: bool = False

    @property
    def parts(self) -> TextParts:
        """Where sessions begin: each file has its own."""
        return TextParts(tuple(line for line, _ in self.files), self.given)

    def location(self, line: int) -> str:
        """The file and the line in it that a line of the text comes from."""
        start, name = self.files[bisect_right(self.files, line, key=lambda file: file[0]) - 1]
        return f"{name}:{line - start + 1}"


def read_script(name: str, dialect: Dialect, before: Path | None = None) -> Script:
    """The SQL of a file, of all *.sql files below a directory in the order of their names, or of standard input (-).

    In a directory a lone query is a view that is named after its file, as in dbt, whose references are read as names.
    `before` is a file of DDL that goes first. Raises ConfigError where something cannot be read.
    """
    if name == "-" or Path(name).is_dir():
        texts, unread = sql_texts(name, dialect)
        return replace(_join(texts, before), unread=unread)
    text, unread = _partly_read(_content(Path(name)), name, dialect)
    return replace(_join([(name, without_templates(text, Path(name).stem))], before), unread=unread)


def sql_texts(name: str, dialect: Dialect) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """(Name, text) of a file, of all *.sql files below a directory, or of standard input; a lone query is a view.

    The view is named after its file. With them the files of a directory that cannot be read, file: why. Raises
    ConfigError where none can.
    """
    if name == "-":
        text, damaged = _partly_read(read_standard_input(_MAX_BYTES), "<stdin>", dialect)
        return [("<stdin>", without_templates(text, ""))], damaged
    path = Path(name)
    files, outside = files_below(path, "*.sql") if path.is_dir() else ([path], [])
    if not files and not outside:
        raise ConfigError(f"{name} holds no *.sql file")
    found: list[tuple[str, str]] = []
    unread = [leads_out(file) for file in outside]
    for file in files:
        try:
            text, damaged = _partly_read(_content(file), str(file), dialect)
            found.append((str(file), lone_query_as_view(text, file.stem, dialect)))
            unread += damaged
        except ConfigError as error:
            unread.append(str(error))
    if not found:
        raise ConfigError(unread[0])
    return found, tuple(unread)


def project_script(project: DbtProject, before: Path | None = None) -> Script:
    """The models of a dbt project, each after those that it reads; `before` as in `read_script`."""
    rest = (statement for one in project.partial for statement in one.statements)
    return _join([(statement.origin, statement.text) for statement in (*project.statements, *rest)], before)


def model_script(project: ModelProject, before: Path | None = None) -> Script:
    """The models of a project that have SQL; `before` as in `read_script`."""
    return _join([(model.origin, script_text(model, project)) for model in project.models if model.text], before)


def sql_text(file: Path) -> str:
    """The text of a file. Raises ConfigError, naming the nearest file, where it cannot be read."""
    return _decode(_content(file), str(file))


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise ConfigError(f"{file}: no such file{nearest_file(file)}") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None


def _partly_read(content: bytes, origin: str, dialect: Dialect) -> tuple[str, tuple[str, ...]]:
    """The text of a file without its statements whose names hold bytes of no character, and where those were.

    Raises ConfigError where it is no text at all, or nothing is left of it.
    """
    try:
        return _decode(content, origin), ()
    except _NoCharacter:
        text = content.decode("utf-8-sig", "replace")
    unread: list[str] = []
    kept: list[str] = []
    end = left = 0
    for statement in split(text, dialect.name):
        left += 1
        start = text.find(statement.text, end)
        if start < 0:
            continue
        kept.append(text[end:start])
        end = start + len(statement.text)
        if any(_UNREADABLE in token.text for token in tokens(statement.text, dialect) if token.kind not in _VALUES):
            line = statement.line + statement.text[: statement.text.index(_UNREADABLE)].count("\n")
            left -= 1
            unread.append(f"{origin}:{line}: neither UTF-8 nor any other one encoding")
            kept.append(_NOT_LINE_ENDS.sub(" ", statement.text))
        else:
            kept.append(statement.text)
    if unread and not left:
        raise ConfigError(unread[0])
    return "".join((*kept, text[end:])), tuple(unread)


class _NoCharacter(ConfigError):
    """A file holds bytes that are of no character in the encoding that it is in."""


def _decode(content: bytes, origin: str) -> str:
    if len(content) > _MAX_BYTES:
        raise ConfigError(f"{origin} is over 64 MB: use `ingest run` for logs")
    encoding = text_encoding(content, whole=True)
    if encoding is None:
        raise ConfigError(f"{origin}: no text: it holds binary data")
    try:
        return content.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _NoCharacter(f"{origin}:{line}: neither UTF-8 nor any other one encoding") from None


def _join(parts: list[tuple[str, str]], before: Path | None) -> Script:
    lines, texts, files = 1, [], []
    for name, text in [*([(str(before), sql_text(before))] if before else []), *parts]:
        ended = text + "\n;\n"
        files.append((lines, name))
        texts.append(ended)
        lines += ended.count("\n")
    return Script("".join(texts), tuple(files), given=before is not None)
