"""What Unity Catalog calls the ends of an edge, and on which side of its border an edge lies."""

from __future__ import annotations

import pytest

from connectors.databricks.names import Relationship, Side, UnityNames
from connectors.databricks.settings import ServiceInUnity
from ingestion.errors import Rejected
from ingestion.model.entities import EntityReference
from ingestion.model.requests import request_of
from tests.connectors.databricks.conftest import DAILY, ORDERS, REPORT, container, contribution, table

NAMES = UnityNames(
    "dbx",
    "Databricks",
    {"shop": ServiceInUnity(system_type="POSTGRESQL"), "dbx2": ServiceInUnity(unity_catalog=True)},
    ("abfss://lake@acme.dfs.core.windows.net/in",),
)


def relationship(source: EntityReference, target: EntityReference, names: UnityNames = NAMES) -> Relationship:
    return names.relationship(request_of(source, target, [contribution(source, target)]))


@pytest.mark.parametrize(
    ("entity", "name", "system_type", "entity_type"),
    [
        (ORDERS, "shop:shopdb:web:orders", "POSTGRESQL", "Table"),
        (REPORT, "wh:dwh:pub:report", "OTHER", "Table"),
        (table('shop.db.s."a.b c/d:e%"'), "shop:db:s:a%2eb%20c%2fd%3ae%25", "POSTGRESQL", "Table"),
        (table("dbx.hive_metastore.old.t"), "dbx:hive_metastore:old:t", "DATABRICKS", "Table"),
        (EntityReference("k", "topic", "orders", "broker.orders"), "broker:orders", "KAFKA", "Topic"),
        (container("s3://other/in/x.csv"), "s3:other:in:x%2ecsv", "OTHER", "Path"),
        (EntityReference("d", "dashboard", "gmv", "bi.gmv"), "bi:gmv", "OTHER", "Dashboard"),
    ],
)
def test_what_is_outside_has_one_name(entity: EntityReference, name: str, system_type: str, entity_type: str) -> None:
    found = relationship(entity, DAILY).source
    assert found.to_json() == {"external_metadata": {"name": name}}
    assert (found.system_type, found.entity_type) == (system_type, entity_type)


def test_its_own_tables_and_paths_go_by_their_names() -> None:
    found = relationship(table("dbx2.Main.sales.Daily"), container("abfs://lake@acme.dfs.core.windows.net/in/a"))
    assert found.source.to_json() == {"table": {"name": "main.sales.daily"}}
    assert found.target.to_json() == {"path": {"url": "abfss://lake@acme.dfs.core.windows.net/in/a"}}


KNOWN_PATH, NEXT_TO_IT, OTHER_PATH = (
    container(f"{path}/x") for path in ("abfs://lake@acme.dfs.core.windows.net/in",
                                        "abfs://lake@acme.dfs.core.windows.net/inner", "s3://other")
)  # fmt: skip


@pytest.mark.parametrize(
    ("source", "target", "side"),
    [
        (ORDERS, DAILY, Side.ACROSS),
        (DAILY, REPORT, Side.ACROSS),
        (table("dbx.hive_metastore.old.t"), DAILY, Side.ACROSS),
        (DAILY, table("dbx2.main.sales.daily2"), Side.WITHIN),
        (table("dbx.default.s.a"), table("dbx.default.s.b"), Side.WITHIN),
        (OTHER_PATH, DAILY, Side.WITHIN),  # who wrote the table is Databricks
        (DAILY, KNOWN_PATH, Side.WITHIN),
        (REPORT, KNOWN_PATH, Side.ACROSS),
        (REPORT, NEXT_TO_IT, Side.OUTSIDE),
        (REPORT, OTHER_PATH, Side.OUTSIDE),
        (ORDERS, REPORT, Side.OUTSIDE),
    ],
)
def test_an_edge_crosses_the_border_or_does_not(source: EntityReference, target: EntityReference, side: Side) -> None:
    assert relationship(source, target).side is side


@pytest.mark.parametrize(
    ("entity", "reason"),
    [
        (table("dbx.default.s.t"), "the catalog of dbx.default.s.t is not known: set headwater.defaults.database"),
        (table(f"shop.db.s.{'t' * 250}"), "a name of more than 255 characters"),
    ],
)
def test_what_has_no_name_there_is_refused(entity: EntityReference, reason: str) -> None:
    with pytest.raises(Rejected, match=reason):
        relationship(*((entity, REPORT) if entity.id.startswith("dbx") else (entity, DAILY))).check()


def test_a_field_of_a_struct_is_its_column_in_unity_catalog_alone() -> None:
    found = relationship(ORDERS, DAILY)
    assert found.source.column("shop.shopdb.web.orders.address.city") == "address.city"
    assert found.target.column('dbx.main.sales.daily."a.b".city') == "a.b"


def test_what_is_no_column_of_the_entity_is_none() -> None:
    chart = EntityReference("c", "chart", "gmv", "bi.gmv")
    assert relationship(DAILY, chart).target.column("bi.gmv") is None


def test_a_key_gives_what_it_was_made_of() -> None:
    found = relationship(ORDERS, DAILY)
    assert Relationship.of_key(found.key()) == (found, None)
    assert Relationship.of_key(found.key(("Total", "GMV"))) == (found, ("Total", "gmv"))
