"""A dbt project by each way into it: the same lineage, every column that the warehouse has, and nothing invented."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from connectors.dbt.projects import open_project
from connectors.dbt.source import model_definitions
from connectors.sql_files.lineage import script_lineage
from ingestion.analysis.symbolic import loads
from ingestion.model.lineage import StatementLineage
from ingestion.parsing.sandbox.process import Limits
from tests.benchmarks.dbt_mutations import compare
from tests.support.dbt_project import BUILT, PROJECT
from workflows.cli import app

Pairs = set[tuple[str, str, str]]


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [*arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def found(path: Path, *more: str, code: int = 0) -> dict[str, Any]:
    ended, shown, errors = run("lineage", str(path), "--format", "json", *more)
    assert ended == code, errors
    document: dict[str, Any] = json.loads(shown)
    return document


def direct(document: dict[str, Any]) -> Pairs:
    """Direct edges, over names without the database, which a profile tells and a hard-coded name does not."""
    return {
        (edge["source"].removeprefix("roastery."), edge["target"].removeprefix("roastery."), edge["subtype"])
        for edge in document["column_lineage"]
        if edge["type"] == "DIRECT"
    }


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """The project as it is written."""
    shutil.copytree(PROJECT, tmp_path / "roastery")
    return tmp_path / "roastery"


@pytest.fixture
def compiled(plain: Path) -> Path:
    """The project with what a dbt made of it."""
    target = plain / "target"
    target.mkdir()
    for name in ("manifest.json", "catalog.json"):
        shutil.copy(BUILT / name, target)
    shutil.copytree(BUILT / "compiled", target / "compiled")
    return plain


def without_compiled_code(project: Path) -> Path:
    """The manifest as `dbt parse` leaves it."""
    file = project / "target/manifest.json"
    manifest = json.loads(file.read_text())
    for node in manifest["nodes"].values():
        node.pop("compiled_code", None)
    file.write_text(json.dumps(manifest))
    return project


def test_all_columns_of_all_models_are_the_warehouses(compiled: Path) -> None:
    described = json.loads((BUILT / "described.json").read_text())
    document = found(compiled)
    made: dict[str, set[str]] = {}
    for edge in document["column_lineage"]:
        table, _, column = edge["target"].removeprefix("roastery.").rpartition(".")
        made.setdefault(table, set()).add(column)
    # A count and a constant come from no column.
    made["main_marts.audit"].add("orders")
    made["main_marts.daily_sales"].add("currency")
    assert made == {table: set(columns) for table, columns in described.items() if ".raw_" not in table}


def test_three_ways_in_tell_the_same(plain: Path, compiled: Path, tmp_path: Path) -> None:
    by_manifest = direct(found(compiled / "target/manifest.json"))
    assert len(by_manifest) > 40
    assert direct(found(compiled)) == by_manifest
    shutil.rmtree(compiled / "target/compiled")
    assert direct(found(without_compiled_code(compiled))) == by_manifest
    shutil.rmtree(compiled / "target")
    assert direct(found(plain)) == by_manifest


def test_a_manifest_without_compiled_code_takes_what_dbt_wrote_beside_it(compiled: Path) -> None:
    by_manifest = found(compiled)
    for edge in by_manifest["column_lineage"]:
        edge.pop("expression")
    again = found(without_compiled_code(compiled))
    for edge in again["column_lineage"]:
        edge.pop("expression")
    assert again["column_lineage"] == by_manifest["column_lineage"]


def test_compiled_files_alone_join_up_by_their_names(compiled: Path) -> None:
    by_manifest = {pair for pair in direct(found(compiled)) if not pair[1].startswith("snapshots.")}
    alone = direct(found(compiled / "target/compiled/roastery", "--dialect", "duckdb"))
    read = {"main.stg_orders", "main.stg_customers", "main_marts.orders", "main_marts.prices_v2"}
    assert {pair for pair in alone if pair[1].rpartition(".")[0] in read} == {
        pair for pair in by_manifest if pair[1].rpartition(".")[0] in read
    }
    # Nobody reads these, so nobody says in which schema they are.
    bare = {pair[1].rpartition(".")[0] for pair in alone} - read
    assert bare == {"customers", "prices_v1", "audit", "main_marts.daily_sales"}


def test_tests_and_ephemeral_models_are_no_tables(compiled: Path) -> None:
    document = found(compiled / "target/compiled/roastery", "--dialect", "duckdb")
    names = " ".join((*document["target_tables"], *document["intermediate_tables"], *document["source_tables"]))
    for name in ("stg_beans", "order_lines", "not_null", "no_free_coffee", "__dbt__cte__"):
        assert name not in names


def test_a_name_that_is_written_out_is_reported(compiled: Path) -> None:
    for project in (compiled, compiled / "target/manifest.json"):
        assert "hard-coded reference: audit reads main_raw.raw_orders" in found(project)["notes"]
    file = compiled / "models/marts/prices_v1.sql"
    file.write_text(file.read_text() + "-- {{ ref('customers') }}\n")
    shutil.rmtree(compiled / "target")
    notes = found(compiled)["notes"]
    assert "reference without use: prices declares roastery.main_marts.dim_customers" in notes
    assert sum("reference" in note for note in notes) == 2


def test_what_asks_the_warehouse_is_named_and_costs_its_own_model(plain: Path) -> None:
    whole = direct(found(plain))
    (plain / "models/marts/prices_v1.sql").write_text(
        "select 1 as a,\n{% for c in run_query('select secret') %}{{ c }}{% endfor %} from {{ ref('stg_orders') }}"
    )
    code, shown, errors = run("lineage", str(plain), "--format", "json")
    assert code == 1
    document = json.loads(shown)
    assert document["failures"] == [f"{plain}/models/marts/prices_v1.sql:2: templated: run_query asks the warehouse"]
    assert document["failures"][0] in errors
    assert "secret" not in shown + errors
    assert direct(document) == {pair for pair in whole if not pair[1].startswith("main_marts.prices_v1.")}


def test_a_model_that_reads_a_lost_ephemeral_model_names_it(plain: Path) -> None:
    (plain / "models/staging/stg_beans.sql").write_text("{{ config(materialized='ephemeral') }}{{ nobody }}")
    failures = found(plain, code=1)["failures"]
    assert f"{plain}/models/staging/stg_beans.sql:1: templated: 'nobody' is undefined" in failures
    assert f"{plain}/models/marts/orders.sql: templated: stg_beans is, which it reads" in failures
    assert len(failures) == 3


def test_a_python_model_is_known_by_table(plain: Path) -> None:
    (plain / "models/marts/forecast.py").write_text("def model(dbt, session):\n    return dbt.ref('orders')\n")
    manifest = json.loads((BUILT / "manifest.json").read_text())
    node = dict(manifest["nodes"]["model.roastery.prices.v1"])
    node |= {"language": "python", "compiled_code": "def model(dbt, session): ...", "alias": "forecast"}
    node |= {"relation_name": '"roastery"."main_marts"."forecast"', "name": "forecast"}
    manifest["nodes"]["model.roastery.forecast"] = node | {"depends_on": {"nodes": ["model.roastery.orders"]}}
    file = plain / "manifest.json"
    file.write_text(json.dumps(manifest))
    document = found(file)
    assert {"source": "roastery.main_marts.orders", "target": "roastery.main_marts.forecast"} in document[
        "table_lineage"
    ]
    assert "roastery.main_marts.forecast" in document["target_tables"]


def test_a_column_is_explained_under_its_models_name(compiled: Path) -> None:
    code, shown, _ = run("explain", "customers.total_price", str(compiled))
    assert code == 0
    assert "roastery.main_marts.dim_customers.total_price" in shown
    assert "made of: roastery.main_raw.raw_orders.price_cents" in shown


def test_without_a_profile_the_dialect_has_to_be_named(plain: Path) -> None:
    (plain / "profiles.yml").unlink()
    code, _, errors = run("lineage", str(plain))
    assert code == 2
    assert "name its SQL with --dialect" in errors
    document = found(plain, "--dialect", "duckdb")
    assert ("main_raw.raw_orders.id", "stg_orders.order_id", "IDENTITY") in direct(document)
    assert any("no profiles.yml" in note for note in document["notes"])


def test_no_secret_of_a_profile_is_read(plain: Path) -> None:
    profile = plain / "profiles.yml"
    profile.write_text(profile.read_text().replace("type: duckdb,", "type: duckdb, password: hunter2, token: t0ken,"))
    (plain / "models/marts/prices_v1.sql").write_text("select '{{ target.password }}' as a, '{{ target }}' as b")
    code, shown, errors = run("lineage", str(plain), "--format", "json")
    assert code == 1
    assert "hunter2" not in shown + errors
    assert "t0ken" not in shown + errors


def test_broken_yaml_is_one_line_with_its_place(plain: Path) -> None:
    (plain / "models/marts/models.yml").write_text("models:\n  - name: [orders\n")
    code, _, errors = run("lineage", str(plain))
    assert code == 2
    assert "models/marts/models.yml:3: not valid YAML" in errors


def test_yaml_that_is_endless_and_a_file_that_no_project_has_are_one_line(plain: Path) -> None:
    project = plain / "dbt_project.yml"
    whole = project.read_text()
    project.write_text(whole + "\nendless: &x {y: [*x]}\n")
    code, _, errors = run("lineage", str(plain))
    assert (code, "dbt_project.yml: not valid YAML (a part of it holds itself)" in errors) == (2, True)
    project.write_text(whole)
    with (plain / "models" / "huge.sql").open("w") as model:
        model.write("select 1 as a -- ")
        model.truncate(200 << 20)  # no block of it is written
    code, _, errors = run("lineage", str(plain))
    assert (code, "models/huge.sql: over 16 MB" in errors) == (2, True)


def test_a_folder_out_of_the_repository_is_not_read_and_one_beside_the_project_is(plain: Path) -> None:
    shared = plain.parent / "shared"
    shared.mkdir()
    (shared / "vault.sql").write_text("select secret from elsewhere.safe")
    project = plain / "dbt_project.yml"
    project.write_text(project.read_text() + '\nmodel-paths: ["models", "../shared"]\n')
    document = found(plain)
    assert "elsewhere" not in json.dumps(document["column_lineage"])
    assert any("../shared: a path of dbt_project.yml leads out" in note for note in document["notes"])
    (plain.parent / ".git").mkdir()
    assert "elsewhere.safe.secret" in json.dumps(found(plain)["column_lineage"])


WIDEST = """
select {% for column in adapter.get_columns_in_relation(RELATION) %}
    max({{ column.name }}) as max_{{ column.name }}{{ "," if not loop.last }}{% endfor %}
from {{ RELATION }}
"""


def test_columns_of_a_model_are_told_by_its_sql_and_not_by_the_warehouse(plain: Path) -> None:
    folder = plain / "models/marts"
    (folder / "widest.sql").write_text(WIDEST.replace("RELATION", "ref('stg_customers')"))
    (folder / "wider.sql").write_text(WIDEST.replace("RELATION", "ref('widest')"))
    (folder / "seeded.sql").write_text(WIDEST.replace("RELATION", "ref('raw_beans')"))
    edges = direct(found(plain))
    assert ("main.stg_customers.city", "main_marts.widest.max_city", "AGGREGATION") in edges
    assert ("main_marts.widest.max_city", "main_marts.wider.max_max_city", "AGGREGATION") in edges
    assert ("main_raw.raw_beans.origin", "main_marts.seeded.max_origin", "AGGREGATION") in edges


def test_columns_that_only_the_warehouse_knows_cost_the_model(plain: Path) -> None:
    (plain / "models/marts/audit.sql").write_text(WIDEST.replace("RELATION", "source('elsewhere', 't')"))
    sources = plain / "models/staging/sources.yml"
    sources.write_text(sources.read_text() + "  - {name: elsewhere, tables: [{name: t}]}\n")
    (failure,) = found(plain, code=1)["failures"]
    assert 'audit.sql:2: templated: which columns has "roastery"."elsewhere"."t" asks the warehouse' in failure


def test_a_type_that_nobody_knows_decides_nothing(plain: Path) -> None:
    text = "select {% for c in adapter.get_columns_in_relation(ref('stg_customers')) %}TYPED{% endfor %} 1 as one"
    printed = "cast({{ c.name }} as {{ c.data_type }}) as {{ c.name }}, "
    (plain / "models/marts/prices_v1.sql").write_text(
        text.replace("TYPED", printed) + " from {{ ref('stg_customers') }}"
    )
    assert ("main.stg_customers.city", "main_marts.prices_v1.city", "TRANSFORMATION") in direct(found(plain))
    asks = "c.data_type.lower() == 'bool' or c.is_string() and c.string_size() > 3"
    form = "{% if ASKS %}'x' || {{ c.name }}{% else %}{{ c.name }}{% endif %}".replace("ASKS", asks)
    (plain / "models/marts/prices_v1.sql").write_text(
        text.replace("TYPED", form + " as {{ c.name }}, ") + " from {{ ref('stg_customers') }}"
    )
    assert ("main.stg_customers.city", "main_marts.prices_v1.city", "IDENTITY") in direct(found(plain))
    decided = "{% if c.data_type == 'int' %}{{ c.name }},{% endif %}"
    (plain / "models/marts/prices_v1.sql").write_text(text.replace("TYPED", decided))
    (failure,) = found(plain, code=1)["failures"]
    assert failure.endswith("prices_v1.sql:1: templated: the type of a column asks the warehouse")


RULE = """{# how we name #}
{%- macro generate_schema_name(custom_schema_name, node) -%}
    {{ run_query("select 'secret'") if target.name == 'dev' else custom_schema_name }}
{%- endmacro %}
"""


def test_names_by_a_rule_that_cannot_be_carried_out_are_said_to_be_assumed(plain: Path) -> None:
    told = found(plain)
    assert not any("assumed" in note for note in told["notes"])
    rule = plain / "macros/names.sql"
    rule.write_text(RULE)
    again = found(plain)
    assert direct(again) == direct(told)
    (note,) = [note for note in again["notes"] if "assumed" in note]
    reason = f"generate_schema_name in {rule} cannot be carried out (run_query asks the warehouse)"
    assert note.endswith(f"names are assumed to follow dbt's own rule: {reason}")
    assert int(note.split()[0]) > 10
    rule.write_text(RULE.replace("target.name == 'dev'", "node.name == 'orders'"))
    (note,) = [note for note in found(plain)["notes"] if "assumed" in note]
    assert note.startswith("1 name is assumed")


def test_models_that_an_assumption_puts_under_one_name_are_ambiguous(plain: Path) -> None:
    whole = direct(found(plain))
    (plain / "macros/names.sql").write_text(RULE.replace("generate_schema_name", "generate_alias_name"))
    folder = plain / "models/marts"
    for name in ("daily_sales", "prices_v1"):
        file = folder / f"{name}.sql"
        file.write_text("{{ config(alias='one') }}" + file.read_text())
    told = found(plain, code=1)
    name = "roastery.main_marts.one"
    assert sorted(told["failures"]) == [
        f"{folder}/{file}.sql: defined_twice: its name {name} is assumed, and another's too"
        for file in ("daily_sales", "prices_v1")
    ]
    gone = ("main_marts.daily_sales.", "main_marts.prices_v1.")
    assert direct(told) == {pair for pair in whole if not pair[1].startswith(gone)}


def test_the_lineage_is_what_a_warehouse_shows_when_values_change(compiled: Path) -> None:
    observed = json.loads((BUILT / "mutations.json").read_text())
    edges = found(compiled)["column_lineage"]
    assert compare(observed, edges) == []
    price = "roastery.main_raw.raw_orders.price_cents"
    sales, margin = "roastery.main_marts.daily_sales.sales", "roastery.main_marts.orders.margin"
    assert {sales, margin} <= set(observed[price]["followed"])
    without = [edge for edge in edges if not edge["target"].endswith(".margin")]
    assert f"not in the lineage: {price} -> {margin}" in compare(observed, without)
    turned = [edge | {"type": "INDIRECT"} for edge in edges]
    city = "roastery.main_raw.raw_customers.city -> roastery.main.stg_customers.city"
    assert f"not direct: {city}" in compare(observed, turned)
    invented = {"source": price, "target": "roastery.main.stg_customers.city", "type": "DIRECT"}
    assert f"never shown: {price} -> roastery.main.stg_customers.city" in compare(observed, [*edges, invented])


def test_variables_without_a_value_and_dbts_filters_are_known(plain: Path) -> None:
    project = plain / "dbt_project.yml"
    schema = "{% if var('prefix', None) is not none %}{{ var('prefix') }}_{% endif %}marts"
    enabled = "{{ var('load_it', 'true') | as_bool }}"
    project.write_text(project.read_text().replace("+schema: marts", f'+schema: "{schema}", +enabled: "{enabled}"'))
    told = found(plain)
    (plain / "models/marts/prices_v1.sql").write_text(
        "select {{ '7' | as_number + 1 }} as a, {{ 'price' | as_text | as_native }} as b from {{ ref('stg_orders') }}"
    )
    assert ("main.stg_orders.price", "main_marts.prices_v1.b", "IDENTITY") in direct(found(plain))
    assert not [pair for pair in direct(told) if "main_marts" not in pair[1] and "prices" in pair[1]]
    project.write_text(project.read_text().replace("'true') | as_bool", "'false') | as_bool"))
    assert not [pair for pair in direct(found(plain)) if "main_marts" in pair[1]]


def test_a_hook_that_asks_the_warehouse_costs_no_name(plain: Path) -> None:
    told = found(plain)
    project = plain / "dbt_project.yml"
    hook = "{{ run_query('select secret') }}"
    project.write_text(project.read_text().replace("+schema: raw", f'+schema: raw, +post-hook: "{hook}"'))
    assert found(plain) == told


def test_a_node_whose_config_cannot_be_rendered_goes_by_its_name(plain: Path) -> None:
    whole = direct(found(plain))
    project = plain / "dbt_project.yml"
    asks = "{{ run_query('select secret') }}"
    project.write_text(project.read_text().replace("+schema: raw", f'+schema: raw, +meta: "{asks}"'))
    told = found(plain)
    assert any(note.endswith("rule: run_query asks the warehouse") for note in told["notes"])
    without_schema = [
        {(source.replace("main_raw.", ""), *rest) for source, *rest in one} for one in (direct(told), whole)
    ]
    assert without_schema[0] == without_schema[1]


def test_what_the_configuration_disables_is_counted(plain: Path) -> None:
    assert not any("disabled" in note for note in found(plain)["notes"])
    project = plain / "dbt_project.yml"
    project.write_text(project.read_text().replace("+schema: marts", "+schema: marts, +enabled: false"))
    (note,) = [note for note in found(plain)["notes"] if "disabled" in note]
    gone = len([*(plain / "models/marts").rglob("*.sql"), *(plain / "models/marts").rglob("*.py")])
    assert note.startswith(f"{gone} of ") and note.endswith(
        "models and seeds are disabled by its configuration: not read"
    )


def test_what_a_link_leads_to_out_of_a_project_is_left_out_and_told(plain: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (outside / "private.sql").write_text("select secret from vault.safe")
    (plain / "models" / "private.sql").symlink_to(outside / "private.sql")

    document = found(plain, "--dialect", "postgres")

    assert "vault" not in json.dumps(document["column_lineage"])
    assert any("models/private.sql: a link leads out of the folder" in note for note in document["notes"])


def test_a_model_in_python_keeps_its_edges_in_a_run_and_in_a_tree_whoever_reads_it(tmp_path: Path) -> None:
    """Nothing of it is run: what `dbt.ref` and `dbt.source` name is what it reads."""
    (tmp_path / "dbt_project.yml").write_text("name: hub\nprofile: hub\n")
    models = {
        "first.sql": "select 1 as a",
        "hidden.sql": "{{ config(materialized='ephemeral') }} select a from {{ ref('first') }}",
        "scored.py": "def model(dbt, session):\n"
        "    return dbt.ref('hidden').join(dbt.ref(\"first\"), dbt.source('raw', 'x'))",
        "last.sql": "select a from {{ ref('scored') }}",
        "raw.yml": "sources: [{name: raw, schema: landing, tables: [{name: x}]}]",
    }
    (tmp_path / "models").mkdir()
    for name, text in models.items():
        (tmp_path / "models" / name).write_text(text)

    found = script_lineage(str(tmp_path), "postgres", None, 30)

    assert {(source, target) for source, target in found.reads if target == "scored"} == {
        ("first", "scored"),
        ("landing.x", "scored"),
    }
    assert found.tree()["scored"] == {"(every column)": [("first", "table"), ("landing.x", "table")]}
    assert "scored" in found.intermediates
    assert not {"scored"} & {*found.sources, *found.targets}
    project = open_project(tmp_path, "postgres", Limits())
    (lineage,) = [loads(one.lineage) for one in model_definitions(project) if one.lineage is not None]
    assert isinstance(lineage, StatementLineage)
    assert {name.dotted for name in lineage.sources} == {"first", "landing.x"}


@pytest.mark.parametrize("dialect", ["postgres", "snowflake"])
def test_the_rest_of_a_model_is_read_without_a_package_or_a_variable(tmp_path: Path, dialect: str) -> None:
    """What is missing is no name of anything, nothing else of the model's columns is certain, its refs stand."""
    (tmp_path / "dbt_project.yml").write_text("name: hub\nprofile: hub\n")
    (tmp_path / "packages.yml").write_text("packages: [{package: dbt-labs/dbt_utils, version: 1.0.0}]\n")
    models = {
        "first.sql": "select 1 as a, 2 as b, 3 as c",
        "keyed.sql": "select {{ dbt_utils.generate_surrogate_key(['a']) }} as k, b from {{ ref('first') }} as f",
        "starred.sql": "select {{ dbt_utils.star(from=ref('first')) }}, f.c as d from {{ ref('first') }} as f",
        "varied.sql": "select b from {{ ref('first') }} where c = '{{ env_var('DAY') }}'",
        "broken.sql": "with x as ({{ dbt_utils.date_spine() }}) select x.q from x join {{ ref('keyed') }} using (b)",
        "asked.sql": "select {{ run_query('select 1') }} from {{ ref('first') }}",
    }
    (tmp_path / "models").mkdir()
    for name, text in models.items():
        (tmp_path / "models" / name).write_text(text)

    lineage = script_lineage(str(tmp_path), dialect, None, 30)

    certain = {
        (str(edge.source).lower(), str(edge.target).lower()): edge.certain
        for edge in lineage.edges
        if edge.type == "DIRECT"
    }
    assert certain == {
        ("first.b", "keyed.b"): False,
        ("first.b", "varied.b"): False,
        ("first.c", "starred.d"): False,
    }
    assert {("first", "keyed"), ("first", "starred"), ("first", "varied"), ("keyed", "broken")} <= {
        (source.lower(), target.lower()) for source, target in lineage.reads
    }
    assert "headwater_not_known" not in json.dumps(lineage.to_json()).lower()
    told = [failure for failure in lineage.failures if "not certain" in failure]
    assert [Path(one.partition(":")[0]).stem for one in told] == ["broken", "keyed", "starred", "varied"]
    assert sum("run_query asks the warehouse" in failure for failure in lineage.failures) == 1
    project = open_project(tmp_path, dialect, Limits())
    made = {
        one.full_name[2].lower(): loads(one.lineage) for one in model_definitions(project) if one.lineage is not None
    }
    assert sorted(made) == ["broken", "keyed", "starred", "varied"]
    assert [failure.node.name for failure in project.failures] == ["asked"]
