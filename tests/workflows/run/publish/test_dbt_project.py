"""What dbt ran beside what its project says: a real dbt's log and manifest agree, and changes of either are told."""

from __future__ import annotations

import csv
import json
import re
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import pytest

from connectors.dbt.model_statements import DbtProject
from connectors.dbt.projects import project_from_manifest
from connectors.dbt.settings import DbtLineageConfig
from connectors.dbt.source import columns_by_key, model_definitions
from connectors.platforms.job_names import job_of
from ingestion.analysis.symbolic import dumps
from ingestion.binding.timeline import SchemaProvider
from ingestion.errors import RecordError
from ingestion.parsing.sandbox.process import Limits
from ingestion.parsing.sqlglot.tier import parse
from ingestion.parsing.templates import ParsedTemplate
from ingestion.statements import split
from tests.support.dbt_project import BUILT
from workflows.config.namespaces import SourceSettings
from workflows.run.bind.binding import LineageSource, bind_occurrences
from workflows.run.group.occurrences import OccurrenceGroup
from workflows.run.publish.dbt_project import DbtPublishing, LogDrift

Record = tuple[str, float]
"""A statement of the log, and when it ran."""

DOCUMENT = Path(__file__).parents[4] / "docs/dbt.md"
LATER = "2099-01-01T00:00:00Z"
MARTS = '"roastery"."main_marts"'
COMMENT = '/* {{"app": "dbt", "node_id": "{}"}} */ '


@lru_cache(maxsize=1)
def recorded() -> tuple[Record, ...]:
    with (BUILT / "query_log.csv").open() as file:
        rows = list(csv.DictReader(file))
    return tuple((row["query_text"], datetime.fromisoformat(row["start_time"]).timestamp()) for row in rows)


@lru_cache(maxsize=1000)
def parsed(text: str) -> ParsedTemplate:
    try:
        symbolic = dumps(parse(text, "duckdb"))
    except RecordError:
        symbolic = None
    return ParsedTemplate(text, "duckdb", "sqlglot", symbolic, text, None, False)


def group(text: str, at: float, number: int, job: str | None = None, digests: tuple[int, ...] = ()) -> OccurrenceGroup:
    jobs = (job,) if job else ()
    return OccurrenceGroup(text, "roastery", ("main",), "s", (at, number), at, at, 1, (), digests, 0.0, jobs)


def bound(project: DbtProject, log: tuple[Record, ...], tag: str | None = None) -> LineageSource:
    """The log and the definitions of a project, as a run binds them."""
    groups = [
        group(statement.text, at, number, job_of(tag, record), (number,))
        for number, (record, at) in enumerate(log)
        for statement in split(record, "duckdb")
    ]
    groups += [group(one.text, one.at or 0.0, -number) for number, one in enumerate(model_definitions(project), 1)]
    known = {".".join(place): columns for place, columns in columns_by_key(project).items()}
    templates = {one.template: parsed(one.template) for one in groups}
    before = SchemaProvider(lambda key: known.get(str(key)))
    return bind_occurrences(templates, groups, SourceSettings("roastery", "main"), before)


def drift(
    folder: Path, *changes: tuple[str, str, str], log: tuple[Record, ...] = (), at: str = "", tag: str | None = None
) -> list[str]:
    """The lines about the real log, `log` behind it, and the manifest with texts of its models changed."""
    manifest = json.loads((BUILT / "manifest.json").read_text())
    for node, old, new in changes:
        compiled = manifest["nodes"][f"model.roastery.{node}"]["compiled_code"]
        assert old in compiled
        manifest["nodes"][f"model.roastery.{node}"]["compiled_code"] = compiled.replace(old, new)
    manifest["metadata"]["generated_at"] = at or manifest["metadata"]["generated_at"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    project = project_from_manifest(folder / "manifest.json", None, Limits(), BUILT / "catalog.json")
    return list(LogDrift(project, bound(project, (*recorded(), *log), tag)).lines())


def untimed(lines: list[str]) -> list[str]:
    return [re.sub(r"20\d\d-\d\d-\d\d \d\d:\d\d", "T", line) for line in lines]


def ran(node: str, text: str, later: float = 3600) -> Record:
    return COMMENT.format(node) + text, recorded()[-1][1] + later


@pytest.mark.parametrize("at", ["", LATER])
def test_two_builds_of_a_real_dbt_are_what_its_manifest_says(tmp_path: Path, at: str) -> None:
    """Views and tables renamed into place, an incremental model, a snapshot, tests and seeds among them."""
    assert drift(tmp_path, at=at) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("prices.v1", '"roastery"."main"."stg_orders"', '"roastery"."main"."old_orders"'),
            "prices is not what ran at T: only the run reads roastery.main.stg_orders; "
            "only the project reads roastery.main.old_orders",
        ),
        (
            ("prices.v1", "max(price) as price", "max(price) as price, min(price) as cheapest"),
            "prices is not what ran at T: only the project makes cheapest",
        ),
        (
            ("prices.v1", "max(price)", "max(tax)"),
            "prices is not what ran at T: only the run makes price of roastery.main.stg_orders.price; "
            "only the project makes price of roastery.main.stg_orders.tax",
        ),
        (
            ("orders", "price - cost as margin", "price - 1 as margin"),
            "orders is not what ran at T: only the run makes margin of roastery.main_raw.raw_beans.supplier_price",
        ),
    ],
)
def test_a_model_that_is_another_than_what_ran_is_told(
    tmp_path: Path, change: tuple[str, str, str], expected: str
) -> None:
    assert untimed(drift(tmp_path, change)) == [expected]
    assert untimed(drift(tmp_path, change, at=LATER)) == [
        expected.replace("is not what ran", "has changed since it ran")
    ]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            ("model.roastery.daily_sales", f"insert into {MARTS}.daily_sales (ordered_on, sales, currency) "
             "select ordered_on, price, region from elsewhere.bills"),
            ["daily_sales is not what ran at T: only the run reads roastery.elsewhere.bills"],
        ),
        (
            ("model.roastery.gone", f"create table {MARTS}.gone as select price from main.stg_orders"),
            ["model.roastery.gone is not what ran at T: the project has no such model"],
        ),
        (("model.other.gone", f"create table {MARTS}.gone as select price from main.stg_orders"), []),
        # another target
        (("model.roastery.orders", "create table dev_jane.orders as select price from main.stg_orders"), []),
        # what a hook of the model writes
        (("model.roastery.orders", f"insert into {MARTS}.audit_log (a) select max(price) from {MARTS}.orders"), []),
        (("model.roastery.orders", f"insert into {MARTS}.orders (price) select price from main.corrections"), []),
        # the rows that fail a test
        (("test.roastery.unique_x", "create table main_dbt_test__audit.unique_x as select 1 from main.stg_orders"), []),
        # of an incremental model another branch, which reads what the model declares
        (
            ("model.roastery.daily_sales", f"insert into {MARTS}.daily_sales (ordered_on, sales, currency) "
             f"select o.ordered_on, o.tax, d.currency from main.stg_orders o join {MARTS}.daily_sales d on true"),
            [],
        ),
    ],
)  # fmt: skip
def test_what_ran_later_is_held_against_the_project(
    tmp_path: Path, record: tuple[str, str], expected: list[str]
) -> None:
    assert untimed(drift(tmp_path, log=(ran(*record),))) == expected


@pytest.mark.parametrize(
    "tag",
    [
        "model.roastery.prices.v1",
        '{"app": "dbt", "node_id": "model.roastery.prices.v1"}',
        "dbt_model=model.roastery.prices.v1",
    ],
)
def test_a_tag_names_the_node_as_a_comment_does(tmp_path: Path, tag: str) -> None:
    text = f"create table {MARTS}.prices_v1 as select bean_code, tax as price from main.stg_orders"
    assert len(drift(tmp_path, log=((text, recorded()[-1][1] + 60),), tag=tag)) == 1
    assert drift(tmp_path, log=((text, recorded()[-1][1] + 60),), tag="nightly") == []


def test_a_run_warns_of_drift_and_takes_no_statement_of_the_log_for_the_project(tmp_path: Path) -> None:
    into = f"insert into {MARTS}.daily_sales (ordered_on, sales, currency)"
    log = (ran("model.roastery.daily_sales", f"{into} select day, price, currency from till.bills"),)
    project = project_from_manifest(BUILT / "manifest.json", None, Limits(), BUILT / "catalog.json")
    publishing = DbtPublishing(
        project,
        DbtLineageConfig.model_validate({"dbtConfigSource": {"dbtManifestFilePath": str(BUILT)}}),
        "shop",
        SourceSettings("roastery", "main"),
    )
    warnings = list(publishing.warnings(bound(project, (*recorded(), *log))))
    assert [line for line in warnings if "hard-coded" in line] == [
        "hard-coded reference: audit reads roastery.main_raw.raw_orders"
    ]
    assert untimed([line for line in warnings if "drift" in line]) == [
        "drift: daily_sales is not what ran at T: only the run reads roastery.till.bills"
    ]


def test_the_documentation_shows_a_line_as_it_is(tmp_path: Path) -> None:
    (line,) = drift(tmp_path, ("prices.v1", "max(price)", "max(tax)"))
    assert f"\nwarning: drift: {line}\n" in DOCUMENT.read_text("utf-8")


def test_a_relation_of_another_name_is_told(tmp_path: Path) -> None:
    log = (ran("model.roastery.late", f"create table {MARTS}.late_orders as select price from main.stg_orders"),)
    manifest = json.loads((BUILT / "manifest.json").read_text())
    late = {**manifest["nodes"]["model.roastery.prices.v1"], "alias": "late", "name": "late"}
    manifest["nodes"]["model.roastery.late"] = {**late, "relation_name": f"{MARTS}.late"}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    project = project_from_manifest(tmp_path / "manifest.json", None, Limits())
    (line,) = LogDrift(project, bound(project, log)).lines()
    assert line.endswith("it went to roastery.main_marts.late_orders, and the project's is roastery.main_marts.late")
