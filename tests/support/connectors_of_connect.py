"""Connectors of a small shop as people keep them: a change stream out of a database, and sinks behind it."""

from __future__ import annotations

import json

CHANGES = {
    "name": "shop-changes",
    "config": {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "db.example",
        "database.port": "5432",
        "database.user": "replicator",
        "database.password": "open-sesame",
        "database.dbname": "shopdb",
        "topic.prefix": "cdc",
        "table.include.list": "shop\\.orders,shop.(web|customers)",
        "column.exclude.list": "shop.customers.phone",
        "column.mask.hash.SHA-256.with.salt.open-sesame": "shop.customers.email",
        "transforms": "unwrap,route",
        "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
        "transforms.unwrap.add.fields": "op,source.ts_ms",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": r"cdc\.shop\.(.*)",
        "transforms.route.replacement": "shop-$1",
    },
}
SINK = {
    "name": "mart-orders",
    "config": {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection.url": "jdbc:postgresql://warehouse.example:5432/dwh?user=loader&password=open-sesame",
        "connection.password": "${file:/opt/secrets.properties:password}",
        "topics": "shop-orders",
        "table.name.format": "mart.${topic}_raw",
        "transforms": "names,cast,late",
        "transforms.names.type": "org.apache.kafka.connect.transforms.ReplaceField$Value",
        "transforms.names.exclude": "note",
        "transforms.names.renames": "total:amount",
        "transforms.cast.type": "org.apache.kafka.connect.transforms.Cast$Value",
        "transforms.cast.spec": "amount:float64",
        "transforms.late.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.late.timestamp.field": "loaded_at",
    },
}


def as_file(*connectors: dict[str, object]) -> str:
    """What a folder has of them."""
    return json.dumps(list(connectors))
