"""What DuckDB itself says of a query beside what we say."""

from __future__ import annotations

import duckdb

from ingestion.analysis.analyzer import analyze
from ingestion.model.lineage import TableName
from ingestion.parsing.sqlglot.tier import parse
from tests.differential.schemas import Schema

_UNNAMED = """
    a ; t.a ; (a) ; a + b ; a - b * a ; (A + b) * a ; a / b ; a // b ; a % b ; s || s ; a = b ; a <> b ; a >= b
    a = b AND b < a ; a = b OR b = a ; SUM(a) ; sum(t.a) ; COUNT(*) ; count() ; count(a) ; COUNT(DISTINCT a)
    max(a) - min(t.b) ; max(a) * count(*) / sum(b) ; round(avg(a)) ; upper(s) ; list(a) ; array_agg(a) ; now()
    abs(a + b) ; len(s) ; length(s) ; count_if(a > b) ; ceil(a) ; md5(s) ; a + b + a ; stddev(a) ; mean(a)
"""


def test_outputs_without_a_name_have_the_one_that_the_engine_gives_them() -> None:
    outputs = [each.strip() for each in _UNNAMED.strip().replace("\n", ";").split(";")]
    known = Schema({"t": (("a", "int"), ("b", "int"), ("s", "varchar"))})
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("CREATE TABLE t (a INT, b INT, s VARCHAR)")
        for output in outputs:
            query = f"SELECT {output} FROM t"
            theirs = [name for name, *_ in connection.execute(f"DESCRIBE {query}").fetchall()]
            (flow,) = analyze(parse(query, "duckdb"), known.lookup).flows
            assert [one.name.lower() for one in flow.outputs] == [name.lower() for name in theirs], output


def _unknown(_name: TableName) -> None:
    return None


def test_a_name_of_many_operators_is_cut_and_one_of_literals_masked() -> None:
    (flow,) = analyze(parse(f"SELECT a + 'secret', {' + '.join(['a'] * 9000)} FROM t", "duckdb"), _unknown).flows
    assert [one.name for one in flow.outputs] == ["a + ?", " + ".join(["a"] * 60)[:200]]
