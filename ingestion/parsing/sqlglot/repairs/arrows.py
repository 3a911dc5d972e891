"""Arrows into JSON among the arguments of a function, which sqlglot takes for lambdas: f(d -> 'a').

Where a name stands alone before the arrow, sqlglot reads a parameter, and the column is lost; of what may follow a
value there, `json_agg(d -> 'a' ORDER BY b)`, it reads nothing. Behind a sign it takes the name for a column, and of a
plus nothing is left in its tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from ingestion.dialects import Dialect
from ingestion.dialects.definition import Arrow
from ingestion.dialects.functions import LAMBDA_FUNCTIONS
from ingestion.parsing.sqlglot.expressions.grammars import grammar_of

_BEFORE_ARGUMENT = (TokenType.L_PAREN, TokenType.COMMA)
_CONSTANTS = (TokenType.STRING, TokenType.NUMBER, TokenType.DASH, TokenType.PLACEHOLDER, TokenType.PARAMETER)


def trees_with_accesses(text: str, rules: Dialect) -> list[exp.Expr | None]:
    """The trees of a text, whose arrows are what they are in its dialect. Raises what sqlglot raises."""
    grammar = grammar_of(rules.sqlglot)
    tokens = grammar.tokens(text)
    if "->" in text and rules.arrow is not Arrow.LAMBDA:
        tokens = list(_with_signs(tokens, frozenset(_accesses(tokens, rules.arrow))))
    return grammar.trees(tokens, text)


def _accesses(tokens: Sequence[Token], arrow: Arrow) -> Iterator[int]:
    """Where an argument begins with a name, alone or in brackets, and an arrow into it."""
    functions: list[str] = []
    for number, token in enumerate(tokens):
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            functions.append(tokens[number - 1].text.upper() if number else "")
        elif kind is TokenType.R_PAREN and functions:
            functions.pop()
        elif kind is TokenType.ARROW and number + 1 < len(tokens):
            bracketed = tokens[number - 1].token_type is TokenType.R_PAREN
            first = number - (3 if bracketed else 1)
            alone = not bracketed or tokens[first].token_type is TokenType.L_PAREN
            if first > 0 and alone and tokens[first - 1].token_type in _BEFORE_ARGUMENT:
                function = functions[-1] if functions else ""
                if _is_access(arrow, function, tokens[number + 1]):
                    yield first


def _is_access(arrow: Arrow, function: str, operand: Token) -> bool:
    if arrow is Arrow.ACCESS:
        return True
    if function in LAMBDA_FUNCTIONS:
        return False
    return arrow is Arrow.BY_FUNCTION or operand.token_type in _CONSTANTS


def _with_signs(tokens: Sequence[Token], wanted: frozenset[int]) -> Iterator[Token]:
    """The tokens with a plus before each of those wanted, at its place in the text."""
    for number, token in enumerate(tokens):
        if number in wanted:
            yield Token(TokenType.PLUS, "+", token.line, token.col, token.start, token.end)
        yield token
