"""Rows become occurrences: one for all runs that mean the same, and none that mean something else."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ingestion.model.lineage import StatementKind, TableChange, TableName, TableUsageNames, WriteMode
from ingestion.model.namespaces import NamespaceDefaults
from tests.support.one_batch import groups_of
from workflows.run.group import runs
from workflows.run.group.names import changing_names
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.group.runs import DIGESTS_KEPT, groups, small_groups, with_namespace, with_namespaces
from workflows.run.read.statements import STATEMENT_SCHEMA

pytestmark = pytest.mark.spark
DEFAULTS = NamespaceDefaults("db", "public")


def row(time: float, template: str | None, session: str = "s", **more: object) -> dict[str, object]:
    base: dict[str, object] = {
        "source_id": f"log:{int(time)}", "time": time, "file": "log", "line": int(time), "position": 0,
        "session": session, "sets": False, "fingerprint": template, "dialect": "postgres", "user": "u",
        "duration": 1.0, "digest": int(time), "step": 0, "already_published": False,
    }  # fmt: skip
    return {field: {**base, **more}.get(field) for field in STATEMENT_SCHEMA.fieldNames()}


def frame(spark: SparkSession, *rows: dict[str, object]) -> DataFrame:
    return spark.createDataFrame([tuple(r.values()) for r in rows], STATEMENT_SCHEMA)


def names(*mentioned: str, defined: str = "", ended: str = "", temporary: bool = False) -> TableUsageNames:
    """What a template reads, creates and drops."""
    created = TableName((defined,))
    return TableUsageNames(
        tuple(TableName((name,)) for name in mentioned if name not in (defined, ended)),
        ((created, temporary),) if defined else (),
        ((created, temporary, WriteMode.CREATE),) if defined else (),
        (TableChange(StatementKind.DROP, TableName((ended,))),) if ended else (),
    )


def grouped(statements: DataFrame, templates: dict[str, TableUsageNames]) -> list[OccurrenceGroup]:
    """The groups, which do not depend on where they are made."""
    fresh = with_namespace(statements.withColumn("read_in_this_run", F.lit(True)), session_changes=True)
    found = groups_of(groups(fresh, changing_names(templates), DEFAULTS))
    assert groups_of(small_groups(fresh, changing_names(templates), DEFAULTS)) == found
    return sorted(found, key=lambda group: (group.order, group.template))


def test_runs_of_one_template_are_one_occurrence(spark: SparkSession) -> None:
    statements = frame(spark, *(row(float(n), "t") for n in range(1, 101)))
    (group,) = grouped(statements, {"t": names("x")})
    assert (group.count, group.first_seen, group.last_seen, group.duration) == (100, 1.0, 100.0, 100.0)
    assert len(group.digests) == 100


def test_a_year_of_runs_is_as_many_occurrences_as_it_has_templates(spark: SparkSession) -> None:
    """What the driver is given does not grow with the log, nor does what one occurrence carries."""
    shape = frame(spark, row(1.0, "t")).select(*STATEMENT_SCHEMA.fieldNames())
    number = F.col("id")
    year = (
        shape.drop("time", "line", "digest", "fingerprint")
        .crossJoin(spark.range(60_000))
        .withColumns(
            {
                "time": number * 525.0,
                "line": number.cast("int"),
                "digest": number,
                "fingerprint": F.concat(F.lit("t"), (number % 3).cast("string")),
            }
        )
        .select(*STATEMENT_SCHEMA.fieldNames())
    )
    templates = changing_names({f"t{n}": names(f"x{n}") for n in range(3)})
    placed = with_namespace(year.withColumn("read_in_this_run", F.lit(True)), session_changes=True)
    found = groups_of(groups(placed, templates, DEFAULTS))
    assert [(group.template, group.count) for group in found] == [("t0", 20_000), ("t1", 20_000), ("t2", 20_000)]
    assert {len(group.digests) for group in found} == {DIGESTS_KEPT}
    assert max(group.last_seen for group in found) > 364 * 86_400


def test_runs_before_and_after_a_new_definition_are_two(spark: SparkSession) -> None:
    statements = frame(
        spark, row(1.0, "make"), row(2.0, "read"), row(3.0, "make again"), row(4.0, "read"), row(5.0, "read")
    )
    templates = {"make": names("x", defined="x"), "make again": names("x", defined="x"), "read": names("x")}
    reads = [group for group in grouped(statements, templates) if group.template == "read"]
    assert [group.count for group in reads] == [1, 2]


def test_drop_and_create_of_one_definition_every_night_stays_one(spark: SparkSession) -> None:
    nights = [
        row(10.0 * night + step, template)
        for night in range(1, 31)
        for step, template in enumerate(("drop", "make", "read"))
    ]
    templates = {"drop": names("x", ended="x"), "make": names("x", defined="x"), "read": names("x")}
    assert [group.count for group in grouped(frame(spark, *nights), templates) if group.template == "read"] == [30]


def test_a_session_that_sets_its_path_is_followed(spark: SparkSession) -> None:
    statements = frame(
        spark,
        row(1.0, "t"),
        row(2.0, None, sets=True, set_path=["mart", "shop"]),
        row(3.0, "t"),
        row(4.0, "t", session="other"),
    )
    found = {group.search_path: group.count for group in grouped(statements, {"t": names("x")})}
    assert found == {(): 2, ("mart", "shop"): 1}


def test_a_log_that_tells_each_statements_schema_overrules_what_was_set(spark: SparkSession) -> None:
    statements = frame(
        spark,
        row(1.0, None, sets=True, set_path=["mart"], schema="public"),
        row(2.0, "t", schema="public"),
        row(3.0, "t", schema="elsewhere"),
    )
    found = {group.search_path: group.count for group in grouped(statements, {"t": names("x")})}
    assert found == {("mart",): 1, ("elsewhere",): 1}


def test_without_session_ids_a_record_of_its_own_place_overrules_what_its_user_set(spark: SparkSession) -> None:
    """Another connection of the user's may have said USE: what the record tells of itself is no guess."""
    own, bare = {"session": "u@shop", "database": "shop"}, {"session": "u@"}
    statements = frame(
        spark,
        row(1.0, None, sets=True, set_path=["mart"], set_database="lake", **own),
        row(2.0, "schema told", schema="public", **own),
        row(3.0, "database told", **own),
        row(4.0, None, sets=True, set_path=["mart"], set_database="lake", **bare),
        row(5.0, "nothing told", **bare),
        row(6.0, None, sets=True, set_path=["mart"], set_database="lake", schema="public", **own),
        row(7.0, "same schema told", schema="public", **own),
        row(8.0, None, sets=True, set_database="lake", session="U@Shop", database="shop"),
        row(9.0, "in other letters", session="U@Shop", database="shop"),
        row(10.0, None, sets=True, set_database="lake", session="u@other", database="shop"),
        row(11.0, "of another name", session="u@other", database="shop"),
    )
    templates = {one["fingerprint"] for one in statements.collect()} - {None}
    found = grouped(statements, {template: names("x") for template in templates})
    assert {group.template: (group.database, group.search_path) for group in found} == {
        "schema told": ("shop", ("public",)),
        "database told": ("shop", ("mart",)),
        "nothing told": ("lake", ("mart",)),
        "same schema told": ("shop", ("public",)),
        "in other letters": ("shop", ()),
        "of another name": ("lake", ()),
    }


def test_what_sessions_set_is_looked_up_and_followed_alike(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set again and again, unset, set in part, at one moment of two sessions, before all and after all."""
    changes: list[dict[str, object]] = [
        {"set_path": ["mart"]}, {"set_path": ["mart"]}, {"set_database": "lake"}, {}, {"set_path": []},
        {"set_path": ["mart"], "schema": "public"}, {"set_database": "lake", "set_path": ["shop"]},
    ]  # fmt: skip
    rows = [
        row(1.0 + number // 2, template, session=session, sets=template is None, **(more if template is None else {}))
        for session, of_session in (("s1", changes), ("s2", changes[::-1]), ("u@", changes[2:]), ("s3", []))
        for number, (template, more) in enumerate(
            pair for change in of_session or [{}] for pair in (("t", {}), (None, change), ("told", change), ("t", {}))
        )
    ]
    unique = [{**one, "line": number} for number, one in enumerate(rows)]
    statements = frame(spark, *unique).withColumn("read_in_this_run", F.lit(True))
    shown = ("line", "namespace_database", "namespace_path")
    followed = with_namespace(statements, session_changes=True).select(*shown).orderBy("line").collect()
    assert with_namespaces(statements).select(*shown).orderBy("line").collect() == followed
    assert len({str(one[1:]) for one in followed}) > 4
    monkeypatch.setattr(runs, "_LOOKED_UP_IN_A_SESSION", 3)
    assert with_namespaces(statements).select(*shown).orderBy("line").collect() == followed


def test_what_sessions_did_alike_is_one_whoever_did_it_and_however_often(spark: SparkSession) -> None:
    """Pooled sessions, two chains interleaved in each of them, of which one never drops its table."""
    steps = ("make temp", "make other", "read temp", "read other", "drop temp")
    sessions = [
        row(100.0 * number + step, template, session=f"s{number % 3}")
        for number in range(1, 21)
        for step, template in enumerate(steps)
    ]
    templates = {
        "make temp": names(defined="x", temporary=True),
        "read temp": names("x"),
        "drop temp": names(ended="x"),
        "make other": names(defined="y", temporary=True),
        "read other": names("y"),
    }
    found = grouped(frame(spark, *sessions), templates)
    assert [(group.template, group.count) for group in found] == [(step, 20) for step in steps]
    assert all(len(group.digests) == 20 and group.duration == 20.0 for group in found)
    assert [group.first_seen for group in found] == [100.0, 101.0, 102.0, 103.0, 104.0]


def test_definitions_that_take_turns_night_after_night_are_as_many_as_they_differ(spark: SparkSession) -> None:
    nights = [
        row(10.0 * night + step, template, session=f"s{night % 2}")
        for night in range(1, 31)
        for step, template in enumerate(("make", "read", "make again", "read"))
    ]
    templates = {"make": names(defined="x"), "make again": names(defined="x"), "read": names("x")}
    found = grouped(frame(spark, *nights), templates)
    expected = [("make", 30), ("read", 30), ("make again", 30), ("read", 30)]
    assert [(group.template, group.count) for group in found] == expected
