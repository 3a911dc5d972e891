"""Where a session looks for names, followed through a script: USE, SET search_path and their kin."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import islice

from ingestion.dialects import Dialect, fold
from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import DOLLAR, NAME, STRING, WORD, tokens
from ingestion.dialects.unfilled_templates import template_in_quotes, template_in_script
from ingestion.model.namespaces import Namespace, unreadable
from ingestion.model.outcomes import Outcome
from ingestion.statements.classification import classify
from ingestion.statements.session_changes import (
    OWN_SCHEMA,
    UNKNOWN_SCHEMA,
    SessionChange,
    picked_by_creation,
    picks_unknown,
)

_PATHS = keywords("search_path current_schema")
_NO_USE = keywords("index key hint plan role warehouse secondary ( ) , ; = .")
"""Behind the word USE, where that picks no schema."""
_RUN_TEXT = re.compile(r"'\s*+(?:use|set|alter|begin|declare)\b", re.IGNORECASE)
_HEAD = 12
_ENDS_TRANSACTION = keywords("commit rollback end abort")


@dataclass(frozen=True, slots=True)
class Session:
    """The session of a script after some of its statements: `namespace` is where the next one's names are looked for.

    `first` is where it began, and RESET leads back. What a template or a variable names (`USE {{ db }}`) is not known:
    names are looked for in a place of its own then, so that a table of before is not taken for one of after it.
    """

    first: Namespace = field(default_factory=Namespace)
    namespace: Namespace = field(default_factory=Namespace)
    _outside: Namespace | None = None  # where names are looked for once the transaction ends

    @classmethod
    def at(cls, first: Namespace) -> Session:
        """One that begins there."""
        return cls(first, first)

    def after(self, text: str, dialect: Dialect) -> Session:
        """The session after the statement `text`: `USE shop`, `SET search_path TO mart, "$user"`, `RESET ALL`."""
        found = classify(text, dialect)
        if found.skip_reason is Outcome.TRANSACTION:
            return self._after_transaction(text, dialect)
        head, change = tuple(islice(tokens(text, dialect), _HEAD)), found.session
        if dialect.creating_picks and (creation := picked_by_creation(head, dialect)) is not None:
            picked, made = creation
            return self._follow_creation(text, picked, dialect, made=made)
        if change is None and not picks_unknown(head):
            return self
        if change is None or UNKNOWN_SCHEMA in (change.schemas or ()) or _is_templated(text, dialect):
            only_schemas = dialect.two_level or (change is not None and change.database is None)
            return self.into_unknown(text, only_schemas=only_schemas)
        return self._follow(change)

    def into_unknown(self, text: str, *, only_schemas: bool = False) -> Session:
        """The session where it is not known what it is; what the same `text` says is the same."""
        elsewhere = unreadable(" ".join(text.casefold().split()))
        database = self.namespace.database if only_schemas else elsewhere
        return replace(self, namespace=Namespace(database, (elsewhere,)))

    def _follow_creation(self, text: str, change: SessionChange, dialect: Dialect, *, made: bool) -> Session:
        """What is made is picked; of what may have been there before it is not known, unless it was picked already."""
        picked = self._follow(change)
        if made and not _is_templated(text, dialect):
            return picked
        return self if picked == self else self.into_unknown(text, only_schemas=change.database is None)

    def _follow(self, change: SessionChange) -> Session:
        if change.reset:
            return replace(self, namespace=self.first, _outside=None)
        path = self.namespace.search_path
        if change.schemas is not None:
            path = tuple(schema for schema in change.schemas if schema != OWN_SCHEMA)
        database = self.namespace.database if change.database is None else change.database
        outside = (self._outside or self.namespace) if change.local else None
        return replace(self, namespace=Namespace(database, path), _outside=outside)

    def _after_transaction(self, text: str, dialect: Dialect) -> Session:
        """What was SET LOCAL is so no more once the transaction ends."""
        if self._outside is None:
            return self
        verb = next(iter(tokens(text, dialect))).text.lower()
        return replace(self, namespace=self._outside, _outside=None) if verb in _ENDS_TRANSACTION else self


def may_change(text: str, dialect: Dialect) -> bool:
    """Whether a block or the body of a routine changes the session somewhere, in a branch or in a text that it runs.

    `IF (x) THEN USE mart; END IF`, `EXECUTE IMMEDIATE 'USE SCHEMA mart'`; `FROM t USE INDEX (i)` does not.
    """
    found = tuple(tokens(text, dialect))
    words = [token.text.lower() for token in found]
    for index, (token, word) in enumerate(zip(found, words, strict=True)):
        if word.strip("'") in _PATHS:
            return True
        if token.kind == DOLLAR or (token.kind == STRING and _RUN_TEXT.match(token.text)):
            inner = token.text.strip("$'")
            if inner != text and may_change(inner, dialect):
                return True
        after = words[index + 1] if index + 1 < len(words) else ""
        if word == "use" and after and after not in _NO_USE and words[index - 1 : index] != ["."]:
            return True
        if word == "set" and after in ("schema", "catalog"):
            return True
    return False


def _is_templated(text: str, dialect: Dialect) -> bool:
    return (template_in_script(text, dialect) or template_in_quotes(text, dialect)) is not None


def written_schemas(text: str, dialect: Dialect) -> dict[str, str]:
    """How a statement that changes the session writes the names in it, by what they fold to: {"PROD": "prod"}."""
    if classify(text, dialect).session is None:
        return {}
    names = (token for token in tokens(text, dialect) if token.kind in (WORD, NAME))
    written = ((token.text if token.kind == WORD else token.text[1:-1], token.kind == NAME) for token in names)
    return {fold(name, dialect, quoted=quoted): name for name, quoted in written}
