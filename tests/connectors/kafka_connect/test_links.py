"""What connectors carry: tables into topics by their names and transforms, topics into tables, column by column."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from connectors.kafka_connect._carried import Link
from connectors.kafka_connect._documents import Connector
from connectors.kafka_connect._links import links_of
from connectors.kafka_connect._queries import filled_by
from connectors.stream_names import StreamNames
from ingestion.model.engine_names import EngineNameRules
from ingestion.model.lineage import Target, WriteMode
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
    problems += " doubted" if link.doubted else ""
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
        (
            "mysql.MySqlConnector",
            {"database.hostname": "db", "topic.prefix": "cdc", "topic.delimiter": "_", "table.include.list": "a.b"},
            ["mysql://db:3306..a.b -> kafka://events/cdc_a_b"],
        ),
        (
            "postgresql.PostgresConnector",
            {"database.hostname": "db", "database.dbname": "d", "topic.prefix": "s", "table.include.list": "p.t",
             "topic.naming.strategy": "io.debezium.schema.SchemaRegexTopicNamingStrategy",
             "topic.regex": r"s\.(.*)\.(.*)", "topic.replacement": "$1-$2"},
            ["postgres://db:5432.d.p.t -> kafka://events/p-t"],
        ),
        (
            "postgresql.PostgresConnector",
            {"database.hostname": "db", "database.dbname": "d", "topic.prefix": "s", "table.include.list": "p.t",
             "topic.naming.strategy": "com.acme.Naming"},
            ["postgres://db:5432.d.p.t -> kafka://events/s.p.t"
             " (option topic.naming.strategy: the class that names topics) doubted"],
        ),
        (
            "oracle.OracleConnector",
            {"database.url": "jdbc:oracle:thin:@//ora:1522/CDB", "database.dbname": "CDB", "database.pdb.name": "PDB",
             "topic.prefix": "o", "table.include.list": "inv.items"},
            ["oracle://ora:1522.PDB.INV.ITEMS -> kafka://events/o.INV.ITEMS"],
        ),
        (
            "mysql.MySqlConnector",
            {"database.hostname": "db", "topic.prefix": "c", "table.include.list": "a.b",
             "column.mask.hash.SHA-256.with.salt.open": "a.b.c", "table.open.sesame": "x"},
            ["mysql://db:3306..a.b -> kafka://events/c.a.b (an option that is not known: about table) doubted"],
        ),
        (
            "mongodb.MongoDbConnector",
            {"mongodb.connection.string": "mongodb://m", "topic.prefix": "m", "collection.include.list": "d.c",
             "field.renames": "d.c.a:b"},
            ["mongodb://m:27017..d.c -> kafka://events/m.d.c"
             " (option field.renames: fields of documents that get another name)"],
        ),
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


def test_tables_that_a_list_leaves_out_have_no_topic() -> None:
    config = {
        "connector.class": f"{DEBEZIUM}postgresql.PostgresConnector",
        "database.hostname": "db",
        "database.dbname": "d",
        "topic.prefix": "c",
    }
    behind = sink("io.confluent.connect.s3.S3SinkConnector", topics="c.p.keep,c.p.out,c.q.any", s3__bucket__name="b")
    left = {**config, "table.exclude.list": "p.o.*", "schema.include.list": "p"}
    assert carried(left, behind)[:2] == ["postgres://db:5432.d.p.keep -> kafka://events/c.p.keep", "tables: unlisted"]
    assert carried({**left, "schema.exclude.list": "p"}, behind)[0] == "tables: unlisted"


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
        (
            sink("io.confluent.connect.elasticsearch.ElasticsearchSinkConnector", topics="T,u,-V",
                 topic__index__map="T:first,u:Second", connection__url="http://es:9200"),
            ["kafka://events/T -> elasticsearch://es:9200...first",
             "kafka://events/u -> elasticsearch://es:9200...Second", "kafka://events/-V -> elasticsearch://es:9200...v"],
        ),
        (
            sink("io.confluent.connect.elasticsearch.ElasticsearchSinkConnector", topics="T", data__stream__type="LOGS",
                 data__stream__dataset="web", connection__url="http://es:9200"),
            ["kafka://events/T -> elasticsearch://es:9200...logs-web-t"],
        ),
        (
            sink("io.confluent.connect.elasticsearch.ElasticsearchSinkConnector", topics="T,u",
                 external__resource__usage="ALIAS_INDEX", topic__to__external__resource__mapping="T:known",
                 connection__url="http://es:9200"),
            ["kafka://events/T -> elasticsearch://es:9200...known", "u: unlisted"],
        ),
        (
            sink("io.aiven.kafka.connect.opensearch.OpensearchSinkConnector", topics="T", data__stream__enabled="true",
                 data__stream__prefix="app", connection__url="http://os:9200"),
            ["kafka://events/T -> opensearch://os:9200...app-t"],
        ),
        (
            sink("com.wepay.kafka.connect.bigquery.BigQuerySinkConnector", topics="k-t,u.v,w", project="p",
                 datasets="k-.*=d,u.*=e", topicsToTables="k-(.*)=raw_$1", sanitizeTopics="true"),
            ["kafka://events/k-t -> bigquery.p.d.raw_t", "kafka://events/u.v -> bigquery.p.e.u_v", "w: unlisted"],
        ),
        (
            sink("com.wepay.kafka.connect.bigquery.BigQuerySinkConnector", topics="t,u", project="p",
                 defaultDataset="d", topic2TableMap="t:x", transforms="r", transforms__r__type=f"{SMT}RegexRouter",
                 transforms__r__regex="u", transforms__r__replacement="e:y"),
            ["kafka://events/t -> bigquery.p.d.x", "kafka://events/u -> bigquery.p.e.y"],
        ),
        (
            sink("com.snowflake.kafka.connector.SnowflakeSinkConnector", topics="shop1,web",
                 snowflake__topic2table__map="shop[0-9]:T", snowflake__url__name="acme.eu-west-1",
                 snowflake__database__name="D", snowflake__schema__name="S"),
            ["kafka://events/shop1 -> snowflake://acme.eu-west-1.aws.D.S.T",
             "kafka://events/web -> snowflake://acme.eu-west-1.aws.D.S.web"],
        ),
        (
            sink("com.clickhouse.kafka.connect.ClickHouseSinkConnector", topics="shop_orders,plain", hostname="ch",
                 database="d", enableDbTopicSplit="true", dbTopicSplitChar="_"),
            ["kafka://events/shop_orders -> clickhouse://ch..shop.orders", "plain: unlisted"],
        ),
        (
            sink("com.mongodb.kafka.connect.MongoSinkConnector", topics="a,b", database="d", collection="c",
                 topic__override__a__collection="own", topic__override__a__database="e"),
            ["kafka://events/a -> mongodb://localhost:27017..e.own",
             "kafka://events/b -> mongodb://localhost:27017..d.c"],
        ),
        (
            sink("com.mongodb.kafka.connect.MongoSinkConnector", topics="a,b", database="d",
                 namespace__mapper="com.mongodb.kafka.connect.sink.namespace.mapping.FieldPathNamespaceMapper",
                 namespace__mapper__value__collection__field="kind",
                 topic__override__b__namespace__mapper="com.mongodb.DefaultNamespaceMapper"),
            ["a: unlisted", "kafka://events/b -> mongodb://localhost:27017..d.b"],
        ),
        (
            sink("io.aiven.connect.jdbc.JdbcSinkConnector", topics="a.b,c-d", connection__url="jdbc:postgresql://h/d",
                 topics__to__tables__mapping="a.b:s.t", table__name__normalize="true",
                 table__name__format="x_${topic}"),
            ["kafka://events/a.b -> postgres://h:5432.d.s.t", "kafka://events/c-d -> postgres://h:5432.d..x_c_d"],
        ),
        (
            sink("io.debezium.connector.jdbc.JdbcSinkConnector", topics="a.b", connection__url="jdbc:mysql://db/shop",
                 collection__name__format="${source.db}_${topic}"),
            ["a.b: unlisted"],
        ),
        (
            sink("io.debezium.connector.jdbc.JdbcSinkConnector", topics="a", connection__url="jdbc:mysql://db/shop",
                 collection__naming__strategy="com.acme.Names"),
            ["kafka://events/a -> mysql://db:3306..shop.a (option collection.naming.strategy:"
             " a class that makes the table's name) doubted"],
        ),
        (
            sink("io.aiven.kafka.connect.gcs.GcsSinkConnector", topics="t", gcs__bucket__name="b",
                 file__name__prefix="raw/"),
            ["kafka://events/t -> gs://b/raw"],
        ),
        (
            sink("io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector", topics="t", aws__s3__bucket__name="b",
                 file__name__template="{{topic}}/{{partition}}-{{start_offset}}"),
            ["kafka://events/t -> s3://b/t"],
        ),
        (
            sink("org.apache.iceberg.connect.IcebergSinkConnector", topics="t,u", iceberg__tables="db.t,db.u")
            | {"iceberg.tables.route-field": "x"},
            [f"kafka://events/{topic} -> iceberg.iceberg.db.{table} doubted" for topic in "tu" for table in "tu"],
        ),
        (
            sink("org.apache.iceberg.connect.IcebergSinkConnector", topics="t", iceberg__tables="db.t")
            | {"iceberg.tables.dynamic-enabled": "true"},
            ["t: unlisted"],
        ),
        (sink("com.acme.HttpSinkConnector", topics="t"), [": unsupported:HttpSinkConnector"]),
        (sink("com.acme.HttpSinkConnector", topics="${file:/x:topic}"), ["topic: templated"]),
    ],
)  # fmt: skip
def test_a_sink_has_a_place_for_each_topic(config: dict[str, str], expected: list[str]) -> None:
    assert carried(config) == expected


UNFILLED = ("${env:X}", "{{ x }}", "<x>", "%(x)s", "$(X)")


@pytest.mark.parametrize("place", UNFILLED)
def test_a_place_that_nobody_has_filled_is_told_and_names_nothing(place: str) -> None:
    jdbc = {"topics": "t", "connection__url": "jdbc:postgresql://h/d"}
    jdbc_sink, bulk = "io.confluent.connect.jdbc.JdbcSinkConnector", {"mode": "bulk", "topic__prefix": "p."}
    jdbc_source = "io.confluent.connect.jdbc.JdbcSourceConnector"
    events = {"database__hostname": "db", "database__dbname": "d", "topic__prefix": "p", "table__include__list": "s.t"}
    debezium = "io.debezium.connector.postgresql.PostgresConnector"
    router = {"transforms": "r", "transforms__r__type": f"{SMT}RegexRouter", "transforms__r__regex": "t"}
    configs = [
        sink(jdbc_sink, **jdbc | {"topics": f"a_{place}"}),
        sink(jdbc_sink, **jdbc, table__name__format=f"s.{place}_${{topic}}"),
        sink(jdbc_sink, **jdbc | {"connection__url": f"jdbc:postgresql://h/{place}"}),
        sink(jdbc_sink, **jdbc, **router, transforms__r__replacement=f"s.{place}"),
        sink("io.confluent.connect.s3.S3SinkConnector", topics="t", s3__bucket__name=place),
        sink("org.apache.iceberg.connect.IcebergSinkConnector", topics="t", iceberg__tables=f"db.{place}"),
        sink(jdbc_source, connection__url="jdbc:postgresql://h/d", **bulk, table__whitelist=f"s.{place}"),
        sink(jdbc_source, connection__url=f"jdbc:postgresql://h/{place}", **bulk, table__whitelist="s.t"),
        *(sink(debezium, **events | {key: f"x_{place}"}) for key in events),
    ]
    told = [carried(config) for config in configs]
    assert not [one for ends in told for one in ends if " -> " in one]
    ends = {one.rpartition(": ")[2] for ends in told for one in ends}
    assert ends <= {"templated", "unlisted"}  # a router's `$` stands for a group, and none has this name
    assert sum(one.endswith("templated") for ends in told for one in ends) >= len(configs) - 1


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
        "kafka://events/shop.orders -> mysql://db:3306..shop.orders (transform own (Scramble$Value)) doubted"
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
        ({"type": f"{SMT}RegexRouter", "regex": ".*", "replacement": "x", "predicate": "p"},
         "shop.orders: unlisted (transform route under a condition)"),
        ({"type": "io.confluent.connect.transforms.ExtractTopic$Key", "field": "a"},
         "shop.orders: unlisted (a value of the message names the topic)"),
        ({"type": "io.debezium.transforms.ContentBasedRouter", "topic.expression": "value.a"},
         "shop.orders: unlisted (a value of the message names the topic)"),
        ({"type": f"{SMT}HoistField$Value", "field": "a"},
         "mysql://db:3306..shop.orders (transform route (HoistField$Value))"),
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


def test_a_debezium_sink_has_fields_of_one_topic_and_of_all() -> None:
    config = {**with_transforms(), "field.include.list": "shop.orders:a,other:b,c"}
    assert columns(config) == {"a": "a identity", "c": "c identity"}
    config = {**with_transforms(), "field.exclude.list": "shop.orders:a,other:b,c"}
    assert columns(config) == {"*": "but a c"}


QUERY = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.url": "jdbc:postgresql://db/shop",
    "topic.prefix": "sales",
    "mode": "bulk",
}


def flows_of(query: str, **own: str) -> list[str]:
    """What a source that reads by a query gives the fields of its topic: by field what it is made of."""
    config = {**QUERY, "query": query, **{key.replace("__", "."): value for key, value in own.items()}}
    (link,) = links_of([Connector("c", config, "c.json:1")], NAMES)
    assert link.query is not None
    assert link.target is not None
    (flow,) = filled_by(link.query, Target(link.target, WriteMode.CREATE), link.fields)
    found = [f"from {name.dotted}" for name in flow.sources]
    for output in flow.outputs:
        for one in output.references:
            mask = " masked" if one.transformation.masking else ""
            (source,) = one.sources
            found.append(f"{output.name} = {source.table.table}.{source.column} {one.transformation.subtype}{mask}")
        if output.star is not None:
            found.append(f"* of {output.star.table.table} but {' '.join(output.star.excluded)}")
    return found


def test_a_query_of_a_source_is_read_and_its_result_goes_through_the_transforms() -> None:
    query = "SELECT o.id, SUM(o.total) AS total, c.mail FROM web.orders o JOIN web.customers c ON c.id = o.customer"
    renamed = {
        "transforms": "r,m",
        "transforms__r__type": f"{SMT}ReplaceField$Value",
        "transforms__r__renames": "total:amount",
        "transforms__m__type": f"{SMT}MaskField$Value",
        "transforms__m__fields": "mail",
    }
    assert flows_of(f"{query} GROUP BY 1, 3", **renamed) == [
        "from postgres://db:5432.shop.web.orders",
        "from postgres://db:5432.shop.web.customers",
        "amount = orders.total AGGREGATION",
        "mail = customers.mail TRANSFORMATION masked",
        "id = orders.id IDENTITY",
    ]
    assert flows_of("SELECT * FROM web.orders", **renamed) == [
        "from postgres://db:5432.shop.web.orders",
        "amount = orders.total IDENTITY",
        "mail = orders.mail TRANSFORMATION masked",
        "* of orders but amount mail total",
    ]


@pytest.mark.parametrize("query", ["SELECT FROM FROM", "SELECT a FROM ${file:/x:t}", "SELECT 1"])
def test_a_query_that_cannot_be_read_is_told(query: str) -> None:
    assert carried({**QUERY, "query": query}) == ["query: unsupported:query"]


def test_no_key_that_a_configuration_has_is_told() -> None:
    config = {**QUERY, "table.whitelist": "t", "table.open-sesame": "x"}
    assert carried(config) == [
        "postgres://db:5432.shop..t -> kafka://events/salest (an option that is not known: about table) doubted"
    ]
