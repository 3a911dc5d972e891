"""A DataHub, or a network, that misbehaves: what it says for now is tried again, what it cannot take is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.datahub.rest import sink as rest_sink
from connectors.sink import SinkRun, TargetBatch, WriteReport
from ingestion.errors import ConfigError, TargetDown
from ingestion.model.entities import EntityReference
from ingestion.model.requests import request_of
from tests.connectors.datahub.conftest import SOURCE, batch, column, contribution
from tests.support.datahub_service import SOURCE_URN, Service
from tests.support.fault_server import (
    Fault,
    Plan,
    Proxied,
    half_a_body,
    hang,
    html,
    misbehaving,
    nested,
    refused_with,
    reset,
)

RUN = SinkRun("run", 1, object(), "shop", "Postgres")
SAID = contribution(column("total", "gmv", "SUM(o.total)"))
INGEST = "/aspects"


def a_text(call: Proxied) -> None:
    """An error whose body is JSON, and no object."""
    call.answer(400, b'"no"', {"Content-Type": "application/json"})


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_sink, "_FIRST_WAIT", 0.001)


def written(
    service: Service, fault: Callable[[str, int], Fault | None], *batches: TargetBatch, tries: int = 2
) -> WriteReport:
    """What is told of batches that go through a network with this fault."""
    with misbehaving(service.server.url_for(""), Plan(fault)) as url:
        settings = service.settings(server=url.removesuffix("/api"), retry_max_times=tries, timeout_sec=1)
        with rest_sink.open_sink(settings, RUN) as sink:
            return sink.write(batches)


@pytest.mark.parametrize(
    "fault",
    [half_a_body, hang, html, nested, reset, refused_with(500), refused_with(503), refused_with(429, Retry_After="0")],
    ids=["half", "hangs", "page", "nested", "reset", "500", "503", "429"],
)
def test_what_passes_is_tried_again_and_changes_nothing(service: Service, fault: Fault) -> None:
    """A page in place of an answer is none: what went with it is not taken for written."""
    report = written(service, lambda path, number: fault if path == INGEST and number == 1 else None, batch(SAID))
    assert (report.counts.new, report.counts.rejected) == (1, 0)
    assert service.model.upstreams.keys() == {SOURCE_URN}
    assert len(service.model.columns) == 1


@pytest.mark.parametrize("fault", [half_a_body, html, reset, refused_with(500), refused_with(502)])
def test_what_lasts_ends_the_run_for_now(service: Service, fault: Fault) -> None:
    with pytest.raises(TargetDown) as raised:
        written(service, lambda path, _number: fault if path == INGEST else None, batch(SAID), tries=1)
    assert "canary-token" not in str(raised.value)


def test_an_answer_of_another_shape_is_read_by_its_status(service: Service) -> None:
    report = written(service, lambda path, _number: a_text if path == INGEST else None, batch(SAID))
    assert [result.reason for result in report.results] == ["400"]


def tables(count: int) -> list[TargetBatch]:
    found = [EntityReference(f"t{number}", "table", f"t{number}", f"shop.db.s.t{number}") for number in range(count)]
    return [TargetBatch(one, (request_of(SOURCE, one, [SAID]),)) for one in found]


def test_an_edge_that_it_fails_at_costs_itself(service: Service) -> None:
    """DataHub answers 500 where it is out of order, and where it cannot take one proposal of many, ever."""

    def on_poison(call: Proxied) -> None:
        if b"db.s.t0," in call.body:
            refused_with(500)(call)
        else:
            status, headers, content = call.forwarded()
            call.answer(status, content, headers)

    report = written(service, lambda path, _number: on_poison if path == INGEST else None, *tables(40))
    assert (report.counts.new, report.counts.rejected) == (39, 1)
    assert report.results[0].reason == "500 no"


def test_a_service_that_fails_at_everything_after_a_while_is_down(service: Service) -> None:
    calls = []

    def fault(path: str, number: int) -> Fault | None:
        calls.append(path)
        return refused_with(500) if path == INGEST and number > 1 else None

    with misbehaving(service.server.url_for(""), Plan(fault)) as url:
        settings = service.settings(server=url.removesuffix("/api"), retry_max_times=1)
        with rest_sink.open_sink(settings, RUN) as sink:
            assert sink.write([batch(SAID)]).counts.new == 1
            with pytest.raises(TargetDown, match="one call after the other"):
                sink.write(tables(40))
    assert calls.count(INGEST) < 20


def test_whom_an_upstream_is_of_is_asked_again(service: Service) -> None:
    with rest_sink.open_sink(service.settings(), RUN) as sink:
        sink.write([batch(SAID)])
        ended = sink.keys(batch(SAID).requests[0], SAID)
    faults: list[Fault] = [html, refused_with(500), half_a_body]
    report = written(
        service,
        lambda path, _n: faults.pop() if path.startswith("/aspects/") and faults else None,
        batch(ended=ended),
        tries=3,
    )
    assert (report.counts.replaced, service.model.upstreams) == (2, {})


def test_a_key_that_it_refuses_ends_the_run(service: Service) -> None:
    with pytest.raises(ConfigError):
        written(service, lambda path, _number: refused_with(401) if path == INGEST else None, batch(SAID))
