"""What the library's functions are given: a wrong type is refused in a sentence, before anything is done."""

from __future__ import annotations

from collections.abc import Mapping

DIALECT_NAME = 'give its name, as in dialect="postgres"'


def require_text(value: object, name: str, advice: str = "give the SQL as a str") -> None:
    """Raises TypeError, ending in `advice`, where the argument called `name` is no str."""
    if isinstance(value, str):
        return
    if isinstance(value, bytes | bytearray):
        advice = "decode it first, as in .decode('utf-8')"
    raise TypeError(f"{name} is {kind_of(value)}: {advice}")


def require_seconds(value: object, name: str) -> None:
    """Raises TypeError where the argument called `name` is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {kind_of(value)}: give a number of seconds")


def require_schema(value: object, name: str) -> None:
    """Raises TypeError where the argument called `name` is no {"schema.table": {"column": "type"}}."""
    form = 'give {"schema.table": {"column": "type"}}'
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is {kind_of(value)}: {form}")
    for table, columns in value.items():
        if not isinstance(table, str):
            raise TypeError(f"a table of {name} is {kind_of(table)}: {form}")
        if not isinstance(columns, Mapping):
            raise TypeError(f"{name}[{table!r}] is {kind_of(columns)}: {form}")
        for column, type_ in columns.items():
            if not isinstance(column, str) or not isinstance(type_, str):
                wrong = column if not isinstance(column, str) else type_
                raise TypeError(f"{name}[{table!r}] has {kind_of(wrong)} in it: {form}")


def kind_of(value: object) -> str:
    """What a value is, in a sentence: `None`, `a list`, `an int`; never the value itself."""
    if value is None:
        return "None"
    kind = type(value).__name__
    if kind.endswith("s"):
        return kind
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
