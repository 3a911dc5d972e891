"""What DDL does that lineage does not follow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ingestion.arguments import nearest_name
from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERIES
from ingestion.dialects.types import STANDARD_OF, standard_type
from ingestion.model.lineage import Column
from ingestion.model.outcomes import Outcome
from ingestion.statements import classify
from ingestion.statements.altered_types import OTHER_TYPES, OTHER_VERBS, TYPE_VERBS, altered_types
from ingestion.statements.classification import DDL_OBJECTS

_UNFOLLOWED = frozenset(
    {
        *(
            ("drop", what)
            for what in keywords("function procedure macro type domain aggregate extension synonym server")
        ),
        *(("alter", what) for what in keywords("type domain schema database function procedure synonym extension")),
        *(("detach", what) for what in keywords("table view dictionary database")),
        ("drop", "dictionary"),
        ("drop", "server"),
    }
)
_OTHER_ROWS = keywords("attach detach inherit")
"""Behind ALTER TABLE: the rows of another table come to its own, or go."""
_ONLY_READ = keywords("headeronly filelistonly labelonly verifyonly rewindonly")
"""Behind RESTORE: a backup is looked at, and brings nothing back."""
NAMESPACES = keywords("schema database catalog namespace keyspace")
COLUMN_CHANGES = keywords("set drop add type data comment reset restart modify sync position rename")
"""What may stand behind ALTER COLUMN c, where no type does."""
_DEFINED = re.compile(
    r"(?<!execute\s)(?<!drop\s)(?<!on\s)\b(?:procedure|proc|function|macro|prepare)\s+(?:if\s+not\s+exists\s+)?([\w.$#@\"`\[\]]+)",
    re.IGNORECASE,
)
_DEFINED_TASK = re.compile(
    r"\bcreate\s+(?:or\s+\w+\s+)?(?:task|alert)\s+(?:if\s+not\s+exists\s+)?([\w.$#@\"`\[\]]+)", re.IGNORECASE
)
"""Snowflake's EXECUTE TASK runs by hand what the task does by itself."""
_ROUTINE_SIGNS = ("proc", "func", "macro", "prepare", "task", "alert")
"""One of these is in whatever is found here, which takes a tenth of a parse to look for them at every letter."""
_MADE_TYPE = re.compile(r"\bcreate\s+(?:type|domain)\s+([\w.$\"`\[\]]+)", re.IGNORECASE)
_DEFINING = keywords("create alter drop")
_OBJECTS = DDL_OBJECTS | keywords("collection dataset mask pfile spfile stogroup streamlit")
"""Kinds of objects, those too that are called nearly as others are: a STREAMLIT is no mistyped STREAM."""
_MOST_MODIFIERS = 12
"""Words before the object: CREATE OR REPLACE SECURE RECURSIVE, DEFINER = a@b, IF NOT EXISTS."""
_MOST_MISSPELT = 4
"""Words in which a misspelt object is looked for: CREATE OR REPLACE TABEL; behind them are names of people's own."""
_LIKENESS = 0.75
"""Of two letters that changed places in a word of four, `veiw`."""
_LIKENESS_OF_TYPES = 0.85
"""Of a letter too few in a word of four, `uud`; with less `hstore` and `ltree`, which are types, would be misspelt."""


def defined_routines(script: str) -> frozenset[str]:
    """The last parts, in lower case, of the names of what a script defines and may call: routines, prepared texts."""
    lowered = script.lower()
    if not any(sign in lowered for sign in _ROUTINE_SIGNS):
        return frozenset()
    found = (*_DEFINED.finditer(script), *_DEFINED_TASK.finditer(script))
    return frozenset(_last_part(one[1]) for one in found)


def _last_part(name: str) -> str:
    return name.rpartition(".")[2].strip('"`[]').lower()


def unfollowed_change(text: str, dialect: Dialect) -> str | None:
    """Why it is not known what `text` changes: nobody knows what depends on what it drops or alters (DROP FUNCTION), or
    how it alters it; None for other SQL.

    `DROP TABEL t` drops what nobody knows of, and is no statement without effects.
    """
    code = Code.of(text, dialect)
    if code.word(0) == "explain" and _is_run_while_explained(code):
        return "what EXPLAIN ANALYZE runs is not followed"
    if _is_of_nothing_known(code):
        return _unknown_text(code)
    words = code.words(0, 2)
    if words == ("alter", "table") and (misspelt := _misspelt_change(code)):
        return misspelt
    if (
        words in _UNFOLLOWED
        or (words[0] == "restore" and words[1] not in _ONLY_READ)
        or (words == ("alter", "table") and _is_altered_in_some_way(text, code))
    ):
        return f"what depends on what {' '.join(words).upper()} changes is not followed"
    return None


def _is_run_while_explained(code: Code) -> bool:
    """Whether an EXPLAIN ANALYZE, in parentheses or not, runs what is no query."""
    index = code.after(1) if code.word(1) == "(" else 1
    options = code.words(1, index)
    while code.word(index) in ("analyze", "analyse", "verbose"):
        index += 1
    runs = {"analyze", "analyse"}.intersection((*options, *code.words(1, index - 1)))
    return bool(runs) and code.word(index) not in QUERIES | {"explain"}


def _is_altered_in_some_way(text: str, code: Code) -> bool:
    """Whether an ALTER TABLE does to its table what no rule here is about."""
    if classify(text, code.dialect).skip_reason is not Outcome.DDL_OTHER or altered_types(text, code.dialect):
        return False
    index = 2
    while code.word(index) in ("if", "exists", "only"):
        index += 1
    name, index = code.dotted_name(index)
    index += 3 if code.words(index, 2) == ("on", "cluster") else 0
    other_rows = code.word(index) in _OTHER_ROWS or code.words(index, 2) == ("no", "inherit")
    return not name or other_rows or code.word(index) not in TYPE_VERBS | OTHER_VERBS


def _misspelt_change(code: Code) -> str:
    """Of `ALTER TABLE t ALTER COLUMN c TYE varchar` why it does nothing that is known, "" of what may be right."""
    for index in range(2, len(code)):
        if code.word(index) != "column" or code.word(index - 1) not in TYPE_VERBS:
            continue
        _name, after = code.dotted_name(index + 1)
        word = code.word(after)
        meant = nearest_name(word, COLUMN_CHANGES, _LIKENESS)
        if meant and meant != word and not standard_type(word):
            return f"{word.upper()} is no change of a column that is known; did you mean {meant.upper()}?"
    return ""


def misspelt_type(columns: Iterable[Column], own: Collection[str]) -> str:
    """Of columns that a statement makes or gives a type why one of these is none, "" where all may be.

    A type that is only not known may be a user's: one that is called nearly as another is told, but for the `own`
    ones (in lower case) that the script makes.
    """
    for column in columns:
        word = re.match(r"\w*", column.type.lower())
        name = word.group() if word is not None else ""
        if (
            not name
            or name in OTHER_TYPES
            or name in own
            or standard_type(name)
            or column.type[len(name) :].startswith(".")
        ):
            continue
        if meant := nearest_name(name, STANDARD_OF, _LIKENESS_OF_TYPES):
            return f"{name.upper()} is no type that is known; did you mean {meant.upper()}?"
    return ""


def made_types(script: str) -> frozenset[str]:
    """The last parts, in lower case, of the names of the types that a script makes."""
    return frozenset(_last_part(found[1]) for found in _MADE_TYPE.finditer(script))


def is_misspelt_definition(text: str, dialect: Dialect) -> bool:
    """Whether `text` makes, alters or drops what nobody knows of and is called nearly as something else is.

    `CREATE TABEL t AS SELECT a FROM s`: of a kind of object that is only not known, nothing is said.
    """
    if text.lstrip()[:6].split(None, 1)[0].lower() not in _DEFINING:
        return False
    code = Code.of(text, dialect, _MOST_MODIFIERS)
    return _is_of_nothing_known(code) and _object_meant(code)[1] is not None


def _is_of_nothing_known(code: Code) -> bool:
    if code.word(0) not in _DEFINING:
        return False
    return not any(code.word(index) in _OBJECTS for index in range(1, _MOST_MODIFIERS))


def _unknown_text(code: Code) -> str:
    """`DROP TABEL is no statement that is known; did you mean TABLE?`, by the first words that may be one of those."""
    last, meant = _object_meant(code)
    written = " ".join(code.words(0, last + 1)).strip().upper()
    return f"{written} is no statement that is known{f'; did you mean {meant.upper()}?' if meant else ''}"


def _object_meant(code: Code) -> tuple[int, str | None]:
    """Which word is nearly the name of a kind of object, and of which."""
    near = (nearest_name(code.word(index), DDL_OBJECTS, _LIKENESS) for index in range(1, _MOST_MISSPELT))
    return next(((index, found) for index, found in enumerate(near, 1) if found), (1, None))


def dropped_namespace(text: str, dialect: Dialect) -> tuple[str, ...]:
    """The name of the schema or database that `text` drops or makes anew, () where it does neither.

    `CREATE OR REPLACE SCHEMA mart` leaves an empty one. Where a user is a schema, `DROP USER mart CASCADE` drops it.
    """
    code = Code.of(text, dialect)
    what = 1
    if code.words(0, 3) == ("create", "or", "replace"):
        what = 4 if code.word(3) == "transient" else 3
    elif code.word(0) != "drop":
        return ()
    user = what == 1 and code.word(1) == "user" and any(token.text.lower() == "cascade" for token in code.tokens)
    if code.word(what) not in NAMESPACES and not user:
        return ()
    return code.dotted_name(what + (3 if code.words(what + 1, 2) == ("if", "exists") else 1))[0]
