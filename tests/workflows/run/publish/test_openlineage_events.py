"""Events reach their receiver, each service's tables by its own namespace, and one that is refused keeps none back."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from connectors.openmetadata.client import Platform
from ingestion.errors import ConfigError, TargetDown
from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind
from ingestion.model.entities import TableEntity
from ingestion.model.fqn import build_fqn, split_fqn
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.requests import AddLineageRequest, request_of
from workflows.config import load_config
from workflows.counts import RunCounts
from workflows.run.publish.openlineage_events import EventSink
from workflows.runtime.options import RunOptions
from workflows.state.acknowledgements import PublishedState
from workflows.state.workflow_state import WorkflowState

Write = Callable[[str], Path]
SERVICES = {"wh": {"serviceType": "Snowflake", "connection": {"config": {"account": "acme-prod"}}}}


class State:
    """What was acknowledged."""

    def __init__(self) -> None:
        self.jobs: dict[str, PublishedState] = {}

    def acknowledged_states(self, _sink: str, targets: Any) -> dict[str, PublishedState]:
        return {one: self.jobs[one] for one in targets if one in self.jobs}

    def acknowledge(self, _sink: str, done: Mapping[str, PublishedState]) -> None:
        self.jobs |= done


class Catalog:
    """The services of a catalog; a token is in none of them."""

    def get(self, path: str, _params: object) -> Any:
        return SERVICES.get(path.rpartition("/")[2])


def table(fqn: str) -> TableEntity:
    parts = split_fqn(fqn)
    return TableEntity(str(uuid.uuid5(uuid.NAMESPACE_URL, fqn)), fqn, *parts)


def written(source: str, target: str, columns: int = 1) -> AddLineageRequest:
    """What the query that is called after its target says."""
    evidence = tuple(
        ColumnEvidence((f"{source}.c{one}",), f"{target}.c{one}", Transformation(Subtype.IDENTITY))
        for one in range(columns)
    )
    producer = Producer(ProducerKind.QUERY, split_fqn(target)[-1])
    contribution = Contribution(producer, "QueryLineage", "INSERT", evidence, "sqlglot", 1.0, 1.0, 2.0, ("0",))
    return request_of(table(source).reference, table(target).reference, [contribution])


REQUESTS = [written("wh.DB.S.ORDERS", build_fqn("shop", "db", "public", name)) for name in ("a", "b", "c")]


class Receiver:
    """Takes events but for those whose job `answers` has a status for."""

    def __init__(self, server: HTTPServer) -> None:
        self.answers: dict[str, int] = {}
        self.taken: list[dict[str, Any]] = []
        server.expect_request("/api/v1/lineage").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        event = json.loads(request.data)
        status = self.answers.get(event["job"]["name"], 200)
        if status == 200:
            self.taken.append(event)
        return Response("canary", status=status)

    @property
    def jobs(self) -> list[str]:
        return [event["job"]["name"] for event in self.taken]


@pytest.fixture
def receiver(httpserver: HTTPServer) -> Receiver:
    return Receiver(httpserver)


@pytest.fixture
def sink(workflow_file: Write, minimal: str, httpserver: HTTPServer) -> Callable[..., EventSink]:
    state = State()

    def made(settings: str = "") -> EventSink:
        transport = f"{{type: http, url: '{httpserver.url_for('')}', retry: {{total: 0}}}}"
        ours = (
            f"headwater: {{openLineage: {{transport: {transport}, namespaces: {{'postgres://db': shop}}{settings}}}}}"
        )
        config = load_config(workflow_file(f"{minimal}{ours}\n"))
        platform = cast(Platform, SimpleNamespace(http=Catalog()))
        found = EventSink.of(config, RunOptions("r1"), cast(WorkflowState, state), platform)
        assert found is not None
        return found

    return made


def send(sink: EventSink, requests_: list[AddLineageRequest] = REQUESTS) -> Any:
    names = [ref.fully_qualified_name for one in requests_ for ref in (one.from_entity, one.to_entity)]
    return sink.send(requests_, {one.id: one for one in (table(str(name)) for name in names)})


def test_each_service_of_a_run_goes_by_its_own_namespace(sink: Callable[..., EventSink], receiver: Receiver) -> None:
    assert send(sink(), REQUESTS[:1]).sent == 1
    (event,) = receiver.taken
    named = [(one["namespace"], one["name"]) for one in (*event["inputs"], *event["outputs"])]
    assert named == [("snowflake://acme-prod", "DB.S.ORDERS"), ("postgres://db", "db.public.a")]


def test_an_event_that_is_refused_is_named_and_sent_again_and_the_others_go_on(
    sink: Callable[..., EventSink], receiver: Receiver
) -> None:
    receiver.answers = {"query.b": 400}
    report = send(sink())
    assert (report.sent, receiver.jobs) == (2, ["query.a", "query.c"])
    assert report.warnings() == (
        "1 OpenLineage events were refused, the others were sent: query.b into db.public.b (400)",
    )
    receiver.answers = {}
    assert (send(sink()).sent, receiver.jobs) == (1, ["query.a", "query.c", "query.b"])
    assert send(sink()).sent == 0


@pytest.mark.parametrize(("status", "expected"), [(401, ConfigError), (405, ConfigError), (503, TargetDown)])
def test_a_receiver_that_takes_nothing_ends_the_sending_and_gets_all_of_it_later(
    sink: Callable[..., EventSink], receiver: Receiver, status: int, expected: type[Exception]
) -> None:
    receiver.answers = {"query.b": status}
    with pytest.raises(expected) as caught:
        send(sink())
    assert (receiver.jobs, "canary" in str(caught.value)) == (["query.a"], False)
    receiver.answers = {}
    send(sink())
    assert set(receiver.jobs) == {"query.a", "query.b", "query.c"}
    assert len({event["run"]["runId"] for event in receiver.taken}) == 3  # what came twice is the same run


def test_a_part_that_is_refused_has_its_producer_sent_again(sink: Callable[..., EventSink], receiver: Receiver) -> None:
    wide = [*REQUESTS[:1], written("wh.DB.S.CITIES", "shop.db.public.a"), REQUESTS[1]]
    receiver.answers = {"query.a": 413}
    report = send(sink(", maxEventLinks: 1"), wide)
    assert (report.sent, len(report.refused), receiver.jobs) == (1, 2, ["query.b"])
    receiver.answers = {}
    assert send(sink(", maxEventLinks: 1"), wide).sent == 2


def test_what_no_event_holds_is_told(sink: Callable[..., EventSink], receiver: Receiver) -> None:
    report = send(sink(", maxEventColumns: 10"), [written("wh.DB.S.ORDERS", "shop.db.public.a", columns=20)])
    (told,) = report.warnings()
    left = 20 - len(receiver.taken[0]["outputs"][0]["facets"]["columnLineage"]["fields"])
    assert told.startswith(f"{left} edges of columns") and "query.a" in told


def test_the_event_of_the_run_itself_can_be_left_out(sink: Callable[..., EventSink], receiver: Receiver) -> None:
    counts = RunCounts(statements=3)
    assert sink(", outcome: false").conclude(counts) == ()
    assert receiver.jobs == []
    assert sink().conclude(counts) == ()
    (own,) = receiver.jobs
    receiver.answers = {own: 422}
    (told,) = sink().conclude(counts)
    assert "outcome: false" in told


def test_a_namespace_that_marquez_would_rewrite_is_told_once_in_a_run(
    sink: Callable[..., EventSink], receiver: Receiver
) -> None:
    (told,) = sink(', outcome: false, namespace: "etl jobs"').conclude(RunCounts())
    assert "(etl jobs)" in told


def test_a_service_whose_namespace_nothing_tells_is_named_once(
    sink: Callable[..., EventSink], receiver: Receiver
) -> None:
    unknown = [written("other.db.s.x", f"other.db.s.{name}") for name in ("y", "z")]
    (told,) = (send(sink(), unknown[:1]) + send(sink(), unknown)).warnings()
    assert "other; name it in headwater.openLineage.namespaces" in told
    assert receiver.taken[0]["outputs"][0]["namespace"] == "other"


def test_a_table_whose_database_nobody_knows_is_in_no_event_and_told(
    sink: Callable[..., EventSink], receiver: Receiver
) -> None:
    """`default.public.x` would be another table at that address; a container has no database."""
    unknown = build_fqn("shop", "default", "public", "x")
    report = send(sink(), [*REQUESTS[:1], written("wh.DB.S.ORDERS", unknown), written(unknown, "shop.db.public.y")])
    assert (report.sent, receiver.jobs) == (1, ["query.a"])
    assert report.warnings() == (
        "1 tables are in no OpenLineage event, since nothing tells their database: shop.default.public.x; "
        "set headwater.defaults.database",
    )
