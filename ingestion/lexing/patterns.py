"""The regular expressions of a dialect's strings, names, comments and numbers, built from its rules.

A pattern for several kinds consumes the first character of any of them as one class and looks back at it in each
alternative: the regex engine skips to such a character many times faster than it tries the alternatives everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from ingestion.dialects.definition import Dialect, DollarQuotes

HINT, COMMENT, STRING, DOLLAR, NAME, OPEN, NUMBER = ("hint", "comment", "string", "dollar", "name", "open", "number")
DIGITS = "digits"
"""Stands for numbers without those that begin with a dot; their group is NUMBER too."""
QUOTED = (HINT, COMMENT, STRING, DOLLAR, NAME, OPEN)

_COMMENT_DEPTH = 5
CLOSING = {"[": "]"}
_DIGIT = "0-9"
_CURRENCIES = "$\u00a2-\u00a5\u20a0-\u20bf"
_EXPONENT = r"(?:[eE][+-]?[0-9]++)?+(?:\.[0-9]++)*+"


class _Form(NamedTuple):
    """One way to write something: its first character (as a class has it), and the pattern of what follows."""

    first: str
    rest: str


def one_of(dialect: Dialect, kinds: tuple[str, ...]) -> str:
    """A pattern that matches any of `kinds`, as groups of their names, earlier ones first."""
    forms = {kind: tuple(_FORMS[kind](dialect)) for kind in kinds}
    firsts = "".join(dict.fromkeys(form.first for alternatives in forms.values() for form in alternatives))
    groups = (
        f"(?P<{NUMBER if kind == DIGITS else kind}>{'|'.join(f'(?<=[{first}]){rest}' for first, rest in alternatives)})"
        for kind, alternatives in forms.items()
        if alternatives
    )
    return f"[{firsts}](?:{'|'.join(groups)})"


def _hint(dialect: Dialect) -> Iterator[_Form]:
    yield _Form("/", r"(?=\*\+)" + _block_comment(dialect)[1:])


def _comment(dialect: Dialect) -> Iterator[_Form]:
    yield _Form("/", _block_comment(dialect)[1:])
    yield _Form(r"\-", (r"-(?=\s|\Z)" if dialect.dashes_need_space else "-") + r"[^\r\n]*+")
    if dialect.hash_comments:
        yield _Form("#", r"[^\r\n]*+")
    if dialect.slash_comments:
        yield _Form("/", r"(?:(?<=:/)/[^\s;'\"]*+|(?<!:/)/[^\r\n]*+)")  # file:///a/*.csv is a place, and ends there


def _block_comment(dialect: Dialect) -> str:
    pattern = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/"
    if dialect.nested_comments:
        inner = ""
        for _ in range(_COMMENT_DEPTH):
            inner = rf"|/\*(?:[^*/]++|\*(?!/)|/(?!\*){inner})*+\*/"
        pattern = inner[1:]
    return pattern


def _string(dialect: Dialect) -> Iterator[_Form]:
    """Prefixed forms look back from their quote."""
    if dialect.triple_quotes:
        for q in dialect.string_quotes:
            yield _Form(q, rf"{q * 2}[^{q}\\]*+(?:(?:\\[\s\S]|{q}(?!{q}{q}))[^{q}\\]*+)*+{q * 3}")
    unprefixed = ""
    if dialect.q_quotes:
        prefix = r"(?<=[qQ]')(?<![^\WnN][qQ]')"
        pairs = "|".join(rf"\{opening}[\s\S]*?\{closing}'" for opening, closing in ("[]", "{}", "()", "<>"))
        yield _Form("'", rf"{prefix}(?:{pairs}|(?P<q>[^\s\[{{(<])[\s\S]*?(?P=q)')")
        unprefixed += f"(?!{prefix})"
    if dialect.raw_strings and not dialect.raw_keeps_quotes:
        for q in dialect.string_quotes:
            yield _Form(q, rf"(?<=[rR]{q})(?<![\w$][rR]{q})[^{q}]*+{q}")
    if dialect.prefixed_escapes and not dialect.backslash_escapes:
        prefix = r"(?<=[eE]')(?<![\w$][eE]')"
        yield _Form("'", prefix + _body("'", backslash=True))
        unprefixed += f"(?!{prefix})"
    for q in dialect.string_quotes:
        yield _Form(q, unprefixed + _body(q, backslash=dialect.backslash_escapes))


def _body(quote: str, *, backslash: bool) -> str:
    if backslash:
        return rf"[^{quote}\\]*+(?:(?:\\[\s\S]|{quote}{quote})[^{quote}\\]*+)*+{quote}"
    return rf"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+{quote}"


def _dollar(dialect: Dialect) -> Iterator[_Form]:
    if dialect.dollar_quotes is DollarQuotes.TAGGED:
        yield _Form("$", r"(?<![\w$]\$)(?P<tag>(?:[^\W\d]\w*+)?+)\$[\s\S]*?\$(?P=tag)\$")
    elif dialect.dollar_quotes is DollarQuotes.PLAIN:
        yield _Form("$", r"\$[\s\S]*?\$\$")


def _name(dialect: Dialect) -> Iterator[_Form]:
    for opening in dialect.name_quotes:
        closing = re.escape(CLOSING.get(opening, opening))
        yield _Form(re.escape(opening), rf"[^{closing}]*+(?:{closing}{closing}[^{closing}]*+)*+{closing}")
    if dialect.stage_names:
        yield _Form("@", r'(?:[\w$~%./=-]|"[^"\n]*")++')


def _open(dialect: Dialect) -> Iterator[_Form]:
    for quote in dialect.name_quotes + dialect.string_quotes:
        yield _Form(re.escape(quote), r"[\s\S]*+")
    yield _Form("/", r"\*[\s\S]*+")
    if dialect.dollar_quotes is DollarQuotes.TAGGED:
        yield _Form("$", r"(?<![\w$]\$)(?:[^\W\d]\w*+)?+\$[\s\S]*+")
    elif dialect.dollar_quotes is DollarQuotes.PLAIN:
        yield _Form("$", r"\$[\s\S]*+")


def _digits(dialect: Dialect) -> Iterator[_Form]:
    """A digit after a letter, or after the dot of a path, belongs to a name (`t1`, `dataset.20240101`)."""
    not_in_name = rf"(?<![\w{re.escape(dialect.name_characters)}][0-9])(?<![\w{_closing(dialect)}]\.[0-9])"
    if dialect.dashed_names:
        not_in_name += r"(?!(?<=\w-[0-9])[\w-]{0,60}+\.[A-Za-z_`])"  # project-123.dataset.table
    rest = rf"[0-9_]*+(?:\.(?:[0-9][0-9_]*+|(?![\w.])))*+{_EXPONENT}"
    yield _Form(_DIGIT, rf"{not_in_name}(?:(?<=0)[xX][0-9a-fA-F_]++|{rest}){_suffix(dialect)}(?![\w$])")
    if dialect.dollar_amounts:  # a sign may follow the currency's, and a currency alone is nought
        amount = rf"[-+]?+(?:(?=[0-9]){rest}|\.[0-9]++)|(?![\w$#@({{.])"
        yield _Form(_CURRENCIES, rf"(?<![\w$#@][{_CURRENCIES}])(?:{amount})")


def _number(dialect: Dialect) -> Iterator[_Form]:
    yield from _digits(dialect)
    before = rf"(?<![\w{_closing(dialect)})\]]\.)"
    yield _Form(".", rf"{before}[0-9]++(?:\.[0-9]++)*+{_EXPONENT}{_suffix(dialect)}(?![\w$])")


def _closing(dialect: Dialect) -> str:
    """What may end a quoted name, for a character class."""
    return "".join(re.escape(CLOSING.get(opening, opening)) for opening in dialect.name_quotes)


def _suffix(dialect: Dialect) -> str:
    return "(?:BD|bd|[LlSsYyDdFf])?+" if dialect.number_suffixes else ""


_FORMS: Mapping[str, Callable[[Dialect], Iterator[_Form]]] = {
    HINT: _hint,
    COMMENT: _comment,
    STRING: _string,
    DOLLAR: _dollar,
    NAME: _name,
    OPEN: _open,
    NUMBER: _number,
    DIGITS: _digits,
}
