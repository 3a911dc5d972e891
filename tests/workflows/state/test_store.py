"""The store is made where there is none, and refused where another version made it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, select, text

from ingestion.errors import ConfigError, StateLost
from workflows.state import store as schema
from workflows.state.lease import hold_lease
from workflows.state.runs import begin_run, recorded_runs
from workflows.state.segments import rows_of
from workflows.state.store import SCHEMA_VERSION, StateStore, clock, identity_of, meta, open_state, put_rows


def test_a_store_opened_again_has_what_was_put_in(url: str) -> None:
    for value in (1, 2):
        store = open_state(url)
        with store.write() as connection:
            rows = connection.execute(text("select count(*) from headwater_run")).scalar()
            assert rows == value - 1
            connection.execute(
                text("insert into headwater_run (run_id, workflow, started, outcome) values (:id, 'w', 0, 'done')"),
                {"id": str(value)},
            )
        store.close()


def test_a_store_is_told_from_every_other_and_keeps_what_tells_it(url: str) -> None:
    opened = open_state(url)
    with opened.write() as connection:
        first = identity_of(connection)
        connection.execute(delete(meta).where(meta.c.key == "identity"))  # which a repair may find damaged
    opened.close()
    found = []
    for _time in range(2):
        opened = open_state(url)
        with opened.read() as connection:
            found.append(identity_of(connection))
        opened.close()
    assert found[0] == found[1]
    assert None not in found
    assert first not in found


def test_a_failed_transaction_leaves_nothing(store: StateStore) -> None:
    class Stopped(Exception): ...

    with pytest.raises(Stopped), store.write() as connection:
        connection.execute(meta.insert().values(key="k", value="v"))
        raise Stopped
    with store.read() as connection:
        assert connection.scalar(select(meta.c.value).where(meta.c.key == "k")) is None


def test_rows_take_the_place_of_those_with_the_same_key_and_of_no_others(store: StateStore) -> None:
    columns = ("workflow", "id", "user", "runs", "last")
    with store.write() as connection:
        for uses in ([("w", "1", "ann", 1, None), ("w", "1", "bob", 2, 0.5), ("w", "2", "ann", 3, 1.5)], []):
            put_rows(connection, schema.log_query_uses, columns, uses)
        replaced = [("w", "1", "bob", 5, None), ("v", "1", "bob", 7, 2.5)]
        put_rows(connection, schema.log_query_uses, columns, replaced)
        found = connection.execute(select(schema.log_query_uses).order_by(*schema.log_query_uses.primary_key)).all()
    assert [tuple(row) for row in found] == [
        ("v", "1", "bob", 7, 2.5),
        ("w", "1", "ann", 1, None),
        ("w", "1", "bob", 5, None),
        ("w", "2", "ann", 3, 1.5),
    ]


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1, None])
def test_a_store_of_another_version_is_refused_with_what_to_do(url: str, version: int | None) -> None:
    of_version = meta.c.key == "schema"
    store = open_state(url)
    with store.write() as connection:
        connection.execute(delete(meta).where(of_version))
        if version is not None:
            connection.execute(insert(meta).values(key="schema", value=str(version)))
    for _again in range(2):
        with pytest.raises(ConfigError) as refused:
            open_state(url)
        assert f"(state {version or 'of no version'}, this is {SCHEMA_VERSION})" in str(refused.value)
        assert store.location in str(refused.value)
        assert "use that version, or another headwater.state.url" in str(refused.value)
    with store.read() as connection:
        assert connection.scalar(select(meta.c.value).where(of_version)) == (None if version is None else str(version))
    store.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: "mysql://host/db",
        lambda folder: "postgresql://user:hidden-password@127.0.0.1:1/db?connect_timeout=2",
        lambda folder: "postgresql://user:hidden-password@:x/db",
        lambda folder: str(folder),
    ],
)
def test_what_cannot_be_opened_is_told_without_the_password(make: Callable[[Path], str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        open_state(make(tmp_path))
    assert "hidden-password" not in str(caught.value)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(ConfigError, match=r"headwater\.state\.url"):
        open_state(str(file))


def test_a_full_disk_leaves_what_was_stored_and_says_what_to_do(tmp_path: Path) -> None:
    store = open_state(str(tmp_path / "state.db"))
    with store.read() as connection:
        pages = connection.scalar(text("pragma page_count"))
        # What SQLite says when a file cannot grow, whatever keeps it from growing.
        connection.execute(text(f"pragma max_page_count = {pages + 2}"))
    with pytest.raises(StateLost, match=r"full.*is kept") as caught, store.write() as connection:
        connection.execute(meta.insert().values(key="k", value="secret-canary" * 10_000))
    assert "canary" not in str(caught.value)
    assert caught.value.exit_code == 75
    with store.read() as connection:
        assert connection.scalar(select(meta.c.value).where(meta.c.key == "k")) is None
        assert connection.scalar(select(meta.c.value).where(meta.c.key == "schema")) == str(SCHEMA_VERSION)
    store.close()


def test_a_file_that_was_damaged_after_it_was_made_is_told_as_damaged(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    store = open_state(str(file))
    with store.write() as connection:
        for number in range(200):
            connection.execute(meta.insert().values(key=f"k{number}", value="v" * 1000))
    store.close()
    content = bytearray(file.read_bytes())
    content[8192:-4096] = b"\xff" * (len(content) - 12_288)
    file.write_bytes(content)
    with pytest.raises((StateLost, ConfigError), match=r"damaged|malformed"):
        store = open_state(str(file))
        with store.read() as connection:
            connection.execute(select(meta)).all()


@pytest.mark.parametrize("made_anew", [False, True])
def test_a_file_that_is_taken_away_is_followed_by_the_one_in_its_place(tmp_path: Path, made_anew: bool) -> None:
    file = tmp_path / "state.db"
    store = open_state(str(file))
    with store.write() as connection:
        begin_run(connection, "w", "old", 1.0)
    for part in tmp_path.glob("state.db*"):
        part.unlink()
    if made_anew:
        other = open_state(str(file))
        with other.write() as connection:
            begin_run(connection, "w", "new", 2.0)
        other.close()
    store.follow()
    with store.read() as connection:
        assert [run.run_id for run in recorded_runs(connection)] == ["new"] * made_anew
    store.close()


def test_a_read_only_file_can_be_looked_at_and_is_refused_to_a_run(tmp_path: Path) -> None:
    open_state(str(tmp_path / "state.db")).close()
    store = open_state(f"sqlite:///file:{tmp_path}/state.db?mode=ro&uri=true")
    with store.read() as connection:
        assert recorded_runs(connection) == []
    with pytest.raises(StateLost, match=r"read-only.*headwater\.state\.url") as caught, hold_lease(store, "w", "run"):
        pass
    assert caught.value.exit_code == 2
    store.close()


def test_a_server_that_goes_away_is_told_and_used_again_when_it_is_back(postgres: str) -> None:
    store = open_state(postgres)
    ending = text("select pg_terminate_backend(pg_backend_pid())")
    with pytest.raises(StateLost, match="does not work"), store.write() as connection:
        connection.execute(ending)
    with store.read() as connection:
        assert connection.scalar(select(meta.c.value).where(meta.c.key == "schema")) == str(SCHEMA_VERSION)
    store.close()


def test_a_damaged_segment_of_the_journal_is_told_as_damaged() -> None:
    with pytest.raises(StateLost, match="damaged"):
        rows_of(b"PAR1 and then nothing")


def test_the_clock_goes_forward(store: StateStore) -> None:
    with store.read() as connection:
        first = clock(connection)
        assert clock(connection) >= first > 1_600_000_000
