"""What DDL does that lineage does not follow."""

from __future__ import annotations

from ingestion.dialects import dialect_of
from ingestion.scripts.unfollowed_changes import (
    defined_routines,
    dropped_namespace,
    touched_table,
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


def test_of_what_is_no_statement_that_is_told_with_what_was_meant() -> None:
    told = {
        "DROP TABEL t": "DROP TABEL is no statement that is known; did you mean TABLE?",
        "CREATE OR REPLACE VEIW v": "CREATE OR REPLACE VEIW is no statement that is known; did you mean VIEW?",
        "ALTER 'secret' ADD COLUMN a int": "ALTER is no statement that is known",
        "DROP": "DROP is no statement that is known",
    }
    for text, said in told.items():
        assert unfollowed_change(text, dialect_of("postgres")) == said


def test_the_schema_that_is_dropped_is_named() -> None:
    postgres = dialect_of("postgres")
    assert dropped_namespace("DROP SCHEMA IF EXISTS web CASCADE", postgres) == ("web",)
    assert dropped_namespace("DROP TABLE web.t", postgres) == ()
    assert dropped_namespace("CREATE OR REPLACE TRANSIENT SCHEMA web", dialect_of("snowflake")) == ("WEB",)
    assert dropped_namespace("CREATE SCHEMA web", postgres) == ()
    assert dropped_namespace("DROP USER web CASCADE", dialect_of("oracle")) == ("WEB",)
    assert dropped_namespace("DROP USER web", postgres) == ()


def test_a_call_of_what_the_script_defines_is_read_there() -> None:
    postgres = dialect_of("postgres")
    defined = defined_routines('CREATE OR REPLACE PROCEDURE web."Load"() AS $$ $$; PREPARE q AS SELECT 1')
    assert defined == {"load", "q"}
    assert unfollowed_change("CALL web.load()", postgres, defined) is None
    assert unfollowed_change("CALL web.other()", postgres, defined) == "what CALL runs is not known"


def test_the_table_that_a_statement_only_touches_is_named() -> None:
    postgres = dialect_of("postgres")
    assert touched_table("CREATE INDEX ON ONLY web.t USING gin (a)", postgres) == ("web", "t")
    assert touched_table("REFRESH MATERIALIZED VIEW CONCURRENTLY web.v", postgres) == ("web", "v")
    assert touched_table("CREATE TABLE web.t (a int)", postgres) == ()
