"""What DDL does that lineage does not follow."""

from __future__ import annotations

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.model.outcomes import Outcome
from ingestion.statements import classify
from ingestion.statements.altered_types import OTHER_VERBS, TYPE_VERBS, altered_types
from ingestion.statements.classification import DDL_OBJECTS

_UNFOLLOWED = frozenset(
    {
        *(("drop", what) for what in keywords("function procedure macro type domain aggregate extension synonym")),
        *(("alter", what) for what in keywords("type domain schema database function procedure synonym extension")),
    }
)
_DEFINING = keywords("create alter drop")
_MOST_MODIFIERS = 12
"""Words before the object: CREATE OR REPLACE SECURE RECURSIVE, DEFINER = a@b, IF NOT EXISTS."""


def unfollowed_change(text: str, dialect: Dialect) -> str | None:
    """What `text` drops or alters, and nobody knows what depends on it (DROP FUNCTION), or how; None for other SQL.

    `DROP TABEL t` drops what nobody knows of, and is no statement without effects.
    """
    code = Code.of(text, dialect)
    words = code.words(0, 2)
    if words in _UNFOLLOWED or _is_of_nothing_known(code):
        return " ".join(words).upper()
    skipped = classify(text, dialect).skip_reason is Outcome.DDL_OTHER
    if words != ("alter", "table") or not skipped or altered_types(text, dialect):
        return None
    index = 2
    while code.word(index) in ("if", "exists", "only"):
        index += 1
    name, index = code.dotted_name(index)
    index += 3 if code.words(index, 2) == ("on", "cluster") else 0
    return None if name and code.word(index) in TYPE_VERBS | OTHER_VERBS else "ALTER TABLE"


def _is_of_nothing_known(code: Code) -> bool:
    if code.word(0) not in _DEFINING:
        return False
    return not any(code.word(index) in DDL_OBJECTS for index in range(1, _MOST_MODIFIERS))


def dropped_namespace(text: str, dialect: Dialect) -> tuple[str, ...]:
    """The name of the schema or database that `text` drops, () where it drops none."""
    code = Code.of(text, dialect)
    if code.word(0) != "drop" or code.word(1) not in ("schema", "database", "catalog"):
        return ()
    return code.dotted_name(4 if code.words(2, 2) == ("if", "exists") else 2)[0]
