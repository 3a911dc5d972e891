"""Bodies in another language than SQL: the whole texts of SQL that their programs run.

Of `snowflake.execute({sqlText: "INSERT INTO t SELECT a FROM s"})` the INSERT is a statement of the routine's. A text
that is put together of others, as `"INSERT INTO " + name` is, is known when it runs and not before.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from ingestion.dialects import Dialect
from ingestion.dialects.host_languages import (
    HOST_LANGUAGES,
    KEEPS_TEXT,
    PREPARES_TEXT,
    RUNS_TEXT,
    TEXT_KEY,
    HostLanguage,
)
from ingestion.model.outcomes import Outcome
from ingestion.statements.routines._reader import read_steps
from ingestion.statements.routines.steps import RoutineStep, Variables, without_repetition

# The tokens of a program, as far as its texts need them.

_WORD, _TEXT, _FILLED, _SIGN = "word", "text", "filled", "sign"
_ESCAPE = re.compile(r"\\(\r?\n|[\s\S])")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\n": "", "\r\n": ""}
_BEFORE_PATTERN = frozenset("(,=:[!&|?{};+-*%<>~^")
_RAW = re.compile(r"[rR]|raw")


class _Token(NamedTuple):
    """`text` is a word or a sign as it is written, and the content of a text. `begins`: it is the first of a line."""

    kind: str
    text: str
    begins: bool


@cache
def _pattern(language: HostLanguage) -> re.Pattern[str]:
    forms = [rf"(?P<comment>{language.comments})"]
    for number, quote in enumerate(language.quotes):
        one = quote[0]
        single = rf"|{one}(?!{quote[1:]})" if quote[1:] else ""
        prefix = rf"(?<![\w$])(?P<prefix{number}>[{language.prefixes or ' '}]{{1,3}})"
        forms.append(rf"(?:{prefix})?+{quote}(?P<body{number}>(?:[^\\{one}]++|\\[\s\S]{single})*+){quote}")
    return re.compile(rf"\s++|{'|'.join(forms)}|(?P<word>[\w$]++)|(?P<sign>[\s\S])")


def _tokens(text: str, language: HostLanguage) -> tuple[_Token, ...]:
    found: list[_Token] = []
    position, begins = 0, True
    while (match := _pattern(language).match(text, position)) is not None:
        start, position = position, match.end()
        token: tuple[str, str] | None = None
        sign = match["sign"]
        if sign and sign == language.template:
            content, position = _template(text, position, language)
            token = (_FILLED, "") if content is None else (_TEXT, _unescape(content))
        elif sign == "/" and language.patterns and _begins_pattern(found):
            position = _pattern_end(text, position)
            token = _FILLED, ""
        elif sign or match["word"]:
            token = (_SIGN, sign) if sign else (_WORD, match["word"])
        elif match.lastgroup and match.lastgroup.startswith("body"):
            token = _text_token(match, language)
        if token is None:
            begins = begins or "\n" in text[start:position]
        else:
            found.append(_Token(*token, begins))
            begins = False
    return tuple(found)


def _begins_pattern(before: Sequence[_Token]) -> bool:
    """Whether a slash begins a regular expression, and does not divide what stands before it."""
    last = before[-1] if before else _Token(_SIGN, "(", begins=True)
    return last.text in _BEFORE_PATTERN if last.kind == _SIGN else last == (_WORD, "return", last.begins)


def _text_token(match: re.Match[str], language: HostLanguage) -> tuple[str, str]:
    number = (match.lastgroup or "").removeprefix("body")
    prefix, content = match[f"prefix{number}"] or "", match[f"body{number}"]
    if re.match(language.filled, f"{prefix}{language.quotes[int(number)][0]}{content}"):
        return _FILLED, ""
    return _TEXT, content if _RAW.search(prefix) else _unescape(content)


def _unescape(content: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), content)


def _template(text: str, position: int, language: HostLanguage) -> tuple[str | None, int]:
    """The content of a template that begins at `position`, None where values fill it, and where it ends."""
    start, filled = position, False
    while position < len(text) and text[position] != language.template:
        if text.startswith("${", position):
            filled, position = True, _filling_end(text, position + 2, language)
        else:
            position += 2 if text[position] == "\\" else 1
    return None if filled else text[start:position], position + 1


def _filling_end(text: str, position: int, language: HostLanguage) -> int:
    """Behind the brace that ends what fills a template, which may have templates in it."""
    depth = 1
    while position < len(text) and depth:
        match = _pattern(language).match(text, position)
        sign = match["sign"] if match else ""
        position = match.end() if match else len(text)
        depth += {"{": 1, "}": -1}.get(sign or "", 0)
        if sign == language.template:
            position = _template(text, position, language)[1]
    return position


def _pattern_end(text: str, position: int) -> int:
    """Behind a regular expression between slashes."""
    in_class = False
    while position < len(text) and text[position] != "\n":
        character = text[position]
        if character == "/" and not in_class:
            return position + 1
        in_class = (in_class or character == "[") and character != "]"
        position += 2 if character == "\\" else 1
    return position


# What a program's names stand for, and what it runs.

_ENDS = frozenset(",;)}]:")
_GOES_ON = frozenset({"if", "or", "and", "in", "for", "format", "else"})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_NOTHING = frozenset({"null", "None", "undefined", "Nil"})
_FUNCTIONS = frozenset({"function", "def"})
_EVIDENT = re.compile(
    r"\s*+(?:insert\s+(?:into|overwrite)\b[\s\S]+\bselect\b|merge\s+into\b(?>[\s\S]+?\busing\b)[\s\S]+\bwhen\b"
    r"|update\s+\S+(?:\s+(?:as\s+)?\w+)?\s+set\s+\S+\s*="
    r"|create\b(?>[\s\S]+?\b(?:table|view)\b)(?>[\s\S]+?\bas\b)[\s\S]*\bselect\b"
    r"|copy\s+into\b[\s\S]+\bfrom\s*[@('])",
    re.IGNORECASE,
)
"""What is a statement though nobody sees it run: one of a list that a loop goes through, and no message."""


@dataclass(slots=True)
class _Texts:
    """The whole texts that a name is given, and whether it is given anything else."""

    whole: list[str] = field(default_factory=list)
    other: bool = False


class _HostValue(NamedTuple):
    """A whole text, None for any other value, and the index behind it."""

    text: str | None
    end: int


@dataclass(slots=True)
class _Program:
    """A program's tokens.

    `names`: what they are given; `prepared`: those that hold a statement that was prepared; `runs`: functions that run
    the text which is their argument of that number; `passed`: where such a function of the program's own hands its
    argument on; `used`: the texts that were read; `closings`: where each bracket closes that does;
    `keys`: where TEXT_KEY stands.
    """

    tokens: Sequence[_Token]
    names: dict[str, _Texts] = field(default_factory=dict)
    prepared: set[str] = field(default_factory=set)
    runs: dict[str, int] = field(default_factory=lambda: dict.fromkeys(RUNS_TEXT, 0))
    passed: set[int] = field(default_factory=set)
    used: set[int] = field(default_factory=set)
    closings: dict[int, int] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        opened: list[int] = []
        for index in range(len(self.tokens)):
            if self.sign(index) in _OPENING:
                opened.append(index)
            elif self.sign(index) in _CLOSING and opened:
                self.closings[opened.pop()] = index
            elif self.tokens[index].text == TEXT_KEY:
                self.keys.append(index)

    def sign(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) and self.tokens[index].kind == _SIGN else ""

    def word(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) and self.tokens[index].kind == _WORD else ""

    def kind(self, index: int) -> str:
        return self.tokens[index].kind if index < len(self.tokens) else ""

    def texts(self) -> Iterator[str | None]:
        """The texts that it runs, in order; None for one that is put together as it runs."""
        self._read_helpers()
        self._read_assignments()
        found: dict[int, list[str | None]] = {}
        for index in range(len(self.tokens)):
            if self.word(index) in self.runs and self.sign(index + 1) == "(" and self.word(index - 1) not in _FUNCTIONS:
                found[index] = list(self._run(index))
        for index in range(len(self.tokens)):
            if self.kind(index) == _TEXT and index not in self.used and self.sign(index - 1) not in ("+", "%"):
                value = self._value(index)
                if value.text is not None and _EVIDENT.match(value.text):
                    found.setdefault(index, []).append(value.text)
        for index in sorted(found):
            yield from found[index]

    def _value(self, index: int, *, enclosed: bool = True) -> _HostValue:
        """What stands at `index`: texts that are joined, in parentheses or not.

        In Python texts beside each other are one: over the end of a line where parentheses enclose them.
        """
        if self.sign(index) == "(":
            inner = self._value(index + 1)
            return self._unless_changed(inner.text if self.sign(inner.end) == ")" else None, inner.end + 1)
        if self.word(index) and self.sign(index + 1) == ".":
            return self._value(index + 2) if self.word(index + 2) in KEEPS_TEXT else _HostValue(None, index)
        if self.word(index) in KEEPS_TEXT and self.sign(index + 1) == "(":
            return self._value(index + 1)
        texts: list[str] = []
        while self.kind(index) == _TEXT and (enclosed or not texts or not self.tokens[index].begins):
            texts.append(self.tokens[index].text)
            self.used.add(index)
            index += 1
            while self.sign(index) == "+" and self.kind(index + 1) == _TEXT:
                texts.append(self.tokens[index + 1].text)
                self.used.add(index + 1)
                index += 2
        return self._unless_changed("".join(texts) if texts else None, index)

    def _unless_changed(self, text: str | None, index: int) -> _HostValue:
        """The value of a text, unless something is done with it that makes another one of it."""
        while self.sign(index) == "." and self.word(index + 1) in KEEPS_TEXT:
            index = self._closing(index + 2) + 1 if self.sign(index + 2) == "(" else index + 2
        sign = self.sign(index)
        goes_on = self.kind(index) == _FILLED or self.word(index) in _GOES_ON
        whole = index >= len(self.tokens) or (sign in _ENDS if sign else self.tokens[index].begins or not goes_on)
        return _HostValue(text if whole else None, index)

    def _closing(self, opening: int) -> int:
        return self.closings.get(opening, len(self.tokens))

    def _argument(self, opening: int, number: int) -> int | None:
        """Where an argument begins, by its number from 0, given where their parentheses open."""
        closing, index = self._closing(opening), opening + 1
        while index < closing and number:
            if self.sign(index) in _OPENING:
                index = self._closing(index)
            number -= self.sign(index) == ","
            index += 1
        if index >= closing:
            return None
        return index + 2 if self.word(index) and self.sign(index + 1) == "=" and self.sign(index + 2) != "=" else index

    def _of_object(self, opening: int) -> int | None:
        """Where the text stands in `{sqlText: …, binds: […]}`; a name alone is its own value."""
        behind = bisect(self.keys, opening)
        index = self.keys[behind] if behind < len(self.keys) else len(self.tokens)
        if index >= self._closing(opening):
            return None
        return index + 2 if self.sign(index + 1) == ":" else index

    def _run(self, index: int) -> Iterator[str | None]:
        """The texts that a call runs."""
        at = self._argument(index + 1, self.runs[self.word(index)])
        if at is not None and self.word(index - 2) not in self.prepared:
            yield from self._texts_at(at)

    def _texts_at(self, at: int) -> Iterator[str | None]:
        """The texts that a value may be, which stands at `at`."""
        inside = self._of_object(at) if self.sign(at) == "{" else at
        name = self.word(inside) if inside is not None else ""
        text = self._value(inside).text if inside is not None else None
        if text is not None or not name or inside is None or self._unless_changed("", inside + 1).text is None:
            yield text
        elif name not in self.prepared and inside not in self.passed:
            texts = self.names.get(name, _Texts(other=True))
            yield from texts.whole
            if texts.other:
                yield None

    def _read_assignments(self) -> None:
        for index in range(1, len(self.tokens)):
            if self.sign(index) != "=" or self.sign(index - 1) == "=" or self.sign(index + 1) in ("=", ">"):
                continue
            named = index - 1
            if self.sign(index - 2) == ":" and self.word(index - 3):  # name: type = value
                named = index - 3
            if self.sign(named) in ("+", ".", "|"):  # name += value
                self.names.setdefault(self.word(named - 1), _Texts()).other = True
            elif self.word(named):
                self._assign(self.word(named), index + 1)

    def _assign(self, name: str, at: int) -> None:
        if self.word(at) in _NOTHING:
            return
        if self._is_prepared(at):
            self.prepared.add(name)
            return
        texts = self.names.setdefault(name, _Texts())
        inside = self._of_object(at) if self.sign(at) == "{" else at
        value = None if inside is None else self._value(inside, enclosed=False).text
        if value is None:
            texts.other = True
        elif value:
            texts.whole.append(value)

    def _is_prepared(self, index: int) -> bool:
        """Whether a value is what a call gives that prepares a text: `snowflake.createStatement({…})`."""
        while self.word(index) and self.sign(index + 1) == ".":
            index += 2
        return self.word(index) in PREPARES_TEXT and self.sign(index + 1) == "("

    def _read_helpers(self) -> None:
        """Functions of the program's own that run a text which they are given: `function run(sql) { … }`."""
        name, parameters = "", list[str]()
        for index in range(len(self.tokens)):
            opening = self._head(index)
            if opening is not None:
                name, parameters = opening[0], self._parameters(opening[1])
            elif name and self.word(index) in RUNS_TEXT and self.sign(index + 1) == "(":
                at = self._argument(index + 1, 0)
                at = self._of_object(at) if at is not None and self.sign(at) == "{" else at
                if at is not None and self.word(at) in parameters and self.sign(at + 1) in _ENDS:
                    self.runs.setdefault(name, parameters.index(self.word(at)))
                    self.passed.add(at)

    def _head(self, index: int) -> tuple[str, int] | None:
        """A function's name and where its parameters open: `function f(`, `def f(`, `f = function(`, `f = (…) =>`."""
        if self.word(index) in _FUNCTIONS:
            if self.sign(index + 1) == "(":
                return (self.word(index - 2) if self.sign(index - 1) == "=" else "", index + 1)
            return (self.word(index + 1), index + 2) if self.sign(index + 2) == "(" else None
        if self.sign(index) == "=" and self.sign(index + 1) == "(":
            after = self._closing(index + 1) + 1
            if self.sign(after) == "=" and self.sign(after + 1) == ">":
                return self.word(index - 1), index + 1
        return None

    def _parameters(self, opening: int) -> list[str]:
        before = [opening, *(i for i in range(opening, self._closing(opening)) if self.sign(i) == ",")]
        return [self.word(index + 1) for index in before]


def host_steps(body: str, language: str, dialect: Dialect) -> tuple[RoutineStep, ...]:
    """What a body in another language runs: the statements of its whole texts, and that there is more, if there is."""
    rules = HOST_LANGUAGES.get(language)
    if rules is None or not body.strip():
        return (RoutineStep(problem=Outcome.OTHER_LANGUAGE),)
    steps: list[RoutineStep] = []
    for text in _Program(_tokens(body, rules)).texts():
        if text is None:
            steps.append(RoutineStep(problem=Outcome.DYNAMIC_SQL))
        else:
            steps += read_steps(text, dialect, Variables(), 1)
    if not rules.only_by_text:
        steps.append(RoutineStep(problem=Outcome.OTHER_LANGUAGE))
    return without_repetition(steps)
