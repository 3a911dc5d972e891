"""A network that loses answers: what was sent is sent again, and stands there once."""

from __future__ import annotations

import pytest

from connectors.databricks import client
from connectors.databricks.sink import open_sink
from tests.connectors.databricks.conftest import DAILY, ORDERS, REPORT, RUN, SERVICES, batch
from tests.support.fault_server import Fault, Plan, half_a_body, html, misbehaving, nested, refused_with, reset
from tests.support.unity_service import UnityService

METADATA, LINEAGE = (f"/api/2.0/lineage-tracking/external-{kind}" for kind in ("metadata", "lineage"))


@pytest.mark.parametrize("calls", [(METADATA, 2), (LINEAGE, 1), (LINEAGE, 2), (LINEAGE, 4)], ids=str)
@pytest.mark.parametrize(
    "fault", [half_a_body, html, nested, reset, refused_with(503)], ids=["half", "page", "nested", "reset", "503"]
)
def test_what_was_lost_on_its_way_stands_there_once(
    service: UnityService, fault: Fault, calls: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.001)
    plan = Plan(lambda path, number: fault if (path, number) == calls else None)
    with misbehaving(service.server.url_for(""), plan) as url:
        settings = service.settings(host=url.removesuffix("/api"), services=SERVICES, retry_max_times=2)
        with open_sink(settings, RUN) as sink:
            report = sink.write([batch(ORDERS, DAILY, ("total", "gmv")), batch(DAILY, REPORT, ("gmv", "GMV"))])
    assert plan.calls[calls[0]] > calls[1]
    assert (report.counts.rejected, [result.accepted for result in report.results]) == (0, [True, True])
    assert service.pairs == {
        ("shop:shopdb:web:orders", "main.sales.daily"): {("total", "gmv")},
        ("main.sales.daily", "wh:dwh:pub:report"): {("gmv", "GMV")},
    }
