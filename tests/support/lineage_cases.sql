-- Statements, each with the dialects that it is one of and its lineage, in the lines of lineage_lines.py.
-- The tables are s (a, b, c, d, e, k, l, m), u (k, x, y) and t (k, a, n).
-- A query in Spark's dialect has recorded plans; "plan:" is what they say where that is not the same, and why.

-- inner join [spark postgres]
SELECT s.a, u.x FROM s JOIN u ON s.k = u.k
--> * join s.k; * join u.k; a = s.a; from s; from u; x = u.x

-- left join [spark postgres]
SELECT s.a, u.x FROM s LEFT JOIN u ON s.k = u.k AND u.y = 'z'
--> * join s.k; * join u.k; * join u.y; a = s.a; from s; from u; x = u.x

-- cross join [spark postgres]
SELECT s.a, u.x FROM s CROSS JOIN u
--> a = s.a; from s; from u; x = u.x

-- comma join [spark postgres]
SELECT s.a, u.x FROM s, u WHERE s.k = u.k
--> * filter s.k; * filter u.k; a = s.a; from s; from u; x = u.x

-- join using [spark postgres]
SELECT k, s.a, u.x FROM s JOIN u USING (k)
--> * join s.k; * join u.k; a = s.a; from s; from u; k = s.k; x = u.x

-- left join using [spark postgres]
SELECT k, u.x FROM s LEFT JOIN u USING (k)
--> * join s.k; * join u.k; from s; from u; k = s.k; x = u.x

-- full join using [spark postgres]
SELECT k, s.a FROM s FULL JOIN u USING (k)
--> * join s.k; * join u.k; a = s.a; from s; from u; k f s.k; k f u.k; k if s.k; k if u.k

-- natural join [spark postgres]
SELECT k, a, x FROM s NATURAL JOIN u
--> * join s.k; * join u.k; a = s.a; from s; from u; k = s.k; x = u.x

-- self join [spark postgres]
SELECT p.a, q.b FROM s p JOIN s q ON p.k = q.a
--> * join s.a; * join s.k; a = s.a; b = s.b; from s

-- exists [spark postgres]
SELECT s.a FROM s WHERE EXISTS (SELECT 1 FROM u WHERE u.k = s.k)
--> * filter s.k; * filter u.k; a = s.a; from s; from u

-- in [spark postgres]
SELECT s.a FROM s WHERE s.k IN (SELECT u.k FROM u WHERE u.x > 1)
--> * filter s.k; * filter u.k; * filter u.x; a = s.a; from s; from u

-- union all [spark postgres]
SELECT a, b FROM s UNION ALL SELECT k, x FROM u
--> a = s.a; a = u.k; b = s.b; b = u.x; from s; from u

-- union [spark postgres]
SELECT a FROM s UNION SELECT x FROM u
--> * group s.a; * group u.x; a = s.a; a = u.x; from s; from u

-- intersect [spark postgres]
SELECT a FROM s INTERSECT SELECT x FROM u
--> * join s.a; * join u.x; a = s.a; a = u.x; from s; from u

-- except [spark postgres]
SELECT a FROM s EXCEPT SELECT x FROM u
--> * join s.a; * join u.x; a = s.a; from s; from u

-- distinct [spark postgres]
SELECT DISTINCT a, b FROM s
--> * group s.a; * group s.b; a = s.a; b = s.b; from s

-- cte [spark postgres]
WITH q AS (SELECT a + b AS n, k FROM s) SELECT q.n, u.x FROM q JOIN u ON q.k = u.k
--> * join s.k; * join u.k; from s; from u; n f s.a; n f s.b; x = u.x

-- chained ctes [spark postgres]
WITH p AS (SELECT a, k FROM s WHERE b > 1), q AS (SELECT a AS m FROM p WHERE k > 2) SELECT m FROM q
--> * filter s.b; * filter s.k; from s; m = s.a

-- derived table [spark postgres]
SELECT v.n FROM (SELECT a AS n, b FROM s WHERE k = 1) v WHERE v.b > 0
--> * filter s.b; * filter s.k; from s; n = s.a

-- scalar subquery [spark postgres]
SELECT a, (SELECT MAX(x) FROM u) AS top FROM s
--> a = s.a; from s; from u; top agg u.x

-- correlated subquery [spark postgres]
SELECT a, (SELECT MAX(u.x) FROM u WHERE u.k = s.k) AS top FROM s
--> a = s.a; from s; from u; top agg u.x; top filter s.k; top filter u.k

-- group by [spark postgres]
SELECT b, SUM(a) AS n FROM s GROUP BY b
--> * group s.b; b = s.b; from s; n agg s.a

-- group by expression [spark postgres]
SELECT UPPER(c) AS n, COUNT(*) AS m FROM s GROUP BY UPPER(c)
--> * group s.c; from s; m is constant; n f s.c

-- having [spark postgres]
SELECT b, MAX(a) AS n FROM s GROUP BY b HAVING COUNT(k) > 1
--> * filter# s.k; * group s.b; b = s.b; from s; n agg s.a
--> plan: * filter s.k; * group s.b; b = s.b; from s; n agg s.a (a plan's influences carry no flag for masking)

-- count [spark postgres]
SELECT COUNT(a) AS n, COUNT(DISTINCT b) AS m FROM s
--> from s; m agg# s.b; n agg# s.a

-- filtered aggregate [spark postgres]
SELECT SUM(a) FILTER (WHERE b > 1) AS n FROM s
--> from s; n agg s.a; n filter s.b

-- aggregate of case [spark postgres]
SELECT SUM(CASE WHEN b > 1 THEN a ELSE 0 END) AS n FROM s
--> from s; n agg s.a; n if s.b

-- expression of aggregates [spark postgres]
SELECT SUM(a) / COUNT(b) AS n FROM s
--> from s; n agg s.a; n agg# s.b

-- row_number [spark postgres]
SELECT ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n FROM s
--> from s; n window s.a; n window s.b

-- windowed sum [spark postgres]
SELECT SUM(a) OVER (PARTITION BY b ORDER BY k) AS n FROM s
--> from s; n agg s.a; n window s.b; n window s.k

-- lag [spark postgres]
SELECT LAG(a) OVER (PARTITION BY b ORDER BY k) AS n FROM s
--> from s; n f s.a; n window s.b; n window s.k

-- first_value in spark [spark]
SELECT FIRST_VALUE(a) OVER (PARTITION BY b ORDER BY k) AS n FROM s
--> from s; n agg s.a; n window s.b; n window s.k

-- first_value in postgres [postgres]
SELECT FIRST_VALUE(a) OVER (PARTITION BY b ORDER BY k) AS n FROM s
--> from s; n f s.a; n window s.b; n window s.k

-- last_value in spark [spark]
SELECT LAST_VALUE(a) OVER (PARTITION BY b ORDER BY k) AS n FROM s
--> from s; n agg s.a; n window s.b; n window s.k

-- last_value in postgres [postgres]
SELECT LAST_VALUE(a) OVER (PARTITION BY b ORDER BY k) AS n FROM s
--> from s; n f s.a; n window s.b; n window s.k

-- nth_value [spark postgres]
SELECT NTH_VALUE(a, 2) OVER (PARTITION BY b ORDER BY k) AS n FROM s
--> from s; n f s.a; n window s.b; n window s.k

-- ntile [spark postgres]
SELECT NTILE(4) OVER (ORDER BY a) AS n FROM s
--> from s; n window s.a

-- windowed count [spark postgres]
SELECT COUNT(a) OVER (PARTITION BY b) AS n FROM s
--> from s; n agg# s.a; n window s.b

-- row filtered by its number [spark postgres]
SELECT a FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY k) AS r FROM s) q WHERE r = 1
--> * filter s.b; * filter s.k; a = s.a; from s

-- case [spark postgres]
SELECT CASE WHEN b > 1 THEN a ELSE k END AS n FROM s
--> from s; n f s.a; n f s.k; n if s.b

-- simple case [spark postgres]
SELECT CASE b WHEN 1 THEN a WHEN 2 THEN k END AS n FROM s
--> from s; n f s.a; n f s.k; n if s.b

-- coalesce [spark postgres]
SELECT COALESCE(a, b) AS n FROM s
--> from s; n f s.a; n f s.b; n if s.a; n if s.b

-- coalesce with constant [spark postgres]
SELECT COALESCE(a, 0) AS n FROM s
--> from s; n f s.a; n if s.a

-- nullif [spark postgres]
SELECT NULLIF(a, b) AS n FROM s
--> from s; n f s.a; n if s.a; n if s.b

-- greatest [spark postgres]
SELECT GREATEST(a, b) AS n FROM s
--> from s; n f s.a; n f s.b

-- comparison [spark postgres]
SELECT a > b AS n FROM s
--> from s; n f s.a; n f s.b

-- is null [spark postgres]
SELECT a IS NULL AS n FROM s
--> from s; n f s.a

-- identity [spark postgres]
SELECT a, b AS n FROM s
--> a = s.a; from s; n = s.b

-- arithmetic [spark postgres]
SELECT a + b * 2 AS n FROM s
--> from s; n f s.a; n f s.b

-- concatenation [spark postgres]
SELECT c || 'x' AS n FROM s
--> from s; n f s.c

-- cast [spark postgres]
SELECT CAST(a AS BIGINT) AS n FROM s
--> from s; n f s.a
--> plan: from s; n = s.a (a plan prints the casts that Spark adds like those of the text)

-- cast of expression [spark postgres]
SELECT CAST(a + 1 AS BIGINT) AS n FROM s
--> from s; n f s.a

-- hash [spark postgres]
SELECT MD5(c) AS n FROM s
--> from s; n f# s.c

-- hash of aggregate [spark postgres]
SELECT MD5(MAX(c)) AS n FROM s
--> from s; n agg# s.c

-- constant [spark postgres]
SELECT 1 AS n, a FROM s
--> a = s.a; from s; n is constant

-- extract [spark postgres]
SELECT EXTRACT(YEAR FROM d) AS n FROM s
--> from s; n f s.d

-- date_trunc [spark postgres]
SELECT DATE_TRUNC('month', d) AS n FROM s
--> from s; n f s.d

-- interval [spark postgres]
SELECT d + INTERVAL '1' DAY AS n FROM s
--> from s; n f s.d

-- between [spark postgres]
SELECT a FROM s WHERE b BETWEEN 1 AND k
--> * filter s.b; * filter s.k; a = s.a; from s

-- substring [spark postgres]
SELECT SUBSTRING(c, a, 2) AS n FROM s
--> from s; n f s.a; n f s.c

-- star [spark postgres]
SELECT * FROM u
--> from u; k = u.k; x = u.x; y = u.y

-- qualified star [spark postgres]
SELECT u.*, s.a FROM s JOIN u ON s.k = u.k
--> * join s.k; * join u.k; a = s.a; from s; from u; k = u.k; x = u.x; y = u.y

-- star of derived table [spark postgres]
SELECT * FROM (SELECT a AS n, b FROM s) q
--> b = s.b; from s; n = s.a

-- star of cte [spark postgres]
WITH q AS (SELECT k, x FROM u) SELECT * FROM q
--> from u; k = u.k; x = u.x

-- count star [spark postgres]
SELECT COUNT(*) AS n FROM s
--> from s; n is constant

-- order by limit [spark postgres]
SELECT a FROM s ORDER BY b LIMIT 3
--> * sort s.b; a = s.a; from s

-- order by output [spark postgres]
SELECT a + 1 AS n FROM s ORDER BY n LIMIT 3
--> * sort s.a; from s; n f s.a

-- grouping sets [spark postgres]
SELECT b, k, SUM(a) AS n FROM s GROUP BY GROUPING SETS ((b), (k))
--> * group s.b; * group s.k; b = s.b; from s; k = s.k; n agg s.a

-- rollup [spark postgres]
SELECT b, SUM(a) AS n FROM s GROUP BY ROLLUP (b)
--> * group s.b; b = s.b; from s; n agg s.a

-- values [spark postgres]
SELECT q.n FROM (VALUES (1), (2)) AS q (n)
--> n is constant

-- explode [spark]
SELECT EXPLODE(l) AS n FROM s
--> * filter s.l; from s; n f s.l

-- lateral view [spark]
SELECT a, n FROM s LATERAL VIEW EXPLODE(l) q AS n
--> * filter s.l; a = s.a; from s; n f s.l

-- posexplode [spark]
SELECT a, p, n FROM s LATERAL VIEW POSEXPLODE(l) q AS p, n
--> * filter s.l; a = s.a; from s; n f s.l; p if s.l

-- semi join [spark]
SELECT s.a FROM s LEFT SEMI JOIN u ON s.k = u.k
--> * join s.k; * join u.k; a = s.a; from s; from u

-- anti join [spark]
SELECT s.a FROM s LEFT ANTI JOIN u ON s.k = u.k
--> * join s.k; * join u.k; a = s.a; from s; from u

-- pivot [spark]
SELECT * FROM (SELECT a, b, k FROM s) PIVOT (SUM(a) FOR b IN (1 AS one, 2 AS two))
--> * group s.k; from s; k = s.k; one agg s.a; one if s.b; two agg s.a; two if s.b
--> plan: * group s.b; * group s.k; from s; k = s.k; one agg s.a; one if s.b; two agg s.a; two if s.b (Spark groups by the key of the PIVOT first)

-- unpivot [spark]
SELECT * FROM (SELECT k, a, b FROM s) UNPIVOT (v FOR n IN (a, b))
--> * filter s.a; * filter s.b; from s; k = s.k; n is constant; v = s.a; v = s.b

-- if [spark]
SELECT IF(b > 1, a, k) AS n FROM s
--> from s; n f s.a; n f s.k; n if s.b

-- nvl [spark]
SELECT NVL(a, b) AS n FROM s
--> from s; n f s.a; n f s.b; n if s.a; n if s.b

-- nvl2 [spark]
SELECT NVL2(a, b, k) AS n FROM s
--> from s; n f s.b; n f s.k; n if s.a

-- ifnull [spark]
SELECT IFNULL(a, b) AS n FROM s
--> from s; n f s.a; n f s.b; n if s.a; n if s.b

-- decode [spark]
SELECT DECODE(b, 1, a, k) AS n FROM s
--> from s; n f s.a; n f s.k; n if s.b

-- first [spark]
SELECT FIRST(a) AS n FROM s GROUP BY b
--> * group s.b; from s; n agg s.a

-- max_by [spark]
SELECT MAX_BY(a, b) AS n FROM s
--> from s; n agg s.a; n sort s.b

-- struct field [spark]
SELECT q.r.z AS n FROM (SELECT NAMED_STRUCT('z', a, 'w', b) AS r FROM s) q
--> from s; n = s.a

-- map element [spark]
SELECT m['x'] AS n FROM s
--> from s; n f s.m

-- star except [spark]
SELECT * EXCEPT (x) FROM u
--> from u; k = u.k; y = u.y

-- datediff [spark]
SELECT DATEDIFF(DAY, d, d) AS n FROM s
--> from s; n f s.d

-- year [spark]
SELECT YEAR(d) AS n FROM s
--> from s; n f s.d

-- any join [spark]
SELECT /*+ BROADCAST(u) */ s.a, u.x FROM s JOIN u USING (k)
--> * join s.k; * join u.k; a = s.a; from s; from u; x = u.x

-- percentile [spark]
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) AS n FROM s
--> from s; n agg s.a

-- collect_list [spark]
SELECT COLLECT_LIST(a) AS n FROM s GROUP BY b
--> * group s.b; from s; n agg s.a

-- transform [spark]
SELECT TRANSFORM(l, e -> e + a) AS n FROM s
--> from s; n f s.a; n f s.l

-- qualify-like [spark]
SELECT DENSE_RANK() OVER (ORDER BY a DESC) AS n FROM s
--> from s; n window s.a

-- update from [postgres snowflake tsql]
UPDATE t SET a = s.a + 1 FROM s WHERE t.k = s.k
--> * filter s.k; * filter t.k; a f s.a; from s

-- update of a join [mysql]
UPDATE t JOIN s ON t.k = s.k SET t.a = s.a
--> * join s.k; * join t.k; a = s.a; from s

-- update from subquery [postgres oracle snowflake]
UPDATE t SET a = (SELECT MAX(u.x) FROM u WHERE u.k = t.k)
--> a agg u.x; a filter t.k; a filter u.k; from u

-- merge [snowflake postgres databricks oracle]
MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN UPDATE SET a = s.a WHEN NOT MATCHED THEN INSERT (k, a) VALUES (s.k, s.b)
--> * join s.k; * join t.k; a = s.a; a = s.b; from s; k = s.k

-- merge of a query [snowflake postgres databricks]
MERGE INTO t USING (SELECT k, SUM(a) AS n FROM s GROUP BY k) q ON t.k = q.k WHEN MATCHED THEN UPDATE SET a = q.n
--> * group s.k; * join s.k; * join t.k; a agg s.a; from s

-- delete using [postgres snowflake]
DELETE FROM t USING u WHERE t.k = u.k
--> * filter t.k; * filter u.k; from u

-- delete by subquery [postgres mysql snowflake spark]
DELETE FROM t WHERE k IN (SELECT k FROM u WHERE x > 1)
--> * filter t.k; * filter u.k; * filter u.x; from u

-- unnest [postgres trino]
INSERT INTO t (a, n) SELECT s.a, q.n FROM s CROSS JOIN UNNEST(s.l) AS q (n)
--> * filter s.l; a = s.a; from s; n f s.l

-- flatten [snowflake]
INSERT INTO t (a, n) SELECT s.a, f.value FROM s, LATERAL FLATTEN(input => s.l) f
--> * filter s.l; a = s.a; from s; n f s.l

-- qualify [snowflake bigquery databricks]
INSERT INTO t (a) SELECT a FROM s QUALIFY ROW_NUMBER() OVER (PARTITION BY b ORDER BY k) = 1
--> * filter s.b; * filter s.k; a = s.a; from s

-- distinct on [postgres duckdb]
INSERT INTO t (a) SELECT DISTINCT ON (b) a FROM s ORDER BY b, k
--> * group s.b; * sort s.b; * sort s.k; a = s.a; from s

-- dateadd [snowflake tsql redshift]
INSERT INTO t (n) SELECT DATEADD(day, a, d) FROM s
--> from s; n f s.a; n f s.d

-- datediff [snowflake tsql redshift]
INSERT INTO t (n) SELECT DATEDIFF(day, d, e) FROM s
--> from s; n f s.d; n f s.e

-- date_trunc [bigquery]
INSERT INTO t (n) SELECT DATE_TRUNC(d, MONTH) FROM s
--> from s; n f s.d

-- iif [tsql]
INSERT INTO t (n) SELECT IIF(b > 1, a, k) FROM s
--> from s; n f s.a; n f s.k; n if s.b

-- iff [snowflake]
INSERT INTO t (n) SELECT IFF(b > 1, a, k) FROM s
--> from s; n f s.a; n f s.k; n if s.b

-- if [mysql bigquery trino]
INSERT INTO t (n) SELECT IF(b > 1, a, k) FROM s
--> from s; n f s.a; n f s.k; n if s.b

-- nvl2 [oracle snowflake redshift]
INSERT INTO t (n) SELECT NVL2(a, b, k) FROM s
--> from s; n f s.b; n f s.k; n if s.a

-- decode [oracle snowflake redshift]
INSERT INTO t (n) SELECT DECODE(b, 1, a, 2, k, c) FROM s
--> from s; n f s.a; n f s.c; n f s.k; n if s.b

-- isnull [tsql]
INSERT INTO t (n) SELECT ISNULL(a, b) FROM s
--> from s; n f s.a; n f s.b; n if s.a; n if s.b

-- ifnull [mysql bigquery snowflake sqlite]
INSERT INTO t (n) SELECT IFNULL(a, b) FROM s
--> from s; n f s.a; n f s.b; n if s.a; n if s.b

-- arg_max [duckdb]
INSERT INTO t (n) SELECT ARG_MAX(a, b) FROM s
--> from s; n agg s.a; n sort s.b

-- max_by [snowflake trino databricks]
INSERT INTO t (n) SELECT MAX_BY(a, b) FROM s
--> from s; n agg s.a; n sort s.b

-- nullif [tsql snowflake bigquery]
INSERT INTO t (n) SELECT NULLIF(a, b) FROM s
--> from s; n f s.a; n if s.a; n if s.b

-- zeroifnull [snowflake teradata]
INSERT INTO t (n) SELECT ZEROIFNULL(a) FROM s
--> from s; n f s.a; n if s.a

-- lateral alias [snowflake redshift databricks]
INSERT INTO t (n, m) SELECT a + 1 AS n, n + b AS m FROM s
--> from s; m f s.a; m f s.b; n f s.a

-- intersect [snowflake oracle tsql]
INSERT INTO t (a) SELECT a FROM s INTERSECT SELECT x FROM u
--> * join s.a; * join u.x; a = s.a; a = u.x; from s; from u

-- minus [oracle snowflake]
INSERT INTO t (a) SELECT a FROM s MINUS SELECT x FROM u
--> * join s.a; * join u.x; a = s.a; from s; from u

-- star exclude [snowflake duckdb]
INSERT INTO t SELECT * EXCLUDE (x) FROM u
--> a = u.y; from u; k = u.k

-- listagg [snowflake oracle redshift]
INSERT INTO t (b, n) SELECT b, LISTAGG(c, ',') WITHIN GROUP (ORDER BY k) FROM s GROUP BY b
--> * group s.b; b = s.b; from s; n agg s.c; n sort s.k

-- pivot [snowflake]
INSERT INTO t (k, one, two) SELECT * FROM (SELECT a, b, k FROM s) q PIVOT (SUM(a) FOR b IN (1, 2)) p
--> * group s.k; from s; k = s.k; one agg s.a; one if s.b; two agg s.a; two if s.b

-- safe_cast [bigquery]
INSERT INTO t (n) SELECT SAFE_CAST(c AS INT64) FROM s
--> from s; n f s.c

-- double colon [postgres snowflake redshift]
INSERT INTO t (n) SELECT c::INT FROM s
--> from s; n f s.c

-- try_cast [snowflake tsql]
INSERT INTO t (n) SELECT TRY_CAST(c AS INT) FROM s
--> from s; n f s.c

-- convert [tsql]
INSERT INTO t (n) SELECT CONVERT(INT, c) FROM s
--> from s; n f s.c

-- concat [mysql snowflake bigquery]
INSERT INTO t (n) SELECT CONCAT(c, '-', k) FROM s
--> from s; n f s.c; n f s.k

-- recursive [postgres snowflake bigquery]
INSERT INTO t (a) WITH RECURSIVE q AS (SELECT a FROM s UNION ALL SELECT a + 1 FROM q WHERE a < 9) SELECT a FROM q
--> * filter s.a; a = s.a; a f s.a; from s
