"""dbt models as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion import lineage_graph
from ingestion.scripts.statements import without_templates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a from {{ ref('m') }}", "select a from m"),
        ('select a from {{- ref("p", "m") -}}', "select a from m"),
        ("select a from {{ ref('m', v=2) }}", "select a from m_v2"),
        ("select a from {{source('s', 't')}} x", "select a from s.t x"),
        ("select max(a) from {{ this }}", "select max(a) from model"),
        ("{{ config(\n  meta={'a': 'b'}\n) }}\nselect 1", "\n\n\nselect 1"),
        ("select a {# 'not\nSQL #} from t", "select a \n from t"),
        ("select a from t {% if is_incremental() %}where b{%- endif -%}", "select a from t  where b "),
    ],
)
def test_references_are_names_and_what_only_dbt_reads_goes(text: str, expected: str) -> None:
    assert without_templates(text, "model") == expected


@pytest.mark.parametrize(
    "text",
    [
        "select '{' || a || '}' from t",
        "select {{ dbt_utils.star(ref('m')) }} from t",
        "{% for c in cols %} select {{ c }} {% endfor %}",
        "select a from {{ ref(name) }}",
        "select a from {{ ref('a b') }}",
        "select a {% else %} b from t",
    ],
)
def test_a_template_whose_result_is_not_known_stays(text: str) -> None:
    assert without_templates(text, "model") == text


def test_a_directory_of_models_is_one_graph(tmp_path: Path) -> None:
    (tmp_path / "stage.sql").write_text("{{ config(materialized='view') }}\nselect id, v from {{ source('raw', 't') }}")
    (tmp_path / "fact.sql").write_text(
        "select s.id from {{ ref('stage') }} s\n{% if is_incremental() %}\n"
        "where s.v > (select max(f.v) from {{ this }} f)\n{% endif %}"
    )
    (tmp_path / "macro.sql").write_text("select {{ columns_of('x') }} from {{ ref('stage') }}, {% raw %} {% endraw %}")
    graph = lineage_graph(tmp_path, "snowflake")
    assert [column.name for column in graph.tables["FACT"]][:1] == ["ID"]
    assert {"RAW.T", "STAGE", "FACT"} <= set(graph.tables)
    (failure,) = graph.failures
    assert "macro.sql" in failure
