"""The functions of SQL/JSON and SQL/XML (ISO 9075-2 and 9075-14), without what sqlglot does not know of their clauses.

`JSON_OBJECT('k' VALUE a RETURNING CLOB)` is `JSON_OBJECT('k' VALUE a)`, `XMLSERIALIZE(CONTENT a AS CLOB INDENT)` is
`XMLSERIALIZE(a)`, a column `b INT PATH '$.b' NULL ON EMPTY` of JSON_TABLE is `b INT`: how a document is written and
read moves no value. What a path is given, `PASSING b AS "x"`, does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ingestion.dialects.cursor import Code, Edit
from ingestion.dialects.definition import keywords
from ingestion.dialects.keywords import BEFORE_VALUE, QUERIES
from ingestion.dialects.relations import alias_at

_FUNCTIONS = keywords(
    "json json_array json_arrayagg json_exists json_mergepatch json_object json_objectagg json_query json_scalar"
    " json_serialize json_value xmlcast xmlexists xmlparse xmlpi xmlquery xmlroot xmlserialize"
)
_OF_A_PATH = keywords("json_exists json_query json_value")
_OF_ALL_ARGUMENTS = "JSON_MERGEPATCH"
"""Stands for a function of so many values: sqlglot knows nothing of it, and hence drops or refuses none of them.

It takes two of JSON_VALUE in all dialects, two of JSON_QUERY in some.
"""
_RESULTS = keywords("absent array empty error false null object true unknown")
"""What is given ON ERROR, ON EMPTY, ON NULL or ON MISMATCH."""
_BEHIND_RESULT = keywords("on array object")
_BEHIND_WITH = keywords("array conditional unconditional unique wrapper")
_STYLES = keywords("ascii asis lax ordered pretty strict truncate")
"""Oracle: how strictly a document is read, how it is written: nothing but other clauses stands behind them."""
_OF_COLUMNS = keywords("exists format path truncate")
_WHITE_SPACE = keywords("preserve strip wellformed")
_PARTS = keywords("content document")
_BEFORE_PART = BEFORE_VALUE | keywords(". : value key passing as")
"""Besides what a document's parts stand behind, 'k' VALUE a, 'k' : a, PASSING a, and a column's own name: s.error."""
_ORACLE_CLAUSES = keywords("model nested")

_RETURNED = re.compile(r"\bjson_(?:array|object)(?:agg)?\s*+\(")
_NESTED_COLUMN = re.compile(r"[(,]\s*+nested\s++(?!path\b)[a-z]")


def is_misread_document(lowered: str) -> bool:
    """Whether sqlglot takes functions of a text in lower case, and takes them wrong.

    Of JSON_OBJECT('k' VALUE a RETURNING CLOB), CLOB would be a column. The values that an XMLTABLE's columns have by
    default would be lost, and a JSON_TABLE's column that is called nested.
    """
    return (
        ("returning" in lowered and _RETURNED.search(lowered) is not None)
        or ("xmltable" in lowered and "default" in lowered)
        or ("json_table" in lowered and "nested" in lowered and _NESTED_COLUMN.search(lowered) is not None)
    )


def document_functions(code: Code) -> Iterator[Edit]:
    """JSON_OBJECT(… RETURNING t), JSON_ARRAY(SELECT …), XMLQUERY('/a' PASSING x RETURNING CONTENT), JSON_TABLE(…)."""
    for number in range(len(code) - 2):
        if code.word(number + 1) != "(" or code.word(number - 1) == ".":
            continue
        word, closing = code.word(number), code.closing(number + 1)
        if word in _FUNCTIONS:
            yield from _without_clauses(code, number, closing)
        elif word == "json_table":
            yield from _rows_of_json(code, number + 2, closing)
        elif word == "xmltable":
            yield from _rows_of_xml(code, number, closing)


def _without_clauses(code: Code, number: int, closing: int) -> Iterator[Edit]:
    word, first = code.word(number), number + 2
    if word == "xmlcast":
        yield code.edit(number, number, "CAST")
        return
    passing = next((n for n in code.outside(first, closing) if code.word(n) == "passing"), None)
    end = next((n for n in code.outside(first, closing) if _tells_of_document(code, n, word, first)), closing)
    defaults = list(_defaults(code, end, closing))
    if word in _OF_A_PATH and (passing is not None or defaults):
        yield code.edit(number, number, f"pg_catalog.{word}" if code.dialect.named_by_function else _OF_ALL_ARGUMENTS)
    yield from _only_defaults(code, end, closing, defaults)
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
        yield code.edit(passing, passing, ",")
        yield from _passed_values(code, passing, end)


def _defaults(code: Code, first: int, closing: int) -> Iterator[tuple[int, int]]:
    """Each DEFAULT and the end of its value, of DEFAULT a ON EMPTY DEFAULT b ON ERROR."""
    for number in code.outside(first, closing):
        if code.word(number) == "default" and _begins_clause(code, number):
            yield number, next((n for n in code.outside(number, closing) if code.word(n) == "on"), closing)


def _only_defaults(code: Code, first: int, closing: int, defaults: list[tuple[int, int]]) -> Iterator[Edit]:
    """The clauses of a function without all but the values that it gives by default, which are arguments then.

    In place, as functions within them are written anew as well.
    """
    for default, until in defaults:
        yield code.edit(first, default, ", ")
        first = until
    if first < closing:
        yield code.edit(first, closing - 1)


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
        return code.is_name(number + 1) and (number == first or code.word(number - 1) not in _BEFORE_PART)
    return _begins_clause(code, number)


def _begins_clause(code: Code, number: int) -> bool:
    """Whether a clause begins here that functions, tables and their columns have: NULL ON EMPTY, WITH WRAPPER."""
    if code.word(number - 1) in _BEFORE_PART:  # a column of that name
        return False
    first = number
    while code.word(number) in _STYLES:
        number += 1
    word, following = code.words(number, 2)
    return (
        (word in _RESULTS and following in _BEHIND_RESULT)
        or word == "default"
        or (word in ("with", "without") and following in _BEHIND_WITH)
        or (word in ("keep", "omit") and following == "quotes")
        or (word in ("allow", "disallow") and following == "scalars")
        or (number > first and word == ")")
    )


def _without_formats(code: Code, first: int, end: int) -> Iterator[Edit]:
    """FORMAT JSON ENCODING UTF8 behind any of the values: how it is to be read."""
    for number in code.outside(first, end):
        if code.stands(number, "format", "json") and code.word(number - 1) not in _BEFORE_PART:
            yield code.edit(number, number + (3 if code.word(number + 2) == "encoding" else 1))


def _has_pairs(code: Code, first: int, end: int) -> bool:
    return first == end or any(code.word(number) in (":", "value") for number in code.outside(first, end))


def _passed_values(code: Code, passing: int, end: int) -> Iterator[Edit]:
    """`PASSING BY VALUE x AS "k", y BY REF` is `PASSING x, y`."""
    for number in code.outside(passing + 1, end):
        by = code.word(number) == "by" and code.word(number + 1) in ("ref", "value")
        if by or (code.word(number) == "as" and code.is_name(number + 1)):
            yield code.edit(number, number + 1)


def _rows_of_json(code: Code, first: int, closing: int) -> Iterator[Edit]:
    """JSON_TABLE(d FORMAT JSON, '$' AS p PASSING a AS "x" ERROR ON ERROR COLUMNS (…) PLAN (…)).

    What its paths are given is handed to the document, as sqlglot has no other argument of a JSON_TABLE.
    """
    columns = next((n for n in code.outside(first, closing) if code.word(n) == "columns"), None)
    if columns is None:  # Teradata: JSON_TABLE(ON (query) USING …)
        return
    head = (n for n in code.outside(first, columns) if code.word(n) in ("as", "passing") or _begins_clause(code, n))
    end = next(head, columns)
    passing = next((n for n in code.outside(end, columns) if code.word(n) == "passing"), columns)
    given = "".join(f", {value}" for value in _values_passed(code, passing, columns))
    if given:
        last = next(code.items(first, end))[1]
        format_ = next((n for n in code.outside(first, last) if code.stands(n, "format", "json")), last)
        yield code.start_of(first), code.start_of(first), f"{_OF_ALL_ARGUMENTS}("
        yield code.end_of(format_ - 1), code.end_of(format_ - 1), f"{given})"
    yield from _without_formats(code, first, end)
    if end < columns:
        yield code.edit(end, columns - 1)
    listed = columns + 1
    until = code.closing(listed) + 1 if code.word(listed) == "(" else closing
    made = f"({_json_columns(code, listed, until)})"
    if made != code.between(listed, closing):
        yield code.edit(listed, closing - 1, made)


def _values_passed(code: Code, passing: int, end: int) -> Iterator[str]:
    clause = next((n for n in code.outside(passing + 1, end) if _begins_clause(code, n)), end)
    for first, until in code.items(passing + 1, clause):
        yield code.between(first, next((n for n in code.outside(first, until) if code.word(n) == "as"), until))


def _json_columns(code: Code, first: int, end: int) -> str:
    """The names and types of a JSON_TABLE's columns, whose list may stand in brackets; those of lists within as well.

    By hand, as nesting is deeper than Python's recursion where SQL is generated.
    """
    made: list[str] = []
    lists = [_items_of_list(code, first, end)]
    while lists:
        begin, until = next(lists[-1], (-1, -1))
        inner = next((n for n in code.outside(begin, until) if code.word(n) == "columns"), None) if until > 0 else None
        if until < 0:
            lists.pop()
        elif code.word(begin) == "nested" and inner is not None:
            lists.append(_items_of_list(code, inner + 1, until))
        else:
            later = code.outside(begin + 1, until)
            behind = (n for n in later if code.word(n) in _OF_COLUMNS or _begins_clause(code, n))
            column = code.between(begin, next(behind, until))
            made.append(_quoted_name(code, begin) + column[6:] if code.word(begin) == "nested" else column)
    return ", ".join(made)


def _quoted_name(code: Code, number: int) -> str:
    """The name of a column in quotes, which is no keyword then."""
    quote = next(quote for quote in code.dialect.name_quotes if quote != "[")
    return f"{quote}{code.column(number)}{quote}"


def _items_of_list(code: Code, first: int, end: int) -> Iterator[tuple[int, int]]:
    return code.items(first + 1, code.closing(first)) if code.word(first) == "(" else code.items(first, end)


def _rows_of_xml(code: Code, number: int, closing: int) -> Iterator[Edit]:
    """XMLTABLE(XMLNAMESPACES(…), '/r' PASSING BY REF d AS "x" RETURNING SEQUENCE BY REF COLUMNS …), LATERAL or not."""
    first = number + 2
    if code.stands(first, "xmlnamespaces", "("):
        first = code.closing(first + 1) + 2
        yield code.edit(number + 2, first - 1)
    passing = next((n for n in code.outside(first, closing) if code.word(n) == "passing"), None)
    lateral = code.word(number - 1) == "lateral"
    if passing is None:
        if lateral:
            yield code.edit(number - 1, number - 1)
        return
    end = next((n for n in code.outside(passing, closing) if code.word(n) in ("columns", "returning")), closing)
    yield from _passed_values(code, passing, end)
    if first < passing and not (code.is_string(first) and first + 1 == passing):  # a row's path that is no literal
        yield code.edit(first, passing - 1, "''")
        yield code.end_of(end - 1), code.end_of(end - 1), f", ({code.between(first, passing)})"
    columns = next((n for n in code.outside(end, closing) if code.word(n) == "columns"), closing)
    made = list(_made_columns(code, columns + 1, closing))
    whole = code.word(number - lateral - 1) != "(" and code.word(closing + 1) != "with"  # no part of ROWS FROM (…)
    if whole and any(column.values for column in made):
        yield from _query_of_columns(code, number - lateral, closing, made)
    elif lateral:
        yield code.edit(number - 1, number - 1)
    if code.stands(end, "returning", "sequence", "by", "ref"):
        yield code.edit(end, end + 3)


@dataclass(frozen=True)
class _MadeColumn:
    """A column of an XMLTABLE by where its name stands, and the clauses that say what else its value is made of."""

    name: int
    values: tuple[tuple[int, int], ...]


def _made_columns(code: Code, first: int, closing: int) -> Iterator[_MadeColumn]:
    """The columns with each PATH and DEFAULT that is no literal: b int PATH t.p DEFAULT t.c NOT NULL."""
    for name, until in code.items(first, closing):
        clauses = [n for n in code.outside(name + 1, until) if _begins_clause_of_xml(code, n)]
        ends = [*clauses[1:], until]
        values = ((n, end) for n, end in zip(clauses, ends, strict=False) if code.word(n) in ("default", "path"))
        yield _MadeColumn(name, tuple(v for v in values if any(map(code.is_name, range(v[0] + 1, v[1])))))


def _begins_clause_of_xml(code: Code, number: int) -> bool:
    word, before = code.word(number), code.word(number - 1)
    if before in _BEFORE_PART:
        return False
    if word == "null" or code.stands(number, "not", "null"):
        return before not in ("default", "is", "not")
    return word in ("default", "path")


def _query_of_columns(code: Code, first: int, closing: int, made: list[_MadeColumn]) -> Iterator[Edit]:
    """XMLTABLE in a query whose columns have their own values: what one is made of by default is no other's.

    Inside, the columns have names that none of the values has.
    """
    outputs = []
    for number, column in enumerate(made):
        inner = f"column_{first}_{number}"
        values = "".join(f", {code.between(n + 1, until)}" for n, until in column.values)
        outputs.append(f"{_OF_ALL_ARGUMENTS}({inner}{values})" if values else inner)
        outputs[-1] += f" AS {code.between(column.name, column.name + 1)}"
        yield code.edit(column.name, column.name, inner)
        for n, until in column.values:
            yield code.edit(n, until - 1)
    word = first + (code.word(first) == "lateral")
    yield code.edit(first, word, f"LATERAL (SELECT {', '.join(outputs)} FROM XMLTABLE")
    named = "" if alias_at(code, closing + 1) is not None else " AS xmltable"
    yield code.end_of(closing), code.end_of(closing), f" AS rows_{first}){named}"


def nested_rows(code: Code) -> Iterator[Edit]:
    """Oracle: FROM t NESTED doc.items[*] COLUMNS (a, NESTED b COLUMNS (c)) AS j: JSON_TABLE of t.doc, joined to t."""
    for number in range(2, len(code) - 2):
        if code.word(number) != "nested" or code.stands(number + 1, "table") or not code.is_name(number - 1):
            continue
        first = number + 1 + (code.word(number + 1) == "path")
        columns = next((n for n in range(first, min(first + 40, len(code))) if code.word(n) in ("columns", ";")), None)
        if columns is None or not code.is_name(first) or not code.stands(columns, "columns", "("):
            continue
        closing = code.closing(columns + 1)
        around = (n for n in range(1, number) if code.word(n - 1) == "columns")  # NESTED within JSON_TABLE's columns
        if closing >= len(code) or any(code.closing(n) > number for n in around):
            continue
        table = code.between(number - 1, number)
        first += 2 * (code.name(first) == code.name(number - 1) and code.word(first + 1) == ".")
        made = _json_columns(code, columns + 1, closing + 1)
        rows = f"LEFT JOIN JSON_TABLE({table}.{code.between(first, first + 1)}, '$' COLUMNS ({made}))"
        named = alias_at(code, closing + 1)
        if named is None or code.word(named) in _ORACLE_CLAUSES:
            yield code.edit(number, closing, f"{rows} nested_rows_{number} ON 1 = 1")
        else:
            yield code.edit(number, named, f"{rows} {code.between(named, named + 1)} ON 1 = 1")
