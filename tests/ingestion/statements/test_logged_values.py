from __future__ import annotations

import pytest

from ingestion.statements import split


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("select a from s where b = ? [params: secret, [5]]", ["select a from s where b = ?"]),
        ("select a from s\n==> Parameters: secret(String)", ["select a from s"]),
        ("select a from s;\nParameters: [secret]\nselect b from s", ["select a from s", "select b from s"]),
        ('select a from s where b = $1  [["email", "secret"]]', ["select a from s where b = $1"]),
        ("Parameters: [secret]", []),
        ("select a from s where b = %s\n[generated in 0.1s] ('secret',)", ["select a from s where b = %s"]),
        ("select a from s where b = %s\n[caching disabled 0.1s] ('secret',)", ["select a from s where b = %s"]),
        ("select a from s where b = %s; args=('secret',); alias=default", ["select a from s where b = %s"]),
        ("select a from s\nTRACE b.B - binding parameter [1] as [VARCHAR] - [secret]", ["select a from s"]),
        ("select a from s where c = '[params: kept]'", ["select a from s where c = '[params: kept]'"]),
        ("insert into t with params (a) as (select 1) select a from params", None),
        ("update t set\n params = b", None),
        ("select args: a, params: b from t", None),
        ("select array[params = 1] from t", None),
    ],
)
def test_values_that_a_client_logged_behind_a_statement_are_no_part_of_it(text: str, statements: list[str]) -> None:
    assert [one.text for one in split(text, "snowflake")] == ([text] if statements is None else statements)
