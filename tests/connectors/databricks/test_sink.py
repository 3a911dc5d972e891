"""Unity Catalog over REST: a small one with its routes, fields and names takes what the sink sends."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from pydantic import ValidationError
from werkzeug import Response

from connectors.databricks import client
from connectors.databricks.sink import UnitySink, open_sink
from connectors.fields import FieldContext
from connectors.sink import EdgeCounts, SinkRun, TargetBatch, WriteReport
from connectors.sinks import sink_settings
from ingestion.errors import ConfigError, TargetDown
from ingestion.model.outcomes import WriteOutcome
from tests.connectors.databricks.conftest import DAILY, ORDERS, REPORT, RUN, SERVICES, batch, contribution, table
from tests.support.unity_service import TOKEN, UnityService

SAID = batch(ORDERS, DAILY, ("total", "gmv"), ("day", "day"))
ENDS = (("external_metadata", "shop:shopdb:web:orders"), ("table", "main.sales.daily"))
OTHER = table("dbx.main.sales.other")
BY_OTHERS = {"columns": [{"source": "id", "target": "day"}], "properties": {"owner": "ann"}}


def written(service: UnityService, *batches: TargetBatch, **more: Any) -> WriteReport:
    with open_sink(service.settings(services=SERVICES, **more), RUN) as sink:
        return sink.write(batches)


def keys_of(given: TargetBatch, service: UnityService) -> frozenset[str]:
    with open_sink(service.settings(services=SERVICES), RUN) as sink:
        return frozenset(key for one in given.requests for said in one.contributions for key in sink.keys(one, said))


def test_an_edge_across_the_border_is_an_object_and_a_relationship(service: UnityService) -> None:
    report = written(service, SAID)
    assert report.counts == EdgeCounts(new=1, column_edges=2)
    assert service.objects == {
        "shop:shopdb:web:orders": {
            "name": "shop:shopdb:web:orders",
            "system_type": "POSTGRESQL",
            "entity_type": "Table",
            "columns": ["day", "total"],
            "properties": {"created_by": "headwater", "headwater.name": "shop.shopdb.web.orders"},
            "created_by": "robot",
        }
    }
    assert service.relationships == {
        ENDS: {
            "columns": [{"source": "day", "target": "day"}, {"source": "total", "target": "gmv"}],
            "properties": {"created_by": "headwater"},
        }
    }


def test_the_same_again_writes_nothing_also_where_nobody_remembers(service: UnityService) -> None:
    both = [SAID, batch(DAILY, REPORT, ("gmv", "GMV"))]
    written(service, *both)
    before = list(service.writes)
    report = written(service, *both)
    assert (report.counts.unchanged, service.writes) == (2, before)
    assert service.pairs["main.sales.daily", "wh:dwh:pub:report"] == {("gmv", "GMV")}


def test_what_others_wrote_stays_and_more_is_added(service: UnityService) -> None:
    written(service, SAID)
    service.objects["shop:shopdb:web:orders"]["columns"].append("id")
    service.relationships[ENDS] = deepcopy(BY_OTHERS)
    report = written(service, batch(ORDERS, DAILY, ("total", "TOTAL"), ("id", "DAY")))
    assert report.counts == EdgeCounts(merged=1, column_edges=2)
    assert service.pairs == {("shop:shopdb:web:orders", "main.sales.daily"): {("id", "day"), ("total", "TOTAL")}}
    assert service.relationships[ENDS]["properties"] == {"owner": "ann"}
    assert service.objects["shop:shopdb:web:orders"]["columns"] == ["day", "total", "id"]


def test_edges_that_do_not_cross_the_border_are_counted_and_told_in_one_line(service: UnityService) -> None:
    report = written(service, batch(DAILY, OTHER), batch(ORDERS, REPORT), batch(table("wh.D.P.A"), REPORT))
    assert report.counts == EdgeCounts(recorded_there=1, outside=2)
    assert [result.outcome for result in report.results] == [WriteOutcome.UNCHANGED] * 3
    assert service.writes == []
    assert list(service.settings().losses(report.counts)) == [
        "not sent to Unity Catalog: 1 edges within Unity Catalog: it records those itself; 2 edges wholly outside of it"
    ]


def test_what_has_no_room_there_is_counted(service: UnityService) -> None:
    report = written(service, batch(ORDERS, DAILY, ("total", "gmv"), ("day", ""), temp_lineage_tables=(("a", "b"),)))
    assert report.counts == EdgeCounts(new=1, column_edges=1, influences=1, without_hops=1)
    assert list(service.settings().losses(report.counts)) == [
        "external lineage cannot hold all: columns that only decide (filters, joins): 1 edges without them; "
        "temporary tables on the way: 1 edges without them"
    ]


def test_what_is_only_possible_says_so_until_it_is_certain(service: UnityService) -> None:
    written(service, batch(ORDERS, DAILY, confidence=0.3))
    assert service.relationships[ENDS]["properties"]["headwater.certainty"] == "possible"
    written(service, SAID)
    written(service, batch(ORDERS, DAILY, confidence=0.3))
    assert service.relationships[ENDS]["properties"] == {"created_by": "headwater"}


def test_no_sql_no_expression_and_no_query_is_sent(service: UnityService) -> None:
    written(service, SAID)
    everything = json.dumps([list(service.objects.values()), list(service.relationships.values())])
    assert "SUM" not in everything
    assert "INSERT" not in everything


def test_a_pair_that_is_not_said_any_more_goes_and_the_others_stay(service: UnityService) -> None:
    written(service, SAID)
    now = batch(ORDERS, DAILY, ("day", "day"))
    report = written(
        service, batch(ORDERS, DAILY, ("day", "day"), ended=keys_of(SAID, service) - keys_of(now, service))
    )
    assert (report.counts.unchanged, report.counts.replaced) == (1, 1)
    assert service.pairs == {("shop:shopdb:web:orders", "main.sales.daily"): {("day", "day")}}


def test_an_edge_that_is_not_said_any_more_goes_with_the_object_that_nothing_else_has(service: UnityService) -> None:
    also = batch(ORDERS, OTHER, ("total", "a"))
    written(service, SAID, also)
    written(service, TargetBatch(DAILY, ended=keys_of(SAID, service)))
    assert service.pairs == {("shop:shopdb:web:orders", "main.sales.other"): {("total", "a")}}
    assert service.objects.keys() == {"shop:shopdb:web:orders"}
    written(service, TargetBatch(OTHER, ended=keys_of(also, service)))
    assert (service.relationships, service.objects) == ({}, {})


def test_what_others_made_is_never_taken_away(service: UnityService) -> None:
    """A relationship of theirs, what they added to ours, and an object of theirs."""
    written(service, SAID)
    del service.objects["shop:shopdb:web:orders"]["properties"]
    service.objects["shop:shopdb:web:orders"]["columns"].append("id")
    ours = deepcopy(service.relationships[ENDS])
    ended = TargetBatch(DAILY, ended=keys_of(SAID, service))

    service.relationships[ENDS] = deepcopy({**BY_OTHERS, "columns": ours["columns"]})
    assert written(service, ended).counts.replaced == 0
    assert service.relationships[ENDS]["columns"] == ours["columns"]

    service.relationships[ENDS] = {**ours, "columns": [*ours["columns"], *BY_OTHERS["columns"]]}
    assert written(service, ended).counts.replaced == 2
    assert service.relationships[ENDS]["columns"] == BY_OTHERS["columns"]

    service.relationships[ENDS] = ours
    assert written(service, ended).counts.replaced == 3
    assert (service.relationships, service.objects.keys()) == ({}, {"shop:shopdb:web:orders"})
    assert written(service, ended).counts.replaced == 0  # gone already


@pytest.mark.parametrize(
    "refused", [batch(ORDERS, DAILY, ("total", "no_column")), batch(ORDERS, table("dbx.main.x.y"))]
)
def test_what_is_refused_is_named_and_costs_itself(service: UnityService, refused: TargetBatch) -> None:
    report = written(service, refused, batch(ORDERS, OTHER, ("total", "a")))
    assert (report.counts.new, report.counts.rejected) == (1, 1)
    reason = report.results[0].reason
    assert reason in (
        "400 INVALID_PARAMETER_VALUE: main.sales.daily has no column no_column",
        "404 TABLE_DOES_NOT_EXIST: Table main.x.y does not exist; asked with ***",
    )


def test_of_an_edge_that_is_refused_no_object_stays(service: UnityService) -> None:
    written(service, batch(DAILY, REPORT, ("gmv", "GMV")))
    report = written(service, batch(DAILY, table("wh.DWH.PUB.NEW"), ("no", "a")), batch(table("dbx.main.x.y"), REPORT))
    assert (report.counts.rejected, service.objects.keys()) == (2, {"wh:dwh:pub:report"})


def test_where_an_edge_is_refused_what_was_before_stays(
    service: UnityService, caplog: pytest.LogCaptureFixture
) -> None:
    written(service, SAID)
    report = written(service, batch(ORDERS, DAILY, ("total", "no"), ended=keys_of(SAID, service)))
    assert (report.counts.rejected, report.counts.replaced, len(service.relationships)) == (1, 0, 1)
    assert "its earlier lineage stays" in caplog.text


def test_two_tables_of_one_name_there_are_not_taken_for_one(service: UnityService) -> None:
    """Names are in lower case there, and MySQL and BigQuery know tables that differ in case alone."""
    report = written(service, SAID, batch(table("shop.shopdb.web.Orders"), DAILY, ("total", "gmv")))
    assert (report.counts.new, report.counts.rejected) == (1, 1)
    assert report.results[1].reason == (
        "shop:shopdb:web:orders stands for shop.shopdb.web.orders there, and cannot for shop.shopdb.web.Orders too"
    )
    refused = batch(table("shop.shopdb.web.Orders"), DAILY, ("total", "gmv"))
    written(service, TargetBatch(DAILY, ended=keys_of(refused, service)))
    assert service.pairs.keys() == {("shop:shopdb:web:orders", "main.sales.daily")}


def test_what_others_made_since_it_was_asked_for_is_added_to(service: UnityService) -> None:
    written(service, SAID)
    missing = Response(json.dumps({"error_code": "EXTERNAL_METADATA_DOES_NOT_EXIST", "message": "no"}), 404)
    with open_sink(service.settings(services=SERVICES), RUN) as sink:
        # the object is asked for, made, asked for again; so are relationships
        service.statuses = [missing, None, None, Response("{}", 200)]
        assert sink.write([batch(ORDERS, DAILY, ("day", "gmv"))]).counts.merged == 1
    assert len(service.pairs["shop:shopdb:web:orders", "main.sales.daily"]) == 3


def refusal(status: int, code: str = "") -> Response:
    body = json.dumps({"error_code": code, "message": f"not with {TOKEN}"})
    return Response(body if code else "<html>", status)


@pytest.mark.parametrize("calls_before", [0, 3])
@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (refusal(401, "UNAUTHENTICATED"), ConfigError, "set sink.config.token to one that is valid"),
        (refusal(403, "PERMISSION_DENIED"), ConfigError, "needs CREATE EXTERNAL METADATA on the metastore, MODIFY on"),
        (refusal(404, "ENDPOINT_NOT_FOUND"), ConfigError, "sink.config.host is the address of a workspace"),
        (refusal(404), ConfigError, "sink.config.host is the address of a workspace"),
        (refusal(302), ConfigError, "with a page: sink.config.host is the workspace's address"),
        (refusal(429, "REQUEST_LIMIT_EXCEEDED"), TargetDown, "does not answer (429): run again later"),
        (refusal(503), TargetDown, "does not answer (503): run again later"),
    ],
    ids=["401", "403", "404", "404 page", "302", "429", "503"],
)
def test_an_error_says_what_to_do_and_never_the_token(
    service: UnityService, answer: Response, error: type[Exception], words: str, calls_before: int
) -> None:
    service.statuses = [None] * calls_before + [answer]
    with pytest.raises(error) as raised:
        written(service, SAID)
    assert words in str(raised.value)
    assert TOKEN not in str(raised.value)


def test_a_page_that_answers_is_no_workspace_or_an_answer_that_was_lost(service: UnityService) -> None:
    service.statuses = [Response("<html>Sign in</html>", 200)]
    with pytest.raises(ConfigError, match="with a page"):
        written(service, SAID)
    service.statuses = [None, Response("[]", 200)]
    with pytest.raises(TargetDown, match="half an answer"):
        written(service, SAID)


def test_what_passes_is_tried_again(service: UnityService, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(client.time, "sleep", waits.append)
    busy = Response("", 429, {"Retry-After": "7"})
    service.statuses = [refusal(503), refusal(500), busy, busy]
    report = written(service, SAID, retry_max_times=4)
    assert (report.counts.new, waits) == (1, [1.0, 2.0, 7.0, 8.0])


def test_nobody_there_is_no_fault_of_the_configuration(service: UnityService) -> None:
    settings = service.settings(host="http://127.0.0.1:1", services=SERVICES)
    with pytest.raises(TargetDown, match="ConnectionError"), open_sink(settings, RUN):
        pass


def test_a_run_of_which_no_service_is_in_unity_catalog_is_refused(service: UnityService) -> None:
    run = SinkRun("run", 1, object(), "shop", "Postgres")
    settings = service.settings(services=SERVICES)
    with pytest.raises(ConfigError, match=r"sink\.config\.services names those that are"), open_sink(settings, run):
        pass
    with open_sink(service.settings(services={"dbx": {"unity_catalog": True}}), run) as sink:
        assert sink.write([SAID]).counts.new == 1
    assert service.objects["shop:shopdb:web:orders"]["system_type"] == "POSTGRESQL"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"host": "dbc.cloud.databricks.com"}, "expected a URL such as https://dbc-1234"),
        ({"token": "canary\ntoken"}, "a character in it that no token has"),
        ({"services": {"shop": {"system_type": "postgresql"}}}, "did you mean POSTGRESQL?"),
        ({"paths": ["/mnt/lake"]}, "expected a storage path such as s3://lake/landing"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, Any], message: str) -> None:
    given = {"host": "https://dbc.example", "token": "dapi", **settings}
    with pytest.raises(ValidationError) as raised:
        sink_settings("databricks-rest").model_validate(given)
    assert message in str(raised.value)
    assert "canary" not in str(raised.value)


def test_the_token_is_a_secret_of_the_run() -> None:
    context = FieldContext()
    found = sink_settings("databricks-rest").model_validate(
        {"host": "https://x.example", "token": TOKEN}, context=context
    )
    assert context.secrets == [TOKEN]
    assert TOKEN not in repr(found)


def test_another_workspace_or_other_names_are_another_sink(service: UnityService) -> None:
    plain, named = service.settings(), service.settings(services=SERVICES)
    assert len({plain.identity("c"), named.identity("c"), plain.identity("d"), service.settings().identity("c")}) == 3


def test_it_is_told_what_to_take_away_by_keys(service: UnityService) -> None:
    with open_sink(service.settings(services=SERVICES), RUN) as sink:
        assert isinstance(sink, UnitySink)
        inside = batch(DAILY, OTHER).requests[0]
        assert list(sink.keys(inside, contribution(DAILY, OTHER, ("gmv", "a")))) == []
        assert len(list(sink.keys(SAID.requests[0], SAID.requests[0].contributions[0]))) == 3
