"""`ingest lineage`: files, directories and standard input, at once and without Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from connectors.sql_files.lineage import SqlOptions, explain_in_sql, script_lineage
from connectors.sql_files.scripts import read_script
from ingestion.dialects import dialect_of
from ingestion.errors import ConfigError
from ingestion.graph import lineage_graph
from workflows.cli import app

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lineage(*arguments: str, stdin: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["lineage", *arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def as_json(*arguments: str, stdin: str | None = None) -> dict[str, object]:
    code, shown, errors = lineage(*arguments, "--format", "json", stdin=stdin)
    assert (code, errors) == (0, "")
    found: dict[str, object] = json.loads(shown)
    return found


def pairs(found: dict[str, object]) -> set[tuple[str, str]]:
    edges = found["column_lineage"]
    assert isinstance(edges, list)
    return {(edge["source"], edge["target"]) for edge in edges if edge["type"] == "DIRECT"}


def test_a_file_is_one_script_whose_statements_know_each_other() -> None:
    Path("job.sql").write_text(
        "create table stage as select id, price * 2 as double from raw.orders;\n"
        "insert into mart.sales (id, total)\nselect id, sum(double) from stage group by id;\n"
    )

    found = as_json("job.sql", "--dialect", "postgres")

    assert found["source_tables"] == ["raw.orders"]
    assert found["intermediate_tables"] == ["stage"]
    assert found["target_tables"] == ["mart.sales"]
    assert ("raw.orders.price", "stage.double") in pairs(found)
    assert ("stage.double", "mart.sales.total") in pairs(found)


def test_a_use_holds_to_the_end_of_its_file_and_no_further() -> None:
    Path("jobs").mkdir()
    Path("jobs/a.sql").write_text(
        "use shop;\ncreate table orders (id int);\ncreate table day as select * from orders;\n"
    )
    Path("jobs/b.sql").write_text("create table late as select * from shop.orders;\n")
    Path("jobs/c.sql").write_text("create table other as select * from orders;\n")

    found = as_json("jobs", "--dialect", "mysql")

    assert pairs(found) == {
        ("shop.orders.id", "shop.day.id"),
        ("shop.orders.id", "late.id"),
        ("orders.*", "other.*"),
    }
    assert found["source_tables"] == ["shop.orders", "orders"]
    assert "\nshop.day\n  id <- shop.orders.id" in f"\n{lineage('jobs', '--dialect', 'mysql')[1]}"


def test_a_file_of_ddl_is_known_to_others_whatever_it_uses() -> None:
    Path("dump.sql").write_text("use shop;\ncreate table orders (id int);\nuse mart;\ncreate table day (a int);\n")
    Path("q.sql").write_text(
        "create table x as select * from orders;\nuse mart;\ncreate table y as select * from orders;\n"
    )

    found = as_json("q.sql", "--dialect", "mysql", "--schema", "dump.sql")

    assert pairs(found) == {("shop.orders.id", "x.id"), ("mart.orders.*", "mart.y.*")}


def test_the_tree_shows_each_column_with_its_sources() -> None:
    code, shown, _ = lineage("-", "-d", "postgres", stdin="create view v as select a, upper(b) as c from t where d > 5")

    assert code == 0
    lines = shown.splitlines()
    assert lines[0] == "v"
    assert any(line.startswith("  a <- t.a") and "identity" in line for line in lines)
    assert any(line.startswith("  c <- t.b") and "transformation" in line for line in lines)
    assert [line for line in lines if "t.d" in line] == ["  (every column) <- t.d  filter, t.d > ?"]


def test_comments_of_templates_are_no_part_of_standard_input() -> None:
    found = as_json("-", "-d", "postgres", stdin="{# of old\n#}\ninsert into t (a) select a from s")
    assert pairs(found) == {("s.a", "t.a")}
    assert lineage("-", "-d", "postgres", stdin="insert into t (a) select a from {{ this }}")[0] == 1


def test_in_a_directory_a_lone_select_is_a_view_named_after_its_file() -> None:
    Path("models/deep").mkdir(parents=True)
    Path("models/orders_by_day.sql").write_text("-- a comment\nselect day, n from stg_orders\n")
    Path("models/deep/stg_orders.sql").write_text("with x as (select * from raw.orders) select day, n from x;\n")
    Path("models/load.sql").write_text("insert into log select 1; insert into log select 2;\n")
    Path("models/notes.txt").write_text("not sql")

    found = as_json("models", "--dialect", "bigquery")

    assert ("stg_orders.day", "orders_by_day.day") in pairs(found)
    assert ("raw.orders.day", "stg_orders.day") in pairs(found)
    assert found["source_tables"] == ["raw.orders"]


def test_a_file_name_that_is_no_plain_name_is_quoted() -> None:
    Path("models").mkdir()
    Path("models/my model.sql").write_text("select a from t")

    assert read_script("models", dialect_of("mysql")).text.startswith("CREATE VIEW `my model` AS select a from t")
    assert read_script("models", dialect_of("tsql")).text.startswith("CREATE VIEW [my model] AS")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("schema.sql", "create table s.t (a int, b text);"),
        ("schema.json", '{"s.t": {"a": "int", "b": "text"}}'),
    ],
)
def test_a_schema_settles_stars(name: str, text: str) -> None:
    Path(name).write_text(text)

    found = as_json("-", "-d", "postgres", "--schema", name, stdin="create table x as select * from s.t")

    assert pairs(found) == {("s.t.a", "x.a"), ("s.t.b", "x.b")}


def test_a_statement_that_cannot_be_read_is_named_by_file_and_line_and_exits_1() -> None:
    Path("models").mkdir()
    Path("models/a.sql").write_text("create view good as select a from t;\n")
    Path("models/b.sql").write_text("create view ok as select a from t;\n\nselect ((( 'secret_literal' from;\n")

    code, shown, errors = lineage("models", "-d", "postgres")

    assert code == 1
    assert "good" in shown
    assert errors.startswith("ingest: models/b.sql:3: ")
    assert "secret_literal" not in shown + errors


def test_a_template_that_nobody_filled_in_is_named_by_file_line_and_expression_and_exits_1() -> None:
    Path("models").mkdir()
    Path("models/a.sql").write_text("select id from {{ ref('b') }}\n")
    Path("models/b.sql").write_text("{{ config(tags=['x']) }}\nselect id,\n{{ cents('price', 2) }} as p from s")
    Path("models/c.sql").write_text("grant select on {{ this }} to role r; create view c as select id from ${x}.s;")

    code, shown, errors = lineage("models", "-d", "snowflake")

    assert code == 1
    assert "a" in shown.splitlines()[0].lower()
    assert errors.splitlines() == [
        "ingest: models/b.sql:3: templated: {{ cents(?, ?) }}",
        "ingest: models/c.sql:1: templated: ${x}",
    ]


def test_only_hopeless_text_exits_1_with_its_place() -> None:
    code, shown, errors = lineage("-", "-d", "postgres", stdin="\n\nselect ((( 'secret_literal' from")

    assert code == 1
    assert errors.startswith("ingest: <stdin>:3: ")
    assert "secret_literal" not in shown + errors


def test_a_script_of_another_dialect_is_told_with_the_one_that_fits() -> None:
    code, shown, errors = lineage("-", "--dialect", "snowflake", stdin="INSERT INTO `d.s.t` SELECT a FROM `d.s.u`")
    assert code == 1 and "d.s.t" not in shown
    assert "1 of 1 distinct statements cannot be SQL of snowflake" in errors
    assert "they fit BigQuery: try --dialect bigquery" in errors


def test_text_without_lineage_says_so() -> None:
    code, shown, _ = lineage("-", stdin="select 1")

    assert code == 0
    assert "no lineage" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.sql"], "no.sql: no such file"),
        (["jop.sql"], "did you mean job.sql?"),
        (["job.sql", "--dialect", "snowflak"], "did you mean Snowflake?"),
        (["empty"], "empty holds no *.sql file"),
        (["job.sql", "--schema", "no.sql"], "no.sql: no such file"),
        (["job.sql", "--schema", "bad.json"], "bad.json:2: not valid JSON"),
        (["job.sql", "--schema", "list.json"], "list.json: expected"),
        (["bytes.sql"], "bytes.sql:2: neither UTF-8 nor any other one encoding"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exits_2(arguments: list[str], message: str) -> None:
    Path("job.sql").write_text("select 1")
    Path("bytes.sql").write_bytes("select 'é'\n".encode() + b"from \xff")
    Path("bad.json").write_text('{\n"a": }')
    Path("list.json").write_text("[1]")
    Path("empty").mkdir()

    code, shown, errors = lineage(*arguments)

    assert (code, shown) == (2, "")
    assert message in errors
    assert len(errors.splitlines()) == 1


def test_files_of_other_encodings_are_read_and_one_of_two_costs_no_other_file() -> None:
    Path("jobs").mkdir()
    Path("jobs/a.sql").write_text("create table t (größe int); insert into u (größe) select größe from t")
    Path("jobs/b.sql").write_bytes("insert into v (größe) select größe from u".encode("latin-1"))
    Path("jobs/c.sql").write_bytes("insert into w (größe) select größe from v".encode("utf-16"))
    Path("jobs/d.sql").write_bytes("insert into x (größe)\n".encode() + "select größe from w".encode("latin-1"))

    found = script_lineage("jobs", None, None, 30.0)

    assert [(str(edge.source), str(edge.target)) for edge in found.edges] == [
        ("t.größe", "u.größe"),
        ("u.größe", "v.größe"),
        ("v.größe", "w.größe"),
    ]
    assert found.failures == ("jobs/d.sql:2: neither UTF-8 nor any other one encoding",)
    explained, failures = explain_in_sql("w.größe", SqlOptions("jobs"))
    assert failures == found.failures
    assert "t.größe" in explained.hops


def test_bytes_of_no_character_cost_the_statement_whose_names_hold_them() -> None:
    # a comment and a string may hold any
    Path("one.sql").write_bytes(
        "-- née \n".encode() + b"-- \xe9t\xe9\ncreate view v as select a from t where b = '\xff';\n"
        b'create view w as\nselect "gr\xff" from u;\ncreate view x as select a from v'
    )
    found = script_lineage("one.sql", None, None, 30.0)
    assert {(str(edge.source), str(edge.target)) for edge in found.edges} == {
        ("t.a", "v.a"),
        ("t.b", "v.a"),
        ("v.a", "x.a"),
    }
    assert found.failures == ("one.sql:5: neither UTF-8 nor any other one encoding",)


def test_lines_lead_back_to_their_files() -> None:
    Path("a.sql").write_text("select 1;\nselect 2")
    Path("m").mkdir()
    Path("m/b.sql").write_text("x;\ny;\n")
    Path("m/c.sql").write_text("z;\n")

    script = read_script("m", dialect_of("ansi"), before=Path("a.sql"))

    lines = script.text.splitlines()
    for word, place in {"select 2": "a.sql:2", "y;": "m/b.sql:2", "z;": "m/c.sql:1"}.items():
        assert script.location(lines.index(word) + 1) == place
    with pytest.raises(ConfigError):
        read_script("absent", dialect_of("ansi"))


def test_a_file_is_read_without_spark_and_without_what_reads_projects() -> None:
    Path("job.sql").write_text("create view v as select a from t")
    heavy = ("pyspark", "jinja2", "yaml", "ijson", "connectors.dbt.projects", "connectors.sqlmesh.projects")
    program = (
        "import sys; from connectors.sql_files.lineage import script_lineage as s;"
        f"s('job.sql', 'postgres', None, 30.0); print([name for name in {heavy} if name in sys.modules])"
    )

    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )

    assert found.stdout == "[]\n"


@pytest.mark.parametrize("text", ["", "  \n-- nothing yet\n;\n", "/* later */"])
def test_a_text_without_a_statement_is_no_lineage_but_a_mistake(text: str) -> None:
    Path("schema.sql").write_text("create table s (a int);\n")
    Path("empty.sql").write_text(text)
    for arguments in (("-",), ("-", "--schema", "schema.sql"), ("empty.sql",)):
        code, shown, errors = lineage(*arguments, stdin=text)
        assert (code, shown) == (2, "")
        assert errors == "ingest: there is no statement in what was given: an empty text tells of no lineage\n"


def test_standard_input_that_is_closed_or_no_text_is_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from workflows.cli import main; main()", "lineage", "-"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    closed = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&-', *command], capture_output=True, env=environment)
    assert (closed.returncode, closed.stdout) == (2, b"")
    assert closed.stderr.startswith(b"ingest: standard input is closed")
    garbled = subprocess.run(command, input="select é\n".encode() + b"from \xff", capture_output=True, env=environment)
    assert (garbled.returncode, garbled.stderr) == (2, b"ingest: <stdin>:2: neither UTF-8 nor any other one encoding\n")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("deep.json", b"[" * 100_000, "deep.json: nested too deeply"),
        ("digits.json", b'{"s": {"a": ' + b"9" * 100_000 + b"}}", "digits.json: a number of more digits than one has"),
        ("empty.json", b"", "empty.json:1: not valid JSON"),
        ("list.json", b'{"s": ["a"]}', 'list.json: s: expected {"schema.table": {"column": "type"}}'),
        ("type.json", b'{"s": {"a": "int", "b": 3}}', "type.json: s.b: expected the name of a type"),
        ("bytes.json", '{"é":\n'.encode() + b'"\xff"}', "bytes.json:2: neither UTF-8 nor any other one encoding"),
        ("archive.sql", b"PK\x03\x04\x14\0\0\0", "archive.sql: no text: it holds binary data"),
        ("open.sql", b"select 1;\n\ncreate table s (a int;\n", "open.sql:3: ill_formed:unbalanced parentheses"),
        (
            "quote.sql",
            b"create table s (a text default 'x);\n" + b"y\n" * 10_000,
            "quote.sql:1: ill_formed:unterminated",
        ),
        ("later.sql", b"select 1;\ncreate table {{ s }} (a int)", "later.sql:2: templated"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.endswith((".sql", ".json")) else "",
)
def test_a_hostile_schema_is_one_line_and_exits_2(name: str, content: bytes, message: str) -> None:
    Path(name).write_bytes(content)
    Path("a.sql").write_text("create table t as select a from s")
    command = ["explain", "t.a"] if name.startswith(("open", "type")) else ["lineage"]
    result = CliRunner().invoke(app, [*command, "a.sql", "--dialect", "postgres", "--schema", name])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"ingest: {message}")
    assert len(result.stderr.splitlines()) == 1


def test_what_a_link_leads_to_out_of_the_folder_is_left_out_and_told() -> None:
    Path("elsewhere").mkdir()
    Path("elsewhere/private.sql").write_text("insert into stolen select secret from vault")
    Path("jobs/shared").mkdir(parents=True)
    Path("jobs/load.sql").write_text("insert into mart select a from s")
    Path("jobs/shared/same.sql").symlink_to(Path("jobs/load.sql").absolute())  # a link that stays is one
    Path("jobs/private.sql").symlink_to(Path("elsewhere/private.sql").absolute())
    Path("jobs/loop.sql").symlink_to("loop.sql")

    code, shown, errors = lineage("jobs", "--dialect", "postgres")

    assert "vault" not in shown
    assert "s.a" in shown
    assert "jobs/private.sql: a link leads out of the folder" in shown + errors
    assert code == 1
    with pytest.raises(ConfigError, match=r"private\.sql: a link leads out of the folder"):
        lineage_graph(Path("jobs"), "postgres")


def test_a_call_of_what_the_files_do_not_define_is_among_what_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(
        "CREATE PROCEDURE web.load() LANGUAGE sql AS $$ INSERT INTO t SELECT a FROM s $$;\n"
    )
    (tmp_path / "b.sql").write_text("CALL web.load();\nCALL web.other();\n")
    found = script_lineage(str(tmp_path), "postgres", None, 30)
    assert found.failures == (f"{tmp_path / 'b.sql'}:2: what CALL runs is not known",)
