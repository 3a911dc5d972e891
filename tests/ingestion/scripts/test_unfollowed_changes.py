"""What DDL does that lineage does not follow."""

from __future__ import annotations

from ingestion.dialects import dialect_of
from ingestion.scripts.unfollowed_changes import dropped_namespace, unfollowed_change


def test_what_is_not_followed_is_named() -> None:
    postgres = dialect_of("postgres")
    assert unfollowed_change("DROP FUNCTION f(int)", postgres) == "DROP FUNCTION"
    assert unfollowed_change("ALTER TYPE mood ADD VALUE 'secret'", postgres) == "ALTER TYPE"
    assert unfollowed_change("ALTER TABLE 'secret", postgres) == "ALTER TABLE"
    assert unfollowed_change("ALTER TABLE t FROBNICATE a", postgres) == "ALTER TABLE"
    assert unfollowed_change("ALTER TABLE t ADD CONSTRAINT c CHECK (a > 1), OWNER TO x", postgres) is None
    assert unfollowed_change("DROP INDEX i", postgres) is None
    assert unfollowed_change("DROP TABEL t", postgres) == "DROP TABEL"
    assert unfollowed_change("CREATE OR REPLACE SECURE RECURSIVE VIEW v AS SELECT 1", dialect_of("snowflake")) is None
    assert unfollowed_change("ALTER SYSTEM SET x = 1", postgres) is None
    assert dropped_namespace("DROP SCHEMA IF EXISTS web CASCADE", postgres) == ("web",)
    assert dropped_namespace("DROP TABLE web.t", postgres) == ()
