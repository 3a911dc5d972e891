"""The text of a search as people and clients write it: words, `field:value`, AND, OR, NOT, brackets, quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, func, not_, or_, true

from connectors.catalog.contract.errors import bad_request
from connectors.catalog.store.schema import entities
from connectors.catalog.store.search import fields

_MAX_WORDS, _MAX_NESTING = 64, 20
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<open>\() | (?P<close>\))
      | (?P<field>[A-Za-z_][\w.]*):(?=\S)
      | "(?P<quoted>(?:[^"\\]|\\.)*)"
      | (?P<word>(?:\\.|[^\s()"])+)
    )""",
    re.VERBOSE,
)
_SAME = ("OR", "||")


@dataclass(frozen=True, slots=True)
class _QueryToken:
    """A piece of a query: its kind (a group of the pattern) and its text."""

    kind: str
    text: str


def condition(text: str, names: Sequence[str] = ()) -> ColumnElement[bool]:
    """What a query's text means; words without a field are sought in `names`, or in all of a fully qualified name.

    Raises ApiError (400) for a text that is too long, or nested too deeply.
    """
    tokens = [_QueryToken(str(match.lastgroup), match[str(match.lastgroup)]) for match in _TOKEN.finditer(text)]
    if len(tokens) > _MAX_WORDS:
        raise bad_request(f"q has more than {_MAX_WORDS} words")
    return _QueryReader(tokens, names).whole()


class _QueryReader:
    """Reads tokens from the left; what cannot be right is left out, as a search engine does."""

    def __init__(self, tokens: Sequence[_QueryToken], names: Sequence[str]) -> None:
        self._tokens = list(reversed(tokens))
        self._names = names

    def whole(self) -> ColumnElement[bool]:
        """All of the text."""
        found = [self._any(0)]
        while self._tokens:
            self._tokens.pop()  # a bracket that nothing opened
            found.append(self._any(0))
        return and_(true(), *found)

    def _any(self, depth: int) -> ColumnElement[bool]:
        if depth > _MAX_NESTING:
            raise bad_request("q is nested too deeply")
        options = [self._all(depth)]
        while self._tokens and self._is_word(*_SAME):
            self._tokens.pop()
            options.append(self._all(depth))
        return options[0] if len(options) == 1 else or_(*options)

    def _all(self, depth: int) -> ColumnElement[bool]:
        found: list[ColumnElement[bool]] = []
        while self._tokens and self._tokens[-1].kind != "close" and not self._is_word(*_SAME):
            if self._is_word("AND", "&&"):
                self._tokens.pop()
            elif (one := self._one(depth)) is not None:
                found.append(one)
        return and_(true(), *found)

    def _one(self, depth: int) -> ColumnElement[bool] | None:
        token = self._tokens.pop()
        if token.kind == "word" and token.text in {"NOT", "!"}:
            inner = self._one(depth) if self._tokens and self._tokens[-1].kind != "close" else None
            return None if inner is None else not_(func.coalesce(inner, False))
        if token.kind == "open":
            inner = self._any(depth + 1)
            if self._tokens:
                self._tokens.pop()
            return inner
        if token.kind == "field":
            return self._of_field(token.text)
        return self._word(token)

    def _of_field(self, name: str) -> ColumnElement[bool] | None:
        if not self._tokens or self._tokens[-1].kind not in {"word", "quoted"}:
            return None
        token = self._tokens.pop()
        if token.kind == "quoted":
            return fields.is_one_of(name, [_unescape(token.text)])
        return fields.exists(name) if token.text == "*" else fields.matches(name, token.text)

    def _word(self, token: _QueryToken) -> ColumnElement[bool] | None:
        word = token.text.casefold()
        if token.kind == "word":
            word = word.removeprefix("+").replace("*", " ").strip()
        parts = [_unescape(part) for part in word.split()] if token.kind == "word" else [_unescape(word)]
        if not any(parts):
            return None
        if not self._names:
            return and_(true(), *(func.instr(entities.c.fqn_folded, part) > 0 for part in parts))
        return or_(*(and_(*(fields.contains(name, part) for part in parts)) for name in self._names))

    def _is_word(self, *words: str) -> bool:
        token = self._tokens[-1]
        return token.kind == "word" and token.text in words


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
