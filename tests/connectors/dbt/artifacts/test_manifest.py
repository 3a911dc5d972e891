"""manifest.json: what a real dbt wrote is read, every version, one node at a time; what is none says so in one line."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from connectors.dbt.artifacts import Artifact, UnreadableArtifact, read_manifest
from connectors.dbt.nodes import DbtExposure, DbtTest, ResourceKind
from tests.support.dbt_project import BUILT

MANIFEST = BUILT / "manifest.json"


def content() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(MANIFEST.read_text())
    return found


def written(folder: Path, manifest: object) -> Path:
    file = folder / "manifest.json"
    file.write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
    return file


def test_a_model_is_its_relation_in_the_warehouse() -> None:
    nodes = read_manifest(MANIFEST).nodes
    customers = nodes["model.roastery.customers"]
    assert customers.relation == '"roastery"."main_marts"."dim_customers"'
    assert customers.relation_key == ("roastery", "main_marts", "dim_customers")
    assert (customers.name, customers.materialized, customers.tags) == ("customers", "table", ("people",))
    assert customers.path == "models/marts/customers.sql"
    assert customers.compiled is not None
    assert "{{" not in customers.compiled
    assert set(customers.depends_on) == {"model.roastery.orders", "model.roastery.stg_customers"}
    assert nodes["model.roastery.prices.v2"].relation_key[2] == "prices_v2"


def test_kinds_of_node_are_told_apart() -> None:
    manifest = read_manifest(MANIFEST)
    kinds = {unique_id: (node.kind, node.ephemeral) for unique_id, node in manifest.nodes.items()}
    assert kinds["seed.roastery.raw_beans"] == (ResourceKind.SEED, False)
    assert kinds["snapshot.roastery.customer_history"] == (ResourceKind.SNAPSHOT, False)
    assert kinds["source.roastery.shop.orders"] == (ResourceKind.SOURCE, False)
    assert kinds["model.roastery.stg_beans"] == (ResourceKind.MODEL, True)
    assert manifest.nodes["model.roastery.stg_beans"].relation == ""
    assert manifest.nodes["source.roastery.shop.orders"].relation == '"roastery"."main_raw"."raw_orders"'
    assert manifest.nodes["snapshot.roastery.customer_history"].config["updated_at"] == "changed_at"
    assert not any(unique_id.startswith("test.") for unique_id in manifest.nodes)


def test_what_people_say_of_a_model_is_kept() -> None:
    manifest = read_manifest(MANIFEST)
    orders = manifest.nodes["model.roastery.orders"]
    assert (orders.description, orders.owner) == ("One row an order, with what it earned.", "finance")
    assert [(c.name, c.description, c.tags) for c in orders.columns] == [
        ("order_id", "The till's number.", ()),
        ("margin", "What is left.", ("money",)),
    ]
    assert manifest.exposures == (
        DbtExposure(
            "exposure.roastery.weekly_report",
            "weekly_report",
            "dashboard",
            ("model.roastery.customers", "model.roastery.daily_sales"),
            "Finance",
            "https://example.org/weekly",
        ),
    )
    tested = {(test.name, test.tested, test.column) for test in manifest.tests}
    assert tested == {
        ("not_null_orders_order_id", "model.roastery.orders", "order_id"),
        ("unique_orders_order_id", "model.roastery.orders", "order_id"),
        ("no_free_coffee", "model.roastery.orders", ""),
    }
    assert all(isinstance(test, DbtTest) for test in manifest.tests)


def test_a_manifest_says_of_which_warehouse_and_project_it_is() -> None:
    manifest = read_manifest(MANIFEST)
    assert (manifest.version, manifest.adapter, manifest.project) == (12, "duckdb", "roastery")
    assert manifest.generated_at is not None
    assert not manifest.newer


def older(version: int) -> dict[str, Any]:
    """The manifest with the names that dbt used then."""
    manifest = content()
    manifest["metadata"]["dbt_schema_version"] = f"https://schemas.getdbt.com/dbt/manifest/v{version}.json"
    if version < 11:
        del manifest["metadata"]["project_name"]
    for node in manifest["nodes"].values():
        if version < 7:
            node["raw_sql"] = node.pop("raw_code", "")
            node["compiled_sql"] = node.pop("compiled_code", None)
            node.pop("language", None)
            node.pop("attached_node", None)
    return manifest


@pytest.mark.parametrize("version", range(4, 13))
def test_every_version_since_dbt_1_reads_alike(version: int, tmp_path: Path) -> None:
    manifest, today = read_manifest(written(tmp_path, older(version))), read_manifest(MANIFEST)
    assert manifest.version == version
    assert manifest.nodes == today.nodes
    assert manifest.tests == today.tests
    assert manifest.exposures == today.exposures


def test_a_newer_version_is_read_as_far_as_it_is_understood(tmp_path: Path) -> None:
    manifest = older(12)
    manifest["metadata"]["dbt_schema_version"] = "https://schemas.getdbt.com/dbt/manifest/v31.json"
    manifest["thoughts"] = {"a": [1, {"b": None}]}
    manifest["nodes"]["model.roastery.orders"]["mood"] = {"deep": ["fine"]}
    read = read_manifest(written(tmp_path, manifest))
    assert read.newer
    assert read.nodes == read_manifest(MANIFEST).nodes


def brokenly() -> dict[str, tuple[object, str]]:
    whole = MANIFEST.read_text()
    lines = json.dumps(content(), indent=1)
    line = lines.count("\n", 0, lines.index('"nodes": {')) + 1
    foreign = {"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json"}, "nodes": {}}
    old = older(12)
    old["metadata"]["dbt_schema_version"] = "https://schemas.getdbt.com/dbt/manifest/v3.json"
    wrong = content()
    wrong["nodes"] = {"model.roastery.orders": "gone"}
    return {
        "cut": (whole[: len(whole) // 2], f":1: ends in the middle (after byte {len(whole) // 2}): was it cut, or is"),
        "empty": ("", ":1: ends in the middle (after byte 0)"),
        "no JSON": (lines.replace('"nodes": {', '"nodes": <secret>', 1), f":{line}: not valid JSON (byte "),
        "some JSON": ({"a": 1}, ": not a manifest.json of dbt's: it has no metadata.dbt_schema_version"),
        "a list": ([1, 2], ": not a manifest.json of dbt's"),
        "another artifact": (foreign, ": dbt's catalog.json, and a manifest.json is wanted"),
        "too old": (old, ": a manifest of version 3, and 4 is the oldest that is read"),
        "a list of nodes": (content() | {"nodes": [1]}, ": nodes is no mapping: is this file complete?"),
        "no nodes at all": ({"metadata": content()["metadata"]}, ": nodes is no mapping"),
        "wrong shape": (wrong, ": nodes.model.roastery.orders is no mapping"),
    }


@pytest.mark.parametrize("case", brokenly())
def test_a_broken_manifest_is_one_line_with_its_place(case: str, tmp_path: Path) -> None:
    manifest, message = brokenly()[case]
    file = written(tmp_path, manifest)
    with pytest.raises(UnreadableArtifact) as raised:
        read_manifest(file)
    assert str(raised.value).startswith(f"{file}{message}")
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)
    assert raised.value.exit_code == 2


def test_the_place_of_what_is_no_json_is_exact_behind_many_chunks(tmp_path: Path) -> None:
    before = f'{{"metadata": {json.dumps(content()["metadata"])}, "nodes": {{\n"a": "' + "x" * 200_000 + '",\n'
    file = written(tmp_path, before + "oops}}")
    with pytest.raises(UnreadableArtifact, match=rf":3: not valid JSON \(byte {len(before) + 1}\)$"):
        read_manifest(file)


def test_what_an_artifact_is_needs_no_more_of_it_than_its_head(tmp_path: Path) -> None:
    file = written(tmp_path, f'{{"metadata": {json.dumps(content()["metadata"])}, "nodes": {{' + "\0" * 200_000)
    assert Artifact.of(file, "manifest").metadata.adapter == "duckdb"


def test_a_missing_manifest_names_the_nearest(tmp_path: Path) -> None:
    written(tmp_path, content())
    with pytest.raises(UnreadableArtifact, match=r"manifets\.json: no such file; did you mean .*manifest\.json"):
        read_manifest(tmp_path / "manifets.json")


def test_a_large_manifest_is_never_held_as_a_whole(tmp_path: Path) -> None:
    """What is not needed of a node, which is most of it, is gone before the next one is read."""
    manifest = content()
    node = {**manifest["nodes"]["model.roastery.orders"], "extra_ctes": ["y" * 30_000]}
    manifest["nodes"] = {f"model.roastery.orders_{number}": node for number in range(400)}
    file = written(tmp_path, manifest)
    assert file.stat().st_size > 12_000_000
    tracemalloc.start()
    try:
        assert len(read_manifest(file).nodes) == 403
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000
