"""Types that an ALTER TABLE gives, in the spelling of each dialect."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.statements.altered_types import altered_types, declared_nulls, loosened_table

CASES = """
postgres | ALTER TABLE s.t ALTER COLUMN a TYPE bigint USING a::bigint, ALTER b SET DATA TYPE text | a bigint, b text
postgres | ALTER TABLE IF EXISTS ONLY t ALTER a TYPE character varying(20) COLLATE "C" | a character varying(20)
postgres | ALTER TABLE t ALTER COLUMN a SET NOT NULL, ALTER b DROP DEFAULT, ADD c int |
postgres | ALTER TABLE t ADD COLUMN a int, DROP COLUMN b |
postgres | ALTER TABLE t RENAME COLUMN a TO b |
redshift | ALTER TABLE t ALTER COLUMN a TYPE varchar(300) | a varchar(300)
snowflake | ALTER TABLE t MODIFY COLUMN a SET DATA TYPE NUMBER(38, 2), COLUMN b TYPE TEXT | A NUMBER(38, 2), B TEXT
snowflake | ALTER TABLE t MODIFY COLUMN a SET MASKING POLICY p |
tsql | ALTER TABLE dbo.t ALTER COLUMN a nvarchar(100) NOT NULL | a nvarchar(100)
mysql | ALTER TABLE t MODIFY COLUMN a BIGINT UNSIGNED NOT NULL AFTER b, CHANGE c d TEXT | a BIGINT UNSIGNED, d TEXT
mysql | ALTER TABLE t MODIFY a ENUM('secret', 'x') DEFAULT 'x' | a ENUM
oracle | ALTER TABLE t MODIFY (a NUMBER(10), b DATE DEFAULT SYSDATE) | A NUMBER(10), B DATE
bigquery | ALTER TABLE p.d.t ALTER COLUMN IF EXISTS a SET DATA TYPE NUMERIC | a NUMERIC
spark | ALTER TABLE t ALTER COLUMN a TYPE bigint | a bigint
spark | ALTER TABLE t CHANGE COLUMN a a bigint COMMENT 'secret' | a bigint
spark | ALTER TABLE t CHANGE COLUMN a COMMENT 'secret' |
clickhouse | ALTER TABLE t ON CLUSTER c MODIFY COLUMN a UInt64 CODEC(ZSTD) | a UInt64
trino | ALTER TABLE t ALTER COLUMN a SET DATA TYPE varchar | a varchar
hive | ALTER TABLE t CHANGE a b STRING | b STRING
postgres | CREATE TABLE t (a int) |
postgres | ALTER TABLE t ALTER a TYPE timestamp(3) with time zone USING f(a) | a timestamp(3) with time zone
postgres | ALTER TABLE t ALTER a TYPE numeric(10, /* secret */ 2) | a numeric(10, 2)
postgres | ALTER TABLE t ALTER b TYPE int[] USING c < 3, ALTER c TYPE s.mood | b int[], c s.mood
mysql | ALTER TABLE t MODIFY a ENUM('sec(re)t', 'x'), MODIFY b SET('secret') | a ENUM, b SET
mysql | ALTER TABLE t MODIFY a timestamp ON UPDATE CURRENT_TIMESTAMP | a timestamp
mysql | ALTER TABLE t CHANGE a b DOUBLE PRECISION KEY, MODIFY c int ZEROFILL | b DOUBLE PRECISION, c int
mysql | ALTER TABLE t MODIFY query text, MODIFY comment int, ALTER INDEX i VISIBLE | query text, comment int
doris | ALTER TABLE t MODIFY COMMENT 'secret' |
doris | ALTER TABLE t MODIFY COLUMN a BIGINT SUM DEFAULT '1' | a BIGINT
hive | ALTER TABLE t CHANGE a b STRUCT<x:INT, y:MAP<INT,INT>>, CHANGE c c INT | b STRUCT<x:INT, y:MAP<INT,INT>>, c INT
hive | ALTER TABLE t CHANGE COLUMN a b INT CASCADE | b INT
databricks | ALTER TABLE t ALTER COLUMN a SYNC IDENTITY |
oracle | ALTER TABLE t MODIFY (a ENCRYPT USING 'secret', b LONG RAW) | B LONG RAW
oracle | ALTER TABLE t MODIFY a mood | A mood
oracle | ALTER TABLE t MODIFY (a s.mood NOT NULL, b number(3)) | A s.mood, B number(3)
oracle | ALTER TABLE t MODIFY PARTITION p |
oracle | ALTER TABLE t MODIFY CONSTRAINT c DISABLE |
oracle | ALTER TABLE t MODIFY a ENCRYPT |
oracle | ALTER TABLE t MODIFY (a DECRYPT, b INVISIBLE, c NOT NULL) |
oracle | ALTER TABLE t MODIFY NESTED TABLE x |
oracle | ALTER TABLE t MODIFY a UNIQUE |
oracle | ALTER TABLE t MODIFY (a RESERVABLE, b ENABLE, c DISABLE) |
oracle | ALTER TABLE t MODIFY INDEX x |
oracle | ALTER TABLE t MODIFY ZONEMAP x |
mysql | ALTER TABLE t MODIFY a mood |
oracle | ALTER TABLE t MODIFY LOB (a) (STORAGE (x)) |
oracle | ALTER TABLE t MODIFY DEFAULT ATTRIBUTES TABLESPACE x |
tsql | ALTER TABLE t ALTER COLUMN a varchar(10) MASKED WITH (FUNCTION = 'default()') | a varchar(10)
clickhouse | ALTER TABLE t MODIFY TTL date + INTERVAL 1 DAY, MODIFY SETTING x = 'secret' |
clickhouse | ALTER TABLE t MODIFY COLUMN a LowCardinality(String) EPHEMERAL | a LowCardinality(String)
clickhouse | ALTER TABLE t MODIFY COLUMN a Enum8('secret' = 1) REMOVE DEFAULT | a Enum8
tsql | ALTER TABLE t ALTER COLUMN a Phone NOT NULL; | a Phone
tsql | ALTER TABLE t ALTER COLUMN a [Phone] | a [Phone]
tsql | ALTER TABLE t ALTER COLUMN a ADD SPARSE |
snowflake | ALTER TABLE t ALTER COLUMN a NOT NULL |
mysql | ALTER TABLE t ALTER COLUMN a INVISIBLE |
clickhouse | ALTER TABLE t MODIFY COLUMN a CODEC(ZSTD(3)) |
clickhouse | ALTER TABLE t MODIFY COLUMN a EPHEMERAL |
clickhouse | ALTER TABLE t MODIFY COLUMN a MATERIALIZED (b + 4111) |
clickhouse | ALTER TABLE t MODIFY COLUMN a TTL (d) |
postgres | ALTER TABLE t ALTER COLUMN a SET (n_distinct = 4111) |
exasol | ALTER TABLE t MODIFY COLUMN a IDENTITY |
starrocks | ALTER TABLE t MODIFY COLUMN a KEY |
teradata | ALTER TABLE t MODIFY COLUMN a COMPRESS ('secret') |
trino | ALTER TABLE t ALTER COLUMN a mood, ALTER COLUMN b WIBBLE wobble | a mood
redshift | ALTER TABLE t ALTER DISTSTYLE ALL, ALTER SORTKEY (a) |
"""


@pytest.mark.parametrize("case", [line for line in CASES.splitlines() if line])
def test_types_that_columns_get(case: str) -> None:
    dialect, text, expected = (part.strip() for part in case.split("|"))
    found = altered_types(text, dialect_of(dialect))
    assert ", ".join(f"{one.name} {one.type}" for one in (found[1] if found else ())) == expected


def test_a_table_is_told_by_its_whole_name() -> None:
    found = altered_types('ALTER TABLE "S".t ALTER a TYPE int', dialect_of("postgres"))
    assert found is not None
    assert found[0] == ("S", "t")


LOOSENED = """
postgres | ALTER TABLE s.t ALTER COLUMN a DROP NOT NULL, ALTER b TYPE text, DROP CONSTRAINT t_pkey | a! key?
postgres | ALTER TABLE t ALTER a SET NOT NULL, ALTER b SET DEFAULT NULL, ADD c int NULL, DROP CONSTRAINT t_fk |
snowflake | ALTER TABLE t MODIFY COLUMN a DROP NOT NULL, COLUMN b SET DATA TYPE TEXT | A!
snowflake | ALTER TABLE t DROP PRIMARY KEY | key!
tsql | ALTER TABLE dbo.t ALTER COLUMN a int NULL | a!
tsql | ALTER TABLE dbo.t ALTER COLUMN a int | a?
tsql | ALTER TABLE dbo.t ALTER COLUMN a int NOT NULL |
mysql | ALTER TABLE t MODIFY a BIGINT, MODIFY COLUMN b INT NOT NULL, CHANGE c d TEXT, DROP PRIMARY KEY | a? c? key!
oracle | ALTER TABLE t MODIFY (a NULL, b NUMBER(10), c NOT NULL) | A! B?
spark | ALTER TABLE t ALTER COLUMN a DROP NOT NULL | a!
spark | ALTER TABLE t CHANGE COLUMN a COMMENT 'secret' |
postgres | UPDATE t SET a = NULL |
"""


@pytest.mark.parametrize("line", sorted(LOOSENED.strip().splitlines()))
def test_what_may_be_null_from_then_on_is_told_with_whether_that_is_sure(line: str) -> None:
    dialect, text, expected = (part.strip() for part in line.split("|"))
    found = loosened_table(text, dialect_of(dialect))
    signs = {True: "!", False: "?"}
    shown = [f"{name}{signs[is_sure]}" for name, is_sure in found.columns] if found is not None else []
    if found is not None and found.key is not None:
        shown.append(f"key{signs[found.key]}")
    assert " ".join(shown) == expected


def test_a_create_table_declares_what_may_be_null() -> None:
    text = """CREATE TABLE IF NOT EXISTS s.t (
        a int NOT NULL DEFAULT 1, b text, c date CONSTRAINT k PRIMARY KEY, d numeric(10, 2) NULL, e int,
        CONSTRAINT pair UNIQUE (a, b), PRIMARY KEY (e))"""
    found = declared_nulls(text, dialect_of("postgres"))
    assert found == (("s", "t"), {"a": False, "b": True, "c": False, "d": True, "e": False}, True)
    assert declared_nulls("CREATE TABLE t AS SELECT 1 AS a", dialect_of("postgres")) is None
    assert declared_nulls("ALTER TABLE t ADD a int", dialect_of("postgres")) is None
