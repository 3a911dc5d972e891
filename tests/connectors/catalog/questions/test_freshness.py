"""When tables were written last, and which are late by their own rhythm at the end of the log."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from connectors.catalog.answer.freshness import FRESHNESS, freshness_rows
from connectors.catalog.answer.rendering import in_rows, render
from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.freshness import FreshnessReport, freshness_in_file
from connectors.catalog.questions.tables import TableListOptions
from ingestion.errors import ConfigError
from ingestion.model.moments import iso_time
from tests.support.http_client import Client
from tests.support.made_catalog import AT, MadeCatalog

DAY = 86_400_000
RAW, DAILY, STOPPED, TWICE, ALONE = (f"shop.d.p.{name}" for name in ("raw", "daily", "stopped", "twice", "alone"))
ELSEWHERE, SOURCE = (f"other.d.p.{name}" for name in ("fed", "raw"))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables that are written daily, one of which stopped three days before its log ends; and one of another log."""
    made = MadeCatalog(tmp_path_factory.mktemp("fresh") / "catalog.db")
    made.add_tables(dict.fromkeys((RAW, DAILY, STOPPED, TWICE, ALONE, SOURCE, ELSEWHERE), ("a",)), at=AT - 30 * DAY)
    writes = {DAILY: range(8), STOPPED: range(3, 8), TWICE: (0, 1), ELSEWHERE: range(20, 26)}
    for day in range(26):
        edges = [
            (SOURCE if table == ELSEWHERE else RAW, table, {"producer": {"kind": "query", "key": table}, "jobs": ["j"]})
            for table, days in writes.items()
            if day in days
        ]
        if edges:
            made.add_edges(edges, at=AT - day * DAY)
    made.close()
    return made.file


def ask(file: Path, **options: object) -> FreshnessReport:
    return freshness_in_file(file, TableListOptions(**options)).content  # type: ignore[arg-type]


def test_a_table_is_late_by_its_own_rhythm_at_the_end_of_its_log(file: Path) -> None:
    found = {one.name: one for one in ask(file).tables}
    assert {name: one.state.value for name, one in found.items()} == {
        STOPPED: "late",
        DAILY: "on_time",
        ELSEWHERE: "on_time",  # its log ends when it was written last: of later days nothing is known
        TWICE: "unknown",
        RAW: "never",
        ALONE: "never",
        SOURCE: "never",
    }
    late = found[STOPPED]
    assert (late.last, late.period, late.due, late.until, late.jobs) == (AT - 3 * DAY, DAY, AT - 2 * DAY, AT, ("j",))
    assert [one.name for one in ask(file, limit=1).tables] == [STOPPED]
    then = {one.name: one.state.value for one in ask(file, as_of=AT - 2 * DAY, under="p").tables}
    assert then[STOPPED] == "on_time"  # a day without it is not yet a missing one
    with pytest.raises(ConfigError):
        ask(file, under="nowhere")


def test_a_service_that_stopped_writing_is_late_where_its_log_goes_on(file: Path, tmp_path: Path) -> None:
    copied = tmp_path / "catalog.db"
    shutil.copy(file, copied)
    report = {"read_until": iso_time((AT - 17 * DAY) / 1000), "counts": {"statements": 1}}
    told = {"workflow": "w", "run": "1", "service": "other", "started": AT, "outcome": "done", "report": report}
    with running_catalog(CatalogConfig(copied, port=0)) as address:
        client = Client(address.url)
        assert client.post("/headwater/workflow-runs", told)[0] == 200
        found = {one["entity"]["fullyQualifiedName"]: one for one in client.get("/headwater/freshness")[1]["tables"]}
    assert (found[ELSEWHERE]["state"], found[ELSEWHERE]["until"]) == ("late", AT - 17 * DAY)
    assert (found[DAILY]["state"], found[DAILY]["until"]) == ("on_time", AT)  # of another service


def test_it_is_written_in_every_form(file: Path) -> None:
    answer = freshness_in_file(file, TableListOptions())
    for form in ("tree", "csv", "markdown"):
        text = render(answer, FRESHNESS, form)
        assert STOPPED in text
        assert "1 d" in text
    assert "1 late, 2 on time, 1 without a rhythm, 3 never seen filled from others" in render(answer, FRESHNESS, "tree")
    assert in_rows(answer, freshness_rows).page(2_000).total == 7
    with running_catalog(CatalogConfig(file, port=0)) as address:
        client = Client(address.url)
        assert client.get("/headwater/freshness", under="stopped")[1]["tables"][0]["state"] == "late"
        assert client.get("/headwater/freshness", under="nowhere")[0] == 400
