"""What the DDL of a log does to columns, at its time: their types, with those before, and their names."""

from __future__ import annotations

import re

import pytest

from ingestion.binding.binder import BoundLog, bind
from ingestion.binding.timeline import Occurrence, SchemaProvider
from ingestion.dialects.types import is_same_type
from ingestion.model.lineage import Column
from ingestion.model.namespaces import Namespace
from ingestion.parsing.sqlglot.tier import parse

CASES = """
postgres   | a int         | ALTER COLUMN a TYPE bigint USING a::bigint       | a INT -> BIGINT @2
postgres   | a int         | RENAME COLUMN a TO c; ALTER c TYPE text          | c INT -> STRING @3
postgres   | a int         | ALTER a TYPE text; ALTER a SET DATA TYPE text  | a INT -> STRING @2, a STRING -> STRING @3
postgres   | a int         | RENAME TO t; ADD b int, ALTER a TYPE text        | a INT -> STRING @3
postgres   | a int         | ALTER a SET DEFAULT 3, ALTER a DROP NOT NULL     |
mysql      | a int, b int  | MODIFY COLUMN a BIGINT, CHANGE b c TEXT          | a INT -> BIGINT @2, c INT -> STRING @2
oracle     | a NUMBER(5)   | MODIFY (a NUMBER(10))                            | A DECIMAL(5, 0) -> DECIMAL(10, 0) @2
tsql       | a int         | ALTER COLUMN a bigint NOT NULL                   | a INT -> BIGINT @2
snowflake  | a int         | MODIFY COLUMN a SET DATA TYPE NUMBER(38, 2)      | A INT -> DECIMAL(38, 2) @2
bigquery   | a INT64       | ALTER COLUMN IF EXISTS a SET DATA TYPE NUMERIC   | a BIGINT -> DECIMAL @2
spark      | a int         | CHANGE COLUMN a a bigint                         | a INT -> BIGINT @2
clickhouse | a UInt32      | ON CLUSTER c MODIFY COLUMN a UInt64 CODEC(ZSTD)  | a BIGINT -> DECIMAL(20, 0) @2
redshift   | a varchar(20) | ALTER COLUMN a TYPE varchar(300)                 | a VARCHAR(20) -> VARCHAR(300) @2
"""


def bound(dialect: str, *texts: str) -> BoundLog:
    """The log of these statements; the catalog knows a table."""
    occurrences = [
        Occurrence(text, parse(text, dialect), Namespace("db", ("s",)), (float(number), 0))
        for number, text in enumerate(texts, 1)
    ]
    return bind(occurrences, SchemaProvider(lambda key: (Column("a", "date"),) if key.table == "known" else None))


def told(log: BoundLog) -> str:
    return ", ".join(
        f"{e.column.name} {e.before} -> {e.column.type} @{e.time:g}" for e in log.type_events if not e.added
    )


def moved(log: BoundLog) -> str:
    return ", ".join(
        f"{e.column} {e.type} {'dropped' if e.other is None else f'to {e.other}'} @{e.time:g}"
        for e in log.column_events
    )


def alterations(told: str) -> list[str]:
    return [f"ALTER TABLE t {what.strip()}" for what in told.split(";")]


@pytest.mark.parametrize("case", [line for line in CASES.splitlines() if line])
def test_a_type_is_told_with_its_time_and_the_one_before(case: str) -> None:
    dialect, columns, altered, expected = (part.strip() for part in case.split("|"))
    log = bound(dialect, f"CREATE TABLE t ({columns})", *alterations(altered))
    assert told(log) == expected
    assert {event.key.table.lower() for event in log.type_events} <= {"t"}


def test_a_column_that_is_added_is_told_with_its_time_and_where_the_table_stood_then() -> None:
    log = bound("mysql", "CREATE TABLE t (a int)", "ALTER TABLE t ADD b text, ADD c int, RENAME TO u")
    added = [(event.key.table, event.column.name, event.time) for event in log.type_events if event.added]
    assert added == [("t", "b", 2.0), ("t", "c", 2.0)]
    log = bound("postgres", "CREATE TABLE t (a int)", "ALTER TABLE t ADD COLUMN IF NOT EXISTS a int")
    assert log.type_events == ()


def test_what_is_altered_at_one_moment_is_told_as_one_change() -> None:
    moves = ("a TO x", "b TO a", "x TO b", "c TO d")
    texts = ["CREATE TABLE t (a int, b text, c int)", *(f"ALTER TABLE t RENAME {names}" for names in moves)]
    occurrences = [
        Occurrence(text, parse(text, "postgres"), Namespace("db", ("s",)), (1.0 if not number else 2.0, number))
        for number, text in enumerate(texts)
    ]
    log = bind(occurrences, SchemaProvider(lambda _key: None))
    assert moved(log) == "a INT to b @2, b STRING to a @2, c INT to d @2"


AGAIN = """
mysql      | int unsigned, mediumtext, timestamp, year, decimal(10), tinyint(1), enum('a', 'b'), datetime(3), bit(8)
postgres   | timestamp with time zone, jsonb, timetz, char, numeric, citext, text[], character varying(10), s.mood
clickhouse | Int8, UInt32, Nullable(Int32), DateTime64(3), LowCardinality(String), FixedString(3), Decimal(9, 2)
tsql       | nvarchar(10), varchar(max), datetime2(3), float(24), real, money, uniqueidentifier
oracle     | varchar2(10 char), number, number(5), date, float, raw(16)
snowflake  | number, string, timestamp_ltz, variant
bigquery   | numeric, int64, string(10), array<int64>
hive       | struct<x:int,y:string>, map<string,int>, float
"""


@pytest.mark.parametrize("case", [line for line in AGAIN.splitlines() if line])
def test_a_type_that_is_given_again_as_it_was_is_the_same(case: str) -> None:
    dialect, types = (part.strip() for part in case.split("|"))
    verb = {"postgres": "ALTER a TYPE", "snowflake": "ALTER a TYPE", "bigquery": "ALTER COLUMN a SET DATA TYPE"}
    verb |= {"tsql": "ALTER COLUMN a", "hive": "CHANGE a a"}
    for type_ in re.split(r", (?![^(]*\))", types):
        how = f"{verb.get(dialect, 'MODIFY COLUMN a' if dialect != 'oracle' else 'MODIFY a')} {type_}"
        (event,) = bound(dialect, f"CREATE TABLE t (a {type_})", f"ALTER TABLE t {how}").type_events
        assert is_same_type(event.before, event.column.type), (type_, event)


MOVES = """
postgres   | a int, b int  | DROP COLUMN b                                    | b INT dropped @2
postgres   | a int, b int  | RENAME COLUMN b TO c; DROP COLUMN IF EXISTS c    | b INT to c @2, c INT dropped @3
postgres   | a int, b int  | DROP a, ADD a text; DROP COLUMN IF EXISTS gone   | a INT dropped @2
mysql      | a int, b int  | CHANGE b c TEXT, DROP COLUMN a                   | b INT to c @2, a INT dropped @2
oracle     | a int, b int  | DROP (a, b)                                      | A INT dropped @2, B INT dropped @2
snowflake  | a int, b int  | RENAME COLUMN a TO z                             | A INT to Z @2
snowflake  | a int, b int  | DROP COLUMN a, b                                 | A INT dropped @2, B INT dropped @2
bigquery   | a INT64       | DROP COLUMN IF EXISTS a                          | a BIGINT dropped @2
tsql       | a int, b int  | DROP COLUMN a, b                                 | a INT dropped @2, b INT dropped @2
spark      | a int, b int  | RENAME COLUMN a TO c; DROP COLUMN b             | a INT to c @2, b INT dropped @3
spark      | a int, b int  | DROP COLUMNS (a, b); DROP COLUMNS IF EXISTS (c)  | a INT dropped @2, b INT dropped @2
spark      | a int         | CHANGE COLUMN a a bigint                         |
hive       | a int, b int  | REPLACE COLUMNS (b int, c int)                   | a INT dropped @2
oracle     | a int, b int  | SET UNUSED (a)                                   | A INT dropped @2
postgres   | a int, b int  | RENAME a TO z                                    | a INT to z @2
clickhouse | a UInt32      | ON CLUSTER c RENAME COLUMN a TO b                | a BIGINT to b @2
redshift   | a int, b int  | DROP COLUMN b CASCADE                            | b INT dropped @2
"""


@pytest.mark.parametrize("case", [line for line in MOVES.splitlines() if line])
def test_a_column_that_is_dropped_or_renamed_is_told_with_its_time_and_type(case: str) -> None:
    dialect, columns, altered, expected = (part.strip() for part in case.split("|"))
    assert moved(bound(dialect, f"CREATE TABLE t ({columns})", *alterations(altered))) == expected


def test_of_a_table_from_before_the_log_what_the_catalog_has_now_disproves_no_drop() -> None:
    assert moved(bound("postgres", "ALTER TABLE known DROP COLUMN a")) == "a date dropped @1"
    assert moved(bound("postgres", "ALTER TABLE known DROP COLUMN b")) == "b  dropped @1"
    assert moved(bound("postgres", "CREATE TEMP TABLE t (a int)", "ALTER TABLE t DROP COLUMN a")) == ""


def test_of_a_table_from_before_the_log_the_catalog_tells_the_type() -> None:
    assert told(bound("postgres", "ALTER TABLE known ALTER a TYPE int")) == "a date -> INT @1"
    assert told(bound("postgres", "ALTER TABLE other ALTER a TYPE int")) == "a  -> INT @1"


def test_a_temporary_table_is_nobody_elses() -> None:
    assert told(bound("postgres", "CREATE TEMP TABLE t (a int)", "ALTER TABLE t ALTER a TYPE text")) == ""


def test_what_stands_has_the_new_type() -> None:
    log = bound("postgres", "CREATE TABLE t (a int, b int)", "ALTER TABLE t ALTER a TYPE text")
    assert [log.schemas[relation.number] for relation in log.relations] == [(Column("a", "STRING"), Column("b", "INT"))]


OPTIONAL = """
postgres   | DROP COLUMN IF EXISTS gone, DROP COLUMN was                | was dropped @1
snowflake  | DROP COLUMN IF EXISTS GONE                                 |
clickhouse | RENAME COLUMN IF EXISTS gone TO z                          |
bigquery   | RENAME COLUMN IF EXISTS gone TO z, RENAME COLUMN was TO y  | was to y @1
bigquery   | DROP COLUMN IF EXISTS a                                    | a date dropped @1
"""


@pytest.mark.parametrize("case", [line for line in OPTIONAL.splitlines() if line])
def test_of_a_catalogs_table_a_column_that_need_not_be_there_is_told_only_where_it_is_known(case: str) -> None:
    dialect, altered, expected = (part.strip() for part in case.split("|"))
    told = moved(bound(dialect, f"ALTER TABLE {'KNOWN' if dialect == 'snowflake' else 'known'} {altered}"))
    assert " ".join(told.split()) == expected
