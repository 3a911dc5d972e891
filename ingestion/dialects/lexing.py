"""Where strings, names, comments and numbers begin and end in each dialect: one compiled regex per dialect and use."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ingestion.dialects import dialect_of
from ingestion.dialects.definition import Dialect, DollarQuotes
from ingestion.errors import Unparsable

# The regular expressions of a dialect's strings, names, comments and numbers, built from its rules.
#
# A pattern for several kinds consumes the first character of any of them as one class and looks back at it in each
# alternative: the regex engine skips to such a character many times faster than it tries the alternatives everywhere.

HINT, COMMENT, STRING, DOLLAR, NAME, OPEN, NUMBER = ("hint", "comment", "string", "dollar", "name", "open", "number")
DIGITS = "digits"
"""Stands for numbers without those that begin with a dot; their group is NUMBER too."""
QUOTED = (HINT, COMMENT, STRING, DOLLAR, NAME, OPEN)

_COMMENT_DEPTH = 5
CLOSING = {"[": "]"}
_DIGIT = "0-9"
_CURRENCIES = "$\u00a2-\u00a5\u20a0-\u20bf"
_EXPONENT = r"(?:[eE][+-]?[0-9]++)?+(?:\.[0-9]++)*+"

WORD, PUNCTUATION = "word", "punctuation"
PLACEHOLDER = "placeholder"
"""Of lexers that know what is bound when a statement runs; ours has a word, or a sign and a word."""

_PARENTHESIS = re.compile(r"[()]")
# ‘jane’: to every engine that takes it these are letters of a name, and nobody calls a column so.
_TYPOGRAPHIC_QUOTE = re.compile("(?<!\\w)[\u00ab\u00b4\u00bb\u2018-\u201f\u2032\u2033\u2039\u203a\uff02\uff07]")


class _Form(NamedTuple):
    """One way to write something: its first character (as a class has it), and the pattern of what follows."""

    first: str
    rest: str


def _one_of(dialect: Dialect, kinds: tuple[str, ...]) -> str:
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
    radix = rf"(?<=0)[{dialect.radix_prefixes}][0-9a-fA-F_]++"
    yield _Form(_DIGIT, rf"{not_in_name}(?:{radix}|{rest}){_suffix(dialect)}(?![\w$])")
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
    return f"(?:{dialect.number_suffixes})?+" if dialect.number_suffixes else ""


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


# A dialect's patterns compiled, and the tokens that they find.


class Token(NamedTuple):
    """A part of a statement: its kind (the group names above), its text as written, and where it starts."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A dialect's compiled patterns.

    `quoted` matches comments, strings and quoted names, and an opening that never closes; `literals` numbers too;
    `marks` the same literals, only faster: of `.5` just the digits; `tokens` every token; `words` the words and
    single characters of a text from which the rest is gone.
    """

    dialect: Dialect
    quoted: re.Pattern[str]
    literals: re.Pattern[str]
    marks: re.Pattern[str]
    tokens: re.Pattern[str]
    words: re.Pattern[str]


def lexicon_of(dialect: Dialect | str) -> Lexicon:
    """The patterns of a dialect; raises ConfigError when there is no such dialect."""
    return _lexicon(dialect if isinstance(dialect, str) else dialect.name)


def tokens(text: str, dialect: Dialect | str, start: int = 0, end: int = sys.maxsize) -> Iterator[Token]:
    """The tokens of `text` between `start` and `end`, without whitespace and comments (hints are comments here)."""
    for match in lexicon_of(dialect).tokens.finditer(text, start, end):
        kind = match.lastgroup
        if kind is not None and kind != COMMENT and kind != HINT:
            yield Token(kind, match.group(), match.start())


def _blank(text: str, dialect: Dialect | str) -> str:
    """`text` with a space for each comment, string and quoted name; raises Unparsable where one never ends."""

    def replacement(match: re.Match[str]) -> str:
        if match.lastgroup == OPEN:
            raise unterminated_error(match)
        return " "

    return lexicon_of(dialect).quoted.sub(replacement, text)


def unterminated_error(match: re.Match[str]) -> Unparsable:
    """The error that names what was opened at `match` and never closed, and its line."""
    opening = match.group()[:2]
    what = "comment" if opening == "/*" else "dollar-quoted string" if opening[0] == "$" else f"quote {opening[0]}"
    return Unparsable(f"unterminated {what} opened in line {match.string.count(chr(10), 0, match.start()) + 1}")


def ill_formed(text: str, dialect: Dialect | str) -> str | None:
    """Why no parser should be given `text`, such as a quote or comment that never ends; or None."""
    try:
        return problem_of_shape(_blank(text, dialect))
    except Unparsable as problem:
        return str(problem)


def typographic_quote(blanked: str) -> str | None:
    """Says so when a text of an office program's quotation marks stands where a literal was meant.

    To the lexers it is a name, and what a value holds would go wherever names go.
    """
    if blanked.isascii() or _TYPOGRAPHIC_QUOTE.search(blanked) is None:
        return None
    return "a typographic quotation mark stands for a quote"


def problem_of_shape(blanked: str) -> str | None:
    """Why a text without strings, names and comments is no statement, whatever its words say; or None."""
    return _unbalanced_parentheses(blanked) or typographic_quote(blanked)


def _unbalanced_parentheses(blanked: str) -> str | None:
    """Says so when the parentheses of a text without strings, names and comments do not pair."""
    opened, closed = blanked.count("("), blanked.count(")")
    if opened != closed:
        return f"unbalanced parentheses: {opened} opened, {closed} closed"
    if opened and blanked.find(")") < blanked.find("("):
        return "unbalanced parentheses: closed before opened"
    depth = 0
    for between in blanked.split(")")[:-1] if opened else ():
        depth += between.count("(") - 1
        if depth < 0:
            return "unbalanced parentheses: closed before opened"
    return None


@cache
def _lexicon(name: str) -> Lexicon:
    dialect = dialect_of(name)
    characters = rf"\w{re.escape(dialect.name_characters)}"
    literals = _one_of(dialect, (*QUOTED, NUMBER))
    return Lexicon(
        dialect,
        quoted=re.compile(_one_of(dialect, QUOTED)),
        literals=re.compile(literals),
        marks=re.compile(_one_of(dialect, (*QUOTED, DIGITS))),
        tokens=re.compile(rf"\s++|{literals}|(?P<{WORD}>[{characters}]++)|(?P<{PUNCTUATION}>[\s\S])"),
        words=re.compile(rf"[{characters}]+|[^\s{characters}]"),
    )


def deeper_than(limit: int, text: str) -> bool:
    """Whether parentheses stand open more than `limit` deep. Those in strings and comments count too."""
    if text.count("(") <= limit:
        return False
    depth = 0
    for found in _PARENTHESIS.finditer(text):
        depth += 1 if found.group() == "(" else -1
        if depth > limit:
            return True
    return False
