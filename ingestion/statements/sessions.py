"""Where a session looks for names, followed through a script: USE, SET search_path and their kin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from ingestion.dialects import Dialect, fold
from ingestion.dialects.definition import keywords
from ingestion.dialects.lexing import DOLLAR, NAME, STRING, WORD, Token, tokens
from ingestion.dialects.unfilled_templates import template_in_quotes, template_in_script
from ingestion.model.lineage import StatementKind
from ingestion.model.namespaces import Namespace, unreadable
from ingestion.model.outcomes import Outcome
from ingestion.statements.classification import BLOCKS, Classification, classify
from ingestion.statements.session_changes import (
    SCOPES,
    UNKNOWN_SCHEMA,
    SessionChange,
    TransactionStep,
    picked_by_creation,
    picks_unknown,
)

_SETTINGS = keywords("search_path current_schema schema catalog")
"""Behind the word SET, and behind RESET."""
_NO_USE = keywords("index key hint plan role warehouse secondary ( ) , ; = .")
"""Behind the word USE, where that picks no schema."""
_RUN_TEXT = re.compile(r"'\s*+(?:use|set|alter|begin|declare)\b", re.IGNORECASE)
_HEAD = 12
_STEPS = {
    **dict.fromkeys(("begin", "start", "bt"), TransactionStep.BEGIN),
    **dict.fromkeys(("commit", "end", "et"), TransactionStep.END),
    **dict.fromkeys(("rollback", "abort"), TransactionStep.UNDONE),
}
"""BT and ET are Teradata's."""
_FEW_ROWS = ["set", "rowcount"]
_NO_CHANGE = frozenset({Outcome.SELECT, Outcome.INSERT_VALUES, Outcome.GRANT, Outcome.CALL, Outcome.SHOW})
_MOVES_ROWS = frozenset(
    {
        StatementKind.CREATE_TABLE_AS,
        StatementKind.CREATE_VIEW,
        StatementKind.DELETE,
        StatementKind.INSERT,
        StatementKind.MERGE,
        StatementKind.UPDATE,
    }
)
"""What most of a log's texts are, and most of those that are parsed: none of them is looked at any further."""


@dataclass(frozen=True, slots=True)
class Session:
    """The session of a script after some of its statements: `namespace` is where the next one's names are looked for.

    `first` is where it began, and RESET leads back. What a template or a variable names (`USE {{ db }}`) is not known:
    names are looked for in a place of its own then, so that a table of before is not taken for one of after it.
    """

    first: Namespace = field(default_factory=Namespace)
    namespace: Namespace = field(default_factory=Namespace)
    _outside: Namespace | None = None  # where names are looked for once the transaction ends: SET LOCAL ends with it

    @classmethod
    def at(cls, first: Namespace) -> Session:
        """One that begins there."""
        return cls(first, first)

    def after(self, text: str, dialect: Dialect) -> Session:
        """The session after the statement `text`: `USE shop`, `SET search_path TO mart, "$user"`, `RESET ALL`."""
        change = change_of(text, dialect)
        return self if change is None else self.follow(change)

    def follow(self, change: SessionChange) -> Session:
        """The session after a change (`change_of`)."""
        if change.transaction is not None:
            outside = None if change.transaction is TransactionStep.KEPT else self._outside
            return self if outside is None else Session(self.first, outside)
        namespace = self.first if change.reset else self._namespace_after(change)
        if change.elsewhere:
            if namespace == self.namespace:
                return self
            database = namespace.database if change.database is None else change.elsewhere
            namespace = Namespace(database, (change.elsewhere,))
        outside = (self._outside or self.namespace) if change.local else None
        return Session(self.first, namespace, outside)

    def into_unknown(self, text: str, *, only_schemas: bool = False) -> Session:
        """The session where it is not known what it is; what the same `text` says is the same."""
        return self.follow(_unknown_change(text, only_schemas=only_schemas))

    def _namespace_after(self, change: SessionChange) -> Namespace:
        path = self.namespace.search_path if change.search_path is None else change.search_path
        return Namespace(self.namespace.database if change.database is None else change.database, path)


def change_of(text: str, dialect: Dialect, found: Classification | None = None) -> SessionChange | None:
    """What the statement `text` changes for its session, None for nothing; `found`: as what it was classified.

    Where it is not known what it picks, that is a place of its own: `USE {{ db }}`, `USE SCHEMA IDENTIFIER($s)`, a
    block with a USE in it, of which nobody knows whether it is reached. `CREATE SCHEMA IF NOT EXISTS s`, where making
    is picking, changes nothing if s is picked already; else there may have been one, which is not picked then.
    """
    found = found or classify(text, dialect)
    if found.skip_reason in _NO_CHANGE or (found.skip_reason is None and found.kind in _MOVES_ROWS):
        return None
    if found.skip_reason in BLOCKS:
        return _unknown_change(text, only_schemas=dialect.two_level) if may_change(text, dialect, after=True) else None
    head, change = tuple(islice(tokens(text, dialect), _HEAD)), found.session
    if found.skip_reason is Outcome.TRANSACTION:
        return _transaction_step(head)
    if [token.text.lower() for token in head[:2]] == _FEW_ROWS:  # a DELETE of all rows stops after some
        return SessionChange(transaction=TransactionStep.KEPT)
    if dialect.creating_picks and (creation := picked_by_creation(head, dialect)) is not None:
        picked, made = creation
        sure = made and not _is_templated(text, dialect)
        return picked if sure else replace(picked, elsewhere=_elsewhere(text))
    if change is None and not picks_unknown(head):
        return None
    if change is None or UNKNOWN_SCHEMA in (change.schemas or ()) or _is_templated(text, dialect):
        only_schemas = dialect.two_level or (change is not None and change.database is None)
        unknown = _unknown_change(text, only_schemas=only_schemas)
        return replace(unknown, local=change is not None and change.local)
    return change


def _unknown_change(text: str, *, only_schemas: bool) -> SessionChange:
    elsewhere = _elsewhere(text)
    return SessionChange(None if only_schemas else elsewhere, (elsewhere,))


def _elsewhere(text: str) -> str:
    return unreadable(" ".join(text.casefold().split()))


def _transaction_step(head: Sequence[Token]) -> SessionChange | None:
    """What a statement of transactions does; `ROLLBACK TO p`, `ROLLBACK WORK TO SAVEPOINT p` end none."""
    words = [token.text.lower() for token in head[:3]]
    step = _STEPS.get(words[0]) if words else None
    if step is None:
        return None
    return SessionChange(transaction=TransactionStep.KEPT if "to" in words[1:] else step)


def may_change(text: str, dialect: Dialect, *, after: bool = False) -> bool:
    """Whether a block or the body of a routine changes the session somewhere, in a branch or in a text that it runs.

    `IF (x) THEN USE mart; END IF`, `EXECUTE IMMEDIATE 'USE SCHEMA mart'`; `FROM t USE INDEX (i)` does not.
    `after`: whether it may be another after it too, where `EXEC ('USE shop')` may have a session of its own.
    """
    found = tuple(tokens(text, dialect))
    words = [token.text.lower() for token in found]
    for index, (token, word) in enumerate(zip(found, words, strict=True)):
        runs = token.kind == DOLLAR or (token.kind == STRING and _RUN_TEXT.match(token.text))
        if runs and not (after and dialect.text_has_own_session):
            inner = token.text.strip("$'")
            if inner.strip().lower() == "use":  # EXECUTE IMMEDIATE 'USE ' || x
                return True
            if inner != text and may_change(inner, dialect):
                return True
        behind = words[index + 1] if index + 1 < len(words) else ""
        if word == "use" and behind and behind not in _NO_USE and words[index - 1 : index] != ["."]:
            return True
        if _sets_path(words[index : index + 4]):
            return True
    return False


def _sets_path(words: Sequence[str]) -> bool:
    """Whether these are the first words of what sets a schema; to read one, as `= current_schema()` does, is no change.

    `SET LOCAL search_path`, Db2's `SET CURRENT SCHEMA`, `PERFORM set_config('search_path', …)`.
    """
    if words[0] == "set_config":
        return words[1:3] == ["(", "'search_path'"]
    if words[0] not in ("set", "reset"):
        return False
    setting = words[2:] if words[1:2] and words[1] in SCOPES else words[1:]
    if setting[:1] == ["current"]:
        return "_".join(setting[:2]) in _SETTINGS
    return bool(setting) and (setting[0] in _SETTINGS or (words[0], setting[0]) == ("reset", "all"))


def _is_templated(text: str, dialect: Dialect) -> bool:
    return (template_in_script(text, dialect) or template_in_quotes(text, dialect)) is not None


def written_schemas(text: str, dialect: Dialect) -> dict[str, str]:
    """How a statement that changes the session writes the names in it, by what they fold to: {"PROD": "prod"}."""
    if classify(text, dialect).session is None:
        return {}
    names = (token for token in tokens(text, dialect) if token.kind in (WORD, NAME))
    written = ((token.text if token.kind == WORD else token.text[1:-1], token.kind == NAME) for token in names)
    return {fold(name, dialect, quoted=quoted): name for name, quoted in written}
