"""What connectors carry: tables into topics by their names and transforms, topics into tables, column by column."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from connectors.kafka_connect._documents import Connector
from connectors.kafka_connect._links import Link, links_of
from connectors.stream_names import StreamNames
from ingestion.model.engine_names import EngineNameRules
from tests.support.connectors_of_connect import CHANGES, SINK

NAMES = StreamNames(EngineNameRules(service="events", any_service=True))
DEBEZIUM = "io.debezium.connector."
SMT = "org.apache.kafka.connect.transforms."


def carried(*configs: Mapping[str, str], topics: tuple[str, ...] = ()) -> list[str]:
    """`source -> target`, or how it ends, with what is not understood."""
    connectors = [Connector(f"c{number}", config, "c.json:1", topics) for number, config in enumerate(configs)]
    return [shown(link) for link in links_of(connectors, NAMES)]


def shown(link: Link) -> str:
    problems = f" ({'; '.join(link.problems)})" if link.problems else ""
    if link.end or link.source is None or link.target is None:
        return f"{link.subject}: {link.end}{problems}"
    return f"{link.source.dotted} -> {link.target.dotted}{problems}"


def columns(config: Mapping[str, str]) -> dict[str, str]:
    """Of the first thing that is carried: by field what it is made of, `*` is every other column."""
    link = next(links_of([Connector("c", config, "c.json:1")], NAMES))
    assert link.source is not None
    found = {}
    for output in link.fields.outputs(link.source):
        if output.star is not None:
            found["*"] = "but " + " ".join(output.star.excluded)
        for reference in output.references:
            how = reference.transformation
            mask = " masked" if how.masking else ""
            found[output.name] = f"{reference.sources[0].column} {how.subtype.lower()}{mask}"
    return found


def sink(kind: str, **keys: str) -> dict[str, str]:
    return {"connector.class": kind, **{key.replace("__", "."): value for key, value in keys.items()}}


@pytest.mark.parametrize(
    ("kind", "own", "expected"),
    [
        (
            "mysql.MySqlConnector",
            {"database.hostname": "db", "topic.prefix": "cdc", "table.include.list": "inv.orders,inv.(a|b)"},
            [
                "mysql://db:3306..inv.orders -> kafka://events/cdc.inv.orders",
                "mysql://db:3306..inv.a -> kafka://events/cdc.inv.a",
                "mysql://db:3306..inv.b -> kafka://events/cdc.inv.b",
            ],
        ),
        (
            "postgresql.PostgresConnector",
            {"database.hostname": "db", "database.dbname": "d", "database.server.name": "s",
             "table.whitelist": "p\\.t"},
            ["postgres://db:5432.d.p.t -> kafka://events/s.p.t"],
        ),
        (
            "sqlserver.SqlServerConnector",
            {"database.hostname": "db", "database.names": "d", "topic.prefix": "s", "table.include.list": "dbo.t"},
            ["mssql://db:1433.d.dbo.t -> kafka://events/s.d.dbo.t"],
        ),
        (
            "mongodb.MongoDbConnector",
            {"mongodb.connection.string": "mongodb://u:open@m:27017/?x=1", "topic.prefix": "m",
             "collection.include.list": "d.c"},
            ["mongodb://m:27017..d.c -> kafka://events/m.d.c"],
        ),
        (
            "mongodb.MongoDbConnector",
            {"mongodb.connection.string": "mongodb://u:o/p,e#n@x@m:27017,n:27017/?x=1", "topic.prefix": "m",
             "collection.include.list": "d.c"},
            ["mongodb://m:27017..d.c -> kafka://events/m.d.c"],
        ),
        (
            "mongodb.MongoDbConnector",
            {"mongodb.hosts": "rs0/m:27017", "topic.prefix": "m", "collection.include.list": "d.c"},
            ["mongodb://m:27017..d.c -> kafka://events/m.d.c"],
        ),
        (
            "mysql.MySqlConnector",
            {"database.hostname": "db", "topic.prefix": "cdc", "table.include.list": "inv.o.*"},
            ["tables: unlisted"],
        ),
        ("mysql.MySqlConnector", {"database.hostname": "${env:DB}", "topic.prefix": "cdc"}, [": templated"]),
        ("vitess.VitessConnector", {"topic.prefix": "v"}, [": unsupported:VitessConnector"]),
    ],
)  # fmt: skip
def test_a_change_stream_has_a_topic_for_each_table(kind: str, own: dict[str, str], expected: list[str]) -> None:
    assert carried({"connector.class": f"{DEBEZIUM}{kind}", **own}) == expected


def test_where_a_pattern_names_the_tables_the_worker_tells_them() -> None:
    config = {
        "connector.class": f"{DEBEZIUM}mysql.MySqlConnector",
        "database.hostname": "db",
        "topic.prefix": "cdc",
        "table.include.list": "inv.o.*",
    }
    seen = ("cdc", "cdc.inv.orders", "cdc.transaction", "__debezium-heartbeat.cdc")
    assert carried(config, topics=seen) == ["mysql://db:3306..inv.orders -> kafka://events/cdc.inv.orders"]


def test_where_no_worker_is_asked_the_sinks_of_its_topics_tell_tables() -> None:
    config = {
        "connector.class": f"{DEBEZIUM}mysql.MySqlConnector",
        "database.hostname": "db",
        "topic.prefix": "cdc",
        "database.include.list": "inv",
    }
    behind = sink(
        "io.confluent.connect.s3.S3SinkConnector", topics="cdc.inv.orders,cdc.other.x,y", s3__bucket__name="b"
    )
    assert carried(config, behind)[:2] == [
        "mysql://db:3306..inv.orders -> kafka://events/cdc.inv.orders",
        "tables: unlisted",
    ]
    assert carried(config, config, behind)[:2] == ["tables: unlisted"] * 2
    routed = {**config, "transforms": "r", "transforms.r.type": f"{SMT}RegexRouter", "transforms.r.regex": ".*"}
    assert carried({**routed, "transforms.r.replacement": "z"}, behind)[0] == "tables: unlisted"
    assert carried({**config, "database.hostname": "<address>"}) == [": templated"]


def test_a_sink_by_a_pattern_takes_the_topics_that_others_fill() -> None:
    by_pattern = {key: value for key, value in SINK["config"].items() if key != "topics"}  # type: ignore[attr-defined]
    one, other = CHANGES["config"], {**by_pattern, "topics.regex": "shop-(web|orders)", "table.name.format": "${topic}"}
    assert carried(one, other)[-2:] == [  # type: ignore[arg-type]
        "kafka://events/shop-orders -> postgres://warehouse.example:5432.dwh..shop-orders",
        "kafka://events/shop-web -> postgres://warehouse.example:5432.dwh..shop-web",
    ]
    assert carried({**other, "topics.regex": "nothing.*"}) == ["topics: unlisted"]
    assert carried({**other, "topics.regex": "(a+)+b"}) == ["topics: unlisted"]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            sink("com.snowflake.kafka.connector.SnowflakeSinkConnector", topics="a.b,c",
                 snowflake__topic2table__map="a.b:t1", snowflake__url__name="acme.snowflakecomputing.com:443",
                 snowflake__database__name="D", snowflake__schema__name="S"),
            ["kafka://events/a.b -> snowflake://acme.us-west-1.aws.D.S.t1",
             "kafka://events/c -> snowflake://acme.us-west-1.aws.D.S.c"],
        ),
        (
            sink("com.wepay.kafka.connect.bigquery.BigQuerySinkConnector", topics="t", project="p", defaultDataset="d"),
            ["kafka://events/t -> bigquery.p.d.t"],
        ),
        (
            sink("com.clickhouse.kafka.connect.ClickHouseSinkConnector", topics="t,u", hostname="ch", database="d",
                 topic2TableMap="t=x"),
            ["kafka://events/t -> clickhouse://ch..d.x", "kafka://events/u -> clickhouse://ch..d.u"],
        ),
        (
            sink("io.confluent.connect.elasticsearch.ElasticsearchSinkConnector", topics="T", connection__url="http://u:open@es:9200"),
            ["kafka://events/T -> elasticsearch://es:9200...t"],
        ),
        (
            sink("io.confluent.connect.s3.S3SinkConnector", topics="t", s3__bucket__name="lake"),
            ["kafka://events/t -> s3://lake/topics/t"],
        ),
        (
            sink("org.apache.iceberg.connect.IcebergSinkConnector", topics="t", iceberg__tables="db.t"),
            ["kafka://events/t -> iceberg.iceberg.db.t"],
        ),
        (
            sink("io.debezium.connector.jdbc.JdbcSinkConnector", topics="a.b", connection__url="jdbc:mysql://db/shop"),
            ["kafka://events/a.b -> mysql://db:3306..shop.a_b"],
        ),
        (sink("com.acme.HttpSinkConnector", topics="t"), [": unsupported:HttpSinkConnector"]),
        (sink("com.acme.HttpSinkConnector", topics="${file:/x:topic}"), ["topic: templated"]),
    ],
)  # fmt: skip
def test_a_sink_has_a_place_for_each_topic(config: dict[str, str], expected: list[str]) -> None:
    assert carried(config) == expected


def test_mirrored_topics_come_out_of_another_cluster() -> None:
    config = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "west",
        "source.cluster.bootstrap.servers": "w1:9092,w2:9092",
        "topics": "orders,click.*",
    }
    assert carried(config) == ["kafka://w1:9092/orders -> kafka://events/west.orders", "topics: unlisted"]


def with_transforms(**steps: dict[str, str]) -> dict[str, str]:
    config = sink(
        "io.confluent.connect.jdbc.JdbcSinkConnector", topics="shop.orders", connection__url="jdbc:mysql://db/d"
    )
    own = {f"transforms.{name}.{key}": value for name, step in steps.items() for key, value in step.items()}
    return {**config, "transforms": ", ".join(steps), **own}


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"type": f"{SMT}ReplaceField$Value", "renames": "a:b,b:a"},
         {"a": "b identity", "b": "a identity", "*": "but a b"}),
        ({"type": f"{SMT}ReplaceField$Value", "whitelist": "a", "renames": "a:x"}, {"x": "a identity"}),
        ({"type": f"{SMT}ReplaceField$Value", "blacklist": "a"}, {"*": "but a"}),
        ({"type": f"{SMT}ReplaceField$Key", "blacklist": "a"}, {"*": "but "}),
        ({"type": f"{SMT}MaskField$Value", "fields": "a", "replacement": "open"},
         {"a": "a transformation masked", "*": "but a"}),
        ({"type": f"{SMT}Cast$Value", "spec": "a:int32"}, {"a": "a transformation", "*": "but a"}),
        ({"type": f"{SMT}InsertField$Value", "static.field": "a", "static.value": "open"}, {"*": "but a"}),
        ({"type": f"{SMT}HoistField$Value", "field": "a"}, {}),
        ({"type": f"{SMT}ExtractField$Value", "field": "after"}, {"*": "but "}),
        ({"type": "com.acme.Own", "predicate": "p"}, {}),
        ({"type": "io.debezium.transforms.HeaderFrom$Value", "fields": "a", "operation": "move"}, {"*": "but a"}),
        ({"type": f"{SMT}Flatten$Value"}, {"*": "but "}),
    ],
)  # fmt: skip
def test_columns_follow_transforms(step: dict[str, str], expected: dict[str, str]) -> None:
    assert columns(with_transforms(one=step)) == expected


def test_a_transform_that_is_not_known_is_told_and_the_edge_is_of_whole_tables() -> None:
    config = with_transforms(own={"type": "com.acme.Scramble$Value"})
    assert columns(config) == {}
    assert carried(config) == [
        "kafka://events/shop.orders -> mysql://db:3306..shop.orders (transform own (Scramble$Value))"
    ]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"type": f"{SMT}RegexRouter", "regex": r"(?<db>\w+)\.(.*)", "replacement": "${db}_$2"},
         "mysql://db:3306..d.shop_orders"),
        ({"type": f"{SMT}RegexRouter", "regex": "orders", "replacement": "x"}, "mysql://db:3306..shop.orders"),
        ({"type": f"{SMT}RegexRouter", "regex": "(", "replacement": ""},
         "shop.orders: unlisted (pattern of a router)"),
        ({"type": f"{SMT}TimestampRouter"}, "shop.orders: unlisted (a topic for each span of time)"),
        ({"type": "io.debezium.transforms.outbox.EventRouter"}, "shop.orders: unlisted (the outbox router)"),
        ({"type": "io.debezium.transforms.ByLogicalTableRouter", "topic.regex": "shop.(.*)",
          "topic.replacement": "all.$1"},
         "mysql://db:3306..all.orders"),
    ],
)  # fmt: skip
def test_the_name_follows_routers(step: dict[str, str], expected: str) -> None:
    (only,) = carried(with_transforms(route=step))
    assert only.removeprefix("kafka://events/shop.orders -> ") == expected


def test_a_condition_over_the_topics_name_is_decided_and_another_is_told() -> None:
    step = {"type": f"{SMT}ReplaceField$Value", "exclude": "a", "predicate": "p"}
    config = with_transforms(one=step)
    kind = {
        "predicates": "p",
        "predicates.p.type": f"{SMT}predicates.TopicNameMatches",
        "predicates.p.pattern": "shop.*",
    }
    assert columns({**config, **kind}) == {"*": "but a"}
    assert columns({**config, **kind, "transforms.one.negate": "true"}) == {"*": "but "}
    assert columns({**config, "predicates.p.type": f"{SMT}predicates.HasHeaderKey"}) == {}


def test_a_jdbc_sink_fills_the_columns_that_it_is_allowed_to() -> None:
    config = {**with_transforms(), "fields.whitelist": "total", "pk.mode": "record_key", "pk.fields": "id"}
    assert columns(config) == {"total": "total identity", "id": "id identity"}
