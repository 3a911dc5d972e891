"""Variables that a script sets and names tables by: Hive's `SET src = raw.t; … FROM ${src}`, Snowflake's `$src`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.statements._splitting import StatementText

_SETTING = re.compile(r"set\s+(?:(?:hivevar|hiveconf|var|spark|sparkconf)\s*:\s*)?([\w.]+)\s*=\s*(.*)", re.I | re.S)
_MARKED = re.compile(r"\$\{(?:(?:hivevar|hiveconf|var|spark|sparkconf):)?([\w.]+)\}", re.IGNORECASE)
# What can be put where it stands: a name, a number, a path, a text in quotes. Anything else could end a statement.
_PLAIN = re.compile(r"[\w.\-/:*=@]+|'[^'\\]*'|\"[^\"\\]*\"|`[^`]*`(?:\.`[^`]*`)*")
_NAMED_BY = ("identifier", "table")


def with_own_variables(statements: Sequence[StatementText], dialect: str) -> Iterator[StatementText]:
    """The statements of a text with the values of those variables that a statement before them has set.

    What no statement sets stays as it is: only the session knows it, and the statement is not read.
    """
    rules = dialect_of(dialect)
    if not (rules.unquoted_settings or rules.set_makes_variables) or not any("$" in one.text for one in statements):
        yield from statements
        return
    values: dict[str, str] = {}
    for one in statements:
        fill = _with_marked if rules.unquoted_settings else _with_named
        text = fill(one.text, values, rules) if values and "$" in one.text else one.text
        if text[:3].lower() == "set":
            values |= _settings(text) if rules.unquoted_settings else _assignments(Code.of(text, rules))
            values = {name: value for name, value in values.items() if value}
        yield one if text == one.text else replace(one, text=text)


def _settings(text: str) -> Mapping[str, str]:
    """What `SET name = value` gives a name: the text up to the end; "" where that is more than can be filled in."""
    found = _SETTING.match(text)
    if found is None:
        return {}
    value = found[2].rstrip().removesuffix(";").rstrip()
    return {found[1].lower(): value if _PLAIN.fullmatch(value) else ""}


def _with_marked(text: str, values: Mapping[str, str], _rules: Dialect) -> str:
    return _MARKED.sub(lambda match: values.get(match[1].lower(), match.group()), text)


def _assignments(code: Code) -> Mapping[str, str]:
    """`SET a = 'x'`, `SET (a, b) = ('x', 'y')`: texts by names; "" for what is no constant text."""
    if code.word(1) != "(":
        given = code.is_string(3) and len(code) - (code.word(len(code) - 1) == ";") == 4
        return {code.word(1): code.between(3, 4) if given else ""} if code.stands(2, "=") else {}
    closing = code.closing(1)
    names = [code.word(first) for first, _ in code.items(2, closing)]
    values = list(code.items(closing + 3, code.closing(closing + 2))) if code.stands(closing + 1, "=", "(") else []
    texts = [code.between(*one) if one[1] - one[0] == 1 and code.is_string(one[0]) else "" for one in values]
    return dict(zip(names, texts, strict=True)) if len(names) == len(texts) else dict.fromkeys(names, "")


def _with_named(text: str, values: Mapping[str, str], rules: Dialect) -> str:
    """IDENTIFIER($src) and TABLE($src) with the text: elsewhere a variable is a value, and names nothing."""
    code = Code.of(text, rules)
    for number in reversed(range(len(code) - 2)):
        if code.word(number) not in _NAMED_BY or code.word(number + 1) != "(":
            continue
        closing = code.closing(number + 1)
        inside = code.text[code.end_of(number + 1) : code.start_of(closing)].strip()
        value = values.get(inside[1:].lower(), "") if inside.startswith("$") else ""
        if value:
            text = f"{text[: code.start_of(number)]}IDENTIFIER({value}{text[code.start_of(closing) :]}"
    return text
