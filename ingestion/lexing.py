"""Where strings, names and comments begin and end in each dialect: one compiled regex per dialect and use.

Every repeat is possessive and every opening that never closes takes the rest of the text, so that no input,
however broken, costs more than a constant number of passes over it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ingestion.dialect_rules import DollarQuotes
from ingestion.dialects import Dialect, dialect_of
from ingestion.errors import Unparsable

_COMMENT_DEPTH = 5
_CLOSING = {"[": "]"}

# What the scanning patterns call their groups.
HINT, COMMENT, STRING, DOLLAR, NAME, NUMBER, OPEN = ("hint", "comment", "string", "dollar", "name", "number", "open")
WORD, PUNCTUATION = "word", "punctuation"


class Token(NamedTuple):
    """A piece of a statement: its kind (the group names above), its text as written, and where it starts."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A dialect's compiled patterns.

    `quoted` matches comments, strings and quoted names, and an opening that never closes; `literals` numbers too;
    `tokens` every token; `words` the words and single characters of a text from which the rest is gone.
    """

    dialect: Dialect
    quoted: re.Pattern[str]
    literals: re.Pattern[str]
    tokens: re.Pattern[str]
    words: re.Pattern[str]


def keywords(spaced: str) -> frozenset[str]:
    """The lower-case words of a text as a set."""
    return frozenset(spaced.split())


def lexicon_of(dialect: Dialect | str) -> Lexicon:
    """The patterns of a dialect; raises ConfigError when there is no such dialect."""
    return _lexicon(dialect if isinstance(dialect, str) else dialect.name)


def tokens(text: str, dialect: Dialect | str, start: int = 0, end: int = sys.maxsize) -> Iterator[Token]:
    """The tokens of `text` between `start` and `end`, without whitespace and comments (hints are comments here)."""
    for match in lexicon_of(dialect).tokens.finditer(text, start, end):
        kind = match.lastgroup
        if kind is not None and kind != COMMENT and kind != HINT:
            yield Token(kind, match.group(), match.start())


def blank(text: str, dialect: Dialect | str) -> str:
    """`text` with a space for each comment, string and quoted name; raises Unparsable where one never ends."""

    def replacement(match: re.Match[str]) -> str:
        if match.lastgroup == OPEN:
            raise unterminated(match)
        return " "

    return lexicon_of(dialect).quoted.sub(replacement, text)


def unterminated(match: re.Match[str]) -> Unparsable:
    """The error that names what was opened at `match` and never closed, and its line."""
    opening = match.group()[:2]
    what = "comment" if opening == "/*" else "dollar-quoted string" if opening[0] == "$" else f"quote {opening[0]}"
    return Unparsable(f"unterminated {what} opened in line {match.string.count(chr(10), 0, match.start()) + 1}")


def ill_formed(text: str, dialect: Dialect | str) -> str | None:
    """Why no parser should be given `text`: a quote or comment that never ends, unbalanced parentheses; or None."""
    try:
        return unbalanced(blank(text, dialect))
    except Unparsable as problem:
        return str(problem)


def unbalanced(blanked: str) -> str | None:
    """Says so when the parentheses of a text without strings, names and comments do not pair."""
    opened, closed = blanked.count("("), blanked.count(")")
    if opened != closed:
        return f"unbalanced parentheses: {opened} opened, {closed} closed"
    if opened and blanked.find(")") < blanked.find("("):
        return "unbalanced parentheses: closed before opened"
    depth = 0
    for piece in blanked.split(")")[:-1] if opened else ():
        depth += piece.count("(") - 1
        if depth < 0:
            return "unbalanced parentheses: closed before opened"
    return None


@cache
def _lexicon(name: str) -> Lexicon:
    dialect = dialect_of(name)
    quoted = "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in (
            (HINT, rf"(?=/\*\+){_block_comment(dialect)}"),
            (COMMENT, _comment(dialect)),
            (STRING, _string(dialect)),
            (DOLLAR, _dollar(dialect)),
            (NAME, _quoted_name(dialect)),
            (OPEN, _opening(dialect)),
        )
        if pattern
    )
    characters = rf"\w{re.escape(dialect.name_characters)}"
    literals = rf"{quoted}|(?P<{NUMBER}>{_number(dialect)})"
    start = rf"\s++|{literals}|(?P<{WORD}>[{characters}]++)|(?P<{PUNCTUATION}>[\s\S])"
    return Lexicon(
        dialect,
        re.compile(quoted),
        re.compile(literals),
        re.compile(start),
        re.compile(rf"[{characters}]+|[^\s{characters}]"),
    )


def _block_comment(dialect: Dialect) -> str:
    pattern = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
    if dialect.nested_comments:
        inner = ""
        for _ in range(_COMMENT_DEPTH):
            inner = rf"|/\*(?:[^*/]++|\*(?!/)|/(?!\*){inner})*+\*/"
        pattern = inner[1:]
    return pattern


def _comment(dialect: Dialect) -> str:
    dashes = r"--(?=\s|\Z)" if dialect.dashes_need_space else "--"
    starts = [dashes]
    if dialect.hash_comments:
        starts.append("#")
    if dialect.slash_comments:
        starts.append("//")
    return rf"{_block_comment(dialect)}|(?:{'|'.join(starts)})[^\r\n]*+"


def _string(dialect: Dialect) -> str:
    """Prefixed forms look back from the quote, so that every alternative starts with a quote."""
    kinds = []
    if dialect.triple_quotes:
        kinds += [rf"{q * 3}[^{q}\\]*+(?:(?:\\[\s\S]|{q}(?!{q}{q}))[^{q}\\]*+)*+{q * 3}" for q in dialect.string_quotes]
    unprefixed = ""
    if dialect.q_quotes:
        prefix = r"(?<=[qQ]')(?<![^\WnN][qQ]')"
        pairs = "|".join(rf"\{opening}[\s\S]*?\{closing}'" for opening, closing in ("[]", "{}", "()", "<>"))
        kinds.append(rf"'{prefix}(?:{pairs}|(?P<q>[^\s\[{{(<])[\s\S]*?(?P=q)')")
        unprefixed += f"(?!{prefix})"
    if dialect.raw_strings and not dialect.raw_keeps_quotes:
        kinds += [rf"{q}(?<=[rR]{q})(?<![\w$][rR]{q})[^{q}]*+{q}" for q in dialect.string_quotes]
    if dialect.prefixed_escapes and not dialect.backslash_escapes:
        prefix = r"(?<=[eE]')(?<![\w$][eE]')"
        kinds.append(f"'{prefix}" + _body("'", True))
        unprefixed += f"(?!{prefix})"
    kinds += [q + unprefixed + _body(q, dialect.backslash_escapes) for q in dialect.string_quotes]
    return "|".join(kinds)


def _body(quote: str, backslash: bool) -> str:
    if backslash:
        return rf"[^{quote}\\]*+(?:(?:\\[\s\S]|{quote}{quote})[^{quote}\\]*+)*+{quote}"
    return rf"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+{quote}"


def _dollar(dialect: Dialect) -> str:
    if dialect.dollar_quotes is DollarQuotes.TAGGED:
        return r"\$(?<![\w$]\$)(?P<tag>(?:[^\W\d]\w*+)?+)\$[\s\S]*?\$(?P=tag)\$"
    return r"\$\$[\s\S]*?\$\$" if dialect.dollar_quotes is DollarQuotes.PLAIN else ""


def _quoted_name(dialect: Dialect) -> str:
    kinds = []
    for opening in dialect.name_quotes:
        closing = re.escape(_CLOSING.get(opening, opening))
        kinds.append(rf"{re.escape(opening)}[^{closing}]*+(?:{closing}{closing}[^{closing}]*+)*+{closing}")
    if dialect.stage_names:
        kinds.append(r'@(?:[\w$~%./=-]|"[^"\n]*")++')
    return "|".join(kinds)


def _opening(dialect: Dialect) -> str:
    quotes = re.escape(dialect.name_quotes + dialect.string_quotes)
    kinds = [f"[{quotes}]", r"/\*"]
    if dialect.dollar_quotes is DollarQuotes.TAGGED:
        kinds.append(r"\$(?<![\w$]\$)(?:[^\W\d]\w*+)?+\$")
    elif dialect.dollar_quotes is DollarQuotes.PLAIN:
        kinds.append(r"\$\$")
    return rf"(?:{'|'.join(kinds)})[\s\S]*+"


def _number(dialect: Dialect) -> str:
    """A digit after a letter, or after the dot of a path, belongs to a name (`t1`, `dataset.20240101`)."""
    not_in_name = r"(?<![\w$][0-9])(?<![\w\"`\]]\.[0-9])"
    if dialect.name == "bigquery":
        not_in_name += r"(?!(?<=\w-[0-9])[\w-]{0,60}+\.[A-Za-z_`])"  # project-123.dataset.table
    suffix = "(?:BD|bd|[LlSsYyDdFf])?+" if dialect.number_suffixes else ""
    amount = r"\$(?=[0-9])(?<![\w$]\$)" if dialect.dollar_amounts else ""
    rest = r"[0-9_]*+(?:\.(?:[0-9][0-9_]*+|(?![\w.])))?+(?:[eE][+-]?[0-9]++)?+"
    digits = rf"(?:(?<=0)[xX][0-9a-fA-F_]++|{rest}){suffix}(?![\w$])"
    fraction = rf"\.(?<![\w\"`\])]\.)[0-9]++(?:[eE][+-]?[0-9]++)?+{suffix}(?![\w$])"
    kinds = [rf"[0-9]{not_in_name}{digits}", fraction]
    if amount:
        kinds.append(rf"{amount}{rest}")
    return "|".join(kinds)
