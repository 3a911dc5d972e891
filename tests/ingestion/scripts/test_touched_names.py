"""Which columns, schemas and other tables a statement names that makes, fills and reads none of them."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.scripts.touched_names import made_namespace, referenced_tables, touched_columns, touched_namespaces

COLUMNS: dict[str, dict[str, set[str]]] = {
    "bigquery": {
        "ALTER TABLE web.t ALTER COLUMN a SET OPTIONS (description = 'x')": {"web.t.a"},
        "CREATE ROW ACCESS POLICY p ON web.t GRANT TO ('user:x') FILTER USING (a = 1)": {"web.t.a"},
        "CREATE SEARCH INDEX i ON web.t (ALL COLUMNS)": set(),
    },
    "databricks": {
        "ALTER TABLE web.t CLUSTER BY (a, b)": {"web.t.a", "web.t.b"},
        "ANALYZE TABLE web.t COMPUTE STATISTICS FOR COLUMNS a, b": {"web.t.a", "web.t.b"},
        "OPTIMIZE web.t ZORDER BY (a)": {"web.t.a"},
    },
    "hive": {"ALTER TABLE web.t PARTITION (d = 'x') SET LOCATION 'y'": {"web.t.d"}},
    "mysql": {
        "ALTER TABLE web.t ADD INDEX i (a(10), b DESC), ADD COLUMN c int AFTER d": {"web.t.a", "web.t.b", "web.t.d"},
        "LOAD DATA INFILE 'x' INTO TABLE web.t (a, b)": {"web.t.a", "web.t.b"},
    },
    "postgres": {
        "ALTER TABLE web.t ADD CHECK (a > 0 AND lower(b::text) IN ('x') OR c < date '2020-01-01')": {
            "web.t.a",
            "web.t.b",
            "web.t.c",
        },
        "ALTER TABLE web.t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES web.u (b)": {"web.t.a", "web.u.b"},
        "ALTER TABLE web.t ADD PRIMARY KEY USING INDEX i": set(),
        "ALTER TABLE web.t ALTER a SET DEFAULT 1, ALTER COLUMN b DROP NOT NULL": {"web.t.a", "web.t.b"},
        "ALTER TABLE web.t SET (fillfactor = 70)": set(),
        "COMMENT ON COLUMN web.t.a IS 'x'": {"web.t.a"},
        "COPY web.t (a, b) FROM STDIN": {"web.t.a", "web.t.b"},
        "CREATE INDEX ON web.t USING gin (a, lower(b) text_pattern_ops DESC) INCLUDE (c) WITH (x = 1) WHERE d > 1": {
            f"web.t.{column}" for column in "abcd"
        },
        "CREATE INDEX i ON web.t ((extract(year FROM a)))": {"web.t.a"},
        "CREATE POLICY p ON web.t USING (a = current_user) WITH CHECK (true)": {"web.t.a"},
        "CREATE SEQUENCE s OWNED BY web.t.a": {"web.t.a"},
        "CREATE STATISTICS s ON a, b FROM web.t": {"web.t.a", "web.t.b"},
        "CREATE TABLE n (a int REFERENCES web.t (b), CHECK (a > 0))": {"web.t.b"},
        "CREATE TRIGGER g AFTER INSERT OR UPDATE OF a, b ON web.t EXECUTE FUNCTION f()": {"web.t.a", "web.t.b"},
        "GRANT SELECT (a), UPDATE (b) ON web.t TO x": {"web.t.a", "web.t.b"},
        "INSERT INTO web.t (a, b) VALUES (1, 2)": {"web.t.a", "web.t.b"},
        "SELECT a FROM web.t": set(),
        "VACUUM ANALYZE web.t (a)": {"web.t.a"},
    },
    "redshift": {"ALTER TABLE web.t ALTER SORTKEY (a), ALTER DISTKEY b": {"web.t.a", "web.t.b"}},
    "snowflake": {"ALTER TABLE web.t MODIFY COLUMN a SET MASKING POLICY p": {"WEB.T.A"}},
    "teradata": {"COLLECT STATISTICS COLUMN (a, b) ON web.t": {"web.t.a", "web.t.b"}},
    "tsql": {
        "ALTER TABLE web.t ADD CONSTRAINT d DEFAULT (getdate()) FOR a": {"web.t.a"},
        "CREATE INDEX i ON web.t (a DESC) INCLUDE (b) WHERE c IS NOT NULL WITH (ONLINE = ON)": {
            "web.t.a",
            "web.t.b",
            "web.t.c",
        },
        "GRANT SELECT ON web.t (a) TO x": {"web.t.a"},
    },
}
NAMESPACES: dict[str, dict[str, list[str]]] = {
    "databricks": {"DROP CATALOG c CASCADE": ["c"], "USE CATALOG c": ["c", "default"]},
    "mysql": {"GRANT ALL ON *.* TO u": [], "GRANT ALL ON web.* TO u": ["web"]},
    "oracle": {"ALTER SESSION SET CURRENT_SCHEMA = web": ["WEB"], "DROP USER web CASCADE": ["WEB"]},
    "postgres": {
        "ALTER DEFAULT PRIVILEGES IN SCHEMA web GRANT SELECT ON TABLES TO x": ["web"],
        "CREATE SCHEMA web": [],
        "DROP SCHEMA IF EXISTS web CASCADE": ["web"],
        "DROP SEQUENCE web.s": ["web"],
        "GRANT SELECT ON ALL TABLES IN SCHEMA web TO x": ["web"],
        "IMPORT FOREIGN SCHEMA far FROM SERVER s INTO web": ["web"],
        "SELECT a FROM web.t": [],
        'SET search_path TO web, "$user"': ["web"],
    },
    "snowflake": {"CREATE SCHEMA a CLONE web": ["WEB"], "GRANT USAGE ON DATABASE d TO ROLE r": ["D"], "USE ROLE r": []},
    "tsql": {"GRANT SELECT ON SCHEMA::web TO x": ["web"]},
}


@pytest.mark.parametrize("dialect", sorted(COLUMNS))
def test_the_columns_that_a_statement_only_names(dialect: str) -> None:
    found = {
        text: {".".join((*table, column)) for table, column in touched_columns(text, dialect_of(dialect))}
        for text in COLUMNS[dialect]
    }
    assert found == COLUMNS[dialect]


@pytest.mark.parametrize("dialect", sorted(NAMESPACES))
def test_the_schemas_that_a_statement_names(dialect: str) -> None:
    found = {
        text: sorted(".".join(name) for name in touched_namespaces(text, dialect_of(dialect)) if name)
        for text in NAMESPACES[dialect]
    }
    assert found == NAMESPACES[dialect]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("CREATE OR REPLACE TRANSIENT SCHEMA a", ("A",)),
        ("CREATE SCHEMA IF NOT EXISTS a.b", ("A", "B")),
        ("CREATE TABLE a.b (c int)", ()),
        ("DROP SCHEMA a", ()),
    ],
)
def test_the_schema_that_a_statement_makes(text: str, made: tuple[str, ...]) -> None:
    assert made_namespace(text, dialect_of("snowflake")) == made


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ALTER SEQUENCE s OWNED BY web.t.a", {"web.t"}),
        ("CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f()", set()),
        ("CREATE TABLE n (a int REFERENCES web.t, b int) INHERITS (web.u, v)", {"web.t", "web.u", "v"}),
        ("CREATE TRIGGER g BEFORE DELETE ON web.t FOR EACH ROW EXECUTE FUNCTION f()", {"web.t"}),
        ("GRANT REFERENCES ON web.t TO x", set()),
    ],
)
def test_the_tables_that_a_definition_refers_to(text: str, named: set[str]) -> None:
    assert {".".join(name) for name in referenced_tables(text, dialect_of("postgres"))} == named
