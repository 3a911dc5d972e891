"""No failure is quiet: every statement has an end and a reason, and a run in which nothing was read is not green."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.openmetadata.http import Call
from connectors.openmetadata.sink import RestSink
from connectors.sink import target_batches
from ingestion.errors import ThresholdBreached, Unaccounted
from tests.behaviour.conftest import Shop
from tests.behaviour.harness import Record
from workflows.counts import RunCounts

Opened = Callable[..., Shop]
TABLES = {"public.src": ("a", "b"), "public.tgt": ("a", "b")}


def test_every_statement_ends_with_a_reason(shop: Opened) -> None:
    outcome = shop(TABLES).run(
        "insert into tgt (a) select a from src",
        "insert into tgt (a) select a from nowhere",
        "create temp table t as select a from src",
        "insert into tgt ((( select",
        "select a from src",
        "vacuum src",
        "begin",
        Record("insert into tgt select tgt.a, tgt.b from tgt"),
    )
    assert sorted(outcome.outcomes) == sorted(
        [
            ("published", ""),
            ("skipped", "unresolved"),
            ("skipped", "temporary"),
            ("published", ""),
            ("select", ""),
            ("maintenance", ""),
            ("transaction", ""),
        ]
    )


def test_a_run_that_could_read_nothing_is_not_green() -> None:
    counts = RunCounts(records_read=3, statements=3, dead={"unparsable": 3})
    counts.check_conservation()
    assert counts.success_percent == 0
    with pytest.raises(ThresholdBreached, match="unparsable 3"):
        counts.check_threshold(90)


def test_a_statement_that_is_lost_is_a_fault_and_no_success() -> None:
    with pytest.raises(Unaccounted, match="3 statements in"):
        RunCounts(statements=3, published=2).check_conservation()


def test_names_that_mean_nothing_are_listed_with_how_often(shop: Opened) -> None:
    outcome = shop(TABLES).run(*(f"insert into tgt (a) select a from nowhere.at_all where b = {n}" for n in range(4)))
    (names,) = outcome.entities.names.values()
    assert dict(names) == {"db.nowhere.at_all": 4}
    assert outcome.outcomes == (("skipped", "unresolved"),) * 4


def test_an_edge_the_catalog_refuses_is_given_up_with_its_reason_and_the_others_stand(shop: Opened) -> None:
    made = shop({**TABLES, "public.gone": ("a",)})
    first = made.run("insert into gone (a) select a from src", "insert into tgt (a) select a from src")
    target = first.edges["public.src", "public.gone"].to_entity
    made.platform.http.send(Call("DELETE", f"tables/{target.id}", {"hardDelete": "true"}, answered=False))
    report = RestSink(made.platform, "after").write(target_batches(first.requests))
    outcomes = {result.request.to_entity.name: result for result in report.results}
    assert not outcomes["gone"].accepted
    assert outcomes["gone"].reason
    assert outcomes["tgt"].accepted
