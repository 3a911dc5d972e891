"""The vocabulary of an engine's own lineage: how a row of it is read, and what it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ingestion.model import (
    ColumnRef,
    Flow,
    Json,
    NameKind,
    Output,
    Reference,
    StatementKind,
    StatementLineage,
    Subtype,
    TableName,
    Target,
    Transformation,
    WriteMode,
)


class MalformedLineage(ValueError):
    """A row whose lineage cannot be read; the message says why, without its content."""


@dataclass(frozen=True, slots=True)
class EngineLineage:
    """How rows tell lineage: `read` takes the values of `columns` ("" for none).

    It gives None where nothing is written, and raises MalformedLineage.
    """

    columns: tuple[str, ...]
    read: Callable[[Sequence[str]], StatementLineage | None]


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """A column of a source and what it has to do with one of the target."""

    source: TableName
    column: str
    to: str
    subtype: Subtype = Subtype.TRANSFORMATION


def flow_into(
    target: TableName,
    sources: Iterable[TableName],
    pairs: Iterable[ColumnPair] = (),
    filters: Iterable[ColumnRef] = (),
) -> Flow:
    """What a table is given: by whole `sources`, by `pairs` of columns, and which `filters` have a say in all of it."""
    outputs: dict[str, dict[Reference, None]] = {}
    tables = dict.fromkeys(sources)
    for pair in pairs:
        reference = Reference((ColumnRef(pair.source, pair.column),), Transformation(pair.subtype))
        outputs.setdefault(pair.to, {})[reference] = None
        tables[pair.source] = None
    indirect = {Reference((column,), Transformation(Subtype.FILTER)): None for column in filters}
    tables.update(dict.fromkeys(reference.sources[0].table for reference in indirect))
    return Flow(
        Target(target, WriteMode.APPEND),
        tuple(Output(name, tuple(references)) for name, references in outputs.items()),
        tuple(indirect),
        tuple(tables),
    )


def lineage_of_flows(flows: Iterable[Flow]) -> StatementLineage | None:
    """What a statement did, of which these flows are known; None where there are none."""
    found = tuple(flows)
    return StatementLineage(StatementKind.INSERT, found) if found else None


def path_name(path: str) -> TableName:
    """A storage path as the name of what lies there."""
    return TableName((path,), kind=NameKind.PATH)


def objects_of(text: str, column: str) -> list[Json]:
    """The objects of a JSON list, none for an empty text. Raises MalformedLineage."""
    return objects_in(json_of(text, column), column)


def objects_in(value: Any, place: str) -> list[Json]:
    """The objects of a list, none for null; `place` is what an error names. Raises MalformedLineage."""
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise MalformedLineage(f"{place} is no list of objects")
    return value


def json_of(text: str, column: str) -> Any:
    """The value of a JSON text, None for an empty one."""
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise MalformedLineage(f"{column} is not valid JSON") from None


def text_of(record: Json, key: str, column: str) -> str:
    """The text that an object of `column` must have as `key`. Raises MalformedLineage."""
    value = record.get(key)
    if not isinstance(value, str) or not value:
        raise MalformedLineage(f"{column}: an object without {key}")
    return value
