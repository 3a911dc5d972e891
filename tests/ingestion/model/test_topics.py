"""A topic's name is its cluster's and its own; what is no topic is none."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import NameKind
from ingestion.model.topics import cluster_of, is_topic_name, split_topic, topic_name, topic_path


@pytest.mark.parametrize(
    ("servers", "cluster"),
    [
        ("", ""),
        (" Broker-1:29092 , broker-2:29092", "broker-1:29092"),
        ("PLAINTEXT://kafka:9092", "kafka:9092"),
        ("[::1]:9093", "[::1]:9093"),
        ("kafka", "kafka:9092"),
        ("user:secret@kafka:9092", ""),
        ("${KAFKA}", ""),
    ],
)
def test_a_cluster_goes_by_the_first_of_its_bootstrap_servers(servers: str, cluster: str) -> None:
    assert cluster_of(servers) == cluster


def test_a_name_is_taken_apart_as_it_was_put_together() -> None:
    path = topic_path("kafka:9092", "shop.public.orders")
    assert (path, split_topic(path)) == ("kafka://kafka:9092/shop.public.orders", ("kafka:9092", "shop.public.orders"))
    named = topic_name("kafka:9092", "orders")
    assert (named.kind, named.dotted) == (NameKind.PATH, "kafka://kafka:9092/orders")
    assert [split_topic(other) for other in ("s3://kafka/orders", "kafka://", "kafka://events", "orders")] == [None] * 4


@pytest.mark.parametrize(
    ("name", "possible"),
    [("", False), (".", False), ("a b", False), ("größe", False), ("shop.public_orders-1", True), ("x" * 250, False)],
)
def test_kafka_takes_few_characters_for_a_name(name: str, possible: bool) -> None:
    assert is_topic_name(name) is possible
