"""Where the tables of queries stand, as their sessions looked for names, and which columns they have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ingestion.binding.timeline import SchemaProvider
from ingestion.decomposition.process import NameParts, TableColumns
from ingestion.model import TableName
from ingestion.names.fqn import build_fqn
from ingestion.names.namespaces import Namespace, candidates
from ingestion.resolution.resolver import Resolved, Resolver
from workflows.entity_lineage.filing import FiledTable


@dataclass(frozen=True, slots=True)
class TablePlaces:
    """Looks tables up by `before`, what the catalog and the schema files have; each is asked for once."""

    before: SchemaProvider

    def expect(self, names: Iterable[NameParts], namespace: Namespace) -> None:
        """Has these looked up together."""
        self.before.expect([(TableName(name), namespace) for name in names])

    def place(self, name: NameParts, namespace: Namespace) -> tuple[NameParts, TableColumns | None]:
        """The full name of a table, part by part, and its columns, None where they are not known.

        Of several schemas it is the first that has it, else the first.
        """
        table = TableName(name)
        places = candidates(table, namespace)
        for key in places:
            columns = self.before.schema(key)
            if columns is not None:
                return _known_parts(key.parts), {column.name: column.type for column in columns} or None
        elsewhere = self.before.elsewhere(table, namespace)
        columns = self.before.schema(elsewhere) if elsewhere is not None else None
        found = {column.name: column.type for column in columns or ()} or None
        return _known_parts((elsewhere or places[0]).parts), found


def catalog_tables(names: Iterable[NameParts], resolver: Resolver) -> dict[str, FiledTable]:
    """The tables that the catalog has, by their full names with dots."""
    wanted = list(dict.fromkeys(names))
    found = {}
    resolutions = resolver.resolve_all((TableName(name), Namespace()) for name in wanted)
    for name, resolution in zip(wanted, resolutions, strict=True):
        if isinstance(resolution, Resolved):
            fqn = resolution.entity.fully_qualified_name
            columns = {
                column.name: (f"{fqn}.{build_fqn(column.name)}", column.type) for column in resolution.entity.columns
            }
            found[".".join(name)] = FiledTable(fqn, columns)
    return found


def _known_parts(parts: NameParts) -> NameParts:
    return tuple(part for part in parts if part)
