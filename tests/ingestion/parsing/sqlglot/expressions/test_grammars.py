"""A tokenizer and a parser that read one text after the other."""

from __future__ import annotations

import pytest
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from ingestion.parsing.sqlglot.expressions.grammars import grammar_of


def tree(text: str) -> exp.Expr | None:
    grammar = grammar_of("postgres")
    (found,) = grammar.trees(grammar.tokens(text), text)
    return found


def test_a_text_that_was_refused_leaves_nothing_to_the_next() -> None:
    before = tree("SELECT a FROM t")
    with pytest.raises(TokenError):
        tree("SELECT 'a")
    with pytest.raises(ParseError) as refused:
        tree("SELECT (a FROM t")
    assert tree("SELECT a FROM t") == before
    assert len(refused.value.errors) == 1
