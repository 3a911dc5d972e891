"""Views and routines as their own system keeps them: definitions that come from no log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERIES
from ingestion.dialects.lexing import WORD, tokens
from ingestion.errors import Unparsable
from ingestion.statements.masking import QueryMasker, fingerprint

_DEFINING_WORDS = keywords("create alter replace")
_BLANKS = re.compile(r"\s+")


class DefinitionKind(StrEnum):
    """What is defined."""

    VIEW = "view"
    MATERIALIZED_VIEW = "materialized view"
    ROUTINE = "routine"


@dataclass(frozen=True, slots=True)
class Definition:
    """A view's or routine's SQL as a catalog or a database has it: not masked, so never for a log or an edge.

    `full_name` is (database, schema, name). `at` is since when it holds (seconds since the epoch), None where nobody
    knows. `done` says that its lineage stands already: the same definition was published before. `own` marks what was
    filed from a log by an earlier run: it is no source of lineage. `home` is the database and schema in which its bare
    names stand where these are not its own. `lineage` is what is known of one that has no SQL, as
    `ingestion.analysis.symbolic` writes it. `recorded_by` names what has recorded that beside a definition, which
    itself is told elsewhere: an engine's word, by a name that is the same in every run.
    """

    kind: DefinitionKind
    full_name: tuple[str, str, str]
    text: str = ""
    at: float | None = None
    done: bool = False
    own: bool = False
    language: str = ""
    home: tuple[str, str] | None = None
    lineage: bytes | None = field(default=None, repr=False)
    recorded_by: str = ""

    def __repr__(self) -> str:
        return f"Definition({self.kind} {'.'.join(self.full_name)})"


def view_statement(definition: Definition, dialect: str) -> str:
    """The definition of a view as a statement: a bare query becomes CREATE VIEW under the view's full name."""
    rules = dialect_of(dialect)
    if _first_word(definition.text, rules) not in QUERIES:
        return definition.text
    database, schema, name = definition.full_name
    parts = (schema, name) if rules.two_level else (database, schema, name)
    written = ".".join(quote_name(part, rules) for part in parts if part)
    materialized = "MATERIALIZED " if definition.kind is DefinitionKind.MATERIALIZED_VIEW else ""
    return f"CREATE {materialized}VIEW {written} AS {definition.text.strip().rstrip(';').rstrip()}"


def defines(text: str, dialect: str) -> bool:
    """Whether `text` is a statement that defines something, and not the bare body of what it defines."""
    return _first_word(text, dialect_of(dialect)) in _DEFINING_WORDS


def quote_name(name: str, dialect: Dialect) -> str:
    """A name in the dialect's quotes, so that it means what it says."""
    opening = dialect.name_quotes[0]
    closing = "]" if opening == "[" else opening
    return opening + name.replace(closing, closing * 2) + closing


def same_definition(one: str, other: str, dialect: str) -> bool:
    """Whether two definitions give the same lineage: they differ in literals, white space or comments at most.

    `one` and `other` are whole texts, `CREATE VIEW v AS SELECT a FROM t WHERE b = 1`, in one dialect.
    """
    if one == other:
        return True
    try:
        return _normal(one, dialect) == _normal(other, dialect)
    except Unparsable:
        return False


def _normal(text: str, dialect: str) -> str:
    # What a catalog keeps may be masked, so both are: masking again changes nothing.
    return fingerprint(_BLANKS.sub(" ", QueryMasker(dialect).mask(text)), dialect)


def _first_word(text: str, dialect: Dialect) -> str:
    for token in tokens(text, dialect):
        if token.text not in "(;":
            return token.text.lower() if token.kind == WORD else ""
    return ""


def code_of(masked: Sequence[str]) -> str:
    """What the catalog keeps of a routine that it does not have from its database: its statements, masked."""
    return ";\n".join(masked)
