"""Types that an ALTER TABLE gives, in the spelling of each dialect."""

from __future__ import annotations

import pytest

from ingestion.dialects import dialect_of
from ingestion.lexing.altered_types import altered_types

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
