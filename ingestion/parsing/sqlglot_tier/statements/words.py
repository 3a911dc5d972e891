"""A cursor over the tokens of a statement that sqlglot does not look into, and what such a statement does."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot.tokenizer_core import Token, TokenType

from ingestion.model import StatementKind, TableChange, TableName, Target, WriteMode
from ingestion.parsing.sqlglot_tier.names.identifiers import Names
from ingestion.parsing.sqlglot_tier.repairs.edits import matching
from ingestion.parsing.sqlglot_tier.statements.column_changes import altered_place
from ingestion.parsing.sqlglot_tier.statements.definitions import name_at
from ingestion.parsing.sqlglot_tier.statements.writes import star_from
from ingestion.relational.form import WriteForm


@dataclass(frozen=True, slots=True)
class Command:
    """What a command does: its kind, flows and changes."""

    kind: StatementKind
    writes: tuple[WriteForm, ...] = ()
    changes: tuple[TableChange, ...] = ()


class Words:
    """A cursor over a command's tokens."""

    __slots__ = ("_names", "_place", "_tokens")

    def __init__(self, tokens: list[Token], names: Names) -> None:
        self._tokens = [token for token in tokens if token.token_type is not TokenType.SEMICOLON]
        self._names = names
        self._place = 0

    @property
    def word(self) -> str:
        """The token here in capitals, "" at the end."""
        return self._tokens[self._place].text.upper() if self._place < len(self._tokens) else ""

    def take(self, *words: str) -> bool:
        """Step over the words if they stand here."""
        here = [token.text.upper() for token in self._tokens[self._place : self._place + len(words)]]
        if here != list(words):
            return False
        self._place += len(words)
        return True

    def take_altered(self) -> bool:
        """Step over ALTER TABLE or VIEW, of whatever kind it is, if that stands here."""
        place = altered_place(self._tokens) if self._place == 0 else None
        self._place = place or self._place
        return place is not None

    def step(self) -> None:
        """Step over the token here."""
        self._place += 1

    def find(self, *words: str) -> bool:
        """Step behind the next place where the words stand."""
        for place in range(self._place, len(self._tokens)):
            if [token.text.upper() for token in self._tokens[place : place + len(words)]] == list(words):
                self._place = place + len(words)
                return True
        return False

    def name(self) -> TableName | None:
        """The relation's name that stands here."""
        self._place, name = name_at(self._tokens, self._place, self._names)
        return name

    def brackets(self, text: str) -> str | None:
        """The text inside the next brackets."""
        tokens = self._tokens
        places = range(self._place, len(tokens))
        opening = next((place for place in places if tokens[place].token_type is TokenType.L_PAREN), None)
        closing = matching(tokens, opening) if opening is not None else 0
        if opening is None or tokens[closing].token_type is not TokenType.R_PAREN:
            return None
        self._place = closing + 1
        return text[tokens[opening].end + 1 : tokens[closing].start]

    def place(self) -> str | None:
        """The path that stands here: a string, or what has no space in it (@stage/path)."""
        tokens = self._tokens[self._place :]
        if not tokens:
            return None
        if tokens[0].token_type is TokenType.STRING:
            self._place += 1
            return tokens[0].text
        gaps = (n for n in range(1, len(tokens)) if tokens[n].start != tokens[n - 1].end + 1)
        length = next(gaps, len(tokens))
        self._place += length
        return "".join(token.text for token in tokens[:length])

    def string(self) -> str | None:
        """The next string literal."""
        for place in range(self._place, len(self._tokens)):
            if self._tokens[place].token_type in (
                TokenType.STRING,
                TokenType.RAW_STRING,
                TokenType.HEREDOC_STRING,
                TokenType.NATIONAL_STRING,
            ):
                self._place = place + 1
                return self._tokens[place].text
        return None


def move_rows(source: TableName, target: TableName, mode: WriteMode = WriteMode.APPEND) -> WriteForm:
    """What writes all rows of `source` into `target`: `ALTER TABLE target ATTACH PARTITION source`."""
    return WriteForm(Target(target, mode), star_from(source))
