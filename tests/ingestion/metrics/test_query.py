"""Queries taken apart: what is one entity however it is written, what is another, and what is not taken apart."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.support.decompositions import decomposed, identities, refusal_of

SEED = """
CREATE TABLE `db.schema.user_order` AS (
  WITH users AS (SELECT id AS user_id, age AS user_age FROM (SELECT * FROM `db.schema.users`) AS users),
  orders AS (
    SELECT user_id, created_at AS created, order_id AS id FROM `db.schema.order_items`
    WHERE status = 'Returned' AND created_at >= '2022-01-01')
  SELECT created, user_age, COUNT(DISTINCT id) AS count_orders
  FROM users JOIN orders ON users.user_id = orders.user_id
  GROUP BY 1, 2)
"""


def test_single_origins_example_gives_its_rows() -> None:
    """Throughlines, part 2: the entities of its example. (Its last table says users.status for order_items.status.)"""
    found = decomposed(SEED, "bigquery")
    rows = [
        ("view", found.view.name, found.view.sql),
        *(("data entity", one.name, one.expression.text) for one in found.measures),
        *(("dimension", one.name, one.expression.text) for one in found.dimensions),
    ]
    assert sorted(rows) == sorted(
        [
            (
                "view",
                "orders",
                "SELECT * FROM `db.schema.users` AS u JOIN `db.schema.order_items` AS oi ON u.id = oi.user_id",
            ),
            ("data entity", "count_orders", "COUNT(DISTINCT order_id)"),
            ("dimension", "user_age", "age"),
            ("dimension", "status", "status"),
            ("dimension", "time", "created_at"),
        ]
    )
    assert found.measures[0].expression.fields == (("db.schema.order_items", "order_id"),)


KNOWN = {
    "sales": dict.fromkeys(("id", "day_id", "shop_id", "amount", "cost", "kind"), ""),
    "days": {"day_id": "", "day": "date", "year": ""},
    "shops": dict.fromkeys(("shop_id", "city", "owner_id", "region"), ""),
    "people": dict.fromkeys(("id", "name", "boss_id"), ""),
}
"""Tables of the tests, with their columns."""

SAME = {
    "aliases": (
        "SELECT city, sum(amount) FROM sales JOIN shops ON sales.shop_id = shops.shop_id GROUP BY city",
        "SELECT x.city AS c, sum(y.amount) AS m FROM sales y JOIN shops x ON y.shop_id = x.shop_id GROUP BY c",
        "SELECT b.city, sum(a.amount) FROM shops b, sales a WHERE b.shop_id = a.shop_id GROUP BY 1 ORDER BY 2 LIMIT 5",
        "SELECT city, sum(amount) FROM shops JOIN sales USING (shop_id) GROUP BY city",
        "WITH s AS (SELECT shop_id AS k, amount AS v FROM sales), t AS (SELECT * FROM shops)"
        " SELECT t.city, sum(s.v) FROM t JOIN s ON k = t.shop_id GROUP BY t.city",
        "SELECT q.city, sum(q.amount) FROM (SELECT city, amount FROM sales s JOIN shops p ON p.shop_id = s.shop_id) q"
        " GROUP BY q.city",
        "SELECT c, m FROM (SELECT city AS c, sum(amount) AS m FROM sales s JOIN shops p ON p.shop_id = s.shop_id"
        " GROUP BY city) q WHERE 1 = 1",
    ),
    "order of predicates": (
        "SELECT count(*) FROM sales WHERE kind = 'a' AND amount > 5",
        "SELECT count(1) FROM sales WHERE 5 < amount AND 'a' = kind",
        "SELECT count(*) FROM (SELECT * FROM sales WHERE kind = 'a') s WHERE amount > 5 AND TRUE",
        "WITH s AS (SELECT * FROM sales WHERE amount > 5) SELECT count(*) FROM s WHERE kind IN ('a')",
    ),
    "between": (
        "SELECT count(*) FROM sales WHERE amount BETWEEN 1 AND 2",
        "SELECT count(*) FROM sales WHERE amount >= 1 AND amount <= 2",
    ),
    "lists": (
        "SELECT count(*) FROM sales WHERE kind IN ('a', 'b')",
        "SELECT count(*) FROM sales WHERE kind IN ('b', 'a', 'b')",
    ),
    "commutative arithmetic": (
        "SELECT sum(amount * cost + 1) FROM sales",
        "SELECT sum(1 + (cost * amount)) FROM sales AS x",
    ),
    "equal columns": (
        "SELECT count(*) FROM sales a JOIN shops b ON a.shop_id = b.shop_id JOIN days d ON d.day_id = a.day_id"
        " JOIN people p ON p.id = b.shop_id",
        "SELECT count(*) FROM people p, days d, shops b, sales a WHERE p.id = a.shop_id AND a.day_id = d.day_id"
        " AND b.shop_id = p.id",
    ),
    "left joins": (
        "SELECT count(*) FROM sales s LEFT JOIN shops p ON p.shop_id = s.shop_id LEFT JOIN days d USING (day_id)",
        "SELECT count(*) FROM sales s LEFT JOIN days d ON s.day_id = d.day_id LEFT JOIN shops p USING (shop_id)",
        "SELECT count(*) FROM shops p RIGHT JOIN sales s ON p.shop_id = s.shop_id LEFT JOIN days d"
        " ON d.day_id = s.day_id",
    ),
    "a filtered side": (
        "SELECT count(city) FROM sales s LEFT JOIN shops p ON p.shop_id = s.shop_id AND p.region = 'n'",
        "SELECT count(city) FROM sales s LEFT JOIN (SELECT * FROM shops WHERE region = 'n') p USING (shop_id)",
    ),
    "one table twice": (
        "SELECT count(*) FROM people a JOIN people b ON a.boss_id = b.id WHERE b.name = 'x'",
        "SELECT count(*) FROM people b JOIN people a ON b.boss_id = a.id WHERE a.name = 'x'",
        "SELECT count(*) FROM people z, people y WHERE y.name = 'x' AND z.boss_id = y.id",
    ),
    "groups of groups": (
        "SELECT avg(m) FROM (SELECT shop_id, sum(amount) AS m FROM sales GROUP BY shop_id) q",
        "WITH t AS (SELECT sum(s.amount) AS total, s.shop_id FROM sales s GROUP BY 2) SELECT avg(t.total) FROM t",
    ),
    "a key chosen outside": (
        "SELECT kind, sum(amount) FROM sales WHERE kind = 'a' GROUP BY kind",
        "SELECT * FROM (SELECT kind, sum(amount) AS m FROM sales GROUP BY kind) q WHERE q.kind = 'a'",
    ),
    "HAVING": (
        "SELECT kind, sum(amount) FROM sales GROUP BY kind HAVING count(*) > 3",
        "SELECT k, m FROM (SELECT kind k, sum(amount) m, count(*) n FROM sales GROUP BY 1) q WHERE 3 < n",
    ),
    "a query as a condition": (
        "SELECT count(*) FROM sales WHERE shop_id IN (SELECT shop_id FROM shops WHERE city = 'x')",
        "WITH chosen AS (SELECT p.shop_id FROM shops p WHERE 'x' = p.city) SELECT count(*) FROM sales s"
        " WHERE s.shop_id IN (SELECT shop_id FROM chosen)",
    ),
    "full joins": (
        "SELECT count(*) FROM sales s FULL JOIN shops p ON s.shop_id = p.shop_id",
        "SELECT count(*) FROM shops FULL OUTER JOIN sales ON shops.shop_id = sales.shop_id",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_ways_to_write_one_query_are_one_entity(name: str) -> None:
    first, *others = (identities(sql, KNOWN) for sql in SAME[name])
    assert first
    assert [number for number, other in enumerate(others) if other != first] == []


DIFFERENT = {
    "literals": [f"SELECT sum(amount) FROM sales WHERE kind = '{kind}'" for kind in ("a", "b", "A", "", "1")]
    + ["SELECT sum(amount) FROM sales WHERE kind = 1", "SELECT sum(amount) FROM sales"],
    "operators": [f"SELECT sum(amount) FROM sales WHERE cost {one} 3" for one in ("=", "<>", "<", "<=", ">", ">=")]
    + [
        "SELECT sum(amount) FROM sales WHERE cost BETWEEN 3 AND 4",
        "SELECT sum(amount) FROM sales WHERE NOT cost BETWEEN 3 AND 4",
        "SELECT sum(amount) FROM sales WHERE cost IS NULL",
        "SELECT sum(amount) FROM sales WHERE cost IS NOT NULL",
        "SELECT sum(amount) FROM sales WHERE cost IN (3, 4)",
        "SELECT sum(amount) FROM sales WHERE cost NOT IN (3, 4)",
        "SELECT sum(amount) FROM sales WHERE FALSE",
        "SELECT sum(amount) FROM sales WHERE cost = 3 OR kind = 'a'",
        "SELECT sum(amount) FROM sales WHERE cost = 3 AND kind = 'a'",
        "SELECT sum(amount) FROM sales HAVING count(*) > 3",
        "SELECT sum(amount) FROM sales HAVING count(cost) > 3",
    ],
    "measures": [
        f"SELECT {one} FROM sales"
        for one in (
            "sum(amount)",
            "sum(DISTINCT amount)",
            "sum(amount) FILTER (WHERE kind = 'a')",
            "sum(amount) FILTER (WHERE kind = 'b')",
            "sum(cost)",
            "avg(amount)",
            "count(*)",
            "count(amount)",
            "sum(amount - cost)",
            "sum(cost - amount)",
            "sum(amount) / count(*)",
            "count(*) / sum(amount)",
            "sum(amount)::int",
            "sum(amount::int)",
            "percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)",
            "percentile_cont(0.9) WITHIN GROUP (ORDER BY amount)",
            "string_agg(kind, ',' ORDER BY amount)",
            "string_agg(kind, ',' ORDER BY amount DESC)",
        )
    ],
    "joins": [
        "SELECT count(*) FROM sales s JOIN shops p ON s.shop_id = p.shop_id",
        "SELECT count(*) FROM sales s LEFT JOIN shops p ON s.shop_id = p.shop_id",
        "SELECT count(*) FROM sales s RIGHT JOIN shops p ON s.shop_id = p.shop_id",
        "SELECT count(*) FROM sales s FULL JOIN shops p ON s.shop_id = p.shop_id",
        "SELECT count(*) FROM sales s CROSS JOIN shops p",
        "SELECT count(*) FROM sales s JOIN shops p ON s.shop_id = p.owner_id",
        "SELECT count(*) FROM sales s JOIN shops p ON s.shop_id < p.shop_id",
        "SELECT count(*) FROM sales s JOIN shops p ON s.shop_id = p.shop_id AND s.id = p.owner_id",
        "SELECT count(*) FROM sales s LEFT JOIN shops p ON s.shop_id = p.shop_id AND p.city = 'x'",
        "SELECT count(*) FROM sales s LEFT JOIN shops p ON s.shop_id = p.shop_id WHERE p.city = 'x'",
        "SELECT count(*) FROM sales s LEFT JOIN shops p ON s.shop_id = p.shop_id AND s.kind = 'x'",
        "SELECT count(*) FROM sales s LEFT JOIN shops p ON s.shop_id = p.shop_id WHERE s.kind = 'x'",
        "SELECT count(*) FROM sales s JOIN shops p ON s.shop_id = p.shop_id JOIN people o ON o.id = p.owner_id",
        "SELECT count(*) FROM sales s JOIN shops p ON s.shop_id = p.shop_id LEFT JOIN people o ON o.id = p.owner_id",
        "SELECT count(*) FROM sales s LEFT JOIN (SELECT shop_id FROM shops p JOIN people o ON o.id = p.owner_id) q"
        " ON s.shop_id = q.shop_id",
        "SELECT count(*) FROM sales s JOIN shops p ON s.shop_id = p.shop_id JOIN shops q ON q.shop_id = s.shop_id",
    ],
    "one table twice": [
        "SELECT count(*) FROM people a JOIN people b ON a.boss_id = b.id WHERE b.name = 'x'",
        "SELECT count(*) FROM people a JOIN people b ON a.boss_id = b.id WHERE a.name = 'x'",
        "SELECT count(*) FROM people a JOIN people b ON a.id = b.id WHERE a.name = 'x'",
        "SELECT count(a.name) FROM people a JOIN people b ON a.boss_id = b.id",
        "SELECT count(b.name) FROM people a JOIN people b ON a.boss_id = b.id",
    ],
    "inner groups": [
        "SELECT avg(m) FROM (SELECT shop_id, sum(amount) AS m FROM sales GROUP BY shop_id) q",
        "SELECT avg(m) FROM (SELECT day_id, sum(amount) AS m FROM sales GROUP BY day_id) q",
        "SELECT avg(m) FROM (SELECT shop_id, sum(cost) AS m FROM sales GROUP BY shop_id) q",
        "SELECT avg(m) FROM (SELECT shop_id, sum(amount) AS m FROM sales WHERE kind = 'a' GROUP BY shop_id) q",
        "SELECT avg(m) FROM (SELECT shop_id, sum(amount) AS m FROM sales WHERE kind = 'b' GROUP BY shop_id) q",
        "SELECT avg(m) FROM (SELECT shop_id, sum(amount) AS m FROM sales GROUP BY shop_id HAVING count(*) > 1) q",
        "SELECT avg(m) FROM (SELECT shop_id, sum(amount) AS m FROM sales GROUP BY shop_id) q WHERE m > 1",
        "SELECT avg(amount) FROM (SELECT DISTINCT shop_id, amount FROM sales) q",
        "SELECT avg(amount) FROM sales",
    ],
    "optional values": [
        "SELECT sum(p.n) FROM sales s LEFT JOIN (SELECT shop_id, coalesce(region, 1) AS n FROM shops) p"
        " ON p.shop_id = s.shop_id",
        "SELECT sum(coalesce(p.region, 1)) FROM sales s LEFT JOIN shops p ON p.shop_id = s.shop_id",
    ],
    "conditions that are queries": [
        "SELECT count(*) FROM sales WHERE shop_id IN (SELECT shop_id FROM shops WHERE city = 'x')",
        "SELECT count(*) FROM sales WHERE shop_id IN (SELECT shop_id FROM shops WHERE city = 'y')",
        "SELECT count(*) FROM sales WHERE shop_id NOT IN (SELECT shop_id FROM shops WHERE city = 'x')",
        "SELECT count(*) FROM sales WHERE shop_id IN (SELECT owner_id FROM shops WHERE city = 'x')",
        "SELECT count(*) FROM sales WHERE shop_id = (SELECT max(shop_id) FROM shops WHERE city = 'x')",
    ],
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_measures_something_else_is_another_entity(name: str) -> None:
    found = {sql: identities(sql, KNOWN) for sql in DIFFERENT[name]}
    assert [pair for pair in combinations(found, 2) if found[pair[0]] & found[pair[1]]] == []


REFUSED = {
    "SELECT a FROM t": "no aggregate",
    "SELECT sum(a) FROM t UNION ALL SELECT sum(a) FROM u": "a set operation",
    "SELECT sum(a) FROM (SELECT a FROM t UNION SELECT a FROM u) q": "a set operation",
    "SELECT sum(a) OVER (PARTITION BY b) FROM t": "a window function",
    "SELECT sum(r) FROM (SELECT row_number() OVER (ORDER BY a) AS r FROM t) q": "a window function",
    "SELECT sum(t.a) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.b = t.b)": "a correlated subquery",
    "SELECT sum(t.a) FROM t WHERE t.a > (SELECT avg(u.a) FROM u WHERE u.b = t.b)": "a correlated subquery",
    "SELECT sum(a) FROM t JOIN u ON t.k = u.k": "a column without its relation, where several may have it",
    "SELECT sum(a) FROM (SELECT a FROM t LIMIT 5) q": "limit in a select",
    "SELECT sum(a) FROM t TABLESAMPLE SYSTEM (10)": "sample in a table",
    "SELECT sum(a) FROM t NATURAL JOIN u": "method in a join",
    "SELECT sum(x) FROM t, unnest(t.xs) AS x": "a table function",
    "SELECT sum(x) FROM generate_series(1, 5) AS x": "a table function",
    "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM c) SELECT sum(n) FROM c": "a recursive query",
    "SELECT sum(a) FROM t, LATERAL (SELECT t.b) q": "a table function",
    "SELECT DISTINCT ON (k) k, sum(a) FROM t GROUP BY k": "on in a distinct",
    "SELECT count(*) FROM " + ", ".join(f"t AS t{n}" for n in range(8)): "too many occurrences of one table",
    "SELECT sum(a) FROM t WHERE k = $1": "a value that is given when it runs",
    "SELECT *, k, sum(a) FROM t GROUP BY 2": "the place of a column beside a star",
    "SELECT sum(n.f) FROM t LEFT JOIN (SELECT k, 1 AS f FROM u) n ON n.k = t.k": "a constant behind an outer join",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_not_certain_is_refused_with_its_reason(sql: str) -> None:
    assert refusal_of(sql) == REFUSED[sql]


SHOWN = {
    "SELECT sum(a * (1 - b)) FROM t": "SUM(a * (? - b))",
    "SELECT (sum(a) + sum(b)) / nullif(count(*), 0) FROM t": "(SUM(a) + SUM(b)) / NULLIF(COUNT(*), ?)",
    "SELECT sum(CASE WHEN k = 'secret' OR b > 5 THEN a ELSE 0 END) FROM t": (
        "SUM(CASE WHEN k = ? OR b > ? THEN a ELSE ? END)"
    ),
    "SELECT count(DISTINCT x.a) FROM t AS x -- secret": "COUNT(DISTINCT a)",
    "SELECT sum(a) FILTER (WHERE b IN ('secret', 'x')) FROM t": "SUM(a) FILTER(WHERE b IN (?))",
    "SELECT sum(a.v) + sum(b.v) FROM t a JOIN u b ON a.k = b.k": "SUM(t.v) + SUM(u.v)",
    "SELECT sum((j ->> 'secret')::numeric) FROM t": "SUM(CAST(j ->> ? AS DECIMAL))",
    "SELECT sum(d - interval '7 days') FROM t": "SUM(d - INTERVAL '? DAYS')",
}


@pytest.mark.parametrize("sql", SHOWN)
def test_expressions_are_shown_over_base_columns_without_literals(sql: str) -> None:
    (measure,) = decomposed(sql).measures
    assert measure.expression.text == SHOWN[sql]


TYPES = {
    "count(DISTINCT CAST(k AS Enum8('secret' = 1, 'b' = 4711)))": "COUNT(DISTINCT CAST(k AS Enum8(?, ?)))",
    "max(CAST(k AS Array(Nullable(Enum('secret' = 4711)))))": "MAX(CAST(k AS Array(Nullable(Enum(?)))))",
    "max(CAST(k AS DateTime64(3, 'secret')))": "MAX(CAST(k AS DateTime64(3, ?)))",
    "max(CAST(k AS Nested(x String, y Enum8('secret' = 1))))": "MAX(CAST(k AS Nested(x String, y Enum8(?))))",
    "sum(CAST(k AS Decimal(10, 2)))": "SUM(CAST(k AS Decimal(10, 2)))",
}


@pytest.mark.parametrize("output", TYPES)
def test_a_type_is_shown_with_its_sizes_and_without_its_literals(output: str) -> None:
    (measure,) = decomposed(f"SELECT {output} FROM t", "clickhouse").measures
    assert measure.expression.text == TYPES[output]


def test_a_comment_in_a_type_is_not_shown() -> None:
    sql = "SELECT max(CAST(k AS STRUCT<a INT COMMENT 'secret', b ARRAY<INT>>)) FROM t"
    assert decomposed(sql, "spark").measures[0].expression.text == "MAX(CAST(k AS STRUCT<a: INT, b: ARRAY<INT>>))"


@pytest.mark.parametrize(
    ("sides", "names"),
    [
        ("sum(CASE WHEN s = 'a' THEN x END) / sum(CASE WHEN s = 'b' THEN x END)", ["sum_case_when_s_then_x_end"]),
        ("sum(a + b) / sum(a - b)", ["sum_a_b"]),
    ],
)
def test_each_aggregate_of_a_ratio_is_a_part_of_its_own(sides: str, names: list[str]) -> None:
    (rate,) = decomposed(f"SELECT {sides} + {sides} AS rate FROM t").measures
    (name,) = names
    assert [one.name for one in rate.parts] == [name, f"{name}_2"]
    assert rate.formula == f"({name} / {name}_2) + ({name} / {name}_2)"


def test_a_query_beside_groups_stays_as_it_is() -> None:
    found = decomposed("SELECT q.s, (SELECT max(x) FROM u) AS top FROM (SELECT sum(a) AS s FROM t) q")
    assert [(one.name, one.expression.text) for one in found.measures] == [("s", "SUM(a)")]
    chosen = decomposed("SELECT q.s FROM (SELECT sum(a) AS s FROM t) q WHERE q.s > (SELECT max(x) FROM u)")
    assert [one.of_groups for one in chosen.filters] == [True]


def test_what_is_made_of_groups_says_so() -> None:
    found = decomposed(
        "SELECT s, avg(s) AS mean, count(*) AS n FROM (SELECT k, sum(a) AS s FROM t GROUP BY k) q GROUP BY s"
    )
    assert {one.name: one.over_groups for one in found.measures} == {"s": True, "mean": True, "n": False}
    assert [one.expression.of_groups for one in found.dimensions] == [True]


def test_a_view_shows_what_chooses_the_rows_of_a_side_of_a_full_join() -> None:
    found = decomposed(
        "SELECT sum(a.x) FROM (SELECT * FROM t WHERE z = 1) a FULL JOIN (SELECT * FROM u WHERE y > 2) b ON a.k = b.k"
    )
    assert found.view.sql == (
        "SELECT * FROM (SELECT * FROM t AS t WHERE t.z = ?) AS t"
        " FULL JOIN (SELECT * FROM u AS u WHERE u.y > ?) AS u ON t.k = u.k"
    )


def test_addition_has_an_order_where_it_may_join_texts() -> None:
    known = {"t": {"a": "", "b": "", "n": "int", "m": "decimal(9, 2)"}}

    def key(argument: str, dialect: str) -> str:
        (measure,) = decomposed(f"SELECT max({argument}) AS m FROM t", dialect, known).measures
        return measure.expression.key

    assert key("a + b", "tsql") != key("b + a", "tsql")
    assert key("a + 'x'", "fabric") != key("'x' + a", "fabric")
    assert key("n + m * a + 1", "tsql") == key("1 + a * m + n", "tsql")
    assert key("a + b", "postgres") == key("b + a", "postgres")


def test_times_are_known_by_their_cut_their_type_and_what_they_are_compared_with() -> None:
    found = decomposed(
        "SELECT date_trunc('month', s.sold) AS m, d.day, s.kind, sum(s.amount) FROM shop s"
        " JOIN days d ON d.day_id = s.day_id WHERE s.paid >= DATE '2026-01-01' GROUP BY 1, 2, 3",
        known=KNOWN,
    )
    times = {one.name: one.grain for one in found.dimensions if one.time}
    assert times == {"m": "month", "day": "", "paid": ""}
    assert {one.name for one in found.dimensions if not one.time} == {"kind"}


def test_masked_literals_are_not_taken_for_equal_ones() -> None:
    """What an exporter of a log writes for any literal says nothing of which one it was."""
    assert refusal_of("SELECT sum(a) FROM t WHERE k = ?", "mysql") == "a value that is given when it runs"
    assert refusal_of("SELECT sum(a) FROM t WHERE k = @day", "tsql") == ""


def test_an_output_that_is_not_understood_costs_no_other() -> None:
    found = decomposed("SELECT k, sum(a) AS total, rank() OVER (ORDER BY sum(a)) AS place FROM t GROUP BY k")
    assert [one.name for one in found.measures] == ["total"]
    assert found.left_out == ("a window function",)


def test_an_aggregate_is_told_by_function_and_argument_where_nothing_else_counts() -> None:
    found = decomposed(
        "SELECT sum(a + b), count(DISTINCT a), count(*), count(DISTINCT (a, b)), sum(a) FILTER (WHERE b > 1),"
        " string_agg(a, ',' ORDER BY b), sum(a) / count(*) FROM t"
    )
    assert [(one.aggregation, one.argument) for one in found.measures] == [
        ("sum", "a + b"),
        ("count_distinct", "a"),
        ("count", "*"),
        ("count_distinct", "(a, b)"),
        ("", ""),
        ("", ""),
        ("", ""),
    ]
    assert [one.name for one in found.measures[-1].parts] == ["sum_a", "count"]
    (pair,) = decomposed("SELECT count(DISTINCT a, b) FROM t", "mysql").measures
    assert (pair.aggregation, pair.argument) == ("", "")
