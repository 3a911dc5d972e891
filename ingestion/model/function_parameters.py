"""The parameters of functions of SQL: how a body names them on its way through the parsers, and in its lineage."""

from __future__ import annotations

import re

from ingestion.model.lineage import ColumnRef, TableName

PARAMETERS = TableName(("?",))
"""What the parameters of a function are columns of, while its body is analysed."""

_PREFIX = "parameter_of_function_"
_PLACEHOLDER = re.compile(rf"{_PREFIX}(?P<number>\d+)(?:_(?P<name>.+))?", re.DOTALL)


def placeholder(number: int, name: str) -> str:
    """The name of the placeholder that stands for a parameter: `WHERE k = :parameter_of_function_1_x`."""
    plain = plain_name(name)
    return f"{_PREFIX}{number}" + (f"_{plain}" if plain else "")


def plain_name(name: str) -> str:
    """A parameter's name as a placeholder has it; "" of one that it cannot have."""
    plain = name.lstrip("@")
    return plain if re.fullmatch(r"\w+", plain) else ""


def parameter_of(placeholder_name: str) -> tuple[int, str] | None:
    """The number and name of the parameter that a placeholder stands for; None of another placeholder."""
    found = _PLACEHOLDER.fullmatch(placeholder_name.lower())
    return (int(found["number"]), found["name"] or "") if found else None


def column_of(number: int, name: str) -> ColumnRef:
    """A parameter as a column of PARAMETERS."""
    return ColumnRef(PARAMETERS, f"{number} {name}")


def parameter_in(column: ColumnRef) -> tuple[int, str]:
    """The number and name behind such a column."""
    number, _, name = column.column.partition(" ")
    return int(number), name
