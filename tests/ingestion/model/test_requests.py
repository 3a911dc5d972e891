from __future__ import annotations

import json
import random

from hypothesis import given
from hypothesis import strategies as st

from ingestion.model.contributions import ColumnEvidence, Contribution, Producer, ProducerKind, merge_contributions
from ingestion.model.entities import EntityReference
from ingestion.model.lineage import Subtype, Transformation
from ingestion.model.requests import (
    ColumnLineage,
    EdgeSource,
    LineageDetails,
    TempLineageTable,
    details_of,
    request_of,
)

columns = st.sampled_from(["s.d.x.t.a", "s.d.x.t.b", 's.d.x."t.u".c'])
texts = st.one_of(st.none(), st.sampled_from(["", "SELECT ?", "INSERT INTO t SELECT a FROM s", "lower(a)"]))
references = st.builds(
    EntityReference,
    id=st.sampled_from(["1", "2"]),
    type=st.sampled_from(["table", "pipeline"]),
    name=st.sampled_from([None, "t"]),
    fully_qualified_name=st.sampled_from([None, "s.d.x.t"]),
)
mappings = st.builds(
    ColumnLineage,
    from_columns=st.lists(columns, min_size=1, max_size=3).map(tuple),
    to_column=columns,
    function=texts,
)
details = st.builds(
    LineageDetails,
    sql_query=texts,
    source=st.sampled_from([*map(str, EdgeSource), "SomethingNewer"]),
    columns_lineage=st.lists(mappings, max_size=4).map(tuple),
    pipeline=st.one_of(st.none(), references),
    temp_lineage_tables=st.lists(st.builds(TempLineageTable, from_entity=columns, to_entity=columns), max_size=3).map(
        tuple
    ),
    description=texts,
)
evidence = st.builds(
    ColumnEvidence,
    from_columns=st.lists(columns, min_size=1, max_size=2).map(tuple),
    to_column=st.one_of(st.just(""), columns),
    transformation=st.builds(Transformation, subtype=st.sampled_from(Subtype), masking=st.booleans()),
    expression=st.sampled_from(["", "lower(a)"]),
    certain=st.booleans(),
)
contributions = st.builds(
    Contribution,
    producer=st.builds(Producer, kind=st.sampled_from(ProducerKind), key=st.sampled_from(["k1", "k2"])),
    source=st.sampled_from(["QueryLineage", "ViewLineage"]),
    sql_query=st.sampled_from(["", "SELECT ?", "INSERT INTO t SELECT a FROM s"]),
    columns=st.lists(evidence, max_size=3).map(tuple),
    parser=st.sampled_from(["", "sqlglot", "sqlfluff"]),
    confidence=st.sampled_from([0.2, 0.9, 1.0]),
    first_seen=st.one_of(st.none(), st.integers(0, 10**12).map(lambda millis: millis / 1000)),
    last_seen=st.one_of(st.none(), st.integers(0, 10**12).map(lambda millis: millis / 1000)),
    records=st.lists(st.sampled_from(["r1", "r2", "r3"]), max_size=3).map(tuple),
    pipeline=st.one_of(st.none(), references),
    temp_lineage_tables=st.lists(st.tuples(columns, columns), max_size=2).map(tuple),
)


@given(details)
def test_details_survive_the_wire(one: LineageDetails) -> None:
    assert LineageDetails.from_json(one.to_json()) == one


@given(contributions)
def test_the_parts_of_a_contribution_are_as_the_json_library_writes_them(one: Contribution) -> None:
    query = {"sqlQueryIndex": 3}
    for text in (one.meaning_text(query), one.sightings_text()):
        assert text == json.dumps(json.loads(text), sort_keys=True)
    assert json.loads(one.json_text(query)) == json.loads(one.meaning_text(query)) | json.loads(one.sightings_text())


@given(contributions)
def test_what_a_contribution_says_names_the_parser_that_read_it(one: Contribution) -> None:
    assert json.loads(one.meaning_text({}))["parser"] == (one.parser or None)


def test_texts_of_a_contribution_are_quoted() -> None:
    evidence = ColumnEvidence(('s."a".é\\',), 'b"\n', Transformation(Subtype.IDENTITY), "'\ud800'")
    one = Contribution(Producer(ProducerKind.QUERY, '"'), "QueryLineage", "\u2028", (evidence,))
    said = json.loads(one.json_text({"sqlQuery": one.sql_query}))
    assert said["columns"][0]["from"] == list(evidence.from_columns)
    assert (said["columns"][0]["to"], said["columns"][0]["expression"]) == (evidence.to_column, evidence.expression)
    assert (said["producer"]["key"], said["sqlQuery"]) == (one.producer.key, one.sql_query)


def test_of_a_column_only_what_is_not_plain_is_sent() -> None:
    plain = ColumnEvidence(("s.a",), "t.b", Transformation(Subtype.IDENTITY))
    assert json.loads(plain.json_text()) == {"from": ["s.a"], "subtype": "IDENTITY", "to": "t.b"}
    other = ColumnEvidence(("s.a",), "", Transformation(Subtype.FILTER, masking=True), "a > ?", certain=False)
    assert json.loads(other.json_text()) == {
        "certain": False,
        "expression": "a > ?",
        "from": ["s.a"],
        "masking": True,
        "subtype": "FILTER",
        "type": "INDIRECT",
    }


@given(st.lists(contributions, max_size=6), st.randoms(use_true_random=False))
def test_contributions_merge_the_same_in_any_order_repetition_and_grouping(
    items: list[Contribution], shuffle: random.Random
) -> None:
    merged = merge_contributions(items)
    again = [*items, *items]
    shuffle.shuffle(again)
    cut = shuffle.randint(0, len(again))
    assert merge_contributions([*merge_contributions(again[:cut]), *merge_contributions(again[cut:])]) == merged
    assert merge_contributions(merged) == merged


@given(contributions, contributions)
def test_an_edge_does_not_depend_on_the_order_of_what_was_contributed(one: Contribution, other: Contribution) -> None:
    ends = EntityReference("1", "table"), EntityReference("2", "table")
    assert request_of(*ends, [one, other]).edge == request_of(*ends, [other, one, other]).edge


def test_a_pipeline_and_the_first_source_by_rank_outlive_a_query() -> None:
    pipeline = EntityReference("p", "pipeline")
    view = Contribution(Producer(ProducerKind.VIEW, "v"), EdgeSource.VIEW, pipeline=pipeline)
    made = details_of([_said(sql="SELECT ?"), view])
    assert (made.source, made.pipeline, made.sql_query) == ("ViewLineage", pipeline, "SELECT ?")


def _said(*columns: ColumnEvidence, sql: str = "", seen: float | None = None, key: str = "q") -> Contribution:
    producer = Producer(ProducerKind.QUERY, key)
    return Contribution(producer, "QueryLineage", sql_query=sql, columns=columns, last_seen=seen)


def test_only_certain_direct_pairs_become_columns_with_the_expression_as_function() -> None:
    identity, added = Transformation(Subtype.IDENTITY), Transformation(Subtype.TRANSFORMATION)
    merged = details_of(
        [
            _said(
                ColumnEvidence(("s.a",), "t.a", identity),
                ColumnEvidence(("s.b", "s.c"), "t.sum", added, "b + c"),
                ColumnEvidence(("s.d", "s.e"), "t.d", identity, certain=False),
                ColumnEvidence(("s.f",), "t.a", Transformation(Subtype.FILTER), "f > ?"),
                ColumnEvidence(("s.f",), "", Transformation(Subtype.JOIN)),
            )
        ]
    )
    assert merged.columns_lineage == (
        ColumnLineage(("s.a",), "t.a"),
        ColumnLineage(("s.b",), "t.sum", "b + c"),
        ColumnLineage(("s.c",), "t.sum", "b + c"),
    )


def test_the_query_of_an_edge_is_the_one_seen_last() -> None:
    early, late = _said(sql="SELECT 2", seen=1.0, key="a"), _said(sql="SELECT a, longer", seen=2.0, key="b")
    assert details_of([early, late]).sql_query == details_of([late, early]).sql_query == "SELECT a, longer"


def test_a_repeated_record_counts_once() -> None:
    producer = Producer(ProducerKind.QUERY, "q")
    one = Contribution(producer, "QueryLineage", records=("r1", "r2"), first_seen=5.0, last_seen=6.0)
    two = Contribution(producer, "QueryLineage", records=("r2", "r3"), first_seen=1.0, last_seen=2.0)
    (merged,) = merge_contributions([one, two])
    assert (merged.count, merged.first_seen, merged.last_seen) == (3, 1.0, 6.0)


def test_the_body_is_openmetadatas_and_carries_no_contribution() -> None:
    source = EntityReference("1", "table", "s", "svc.d.x.s")
    request = request_of(source, EntityReference("2", "table"), [_said(sql="SELECT ?", seen=1.0)])
    assert request.to_json() == {
        "edge": {
            "fromEntity": {"id": "1", "type": "table", "name": "s", "fullyQualifiedName": "svc.d.x.s"},
            "toEntity": {"id": "2", "type": "table"},
            "lineageDetails": {"source": "QueryLineage", "columnsLineage": [], "sqlQuery": "SELECT ?"},
        }
    }


def test_details_of_a_stored_edge_may_have_more_and_fewer_keys() -> None:
    stored = LineageDetails.from_json({"createdAt": 1, "columnsLineage": None, "pipeline": None})
    assert stored == LineageDetails(source="Manual")
