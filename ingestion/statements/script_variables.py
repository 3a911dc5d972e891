"""What a script names once and uses in its later statements, put where they use it: variables, types, cursors.

Hive's `SET src = raw.t; … FROM ${src}` and Snowflake's `$src` name tables; T-SQL's `CREATE TYPE pairs AS TABLE (…)` has
the columns of `DECLARE @p pairs`; Db2's `DECLARE c CURSOR FOR query` is read by `LOAD FROM c OF CURSOR`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.cursor import Code, Edit, with_edits
from ingestion.dialects.keywords import QUERIES
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
    if rules.table_variables:
        yield from _with_table_types(statements, rules)
        return
    if rules.command_procedure:
        yield from _with_cursors(statements, rules)
        return
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


# T-SQL's types of tables.

_TABLE_TYPE = re.compile(r"\s*create\s+type\b[^(]*?\bas\s+table\s*\(", re.IGNORECASE)


def _with_table_types(statements: Sequence[StatementText], rules: Dialect) -> Iterator[StatementText]:
    """DECLARE @p dbo.pairs as DECLARE @p TABLE (…), with what the last CREATE TYPE of that name has in its brackets."""
    types: dict[tuple[str, ...], str] = {}
    for one in statements:
        if _TABLE_TYPE.match(one.text):
            code = Code.of(one.text, rules)
            name, end = code.dotted_name(2)
            opening = end + 2
            columns = code.text[code.start_of(opening) : code.end_of(code.closing(opening))]
            types[tuple(part.lower() for part in name)] = columns
            yield one
            continue
        yield (
            replace(one, text=with_edits(one.text, list(_type_edits(Code.of(one.text, rules), types))))
            if types
            else one
        )


def _type_edits(code: Code, types: Mapping[tuple[str, ...], str]) -> Iterator[Edit]:
    for number in range(1, len(code)):
        if not code.word(number).startswith("@") or code.word(number - 1) not in ("declare", ","):
            continue
        first = number + 1 + (code.word(number + 1) == "as")
        name, end = code.dotted_name(first)
        wanted = tuple(part.lower() for part in name)
        found = [columns for key, columns in types.items() if key[-len(wanted) :] == wanted[-len(key) :]]
        if name and len(found) == 1 and code.word(end) != "readonly":
            yield code.edit(first, end - 1, f"TABLE {found[0]}")


# Db2's cursors that a utility loads from.


def _with_cursors(statements: Sequence[StatementText], rules: Dialect) -> Iterator[StatementText]:
    """LOAD FROM c OF CURSOR as LOAD FROM (query) OF CURSOR; of a cursor in another database nothing is known here."""
    queries: dict[str, str] = {}
    for one in statements:
        verb = one.text[:7].lower()
        if not verb.startswith(("declare", "load")):
            yield one
            continue
        code = Code.of(one.text, rules)
        start = next((n + 1 for n in range(2, len(code)) if code.word(n) == "for"), 0)
        if code.stands(2, "cursor") and start:
            plain = code.word(start) in QUERIES and "database" not in code.words(2, start - 2)
            queries[code.name(1)] = code.between(start, len(code)).rstrip("; \n") if plain else ""
        source = 2 + (code.word(1) == "client")
        query = queries.get(code.name(source), "") if code.stands(source + 1, "of", "cursor") else ""
        yield replace(one, text=with_edits(one.text, [code.edit(source, source, f"({query})")])) if query else one
