"""A SQLMesh project on disk: its models with their names and kinds, and what cannot be read of it, a line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.model_project import ModelProject
from connectors.sql_files.lineage import ScriptLineage, script_lineage
from connectors.sqlmesh.projects import SqlmeshOptions, is_sqlmesh, open_sqlmesh
from ingestion.errors import ConfigError
from ingestion.parsing.sandbox.process import Limits

FILES = {
    "config.yaml": "model_defaults: {dialect: 'duckdb,normalization_strategy=lowercase'}\nvariables: {city: Rome}\n",
    "external_models.yaml": "- name: ext.beans\n  columns: {bean: text, origin: text}\n",
    "seeds/orders.csv": "id,bean,kilos,price\n1,x,1,2\n",
    "models/raw_orders.sql": "MODEL (name raw.orders, kind SEED (path '../seeds/orders.csv'));",
    "models/sales.sql": "MODEL (name mart.sales, kind FULL, grain bean);\n\n@DEF(half, x -> @x / 2);\n"
    "SELECT bean, @half(kilos) AS kilos, origin FROM raw.orders JOIN ext.beans USING (bean)\nWHERE price > @{limit}0",
    "models/kept.sql": "MODEL (name mart.kept, kind SCD_TYPE_2 (unique_key id));\n"
    "SELECT id, price AS updated_at FROM raw.orders",
    "models/part.sql": "MODEL (name mart.part, kind EMBEDDED);\nSELECT price AS cost FROM raw.orders",
    "models/whole.sql": "MODEL (name mart.whole);\nSELECT cost FROM mart.part;\nALTER TABLE x ADD COLUMN @y INT",
    "models/jinja.sql": "MODEL (name mart.jinja);\nJINJA_QUERY_BEGIN;\n{% for c in ['id', 'price'] %}"
    "{{ ', ' if not loop.first else 'SELECT ' }}{{ twice(c) }}{% endfor %} FROM raw.orders;\nJINJA_END;",
    "macros/m.sql": "{% macro twice(c) %}{{ c }} + {{ c }} AS {{ c }}{% endmacro %}",
    "models/hive.sql": "MODEL (name mart.hive, dialect hive);\nSELECT `bean` FROM raw.orders",
    "models/both.sql": "MODEL (name @name, blueprints ((name := m.a, c := id), (name := m.b, c := bean)));\n"
    "SELECT @c AS x FROM raw.orders",
    "models/off.sql": "MODEL (name mart.off, enabled false);\nSELECT 1",
    "models/py.py": "@model('mart.py', columns={'id': 'int'})\ndef f(context): context.table('mart.sales')",
    "models/star.sql": "MODEL (name mart.star);\nSELECT @STAR(raw.orders) FROM raw.orders",
    "models/open.sql": "MODEL (name mart.open;\nSELECT 1",
    "audits/none.sql": "AUDIT (name none);\nSELECT * FROM @this_model",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("roastery")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text.replace("@{limit}0", "0"))
    outside = root.parent / "outside.sql"
    outside.write_text("MODEL (name secret.model);\nSELECT secret FROM somewhere")
    (root / "models/link.sql").symlink_to(outside)
    (root / "models/climbs.sql").write_text("MODEL (name raw.climbs, kind SEED (path '../../outside.sql'));")
    return root


@pytest.fixture(scope="module")
def project(root: Path) -> ModelProject:
    return open_sqlmesh(root, SqlmeshOptions(own_rules=True))


@pytest.fixture(scope="module")
def lineage(root: Path) -> ScriptLineage:
    return script_lineage(str(root), None, None, 30)


def test_models_have_their_own_names_and_kinds(project: ModelProject) -> None:
    assert project.dialect == "duckdb"
    kinds = {model.dotted: model.kind for model in project.models}
    assert kinds == {
        "m.a": "VIEW",
        "m.b": "VIEW",
        "mart.hive": "VIEW",
        "mart.jinja": "VIEW",
        "mart.kept": "SCD_TYPE_2",
        "mart.py": "FULL",
        "mart.sales": "FULL",
        "mart.whole": "VIEW",
    }
    assert {model.grains for model in project.models if model.dotted == "mart.sales"} == {("bean",)}


def test_what_cannot_be_read_is_told_in_a_line_each(project: ModelProject, root: Path) -> None:
    told = sorted(str(failure).removeprefix(f"{root}/") for failure in project.failures)
    assert told == [
        "models/open.sql:1: not a model: its MODEL block never ends",
        "models/star.sql:1: templated: @STAR is a macro in Python, or needs columns: install sqlmesh to render it",
    ]
    assert [note for note in project.notes if "link.sql" in note] != []
    outside = "the path of its seed leads out of the project: not read; copy the file there"
    assert [note.removeprefix(f"{root}/") for note in project.notes if "seed" in note] == [
        f"models/climbs.sql: {outside}"
    ]
    assert not any("secret" in str(model) or "outside" in str(model) for model in project.models)
    assert ("", "raw", "climbs") not in project.columns


def test_columns_flow_from_seeds_through_macros_and_embedded_models(lineage: ScriptLineage) -> None:
    edges = {(str(edge.source), str(edge.target)) for edge in lineage.edges if edge.type == "DIRECT"}
    assert edges >= {
        ("raw.orders.kilos", "mart.sales.kilos"),
        ("ext.beans.origin", "mart.sales.origin"),
        ("raw.orders.price", "mart.whole.cost"),
        ("raw.orders.price", "mart.jinja.price"),
        ("raw.orders.bean", "mart.hive.bean"),
        ("raw.orders.bean", "m.b.x"),
        ("raw.orders.id", "mart.kept.id"),
        ("raw.orders.price", "mart.kept.valid_from"),
    }
    assert ("mart.sales", "mart.py") in lineage.reads
    assert "mart.part" not in lineage.tables


def test_a_folder_is_a_project_by_its_models_alone(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text("SELECT 1 AS model")
    assert not is_sqlmesh(tmp_path)
    (tmp_path / "b.sql").write_text("/* first */\nMODEL (name a.b);\nSELECT c FROM d")
    assert is_sqlmesh(tmp_path)
    assert is_sqlmesh(tmp_path / "b.sql")
    assert [model.dotted for model in open_sqlmesh(tmp_path / "b.sql", SqlmeshOptions(own_rules=True)).models] == [
        "a.b"
    ]


def test_two_models_of_one_name_are_both_dead(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.sql").write_text(f"MODEL (name x.y);\nSELECT {name} FROM t")
    project = open_sqlmesh(tmp_path, SqlmeshOptions(own_rules=True))
    assert [failure.reason for failure in project.failures] == ["defined_twice: another model is called x.y too"] * 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: [", r"config.yaml:\d+: not valid YAML"),
        ("[" * 5000, "nested too deeply|not valid YAML"),
        ("\xff", "not UTF-8"),
        ("variables: &v {a: *v}", "a part of it holds itself"),
    ],
)
def test_a_broken_configuration_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "config.yaml").write_bytes(content.encode("latin-1"))
    (tmp_path / "a.sql").write_text("MODEL (name a.b);\nSELECT 1")
    with pytest.raises(ConfigError, match=message) as raised:
        open_sqlmesh(tmp_path, SqlmeshOptions(own_rules=True))
    assert "\n" not in str(raised.value)


def test_a_configuration_is_a_template_whose_environment_has_its_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CITY", "canary")
    (tmp_path / "config.yaml").write_text(
        "gateways:\n  here:\n    connection: {type: {{ env_var('KIND', 'snowflake') }}, password: {{ env_var('P') }}}\n"
        "    variables: {schema: web}\n"
        "default_gateway: here\nvariables: {city: {{ env_var('CITY', 'rome') }}, schema: none}\n"
    )
    (tmp_path / "a.sql").write_text("MODEL (name @schema.a);\nSELECT x FROM @city.t")
    project = open_sqlmesh(tmp_path, SqlmeshOptions(own_rules=True))
    assert (project.dialect, [model.dotted for model in project.models]) == ("snowflake", ["WEB.A"])
    assert "FROM rome.t" in project.models[0].text


def test_a_configuration_whose_template_is_broken_is_refused_in_one_line(tmp_path: Path) -> None:
    for template in ("{{ env_var( }}", "{{ secret_of('canary') }}"):
        (tmp_path / "config.yaml").write_text(f"variables: {{a: {template}}}")
        with pytest.raises(ConfigError, match=r"config\.yaml: its template cannot be filled in") as refused:
            open_sqlmesh(tmp_path, SqlmeshOptions(own_rules=True))
        assert "canary" not in str(refused.value)


def test_all_below_models_is_read_whatever_its_folder_is_called(tmp_path: Path) -> None:
    for folder in ("models/seeds", "models/metrics", "metrics", "tests/models", "models/.cache"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.sql").write_text(f"MODEL (name s.{Path(folder).name.lstrip('.')});\nSELECT 1 AS a")
    for path in (tmp_path, tmp_path / "models"):
        project = open_sqlmesh(path, SqlmeshOptions(own_rules=True))
        assert [model.dotted for model in project.models] == ["s.metrics", "s.seeds"]


def test_columns_are_named_as_sqlmesh_names_them(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("model_defaults: {dialect: duckdb}")
    (tmp_path / "a.sql").write_text("MODEL (name s.a);\nSELECT a::INT, TRY_CAST(t.b AS INT), (c), d + 1::INT FROM t")
    (tmp_path / "b.sql").write_text("MODEL (name s.b);\nSELECT max(a)::INT FROM s.a")
    found = {(str(edge.target), str(edge.source)) for edge in script_lineage(str(tmp_path), None, None, 30).edges}
    assert found >= {("s.a.a", "t.a"), ("s.a.b", "t.b"), ("s.a.c", "t.c")}


def test_a_template_that_loops_costs_its_own_model(tmp_path: Path) -> None:
    loop = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    (tmp_path / "a.sql").write_text(f"MODEL (name a.a);\nJINJA_QUERY_BEGIN;\n{loop}SELECT 1\nJINJA_END;")
    (tmp_path / "b.sql").write_text("MODEL (name a.b);\nSELECT c FROM d")
    project = open_sqlmesh(tmp_path, SqlmeshOptions(own_rules=True, limits=Limits(seconds=1)))
    assert [failure.reason for failure in project.failures] == ["templated: overruns its time"]
    assert [model.dotted for model in project.models] == ["a.b"]


def project_of(folder: Path, **files: str) -> ModelProject:
    for name, text in files.items():
        (folder / f"{name}.sql").write_text(text)
    return open_sqlmesh(folder, SqlmeshOptions(own_rules=True))


def test_who_reads_an_embedded_model_that_is_not_rendered_is_not_read(tmp_path: Path) -> None:
    """Its name is that of no table."""
    project = project_of(
        tmp_path,
        part="MODEL (name mart.part, kind EMBEDDED);\nSELECT @STAR(raw.beans) FROM raw.beans",
        broken="MODEL (name mart.broken, kind EMBEDDED);\nSELECT FROM WHERE (",
        sound="MODEL (name mart.sound, kind EMBEDDED);\nSELECT bean AS b FROM raw.beans",
        first="MODEL (name mart.first);\nSELECT bean FROM mart.part",
        second="MODEL (name mart.second);\nSELECT bean FROM mart.broken",
        third="MODEL (name mart.third);\nSELECT b FROM mart.sound",
        other="MODEL (name mart.other);\nSELECT bean   FROM raw.beans",
    )
    texts = {model.dotted: model.text.strip() for model in project.models}
    assert texts.keys() == {"mart.third", "mart.other"}
    assert "raw.beans" in texts["mart.third"]
    assert texts["mart.other"].endswith("SELECT bean   FROM raw.beans")
    reasons = {failure.key[2]: failure.reason for failure in project.failures}
    embedded = "templated: an embedded model that it may read cannot be put into it"
    assert reasons["first"] == reasons["second"] == embedded


def test_columns_of_what_has_no_name_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "seed.csv").write_text("id,bean\n")
    (tmp_path / "external_models.yaml").write_text(
        "[{name: 'hub.raw.days_*', columns: {a: int}}, {name: '@x.y', columns: {a: int}}, "
        "{name: raw.orders, columns: {id: int}}]"
    )
    project = project_of(
        tmp_path,
        templated="MODEL (name @{env}.beans, kind SEED (path 'seed.csv'));",
        beans="MODEL (kind SEED (path 'seed.csv'));",
    )
    assert {key: [one.name for one in columns] for key, columns in project.columns.items()} == {
        ("", "raw", "orders"): ["id"],
        ("", "", "beans"): ["id", "bean"],
    }
    assert [failure.location.rpartition("/")[2] for failure in project.failures] == ["templated.sql:1"]
