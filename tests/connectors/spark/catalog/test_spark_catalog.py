"""A real Spark's own catalog tells of its views: where they stand, what they read, and what their stars once meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from connectors.spark.catalog import SparkCatalog
from ingestion.errors import ConfigError
from ingestion.model.lineage import Column, NameKind
from ingestion.model.namespaces import RelationKey
from tests.support.catalog_contents import Catalog, opened
from workflows.config import load_config
from workflows.counts import RunCounts
from workflows.run.start import run_workflow
from workflows.runtime.options import RunOptions
from workflows.runtime.progress import LoggedProgress

pytestmark = pytest.mark.spark
SETUP = """
CREATE DATABASE wine;
CREATE DATABASE wine_marts;
CREATE TABLE wine.bottles (id INT, cellar INT, price DECIMAL(12,2), `odd name` STRING) USING parquet;
CREATE TABLE wine.cellars (id INT, city STRING) USING parquet;
USE wine;
CREATE VIEW wine_marts.dear AS SELECT b.id, b.price * 2 AS twice, c.city FROM bottles b JOIN cellars c
  ON c.id = b.cellar WHERE b.`odd name` <> 'a literal';
CREATE VIEW named (one, two) AS SELECT id, city FROM cellars;
CREATE VIEW everything AS SELECT * FROM cellars;
CREATE VIEW over_views AS SELECT d.*, n.two FROM wine_marts.dear d JOIN named n ON n.one = d.id;
CREATE TEMPORARY VIEW for_a_moment AS SELECT 1 AS a;
USE default;
"""


@pytest.fixture(scope="module")
def filled(spark: SparkSession) -> Iterator[SparkSession]:
    for statement in SETUP.split(";\n"):
        if statement.strip():
            spark.sql(statement)
    yield spark
    spark.sql("DROP VIEW IF EXISTS for_a_moment")
    for database in ("wine_marts", "wine"):
        spark.sql(f"DROP DATABASE {database} CASCADE")


@pytest.fixture(scope="module")
def catalog(filled: SparkSession) -> SparkCatalog:
    return SparkCatalog(filled, ("spark_catalog",), "lake")


def _own(catalog: SparkCatalog) -> dict[str, Any]:
    return {view.full_name[2]: view for view in catalog.views() if view.full_name[1].startswith("wine")}


def test_views_are_given_as_they_stand_and_temporary_ones_left_out(catalog: SparkCatalog) -> None:
    views = _own(catalog)
    assert set(views) == {"dear", "named", "everything", "over_views"}
    assert views["dear"].full_name == ("lake", "wine_marts", "dear")
    assert views["dear"].home == ("lake", "wine")
    assert views["dear"].text.startswith("CREATE VIEW `lake`.`wine_marts`.`dear` AS SELECT")
    assert views["named"].text.startswith("CREATE VIEW `lake`.`wine`.`named` (`one`, `two`) AS SELECT id, city")
    assert "a literal" not in repr(views["dear"])


def test_columns_are_asked_for_by_place(catalog: SparkCatalog) -> None:
    columns = catalog.columns()
    assert columns[RelationKey(("lake", "wine", "bottles"))][2:] == (
        Column("price", "decimal(12,2)"),
        Column("odd name", "string"),
    )
    assert [column.name for column in columns[RelationKey(("lake", "wine", "named"))]] == ["one", "two"]
    nowhere = [("lake", "wine", "nothing"), ("lake", "nowhere", "t"), ("other", "wine", "bottles"), ("wine", "bottles")]
    assert [columns.get(RelationKey(parts)) for parts in nowhere] == [None] * 4
    assert columns.get(RelationKey(("lake", "wine", "bottles"), NameKind.FUNCTION)) is None
    assert len(columns) == 2


def test_a_catalog_that_is_not_there_is_named_with_what_to_do(filled: SparkSession) -> None:
    with pytest.raises(ConfigError, match=r"nowhere: its views cannot be listed.*headwater\.spark\.conf"):
        list(SparkCatalog(filled, ("nowhere",), "lake").views())


def _run(folder: Path, **headwater: Any) -> tuple[RunCounts, dict[tuple[str, str], dict[str, Any]], Catalog]:
    content = {
        "source": {
            "type": "spark-lineage",
            "serviceName": "lakehouse",
            "sourceConfig": {"config": {"type": "DatabaseLineage", "schemaFilterPattern": {"includes": ["wine.*"]}}},
        },
        "workflowConfig": {"openMetadataServerConfig": {"hostPort": "embedded"}},
        "headwater": {
            "catalog": {"file": str(folder / "catalog.db")},
            "deadLetters": str(folder / "dead.jsonl"),
            **headwater,
        },
    }
    (folder / "lineage.yaml").write_text(yaml.safe_dump(content))
    summary = run_workflow(load_config(folder / "lineage.yaml"), RunOptions("test"), LoggedProgress())
    with opened(folder / "catalog.db") as catalog:
        return summary.counts, catalog.edges(), catalog


def _columns(edges: dict[tuple[str, str], dict[str, Any]]) -> set[tuple[str, str]]:
    return {
        (source.partition(".")[2].split(".", 1)[1], one["toColumn"].partition(".")[2].split(".", 1)[1])
        for details in edges.values()
        for one in details["columnsLineage"]
        for source in one["fromColumns"]
    }


def test_a_run_gives_the_views_lineage_once_and_a_redefinition_changes_exactly_its_edges(
    filled: SparkSession, tmp_path: Path
) -> None:
    filled.sql("ALTER TABLE wine.cellars ADD COLUMN (added_later STRING)")
    counts, edges, _ = _run(tmp_path)
    counts.check_conservation()
    assert {key for key in edges if key[1].startswith("wine")} == {
        ("wine.bottles", "wine_marts.dear"),
        ("wine.cellars", "wine_marts.dear"),
        ("wine.cellars", "wine.named"),
        ("wine.cellars", "wine.everything"),
        ("wine_marts.dear", "wine.over_views"),
        ("wine.named", "wine.over_views"),
    }
    assert _columns(edges) >= {
        ("wine.bottles.price", "wine_marts.dear.twice"),
        ("wine.cellars.id", "wine.named.one"),
        ("wine.cellars.city", "wine.named.two"),
        ("wine.cellars.city", "wine.everything.city"),
        ("wine_marts.dear.twice", "wine.over_views.twice"),
        ("wine.named.two", "wine.over_views.two"),
    }
    assert not any("added_later" in column for pair in _columns(edges) for column in pair)
    assert {details["source"] for details in edges.values()} == {"ViewLineage"}
    assert not any("a literal" in str(details) for details in edges.values())
    again, _, _ = _run(tmp_path)
    assert (again.edges.new, again.edges.merged, again.skipped["unchanged"]) == (0, 0, 4)
    filled.sql("CREATE OR REPLACE VIEW wine.named AS SELECT id AS one, `odd name` AS two FROM wine.bottles")
    _, after, _ = _run(tmp_path)
    changed = {key for key in {*edges, *after} if edges.get(key) != after.get(key)}
    assert changed == {("wine.cellars", "wine.named"), ("wine.bottles", "wine.named")}


@pytest.mark.parametrize(
    ("type_", "catalogs", "expected"),
    [
        ("spark-lineage", None, ("spark_catalog",)),
        ("spark-lineage", ["iceberg"], ("iceberg",)),
        ("spark-lineage", [], ()),
        ("databricks-lineage", None, ()),
    ],
)
def test_which_catalogs_are_read(type_: str, catalogs: list[str] | None, expected: object, tmp_path: Path) -> None:
    spark = {} if catalogs is None else {"spark": {"catalogs": catalogs}}
    content = {"source": {"type": type_, "serviceName": "s", "sourceConfig": {"config": {}}}, "headwater": spark}
    content["workflowConfig"] = {"openMetadataServerConfig": {"hostPort": "embedded"}}
    (tmp_path / "lineage.yaml").write_text(yaml.safe_dump(content))
    assert load_config(tmp_path / "lineage.yaml").spark_catalogs == expected


def test_a_source_in_another_sql_has_no_use_for_spark_s_views(tmp_path: Path) -> None:
    content = {
        "source": {"type": "postgres-lineage", "serviceName": "s", "sourceConfig": {"config": {}}},
        "headwater": {"spark": {"catalogs": ["spark_catalog"]}},
    }
    (tmp_path / "lineage.yaml").write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=r"headwater.spark.catalogs.*in another"):
        load_config(tmp_path / "lineage.yaml")
