"""A catalog's lineage as a document of its own: what the explorer carries when it stands in one file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from connectors.catalog.contract.entity_types import LINEAGE_TYPES
from connectors.catalog.contract.errors import ApiError
from connectors.catalog.explorer.neighbourhood import NeighbourhoodStep, graph_document, picture
from connectors.catalog.store.database import open_database
from connectors.catalog.store.queries.explore import MAX_CARDS
from connectors.catalog.store.queries.window import Window, window
from connectors.catalog.store.schema import entities
from ingestion.errors import ConfigError
from ingestion.model import Json


@dataclass(frozen=True, slots=True)
class ExportScope:
    """What to export: the neighbourhoods of `steps` (none: everything), as of a moment, observed within `days`.

    `as_of` is in milliseconds since the epoch; None is now. `days` None is the catalog's default, 0 any age.
    """

    steps: tuple[NeighbourhoodStep, ...] = ()
    as_of: int | None = None
    days: int | None = None


def catalog_document(file: Path, extent: ExportScope) -> Json:
    """The lineage of a catalog's file, as its graph call answers it.

    Raises ConfigError when there is no such file, it is no catalog, or a step names nothing in it.
    """
    if not file.is_file():
        raise ConfigError(f"{file}: no such catalog; `ingest run` makes one, and its YAML says where")
    database = open_database(file)
    try:
        with database.read() as connection:
            return _document(connection, extent, window(connection, extent.as_of, extent.days))
    finally:
        database.close()


def _document(connection: Connection, extent: ExportScope, span: Window) -> Json:
    if not extent.steps:
        everything = select(entities.c.id).where(entities.c.type.in_(LINEAGE_TYPES), entities.c.deleted.is_(False))
        return {**graph_document(connection, list(connection.scalars(everything)), span), "roots": []}
    try:
        return picture(connection, extent.steps, MAX_CARDS, span)
    except ApiError as error:
        names = ", ".join(step.entity for step in extent.steps)
        raise ConfigError(f"{names}: not in this catalog; give the name with service, database and schema") from error
