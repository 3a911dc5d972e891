"""`ingest policy` on a catalog that a few statements filled: planned, applied, checked, and withdrawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import requests
from typer.testing import CliRunner, Result

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.questions.answer import When
from connectors.catalog.questions.policy import columns_of_file
from connectors.openmetadata import client
from connectors.openmetadata.client import Platform, connect
from connectors.openmetadata.connection import Connection
from connectors.openmetadata.policies import apply_plan, columns_of_platform
from ingestion.policies.plan import policy_plan
from tests.support.published_scripts import publish
from workflows.cli import app
from workflows.config.policies import load_policy

TABLES = {
    "raw.people": {"id": "int", "email": "text", "city": "text"},
    "core.people": {"id": "int", "mail": "text", "hashed": "text", "city": "text"},
    "mart.cities": {"city": "text", "mails": "int", "last_mail": "text"},
    "mart.public": {"mail": "text"},
}
STATEMENTS = (
    "CREATE VIEW core.people AS SELECT id, lower(email) AS mail, md5(email) AS hashed, city FROM raw.people",
    "CREATE VIEW mart.cities AS SELECT city, count(mail) AS mails, max(mail) AS last_mail FROM core.people GROUP BY 1",
    "INSERT INTO mart.public SELECT mail FROM core.people",
)
POLICY = """
version: 1
rules:
  - tag: PII.Sensitive
    from: {tags: [PII.Sensitive]}
    leaves: PII.Derived
declassify:
  - columns: [mart.public.*]
    reason: people agreed
    until: 2999-01-31
exclusive: [[PII.Sensitive, PII.None]]
"""
DERIVED = {
    ("core.people.mail", "PII.Sensitive"),
    ("core.people.hashed", "PII.Derived"),
    ("mart.cities.mails", "PII.Derived"),
    ("mart.cities.last_mail", "PII.Sensitive"),
}


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """raw.people.email was tagged by hand."""
    file = tmp_path / "catalog.db"
    publish(file, TABLES, STATEMENTS)
    (tmp_path / "pii.yaml").write_text(POLICY)
    tag_by_hand(file, "raw.people", 1, "PII.Sensitive")
    return file


def tag_by_hand(file: Path, table: str, column: int, tag: str) -> None:
    label = {"tagFQN": tag, "source": "Classification", "labelType": "Manual", "state": "Confirmed"}
    patch(file, table, {"op": "add", "path": f"/columns/{column}/tags/-", "value": label})


def patch(file: Path, table: str, operation: dict[str, Any]) -> None:
    with running_catalog(CatalogConfig(file, port=0)) as address:
        url = f"{address.url}/v1/tables/name/s.shop.{table}"
        headers = {"Content-Type": "application/json-patch+json"}
        requests.patch(url, json=[operation], headers=headers, timeout=10).raise_for_status()


def ran(catalog: Path, command: str, *more: str) -> Result:
    arguments = ["policy", command, str(catalog.with_name("pii.yaml")), "--catalog", str(catalog), "--days", "0", *more]
    return CliRunner().invoke(app, arguments)


def labels(catalog: Path, *, derived: bool = True) -> set[tuple[str, str]]:
    found = columns_of_file(catalog, When(days=0)).labels
    return {
        (f"{table}.{path}".removeprefix("s.shop."), label.tag)
        for (table, path), all_of in found.items()
        for label in all_of
        if (label.path is not None) is derived
    }


def test_tags_follow_the_data_and_go_with_it(catalog: Path) -> None:
    planned = ran(catalog, "plan")
    assert planned.exit_code == 0, planned.output
    assert "+ PII.Sensitive  s.shop.mart.cities.last_mail  <- s.shop.core.people.mail <- s.shop.raw.people.email" in (
        planned.output
    )
    assert planned.output.splitlines()[-1] == "4 to add, 0 to withdraw, 0 with another path, 0 stay; 0 for review"
    assert ran(catalog, "check").exit_code == 4
    assert ran(catalog, "apply", "--dry-run").output == planned.output
    assert labels(catalog) == set()
    done = ran(catalog, "apply")
    assert (done.exit_code, done.output) == (
        0,
        planned.output.replace("4 to add, 0 to withdraw", "4 added, 0 withdrawn"),
    )
    assert labels(catalog) == DERIVED
    assert labels(catalog, derived=False) == {("raw.people.email", "PII.Sensitive")}
    again = ran(catalog, "apply")
    assert again.output.splitlines() == ["0 added, 0 withdrawn, 0 with another path, 4 stay; 0 for review"]
    assert labels(catalog) == DERIVED
    assert ran(catalog, "check").exit_code == 0
    tag_by_hand(catalog, "core.people", 2, "Kept.ByHand")
    tag_by_hand(catalog, "mart.cities", 0, "PII.Sensitive")
    patch(catalog, "raw.people", {"op": "remove", "path": "/columns/1/tags/0"})
    gone = ran(catalog, "apply")
    assert gone.output.splitlines()[-1] == "0 added, 4 withdrawn, 0 with another path, 0 stay; 0 for review"
    assert labels(catalog) == set()
    assert labels(catalog, derived=False) == {
        ("core.people.hashed", "Kept.ByHand"),
        ("mart.cities.city", "PII.Sensitive"),
    }


@pytest.fixture
def plain(catalog: Path) -> Iterator[Platform]:
    """A platform that offers OpenMetadata's contract alone."""
    with running_catalog(CatalogConfig(catalog, port=0)) as address:
        offered = connect(Connection(address.url))
        yield Platform(offered.http, offered.version)
        offered.close()


def test_over_the_contract_alone_the_plan_is_the_same(catalog: Path, plain: Platform) -> None:
    """OpenMetadata's edges have neither subtypes nor indirect columns: their expressions tell."""
    policy = load_policy(catalog.with_name("pii.yaml"))
    over_rest = policy_plan(columns_of_platform(plain), policy, date(2026, 11, 22))
    from_file = policy_plan(columns_of_file(catalog, When(days=0)), policy, date(2026, 11, 22))
    assert over_rest.changes == from_file.changes


def test_a_column_that_is_gone_is_reported(catalog: Path, plain: Platform) -> None:
    policy = load_policy(catalog.with_name("pii.yaml"))
    planned = policy_plan(columns_of_platform(plain), policy, date(2026, 11, 22))
    patch(catalog, "mart.cities", {"op": "remove", "path": "/columns/2"})
    embedded = Platform(plain.http, plain.version, frozenset({client.TABLES}))
    assert apply_plan(embedded, planned) == ("s.shop.mart.cities.last_mail is not there any more",)


def test_the_plan_is_written_for_warehouses_too(catalog: Path) -> None:
    snowflake = ran(catalog, "plan", "--format", "snowflake").output.splitlines()
    assert snowflake[0] == 'CREATE TAG IF NOT EXISTS "PII";'
    assert 'ALTER TABLE "shop"."core"."people" MODIFY COLUMN "mail" SET TAG "PII" = \'Sensitive\';' in snowflake
    databricks = ran(catalog, "plan", "--format", "databricks").output.splitlines()
    assert "ALTER TABLE `shop`.`core`.`people` ALTER COLUMN `hashed` SET TAGS ('PII' = 'Derived');" in databricks
    assert len(ran(catalog, "plan", "--format", "postgres").output.splitlines()) == len(DERIVED)
    assert ran(catalog, "apply").exit_code == 0
    patch(catalog, "raw.people", {"op": "remove", "path": "/columns/1/tags/0"})
    withdrawn = ran(catalog, "plan", "--format", "databricks").output
    assert "ALTER TABLE `shop`.`core`.`people` ALTER COLUMN `mail` UNSET TAGS ('PII');" in withdrawn
    as_json = json.loads(ran(catalog, "plan", "--format", "json").output)
    assert {one["action"] for one in as_json["changes"]} == {"withdraw"}


WRONG = {
    "rules: []": "pii.yaml:1: rules",
    "rules:\n  - tg: PII.A": "pii.yaml:2: rules[0].tg: unknown key",
    "rules:\n  - tag: Sensitive": "pii.yaml:2: rules[0].tag: not the full name of a tag",
    "rules:\n  - tag: PII.A\n    leaves: PII.A": "leaves: a stop cannot leave the rule's own tag",
    "rules:\n  - tag: PII.A\ndeclassify:\n  - {columns: [a], reason: because}": "declassify[0].until: needed",
    "rules:\n  - tag: PII.A\ndeclassify:\n  - {columns: [a], reason: x, until: x}": "pii.yaml:4: declassify[0].until: ",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_policy_is_refused_at_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / "pii.yaml").write_text(text)
    done = ran(tmp_path / "catalog.db", "plan")
    assert done.exit_code == 2
    assert WRONG[text] in done.output
