"""What DDL does that lineage does not follow."""

from __future__ import annotations

from ingestion.arguments import nearest_name
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
_MOST_MISSPELT = 4
"""Words in which a misspelt object is looked for: CREATE OR REPLACE TABEL; behind them are names of people's own."""
_LIKENESS = 0.75
"""Of two letters that changed places in a word of four, `veiw`."""


def unfollowed_change(text: str, dialect: Dialect) -> str | None:
    """Why it is not known what `text` changes: nobody knows what depends on what it drops or alters (DROP FUNCTION), or
    how it alters it; None for other SQL.

    `DROP TABEL t` drops what nobody knows of, and is no statement without effects.
    """
    code = Code.of(text, dialect)
    if _is_of_nothing_known(code):
        return _unknown_text(code)
    words = code.words(0, 2)
    if words in _UNFOLLOWED or (words == ("alter", "table") and _is_altered_in_some_way(text, code)):
        return f"what depends on what {' '.join(words).upper()} changes is not followed"
    return None


def _is_altered_in_some_way(text: str, code: Code) -> bool:
    """Whether an ALTER TABLE does to its table what no rule here is about."""
    if classify(text, code.dialect).skip_reason is not Outcome.DDL_OTHER or altered_types(text, code.dialect):
        return False
    index = 2
    while code.word(index) in ("if", "exists", "only"):
        index += 1
    name, index = code.dotted_name(index)
    index += 3 if code.words(index, 2) == ("on", "cluster") else 0
    return not name or code.word(index) not in TYPE_VERBS | OTHER_VERBS


def _is_of_nothing_known(code: Code) -> bool:
    if code.word(0) not in _DEFINING:
        return False
    return not any(code.word(index) in DDL_OBJECTS for index in range(1, _MOST_MODIFIERS))


def _unknown_text(code: Code) -> str:
    """`DROP TABEL is no statement that is known; did you mean TABLE?`, by the first words that may be one of those."""
    near = (nearest_name(code.word(index), DDL_OBJECTS, _LIKENESS) for index in range(1, _MOST_MISSPELT))
    last, meant = next(((index, found) for index, found in enumerate(near, 1) if found), (1, None))
    written = " ".join(code.words(0, last + 1)).strip().upper()
    return f"{written} is no statement that is known{f'; did you mean {meant.upper()}?' if meant else ''}"


def dropped_namespace(text: str, dialect: Dialect) -> tuple[str, ...]:
    """The name of the schema or database that `text` drops, () where it drops none."""
    code = Code.of(text, dialect)
    if code.word(0) != "drop" or code.word(1) not in ("schema", "database", "catalog"):
        return ()
    return code.dotted_name(4 if code.words(2, 2) == ("if", "exists") else 2)[0]
