"""Templates that nobody filled in: Jinja, Snowflake's `<% x %>` and `&{x}`, `${x}`, sqlcmd's `$(x)`, Python's `{x}`,
macros called `@each(x)`, Informatica's `$$x`, batch files' `%x%`, and whatever sign stands within a name: `s.t_&x`.

As code a template can become anything, so its statement is not read. In a string it becomes a part of a value, and
lineage has no values: there the statement is read, unless the string, or the quoted name, names something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.definition import DollarQuotes
from ingestion.dialects.lexing import COMMENT, HINT, lexicon_of
from ingestion.errors import Templated

_ANGLES = r"<[A-Za-z][\w-]*+>"
"""`<WAREHOUSE>`, `<your-project>`: told from comparisons by what stands before it."""
_BEFORE_A_NAME = (
    "from|into|join|table|update|view|using|use"
    "|(?:use|create|replace|alter|drop|in|to|on) (?:database|schema|warehouse|role|stage|stream|task|pipe|user)"
)
_BEFORE_A_VALUE = "select|distinct|where|and|or|not|by|having|set|then|else|when|on|between|like|as"
"""Behind these, as behind a comma, something begins: no operator can stand there."""
_CODE = (
    r"(?<![mM][aA][pP])(?<![mM][aA][pP] )\{\{",  # not DuckDB's map with structs as its keys
    r"\{[%#]",
    r"[$&]\{",
    r"<%[=-]?+\s*+[\w.]++[^%;,\n]*+%>",
    r"<[A-Za-z]\w*+>(?=\.[\w\"`\[<])|(?<=\.)<[A-Za-z]\w*+>",  # <database>.<schema>.t, as manuals write it
    rf"(?:[(,=]\s*+|\b(?i:{_BEFORE_A_VALUE})\s++|(?<!\w)@){_ANGLES}",
    r"(?:[(,]\s*+|=\s++)<[A-Za-z]\w*+(?: \w++){1,4}>",  # = <your warehouse>
    rf"\b(?i:{_BEFORE_A_NAME})\s++(?:[\"`\[]?{_ANGLES}|<{_ANGLES}>|&{{1,2}}[A-Za-z_]\w*+)",
    r"\b(?i:warehouse)\s*+=\s*+[&:]++[A-Za-z_]\w*+",
    rf"\b(?i:identifier|table)\s*+\(\s*+'{_ANGLES}",
    rf"\"{_ANGLES}\"(?=\.)|`{_ANGLES}`?(?=\.)|\[{_ANGLES}\](?=\.)",
    r"<\?(?:php|=)|<#(?:if|list|assign|include)\b",
    r"[$]\[\w++\]?|\[%\w++\]?",
    r"(?<=[\w\"`\]]\.)(?:[@&%:]++|\?)[A-Za-z_(]\w*+",  # s.@column
    r"(?<![\w$#@\"`\]])@[A-Za-z_]\w*+@\w[\w@]*+",  # @schema@prefix_t; T-SQL would let a variable be called so
    r"(?:[(,=<>]|\b(?i:select|from|join|into|where|and|or|between|then|else|by))\s*+%{1,2}[A-Za-z_]\w*+%",
)
_NAME_GOES_ON = (
    r"\b(?i:from|join|into|table|update|view)\s++(?=[\w\"`\[])"
    r"(?:\w++|[.$]|\"[^\"\n]*+\"|`[^`\n]*+`|\[[^\]\n]*+\])++(?<=[\w$\"`\].])"
)
"""A relation's name up to a sign that no name has: what stands behind it would be taken for an alias or nothing."""
_DOLLAR = r"(?<![\w$#@.\"`\]])\$\$?[A-Za-z_]\w*+(?:\$\$)?"
_ONE_DOLLAR = r"(?<![\w$#@.\"`\]])\$[A-Za-z_]\w*+(?!\$)"  # where $$ begins a text
_DOLLAR_MEMBER = r"(?<=[\w\"`\]]\.)\$\$?[A-Za-z_]\w*+"
_DOLLAR_RELATION = r"\b(?i:from|join|into|update|view)\s++\$\$?[A-Za-z_]\w*+(?:\$\$)?(?!\$)"
_HASHES = r"(?<![\w$#@\"`\]])#[A-Za-z_]\w*+#(?![\w>#-])"
_MACRO = r"(?<![\w@\"`\])])@{1,2}[A-Za-z_]\w*+\("
_STAGE = r"(?<!(?i:from|into|join)\s)(?<!(?i:using)\s)"
_AT_NAME = re.compile(r"(?<![\w@\"'`\])<>~&|*!.?^#-])@[A-Za-z_]\w*+\(?")
_SIGNS: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...] = (
    ("{", ()),
    ("$", (re.compile(r"\$[(\[$A-Za-z_]"),)),
    ("<", (re.compile(r"<[%\w?#]"),)),
    ("&:", (re.compile(rf"\b(?:(?:{_BEFORE_A_NAME})\s++&{{1,2}}|warehouse\s*+=\s*+[&:])[a-z_]", re.IGNORECASE),)),
    ("%", (re.compile(r"\[%|%(?<!['\"%]%)\w+%"),)),
    ("#", (re.compile(r"#\w+#"),)),
    ("@", (re.compile(r"@\w"),)),
    ("@&%~?!#", (re.compile(r"[@&%~?!#](?<=[\w\"`\].$][@&%~?!#])[@&%~?!#]*+[\w({]"),)),
    (":", (re.compile(r":(?<=\.:):*+[A-Za-z_(]"),)),
    (
        ":",  # a:b and a::b stand in many statements
        (
            re.compile(r":(?<!::)[\w(]"),
            re.compile(r"\b(?:from|join|into|table|update|view)\s++[^\s,()=:]*+:[\w(]", re.IGNORECASE),
        ),
    ),
)
"""Signs, one of which every form has, and all that must be found where one is; most statements have none of it.

The patterns begin with their signs, so that the engine skips to these: what stands before is looked at behind them.
"""
_ARGUMENTS = re.compile(r"(?i:extract|substring|trim|overlay|position|substr)\s*+\([^()]*+\Z")
_PYTHON = r"\{[A-Za-z_][\w.]*+\}"
_SQLCMD = r"\$\(\w++\)"
_SQLCMD_OR_CALL = r"(?<![\w$#@])\$\(\w++\)"  # f$(x) calls f$
_STUDIO = r"<\w++,[^<>(),\n]*+,[^<>()\n]*+>"
_QUOTED = r"\{\{|\{%|[$&]\{|<%[=-]?+\s*+[\w.]++[^%;,\n]*+%>|%\(\w++\)s|\$\(\w++\)"
_IN_VALUE = re.compile(
    r"[$&#]\{|\{\{|\{%|<%|(?<!\(\?)<[A-Za-z][\w .-]*>|%\(\w[\w.]*\)[sd]|\$\(\w[\w.]*\)"  # (?<x>…) is a group
)
_QUOTED_BEGIN = ("{", "<%", "$(", "%(")
"""One of these is in each of _QUOTED and _PYTHON."""
_COMMENT_BEGIN = "{#"
_NO_LINE_END = re.compile(r"[^\r\n]")
_CLOSING = {"{{": "}}", "{%": "%}", "{#": "#}", "${": "}", "&{": "}"}
_LITERAL = re.compile(
    r"'(?:[^'\\]|\\.)*+(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|(?<![\w.])\d[\w.]*+|(?<=\w:[-=?+])[^}]++"
)
_DOLLARS = "$$"
"""Begins Informatica's names, and texts of PostgreSQL or Snowflake where a log's dialect is said to be another."""
_LONGEST = 80
_BOUND_LATER = re.compile(r"[:?%]|\$\d++\Z|@|[^(]*+\(")


def without_template_comments(text: str, dialect: Dialect | str) -> str:
    """The text with blanks for Jinja's comments, which say as little as those of SQL; of one that never ends its sign
    stays, as what was cut off there is not known.

    `SELECT a FROM s {# for ann@shop.example; it has a quote' #}`: no quote or semicolon in one is the statement's.
    """
    if _COMMENT_BEGIN not in text:
        return text
    pattern = _comment_pattern(dialect if isinstance(dialect, str) else dialect.name)
    return pattern.sub(_without_prose, text)


def _without_prose(match: re.Match[str]) -> str:
    found = match.group()
    if match["prose"] is None:
        return found
    sign = "" if found.endswith("#}") else _COMMENT_BEGIN
    return sign + _NO_LINE_END.sub(" ", found[len(sign) :])


@lru_cache
def _comment_pattern(dialect: str) -> re.Pattern[str]:
    """One comment of a template, or whatever is quoted in SQL."""
    return re.compile(rf"(?P<prose>(?<!\{{)\{{#[\s\S]*?(?:#\}}|\Z))|{lexicon_of(dialect).quoted.pattern}")


class Template(NamedTuple):
    """A template in a text: the line (from 1) that it begins in, and what it says, without literals."""

    line: int
    expression: str


def template_in_code(text: str, dialect: Dialect | str) -> Template | None:
    """The first template outside strings, quoted names and comments."""
    if not _has_sign(text):
        return None
    for match in _pattern(dialect if isinstance(dialect, str) else dialect.name).finditer(text):
        if match["template"] is not None and not _is_argument(text, match):
            return _template(text, match.start(), match.group())
    return None


def _has_sign(text: str) -> bool:
    for signs, patterns in _SIGNS:
        for sign in signs:  # loops, as every text is looked at twice: generators take longer than all the searches
            if sign in text:
                if all(pattern.search(text) for pattern in patterns):
                    return True
                break
    return False


def template_in_script(text: str, dialect: Dialect | str) -> Template | None:
    """The same in a text that is kept for others to fill in: there `@name` is a macro, though an engine that has the
    operator `@` would take it for the absolute value of a column.
    """
    found = template_in_code(text, dialect)
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    if found is not None or not rules.at_operator or "@" not in text:
        return found
    pattern = re.compile(f"(?P<template>{_AT_NAME.pattern})|{lexicon_of(rules).quoted.pattern}")
    found_at = next((match for match in pattern.finditer(text) if match["template"] is not None), None)
    return None if found_at is None else _template(text, found_at.start(), found_at.group())


def _is_argument(text: str, match: re.Match[str]) -> bool:
    """Whether FROM belongs to a function: in EXTRACT(year FROM a:b) it names no relation."""
    if match.group()[:4].lower() != "from":
        return False
    return _ARGUMENTS.search(text, max(0, match.start() - 200), match.start()) is not None


def template_in_names(text: str, dialect: Dialect | str, symbolic: bytes) -> Template | None:
    """The first template in a string or quoted name, where the lineage of `text` has a name with a template in it.

    `symbolic` is that lineage: its bytes hold names as they are, and no value.
    """
    if not any(begun in text for begun in _QUOTED_BEGIN):
        return None
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


def is_unfilled(value: str) -> bool:
    """Whether a value of a configuration has a place that nobody has filled: `${DB}`, `shop.{{ t }}`, `%(topic)s`."""
    return _IN_VALUE.search(value) is not None


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
    if not (dialect.dollar_names or dialect.dollar_values):
        forms.append(_DOLLAR_MEMBER)
        if dialect.dollar_quotes is not DollarQuotes.TAGGED:
            forms.append(_DOLLAR if dialect.dollar_quotes is DollarQuotes.NONE else _ONE_DOLLAR)
    if not dialect.dollar_names:
        forms.append(_DOLLAR_RELATION)
    if not dialect.hash_comments:
        forms.append(_HASHES)
    if not (dialect.table_variables or dialect.at_operator):
        forms.append(_STAGE + _MACRO if dialect.stage_names else _MACRO)
    forms.append(_NAME_GOES_ON + _sign_behind_names(dialect))
    return re.compile(f"(?P<template>{'|'.join(forms)})|{lexicon_of(dialect).quoted.pattern}")


def _sign_behind_names(dialect: Dialect) -> str:
    """What no name of a relation goes on with: `#` begins comments or is of names, `@` may lead to a server."""
    signs = "&%~?!" if dialect.databases_before_colons else "&:%~?!"
    if not (dialect.remote_names or "#@" in dialect.name_characters):  # BigQuery's @ is that of parameters alone
        signs += "@"
    if not (dialect.hash_comments or "#" in dialect.name_characters):
        signs += "#"
    sqlcmd = "" if dialect.client_variables else r"|(?<=_\$)\("  # f$(x) calls f$
    older = r"(?!@(?:v\d++|\d{17})\b)" if dialect.versions_in_names else ""
    return rf"{older}(?:[{signs}]++[\w(]|(?<!\.)<[\w#?]{sqlcmd})\w*+>?"


@lru_cache(maxsize=64)
def _quoted_sign(name: str) -> re.Pattern[str]:
    dialect = dialect_of(name)
    forms = [_QUOTED]
    if not dialect.names_with_braces:
        forms.append(_PYTHON)
    return re.compile("|".join(forms))


def _template(text: str, start: int, found: str) -> Template:
    closing = _CLOSING.get(found)
    if found != _COMMENT_BEGIN and closing is not None:  # what stands in a comment is nobody's expression
        end = text.find(closing, start + len(found))
        found = text[start : end + len(closing)] if end >= 0 else found  # where it ends nobody knows, nor what it is
    masked = f"{_DOLLARS}?" if found.startswith(_DOLLARS) else _LITERAL.sub("?", found[: 2 * _LONGEST])
    expression = " ".join(masked.split())
    shown = expression if len(expression) <= _LONGEST else f"{expression[:_LONGEST]}…"
    return Template(text.count("\n", 0, start) + 1, shown)
