"""The catalog's OpenAPI document, fuzzed over HTTP: whatever is sent, no call fails inside."""

from __future__ import annotations

from contextlib import suppress

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from tests.support.http_client import Client

# of collections that are served by the same code as others only what has a body of its own is called, with one example
# of each kind of data; of all others that have a body two: the simplest that there is, and a random one
ALIKE = {"storageService", "pipelineService", "database", "databaseSchema", "pipeline", "ingestionPipeline"}
ALIKE |= {"dashboardService", "dashboard", "metric", "team", "testDefinition"}
ALIKE |= {"chart", "dashboardDataModel", "user", "classification", "tag", "domain"}
QUIETLY = settings(
    max_examples=2,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)

LONG = 20_000
MANY = 1_000
OVERLONG_CALLS = 10
"""What is longer than the document lets it be is refused by the same code for all routes, before they are asked: up to
17 MB a call, which takes more of the test than all other calls.
"""


def is_overlong(case: schemathesis.Case) -> bool:
    wrong = case.meta is not None and case.meta.generation.mode is GenerationMode.NEGATIVE
    many = isinstance(case.body, list) and len(case.body) > MANY
    return wrong and (many or len(str((case.path_parameters, case.query))) > LONG)


def test_no_call_fails_inside(shop: Client) -> None:
    shop.lineage(shop.table("s"), shop.table("t"))
    schema = schemathesis.openapi.from_url(f"{shop.url}/openapi.json", timeout=60)
    failed: set[str] = set()
    called = overlong = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        alike = bool(ALIKE & set(operation.tags or ()))
        if alike and operation.method != "put":
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

            @settings(QUIETLY, max_examples=1 if alike or operation.method in ("get", "delete") else 2)
            @given(case=operation.as_strategy(generation_mode=mode))
            def call(case: schemathesis.Case) -> None:
                nonlocal called, overlong
                overlong += is_overlong(case)
                if overlong > OVERLONG_CALLS and is_overlong(case):
                    return
                called += 1
                answer = case.call(session=shop.session, timeout=30)
                if answer.status_code >= 500:
                    failed.add(f"{case.method} {case.path} -> {answer.status_code}")

            with suppress(Unsatisfiable):  # a call without parameters cannot be called wrongly
                call()
    assert not failed
    assert called > 400
