"""Templates that nobody filled in: Jinja, Snowflake's `<% x %>` and `&{x}`, `${x}`, sqlcmd's `$(x)`, Python's `{x}`.

As code a template can become anything, so its statement is not read. In a string it becomes a part of a value, and
lineage has no values: there the statement is read, unless the string, or the quoted name, names something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.lexing import COMMENT, HINT, lexicon_of
from ingestion.errors import Templated

_CODE = (
    r"(?<![mM][aA][pP])(?<![mM][aA][pP] )\{\{",  # not DuckDB's map with structs as its keys
    r"\{[%#]",
    r"[$&]\{",
    r"<%[=-]?+\s*+[\w.]++[^%;,\n]*+%>",
    r"<[A-Za-z]\w*+>(?=\.[\w\"`\[<])|(?<=\.)<[A-Za-z]\w*+>",  # <database>.<schema>.t, as manuals write it
    r"\b(?i:from|into|join|table|update|view)\s++<[A-Za-z]\w*+>",
)
_OPENED = re.compile(r"<[%\w]")
"""What every form that begins with `<` begins with; a comparison seldom does."""
_PYTHON = r"\{[A-Za-z_][\w.]*+\}"
_SQLCMD = r"\$\(\w++\)"
_SQLCMD_OR_CALL = r"(?<![\w$#@])\$\(\w++\)"  # f$(x) calls f$
_STUDIO = r"<\w++,[^<>(),\n]*+,[^<>()\n]*+>"
_QUOTED = r"\{\{|\{%|[$&]\{|<%[=-]?+\s*+[\w.]++[^%;,\n]*+%>"
_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}", "${": "}", "&{": "}"}
_LITERAL = re.compile(
    r"'(?:[^'\\]|\\.)*+(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|(?<![\w.])\d[\w.]*+|(?<=\w:[-=?+])[^}]++"
)
_LONGEST = 80
_BOUND_LATER = re.compile(r"[:?%]|\$\d++\Z|@|[^(]*+\(")


class Template(NamedTuple):
    """A template in a text: the line (from 1) that it begins in, and what it says, without literals."""

    line: int
    expression: str


def template_in_code(text: str, dialect: Dialect | str) -> Template | None:
    """The first template outside strings, quoted names and comments."""
    if "{" not in text and "$(" not in text and _OPENED.search(text) is None:
        return None
    for match in _pattern(dialect if isinstance(dialect, str) else dialect.name).finditer(text):
        if match.lastgroup == "template":
            return _template(text, match.start(), match.group())
    return None


def template_in_names(text: str, dialect: Dialect | str, symbolic: bytes) -> Template | None:
    """The first template in a string or quoted name, where the lineage of `text` has a name with a template in it.

    `symbolic` is that lineage: its bytes hold names as they are, and no value.
    """
    sign = _quoted_sign(dialect if isinstance(dialect, str) else dialect.name)
    if sign.search(text) is None or sign.search(symbolic.decode("latin-1")) is None:
        return None
    return template_in_quotes(text, dialect)


def template_in_quotes(text: str, dialect: Dialect | str) -> Template | None:
    """The first template in a string or quoted name."""
    name = dialect if isinstance(dialect, str) else dialect.name
    sign = _quoted_sign(name)
    for match in lexicon_of(name).quoted.finditer(text):
        found = sign.search(match.group()) if match.lastgroup not in (COMMENT, HINT) else None
        if found is not None:
            return _template(text, match.start() + found.start(), found.group())
    return None


def refuse_bound_name(parts: Iterable[str], dialect: Dialect) -> None:
    """Raises Templated where a bare part of a relation's name is bound when the statement runs: `:s.t`, `$1`, `f(x)`.

    T-SQL's variables, which are tables, and stages are names.
    """
    bare = tuple(parts)
    for part in bare:
        if _BOUND_LATER.match(part) is None:
            continue
        if part[0] == "@" and (dialect.stage_names or (dialect.table_variables and len(bare) == 1)):
            continue
        raise Templated(Templated.code)


@lru_cache(maxsize=64)
def _pattern(name: str) -> re.Pattern[str]:
    dialect = dialect_of(name)
    forms = [*_CODE, *((_SQLCMD, _STUDIO) if dialect.client_variables else (_SQLCMD_OR_CALL,))]
    if not dialect.brace_comments:
        forms.append(_PYTHON)
    return re.compile(f"(?P<template>{'|'.join(forms)})|{lexicon_of(dialect).quoted.pattern}")


@lru_cache(maxsize=64)
def _quoted_sign(name: str) -> re.Pattern[str]:
    dialect = dialect_of(name)
    forms = [_QUOTED]
    if dialect.client_variables:
        forms.append(_SQLCMD)
    if not dialect.names_with_braces:
        forms.append(_PYTHON)
    return re.compile("|".join(forms))


def _template(text: str, start: int, found: str) -> Template:
    closing = _CLOSING.get(found)
    if closing is not None:
        end = text.find(closing, start + len(found))
        found = text[start : end + len(closing)] if end >= 0 else text[start:].partition("\n")[0]
    expression = " ".join(_LITERAL.sub("?", found[: 2 * _LONGEST]).split())
    shown = expression if len(expression) <= _LONGEST else f"{expression[:_LONGEST]}…"
    return Template(text.count("\n", 0, start) + 1, shown)
