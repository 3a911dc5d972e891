"""sqlglot's tokenizer and parser of a dialect, kept from one text to the next."""

from __future__ import annotations

from functools import cache

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as SqlglotDialect
from sqlglot.tokenizer_core import Token

from ingestion.parsing.sqlglot.expressions.names import WRITTEN_NAME


class Grammar:
    """How sqlglot reads the texts of one dialect, one after the other, each as though it were the first.

    To make a tokenizer and a parser takes as long as to read `SELECT 1` with them. Not for several threads at once: a
    parser process has one.
    """

    __slots__ = ("_parser", "_tokenizer")

    def __init__(self, name: str) -> None:
        dialect = SqlglotDialect.get_or_raise(name)
        if dialect.ORIGINAL_NAME_META_KEY is None:  # some dialects have one of their own, which their writer reads
            dialect.ORIGINAL_NAME_META_KEY = WRITTEN_NAME
        self._tokenizer = dialect.tokenizer()
        self._parser = dialect.parser()

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text. Raises what sqlglot raises."""
        try:
            return self._tokenizer.tokenize(text)
        finally:
            self._tokenizer.tokenize("")

    def trees(self, tokens: list[Token], text: str) -> list[exp.Expr | None]:
        """The trees of a text's tokens. Raises what sqlglot raises."""
        try:
            return self._parser.parse(tokens, text)
        finally:
            self._parser.reset()


@cache
def grammar_of(name: str) -> Grammar:
    """The grammar of sqlglot's dialect of that name."""
    return Grammar(name)
