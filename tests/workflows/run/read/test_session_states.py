"""Where a run looks for the names of a log's statements: as the same statements are read as one text."""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import DataFrame, SparkSession

from ingestion.dialects import dialect_of
from ingestion.model.namespaces import Namespace, NamespaceDefaults, is_readable
from ingestion.scripts.statements import script_statements
from workflows.run.group.runs import with_namespace, with_namespaces
from workflows.run.read.session_states import with_session_states
from workflows.run.read.statements import STATEMENT_SCHEMA, rows_of

pytestmark = pytest.mark.spark
INSERT = "insert into t select a from s"
_SNOWFLAKE = (
    "use schema mart", "use schema prod.core", "use database prod", "use role reader", "create schema made",
    "create schema if not exists mart", "create database if not exists prod", "create transient database fresh",
    "use schema identifier($name)", "use {{ target }}", "execute immediate 'use schema other'", "begin", "commit",
    f"begin if (1 = 1) then use schema other; end if; {INSERT}; end",
)  # fmt: skip
_POSTGRES = (
    "set search_path to web, shop", "set local search_path to mart", "begin", "commit", "rollback to savepoint p",
    "rollback", "reset search_path", "select set_config('search_path', 'raw', true)", "set search_path to {{ s }}",
    "set local search_path to :place", "set local search_path to default",
    f"do $$ begin if 1 = 1 then set search_path to other; end if; {INSERT}; end $$", f"do $$ begin {INSERT}; end $$",
)  # fmt: skip
STATEMENTS = {
    "databricks": ("use catalog lake", "use raw", "use schema ${place}", "set catalog identifier(:c)"),
    "exasol": ("create schema made", "create schema if not exists made", "open schema web", "create schema other"),
    "mysql": ("use shop", "use mart", "use ${db}", "begin", "commit"),
    "postgres": _POSTGRES,
    "snowflake": _SNOWFLAKE,
    "tsql": ("use shop", "use [Mart]", "use $(db)", f"begin if 1 = 1 use other {INSERT} end"),
}


def scripts(dialect: str) -> list[list[str]]:
    """Some, each statement that changes its session before one that asks it."""
    random = Random(dialect)
    changes = (random.choices(STATEMENTS[dialect], k=7) for _ in range(6))
    return [[text for change in chosen for text in (change, INSERT)] for chosen in changes]


def known(namespace: Namespace) -> tuple[str, ...]:
    """The namespace, with one mark for all that is not known."""
    return tuple(part if is_readable([part]) else "?" for part in (namespace.database, *namespace.search_path))


def in_text(script: list[str], dialect: str) -> list[tuple[str, ...]]:
    found = script_statements(";\n".join(script), dialect_of(dialect))
    return [known(one.namespace) for one in found if one.text.strip().lower().startswith("insert")]


def record(text: str, session: str, second: float, **own: object) -> dict[str, object]:
    return {"source_id": f"log:{int(second)}", "text": text, "start_time": second, "session": session, **own}


def frame(spark: SparkSession, rows: list[dict[str, object]]) -> DataFrame:
    names = STATEMENT_SCHEMA.fieldNames()
    return spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], STATEMENT_SCHEMA)


def in_log(placed: DataFrame, defaults: NamespaceDefaults) -> dict[str, list[tuple[str, ...]]]:
    """By session where each INSERT looks for names."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in placed.where("fingerprint is not null").orderBy("session", "time", "position", "step").collect():
        namespace = defaults.namespace(row["namespace_database"] or "", tuple(row["namespace_path"] or ()))
        found.setdefault(row["session"], []).append(known(namespace))
    return found


def test_a_log_of_sessions_means_what_each_means_as_one_text(spark: SparkSession) -> None:
    """Of sessions side by side, a record for each statement or for all of them."""
    rows: list[dict[str, object]] = []
    wanted: dict[str, list[tuple[str, ...]]] = {}
    for dialect in sorted(STATEMENTS):
        for number, script in enumerate(scripts(dialect)):
            single, whole = f"{dialect} {number}", f"{dialect} {number} in one record"
            wanted[single] = wanted[whole] = in_text(script, dialect)
            records = [record(text, single, 1000.0 * at + number) for at, text in enumerate(script)]
            rows += rows_of([*records, record(";\n".join(script), whole, float(number))], dialect)
    statements = frame(spark, rows)
    few = with_session_states(statements, are_few=True)
    many = with_session_states(statements, are_few=False)
    defaults = NamespaceDefaults("", "")
    assert any("?" in one for places in wanted.values() for one in places)
    assert any({"MART"} & {*one} for places in wanted.values() for one in places)
    assert in_log(with_namespace(few, session_changes=True), defaults) == wanted
    assert in_log(with_namespaces(many), defaults) == wanted


def test_what_a_record_says_of_itself_overrules_what_is_not_known_of_its_session(spark: SparkSession) -> None:
    own = {"database": "PROD", "schema": "MART"}
    texts = ["use schema identifier($x)", "use schema core", "create schema if not exists made"]
    rows: list[dict[str, object]] = []
    for number, text in enumerate(texts):
        rows += rows_of([record(text, text, 1.0, **own)], "snowflake")
        rows += rows_of([record(INSERT, text, 2.0, **own), record(INSERT, text, 3.0, database="PROD")], "snowflake")
        rows += rows_of([record(INSERT, text, 4.0 + number)], "snowflake")
    placed = with_namespace(with_session_states(frame(spark, rows), are_few=True), session_changes=True)
    unknown = [("PROD", "MART"), ("PROD", "?")]
    assert in_log(placed, NamespaceDefaults("", "PUBLIC")) == {
        "use schema identifier($x)": [*unknown, ("?", "?")],
        "use schema core": [("PROD", "CORE"), ("PROD", "CORE"), ("", "CORE")],
        "create schema if not exists made": [*unknown, ("", "?")],
    }
