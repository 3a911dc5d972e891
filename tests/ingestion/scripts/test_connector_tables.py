"""Tables of Flink stand for what their connectors lead to: topics, tables of databases, files."""

from __future__ import annotations

import pytest

from ingestion import LineageParser
from ingestion.dialects import dialect_of
from ingestion.model.engine_names import JdbcUrl
from ingestion.scripts.connector_tables import ConnectorTables, with_locations

FLINK = dialect_of("flink")
KAFKA = "'connector' = 'kafka', 'properties.bootstrap.servers' = 'k:9092,k2:9092', 'format' = 'json'"
ORDERS = f"""CREATE TABLE orders (
  id BIGINT, price DECIMAL(10, 2), qty INT,
  total AS price * qty,
  sent TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH ({KAFKA}, 'topic' = 'shop.orders', 'properties.sasl.jaas.config' = 'open-sesame');
"""
SUMS = "CREATE TABLE sums (d STRING, s DOUBLE) WITH ('connector' = 'upsert-kafka', 'topic' = 'sums', "
SUMS += "'properties.bootstrap.servers' = 'k:9092');\n"
TOPIC = "kafka://k:9092/shop.orders"


def edges(script: str) -> list[str]:
    """`source -> target how`, of values alone, as certain as they are."""
    found = LineageParser(script, dialect="flink")
    assert (found.failures, found.problems) == ((), ())
    return sorted(
        f"{edge.source} -> {edge.target} {edge.subtype.lower()}" for edge in found.edges if edge.type == "DIRECT"
    )


def test_a_script_leads_from_topic_to_topic_and_a_computed_column_to_what_it_is_made_of() -> None:
    script = ORDERS + SUMS + "INSERT INTO sums SELECT CAST(id AS STRING), total FROM orders WHERE qty > 1;"
    assert edges(script) == [
        f"{TOPIC}.id -> kafka://k:9092/sums.d transformation",
        f"{TOPIC}.price -> kafka://k:9092/sums.s transformation",
        f"{TOPIC}.qty -> kafka://k:9092/sums.s transformation",
    ]


def test_what_is_made_of_metadata_is_made_of_no_field() -> None:
    assert edges(ORDERS + SUMS + "INSERT INTO sums SELECT CAST(sent AS STRING), price FROM orders;") == [
        f"{TOPIC}.price -> kafka://k:9092/sums.s identity"
    ]


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (f"{KAFKA}, 'topic' = 'a'", "kafka://k:9092/a"),
        (f"{KAFKA}, 'topic-pattern' = 'a.*'", "t"),
        (f"{KAFKA}, 'topic-pattern' = 'shop\\.a'", "kafka://k:9092/shop.a"),
        ("'connector' = 'kafka', 'topic' = 'a'", "t"),
        ("'connector' = 'jdbc', 'url' = 'jdbc:postgresql://db/shop?user=open', 'table-name' = 'web.t1'",
         "shop.web.t1"),
        ("'connector' = 'mysql-cdc', 'hostname' = 'db', 'database-name' = 'shop', 'table-name' = 'orders'",
         "shop.orders"),
        ("'connector' = 'mysql-cdc', 'hostname' = 'db', 'database-name' = 'shop', 'table-name' = 'o.*'", "t"),
        ("'connector' = 'postgres-cdc', 'hostname' = 'h', 'database-name' = 'd', 'schema-name' = 's', "
         "'table-name' = 'o'",
         "d.s.o"),
        ("'connector' = 'filesystem', 'path' = 's3://lake/in', 'format' = 'csv'", "s3://lake/in"),
        ("'connector' = 'iceberg', 'catalog-name' = 'c', 'catalog-database' = 'd', 'catalog-table' = 'x'", "c.d.x"),
        ("'connector' = 'datagen'", "t"),
    ],
)  # fmt: skip
def test_options_say_where_a_table_is(options: str, place: str) -> None:
    script = f"CREATE TABLE t (a INT) WITH ({options});\nCREATE TABLE o (a INT);\nINSERT INTO o SELECT a FROM t;"
    assert edges(script) == [f"{place}.a -> o.a identity"]
    assert "open" not in with_locations(script, FLINK)


def test_who_reads_a_server_is_no_part_of_its_name() -> None:
    asked: list[JdbcUrl] = []

    def name(url: JdbcUrl, parts: tuple[str, ...]) -> tuple[str, ...]:
        asked.append(url)
        return parts

    script = "CREATE TABLE t (a INT) WITH ('connector' = 'mongodb-cdc', 'hosts' = 'me:open@db:27017,me:open@b:27017', "
    script += "'database' = 'shop', 'collection' = 'orders'); INSERT INTO o SELECT a FROM t"
    with_locations(script, FLINK, ConnectorTables(FLINK, name))
    assert {(one.host, one.port) for one in asked} == {("db", 27017)}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT o.id FROM orders /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */ AS o",
        "SELECT orders.id FROM orders",
        "SELECT o.id FROM g JOIN orders FOR SYSTEM_TIME AS OF g.ts AS o ON o.id IS NOT DISTINCT FROM g.a",
        "SELECT o.id FROM g, default_database.orders o",
        "SELECT id FROM (SELECT * FROM orders)",
        "WITH x AS (SELECT id FROM orders) SELECT id FROM x",
        "WITH orders2 AS (SELECT id FROM orders), orders3 AS (SELECT id FROM orders2) SELECT id FROM orders3",
        "SELECT id FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) GROUP BY id, window_start",
        "SELECT w.id FROM TABLE(HOP(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '1' HOUR)) AS w",
        "SELECT id FROM orders UNION ALL SELECT id FROM orders WHERE EXTRACT(DAY FROM ts) = 1",
    ],
)
def test_a_name_is_replaced_wherever_it_is_read(query: str) -> None:
    script = (
        f"{ORDERS}CREATE TABLE g (a INT, ts TIMESTAMP(3));\nCREATE TABLE out1 (i BIGINT);\nINSERT INTO out1 {query};"
    )
    assert edges(script) == [f"{TOPIC}.id -> out1.i identity"]


def test_bounds_of_windows_are_made_of_their_time() -> None:
    query = "SELECT CAST(window_end AS STRING), SUM(total) FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), "
    query += "INTERVAL '1' MINUTE, INTERVAL '1' DAY)) GROUP BY window_start, window_end"
    assert edges(f"{ORDERS}{SUMS}INSERT INTO sums {query};") == [
        f"{TOPIC}.price -> kafka://k:9092/sums.s aggregation",
        f"{TOPIC}.qty -> kafka://k:9092/sums.s aggregation",
        f"{TOPIC}.ts -> kafka://k:9092/sums.d transformation",
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("EXECUTE STATEMENT SET\nBEGIN\n", "END;"),
        ("BEGIN STATEMENT SET;\n", "END;"),
        ("EXECUTE ", ""),
        (
            "SET 'sql-client.execution.result-mode' = 'table';\nADD JAR '/opt/x.jar';\nUSE CATALOG default_catalog;\n",
            "",
        ),
        (
            "CREATE CATALOG c WITH ('type' = 'jdbc', 'password' = 'open');\nCREATE FUNCTION f AS 'B' LANGUAGE JAVA;\n",
            "",
        ),
    ],
)
def test_what_stands_around_statements_moves_nothing(before: str, after: str) -> None:
    script = f"{ORDERS}{SUMS}{before}INSERT INTO sums (s) SELECT price FROM orders;\n{after}"
    assert edges(script) == [f"{TOPIC}.price -> kafka://k:9092/sums.s identity"]


def test_a_table_like_another_has_its_columns_and_its_options_unless_they_are_left_out() -> None:
    script = (
        f"{ORDERS}CREATE TABLE copy WITH ('topic' = 'b') LIKE orders;\nCREATE TABLE made WITH ('connector' = 'faker') "
    )
    script += "LIKE orders (EXCLUDING ALL);\nINSERT INTO made SELECT id, total, qty, ts FROM copy;"
    assert edges(script) == [
        "kafka://k:9092/b.id -> made.id identity",
        "kafka://k:9092/b.price -> made.price transformation",
        "kafka://k:9092/b.qty -> made.price transformation",
        "kafka://k:9092/b.qty -> made.qty identity",
        "kafka://k:9092/b.ts -> made.ts identity",
    ]


def test_tables_that_a_query_makes_and_views_are_followed() -> None:
    script = f"{ORDERS}CREATE TEMPORARY VIEW v AS SELECT id AS i FROM orders;\n"
    script += f"CREATE TABLE made WITH ({KAFKA}, 'topic' = 'm') AS SELECT i FROM v;\n"
    script += "CREATE MATERIALIZED TABLE kept PARTITIONED BY (i) FRESHNESS = INTERVAL '3' MINUTE AS SELECT i FROM v;"
    found = edges(script)
    assert "kafka://k:9092/m" in {edge.partition(" -> ")[2].rpartition(".")[0] for edge in found}
    assert any(edge.split(" -> ")[1].startswith("kept.i") for edge in found)


def test_a_script_keeps_its_lines_and_of_a_definition_the_columns() -> None:
    read = with_locations(ORDERS, FLINK)
    assert read.count("\n") == ORDERS.count("\n")
    assert "sesame" not in read
    assert "`id` BIGINT, `price` DECIMAL(10, 2), `qty` INT, `ts` TIMESTAMP(3)" in read


A_TO_C = f"CREATE TABLE src (a INT, b AS a * 2, c INT) WITH ({KAFKA}, 'topic' = 'src');\n"
THREE = f"CREATE TABLE three (x INT, y INT, z INT) WITH ({KAFKA}, 'topic' = 'three');\n"


def test_a_computed_column_has_its_place_among_all_columns() -> None:
    assert edges(A_TO_C + THREE + "INSERT INTO three SELECT * FROM src;") == [
        "kafka://k:9092/src.a -> kafka://k:9092/three.x identity",
        "kafka://k:9092/src.a -> kafka://k:9092/three.y transformation",
        "kafka://k:9092/src.c -> kafka://k:9092/three.z identity",
    ]


def test_an_insert_fills_the_metadata_that_is_not_virtual_in_its_place() -> None:
    sent = "x INT, at INT METADATA FROM 'timestamp', part INT METADATA VIRTUAL, z INT"
    sink = f"CREATE TABLE sink ({sent}) WITH ({KAFKA}, 'topic' = 'sink');\n"
    assert edges(THREE + sink + "INSERT INTO sink SELECT x, y, z FROM three;") == [
        "kafka://k:9092/three.x -> kafka://k:9092/sink.x identity",
        "kafka://k:9092/three.y -> kafka://k:9092/sink.at identity",
        "kafka://k:9092/three.z -> kafka://k:9092/sink.z identity",
    ]


def test_a_field_that_is_called_metadata_is_no_metadata() -> None:
    nested = f"CREATE TABLE n (r ROW<metadata STRING, k INT>) WITH ({KAFKA}, 'topic' = 'n');\n"
    assert edges(nested + THREE + "INSERT INTO three (x) SELECT r.k FROM n;") == [
        "kafka://k:9092/n.r -> kafka://k:9092/three.x transformation"
    ]


@pytest.mark.parametrize(
    ("script", "topic"),
    [
        ("USE one; {t1} USE two; {t2} INSERT INTO main.three (x) SELECT a FROM one.t;", "t1"),
        ("USE one; {t1} USE two; {t2} INSERT INTO main.three (x) SELECT a FROM t;", "t2"),
        ("USE CATALOG c; {t1} USE CATALOG d; {t2} INSERT INTO main.three (x) SELECT a FROM c.db.t;", "t1"),
        ("{t1} {t2} ALTER TABLE t SET ('topic' = 't3'); INSERT INTO main.three (x) SELECT a FROM t;", "t3"),
        ("{t1} ALTER TABLE t RENAME TO u; INSERT INTO main.three (x) SELECT a FROM u;", "t1"),
    ],
)
def test_a_name_means_the_table_of_its_database_as_it_is_then(script: str, topic: str) -> None:
    made = {one: f"CREATE TABLE t (a INT) WITH ({KAFKA}, 'topic' = '{one}');" for one in ("t1", "t2")}
    found = edges(THREE.replace("three", "main.three", 1) + script.format(**made))
    assert found == [f"kafka://k:9092/{topic}.a -> kafka://k:9092/three.x identity"]


def test_a_view_hides_the_table_of_its_name() -> None:
    script = A_TO_C + THREE + "CREATE TEMPORARY VIEW src AS SELECT x FROM three; INSERT INTO out SELECT x FROM src;"
    assert edges(script) == ["kafka://k:9092/three.x -> src.x identity", "src.x -> out.x identity"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            f"CREATE TABLE made WITH ({KAFKA}, 'topic' = 'made') AS SELECT x FROM three;",
            ["kafka://k:9092/three.x -> kafka://k:9092/made.x identity"],
        ),
        ("UPDATE three SET x = y WHERE z = 1;", ["kafka://k:9092/three.y -> kafka://k:9092/three.x identity"]),
    ],
)
def test_a_query_that_makes_a_table_and_a_change_speak_of_what_names_stand_for(
    statement: str, expected: list[str]
) -> None:
    assert edges(THREE + statement) == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("INSERT INTO ab SELECT x, y FROM three;", {"x": "ab.a", "y": "ab.b"}),
        ("INSERT INTO three (x, y) SELECT * FROM ab;", {"a": "three.x", "b": "three.y"}),
        ("INSERT INTO three (x) SELECT o.* FROM only_b AS o;", {"b": "three.x"}),
    ],
)
def test_of_two_tables_of_one_topic_each_has_its_own_order_of_columns(statement: str, expected: dict[str, str]) -> None:
    script = THREE + "".join(
        f"CREATE TABLE {name} ({columns}) WITH ({KAFKA}, 'topic' = 'ab');\n"
        for name, columns in (("only_b", "b INT"), ("ab", "a INT, b INT"), ("ba", "b INT, a INT"))
    )
    found = [edge.replace("kafka://k:9092/", "") for edge in edges(script + statement)]
    assert {edge.split()[0].rpartition(".")[2]: edge.split()[2] for edge in found} == expected


LANDED = "kafka://k:9092/"


def made(name: str, columns: str, topic: str) -> str:
    return f"CREATE TABLE {name} ({columns}) WITH ({KAFKA}, 'topic' = '{topic}');\n"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("ALTER TABLE t ADD c INT;", ["a x", "b y", "c z"]),
        ("ALTER TABLE t ADD (c INT AFTER a, CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED);", ["a x", "b z", "c y"]),
        ("ALTER TABLE IF EXISTS t ADD c INT FIRST;", ["a y", "b z", "c x"]),
        ("ALTER TABLE t ADD c AS a + b FIRST;", ["a x", "a y", "b x", "b z"]),
        ("ALTER TABLE t DROP a;", ["b x"]),
        ("ALTER TABLE t DROP (a);", ["b x"]),
        ("ALTER TABLE t DROP WATERMARK; ALTER TABLE t DROP PRIMARY KEY;", ["a x", "b y"]),
        ("ALTER TABLE t MODIFY a BIGINT AFTER b;", ["a y", "b x"]),
        ("ALTER TABLE t MODIFY (b AS a * 2);", ["a x", "a y"]),
        ("ALTER TABLE t RENAME b TO c;", ["a x", "c y"]),
        ("ALTER TABLE t ADD PARTITION (p = 1);", ["a x", "b y"]),
        ("ALTER TABLE t RESET ('topic');", []),
    ],
)
def test_a_changed_table_has_the_columns_that_it_was_given(change: str, expected: list[str]) -> None:
    script = made("t", "a INT, b INT, WATERMARK FOR a AS a", "t") + made("s", "x INT, y INT, z INT", "s")
    read = LineageParser(f"{script}{change}\nINSERT INTO s SELECT * FROM t;", dialect="flink")
    assert read.failures == ()
    found = [edge for edge in read.edges if str(edge.source).startswith(LANDED)]
    assert sorted(f"{edge.source.column} {edge.target.column}" for edge in found) == expected


def test_a_changed_table_of_flinks_own_has_its_columns_in_their_place() -> None:
    script = "CREATE TABLE o (a INT, b INT) WITH ('connector' = 'datagen');\n"
    script += "CREATE TABLE s (x INT, y INT) WITH ('connector' = 'print');\n"
    script += "ALTER TABLE o ADD c INT FIRST; ALTER TABLE o DROP (b); ALTER TABLE s RENAME x TO w;\n"
    assert edges(f"{script}INSERT INTO s SELECT * FROM o;") == ["o.a -> s.y identity", "o.c -> s.w identity"]


@pytest.mark.parametrize(
    ("script", "topic"),
    [
        ("{t1} DROP TABLE t; {t2}", "t2"),
        ("{t1} {again}", "t1"),
        ("{t1} DROP TABLE IF EXISTS t; {again}", "t2"),
        ("{temporary} {t2}", "t1"),
        ("{temporary} {t2} DROP TEMPORARY TABLE t;", "t2"),
        ("{t1} CREATE TEMPORARY VIEW t AS SELECT x AS a FROM three; DROP TEMPORARY VIEW t;", "t1"),
        ("CREATE DATABASE d; USE d; {t1} USE main; {t2} DROP DATABASE d;", "t2"),
    ],
)
def test_a_dropped_table_is_the_one_that_is_made_anew(script: str, topic: str) -> None:
    one, two = (made("t", "a INT", name).strip() for name in ("t1", "t2"))
    told = {"t1": one, "t2": two, "again": two.replace("TABLE", "TABLE IF NOT EXISTS", 1)}
    told["temporary"] = one.replace("TABLE", "TEMPORARY TABLE", 1)
    script = THREE.replace("three", "main.three", 1) + script.format(**told)
    found = [
        edge for edge in edges(f"{script} INSERT INTO main.three (x) SELECT a FROM t;") if "/three.x -" not in edge
    ]
    assert found == [f"kafka://k:9092/{topic}.a -> kafka://k:9092/three.x identity"]


def test_a_table_of_several_topics_is_read_from_each_and_is_itself_where_it_is_written() -> None:
    script = made("t", "a INT, b AS a * 2", "p; q") + THREE + "INSERT INTO three (x, y) SELECT * FROM t;"
    assert edges(script + "INSERT INTO t SELECT z FROM three;") == [
        "kafka://k:9092/p.a -> kafka://k:9092/three.x identity",
        "kafka://k:9092/p.a -> kafka://k:9092/three.y transformation",
        "kafka://k:9092/q.a -> kafka://k:9092/three.x identity",
        "kafka://k:9092/q.a -> kafka://k:9092/three.y transformation",
        "kafka://k:9092/three.z -> t.a identity",
    ]


@pytest.mark.parametrize("verb", ["CREATE TABLE", "CREATE OR REPLACE TABLE", "REPLACE TABLE"])
def test_a_table_that_a_query_makes_has_its_own_columns_before_those_of_the_query(verb: str) -> None:
    script = f"{THREE}{verb} made (note STRING, y INT, sum AS x + y) WITH ({KAFKA}, 'topic' = 'made') AS "
    script += "SELECT x, three.y FROM three;\nCREATE TABLE s (a STRING, b INT, c INT, d INT);\n"
    found = edges(script + "INSERT INTO s SELECT * FROM made;")
    assert found == [
        "kafka://k:9092/made.note -> s.a identity",
        "kafka://k:9092/made.x -> s.c transformation",
        "kafka://k:9092/made.x -> s.d identity",
        "kafka://k:9092/made.y -> s.b identity",
        "kafka://k:9092/made.y -> s.c transformation",
        "kafka://k:9092/three.x -> kafka://k:9092/made.x identity",
        "kafka://k:9092/three.y -> kafka://k:9092/made.y identity",
    ]


@pytest.mark.parametrize(
    ("before", "after", "runs"),
    [
        ("EXPLAIN ", "", False),
        ("EXPLAIN STATEMENT SET BEGIN\n", "END;", False),
        ("COMPILE PLAN 'p.json' FOR ", "", False),
        ("COMPILE PLAN 'p.json' IF NOT EXISTS FOR STATEMENT SET BEGIN\n", "END;\nEXECUTE PLAN 'p.json';", True),
        ("COMPILE AND EXECUTE PLAN 'p.json' FOR STATEMENT SET BEGIN\n", "END;", True),
    ],
)
def test_what_is_explained_or_compiled_alone_moves_nothing(before: str, after: str, runs: bool) -> None:
    insert = "INSERT INTO three (x) SELECT a FROM src;\n"
    script = f"{A_TO_C}{THREE}{before}{insert}{insert if after else ''}{after}"
    assert edges(script) == ["kafka://k:9092/src.a -> kafka://k:9092/three.x identity"] * runs


@pytest.mark.parametrize(
    ("catalog", "name", "expected"),
    [
        ("'type' = 'jdbc', 'base-url' = 'jdbc:postgresql://db:5432/', 'default-database' = 'shop', 'password' = 'open'",
         "c.shop.`web.orders`", "shop.web.orders"),
        ("'type' = 'jdbc', 'base-url' = 'jdbc:mysql://db:3306', 'default-database' = 'shop'", "orders", "shop.orders"),
        ("'type' = 'paimon', 'warehouse' = 's3://lake/w/'", "c.shop.orders", "s3://lake/w/shop.db/orders"),
        ("'type' = 'hive'", "c.shop.orders", "c.shop.orders"),
    ],
)  # fmt: skip
def test_what_is_in_a_catalog_of_tables_elsewhere_is_those_tables(catalog: str, name: str, expected: str) -> None:
    script = f"CREATE TABLE orders (a INT) WITH ({KAFKA}, 'topic' = 'other');\n{THREE}"
    script += f"CREATE CATALOG c WITH ({catalog});\nUSE CATALOG c;\n"
    script += f"INSERT INTO default_catalog.main.three (x) SELECT a FROM {name};"
    assert edges(script) == [f"{expected}.a -> kafka://k:9092/three.x identity"]


@pytest.mark.parametrize("place", ["${X}", "{{ x }}", "<x>", "%(x)s", "$(X)"])
@pytest.mark.parametrize(
    ("options", "key"),
    [
        ("'connector' = 'kafka', 'properties.bootstrap.servers' = 'k:9092', 'topic' = 'a_?'", "topic"),
        ("'connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/?', 'table-name' = 's.t'", "url"),
        ("'connector' = 'jdbc', 'url' = 'jdbc:postgresql://h/d', 'table-name' = 's.?'", "table-name"),
        ("'connector' = 'filesystem', 'format' = 'csv', 'path' = 's3://b/?/x'", "path"),
        ("'connector' = 'mysql-cdc', 'hostname' = 'h', 'database-name' = '?', 'table-name' = 't'", "database-name"),
    ],
)
def test_an_option_with_a_place_that_nobody_has_filled_names_nothing_and_is_told(
    options: str, key: str, place: str
) -> None:
    script = f"CREATE TABLE s (id INT) WITH ({options.replace('?', place)});\n{SUMS}INSERT INTO sums SELECT id FROM s;"
    found = LineageParser(script, dialect="flink")
    assert found.edges == ()
    assert found.failures == (f"line 1: templated: ${{{key}}}", f"line 3: templated: ${{{key}}}")


def test_a_place_that_nobody_has_filled_in_an_address_leaves_the_table_its_own_name() -> None:
    options = "'connector' = 'kafka', 'properties.bootstrap.servers' = '${BROKERS}', 'topic' = 't'"
    script = f"CREATE TABLE s (id STRING) WITH ({options});\n{SUMS}INSERT INTO sums (d) SELECT id FROM s;"
    assert edges(script) == ["s.id -> kafka://k:9092/sums.d identity"]
