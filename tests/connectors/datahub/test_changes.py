"""What DataHub holds after proposals: patches that may come twice, and take away what they took the place of."""

from __future__ import annotations

from connectors.datahub.changes import Changes
from connectors.sink import TargetBatch
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype
from ingestion.model.requests import request_of
from tests.connectors.datahub.conftest import SOURCE, TARGET, batch, column, contribution, in_files
from tests.support.datahub_service import SOURCE_URN, TARGET_URN, Model

SAID = contribution(
    column("oid", "id", subtype=Subtype.IDENTITY),
    column("total", "gmv", "SUM(o.total) / ?", Subtype.AGGREGATION),
    column("a/b~c, (d)", "odd"),
    column("day", "", "o.day > ?", Subtype.FILTER),
    column("maybe", "gmv", certain=False),
    confidence=0.8,
    last_seen=1_700_000_000.0,
    jobs=("dbt daily",),
)
COLUMNS = {
    ("COPY: oid", "id", "oid", 0.8),
    ("SQL: SUM(o.total) / ?", "gmv", "total", 0.8),
    ("NONE", "odd", "a/b~c%2C %28d%29", 0.8),
}


def test_tables_certain_columns_and_the_query_are_written(changes: Changes) -> None:
    model = Model()
    model.take(in_files(changes.proposals(batch(SAID))))

    upstream = model.upstreams[SOURCE_URN]
    assert (upstream["type"], upstream["auditStamp"]["time"]) == ("TRANSFORMED", 1_700_000_000_000)
    assert upstream["properties"] == {"headwater.producer": "query 12ab", "headwater.jobs": "dbt daily"}
    assert model.columns == COLUMNS
    query = model.aspects[upstream["query"]]
    assert query["queryProperties"]["statement"] == {"value": "INSERT INTO daily ?", "language": "SQL"}
    subjects = {one["entity"] for one in query["querySubjects"]["subjects"]}
    assert {SOURCE_URN, TARGET_URN, f"urn:li:schemaField:({TARGET_URN},gmv)"} <= subjects


def test_twice_is_the_same_as_once_and_what_others_wrote_stays(changes: Changes) -> None:
    model = Model()
    theirs = {"dataset": "urn:li:dataset:(urn:li:dataPlatform:postgres,db.s.other,PROD)", "type": "COPY"}
    model.aspects[TARGET_URN]["upstreamLineage"] = {
        "upstreams": {theirs["dataset"]: theirs},
        "fineGrainedLineages": {},
    }
    proposals = in_files(changes.proposals(batch(SAID)))
    model.take(proposals)
    once = repr(model.aspects)

    model.take(proposals)

    assert repr(model.aspects) == once
    assert model.upstreams.keys() == {theirs["dataset"], SOURCE_URN}

    keys = changes.keys(batch(SAID).requests[0], SAID)
    ends = in_files(changes.proposals(batch(ended=keys)))
    for _ in range(2):
        model.take(ends)
        assert model.upstreams.keys() == {theirs["dataset"]}
        assert model.columns == set()


def test_another_expression_takes_the_place_of_the_one_before(changes: Changes) -> None:
    model, before = Model(), contribution(column("total", "gmv", "SUM(o.total)"))
    now = contribution(column("total", "gmv", "SUM(o.total - o.tax)"))
    model.take(in_files(changes.proposals(batch(before))))
    ended = set(changes.keys(batch(before).requests[0], before)) - set(changes.keys(batch(now).requests[0], now))
    assert len(ended) == 1

    model.take(in_files(changes.proposals(batch(now, ended=ended))))

    assert {operation for operation, *_ in model.columns} == {"SQL: SUM(o.total - o.tax)"}
    assert model.upstreams.keys() == {SOURCE_URN}


def test_what_is_superseded_is_not_written(changes: Changes) -> None:
    request = batch(SAID).requests[0]
    gone = TargetBatch(TARGET, (request,), superseded=frozenset(changes.keys(request, SAID)))
    assert changes.proposals(gone) == []


def test_shards_of_one_table_are_no_source_of_it() -> None:
    from connectors.datahub.names import DatahubNames

    changes = Changes(DatahubNames("bq", "BigQuery"))
    ends = [EntityReference(day, "table", None, f"bq.p.d.events_{day}") for day in ("20240101", "20240102")]
    request = request_of(*ends, [contribution()])
    assert changes.keys(request, request.contributions[0]) == []


def test_an_end_without_a_platform_has_no_keys(changes: Changes) -> None:
    request = request_of(EntityReference("9", "table", None, "hub.db.s.t"), TARGET, [SAID])
    assert changes.keys(request, SAID) == []
    assert SOURCE.fully_qualified_name
