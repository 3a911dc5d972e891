"""What of many loads comes to the driver: the first and the last failure of an hour, and the last size."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from ingestion.model.namespaces import NamespaceDefaults
from workflows.run.publish.loads import gather_loads
from workflows.run.read import reader
from workflows.run.read.reader import Statements
from workflows.run.read.statements import STATEMENT_SCHEMA, rows_of
from workflows.run.read.statistics import HAS_LINEAGE, statement_statistics

HOUR = 3600.0
LOAD = "INSERT INTO mart.sales SELECT a FROM s WHERE b = {}"


@pytest.fixture(params=["few", "many"])
def number_of_statements(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether what there is counts as few statements, which are worked on in one partition."""
    if request.param == "many":
        monkeypatch.setattr(reader, "FEW", 0)


@pytest.mark.spark
@pytest.mark.usefixtures("number_of_statements")
def test_what_is_gathered_grows_with_hours_and_not_with_statements(spark: SparkSession) -> None:
    """A run between two failures came after the first alone; one with another namespace writes the same table."""
    failed = [(HOUR * hour + second, "failed", "public") for hour in (1, 2) for second in range(200)]
    ran = [(HOUR + 100.5, None, "public"), (HOUR * 5, None, "other")]
    records = [
        {
            "source_id": f"f:{number}",
            "text": LOAD.format(number),
            "start_time": time,
            "status": status,
            "schema": schema,
        }
        | ({"error_code": "22012"} if status else {"rows": 7})
        for number, (time, status, schema) in enumerate([*failed, *ran])
    ]
    frame = spark.createDataFrame(rows_of(records, "postgres"), STATEMENT_SCHEMA)
    survey = statement_statistics(frame)
    assert (survey.failed_loads, survey.measured_loads) == (len(failed), len(ran))
    gathered = gather_loads(Statements(frame, frame, survey, False, 0), NamespaceDefaults("shop", "public"))
    assert not gathered.cut
    found = sorted((load.failed.time, load.code, load.came.time if load.came else None) for load in gathered.failed)
    came, later = HOUR + 100.5, HOUR * 5
    assert found == [
        (HOUR, "22012", came),
        (HOUR + 199, "22012", later),
        (2 * HOUR, "22012", later),
        (2 * HOUR + 199, "22012", later),
    ]
    assert {load.targets for load in gathered.failed} == {(("mart", "sales"),)}
    measured = {(load.done.time, load.done.rows, load.template.namespace.search_path) for load in gathered.measured}
    assert measured == {(came, 7, ("public",)), (later, 7, ("other",))}


@pytest.mark.spark
@pytest.mark.usefixtures("number_of_statements")
def test_the_names_of_a_load_are_looked_for_where_its_session_had_said(spark: SparkSession) -> None:
    said = [
        ("a", 1, None, "SET search_path TO mart"),
        ("a", 2, "failed", "INSERT INTO sales SELECT a FROM s"),
        ("b", 3, "failed", "INSERT INTO sales SELECT a FROM s"),
        ("a", 4, None, "INSERT INTO sales SELECT a FROM s"),
        ("c", 5, "failed", "INSERT INTO sales SELECT b FROM s"),
    ]
    records = [
        {"source_id": f"f:{number}", "text": text, "start_time": HOUR + number, "status": status, "session": session}
        for session, number, status, text in said
    ]
    frame = spark.createDataFrame(rows_of(records, "postgres"), STATEMENT_SCHEMA)
    statements = Statements(frame, frame.where(HAS_LINEAGE), statement_statistics(frame), True, len(records))
    gathered = gather_loads(statements, NamespaceDefaults("shop", "public"))
    found = {
        (load.failed.time - HOUR, load.template.namespace.search_path, load.came and load.came.time - HOUR)
        for load in gathered.failed
    }
    assert found == {(2, ("mart",), 4), (3, ("public",), None), (5, ("public",), None)}
