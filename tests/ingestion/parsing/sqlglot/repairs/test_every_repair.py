"""Each repair of each dialect, by a statement that it changes: it is reached where sqlglot takes that one wrong."""

from __future__ import annotations

import pytest

from ingestion.dialects import DIALECTS, dialect_of
from ingestion.dialects.cursor import Code
from ingestion.errors import Unparsable
from ingestion.parsing.sqlglot.repairs.by_dialect import repair_text, repairs_of
from tests.support.lineage_lines import lines_of_flows

EXAMPLES = {
    "_applied_functions": "INSERT INTO o (a, b) SELECT * APPLY (c -> toString(c)) FROM s",
    "_array_with_offset": "SELECT x.*, p FROM u, u.l AS x WITH OFFSET AS p",
    "_at_version": "INSERT INTO o (a) SELECT b.no FROM lake.s@v12 b JOIN t ON t.no = b.no",
    "at_zone": "INSERT INTO t (v) SELECT x AT LOCAL FROM s",
    "_bounds": "INSERT INTO t (v) SELECT BEGIN(p) FROM s",
    "_bulk_rows": "INSERT INTO t (v) SELECT x.v FROM OPENROWSET(BULK 'd/f.csv', FORMAT = 'CSV') WITH (v INT 1) AS x",
    "_changed_keys": "INSERT INTO t (k) SELECT c.k FROM CHANGETABLE(CHANGES s, 3) AS c",
    "_changed_query": "UPDATE (SELECT a AS x, b FROM s) q SET q.x = q.b",
    "_collections": "INSERT INTO o (a) SELECT MAP['k', s.v] FROM s",
    "_compound_assignments": "UPDATE t SET a += b WHERE c = 1",
    "_conditions_first": "INSERT INTO o (a) SELECT no WHERE no > 1 GROUP BY no FROM s",
    "_connection": "INSERT INTO o (a) SELECT x.a FROM OPENROWSET('p', 'h'; 'u'; 'w', 'SELECT a FROM r') AS x",
    "_document_rows": "INSERT INTO t (a) SELECT x.a FROM OPENXML(@d, '/r', 2) WITH (a INT '@a') x",
    "_db2": "INSERT INTO o (a) SELECT x CONCAT y FROM s",
    "_declared_table": "DECLARE GLOBAL TEMPORARY TABLE t AS (SELECT a FROM s) ON COMMIT PRESERVE ROWS",
    "_defaults": "INSERT INTO crew (no, pay) SELECT no, DEFAULT(pay) FROM hired",
    "_defined_objects": "DEFINE VIEW v AS SELECT a FROM s",
    "_druid": "INSERT INTO n SELECT x FROM s PARTITIONED BY DAY",
    "_escapes": "INSERT INTO o (a) SELECT {fn CONCAT(s.p, u.q)} FROM {oj s LEFT OUTER JOIN u ON s.no = u.no}",
    "_expanded_periods": "INSERT INTO t (v) SELECT BEGIN(p) FROM s EXPAND ON validity AS p BY INTERVAL '1' DAY",
    "_formatted_by_values": "INSERT INTO o (a) SELECT CAST(s.d AS STRING FORMAT s.f AT TIME ZONE s.z) FROM s",
    "_named_lambdas": "INSERT INTO o (a) SELECT ARRAY_ZIP(s.p, s.q, transformation => (x, y) -> x + y) FROM s",
    "_named_values": "INSERT INTO o (a) SELECT WITH(x AS s.p, y AS x + 1, y * 2) FROM s",
    "_normal_forms": "INSERT INTO o (a) SELECT NORMALIZE_AND_CASEFOLD(s.p, NFKC) FROM s",
    "quoted_columns": "INSERT INTO o (a) SELECT map.1 FROM s",
    "without_more_rows": "INSERT INTO o (a) SELECT sum(no) FROM s WITH TOTALS",
    "_raw_bytes": "INSERT INTO o (a) SELECT CONCAT(s.p, rb'x') FROM s",
    "_sampled_shares": "INSERT INTO o (a) SELECT s.p FROM s TABLESAMPLE SYSTEM (2 * 5 PERCENT)",
    "_formatted_rows": "INSERT INTO t (a) SETTINGS async_insert = 1 FORMAT CSV",
    "_functions_of_rows": "INSERT INTO o (a) SELECT x.no FROM path(ON s DISTRIBUTE BY at SORT BY no k('v')) x",
    "_generated_names": "INSERT INTO o (a) SELECT EXPR$0 FROM (SELECT s.p + 1 FROM s) q",
    "_graph_rows": "INSERT INTO o (no) SELECT no FROM GRAPH_TABLE (g MATCH (a IS author) COLUMNS (a.no))",
    "_graph_table": "CREATE TABLE t (a INT) AS EDGE",
    "_impala": "UPSERT INTO n (a) SELECT STRAIGHT_JOIN x FROM s",
    "_incoming_values": "INSERT INTO o (no, pay) SELECT no, pay FROM s ON DUPLICATE KEY UPDATE pay = VALUE(pay) + o.w",
    "included_columns": "INSERT INTO t (a) INCLUDE (x INT) SELECT b, c FROM s",
    "_informix": "SELECT FIRST 5 x FROM s",
    "_inner_aliases": "INSERT INTO o (a, b) SELECT concat(lower(w) AS l, l), l FROM s",
    "_inserted_columns": "INSERT INTO t v (v.a, v.b) SELECT p, q FROM s",
    "_inserted_row": "MERGE d.c t USING d.h h ON t.no = h.no WHEN NOT MATCHED THEN INSERT (a, no) ROW",
    "_intervals": "INSERT INTO o (a) SELECT (s.ended - s.begun) DAY(4) TO SECOND FROM s",
    "_joined_lines": "CREATE TABLE o AS SELECT no, -\n label FROM s",
    "limits_of_groups": "INSERT INTO o (a) SELECT no FROM s ORDER BY no LIMIT 2 OFFSET 1 BY grp",
    "_locking": "LOCKING ROW FOR ACCESS INSERT INTO a SELECT b FROM c",
    "_log_errors": "INSERT INTO a (x) SELECT b FROM c LOG ERRORS INTO e REJECT LIMIT UNLIMITED",
    "_matched_columns": "INSERT INTO o (a) SELECT MATCH p, q AGAINST ('x') FROM s",
    "_modelled_rows": "INSERT INTO o (a, b) SELECT y, z FROM s MODEL DIMENSION BY (year AS y) "
    "MEASURES (amt z, net w) RULES (z[ANY] = w[CV()])",
    "_mutation": "ALTER TABLE t UPDATE a = b WHERE c = 1",
    "_mysql": "UPDATE LOW_PRIORITY t SET a = b",
    "named_in_clauses": "INSERT INTO o (a, b) SELECT no, d FROM s ORDER BY w - v AS d, no",
    "_named_joins": "INSERT INTO o (a) SELECT j.no FROM s JOIN u USING (no) AS j",
    "nested_rows": "INSERT INTO o (a, b) SELECT s.no, j.y FROM s NESTED doc.lines[*] COLUMNS (x, y) j",
    "_nested_table": "INSERT INTO o (a) SELECT x.a FROM THE (SELECT n FROM s) x",
    "_next_values": "INSERT INTO o (no, a) SELECT NEXT VALUE FOR d.numbers, NEXT VALUE FOR n - s.a FROM s",
    "_normalized_rows": "INSERT INTO o (a, b) SELECT NORMALIZE no, span FROM s",
    "_numbered_names": "INSERT INTO t (v) SELECT #7.v FROM #7",
    "_numbered_values": "INSERT INTO t (v) SELECT a FROM s WHERE b = :1",
    "_numbered_ranges": "INSERT INTO t (v) SELECT RANGE_N(d BETWEEN 1, 5 AND 20, NO RANGE) FROM s",
    "_objects_of_stores": "INSERT INTO t SELECT * FROM (LOCATION = '/s3/b') AS d",
    "_oracle_merge": "MERGE INTO t USING s ON (t.k = s.k) WHEN MATCHED THEN UPDATE SET t.a = s.a DELETE WHERE t.b = 1",
    "_only_rows": "INSERT INTO t (a) SELECT b FROM ONLY (d.s)",
    "_ordered_groups": "INSERT INTO o (a) SELECT p FROM s GROUP BY p DESC, q WITH ROLLUP",
    "_other_databases": "INSERT INTO d:own.t (a) SELECT b FROM s",
    "_ordered_pivots": "CREATE TABLE t AS FROM (PIVOT s ON q IN ('a') USING SUM(v) GROUP BY k ORDER BY k)",
    "_indexed_columns": "INSERT INTO t (v) SELECT interval[1] FROM s",
    "limited_again": "INSERT INTO o (a) SELECT a FROM s ORDER BY b LIMIT 1 BY c LIMIT 5 OFFSET 2",
    "_lower_bounds": "INSERT INTO t (v) SELECT a[:b] FROM s",
    "_overriding": "INSERT INTO t (a) OVERRIDING SYSTEM VALUE SELECT b FROM s",
    "_parametric_aggregate": "INSERT INTO o (a) SELECT approx_top_k(5)(a) FROM s",
    "_own_operators": "SELECT a <<| b AS v FROM s",
    "_part_changed": "DELETE FROM t PARTITION p WHERE a = 1",
    "pattern_rows": "CREATE TABLE o AS SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY k ORDER BY at "
    "MEASURES FINAL LAST(b.v) AS diff PATTERN (b+) DEFINE b AS b.v < 1)",
    "_piped_steps": "CREATE TABLE d.o AS FROM d.s |> SELECT a, b |> SET a = a + b",
    "_rows_before_pipes": "CREATE VIEW o AS TABLE s |> SELECT a |> EXTEND a AS b",
    "_pivoted_xml": "CREATE TABLE o AS SELECT * FROM s PIVOT XML (SUM(pay) AS p FOR k IN (ANY))",
    "_query_routines": "INSERT INTO o (a) WITH FUNCTION f (x NUMBER) RETURN NUMBER IS BEGIN RETURN x; END; "
    "SELECT f(s.no) FROM s",
    "_questdb": "INSERT BATCH 1000 o3MaxLag 5s INTO t SELECT a FROM s",
    "_recursive_view": "CREATE RECURSIVE VIEW n (p) AS SELECT x FROM s UNION ALL SELECT u.x FROM n JOIN u ON u.k = n.p",
    "_returned_into": "UPDATE t SET a = (SELECT MAX(x) FROM s) RETURNING a INTO :c",
    "_rows_alone": "INS t (1, DATE '2020-01-01')",
    "_rows_as_queries": "INSERT INTO o (a) WITH c (p) AS (VALUES (1), (2)) SELECT p FROM c",
    "rows_of_changes": "SELECT no FROM OLD TABLE (UPDATE s SET a = b WHERE no = 1)",
    "_rows_of_files": "INSERT INTO t (a) SELECT b FROM INMEMORY EXTERNAL s",
    "_rows_of_cursors": "UPDATE t SET a = b WHERE CURRENT OF c",
    "_static_members": "INSERT INTO t (a) SELECT d.kind::[Null] FROM s",
    "_scripted_rows": "FROM (FROM s MAP p, q USING 'f.py' AS k, v) m INSERT OVERWRITE TABLE t SELECT m.k, m.v",
    "_searched_texts": "INSERT INTO t (k, a) SELECT x.[KEY], x.RANK FROM CONTAINSTABLE(d.s, (p, q), 'w') AS x",
    "_searched_vectors": "INSERT INTO o (no) SELECT b.no FROM "
    "VECTOR_SEARCH(TABLE = lib.s AS b, COLUMN = gist, SIMILAR_TO = @w, METRIC = 'cosine', TOP_N = 3) AS f",
    "_functions_as_text": "INSERT INTO o (a) WITH FUNCTION f(x bigint) RETURNS bigint LANGUAGE PYTHON AS "
    "$$ def f(x) $$ SELECT f(s.no) FROM s",
    "_settings_of_query": "INSERT INTO o (a) WITH SESSION c.p = CAST(1 AS varchar), q = 2 SELECT no FROM s",
    "combined_values": "INSERT INTO o (a) SELECT v.x FROM (VALUES (1) UNION ALL SELECT no FROM s) v (x)",
    "_recursion_levels": "WITH RECURSIVE r(a) MAX RECURSION LEVEL 9 AS (SELECT b FROM s UNION ALL SELECT a + 1 FROM r) "
    "INSERT INTO t (a) SELECT a FROM r",
    "_unsigned_shifts": "INSERT INTO t (a) SELECT b >>> 2 FROM s",
    "_fields_of_variants": "INSERT INTO t (a) SELECT v:b.c[0]::int FROM s WHERE v:['k'] = :p",
    "_signed_integers": "INSERT INTO o (a) SELECT CAST(s.p AS UNSIGNED INTEGER) FROM s",
    "_sink": "CREATE SINK k AS SELECT no FROM s",
    "_sized_vectors": "CREATE TABLE s (no INT, v VECTOR(3, FLOAT32))",
    "_spaced_bytes": "INSERT INTO o (a, b) SELECT a, X'00 7b' FROM s",
    "_sqlite": "UPDATE OR IGNORE n SET a = b",
    "_statistics": "CREATE TABLE n AS (SELECT x FROM s) WITH DATA AND NO STATS",
    "_system_functions": "INSERT INTO o (a) SELECT x.a FROM ::fn_x(1) AS x",
    "_table_hints": "INSERT INTO t WITH (TABLOCK) SELECT q.a FROM s q",
    "_table_operators": "INSERT INTO t (v) SELECT o.v FROM op (ON s HASH BY k USING z('1')) AS o",
    "_tables_and_columns": "INSERT INTO o (no) SELECT no FROM f(s, COLUMNS(no, label))",
    "_tables_and_models": "CREATE TABLE o AS SELECT * FROM ML.PREDICT(MODEL d.m, TABLE d.s)",
    "_phrases": "INSERT INTO o (a) SELECT x (INTEGER) FROM s",
    "_update_from": "UPDATE t FROM s SET a = s.x WHERE s.y = t.b",
    "_times_of_rows": "INSERT INTO o (a) SELECT x.no FROM (CURRENT VALIDTIME SELECT no FROM s) x",
    "_top_rows": "DELETE TOP (5) FROM t WHERE a = 1",
    "_transact": "DELETE FROM t FROM t AS a JOIN s ON s.k = a.k OPTION (RECOMPILE)",
    "_translated_charset": "CREATE VIEW v AS SELECT TRANSLATE(a USING NCHAR_CS) p FROM s",
    "_trimmed_text": "INSERT INTO t (a) SELECT TRIM(FROM x, y) FROM s",
    "_unnamed_servers": "INSERT INTO t (a) SELECT b FROM OPENDATASOURCE('p', 'c').d.s.t",
    "_upserts": "UPDATE t SET a = a + b WHERE k = 1 ELSE INSERT INTO t (k, a) VALUES (1, 2)",
    "_unique_joins": "INSERT INTO o (a) SELECT a.no FROM UNIQUEJOIN PRESERVE s a (a.no), u b (b.no)",
    "_values_of_rows": "INSERT INTO o (a, b) SELECT s.no, REF(s) FROM s",
    "_vector_words": "CREATE TABLE o AS SELECT VECTOR_DISTANCE(x, z, COSINE) AS far FROM s",
    "_ways_to_select": "INSERT INTO o (a) SELECT SQL_CALC_FOUND_ROWS DISTINCT p FROM s",
    "calls_and_limits": "CREATE TABLE o AS SELECT f(a USING PARAMETERS p = 1) AS b FROM s",
    "_with_label": "INSERT INTO n WITH LABEL l (a) SELECT x FROM s",
    "_xml_namespaces": "WITH XMLNAMESPACES ('u' AS n) SELECT a FROM s",
    "applied_changes": "APPLY CHANGES INTO n FROM s KEYS (k) SEQUENCE BY q",
    "cloned_table": "REPLACE TABLE a DEEP CLONE b",
    "copied_by": "COPY INTO lake.t BY POSITION FROM (SELECT _c1 FROM 's3://f/c') FILEFORMAT = CSV",
    "dictionary": "INSERT INTO o (a) SELECT a FROM dictionary('d')",
    "directory_format": "INSERT OVERWRITE DIRECTORY 's3://b/n' USING parquet SELECT x FROM s",
    "discarded_rows": "INSERT INTO BLACKHOLE() SELECT a FROM s",
    "existing_partition": "INSERT OVERWRITE TABLE n PARTITION (d = 'v') IF NOT EXISTS SELECT x FROM s",
    "copied_table": "CREATE TABLE n COPY s OPTIONS (description = 'x')",
    "expectations": "CREATE STREAMING TABLE n (CONSTRAINT c EXPECT (x > 1)) AS SELECT x FROM s",
    "exported_files": "INSERT INTO EXTERN(S3(bucket => 'b', prefix => 'p')) AS CSV SELECT a FROM s",
    "exported_rows": "EXPORT TO PARQUET (directory = 's3://b/d') AS SELECT a FROM s",
    "file_formats": "COPY INTO t FROM @st/x FILE_FORMAT = fmt",
    "foreign_table": "CREATE FOREIGN TABLE t (a INT) SERVER s OPTIONS (table_name 'r')",
    "forwarding_table": "CREATE TABLE d (a Int8) ENGINE = Distributed(c, lib, s)",
    "_typed_texts": "INSERT INTO t (a) SELECT x FROM s WHERE y && geometry 'POINT(1 2)'",
    "document_functions": "INSERT INTO t (a) SELECT JSON_ARRAY(x, y RETURNING CLOB) FROM s",
    "recursion_clauses": "INSERT INTO t (a) WITH RECURSIVE r (x) AS (SELECT x FROM s UNION ALL SELECT x + 1 FROM r) "
    "SEARCH DEPTH FIRST BY x SET n SELECT x FROM r",
    "semantic_view": "CREATE SEMANTIC VIEW v TABLES (t) DIMENSIONS (t.a AS b)",
    "table_over_function": "CREATE TABLE d AS mysql('h', d, s)",
    "inserted_function": "INSERT INTO FUNCTION remote('h', d.t) (a) SELECT b FROM s",
    "linear_clusters": "CREATE TABLE t CLUSTER BY LINEAR (a) AS SELECT a FROM s",
    "live_table": "CREATE OR REFRESH STREAMING LIVE TABLE t AS SELECT a FROM s",
    "loaded_file": "INSERT INTO t FROM INFILE 'a.csv' FORMAT CSV",
    "loaded_rows": "COPY t FROM LOCAL './a.csv' GZIP DELIMITER ','",
    "loaded_dictionary": "CREATE DICTIONARY d (k int) SOURCE(CLICKHOUSE(TABLE 't'))",
    "merged_by_columns": "MERGE INTO t USING (SELECT k FROM s) AS u USING (k) WHEN MATCHED THEN UPDATE",
    "merged_without_duplicates": "MERGE INTO n USING s ON n.k = s.k REMOVE DUPLICATES",
    "rows_of_one_relation": "INSERT INTO t (a, b) SELECT m.d, u.b FROM s MATCH_RECOGNIZE (MEASURES LAST(x.v) AS d "
    "PATTERN (x+) DEFINE x AS true) AS m JOIN u ON u.k = m.d",
    "patterns_in_windows": "INSERT INTO t (a) SELECT m OVER w FROM s WINDOW w AS (ORDER BY d MEASURES LAST(x.v) AS m "
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING PATTERN (x+) DEFINE x AS x.v > 1)",
    "pipeline_tables": "CREATE OR REFRESH STREAMING TABLE t AS SELECT a FROM STREAM(LIVE.s)",
    "pipeline_flow": "CREATE FLOW f AS INSERT INTO ONCE n BY NAME SELECT x FROM s",
    "pivot_statement": "CREATE TABLE n AS UNPIVOT s ON a, b INTO NAME k VALUE v",
    "redefined_query": "ALTER TABLE d.n ON CLUSTER c MODIFY QUERY SELECT x FROM s",
    "replaced_table": "REPLACE TABLE n USING iceberg AS SELECT x FROM s",
    "replicas": "CREATE MATERIALIZED VIEW d.v AS REPLICA OF d.s",
    "schema_evolution": "MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET a = s.x",
    "shown_relation": "CREATE VIEW o AS SELECT * FROM (SHOW TABLES)",
    "snapshots": "CREATE SNAPSHOT TABLE d.s CLONE d.t OPTIONS (description = 'x')",
    "source_table": "CREATE TABLE t FROM SOURCE s (REFERENCE d.r)",
    "streams": "CREATE STREAM s ON TABLE t",
    "table_kinds": "CREATE HYBRID TABLE t AS SELECT a FROM s",
    "table_properties": "CREATE EXTERNAL TABLE e.t (a INT) STORED AS PARQUET LOCATION 's3://b' "
    "TABLE PROPERTIES ('k' = 'v')",
    "tables_and_descriptors": "CREATE TABLE o AS SELECT p FROM TABLE(f(input => TABLE(s), by => DESCRIPTOR(b)))",
    "unknown_types": "INSERT INTO o (a) SELECT x::aclitem FROM s",
    "_types_of_rows": "INSERT INTO o (a) SELECT CAST(s.p AS ROW(x INT, y ROW<z STRING>)) FROM s",
    "unloaded_query": "UNLOAD (SELECT x FROM s) TO 's3://b/p' WITH (format = 'PARQUET')",
    "written_files": "INSERT INTO FILES('path' = 's3://b/d', 'format' = 'parquet') SELECT a FROM s",
    "view_over_files": "CREATE TEMPORARY VIEW n USING parquet OPTIONS (path 's3://b/s')",
}


def _flows(text: str, dialect: str) -> list[set[str]]:
    try:
        return lines_of_flows(text, dialect)
    except Unparsable as error:
        return [{str(error)}]


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_a_statement_that_a_repair_changes_is_read_as_repaired(dialect: str) -> None:
    for repair in repairs_of(dialect):
        name = repair.__name__
        text = EXAMPLES.get(name, "")
        rules = dialect_of(dialect)
        assert list(repair(Code.of(text, rules))), f"{name} does nothing to {text!r}"
        repaired = repair_text(text, rules)
        assert repaired is not None
        assert (name, _flows(text, dialect)) == (name, _flows(repaired, dialect))


def test_each_example_is_of_a_repair() -> None:
    assert {repair.__name__ for dialect in DIALECTS for repair in repairs_of(dialect)} == set(EXAMPLES)
