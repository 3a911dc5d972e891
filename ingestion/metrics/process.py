"""Statements taken apart in a process that can be killed: what is sent there, and what it answers."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from ingestion.metrics.model import QueryMetrics
from ingestion.model.lineage import TableName
from ingestion.parsing.sandbox.process import Limits, Sandbox

TableColumns = Mapping[str, str]
"""A table's columns with their types, "" where a type is not known."""
NameParts = tuple[str, ...]
"""A relation's name, folded, outermost first."""

_CHILD = "ingestion.metrics.child"


@dataclass(frozen=True, slots=True)
class TemporaryChange:
    """What a statement did to a temporary table: `definition` is the text that made it, "" where it is gone.

    `reason` says why its rows are not told by a definition.
    """

    name: str
    definition: str = field(default="", repr=False)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class MetricsRequest:
    """A statement to take apart. `key` is a secret under which literals are compared: it goes no further.

    `known` are tables by their dotted names, `temporary` what the session has done to temporary tables, in its order.
    `full_names` are those of tables by the ones that stand in the text, part by part. With `any_literal` statements
    that differ in literals alone are the same.
    """

    text: str = field(repr=False)
    dialect: str
    key: bytes = field(repr=False)
    known: Mapping[str, TableColumns] = field(default_factory=dict)
    temporary: tuple[TemporaryChange, ...] = field(default=(), repr=False)
    full_names: Mapping[NameParts, NameParts] = field(default_factory=dict)
    any_literal: bool = False


@dataclass(frozen=True, slots=True)
class MetricsReply:
    """What became of a statement: taken apart, or the `reason` why not. `unreadable` says that no parser took it.

    `columns` are those of its query, None where they are not all known; `tables` the names that stand where tables do.
    """

    metrics: QueryMetrics | None = None
    reason: str = ""
    unreadable: bool = False
    columns: TableColumns | None = None
    tables: tuple[NameParts, ...] = ()


class MetricsProcess:
    """Takes statements apart, each within `limits`, from the first one on. Closed, it leaves nothing behind."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._sandbox = Sandbox(limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sandbox.close()

    def take_apart(self, requests: Sequence[MetricsRequest]) -> list[MetricsReply]:
        """One reply for each request, in order. Raises ParserUnavailable when no process can be started."""
        texts = [(pickle.dumps(request).hex(), request.dialect) for request in requests]
        return [
            pickle.loads(reply.symbolic) if reply.symbolic else MetricsReply(reason=reply.reason, unreadable=True)
            for reply in self._sandbox.parse(_CHILD, texts)
        ]


def known_table(known: Mapping[str, TableColumns], table: TableName) -> TableColumns | None:
    """The columns of the one known table that the name is the end of, or that is the end of the name."""
    parts = tuple(part.lower() for part in table.parts)
    found = []
    for name, columns in known.items():
        own = tuple(name.lower().split("."))
        if own[-len(parts) :] == parts[-len(own) :]:
            found.append(columns)
    return found[0] if len(found) == 1 else None
