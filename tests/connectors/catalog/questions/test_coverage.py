"""Of how many tables the source is known: by columns, by table, not at all, and then why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from connectors.catalog.answer.coverage import COVERAGE, coverage_rows
from connectors.catalog.answer.rendering import in_rows, render
from connectors.catalog.contract import run_models
from connectors.catalog.contract.models import Id
from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.coverage import CoverageReport, coverage_in_file, first_uncovered
from connectors.catalog.questions.tables import TableListOptions
from connectors.catalog.store.evidence import workflow_runs
from ingestion.errors import ConfigError
from ingestion.model.outcomes import Outcome, UncoveredReason
from tests.support.http_client import Client
from tests.support.made_catalog import AT, Edge, MadeCatalog

NOT_WRITTEN, COLUMNS_UNKNOWN = UncoveredReason.NOT_WRITTEN, UncoveredReason.COLUMNS_UNKNOWN
RAW, DAILY, COPIED, LOST = (f"shop.d.p.{name}" for name in ("raw", "daily", "copied", "lost"))


def edge(source: str, target: str, *, by_columns: bool) -> Edge:
    pair = {"from": [f"{source}.a"], "to": f"{target}.a", "type": "DIRECT", "subtype": "IDENTITY"}
    return source, target, {"producer": {"kind": "query", "key": target}, "columns": [pair] if by_columns else []}


class Filed:
    """A catalog in which one table is made by columns, one by table, and nothing is known of two."""

    def __init__(self, file: Path) -> None:
        self.made = MadeCatalog(file)
        self.made.add_tables(dict.fromkeys((RAW, DAILY, COPIED, LOST), ("a", "b")))
        known = edge(RAW, DAILY, by_columns=True), edge(RAW, COPIED, by_columns=False)
        self.made.add_edges((*known, edge(LOST, LOST, by_columns=True)))

    def id_of(self, table: str) -> Id:
        return self.made.id_of(table)

    def tell(self, *, workflow: str = "wf", whole: bool = False, **told: list[Mapping[str, Any]]) -> None:
        body = {"workflow": workflow, "dead": [], "dead_total": len(told.get("dead", ())), "whole": whole, **told}
        with self.made.database.write() as connection:
            workflow_runs.file_open_statements(connection, run_models.OpenStatements.model_validate(body))

    def dead(self, table: str, reason: str = "unparsable", **more: str) -> dict[str, Any]:
        location = {"location": "log.csv:7", "run": "a1", "reason": reason, "masked": "INSERT INTO x SELEKT ?"}
        return {**location, "writes": [self.id_of(table)], **more}

    def without_source(self, table: str, reason: str, *names: str) -> dict[str, Any]:
        return {"entity": {"id": self.id_of(table), "type": "table"}, "reason": reason, "names": names}

    def ask(self, **options: Any) -> CoverageReport:
        return coverage_in_file(self.made.file, TableListOptions(**options)).content


@pytest.fixture
def filed(tmp_path: Path) -> Iterator[Filed]:
    found = Filed(tmp_path / "catalog.db")
    yield found
    found.made.close()


def test_tables_are_counted_by_what_is_known_of_their_source(filed: Filed) -> None:
    found = filed.ask()
    assert found.counts == {"tables": 4, "columns": 1, "table": 1, "none": 2}
    assert [(one.name, one.level.value, one.reason, one.used_by) for one in found.open] == [
        (RAW, "none", NOT_WRITTEN, 2),
        (LOST, "none", NOT_WRITTEN, 0),  # that it is made of itself says nothing of where its data is from
        (COPIED, "table", COLUMNS_UNKNOWN, 0),
    ]
    assert filed.ask(as_of=AT - 1).counts == {"tables": 4, "columns": 0, "table": 0, "none": 4}
    assert filed.ask(under="daily").open == ()
    with pytest.raises(ConfigError):
        filed.ask(under="nowhere")


def test_a_dead_statement_and_a_name_that_nobody_knows_say_why(filed: Filed) -> None:
    filed.tell(
        dead=[filed.dead(RAW, "templated", error="line 1: {{ source }}")],
        writes=[
            filed.without_source(LOST, "no_source"),
            filed.without_source(LOST, "no_default_schema", "daily", "other"),
            filed.without_source(DAILY, "unresolved", "x.y"),  # another statement tells what it is made of
        ],
    )
    found = {one.name: one for one in filed.ask().open}
    assert (found[RAW].reason, found[RAW].dead[0].location) == ("templated", "log.csv:7")
    assert (found[LOST].reason, found[LOST].names) == ("no_default_schema", ("daily", "other"))
    assert found[LOST].setting == "headwater.defaults: {schema: p}"  # where the catalog has a table of that name
    assert DAILY not in found
    filed.tell(workflow="other", writes=[filed.without_source(COPIED, "unresolved", "x.y")])
    assert {one.name: one.reason for one in filed.ask().open}[RAW] == "templated"  # of another workflow: it stays
    filed.tell(whole=True)  # what is read now has no such statement any more
    assert {one.reason for one in filed.ask().open} == {NOT_WRITTEN, COLUMNS_UNKNOWN}


@pytest.mark.parametrize("reason", [Outcome.INSERT_VALUES, Outcome.COPY_STDIO, Outcome.NO_SOURCE])
def test_a_table_that_is_filled_from_no_other_has_no_source_to_be_known(filed: Filed, reason: Outcome) -> None:
    filed.tell(writes=[filed.without_source(RAW, reason)])
    found = filed.ask()
    assert (found.no_source, found.counts["none"]) == (1, 2)
    assert [one.name for one in found.open] == [LOST, COPIED, RAW]  # there is nothing to work off
    text = render(coverage_in_file(filed.made.file, TableListOptions()), COVERAGE, "tree")
    assert "1 of those are filled, and from no table" in text
    assert f": {reason}, {reason.sentence.removesuffix('.')}" in text
    with filed.made.database.read() as connection:
        assert [one.name for one in first_uncovered(connection, 9)] == [LOST, COPIED]
    filed.tell(writes=[filed.without_source(RAW, "unresolved", "x.y")])  # another statement has one
    assert (filed.ask().no_source, filed.ask().open[0].reason) == (0, "unresolved")


def test_json_has_the_reasons_in_words(filed: Filed) -> None:
    filed.tell(dead=[filed.dead(RAW, "templated")])
    body = filed.ask().to_json()
    told = "A template was left in the text that nobody filled in"
    assert body["reasonTexts"]["templated"] == body["open"][0]["reasonText"] == told
    assert body["open"][0]["dead"][0]["reasonText"] == told
    assert body["reasonTexts"]["not_written"] == "No statement that was read fills it"


def test_an_edge_that_a_person_rejected_is_no_source(filed: Filed) -> None:
    with running_catalog(CatalogConfig(filed.made.file, port=0)) as address:
        client = Client(address.url)
        pair = {"from": {"entity": RAW, "column": "a"}, "to": {"entity": DAILY, "column": "a"}}
        assert client.post("/headwater/corrections", {"verdict": "rejected", **pair, "reason": "a test"})[0] == 200
        body = client.get("/headwater/coverage", limit=1)[1]
        assert (body["counts"], body["truncated"]) == ({"tables": 4, "columns": 0, "table": 2, "none": 2}, True)
        ends = {"from": {"entity": RAW}, "to": {"entity": DAILY}}
        assert client.post("/headwater/corrections", {"verdict": "rejected", **ends, "reason": "a test"})[0] == 200
        assert client.get("/headwater/coverage")[1]["counts"] == {"tables": 4, "columns": 0, "table": 1, "none": 3}
        assert client.get("/headwater/coverage", under="nowhere")[0] == 400


def test_an_answer_is_written_in_every_form(filed: Filed) -> None:
    filed.tell(dead=[filed.dead(LOST, masked="INSERT INTO p.lost\n| SELEKT ?")])
    answer = coverage_in_file(filed.made.file, TableListOptions())
    for form in ("tree", "csv", "markdown"):
        text = render(answer, COVERAGE, form)
        assert "source known of 4 tables: 1 by columns (25 %), 1 by table (25 %), 2 not at all (50 %)" in text
        assert LOST in text
        assert "log.csv:7" in text
    assert "\\| SELEKT" in render(answer, COVERAGE, "markdown")
    page = in_rows(answer, coverage_rows).page(2_000)
    assert page.total == 3
    assert "unparsable" in page.text
