"""A catalog's file opened for questions, and what people name in it: by a name or the end of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from difflib import get_close_matches
from pathlib import Path

from sqlalchemy import Connection, func, or_, select

from connectors.catalog.questions.answer import When
from connectors.catalog.store.database import Database, damage_error, open_database
from connectors.catalog.store.entities import columns as columns_of
from connectors.catalog.store.entities.entities import EntityRow, any_rows_of
from connectors.catalog.store.indexes import COLUMN
from connectors.catalog.store.lineage.column_names import column_names
from connectors.catalog.store.lineage.window import Window, edges_before, window
from connectors.catalog.store.schema import entities, search_names, search_vocabulary
from connectors.sqlite_files import is_whole
from ingestion.arguments import candidates_text
from ingestion.errors import ConfigError
from ingestion.model import fqn
from ingestion.model.moments import minute_text

_TABLES = ("table", "container", "topic")
_LINEAGE_TYPES = (*_TABLES, "dashboardDataModel", "chart", "dashboard")


def existing_database(file: Path) -> Database:
    """The store of a catalog that is there. Raises ConfigError where `file` is none."""
    if not file.is_file():
        raise ConfigError(f"{file}: no such catalog; `ingest run` makes one, and its YAML says where")
    return open_database(file)


@contextmanager
def open_catalog(file: Path) -> Iterator[Connection]:
    """A consistent view of a catalog's file. Raises ConfigError where there is none."""
    with closing(existing_database(file)) as database:
        try:
            with database.read() as connection:
                yield connection
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            # What is stored is not what was stored, or we are wrong: only reading all of it tells.
            if is_whole(file):
                raise
            raise damage_error(file) from error


def asked_window(connection: Connection, when: When) -> Window:
    """The window that a question looks through."""
    return window(connection, when.as_of, when.days).of_witnesses(when.witnesses)


def named_node(connection: Connection, name: str) -> tuple[EntityRow, str | None]:
    """The table that `name` is (the end of), else the column of the table before its last part, by its path.

    Raises ConfigError for a name that is not there, or not just one.
    """
    tables = entities_named(connection, name)
    if tables:
        row = _only(tables, name)
        return row, columns_of.itself(row.type, fqn.split(row.fqn)[-1])
    *table, column = fqn.written_parts(name)
    tables = entities_named(connection, ".".join(fqn.quote(part) for part in table)) if table else []
    if not tables:
        found = [] if table else _columns_named(connection, column)
        if len(found) == 1:
            return found[0]
        if found:
            names = [f"{row.fqn}.{path}" for row, path in found]
            raise ConfigError(f"{name} {candidates_text(names)}; give more of its name")
        raise ConfigError(f"{name}: no such table or column in this catalog{near_name(connection, name)}")
    row = _only(tables, name)
    known = column_names(connection, row, ever=True)
    path = known.path(f"{row.fqn}.{fqn.quote(column)}") or known.path(column)
    if path is None:
        close = get_close_matches(column.casefold(), known.folded, 1)
        near = f"; did you mean {row.fqn}.{known.folded[close[0]]}?" if close else ""
        raise ConfigError(f"{row.fqn} has no column {column}{near}")
    return row, path


def _columns_named(connection: Connection, name: str) -> list[tuple[EntityRow, str]]:
    """The columns of any table that are called so, in any case: each table with the column's path."""
    spelled = select(search_vocabulary.c.name).where(
        search_vocabulary.c.kind == COLUMN, func.lower(search_vocabulary.c.name) == name.lower()
    )
    same = select(search_names.c.entity_id, search_names.c.column_path).where(
        search_names.c.column_path != "", search_names.c.name.in_(spelled)
    )
    paths = connection.execute(same).all()
    rows = any_rows_of(connection, {identifier for identifier, _path in paths})
    found = [(row, path) for identifier, path in paths if (row := rows.get(identifier)) and not row.deleted]
    return sorted(found, key=lambda one: (one[0].fqn, one[1]))


def entities_named(connection: Connection, name: str) -> list[EntityRow]:
    """The tables that `name` is (the end of), in any case; those that were dropped where there are no others.

    As it is stored, or as a query has it: `"a""b"`, or a"b, for what is stored under another word.
    """
    stored = ".".join(map(fqn.quote, fqn.written_parts(name)))
    return _ending_in(connection, name) or ([] if stored == name else _ending_in(connection, stored))


def _ending_in(connection: Connection, name: str) -> list[EntityRow]:
    folded = name.casefold()
    ending = entities.c.fqn_folded.endswith(f".{folded}", autoescape=True)
    where = [entities.c.type.in_(_LINEAGE_TYPES), or_(entities.c.fqn_folded == folded, ending)]
    if not folded.endswith('"'):  # then the last part stands as it is, and of a million names those are found by it
        where.append(entities.c.name_folded == folded.rsplit(".", 1)[-1])
    rows = connection.execute(select(entities).where(*where).order_by(entities.c.deleted, entities.c.fqn)).all()
    # what a dashboard shows is often called as the table is that it shows
    rows = [row for row in rows if row.type in _TABLES] or rows
    existing = [row for row in rows if not row.deleted]
    return existing or list(rows)


def _only(rows: list[EntityRow], name: str) -> EntityRow:
    if len(rows) > 1:
        raise ConfigError(f"{name} {candidates_text([row.fqn for row in rows])}; give more of its name")
    return rows[0]


def near_name(connection: Connection, name: str) -> str:
    """`; did you mean …?` with the table that is called nearly so, "" where there is none."""
    names = connection.scalars(select(entities.c.fqn).where(entities.c.type.in_(_LINEAGE_TYPES)).limit(50_000))
    by_end = {".".join(fqn.split(full)[-depth:]): None for full in names for depth in (1, 2)}
    close = get_close_matches(name, by_end, 1)
    return f"; did you mean {close[0]}?" if close else ""


def left_out(connection: Connection, span: Window, shown_by: str) -> str:
    """What of a catalog the window of a question hides, and `shown_by` what it is shown; "" where it hides nothing."""
    edges = edges_before(connection, span)
    if not edges or span.since is None:
        return ""
    were = "edge of the catalog was" if edges == 1 else "edges of the catalog were"
    return f"{edges:,} {were} last seen before {minute_text(span.since)} and left out: {shown_by} has them all"
