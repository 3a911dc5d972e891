from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.dialects import DIALECTS
from ingestion.dialects.definition import keywords
from ingestion.model.lineage import StatementKind as Kind
from ingestion.model.outcomes import Outcome
from ingestion.statements import SessionChange, classify


@pytest.mark.parametrize(
    ("dialect", "text", "kind"),
    [
        ("postgres", "create table a as select b from c", Kind.CREATE_TABLE_AS),
        ("postgres", "/* x */ -- y\n create unlogged table if not exists a as table b", Kind.CREATE_TABLE_AS),
        ("mysql", "create temporary table a select b from c", Kind.CREATE_TABLE_AS),
        ("databricks", "create or refresh streaming table a as select * from b", Kind.CREATE_TABLE_AS),
        (
            "snowflake",
            "create or replace dynamic table a lag = '1 day' as select b from c",
            Kind.CREATE_TABLE_AS,
        ),
        ("teradata", "create multiset volatile table a as (sel b from c) with data", Kind.CREATE_TABLE_AS),
        ("spark", "cache table a as select b from c", Kind.CREATE_TABLE_AS),
        ("tsql", "select a into #b from c", Kind.CREATE_TABLE_AS),
        ("exasol", "select a into table b from c", Kind.CREATE_TABLE_AS),
        ("postgres", "with a as (select 1) select * into b from a", Kind.CREATE_TABLE_AS),
        ("postgres", "create table a (b int, c text default 'select')", Kind.CREATE_TABLE),
        ("hive", "create external table a (b int) location '/d'", Kind.CREATE_TABLE),
        ("hive", "create table if not exists a like b", Kind.CREATE_TABLE_LIKE),
        ("postgres", "create table a (like b including all)", Kind.CREATE_TABLE_LIKE),
        ("snowflake", "create or replace table d.s.a clone b", Kind.CREATE_TABLE_LIKE),
        ("databricks", "create table a shallow clone b", Kind.CREATE_TABLE_LIKE),
        ("databricks", "replace table a deep clone b", Kind.CREATE_TABLE_LIKE),
        ("clickhouse", "create dictionary d (k int) source(clickhouse(table 't'))", Kind.CREATE_TABLE_AS),
        ("databricks", "apply changes into a from b keys (k) sequence by s", Kind.INSERT),
        ("databricks", "auto cdc into a from b keys (k) sequence by s", Kind.INSERT),
        ("databricks", "create flow f as auto cdc into a from b keys (k) sequence by s", Kind.INSERT),
        ("postgres", "create table a (b text check (b like 'x%'))", Kind.CREATE_TABLE),
        ("postgres", "create materialized view a as select b from c", Kind.CREATE_VIEW),
        ("mysql", "create algorithm=merge definer=`r`@`h` sql security definer view a as select 1", Kind.CREATE_VIEW),
        ("spark", "create or replace temp view a as select b from c", Kind.CREATE_VIEW),
        ("teradata", "replace view a as select b from c", Kind.CREATE_VIEW),
        ("tsql", "alter view a as select b from c", Kind.CREATE_VIEW),
        ("postgres", "insert into a select b from c", Kind.INSERT),
        ("postgres", "with x as (select 1) insert into a select * from x", Kind.INSERT),
        ("postgres", "with moved as (delete from a returning *) insert into b select * from moved", Kind.INSERT),
        ("postgres", "with x as (insert into a select b from c returning *) select * from x", Kind.INSERT),
        ("hive", "from a insert overwrite table b select c insert into d select e", Kind.INSERT),
        ("spark", "insert overwrite directory '/d' select a from b", Kind.INSERT),
        ("oracle", "insert all into a values (x) into b values (y) select x, y from c", Kind.INSERT),
        ("mysql", "replace into a select b from c", Kind.INSERT),
        ("postgres", "insert into a values ((select max(b) from c))", Kind.INSERT),
        ("redshift", "alter table a append from b", Kind.INSERT),
        ("postgres", "alter table a attach partition b for values from (1) to (2)", Kind.INSERT),
        ("greenplum", "alter table a attach partition b default", Kind.INSERT),
        ("clickhouse", "alter table a on cluster c replace partition p from b", Kind.INSERT),
        ("clickhouse", "alter table a move partition p to table b", Kind.INSERT),
        ("teradata", "locking row for access ins into a sel b from c", Kind.INSERT),
        ("postgres", "update a set b = c.d from c where c.e = a.e", Kind.UPDATE),
        ("postgres", "with x as (select 1) update a set b = 1 from x", Kind.UPDATE),
        ("mysql", "update statistics set a = b", Kind.UPDATE),
        ("snowflake", "merge into a using b on a.c = b.c when matched then delete", Kind.MERGE),
        ("postgres", "delete from a using b where a.c = b.c", Kind.DELETE),
        ("snowflake", "create pipe p as copy into a from @b", Kind.COPY),
        ("tsql", "delete from a output deleted.c into b where c = 1", Kind.DELETE),
        ("tsql", "insert into a (c) output inserted.c into b values (1)", Kind.INSERT),
        ("postgres", "delete from a where b in (select b from c)", Kind.DELETE),
        ("snowflake", "copy into a from @stage/x", Kind.COPY),
        ("postgres", "copy (select a from b) to '/x.csv'", Kind.COPY),
        ("redshift", "unload ('select 1') to 's3://b/k'", Kind.COPY),
        ("hive", "load data inpath '/x' into table a", Kind.COPY),
        ("mysql", "select a from b into outfile '/x'", Kind.COPY),
        ("bigquery", "export data options (uri = 'gs://b/*') as select 1", Kind.COPY),
        ("tsql", "bulk insert a from '/x'", Kind.COPY),
        ("postgres", "alter table a rename to b", Kind.RENAME),
        ("postgres", "alter table a set schema b", Kind.RENAME),
        ("mysql", "rename table a to b", Kind.RENAME),
        ("tsql", "exec sp_rename 'a', 'b'", Kind.RENAME),
        ("tsql", "exec [sys].[sp_rename] 'a.b', 'c', 'column'", Kind.RENAME),
        ("oracle", "alter table a set unused (b)", Kind.ALTER_TABLE),
        ("postgres", "alter table a rename b to c", Kind.ALTER_TABLE),
        ("snowflake", "alter table a swap with b", Kind.SWAP),
        ("hive", "alter table a exchange partition (d = 1) with table b", Kind.SWAP),
        ("oracle", "alter table a exchange subpartition p with table b", Kind.SWAP),
        ("mariadb", "alter table a convert table b to partition p values less than (5)", Kind.SWAP),
        ("clickhouse", "exchange tables a and b", Kind.SWAP),
        ("postgres", "alter table a rename column b to c", Kind.ALTER_TABLE),
        ("postgres", "alter table a add column b int", Kind.ALTER_TABLE),
        ("postgres", "drop table if exists a, b cascade", Kind.DROP),
        ("postgres", "drop materialized view a", Kind.DROP),
        ("ansi", "frobnicate the tables", Kind.OTHER),
        ("tsql", "frobnicate the tables", Kind.OTHER),
        ("snowflake", "define table a (b int)", Kind.CREATE_TABLE),
        ("db2", "declare global temporary table a (b int) not logged", Kind.CREATE_TABLE),
        ("db2", "declare global temporary table a as (select b from c) with data", Kind.CREATE_TABLE_AS),
        ("snowflake", "define view a as select b from c", Kind.CREATE_VIEW),
    ],
)
def test_what_bears_lineage_or_changes_names_is_parsed(dialect: str, text: str, kind: Kind) -> None:
    found = classify(text, dialect)
    assert (found.kind, found.skip_reason, found.session) == (kind, None, None)


@pytest.mark.parametrize(
    ("dialect", "text", "reason"),
    [
        ("postgres", "", "empty"),
        ("postgres", "-- only", "empty"),
        ("postgres", "((select 1) union select 2)", "select"),
        ("postgres", "with into_x as (select 'insert into') select * from into_x", "select"),
        ("postgres", "select a -- into b\n from c where d = ' into '", "select"),
        ("oracle", "select a into v from b", "select"),
        ("mysql", "select a into @v from b", "select"),
        ("saphana", "select a into v from b", "select"),
        ("postgres", "values (1)", "select"),
        ("postgres", "insert into a (b) values (1, 'select from', now())", "insert_values"),
        ("postgres", "insert into a default values", "insert_values"),
        ("mysql", "insert into a set b = 1", "insert_values"),
        ("hive", "insert into table a values (1)", "insert_values"),
        ("postgres", "delete from a", "delete"),
        ("postgres", "copy a (b) from stdin", "copy_stdio"),
        ("postgres", "explain analyze insert into a select 1", "explain"),
        ("postgres", "BEGIN", "transaction"),
        ("tsql", "begin tran x", "transaction"),
        ("postgres", "set transaction isolation level serializable", "transaction"),
        ("postgres", "start transaction", "transaction"),
        ("bigquery", "begin insert into a select 1; end", "anonymous_block"),
        ("oracle", "declare x int; begin null; end", "anonymous_block"),
        ("postgres", "do $$ begin end $$", "anonymous_block"),
        ("bigquery", "declare x int64", "variable"),
        ("postgres", "declare c cursor for select 1", "cursor"),
        ("postgres", "fetch 10 from c", "cursor"),
        ("postgres", "grant select on a to b", "grant"),
        ("postgres", "create role a password 'x'", "grant"),
        ("postgres", "create unique index a on b (c)", "index"),
        ("postgres", "drop index a", "index"),
        ("postgres", "create schema a", "ddl_other"),
        ("postgres", "alter table a owner to b", "ddl_other"),
        ("postgres", "alter table a add constraint b check (c > 1)", "ddl_other"),
        ("postgres", "create or replace function f() returns int as $$ select 1 $$ language sql", "routine_definition"),
        ("snowflake", "create task t as insert into a select 1", "routine_definition"),
        ("postgres", "call p(1)", "call"),
        ("tsql", "exec dbo.p @a = 1", "call"),
        ("snowflake", "execute immediate 'insert into a select 1'", "dynamic_sql"),
        ("tsql", "exec ('insert into a select 1')", "dynamic_sql"),
        ("postgres", "vacuum full a", "maintenance"),
        ("tsql", "update statistics a.b (c) with fullscan", "maintenance"),
        ("tsql", "restore database a from disk = 'b'", "maintenance"),
        ("tsql", "disable trigger a on b", "ddl_other"),
        ("tsql", "throw 50005, N'a', 1", "session_setting"),
        ("mysql", "check table a, b", "maintenance"),
        ("postgres", "comment on table a is 'b'", "comment"),
        ("postgres", "reassign owned by a to b", "grant"),
        ("tsql", "dbo.p @a = 6", "call"),
        ("tsql", "[a b].[p] N'x', 1", "call"),
        ("fabric", "p", "call"),
        ("tsql", "return", "session_setting"),
        ("tsql", ":setvar a b", "session_setting"),
        ("db2", "connect to sample", "session_setting"),
        ("db2", "echo an insert into t", "session_setting"),
        ("db2", "! rm a.del", "session_setting"),
        ("db2", "update contactgroup g add contact c", "session_setting"),
        ("db2", "create public alias a for lib.b", "ddl_other"),
        ("teradata", ".if errorcode > 0 then .quit 4", "session_setting"),
        ("databricks", "%python print('a')", "call"),
        ("bigquery", "assert exists(select 1 from a) as 'b'", "select"),
        ("bigquery", "l: begin insert into a select 1 from b; end", "anonymous_block"),
        ("databricks", "l: while a do insert into b select 1; end while l", "anonymous_block"),
        ("bigquery", "drop table function if exists a.b", "ddl_other"),
        ("duckdb", "drop macro table a", "ddl_other"),
        ("starrocks", "pause routine load for a.b", "maintenance"),
        ("postgres", "copy (select a from b) to program 'c' with (format csv)", "copy_stdio"),
        ("bigquery", "export table metadata from a", "maintenance"),
        ("spark", "convert to delta parquet.`/a`", "maintenance"),
        ("spark", "generate symlink_format_manifest for table a", "ddl_other"),
        ("exasol", "preload table a", "maintenance"),
        ("snowflake", "define warehouse a with warehouse_size = 'M'", "ddl_other"),
        ("trino", "with function f(a int) returns int return a select f(b) from t", "select"),
        ("postgres", "set work_mem = '1GB'", "session_setting"),
        ("trino", "set session catalog.max_drivers = 1", "session_setting"),
        ("athena", "using external function f(a varchar) returns varchar lambda 'l' select f(b) from c", "select"),
        ("starrocks", "pause routine load for a.b", "maintenance"),
        ("duckdb", "drop macro table m", "ddl_other"),
        ("postgres", "create text search dictionary d (template = t)", "ddl_other"),
        ("trino", "set session hive.schema_depth = 1", "session_setting"),
        ("spark", "set database.retries = 3", "session_setting"),
        ("spark", "set schema.inference = true", "session_setting"),
        ("spark", "set catalog =", "session_setting"),
        ("snowflake", "alter dynamic table a refresh", "ddl_other"),
        ("hive", "create scheduled query a cron '0 1' as alter materialized view b rebuild", "ddl_other"),
        ("snowflake", "alter task if exists a resume", "ddl_other"),
        ("snowflake", "alter task a modify as insert into b select c from d", "routine_definition"),
        ("oracle", "alter package a compile body", "ddl_other"),
        ("oracle", "create or replace package a as procedure b; end a", "ddl_other"),
        ("oracle", "create package body a as procedure b is begin null; end; end a", "routine_definition"),
        ("postgres", "alter function a(int) owner to b", "ddl_other"),
        ("snowflake", "alter procedure a(int) execute as caller", "ddl_other"),
        ("tsql", "alter procedure a as exec b", "routine_definition"),
        ("mysql", "alter event a on schedule every 1 day do insert into b select c from d", "routine_definition"),
        ("snowflake", "alter application package a set default release directive version = v1 patch = 0", "ddl_other"),
        ("snowflake", "alter external table a refresh", "ddl_other"),
        ("databricks", "alter materialized view a add schedule cron '0 0 * * * ?'", "ddl_other"),
        ("spark", "alter table a partition (b = 1) rename to partition (b = 2)", "ddl_other"),
        ("postgres", "alter table a detach partition b", "ddl_other"),
        ("snowflake", "use warehouse w", "session_setting"),
        ("snowflake", "use role r", "session_setting"),
        ("postgres", "show tables", "show"),
        ("snowflake", "put file:///x @s", "file_transfer"),
        ("postgres", "truncate a", "truncate"),
        ("postgres", "prepare p as select 1", "prepare"),
        ("mysql", "lock tables a read", "lock"),
    ],
)
def test_the_rest_is_skipped_for_a_named_reason(dialect: str, text: str, reason: str) -> None:
    found = classify(text, dialect)
    assert found.skip_reason == reason
    assert found.session is None


@pytest.mark.parametrize(
    ("dialect", "text", "change"),
    [
        ("postgres", "set search_path to A, \"B\", 'c'", SessionChange(schemas=("a", "B", "c"))),
        ("postgres", "SET LOCAL search_path = x", SessionChange(schemas=("x",), local=True)),
        ("postgres", 'set session search_path = "$user", public', SessionChange(schemas=("$user", "public"))),
        ("postgres", "set search_path to default", SessionChange(reset=True)),
        ("postgres", "reset search_path", SessionChange(reset=True)),
        ("postgres", "reset all", SessionChange(reset=True)),
        ("postgres", "discard all", SessionChange(reset=True)),
        ("postgres", "set schema 'x'", SessionChange(schemas=("x",))),
        ("postgres", "select pg_catalog.set_config('search_path', '', false)", SessionChange(schemas=())),
        ("postgres", "select set_config('search_path', 'a, \"B\"', false)", SessionChange(schemas=("a", "B"))),
        ("postgres", "select set_config('search_path', 'A,\"B\", c', false)", SessionChange(schemas=("a", "B", "c"))),
        ("duckdb", "set search_path = 'a,b'", SessionChange(schemas=("a", "b"))),
        ("duckdb", "use d.s", SessionChange("d", ("s",))),
        ("snowflake", "use d", SessionChange("D", ("PUBLIC",))),
        ("snowflake", "use database d", SessionChange("D", ("PUBLIC",))),
        ("snowflake", "use database identifier('PROD')", SessionChange("PROD", ("PUBLIC",))),
        ("snowflake", "use schema identifier('prod.raw')", SessionChange("PROD", ("RAW",))),
        ("databricks", "use catalog identifier('c')", SessionChange("c", ("default",))),
        ("snowflake", "use schema s", SessionChange(schemas=("S",))),
        ("snowflake", 'use schema d."s"', SessionChange("D", ("s",))),
        ("tsql", "use [Sales]", SessionChange("sales", ("dbo",))),
        ("mysql", "USE `Shop`;", SessionChange(schemas=("Shop",))),
        ("hive", "use shop", SessionChange(schemas=("shop",))),
        ("spark", "use cat.ns", SessionChange("cat", ("ns",))),
        ("databricks", "use catalog c", SessionChange("c", ("default",))),
        ("databricks", "set catalog c", SessionChange("c", ("default",))),
        ("databricks", "use schema s", SessionChange(schemas=("s",))),
        ("trino", "use hive.sales", SessionChange("hive", ("sales",))),
        ("trino", "use sales", SessionChange(schemas=("sales",))),
        ("oracle", "alter session set current_schema = hr", SessionChange(schemas=("HR",))),
        ("db2", "set current schema = hr", SessionChange(schemas=("HR",))),
        ("db2", "set schema hr", SessionChange(schemas=("HR",))),
        ("exasol", "open schema hr", SessionChange(schemas=("HR",))),
        ("teradata", "database hr", SessionChange(schemas=("hr",))),
        ("bigquery", "set @@dataset_id = 'D'", SessionChange(schemas=("D",))),
        ("bigquery", "set @@dataset_project_id = 'p-1'", SessionChange("p-1")),
        ("cockroach", "set database = d", SessionChange("d", ("public",))),
    ],
)
def test_session_state_is_followed(dialect: str, text: str, change: SessionChange) -> None:
    found = classify(text, dialect)
    assert (found.kind, found.skip_reason, found.session) == (Kind.USE, "session_state", change)


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("snowflake", "set database = 'x'"),
        ("snowflake", "set schema = 'x'"),
        ("bigquery", "set schema = 'x'"),
        ("spark", "set database.x = 3"),
        ("snowflake", "use database identifier($target)"),
        ("snowflake", "use schema identifier(:target)"),
    ],
)
def test_a_variable_of_the_users_is_no_session_state(dialect: str, text: str) -> None:
    found = classify(text, dialect)
    assert (found.skip_reason, found.session) == (Outcome.SESSION_SETTING, None)


@pytest.mark.parametrize(
    "text",
    [
        "alter dynamic table t suspend",
        "alter dynamic table t set target_lag = '1 hour' warehouse = w",
        "alter dynamic table t refresh copy session",
        "alter table t modify column c set masking policy p using (c, d)",
        "alter view v modify column c set masking policy p",
        "alter table t alter column c unset masking policy",
    ],
)
def test_what_changes_neither_a_name_nor_a_column_needs_no_parser(text: str) -> None:
    assert classify(text, "snowflake").skip_reason is Outcome.DDL_OTHER


@given(st.text(max_size=200), st.sampled_from(sorted(DIALECTS)))
def test_any_text_is_classified(text: str, dialect: str) -> None:
    classify(text, dialect)


VERBS = sorted(keywords("use set alter session create table insert into select with as ( ) , . ; ' from drop like"))


@given(st.lists(st.sampled_from(VERBS), max_size=20).map(" ".join), st.sampled_from(sorted(DIALECTS)))
def test_keywords_in_any_order_are_classified(text: str, dialect: str) -> None:
    classify(text, dialect)


def test_a_script_that_declares_variables_is_a_block() -> None:
    assert classify("declare x int64; select x from t", "bigquery").skip_reason is Outcome.ANONYMOUS_BLOCK
    assert classify("declare x int64", "bigquery").skip_reason is Outcome.VARIABLE
