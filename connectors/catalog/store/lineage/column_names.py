"""Which column of an entity a lineage request means: by fully qualified name, exact case first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from json.encoder import encode_basestring as quoted

from sqlalchemy import Connection

from connectors.catalog.store.database import loads
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.attributes import known_columns
from connectors.catalog.store.entities.entities import EntityRow


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The columns of one entity: their paths within it."""

    entity: str
    exact: dict[str, None]  # in the order in which a folded name means them
    called: dict[str, str] = field(default_factory=dict)  # what lies elsewhere, by its own fully qualified name
    _paths: dict[str, str | None] = field(default_factory=dict)  # what was asked for: a batch names a column often
    _texts: dict[str, str | None] = field(default_factory=dict)
    _folded: dict[str, str] = field(default_factory=dict)  # filled when a name is not exact, which it seldom is

    @property
    def folded(self) -> dict[str, str]:
        """The paths by what they are without regard to case."""
        if not self._folded:
            for path in self.exact:
                self._folded.setdefault(path.casefold(), path)
        return self._folded

    def path(self, name: str) -> str | None:
        """The path of the column with this fully qualified name, None when the entity has none such."""
        if name not in self._paths:
            self._paths[name] = self._find(name)
        return self._paths[name]

    def path_text(self, name: str) -> str | None:
        """The same path as JSON: most of what a batch has to store are paths, and few of them differ."""
        try:
            return self._texts[name]
        except KeyError:
            path = self.path(name)
            found = self._texts[name] = None if path is None else quoted(path)
            return found

    def _find(self, name: str) -> str | None:
        if self.called and name.casefold() in self.called:
            return self.called[name.casefold()]
        prefix = f"{self.entity}."
        if not name.startswith(prefix) and not name.casefold().startswith(prefix.casefold()):
            return None
        path = name[len(prefix) :]
        return path if path in self.exact else self.folded.get(path.casefold())


def column_names(connection: Connection, row: EntityRow, *, ever: bool = False) -> ColumnNames:
    """The columns an entity has, or (`ever`) had at any time."""
    current = [path for path, _, _ in columns_of.walk(columns_of.of_entity(row.type, loads(row.document)))]
    past = known_columns(connection, [row.id])[row.id] if ever else set()
    names = names_of(row.fqn, [*current, *sorted(past - set(current))])
    elsewhere = {columns_of.wire_name(row.type, row.fqn, path).casefold(): path for path in current}
    return names if row.type in columns_of.WITH_COLUMNS else replace(names, called=elsewhere)


def names_of(entity: str, paths: Iterable[str]) -> ColumnNames:
    """Names over known paths; where two differ only in case the first is what a folded name means."""
    return ColumnNames(entity, dict.fromkeys(paths))
