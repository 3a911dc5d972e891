"""Databricks' metric views, which are written in YAML: CREATE VIEW v WITH METRICS LANGUAGE YAML AS $$…$$.

As plain views, before their text is masked: for a lexer the YAML is one string, of which nothing would be left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TypeAlias

from ingestion.dialects import Dialect, dialect_of
from ingestion.dialects.lexing import DOLLAR, tokens

_DEFINES = re.compile(
    r"\A\s*+(?:create\b(?=.*\bwith\s+metrics\b)|alter)\b.*\bview\b.*\bas\s*+\Z", re.IGNORECASE | re.DOTALL
)
_BEHIND_HEAD = re.compile(r"\s*+(?:\bwith\s+metrics\b.*|\bas\s*+\Z)", re.IGNORECASE | re.DOTALL)
_QUERY = re.compile(r"\s*+(?:select|with|from)\b", re.IGNORECASE)
_MEASURE = re.compile(r"\bmeasure\s*+\(\s*+(?:`(?P<quoted>[^`]++)`|(?P<name>\w++))\s*+\)", re.IGNORECASE)
_Read: TypeAlias = "dict[object, object]"
_MOST_MEASURES = 5
"""Measures that are made of measures; of one that is made of itself there would be no end."""
_LONGEST_EXPRESSION = 4_100
"""Characters of an expression in which measures are still replaced: those made of several would grow without end."""


def as_plain_view(text: str, dialect: Dialect | str) -> str:
    """The text, or the CREATE VIEW … AS SELECT … that the metric view in it comes to."""
    rules = dialect_of(dialect) if isinstance(dialect, str) else dialect
    body = next((token for token in tokens(text, rules) if token.kind == DOLLAR), None)
    head = text[: body.start] if body is not None else ""
    if body is None or _DEFINES.match(head) is None:
        return text
    import yaml  # some twenty milliseconds that only such a view needs

    try:
        read = yaml.safe_load(body.text.strip("$"))
    except yaml.YAMLError:
        return text
    items = ", ".join(_items(read)) if isinstance(read, dict) else ""
    if not items or not _text(read, "source"):
        return text
    conditions = list(_joins(read, "source"))
    if row_filter := _text(read, "filter"):
        conditions.append(f"({_with_joined_columns(row_filter, read)})")
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{_BEHIND_HEAD.sub('', head)} AS SELECT {items} FROM {_rows(read)} AS source{where}"


def _text(read: _Read, key: str) -> str:
    """A value that is no list, as text; "" where there is none. YAML takes a bare `on` for true."""
    value = read.get(key, read.get(True) if key == "on" else None)
    return str(value) if isinstance(value, str | int | float) else ""


def _entries(read: _Read, *keys: str) -> Iterator[_Read]:
    for key in keys:
        listed = read.get(key)
        yield from (entry for entry in (listed if isinstance(listed, list) else ()) if isinstance(entry, dict))


def _items(read: _Read) -> Iterator[str]:
    measures = {_text(one, "name").lower(): _text(one, "expr") for one in _entries(read, "measures")}
    for one in _entries(read, "dimensions", "fields", "measures"):
        expression = _text(one, "expr")
        for _ in range(_MOST_MEASURES):
            if len(expression) < _LONGEST_EXPRESSION:
                expression = _MEASURE.sub(partial(_measure, measures), expression)
        if expression and (name := _text(one, "name").replace("`", "``")):
            yield f"{_with_joined_columns(expression, read)} AS `{name}`"


def _measure(measures: Mapping[str, str], found: re.Match[str]) -> str:
    expression = measures.get((found["quoted"] or found["name"]).lower())
    return found.group() if expression is None else f"({expression})"


def _rows(read: _Read) -> str:
    """A table by its name, or the rows of a query."""
    text = _text(read, "source").strip().rstrip(";")
    return f"({text})" if _QUERY.match(text) else text


def _joins(read: _Read, joined_to: str) -> Iterator[str]:
    """What joins ask for; a column without a name before it is one of the source, whatever is joined."""
    for one in _entries(read, "joins"):
        name, condition, using = _text(one, "name"), _text(one, "on"), one.get("using")
        shared = (column for column in (using if isinstance(using, list) else ()) if isinstance(column, str))
        asked = [f"({condition})"] if condition else [f"{joined_to}.{column} = {name}.{column}" for column in shared]
        where = " AND ".join([*asked, *_joins(one, name)])
        yield f"EXISTS (SELECT 1 FROM {_rows(one)} AS {name}{' WHERE ' if where else ''}{where})"


def _with_joined_columns(expression: str, read: _Read) -> str:
    """An expression with a query for each column of what is joined: `buyer.country.name` is of the inner join."""
    for path, rows in sorted(_sources(read), reverse=True):
        name = path.rpartition(".")[2]
        column = re.compile(
            rf"'(?:[^'\\]|\\.)*+'|(?<![\w.`]){re.escape(path)}\.(?P<column>`[^`]++`|\w++)", re.IGNORECASE
        )
        query = f"(SELECT {name}.{{}} FROM {rows} AS {name})"
        expression = column.sub(partial(_put, query), expression)
    return expression


def _put(query: str, found: re.Match[str]) -> str:
    return found.group() if found["column"] is None else query.format(found["column"])


def _sources(read: _Read, path: str = "") -> Iterator[tuple[str, str]]:
    """What is joined, by the path that its columns have before them."""
    for one in _entries(read, "joins"):
        inner = f"{path}{_text(one, 'name')}"
        yield inner, _rows(one)
        yield from _sources(one, f"{inner}.")
