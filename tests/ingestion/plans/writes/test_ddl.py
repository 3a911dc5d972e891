"""Names that end or move by DDL of which only the plan is known, as Spark 4.3 prints it."""

from __future__ import annotations

import pytest

from ingestion.model.lineage import Column, StatementKind
from ingestion.plans.names import NameMapping
from ingestion.plans.writes import name_changes

ICEBERG = "org.apache.iceberg.spark.SparkCatalog"
PLAN = (
    "== Physical Plan ==\nExecute {0} (1)\n   +- {0} (2)\n\n\n"
    "(1) Execute {0}\nOutput: []\n\n(2) {0}\nArguments: {1}\n\n"
)
V2 = "== Physical Plan ==\n{0} (1)\n\n\n(1) {0}\nArguments: {1}\n\n"
LAKE = NameMapping(catalogs={"lake": ICEBERG})


@pytest.mark.parametrize(
    ("form", "kind", "args", "said"),
    [
        (PLAN, "AlterTableRenameCommand", "`spark_catalog`.`mart`.`a`, `mart`.`b`, false", "spark_catalog.mart.b"),
        (PLAN, "AlterTableRenameCommand", "`spark_catalog`.`mart`.`a`, `b`, false", "spark_catalog.mart.b"),
        (PLAN, "AlterTableRenameCommand", "`mart`.`a, x`, `mart`.`b.c`, false", "spark_catalog.mart.b.c"),
        (V2, "RenameTable", f"{ICEBERG}@4413e5f8, db.a, db.b, org.x.Strategy$$Lambda/0x1@2", "lake.db.b"),
        (V2, "RenameTable", f"{ICEBERG}@4413e5f8, db.`a, x`, `b y`, org.x.Strategy$$Lambda/0x1@2", "lake.db.b y"),
    ],
)
def test_a_renamed_table_stays_in_its_catalog(form: str, kind: str, args: str, said: str) -> None:
    lineage = name_changes([form.format(kind, args)], LAKE)
    assert lineage is not None
    (change,) = lineage.changes
    assert change.kind is StatementKind.RENAME
    assert change.other is not None
    assert change.other.dotted == said


@pytest.mark.parametrize(
    ("form", "kind", "args", "said"),
    [
        (PLAN, "DropTableCommand", "`spark_catalog`.`mart`.`a`, false, true, false", "spark_catalog.mart.a"),
        (V2, "DropTable", "V2SessionCatalog(spark_catalog), mart.a, false, false, x", "spark_catalog.mart.a"),
        (V2, "DropTable", f"{ICEBERG}@4413e5f8, db.a, false, false, x", "lake.db.a"),
        (V2, "DropTable", f"{ICEBERG}@4413e5f8, db.`a, b`, false, false, x", "lake.db.a, b"),
    ],
)
def test_a_dropped_table_is_told_by_its_full_name(form: str, kind: str, args: str, said: str) -> None:
    lineage = name_changes([form.format(kind, args)], LAKE)
    assert lineage is not None
    assert [(change.kind, change.name.dotted) for change in lineage.changes] == [(StatementKind.DROP, said)]


@pytest.mark.parametrize(
    ("form", "kind", "args"),
    [
        (PLAN, "DropTableCommand", "`hot`, false, true, false"),
        (V2, "DropTable", "org.example.Catalog@1, db.a, false"),
        (PLAN, "AlterTableAddColumnsCommand", "`spark_catalog`.`mart`.`a`, [StructField(note,StringType,true)]"),
    ],
)
def test_a_temporary_view_and_a_catalog_without_a_name_end_nothing(form: str, kind: str, args: str) -> None:
    assert name_changes([form.format(kind, args)], LAKE) is None


@pytest.mark.parametrize(
    ("changes", "added", "dropped", "renamed"),
    [
        ("RENAME COLUMN status TO the state", (), (), (("status", "the state"),)),
        ("DROP COLUMN a, b, DROP COLUMN c", (), ("a, b", "c"), ()),
        ("ADD COLUMN n DECIMAL(10,2), ADD COLUMN who.name STRING", (Column("n", "decimal(10,2)"),), (), ()),
    ],
)
def test_columns_of_a_v2_table_come_go_and_move(
    changes: str, added: tuple[Column, ...], dropped: tuple[str, ...], renamed: tuple[tuple[str, str], ...]
) -> None:
    args = f"{ICEBERG}@4413e5f8, db.a, [{changes}], org.x.Strategy$$Lambda/0x1@2"
    lineage = name_changes([V2.format("AlterTable", args)], LAKE)
    assert lineage is not None
    (change,) = lineage.changes
    assert (change.kind, change.name.dotted) == (StatementKind.ALTER_TABLE, "lake.db.a")
    assert (change.columns, change.dropped_columns, change.renamed_columns) == (added, dropped, renamed)


@pytest.mark.parametrize(
    "changes",
    [
        "RENAME COLUMN who.name TO said",
        "RENAME COLUMN a TO b TO c",
        "ALTER COLUMN a TYPE BIGINT",
        "org.apache.spark.sql.connector.catalog.TableChange$RenameColumn@1f2e",
    ],
)
def test_what_is_no_certain_change_of_a_column_is_none(changes: str) -> None:
    args = f"{ICEBERG}@4413e5f8, db.a, [{changes}], org.x.Strategy$$Lambda/0x1@2"
    assert name_changes([V2.format("AlterTable", args)], LAKE) is None
