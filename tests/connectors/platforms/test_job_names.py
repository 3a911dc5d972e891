"""The job behind a statement, from its tag or from the comments of tools."""

from __future__ import annotations

import pytest

from connectors.platforms.job_names import job_of

DBT = '/* {"app": "dbt", "dbt_version": "1.9.1", "target_name": "prod", "node_id": "model.shop.daily"} */'


@pytest.mark.parametrize(
    ("tag", "job"),
    [
        ("nightly", "nightly"), ("", None), (None, None), ("default", None), ("x" * 300, None),
        ('[{"key": "airflow-dag", "value": "shop"}, {"key": "airflow-task", "value": "load"}]', "airflow shop.load"),
        ('[{"key":"team","value":"sales"}]', None), ('{"dag_id":"shop","task_id":"load"}', "airflow shop.load"),
        ('{"app": "etl", "run": 7}', "etl"), ("{broken", None), ("=S> ORG=x;Job=nightly;", "nightly"),
        ("airflow_dag_id:shop,airflow_task_id:load,airflow_run_id:manual__2026-01-01", "airflow shop.load"),
        ("customer=Ann Smith;note=late", None), ('{"name": "Ann Smith"}', None), ("psql", None),
        ("sqlplus@etl01 (TNS V1-V3)", None), ("DBeaver 24.1 - Main", None),
    ],
)  # fmt: skip
def test_a_tag_names_the_job(tag: str | None, job: str | None) -> None:
    assert job_of(tag, "select 1") == job


@pytest.mark.parametrize(
    ("text", "job"),
    [
        (f"{DBT}\ncreate table t as select 1", "dbt model.shop.daily"),
        (f"create table t as select 1 {DBT}", "dbt model.shop.daily"),
        ("insert into t select 1 /*dag_id='shop',task_id='load%20all',traceparent='00'*/", "airflow shop.load all"),
        ('-- Looker Query Context \'{"user_id":1,"history_slug":"ab"}\'\nselect 1', "looker"),
        ("-- Metabase:: userID: 1 queryType: native queryHash: ab\nselect 1", "metabase"),
        ('select 1\n-- Hex query metadata: {"project_id": "7f", "user_email": "ann@example.com"}', "hex"),
        ("select 1 -- password='hunter2', name='ann'", None),
        ("select 1 /* the daily job */", None),
        ("select 'no comment'", None),
        ("select 1 /* {not json */", None),
        ("select '/*' from t -- Metabase:: userID: 1", "metabase"),
        ("select 1 /*1é.dag_id = 'shop' task_id='load*/", "airflow shop"),
    ],
)
def test_a_comment_of_a_tool_names_the_job(text: str, job: str | None) -> None:
    assert job_of(None, text) == job


@pytest.mark.parametrize(
    ("tag", "job"),
    [
        ("nightly", "dbt model.shop.daily"),
        ('{"app": "dbt", "is_incremental": true}', "dbt model.shop.daily"),
        ('{"dag_id": "shop", "task_id": "load"}', "airflow shop.load"),
    ],
)
def test_what_a_tool_says_of_itself_goes_before_a_tag_of_another_kind(tag: str, job: str) -> None:
    assert job_of(tag, f"select 1 {DBT}") == job


def test_a_long_statement_is_looked_at_from_both_ends() -> None:
    assert job_of(None, "select " + "1, " * 10_000 + f"2 {DBT}") == "dbt model.shop.daily"


@pytest.mark.parametrize(
    ("one_run", "another"),
    [
        ("daily_load_20261101", "daily_load_20261102"),
        ("load 2026-11-01T05:00:00+00:00", "load 2026-11-02T05:00:00+00:00"),
        ("load/0b9c5d1e-7a53-4a41-9d0e-0d6b1a2c3d4e", "load/5f1c9f51-3d9d-44d4-a4c7-1a2b3c4d5e6f"),
        ("load.run_17.try_number_1", "load.run_18.try_number_2"),
        ("load 4711", "load 4712"),
        ("load@1700000000123", "load@1700000999123"),
        (
            '{"dag_id": "shop", "task_id": "load", "run_id": "scheduled__2026-11-01", "try_number": "1"}',
            '{"dag_id": "shop", "task_id": "load", "run_id": "manual__2026-11-02", "try_number": "2"}',
        ),
        (
            '{"dag_id": "shop", "task_id": "scheduled__2026-11-01T00:00:00+00:00.load_3"}',
            '{"dag_id": "shop", "task_id": "scheduled__2026-11-02T00:00:00+00:00.load_3"}',
        ),
    ],
)
def test_two_runs_of_a_job_have_one_name(one_run: str, another: str) -> None:
    first = job_of(one_run, None)
    assert first is not None
    assert first == job_of(another, None)
    assert "load" in first
