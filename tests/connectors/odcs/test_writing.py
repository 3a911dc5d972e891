"""A table as a draft of a contract: valid by the standard's own schema, and read back as that table's."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import yaml
from typer.testing import CliRunner

from connectors.odcs.reading import read_contracts
from connectors.odcs.writing import Draft, DraftColumn, contract_text
from tests.support.made_catalog import MadeCatalog
from workflows.cli import app

SCHEMA = json.loads((resources.files("open_data_contract_standard") / "schema.json").read_text("utf-8"))


def validated(text: str) -> None:
    jsonschema.Draft201909Validator(SCHEMA).validate(yaml.safe_load(text))


def test_a_draft_is_valid_and_reads_back(tmp_path: Path) -> None:
    columns = (
        DraftColumn("Day: of", "date", "each\nonce", required=True, key=1, sources=("s.d.p.t.day",)),
        DraftColumn("total", "numeric(10,2)", tags=("PII.None",), unique=True, checks=("nullValues",)),
        DraftColumn("odd", "hyperloglog"),
        DraftColumn("none", ""),
    )
    parts = ("shop", "mart", 'da"ily.x')
    file = tmp_path / "draft.yaml"
    file.write_text(contract_text([Draft("s.shop.mart.x", parts, "table", columns, "what it is", ("ann",))]))
    validated(file.read_text())
    (contract,) = read_contracts(file).contracts
    assert (contract.owners, contract.is_binding) == (("ann",), False)
    (table,) = contract.tables
    assert table.parts == parts
    day, total, odd, none = table.columns
    assert (day.name, day.primary_key, day.required, day.logical_type) == ("Day: of", True, True, "date")
    assert (total.physical_type, total.unique, total.rules[0].no_nulls) == ("numeric(10,2)", True, True)
    assert (odd.logical_type, odd.physical_type, none.physical_type) == ("", "hyperloglog", "")


def test_the_command_writes_what_the_catalog_knows(tmp_path: Path) -> None:
    made = MadeCatalog(tmp_path / "catalog.db")
    made.add_tables({"s.d.p.raw": ("a", "b"), "s.d.p.daily": ("a", "b")})
    flow = {"from": ["s.d.p.raw.b"], "to": "s.d.p.daily.a", "type": "DIRECT", "subtype": "IDENTITY"}
    made.add_edges([("s.d.p.raw", "s.d.p.daily", {"producer": {"kind": "query", "key": "q"}, "columns": [flow]})])
    made.close()
    catalog = ["--catalog", str(tmp_path / "catalog.db")]
    one = CliRunner().invoke(app, ["export", "--odcs", "-", "--table", "p.daily", *catalog])
    assert one.exit_code == 0, one.output
    validated(one.stdout)
    (table,) = yaml.safe_load(one.stdout)["schema"]
    assert (table["physicalName"], table["properties"][0]["transformSourceObjects"]) == ("d.p.daily", ["s.d.p.raw.b"])
    every = CliRunner().invoke(app, ["export", "--odcs", str(tmp_path / "all.yaml"), *catalog])
    assert "a draft of a contract on 2 tables" in every.output
    validated((tmp_path / "all.yaml").read_text())
    both = CliRunner().invoke(app, ["export", "--odcs", "-", "--csv", "-", *catalog])
    assert (both.exit_code, "leave out the other forms" in both.output) == (2, True)
