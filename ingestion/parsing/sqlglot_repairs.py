"""Texts that sqlglot refuses, written as it takes them: the lineage stays the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

_Edit = tuple[int, int, str]
_PHRASES = frozenset({"TITLE", "FORMAT", "CASESPECIFIC", "CS", "UPPERCASE", "COMPRESS"})


def repaired(text: str, dialect: str, grammar: SqlglotDialect) -> str | None:
    """The text without what sqlglot does not know of the dialect; None where there is nothing to mend."""
    try:
        tokens = grammar.tokenize(text)
    except SqlglotError:
        return None
    edits: list[_Edit] = []
    for repair in _REPAIRS.get(dialect, ()):
        edits += repair(text, tokens)
    edits += _compound_assignments(text, tokens)
    if not edits:
        return None
    for start, end, replacement in sorted(edits, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text


def _compound_assignments(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """SET a.b += c  is  SET a.b = a.b + c."""
    if not tokens or not any(token.token_type is TokenType.UPDATE for token in tokens):
        return
    for number in range(2, len(tokens) - 1):
        operator, equals = tokens[number], tokens[number + 1]
        if equals.token_type is not TokenType.EQ or operator.end + 1 != equals.start:
            continue
        if operator.text not in ("+", "-", "*", "/", "%", "&", "|", "^"):
            continue
        first = number - 1
        while first >= 2 and tokens[first - 1].text == ".":
            first -= 2
        column = text[tokens[first].start : tokens[number - 1].end + 1]
        yield operator.start, equals.end + 1, f"= {column} {operator.text}"


def _matching(tokens: list[Token], opening: int) -> int:
    depth = 0
    for number in range(opening, len(tokens)):
        if tokens[number].token_type is TokenType.L_PAREN:
            depth += 1
        elif tokens[number].token_type is TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return number
    return len(tokens) - 1


def _teradata_phrases(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """a (TITLE 'x') is a; a (NAMED b) is a AS b."""
    for number in range(1, len(tokens) - 2):
        if tokens[number].token_type is not TokenType.L_PAREN:
            continue
        word = tokens[number + 1].text.upper()
        end = _matching(tokens, number)
        if word == "NAMED":
            yield tokens[number].start, tokens[end].end + 1, f" AS {tokens[number + 2].text}"
        elif word in _PHRASES:
            yield tokens[number].start, tokens[end].end + 1, ""


def _teradata_update(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """UPDATE t FROM s SET …: without an alias, s would take SET for one."""
    for number in range(3, len(tokens)):
        if tokens[number].text.upper() != "SET":
            continue
        first = number - 1
        while first >= 2 and tokens[first - 1].text == ".":
            first -= 2
        if tokens[first - 1].text.upper() in ("FROM", ","):
            yield tokens[number].start, tokens[number].start, f"AS {tokens[number - 1].text} "
        return


def _oracle_merge(text: str, tokens: list[Token]) -> Iterator[_Edit]:
    """WHEN MATCHED THEN UPDATE … DELETE WHERE …: the rows that go are left out."""
    for number in range(len(tokens) - 1):
        if tokens[number].text.upper() != "DELETE" or tokens[number + 1].text.upper() != "WHERE" or number < 3:
            continue
        if tokens[0].text.upper() not in ("MERGE", "WITH"):
            return
        end = tokens[-1].end + 1
        for later in tokens[number:]:
            if later.text.upper() == "WHEN" or later.token_type is TokenType.SEMICOLON:
                end = later.start
                break
        yield tokens[number].start, end, " "


_REPAIRS: dict[str, tuple[Callable[[str, list[Token]], Iterator[_Edit]], ...]] = {
    "teradata": (_teradata_phrases, _teradata_update),
    "oracle": (_oracle_merge,),
}
