"""Logs that are lines of text: cut into entries, of which their platform makes rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from connectors.platforms.index import TEXT_LOGS
from connectors.platforms.profile import Entry, TextLog
from connectors.query_log._interpreter import Malformed, Records
from connectors.query_log._streams import CUT_LINE_TEXT, LONGEST_LINE, TOO_LARGE

_BLOCK_ROWS = 5_000
_LOOKED_AT = 200
"""Lines of a file among which one must begin an entry."""

_HEADER = re.compile(r"[\w@ .\"']+(?:[,;\t|][\w@ .\"'()]+)+")
NO_BEGIN = "lines before the first entry of the log"


def text_log_of(text: str) -> TextLog | None:
    """Whose log begins so: that of which the most lines begin an entry, and the first one does or very many.

    A table that has such lines in a column begins with the names of its columns.
    """
    lines = [line for line in text.split("\n", _LOOKED_AT)[:_LOOKED_AT] if line.strip()]
    if not lines or _HEADER.fullmatch(lines[0].strip()):
        return None
    logs = [log for log in TEXT_LOGS if log.needs is None or log.needs.search(text) is not None]
    begins = [
        [bool(log.begins.match(line)) for line in lines if log.begins.match(line) or not _is_banner(line, log)]
        for log in logs
    ]
    most = max(range(len(logs)), key=lambda at: (sum(begins[at]), -at))
    found = begins[most]
    return logs[most] if found and (found[0] or sum(found) > max(2, len(found) // 5)) else None


def _is_banner(line: str, log: TextLog) -> bool:
    return log.banner is not None and log.banner.match(line) is not None


def text_log_records(
    log: TextLog, lines: Iterable[tuple[int, str]], bad: list[Malformed], breaks_off: Callable[[], bool]
) -> Iterator[Records]:
    """The rows of a log's entries, in blocks; `bad` is given what cannot be read.

    Where the lines end because the file `breaks_off`, the last entry may be a part of one, and is none.
    """
    found = Records()
    for number, row in log.rows(_entries(log, lines, bad, breaks_off)):
        found.rows.append(row)
        found.lines.append(number)
        if len(found.rows) >= _BLOCK_ROWS:
            yield found
            found = Records()
    yield found


def _entries(
    log: TextLog, lines: Iterable[tuple[int, str]], bad: list[Malformed], breaks_off: Callable[[], bool]
) -> Iterator[Entry]:
    first, held, size = 0, list[str](), 0
    for number, line in lines:
        begins = log.begins.match(line) is not None
        if not begins and _is_banner(line, log):
            continue
        if begins:
            if held:
                yield first, "".join(held)
            first, held, size = number, [], 0
        elif not held:
            if line.strip() and not (bad and bad[-1].line == first):
                first = number
                bad.append(Malformed(number, NO_BEGIN))
            continue
        size += len(line)
        if line.endswith(CUT_LINE_TEXT) or size > LONGEST_LINE:
            bad.append(Malformed(first, TOO_LARGE))
            held, first = [], first
            continue
        held.append(line)
    if held and not breaks_off():
        yield first, "".join(held)
