"""The types that an ALTER TABLE gives to columns, and what may be null, in the spelling of any dialect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.dialects import Dialect
from ingestion.dialects.cursor import Code
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import RELATIONS
from ingestion.dialects.lexing import NAME, NUMBER, PUNCTUATION, WORD
from ingestion.dialects.types import standard_type
from ingestion.model.lineage import Column

TYPE_VERBS = keywords("alter modify change")
OTHER_VERBS = keywords(
    "add drop rename set reset enable disable validate owner cluster partition unset comment with nocheck check rebuild"
    " attach detach force order engine convert replica inherit no move shrink logging nologging parallel noparallel"
    " compress cache nocache read allocate deallocate split merge coalesce recluster suspend resume tablespace lock"
    " algorithm auto_increment row_format default character collate truncate optimize repair analyze swap exchange"
    " remove materialize freeze unfreeze"
)
_NO_TYPE = keywords(
    "set drop add comment default rename first after position encode unset remove statistics reset restart options"
    " constraint index check partition row policy modify sort distkey sortkey diststyle column"
)
_IN_TYPE = keywords("varying precision unsigned signed array large object")
_IN_TYPE_AFTER = {
    "long": keywords("raw varchar varbinary"),
    "national": keywords("char character varchar"),
}
_COLUMNS = ("column", "columns")
_NO_NAME = _NO_TYPE | keywords(
    "not null visible invisible hidden sparse encrypted ephemeral materialized alias identity key compress unusable"
    " encrypt decrypt generated sort substitutable annotations collate domain unique reservable enable disable"
)
_NO_COLUMN = keywords(
    "partition subpartition constraint nested lob primary unique varray default opaque clustering ordering collection"
    " index zonemap"
)
"""Behind MODIFY, where columns need no word of their own."""
_KEY_SIGNS = ("pk", "primary")
"""In the names that people and databases give to the constraint of a primary key."""
_AFTER_TYPE = keywords("not null collate ;")
_ZONES = (("with", "time", "zone"), ("without", "time", "zone"), ("with", "local", "time", "zone"))
OTHER_TYPES = keywords(
    "national long interval inet cidr macaddr bitmap hll vector bfile rowid urowid sql_variant hierarchyid ipv4 ipv6"
    " unsigned nullable lowcardinality aggregatefunction simpleaggregatefunction linestring multipoint tsvector varbit"
)
"""Types beside those that have a standard type."""


def altered_types(text: str, dialect: Dialect) -> tuple[tuple[str, ...], tuple[Column, ...]] | None:
    """The table's name and the columns that the ALTER TABLE `text` gives a type, None where it gives none.

    A type's own literals (those of an ENUM) are left out. What stands behind a MODIFY, CHANGE or ALTER that may be
    something else than a column (`MODIFY TTL`) is only one where a known type follows.
    """
    code = Code.of(text, dialect)
    name, index = _altered_table(code)
    columns = tuple(_columns(code, index)) if name else ()
    return (name, columns) if columns else None


def _altered_table(code: Code) -> tuple[tuple[str, ...], int]:
    """The name of what an ALTER alters, () where it is no ALTER of a table or a view, and the index behind it."""
    kind = next((index for index in range(1, 5) if code.word(index) in RELATIONS), None)
    if code.word(0) != "alter" or kind is None:
        return (), 0
    index = kind + 1
    while code.word(index) in ("if", "exists", "only"):
        index += 1
    name, index = code.dotted_name(index)
    return name, index + 3 if code.words(index, 2) == ("on", "cluster") else index


def _columns(code: Code, index: int) -> Iterator[Column]:
    verb = ""
    for first, last in listed_items(code, index, len(code.tokens)):
        word = code.word(first)
        if word in TYPE_VERBS | OTHER_VERBS and code.word(first + 1) != ".":
            verb = word
            first += 1
        if verb not in TYPE_VERBS:
            continue
        bare = verb == "modify" and code.dialect.modify_names_columns and code.word(first) not in _NO_COLUMN
        named = code.word(first) in _COLUMNS or bare
        while code.word(first) in (*_COLUMNS, "if", "exists"):
            first += 1
        if code.word(first) == "(":
            for begin, end in listed_items(code, first + 1, code.closing(first)):
                yield from _column(code, begin, end, verb, named=named)
        else:
            yield from _column(code, first, last, verb, named=named)


def _column(code: Code, first: int, last: int, verb: str, *, named: bool) -> Iterator[Column]:
    """The column with its type; `named`: the word COLUMN stands before it, or no other thing can."""
    path, index = code.dotted_name(first)
    if len(path) != 1:
        return  # a field of a nested value: the column's own type stays what it is
    name = path[0]
    following = code.name(index)
    if verb == "change" and following and code.word(index) not in _NO_TYPE | {"type"} and index + 1 < last:
        name, index = following, index + 1  # CHANGE a b type
    announced = True
    if code.words(index, 3) == ("set", "data", "type"):
        index += 3
    elif code.word(index) == "type":
        index += 1
    elif code.word(index) in _NO_TYPE and not _is_set_type(code, index):
        return
    else:
        announced = False
    end = _type_end(code, index, last)
    if announced or _is_type(code, index, end, last) or (named and _is_own_type(code, index, end, last)):
        written = _type_text(code, index, end)
        if written:
            yield Column(name, written)


def listed_items(code: Code, first: int, last: int) -> Iterator[tuple[int, int]]:
    """The stretches between commas from `first` to before `last`, but for those within the angles of a type."""
    begin = first
    for _, end in code.items(first, last):
        if _angles(code, begin, end) == 0:
            yield begin, end
            begin = end + 1
    if begin < last:
        yield begin, last


def _angles(code: Code, first: int, last: int) -> int:
    """How many angles of types are open at `last`."""
    depth = 0
    for index in range(first, last):
        word = code.word(index)
        if word == "<" and (depth or bool(standard_type(code.word(index - 1)))):
            depth += 1
        elif word == ">" and depth:
            depth -= 1
    return depth


def _is_type(code: Code, index: int, end: int, last: int) -> bool:
    """Whether it is surely a type that stands there, though no word says so."""
    path, _ = code.dotted_name(index)
    following = code.word(end)
    if end <= index or (end < last and following != ";" and not following[:1].isalpha()):
        return False
    word = code.word(index)
    return len(path) > 1 or word in OTHER_TYPES or bool(standard_type(word, code.dialect.name))


def _is_set_type(code: Code, index: int) -> bool:
    """Whether SET is MySQL's type, which lists texts; PostgreSQL's SET (…) has options of the column."""
    return code.words(index, 2) == ("set", "(") and index + 2 < len(code.tokens) and _is_text(code, index + 2)


def _is_own_type(code: Code, index: int, end: int, last: int) -> bool:
    """Whether nothing else than a type of the user's own can stand there, behind COLUMN and a name.

    What has brackets is none: those of a codec, of a computed value or of options look alike, and may hold literals.
    """
    is_name = index < last and code.tokens[index].kind in (WORD, NAME) and code.word(index) not in _NO_NAME
    plain = code.dotted_name(index)[1] == end
    return is_name and plain and (end >= last or code.word(end) in _AFTER_TYPE)


def _type_end(code: Code, index: int, last: int) -> int:
    """The index after a type: its name, what is in brackets, and the words that only types have."""
    first = code.word(index)
    inside = _IN_TYPE | _IN_TYPE_AFTER.get(first, frozenset())
    _, end = code.dotted_name(index)
    while end < last:
        word = code.word(end)
        zone = next((one for one in _ZONES if code.words(end, len(one)) == one), ())
        if word == "(":
            end = code.closing(end) + 1
        elif word in ("<", "["):
            end = _closing(code, end, last) + 1
        elif zone:
            end += len(zone)
        elif word in inside:
            end += 1
        else:
            break
    return min(end, last)


def _closing(code: Code, index: int, last: int) -> int:
    """The index of the bracket that closes the one at an index."""
    opening = code.word(index)
    closing = {"<": ">", "[": "]"}[opening]
    depth = 0
    for number in range(index, last):
        depth += (code.word(number) == opening) - (code.word(number) == closing)
        if not depth:
            return number
    return last


def _type_text(code: Code, index: int, end: int) -> str:
    """A type as it is written, without comments and without brackets that have a text in them; "" for what is none."""
    parts: list[str] = []
    behind = 0
    while index < end:
        if code.word(index) == "(":
            closing = code.closing(index)
            if any(_is_text(code, inner) for inner in range(index, min(closing, end))):
                behind, index = 0, closing + 1
                continue
        token = code.tokens[index]
        if _is_text(code, index):
            return ""
        parts.append(f" {token.text}" if 0 < behind < token.start else token.text)
        behind, index = token.start + len(token.text), index + 1
    return "".join(parts)


def _is_text(code: Code, index: int) -> bool:
    return code.tokens[index].kind not in (WORD, NAME, PUNCTUATION, NUMBER)


# What may be null, and the primary key.


@dataclass(frozen=True, slots=True)
class LoosenedTable:
    """A table that promises less from then on: `columns` may hold nulls, each with whether that is sure.

    `key`: whether it loses its primary key, False where only the name of a constraint says so; None where it does not.
    """

    name: tuple[str, ...]
    columns: tuple[tuple[str, bool], ...] = ()
    key: bool | None = None


def loosened_table(text: str, dialect: Dialect) -> LoosenedTable | None:
    """What an ALTER TABLE lets be null, and whether it takes the primary key away; None where it does neither.

    `ALTER COLUMN a DROP NOT NULL` and `MODIFY a NULL` are sure. `MODIFY a INT` gives the column anew: what allows nulls
    in MySQL leaves them as they were in Oracle.
    """
    code = Code.of(text, dialect)
    name, index = _altered_table(code)
    columns: dict[str, bool] = {}
    key: bool | None = None
    verb = ""
    for first, last in code.items(index, len(code.tokens)) if name else ():
        begin = first
        if code.word(first) in TYPE_VERBS | OTHER_VERBS and code.word(first + 1) != ".":
            verb = code.word(first)
            begin += 1
        if verb == "drop":
            key = _dropped_key(code, begin) if key is None else key
        elif verb in TYPE_VERBS:
            for column, is_sure in _loosened_columns(code, begin, last, verb):
                columns[column] = columns.get(column, False) or is_sure
    return LoosenedTable(name, tuple(columns.items()), key) if columns or key is not None else None


def _dropped_key(code: Code, index: int) -> bool | None:
    if code.words(index, 2) == ("primary", "key"):
        return True
    if code.word(index) != "constraint":
        return None
    index += 1
    while code.word(index) in ("if", "exists"):
        index += 1
    named = code.name(index).lower()
    return False if any(sign in named for sign in _KEY_SIGNS) else None


def _loosened_columns(code: Code, first: int, last: int, verb: str) -> Iterator[tuple[str, bool]]:
    while code.word(first) in (*_COLUMNS, "if", "exists"):
        first += 1
    if code.word(first) == "(":
        for begin, end in code.items(first + 1, code.closing(first)):
            yield from _loosened_columns(code, begin, end, verb)
        return
    path, index = code.dotted_name(first)
    if len(path) != 1 or code.word(first) in _NO_COLUMN:
        return
    nulls = [number for number in range(index, last) if code.word(number) == "null"]
    allowed = [number for number in nulls if code.word(number - 1) not in ("not", "default", "set")]
    kept = [number for number in nulls if code.word(number - 1) == "not" and code.word(number - 2) != "drop"]
    dropped = len(nulls) > len(kept) and any(code.words(number - 2, 2) == ("drop", "not") for number in nulls)
    if dropped or allowed:
        yield path[0], True
    elif not kept and code.word(index) not in _NO_TYPE and _defines_column(code, index, last, verb):
        yield path[0], False


def _defines_column(code: Code, index: int, last: int, verb: str) -> bool:
    """Whether a column is defined as a whole, as T-SQL's ALTER COLUMN a INT does."""
    return verb in ("modify", "change") or _is_type(code, index, _type_end(code, index, last), last)


def declared_nulls(text: str, dialect: Dialect) -> tuple[tuple[str, ...], dict[str, bool], bool] | None:
    """Of a CREATE TABLE with a list of columns its name, which column may be null, and whether it has a primary key.

    None for any other statement.
    """
    code = Code.of(text, dialect)
    kind = next((index for index in range(1, 6) if code.word(index) == "table"), None)
    if code.word(0) != "create" or kind is None:
        return None
    index = kind + 1
    while code.word(index) in ("if", "not", "exists"):
        index += 1
    name, index = code.dotted_name(index)
    if not name or code.word(index) != "(":
        return None
    columns: dict[str, bool] = {}
    keys: set[str] = set()
    for first, last in code.items(index + 1, code.closing(index)):
        own = next((at for at in range(first, last) if code.words(at, 2) == ("primary", "key")), None)
        if code.word(first) in _NO_COLUMN | {"foreign", "check", "exclude", "like", "key"}:
            if own is not None:
                keys.update(_names_in(code, own + 2))
            continue
        column = code.name(first)
        columns[column] = own is None and not any(code.words(at, 2) == ("not", "null") for at in range(first, last))
        keys.update({column} if own is not None else ())
    folded = {key.casefold() for key in keys}
    return name, {one: may and one.casefold() not in folded for one, may in columns.items()}, bool(keys)


def _names_in(code: Code, index: int) -> Iterator[str]:
    """The names in the brackets that open there, or behind a word."""
    opening = next((at for at in (index, index + 1) if code.word(at) == "("), None)
    if opening is not None:
        yield from (code.name(first) for first, _last in code.items(opening + 1, code.closing(opening)))
