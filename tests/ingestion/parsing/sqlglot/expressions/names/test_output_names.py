"""Names of output columns without an alias."""

from __future__ import annotations

import pytest

from tests.support.lineage_lines import column_lines


@pytest.mark.parametrize(
    ("dialect", "output", "line"),
    [
        ("snowflake", "a:[0]", "JSON_EXTRACT(A, ?) f S.A"),
        ("databricks", "a:[0]", "json_extract(a, ?) f s.a"),
        ("databricks", "a:b[0]", "b f s.a"),
        ("redshift", "listagg(a, ',')", "listagg agg s.a"),
        ("postgres", "string_agg(a, ',')", "string_agg agg s.a"),
        ("trino", "a + 1", "_col0 f s.a"),
        ("spark", "cast(a as string)", "a f s.a"),
        ("databricks", "(try_cast((s.a) as int))", "a f s.a"),
        ("spark", "bigint(s.a)", "a f s.a"),
        ("spark", "s.a::date", "a f s.a"),
        ("spark", "cast(a.b as string)", "try_cast(a.b as string) f s.a"),
        ("spark", "cast(cast(a as int) as string)", "try_cast(try_cast(a as int) as string) f s.a"),
        ("hive", "cast(a as string)", "_c0 f s.a"),
    ],
)
def test_an_output_without_an_alias_has_the_name_that_its_system_gives_it(dialect: str, output: str, line: str) -> None:
    assert column_lines(f"create table t as select {output} from s", dialect) == {line}
