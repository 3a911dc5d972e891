"""Calls become what the routine runs: where and when it was called, by the definition then in force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from ingestion.model.outcomes import Outcome
from ingestion.statements.routines._registry import routines_of
from ingestion.statements.routines.bodies import Routine
from ingestion.statements.routines.definition import Definition, DefinitionKind
from workflows.config.namespaces import SourceSettings
from workflows.run.read.called_routines import with_routines
from workflows.run.read.definitions import with_views
from workflows.run.read.statements import STATEMENT_SCHEMA, rows_of
from workflows.run.read.statistics import statement_statistics

pytestmark = pytest.mark.spark
LOAD = "create procedure mart.load() language plpgsql as $$ begin insert into mart.t select a from {source}; end $$"
Logged = tuple[float, str, str]
"""When, in which session, which text."""


def frame(spark: SparkSession, log: Sequence[Logged], dialect: str) -> DataFrame:
    records = [
        {
            "source_id": f"log:{number}", "text": text, "start_time": time, "end_time": None, "duration": 1.0,
            "user": "ann", "session": session, "database": "db", "schema": None, "dialect": None,
            "query_type": None, "status": None, "problem": None, "symbolic": None,
        }
        for number, (time, session, text) in enumerate(log, 1)
    ]  # fmt: skip
    names = STATEMENT_SCHEMA.fieldNames()
    rows = [tuple(row.get(name) for name in names) for row in rows_of(records, dialect)]
    return spark.createDataFrame(rows, STATEMENT_SCHEMA)


def expanded(
    spark: SparkSession,
    log: Sequence[Logged],
    definitions: Sequence[Definition] = (),
    dialect: str = "postgres",
) -> list[dict[str, Any]]:
    settings = SourceSettings("db", "public")
    statements = frame(spark, log, dialect)
    whole = with_routines(statements, statement_statistics(statements), definitions, dialect, settings)
    return [row.asDict() for row in whole.orderBy("time", "line", "position", "step").collect()]


def ran(rows: Sequence[dict[str, Any]]) -> list[tuple[float, str, str]]:
    """(time, session, text) of every statement of a routine."""
    return [(row["time"], row["session"], row["text"]) for row in rows if row["routine"]]


def test_a_call_runs_the_body_in_the_caller_s_session_by_the_definition_in_force(spark: SparkSession) -> None:
    rows = expanded(
        spark,
        [
            (1.0, "s1", LOAD.format(source="one")),
            (2.0, "s2", "call mart.load()"),
            (3.0, "s1", LOAD.format(source="two").replace("create", "create or replace")),
            (4.0, "s2", "call mart.load()"),
            (5.0, "s3", "select mart.load()"),
        ],
    )
    assert ran(rows) == [
        (2.0, "s2", "insert into mart.t select a from one"),
        (4.0, "s2", "insert into mart.t select a from two"),
        (5.0, "s3", "insert into mart.t select a from two"),
    ]
    assert {row["routine"] for row in rows if row["routine"]} == {"db.mart.load"}
    skipped = [row["skipped"] for row in rows if not row["routine"]]
    assert skipped == ["routine_definition", "call", "routine_definition", "call", "select"]


@pytest.mark.parametrize("others", [0, 1])
def test_a_stored_routine_that_cannot_be_taken_apart_is_dead(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    lost, good = (
        Definition(DefinitionKind.ROUTINE, ("db", "mart", name), LOAD.format(source=name).replace("load", name))
        for name in ("lost", "good")
    )

    def refuse(definition: Definition, dialect: str) -> tuple[Routine, ...]:
        if definition is lost:
            raise IndexError
        return routines_of(definition, dialect)

    monkeypatch.setattr("ingestion.statements.routines._registry.routines_of", refuse)
    rows = expanded(spark, [(1.0, "s1", "select 1")], [lost, *[good] * others])
    dead = [(row["source_id"], row["line"], row["dead"], row["skipped"]) for row in rows if row["dead"]]
    assert dead == [("definition of db.mart.lost:1", 1, "routines_failed", None)]
    assert [row["text"] for row in rows if row["routine"]] == ["insert into mart.t select a from good"] * others


def test_a_stored_routine_that_fails_twice_is_dead_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Definition(DefinitionKind.ROUTINE, ("db", "mart", "lost"), LOAD.format(source="s").replace("load", "lost"))

    def refuse(*_: object) -> None:
        raise IndexError

    monkeypatch.setattr("ingestion.statements.routines._registry.routines_of", refuse)
    monkeypatch.setattr("workflows.run.read.definitions.function_as_view", refuse)
    statements = with_views(frame(spark, [(1.0, "s1", "select 1")], "postgres"), [lost], "postgres")
    settings = SourceSettings("db", "public")
    whole = with_routines(statements, statement_statistics(statements), [lost, lost], "postgres", settings)
    dead = whole.where("dead is not null").select("source_id", "dead").collect()
    assert [tuple(row) for row in dead] == [("definition of db.mart.lost:1", "analysis_failed")]


def test_nested_calls_are_followed_once_each_and_a_circle_ends(spark: SparkSession) -> None:
    body = "create procedure {} as begin insert into {} select a from s exec {} end"
    rows = expanded(
        spark,
        [
            (1.0, "s", body.format("dbo.one", "t1", "dbo.two")),
            (2.0, "s", body.format("dbo.two", "t2", "dbo.one")),
            (3.0, "s", "exec dbo.one"),
        ],
        dialect="tsql",
    )
    assert [(row["routine"], row["text"]) for row in rows if row["routine"]] == [
        ("db.dbo.one", "insert into t1 select a from s"),
        ("db.dbo.two", "insert into t2 select a from s"),
    ]
    # Its bare names mean what they mean beside it, not beside its caller.
    assert {tuple(row["path"]) for row in rows if row["routine"]} == {("dbo", "public")}


def test_a_routine_that_nothing_calls_is_followed_from_its_definition(spark: SparkSession) -> None:
    known = Definition(DefinitionKind.ROUTINE, ("db", "mart", "nightly"), LOAD.format(source="one"), 7.0)
    bare = Definition(
        DefinitionKind.ROUTINE, ("db", "mart", "bare"), "BEGIN insert into mart.t select b from two; END", 8.0, True
    )
    filed = Definition(DefinitionKind.ROUTINE, ("db", "mart", "filed"), "insert into x select 1 from y", 9.0, own=True)
    rows = expanded(spark, [(1.0, "s", "select 1")], [known, bare, filed])
    found = [(row["routine"], row["text"], row["already_published"], row["digest"]) for row in rows if row["routine"]]
    assert found == [
        ("db.mart.nightly", "insert into mart.t select a from one", False, None),
        ("db.mart.bare", "insert into mart.t select b from two", True, None),
    ]


def test_what_an_earlier_run_filed_is_run_by_a_call_and_not_by_itself(spark: SparkSession) -> None:
    statements = "insert into mart.t select a from one where b = ?;\ninsert into mart.u select ? from two"
    filed = Definition(DefinitionKind.ROUTINE, ("db", "mart", "load"), statements, 9.0, True, own=True)
    rows = expanded(spark, [(1.0, "s", "select 1"), (2.0, "s", "call mart.load()")], [filed])
    assert [text for _time, _session, text in ran(rows)] == [
        "insert into mart.t select a from one where b = ?",
        "insert into mart.u select ? from two",
    ]
    assert ran(expanded(spark, [(1.0, "s", "select 1")], [filed])) == []


def test_a_call_of_what_nobody_knows_says_so(spark: SparkSession) -> None:
    rows = expanded(spark, [(1.0, "s", "call nobody.knows(1)"), (2.0, "s", LOAD.format(source="one"))])
    assert [row["skipped"] for row in rows if not row["routine"]] == [Outcome.UNKNOWN_ROUTINE, "routine_definition"]


def test_a_call_that_only_sets_or_shows_something_is_one_without_lineage(spark: SparkSession) -> None:
    rows = expanded(spark, [(1.0, "s", "call dbms_output.put_line(1)"), (2.0, "s", "call sp_updatestats()")])
    # the second is SQL Server's alone
    assert [row["skipped"] for row in rows] == [Outcome.CALL, Outcome.UNKNOWN_ROUTINE]


def test_dynamic_sql_inside_a_routine_is_accounted_for(spark: SparkSession) -> None:
    text = "create procedure p() language plpgsql as $$ begin execute 'delete from ' || x; end $$"
    rows = expanded(spark, [(1.0, "s", text), (2.0, "s", "call p()")])
    assert [(row["routine"], row["skipped"]) for row in rows] == [
        (None, "routine_definition"),
        (None, "call"),
        ("db.public.p", "dynamic_sql"),
    ]
