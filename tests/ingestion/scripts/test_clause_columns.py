"""Which columns the clauses of definitions and changes of tables name."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code
from ingestion.scripts.clause_columns import altered_clauses, defined_columns

LIST = "CREATE TABLE web.t (a int, d date{}){}"
"""A definition of a and d, and what may stand within the list and behind it."""
STRANGERS: dict[str, dict[tuple[str, str], set[str]]] = {
    "bigquery": {
        ("", " PARTITION BY DATE_TRUNC(x, MONTH) CLUSTER BY a, y"): {"x", "y"},
        ("", " PARTITION BY RANGE_BUCKET(a, GENERATE_ARRAY(0, 9)) OPTIONS (description = 'x')"): set(),
        ("", " PARTITION BY _PARTITIONDATE"): set(),
    },
    "clickhouse": {
        ("", " ENGINE = ReplacingMergeTree(x) ORDER BY (a, y) SAMPLE BY z"): {"x", "y", "z"},
        ("", " ENGINE = Distributed('c', 'web', 'u', rand())"): set(),
        ("", " ENGINE = MergeTree PRIMARY KEY x ORDER BY tuple() PARTITION BY toYYYYMM(y)"): {"x", "y"},
        ("", " ENGINE = MergeTree ORDER BY a TTL x + INTERVAL 1 DAY TO DISK 'y', d WHERE z = 1 SETTINGS n = 1"): {
            "x",
            "z",
        },
        ("", " ENGINE = MergeTree ORDER BY a TTL d + toIntervalDay(1) GROUP BY a SET d = max(x)"): {"x"},
        (", e Date TTL x + 1, f Int32 MATERIALIZED y, g Int32 DEFAULT z", ""): {"x", "y", "z"},
        (", INDEX i lower(x) TYPE bloom_filter GRANULARITY 1, CONSTRAINT c CHECK y > 0", ""): {"x", "y"},
        (", PROJECTION p (SELECT a, sum(x) AS s GROUP BY a ORDER BY s)", ""): {"x"},
        (", m Map(String, String) CODEC(ZSTD(1)), INDEX i m['x'] TYPE minmax", ""): set(),
    },
    "databricks": {
        (", b bigint GENERATED ALWAYS AS (x + 1), c bigint GENERATED ALWAYS AS IDENTITY", " CLUSTER BY (y)"): {
            "x",
            "y",
        },
        ("", " PARTITIONED BY (days(d), bucket(4, x)) TBLPROPERTIES ('k' = 'y')"): {"x"},
        ("", " CLUSTER BY AUTO"): set(),
    },
    "hive": {
        (
            ", s struct<x:int,y:int>",
            " PARTITIONED BY (ds string) CLUSTERED BY (ds) SORTED BY (z DESC) INTO 4 BUCKETS",
        ): {"z"},
    },
    "mysql": {
        (
            ", b int AS (x + 1), KEY k (y(10) DESC)",
            " PARTITION BY RANGE COLUMNS (z) (PARTITION p VALUES LESS THAN (1))",
        ): {
            "x",
            "y",
            "z",
        },
        (", t timestamp DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", " DEFAULT CHARSET=utf8"): set(),
        (", b int UNIQUE REFERENCES u (x), c int PRIMARY KEY DEFAULT (y)", ""): {"y"},
    },
    "postgres": {(", CHECK (x > 0), UNIQUE (y)", " PARTITION BY LIST (lower(z) COLLATE c)"): {"x", "y", "z"}},
    "redshift": {("", " DISTKEY (x) COMPOUND SORTKEY (a, y)"): {"x", "y"}},
    "teradata": {
        ("", " PRIMARY INDEX i (x) PARTITION BY RANGE_N(y BETWEEN DATE '2020-01-01' AND z EACH INTERVAL '1' DAY)"): {
            "x",
            "y",
            "z",
        },
        ("", " PARTITION BY COLUMN ADD 10"): set(),
    },
    "trino": {("", " WITH (partitioning = ARRAY['day(x)', 'bucket(a, 4)'], format = 'y')"): {"x"}},
    "tsql": {(", b AS (x * 2), INDEX i NONCLUSTERED (y)", " ON [PRIMARY]"): {"x", "y"}},
    "vertica": {("", " ORDER BY a, x SEGMENTED BY HASH(y) ALL NODES KSAFE 1 PARTITION BY z::date"): {"x", "y", "z"}},
}
ALTERED: dict[str, dict[str, set[str]]] = {
    "clickhouse": {
        "ADD COLUMN b Int32, MODIFY ORDER BY (a, b)": {"a", "b"},
        "ADD STATISTICS a TYPE tdigest, MODIFY SAMPLE BY intHash32(b)": {"a", "b"},
        "MODIFY COLUMN a Date TTL b + INTERVAL 1 MONTH, ADD CONSTRAINT c ASSUME d > 0": {"b", "d"},
    },
    "databricks": {
        "ALTER COLUMN a SET MASK f USING COLUMNS (b)": {"b"},
        "SET ROW FILTER f ON (a, b)": {"a", "b"},
    },
    "mysql": {
        "ORDER BY a DESC, b, ADD KEY k (c)": {"a", "b", "c"},
        "PARTITION BY KEY ALGORITHM = 2 (a) PARTITIONS 4": {"a"},
    },
    "oracle": {"ADD CLUSTERING BY LINEAR ORDER (a)": {"A"}},
    "snowflake": {"ADD SEARCH OPTIMIZATION ON EQUALITY(a), SUBSTRING(b)": {"A", "B"}},
    "trino": {"SET PROPERTIES partitioning = ARRAY['day(a)']": {"a"}},
}


@pytest.mark.parametrize("dialect", sorted(STRANGERS))
def test_what_a_definition_names_and_does_not_declare(dialect: str) -> None:
    found = {
        (within, behind): {
            column for _table, column in defined_columns(Code.of(LIST.format(within, behind), dialect_of(dialect)))
        }
        for within, behind in STRANGERS[dialect]
    }
    assert found == STRANGERS[dialect]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE web.t CLUSTER BY (x) AS SELECT x, y FROM s",
        "CREATE MATERIALIZED VIEW web.t ENGINE = SummingMergeTree ORDER BY x POPULATE AS SELECT x FROM s ORDER BY y",
        "CREATE MATERIALIZED VIEW web.t TO web.u (a Int32) AS SELECT x FROM s; CREATE TABLE web.t (a Int32) ORDER BY x",
    ],
)
def test_clauses_before_a_query_are_read_and_those_of_the_query_are_not(text: str) -> None:
    last = text.rpartition("; ")[2]
    assert list(defined_columns(Code.of(last, dialect_of("clickhouse")))) == [(("web", "t"), "x")]
    assert len(list(defined_columns(Code.of(text.partition("; ")[0], dialect_of("clickhouse"))))) <= 1


@pytest.mark.parametrize("dialect", sorted(ALTERED))
def test_what_the_clauses_of_a_change_name(dialect: str) -> None:
    found = {text: set(altered_clauses(Code.of(text, dialect_of(dialect)), 0)) for text in ALTERED[dialect]}
    assert found == ALTERED[dialect]


def test_options_between_the_name_and_the_columns_hide_none_of_these() -> None:
    text = "CREATE MULTISET TABLE web.t, NO FALLBACK, CHECKSUM = DEFAULT (a INTEGER) PRIMARY INDEX (a, x)"
    assert list(defined_columns(Code.of(text, dialect_of("teradata")))) == [(("web", "t"), "x")]
