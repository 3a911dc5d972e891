"""Statements of dialects that sqlglot refuses, or takes wrong, as they stand."""

from __future__ import annotations

import pytest

from tests.ingestion.told import tell


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("databricks", "create or refresh streaming live table n (x int) comment 'c' as select x from s", {"x = s.x"}),
        (
            "databricks",
            "create streaming table n (constraint c expect (x > 1) on violation drop row) as select x from stream(s)",
            {"x = s.x"},
        ),
        (
            "databricks",
            "create live table n (p int, constraint c expect (p in (1, 2)), q int) as select x, y from s",
            {"p = s.x", "q = s.y"},
        ),
        ("databricks", "create or replace table n shallow clone s version as of 3", {"* = s"}),
        ("db2", "insert into n (a) select x concat y from s", {"A f S.X", "A f S.Y"}),
        ("db2", "declare global temporary table session.n as (select x from s) definition only", {"X = S.X"}),
        ("dremio", "create vds n as select x from s", {"x = s.x"}),
        ("druid", "insert into n select x from s partitioned by day clustered by x", {"x = s.x"}),
        ("druid", "replace into n overwrite all select x from s partitioned by day", {"x = s.x"}),
        ("exasol", "import into n from local csv file 'in.csv'", {"* = in.csv"}),
        ("exasol", "export n into local csv file 'out.csv'", {"* = N"}),
        ("exasol", "export (select x from s) into csv at 'h' file 'out.csv'", {"X = S.X"}),
        ("postgres", "update n set a = s.x from s where current of c", {"a = s.x"}),
        ("tsql", "update n set a = b where current of c", {"a = n.b"}),
        ("snowflake", "define view n as select x from s", {"X = S.X"}),
        ("fabric", "create table n as clone of s", {"* = s"}),
        ("hive", "create view n partitioned on (d) as select x, d from s", {"x = s.x", "d = s.d"}),
        ("impala", "upsert into n (a) select x from s", {"a = s.x"}),
        ("impala", "insert into n (a) [shuffle] select straight_join x from s", {"a = s.x"}),
        ("informix", 'select first 5 x from s where y = "text"', {"x = s.x", "* filter s.y"}),
        ("informix", "select x from s where y > 1 into temp n", {"x = s.x", "* filter s.y"}),
        (
            "spark",
            "merge with schema evolution into n using s on n.k = s.k when matched then update set a = s.x",
            {"a = s.x", "* join n.k", "* join s.k"},
        ),
        ("tsql", "delete top (5) percent from n where b = 1", {"* filter n.b"}),
        ("bigquery", "select o from d.s as s cross join s.arr with offset o", {"o f d.s.arr"}),
        ("starrocks", "insert into n with label l (a) select x from s", {"a = s.x"}),
        ("teradata", "create view n as select x, y (title 'Y') from s", {"x = s.x", "y = s.y"}),
        ("teradata", "sel x (named p), y (title 'Y') from s", {"p = s.x", "y = s.y"}),
        (
            "tsql",
            "update n set a.b += s.x from n a join s on s.k = a.k",
            {"b f n.b", "b f s.x", "* join s.k", "* join n.k"},
        ),
        ("tsql", "select x from openrowset(bulk 'd/f.csv', format = 'CSV') with (x int 1) as r", {"x = d/f.csv.x"}),
        ("vertica", "select x from s limit 1 over (partition by y order by z)", {"x = s.x"}),
        ("vertica", "create table n as select x from s segmented by hash(x) all nodes", {"x = s.x"}),
        ("athena", "unload (select x from s) to 's3://b/p' with (format = 'PARQUET')", {"x = s.x"}),
    ],
)
def test_the_lineage_is_that_of_the_statement_as_written(dialect: str, text: str, expected: set[str]) -> None:
    assert tell(text, dialect) == expected
