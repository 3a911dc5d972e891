"""A script's statements, ended where the script's dialect ends them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import Separator
from ingestion.lexing import lexicon_of, tokens
from ingestion.statements.blocks import statement_ends
from ingestion.statements.cleaning import (
    EDGE,
    clean,
    unescape_line_ends,
    unwrap_executable_comments,
    without_client_commands,
)
from ingestion.statements.missing_separators import unseparated_starts
from ingestion.statements.sqlplus import without_sqlplus_commands

_OPENS_BLOCK = re.compile(
    r"\b(?:begin|declare|proc(?:edure)?|function|trigger|package|event|task)\b"
    r"|(?:\A|;)\s*+(?:\w++\s*+:\s*+)?+(?:if|while|loop|for|repeat)\b",
    re.IGNORECASE,
)
_OTHER_LANGUAGE = re.compile(r"\s*+%(?!sql\b)\w")
"""How a notebook's cell begins that is not SQL."""
_SEPARATOR_LINES = {
    Separator.GO: re.compile(r"^[ \t]*+GO(?:[ \t]++[0-9]++)?+[ \t]*+;?[ \t\r]*+$", re.IGNORECASE | re.MULTILINE),
    Separator.CELL: re.compile(r"^--[ \t]*+COMMAND[ \t]++-++[ \t\r]*+$", re.MULTILINE),
    Separator.SLASH: re.compile(r"^[ \t]*+/[ \t\r]*+$", re.MULTILINE),
    Separator.DELIMITER: re.compile(r"^[ \t]*+DELIMITER[ \t]++(\S++)[ \t\r]*+$", re.IGNORECASE | re.MULTILINE),
}


_GOES_ON = {Separator.GO: r"(?!\s*+')"}
"""No statement begins with a text: T-SQL's OPENROWSET parts its arguments with semicolons."""


@dataclass(frozen=True, slots=True)
class StatementText:
    """One statement, cleaned, and the line of the text (from 1) where it begins."""

    text: str
    line: int


def split(text: str, dialect: Dialect | str) -> tuple[StatementText, ...]:
    """The statements of a script in order; empty when it holds none.

    Semicolons end statements, except inside strings, comments and dollar quotes and in a routine's or a script's
    block; so do T-SQL's `GO`, Oracle's `/`, the line between two cells of a notebook and whatever MySQL's `DELIMITER`
    named. A block that never ends keeps the rest of the text together, and so does a BigQuery script that declares
    variables.
    """
    dialect = dialect_of(dialect) if isinstance(dialect, str) else dialect
    if is_single(text, dialect):
        cleaned = clean(text, dialect)
        return (StatementText(cleaned, 1 + _lines_before(text, cleaned, dialect)),) if cleaned else ()
    text = _prepare(text, dialect)
    found = []
    line, counted = 1, 0
    for start, end in _spans(text, dialect):
        first = next(tokens(text, dialect, start, end), None)
        cleaned = clean(text[first.start : end], dialect) if first else ""
        if first and cleaned:
            line += text.count("\n", counted, first.start)
            counted = first.start
            found.append(StatementText(cleaned, line))
    return tuple(found)


def is_single(text: str, dialect: Dialect) -> bool:
    """Whether nothing in `text` could end a statement before its end, told without looking at quotes."""
    if ";" in text.rstrip(EDGE) or "\\" in text or (dialect.stage_names and "!" in text):
        return False
    if (dialect.separator is Separator.GO or dialect.sqlplus_commands) and "\n" in text:
        return False
    line = _SEPARATOR_LINES.get(dialect.separator)
    return line is None or ("/*!" not in text and "/*M!" not in text and line.search(text) is None)


def _lines_before(text: str, cleaned: str, dialect: Dialect) -> int:
    if text.startswith(cleaned[:1]) and cleaned[0].isalpha():
        return 0
    return text.count("\n", 0, next(tokens(text, dialect)).start)


def _prepare(text: str, dialect: Dialect) -> str:
    if dialect.sqlplus_commands:
        text = without_sqlplus_commands(text)
    if "\\" in text or dialect.stage_names:
        text = unescape_line_ends(without_client_commands(text, dialect), dialect)
    return unwrap_executable_comments(text) if dialect.separator is Separator.DELIMITER else text


def _spans(text: str, dialect: Dialect) -> Iterator[tuple[int, int]]:
    for start, end, delimiter in _batches(text, dialect):
        if dialect.separator is Separator.CELL and _OTHER_LANGUAGE.match(text, start, end):
            yield start, end
            continue
        begin = start
        for stop in _ends(text, dialect, (start, end), delimiter):
            yield from _unseparated_ranges(text, dialect, begin, stop)
            begin = stop + len(delimiter)
        yield from _unseparated_ranges(text, dialect, begin, end)


def _unseparated_ranges(text: str, dialect: Dialect, start: int, end: int) -> Iterator[tuple[int, int]]:
    if dialect.separator is Separator.GO and "\n" in text[start:end]:
        for begin in unseparated_starts(text, dialect, start, end):
            yield start, begin
            start = begin
    yield start, end


def _batches(text: str, dialect: Dialect) -> Iterator[tuple[int, int, str]]:
    """The stretches between separator lines, each with what ends a statement in it."""
    line = _SEPARATOR_LINES.get(dialect.separator)
    start, delimiter = 0, ";"
    if line is not None and line.search(text):
        for match in _unquoted_pattern(line.pattern, dialect.name).finditer(text):
            if match.lastgroup == "found" and not _divides(text, dialect, start, match.start()):
                yield start, match.start(), delimiter
                start = match.end()
                if dialect.separator is Separator.DELIMITER:
                    delimiter = match.group().split()[1]
    yield start, len(text), delimiter


def _divides(text: str, dialect: Dialect, start: int, end: int) -> bool:
    """Whether a slash on a line of its own stands inside a statement of a block: then it ends nothing."""
    if dialect.separator is not Separator.SLASH or text[start:end].rstrip().endswith(";"):
        return False
    if not _OPENS_BLOCK.search(text, start, end):
        return False
    last = ""
    for token in tokens(text, dialect, start, end):
        last = token.text
    return last != ";"


def _ends(text: str, dialect: Dialect, span: tuple[int, int], delimiter: str) -> Iterator[int]:
    start, end = span
    if text.find(delimiter, start, end) < 0:
        return iter(())
    if dialect.declare_opens_script and _declares(text, dialect, start, end):
        return iter(())
    if delimiter == ";" and _OPENS_BLOCK.search(text, start, end):
        return statement_ends(text, dialect, start, end)
    pattern = _unquoted_pattern(re.escape(delimiter) + _GOES_ON.get(dialect.separator, ""), dialect.name)
    return (match.start() for match in pattern.finditer(text, start, end) if match.lastgroup == "found")


def _declares(text: str, dialect: Dialect, start: int, end: int) -> bool:
    first = next(tokens(text, dialect, start, end), None)
    return first is not None and first.text.lower() == "declare"


@lru_cache(maxsize=256)
def _unquoted_pattern(pattern: str, dialect: str) -> re.Pattern[str]:
    """Matches `pattern` as the group "found", and what is quoted as other groups."""
    return re.compile(f"(?P<found>(?im:{pattern}))|{lexicon_of(dialect).quoted.pattern}")
