"""Names and texts of others, written so that they stay data: no line, no fence, no markup and no direction of text
comes of them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ingestion.model.moments import Unseen
from ingestion.model.witnesses import Verdict

_PLAIN = re.compile(r"[\w.$#*-]+")
_FENCE = re.compile(r"`{3,}|~{3,}")
_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
SIGNS = ("~", "^")
"""Stand for the prefixes of the names of an answer."""
_LONGEST = 300
"""Characters of a text of others in a line, where not the whole is asked for."""
_LINE = 240
_SHORTEST_PREFIX, _LONGEST_PREFIX = 9, 120
_PARTS_ABOVE_TABLES = 3


class Name(str):
    """A name of the catalog, which an answer may shorten by its prefix."""

    __slots__ = ()


def visible_text(text: str) -> str:
    """The text in one line: what is not seen, or turns the direction, as an escape; nor does it open a fence."""
    shown = "".join(f"\\u{ord(one):04x}" if unicodedata.category(one) in _HIDDEN else one for one in text)
    return _FENCE.sub(lambda match: "".join(f"\\u{ord(one):04x}" for one in match.group()), shown)


def short_text(text: str, most: int = _LONGEST) -> str:
    """The visible text, cut after so many characters, which is told."""
    shown = visible_text(text)
    return shown if len(shown) <= most else f"{shown[:most]}… ({len(shown)} characters)"


def table_cell(text: str) -> str:
    """The text as a cell of a table in Markdown."""
    return visible_text(text).replace("|", "\\|")


def quoted_text(text: str) -> str:
    """The text in double quotes."""
    return visible_text(json.dumps(text, ensure_ascii=False)).replace("`", "\\u0060")


def _written_name(name: str) -> str:
    """A name as it is where it is made of letters, digits and dots; else in double quotes."""
    return name if _PLAIN.fullmatch(name) else quoted_text(name)


def text_lines(text: str) -> list[str]:
    """The lines of a text, safe to show, in parts of at most 240 characters; a line's later ones begin with `…`."""
    parts: list[str] = []
    for line in text.splitlines() or [""]:
        shown = visible_text(line)
        parts.append(shown[:_LINE])
        parts += [f"…{shown[start : start + _LINE]}" for start in range(_LINE, len(shown), _LINE)]
    return parts


def shared_prefixes(names: Iterable[str]) -> dict[str, str]:
    """The beginnings (with their dots) that are worth most to leave out, by the sign that stands for each."""
    counts = Counter(name for name in names if _PLAIN.fullmatch(name))
    found: dict[str, str] = {}
    for sign in SIGNS:
        worth: Counter[str] = Counter()
        for name, count in counts.items():
            if not name.startswith(tuple(found.values())):
                for prefix in _beginnings(name):
                    worth[prefix] += count * (len(prefix) - len(sign))
        shared = [(value, prefix) for prefix, value in worth.items() if value > 2 * len(prefix)]
        if shared:
            found[sign] = max(shared)[1]
    return found


def _beginnings(name: str) -> Iterator[str]:
    parts = name.split(".")
    for depth in range(1, _parts_to_leave_out(len(parts)) + 1):
        prefix = ".".join(parts[:depth]) + "."
        if _SHORTEST_PREFIX <= len(prefix) <= _LONGEST_PREFIX:
            yield prefix


def _parts_to_leave_out(parts: int) -> int:
    """At most the service, database and schema: a column says which table it is of."""
    return _PARTS_ABOVE_TABLES if parts > _PARTS_ABOVE_TABLES else parts - 2


def shorten_name(name: str, prefixes: Mapping[str, str]) -> str:
    """A name written with the sign of its prefix; one that has a sign in it of itself is quoted."""
    if _PLAIN.fullmatch(name):
        fitting = [(len(prefix), sign) for sign, prefix in prefixes.items() if name.startswith(prefix)]
        if fitting:
            length, sign = max(fitting)
            return sign + name[length:]
    return _written_name(name)


def code(name: str) -> str:
    """A name as code, which nothing in it can end or turn into markup."""
    plain = cell(name)
    fence = "`" * (1 + max((len(run) for run in _runs(plain)), default=0))
    return f"{fence} {plain} {fence}" if "`" in plain else f"{fence}{plain}{fence}"


def _runs(text: str) -> list[str]:
    return [run for run in "".join(c if c == "`" else " " for c in text).split() if run]


def cell(text: str) -> str:
    """A text in one line, which ends no cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def how_text(type_: str, subtype: str, *, masking: bool, certain: bool, unseen: Unseen | None = None) -> str:
    """How a source takes part, in words: `aggregation`, `filter`, the type without a subtype, `identity, masked`."""
    words = [(subtype or type_).lower().replace("_", " ")]
    if masking:
        words.append("masked")
    if not certain:
        words.append("not certain")
    if unseen is not None:
        words.append(str(unseen))
    return ", ".join(words)


def with_verdict(how: str, verdict: Verdict | None) -> str:
    """The same with who says so and who tells otherwise, where more than one witness speaks."""
    return how if verdict is None else f"{how}, {verdict}"


def bold(text: str) -> str:
    """The text as terminals show a heading; who prints it leaves the codes out where there is no terminal."""
    return f"\x1b[1m{text}\x1b[0m"


def dim(text: str) -> str:
    """The text as terminals show what is said beside."""
    return f"\x1b[2m{text}\x1b[0m"


def red(text: str) -> str:
    """The text as terminals show a warning."""
    return f"\x1b[31m{text}\x1b[0m"
