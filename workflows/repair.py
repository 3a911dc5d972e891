"""What can be read of damaged stores, kept in new ones: the embedded catalog, and the state of a workflow."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import make_url, select

from connectors.catalog.store.database import open_database
from connectors.catalog.store.indexes import ACTIVITY_FILLED, LABELS_FILLED
from connectors.catalog.store.lineage.writer import project
from connectors.catalog.store.schema import SCHEMA_VERSION as CATALOG_VERSION
from connectors.catalog.store.schema import (
    corrections,
    edge_counts,
    entity_activity,
    entity_labels,
    intervals,
    search_spellings,
    search_vocabulary,
    versions,
)
from connectors.catalog.store.schema import meta as catalog_meta
from connectors.catalog.store.schema import metadata as catalog_tables
from connectors.sqlite_files import Contents, Salvage, SalvagedTable, is_whole, noted_value, put_back, salvage
from ingestion.errors import ConfigError
from workflows.config import EmbeddedCatalog, RunConfig
from workflows.state.segments import beside
from workflows.state.store import SCHEMA_VERSION, journal, log_files, open_state, positions, runs
from workflows.state.store import meta as state_meta
from workflows.state.store import metadata as state_tables

_JSON_OF_CATALOG = ("document", "content", "answer")
_JSON_OF_STATE = ("letter", "limits", "report")
_PROJECTIONS = frozenset(
    table.name
    for table in (intervals, entity_activity, edge_counts, entity_labels, search_vocabulary, search_spellings)
)
"""Worked out again from the rest: of those that are kept in part, what is filed later would be counted twice."""
_FILLED = frozenset({ACTIVITY_FILLED, LABELS_FILLED})


def repair(config: RunConfig | None, catalog: Path | None) -> Iterator[str]:
    """Repairs what is damaged of a configuration's stores, or a catalog's file; a line for each thing that it found.

    Raises ConfigError where a file is not there or cannot be written.
    """
    file = catalog
    if config is not None and file is None and isinstance(config.target, EmbeddedCatalog):
        file = config.target.file
    if catalog is not None and not catalog.is_file():
        raise ConfigError(f"{catalog}: no such catalog")
    if file is not None:
        yield from _repaired_catalog(file)
    if config is not None:
        yield from _repaired_state(config)


def _repaired_catalog(file: Path) -> Iterator[str]:
    if not file.is_file():
        yield f"{file}: not there"
        return
    _require_version(file, catalog_meta.name, CATALOG_VERSION)
    found = _salvage_damaged(file, Contents(catalog_tables, _JSON_OF_CATALOG, _is_left_out, _project_all))
    if found is None:
        yield f"{file}: whole"
        return
    tables = tuple(table for table in found.tables if table.name not in _PROJECTIONS)
    yield from _report_lines(file, replace(found, tables=tables), {corrections.name: "corrections"})
    yield "the next `ingest run` of each workflow files again what its state remembers of the log"


def _require_version(file: Path, table: str, version: int) -> None:
    """Raises ConfigError for a file of another version: what its other columns hold would be dropped unseen."""
    found = noted_value(file, table, "schema")
    if found is not None and str(found) != str(version):
        raise ConfigError(
            f"{file} was written by another version ({found}, this is {version}), which alone can repair it"
        )


def _salvage_damaged(file: Path, contents: Contents) -> Salvage | None:
    """What became of a damaged file; None where nothing is wrong with it, and it is as it was."""
    was_whole = is_whole(file)
    found = salvage(file, contents)
    if was_whole and not found.damaged:
        put_back(file, found.aside)
        return None
    return found


def _is_left_out(table: str, row: Mapping[str, Any]) -> bool:
    """Whether a row of a catalog is not taken over.

    Without its identity, what runs believe to have filed in the old one is filed again.
    """
    return table in _PROJECTIONS or (table == catalog_meta.name and row["key"] in {"identity", *_FILLED})


def _project_all(file: Path) -> None:
    with closing(open_database(file)) as database, database.write() as connection:
        project(connection, sorted(connection.scalars(select(versions.c.id))))


def _repaired_state(config: RunConfig) -> Iterator[str]:
    file = _file_of_state(config.state_url)
    if file is None:
        yield "the state: no file of this machine"
        return
    if not file.is_file():
        yield f"{file}: none"
        return
    _require_version(file, state_meta.name, SCHEMA_VERSION)
    folder = Path(config.headwater.state.folder) if config.headwater.state.folder else beside(str(file))

    def check(table: str, row: Mapping[str, Any]) -> bool:
        if table == journal.name and not _is_segment(row, folder):
            raise ValueError(table)
        return False

    found = _salvage_damaged(file, Contents(state_tables, _JSON_OF_STATE, check))
    if found is None:
        yield f"{file}: whole"
        return
    _mark_version(file)
    store = open_state(str(file))
    with store.write() as connection:  # without which the next run reads the whole log
        for table in (positions, log_files):
            connection.execute(table.delete())
    store.close()
    yield from _report_lines(file, found, {runs.name: "runs"})
    yield "the next `ingest run` reads the whole log again, and publishes nothing twice"


def _mark_version(file: Path) -> None:
    """Says of which version the tables are: they were made by this one, where the damaged file says nothing."""
    with closing(sqlite3.connect(file)) as connection, connection:
        values = ("schema", str(SCHEMA_VERSION))
        connection.execute(f"insert or replace into {state_meta.name} (key, value) values (?, ?)", values)


def _file_of_state(url: str) -> Path | None:
    parsed = make_url(url if "://" in url else f"sqlite:///{url}")
    if parsed.get_backend_name() != "sqlite" or not parsed.database or parsed.database.startswith((":", "file:")):
        return None
    return Path(parsed.database)


def _is_segment(row: Mapping[str, Any], folder: Path | None) -> bool:
    """Whether the statements of a row of the journal can be read: at hand, or in the file that it names."""
    source = BytesIO(row["content"]) if row["file"] is None else (folder or Path()) / row["file"]
    try:
        return bool(pq.read_table(source).num_rows == row["statements"])
    except (pa.ArrowException, OSError):
        return False


def _report_lines(file: Path, found: Salvage, always: Mapping[str, str]) -> Iterator[str]:
    """In figures what was kept and what is lost; of what nobody can read again from a log also where nothing is."""
    yield f"{file}: repaired; the damaged file is {found.aside}"
    for table in found.tables:
        if table in found.damaged or table.name in always:
            yield f"  {always.get(table.name, table.name.removeprefix('headwater_'))}: {_figures(table)}"


def _figures(table: SalvagedTable) -> str:
    lost = "others, nobody can tell how many, are lost" if table.is_cut else f"{table.lost:,} lost"
    return f"{table.kept:,} kept, {lost}"
