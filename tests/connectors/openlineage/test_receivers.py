"""What a receiver of events takes."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.openlineage import EventLimits, limits_of, rewritten_namespaces


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


@pytest.mark.parametrize(
    ("transport", "expected"),
    [
        ({"type": "http", "url": "https://marquez.example"}, ("a b", "x=y;z", "ü")),
        ({"type": "http", "url": "https://m.example", "endpoint": "/api/v1/lineage"}, ("a b", "x=y;z", "ü")),
        ({"type": "composite", "transports": [{"type": "console"}, {"type": "http", "url": "http://m"}]},
         ("a b", "x=y;z", "ü")),
        ({"type": "http", "url": "https://h", "endpoint": "openapi/openlineage/api/v1/lineage"}, ()),
        ({"type": "http", "url": "https://acme-prod.snowflakecomputing.com"}, ()),
        ({"type": "file", "log_file_path": "events.jsonl"}, ()),
    ],
)  # fmt: skip
def test_namespaces_that_marquez_rewrites_are_told_where_it_may_be_the_receiver(
    transport: dict[str, Any], expected: tuple[str, ...]
) -> None:
    plain = ["postgres://h:5432", "arn:aws:glue:eu-west-1:1", "abfss://c@a.dfs", "a_b-c+d"]
    assert rewritten_namespaces(transport, ["ü", "a b", "x=y;z", *plain]) == expected
