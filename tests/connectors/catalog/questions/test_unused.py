"""What nobody reads: told only of what a log covers, and of what leads to nothing that may be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.answer.rendering import in_rows, render
from connectors.catalog.answer.unused import UNUSED, unused_rows
from connectors.catalog.contract import bulk_models
from connectors.catalog.contract.errors import ApiError
from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.unused import UnusedOptions, UnusedReport, unread_tables, unused_in_file
from connectors.catalog.search.names import search
from connectors.catalog.store.evidence import readers
from ingestion.errors import ConfigError
from tests.support.http_client import Client
from tests.support.made_catalog import AT, Edge, MadeCatalog

DAY = 86_400_000
BASE, MART, LAST, SIDE, COPY = (f"shop.d.p.{name}" for name in ("base", "mart", "last", "side", "copy"))
ELSEWHERE = "other.d.p.outside"
OPTIONS = UnusedOptions(days=10, as_of=AT)


def flow(source: str, target: str, *pairs: str) -> Edge:
    """An edge whose columns flow by the pairs `a>b`; none: the tables alone are known."""
    columns = [
        {"from": [f"{source}.{one.split('>')[0]}"], "to": f"{target}.{one.split('>')[1]}", "type": "DIRECT"}
        for one in pairs
    ]
    return (
        source,
        target,
        {"producer": {"kind": "query", "key": target}, "columns": [{**one, "subtype": "IDENTITY"} for one in columns]},
    )


class Logged:
    """A catalog of tables with columns a and b, and what a log tells of them."""

    def __init__(self, file: Path) -> None:
        self.made = MadeCatalog(file)
        names = dict.fromkeys((BASE, MART, LAST, SIDE, COPY, ELSEWHERE), ("a", "b"))
        self.made.add_tables(names, at=AT - 100 * DAY)
        chain = (flow(BASE, MART, "a>a", "b>b"), flow(MART, LAST, "a>a"), flow(BASE, SIDE, "a>a"))
        self.made.add_edges(chain, at=AT - DAY)

    def reads(self, *reads: Mapping[str, Any]) -> None:
        given = [{"how": "named", "reader": "ann", "last": AT - DAY, **one} for one in reads]
        self._file({"source": "wf", "reads": [{**one, "entity": self._end(one["entity"])} for one in given]})

    def spans(self, days: int = 10, source: str = "wf", **counts: int) -> None:
        span = {"part": "p", "service": "shop", "first": AT - days * DAY, "last": AT}
        span |= {"counts": counts or {"selects": 5, "read": 5}, "days": [AT // DAY - 1, AT // DAY]}
        self._file({"source": source, "span": span})

    def _file(self, body: Mapping[str, Any]) -> None:
        with self.made.database.write() as connection:
            readers.file_reads(connection, bulk_models.Reads.model_validate(body))

    def runs(self, table: str, *runs: Mapping[str, Any]) -> None:
        rows = [
            {"entity": self._end(table), "run": f"{number:016x}", "at": AT - DAY, "statement": "s", **one}
            for number, one in enumerate(runs)
        ]
        with self.made.database.write() as connection:
            readers.file_runs(connection, bulk_models.WrittenRuns.model_validate({"runs": rows}).runs)

    def _end(self, table: str) -> dict[str, str]:
        return {"id": self.made.id_of(table), "type": "table"}

    def ask(self, options: UnusedOptions = OPTIONS) -> UnusedReport:
        return unused_in_file(self.made.file, options).content


@pytest.fixture
def logged(tmp_path: Path) -> Iterator[Logged]:
    found = Logged(tmp_path / "catalog.db")
    yield found
    found.made.database.close()


def tables(found: UnusedReport) -> list[str]:
    return [one.name for one in found.unused]


def columns(found: UnusedReport) -> list[str]:
    return [one.full_name for one in found.columns]


def test_nothing_is_claimed_without_a_log_of_readers(logged: Logged) -> None:
    found = logged.ask()
    assert (tables(found), found.claimed_from) == ([], None)
    logged.spans(source="etl only", mayRead=3, undated=1)  # a log of loads alone has no SELECT: nobody knows
    found = logged.ask()
    assert (tables(found), found.claimed_from) == ([], None)
    assert found.not_claimed == {"service without a log of readers": 6}
    assert "no SELECT, so nothing is claimed" in render(unused_in_file(logged.made.file, OPTIONS), UNUSED, "tree")


def test_what_is_read_only_by_what_nobody_reads_is_told_so(logged: Logged) -> None:
    logged.spans()
    logged.reads({"entity": SIDE, "column": "a"})
    found = logged.ask()
    assert tables(found) == [COPY, LAST, MART]
    assert {one.name: one.only_by for one in found.unused} == {COPY: (), LAST: (), MART: (LAST,)}
    assert columns(found) == [f"{BASE}.b", f"{SIDE}.b"]
    assert found.columns[0].only_by == (f"{MART}.b",)
    logged.reads({"entity": LAST, "column": "a"})  # and so is all that it is made of
    found = logged.ask()
    assert tables(found) == [COPY]
    assert columns(found) == [f"{BASE}.b", f"{LAST}.b", f"{MART}.b", f"{SIDE}.b"]


def test_of_a_table_that_is_read_only_the_columns_are_named_that_nobody_reads(logged: Logged) -> None:
    logged.spans()
    logged.made.add_edges((flow(COPY, MART, "a>b"),), at=AT - DAY)
    logged.reads({"entity": MART, "column": "a"})
    assert {one.name: one.only_by for one in logged.ask().unused}[COPY] == (f"{MART}.b",)


@pytest.mark.parametrize(
    ("read", "unread", "star"),
    [
        ({"column": "a", "how": "star"}, {f"{LAST}.b", f"{MART}.b", f"{BASE}.b"}, {f"{LAST}.a", f"{MART}.a"}),
        ({"how": "rows"}, {f"{LAST}.a", f"{LAST}.b"}, set()),
        ({"how": "unknown"}, {f"{MART}.b", f"{BASE}.b"}, set()),
        ({"column": "a", "last": None}, {f"{LAST}.b", f"{MART}.b", f"{BASE}.b"}, set()),  # at some time: it may be now
    ],
    ids=["a star", "rows alone", "not understood", "undated"],
)
def test_how_a_table_is_read_says_which_columns_are(
    logged: Logged, read: dict[str, Any], unread: set[str], star: set[str]
) -> None:
    logged.spans()
    logged.reads({"entity": LAST, **read})
    found = logged.ask()
    assert LAST not in tables(found)
    assert set(columns(found)) == unread
    assert {one.name for one in found.by_star if BASE not in one.name} == star


def test_reads_before_the_stretch_after_it_and_of_others_do_not_count(logged: Logged) -> None:
    logged.spans(days=40)
    logged.reads(
        {"entity": LAST, "column": "a", "last": AT - 20 * DAY},
        {"entity": SIDE, "column": "a", "last": AT + DAY},
        {"entity": COPY, "column": "a", "reader": "Monitor"},
    )
    found = logged.ask(replace(OPTIONS, but_for=("monitor",)))
    assert tables(found) == [BASE, COPY, LAST, MART, SIDE]
    (last,) = [one.last_read for one in found.unused if one.name == LAST]
    assert last is not None
    assert (last.at, last.who) == (AT - 20 * DAY, "ann")
    assert tables(logged.ask(replace(OPTIONS, days=30))) == [SIDE]  # COPY is read, of which no one else is left out


def test_a_copy_that_ran_before_the_stretch_reads_nothing_any_more(logged: Logged) -> None:
    logged.spans(days=40)
    logged.made.add_edges([flow(SIDE, COPY, "a>a")], at=AT - 30 * DAY)
    logged.reads({"entity": COPY, "column": "a"})
    assert SIDE in tables(logged.ask())
    assert SIDE not in tables(logged.ask(replace(OPTIONS, days=40)))


def test_what_leads_to_readers_that_no_log_tells_is_not_claimed(logged: Logged) -> None:
    logged.spans()
    logged.made.add_edges([flow(LAST, ELSEWHERE, "a>a")], at=AT - DAY)
    found = logged.ask()
    assert tables(found) == [COPY, SIDE]
    assert found.not_claimed == {
        "service without a log of readers": 1,
        "leads to what no log tells the readers of": 3,
    }


def test_the_dearest_comes_first_with_who_to_ask(logged: Logged) -> None:
    logged.spans()
    logged.reads({"entity": LAST, "column": "a", "last": AT - 50 * DAY, "reader": "zoe"})
    logged.runs(SIDE, {"seconds": 10.0, "writer": "etl"}, {"seconds": 50.5, "bytes": 3, "writer": "ops", "at": AT})
    logged.runs(MART, {"credits": 0.5, "seconds": 1.0, "job": "dag.load"}, {"at": AT - 20 * DAY, "credits": 9.0})
    found = logged.ask()
    assert tables(found) == [MART, SIDE, BASE, COPY, LAST]
    costs = [(one.cost.runs, one.cost.seconds, one.cost.bytes, one.cost.credits) for one in found.unused if one.cost]
    assert costs == [(1, 1.0, None, 0.5), (2, 60.5, 3, None)]
    assert [one.ask() for one in found.unused] == [("dag.load",), ("ops",), (), (), ("zoe",)]


def test_a_shorter_log_and_statements_that_may_read_are_told(logged: Logged) -> None:
    logged.spans(days=3, selects=5, read=4, undated=2, **{"unread:timeout": 1, "mayRead:cursor": 2})
    answer = unused_in_file(logged.made.file, OPTIONS)
    assert answer.content.claimed_from == AT - 3 * DAY
    told = render(answer, UNUSED, "tree")
    assert "of 10 days that were asked for the last 3 are told" in told
    assert "5 SELECTs, 4 understood (timeout 1); 2 others that may read something (cursor 2)" in told
    assert "2 statements without a time; statements on 2 of 10 days" in told


def test_a_name_narrows_and_an_unknown_one_is_refused(logged: Logged) -> None:
    logged.spans()
    assert tables(logged.ask(replace(OPTIONS, under="P.last"))) == [LAST]
    assert len(tables(logged.ask(replace(OPTIONS, under="d.p")))) == 5
    with pytest.raises(ConfigError, match=r"^marts: no table of this catalog is called so"):
        logged.ask(replace(OPTIONS, under="marts"))


@pytest.mark.parametrize("form", ["csv", "json", "markdown", "tree"])
def test_every_form_names_them_and_what_was_left_out(logged: Logged, form: str) -> None:
    logged.spans()
    answer = unused_in_file(logged.made.file, replace(OPTIONS, limit=2))
    told = render(answer, UNUSED, form)
    assert BASE in told
    assert LAST not in told.replace(f"only by what nobody reads: {LAST}", "").partition("read only by")[0]
    assert "only the first 2 of a kind are listed" in told or '"truncated": true' in told
    rows = in_rows(answer, unused_rows)
    assert (len(rows.rows), rows.notes) == (2, ("only the first 2 of a kind are listed: ask for more",))


def test_a_search_narrows_to_what_nobody_reads(logged: Logged) -> None:
    logged.spans()
    logged.reads({"entity": LAST, "column": "a"})
    with logged.made.database.read() as connection:

        def found(text: str) -> list[str]:
            results = search(connection, text, 50, unread_tables)["results"]
            return sorted(one["entity"]["fullyQualifiedName"] for one in results if one["kind"] == "entity")

        assert found("unread:10d") == [COPY, SIDE]
        assert found("si unread:10d") == [SIDE]
        assert found("-unread:10d") == [ELSEWHERE, BASE, LAST, MART]
        with pytest.raises(ApiError, match="give an age"):
            found("unread:soon")
        with pytest.raises(ApiError, match="`ingest unused` tells it"):
            search(connection, "unread:10d", 50)


def test_the_api_answers_as_the_command_does(logged: Logged) -> None:
    logged.spans()
    logged.reads({"entity": LAST, "column": "a", "reader": "monitor"})
    with running_catalog(CatalogConfig(logged.made.file, port=0)) as address:
        client = Client(address.url)
        status, body = client.get("/headwater/unused", days=10, butFor="monitor", under="p", limit=2)
        assert (status, body["truncated"], body["counts"]["tablesUnread"]) == (200, True, 5)
        assert [one["entity"]["fullyQualifiedName"] for one in body["unused"]] == [BASE, COPY]
        assert client.get("/headwater/unused", under="nowhere")[0] == 400
        strange = {"source": "wf", "reads": [{"entity": {"id": "0" * 32, "type": "table"}, "how": "named"}]}
        assert client.post("/headwater/reads", strange)[0] in (400, 404)


def test_dashboards_are_told_where_clients_tell_their_use(logged: Logged) -> None:
    logged.spans()
    with running_catalog(CatalogConfig(logged.made.file, port=0)) as address:
        client = Client(address.url)
        client.made("/services/dashboardServices", {"name": "bi", "serviceType": "Superset"})
        boards = [client.made("/dashboards", {"name": name, "service": "bi"}) for name in ("seen", "idle")]
        for table, board in zip((LAST, SIDE), boards, strict=True):
            ends = {"fromEntity": {"id": logged.made.id_of(table), "type": "table"}}
            ends["toEntity"] = {"id": board["id"], "type": "dashboard"}
            assert client.put("/lineage", {"edge": ends})[0] == 200
        unknown = client.get("/headwater/unused", days=10)[1]
        assert [one["entity"]["fullyQualifiedName"] for one in unknown["unused"]] == [COPY]
        assert unknown["notClaimed"]["dashboard"] == 2
        day = date.fromtimestamp(AT / 1000 - 86_400).isoformat()
        client.post(f"/usage/dashboard/{boards[0]['id']}", {"date": day, "count": 3})
        known = client.get("/headwater/unused", days=10)[1]
        assert [one["entity"]["fullyQualifiedName"] for one in known["unused"]] == [COPY, SIDE, "bi.idle"]
