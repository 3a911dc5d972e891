"""SQLMesh's macros by rules of our own: `@start_ds`, `@EACH(list, x -> f(@x))`, `@IF(condition, a, b)`, variables.

What a macro becomes is text, and is put in its place; the rest of the text stays as it is. A macro that these rules do
not know, and one that needs the columns of a table, ends the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.simplify import simplify

from connectors.sqlmesh._headers import closing, items

MOST_CHARACTERS = 4 << 20
"""Of what macros may become: a list of lists grows with each level."""
_DEEPEST = 100
_DATE = "CAST('2020-01-01' AS DATE)"
_TIMES = {"ds": "'2020-01-01'", "date": _DATE, "dt": "CAST('2020-01-01' AS TIMESTAMP)", "ts": "'2020-01-01 00:00:00'",
          "tstz": "'2020-01-01 00:00:00+00:00'", "dtntz": "CAST('2020-01-01' AS TIMESTAMP)", "epoch": "1577836800",
          "millis": "1577836800000", "hour": "0"}  # fmt: skip
_KNOWN = {
    f"{moment}_{unit}": value for moment in ("start", "end", "execution", "latest") for unit, value in _TIMES.items()
}
_MACRO = re.compile(
    r"(?P<quoted>'(?:[^'\\]|\\.|'')*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|`[^`]*+(?:`|\Z)|--[^\n]*+|/\*[\s\S]*?(?:\*/|\Z))"
    r"|@(?:\{(?P<braced>\w+)\}|(?P<called>\w+)\s*\(|(?P<named>\w+)|(?P<text>'(?:[^']|'')*+'))"
)
_IN_NAME = re.compile(r"@(?:\{(\w+)\}|(\w+))")
_REST_OF_NAME = re.compile(r"\.[^\W\d]|\.[\"`@]")
_LAMBDA = re.compile(r"\s*(?:(\w+)|\(\s*(\w+(?:\s*,\s*\w+)*)\s*\))\s*->\s*([\s\S]*)\Z")
_WORD = re.compile(r"(?P<quoted>'(?:[^']|'')*+'|\"[^\"]*+\")|(?<![\w@.])(?P<word>[A-Za-z_]\w*)(?!\s*\()")
_CLAUSES = {"with": "WITH", "join": "JOIN", "where": "WHERE", "group_by": "GROUP BY", "having": "HAVING",
            "order_by": "ORDER BY", "limit": "LIMIT", "qualify": "QUALIFY"}  # fmt: skip


class NotExpandable(Exception):
    """A macro that is not known here, or that cannot be carried out; the message names it and quotes nothing else."""


@dataclass(frozen=True)
class MacroScope:
    """What macros see: `variables` by lower-case name, as text; `macros` are lambdas that the model itself defines."""

    variables: Mapping[str, str] = field(default_factory=dict)
    macros: Mapping[str, str] = field(default_factory=dict)
    dialect: str = ""
    depth: int = 0

    def with_variables(self, names: Mapping[str, str]) -> MacroScope:
        if self.depth >= _DEEPEST:
            raise NotExpandable("its macros go too deep")
        return replace(self, variables={**self.variables, **names}, depth=self.depth + 1)


def expand(text: str, scope: MacroScope) -> str:
    """The text with its macros carried out. Raises NotExpandable."""
    found: list[str] = []
    at, length = 0, 0
    while (match := _MACRO.search(text, at)) is not None:
        made, after = (
            (_with_values(match.group(), scope), match.end()) if match["quoted"] else _expansion(text, match, scope)
        )
        found += (text[at : match.start()], made)
        length += match.start() - at + len(made)
        if length > MOST_CHARACTERS:
            raise NotExpandable("its macros make more than 4 MB")
        at = after
    return "".join((*found, text[at:]))


def _with_values(text: str, scope: MacroScope) -> str:
    """What stands in quotes: in those of a name the variables that are known are filled in, a string is left alone."""
    quotes = sqlglot.Dialect.get_or_raise(scope.dialect or None).tokenizer_class.IDENTIFIERS
    if "@" not in text or text[0] not in quotes:
        return text
    return _IN_NAME.sub(lambda one: _bare(_value_of((one[1] or one[2]).lower(), scope) or one.group()), text)


def _value_of(name: str, scope: MacroScope) -> str | None:
    return scope.variables.get(name, _KNOWN.get(name))


def _expansion(text: str, match: re.Match[str], scope: MacroScope) -> tuple[str, int]:
    if match["text"]:
        return match["text"], match.end()
    if match["called"]:
        end = closing(text, match.end() - 1)
        if end < 0:
            raise NotExpandable(f"@{match['called']} never ends")
        return _call(match["called"], items(text[match.end() : end]), scope), end + 1
    name = (match["braced"] or match["named"]).lower()
    value = _value_of(name, scope)
    if value is None:
        raise NotExpandable(f"@{name} is given nowhere")
    before = text[match.start() - 1 : match.start()]
    within_name = match["braced"] or before.isalnum() or before in "_." or _REST_OF_NAME.match(text, match.end())
    return (_bare(value) if within_name else value), match.end()


def _bare(value: str) -> str:
    """A value as it stands within a name."""
    return value[1:-1] if value[:1] == "'" and value[-1:] == "'" else value


def _call(name: str, given: list[str], scope: MacroScope) -> str:
    arguments = [one.strip() for one in given if one.strip()]
    lowered = name.lower()
    if lowered in scope.macros:
        return _apply(scope.macros[lowered], [expand(one, scope) for one in arguments], scope)
    if lowered in _CLAUSES:
        return _CLAUSES[lowered] if _is_true(arguments, name, scope) else _refuse_clause(name)
    if lowered in scope.variables and not arguments:
        return scope.variables[lowered]
    macro = _BUILT_IN.get(lowered)
    if macro is None:
        raise NotExpandable(f"@{name} is a macro in Python, or needs columns: install sqlmesh to render it")
    return macro(arguments, scope)


def _refuse_clause(name: str) -> str:
    raise NotExpandable(f"@{name} leaves its clause out")


def _is_true(arguments: list[str], name: str, scope: MacroScope) -> bool:
    condition = expand(arguments[0], scope) if arguments else ""
    try:
        value = simplify(sqlglot.parse_one(condition, read=scope.dialect or None))
    except SqlglotError:
        value = None
    if not isinstance(value, exp.Boolean):
        raise NotExpandable(f"@{name} has a condition that is no constant")
    return bool(value.this)


def _list_items(written: str, scope: MacroScope) -> list[str]:
    """The items of a list: `[a, b]`, `(a, b)`, or one alone."""
    whole = expand(written, scope).strip()
    within = whole[:1] in "([" and closing(whole, 0) == len(whole) - 1 if whole else False
    return [one.strip() for one in items(whole[1:-1] if within else whole) if one.strip()]


def _apply(function: str, values: list[str], scope: MacroScope) -> str:
    found = _LAMBDA.match(function)
    if found is None:
        raise NotExpandable("a function that is not written as x -> f(@x)")
    names = [one.strip().lower() for one in (found[1] or found[2]).split(",")]
    if len(names) == 1 and len(values) > 1:
        values = [", ".join(values)]
    if len(names) != len(values):
        raise NotExpandable("a function with other arguments than it is given")
    given = dict(zip(names, values, strict=True))

    def bare(word: re.Match[str]) -> str:
        value = given.get((word["word"] or "").lower())
        return str(word.group()) if value is None else value

    return expand(_WORD.sub(bare, found[3]), scope.with_variables(given)).strip()


def _each(arguments: list[str], scope: MacroScope) -> str:
    return ", ".join(_mappings(arguments, scope))


def _mappings(arguments: list[str], scope: MacroScope) -> Iterator[str]:
    *lists, function = arguments
    for one in (item for written in lists for item in _list_items(written, scope)):
        tuple_ = one[:1] == "(" and closing(one, 0) == len(one) - 1 and "," in one
        values = [part.strip() for part in items(one[1:-1])] if tuple_ else [one]
        yield _apply(function, values, scope)


def _reduce(arguments: list[str], scope: MacroScope) -> str:
    written, function = arguments
    values = _list_items(written, scope)
    if not values:
        raise NotExpandable("@REDUCE of an empty list")
    made = values[0]
    for value in values[1:]:
        made = _apply(function, [made, value], scope)
        if len(made) > MOST_CHARACTERS:
            raise NotExpandable("its macros make more than 4 MB")
    return made


def _filter(arguments: list[str], scope: MacroScope) -> str:
    written, function = arguments
    kept = [one for one in _list_items(written, scope) if _is_true([_apply(function, [one], scope)], "FILTER", scope)]
    return f"[{', '.join(kept)}]"


def _if(arguments: list[str], scope: MacroScope) -> str:
    if _is_true(arguments, "IF", scope):
        return expand(arguments[1], scope)
    return expand(arguments[2], scope) if len(arguments) > 2 else ""


def _joining(word: str) -> Callable[[list[str], MacroScope], str]:
    return lambda arguments, scope: f" {word} ".join(f"({expand(one, scope)})" for one in arguments) or "TRUE"


def _sql(arguments: list[str], scope: MacroScope) -> str:
    text = arguments[0]
    return expand(text[1:-1].replace("''", "'") if text[:1] == "'" else text, scope)


def _variable(arguments: list[str], scope: MacroScope) -> str:
    name = _bare(arguments[0]).lower()
    if name in scope.variables:
        return scope.variables[name]
    if len(arguments) < 2:
        raise NotExpandable(f"@VAR of {name}, which is given nowhere")
    return expand(arguments[1], scope)


def _key(arguments: list[str], scope: MacroScope) -> str:
    parts = [expand(one, scope) for one in arguments if ":=" not in one]
    return f"MD5(CONCAT({', '.join(parts)}))"


def _safe(sign: str) -> Callable[[list[str], MacroScope], str]:
    return lambda arguments, scope: (
        "(" + f" {sign} ".join(f"COALESCE({expand(one, scope)}, 0)" for one in arguments) + ")"
    )


def _division(arguments: list[str], scope: MacroScope) -> str:
    upper, lower = (expand(one, scope) for one in arguments)
    return f"({upper} / NULLIF({lower}, 0))"


_BUILT_IN: Mapping[str, Callable[[list[str], MacroScope], str]] = {
    "and": _joining("AND"),
    "blueprint_var": _variable,
    "each": _each,
    "eval": lambda arguments, scope: expand(arguments[0], scope),
    "filter": _filter,
    "generate_surrogate_key": _key,
    "if": _if,
    "or": _joining("OR"),
    "reduce": _reduce,
    "safe_add": _safe("+"),
    "safe_div": _division,
    "safe_sub": _safe("-"),
    "sql": _sql,
    "var": _variable,
}
"""SQLMesh's own macros that need nothing but their arguments."""
