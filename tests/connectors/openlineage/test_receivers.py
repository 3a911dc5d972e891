"""What a receiver of events takes."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.openlineage import EventLimits, limits_of


@pytest.mark.parametrize(
    ("transport", "expected"),
    [
        ({"type": "http", "url": "https://marquez.example"}, EventLimits()),
        ({"type": "http", "url": "https://acme-prod.snowflakecomputing.com"},
         EventLimits(columns=15_000, pairs=True, outcome=False)),
        ({"type": "amazon_datazone_api", "domainId": "d"}, EventLimits(size=300_000)),
        ({"type": "composite", "transports": [{"type": "amazon_datazone_api"}, {"type": "gcplineage"}]},
         EventLimits(size=300_000, links=1_000, pairs=True)),
        ({"type": "transform", "transport": {"type": "gcplineage"}},
         EventLimits(size=5_000_000, links=1_000, pairs=True)),
    ],
)  # fmt: skip
def test_what_a_receiver_takes_is_known_by_its_transport(transport: dict[str, Any], expected: EventLimits) -> None:
    assert limits_of(transport) == expected
