"""Files of the Open Data Contract Standard: what they promise, and one clear line for what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.odcs.reading import read_contracts
from ingestion.errors import ConfigError

WHOLE = """\
apiVersion: v3.0.2
kind: DataContract
id: sales-1
version: 2.1.0
status: active
name: sales
domain: shop
servers:
  - {server: w, type: postgres, host: h, port: 5432, database: shopdb, schema: mart}
  - {server: b, type: bigquery, project: p, dataset: d}
team:
  - {username: gone, role: Owner, dateOut: '2024-01-01'}
  - {username: ann, role: Data Owner}
  - {username: bob, role: reader}
defaults: &defaults {required: true, logicalType: string}
schema:
  - name: sales
    physicalName: mart."daily.sales"
    quality:
      - {type: sql, name: none old, query: 'SELECT count(*) FROM ${table} WHERE day < 1', mustBe: 0}
    properties:
      - <<: *defaults
        name: day
        logicalType: date
        primaryKey: true
      - name: total amount
        physicalName: total
        physicalType: numeric(10,2)
        quality: [{metric: nullValues, mustBe: 0}, {type: text, description: says so}]
      - name: buyer
        logicalType: object
        properties: [{name: city, required: false}]
"""


def written(tmp_path: Path, text: str | bytes, name: str = "one.odcs.yaml") -> Path:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_a_contract_is_read_with_its_lines(tmp_path: Path) -> None:
    (contract,) = read_contracts(written(tmp_path, WHOLE)).contracts
    assert (contract.name, contract.version, contract.owners) == ("sales", "2.1.0", ("ann",))
    assert contract.homes == (("shopdb", "mart"), ("p", "d"))
    (table,) = contract.tables
    assert (table.parts, table.line) == (("mart", "daily.sales"), 17)
    assert [(rule.name, rule.line, bool(rule.query)) for rule in table.rules] == [("none old", 20, True)]
    day, total, buyer, city = table.columns
    assert (day.path, day.line, day.required, day.primary_key, day.logical_type) == (("day",), 22, True, True, "date")
    assert (total.path, total.physical_type, total.required) == (("total",), "numeric(10,2)", False)
    assert [(rule.name, rule.no_nulls) for rule in total.rules] == [("nullValues", True), ("says so", False)]
    assert (buyer.path, city.path) == (("buyer",), ("buyer", "city"))


def test_json_is_read_too_and_a_team_owns_what_no_member_does(tmp_path: Path) -> None:
    text = '{"apiVersion": "v3.1.0", "kind": "DataContract", "id": "x", "team": {"name": "crew"}, "status": "draft"}'
    (contract,) = read_contracts(written(tmp_path, text, "a.json")).contracts
    assert (contract.name, contract.owners, contract.is_binding) == ("x", ("crew",), False)


HEAD = "apiVersion: v3.1.0\nkind: DataContract\n"
BOMB = (
    HEAD
    + "a: &a0 {name: x}\n"
    + "".join(f"a{n}: &a{n} {{name: x, properties: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 12))
)
REFUSED = {
    "another kind": ("kind: Service\napiVersion: v1\n", "no contract: kind is Service, that of a contract is"),
    "aliases": (BOMB + "schema: [*a11]\n", "more than a contract has: its aliases name their own parts"),
    "bytes": (b"\x89PNG\r\n\x1a\n\x00\x00", "no text"),
    "cut": (HEAD + "schema:\n  - name: [a", ":4: no YAML from there on: cut, or damaged"),
    "deep": (HEAD + "schema: " + "[" * 3_000, "nested too deeply for a contract"),
    "empty": ("", "empty: no contract"),
    "endless": (HEAD + "schema: &s [{name: t, properties: *s}]\n", "nested too deeply for a contract"),
    "huge": (HEAD + "#" * (5 << 20), "larger than 4 MB, which no contract is"),
    "list": ("- a\n", "no contract: a contract is a mapping with apiVersion and kind"),
    "named by nothing": (HEAD + "schema: [{properties: []}]\n", ":3: a table of a contract is to have a name"),
    "no flag": (HEAD + "schema: [{name: t, properties: [{name: a, required: maybe}]}]\n", ":3: required is to be true"),
    "not a list": (HEAD + "schema: {name: t}\n", ":3: a list is to stand there"),
    "of the future": ("kind: DataContract\napiVersion: v3.3.0\n", ":2: version v3.3.0 of the standard is newer than"),
    "of the past": ("kind: DataContract\napiVersion: v2.2.2\n", ":2: version v2.2.2 of the standard: v3 is read"),
    "runs code": (HEAD + "schema: !!python/object/apply:os.system [true]\n", ":3: a mapping is to stand there"),
    "several": (HEAD + "---\na: 1\n", "several documents in one file: a contract is one"),
    "version of nothing": ("kind: DataContract\napiVersion: soon\n", ":2: apiVersion is to be a version of the"),
}


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_what_is_no_contract_is_refused_in_one_line(kind: str, tmp_path: Path) -> None:
    text, reason = REFUSED[kind]
    file = written(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        read_contracts(file)
    assert str(refused.value).startswith(str(file))
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_folder_tells_apart_what_cannot_be_read_and_what_is_another_programs(tmp_path: Path) -> None:
    folder = tmp_path / "contracts"
    (folder / "below").mkdir(parents=True)
    written(folder / "below", WHOLE)
    written(folder, WHOLE.replace("active", "retired"), "old.yaml")
    written(folder, "services: {}\n", "compose.yml")
    written(folder, HEAD + "schema: [", "cut.json")
    (folder / "link.yaml").symlink_to(written(tmp_path, WHOLE, "outside.yaml"))
    found = read_contracts(folder)
    assert [one.name for one in found.contracts] == ["sales"]
    assert [Path(one.partition(":")[0]).name for one in found.unread] == ["cut.json", "link.yaml"]
    assert [Path(one.partition(":")[0]).name for one in found.others] == ["compose.yml", "old.yaml"]
    (tmp_path / "none").mkdir()
    with pytest.raises(ConfigError, match="holds no contract"):
        read_contracts(tmp_path / "none")
    with pytest.raises(ConfigError, match="no such file or folder of contracts"):
        read_contracts(tmp_path / "gone.yaml")
