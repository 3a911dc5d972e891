"""The functions of SQL/JSON and SQL/XML (ISO 9075-2 and 9075-14), without what sqlglot does not know of their clauses.

`JSON_OBJECT('k' VALUE a RETURNING CLOB)` is `JSON_OBJECT('k' VALUE a)`, `XMLSERIALIZE(CONTENT a AS CLOB INDENT)` is
`XMLSERIALIZE(a)`: how a document is written moves no value. What a path is given, `PASSING b AS "x"`, does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import QUERIES

_FUNCTIONS = keywords(
    "json json_array json_arrayagg json_exists json_object json_objectagg json_query json_serialize json_value"
    " xmlcast xmlexists xmlparse xmlpi xmlquery xmlroot xmlserialize"
)
_ON_EVENT = keywords("absent array empty error false null object true unknown")
_BEHIND_WITH = keywords("array conditional unconditional unique wrapper")
_WHITE_SPACE = keywords("preserve strip wellformed")
_PARTS = keywords("content document")
_BEFORE_VALUE = keywords("( , . : + - * / | = < > value key passing by as select")

# JSON_OBJECT('k' VALUE a RETURNING CLOB): CLOB would be a column.
RETURNED_DOCUMENT = re.compile(r"\bjson_(?:array|object)(?:agg)?\s*+\(", re.IGNORECASE)


def document_functions(code: Code) -> Iterator[Edit]:
    """JSON_OBJECT(… RETURNING t), JSON_ARRAY(SELECT …), XMLQUERY('/a' PASSING x RETURNING CONTENT), XMLCAST(x AS t)."""
    for number in range(len(code) - 2):
        if code.word(number) in _FUNCTIONS and code.word(number + 1) == "(" and code.word(number - 1) != ".":
            yield from _without_clauses(code, number, code.closing(number + 1))


def _without_clauses(code: Code, number: int, closing: int) -> Iterator[Edit]:
    word, first = code.word(number), number + 2
    if word == "xmlcast":
        yield code.edit(number, number, "CAST")
        return
    passing = next((n for n in code.outside(first, closing) if code.word(n) == "passing"), None)
    if word == "json_value":
        if passing is None:  # the rest of it sqlglot knows
            return
        yield code.edit(number, number, f"pg_catalog.{word}" if code.dialect.named_by_function else "JSON_QUERY")
    end = next((n for n in code.outside(first, closing) if _tells_of_document(code, n, word, first)), closing)
    if end < closing:
        yield code.edit(end, closing - 1)
    yield from _without_formats(code, first, end)
    if word == "json_array" and code.word(first) in QUERIES:
        yield code.start_of(first), code.start_of(first), "("
        yield code.end_of(end - 1), code.end_of(end - 1), ")"
    elif word in ("xmlparse", "xmlserialize") and code.word(first) in _PARTS and first + 1 < end:
        yield code.edit(first, first)
    elif word == "xmlpi" and code.word(first) == "name":
        yield code.edit(first, min(first + 2, closing - 1))
    elif word == "json_object" and code.dialect.named_by_function and not _has_pairs(code, first, end):
        yield code.edit(number, number, f"pg_catalog.{word}")  # of arrays or texts, where sqlglot wants pairs
    if passing is not None and passing < end:
        yield from _passed_values(code, passing, end)


def _tells_of_document(code: Code, number: int, function: str, first: int) -> bool:
    """Whether what is told of the document begins here: RETURNING t, NULL ON NULL, WITH UNIQUE KEYS."""
    word, following = code.words(number, 2)
    if function == "xmlserialize":
        return word == "as"
    if function == "xmlroot":
        return word == "," and following in ("version", "standalone")
    if function == "xmlparse":
        return word in _WHITE_SPACE and number > first + 1
    if word == "returning":
        return code.is_name(number + 1) and (number == first or code.word(number - 1) not in _BEFORE_VALUE)
    if code.word(number - 1) in _BEFORE_VALUE:  # a column of that name
        return False
    return (
        (word in _ON_EVENT and following == "on")
        or (word == "default" and function == "json_value")
        or (word in ("with", "without") and following in _BEHIND_WITH)
        or (word in ("keep", "omit") and following == "quotes")
    )


def _without_formats(code: Code, first: int, end: int) -> Iterator[Edit]:
    """FORMAT JSON ENCODING UTF8 behind any of the values: how it is to be read."""
    for number in code.outside(first, end):
        if code.stands(number, "format", "json") and code.word(number - 1) not in _BEFORE_VALUE:
            yield code.edit(number, number + (3 if code.word(number + 2) == "encoding" else 1))


def _has_pairs(code: Code, first: int, end: int) -> bool:
    return first == end or any(code.word(number) in (":", "value") for number in code.outside(first, end))


def _passed_values(code: Code, passing: int, end: int) -> Iterator[Edit]:
    """`p PASSING BY VALUE x AS "k", y BY REF` is `p, x, y`."""
    yield code.edit(passing, passing, ",")
    for number in code.outside(passing + 1, end):
        if code.word(number) == "by" or (code.word(number) == "as" and code.is_name(number + 1)):
            yield code.edit(number, number + 1)
