"""`ingest doctor --repair`: damage is told in one line with what mends it, and what can be read is kept."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, text, update
from typer.testing import CliRunner

from connectors.catalog.http.server import CatalogConfig, running_catalog
from connectors.catalog.store.database import open_database
from connectors.catalog.store.indexes import index_labels
from connectors.catalog.store.schema import entities
from ingestion.errors import ConfigError, StateLost, TargetDown
from tests.behaviour.harness import Record
from tests.support.batched_runs import batched_run
from tests.support.http_client import Client
from tests.support.made_catalog import MadeCatalog
from tests.support.sample_catalog import fill
from workflows.cli import app
from workflows.state.journal import Watermark, position_of, store_position
from workflows.state.runs import begin_run, recorded_runs
from workflows.state.store import journal, open_state, templates

PAGE = 4_096


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("orchard") / "catalog.db"
    with running_catalog(CatalogConfig(file, port=0)) as address:
        fill(Client(address.url))
    return file


@pytest.fixture
def catalog(orchard: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(orchard, tmp_path))


def flip(file: Path, mark: bytes, by: bytes) -> None:
    """Overwrites the first bytes of each place where a mark stands."""
    content = file.read_bytes()
    assert mark in content
    file.write_bytes(content.replace(mark, by + mark[len(by) :]))


def test_text_with_flipped_bytes_is_damage_with_what_mends_it(catalog: Path) -> None:
    flip(catalog, b"core.takings", b"\xff\xfe")

    code, shown, errors = run("impact", "raw.trees", "--catalog", catalog)
    assert (code, shown) == (2, "")
    assert errors.splitlines() == [
        f"ingest: the catalog {catalog} is damaged: `ingest doctor --repair --catalog {catalog}` keeps what can be "
        "read of it, and the next run files the log again"
    ]

    code, shown, errors = run("doctor", "--repair", "--catalog", catalog)
    assert (code, errors) == (0, "")
    assert f"{catalog}: repaired; the damaged file is {catalog}.damaged-" in shown
    assert "  corrections: 0 kept, 0 lost" in shown
    assert "  entities: " in shown
    code, shown, errors = run("impact", "raw.trees", "--catalog", catalog)
    assert "damaged" not in errors
    assert code in (0, 4)
    assert run("doctor", "--repair", "--catalog", catalog)[1] == f"{catalog}: whole\n"


def test_pages_that_are_gone_are_told_to_callers_and_by_the_doctor(catalog: Path) -> None:
    content = bytearray(catalog.read_bytes())
    content[4 * PAGE :] = b"\xff" * (len(content) - 4 * PAGE)
    catalog.write_bytes(content)
    code, _shown, errors = run("why", "mart.report", "--catalog", catalog)
    assert code == 2
    assert "is damaged: `ingest doctor --repair" in errors
    assert run("doctor", "--repair", "--catalog", catalog)[0] == 0
    with closing(sqlite3.connect(catalog)) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)


def file_views(file: Path, *readers: str) -> None:
    """Files that these tables read one of another schema, and that a statement ran for each."""
    tables = ("shop.main.raw.orders", *(f"shop.main.mart.{reader}" for reader in readers))
    with closing(MadeCatalog(file)) as made:
        made.add_tables(dict.fromkeys(tables, ("x",)))
        for target in tables[1:]:
            said = {"producer": {"kind": "query", "key": target}, "records": ["00000001"]}
            made.add_edges([(tables[0], target, said)])


def tag_orders(file: Path) -> None:
    """Has the table that is read bear a tag."""
    with closing(open_database(file)) as database, database.write() as connection:
        row = connection.execute(select(entities).where(entities.c.fqn == "shop.main.raw.orders")).one()
        document = {**json.loads(row.document), "tags": [{"tagFQN": "PII.Sensitive"}]}
        connection.execute(update(entities).where(entities.c.id == row.id).values(document=json.dumps(document)))
        index_labels(connection, row.id, document, row.document)


def projected(file: Path) -> tuple[list[Any], list[Any], list[Any], set[Any], list[Any]]:
    """The intervals, how much each entity is used, how many edges are between schemas, what writes which and is tagged
    how, and which names are found by a word."""
    with closing(sqlite3.connect(file)) as connection:
        columns = 'from_id, to_id, start, "end", last_seen, kind, source, column_edges, from_holder, to_holder'
        edges = connection.execute(f"select {columns} from intervals order by from_id, to_id").fetchall()
        activity = connection.execute("select * from entity_activity order by entity_id").fetchall()
        counts = connection.execute("select * from edge_counts order by from_holder, to_holder").fetchall()
        labels = set(connection.execute("select * from entity_labels"))
        found = (
            "select name from search_entity_words join search_vocabulary v on v.id = search_entity_words.rowid "
            "where search_entity_words match 'orders'"
        )
        return edges, activity, counts, labels, connection.execute(found).fetchall()


@pytest.mark.parametrize("is_damaged", [False, True])
def test_edges_stand_after_a_repair_and_what_is_filed_again_is_not_counted_again(
    tmp_path: Path, is_damaged: bool
) -> None:
    file, twin = tmp_path / "catalog.db", tmp_path / "twin.db"
    file_views(file, "daily", "weekly")
    tag_orders(file)
    before = projected(file)
    if is_damaged:
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("update intervals set source = cast(x'ff' as text) where id = 1")

    code, shown, errors = run("doctor", "--repair", "--catalog", file)

    assert (code, errors) == (0, "")
    if is_damaged:
        assert f"{file}: repaired" in shown
        assert "lost" not in shown.replace("corrections: 0 kept, 0 lost", "")
    else:
        assert shown == f"{file}: whole\n"
        open_database(file).close()
    assert projected(file) == before
    for one in (file, twin):
        file_views(one, "daily", "weekly", "yearly")
        tag_orders(one)
    assert projected(file) == projected(twin)
    assert sorted(row[1:3] for row in projected(file)[1])[-1] == (3, 3)


def test_what_reads_a_table_is_counted_once_a_record_by_runs_and_repairs(tmp_path: Path) -> None:
    """Also of what writes several tables, each of which is sent by itself, and of what writes one in each schema."""
    both = "WITH w AS (INSERT INTO t2 SELECT x FROM public.a RETURNING x) INSERT INTO t1 SELECT x FROM public.a"
    of_schema = "INSERT INTO t3 SELECT x, {} FROM public.a"
    log = [Record(both, at=1000.0 + number) for number in range(3)]
    log += [
        Record(of_schema.format(number), at=2000.0 + number, schema=("public", "mart")[number % 2])
        for number in range(4)
    ]
    found = batched_run(tmp_path, [log], 1)
    assert len(found.catalog["edges"]) == 4
    file = tmp_path / "catalog.db"
    before = projected(file)
    assert [row[1] for row in before[1] if row[1]] == [7]
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("update intervals set source = cast(x'ff' as text) where id = 1")

    code, shown, errors = run("doctor", "--repair", "--catalog", file)

    assert (code, errors) == (0, "")
    assert f"{file}: repaired" in shown
    assert projected(file) == before


@pytest.mark.parametrize("kind", ["catalog", "state"])
def test_a_store_of_another_version_is_left_to_that_version(workflow: tuple[Path, Path], kind: str) -> None:
    yaml, state = workflow
    catalog = yaml.with_name("catalog.db")
    file_views(catalog, "daily")
    file, table = (catalog, "meta") if kind == "catalog" else (state, "headwater_meta")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"update {table} set value = 99 where key = 'schema'")
    before = file.read_bytes()
    code, _shown, errors = run("doctor", "--repair", "-c", yaml)
    assert code == 2
    assert f"{file} was written by another version (99, " in " ".join(errors.split())
    assert file.read_bytes() == before
    assert not list(file.parent.glob("*.repaired*"))


def test_a_served_catalog_says_that_it_is_damaged_and_is_not_asked_again(catalog: Path) -> None:
    flip(catalog, b'"fullyQualifiedName"', b"\xff")
    with running_catalog(CatalogConfig(catalog, port=0)) as address:
        status, body = Client(address.url).get("/tables/name/farm.farm.raw.trees")
    assert status == 507
    assert "`ingest doctor --repair --catalog" in body["message"]


def test_a_full_disk_of_the_catalog_is_told_by_its_path_and_key_at_once(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    with pytest.raises(TargetDown, match=r"the disk of the catalog .*catalog\.db is full: .*headwater\.catalog\.file"):
        fill_up(file)


def fill_up(file: Path) -> None:
    with closing(open_database(file)) as database:
        with database.write() as connection:
            pages = connection.scalar(text("pragma page_count"))
            # What SQLite says when a file cannot grow, whatever keeps it from growing.
            connection.execute(text(f"pragma max_page_count = {pages + 2}"))
        with database.write() as connection:
            connection.execute(text("create table more (content text)"))
            connection.execute(text("insert into more values (:content)"), {"content": "x" * 1_000_000})


STATE_YAML = """
source:
  type: postgres-lineage
  serviceName: shop
  sourceConfig: {{config: {{type: DatabaseLineage, queryLogFilePath: {log}}}}}
sink: {{type: metadata-rest, config: {{}}}}
workflowConfig: {{openMetadataServerConfig: {{hostPort: embedded}}}}
headwater: {{catalog: {{file: {catalog}}}, state: {{url: {state}}}}}
"""


@pytest.fixture
def workflow(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A YAML, and its state with a run, a position, templates and a piece of the journal that no Parquet is."""
    (tmp_path / "log.csv").write_text("query\n")
    file, yaml = tmp_path / "state.db", tmp_path / "lineage.yaml"
    yaml.write_text(STATE_YAML.format(log=tmp_path / "log.csv", catalog=tmp_path / "catalog.db", state=file))
    store = open_state(str(file))
    with store.write() as connection:
        begin_run(connection, "shop", "first-run", 1.0)
        store_position(connection, "shop", Watermark(5.0, "x", None, "v", "s"))
        connection.execute(insert(journal).values(workflow="shop", statements=3, newest=5.0, content=b"no Parquet"))
        for number in range(50):
            values = {"tier": "sqlglot", "masked": f"select mark_{number}", "timed_out": 0, "limits": "[]"}
            key = {"workflow": "shop", "fingerprint": str(number), "dialect": "postgres", "version": "v"}
            connection.execute(insert(templates).values(**key, **values))
    store.close()
    yield yaml, file


def test_a_damaged_state_quotes_nothing_is_no_reason_to_wait_and_is_repaired(workflow: tuple[Path, Path]) -> None:
    yaml, file = workflow
    flip(file, b"select mark_7", b"select mark_\xff")
    store = open_state(str(file))
    with pytest.raises(StateLost, match="`ingest doctor --repair -c`") as caught, store.read() as connection:
        connection.execute(templates.select()).all()
    store.close()
    assert caught.value.exit_code == ConfigError.exit_code
    assert "mark_" not in str(caught.value)

    code, shown, errors = run("doctor", "--repair", "-c", yaml)

    assert (code, errors) == (0, "")
    lines = [line.strip() for line in shown.splitlines()]
    assert "runs: 1 kept, 0 lost" in lines
    assert "template: 49 kept, 1 lost" in lines
    assert "journal: 0 kept, 1 lost" in lines
    assert lines[-1] == "the next `ingest run` reads the whole log again, and publishes nothing twice"
    store = open_state(str(file))
    with store.read() as connection:
        assert position_of(connection, "shop") is None
        assert [one.run_id for one in recorded_runs(connection)] == ["first-run"]
    store.close()


def test_what_is_to_be_repaired_is_to_be_named() -> None:
    assert run("doctor", "--repair")[0] == 2
    assert run("doctor", "--catalog", "catalog.db")[0] == 2
