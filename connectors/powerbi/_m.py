"""The grammar of Power Query's language (M), as far as lineage needs it: a text to a tree.

`let Source = Sql.Database(Server, "shop"), Orders = Source{[Schema="dbo",Item="orders"]}[Data] in Orders`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*"
    r"|#\"(?P<quoted>(?:[^\"]|\"\")*+)\"|\"(?P<text>(?:[^\"]|\"\")*+)\""
    r"|(?P<number>0[xX][0-9a-fA-F]+|\d++(?:\.\d++)?(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<word>[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+)"
    r"|(?P<sign>#[a-z]+|\.\.\.|\.\.|=>|<=|>=|<>|\?\?|[-+*/&=<>@!,;()\[\]{}?])"
)
_ESCAPE = re.compile(r"#\(([^()]*)\)")
_CHARACTERS: Mapping[str, str] = {"lf": "\n", "cr": "\r", "tab": "\t", "#": "#"}
_OPERATORS = frozenset({"+", "-", "*", "/", "&", "=", "<", ">", "<=", ">=", "<>", "??", "and", "or", "meta"})
_TYPED = frozenset({"as", "is"})
_DEEPEST_M = 80
_LARGEST = 1 << 20
_MOST_CODE = 0x110000


class NotPowerQuery(Exception):
    """A text that is none of M, or is cut."""


@dataclass(frozen=True, slots=True)
class _MToken:
    """A word, a sign, a name in quotes or a text, by its kind."""

    kind: str
    text: str


class Node:
    """A part of an expression."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TextValue(Node):
    """`"dbo"`."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """A number, a date, a type: what no name is made of."""

    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class NameOf(Node):
    """`Source`, `#"Changed Type"`, `Table.SelectRows`, `_`."""

    name: str


@dataclass(frozen=True, slots=True)
class CallValue(Node):
    """`function(arguments)`."""

    function: Node
    arguments: tuple[Node, ...]

    @property
    def name(self) -> str:
        """What is called, "" where that is no name."""
        return self.function.name if isinstance(self.function, NameOf) else ""


@dataclass(frozen=True, slots=True)
class FieldOf(Node):
    """`row[name]`; `row` None: `[name]`, of the row at hand."""

    row: Node | None
    name: str


@dataclass(frozen=True, slots=True)
class FieldsOf(Node):
    """`row[[a], [b]]`."""

    row: Node | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemOf(Node):
    """`table{selector}`."""

    table: Node
    selector: Node


@dataclass(frozen=True, slots=True)
class RecordValue(Node):
    """`[a = 1, b = 2]`."""

    fields: Mapping[str, Node]


@dataclass(frozen=True, slots=True)
class ListValue(Node):
    """`{1, 2}`."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Let(Node):
    """`let a = 1 in a`."""

    bindings: Mapping[str, Node]
    body: Node


@dataclass(frozen=True, slots=True)
class Choice(Node):
    """`if condition then value else if … else other`: the cases, and what is left."""

    cases: tuple[tuple[Node, Node], ...]
    other: Node


@dataclass(frozen=True, slots=True)
class FunctionValue(Node):
    """`(row) => body`; `each body` has the parameter `_`."""

    parameters: tuple[str, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """Operands with the signs between them."""

    signs: tuple[str, ...]
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class TryValue(Node):
    """`try one otherwise other`."""

    one: Node
    other: Node | None


def parse_m(text: str) -> Node:
    """The tree of an expression. Raises NotPowerQuery."""
    if len(text) > _LARGEST:
        raise NotPowerQuery
    reader = _MReader(list(_tokens(text)))
    found = reader.expression()
    reader.end()
    return found


def _tokens(text: str) -> Iterator[_MToken]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotPowerQuery
        at = match.end()
        if match[0] == "/*":
            at = text.find("*/", at) + 2
            if at < 2:
                raise NotPowerQuery
        kind = match.lastgroup
        if kind is not None:
            value = match[kind]
            yield _MToken(kind, _unescape(value.replace('""', '"')) if kind in ("text", "quoted") else value)


def _unescape(text: str) -> str:
    """`a#(lf)b` with the end of the line that is meant."""

    def meaning(match: re.Match[str]) -> str:
        found = [_character(part.strip()) for part in match[1].split(",")]
        return "".join(found) if all(found) else match[0]

    return _ESCAPE.sub(meaning, text) if "#(" in text else text


def _character(name: str) -> str:
    if name in _CHARACTERS:
        return _CHARACTERS[name]
    try:
        code = int(name, 16)
    except ValueError:
        return ""
    return chr(code) if 0 < code < _MOST_CODE else ""


@dataclass(slots=True)
class _MReader:
    """Tokens, and how far they are read."""

    tokens: list[_MToken]
    at: int = 0
    depth: int = 0

    def peek(self, ahead: int = 0) -> _MToken:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else _MToken("end", "")

    def take(self) -> _MToken:
        found = self.peek()
        self.at += 1
        return found

    def is_sign(self, *signs: str) -> bool:
        found = self.peek()
        return found.kind in ("sign", "word") and found.text in signs

    def take_sign(self, sign: str) -> bool:
        """Whether this stands here, which is taken then."""
        if self.is_sign(sign):
            self.at += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.take_sign(sign):
            raise NotPowerQuery

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise NotPowerQuery

    def expression(self) -> Node:
        """An expression, however far it goes."""
        self.depth += 1
        if self.depth > _DEEPEST_M:
            raise NotPowerQuery
        word = self.peek()
        begun = _BEGINNINGS.get(word.text) if word.kind == "word" else None
        if begun is not None:
            self.at += 1
            found = begun(self)
        elif self.is_sign("(") and self._is_function():
            found = self.function()
        else:
            found = self.operation()
        self.depth -= 1
        return found

    def let(self) -> Node:
        bindings: dict[str, Node] = {}
        while not self.is_sign("in"):
            name = self.name()
            self.expect("=")
            bindings[name] = self.expression()
            if not self.take_sign(","):
                break
        self.expect("in")
        return Let(bindings, self.expression())

    def choice(self) -> Node:
        cases: list[tuple[Node, Node]] = []
        while True:
            condition = self.expression()
            self.expect("then")
            cases.append((condition, self.expression()))
            self.expect("else")
            if not self.take_sign("if"):
                return Choice(tuple(cases), self.expression())

    def each(self) -> Node:
        return FunctionValue(("_",), self.expression())

    def attempt(self) -> Node:
        one = self.expression()
        if self.take_sign("otherwise") or self.take_sign("catch"):
            return TryValue(one, self.expression())
        return TryValue(one, None)

    def error(self) -> Node:
        self.expression()
        return Constant()

    def name(self) -> str:
        """A name, which in a record or a list of fields may be of several words."""
        found = self.take()
        if found.kind == "quoted":
            return found.text
        if found.kind not in ("word", "number"):
            raise NotPowerQuery
        words = [found.text]
        while self.peek().kind in ("word", "number") and not self.is_sign("in"):
            words.append(self.take().text)
        return " ".join(words)

    def _is_function(self) -> bool:
        """Whether a parenthesis holds parameters: `=>` stands behind it, or `as` and then that."""
        depth = 0
        for at in range(self.at, len(self.tokens)):
            token = self.tokens[at]
            if token.kind != "sign":
                continue
            depth += (token.text in "([{") - (token.text in ")]}")
            if depth == 0:
                behind = [one.text for one in self.tokens[at + 1 : at + 5]]
                return behind[:1] == ["=>"] or (behind[:1] == ["as"] and "=>" in behind)
            if token.text in ("{", "=>") or at - self.at > _MOST_PARAMETERS:
                return False
        return False

    def function(self) -> Node:
        self.expect("(")
        parameters: list[str] = []
        while not self.is_sign(")"):
            self.take_sign("optional")
            found = self.take()
            if found.kind not in ("word", "quoted"):
                raise NotPowerQuery
            parameters.append(found.text)
            if self.take_sign("as"):
                self.type()
            if not self.take_sign(","):
                break
        self.expect(")")
        if self.take_sign("as"):
            self.type()
        self.expect("=>")
        return FunctionValue(tuple(parameters), self.expression())

    def operation(self) -> Node:
        operands, signs = [self.unary()], []
        while True:
            if self.is_sign(*_OPERATORS):
                signs.append(self.take().text)
                operands.append(self.unary())
            elif self.is_sign(*_TYPED):
                self.at += 1
                self.type()
            else:
                return operands[0] if not signs else Operation(tuple(signs), tuple(operands))

    def unary(self) -> Node:
        while self.is_sign("-", "+", "not"):
            self.at += 1
        word = self.peek()
        if word.kind == "word" and word.text in _BEGINNINGS:
            return self.expression()
        if self.is_sign("(") and self._is_function():
            return self.expression()
        return self.postfix(self.primary())

    def primary(self) -> Node:
        found = self.take()
        if found.kind == "text":
            return TextValue(found.text)
        if found.kind == "number":
            return Constant(found.text)
        if found.kind == "quoted":
            return NameOf(found.text)
        if found.kind == "word":
            if found.text == "type":
                self.type()
                return Constant()
            return Constant() if found.text in ("null", "true", "false") else NameOf(found.text)
        return self._sign(found)

    def _sign(self, found: _MToken) -> Node:
        if found.text == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if found.text == "{":
            return ListValue(self.items("}"))
        if found.text == "[":
            inner = self.bracket(None)
            self.take_sign("?")
            return inner
        if found.text == "@":
            return NameOf(self.take().text)
        if found.text.startswith("#"):
            return NameOf(found.text)
        if found.text == "...":
            return Constant()
        raise NotPowerQuery

    def items(self, closing: str) -> tuple[Node, ...]:
        found: list[Node] = []
        while not self.is_sign(closing):
            found.append(self.expression())
            if self.take_sign(".."):
                self.expression()
                found[-1] = Constant()
            if not self.take_sign(","):
                break
        self.expect(closing)
        return tuple(found)

    def bracket(self, row: Node | None) -> Node:
        """What stands in brackets: a field, several of them, or a record."""
        if self.is_sign("[") or (self.is_sign("]") and row is not None):
            names: list[str] = []
            while self.take_sign("["):
                names.append(self.name())
                self.expect("]")
                self.take_sign(",")
            self.expect("]")
            return FieldsOf(row, tuple(names))
        fields: dict[str, Node] = {}
        while not self.is_sign("]"):
            name = self._field_name()
            if not self.take_sign("="):
                self.expect("]")
                return FieldOf(row, name)
            fields[name] = self.expression()
            if not self.take_sign(","):
                break
        self.expect("]")
        return RecordValue(fields)

    def _field_name(self) -> str:
        """A name in brackets, of as many words as it has: `[Order Date]`."""
        words: list[str] = []
        while not self.is_sign("=", "]", ",") and self.peek().kind != "end":
            words.append(self.take().text)
        if not words:
            raise NotPowerQuery
        return " ".join(words)

    def postfix(self, found: Node) -> Node:
        count = 0
        while self.is_sign("(", "[", "{"):
            count += 1
            if count > _DEEPEST_M:
                raise NotPowerQuery
            sign = self.take().text
            if sign == "(":
                found = CallValue(found, self.items(")"))
            elif sign == "[":
                found = self.bracket(found)
            else:
                inner = self.items("}")
                found = ItemOf(found, inner[0] if inner else Constant())
            self.take_sign("?")
        return found

    def type(self) -> None:
        """A type, of which nothing is wanted."""
        while True:
            while self.is_sign("nullable", "table", "type", "function"):
                self.at += 1
            if self.peek().kind in ("word", "quoted") and not self.is_sign("then", "else", "in", "otherwise"):
                self.take()
            if self.is_sign("(", "[", "{"):
                self._skip_brackets()
            if not self.take_sign("as"):
                return

    def _skip_brackets(self) -> None:
        depth = 0
        while True:
            token = self.take()
            if token.kind == "end":
                raise NotPowerQuery
            if token.kind == "sign":
                depth += (token.text in "([{") - (token.text in ")]}")
            if depth == 0:
                return


_MOST_PARAMETERS = 200
"""Tokens within which the parameters of a function end."""
_BEGINNINGS: Mapping[str, Callable[[_MReader], Node]] = {
    "let": _MReader.let,
    "if": _MReader.choice,
    "each": _MReader.each,
    "try": _MReader.attempt,
    "error": _MReader.error,
}
