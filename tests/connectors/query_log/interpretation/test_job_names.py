"""The job behind a statement, from its tag or from the comments of tools."""

from __future__ import annotations

import pytest

from connectors.query_log.interpretation.job_names import job_of

DBT = '/* {"app": "dbt", "dbt_version": "1.9.1", "target_name": "prod", "node_id": "model.shop.daily"} */'


@pytest.mark.parametrize(
    ("tag", "job"),
    [
        ("nightly", "nightly"), ("", None), (None, None), ("default", None), ("x" * 300, None),
        ('[{"key": "airflow-dag", "value": "shop"}, {"key": "airflow-task", "value": "load"}]', "airflow shop.load"),
        ('[{"key":"team","value":"sales"}]', None), ('{"dag_id":"shop","task_id":"load"}', "airflow shop.load"),
        ('{"app": "etl", "run": 7}', "etl"), ("{broken", None), ("=S> ORG=x;Job=nightly;", "nightly"),
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


def test_the_tag_goes_first_and_a_long_statement_is_looked_at_from_both_ends() -> None:
    assert job_of("nightly", f"select 1 {DBT}") == "nightly"
    assert job_of(None, "select " + "1, " * 10_000 + f"2 {DBT}") == "dbt model.shop.daily"
