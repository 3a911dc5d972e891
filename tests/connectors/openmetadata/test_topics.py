"""Topics in a catalog: registered under their messaging service with the fields of their messages, found by cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from connectors.openmetadata.client import CatalogSearch, Platform
from connectors.openmetadata.entities import Collection, get_by_name, put, topic_request
from connectors.openmetadata.registration import register
from ingestion.model.engine_names import EngineNameRules, PathRule
from ingestion.model.entities import TableEntity
from ingestion.model.lineage import Column
from ingestion.model.namespaces import Namespace
from ingestion.model.topics import topic_name
from ingestion.resolution import Resolved, Resolver, SearchScope
from workflows.config import EmbeddedCatalog
from workflows.target import platform_of

FIELDS = (Column("id", "bigint"), Column("note", ""), Column("total", "DECIMAL(10, 2)"), Column("who", "ROW<a INT>"))


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with platform_of(EmbeddedCatalog(file=tmp_path_factory.mktemp("topics") / "events.db")) as platform:
        yield platform


@pytest.fixture(params=["own", "plain"])
def platform(request: pytest.FixtureRequest, own: Platform) -> Platform:
    """Headwater's own catalog, and the same as an OpenMetadata that offers nothing beyond its contract."""
    return own if request.param == "own" else replace(own, capabilities=frozenset())


def groups(service: str, topic: str, *columns: Column, **config: str) -> dict[str, list[dict[str, Any]]]:
    made: dict[str, Any] = {"type": "messagingService", "name": service, "serviceType": "Kafka"}
    return {
        "services": [{**made, "connection": {"config": config}} if config else made],
        "topics": [topic_request(service, topic, columns)],
    }


def found(platform: Platform, cluster: str, topic: str, rules: EngineNameRules | None = None) -> TableEntity | None:
    scope = SearchScope("shop", rules=rules or EngineNameRules())
    answer = Resolver(CatalogSearch(platform), scope).resolve(topic_name(cluster, topic), Namespace())
    return answer.entity if isinstance(answer, Resolved) else None


def test_a_topic_is_an_entity_with_the_fields_of_its_messages(platform: Platform) -> None:
    topic = f"shop.orders.{len(platform.capabilities)}"
    assert found(platform, "kafka:9092", topic) is None
    assert register(platform, groups("kafka:9092", topic, *FIELDS)) in (1, 2)

    entity = found(platform, "kafka:9092", topic)
    assert entity is not None
    assert (entity.type, entity.fully_qualified_name) == ("topic", f'kafka:9092."{topic}"')
    assert [column.name for column in entity.columns] == ["id", "note", "total", "who"]
    assert entity.column_fqns["total"] == f'kafka:9092."{topic}".total'
    stored = get_by_name(platform.http, Collection.TOPICS, entity.fully_qualified_name)
    assert stored is not None
    assert [one["dataType"] for one in stored["messageSchema"]["schemaFields"]] == ["LONG", "BYTES", "BYTES", "RECORD"]
    assert found(platform, "other:9092", topic) is None


def test_what_is_registered_again_has_the_fields_of_both(own: Platform) -> None:
    for columns in (FIELDS[:1], FIELDS[1:2]):
        register(own, groups("kafka:9092", "twice", *columns))
    entity = found(own, "kafka:9092", "twice")
    assert entity is not None
    assert [column.name for column in entity.columns] == ["id", "note"]


def test_a_rule_says_of_which_service_the_addresses_of_a_cluster_are(platform: Platform) -> None:
    register(platform, groups("events", "clicks", *FIELDS))
    rules = EngineNameRules(
        paths=(PathRule.of("kafka://inner:29092", ("events",)), PathRule.of("kafka://b", ("events",)))
    )
    assert {str(found(platform, cluster, "clicks", rules)) for cluster in ("b", "events", "inner:29092")} == {
        "TableEntity(events.clicks)"
    }
    assert found(platform, "elsewhere:9092", "clicks", rules) is None


def test_a_platform_knows_a_cluster_by_what_its_service_connects_to(own: Platform) -> None:
    plain = replace(own, capabilities=frozenset())
    put(
        own.http,
        Collection.MESSAGING_SERVICES,
        {
            "name": "prod",
            "serviceType": "Kafka",
            "connection": {"config": {"bootstrapServers": "k1:9092,K2:9092", "saslPassword": "open-sesame"}},
        },
    )
    put(own.http, Collection.TOPICS, topic_request("prod", "payments", FIELDS))
    assert str(found(plain, "k2:9092", "payments")) == "TableEntity(prod.payments)"
    assert found(plain, "k3:9092", "payments") is None
    service = get_by_name(own.http, Collection.MESSAGING_SERVICES, "prod")
    assert service is not None
    assert "sesame" not in str(service)
