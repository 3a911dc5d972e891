"""What changes do to contracts: of a column, its type, its nulls, the key and the rules, with owner, file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from connectors.catalog.questions.answer import When
from connectors.catalog.questions.contracts import ContractReport
from connectors.catalog.questions.proposed_change.question import ChangeOptions, proposed_change
from tests.support.made_catalog import AT, MadeCatalog
from tests.support.published_scripts import publish
from workflows.cli import app

CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: sales
version: 1.0.0
status: active
name: sales
team: {members: [{username: ann, role: owner}]}
servers: [{server: w, type: postgres, host: h, port: 1, database: shop, schema: mart}]
schema:
  - name: daily
    quality:
      - {type: sql, name: none lost, query: 'SELECT count(*) FROM daily WHERE revenue IS NULL', mustBe: 0}
    properties:
      - {name: day, logicalType: date, primaryKey: true}
      - name: revenue
        physicalType: numeric(10,2)
        required: true
        quality:
          - {metric: nullValues, mustBe: 0, name: all there}
      - {name: note, logicalType: string}
"""
TABLES = {
    "raw.orders": {"id": "int", "day": "date", "total": "numeric(10,2)", "note": "text", "kind": "text"},
    "mart.daily": {"day": "date", "revenue": "numeric(10,2)", "note": "text", "more": "int"},
    "old.daily": {"day": "date"},
}
STATEMENTS = (
    "CREATE VIEW mart.daily AS SELECT o.day, o.total AS revenue, upper(o.note) AS note, o.id AS more FROM raw.orders o",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("contracts")
    publish(found / "catalog.db", TABLES, STATEMENTS)
    (found / "contracts").mkdir()
    (found / "contracts" / "sales.odcs.yaml").write_text(CONTRACT)
    return found


def asked(folder: Path, ddl: str, dialect: str = "postgres") -> ContractReport:
    options = ChangeOptions(ddl=ddl, dialect=dialect, contracts=folder / "contracts")
    found = proposed_change(folder / "catalog.db", options, When()).content.contracts
    assert found is not None
    return found


def shown(found: ContractReport) -> list[str]:
    signs = {True: "", False: "?"}
    return [
        f"{one.promise} {one.rule or one.name.removeprefix('s.shop.mart.')}{signs[one.certain]} :{one.line}"
        for one in found.breaks
    ]


CHANGES = {
    "ALTER TABLE mart.daily ALTER COLUMN day TYPE text": ["type daily.day :14"],
    "ALTER TABLE mart.daily ALTER COLUMN day TYPE strange": ["type daily.day? :14"],
    "ALTER TABLE mart.daily ALTER COLUMN more TYPE text": [],
    "ALTER TABLE mart.daily ALTER COLUMN revenue DROP NOT NULL": [
        "nullability daily.revenue :15",
        "quality rule all there? :19",
    ],
    "ALTER TABLE mart.daily ALTER COLUMN revenue TYPE numeric(10,2)": [],
    "ALTER TABLE mart.daily ALTER COLUMN revenue TYPE numeric(12,2)": ["type daily.revenue :15"],
    "ALTER TABLE mart.daily DROP COLUMN more": [],
    "ALTER TABLE mart.daily DROP COLUMN revenue": [
        "quality rule none lost :12",
        "column daily.revenue :15",
        "quality rule all there :19",
    ],
    "ALTER TABLE mart.daily DROP CONSTRAINT daily_pkey": ["primary key daily? :14"],
    "ALTER TABLE mart.daily RENAME COLUMN day TO on_day": ["column daily.day :14", "primary key daily.day :14"],
    "ALTER TABLE old.daily DROP COLUMN day": [],
    "ALTER TABLE raw.orders ALTER COLUMN note TYPE int": ["type daily.note? :20"],
    "ALTER TABLE raw.orders ALTER COLUMN total TYPE text": ["type daily.revenue :15"],
    "ALTER TABLE raw.orders DROP COLUMN kind": [],
    "ALTER TABLE raw.orders DROP COLUMN note": ["column daily.note :20"],
    "DROP TABLE mart.daily": ["table daily :10"],
}


@pytest.mark.parametrize("ddl", sorted(CHANGES))
def test_a_change_breaks_what_a_contract_promises_of_it(ddl: str, folder: Path) -> None:
    found = asked(folder, ddl)
    assert shown(found) == CHANGES[ddl]
    assert found.breaking == any(not one.partition(" :")[0].endswith("?") for one in CHANGES[ddl])
    assert all((one.owners, Path(one.file).name) == (("ann",), "sales.odcs.yaml") for one in found.breaks)


def test_of_two_folders_what_loses_its_not_null_or_its_key_breaks(folder: Path, tmp_path: Path) -> None:
    for name, columns in (("base", "day date PRIMARY KEY, revenue int NOT NULL"), ("head", "day date, revenue int")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.sql").write_text(f"CREATE TABLE mart.daily ({columns}, note text)")
    diff = (str(tmp_path / "base"), str(tmp_path / "head"))
    options = ChangeOptions(diff=diff, dialect="postgres", contracts=folder / "contracts")
    found = proposed_change(folder / "catalog.db", options, When()).content.contracts
    assert found is not None
    assert [one for one in shown(found) if "rule" not in one and "type" not in one] == [
        "primary key daily :14",
        "nullability daily.day :14",
        "nullability daily.revenue :15",
    ]


def test_the_command_ends_with_4_and_names_contract_owner_file_and_line(folder: Path) -> None:
    base = ["impact", "--catalog", str(folder / "catalog.db"), "--contracts", str(folder / "contracts")]
    ddl = ["--ddl", "ALTER TABLE raw.orders DROP COLUMN total"]
    broken = CliRunner().invoke(app, [*base, *ddl])
    assert broken.exit_code == 4
    assert "contract sales 1.0.0 (owner ann): column s.shop.mart.daily.revenue" in broken.output
    assert f"{folder}/contracts/sales.odcs.yaml:15" in broken.output
    document = json.loads(CliRunner().invoke(app, [*base, *ddl, "--format", "json"]).output)["contracts"]
    assert (document["breaking"], document["breaks"][0]["owners"]) == (True, ["ann"])
    assert "| ❌ breaks | column" in CliRunner().invoke(app, [*base, *ddl, "--format", "markdown"]).output
    named = CliRunner().invoke(app, [*base, "raw.orders.total"])
    assert (named.exit_code, "promised s.shop.mart.daily.revenue by contract sales 1.0.0" in named.output) == (0, True)
    only = CliRunner().invoke(app, [*base, "--ddl", "ALTER TABLE mart.daily ALTER COLUMN revenue DROP NOT NULL"])
    assert (only.exit_code, "breaks promises of contracts" in only.output) == (4, True)


def test_a_draft_breaks_nothing_and_a_contract_that_cannot_be_read_leaves_it_open(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "draft.yaml").write_text(CONTRACT.replace("status: active", "status: draft"))
    base = ["impact", "--catalog", str(folder / "catalog.db"), "--contracts", str(tmp_path), "--ddl"]
    nulls = "ALTER TABLE mart.daily ALTER COLUMN day DROP NOT NULL"
    drafted = CliRunner().invoke(app, [*base, nulls])
    assert (drafted.exit_code, "would break (draft)" in drafted.output) == (0, True)
    (tmp_path / "cut.yaml").write_text("apiVersion: v3.1.0\nkind: DataContract\nschema: [")
    unread = CliRunner().invoke(app, [*base, nulls])
    assert (unread.exit_code, "contract not read: " in unread.output) == (1, True)


def test_a_topic_is_no_table_and_a_name_of_several_is_not_claimed_to_be_promised_by_nobody(
    folder: Path, tmp_path: Path
) -> None:
    head = "apiVersion: v3.1.0\nkind: DataContract\nstatus: active\n"
    (tmp_path / "events.yaml").write_text(head + "schema: [{name: orders, physicalType: topic}]\n")
    (tmp_path / "several.yaml").write_text(head + "schema: [{name: daily}]\n")
    base = ["impact", "--catalog", str(folder / "catalog.db"), "--contracts", str(tmp_path)]
    dropped = CliRunner().invoke(app, [*base, "--ddl", "DROP TABLE raw.orders", "--dialect", "postgres"])
    assert "events.yaml:4: orders is a topic, and no table" in dropped.output
    assert "breaks contract" not in dropped.output
    named = CliRunner().invoke(app, [*base, "raw.orders.total"])
    assert "several.yaml:4: daily may be s.shop.mart.daily, s.shop.old.daily" in named.output


def test_a_diff_of_two_moments_is_held_against_contracts(tmp_path: Path) -> None:
    made = MadeCatalog(tmp_path / "catalog.db")
    made.add_tables({"s.shop.mart.daily": ("day", "revenue", "note")}, at=AT)
    made.add_tables({"s.shop.mart.daily": ("day", "note")}, at=AT + 10_000)
    made.close()
    (tmp_path / "sales.yaml").write_text(CONTRACT)
    base = ["diff", "--catalog", str(tmp_path / "catalog.db"), "--from", "2023-11-14T22:13:22"]
    alone = CliRunner().invoke(app, base)
    assert alone.exit_code == 0, alone.output  # nothing downstream needs it
    held = CliRunner().invoke(app, [*base, "--contracts", str(tmp_path / "sales.yaml")])
    assert held.exit_code == 4, held.output
    assert "column s.shop.mart.daily.revenue: columnDropped" in held.output
    assert "sales.yaml:15" in held.output
