"""The types that an ALTER TABLE gives to columns, in the spelling of any dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.dialects import Dialect
from ingestion.dialects.definition import keywords
from ingestion.lexing.cursor import Code
from ingestion.model import Column

_RELATIONS = keywords("table view")
TYPE_VERBS = keywords("alter modify change")
OTHER_VERBS = keywords(
    "add drop rename set reset enable disable validate owner cluster partition unset comment with nocheck check rebuild"
    " attach detach force order engine convert replica inherit no move shrink logging nologging parallel noparallel"
    " compress cache nocache read allocate deallocate split merge coalesce recluster suspend resume tablespace lock"
    " algorithm auto_increment row_format default character collate truncate optimize repair analyze swap exchange"
)
_NO_TYPE = keywords(
    "set drop add comment default rename first after position encode unset remove statistics reset restart options"
    " constraint index check partition row policy modify sort distkey sortkey diststyle column"
)
_BEHIND_TYPE = keywords(
    "using not null default collate comment first after codec constraint check encode unique primary references"
    " auto_increment identity generated encrypted sparse persisted options stored virtual visible invisible"
    " materialized alias ttl with character ;"
)
_TEXTS_IN_TYPE = re.compile(r"\([^()'\"]*+['\"][^()]*+\)")


def altered_types(text: str, dialect: Dialect) -> tuple[tuple[str, ...], tuple[Column, ...]] | None:
    """The table's name and the columns that the ALTER TABLE `text` gives a type, None where it gives none.

    A type's own literals (those of an ENUM) are left out.
    """
    code = Code.of(text, dialect)
    if code.word(0) != "alter":
        return None
    kind = next((place for place in range(1, 5) if code.word(place) in _RELATIONS), None)
    if kind is None:
        return None
    place = kind + 1
    while code.word(place) in ("if", "exists", "only"):
        place += 1
    name, place = code.dotted_name(place)
    if code.words(place, 2) == ("on", "cluster"):
        place += 3
    columns = tuple(_columns(code, place)) if name else ()
    return (name, columns) if columns else None


def _columns(code: Code, place: int) -> Iterator[Column]:
    verb = ""
    for first, last in code.items(place, len(code.tokens)):
        word = code.word(first)
        if word in TYPE_VERBS | OTHER_VERBS and code.word(first + 1) != ".":
            verb = word
            first += 1
        if verb not in TYPE_VERBS:
            continue
        while code.word(first) in ("column", "columns", "if", "exists"):
            first += 1
        if code.word(first) == "(":
            for begin, end in code.items(first + 1, code.closing(first)):
                yield from _column(code, begin, end, verb)
        else:
            yield from _column(code, first, last, verb)


def _column(code: Code, first: int, last: int, verb: str) -> Iterator[Column]:
    path, place = code.dotted_name(first)
    if len(path) != 1:
        return  # a field of a nested value: the column's own type stays what it is
    name = path[0]
    following = code.name(place)
    if verb == "change" and following and code.word(place) not in _NO_TYPE | {"type"} and place + 1 < last:
        name, place = following, place + 1  # CHANGE a b type
    if code.words(place, 3) == ("set", "data", "type"):
        place += 3
    elif code.word(place) == "type":
        place += 1
    elif code.word(place) in _NO_TYPE:
        return
    end = place
    while end < last and code.word(end) not in _BEHIND_TYPE:
        end = code.closing(end) + 1 if code.word(end) == "(" else end + 1
    if code.words(place, 2) == ("character", "varying"):
        end = max(end, code.find(place + 1, _BEHIND_TYPE, last))
    written = _TEXTS_IN_TYPE.sub("", code.between(place, min(end, last)))
    if written:
        yield Column(name, " ".join(written.split()))
