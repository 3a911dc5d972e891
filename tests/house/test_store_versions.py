"""A store of another version is refused, so what a store holds and its version change together.

Where one of these fails: raise the store's SCHEMA_VERSION, then write the version and the digest here.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from sqlalchemy import create_engine, text

from connectors.catalog.store import schema as catalog_schema
from connectors.catalog.store.database import open_database
from workflows.run.read.journal_frames import JOURNAL_SCHEMA
from workflows.state import store as state_store
from workflows.state.store import open_state

_CATALOG = (2, "f19f0e86a495b8cf")
_STATE = (6, "84be2656564bd41d")


def test_a_catalog_of_other_tables_has_another_version(tmp_path: Path) -> None:
    open_database(tmp_path / "catalog.db").close()
    assert (catalog_schema.SCHEMA_VERSION, _digest(_tables(tmp_path / "catalog.db"))) == _CATALOG


def test_a_state_of_other_tables_or_another_journal_has_another_version(tmp_path: Path) -> None:
    open_state(f"sqlite:///{tmp_path}/state.db").close()
    held = [*_tables(tmp_path / "state.db"), JOURNAL_SCHEMA.simpleString()]
    assert (state_store.SCHEMA_VERSION, _digest(held)) == _STATE


def _tables(file: Path) -> list[str]:
    """The statements that its tables, indexes and triggers were made by, without those that are SQLite's own matter."""
    engine = create_engine(f"sqlite:///{file}")
    with engine.connect() as connection:
        made = connection.scalars(
            text(
                "select sql from sqlite_master where sql is not null and name not like 'sqlite_%'"
                " and tbl_name not in (select name from pragma_table_list where type = 'shadow')"
            )
        ).all()
    engine.dispose()
    return sorted(" ".join(one.split()) for one in made)


def _digest(held: list[str]) -> str:
    return hashlib.sha256("\n".join(held).encode()).hexdigest()[:16]
