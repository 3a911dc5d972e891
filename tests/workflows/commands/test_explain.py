"""`ingest explain`, over SQL files and over a catalog's file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
from typer.testing import CliRunner

from connectors.catalog.http.server import CatalogConfig, running_catalog
from workflows.cli import app

JOB = """create table stage as select id, price * quantity as amount, city from raw.sales where status = 'secret-7';
insert into mart.daily (total, city) select sum(amount), city from stage group by city;
"""


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.sql").write_text(JOB)


def explain(*arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["explain", *arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_the_tree_goes_back_to_the_base_columns() -> None:
    code, shown, errors = explain("mart.daily.total", "job.sql")
    assert (code, errors) == (0, "")
    lines = shown.splitlines()
    assert lines[0] == "mart.daily.total"
    assert "  <- stage.amount  direct, aggregation  SUM(stage.amount) [1]" in lines
    expression = "raw.sales.price * raw.sales.quantity"
    assert f"    <- raw.sales.price  direct, transformation  {expression} [2]" in lines
    assert "    <- raw.sales.status  indirect, filter  raw.sales.status = ? [2]" in lines
    assert "made of: raw.sales.price, raw.sales.quantity" in lines
    assert "and depending on: raw.sales.status, raw.sales.city" in lines
    assert "secret-7" not in shown


def test_json_tells_the_same() -> None:
    code, shown, errors = explain("daily.total", "job.sql", "--format", "json")
    assert (code, errors) == (0, "")
    document = json.loads(shown)
    assert document["column"] == "mart.daily.total"
    assert document["base_columns"]["direct"] == ["raw.sales.price", "raw.sales.quantity"]
    assert "secret-7" not in shown


def test_standard_input_directories_and_known_tables() -> None:
    assert "<- raw.sales.price" in explain("stage.amount", "-", stdin=JOB)[1]
    Path("models").mkdir()
    Path("models/daily.sql").write_text("select * from base")
    Path("models/base.sql").write_text("select upper(name) as name from raw.people")
    assert "<- raw.people.name  direct, transformation" in explain("daily.name", "models")[1]
    Path("star.sql").write_text("create view v as select * from t")
    Path("tables.sql").write_text("create table t (a int, b text);")
    assert "<- t.b  direct, identity" in explain("v.b", "star.sql", "--schema", "tables.sql")[1]
    Path("tables.json").write_text('{"t": {"a": "int"}}')
    assert "<- t.a  direct, identity" in explain("v.a", "star.sql", "--schema", "tables.json")[1]


def test_a_base_column_says_that_nothing_is_upstream() -> None:
    code, shown, _ = explain("raw.sales.price", "job.sql")
    assert code == 0
    assert "nothing upstream of it is known" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["daily.totl", "job.sql"], "did you mean mart.daily.total?"),
        (["nothing.like.it", "job.sql"], "no such column"),
        (["city", "job.sql"], "may be one of 3"),
        (["daily.total"], ".headwater/catalog.db: no such catalog"),
        (["daily.total", "job.sql", "--as-of", "2026-01-31"], "give either"),
        (["daily.total", "job.sql", "--catalog", "c.db"], "give either"),
        (["daily.total", "jobb.sql"], "did you mean job.sql?"),
        (["daily.total", "--catalog", "none.db"], "no such catalog"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments: list[str], said: str) -> None:
    code, shown, errors = explain(*arguments)
    assert (code, shown) == (2, "")
    assert said in errors
    assert len(errors.splitlines()) == 1


def test_what_is_long_is_cut_unless_the_whole_is_asked_for() -> None:
    parts = " ||\n".join(f"column_{number}" for number in range(40))
    Path("long.sql").write_text(f"create table t as\nselect\n{parts} as all_of_them\nfrom s")
    _, shown, _ = explain("t.all_of_them", "long.sql")
    hop = next(line for line in shown.splitlines() if "<- s.column_7 " in line)
    assert hop.endswith("… [1]")
    assert "more lines: --full" in shown
    _, whole, _ = explain("t.all_of_them", "long.sql", "--full")
    assert "column_39 [1]" in next(line for line in whole.splitlines() if "<- s.column_7 " in line)
    assert "…" not in whole


def test_what_makes_the_value_comes_before_what_only_has_a_say() -> None:
    Path("job.sql").write_text("create table t as select a.x, b.y from b join a on a.k = b.k where x > 1")
    _, shown, _ = explain("t.y", "job.sql")
    hops = [line for line in shown.splitlines() if "<-" in line]
    assert "<- b.y  direct" in hops[0]
    assert all("indirect" in hop for hop in hops[1:])
    assert len(hops) > 1


def test_a_statement_that_cannot_be_read_is_named_and_the_rest_explained() -> None:
    Path("job.sql").write_text(JOB + "create view broken as select 'secret-8 from;\n")
    code, shown, errors = explain("daily.total", "job.sql")
    assert code == 1
    assert "<- stage.amount" in shown
    assert errors.startswith("ingest: job.sql:3:")
    assert "secret-8" not in shown + errors


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """orders.total makes daily.sum makes report.top; a filter on orders.paid has a say."""
    file = tmp_path / "catalog.db"
    tables = {"orders": ("total", "paid"), "daily": ("sum",), "report": ("top",)}
    with running_catalog(CatalogConfig(file, port=0)) as address:

        def post(path: str, body: object) -> dict[str, Any]:
            answer = requests.post(f"{address.url}/v1/headwater/{path}", json=body, timeout=10)
            answer.raise_for_status()
            return dict(answer.json())

        made = post(
            "tables",
            {
                "services": [{"name": "s", "serviceType": "Postgres"}],
                "databases": [{"name": "d", "service": "s"}],
                "schemas": [{"name": "shop", "database": "s.d"}],
                "tables": [
                    {
                        "name": name,
                        "databaseSchema": "s.d.shop",
                        "columns": [{"name": column, "dataType": "INT"} for column in columns],
                    }
                    for name, columns in tables.items()
                ],
            },
        )["tables"]
        ids = dict(zip(tables, (one["id"] for one in made), strict=True))
        paid = {"from": ["s.d.shop.orders.paid"], "to": None, "type": "INDIRECT", "subtype": "FILTER"}
        edges = [
            _edge(ids, "orders", "daily", [_direct("orders.total", "daily.sum", "SUM(orders.total)"), paid]),
            _edge(ids, "daily", "report", [_direct("daily.sum", "report.top", "MAX(daily.sum)")]),
        ]
        post("lineage", {"batchId": "b", "edges": edges})
    return file


def _direct(source: str, target: str, expression: str) -> dict[str, Any]:
    ends = {"from": [f"s.d.shop.{source}"], "to": f"s.d.shop.{target}"}
    return {**ends, "type": "DIRECT", "subtype": "AGGREGATION", "expression": expression}


def _edge(ids: dict[str, str], source: str, target: str, columns: list[dict[str, Any]]) -> dict[str, Any]:
    now = 1_790_000_000_000
    return {
        "fromEntity": {"id": ids[source], "type": "table"},
        "toEntity": {"id": ids[target], "type": "table"},
        "contribution": {
            "producer": {"kind": "query", "key": target},
            "source": "QueryLineage",
            "sqlQuery": f"INSERT INTO {target} SELECT ? FROM {source}",
            "parser": "sqlglot",
            "columns": columns,
            "firstSeen": now,
            "lastSeen": now,
        },
    }


def test_a_catalog_is_asked_for_the_same_chain(catalog: Path) -> None:
    code, shown, errors = explain("report.top", "--catalog", str(catalog))
    assert (code, errors) == (0, "")
    lines = shown.splitlines()
    assert lines[0] == "s.d.shop.report.top"
    assert "  <- s.d.shop.daily.sum  direct, aggregation  MAX(daily.sum) [1]" in lines
    assert "    <- s.d.shop.orders.total  direct, aggregation  SUM(orders.total) [2]" in lines
    assert "    <- s.d.shop.orders.paid  indirect, filter [2]" in lines
    assert "made of: s.d.shop.orders.total" in lines
    assert "    INSERT INTO report SELECT ? FROM daily" in lines


def test_a_catalog_is_asked_as_of_a_moment(catalog: Path) -> None:
    _, before, _ = explain("report.top", "--catalog", str(catalog), "--as-of", "2026-01-31")
    assert "nothing upstream of it is known" in before
    _, after, _ = explain("report.top", "--catalog", str(catalog), "--as-of", "2026-09-30", "--days", "0")
    assert "<- s.d.shop.daily.sum" in after


def test_the_catalog_of_this_directory_needs_no_naming(catalog: Path) -> None:
    Path(".headwater").mkdir()
    catalog.rename(".headwater/catalog.db")
    assert "<- s.d.shop.daily.sum" in explain("report.top")[1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("report.topp", "did you mean s.d.shop.report.top?"),
        ("shop.report", "name one of its columns"),
        ("shop.reports.top", "did you mean shop.report?"),
    ],
)
def test_a_wrong_name_in_a_catalog_is_told_with_the_nearest(catalog: Path, name: str, said: str) -> None:
    code, _, errors = explain(name, "--catalog", str(catalog))
    assert code == 2
    assert said in errors
    assert len(errors.splitlines()) == 1


def test_the_help_starts_without_spark_or_a_parser() -> None:
    heavy = ["pyspark", "sqlglot", "sqlalchemy", "fastapi", "networkx"]
    program = f"import sys, workflows.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("question", ["explain", "impact", "why.search", "unused", "freshness", "coverage"])
def test_a_catalog_is_asked_without_the_models_of_what_clients_write(question: str) -> None:
    models = "connectors.catalog.contract.models"
    program = f"import sys, connectors.catalog.questions.{question}; print({models!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
