"""What DDL does that lineage does not follow."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.model.lineage import Column
from ingestion.scripts.unfollowed_changes import (
    defined_routines,
    dropped_namespace,
    made_types,
    misspelt_type,
    unfollowed_change,
)


def test_what_is_not_followed_is_named() -> None:
    postgres = dialect_of("postgres")
    named = {
        "DROP FUNCTION f(int)": "DROP FUNCTION",
        "ALTER TYPE mood ADD VALUE 'secret'": "ALTER TYPE",
        "ALTER TABLE 'secret": "ALTER TABLE",
        "ALTER TABLE t FROBNICATE a": "ALTER TABLE",
    }
    for text, what in named.items():
        assert unfollowed_change(text, postgres) == f"what depends on what {what} changes is not followed"
    assert unfollowed_change("ALTER TABLE t ADD CONSTRAINT c CHECK (a > 1), OWNER TO x", postgres) is None
    assert unfollowed_change("DROP INDEX i", postgres) is None
    assert unfollowed_change("CREATE OR REPLACE SECURE RECURSIVE VIEW v AS SELECT 1", dialect_of("snowflake")) is None
    assert unfollowed_change("ALTER SYSTEM SET x = 1", postgres) is None
    assert unfollowed_change("ALTER TABLE t ALTER COLUMN a date", dialect_of("tsql")) is None


def test_of_what_is_no_statement_that_is_told_with_what_was_meant() -> None:
    told = {
        "DROP TABEL t": "DROP TABEL is no statement that is known; did you mean TABLE?",
        "CREATE OR REPLACE VEIW v": "CREATE OR REPLACE VEIW is no statement that is known; did you mean VIEW?",
        "ALTER 'secret' ADD COLUMN a int": "ALTER is no statement that is known",
        "DROP": "DROP is no statement that is known",
        "ALTER TABLE t ALTER COLUMN a TYE date": "TYE is no change of a column that is known; did you mean TYPE?",
    }
    for text, said in told.items():
        assert unfollowed_change(text, dialect_of("postgres")) == said


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("varcahr(10)", "VARCHAR"),
        ("uud", "UUID"),
        ("timestmap with time zone", "TIMESTAMP"),
        ("tsvector", ""),
        ("hstore", ""),
        ("ltree", ""),
        ("mood", ""),
        ("inet", ""),
        ("int4range", ""),
        ("web.numerics", ""),
        ("textt", ""),
        ("", ""),
    ],
)
def test_a_type_that_is_called_nearly_as_another_is_told_unless_the_script_makes_it(written: str, meant: str) -> None:
    said = misspelt_type([Column("a", "int"), Column("b", written)], made_types("CREATE DOMAIN web.textt AS text"))
    assert said.rpartition("mean ")[2].rstrip("?") == meant


def test_the_schema_that_is_dropped_is_named() -> None:
    postgres = dialect_of("postgres")
    assert dropped_namespace("DROP SCHEMA IF EXISTS web CASCADE", postgres) == ("web",)
    assert dropped_namespace("DROP TABLE web.t", postgres) == ()
    assert dropped_namespace("CREATE OR REPLACE TRANSIENT SCHEMA web", dialect_of("snowflake")) == ("WEB",)
    assert dropped_namespace("CREATE SCHEMA web", postgres) == ()
    assert dropped_namespace("DROP USER web CASCADE", dialect_of("oracle")) == ("WEB",)
    assert dropped_namespace("DROP USER web", postgres) == ()


def test_what_a_script_defines_is_what_it_may_call() -> None:
    defined = defined_routines('CREATE OR REPLACE PROCEDURE web."Load"() AS $$ $$; PREPARE q AS SELECT 1')
    assert defined == {"load", "q"}
    assert (
        defined_routines("DROP PROCEDURE p; GRANT EXECUTE ON FUNCTION f TO x; CALL p(); EXECUTE FUNCTION g()")
        == frozenset()
    )


def test_what_is_run_while_it_is_explained_is_not_followed() -> None:
    postgres = dialect_of("postgres")
    for text in ("EXPLAIN ANALYZE VERBOSE DELETE FROM t", "EXPLAIN (ANALYZE, COSTS OFF) INSERT INTO t VALUES (1)"):
        assert unfollowed_change(text, postgres) == "what EXPLAIN ANALYZE runs is not followed"
    for text in ("EXPLAIN DELETE FROM t", "EXPLAIN (COSTS OFF) DELETE FROM t", "EXPLAIN ANALYZE SELECT a FROM t"):
        assert unfollowed_change(text, postgres) is None
