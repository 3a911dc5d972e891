"""The entities of a metadata platform that lineage joins, as far as lineage needs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ingestion.model.fqn import build_fqn, split_fqn
from ingestion.model.lineage import Column


@dataclass(frozen=True, slots=True)
class EntityReference:
    """An entity of the platform by id and type (table, container, pipeline, storedProcedure …)."""

    id: str
    type: str
    name: str | None = None
    fully_qualified_name: str | None = None

    @property
    def rank(self) -> tuple[str, str, bool, str, str]:
        """A total order; of two references to one entity, the one that names it comes first."""
        fqn = self.fully_qualified_name or ""
        return self.type, self.id, not fqn, fqn, self.name or ""

    def to_json(self) -> dict[str, Any]:
        json = {"id": self.id, "type": self.type}
        if self.name:
            json["name"] = self.name
        if self.fully_qualified_name:
            json["fullyQualifiedName"] = self.fully_qualified_name
        return json

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> EntityReference:
        return cls(str(json["id"]), str(json["type"]), json.get("name"), json.get("fullyQualifiedName"))


DATA_MODEL, CHART, DASHBOARD = "dashboardDataModel", "chart", "dashboard"
DASHBOARD_TYPES = frozenset({DATA_MODEL, CHART, DASHBOARD})
"""What a dashboard tool has beside tables: the first stands between tables and charts, and has columns of its own."""


@dataclass(frozen=True, slots=True)
class TableEntity:
    """A table or view of the platform, with the columns and their types as the platform has them.

    A container of files is one too, and what a dashboard tool has: `type` says so, and these have no database and no
    schema. Of a chart, which has no columns, it is itself what lineage by column touches, of a dashboard its charts.
    `columns_complete` False:
    these are the columns that were met so far, there may be others. `filed_from_log`: it was registered from what a log
    shows of it, and is brought up to date so. `definition` is a view's
    own SQL as the platform keeps it: not masked, so never for a log or an edge. `path`: where its files are, "" where
    nothing tells.
    """

    id: str
    fully_qualified_name: str
    service: str
    database: str
    schema: str
    name: str
    columns: tuple[Column, ...] = ()
    table_type: str = "Regular"
    definition: str | None = None
    type: str = "table"
    columns_complete: bool = True
    filed_from_log: bool = False
    path: str = ""

    def __repr__(self) -> str:
        return f"TableEntity({self.fully_qualified_name})"

    @property
    def reference(self) -> EntityReference:
        return EntityReference(self.id, self.type, self.name, self.fully_qualified_name)

    @property
    def column_fqns(self) -> ColumnFqns:
        """The FQNs of its columns by their names, for as many lookups as one likes."""
        return ColumnFqns(self)


class ColumnFqns(dict[str, str | None]):
    """The FQNs of an entity's columns by the names that were asked for, exact case before any case.

    None where it has no such column, or several that differ in case alone.
    """

    def __init__(self, entity: TableEntity) -> None:
        super().__init__()
        self._itself = entity.type == CHART
        self._entity = entity.fully_qualified_name
        if entity.type == DASHBOARD:  # its charts lie beside it
            self._entity = ".".join(build_fqn(part) for part in split_fqn(self._entity)[:-1])
        self._names = frozenset(column.name for column in entity.columns)
        self._in_any_case: dict[str, str | None] = {}
        for column in entity.columns:
            folded = column.name.casefold()
            self._in_any_case[folded] = None if folded in self._in_any_case else column.name

    def __missing__(self, column: str) -> str | None:
        if self._itself:
            return self._entity
        name = column if column in self._names else self._in_any_case.get(column.casefold())
        found = self[column] = None if name is None else f"{self._entity}.{build_fqn(name)}"
        return found
